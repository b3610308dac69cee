"""Gradient: rates over an ordered stratum, one series per mode, counts in rows under the axis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import ScaledTranslation

from ...escape import missing, plain
from ...estimate import MACRO, MICRO, Estimate, bracket, digits, p_text
from .. import style
from ..chart import Chart
from ..facts import values
from ..rows import Row, rows_of
from . import _common, _marks

_HEIGHT = 2.0  # inches of the axis
_TITLE, _RIGHT = 0.14, 0.12  # inches: a line of the title, the air at the right
_LINE, _GAP = 0.13, 0.07  # inches: a line of the rows under the axis, the air between two rows
_SLOT = 0.11  # inches that a mark needs for words of its own


def gradient(
    table: pd.DataFrame,
    *,
    width: style.Width = "column",
    line: bool = False,
    baseline: str = style.UNDEFENDED,
    title: str | None = None,
    labels: Mapping[Any, str] | None = None,
) -> Chart:
    """Where does it get weak: a rate over an ordered stratum, a marker between brackets per mode.

    Parameters
    ----------
    table : a table of `fnb.gradient`; totals ("micro: all cases", "macro: mean of strata") stand
        apart at the right
    width : "column" (3.3 in), "text" (7 in), or a number of inches
    line : join the strata of a mode by a line; only for a stratum that has an order
    baseline : the undefended mode, drawn grey
    title : in place of the metric's name; "" for none
    labels : your own names of modes and strata, `{"Off": "no defence"}`

    Returns
    -------
    Chart. Counts stand under each stratum, a row per mode; the p of the trend is in the caption.

    Raises
    ------
    ValueError : `line=True` without an order, a second stratum, or what `forest` refuses.
    """
    table = _common.checked(table, "gradient", _common.RATE_COLUMNS, "gradient", labels=labels)
    baseline = (labels or {}).get(baseline, baseline)
    if table.empty:
        return _common.nothing("gradient", "gradient", table, width)
    _common.check_rates(table)
    column = _column(table)
    if line and not _ordered(table, column):
        raise ValueError(
            f"line=True needs an ordered stratum; {plain(column)} has no order to join"
        )
    rows = rows_of(table)
    with style.settings():
        plan = _Plan.of(rows, column, style.width_of(width), baseline)
        own = _common.title_of(str(table["metric"].iloc[0]), title)
        title = style.wrap(own, plan.width, style.LARGE)
        over = _TITLE * (title.count("\n") + 1) + 0.12
        drawn = style.figure(width, _HEIGHT + plan.under + over)
        ax = style.placed(drawn, left=plan.left, right=_RIGHT, bottom=plan.under, top=over)
        _axis(ax, plan, title)
        for row in rows:
            _mark(ax, plan, row)
        if line:
            _join(ax, plan, rows)
        _rows_under(ax, plan, rows)
    return _common.finish(
        drawn, table, _alt(table, rows, column), _caption(table, rows, column, baseline)
    )


def _column(table: pd.DataFrame) -> str:
    """The stratum along the axis; one more would need a figure for each of its values."""
    columns = [name for name in _common.strata(table) if name != "mode"]
    if not columns:
        raise ValueError(
            "figures.gradient needs a stratum beside 'mode'; fnb.gradient makes such a table"
        )
    column = next((name for name in values(table, "order") if name in columns), columns[0])
    for other in columns:
        if other != column and table[other].nunique() > 1:
            raise ValueError(
                f"figures.gradient draws one stratum, {column}; choose one value of "
                f"{other} for a figure"
            )
    if table["metric"].nunique() > 1:
        raise ValueError("figures.gradient draws one metric; choose one, or call figures.forest")
    keys = [name for name in (column, "mode") if name in table.columns]
    twice = table[table.duplicated(keys)]
    if not twice.empty:
        raise ValueError(
            f"row {twice.index[0]}: {', '.join(map(plain, twice.iloc[0][keys]))} stands "
            "twice in the table"
        )
    return column


def _ordered(table: pd.DataFrame, column: str) -> bool:
    """Whether the rows say that this stratum has an order."""
    return column in values(table, "order")


def _is_total(value: Any) -> bool:
    return value in (MICRO, MACRO)


@dataclass(frozen=True)
class _Plan:
    """Where everything goes: places of strata, shifts of modes, and the inches of names and counts
    under the axis.

    Names and counts that are wider than their place are turned; turned ones that still touch stand
    on two levels.
    """

    column: str
    places: dict[Any, float]
    looks: dict[Any, style.Series]
    words: dict[int, str]
    room: float
    left: float

    @classmethod
    def of(cls, rows: list[Row], column: str, room: float, baseline: str) -> _Plan:
        values = list(dict.fromkeys(row[column] for row in rows))
        strata = [value for value in values if not _is_total(value)]
        totals = [value for value in values if _is_total(value)]
        places = {value: float(i) for i, value in enumerate(strata)}
        places |= {value: len(strata) + 0.3 + i for i, value in enumerate(totals)}
        modes = list(dict.fromkeys(row.get("mode", "") for row in rows))
        names = [style.drawable(mode) or "all" for mode in modes]
        left = min(max(0.45, *(style.text_width(name) + 0.24 for name in names)), 0.3 * room)
        each = (room - left - _RIGHT) / (len(places) + (0.3 if totals else 0))
        both = {i: _counts(row, two_lines=True) for i, row in enumerate(rows)}
        fits = max(map(style.text_width, both.values())) + 0.08 <= each
        words = both if fits else {i: _counts(row, two_lines=False) for i, row in enumerate(rows)}
        return cls(column, places, style.series(modes, baseline), words, each, left)

    def at(self, row: Any) -> float:
        """The place of a row along the axis: its stratum, moved aside by its mode."""
        modes = list(self.looks)
        place = modes.index(row["mode"]) if "mode" in row else 0
        return self.places[row[self.column]] + (place - (len(modes) - 1) / 2) * self.slot

    @property
    def width(self) -> float:
        """Inches of the axis."""
        return self.room * len(self.places)

    @property
    def slot(self) -> float:
        """The share of a stratum's place that one mode has."""
        return 0.8 / len(self.looks)

    @property
    def turned_names(self) -> bool:
        """Whether some name of a stratum needs more than two lines."""
        return any(_name(value, self.room).count("\n") > 1 for value in self.places)

    @property
    def turned_counts(self) -> bool:
        """Whether some counts are wider than their place."""
        return max(map(style.text_width, self.words.values())) > self.room

    @property
    def levels(self) -> int:
        """One level of turned words, or two where they would touch."""
        return 1 if self.room >= 0.11 else 2

    @property
    def name_height(self) -> float:
        """Inches of the names of strata."""
        if not self.turned_names:
            return 0.14 + _LINE * max(_name(value, self.room).count("\n") for value in self.places)
        return self.levels * max(
            style.text_width(_long(value), bold=True) + 0.05 for value in self.places
        )

    @property
    def row_height(self) -> float:
        """Inches of one row of counts."""
        if self.turned_counts:
            return self.levels * (max(map(style.text_width, self.words.values())) + 0.04) + _GAP
        return _LINE * (1 + max(words.count("\n") for words in self.words.values())) + _GAP

    @property
    def under(self) -> float:
        """Inches under the axis: names of strata and rows of counts."""
        return 0.12 + self.name_height + self.row_height * len(self.looks)


