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
from ...estimate import Estimate, bracket, digits, number, reason
from .. import style
from ..chart import Chart
from ..rows import rows_of
from . import _common, _marks

_COLUMNS = (
    "part",
    "threshold",
    "tp",
    "n_pos",
    "tpr",
    "tpr_low",
    "tpr_high",
    "fp",
    "n_neg",
    "fpr",
    "fpr_low",
    "fpr_high",
    "note",
)
_SIDE = 2.1  # inches: the height of both panels
_ALERTS = ("precision", "precision_low", "precision_high", "per_day", "true_alerts", "false_alerts")


def roc(table: pd.DataFrame, *, width: str = "column") -> Chart:
    """Is the alarm useful: the observed ROC, operating points with brackets, and precision by base
    rate.

    Parameters
    ----------
    table : a table of `fnb.detector`
    width : "column" (3.3 in, panels above each other) or "text" (7 in, beside each other)

    Returns
    -------
    Chart. Both scales of the ROC are log scales; its steps join observed points and nothing is
    interpolated. Shaded: false-positive rates below one of the negatives, which cannot be measured.
        The list holds counts and bounds, and
    the alerts at each base rate.

    Raises
    ------
    ValueError : a needed column is missing, an impossible count or bound, more than eight operating
        points, a curve that falls (a score whose direction was not declared), mixed suite versions.
    """
    table = _common.checked(table, "roc", _COLUMNS, "detector", curves=True)
    if table.empty:
        return _common.nothing("roc", "detector", table, width)
    _check(table)
    points = _points(table)
    with style.settings():
        room = 3.0 if style.width_of(width) > 4 else 2.75
        left = [(one.look, _left(one, room)) for one in points]
        right = [(one.look, _right(one, room)) for one in points if one.bases]
        first, second, drawn = _canvas(
            table, [words for _, words in left], [words for _, words in right], width
        )
        _draw_roc(first, table, points)
        _marks.listed(first, left, beside=False)
        if second is not None:
            _draw_precision(second, table, points)
            if points and all(point.why for point in points):
                _cannot(second, points)
            _marks.listed(second, right, beside=False)
    return _common.finish(drawn, table, _alt(table, points), _caption(table))


@dataclass(frozen=True)
class _Point:
    """One operating point: its row, its rows of base rates, its look."""

    row: Any
    bases: list[Any]
    look: style.Series

    @property
    def name(self) -> str:
        """Which false-positive rate was allowed, or the threshold."""
        if missing(self.row.get("max_fpr")):
            return f"threshold {number(self.row['threshold'])}"
        return f"FPR at most {number(self.row['max_fpr'])}"

    @property
    def why(self) -> str:
        """Why the point cannot be drawn; "" when it can."""
        if missing(self.row["tpr"]) or missing(self.row["fpr"]):
            return style.drawable(
                reason(self.row["note"]) or f"not computable: {self.row['note']}", 120
            )
        for count, word in ((self.row["n_pos"], "positives"), (self.row["n_neg"], "negatives")):
            if count < _common.FEW:
                return f"insufficient data ({number(count)} {word})"
        return ""


def _check(table: pd.DataFrame) -> None:
    for k, n in (("tp", "n_pos"), ("fp", "n_neg")):
        for place, (hits, cases) in enumerate(zip(table[k], table[n], strict=True)):
            if not (missing(hits) or missing(cases)) and not 0 <= hits <= cases:
                raise ValueError(
                    f"row {place}: {k} must lie between 0 and {n}, got {k} = {hits}, {n} = {cases}"
                )
    for name in ("tpr", "fpr", *(["precision"] if "precision" in table.columns else [])):
        for column in (name, f"{name}_low", f"{name}_high"):
            _common.check_inside(table, column, 0, 1)
        _common.check_bounds(table, f"{name}_low", f"{name}_high")
    of_a_point = table["part"].isin(("operating point", "curve"))
    _common.check_reasons(table.assign(tpr=table["tpr"].where(of_a_point, 0)), "tpr")
    curve = _part(table, "curve")
    falls = any((curve[name].dropna().astype(float).diff() < 0).any() for name in ("tp", "fp"))
    turns = curve["threshold"].dropna().diff().dropna()
    if falls or ((turns > 0).any() and (turns < 0).any()):
        raise ValueError(
            "figures.roc: the curve must run from the strictest threshold on, tp and fp never falling; declare the "
            "direction of the score: fnb.detector(…, higher=True or False)"
        )


