"""The releases held against a gate, laid out in inches before any ink: one row per release."""

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
from ..rows import rows_of
from . import _marks

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
_DASHED = (0, (4, 2))


@dataclass
class Line:
    """One release as it will be drawn, in inches from the top."""

    at: float
    row: Any
    name: str
    words: str
    inside: str = ""


@dataclass
class Releases:
    """The releases laid out in inches before any ink: headings of suite versions, changes of the
    judge, rows.
    """

    table: pd.DataFrame
    upper: bool
    room: float
    series: list[list[Line]] = field(default_factory=list)
    headings: list[tuple[float, str]] = field(default_factory=list)
    judges: list[tuple[float, int, str]] = field(default_factory=list)
    breaks: list[tuple[float, int]] = field(default_factory=list)
    height: float = _HEADING

    def __post_init__(self) -> None:
        names = [name_of(row) for row in rows_of(self.table)]
        self.left = min(max(map(style.text_width, names)), 0.25 * self.room)
        self.right = 0.42 * self.room
        self.axis = self.room - self.left - self.right - 0.3
        self.start, self.end = scale_of(self.table, self.upper)
        self.title = style.wrap(title_of(self.table), 0.84 * self.room, style.LARGE)
        previous = None
        for row in rows_of(self.table):
            if previous is None or breaks(previous, row):
                self._heading(row, first=previous is None)
            if previous is not None and changed(previous, row, "judge_version"):
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
        name, inside = style.fit(name_of(row), self.left), ""
        if estimate.kind == "insufficient":
            words, inside = estimate.counts, style.wrap(_marks.few(row), self.axis - 0.1)
        elif estimate.kind == "not computable":
            words = style.wrap(_marks.why(row), self.axis + self.right - 0.05)
        else:
            said = [
                _marks.missing_words(row),
                verdict_of(row),
                "changed" if row.get("drift") == "yes" else "",
            ]
            words = style.wrap_label(", ".join([estimate.label(), *filter(None, said)]), self.right)
            words = words.replace("\u00a0", " ")
        tall = _LINE * (max(words.count("\n"), inside.count("\n")) + 1) + _GAP
        self.series[-1].append(Line(self.height + tall / 2, row, name, words, inside))
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
        _marks.beside(ax, rule_of(self.table), _HEADING / 2, 2, bbox=_marks.WHITE).set_in_layout(
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

    def _series(self, ax: Axes, number_of: int, lines: list[Line], edge: float) -> None:
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
            if joins(first.row) and joins(second.row):
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

    def _draw_row(self, ax: Axes, line: Line) -> None:
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


def name_of(row: Any) -> str:
    """The name of the release."""
    return style.drawable(row["release"], 30) if not missing(row.get("release")) else "this run"


def title_of(table: pd.DataFrame) -> str:
    """The requirement, drawable."""
    return f"{style.drawable(table['requirement'].iloc[0], 120)}"


def verdict_of(row: Any) -> str:
    """The verdict on one line, or nothing."""
    return (
        "" if missing(row.get("verdict")) else style.drawable(row["verdict"]).replace(" ", "\u00a0")
    )


def rule_of(table: pd.DataFrame) -> str:
    """How the rule decides, in words."""
    rule, threshold = str(table["rule"].iloc[0]), number(100 * float(table["threshold"].iloc[0]))
    if "bound" in rule:
        side, bound = ("right", "lower") if "lower" in rule else ("left", "upper")
        return f"{bound} bound must be {side} of {threshold} %"
    return f"k/n alone is held against {threshold} %"


def changed(previous: Any, row: Any, column: str) -> bool:
    """Whether a column has two known values that differ."""
    known = not (missing(previous.get(column)) or missing(row.get(column)))
    return known and str(previous[column]) != str(row[column])


def breaks(previous: Any, row: Any) -> bool:
    """Whether a series ends here: another suite version, an unknown one, or another series of the
    table.
    """
    if "suite_version" in row and (
        missing(row["suite_version"]) or missing(previous["suite_version"])
    ):
        return True
    return changed(previous, row, "suite_version") or changed(previous, row, "series")


def joins(row: Any) -> bool:
    """Whether the rate of the release is joined to the next."""
    return Estimate.from_row(row).kind in ("plain", "zero", "all", "corrected")


def scale_of(table: pd.DataFrame, upper: bool) -> tuple[float, float]:
    """The scale of rates: whole at its good end, at the other as far as thresholds and bounds
    go.
    """
    read = [row for row in rows_of(table) if joins(row)]
    ends = [float(value) for value in table["threshold"]]
    far = [
        value if upper else 1 - value
        for value in [*ends, *(row["high" if upper else "low"] for row in read)]
    ]
    end = next((one for one in _ENDS if one >= 1.15 * max(far)), 1.0)
    return (0.0, end) if upper else (1 - end, 1.0)
