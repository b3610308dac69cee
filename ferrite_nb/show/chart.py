"""Chart: a figure with the table it shows, its alt text and its caption; what every figure function
returns.
"""

from __future__ import annotations

import base64
import html
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from ..escape import html_text, latex_text
from . import style, tables
from .files import write_whole

__all__ = ["Chart"]

_KINDS = ("pdf", "svg", "png")


@dataclass(frozen=True, eq=False, repr=False)
class Chart:
    """One figure with all that has to travel with it.

    Parameters
    ----------
    figure : the drawn figure (never made by pyplot); do not draw on it
    table : the drawn rows, in drawn order
    alt : what the figure shows, in words and numbers, for a reader who does not see it
    caption : method, level, unit of independence, n, version and source, ready to paste

    Notes
    -----
    In a notebook the last line `chart` shows the picture with its alt text, `chart.html()` also its
    caption and its table. `str(chart)` is the alt text.
    """

    figure: Figure
    table: pd.DataFrame
    alt: str
    caption: str

    def __str__(self) -> str:
        return self.alt

    __repr__ = __str__

    def _repr_mimebundle_(
        self, include: Iterable[str] | None = None, exclude: Iterable[str] | None = None
    ) -> tuple[dict[str, str], dict[str, Any]]:
        """The picture for a notebook: HTML with alt text, PNG with its alt text as metadata, and
        plain text.
        """
        png = self._png()
        data = {"text/html": self._img(png), "image/png": png, "text/plain": self.alt}
        wanted = set(data) if include is None else set(include)
        kept = {kind: value for kind, value in data.items() if kind in wanted - set(exclude or ())}
        return kept, {"image/png": {"alt": self.alt}} if "image/png" in kept else {}

    def _png(self) -> str:
        return base64.b64encode(style.screen(self.figure)).decode("ascii")

    def _img(self, png: str) -> str:
        width = round(self.figure.get_size_inches()[0] * style.CSS_PER_INCH)
        look = f"width:{width}px;max-width:100%;height:auto;background:#fff"
        alt = html.escape(self.alt).replace(
            "\n", "&#10;"
        )  # an XML reader turns bare line ends into spaces
        return f'<img alt="{alt}" style="{look}" src="data:image/png;base64,{png}">'

    def html(self) -> tables.Html:
        """The chart as one `<figure>`: picture with alt text, caption, and the table of its
        numbers, escaped.

        It takes the focus, so that it can be scrolled by keyboard where a page is narrower than its
        table.
        """
        caption = f"<figcaption>{html_text(self.caption)}</figcaption>"
        table = tables.html(self.table, caption="The numbers of this figure")
        return tables.Html(
            f'<figure tabindex="0">\n{self._img(self._png())}\n{caption}\n{table}\n</figure>'
        )

    def latex(self, *, label: str = "", path: str = "figure.pdf", star: bool = False) -> str:
        """A whole figure environment for LaTeX, its caption escaped.

        Parameters
        ----------
        label : the name for `\\ref`, letters, digits and `:._-`
        path : the file that `save` writes, as the paper names it
        star : over both columns of a page
        """
        for name, allowed in ((label, r"[\w:.-]*"), (path, r"[\w:./-]+")):
            if not re.fullmatch(allowed, name, re.ASCII):
                raise ValueError(f"a label or path has only letters, digits and :._-, got {name!r}")
        kind = "figure*" if star else "figure"
        lines = [
            f"\\begin{{{kind}}}",
            "\\centering",
            f"\\includegraphics[width=\\linewidth]{{{path}}}",
            f"\\caption{{{latex_text(self.caption)}}}",
            *([f"\\label{{{label}}}"] if label else []),
            f"\\end{{{kind}}}",
        ]
        return "\n".join(lines) + "\n"

    def save(
        self, path: str | os.PathLike[str], *, dpi: int = 300, table: bool = True
    ) -> list[Path]:
        """Write the figure, and beside it its table (`<stem>.csv`) and its alt text
        (`<stem>.alt.txt`).

        Parameters
        ----------
        path : the name ends in .pdf, .svg or .png, which decides the format
        dpi : dots per inch of a PNG
        table : write the CSV too

        Returns
        -------
        The written paths. Each file is written whole beside its target and then moved into place.

        Raises
        ------
        ValueError : another suffix.
        FileExistsError : `<stem>.csv` exists and was not written by an earlier save (it may be your
            data).
        PermissionError : the folder or an older file is read-only; older files stay as they are.
        """
        target = Path(path)
        kind = target.suffix.lower().lstrip(".")
        if kind not in _KINDS:
            raise ValueError(f"a figure is saved as .pdf, .svg or .png, got {target.name!r}")
        files = {target: style.render(self.figure, kind, dpi)}
        if table:
            files[target.with_suffix(".csv")] = tables.csv(self.table).encode()
        files[target.with_suffix(".alt.txt")] = (self.alt + "\n").encode()
        twin = target.with_suffix(".csv")
        if table and twin.exists() and not target.with_suffix(".alt.txt").exists():
            raise FileExistsError(
                f"{twin} exists and is no table of an earlier figure; save under another name"
            )
        write_whole(files)
        return list(files)
