"""Pairs: differences between modes on the same cases, with the cases that decide them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from ...escape import missing
from ...estimate import difference_text, digits, p_text
from .. import style
from ..chart import Chart
from ..facts import values
from ..rows import rows_of
from . import _common, _marks

_COLUMNS = ("mode_a", "mode_b", "n_pairs", "b", "c", "diff", "low", "high", "p", "state", "why")
_LINE, _GAP, _HEADING = 0.125, 0.1, 0.2  # inches
_SIDE, _UNDER = 0.1, 0.42  # inches: beside the axis, under it
_STRIP = 0.44  # of the room that the words at the right leave: names and bars
_WIDEST = 1.8  # inches of names and bars
_FEWEST = 6  # discordant pairs: with five the smallest possible two-sided p is 0.0625
_LOOK = style.SERIES[0]


def pairs(table: pd.DataFrame, *, width: style.Width = "column") -> Chart:
    """Did it help, on the same cases: the difference A - B between brackets, about a line at zero.

    Parameters
    ----------
    table : a table of `fnb.compare`
    width : "column" (3.3 in), "text" (7 in), or a number of inches

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
        texts = [_words(row, wide=style.is_wide(width)) for row in rows_of(table)]
        right = max(style.text_width(line) for words in texts for line in [*words, "unpaired"])
        left = min(_STRIP * (room - right), _WIDEST)
        main = room - left - right - 2 * _SIDE
        lines = _layout(table, texts, left, main)
        height = lines[-1].bottom + 0.02
        drawn = style.figure(width, height + _UNDER)
        strip = style.placed(drawn, left=0.04, right=room - left, bottom=_UNDER, top=0)
        axis = style.placed(drawn, left=left + _SIDE, right=right + _SIDE, bottom=_UNDER, top=0)
        _axes(strip, axis, table, height)
        most = max(1, int(table[["b", "c"]].to_numpy().max()))
        for line in lines:
            _draw(strip, axis, line, most, left - 0.08)
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
    inside: str


def _layout(table: pd.DataFrame, texts: list[list[str]], left: float, main: float) -> list[_Row]:
    lead = _strata(table)
    top, previous, lines = 0.02, "", []
    for row, words in zip(rows_of(table), texts, strict=True):
        group = _common.name_of(row, lead) if lead else ""
        heading = style.fit(group, left + main, bold=True) if group != previous else ""
        top += _HEADING if heading else 0
        name = f"{style.drawable(row['mode_a'])} \u2212 {style.drawable(row['mode_b'])}"
        kind = _kind(row)
        why = {"not computable": _marks.why, "insufficient": _marks.few}.get(kind)
        inside = style.wrap(why(row), main - 0.1) if why else ""
        tall = _LINE * max(2.4, len(words), inside.count("\n") + 1.6) + _GAP
        name = style.fit(name, left - 0.08)
        lines.append(_Row(top, top + tall, row, name, heading, "\n".join(words), inside))
        top, previous = top + tall, group
    return lines


def _limits(table: pd.DataFrame) -> tuple[float, float]:
    """The ends of the scale: all that is drawn, and zero, with a little air."""
    names = ("diff", "low", "high", "independent_low", "independent_high")
    drawn = [float(v) for name in names for v in table.get(name, []) if not missing(v)]
    low, high = min([0.0, *drawn]), max([0.0, *drawn])
    air = 0.06 * (high - low) or 0.1
    return low - air, high + air


def _axes(strip: Axes, main: Axes, table: pd.DataFrame, height: float) -> None:
    for ax in (strip, main):
        ax.set_ylim(height, 0)
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
    strip.set_xlim(-1, 1)
    strip.set_xticks([])
    strip.spines["bottom"].set_visible(False)
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
    low, high = _limits(table)
    main.set_xlim(low, high)
    marks = [
        mark
        for mark in MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
        if low <= mark <= high
    ]
    main.set_xticks(marks, [f"{100 * mark:g}".replace("-", "\u2212") for mark in marks])
    main.set_xlabel("A \u2212 B, points", labelpad=1)
    main.axvline(0, color=style.INK, lw=0.8, zorder=0)


def _draw(strip: Axes, main: Axes, line: _Row, most: int, wide: float) -> None:
    row, kind, place = line.row, _kind(line.row), int(line.row.name)
    if line.heading:
        _marks.beside(strip, line.heading, line.at - _HEADING / 2, 0, fontweight="bold")
    _marks.beside(strip, line.name, line.at + _LINE / 2 + _GAP / 2, 0)
    middle = (line.at + line.bottom) / 2
    if kind == "not computable":
        words = _marks.beside(main, line.inside, middle, 2, color=style.GREY, bbox=_marks.WHITE)
        words.set_gid(f"blank:{place}")
    else:
        _bars(strip, row, line.at + _LINE * 1.6 + _GAP / 2, most, wide)
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
        low, high = main.get_xlim()
        size = 0.07 + line.inside.count("\n") * _LINE / 2
        _marks.hatched(main, place, middle, size=size, scale=(low, high))
        _marks.inside(main, line.inside, middle, middle=(low + high) / 2)
    if line.words:
        words = _marks.beside(main, line.words, middle, 5, side=1)
        words.set_gid(f"label:{place}")


def _bars(strip: Axes, row: Any, at: float, most: int, wide: float) -> None:
    """b to the left, c to the right of the centre, their numbers beside them."""
    longest = 1 - 2 * (style.text_width(str(most)) + 0.08) / wide
    for name, side, hatch in (("b", -1, ""), ("c", 1, "....")):
        count = int(row[name])
        long = longest * count / most
        bar = Rectangle(
            (0, at - 0.06),
            side * long,
            0.12,
            facecolor=style.GREY if side < 0 else "white",
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
