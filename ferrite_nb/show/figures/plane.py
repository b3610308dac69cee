"""Plane: security against cost, one mark per mode with brackets in both directions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ...escape import plain
from ...estimate import Estimate
from .. import style
from ..chart import Chart
from ..rows import rows_of
from . import _common, _marks

_SIDE = 2.5  # inches of the plane's height
_STRIP = 0.32  # inches of a mode in the strip above the plane
_GREY = style.Series(style.PALE, style.GREY, "d", "")
_REFUSER = "refuses everything"


def plane(
    table: pd.DataFrame,
    *,
    width: style.Width = "column",
    security: str | None = None,
    cost: str | None = None,
    baseline: str = style.UNDEFENDED,
    labels: Mapping[Any, str] | None = None,
) -> Chart:
    """What did the safety cost: attack metric along, cost metric up, a mark per mode between
    brackets both ways.

    Parameters
    ----------
    table : a table of `fnb.rates` with a security and a cost metric
    width : "column" (3.3 in), "text" (7 in), or a number of inches
    security, cost : the two metrics, where the table holds several
    baseline : the undefended mode, drawn grey
    labels : your own names of modes and strata, `{"Off": "no defence"}`

    Returns
    -------
    Chart. A mode whose cost is not known is a line in the strip above the plane. Grey: the
    undefended mode, and a system that refuses everything. The dotted frontier joins only modes
    whose intervals lie apart in a direction.

    Raises
    ------
    ValueError : no such pair of metrics, or what `forest` refuses.
    """
    table = _common.checked(table, "plane", _common.RATE_COLUMNS, "rates", labels=labels)
    baseline = (labels or {}).get(baseline, baseline)
    if table.empty:
        return _common.nothing("plane", "rates", table, width)
    axes = (_metric(table, "security", security), _metric(table, "cost", cost))
    table = table[table["metric"].isin(axes)].reset_index(drop=True)
    _common.check_rates(table)
    points = _points(table, axes, baseline)
    with style.settings():
        drawn, strip, ax, lines = _canvas(points, axes, width)
        for point in points:
            _draw(ax, strip, point)
        joined = _frontier(ax, points, axes)
        _list(ax, points, lines, axes, beside=style.is_wide(width))
    return _common.finish(
        drawn, table, _alt(points, axes), _caption(table, points, axes, baseline, joined=joined)
    )


def _metric(table: pd.DataFrame, side: str, wanted: str | None) -> str:
    there = list(dict.fromkeys(table["metric"]))
    found = [name for name in there if (known := _common.definition(name)) and known.side == side]
    if wanted is not None:
        if wanted not in there:
            raise ValueError(
                f"{side} must be a metric of the table "
                f"({', '.join(map(plain, there))}), got {wanted!r}"
            )
        return wanted
    if len(found) != 1:
        raise ValueError(
            f"figures.plane needs one {side} metric, got {', '.join(map(plain, found)) or 'none'}; "
            f"name it with {side}=, or make a table with one of each by fnb.rates(runs, [...])"
        )
    return str(found[0])


@dataclass(frozen=True)
class _Point:
    """One mode: its rows of the two metrics (None where the table has none), its look, its level in
    the strip.
    """

    name: str
    along: Any
    up: Any
    look: style.Series
    level: int

    @property
    def x(self) -> Estimate | None:
        """The estimate of the security metric, if it may be read."""
        return _read(self.along)

    @property
    def y(self) -> Estimate | None:
        """The estimate of the cost metric, if it may be read."""
        return _read(self.up)


def _read(row: Any) -> Estimate | None:
    estimate = None if row is None else Estimate.from_row(row)
    return (
        None
        if estimate is None or estimate.kind in ("insufficient", "not computable")
        else estimate
    )


def _insufficient(row: Any) -> bool:
    return row is not None and Estimate.from_row(row).kind == "insufficient"


def _points(table: pd.DataFrame, axes: tuple[str, str], baseline: str) -> list[_Point]:
    columns = _common.strata(table)
    keys: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows_of(table):
        key = tuple(str(row[name]) for name in columns)
        mine = keys.setdefault(key, {})
        if row["metric"] in mine:
            raise ValueError(
                f"row {row.name}: {_common.name_of(row, columns)} stands twice for {row['metric']}"
            )
        mine[row["metric"]] = row
    looks = dict(zip(keys, style.series(range(len(keys))).values(), strict=True))
    points: list[_Point] = []
    for key, rows in keys.items():
        along, up = rows.get(axes[0]), rows.get(axes[1])
        above = (
            _read(up) is None
        )  # without a cost there is no place in the plane, only in the strip above it
        level = sum(point.level >= 0 for point in points) if above else -1
        first = next(iter(rows.values()))
        name = _common.name_of(first, columns)
        grey = style.is_baseline(first.get("mode"), baseline)
        look = style.BASELINE if grey else looks[key]
        points.append(_Point(name, along, up, look, level))
    return points


def _corner(axes: tuple[str, str]) -> tuple[bool, bool]:
    """Whether the better end of each axis is its upper one."""
    known = [_common.definition(name) for name in axes]
    return known[0] is not None and known[0].better == "higher", known[1] is not None and known[
        1
    ].better == "higher"


def _canvas(
    points: list[_Point], axes: tuple[str, str], width: style.Width
) -> tuple[Any, Axes | None, Axes, list[str]]:
    right, upper = _corner(axes)
    better = f"Better: {'upper' if upper else 'lower'} {'right' if right else 'left'} corner"
    lines = [_entry(point, axes) for point in points]
    tall = _marks.tall([*lines, _REFUSER])
    levels = sum(point.level >= 0 for point in points)
    under = 0.0 if style.is_wide(width) else tall
    height = max(_SIDE, tall - 0.6 if style.is_wide(width) else 0.0) + _STRIP * levels
    drawn = style.figure(width, height + under + 0.75)
    strip = None
    if levels:
        ratios = [_STRIP * levels, height - _STRIP * levels]
        strip, ax = drawn.subplots(2, 1, sharex=True, gridspec_kw={"height_ratios": ratios})
        strip.set_ylim(levels - 0.5, -0.5)
        strip.set_yticks([])
        strip.tick_params(bottom=False)
        strip.spines["bottom"].set_visible(False)
        strip.spines["left"].set_visible(False)
    else:
        ax = drawn.subplots()
    _marks.rate_axis(ax)
    _marks.rate_axis(ax, "y")
    ax.grid(axis="both", color=style.PALE, lw=0.8, alpha=0.5)
    room = 2.5
    ax.set_xlabel(style.wrap(_common.metric_title(axes[0]), room), loc="left")
    ax.set_ylabel(style.wrap(_common.metric_title(axes[1]), _SIDE - 0.2), loc="bottom")
    (strip or ax).annotate(
        better,
        (0, 1),
        (0, 5),
        xycoords="axes fraction",
        fontweight="bold",
        textcoords="offset points",
        annotation_clip=False,
        fontsize=style.LARGE,
    )
    return drawn, strip, ax, lines


def _entry(point: _Point, axes: tuple[str, str]) -> str:
    """The lines of the list: name, and both metrics in counts and bounds."""
    said = [
        f"{style.drawable(name)} {_words(row)}"
        for name, row in zip(axes, (point.along, point.up), strict=True)
    ]
    return "\n".join([style.fit(point.name, 2.6), *(style.wrap(words, 2.6) for words in said)])


def _words(row: Any) -> str:
    if row is None:
        return "not measured"
    estimate = Estimate.from_row(row)
    unknown = _marks.missing_words(row)
    return style.drawable(estimate.label(), 120) + (f", {unknown}" if unknown else "")


def _draw(ax: Axes, strip: Axes | None, point: _Point) -> None:
    x, y = point.x, point.y
    if x and y:
        _marks.rate(ax, point.along, y.rate, point.look, size=0.02, point=False)
        _marks.rate(ax, point.up, x.rate, point.look, along="y", size=0.02, point=False)
        mark = _marks.marker(ax, int(point.along.name), y.rate, x.rate, point.look)
        mark.set_zorder(5)
        return
    if strip is not None and y is None:
        cost = "too few cases for a cost" if _insufficient(point.up) else "cost not measured"
        strip.text(0, point.level - 0.22, f"{style.fit(point.name, 1.2)}: {cost}", va="center")
        if x or _insufficient(point.along):
            _marks.rate(strip, point.along, point.level + 0.22, point.look, size=0.15, point=False)
    elif y and _insufficient(point.along):
        _marks.hatched(ax, int(point.along.name), y.rate, size=0.02)
    if _insufficient(point.up):
        _marks.hatched(
            ax, int(point.up.name), x.rate if x else 0.03 + 0.06 * point.level, along="y", size=0.02
        )


def _frontier(ax: Axes, points: list[_Point], axes: tuple[str, str]) -> bool:
    """Join neighbours on the frontier whose intervals lie apart in a direction; whether any do."""
    joined = False
    right, upper = _corner(axes)
    placed = [(point, point.x, point.y) for point in points if point.x and point.y]
    best = []
    for point, x, y in placed:
        rates = ((x.rate if right else -x.rate), (y.rate if upper else -y.rate))
        beaten = any(
            (a.rate if right else -a.rate) >= rates[0]
            and (b.rate if upper else -b.rate) >= rates[1]
            and (a.rate, b.rate) != (x.rate, y.rate)
            for _, a, b in placed
        )
        if not beaten:
            best.append((x, y, point))
    best.sort(key=lambda item: (item[0].rate, item[1].rate))
    for (x, y, point), (other_x, other_y, _) in pairwise(best):
        if _apart(x, other_x) or _apart(y, other_y):
            line = Line2D(
                [x.rate, other_x.rate],
                [y.rate, other_y.rate],
                color=style.GREY,
                lw=0.8,
                ls=":",
                zorder=1,
            )
            line.set_gid(f"join:{point.along.name}")
            ax.add_line(line)
            joined = True
    return joined


def _apart(first: Estimate, second: Estimate) -> bool:
    return first.high < second.low or second.high < first.low


def _list(
    ax: Axes, points: list[_Point], lines: list[str], axes: tuple[str, str], *, beside: bool
) -> None:
    """The list of modes: marker, name, counts and bounds; at the side of the plane or under it."""
    right, upper = _corner(axes)
    refuser = Line2D(
        [1.0 if right else 0.0],
        [0.0 if upper else 1.0],
        marker=_GREY.marker,
        ms=6,
        color=style.PALE,
        mec=style.INK,
        mew=0.6,
        ls="",
        clip_on=False,
    )
    refuser.set_gid("anchor:refuser")
    ax.add_line(refuser)
    looks = [
        *((point.look, words) for point, words in zip(points, lines, strict=True)),
        (_GREY, _REFUSER),
    ]
    _marks.listed(ax, looks, beside=beside)


def _alt(points: list[_Point], axes: tuple[str, str]) -> str:
    first, second = map(style.drawable, axes)
    pairs = [
        (point.name, name, row)
        for point in points
        for name, row in ((first, point.along), (second, point.up))
    ]
    marks = [f"{point} {name} {_words(row)}" for point, name, row in pairs]
    placed = [point for point in points if point.x and point.y]
    right, upper = _corner(axes)
    finding = f"{len(placed)} of {len(points)} modes have both metrics."
    if placed:
        top = max(placed, key=lambda one: (one.x.rate if one.x else 0) * (1 if right else -1))
        finding += f" Best {first}: {top.name}, at {second} {_words(top.up)}."
    corner = f"{'upper' if upper else 'lower'} {'right' if right else 'left'}"
    what = (
        f"{first} along and {second} up, per mode, with k/n and bounds in percent; the "
        f"{corner} corner is better"
    )
    return _common.alt_text(
        what, finding, marks, ["A system that refuses everything is drawn for comparison."]
    )


def _caption(
    table: pd.DataFrame, points: list[_Point], axes: tuple[str, str], baseline: str, *, joined: bool
) -> str:
    titles = " against ".join(_common.metric_title(name) for name in axes)
    known = [_common.definition(name) for name in axes]
    kinds = [one.population.get("kind") if one else None for one in known]
    differ = f"{axes[0]} and {axes[1]} count different cases" if kinds[0] != kinds[1] else ""
    lost = [point.name for point in points if not (point.x and point.y)]
    unknown = f"not placed, because a metric is unknown: {', '.join(lost)}" if lost else ""
    dots = "dotted: frontier, between modes whose intervals lie apart in a direction"
    grey = _common.undefended(table, baseline)
    return _common.caption(
        table,
        f"{titles}, a mark per mode between brackets in both directions",
        grey,
        "grey diamond: a system that refuses everything",
        dots if joined else "",
        differ,
        unknown,
    )
