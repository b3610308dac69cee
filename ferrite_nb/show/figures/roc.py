"""ROC: observed points on two log scales, and at the right what an alarm is worth at the base
rate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from ...escape import missing
from ...estimate import Estimate, bracket, digits, number
from .. import style
from ..chart import Chart
from ..rows import Row, rows_of
from . import _common, _marks

_COLUMNS = ("quantity", "max_fpr", "base_rate", "threshold", *_common.RATE_COLUMNS, "value")
_CURVE = ("curve", "threshold", "tp", "n_pos", "tpr", "fp", "n_neg", "fpr")
_SIDE = 2.1  # inches: the height of both panels


def roc(
    table: pd.DataFrame, *, width: style.Width = "column", curve: pd.DataFrame | None = None
) -> Chart:
    """Is the alarm useful: the observed ROC, operating points with brackets, and precision by base
    rate.

    Parameters
    ----------
    table : a table of `fnb.detector`
    curve : the observed points of the ROC and the precision by base rate, by `fnb.roc_curve`;
        without it the operating points stand alone
    width : "column" (3.3 in, panels above each other) or "text" (7 in, beside each other)

    Returns
    -------
    Chart. Both scales of the ROC are log scales; its steps join observed points and nothing is
    interpolated. Shaded: false-positive rates below one of the negatives, which cannot be measured.
        The list holds counts and bounds, and
    the alerts at each base rate.

    Raises
    ------
    ValueError : a needed column is missing, an impossible count or bound, a curve that
        falls (a score whose direction was not declared), mixed suite versions.
    """
    table = _common.checked(table, "roc", _COLUMNS, "detector", curves=True)
    if table.empty:
        return _common.nothing("roc", "detector", table, width)
    curve = _checked_curve(table, curve)
    points = _points(table)
    with style.settings():
        room = 3.0 if style.is_wide(width) else 2.75
        left = [(one.look, _left(one, room)) for one in points]
        right = [(one.look, _right(one, room)) for one in points if one.bases]
        first, second, drawn = _canvas(
            curve, [words for _, words in left], [words for _, words in right], width
        )
        _draw_roc(first, curve, points)
        _marks.listed(first, left, beside=False)
        if second is not None:
            _draw_precision(second, curve, points)
            if points and all(point.why for point in points):
                _cannot(second, points)
            _marks.listed(second, right, beside=False)
    return _common.finish(drawn, table, _alt(table, curve, points), _caption(table, curve, points))


@dataclass(frozen=True)
class _Point:
    """One operating point: its rows of TPR and FPR, its rows at each base rate, its look."""

    tpr: Row
    fpr: Row
    bases: list[dict[str, Row]]
    look: style.Series

    @property
    def name(self) -> str:
        """Which false-positive rate was allowed."""
        return f"FPR at most {number(self.tpr['max_fpr'])}"

    @property
    def few(self) -> bool:
        """Whether there are too few cases of a class."""
        counts = [row["n"] for row in (self.tpr, self.fpr)]
        return any(0 < count < _common.FEW for count in counts) and not self.lost

    @property
    def lost(self) -> bool:
        """Whether a rate is not computable."""
        return missing(self.tpr["rate"]) or missing(self.fpr["rate"])

    @property
    def why(self) -> str:
        """Why the point cannot be drawn; "" when it can."""
        for row, word in ((self.tpr, "positives"), (self.fpr, "negatives")):
            if missing(row["rate"]):
                return _marks.why(row)
            if row["n"] < _common.FEW:
                return f"insufficient data ({number(row['n'])} {word})"
        return ""


def _checked_curve(table: pd.DataFrame, curve: pd.DataFrame | None) -> pd.DataFrame:
    """The curve, empty where none is given; the rates of the table must be rates."""
    rates = table[table["quantity"].isin(["TPR", "FPR", "precision", "AUC"])]
    _common.check_rates(rates.reset_index(drop=True))
    if curve is None:
        return pd.DataFrame(columns=list(_CURVE))
    for column in _CURVE:
        if column not in curve.columns:
            raise ValueError(
                f"figures.roc: the curve needs the column {column!r}; fnb.roc_curve makes it"
            )
    points = _part(curve, "ROC")
    falls = any((points[name].astype(float).diff() < 0).any() for name in ("tp", "fp"))
    turns = points["threshold"].astype(float).diff().dropna()
    if falls or ((turns > 0).any() and (turns < 0).any()):
        raise ValueError(
            "figures.roc: the curve must run from the strictest threshold on, tp and fp never "
            "falling; declare the direction of the score: fnb.roc_curve(…, higher=True or False)"
        )
    return curve


def _part(curve: pd.DataFrame, name: str) -> pd.DataFrame:
    return curve[curve["curve"] == name]


def _points(table: pd.DataFrame) -> list[_Point]:
    """Operating points in order, each with what it is worth at the base rates."""
    columns = [name for name in _common.strata(table) if name != "quantity"]
    found: dict[tuple[str, ...], dict[str, Row]] = {}
    worth: dict[tuple[str, ...], dict[float, dict[str, Row]]] = {}
    for row in rows_of(table):
        key = tuple(str(row[name]) for name in [*columns, "max_fpr"])
        if row["quantity"] in ("TPR", "FPR"):
            found.setdefault(key, {})[row["quantity"]] = row
        elif not missing(row["base_rate"]):
            bases = worth.setdefault(key, {}).setdefault(float(row["base_rate"]), {})
            bases[row["quantity"]] = row
    looks = style.series([str(key) for key in found])
    return [
        _Point(rows["TPR"], rows["FPR"], list(worth.get(key, {}).values()), looks[str(key)])
        for key, rows in found.items()
    ]


def _left(point: _Point, room: float) -> str:
    """The lines of a point under the ROC: TPR and FPR in counts and bounds."""
    if point.why:
        return style.wrap(f"{point.name}: {point.why}", room)
    said = [f"{row['quantity']} {Estimate.from_row(row).label()}" for row in (point.tpr, point.fpr)]
    low = ["not measurable with so few negatives"] if point.fpr["state"] == "few" else []
    lines = [f"{point.name}, threshold {number(point.tpr['threshold'])}", *said, *low]
    return "\n".join(style.wrap(line, room) for line in lines)


def _right(point: _Point, room: float) -> str:
    """The lines of a point under the precision: per base rate its bounds and alerts."""
    lines = [point.name, *(line for row in point.bases for line in _worth(row))]
    return "\n".join(style.wrap(line, room) for line in lines)


def _worth(rows: dict[str, Row]) -> list[str]:
    """Precision with its bounds at one base rate, and how many alerts are right and wrong."""
    row = rows["precision"]
    base = f"base rate {number(row['base_rate'])}: "
    if missing(row["rate"]):
        return [base + _marks.why(row)]
    said = f"{base}PPV {digits(row['rate'])}% {bracket(row['low'], row['high'])}"
    if not {"true alerts", "false alerts"} <= set(rows):
        return [said]
    right, wrong = (number(rows[name]["value"]) for name in ("true alerts", "false alerts"))
    day = rows["true alerts"]["per_day"]
    return [said, f"{right} right, {wrong} wrong alerts in {day:,.0f} cases"]


def _canvas(
    curve: pd.DataFrame, left: list[str], right: list[str], width: style.Width
) -> tuple[Axes, Axes | None, Any]:
    """The axes of the ROC, of the precision (None without a base rate), and their figure."""
    under = [0.32 + _marks.tall(words) + 0.5 for words in (left, right)]
    if _part(curve, "precision").empty and not right:
        drawn = style.figure(width, _SIDE + under[0])
        return drawn.subplots(), None, drawn
    if style.is_wide(width):
        drawn = style.figure(width, _SIDE + max(under))
        first, second = drawn.subplots(1, 2)
        return first, second, drawn
    drawn = style.figure(width, 2 * _SIDE + sum(under))
    above, below = style.parts(drawn, heights=[_SIDE + words for words in under])
    return above.subplots(), below.subplots(), drawn


def _title(ax: Axes, words: str) -> None:
    ax.annotate(
        words,
        (0, 1),
        (-26, 5),
        xycoords="axes fraction",
        textcoords="offset points",
        fontweight="bold",
        fontsize=style.LARGE,
        annotation_clip=False,
    )


def _draw_roc(ax: Axes, curve: pd.DataFrame, points: list[_Point]) -> None:
    """Steps between observed points, the shade, the line of chance, and the operating points."""
    _title(ax, "ROC, both scales log")
    curve = _part(curve, "ROC")
    negatives = [float(point.fpr["n"]) for point in points if not point.lost]
    seen = [*curve.loc[curve["fp"] > 0, "tpr"], *(point.tpr["low"] for point in points)]
    positive = [float(value) for value in seen if not missing(value) and value > 0]
    edge = 1 / max(negatives) if negatives else 0.1
    left = edge / 3
    bottom = min(0.1, 10.0 ** np.floor(np.log10(0.999 * min(positive, default=0.2))))
    _marks.log_scale(ax, "x", left, "FPR, false-positive rate (log)")
    _marks.log_scale(ax, "y", float(bottom), "TPR, true-positive rate (log)")
    if not points and curve.empty:
        return
    if all(point.why for point in points) and points:
        _cannot(ax, points)
        return
    shade = Rectangle(
        (left, bottom),
        edge - left,
        1 - bottom,
        facecolor=style.PALE,
        edgecolor="none",
        alpha=0.5,
        zorder=0,
    )
    shade.set_gid("unmeasurable")
    ax.add_patch(shade)
    ax.annotate(
        f"FPR below 1/{number(max(negatives))}:\nnot measurable",
        (0, 0),
        (3, 4),
        xycoords="axes fraction",
        textcoords="offset points",
        rotation=90,
        va="bottom",
        ha="left",
    )
    chance = Line2D([left, 1], [left, 1], color=style.GREY, lw=0.8, ls=":")
    ax.add_line(chance)
    known = curve.dropna(subset=["tpr", "fpr"])
    if not known.empty:
        fpr, tpr = (known[name].astype(float).to_numpy() for name in ("fpr", "tpr"))
        steps = Line2D(
            np.where(fpr == 0, left, fpr), tpr, color=style.INK, lw=1.2, drawstyle="steps-post"
        )
        steps.set_gid("curve")
        ax.add_line(steps)
    for point in points:
        if not point.why:
            _draw_point(ax, point, left)


def _cannot(ax: Axes, points: list[_Point]) -> None:
    """In place of points: a hatched panel when there are too few cases, words when there is no
    class.
    """
    why = points[0].why
    if points[0].few:
        low = ax.get_ylim()[0]
        bar = _marks.hatched(
            ax, int(points[0].tpr.name), (1 + low) / 2, size=(1 - low) / 2, scale=ax.get_xlim()
        )
        bar.set_clip_on(True)
    words = ax.text(
        0.5,
        0.5,
        style.wrap(why, 1.8),
        transform=ax.transAxes,
        ha="center",
        va="center",
        bbox=_marks.WHITE,
        color=style.INK if points[0].few else style.GREY,
    )
    words.set_gid(f"blank:{points[0].tpr.name}")


def _draw_point(ax: Axes, point: _Point, left: float) -> None:
    """One operating point with brackets in both directions; a rate of 0 or 1 is a limit, with an
    arrow.
    """
    look, floor = point.look, ax.get_ylim()[0]
    # no false alarm: in the middle of the shade; no hit: a little above the lower end
    x = float(point.fpr["rate"]) or left * 3**0.5
    y = float(point.tpr["rate"]) or floor * 1.2
    along: _marks.Along
    for row, along, at, end in ((point.fpr, "x", y, left), (point.tpr, "y", x, floor)):
        if missing(row["low"]) or missing(row["high"]):
            continue
        limit, bounds = row["rate"] in (0, 1), (float(row["low"]), float(row["high"]))
        bound = bounds[1] if row["rate"] == 0 else bounds[0]
        ends = (bound,) if limit else None
        line = _marks.interval(ax, row.name, at, bounds, look, along=along, ends=ends, cap=6)
        line.set_clip_on(True)
        if limit:
            to = end if row["rate"] == 0 else 1.0
            _marks.arrow(ax, row.name, at, bound, to, look, along=along)
    if 0 < float(point.fpr["rate"]) < 1 and 0 < float(point.tpr["rate"]) < 1:
        _marks.marker(ax, int(point.tpr.name), y, x, look)


def _draw_precision(ax: Axes, curve: pd.DataFrame, points: list[_Point]) -> None:
    """Precision over the base rate for each operating point, and the base rates at work with their
    brackets.
    """
    _title(ax, "Precision at the base rate")
    lines = _part(curve, "precision")
    bases = [float(rows["precision"]["base_rate"]) for point in points for rows in point.bases]
    bases += [float(value) for value in lines["base_rate"]] if len(lines) else []
    bases = [value for value in bases if value > 0]
    _marks.log_scale(ax, "x", min(bases, default=1e-4), "base rate, share of positives (log)")
    _marks.rate_axis(ax, "y")
    ax.set_ylabel("PPV, right alarms")
    ax.grid(color=style.PALE, lw=0.8, alpha=0.5)
    for point in points:
        if point.why:
            continue
        mine = lines[lines["max_fpr"] == point.tpr["max_fpr"]] if len(lines) else lines
        mine = mine.dropna(subset=["precision"]) if len(mine) else mine
        if not mine.empty:
            at, values, low, high = (
                mine[name].astype(float).to_numpy()
                for name in ("base_rate", "precision", "low", "high")
            )
            line = Line2D(at, values, color=point.look.line, lw=1.4)
            line.set_gid(f"precision:{point.tpr.name}")
            ax.add_line(line)
            ax.fill_between(at, low, high, color=point.look.face, alpha=0.18, lw=0)
        for row in (rows["precision"] for rows in point.bases):
            if missing(row["rate"]):
                continue
            place, bounds = float(row["base_rate"]), (float(row["low"]), float(row["high"]))
            _marks.interval(ax, row.name, place, bounds, point.look, along="y", cap=6)
            _marks.marker(ax, int(row.name), place, float(row["rate"]), point.look, along="y")


def _alt(table: pd.DataFrame, curve: pd.DataFrame, points: list[_Point]) -> str:
    marks = [
        f"{point.name} {row['quantity']} {Estimate.from_row(row).label()}"
        for point in points
        for row in (point.tpr, point.fpr)
    ]
    marks += [f"{one.name}, {'; '.join(_worth(rows))}" for one in points for rows in one.bases]
    observed = len(_part(curve, "ROC"))
    said = f"The ROC has {observed} observed points." if observed else "No observed points."
    what = "ROC on two log scales, and precision by base rate, with k/n and bounds in percent"
    return _common.alt_text(what, said, marks, [f"{len(table)} rows."])


def _caption(table: pd.DataFrame, curve: pd.DataFrame, points: list[_Point]) -> str:
    columns = [name for name in _common.strata(table) if name != "quantity"]
    extra = [
        f"{_common.name_of(row, columns) + ' ' if columns else ''}AUC {_area(row)}"
        for row in rows_of(table[table["quantity"] == "AUC"])
    ]
    if points:
        of = ((points[0].tpr, "positives"), (points[0].fpr, "negatives"))
        cases = " and ".join(f"{number(row['n'])} {word}" for row, word in of)
        extra.append(f"cases: {cases}")
    extra += [
        "FPR bounds: Clopper-Pearson",
        "steps join observed points, ties kept together; nothing is interpolated"
        if len(curve)
        else "",
        "shaded: FPR below one of the negatives; dotted: chance",
        "bounds of precision take both rates at their worse and their better bounds",
    ]
    if points and all(point.few for point in points):
        extra.append("every cell has insufficient data")
    shown = table.drop(columns=["n", "state"])
    return _common.caption(shown, "ROC and precision of a detector", *extra)


def _area(row: Row) -> str:
    if missing(row["rate"]):
        return _marks.why(row)
    known = not (missing(row["low"]) or missing(row["high"]))
    bounds = f"[{row['low']:.3f}, {row['high']:.3f}]" if known else "without an interval"
    return f"{row['rate']:.3f} {bounds}"
