"""Grid: what a printed table says, before any markup: columns in reading order, cells, and the
lines under it.

`grid` knows the tables of the verbs by their columns. Columns that it does not know are shown as
they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..escape import missing, plain
from ..estimate import (
    Estimate,
    aloud,
    bracket,
    difference_text,
    method_text,
    number,
    p_text,
    reason,
)
from ..metrics import METRICS
from .rows import rows_of

__all__ = ["Cell", "Column", "Grid", "grid"]

NUMBERS = (
    "metric",
    "k",
    "n",
    "rate",
    "low",
    "high",
    "level",
    "method",
    "missing",
    "floor",
    "ceiling",
    "clusters",
    "n_eff",
    "note",
    "trend_p",
    "observed",
    "observed_low",
    "observed_high",
    "independent_low",
    "independent_high",
)
PAIRS = (
    "metric",
    "mode_a",
    "mode_b",
    "n_pairs",
    "both",
    "b",
    "c",
    "neither",
    "rate_a",
    "rate_b",
    "diff",
    "low",
    "high",
    "h",
    "p",
    "log10_p",
    "p_holm",
    "unpaired",
    "independent_low",
    "independent_high",
    "level",
    "method",
    "note",
)
SHARES = {  # rates that a table keeps as counts of a confusion table: k, and what n is the sum of
    "se": ("tp", ("tp", "fn")),
    "sp": ("tn", ("tn", "fp")),
    "tpr": ("tp", ("tp", "fn")),
    "fpr": ("fp", ("fp", "tn")),
}


@dataclass(frozen=True)
class Cell:
    """One cell: its text as it is (not yet escaped), the counts apart from the bounds, what is said
    aloud.
    """

    text: str
    counts: str = ""
    bounds: str = ""
    why: str = ""
    aloud: str = ""


@dataclass(frozen=True)
class Column:
    """One column: its name, and how it stands: "text", "number", "estimate" or "note"."""

    name: str
    kind: str


@dataclass(frozen=True)
class Grid:
    """A table ready to be marked up; `below` are the lines under it."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    below: tuple[str, ...]


def grid(table: pd.DataFrame) -> Grid:
    """The table of a verb in reading order: rates with security beside cost, pairs, gates, or any
    other table.
    """
    checked(table)
    have = set(table.columns)
    for needed, build in _KNOWN:
        if needed <= have:
            return build(table)
    return _other(table)


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


def _made(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]], below: Sequence[str] = ()
) -> Grid:
    """The grid without a column of notes that says nothing."""
    silent = [
        place
        for place, column in enumerate(columns)
        if column.kind == "note" and not any(row[place].text for row in rows)
    ]
    kept = [place for place in range(len(columns)) if place not in silent]
    lines = tuple(line for line in below if line)
    return Grid(
        tuple(columns[place] for place in kept),
        tuple(tuple(row[place] for place in kept) for row in rows),
        lines,
    )


def _cell(value: Any) -> Cell:
    if missing(value):
        return Cell("-")
    return Cell(number(value) if isinstance(value, float) else str(value))


def estimate_cell(estimate: Estimate) -> Cell:
    """An estimate as a cell."""
    said = str(estimate) if estimate.n else estimate.label()
    if estimate.kind in ("insufficient", "not computable"):
        return Cell(
            said,
            estimate.counts if estimate.n else "",
            "",
            reason(estimate.note) or said,
            aloud(estimate),
        )
    counts, _, bounds = estimate.label().rpartition(" [")
    return Cell(said, counts, f"[{bounds}", "", aloud(estimate))


# rates and gradient


def _rates(table: pd.DataFrame) -> Grid:
    strata = [name for name in table.columns if name not in NUMBERS]
    metrics = list(dict.fromkeys(table["metric"]))
    facts = [
        name for name in metrics if len(metrics) > 1 and _is_fact(table[table["metric"] == name])
    ]
    shown = [name for name in metrics if name not in facts]
    part = table[table["metric"].isin(shown)]
    keys = list(dict.fromkeys(tuple(row) for row in part[strata].itertuples(index=False)))
    found = {(tuple(row[name] for name in strata), row["metric"]): row for row in rows_of(part)}
    if len(found) < len(part):  # rows that only their numbers tell apart
        return _other(table)
    trend = "trend_p" in table.columns
    rows = []
    for key in keys:
        mine = {name: found[key, name] for name in shown if (key, name) in found}
        cells = [Cell("all" if missing(value) else str(value)) for value in key]
        cells += [
            estimate_cell(Estimate.from_row(mine[name]))
            if name in mine
            else Cell("not in this table")
            for name in shown
        ]
        if trend:
            cells.append(
                Cell(", ".join(dict.fromkeys(p_text(row["trend_p"]) for row in mine.values())))
            )
        rows.append([*cells, Cell(_notes(mine))])
    columns = [
        *(Column(name, "text") for name in strata),
        *(Column(name, "estimate") for name in shown),
    ]
    columns += [Column("p of the trend", "number")] if trend else []
    lines = [_fact_line(table[table["metric"] == name]) for name in facts]
    return _made([*columns, Column("note", "note")], rows, [*lines, *_legend(table, metrics)])


