"""Gate: what a rule lets through at each true rate, and the releases held against it, one series
per suite version.
"""

from __future__ import annotations

from dataclasses import dataclass, field
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

_COLUMNS = ("requirement", "k", "n", "rate", "low", "high", "threshold", "rule", "state", "why")
_CURVE = ("rule", "n", "accept", "threshold", "true_rate", "p_pass")
_LINE, _GAP, _HEADING = (
    _marks.LINE,
    0.075,
    0.2,
)  # inches: a line of text, the air around a row, a heading
_ENDS = (
    0.001,
    0.002,
    0.005,
    0.01,
    0.02,
    0.05,
    0.1,
    0.2,
    0.3,
    0.4,
    0.5,
    1.0,
)  # where a scale of rates may end
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
        panel = _Releases(table, upper, style.width_of(width) * (0.6 if wide else 1.0))
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


def _canvas(
    panel: _Releases, words: list[str], width: style.Width
) -> tuple[Any, Axes | None, Axes]:
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


@dataclass
class _Line:
    """One release as it will be drawn, in inches from the top."""

    at: float
    row: Any
    name: str
    words: str
    inside: str = ""


@dataclass
class _Releases:
    """The releases laid out in inches before any ink: headings of suite versions, changes of the
    judge, rows.
    """

    table: pd.DataFrame
    upper: bool
    room: float
    series: list[list[_Line]] = field(default_factory=list)
    headings: list[tuple[float, str]] = field(default_factory=list)
    judges: list[tuple[float, int, str]] = field(default_factory=list)
    breaks: list[tuple[float, int]] = field(default_factory=list)
    height: float = _HEADING

    def __post_init__(self) -> None:
        names = [_name(row) for row in rows_of(self.table)]
        self.left = min(max(map(style.text_width, names)), 0.25 * self.room)
        self.right = 0.42 * self.room
        self.axis = self.room - self.left - self.right - 0.3
        self.start, self.end = _scale(self.table, self.upper)
        self.title = style.wrap(_title(self.table), 0.84 * self.room, style.LARGE)
        previous = None
        for row in rows_of(self.table):
            if previous is None or _breaks(previous, row):
                self._heading(row, first=previous is None)
            if previous is not None and _changed(previous, row, "judge_version"):
                words = style.fit(
                    f"judge: {style.drawable(row['judge_version'])}", self.left + self.axis
                )
                self.judges.append((self.height + _LINE / 2, int(row.name), words))
                self.height += _LINE + 0.02
            self._row(row)
            previous = row
        self.height += 0.02

    def _heading(self, row: Any, *, first: bool) -> None:
        self.series.append([])
        if not first:
            self.breaks.append((self.height + 0.02, int(row.name)))
        if "suite_version" in self.table.columns:
            version = style.drawable(row["suite_version"])
            words = f"suite version {version}" if version else "suite version unknown"
            self.headings.append(
                (self.height + _HEADING / 2 + 0.02, style.fit(words, self.room - 0.35, bold=True))
            )
            self.height += _HEADING + 0.02
        elif not first:
            self.height += 0.04

    def _row(self, row: Any) -> None:
        estimate = Estimate.from_row(row)
        name, inside = style.fit(_name(row), self.left), ""
        if estimate.kind == "insufficient":
            words, inside = estimate.counts, style.wrap(_marks.few(row), self.axis - 0.1)
        elif estimate.kind == "not computable":
            words = style.wrap(_marks.why(row), self.axis + self.right - 0.05)
        else:
            said = [
                _marks.missing_words(row),
                _verdict(row),
                "changed" if row.get("drift") == "yes" else "",
            ]
            words = style.wrap_label(", ".join([estimate.label(), *filter(None, said)]), self.right)
            words = words.replace("\u00a0", " ")
        tall = _LINE * (max(words.count("\n"), inside.count("\n")) + 1) + _GAP
        self.series[-1].append(_Line(self.height + tall / 2, row, name, words, inside))
        self.height += tall

    def draw(self, ax: Axes) -> None:
        """Draw the laid-out rows; the y scale is in inches, downwards."""
        ax.set_ylim(self.height, 0)
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
        ax.set_xlim(self.start, self.end)
        marks = [self.start + i * (self.end - self.start) / 4 for i in (0, 2, 4)]
        ax.set_xticks(marks, [number(100 * mark) for mark in marks])
        ax.set_xlabel("rate in percent")
        edge = -72 * self.left - 4
        _marks.beside(
            ax, self.title, 0, edge, lift=5, va="bottom", fontweight="bold", fontsize=style.LARGE
        )
        for at, words in self.headings:
            _marks.beside(ax, words, at, edge, fontweight="bold", bbox=_marks.WHITE)
        for at, place, words in self.judges:
            _marks.beside(ax, words, at, edge, color=style.GREY, bbox=_marks.WHITE)
            past = max(0.0, (style.text_width(words) - self.left) / self.axis + 0.03)
            self._across(ax, at, f"judge:{place}", ends=(past, past + 0.05))
        for at, place in self.breaks:
            self._across(
                ax, at, f"break:{place}", ends=(-self.left / self.axis, 1 + self.right / self.axis)
            )
        _marks.beside(ax, _rule(self.table), _HEADING / 2, 2, bbox=_marks.WHITE).set_in_layout(
            False
        )
        for number_of, lines in enumerate(self.series):
            self._series(ax, number_of, lines, edge)

    def _across(self, ax: Axes, at: float, name: str, *, ends: tuple[float, float]) -> None:
        line = Line2D(
            ends,
            [at, at],
            transform=ax.get_yaxis_transform(),
            color=style.INK,
            lw=0.8,
            clip_on=False,
        )
        line.set_gid(name)
        line.set_in_layout(False)
        ax.add_line(line)

    def _series(self, ax: Axes, number_of: int, lines: list[_Line], edge: float) -> None:
        threshold = float(lines[0].row["threshold"])
        half = _LINE / 2 + _GAP / 2
        rule = Line2D(
            [threshold] * 2,
            [lines[0].at - half, lines[-1].at + half],
            color=style.INK,
            lw=0.8,
            ls=_DASHED,
        )
        rule.set_gid(f"threshold:{number_of}")
        ax.add_line(rule)
        for line in lines:
            _marks.beside(ax, line.name, line.at, edge)
            self._draw_row(ax, line)
        for first, second in pairwise(lines):
            if _joins(first.row) and _joins(second.row):
                join = Line2D(
                    [first.row["rate"], second.row["rate"]],
                    [first.at, second.at],
                    color=style.GREY,
                    lw=0.8,
                    ls=":",
                    zorder=1,
                )
                join.set_gid(f"join:{number_of}")
                ax.add_line(join)

    def _draw_row(self, ax: Axes, line: _Line) -> None:
        kind = Estimate.from_row(line.row).kind
        if kind == "not computable":
            words = _marks.beside(ax, line.words, line.at, 2, color=style.GREY, bbox=_marks.WHITE)
            words.set_in_layout(False)
            words.set_gid(f"blank:{line.row.name}")
            return
        if kind == "insufficient":
            _marks.hatched(
                ax,
                int(line.row.name),
                line.at,
                size=0.07 + line.inside.count("\n") * _LINE / 2,
                scale=(self.start, self.end),
            )
            _marks.inside(ax, line.inside, line.at, middle=(self.start + self.end) / 2)
        else:
            _marks.rate(ax, line.row, line.at, style.SERIES[0], size=0.07)
        _marks.beside(ax, line.words, line.at, 5, side=1).set_gid(f"label:{line.row.name}")


