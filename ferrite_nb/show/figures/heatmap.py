"""Heatmap: rates over two strata, suite by defence, each cell with its counts and bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from ...escape import plain
from ...estimate import MACRO, MICRO, Estimate, bracket, digits
from .. import style
from ..chart import Chart
from ..rows import rows_of
from . import _common, _marks

_LINE, _AIR = 0.125, 0.1  # inches: a line of text, the air of a cell


def heatmap(table: pd.DataFrame, *, width: style.Width = "text") -> Chart:
    """Where are the holes in the matrix: one cell per pair of strata, light for 0 and dark for 1.

    Parameters
    ----------
    table : a table of `fnb.rates` with one metric and two strata, such as `by=["suite", "mode"]`;
        margins are rows with the stratum "micro: all cases"
    width : "column" (3.3 in), "text" (7 in), or a number of inches

    Returns
    -------
    Chart. In each cell stand `k/n` and `[low, high]`; insufficient data is hatched, what is not
    computable says why, a pair that the table does not hold has a dot.

    Raises
    ------
    ValueError : more or fewer than two strata, cells too narrow for text of 7 points, or what
        `forest` refuses.
    """
    table = _common.checked(table, "heatmap", _common.RATE_COLUMNS, "rates")
    if table.empty:
        return _common.nothing("heatmap", "rates", table, width)
    _common.check_rates(table)
    rows, columns = _strata(table)
    with style.settings():
        plan = _fitting(table, rows, columns, style.width_of(width))
        drawn = style.figure(width, plan.height + plan.head + 0.34)
        ax = drawn.subplots()
        _axes(ax, plan, table)
        for row in rows_of(table):
            _cell(ax, plan, row)
        there = {(row[plan.down], row[plan.across]) for row in rows_of(table)}
        for at, value in enumerate(plan.rows):
            for place, other in enumerate(plan.columns):
                if (value, other) not in there:
                    middle = plan.tops[at] + plan.tall / 2
                    ax.text(
                        place + 0.5, middle, "\u00b7", ha="center", va="center", fontsize=14
                    ).set_gid("none")
    return _common.finish(
        drawn, table, _alt(table, [rows, columns]), _caption(table, rows, columns)
    )


def _strata(table: pd.DataFrame) -> tuple[str, str]:
    if table["metric"].nunique() > 1:
        raise ValueError("figures.heatmap draws one metric; choose one, and draw a figure for each")
    strata = _common.strata(table)
    varied = [name for name in strata if table[name].nunique() > 1]
    chosen = (
        varied
        if len(varied) > 1
        else [*varied, *(name for name in strata if name not in varied)][:2]
    )
    if len(chosen) != 2:
        raise ValueError(
            f"figures.heatmap needs two strata, got {', '.join(map(plain, chosen)) or 'none'}; "
            'fnb.rates(runs, "ASR", by=["suite", "mode"]) makes such a table'
        )
    twice = table[table.duplicated(chosen)]
    if not twice.empty:
        raise ValueError(
            f"row {twice.index[0]}: {', '.join(map(plain, twice.iloc[0][chosen]))} "
            "stands twice in the table"
        )
    return chosen[0], chosen[1]


@dataclass(frozen=True)
class _Plan:
    """The matrix in inches: which stratum goes down and which across, cell sizes, and where rows
    begin.
    """

    down: str
    across: str
    rows: list[Any]
    columns: list[Any]
    left: float
    wide: float
    lines: int
    most: int = 2

    @property
    def tall(self) -> float:
        """The height of a cell."""
        return self.most * _LINE + _AIR

    @property
    def tops(self) -> list[float]:
        """The upper edge of each row."""
        return [i * self.tall for i in range(len(self.rows))]

    @property
    def height(self) -> float:
        """The height of all rows."""
        return len(self.rows) * self.tall

    @property
    def head(self) -> float:
        """The height of the names above the columns."""
        return _LINE * max(_head(value, self.wide).count("\n") + 1 for value in self.columns) + 0.06


def _fitting(table: pd.DataFrame, rows: str, columns: str, room: float) -> _Plan:
    """The first layout whose cells hold their text: as asked for, with bounds on two lines, or
    turned.
    """
    for down, across in ((rows, columns), (columns, rows)):
        for lines in (2, 3):
            plan = _plan(table, down, across, room, lines)
            words = [_words(row, lines, plan.wide) for row in rows_of(table)]
            most = max(text.count("\n") + 1 for text in words)
            if all(style.text_width(text) <= plan.wide - 0.04 for text in words) and most <= 4:
                return replace(plan, most=most)
    cells = min(table[rows].nunique(), table[columns].nunique())
    raise ValueError(
        f"figures.heatmap: {cells} cells beside each other are too narrow for text of 7 points; "
        "use width='text', or facet with by=, or filter"
    )


def _plan(table: pd.DataFrame, down: str, across: str, room: float, lines: int) -> _Plan:
    rows, columns = (list(dict.fromkeys(table[name])) for name in (down, across))
    names = [style.text_width(_common.stratum(value), bold=True) for value in rows]
    left = min(max(names) + 0.06, 0.28 * room)
    return _Plan(down, across, rows, columns, left, (room - left - 0.1) / len(columns), lines)


def _words(row: Any, lines: int, wide: float) -> str:
    """The text of a cell."""
    estimate = Estimate.from_row(row)
    if estimate.kind == "not computable":
        narrow = style.text_width("computable:") > wide - 0.06
        why = style.drawable(row["why"], 160) if narrow else _marks.why(row)
        kept = style.wrap(why, wide - 0.06).split("\n")
        return "\n".join(
            kept if len(kept) <= 4 else [*kept[:3], style.fit(f"{kept[3]}\u2026", wide - 0.06)]
        )
    if estimate.kind == "insufficient":
        return style.wrap(f"{estimate.counts} {_marks.few(row)}", wide - 0.06)
    bounds = bracket(estimate.low, estimate.high)
    first = f"{digits(estimate.rate)}%" if estimate.kind == "corrected" else estimate.counts
    return f"{first}\n{bounds if lines == 2 else bounds.replace(', ', ',' + chr(10))}"


def _head(value: Any, wide: float) -> str:
    room = (wide - 0.02) / (1.12 if _is_margin(value) else 1)
    words = style.wrap(_common.stratum(value), room).split("\n")
    return "\n".join(
        words if len(words) <= 3 else [*words[:2], style.fit(f"{words[2]}\u2026", room)]
    )


def _axes(ax: Axes, plan: _Plan, table: pd.DataFrame) -> None:
    ax.set_xlim(0, len(plan.columns))
    ax.set_ylim(plan.height, 0)
    ax.set_xticks([])
    ax.set_yticks([])
    for side in ax.spines.values():
        side.set_visible(False)
    for at, value in enumerate(plan.rows):
        name = style.fit(_common.stratum(value), plan.left - 0.04, bold=_is_margin(value))
        weight = "bold" if _is_margin(value) else "normal"
        _marks.beside(ax, name, plan.tops[at] + plan.tall / 2, -72 * plan.left, fontweight=weight)
    for place, value in enumerate(plan.columns):
        ax.text(
            place + 0.5,
            -0.04,
            _head(value, plan.wide),
            ha="center",
            va="bottom",
            linespacing=1.05,
            fontweight="bold" if _is_margin(value) else "normal",
        )
    whole = plan.left + plan.wide * len(plan.columns)
    title = style.wrap(
        _common.metric_title(str(table["metric"].iloc[0])), 0.88 * whole, style.LARGE
    )
    _marks.beside(
        ax,
        title,
        0,
        -72 * plan.left,
        lift=72 * plan.head + 4,
        va="bottom",
        fontweight="bold",
        fontsize=style.LARGE,
    )


def _is_margin(value: Any) -> bool:
    return value in (MICRO, MACRO)


def _cell(ax: Axes, plan: _Plan, row: Any) -> None:
    estimate = Estimate.from_row(row)
    place, top = plan.columns.index(row[plan.across]), plan.tops[plan.rows.index(row[plan.down])]
    read = estimate.kind not in ("insufficient", "not computable")
    shade = style.heat()(float(estimate.rate))[:3] if read else (1.0, 1.0, 1.0)
    box = Rectangle((place, top), 1, plan.tall, facecolor=shade, edgecolor=style.PALE, lw=0.8)
    if estimate.kind == "insufficient":
        box.set_hatch(style.HATCH)
    box.set_gid(f"{'hatched' if estimate.kind == 'insufficient' else 'cell'}:{row.name}")
    ax.add_patch(box)
    ink = style.GREY if estimate.kind == "not computable" else style.on(shade)
    back = _marks.WHITE if estimate.kind == "insufficient" else None
    words = ax.text(
        place + 0.5,
        top + plan.tall / 2,
        _words(row, plan.lines, plan.wide),
        color=ink,
        ha="center",
        va="center",
        linespacing=1.05,
        bbox=back,
    )
    words.set_gid(f"{'blank' if estimate.kind == 'not computable' else 'label'}:{row.name}")


def _alt(table: pd.DataFrame, columns: list[str]) -> str:
    estimates = [Estimate.from_row(row) for row in rows_of(table)]
    names = [_common.name_of(row, columns) for row in rows_of(table)]
    marks = [f"{name} {one.label()}" for name, one in zip(names, estimates, strict=True)]
    inner = [
        i for i in range(len(table)) if not any(_is_margin(table[name][i]) for name in columns)
    ]
    finding = _common.extremes([names[i] for i in inner], [estimates[i] for i in inner])
    unread = sum(one.kind in ("insufficient", "not computable") for one in estimates)
    more = [f"{unread} cells are insufficient or not computable."] if unread else []
    what = (
        f"Matrix of {style.drawable(table['metric'].iloc[0])}, "
        f"{' by '.join(map(style.drawable, columns))}"
    )
    return _common.alt_text(f"{what}, with k/n and bounds in percent", finding, marks, more)


def _caption(table: pd.DataFrame, rows: str, columns: str) -> str:
    title = _common.metric_title(str(table["metric"].iloc[0]))
    kinds = {Estimate.from_row(row).kind for row in rows_of(table)}
    few = "hatched: insufficient data" if "insufficient" in kinds else ""
    what = f"{title}, {style.drawable(rows)} by {style.drawable(columns)}"
    shades = "shade: the rate, light for 0, dark for 1"
    return _common.caption(table, what, shades, few, _common.one_side(table))