def _absent(name: str) -> Cell:
    applies = name in METRICS and METRICS[name].only
    return Cell("not for this mode" if applies else "not in this table")


def _is_fact(part: pd.DataFrame) -> bool:
    """A fact of the suite (the residual) has no mode."""
    return "mode" in part.columns and len(part) == 1 and missing(part["mode"].iloc[0])


def _fact_line(part: pd.DataFrame) -> str:
    row = part.iloc[0]
    return f"{row['metric']}: {estimate_cell(Estimate.from_row(row)).text}"


def _notes(rows: dict[str, Any]) -> str:
    """The notes of a line without the reasons that its cells show; named by metric where they
    differ.
    """
    said: dict[str, list[str]] = {}
    for name, row in rows.items():
        parts = (
            [] if missing(row["note"]) else [part.strip() for part in str(row["note"]).split(";")]
        )
        parts = [
            part
            for part in parts
            if part and not part.startswith(("not computable", "insufficient"))
        ]
        if not missing(row.get("missing")) and row["missing"] and not missing(row.get("floor")):
            span = bracket(row["floor"], row["ceiling"])
            parts.append(f"{int(row['missing'])} missing: from floor to ceiling {span}")
        for part in parts:
            said.setdefault(part, []).append(name)
    several = len(rows) > 1
    return "; ".join(
        f"{', '.join(names)}: {part}" if several else part for part, names in said.items()
    )


def _legend(table: pd.DataFrame, metrics: Sequence[str]) -> list[str]:
    known = [METRICS[name] for name in metrics if name in METRICS]
    lines = [f"{one.symbol}: {one.name}, {one.meaning}; {one.better} is better." for one in known]
    if known and all(one.side == "security" for one in known):
        lines.append("No cost metric is in this table: read it beside one.")
    return [_how(table, "k/n with bounds [low, high] in percent"), *lines]


def _how(table: pd.DataFrame, what: str) -> str:
    methods = [method_text(name) for name in _several(table, "method")]
    levels = [number(level) for level in _several(table, "level")]
    level = f"level {' and '.join(levels)}" if levels else ""
    seed = f"seed {plain(table.attrs['seed'])}" if table.attrs.get("seed") else ""
    return "; ".join(part for part in (what, ", ".join(methods), level, seed) if part) + "."


def _several(table: pd.DataFrame, column: str) -> list[Any]:
    values: list[Any] = list(table[column]) if column in table.columns else []
    return list(dict.fromkeys(value for value in values if not missing(value)))


# compare, overhead, gate


def _pairs(table: pd.DataFrame) -> Grid:
    strata = [name for name in table.columns if name not in PAIRS]
    lead = (
        [*(["metric"] if table["metric"].nunique() > 1 else []), *strata]
        if "metric" in table
        else strata
    )
    columns = [
        *(Column(name, "text") for name in lead),
        Column("A - B", "text"),
        Column("pairs", "number"),
        Column("A only (b)", "number"),
        Column("B only (c)", "number"),
        Column("difference", "estimate"),
        Column("p", "number"),
        Column("p Holm", "number"),
        Column("h", "number"),
        Column("unpaired", "number"),
        Column("note", "note"),
    ]
    rows: list[list[Cell]] = []
    for row in rows_of(table):
        note = "" if missing(row["note"]) else str(row["note"])
        names = [_cell(row[name]) for name in lead]
        counts = [_cell(row[name]) for name in ("n_pairs", "b", "c")]
        p = [
            Cell(p_text(row["p"], row.get("log10_p"))),
            Cell(p_text(row.get("p_holm", float("nan")))),
        ]
        h = Cell("not computable" if missing(row.get("h")) else f"{row['h']:.3f}")
        left = ";".join(part for part in note.split(";") if "not computable" not in part).strip()
        rows.append(
            [
                *names,
                Cell(f"{row['mode_a']} - {row['mode_b']}"),
                *counts,
                _difference(row, note),
                *p,
                h,
                _cell(row.get("unpaired")),
                Cell(left),
            ]
        )
    metrics = _several(table, "metric")
    what = "Differences A - B of rates on the same cases, in points [low, high]"
    known = [METRICS[name] for name in metrics if name in METRICS]
    lines = [f"{one.symbol}: {one.name}; {one.better} is better." for one in known]
    return _made(
        columns,
        rows,
        [_how(table, what), *lines, "p Holm: Holm's correction over all pairs of one family."],
    )