def _name(row: Any) -> str:
    return style.drawable(row["release"], 30) if not missing(row.get("release")) else "this run"


def _title(table: pd.DataFrame) -> str:
    return f"{style.drawable(table['requirement'].iloc[0], 120)}"


def _verdict(row: Any) -> str:
    return (
        "" if missing(row.get("verdict")) else style.drawable(row["verdict"]).replace(" ", "\u00a0")
    )


def _rule(table: pd.DataFrame) -> str:
    rule, threshold = str(table["rule"].iloc[0]), number(100 * float(table["threshold"].iloc[0]))
    if "bound" in rule:
        side, bound = ("right", "lower") if "lower" in rule else ("left", "upper")
        return f"{bound} bound must be {side} of {threshold} %"
    return f"k/n alone is held against {threshold} %"


def _changed(previous: Any, row: Any, column: str) -> bool:
    """Whether a column has two known values that differ."""
    known = not (missing(previous.get(column)) or missing(row.get(column)))
    return known and str(previous[column]) != str(row[column])


def _breaks(previous: Any, row: Any) -> bool:
    """Whether a series ends here: another suite version, an unknown one, or another series of the
    table.
    """
    if "suite_version" in row and (
        missing(row["suite_version"]) or missing(previous["suite_version"])
    ):
        return True
    return _changed(previous, row, "suite_version") or _changed(previous, row, "series")


def _joins(row: Any) -> bool:
    return Estimate.from_row(row).kind in ("plain", "zero", "all", "corrected")


def _scale(table: pd.DataFrame, upper: bool) -> tuple[float, float]:
    """The scale of rates: whole at its good end, at the other as far as thresholds and bounds
    go.
    """
    read = [row for row in rows_of(table) if _joins(row)]
    ends = [float(value) for value in table["threshold"]]
    far = [
        value if upper else 1 - value
        for value in [*ends, *(row["high" if upper else "low"] for row in read)]
    ]
    end = next((one for one in _ENDS if one >= 1.15 * max(far)), 1.0)
    return (0.0, end) if upper else (1 - end, 1.0)


def _alt(table: pd.DataFrame, curve: pd.DataFrame | None) -> str:
    rows = rows_of(table)
    estimates, marks = [Estimate.from_row(row) for row in rows], []
    for row, one in zip(rows, estimates, strict=True):
        said = _marks.why(row) if one.kind == "not computable" else one.label()
        unknown = _marks.missing_words(row)
        marks.append(
            ", ".join(
                filter(
                    None, [f"{_name(row)} {said}", unknown, _verdict(row).replace("\u00a0", " ")]
                )
            )
        )
    chances = [] if curve is None else [words.replace("\n", " ") for _, words in _entries(curve, 9)]
    finding = " ".join(
        [
            *(f"{words}." for words in chances),
            _common.extremes([_name(row) for row in rows], estimates),
        ]
    )
    series = 1 + sum(_breaks(first, second) for first, second in pairwise(rows))
    what = (
        f"{_title(table)}: chance to pass by true rate, and {len(rows)} results in "
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


def _caption(table: pd.DataFrame, curve: pd.DataFrame | None, panel: _Releases) -> str:
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
    return _common.caption(table, f"Requirement: {_title(table)}", *extra)
