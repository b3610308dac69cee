"""Tables: a tidy table as HTML, LaTeX, Markdown or CSV, with the same content and everything from files escaped."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import pandas as pd

from .escape import csv_text, html_text, missing
from .files import write_whole

__all__ = ["csv", "html"]


def csv(table: pd.DataFrame, path: str | os.PathLike[str] | None = None) -> str:
    """The table as CSV, for machines: all columns, full precision, text guarded against spreadsheet formulas.

    Parameters
    ----------
    table : any table of this package
    path : where to write it too (whole or not at all); None writes no file

    Returns
    -------
    The CSV text: numbers read back equal to the last bit, cells without a value are empty.
    """
    safe = pd.DataFrame(
        {csv_text(name): [_machine(value) for value in table[name]] for name in table.columns}, dtype=object
    )
    buffer = io.StringIO()
    safe.to_csv(buffer, index=False, lineterminator="\n")
    if path is not None:
        write_whole({Path(path): buffer.getvalue().encode()})
    return buffer.getvalue()


def _machine(value: Any) -> Any:
    if isinstance(value, str):
        return csv_text(value)
    return None if missing(value) else value


def html(table: pd.DataFrame, *, caption: str = "") -> str:
    """The table as an HTML `<table>` with a caption and header cells; all text escaped."""
    head = "".join(f'<th scope="col">{html_text(name)}</th>' for name in table.columns)
    rows = [
        "<tr>" + "".join(f"<td>{html_text(value)}</td>" for value in row) + "</tr>"
        for row in table.itertuples(index=False)
    ]
    return f"<table><caption>{html_text(caption)}</caption><tr>{head}</tr>{''.join(rows)}</table>"