def _part(table: pd.DataFrame, name: str) -> pd.DataFrame:
    return table[table["part"] == name]


def _points(table: pd.DataFrame) -> list[_Point]:
    """Operating points in order; rows that differ in the base rate only are one point."""
    found: dict[tuple[str, str], list[Any]] = {}
    for row in rows_of(_part(table, "operating point")):
        found.setdefault((str(row.get("max_fpr")), str(row["threshold"])), []).append(row)
    looks = style.series([str(key) for key in found])
    return [
        _Point(rows[0], [row for row in rows if not missing(row.get("base_rate"))], looks[str(key)])
        for key, rows in found.items()
    ]


def _rate(row: Any, k: str, n: str, name: str) -> Any:
    """One of the two rates of an operating point, as a row of a table of rates."""
    cells = {
        "k": row[k],
        "n": row[n],
        "rate": row[name],
        "low": row[f"{name}_low"],
        "high": row[f"{name}_high"],
        "note": row["note"],
    }
    return pd.Series(cells, name=f"{row.name}:{name}", dtype=object)


def _left(point: _Point, room: float) -> str:
    """The lines of a point under the ROC: TPR and FPR in counts and bounds."""
    if point.why:
        return style.wrap(f"{point.name}: {point.why}", room)
    said = [
        f"{name} {Estimate.from_row(_rate(point.row, k, n, name.lower())).label()}"
        for name, k, n in (("TPR", "tp", "n_pos"), ("FPR", "fp", "n_neg"))
    ]
    cannot = point.row.get("resolvable")
    low = (
        ["not measurable with so few negatives"]
        if cannot is not None and not missing(cannot) and not cannot
        else []
    )
    threshold = (
        f"threshold {number(point.row['threshold'])}"
        if not missing(point.row.get("max_fpr"))
        else ""
    )
    lines = [point.name + (f", {threshold}" if threshold else ""), *said, *low]
    return "\n".join(style.wrap(line, room) for line in lines)


def _right(point: _Point, room: float) -> str:
    """The lines of a point under the precision: per base rate its bounds and alerts."""
    lines = [point.name, *(line for row in point.bases for line in _worth(row))]
    return "\n".join(style.wrap(line, room) for line in lines)


def _worth(row: Any) -> list[str]:
    """Precision with its bounds at one base rate, and how many alerts are right and wrong."""
    base = f"base rate {number(row['base_rate'])}: "
    if missing(row.get("precision")):
        return [
            base + style.drawable(reason(row["note"]) or "no precision: no case is flagged", 100)
        ]
    said = f"{base}PPV {digits(row['precision'])}% {bracket(row['precision_low'], row['precision_high'])}"
    if missing(row.get("true_alerts")):
        return [said]
    alerts = f"{number(row['true_alerts'])} right, {number(row['false_alerts'])} wrong alerts"
    return [said, f"{alerts} in {row['per_day']:,.0f} cases"]


def _canvas(
    table: pd.DataFrame, left: list[str], right: list[str], width: str
) -> tuple[Axes, Axes | None, Any]:
    """The axes of the ROC, of the precision (None without a base rate), and their figure."""
    under = [0.32 + _marks.tall(words) + 0.5 for words in (left, right)]
    if _part(table, "precision").empty and not right:
        drawn = style.figure(width, _SIDE + under[0])
        return drawn.subplots(), None, drawn
    if style.width_of(width) > 4:
        drawn = style.figure(width, _SIDE + max(under))
        first, second = drawn.subplots(1, 2)
        return first, second, drawn
    drawn = style.figure(width, 2 * _SIDE + sum(under))
    above, below = style.parts(drawn, heights=[_SIDE + words for words in under])
    return above.subplots(), below.subplots(), drawn