def _difference(row: Any, note: str) -> Cell:
    if missing(row["diff"]):
        return Cell(reason(note) or "not computable", why=reason(note) or "not computable")
    text = difference_text(row["diff"], row["low"], row["high"], note=note)
    if missing(row["low"]):
        return Cell(text, text, "")
    return Cell(text, text.partition(" points")[0], bracket(row["low"], row["high"]))


def _overhead(table: pd.DataFrame) -> Grid:
    columns = [
        Column("quantile", "text"),
        Column("overhead", "estimate"),
        Column("pairs", "number"),
        Column("unpaired", "number"),
        Column("note", "note"),
    ]
    rows = []
    for row in rows_of(table):
        note = "" if missing(row["note"]) else str(row["note"])
        name, lost = Cell(f"p{number(100 * row['quantile'])}"), missing(row["value"])
        why = reason(note) or "not computable"
        bounds = f"[{number(row['low'])}, {number(row['high'])}]" if not lost else ""
        cell = (
            Cell(why, why=why)
            if lost
            else Cell(f"{number(row['value'])} {bounds}", number(row["value"]), bounds)
        )
        rows.append(
            [name, cell, _cell(row["n_pairs"]), _cell(row["unpaired"]), Cell("" if lost else note)]
        )
    return _made(columns, rows, ["Quantiles of the differences on the same cases, [low, high]."])


def _gate(table: pd.DataFrame) -> Grid:
    extra = [
        name for name in ("release", "suite_version", "judge_version") if name in table.columns
    ]
    columns = [
        *(Column(name, "text") for name in [*extra, "requirement"]),
        Column("measured", "estimate"),
        Column("threshold", "number"),
        Column("rule", "text"),
        Column("verdict", "text"),
        Column("note", "note"),
    ]
    rows: list[list[Cell]] = [
        [
            *(_cell(row[name]) for name in [*extra, "requirement"]),
            estimate_cell(Estimate.from_row(row)),
            _cell(row["threshold"]),
            _cell(row["rule"]),
            _cell(row["verdict"]),
            Cell(_notes({"": row})),
        ]
        for row in rows_of(table)
    ]
    return _made(
        columns,
        rows,
        [_how(table, "k/n with bounds [low, high] in percent; thresholds are proportions")],
    )


# any other table


def _other(table: pd.DataFrame) -> Grid:
    """Columns as they are; a value with its own `_low` and `_high` becomes one cell with
    brackets.
    """
    names = [str(name) for name in table.columns]
    ends = {
        name
        for name in names
        if name.removesuffix("_low").removesuffix("_high") != name
        and name.removesuffix("_low").removesuffix("_high") in names
    }
    shown = [name for name in names if name not in ends]
    kinds = {name: _kind(table, name, names) for name in shown}
    rows = [[_value(row, name, kinds[name], names) for name in shown] for row in rows_of(table)]
    return _made([Column(name, kinds[name]) for name in shown], rows)


def _kind(table: pd.DataFrame, name: str, names: list[str]) -> str:
    if f"{name}_low" in names and f"{name}_high" in names:
        return "estimate"
    if name == "note":
        return "note"
    return "number" if pd.api.types.is_numeric_dtype(table[name]) else "text"


def _value(row: Any, name: str, kind: str, names: list[str]) -> Cell:
    if kind == "note":
        return Cell("" if missing(row[name]) else str(row[name]))
    if kind != "estimate":
        return _cell(row[name])
    value, low, high = row[name], row[f"{name}_low"], row[f"{name}_high"]
    note = "" if missing(row.get("note")) else str(row.get("note"))
    k, parts = SHARES.get(name, ("", ("",)))
    if {k, *parts} <= set(names):
        return estimate_cell(
            Estimate(
                int(row[k]), int(sum(row[part] for part in parts)), value, low, high, note=note
            )
        )
    if missing(value):
        return Cell(reason(note) or "not computable", why=reason(note) or "not computable")
    shown, bounds = (
        number(value, figures=3),
        f"[{number(low, figures=3)}, {number(high, figures=3)}]",
    )
    return Cell(f"{shown} {bounds}", shown, bounds)


_KNOWN: tuple[tuple[set[str], Callable[[pd.DataFrame], Grid]], ...] = (
    (
        {"requirement", "k", "n", "rate", "low", "high", "threshold", "rule", "verdict", "note"},
        _gate,
    ),
    ({"metric", "k", "n", "rate", "low", "high", "note"}, _rates),
    ({"mode_a", "mode_b", "n_pairs", "b", "c", "diff", "low", "high", "p", "note"}, _pairs),
    ({"quantile", "value", "low", "high", "n_pairs", "unpaired", "note"}, _overhead),
)
