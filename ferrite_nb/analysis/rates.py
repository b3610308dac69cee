"""`rates`: every documented proportion per mode and stratum, with interval, unit and reasons."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..count.cube import grouped
from ..metrics import METRICS, Metric
from ..outcomes.table import Outcomes
from ..schema import Table, made
from ..stats._check import level_of
from .cells import (
    Counted,
    cells_of,
    chosen_metrics,
    count,
    grid,
    no_cost,
    plain_notes,
    strata_of,
    unit_for,
)
from .unit import Bounds, Sample, Unit, bounds, listed, plain_bounds, unit_of

PLAIN_METHODS = ("clopper-pearson", "jeffreys", "agresti-coull")
NO_COST = "no benign case and no task outcome in the record, so the cost is not measured"


def rates(
    runs: Outcomes,
    metrics: str | Iterable[str] | None = None,
    by: str | Iterable[str] | None = "mode",
    *,
    method: str = "wilson",
    level: float = 0.95,
    z: float | None = None,
    cluster: str | Iterable[str] | None = None,
    judge: Any = None,
) -> Table:
    """Rates with their counts and bounds, one row per metric, stratum and mode.

    Parameters
    ----------
    metrics: symbols or words of `fnb.metrics()`; None is all that the data support, security beside
        cost.
    by: strata columns; modes are kept apart also when they are not named.
    method: "wilson", "clopper-pearson", "jeffreys" or "agresti-coull"; with `judge` the way of
        correction ("backoff", "delta", "bootstrap", "fixed", "double sample", "simple", "none").
    level, z: confidence level (a proportion), or the normal quantile itself.
    cluster: a column whose rows may rise and fall together, or a pair of crossed columns; None
        takes what was declared with the data (but not where `method` or `z` name an interval of
        independent cases), an empty tuple none.
    judge: how good the judge of the outcomes is: labels (columns `human` and `judge`, or `human`
        and the keys of the cases), counts `tp`, `fn`, `tn`, `fp`, or `se` and `sp`; `fnb.Labels`
        names other columns and says that the labels are a random part of the run. Then `rate`,
        `low`, `high` are corrected and `observed`, `observed_low`, `observed_high` are not.

    Returns
    -------
    Table with `metric`, the strata, `mode`; `k`, `n`, `rate`, `low`, `high` (proportions),
    `missing` (rows of the population whose event is unknown), `floor` and `ceiling` (the rate if
    all of them were 0 or 1), `outer_low` and `outer_high` (the interval that holds whatever they
    were), `clusters`, `n_eff` (independent cases that the rows are worth); `state` ("ok", "few",
    "none"), `why`, `note`; `level`, `method`, `unit`, `source`, `suite_version`, `seed`.

    Not computable when
    -------------------
    nothing is known in a cell: then the rate is NaN, `state` is "none" and `why` the reason.

    Raises
    ------
    ValueError: an unknown metric, column, method or level. OutcomesError: a cell that would mix
        suite versions.

    Notes
    -----
    A row with an error is in `missing`, never in `n`. Repeats of a case are not more cases: with
    several the interval is clustered by `case_id` when no cluster is named.

    Example
    -------
    >>> import ferrite_nb as fnb
    >>> runs = fnb.read(fnb.data("ferrite_run_a.csv"))
    >>> fnb.rates(runs, "ASR")[["mode", "k", "n"]].values.tolist()
    [['Off', 22, 22], ['SanitizerOnly', 7, 19], ['LoopOnly', 1, 19], ['On', 0, 22]]
    """
    wanted, level = chosen_metrics(runs, metrics), level_of(level)
    unit = unit_of(runs, cluster)
    if unit.how == "declared" and (z is not None or method in PLAIN_METHODS):
        unit = unit_of(runs, ())  # who names an interval of independent cases means them
    counted = count(runs, wanted, listed(by), unit)
    if judge is not None and z is not None:
        raise ValueError("with judge= all intervals follow level; leave z=None")
    options = {"method": method if judge is None else "wilson", "level": level, "z": z}
    rows = [row for metric in wanted for row in shown(counted, metric, options, metrics is None)]
    if metrics is None:
        known = dict.fromkeys(row["metric"] for row in rows)
        cost = no_cost([METRICS[symbol] for symbol in known])
        if cost is not None:
            lacking = {"metric": cost.symbol, "state": "none", "why": NO_COST, "level": level}
            lacking |= {"k": 0, "n": 0, "missing": 0, "note": f"not computable: {NO_COST}"}
            rows += [cell | lacking for cell in grid(counted, cost)]
    if judge is not None:
        from .judge import labels_of_run
        from .judged import judged_rows

        labels = labels_of_run(judge, runs, counted.strata)
        rows = judged_rows(rows, labels, counted.strata, method, level)
    return table_of(rows, counted)


def table_of(rows: Iterable[dict[str, Any]], counted: Counted) -> Table:
    """Rows of rates as the table of the contract; a fact of the suite has an empty mode."""
    return made("rates", rows, counted.strata, source=counted.runs.source)


def shown(
    counted: Counted, metric: Metric, options: dict[str, Any], all_metrics: bool
) -> list[dict[str, Any]]:
    """The rows of a metric; none of one that nobody named and of which the data hold nothing."""
    rows, _ = rated(counted, metric, options)
    named = not all_metrics or metric.symbol in ("ASR", "CR")
    return rows if named or any(row["n"] + row["missing"] for row in rows) else []


def rated(
    counted: Counted, metric: Metric, options: dict[str, Any]
) -> tuple[list[dict[str, Any]], pd.DataFrame]:
    """The rows of each cell of a metric, bounds by its unit, and the counts below the cells."""
    rows, below = cells_of(counted, metric)
    unit = unit_for(counted, metric)
    samples = samples_of(rows, below, strata_of(counted, metric), unit)
    if unit.keys:
        limits = [bounds(sample, **options) for sample in samples]
    else:
        sums = np.array([sample.totals for sample in samples], dtype="int64").reshape(-1, 3)
        limits = plain_bounds(*sums.T, **options)
    for row, limit in zip(rows, limits, strict=True):
        fill(row, limit, metric, unit, options["level"])
        if row["state"] == "none":
            row["note"] = f"not computable: {row['why']}"
        else:
            notes = [*plain_notes(counted, metric, row), *limit.notes, *repeats_note(row, unit)]
            row["note"] = "; ".join(filter(None, notes))
        if metric.counted == "traces":
            row["baseline"] = counted.baseline
    return rows, below


def fill(row: dict[str, Any], limit: Bounds, metric: Metric, unit: Unit, level: float) -> None:
    """Put the numbers, the state and the facts of one cell into its row."""
    k, n, missing = row["k"], row["n"], row["missing"]
    whole = n + missing
    why = row["why"] or limit.why
    row |= {
        "metric": metric.symbol,
        "rate": k / n if n else math.nan,
        "floor": k / whole if whole else math.nan,
        "ceiling": (k + missing) / whole if whole else math.nan,
        **{name: getattr(limit, name) for name in BOUNDS},
        "state": "none" if row["why"] else limit.state,
        "why": why,
        "level": level,
        "unit": unit.name,
    }


BOUNDS = ("low", "high", "outer_low", "outer_high", "n_eff", "clusters", "method")


def repeats_note(row: dict[str, Any], unit: Unit) -> list[str]:
    """Say that k and n count repeats when they do and the case is the unit."""
    if unit.keys != ("case_id",) or not row["clusters"] or row["n"] == row["clusters"]:
        return []
    return [f"k and n count runs of {row['clusters']} cases; the case is the unit"]


def samples_of(
    rows: Sequence[dict[str, Any]], below: pd.DataFrame, strata: Sequence[str], unit: Unit
) -> list[Sample]:
    """The counts of each cell as its unit has them; a cell without a rate is an empty sample."""
    names = ("k", "n", "missing")
    if not unit.keys:
        return [Sample(*_three([row[name]] for name in names)) for row in rows]
    groups, first = grouped(below, strata)
    columns = [below[name].to_numpy(dtype=object)[first] for name in strata]
    group = {tuple(column[at] for column in columns): at for at in range(len(first))}
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(len(first) + 1))
    counts = [below[name].to_numpy(dtype="int64") for name in names]
    labels = {key: below[key].to_numpy(dtype=object) for key in unit.keys}
    empty = np.zeros(0, dtype="int64")
    samples = []
    for row in rows:
        at = group.get(tuple(row[name] for name in strata))
        if at is None or row["why"]:
            samples.append(Sample(empty, empty, empty, {}, unit.noun))
            continue
        mine = order[starts[at] : starts[at + 1]]
        marks = {key: mark[mine] for key, mark in labels.items()}
        samples.append(Sample(*_three(values[mine] for values in counts), marks, unit.noun))
    return samples


def _three(counts: Iterable[Any]) -> tuple[Any, Any, Any]:
    """Events, known and unknown outcomes as arrays."""
    k, n, missing = (np.asarray(values, dtype="int64") for values in counts)
    return k, n, missing