def _log(ax: Axes, along: str, low: float, label: str, *, end: float = 1.0) -> None:
    """A log scale of rates from `low` to `end`, ticks at powers of ten."""
    power = int(np.ceil(np.log10(low) - 1e-9))
    marks = [10.0**i for i in range(power, 1) if 10.0**i <= end]
    step = 1 if len(marks) <= 5 else 2
    shown = marks[::-1][::step][::-1]
    if len(marks) == 2:
        shown = [marks[0], 2 * marks[0], 5 * marks[0], marks[1]]
    scale, limit, ticks = (
        (ax.set_xscale, ax.set_xlim, ax.set_xticks)
        if along == "x"
        else (ax.set_yscale, ax.set_ylim, ax.set_yticks)
    )
    scale("log", nonpositive="clip")
    limit(low, end)
    ticks(shown, [number(mark) for mark in shown])
    ticks([], minor=True)
    (ax.set_xlabel if along == "x" else ax.set_ylabel)(label)
    ax.grid(color=style.PALE, lw=0.8, alpha=0.5)
    ax.set_axisbelow(True)


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


def _draw_roc(ax: Axes, table: pd.DataFrame, points: list[_Point]) -> None:
    """Steps between observed points, the shade, the line of chance, and the operating points."""
    _title(ax, "ROC, both scales log")
    curve = _part(table, "curve")
    negatives = [float(n) for n in table["n_neg"] if not missing(n) and n > 0]
    seen = [*curve.loc[curve["fp"] > 0, "tpr"], *table["tpr_low"]]
    positive = [float(value) for value in seen if not missing(value) and value > 0]
    edge = 1 / max(negatives) if negatives else 0.1
    left = edge / 3
    bottom = min(0.1, 10.0 ** np.floor(np.log10(0.999 * min(positive, default=0.2))))
    _log(ax, "x", left, "FPR, false-positive rate (log)")
    _log(ax, "y", float(bottom), "TPR, true-positive rate (log)")
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
    if why.startswith("insufficient"):
        low = ax.get_ylim()[0]
        bar = _marks.hatched(
            ax, int(points[0].row.name), (1 + low) / 2, size=(1 - low) / 2, scale=ax.get_xlim()
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
        color=style.INK if why.startswith("insufficient") else style.GREY,
    )
    words.set_gid(f"blank:{points[0].row.name}")


def _draw_point(ax: Axes, point: _Point, left: float) -> None:
    """One operating point with brackets in both directions; a rate of 0 or 1 is a limit, with an
    arrow.
    """
    row, look = point.row, point.look
    # no false alarm: in the middle of the shade; no hit: a little above the lower end
    x, y = float(row["fpr"]) or left * 3**0.5, float(row["tpr"]) or ax.get_ylim()[0] * 1.2
    for along, name, at, end in (("x", "fpr", y, left), ("y", "tpr", x, ax.get_ylim()[0])):
        rate, low, high = (float(row[column]) for column in (name, f"{name}_low", f"{name}_high"))
        if missing(low) or missing(high):
            continue
        limit = rate in (0.0, 1.0)
        bound = high if rate == 0 else low
        line = _marks.interval(
            ax,
            f"{row.name}:{name}",
            at,
            (low, high),
            look,
            along=along,  # type: ignore[arg-type]
            ends=(bound,) if limit else None,
            cap=6,
        )
        line.set_clip_on(True)
        if limit:
            _marks.arrow(
                ax, f"{row.name}:{name}", at, bound, end if rate == 0 else 1.0, look, along=along
            )  # type: ignore[arg-type]
    if 0 < float(row["fpr"]) < 1 and 0 < float(row["tpr"]) < 1:
        _marks.marker(ax, int(row.name), y, x, look)


