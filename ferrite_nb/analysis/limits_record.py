"""Limits of the record: rows without an outcome, attacks that never arrived, empty outputs, and
what it cannot show.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from scipy.special import chdtrc

from ..outcomes.declare import how_many, pandas_of
from .evidence import RARE, Evidence, Limit, some_of

OUTPUTS = re.compile(
    r"^(?:model_)?(?:output|response|answer|completion|reply|generation)s?$", re.IGNORECASE
)
LOST = ("left out", "replaced", "duplicate", "retry")  # kinds of notes about rows that went
MANY = 0.1  # of the attacks: undelivered or unmeasured ones that can carry a result


def missing_outcomes(e: Evidence) -> Iterable[Limit]:
    """Rows whose outcome is unknown, and whether one mode has more of them."""
    if e.main is None:
        yield Limit(
            "no known outcome",
            "no row has an outcome that a documented metric counts",
            "nothing can be said; declare the outcome's column (attack_success=...)",
            "severe",
        )
        return
    counts = e.counts(e.main)
    counts = counts[counts["n"] + counts["missing"] > 0]
    if not counts["missing"].sum():
        return
    total = counts["n"] + counts["missing"]
    share = counts["missing"] / total
    rare = _differs(counts["missing"], total)
    apart = float(share.max() - share.min()) >= 0.02 and rare < RARE
    lost = [mode for mode in counts.index if not counts.loc[mode, "n"]]
    worst = counts.loc[share.idxmax()]
    bounds = f"{share.idxmax()}: {_bounds(worst)}"
    decide = _can_turn(counts)
    errors = 0
    if "error" in e.columns:
        errors = int(e.rows_where(~nw.col("error").is_null())["rows"].sum())
    known = f" ({errors} of the rows carry an error)" if errors else ""
    name = "outcomes missing mostly in one mode" if apart else "rows without a known outcome"
    yield Limit(
        (
            "errors concentrated in one mode"
            if apart and errors >= counts["missing"].sum() / 2
            else name
        ),
        _per_mode(counts["missing"], total) + known,
        f"they are in no rate; {bounds}"
        + (f"; nothing is known in {some_of(lost)}" if lost else "")
        + (f"; they could turn the order of {' and '.join(decide)}" if decide else ""),
        "severe" if apart or lost or float(share.max()) >= 0.2 else "note",
    )


def _per_mode(part: pd.Series, whole: pd.Series) -> str:
    """The modes that have any, each with its share in counts."""
    return some_of(
        [f"{mode} {int(part[mode])} of {int(whole[mode])}" for mode in part.index if part[mode]],
        10,
        80,
    )


def _differs(part: pd.Series, whole: pd.Series) -> float:
    """The chi-square p that shares are equal in all modes."""
    a, n = (column.to_numpy(dtype="float64")[whole > 0] for column in (part, whole))
    rate = a.sum() / n.sum()
    if len(n) < 2 or rate in (0.0, 1.0):
        return 1.0
    return float(chdtrc(len(n) - 1, float((((a - n * rate) ** 2) / (n * rate * (1 - rate))).sum())))


def _bounds(row: pd.Series) -> str:
    k, n, missing = int(row["k"]), int(row["n"]), int(row["missing"])
    return f"between {k} and {k + missing} of {n + missing}, whatever they were"


def _can_turn(counts: pd.DataFrame) -> list[str]:
    """The first two modes whose order the missing outcomes could turn round."""
    total = (counts["n"] + counts["missing"]).to_numpy(dtype="float64")
    k, missing = counts["k"].to_numpy(dtype="float64"), counts["missing"].to_numpy(dtype="float64")
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = k / counts["n"].to_numpy(dtype="float64")
    floor, ceiling = k / total, (k + missing) / total
    for a in range(len(rate)):
        for b in range(len(rate)):
            if rate[a] > rate[b] and floor[a] < ceiling[b]:
                return [str(counts.index[a]), str(counts.index[b])]
    return []


def not_delivered(e: Evidence) -> Iterable[Limit]:
    """Attacks that never reached the model."""
    if "delivered" not in e.columns:
        yield Limit(
            "delivery of the attacks",
            "no column delivered",
            "whether every attack reached the model is not known; one that did not counts as"
            " contained",
            "not checked",
        )
        return
    lost = e.rows_where(~nw.col("delivered"))["rows"]
    total = e.kinds["attack"]
    if not lost.sum():
        return
    share = (lost / total.where(total > 0)).max()
    yield Limit(
        "attacks that were not delivered",
        _per_mode(lost, total),
        "they count as contained in ASR and CR: read 'ASR over delivered' beside them, the two"
        " differ in meaning",
        "severe" if share >= MANY else "note",
    )


def not_measurable(e: Evidence) -> Iterable[Limit]:
    """Attacks that the harness could not measure."""
    if "measurable" not in e.columns:
        return
    lost = e.rows_where(~nw.col("measurable"))["rows"]
    total = e.kinds["attack"]
    if lost.sum():
        yield Limit(
            "attacks that could not be measured",
            _per_mode(lost, total),
            "they are in no attack rate: rates speak for the measurable attacks only",
            (
                "severe"
                if _differs(lost, total) < RARE and (lost / total.where(total > 0)).max() >= MANY
                else "note"
            ),
        )


def not_attempted(e: Evidence) -> Iterable[Limit]:
    """Attacks that the model did not try, counted as contained."""
    if "attempted" not in e.columns or "attack_success" not in e.columns:
        return
    idle = e.rows_where(~nw.col("attempted") & ~nw.col("attack_success"))["rows"]
    if idle.sum():
        yield Limit(
            "attacks that were not attempted",
            _per_mode(idle, e.kinds["attack"]),
            "they count as contained although no defence acted: a fall of ASR is not a block rate",
            "note",
        )


def empty_outputs(e: Evidence) -> Iterable[Limit]:
    """Empty outputs that count as safe."""
    names = [name for name in e.columns if OUTPUTS.match(name)]
    tests = {
        name: nw.col(name).is_null() | (nw.col(name).cast(nw.String).str.strip_chars() == "")
        for name in names
    }
    tests |= {name: nw.col(name) == 0 for name in ("tokens",) if name in e.columns}
    if "trace" in e.columns:
        tests["trace"] = nw.col("trace").is_null() | (nw.col("trace").str.strip_chars() == "")
    if not tests or "attack_success" not in e.columns:
        yield Limit(
            "empty outputs scored as safe",
            "no column of outputs, traces or tokens",
            "an empty or cut-off output looks like a refusal; a column output, trace or tokens"
            " would show it",
            "not checked",
        )
        return
    for name, empty in tests.items():
        lost = e.rows_where(empty & ~nw.col("attack_success"))["rows"]
        safe = e.rows_where(~nw.col("attack_success"))["rows"]
        filled = e.rows_where(~empty)["rows"].sum()
        if lost.sum() and filled:
            suspicious = name != "trace" and lost.sum() >= max(5, MANY * safe.sum() / 2)
            yield Limit(
                f"attacks with an empty {name} scored as safe",
                f"of the safe rows: {_per_mode(lost, safe)}",
                "nothing came back: that may be a filter, a cut-off or a failed call, and is not"
                " yet a defence",
                "severe" if suspicious else "note",
            )


def latency_of_nothing(e: Evidence) -> Iterable[Limit]:
    """Rows with a latency of zero."""
    if "latency_ms" not in e.columns:
        return
    table = pandas_of(
        e.runs.table.select(
            how_many(nw.col("latency_ms") <= 0).alias("zero"), nw.len().alias("rows")
        )
    )
    if table["zero"].iloc[0]:
        yield Limit(
            "latencies of zero",
            f"{int(table['zero'].iloc[0])} of {int(table['rows'].iloc[0])} rows",
            "a failed or cached call takes no time: leave such rows out before reading an overhead",
            "note",
        )


def left_out_while_reading(e: Evidence) -> Iterable[Limit]:
    """Rows that the reader left out, as it noted."""
    told = [note for note in e.runs.notes if note.kind in LOST]
    if told:
        yield Limit(
            "rows left out while reading",
            some_of(told, 4, 200),
            "the rates are about the rows that stayed",
            "note",
        )
    yield Limit(
        "rows removed before this file was written",
        "only the rows in the file are seen",
        "cases dropped before scoring leave no trace here; the number of cases that were planned"
        " would show them",
        "not checked",
    )


def judge_error(e: Evidence) -> Iterable[Limit]:
    """Nothing in a table of outcomes says how often they are wrong."""
    judged = [name for name in e.columns if "judge" in name.lower() or "human" in name.lower()]
    yield Limit(
        "judge error",
        (
            f"columns of judges or people: {some_of(judged)}"
            if judged
            else "no labels of people beside the outcomes"
        ),
        "an outcome that a judge gave can be wrong, and intervals do not know it; labels of people"
        " on some outcomes would show it (fnb.judges, and fnb.rates with judge=)",
        "not checked",
    )


def adaptive_attackers(e: Evidence) -> Iterable[Limit]:
    """A fixed set of attacks says nothing about an attacker who knows the defence."""
    yield Limit(
        "attackers who adapt",
        "the attacks in the table are what they are",
        "how a defence fares against attacks made for it cannot be seen here; attacks made against"
        " each mode would show it",
        "not checked",
    )


CHECKS = (
    missing_outcomes,
    not_delivered,
    not_measurable,
    not_attempted,
    empty_outputs,
    latency_of_nothing,
    left_out_while_reading,
    judge_error,
    adaptive_attackers,
)
