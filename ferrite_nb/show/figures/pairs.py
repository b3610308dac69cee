"""Pairs: differences between modes on the same cases, with the cases that decide them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from ...escape import missing
from ...estimate import difference_text, digits, p_text
from .. import style
from ..chart import Chart
from ..facts import values
from ..rows import rows_of
from . import _common, _marks

_COLUMNS = ("mode_a", "mode_b", "n_pairs", "b", "c", "diff", "low", "high", "p", "state", "why")
_LINE, _GAP, _HEADING = 0.125, 0.14, 0.2  # inches
_FEWEST = 6  # discordant pairs: with five the smallest possible two-sided p is 0.0625
_LOOK = style.SERIES[0]


def pairs(table: pd.DataFrame, *, width: str = "column") -> Chart:
    """Did it help, on the same cases: the difference A - B between brackets, about a line at zero.

    Parameters
    ----------
    table : a table of `fnb.compare`
    width : "column" (3.3 in) or "text" (7 in)

    Returns
    -------
    Chart. At the left of each row two bars show the cases that only A (b) and only B (c) lets
    through; at the right stand the difference with its bounds in points, Cohen's h, p and Holm's p.
    The interval that ignores the pairing is grey.

    Raises
    ------
    ValueError : a needed column is missing, an impossible count or bound, more than 40 rows, mixed
        suite versions.
    """
    if isinstance(table, pd.DataFrame) and "quantity" in table:
        table = table[table["quantity"] == "difference"]
    table = _common.checked(table, "pairs", _COLUMNS, "compare")
    if table.empty:
        return _common.nothing("pairs", "compare", table, width)
    _check(table)
    with style.settings():
        room = style.width_of(width)
        texts = [_words(row, wide=room > 4) for row in rows_of(table)]
        lines = _layout(table, texts, room)
        height = lines[-1].bottom + 0.02
        drawn = style.figure(width, height + 0.5)
        strip, main = drawn.subplots(
            1, 2, sharey=True, gridspec_kw={"width_ratios": [1, 2 if room > 4 else 1.25]}
        )
        _axes(strip, main, table, height)
        most = max(1, int(table[["b", "c"]].to_numpy().max()))
        for line in lines:
            _draw(strip, main, line, most)
    return _common.finish(drawn, table, _alt(table), _caption(table))


def _check(table: pd.DataFrame) -> None:
    for row in rows_of(table):
        for name in ("n_pairs", "b", "c"):
            if missing(row[name]) or row[name] < 0:
                raise ValueError(f"row {row.name}: {name} must be a count, got {row[name]}")
        if row["b"] + row["c"] > row["n_pairs"]:
            raise ValueError(
                f"row {row.name}: b + c must be at most n_pairs, got {row['b']}, "
                f"{row['c']}, {row['n_pairs']}"
            )
    for name in ("diff", "low", "high"):
        _common.check_inside(table, name, -1, 1)
    _common.check_bounds(table, "low", "high")
    _common.check_reasons(table, "diff")


def _kind(row: Any) -> str:
    if missing(row["diff"]):
        return "not computable"
    if row["state"] == "few":
        return "insufficient"
    return "no interval" if missing(row["low"]) else "plain"


def _strata(table: pd.DataFrame) -> list[str]:
    several = table["metric"].nunique() > 1
    strata = [
        name for name in _common.strata(table) if name not in ("mode_a", "mode_b", "quantity")
    ]
    return [*(["metric"] if several else []), *strata]


def _words(row: Any, *, wide: bool) -> list[str]:
    """The lines at the right of a row: difference and bounds, h, p and Holm's p, what was left
    out.
    """
    kind, tests = _kind(row), _tests(row)
    out = []
    if kind == "plain":
        said = difference_text(row["diff"], row["low"], row["high"]).replace(" points", "")
        out = (
            [said, "; ".join(tests)]
            if wide
            else [said, *(line for test in tests for line in _narrow(test))]
        )
    elif kind == "no interval":
        out = [f"{digits(row['diff'])} points", "no interval: see the table"]
    elif kind == "insufficient":
        out = [f"{int(row['n_pairs'])} pairs"]
    unpaired = row.get("unpaired")
    return [*out, f"{int(unpaired)} unpaired"] if not missing(unpaired) and unpaired else out


def _narrow(words: str) -> list[str]:
    return style.wrap(words, 1.2).split("\n")


def _tests(row: Any) -> list[str]:
    """Cohen's h, p and Holm's p; words in place of a p that could not have decided."""
    discordant = int(row["b"] + row["c"])
    h = [] if missing(row.get("h")) else [f"h {row['h']:.2f}".replace("-", "\u2212")]
    if discordant == 0:
        return [*h, "no discordant pairs"]
    if discordant < _FEWEST:
        return [*h, "too few discordant pairs to reach 0.05"]
    p = f"p {p_text(row['p'], row.get('log10_p'))}"
    holm = [] if missing(row.get("p_holm")) else [f"Holm p {p_text(row['p_holm'])}"]
    return [*(["; ".join([*h, p])]), *holm]


@dataclass(frozen=True)
class _Row:
    """One row as it will be drawn, in inches from the top."""

    at: float
    bottom: float
    row: Any
    name: str
    heading: str
    words: str
    why: str


def _layout(table: pd.DataFrame, texts: list[list[str]], room: float) -> list[_Row]:
    lead = _strata(table)
    left = (
        room - max(style.text_width(line) for words in texts for line in [*words, "unpaired"]) - 0.2
    )
    top, previous, lines = 0.02, "", []
    for row, words in zip(rows_of(table), texts, strict=True):
        group = _common.name_of(row, lead) if lead else ""
        heading = style.fit(group, room - 0.2, bold=True) if group != previous else ""
        top += _HEADING if heading else 0
        name = style.fit(
            f"{style.drawable(row['mode_a'])} \u2212 {style.drawable(row['mode_b'])}", left
        )
        why = style.wrap(_marks.why(row), left) if _kind(row) == "not computable" else ""
        tall = _LINE * max(2.6, len(words), why.count("\n") + 2.2) + _GAP
        lines.append(_Row(top, top + tall, row, name, heading, "\n".join(words), why))
        top, previous = top + tall, group
    return lines


def _scale(table: pd.DataFrame) -> float:
    """The half width of the scale: the least of 25, 50 and 100 points that holds everything."""
    ends = [
        name
        for name in ("diff", "low", "high", "independent_low", "independent_high")
        if name in table.columns
    ]
    largest = max(
        [abs(value) for name in ends for value in table[name] if not missing(value)], default=1.0
    )
    return next(half for half in (0.25, 0.5, 1.0) if largest <= half)


def _axes(strip: Axes, main: Axes, table: pd.DataFrame, height: float) -> None:
    half = _scale(table)
    strip.set_ylim(height, 0)
    for ax in (strip, main):
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
    strip.set_xlim(-1, 1)
    strip.set_xticks([])
    strip.spines["bottom"].set_visible(False)
    main.patch.set_visible(False)
    for words, side in (("A only\n(b)", -1), ("B only\n(c)", 1)):
        strip.annotate(
            words,
            (0, height),
            (4 * side, -3),
            textcoords="offset points",
            va="top",
            linespacing=1.05,
            ha="left" if side > 0 else "right",
            annotation_clip=False,
        )
    main.set_xlim(-half, half)
    marks = (-half, 0.0, half)
    main.set_xticks(marks, [f"{100 * mark:g}".replace("-", "\u2212") for mark in marks])
    main.set_xlabel("A \u2212 B, points")
    for ax, ends in ((strip, (0.0,)), (main, marks)):
        for mark in ends:
            ax.axvline(mark, color=style.PALE if mark else style.INK, lw=0.8, zorder=0)


def _draw(strip: Axes, main: Axes, line: _Row, most: int) -> None:
    row, kind, place = line.row, _kind(line.row), int(line.row.name)
    left = strip.get_yaxis_transform()
    if line.heading:
        heading = main.text(
            0, line.at - _HEADING / 2, line.heading, transform=left, fontweight="bold", va="center"
        )
        heading.set_in_layout(False)
    # names are drawn on the later axes, above all lines
    name = main.text(
        0, line.at + _LINE / 2, line.name, transform=left, va="center", bbox=_marks.WHITE
    )
    name.set_in_layout(False)
    middle = line.at + _LINE * 1.85
    if kind == "not computable":
        words = main.text(
            0,
            line.at + 1.15 * _LINE,
            line.why,
            transform=left,
            color=style.GREY,
            bbox=_marks.WHITE,
            va="top",
            linespacing=1.05,
        )
        words.set_in_layout(False)
        words.set_gid(f"blank:{place}")
    else:
        _bars(strip, row, middle, most)
    if kind == "plain":
        if not missing(row.get("independent_low")):
            bounds = (row["independent_low"], row["independent_high"])
            grey = Line2D(
                bounds, [middle + 0.1] * 2, color=style.GREY, lw=0.8, marker="|", ms=4, mew=0.8
            )
            grey.set_gid(f"grey:{place}")
            main.add_line(grey)
        _marks.interval(main, place, middle, (row["low"], row["high"]), _LOOK)
        _marks.marker(main, place, middle, row["diff"], _LOOK)
    elif kind == "insufficient":
        half = main.get_xlim()[1]
        _marks.hatched(main, place, middle, size=0.13, scale=(-half, half))
        _marks.inside(main, _marks.few(row).replace(" data ", " data\n"), middle, middle=0.0)
    if line.words:
        words = _marks.beside(main, line.words, line.at, 5, side=1, va="top")
        words.set_gid(f"label:{place}")


def _bars(strip: Axes, row: Any, at: float, most: int) -> None:
    """b to the left, c to the right of the centre, their numbers beside them."""
    for name, side, hatch in (("b", -1, ""), ("c", 1, "....")):
        count = int(row[name])
        long = 0.55 * count / most
        bar = Rectangle(
            (0, at - 0.06),
            side * long,
            0.12,
            facecolor=style.PALE,
            edgecolor=style.INK,
            lw=0.8,
            hatch=hatch,
        )
        bar.set_gid(f"{name}:{row.name}")
        strip.add_patch(bar)
        strip.annotate(
            str(count),
            (side * long, at),
            (3 * side, 0),
            textcoords="offset points",
            va="center",
            ha="left" if side > 0 else "right",
        )


def _mark(row: Any, columns: list[str]) -> str:
    lead = f"{_common.name_of(row, columns)}: " if columns else ""
    name = f"{lead}{style.drawable(row['mode_a'])} - {style.drawable(row['mode_b'])}"
    counts = f"b {int(row['b'])}, c {int(row['c'])} of {int(row['n_pairs'])} pairs"
    kind = _kind(row)
    if kind == "not computable":
        return f"{name} {_marks.why(row)}"
    if kind == "insufficient":
        return f"{name} {counts}, {_marks.few(row)}"
    said = difference_text(row["diff"], row["low"], row["high"], why=str(row["why"]))
    return f"{name} {said}, {counts}, {'; '.join(_tests(row))}"


def _alt(table: pd.DataFrame) -> str:
    metric = ", ".join(
        style.drawable(name) for name in dict.fromkeys(table.get("metric", ["a rate"]))
    )
    columns = _strata(table)
    what = (
        f"Differences of {metric} between modes on the same cases, A minus B in points with bounds"
    )
    read = [row for row in rows_of(table) if _kind(row) == "plain"]
    finding = "No difference may be read."
    if read:
        top = max(read, key=lambda row: abs(row["diff"]))
        apart = sum(row["low"] > 0 or row["high"] < 0 for row in read)
        finding = (
            f"Largest: {style.drawable(top['mode_a'])} - {style.drawable(top['mode_b'])} "
            f"{difference_text(top['diff'], top['low'], top['high'])}. "
            f"In {apart} of {len(table)} pairs the interval does not hold zero."
        )
    return _common.alt_text(what, finding, [_mark(row, columns) for row in rows_of(table)])


def _caption(table: pd.DataFrame) -> str:
    metrics = ", ".join(
        _common.metric_title(name) for name in dict.fromkeys(table.get("metric", []))
    )
    what = (
        f"Differences between modes on the same cases, in points{': ' if metrics else ''}{metrics}"
    )
    bars = "bars: cases with the event in A only (b) and in B only (c)"
    grey = "grey: pairing ignored" if any(values(table, "independent_low")) else ""
    few = all(_kind(row) == "insufficient" for row in rows_of(table))
    every = "every cell has insufficient data" if few else ""
    return _common.caption(
        table, what, every, bars, grey, "Holm p: corrected over all pairs of one family"
    )