def _draw_precision(ax: Axes, table: pd.DataFrame, points: list[_Point]) -> None:
    """Precision over the base rate for each operating point, and the base rates at work with their
    brackets.
    """
    _title(ax, "Precision at the base rate")
    grid = _part(table, "precision")
    bases = [
        float(value) for value in table.get("base_rate", []) if not missing(value) and value > 0
    ]
    _log(ax, "x", min(bases, default=1e-4), "base rate, share of positives (log)")
    _marks.rate_axis(ax, "y")
    ax.set_ylabel("PPV, right alarms")
    ax.grid(color=style.PALE, lw=0.8, alpha=0.5)
    for point in points:
        if point.why:
            continue
        mine = (
            grid[grid["max_fpr"].astype(str) == str(point.row.get("max_fpr"))]
            if len(grid)
            else grid
        )
        mine = mine.dropna(subset=["precision"])
        if not mine.empty:
            values = [
                mine[name].astype(float).to_numpy()
                for name in ("base_rate", "precision", *_ALERTS[1:3])
            ]
            line = Line2D(values[0], values[1], color=point.look.line, lw=1.4)
            line.set_gid(f"precision:{point.row.name}")
            ax.add_line(line)
            ax.fill_between(
                values[0], values[2], values[3], color=point.look.face, alpha=0.18, lw=0
            )
        for row in point.bases:
            if missing(row.get("precision")):
                continue
            at = float(row["base_rate"])
            _marks.interval(
                ax,
                f"{row.name}:ppv",
                at,
                (float(row["precision_low"]), float(row["precision_high"])),
                point.look,
                along="y",
                cap=6,
            )
            mark = _marks.marker(
                ax, int(row.name), at, float(row["precision"]), point.look, along="y"
            )
            mark.set_gid(f"marker:{row.name}:ppv")


def _cases(row: Any) -> str:
    """The counts of a point that cannot be drawn: "2/3 positives, 0/40 negatives flagged"."""
    pairs = [(row["tp"], row["n_pos"], "positives"), (row["fp"], row["n_neg"], "negatives")]
    return (
        ", ".join(f"{number(k)}/{number(n)} {word}" for k, n, word in pairs if not missing(n) and n)
        + " flagged"
    )


def _alt(table: pd.DataFrame, points: list[_Point]) -> str:
    curve = _part(table, "curve")
    marks = [
        " ".join(_left(one, 9).split("\n")) + (f" ({_cases(one.row)})" if one.why else "")
        for one in points
    ]
    marks += [f"{one.name}, {'; '.join(_worth(row))}" for one in points for row in one.bases]
    observed = [
        f"{row['tp']}/{row['n_pos']} and {row['fp']}/{row['n_neg']}" for row in rows_of(curve)
    ]
    what = "ROC on two log scales, and precision by base rate, with k/n and bounds in percent"
    if len(table) <= 6:  # two counts in each row
        return _common.alt_text(what, "", [*marks, *observed])
    points_said = (
        f"The ROC has {len(curve)} observed points." if len(curve) else "No observed points."
    )
    return _common.alt_text(what, points_said, marks, [f"{len(table)} rows; the table holds all."])


def _caption(table: pd.DataFrame) -> str:
    rows = _part(table, "operating point")
    rows = table if rows.empty else rows
    extra = []
    for row in rows_of(_part(table, "auc")):
        if missing(row["auc"]):
            extra.append(f"AUC {style.drawable(reason(row['note']) or row['note'], 100)}")
        else:
            known = not (missing(row["auc_low"]) or missing(row["auc_high"]))
            bounds = (
                f"[{row['auc_low']:.3f}, {row['auc_high']:.3f}] (DeLong)"
                if known
                else "without an interval"
            )
            extra.append(f"AUC {row['auc']:.3f} {bounds}")
    classes = (("n_pos", "positives"), ("n_neg", "negatives"))
    cases = [f"{number(rows[name].iloc[0])} {word}" for name, word in classes]
    extra += [
        f"cases: {' and '.join(cases)}",
        "FPR bounds: Clopper-Pearson",
        "steps join observed points, ties kept together; nothing is interpolated",
        "shaded: FPR below one of the negatives; dotted: chance",
        "bounds of precision take both rates at their worse and their better bounds",
    ]
    few = [point.why.startswith("insufficient") for point in _points(table)]
    if few and all(few):
        extra.append("every cell has insufficient data")
    return _common.caption(
        rows.drop(columns=["n"], errors="ignore"), "ROC and precision of a detector", *extra
    )