def _name(value: Any, room: float) -> str:
    return style.wrap(
        _common.stratum(value), max(0.1, room - 0.04) / (1.1 if _is_total(value) else 1)
    )


def _long(value: Any) -> str:
    return style.fit(_common.stratum(value), 1.25)


def _axis(ax: Axes, plan: _Plan, title: str) -> None:
    _marks.rate_axis(ax, "y")
    places = list(plan.places.values())
    ax.set_xlim(-0.5, places[-1] + 0.5)
    ax.set_xticks(places, [])
    ax.set_title(title, loc="left", fontweight="bold")
    for i, (value, place) in enumerate(plan.places.items()):
        words = _long(value) if plan.turned_names else _name(value, plan.room)
        level = i % plan.levels if plan.turned_names else 0
        down = -5 - 72 * level * plan.name_height / plan.levels
        _under(
            ax,
            words,
            place,
            down,
            turned=plan.turned_names,
            fontweight="bold" if _is_total(value) else "normal",
        )
    totals = [place for value, place in plan.places.items() if _is_total(value)]
    if totals and len(totals) < len(places):
        ax.axvline(totals[0] - 0.65, color=style.PALE, lw=0.8)


def _mark(ax: Axes, plan: _Plan, row: Any) -> None:
    at = plan.at(row)
    look = plan.looks[row["mode"]] if "mode" in row else next(iter(plan.looks.values()))
    wide = plan.slot * plan.room
    kind = _marks.rate(ax, row, at, look, along="y", size=0.4 * plan.slot, cap=min(7.0, 50 * wide))
    if wide < _SLOT:
        return
    if kind == "insufficient":
        words = style.fit(_marks.few(row), _HEIGHT - 0.1)
        ax.text(
            at, 0.5, words, rotation=90, ha="center", va="center", bbox={**_marks.WHITE, "pad": 0.3}
        )
    elif kind == "not computable":
        lines = style.wrap(_marks.why(row), _HEIGHT - 0.15).split("\n")
        fit = max(1, int(wide / _SLOT))
        why = "\n".join(
            lines
            if len(lines) <= fit
            else [*lines[: fit - 1], style.fit(lines[fit - 1] + "\u2026", 1.8)]
        )
        blank = ax.text(
            at, 0.03, why, rotation=90, ha="center", va="bottom", color=style.GREY, linespacing=1.05
        )
        blank.set_gid(f"blank:{row.name}")


