"""Grid: what a printed table says, before any markup: columns in reading order, cells, notes and
the lines under it.

One grid serves the tables of all verbs: it reads their declared shape, never a word of a note.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..escape import missing, plain
from ..estimate import (
    Estimate,
    aloud,
    bracket,
    difference_text,
    number,
    p_text,
    refusal,
)
from ..metrics import METRICS
from ..schema import KINDS, Shape, shape_of, strata_of
from .facts import facts, values
from .rows import rows_of

__all__ = ["Cell", "Column", "Grid", "checked", "grid", "measured"]

ESTIMATE = ("k", "n", "rate", "low", "high", "level", "method")
# Numbers that stand beside the estimate, before and after it, under the words of their heads. Those
# in PAPER are kept where a page is narrow.
BEFORE = {
    "n_pairs": "pairs",
    "b": "A only (b)",
    "c": "B only (c)",
    "attempts": "within K",
    "max_fpr": "FPR at most",
    "base_rate": "base rate",
    "levels": "levels",
    "share": "share of the variance",
}
AFTER = {
    "p": "p",
    "p_holm": "p Holm",
    "h": "h",
    "unpaired": "unpaired",
    "independent": "if alike and independent",
    "at_risk": "followed to K",
    "trend_p": "p of the trend",
    "differ_p": "p of any difference",
    "threshold": "threshold",
    "rule": "rule",
    "verdict": "verdict",
    "drift": "drift",
    "per_day": "cases",
    "human_missing": "no human label",
    "judge_missing": "no verdict",
    "other": "other verdict",
    "people_differ": "people differ",
    "ties": "ties",
}
PAPER = {"n_pairs", "b", "c", "attempts", "max_fpr", "base_rate", "p_holm", "trend_p", "differ_p"}
PAPER |= {"threshold", "verdict", "levels"}
_P = ("p", "p_holm", "trend_p", "differ_p")
_ALWAYS = ("n_pairs", "b", "c", "p", "p_holm", "h", "trend_p")  # also where all of it is empty
_SILENT = ("metric", "score", "quantity", "suite_version")  # one value of these needs no column


@dataclass(frozen=True)
class Cell:
    """One cell: its text as it is (not yet escaped), the counts apart from the bounds, why there is
    no number, what is said aloud, and the notes that belong to it.
    """

    text: str
    counts: str = ""
    bounds: str = ""
    why: str = ""
    aloud: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Column:
    """One column: its name, how it stands ("text", "number" or "estimate"), whether a narrow page
    keeps it.
    """

    name: str
    kind: str
    paper: bool = True


@dataclass(frozen=True)
class Grid:
    """A table ready to be marked up; `below` are the lines under it, `left` the rows left out."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    below: tuple[str, ...] = ()
    left: int = 0

    @property
    def notes(self) -> dict[str, int]:
        """Each note with its number, in reading order."""
        found = [note for row in self.rows for cell in row for note in cell.notes]
        return {note: place for place, note in enumerate(dict.fromkeys(found), 1)}


def grid(table: pd.DataFrame, *, most: int | None = None, wide: bool = True) -> Grid:
    """The table of a verb in reading order; of any other table the columns as they are.

    `most` bounds the rows; `wide` sets the metrics of one stratum beside each other where the rows
    differ in nothing else.
    """
    shape = shape_of(checked(table))
    if shape is None or "low" not in shape.numbers:
        return _other(table, most)
    keys = _keys(table, shape)
    several = table["metric"].nunique() > 1 if "metric" in table else False
    beside = [name for name in keys if name not in ("metric", "quantity")]
    counted = "rate" in shape.numbers and shape.first == "metric" and "quantity" not in table
    if counted and wide and not table.duplicated(["metric", *beside]).any():
        return _wide(table, beside, most)
    shown = [name for name in keys if name != "metric" or several]
    return _long(table, shown, _given(table, shape, BEFORE), _given(table, shape, AFTER), most)


def checked(table: pd.DataFrame) -> pd.DataFrame:
    """The table, if it is one whose every column can be told from the others: of two alike one
    would be lost.
    """
    if not isinstance(table, pd.DataFrame):
        raise TypeError(f"a table is a pandas DataFrame, got {type(table).__name__}")
    if not table.columns.is_unique or not all(isinstance(name, str) for name in table.columns):
        names = ", ".join(map(str, table.columns))[:200]
        raise ValueError(
            f"the names of the columns of a table must be texts and differ, got {names}"
        )
    return table


def _keys(table: pd.DataFrame, shape: Shape) -> list[str]:
    """The key columns that tell the rows apart, in the order of the shape."""
    keys = [shape.first, *strata_of(table)]
    if "verdict" in shape.words:  # the name of a requirement says metric, mode and quantity
        keys = [name for name in keys if name not in shape.keys or name == "requirement"]
        keys += ["suite_version"] if shape.first == "release" else []
    filled = [name for name in keys if name == "mode" or values(table, name)]
    return [name for name in filled if name not in _SILENT or len(values(table, name)) > 1]


