"""Tables: a tidy table as HTML, LaTeX, Markdown or CSV, with the same content and everything from
files escaped.

`html`, `latex` and `markdown` print `k/n [low, high]` and reasons, made by `grid`, with the notes
numbered below; `csv` keeps every column and digit for machines.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ..escape import csv_text, html_text, latex_text, markdown_text, missing, plain
from .files import write_whole
from .grid import Cell, Column, Grid, checked, grid, narrow

__all__ = ["Html", "csv", "html", "latex", "markdown"]

MOST = 200  # rows of a table on a page; a CSV holds all
PAGE = 397.0  # points: the 5.5 inches of a page of one column


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


def html(table: pd.DataFrame, *, caption: str = "", rows: int | None = MOST) -> Html:
    """The table as an accessible HTML `<table>`: caption, scoped header cells, estimates that read
    well aloud, each note once below the table behind its number.

    Parameters
    ----------
    table : any table of this package
    caption : stands above the table
    rows : how many lines are shown at most; None shows all

    Notes
    -----
    As the last line of a cell it is shown as a table.

    Example
    -------
    >>> import pandas as pd
    >>> html(pd.DataFrame({"limit": ["<b>"]}), caption="Limits").count("<b>")
    0
    """
    made = grid(table, most=rows)
    numbers = made.notes
    head = "".join(
        f'<th scope="col"{_side(column)}>{html_text(column.name)}</th>' for column in made.columns
    )
    body = "\n".join(f"<tr>{_html_row(made, row, numbers)}</tr>" for row in made.rows)
    below = [f"<sup>{at}</sup> {html_text(note)}" for note, at in numbers.items()]
    below += [html_text(line) for line in [*_left_out(made), *made.below]]
    under = "".join(f'<p style="margin:.2em 0">{line}</p>' for line in below)
    title = f'<caption style="text-align:left">{html_text(caption)}</caption>' if caption else ""
    safe = "tex2jax_ignore mathjax_ignore"  # keeps MathJax away from dollar signs of payloads
    return Html(
        f'<table class="ferrite-table {safe}">{title}\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table>\n"
        f'<div class="ferrite-notes {safe}" style="font-size:smaller">{under}</div>'
    )


def _left_out(made: Grid) -> list[str]:
    count = len(made.rows)
    said = f"The first {count:,} of {count + made.left:,} rows; fnb.tables.csv writes all."
    return [said] if made.left else []


def _side(column: Column) -> str:
    """Words stand at the left, numbers at the right, whatever the page says of cells."""
    side = "left" if column.kind == "text" else "right"
    return f' style="text-align:{side};vertical-align:top;padding:.2em .6em"'


def _html_row(made: Grid, row: Sequence[Cell], numbers: Mapping[str, int]) -> str:
    """The cells of a row: what it is of as headers, up to the first number; in a table of words the
    first alone.
    """
    cells = []
    leading = True
    words = all(column.kind == "text" for column in made.columns)
    for place, (column, cell) in enumerate(zip(made.columns, row, strict=True)):
        leading = leading and column.kind == "text" and not (words and place)
        marks = ",".join(str(numbers[note]) for note in cell.notes)
        text = (
            html_text(cell.text.removesuffix(cell.bounds)) if cell.bounds else html_text(cell.text)
        )
        text += f'<span style="white-space:nowrap">{cell.bounds}</span>' if cell.bounds else ""
        text += f"<sup>{marks}</sup>" if marks else ""
        if leading:
            cells.append(f'<th scope="row"{_side(column)}>{text}</th>')
            continue
        look = f' class="{"reason" if cell.why else column.kind}"{_side(column)}'
        said = f' aria-label="{html_text(cell.aloud)}"' if cell.aloud and not cell.why else ""
        cells.append(f"<td{look}{said}>{text}</td>")
    return "".join(cells)


def markdown(table: pd.DataFrame, *, rows: int | None = MOST) -> str:
    """The table as a Markdown table, with its numbered notes as lines below.

    `rows` bounds the lines that are shown; None shows all.
    """
    made = grid(table, most=rows)
    rule = {"text": ":--", "number": "--:", "estimate": "--:"}
    lines = [
        _markdown_row(_markdown_cell(column.name) for column in made.columns),
        _markdown_row(rule[column.kind] for column in made.columns),
    ]
    numbers = made.notes
    for row in made.rows:
        marks = [",".join(str(numbers[note]) for note in cell.notes) for cell in row]
        cells = zip(row, marks, strict=True)
        lines.append(
            _markdown_row(
                _markdown_cell(cell.text) + (f"<sup>{mark}</sup>" if mark else "")
                for cell, mark in cells
            )
        )
    below = [f"<sup>{at}</sup> {_markdown_cell(note)}" for note, at in made.notes.items()]
    below += [_markdown_cell(line) for line in [*_left_out(made), *made.below]]
    return "\n".join(lines + [f"\n{line}" for line in below]) + "\n"


def _markdown_row(texts: Iterable[str]) -> str:
    return "| " + " | ".join(texts) + " |"


def _markdown_cell(text: str) -> str:
    # brackets of an interval are no link, and stay as they are to be read in the source too
    return re.sub(r"\\\[([-\d.\u221e]+, [-\d.\u221e]+|low, high)\\\]", r"[\1]", markdown_text(text))


def latex(
    table: pd.DataFrame,
    *,
    caption: str = "",
    label: str = "",
    columns: Sequence[str] | None = None,
    width: float = PAGE / 72.27,
    star: bool = False,
) -> str:
    """The table as a LaTeX tabular with booktabs rules: `k/n [low, high]` aligned, notes below.

    Parameters
    ----------
    table : any table of this package
    caption, label : with a caption the tabular comes in a `table` environment
    columns : heads of the columns to print, in this order; without it those that a paper needs
    width : inches that it may take; several metrics then stand below each other, and words are
        broken into lines
    star : a `table*`, which spans both columns of a page

    Notes
    -----
    The paper loads `booktabs`, `array` and `fontenc` with T1. Reasons and notes stand under the
    table behind a small letter; cells with insufficient data keep their counts and carry the
    letter.
    """
    room = width * 72.27
    made = narrow(grid(table), columns)
    if _wide(made) > room and not columns:
        made = narrow(grid(table, wide=False), None)
    notes: dict[str, str] = {}
    body = [_latex_row(made, row, notes) for row in made.rows]
    lines = [
        "% needs \\usepackage{booktabs,array} and \\usepackage[T1]{fontenc}",
        f"\\begin{{tabular}}{{@{{}}{_spec(made, room)}@{{}}}}",
        "\\toprule",
        f"{' & '.join(map(_latex_head, made.columns))} \\\\",
        "\\midrule",
        *body,
        "\\bottomrule",
        "\\end{tabular}",
    ]
    below = [f"\\textsuperscript{{{letter}}}~{latex_text(note)}" for note, letter in notes.items()]
    below += [latex_text(line) for line in made.below]
    if below:
        under = [f"{line}\\par" for line in below]
        lines += ["", "\\smallskip", "{\\footnotesize\\raggedright", *under, "}"]
    if _wide(made) > room and not any(column.kind == "text" for column in made.columns):
        lines = ["{\\footnotesize", *lines, "}"]
    if caption:
        mark = f"\\label{{{plain(label)}}}" if label else ""
        where = f"table{'*' if star else ''}"
        lines = [
            f"\\begin{{{where}}}",
            "\\centering",
            f"\\caption{{{latex_text(caption)}}}{mark}",
            *lines,
            f"\\end{{{where}}}",
        ]
    return "\n".join(lines) + "\n"


_LETTER, _GAP = 5.0, 12.0  # points of a letter (of ten points), and between two columns


def _widths(made: Grid) -> list[float]:
    """About the points that each column takes."""
    out = []
    for place, column in enumerate(made.columns):
        texts = [column.name]
        for row in made.rows:
            cell = row[place]
            pair = f"{cell.counts or ('not computable' if cell.why else cell.text)} {cell.bounds}"
            texts.append(pair if column.kind == "estimate" else cell.text)
        most = max(map(len, texts)) + 1.0 * any(row[place].notes for row in made.rows)
        out.append(most * _LETTER)
    return out


def _wide(made: Grid) -> float:
    return sum(_widths(made)) + _GAP * (len(made.columns) - 1)


def _spec(made: Grid, room: float) -> str:
    """The columns of the tabular; words that are too wide for the page are broken into lines."""
    widths = _widths(made)
    words = [i for i, column in enumerate(made.columns) if column.kind == "text"]
    rest = room - _GAP * (len(widths) - 1) - sum(w for i, w in enumerate(widths) if i not in words)
    spec = [{"text": "l", "number": "r", "estimate": "r@{~}l"}[one.kind] for one in made.columns]
    broken: list[int] = []
    for i in sorted(words, key=lambda i: -widths[i]):  # the widest first, until the rest fits
        if sum(widths[j] for j in words) <= max(rest, 0.0):
            break
        broken.append(i)
        kept = sum(widths[j] for j in words if j not in broken)
        share = max(30.0, (rest - kept) / len(broken))
        if share >= 60.0 or len(broken) == len(words):
            for j in broken:
                spec[j] = f">{{\\raggedright\\arraybackslash}}p{{{share:.0f}pt}}"
            break
    return "".join(spec)


def _latex_head(column: Column) -> str:
    name = latex_text(column.name)
    return f"\\multicolumn{{2}}{{c}}{{{name}}}" if column.kind == "estimate" else name


def _latex_row(made: Grid, row: Sequence[Cell], notes: dict[str, str]) -> str:
    cells = []
    for column, cell in zip(made.columns, row, strict=True):
        marks = "".join(_letter(note, notes) for note in [cell.why, *cell.notes] if note)
        if column.kind == "estimate" and cell.why:
            shown = latex_text(cell.counts) if cell.counts else "not computable"
            cells.append(f"\\multicolumn{{2}}{{l}}{{{shown}{marks}}}")
        elif column.kind == "estimate":
            first = _latex_number(cell.counts or cell.text)
            cells.append(f"{first} & {_latex_number(cell.bounds)}{marks}")
        else:
            number = column.kind == "number"
            shown = _latex_number(cell.text) if number else latex_text(cell.text)
            cells.append(shown + marks)
    return f"{' & '.join(cells)} \\\\"


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
