"""Budget: success within K attempts, one curve per series, with what alike and independent attempts
would give.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ...escape import missing
from ...estimate import Estimate, bracket, number, refusal
from .. import style
from ..chart import Chart
from ..grid import measured
from ..rows import rows_of
from . import _common, _marks

_COLUMNS = ("quantity", "attempts", *_common.RATE_COLUMNS, "value", "independent")
_SIDE, _STRIP = 2.2, 0.17  # inches: the height of the curves, a series' row of the median
_DASHED = (0, (4, 2))


def budget(table: pd.DataFrame, *, width: style.Width = "column") -> Chart:
    """What does a patient attacker get: the share of cases with a success within K attempts, by K.

    Parameters
    ----------
    table : a table of `fnb.attempts`
    width : "column" (3.3 in), "text" (7 in), or a number of inches

    Returns
    -------
    Chart. A step curve per series with the ribbon of its interval and a bracket at the last K;
    dashed: what attempts would give if they were alike and independent; above the curves a row per
        series with the median number of
    attempts. K is on a log scale. The list holds counts, bounds, the median, and where n falls.

    Raises
    ------
    ValueError : a needed column is missing, an impossible count or bound,
        a K that does not grow within a series, mixed suite versions.
    """
    table = _common.checked(table, "budget", _COLUMNS, "attempts", curves=True)
    if table.empty:
        return _common.nothing("budget", "attempts", table, width)
    within = table[table["quantity"] == "within"]
    _common.check_rates(within)
    _common.check_inside(within, "independent", 0, 1)
    curves = _curves(table)
    with style.settings():
        wide = style.is_wide(width)
        entries = [(one.look, _entry(one, 2.7)) for one in curves]
        drawn, strip, ax = _canvas(curves, [words for _, words in entries], width)
        for one in curves:
            _draw(ax, one)
        for place, one in enumerate(_marked(curves)):
            _median(strip, one, place)
        _marks.listed(ax, entries, beside=wide)
    return _common.finish(drawn, table, _alt(table, curves), _caption(table, curves))


@dataclass(frozen=True)
class _Curve:
    """One series: its name, rows and look, and its rows of other quantities by their name."""

    name: str
    rows: pd.DataFrame
    look: style.Series
    other: dict[str, Any]

    @property
    def read(self) -> pd.DataFrame:
        """The rows with enough cases."""
        kinds = [Estimate.from_row(row).kind for row in rows_of(self.rows)]
        return self.rows[[kind not in ("insufficient", "not computable") for kind in kinds]]

    @property
    def median(self) -> Any:
        """The attempts to the first success in the median case, if the table says."""
        return self.other["median"]["value"] if "median" in self.other else None

    @property
    def few(self) -> Any:
        """The first row with too few cases, or None."""
        rows = (row for row in rows_of(self.rows) if Estimate.from_row(row).kind == "insufficient")
        return next(rows, None)


def _curves(table: pd.DataFrame) -> list[_Curve]:
    columns = [name for name in _common.strata(table) if name != "quantity"]
    if table["metric"].nunique() > 1:
        columns = ["metric", *columns]
    keys = (
        table[columns].astype(str).agg("\x1f".join, axis=1)
        if columns
        else pd.Series("", index=table.index)
    )
    within = table["quantity"] == "within"
    looks = style.series(list(dict.fromkeys(keys[within])))
    out = []
    for key, rows in table[within].groupby(keys[within], sort=False):
        name = _common.name_of(rows.iloc[0], columns, 60)
        if not (rows["attempts"].iloc[0] >= 1 and (rows["attempts"].diff().dropna() > 0).all()):
            raise ValueError(
                f"{name}: attempts must be 1 or more and grow within a series; is a "
                "stratum missing?"
            )
        other = {row["quantity"]: row for row in rows_of(table[~within & (keys == key)])}
        out.append(_Curve(name, rows, looks[str(key)], other))
    return out


def _canvas(curves: list[_Curve], words: list[str], width: style.Width) -> tuple[Any, Axes, Axes]:
    wide, tall, marked = style.is_wide(width), _marks.tall(words), _marked(curves)
    rows = _STRIP * max(len(marked), 0.1)
    side = max(_SIDE, tall - 0.3) if wide else _SIDE
    drawn = style.figure(width, side + rows + 0.65 + (0 if wide else tall))
    strip, ax = drawn.subplots(2, 1, sharex=True, gridspec_kw={"height_ratios": [rows, side]})
    most = max(float(one.rows["attempts"].max()) for one in curves)
    ax.set_xscale("log")
    ax.set_xlim(1, max(most * 1.12, 2))
    marks = [
        mark
        for power in range(5)
        for mark in (10**power, 2 * 10**power, 5 * 10**power)
        if mark <= max(most, 2)
    ]
    ax.set_xticks(marks[:: 1 if wide or len(marks) < 8 else 3], minor=False)
    ax.xaxis.set_major_formatter(lambda value, _: number(value))
    ax.set_xticks([], minor=True)
    ax.set_xlabel("attempts K (log scale)", loc="left")
    _marks.rate_axis(ax, "y")
    ax.grid(color=style.PALE, lw=0.8, alpha=0.5)
    _marks.beside(
        strip,
        "Success within K attempts",
        -0.5,
        -26,
        lift=5,
        va="bottom",
        fontweight="bold",
        fontsize=style.LARGE,
    )
    if marked:
        _marks.beside(strip, "median", 0, -30)
    strip.set_ylim(max(len(marked), 1) - 0.5, -0.5)
    strip.set_yticks([])
    strip.tick_params(bottom=False, labelbottom=False, which="both")
    for edge in ("bottom", "left"):
        strip.spines[edge].set_visible(False)
    return drawn, strip, ax


def _marked(curves: list[_Curve]) -> list[_Curve]:
    """The series with a row above the curves: those with a median, and those that run out of
    cases.
    """
    return [one for one in curves if one.few is not None or _finite(one.median)]


def _draw(ax: Axes, one: _Curve) -> None:
    """Steps, ribbon, the dashed curve, and a bracket at the last K."""
    rows = one.read
    alike = one.rows.dropna(subset=["independent"])
    first = one.rows.index[0]
    if not alike.empty:
        dashed = Line2D(*_line(alike, "independent"), color=one.look.line, lw=1.0, ls=_DASHED)
        dashed.set_gid(f"independent:{first}")
        ax.add_line(dashed)
    if rows.empty:
        return
    steps = Line2D(*_line(rows, "rate"), color=one.look.line, lw=1.4, drawstyle="steps-post")
    steps.set_gid(f"curve:{first}")
    ax.add_line(steps)
    at, low = _line(rows, "low")
    ribbon = ax.fill_between(
        at, low, _line(rows, "high")[1], step="post", color=one.look.face, alpha=0.18, lw=0
    )
    ribbon.set_gid(f"ribbon:{first}")
    last = rows.iloc[-1]
    _marks.rate(ax, last, float(last["attempts"]), one.look, along="y", cap=6)


def _line(rows: pd.DataFrame, column: str) -> tuple[Any, Any]:
    return rows["attempts"].to_numpy(float), rows[column].to_numpy(float)


def _finite(value: Any) -> bool:
    return not missing(value) and math.isfinite(value)


def _median(strip: Axes, one: _Curve, place: int) -> None:
    """The row of a series above the curves: its marker at the median, hatched where cases are too
    few.
    """
    first, end = one.rows.index[0], strip.get_xlim()[1]
    few = one.few
    if few is not None:
        _marks.hatched(strip, int(few.name), place, size=0.35, scale=(float(few["attempts"]), end))
    if _finite(one.median):
        mark = _marks.marker(strip, int(first), place, float(one.median), one.look)
        mark.set_gid(f"median:{first}")


def _entry(one: _Curve, room: float) -> str:
    """The lines of a series in the list: counts and bounds at the last K, alike attempts, median,
    falling n.
    """
    return "\n".join(
        [style.fit(one.name, room), *(style.wrap(words, room) for words in _said(one))]
    )


def _said(one: _Curve) -> list[str]:
    rows, out = one.read, []
    if rows.empty:
        row = one.few
        out.append(_marks.why(one.rows.iloc[0]) if row is None else _marks.few(row))
    else:
        last = rows.iloc[-1]
        out.append(f"within K = {number(last['attempts'])}: {Estimate.from_row(last).label()}")
        if not missing(last["independent"]):
            out.append(f"if attempts were alike and independent: {last['independent']:.4f}")
        if one.few is not None:
            out.append(f"from K = {number(one.few['attempts'])} on {_marks.few(one.few)}")
    falls = one.rows["n"].diff() < 0
    if falls.any():
        out.append(
            f"n falls from {number(one.rows['n'].iloc[0])} to {number(one.rows['n'].iloc[-1])}, "
            f"first at K = {number(one.rows['attempts'][falls].iloc[0])}"
        )
    for name, row in one.other.items():
        out.append(f"{name}: {style.drawable(_other(row), 100)}")
    return out


def _other(row: Any) -> str:
    """A quantity that is no rate: attempts of the median case, the band of a forecast."""
    if row["state"] != "ok":
        return refusal(row["state"], row["why"])
    if row["quantity"] == "forecast":
        return f"within K = {number(row['attempts'])} {bracket(row['low'], row['high'])} percent"
    return "more attempts than were made" if math.isinf(row["value"]) else measured(row).text


def _alt(table: pd.DataFrame, curves: list[_Curve]) -> str:
    marks = []
    for one in curves:
        for row in rows_of(one.rows):
            marks.append(
                f"{one.name} within {number(row['attempts'])} {Estimate.from_row(row).label()}"
            )
    finding = " ".join(f"{one.name}: {'; '.join(_said(one))}." for one in curves)
    metric = ", ".join(
        style.drawable(name) for name in dict.fromkeys(table.get("metric", ["success"]))
    )
    return _common.alt_text(
        f"{metric} within K attempts, a curve per series, bounds in percent", finding, marks
    )


def _caption(table: pd.DataFrame, curves: list[_Curve]) -> str:
    metric = ", ".join(
        _common.metric_title(name) for name in dict.fromkeys(table.get("metric", []))
    )
    grow = bool(np.any([(one.rows["n"].diff() < 0).any() for one in curves]))
    extra = [
        "ribbon: the interval at each K, not a band for the whole curve",
        "dashed: 1 - (1 - p)^K, if attempts were alike and independent",
        "where cases stop being followed n falls, and the curve may fall with it" if grow else "",
    ]
    what = f"Cases with a success within K attempts{': ' if metric else ''}{metric}"
    return _common.caption(table, what, *extra)
