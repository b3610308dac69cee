"""Judge: sensitivity and specificity by condition, and the rate as judged, as people see it, and
corrected.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ...escape import missing
from ...estimate import Estimate, bracket, digits, number, reason
from .. import style
from ..chart import Chart
from ..rows import rows_of
from . import _common, _marks

_PARTS = ("se", "sp", "agreement", "observed", "people", "fixed", "corrected")
_COLUMNS = (
    "tp",
    "fn",
    "tn",
    "fp",
    "n",
    *(f"{part}{end}" for part in _PARTS for end in ("", "_low", "_high")),
    "constant_judge",
    "flagged",
    "judged",
    "raw",
    "corrected_note",
    "note",
)
_NOT_STRATA = frozenset(
    (
        *_COLUMNS,
        "kappa",
        "kappa_low",
        "kappa_high",
        "kappa_state",
        "prevalence",
        "human_missing",
        "judge_missing",
        "other",
        "people_differ",
    )
)
_LEFT, _RIGHT = ("se", "sp", "agreement"), ("observed", "people", "fixed", "corrected")
_WORDS = {
    "se": "Se",
    "sp": "Sp",
    "observed": "as judged",
    "people": "by people",
    "fixed": "Se, Sp fixed",
}
_GREY = style.Series(style.PALE, style.GREY, "d", "")
_LOOKS = {"observed": style.SERIES[1], "people": style.SERIES[2], "fixed": _GREY}
_LINE, _GAP, _HEADING = _marks.LINE, 0.06, 0.2  # inches


def judge(table: pd.DataFrame, *, width: str = "column") -> Chart:
    """May I trust the labels: Se, Sp and agreement between brackets, and the rate before and after
    correction.

    Parameters
    ----------
    table : a table of `fnb.judges`
    width : "column" (3.3 in, the two panels above each other) or "text" (7 in, beside each other)

    Returns
    -------
    Chart. Left, per judge and condition: the four counts, Se, Sp and agreement, and in grey the
        agreement of a judge
    that always gives the commoner answer. Right: the rate as judged, by people, corrected with Se
        and Sp taken as known
    (grey), and corrected with their error carried. A corrected value below 0 is an arrow at 0 with
    its raw value.

    Raises
    ------
    ValueError : a needed column is missing, an impossible count or bound, more than 40 rows, mixed
        suite versions.
    """
    table = _common.checked(table, "judge", _COLUMNS, "judges")
    if table.empty:
        return _common.nothing("judge", "judges", table, width)
    _check(table)
    columns = [name for name in _common.strata(table) if name not in _NOT_STRATA]
    with style.settings():
        wide = style.width_of(width) > 4
        room = style.width_of(width) / (2 if wide else 1)
        panels = [_Panel(table, columns, parts, room) for parts in (_LEFT, _RIGHT)]
        if wide:  # the blocks of a row stand side by side
            least = [max(pair) for pair in zip(*(panel.blocks for panel in panels), strict=True)]
            panels = [_Panel(table, columns, parts, room, least) for parts in (_LEFT, _RIGHT)]
        heights = [panel.height + 0.75 for panel in panels]
        drawn = style.figure(width, max(heights) if wide else sum(heights))
        parts = style.parts(drawn, across=2) if wide else style.parts(drawn, heights=heights)
        for part, panel in zip(parts, panels, strict=True):
            panel.draw(part.subplots())
    return _common.finish(drawn, table, _alt(table, columns), _caption(table))


def _check(table: pd.DataFrame) -> None:
    for row in rows_of(table):
        for name in ("tp", "fn", "tn", "fp", "flagged", "judged"):
            if missing(row[name]) or row[name] < 0:
                raise ValueError(f"row {row.name}: {name} must be a count, got {row[name]}")
        if row["flagged"] > row["judged"]:
            raise ValueError(
                f"row {row.name}: flagged must be at most judged, got {row['flagged']} and {row['judged']}"
            )
    for part in _PARTS:
        for end in ("", "_low", "_high"):
            _common.check_inside(table, f"{part}{end}", 0, 1)
        _common.check_bounds(table, f"{part}_low", f"{part}_high")
    _common.check_reasons(table, "se")
    _common.check_reasons(table, "sp")
    _common.check_reasons(table.assign(note=table["corrected_note"]), "corrected")


def _counts(row: Any, part: str) -> tuple[Any, Any]:
    """k and n of one of the rates; a corrected rate has none."""
    if part == "se":
        return row["tp"], row["tp"] + row["fn"]
    if part == "sp":
        return row["tn"], row["tn"] + row["fp"]
    if part == "agreement":
        return row["tp"] + row["tn"], row["n"]
    if part == "people":
        return row["tp"] + row["fn"], row["n"]
    return row["flagged"], row["judged"]


def _rate(row: Any, part: str) -> Any:
    """One of the rates of a row, as a row of a table of rates."""
    k, n = _counts(row, part)
    note = str(row["corrected_note"] if part in ("fixed", "corrected") else row["note"])
    if missing(row[part]) and not reason(note).startswith("not computable"):
        class_of = {"se": "no positive case", "sp": "no negative case"}
        note = f"not computable: {class_of.get(part, 'no case') if n == 0 else note}"
    elif not missing(row[part]):
        note = (
            "insufficient data (n<5)"
            if 0 < n < _common.FEW and part not in ("fixed", "corrected")
            else ""
        )
    cells = {
        "k": k,
        "n": n,
        "rate": row[part],
        "low": row[f"{part}_low"],
        "high": row[f"{part}_high"],
        "note": note,
    }
    return pd.Series(cells, name=f"{row.name}:{part}", dtype=object)


def _word(part: str) -> str:
    return _WORDS.get(part, part)


def _label(row: Any, part: str) -> str:
    """The words beside a mark: counts and bounds, or bounds and the raw value of a corrected
    rate.
    """
    one = _rate(row, part)
    if missing(one["rate"]):
        return style.drawable(reason(one["note"]), 160)
    if part not in ("fixed", "corrected"):
        return style.drawable(Estimate.from_row(one).label(), 120)
    said = f"{digits(one['rate'])}% {bracket(one['low'], one['high'])}"
    return (
        f"{said}, raw {_signed(row['raw'])}"
        if not missing(row["raw"]) and not 0 <= row["raw"] <= 1
        else said
    )


def _signed(value: float) -> str:
    return f"{value:.4f}".replace("-", "\u2212")


@dataclass
class _Line:
    """One rate of a row as it will be drawn, in inches from the top."""

    at: float
    part: str
    row: Any
    words: str


@dataclass
class _Panel:
    """The rates of one panel, laid out in inches before any ink; rows of the table are blocks with
    a heading.
    """

    table: pd.DataFrame
    columns: list[str]
    parts: tuple[str, ...]
    room: float
    least: list[float] = field(default_factory=list)
    lines: list[_Line] = field(default_factory=list)
    headings: list[tuple[float, str, bool]] = field(default_factory=list)
    blocks: list[float] = field(default_factory=list)
    height: float = 0.02

    def __post_init__(self) -> None:
        self.left = max(style.text_width(_word(part)) for part in self.parts) + 0.05
        self.right = min(1.3, 0.4 * self.room)
        self.axis = self.room - self.left - self.right - 0.3
        for place, row in enumerate(rows_of(self.table)):
            start = self.height
            name = style.fit(_common.name_of(row, self.columns), self.room - 0.2, bold=True)
            self.headings.append((self.height + _HEADING / 2, name, True))
            self.height += _HEADING
            if self.parts == _LEFT:
                counts = ", ".join(
                    f"{name} {number(row[name])}" for name in ("tp", "fn", "fp", "tn")
                )
                self.headings.append(
                    (self.height + _LINE / 2, style.fit(counts, self.room - 0.2), False)
                )
                self.height += _LINE + 0.03
            for part in self.parts:
                self._line(row, part)
            self.height = max(
                self.height + 0.06, start + (self.least[place] if self.least else 0.0)
            )
            self.blocks.append(self.height - start)

    def _line(self, row: Any, part: str) -> None:
        kind = Estimate.from_row(_rate(row, part)).kind
        label = _label(row, part)
        blank = kind == "not computable"
        words = (
            style.wrap(label, self.axis + self.right - 0.05)
            if blank
            else style.wrap_label(label, self.right)
        )
        tall = _LINE * (words.count("\n") + 1) + _GAP
        self.lines.append(_Line(self.height + tall / 2, part, row, words))
        self.height += tall

    def draw(self, ax: Axes) -> None:
        """Draw the laid-out rates; the y scale is in inches, downwards."""
        ax.set_ylim(self.height, 0)
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
        _marks.rate_axis(ax, ticks=3)
        edge = -72 * self.left - 4
        title = "Judge against people" if self.parts == _LEFT else "The rate, judged and corrected"
        _marks.beside(
            ax, title, 0, edge, lift=6, va="bottom", fontweight="bold", fontsize=style.LARGE
        )
        for at, words, bold in self.headings:
            said = _marks.beside(
                ax, words, at, edge, fontweight="bold" if bold else "normal", bbox=_marks.WHITE
            )
            said.set_in_layout(False)
        for line in self.lines:
            _marks.beside(ax, _word(line.part), line.at, edge)
            self._mark(ax, line)

    def _mark(self, ax: Axes, line: _Line) -> None:
        row, part, place = _rate(line.row, line.part), line.part, line.row.name
        look = _LOOKS.get(part, style.SERIES[0])
        kind = Estimate.from_row(row).kind
        if part == "agreement" and not missing(line.row["constant_judge"]):
            constant = Line2D(
                [line.row["constant_judge"]],
                [line.at],
                marker="d",
                ms=5,
                color=style.PALE,
                ls="",
                mec=style.GREY,
                mew=0.8,
                clip_on=False,
            )
            constant.set_gid(f"constant:{place}")
            ax.add_line(constant)
        if kind == "not computable":
            words = _marks.beside(ax, line.words, line.at, 2, color=style.GREY, bbox=_marks.WHITE)
            words.set_in_layout(False)
            words.set_gid(f"blank:{place}:{part}")
            return
        if part in ("fixed", "corrected"):
            self._corrected(ax, line, look)
        else:
            _marks.rate(ax, row, line.at, look, size=0.05)
        _marks.beside(ax, line.words, line.at, 5, side=1).set_gid(f"label:{place}:{part}")

    def _corrected(self, ax: Axes, line: _Line, look: style.Series) -> None:
        """A corrected rate; one that was cut to 0 or 1 is an arrow to that end."""
        row, place = _rate(line.row, line.part), f"{line.row.name}:{line.part}"
        bounds = (float(row["low"]), float(row["high"]))
        cut = not missing(line.row["raw"]) and not 0 <= line.row["raw"] <= 1
        if not cut:
            _marks.interval(ax, place, line.at, bounds, look)
            _marks.marker(ax, place, line.at, float(row["rate"]), look)
            return
        below = line.row["raw"] < 0
        _marks.interval(ax, place, line.at, bounds, look, ends=(bounds[1] if below else bounds[0],))
        _marks.arrow(
            ax, place, line.at, bounds[1] if below else bounds[0], 0.0 if below else 1.0, look
        )


def _marks_of(table: pd.DataFrame, columns: list[str]) -> list[str]:
    out = []
    for row in rows_of(table):
        name = _common.name_of(row, columns)
        out += [f"{name} {_word(part)} {_label(row, part)}" for part in (*_LEFT, *_RIGHT)]
    return out


def _alt(table: pd.DataFrame, columns: list[str]) -> str:
    finding = []
    for part in ("se", "sp"):
        names = [_common.name_of(row, columns) for row in rows_of(table)]
        estimates = [Estimate.from_row(_rate(row, part)) for row in rows_of(table)]
        finding.append(f"{_word(part)}: {_common.extremes(names, estimates)}")
    cells = [
        f"{_common.name_of(row, columns)} {number(row['tp'])}, {number(row['fn'])}, {number(row['fp'])}, "
        f"{number(row['tn'])}"
        for row in rows_of(table)
    ]
    counts = (
        f"tp, fn, fp, tn: {'; '.join(cells)}."
        if len(table) <= 3
        else f"{len(table)} judges or conditions."
    )
    what = (
        "A judge against people's labels, and the rate it reports, with k/n and bounds in percent"
    )
    marks = _marks_of(table, columns)
    if len(table) <= 2:  # seven rates of a row are drawn at one place and read as one mark
        return _common.alt_text(what, " ".join([*finding, counts]), ["; ".join(marks)])
    return _common.alt_text(what, " ".join([*finding, counts]), marks)


def _caption(table: pd.DataFrame) -> str:
    extra = [
        "Se, Sp, agreement, as judged and by people: Wilson",
        "grey diamond: a judge that always gives the commoner answer",
        "grey: corrected as if Se and Sp were known; main: their error is carried",
    ]
    counts = [_counts(row, part) for row in rows_of(table) for part in ("se", "sp")]
    if all(n < _common.FEW for _, n in counts):
        extra.append("every cell has insufficient data")
    known = dict.fromkeys(
        style.drawable(note, 100) for note in table["corrected_note"] if not missing(note)
    )
    return _common.caption(
        table,
        "Judges against people's labels, and the rate before and after correction",
        *extra,
        *list(known)[:3],
    )