def _given(table: pd.DataFrame, shape: Shape, heads: Mapping[str, str]) -> list[str]:
    """The numbers of a table that are shown beside its estimate: those that say something."""
    declared = {*shape.numbers, *shape.more, *shape.words}
    there = [name for name in heads if name in declared and name in table.columns]
    return [name for name in there if name in _ALWAYS or any(values(table, name))]


# rows


def _wide(table: pd.DataFrame, keys: list[str], most: int | None) -> Grid:
    """Rates and gradients: one line for each stratum and mode, security beside cost."""
    metrics = list(dict.fromkeys(table["metric"]))
    of = {name: table[table["metric"] == name] for name in metrics}
    single = [name for name in metrics if len(metrics) > 1 and _is_fact(of[name])]
    shown = [name for name in metrics if name not in single]
    tests = [name for name in ("trend_p", "differ_p") if any(values(table, name))]
    lines: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows_of(table[~table["metric"].isin(single)]):
        lines.setdefault(tuple(_key(row, name) for name in keys), {})[row["metric"]] = row
    rows = []
    for key, mine in list(lines.items())[:most]:
        cells = [Cell(value) for value in key]
        cells += [measured(mine[name]) if name in mine else Cell("-") for name in shown]
        for name in tests:
            cells.append(Cell(", ".join(dict.fromkeys(p_text(r[name]) for r in mine.values()))))
        rows.append(tuple(cells))
    columns = [Column(name, "text") for name in keys]
    columns += [Column(name, "estimate") for name in shown]
    columns += [Column(AFTER[name], "number") for name in tests]
    alone = [(name, measured(rows_of(of[name])[0])) for name in single]
    said = ["; ".join([f"{name}: {cell.text}", *cell.notes]) for name, cell in alone]
    below = [*said, *_legend(table)]
    return Grid(tuple(columns), tuple(rows), tuple(below), len(lines) - len(rows))


def _is_fact(part: pd.DataFrame) -> bool:
    """A fact of the suite (the residual) has no mode."""
    return "mode" in part.columns and len(part) == 1 and missing(part["mode"].iloc[0])


def _long(
    table: pd.DataFrame, keys: list[str], before: list[str], after: list[str], most: int | None
) -> Grid:
    """One line for each row: keys, numbers, the estimate, numbers."""
    pairs = "mode_a" in keys
    names = [name for name in keys if name not in ("mode_a", "mode_b")]
    heads = [Column(name.replace("_", " "), "text") for name in names]
    heads += [Column("A - B", "text")] if pairs else []
    quantile = "quantile" in table.columns
    facet = "share" in before
    measure = (
        "narrower if doubled"
        if facet
        else "difference"
        if pairs and not quantile
        else "overhead"
        if quantile
        else "measured"
    )
    columns = [
        *heads,
        *(Column(BEFORE[name], "number", name in PAPER) for name in before),
        Column(measure, "estimate"),
        *(Column(AFTER[name], _stands(name), name in PAPER) for name in after),
    ]
    rows = []
    for row in rows_of(table if most is None else table.iloc[:most]):
        cells = [Cell(_key(row, name)) for name in names]
        cells += [Cell(f"{_key(row, 'mode_a')} - {_key(row, 'mode_b')}")] if pairs else []
        cells += [_number(row, name) for name in before]
        cells += [measured(row), *(_number(row, name) for name in after)]
        rows.append(tuple(cells))
    return Grid(tuple(columns), tuple(rows), tuple(_legend(table)), len(table) - len(rows))


def _key(row: Mapping[str, Any], name: str) -> str:
    """A key as it is shown; a fact of the suite has no mode."""
    return str(row[name]) if not missing(row[name]) else "-" if name == "mode" else "(none)"


def _stands(name: str) -> str:
    return "text" if KINDS.get(name) in ("state", "text") else "number"


def _number(row: Mapping[str, Any], name: str) -> Cell:
    value = row[name]
    if name in _P:
        return Cell(p_text(value, row.get("log10_p") if name == "p" else None))
    if name == "h":
        return Cell("not computable" if missing(value) else f"{value:.3f}")
    return _cell(value)


def _cell(value: Any) -> Cell:
    if missing(value):
        return Cell("-")
    return Cell(number(value) if isinstance(value, float) else str(value))


def measured(row: Mapping[str, Any]) -> Cell:
    """What a row measured, with its bounds or the reason why there is none, by its `state`."""
    notes = _notes(row)
    if not missing(row.get("diff")) or ("diff" in row and missing(row.get("rate"))):
        return _difference(row, row["diff"], notes)
    if row.get("quantity") == "difference":
        return _difference(row, row.get("value"), notes)
    value = row.get("value", row.get("doubled"))
    if "rate" not in row or (missing(row["rate"]) and not missing(value)):
        return _plain(row, value, notes)
    estimate = Estimate.from_row(row)
    said = str(estimate) if estimate.n else estimate.label()
    if estimate.kind in ("insufficient", "not computable"):
        counts = estimate.counts if estimate.n else ""
        why = refusal(estimate.state, estimate.why)
        return Cell(said, counts, "", why, aloud(estimate), notes)
    bounds = "" if missing(estimate.low) else bracket(estimate.low, estimate.high)
    counts = estimate.label().removesuffix(bounds).rstrip()
    return Cell(said, counts, bounds, "", aloud(estimate), notes)