def _rows_under(ax: Axes, plan: _Plan, rows: list[Row]) -> None:
    """Counts under each stratum, a row per mode, led by the mode's name and marker: legend and
    numbers in one.
    """
    downs = [-72 * (0.12 + plan.name_height + i * plan.row_height) for i in range(len(plan.looks))]
    for down, (mode, look) in zip(downs, plan.looks.items(), strict=True):
        name = style.fit(style.drawable(mode) or "all", plan.left - 0.22)
        _under(ax, name, -0.5, down, ha="right", shift=-14)
        key = Line2D(
            [-0.5],
            [0],
            marker=look.marker,
            ms=4.5,
            color=look.face,
            mec=style.INK,
            mew=0.6,
            ls="",
            clip_on=False,
        )
        move = ScaledTranslation(-7 / 72, (down - 3.7) / 72, ax.figure.dpi_scale_trans)
        key.set_transform(ax.get_xaxis_transform() + move)
        key.set_gid(f"key:{name}")
        ax.add_line(key)
    order = list(plan.places)
    for i, row in enumerate(rows):
        place = list(plan.looks).index(row["mode"]) if "mode" in row else 0
        level = order.index(row[plan.column]) % plan.levels if plan.turned_counts else 0
        down = downs[place] - 72 * level * (plan.row_height - _GAP) / plan.levels
        words = _under(
            ax, plan.words[i], plan.places[row[plan.column]], down, turned=plan.turned_counts
        )
        words.set_gid(f"label:{row.name}")


