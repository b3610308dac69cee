"""Forest: rates by mode and stratum, one panel per metric, each row with its counts and bounds in
words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...estimate import MACRO, Estimate, number
from ...schema import shape_of
from .. import style
from ..chart import Chart
from ..facts import values
from ..rows import rows_of
from . import _common, _marks

_LINE, _GAP, _HEADING = 0.125, 0.075, 0.2  # inches: a line of text, the air around a row, a heading
_TITLE = 0.46  # inches above and below the rows of a panel: its title, its ticks
_PAD, _INDENT = 0.24, 0.08  # inches that neither words nor axis use; names under a heading


def forest(
    table: pd.DataFrame,
    *,
    width: style.Width = "column",
    requirement: float | Mapping[str, float] | None = None,
    sort: bool = False,
    baseline: str = style.UNDEFENDED,
    title: str | Mapping[str, str] | None = None,
    labels: Mapping[Any, str] | None = None,
) -> Chart:
    """Which rate, for whom, how sure: a marker between brackets per row, `k/n [low, high]` at the
    right.

    Parameters
    ----------
    table : a table of `fnb.rates` or `fnb.gradient`, or the rates of a long table (`fnb.judges`,
        `fnb.detector`), its quantities as rows. A total is a row named "micro: all cases" or
        "macro: mean of strata" (with a note on its interval).
    width : "column" (3.3 in), "text" (7 in), or a number of inches; above 5 in two
        panels stand beside each other
    requirement : a threshold from 0 to 1 (one for each metric: `{"ASR": 0.02}`), drawn as a line
        with its rule
    sort : order rows by rate; without it the order is that of the table
    baseline : the undefended mode, drawn grey
    title : in place of the metric's name, one for all panels or one for each metric; "" for none
    labels : your own names of modes and strata, `{"Off": "no defence"}`

    Returns
    -------
    Chart

    Raises
    ------
    ValueError : a needed column is missing, a count or bound is impossible, more than 40 rows,
        mixed suite versions, or a total that does not say whether it is micro or macro.
    """
    table = _common.checked(table, "forest", _common.RATE_COLUMNS, "rates", labels=labels)
    baseline = (labels or {}).get(baseline, baseline)
    if table.empty:
        return _common.nothing("forest", "rates", table, width)
    _common.check_rates(table)
    of, columns = panels_of(table), _common.strata(table)
    _check_totals(table, columns)
    if sort:
        table = table.sort_values([of, "rate"], kind="stable", ignore_index=True)
    thresholds = _thresholds(table[of], requirement)
    metrics = list(dict.fromkeys(table[of]))
    across = 2 if style.is_wide(width) and len(metrics) > 1 else 1
    looks = _looks(table, baseline)
    with style.settings():
        room = _Room.measure(table, columns, style.width_of(width) / across)
        panels = [
            _Panel(
                name, table[table[of] == name], columns, room, thresholds.get(name), looks, title
            )
            for name in metrics
        ]
        drawn = _draw(panels, width, across)
    return _common.finish(
        drawn,
        table,
        _alt(table, of, columns),
        _caption(table, of, columns, thresholds, sort, baseline),
    )


def panels_of(table: pd.DataFrame) -> str:
    """The column whose values have a panel each: the first key."""
    shape = shape_of(table)
    return shape.first if shape else "metric"


def _draw(panels: list[_Panel], width: style.Width, across: int) -> Figure:
    rows = [panels[i : i + across] for i in range(0, len(panels), across)]
    heights = [max(panel.height for panel in row) for row in rows]
    titles = [max(panel.title.count("\n") for panel in row) * 0.14 + _TITLE for row in rows]
    drawn = style.figure(width, sum(heights) + sum(titles))
    axes = drawn.subplots(len(rows), across, squeeze=False, gridspec_kw={"height_ratios": heights})
    for ax in axes.flat[len(panels) :]:
        ax.set_axis_off()
    for place, panel in enumerate(panels):
        panel.draw(axes.flat[place], heights[place // across])
    return drawn


def _looks(table: pd.DataFrame, baseline: str) -> dict[Any, style.Series]:
    """A look per mode; a table without modes has one look."""
    return style.series(values(table, "mode"), baseline)


def _check_totals(table: pd.DataFrame, columns: list[str]) -> None:
    for row in rows_of(table):
        words = [str(row[column]).strip().lower() for column in columns]
        if "overall" in words:
            raise ValueError(
                f"row {row.name}: name the total 'micro: all cases' or 'macro: mean of "
                "strata', not overall"
            )
        if any(word in ("macro", MACRO) for word in words) and not row["note"]:
            raise ValueError(
                f"row {row.name}: a macro mean needs a note on how its interval was made"
            )


def _thresholds(
    of: pd.Series[Any], requirement: float | Mapping[str, float] | None
) -> dict[str, float]:
    if requirement is None:
        return {}
    metrics = list(dict.fromkeys(of))
    if not isinstance(requirement, Mapping):
        if len(metrics) > 1:
            raise ValueError(
                f"name the metric of the requirement: {{{metrics[0]!r}: {requirement}}}"
            )
        requirement = {metrics[0]: requirement}
    for name, value in requirement.items():
        if name not in metrics or not 0 <= value <= 1:
            raise ValueError(
                "requirement needs a drawn metric and a threshold from 0 to 1, got "
                f"{name!r}: {value}"
            )
    return dict(requirement)


def _rule(metric: str, threshold: float) -> str:
    known = _common.definition(metric)
    higher = known is not None and known.better == "higher"
    bound, side = ("lower", "right") if higher else ("upper", "left")
    return f"{bound} bound must be {side} of {number(100 * threshold)} %"


def _headings(rows: pd.DataFrame, columns: list[str]) -> tuple[list[str], list[str]]:
    """The columns of the headings and of the row names: the one that comes in runs makes the
    headings.
    """
    outer = [column for column in columns if column != "mode"]
    if not outer or "mode" not in columns:
        return (columns[:1], columns[1:]) if len(columns) > 1 else ([], columns)
    keys = rows[outer].astype(str).agg("\x1f".join, axis=1)
    runs = int((keys != keys.shift()).sum())
    if runs == keys.nunique() and 2 * runs <= len(keys):
        return outer, ["mode"]
    modes = int((rows["mode"] != rows["mode"].shift()).sum())
    return (["mode"], outer) if 2 * modes <= len(keys) else ([], columns)


@dataclass(frozen=True)
class _Room:
    """The inches of a panel, the same for all panels: names at the left, axis, words at the
    right.
    """

    left: float
    axis: float
    right: float

    @classmethod
    def measure(cls, table: pd.DataFrame, columns: list[str], whole: float) -> _Room:
        heading, named = _headings(table, columns)
        names = [style.text_width(_common.name_of(row, named)) for row in rows_of(table)]
        left = min(max(names) + (_INDENT if heading else 0), 0.34 * whole)
        labels = [style.text_width(Estimate.from_row(row).label()) for row in rows_of(table)]
        right = max([label for label in labels if label <= 0.46 * whole] + [0.9])
        return cls(left, whole - left - right - _PAD, right)


@dataclass
class _Line:
    """One row of a panel as it will be drawn: where, its name, its words, in wrapped lines."""

    at: float
    name: str
    row: Any
    words: str
    inside: str = ""


@dataclass
class _Panel:
    """One metric: rows laid out in inches before any ink, so that nothing can overlap."""

    metric: str
    rows: pd.DataFrame
    columns: list[str]
    room: _Room
    threshold: float | None
    looks: dict[Any, style.Series]
    given: str | Mapping[str, str] | None
    lines: list[_Line] = field(default_factory=list)
    headings: list[tuple[float, str]] = field(default_factory=list)
    height: float = 0.0

    def __post_init__(self) -> None:
        heading, named = _headings(self.rows, self.columns)
        whole = self.room.left + self.room.axis + self.room.right
        self.title = style.wrap(
            _common.title_of(self.metric, self.given), 0.88 * whole, style.LARGE
        )
        self.indent = _INDENT if heading else 0.0
        at = _HEADING if self.threshold is not None else 0.0
        previous = None
        for row in rows_of(self.rows):
            group = _common.name_of(row, heading) if heading else None
            if group != previous:
                self.headings.append((at + _HEADING / 2, style.fit(group or "", whole, bold=True)))
                at, previous = at + _HEADING, group
            line = self._line(
                style.fit(_common.name_of(row, named), self.room.left - self.indent), row
            )
            tall = max(line.words.count("\n"), line.inside.count("\n")) * _LINE + _LINE + _GAP
            line.at = at + tall / 2
            at += tall
            self.lines.append(line)
        self.height = at + 0.02

    def _line(self, name: str, row: Any) -> _Line:
        estimate = Estimate.from_row(row)
        more = [_marks.missing_words(row), _marks.raw(row)]
        if estimate.kind == "insufficient":
            return _Line(
                0, name, row, estimate.counts, style.wrap(_marks.few(row), self.room.axis - 0.1)
            )
        if estimate.kind == "not computable":
            return _Line(
                0, name, row, style.wrap(_marks.why(row), self.room.axis + self.room.right - 0.05)
            )
        words = style.wrap_label(estimate.label(), self.room.right)
        return _Line(0, name, row, "\n".join(filter(None, [words, *more])))

    def draw(self, ax: Axes, height: float) -> None:
        """Draw the laid-out rows; the y scale is in inches, downwards."""
        ax.set_ylim(height, 0)
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
        _marks.rate_axis(ax, ticks=5 if self.room.axis > 1.6 else 3)
        _marks.keep_free(
            ax, self.room.right + 5 / 72
        )  # also where every rate lacks: reasons reach that far
        edge = -72 * self.room.left - 4
        _marks.beside(
            ax, self.title, 0, edge, lift=5, va="bottom", fontweight="bold", fontsize=style.LARGE
        )
        for at, words in self.headings:
            _marks.beside(ax, words, at, edge, fontweight="bold")
        for line in self.lines:
            _marks.beside(ax, line.name, line.at, edge + 72 * self.indent)
            self._row(ax, line)
        if self.threshold is not None:
            rule = Line2D(
                [self.threshold] * 2, [_HEADING, height], color=style.INK, lw=0.8, ls=(0, (4, 2))
            )
            rule.set_gid("requirement")
            ax.add_line(rule)
            _marks.beside(
                ax, _rule(self.metric, self.threshold), _HEADING / 2, 2, bbox=_marks.WHITE
            ).set_in_layout(False)

    def _row(self, ax: Axes, line: _Line) -> None:
        look = self.looks.get(line.row.get("mode"), style.SERIES[0])
        kind = _marks.rate(
            ax, line.row, line.at, look, size=0.07 + line.inside.count("\n") * _LINE / 2
        )
        if kind == "not computable":
            words = _marks.beside(ax, line.words, line.at, 2, color=style.GREY, bbox=_marks.WHITE)
            words.set_in_layout(False)
            words.set_gid(f"blank:{line.row.name}")
            return
        _marks.beside(ax, line.words, line.at, 5, side=1).set_gid(f"label:{line.row.name}")
        if line.inside:
            _marks.inside(ax, line.inside, line.at)


def _alt(table: pd.DataFrame, of: str, columns: list[str]) -> str:
    metrics = list(dict.fromkeys(table[of]))
    estimates = [Estimate.from_row(row) for row in rows_of(table)]
    names = [_common.name_of(row, columns) for row in rows_of(table)]
    marks = []
    for place, (name, one) in enumerate(zip(names, estimates, strict=True)):
        metric = f"{style.drawable(table[of][place])} " if len(metrics) > 1 else ""
        row = table.loc[place]
        more = ", ".join(filter(None, [_marks.missing_words(row), _marks.raw(row)]))
        marks.append(f"{metric}{name} {one.label()}" + (f" ({more})" if more else ""))
    finding = []
    for metric in metrics:
        mine = [place for place, value in enumerate(table[of]) if value == metric]
        said = _common.extremes([names[i] for i in mine], [estimates[i] for i in mine])
        finding.append(f"{style.drawable(metric)}: {said}" if len(metrics) > 1 else said)
    by = " and ".join(map(style.drawable, columns)) or "case"
    what = (
        f"Forest plot of {', '.join(map(style.drawable, metrics))} by {by}, with k/n "
        "and bounds in percent"
    )
    return _common.alt_text(what, " ".join(finding), marks)


def _caption(
    table: pd.DataFrame,
    of: str,
    columns: list[str],
    thresholds: dict[str, float],
    sort: bool,
    baseline: str,
) -> str:
    names = ", ".join(_common.metric_title(metric) for metric in dict.fromkeys(table[of]))
    rules = [
        f"Dashed line: {metric}, {_rule(metric, value)}" for metric, value in thresholds.items()
    ]
    order = ["Rows are sorted by rate"] if sort else []
    judged = any(values(table, "observed_low"))
    grey = "Grey: the interval that ignores the judge's errors" if judged else ""
    unknown = any(values(table, "missing")) and any(values(table, "floor"))
    bars = "Pale bar: what unknown outcomes leave open" if unknown else ""
    what = f"{names}, by {' and '.join(map(style.drawable, columns))}" if columns else names
    return _common.caption(
        table,
        what,
        *rules,
        _common.undefended(table, baseline),
        grey,
        bars,
        *order,
        _common.one_side(table),
    )
