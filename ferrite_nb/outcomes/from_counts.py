"""Tables of counts become weighted rows (k of n) or cases (both, b, c, neither); rates without
counts are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from ..metrics import METRICS
from .contract import Declaration, Note, OutcomesError
from .frames import LARGEST, ROW, Frame, pandas_of, place_of, plural, rate_hint

# Of two metrics with one population only one can be read: the rows of the other would look like
# missing outcomes.
COUNTED = ("ASR", "FGR", "false refusal", "task success")
# What happened in the first and in the second mode of a pair.
PAIRS = {"both": (True, True), "b": (True, False), "c": (False, True), "neither": (False, False)}
RATES = {"rate", "asr", "percent", "percentage", "success_rate", "attack_success_rate", "pct"}
MOST_CASES = 5_000_000


def expand_counts(
    table: Frame, declared: Mapping[str, Declaration], what: str
) -> tuple[Frame, Mapping[str, Declaration], list[Note]]:
    """A table of counts as a table of rows, with what is then declared of it and what to note; any
    other table as it is.

    With `k` and `n`, each row becomes one weighted row of events and one of the rest. With
    `mode_a`, `mode_b`, `both`, `b`, `c` and `neither`, each pair becomes a case in both modes. Rows
    of a case with a weight become that many repeats. A rate without counts is refused.
    """
    have = table.collect_schema().names()
    names, place = {*have, *declared}, f"{what}, " if what else ""
    rates = [name for name in have if name.lower() in RATES]
    if names & {"attack_success", "attack_resisted", "rows"}:
        expand = _repeats if {"rows", "case_id"} <= names else None
    elif {"b", "c"} <= names and "case_id" not in names:
        expand = _cases
    elif {"k", "n"} <= names:
        expand = _weighted
    else:
        expand = _refused if rates and "case_id" not in names else None
    if expand is None:
        return table, declared, []
    frame = pandas_of(table).reset_index(drop=True)
    frame[ROW] = np.arange(len(frame))
    frame, declared, notes = expand(frame, declared, place)
    return nw.from_native(frame), declared, notes


Expanded = tuple[pd.DataFrame, Mapping[str, Declaration], list[Note]]


def _repeats(frame: pd.DataFrame, declared: Mapping[str, Declaration], place: str) -> Expanded:
    """Rows of a case that carry a weight: each is that many repeats of the case, for the unit is
    the case.
    """
    weights = declared.get("rows", "rows")
    if not isinstance(weights, str) or weights not in frame or "repeat" in declared:
        raise OutcomesError(
            f"{place}weights of cases (rows and case_id) need a column rows, and no repeat beside "
            "it",
            column="rows",
            fix="rows",
        )
    weight = _whole(frame, [weights], place)[weights].to_numpy()
    if weight.sum(dtype=float) > MOST_CASES:
        raise OutcomesError(
            f"{place}more than {MOST_CASES:,} repeats; leave case_id out to read a table of counts",
            column="rows",
            fix="rows",
        )
    rest = {name: given for name, given in declared.items() if name != "rows"}
    rows = frame.drop(columns=weights)
    if (weight == 1).all():
        return rows, rest, []
    if "repeat" in frame:
        raise OutcomesError(
            f"{place}rows above 1 beside a repeat: one row is one repeat, so leave one of the two "
            "out",
            column="rows",
            fix="repeat",
        )
    note = f"rows beside case_id: {int(weight.sum())} repeats of cases, one for each"
    rows = rows.loc[rows.index.repeat(weight)].reset_index(drop=True)
    return rows, rest | {"repeat": "count"}, [Note(note, "count", len(rows))]


def _whole(frame: pd.DataFrame, columns: list[str], place: str) -> pd.DataFrame:
    """Columns of counts as whole numbers; the message names row, column and value."""
    made = {}
    for name in columns:
        number = pd.to_numeric(frame[name], errors="coerce")
        bad = ~((number >= 0) & (number % 1 == 0) & (number <= LARGEST)).to_numpy(dtype=bool)
        if bad.any():
            row = int(bad.argmax())
            value, (where, line) = frame[name].iloc[row], place_of(frame, row)
            raise OutcomesError(
                f"{place}{where}: column {name} has {str(value)[:80]!r}; it must be a whole number "
                f">= 0{rate_hint(value, frame.get('n'), row)}",
                column=name,
                row=line,
            )
        made[name] = number.astype("int64")
    return pd.DataFrame(made)


def _weighted(frame: pd.DataFrame, declared: Mapping[str, Declaration], place: str) -> Expanded:
    """Rows of events and of the rest, with weights; other metrics than those that can be counted
    are left out.
    """
    frame, notes = _of_metrics(frame, place)
    if frame.empty:
        raise OutcomesError(f"{place}the table of counts has no row")
    counts = _whole(frame, ["k", "n"], place)
    lost = (
        _whole(frame.fillna({"missing": 0}), ["missing"], place)
        if "missing" in frame
        else 0 * counts
    )
    bad = (counts["k"] > counts["n"]).to_numpy()
    if bad.any():
        (where, line), (k, n) = place_of(frame, int(bad.argmax())), counts[bad].iloc[0]
        raise OutcomesError(
            f"{place}{where}: k = {k} and n = {n}; k must not be larger than n",
            column="k",
            row=line,
        )
    metrics = frame["metric"].map(METRICS)
    events = metrics.map(lambda metric: next(iter(metric.event)))
    rest = frame.drop(columns=["k", "n", "missing", "metric"], errors="ignore")
    rest = rest.assign(kind=metrics.map(lambda metric: metric.population["kind"]))
    weights = {True: counts["k"], False: counts["n"] - counts["k"], None: lost.iloc[:, 0]}
    parts = []
    for value, weight in weights.items():
        told = {
            name: pd.Series(value, frame.index, object).where(events == name)
            for name in set(events)
        }
        parts.append(rest.assign(**told, rows=weight))
    parts[-1] = parts[-1][parts[-1]["rows"] > 0]
    note = Note("counts only (k of n): no pairs and no clusters in this table", "count")
    return pd.concat(parts, ignore_index=True), declared, [*notes, note]


def _of_metrics(frame: pd.DataFrame, place: str) -> tuple[pd.DataFrame, list[Note]]:
    """The rows of the metrics that can be read as counts, one metric per kind of case."""
    if "metric" not in frame:
        kind = frame.get("kind", pd.Series("attack", frame.index)).astype(str)
        if (kind.str.strip().str.lower() != "attack").any():
            raise OutcomesError(
                f"{place}counts of benign rows need a column metric (FGR or task success)",
                column="metric",
                fix="metric",
            )
        return frame.assign(metric="ASR"), []
    known = {symbol.lower(): symbol for symbol in COUNTED}
    symbols = frame["metric"].astype(str).str.strip().str.lower().map(known)
    chosen: dict[str, str] = {}
    for symbol in symbols.dropna():
        chosen.setdefault(str(METRICS[symbol].population["kind"]), symbol)
    kept = symbols.isin(list(chosen.values()))
    if not kept.any():
        raise OutcomesError(
            f"{place}the column metric names none of {', '.join(COUNTED)}", column="metric"
        )
    left = sorted(set(frame["metric"][~kept].astype(str)))
    lost = int((~kept).sum())
    note = f"{plural(lost)} of counts left out (metric {', '.join(left)[:120]})"
    frame = frame[kept].assign(metric=symbols[kept]).reset_index(drop=True)
    return frame, [Note(note, "left out", lost)] if lost else []


def _cases(frame: pd.DataFrame, declared: Mapping[str, Declaration], place: str) -> Expanded:
    """One case per pair, in both modes. Without `both` and `neither` there is a test and no
    rate.
    """
    if not {"mode_a", "mode_b", "both", "neither"} <= set(frame):
        raise OutcomesError(
            f"{place}b and c alone give a test and no rate: call fnb.stats.mcnemar(b, c), "
            "or give mode_a, mode_b, both, b, c and neither"
        )
    often = pd.concat([frame["mode_a"], frame["mode_b"]]).value_counts()
    if len(often) and often.iloc[0] > 1:
        raise OutcomesError(
            f"{place}the mode {str(often.index[0])[:60]!r} stands in {often.iloc[0]} pairs, whose "
            "cases are the same; choose one pair, or call fnb.stats.mcnemar(b, c) on each"
        )
    counts = _whole(frame, list(PAIRS), place).to_numpy()
    if counts.sum(dtype=float) > MOST_CASES:
        raise OutcomesError(f"{place}more than {MOST_CASES:,} pairs: call fnb.stats.mcnemar(b, c)")
    rows = np.repeat(np.arange(len(frame)), counts.sum(axis=1))
    events = np.repeat(np.tile(list(PAIRS.values()), (len(frame), 1)), counts.ravel(), axis=0)
    number = pd.Series(rows).groupby(rows).cumcount() + 1
    cases = pd.Series(rows + 1).astype(str) + "." + number.astype(str)
    facts = frame.drop(columns=["mode_a", "mode_b", "metric", *PAIRS], errors="ignore")
    facts = facts.iloc[rows].reset_index(drop=True).assign(case_id="pair " + cases)
    parts = [
        facts.assign(mode=frame[mode].to_numpy()[rows], attack_success=events[:, place])
        for place, mode in enumerate(("mode_a", "mode_b"))
    ]
    note = Note("counts of pairs: each pair is read as one case", "count")
    return pd.concat(parts, ignore_index=True), declared, [note]


def _refused(frame: pd.DataFrame, declared: Mapping[str, Declaration], place: str) -> Expanded:
    """A table of bare rates: the message names the counts that each may stand for."""
    column = next(name for name in frame if str(name).lower() in RATES)
    values: list[Any] = frame[column].head(3).tolist()
    hints = [rate_hint(value, frame.get("n"), row) for row, value in enumerate(values)]
    hint = next(filter(None, hints), "")
    if hint:
        told = ", ".join(str(value)[:20] for value in values)
        raise OutcomesError(
            f"{place}column {column} holds rates ({told}){hint}", column="k", fix="k"
        )
    return frame, declared, []