def _difference(row: Mapping[str, Any], value: Any, notes: tuple[str, ...]) -> Cell:
    why = "" if missing(row.get("why")) else str(row["why"])
    if missing(value) and row.get("state") == "ok":  # a test between strata or of all modes
        return Cell("-", notes=notes)
    text = difference_text(value, row["low"], row["high"], why=why)
    if missing(value):
        return Cell(text, why=text, notes=notes)
    first = text.partition(" points")[0]
    if row.get("state") == "few":
        few = refusal("few", why)
        return Cell(f"{first} points, {few}", first, "", few, notes=notes)
    if missing(row["low"]):
        return Cell(text, text, notes=notes)
    return Cell(text, first, bracket(row["low"], row["high"]), notes=notes)


def _plain(row: Mapping[str, Any], value: Any, notes: tuple[str, ...]) -> Cell:
    """A number that is no rate, with its bounds: milliseconds, alerts, kappa."""
    why = refusal(str(row.get("state", "")), "" if missing(row.get("why")) else str(row["why"]))
    if missing(value):
        return Cell(why or "-", why=why, notes=notes)
    low, high = row.get("low"), row.get("high")
    bounds = "" if missing(low) or missing(high) else f"[{_short(low)}, {_short(high)}]"
    return Cell(f"{_short(value)} {bounds}".strip(), _short(value), bounds, notes=notes)


def _short(value: Any) -> str:
    return "\u221e" if float(value) == float("inf") else number(value)


def _notes(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The note of a row without the reason that its cell shows."""
    note = "" if missing(row.get("note")) else str(row["note"])
    why = refusal(str(row.get("state", "")), "" if missing(row.get("why")) else str(row["why"]))
    return tuple(filter(None, [note.removeprefix(why).lstrip("; ") if why else note]))


# lines below


def _legend(table: pd.DataFrame) -> list[str]:
    """What the cells hold and how they were made, and the metrics in words."""
    if "diff" in table.columns:
        what = "Differences A - B of rates on the same cases, in points [low, high]"
    elif "quantile" in table.columns:
        what = "Quantiles of the differences A - B on the same cases, [low, high]"
    else:
        what = "k/n with bounds [low, high] in percent"
    if "threshold" in table.columns and "verdict" in table.columns:
        what += "; thresholds are proportions"
    metrics = [METRICS[name] for name in values(table, "metric") if name in METRICS]
    lines = [f"{one.symbol}: {one.name}, {one.meaning}; {one.better} is better." for one in metrics]
    if metrics and all(one.side == "security" for one in metrics):
        lines.append("No cost metric is in this table: read it beside one.")
    holm = any(values(table, "p_holm")) and "diff" in table.columns
    lines += ["p Holm: Holm's correction over all pairs of one family."] if holm else []
    return [f"{'; '.join([what, *(plain(fact, 300) for fact in facts(table))])}.", *lines]


# any other table


def _other(table: pd.DataFrame, most: int | None) -> Grid:
    """Columns as they are; `k`, `n`, `rate`, `low`, `high` become one cell, and so does a value
    with its own `_low` and `_high`.
    """
    names = list(table.columns)
    whole = {"rate", "low", "high"} <= {*names}
    ends = {f"{name}{end}": name for name in names for end in ("_low", "_high")}
    gone = {name for name in names if ends.get(name) in names}
    gone |= {*ESTIMATE, "state", "why", "note"} if whole else set()
    first = next((name for name in names if whole and name in ESTIMATE), "")
    shown = [name for name in names if name not in gone or name == first]
    has_bounds = {name for name in shown if f"{name}_low" in gone and f"{name}_high" in gone}
    columns = []
    for name in shown:
        kind = "number" if pd.api.types.is_numeric_dtype(table[name]) else "text"
        kind = "estimate" if name == first or name in has_bounds else kind
        columns.append(Column("measured" if name == first else name, kind))
    rows = []
    for row in rows_of(table if most is None else table.iloc[:most]):
        rows.append(
            tuple(
                measured(row)
                if name == first
                else _bounded(row, name)
                if name in has_bounds
                else _cell(row[name])
                for name in shown
            )
        )
    return Grid(tuple(columns), tuple(rows), (), len(table) - len(rows))


def _bounded(row: Mapping[str, Any], name: str) -> Cell:
    given = {"value": row[name], "low": row[f"{name}_low"], "high": row[f"{name}_high"]}
    return _plain({**row, **given}, row[name], ())


def narrow(made: Grid, names: Sequence[str] | None) -> Grid:
    """The columns that are named, in their order; without names those that a narrow page keeps."""
    known = [column.name for column in made.columns]
    for name in names or ():
        if name not in known:
            raise ValueError(f"columns must be of {', '.join(known)}, got {plain(name)!r}")
    kept = [known.index(name) for name in names] if names else []
    kept = kept or [i for i, column in enumerate(made.columns) if column.paper]
    columns = tuple(made.columns[i] for i in kept)
    return Grid(columns, tuple(tuple(row[i] for i in kept) for row in made.rows), made.below)
