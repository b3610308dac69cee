"""Tables: a tidy table as HTML, LaTeX, Markdown or CSV, with the same content and everything from
files escaped.

`html`, `latex` and `markdown` print `k/n [low, high]` and reasons, made by `grid`; `csv` keeps
every column and digit for machines.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ..escape import csv_text, html_text, latex_text, markdown_text, missing, plain
from .files import write_whole
from .grid import Cell, Column, Grid, checked, grid

__all__ = ["Html", "csv", "html", "latex", "markdown"]


class Html(str):
    """HTML as text, which a notebook shows as what it is when it is the last line of a cell."""

    def __repr__(self) -> str:
        # a notebook would carry it twice
        return f"<HTML of {len(self):,} characters; print it to read it>"

    def _repr_html_(self) -> str:
        return str(self)


def csv(table: pd.DataFrame, path: str | os.PathLike[str] | None = None) -> str:
    """The table as CSV, for machines: all columns, full precision, text guarded against spreadsheet
    formulas.

    Parameters
    ----------
    table : any table of this package
    path : where to write it too (whole or not at all); None writes no file

    Returns
    -------
    The CSV text: numbers read back equal to the last bit, cells without a value are empty.
    """
    columns = [[_machine(value) for value in checked(table)[name]] for name in table.columns]
    # by place, not by name: two names may be alike once they are made safe
    safe = pd.DataFrame(dict(enumerate(columns)), dtype=object)
    safe.columns = pd.Index([csv_text(name) for name in table.columns], dtype=object)
    buffer = io.StringIO()
    safe.to_csv(buffer, index=False, lineterminator="\n")
    if path is not None:
        write_whole({Path(path): buffer.getvalue().encode()})
    return buffer.getvalue()


def _machine(value: Any) -> Any:
    if isinstance(value, str):
        return csv_text(value)
    return None if missing(value) else value


def html(table: pd.DataFrame, *, caption: str = "") -> Html:
    """The table as an accessible HTML `<table>`: caption, scoped header cells, estimates that read
    well aloud.

    As the last line of a cell it is shown as a table.

    Example
    -------
    >>> import pandas as pd
    >>> html(pd.DataFrame({"limit": ["<b>"]}), caption="Limits").count("<b>")
    0
    """
    made = grid(table)
    head = "".join(
        f'<th scope="col"{_left(column)}>{html_text(column.name)}</th>' for column in made.columns
    )
    body = "\n".join(f"<tr>{_html_row(made, row)}</tr>" for row in made.rows)
    below = "".join(f'<p style="margin:.2em 0">{html_text(line)}</p>' for line in made.below)
    title = f'<caption style="text-align:left">{html_text(caption)}</caption>' if caption else ""
    # the two classes keep MathJax away from dollar signs of payloads
    return Html(
        f'<table class="ferrite-table tex2jax_ignore mathjax_ignore">{title}\n<thead><tr>{head}</tr></thead>\n'
        f'<tbody>\n{body}\n</tbody></table>\n<div class="ferrite-notes tex2jax_ignore mathjax_ignore" '
        f'style="font-size:smaller">{below}</div>'
    )


def _left(column: Column) -> str:
    """Words stand at the left: a notebook puts every cell at the right."""
    return ' style="text-align:left"' if column.kind in ("text", "note") else ""


def _html_row(made: Grid, row: Sequence[Cell]) -> str:
    """The cells of a row: what it is of as headers, up to the first number; in a table of words the
    first alone.
    """
    cells = []
    leading = True
    words = all(column.kind in ("text", "note") for column in made.columns)
    for place, (column, cell) in enumerate(zip(made.columns, row, strict=True)):
        leading = leading and column.kind == "text" and not (words and place)
        if leading:
            cells.append(f'<th scope="row"{_left(column)}>{html_text(cell.text)}</th>')
            continue
        look = f' class="{"reason" if cell.why else column.kind}"{_left(column)}'
        said = f' aria-label="{html_text(cell.aloud)}"' if cell.aloud and not cell.why else ""
        cells.append(f"<td{look}{said}>{html_text(cell.text)}</td>")
    return "".join(cells)


def markdown(table: pd.DataFrame) -> str:
    """The table as a Markdown table, with its notes as lines below."""
    made = grid(table)
    rule = {"text": ":--", "note": ":--", "number": "--:", "estimate": "--:"}
    lines = [
        _markdown_row(column.name for column in made.columns),
        "| " + " | ".join(rule[column.kind] for column in made.columns) + " |",
        *(_markdown_row(cell.text for cell in row) for row in made.rows),
    ]
    return "\n".join(lines + [f"\n{markdown_text(line)}" for line in made.below]) + "\n"


def _markdown_row(texts: Any) -> str:
    return "| " + " | ".join(_markdown_cell(text) for text in texts) + " |"


def _markdown_cell(text: str) -> str:
    # brackets of an interval are no link, and stay as they are to be read in the source too
    return re.sub(r"\\\[(-?[\d.]+, -?[\d.]+)\\\]", r"[\1]", markdown_text(text))


def latex(table: pd.DataFrame, *, caption: str = "", label: str = "") -> str:
    """The table as a LaTeX tabular with booktabs rules: `k/n [low, high]` aligned, notes as
    footnotes.

    Parameters
    ----------
    table : any table of this package
    caption, label : with a caption the tabular comes in a `table` environment

    Notes
    -----
    The paper loads `booktabs` and `fontenc` with T1. Reasons and notes stand under the table behind
    a small letter; cells with insufficient data keep their counts and carry the letter.
    """
    made = grid(table)
    notes: dict[str, str] = {}
    body = [_latex_row(made, row, notes) for row in made.rows]
    shown = [column for column in made.columns if column.kind != "note"]
    spec = "".join(
        {"text": "l", "number": "r", "estimate": "r@{~}l"}[column.kind] for column in shown
    )
    head = " & ".join(_latex_head(column) for column in shown)
    lines = [
        "% needs \\usepackage{booktabs} and \\usepackage[T1]{fontenc}",
        f"\\begin{{tabular}}{{@{{}}{spec}@{{}}}}",
        "\\toprule",
        f"{head} \\\\",
        "\\midrule",
        *body,
        "\\bottomrule",
        "\\end{tabular}",
    ]
    below = [f"\\textsuperscript{{{letter}}}~{latex_text(note)}" for note, letter in notes.items()]
    below += [latex_text(line) for line in made.below]
    lines += (
        [
            "",
            "\\smallskip",
            "{\\footnotesize\\raggedright",
            *(f"{line}\\par" for line in below),
            "}",
        ]
        if below
        else []
    )
    if caption:
        mark = f"\\label{{{plain(label)}}}" if label else ""
        lines = [
            "\\begin{table}",
            "\\centering",
            f"\\caption{{{latex_text(caption)}}}{mark}",
            *lines,
            "\\end{table}",
        ]
    return "\n".join(lines) + "\n"


def _latex_head(column: Column) -> str:
    name = latex_text(column.name)
    return f"\\multicolumn{{2}}{{c}}{{{name}}}" if column.kind == "estimate" else name


def _latex_row(made: Grid, row: Sequence[Cell], notes: dict[str, str]) -> str:
    cells, mark = [], ""
    for column, cell in zip(made.columns, row, strict=True):
        if column.kind == "note":
            mark = _letter(cell.text, notes) if cell.text else ""
        elif column.kind == "estimate" and cell.why:
            shown = latex_text(cell.counts) if cell.counts else "not computable"
            cells.append(f"\\multicolumn{{2}}{{l}}{{{shown}{_letter(cell.why, notes)}}}")
        elif column.kind == "estimate":
            cells.append(
                f"{_latex_number(cell.counts or cell.text)} & {_latex_number(cell.bounds)}"
            )
        else:
            cells.append(
                _latex_number(cell.text) if column.kind == "number" else latex_text(cell.text)
            )
    return (
        f"{cells[0]}{mark} & {' & '.join(cells[1:])} \\\\"
        if len(cells) > 1
        else f"{cells[0]}{mark} \\\\"
    )


def _latex_number(text: str) -> str:
    """Numbers with a minus sign in place of a hyphen."""
    return re.sub(r"(?<![\w.])-(?=\d)", "$-$", latex_text(text))


def _letter(note: str, notes: dict[str, str]) -> str:
    """The letter of a footnote, the same for the same words: a, b, …, z, aa, ab, …"""
    if note not in notes:
        count, letter = len(notes), ""
        while count >= 0:
            count, place = divmod(count, 26)
            letter, count = chr(ord("a") + place) + letter, count - 1
        notes[note] = letter
    return f"\\textsuperscript{{{notes[note]}}}"
