"""Gate: what a rule lets through at each true rate, and the releases held against it, one series
per suite version.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ...escape import missing
from ...estimate import Estimate, number
from .. import style
from ..chart import Chart
from ..facts import values
from ..rows import rows_of
from . import _common, _marks
from ._releases import Releases, breaks, name_of, title_of, verdict_of

_COLUMNS = ("requirement", "k", "n", "rate", "low", "high", "threshold", "rule", "state", "why")
_CURVE = ("rule", "n", "accept", "threshold", "true_rate", "p_pass")
_LOOKS = {"point": style.SERIES[1], "bound": style.SERIES[0], "anytime": style.SERIES[2]}
_DASHED, _BROKEN = (0, (4, 2)), (0, (7, 1.5, 1.5, 1.5))


def gate(
    table: pd.DataFrame, *, width: style.Width = "column", curve: pd.DataFrame | None = None
) -> Chart:
    """What does this gate decide, and how did we do: the rule's curve, and a bracket per release,
    in order.

    Parameters
    ----------
    table : a table of `fnb.releases` or `fnb.gate`, of one requirement
    width : "column" (3.3 in, curve above releases) or "text" (7 in, beside each other)
    curve : the chance to pass by true rate (`ferrite_nb.analysis.passing.curve` of one row);
        without it the releases stand alone

    Returns
    -------
    Chart. A suite version is a series of its own, with a heading and a line before it; releases are
    joined within a series only, and a release without a version is joined to none. The scale of
    rates ends where the data end, at the good end of the scale it is whole, and the caption says
    where it ends.

    Raises
    ------
    ValueError : a needed column is missing, an impossible count or bound, more than 40 rows,
        several requirements.
    """
    table = _common.checked(table, "gate", _COLUMNS, "releases", versions=True)
    if table.empty:
        return _common.nothing("gate", "releases", table, width)
    if "difference" in values(table, "quantity"):
        raise ValueError(
            "figures.gate draws requirements on a rate; "
            "figures.pairs(fnb.compare(…)) draws differences"
        )
    _common.check_rates(table)
    names = list(dict.fromkeys(table["requirement"].astype(str)))
    if len(names) > 1:
        raise ValueError(
            f"figures.gate draws one requirement, got {len(names)}; call it for each: "
            "for name, part in table.groupby('requirement', sort=False)"
        )
    curve = _curve(curve)
    upper = _upper(table, curve)
    with style.settings():
        wide = style.is_wide(width)
        panel = Releases(table, upper, style.width_of(width) * (0.6 if wide else 1.0))
        entries = [] if curve is None else _entries(curve, 1.95 if wide else 2.7)
        drawn, left, right = _canvas(panel, [words for _, words in entries], width)
        if left is not None and curve is not None:
            _draw_curve(left, curve, entries, 2.3 if wide else 3.0)
        panel.draw(right)
    return _common.finish(drawn, table, _alt(table, curve), _caption(table, curve, panel))


def _curve(given: pd.DataFrame | None) -> pd.DataFrame | None:
    """The curve that was given, of this requirement; None without any point."""
    if given is None or given.empty:
        return None
    for column in _CURVE:
        if column not in given.columns:
            raise ValueError(
                f"figures.gate: the curve needs the column {column!r}; "
                "analysis.passing.curve makes it"
            )
    _common.check_inside(given, "p_pass", 0, 1)
    _common.check_inside(given, "true_rate", 0, 1)
    return given


def _upper(table: pd.DataFrame, curve: pd.DataFrame | None) -> bool:
    """Whether the threshold must not be exceeded (it may not be fallen below otherwise)."""
    rule = str(table["rule"].iloc[0])
    if "bound" in rule:
        return "lower" not in rule
    if curve is not None:
        chances = curve["p_pass"]
        return bool(chances.iloc[0] >= chances.iloc[-1])
    known = _common.definition(str(table.get("metric", pd.Series([""])).iloc[0]))
    return known is None or known.better == "lower"


def _entries(curve: pd.DataFrame, room: float) -> list[tuple[style.Series, str]]:
    """The list under the curve: what each rule accepts, and its chance at the requirement."""
    out = []
    for rule, part in curve.groupby("rule", sort=False):
        one = part.iloc[(part["true_rate"] - part["threshold"]).abs().argmin()]
        sign = "\u2264" if part["p_pass"].iloc[0] >= part["p_pass"].iloc[-1] else "\u2265"
        accept = (
            "no result passes"
            if missing(one["accept"])
            else f"k {sign} {int(one['accept'])} of {int(one['n'])}"
        )
        chance = (
            "" if missing(one["accept"]) else f"; P(pass) {one['p_pass']:.4f} at the requirement"
        )
        words = style.wrap(f"{style.drawable(rule)} rule: {accept}{chance}", room)
        out.append((_LOOKS.get(str(rule), style.SERIES[2]), words))
    return out


def _canvas(panel: Releases, words: list[str], width: style.Width) -> tuple[Any, Axes | None, Axes]:
    """The figure with the axes of the curve (None without one) and of the releases."""
    above, below = 0.24 + 0.13 * panel.title.count("\n"), 0.42
    if not words:
        drawn = style.figure(width, panel.height + above + below)
        return drawn, None, drawn.subplots()
    under = _marks.tall(words) + 0.48
    if not style.is_wide(width):
        tall = (1.5 + under + 0.3, panel.height + above + below)
        drawn = style.figure(width, sum(tall))
        top, bottom = style.parts(drawn, heights=tall)
        return drawn, top.subplots(), bottom.subplots()
    tall_curve = min(max(panel.height - under + below, 1.3), 2.0)
    whole = max(panel.height + below, tall_curve + under)
    drawn = style.figure(width, whole + above)
    rest = max(whole - tall_curve - under, 0.01)
    grid = drawn.add_gridspec(2, 2, width_ratios=[1, 1.1], height_ratios=[tall_curve, rest])
    small = panel.height <= tall_curve  # then the axes of both end at the same height
    panel.height = tall_curve if small else max(panel.height, whole - below)
    return (
        drawn,
        drawn.add_subplot(grid[0, 0]),
        drawn.add_subplot(grid[0, 1] if small else grid[:, 1]),
    )


def _draw_curve(
    ax: Axes, curve: pd.DataFrame, entries: list[tuple[style.Series, str]], room: float
) -> None:
    threshold = float(curve["threshold"].iloc[0])
    ax.set_xlim(curve["true_rate"].min(), curve["true_rate"].max())
    ax.set_ylim(0, 1)
    ax.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
    ax.locator_params(axis="x", nbins=4)
    ax.xaxis.set_major_formatter(lambda value, _: number(100 * value))
    ax.set_xlabel("true rate in percent")
    ax.grid(color=style.PALE, lw=0.8, alpha=0.5)
    ax.set_axisbelow(True)
    _marks.beside(
        ax,
        style.wrap("Chance to pass, by true rate", room, style.LARGE),
        1,
        -26,
        lift=7,
        va="bottom",
        fontweight="bold",
        fontsize=style.LARGE,
    )
    line = Line2D([threshold] * 2, [0, 1], color=style.INK, lw=0.8, ls=_DASHED)
    line.set_gid("requirement")
    ax.add_line(line)
    for (rule, part), (look, _) in zip(curve.groupby("rule", sort=False), entries, strict=True):
        places = (part["true_rate"].to_numpy(float), part["p_pass"].to_numpy(float))
        dashes = "-" if look is style.SERIES[0] else _BROKEN
        drawn = Line2D(*places, color=look.line, lw=1.4, clip_on=False, ls=dashes)
        drawn.set_gid(f"curve:{rule}")
        ax.add_line(drawn)
        one = part.iloc[(part["true_rate"] - threshold).abs().argmin()]
        mark = _marks.marker(ax, 0, float(one["p_pass"]), float(one["true_rate"]), look)
        mark.set_gid(f"chance:{rule}")
    _marks.listed(ax, entries, beside=False)


def _alt(table: pd.DataFrame, curve: pd.DataFrame | None) -> str:
    rows = rows_of(table)
    estimates, marks = [Estimate.from_row(row) for row in rows], []
    for row, one in zip(rows, estimates, strict=True):
        said = _marks.why(row) if one.kind == "not computable" else one.label()
        unknown = _marks.missing_words(row)
        marks.append(
            ", ".join(
                filter(
                    None,
                    [f"{name_of(row)} {said}", unknown, verdict_of(row).replace("\u00a0", " ")],
                )
            )
        )
    chances = [] if curve is None else [words.replace("\n", " ") for _, words in _entries(curve, 9)]
    finding = " ".join(
        [
            *(f"{words}." for words in chances),
            _common.extremes([name_of(row) for row in rows], estimates),
        ]
    )
    series = 1 + sum(breaks(first, second) for first, second in pairwise(rows))
    what = (
        f"{title_of(table)}: chance to pass by true rate, and {len(rows)} results in "
        f"{series} series in order"
    )
    versions = [
        style.drawable(value)
        for value in dict.fromkeys(table.get("suite_version", []))
        if not missing(value)
    ]
    return _common.alt_text(
        what, finding, marks, [f"Suite versions: {', '.join(versions)}."] if versions else []
    )


def _caption(table: pd.DataFrame, curve: pd.DataFrame | None, panel: Releases) -> str:
    threshold, rule = number(table["threshold"].iloc[0]), style.drawable(table["rule"].iloc[0])
    between = (
        "dotted: releases of one suite version; a line and a heading between versions, "
        "which are never joined"
    )
    extra = [
        f"Dashed: the requirement, {threshold}, held against the {rule}",
        between if len(panel.series) > 1 else "",
        f"The scale of rates goes from {number(panel.start)} to {number(panel.end)}",
    ]
    if curve is None:
        extra.append("")
    else:
        cases = number(curve["n"].iloc[0])
        extra.append(
            f"P(pass): exact binomial chance for n = {cases} independent cases, point "
            "rule and bound rule"
        )
    return _common.caption(table, f"Requirement: {title_of(table)}", *extra)