def _under(
    ax: Axes,
    words: str,
    at: float,
    down: float,
    *,
    ha: str = "center",
    shift: float = 0,
    turned: bool = False,
    **look: Any,
) -> Text:
    """Words under the axis, `down` points (negative) from it."""
    return ax.annotate(
        words,
        (at, 0),
        (shift, down),
        xycoords=ax.get_xaxis_transform(),
        textcoords="offset points",
        ha=ha,
        va="top",
        rotation=90 if turned else 0,
        linespacing=1.05,
        annotation_clip=False,
        **look,
    )


def _counts(row: Any, *, two_lines: bool) -> str:
    """What stands under a mark: "30/200" and, where there is room, its bounds."""
    estimate = Estimate.from_row(row)
    if estimate.kind == "not computable":
        return estimate.counts if estimate.counts and estimate.n else "none"
    if estimate.kind == "insufficient":
        return estimate.counts
    bounds = bracket(estimate.low, estimate.high)
    if estimate.kind == "corrected":  # a mean has no counts: its bounds go with it everywhere
        return f"mean {digits(estimate.rate)}%{chr(10) if two_lines else ' '}{bounds}"
    return f"{estimate.counts}\n{bounds}" if two_lines else estimate.counts


def _join(ax: Axes, plan: _Plan, rows: list[Row]) -> None:
    """Lines between neighbouring strata that both have a rate; a gap stays a gap."""
    for look in plan.looks.values():
        mine = [row for row in rows if plan.looks.get(row.get("mode", ""), look) is look]
        mine = [row for row in mine if not _is_total(row[plan.column])]
        for first, second in pairwise(mine):
            rates = [Estimate.from_row(row) for row in (first, second)]
            if any(one.kind in ("insufficient", "not computable") for one in rates):
                continue
            joined = Line2D(
                [plan.at(first), plan.at(second)],
                [one.rate for one in rates],
                color=look.line,
                lw=0.8,
                ls=":",
                zorder=1,
            )
            joined.set_gid(f"join:{first.name}")
            ax.add_line(joined)


def _alt(table: pd.DataFrame, rows: list[Row], column: str) -> str:
    columns = [name for name in (column, "mode") if name in table.columns]
    estimates = [Estimate.from_row(row) for row in rows]
    names = [_common.name_of(row, columns) for row in rows]
    marks = [f"{name} {one.label()}" for name, one in zip(names, estimates, strict=True)]
    strata = [i for i, value in enumerate(table[column]) if not _is_total(value)]
    finding = _common.extremes([names[i] for i in strata], [estimates[i] for i in strata])
    metric = style.drawable(table["metric"].iloc[0])
    what = (
        f"{metric} over {style.drawable(column)}, in the order of the table, with k/n "
        "and bounds in percent"
    )
    return _common.alt_text(what, finding, marks, _trends(table))


def _trends(table: pd.DataFrame) -> list[str]:
    """The p-value of each mode's trend with the name of the test, or that there is none."""
    if "trend_p" not in table.columns:
        return []
    test = plain(next(iter(values(table, "test")), "trend test"), None)
    said = []
    modes = list(dict.fromkeys(table["mode"])) if "mode" in table.columns else [""]
    for mode in modes:
        mine = table[table["mode"] == mode] if "mode" in table.columns else table
        p = mine["trend_p"].iloc[0]
        name = style.drawable(mode) or "all"
        said.append(f"{name}: {'no trend computable' if missing(p) else f'trend p {p_text(p)}'}")
    return [f"{test}, {'; '.join(said)}."]


def _caption(table: pd.DataFrame, rows: list[Row], column: str, baseline: str) -> str:
    title = _common.metric_title(str(table["metric"].iloc[0]))
    what = f"{title}, by {style.drawable(column)}"
    few = "hatched: insufficient data (fewer than 5 cases or clusters)"
    hatched = any(Estimate.from_row(row).kind == "insufficient" for row in rows)
    trends = [trend.rstrip(".") for trend in _trends(table)]
    grey = _common.undefended(table, baseline)
    hatch = few if hatched else ""
    return _common.caption(table, what, grey, hatch, *trends, _common.one_side(table))
