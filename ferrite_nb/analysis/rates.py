"""`rates`: every documented proportion per mode and stratum, with interval, missing outcomes,
clusters and reasons.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from ..count.cube import NO_VALUE, grouped, repeated
from ..metrics import METRICS, Metric
from ..outcomes.table import Outcomes
from ..stats._check import level_of
from ..stats.clusters import clustered_interval, crossed_interval
from ..stats.intervals import interval
from .cells import (
    FEW,
    Counted,
    cells_of,
    chosen_metrics,
    cluster_of,
    count,
    facts,
    grid,
    listed,
    no_cost,
    plain_notes,
    strata_of,
)

UNNAMED = {
    NO_VALUE,
    "",
}  # benign cases have no injection: a label that none of them has makes no cluster
NUMBERS = [
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
]


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
    baseline: str = "Off",
) -> pd.DataFrame:
    """Rates with their counts and bounds, one row per metric, stratum and mode.

    Parameters
    ----------
    metrics: symbols or words of `fnb.metrics()`; None is all that the data support, security beside
        cost.
    by: strata columns; modes are kept apart also when they are not named.
    method: "wilson", "clopper-pearson", "jeffreys" or "agresti-coull"; with `judge` the way of
        correction ("backoff", "delta", "bootstrap", "fixed", "double sample", "simple", "none").
    level, z: confidence level (a proportion), or the normal quantile itself.
    cluster: a column whose rows may rise and fall together, or a pair of crossed columns.
    judge: how good the judge of the outcomes is: labels (columns `human` and `judge`, or `human`
        and the keys of the cases), counts `tp`, `fn`, `tn`, `fp`, or `se` and `sp`; `fnb.Labels`
        names other columns and says that the labels are a random part of the run. Then `rate`,
        `low` and `high` are corrected and `observed`, `observed_low`, `observed_high` are not.
    baseline: the mode whose traces UP compares with.

    Returns
    -------
    DataFrame with `metric`, the strata, `k`, `n`, `rate`, `low`, `high` (proportions), `level`,
    `method`, `missing` (rows of the population whose event is unknown), `floor` and `ceiling` (the
    rate if all of them were 0 or 1), `clusters`, `n_eff` (independent cases that the rows count
    like) and `note`.

    Not computable when
    -------------------
    nothing is known in a cell: then the rate is NaN and `note` begins with "not computable: " and
        the reason.

    Raises
    ------
    ValueError: an unknown metric, column, method or level. OutcomesError: a cell that would mix
        suite versions.

    Notes
    -----
    A row with an error is in `missing`, never in `n`. Repeats of a case are not more cases: with
        several repeats the
    interval is clustered by `case_id` when no cluster is named.

    Example
    -------
    >>> import ferrite_nb as fnb
    >>> runs = fnb.read(fnb.data("ferrite_run_a.csv"))
    >>> fnb.rates(runs, "ASR")[["mode", "k", "n"]].values.tolist()
    [['Off', 22, 22], ['SanitizerOnly', 7, 19], ['LoopOnly', 1, 19], ['On', 0, 22]]
    """
    wanted, strata = chosen_metrics(runs, metrics), listed(by)
    clusters, level = named_cluster(cluster), level_of(level)
    implied = not clusters and any(one.counted == "rows" for one in wanted) and repeated(runs)
    counted = count(runs, wanted, strata, ["case_id"] if implied else clusters, baseline)
    if judge is not None and z is not None:
        raise ValueError("with judge= all intervals follow level; leave z=None")
    options = {"method": method if judge is None else "wilson", "level": level, "z": z}
    tables = [one_metric(counted, one, options, implied) for one in wanted]
    if metrics is None:
        tables = [table for table in tables if worth_showing(table)]
        missing_cost = no_cost([METRICS[table["metric"].iloc[0]] for table in tables])
        if missing_cost is not None:
            tables.append(cost_not_measured(counted, missing_cost, level))
    table = joined(tables, counted.strata)
    table.attrs |= facts(counted)
    if judge is None:
        return table
    from .judged import judged_rates
    from .verdicts import with_verdicts

    return judged_rates(
        table, with_verdicts(judge, runs, counted.strata), method=method, level=level
    )


def named_cluster(cluster: str | Iterable[str] | None) -> list[str]:
    """No cluster, one column, or two crossed columns."""
    names = listed(cluster)
    if len(names) > 2:
        raise ValueError(
            f"cluster takes one column or two crossed columns, got {names}; join columns first"
        )
    return names


def one_metric(
    counted: Counted, one: Metric, options: dict[str, Any], implied: bool = False
) -> pd.DataFrame:
    """The rates of one metric as a table."""
    rows, _ = rated(counted, one, options, implied)
    columns: dict[str, Any] = {
        name: [row[name] for row in rows] for name in [*strata_of(counted, one), *NUMBERS]
    }
    columns |= {name: np.array(columns[name], dtype="int64") for name in ("k", "n", "missing")}
    floats = ("rate", "low", "high", "floor", "ceiling", "n_eff")
    columns |= {name: np.array(columns[name], dtype="float64") for name in floats}
    columns["clusters"] = pd.array(columns["clusters"], dtype="Int64")
    return pd.DataFrame({"metric": one.symbol, **columns})


def rated(
    counted: Counted, one: Metric, options: dict[str, Any], implied: bool = False
) -> tuple[list[dict[str, Any]], pd.DataFrame]:
    """The counts of each cell of a metric through the interval that fits its unit, and the counts
    below the cells.
    """
    rows, below = cells_of(counted, one)
    keys = cluster_of(counted, one)
    k, n, missing = (
        np.array([row[name] for row in rows], dtype="int64") for name in ("k", "n", "missing")
    )
    found = interval(k, n, **options)
    with np.errstate(invalid="ignore"):  # 0 of 0 is not a number, as it should be
        numbers = {
            "rate": k / n,
            "floor": k / (n + missing),
            "ceiling": (k + missing) / (n + missing),
        }
    numbers |= {"low": found.low, "high": found.high, "n_eff": np.where(n > 0, n, np.nan)}
    for place, row in enumerate(rows):
        row |= {name: float(values[place]) for name, values in numbers.items()}
        row |= {"level": options["level"], "method": options["method"], "clusters": None}
    if keys:
        if options["method"] != "wilson" or options["z"] is not None:
            raise ValueError(
                'with clusters the interval is the clustered Wilson one: leave method="wilson" and z=None'
            )
        clustered(rows, below, strata_of(counted, one), keys, options["level"])
    for row in rows:
        if not row["note"].startswith("not computable"):
            row["note"] = "; ".join([*plain_notes(counted, one, row), *filter(None, [row["note"]])])
        if implied and one.counted == "rows":
            row["note"] = with_repeats(row["note"], row)
    return rows, below


def with_repeats(note: str, row: Any) -> str:
    """Say that k and n count repeats when they do."""
    if not row["clusters"] or not row["n"] or row["n"] == row["clusters"]:
        return note
    said = f"k and n count rows: repeats of {row['clusters']} cases; the interval is clustered by case_id"
    return "; ".join(filter(None, [note, said]))


def clustered(
    rows: list[dict[str, Any]],
    below: pd.DataFrame,
    strata: list[str],
    keys: list[str],
    level: float,
) -> None:
    """Replace the intervals of computable cells by clustered ones, in place."""
    groups, first = grouped(below, strata)
    labels = [below[name].to_numpy(dtype=object)[first] for name in strata]
    group = {tuple(column[at] for column in labels): at for at in range(len(first))}
    counts = [below[name].to_numpy(dtype="int64") for name in ("k", "n")]
    names = [below[key].to_numpy(dtype=object) for key in keys]
    for row in rows:
        if not row["n"]:
            continue
        mine = groups == group[tuple(row[name] for name in strata)]
        k, n, *marks = (values[mine] for values in (*counts, *names))
        named = {
            key: mark
            for key, mark in zip(keys, marks, strict=True)
            if not set(mark[n > 0]) <= UNNAMED
        }
        notes = [
            row["note"],
            *(f"no row here has the label {key}" for key in keys if key not in named),
        ]
        if named:
            result, fewest, said = _cluster_interval(k, n, named, level)
            notes.append(cluster_note(result, fewest, said))
            partly = [key for key, mark in named.items() if NO_VALUE in mark[n > 0]]
            notes += [f"rows without {key} count as one cluster" for key in partly]
            row |= {
                "low": result.low,
                "high": result.high,
                "n_eff": result.n_eff,
                "clusters": fewest,
            }
            row["method"] = "crossed wilson" if len(named) == 2 else "clustered wilson"
        row["note"] = "; ".join(filter(None, notes))


def _cluster_interval(k: Any, n: Any, marks: dict[str, Any], level: float) -> tuple[Any, int, str]:
    """The interval of one cell, its smaller number of clusters, and the clusters in words."""
    if len(marks) == 2:
        result = crossed_interval(k, n, *marks.values(), level=level)
        sizes = zip(result.clusters, marks, strict=True)
        return result, min(result.clusters), " and ".join(f"{size} of {key}" for size, key in sizes)
    (key, labels), *_ = marks.items()
    code, found = pd.factorize(labels)
    sums = [
        np.bincount(code, weights=values, minlength=len(found)).astype("int64") for values in (k, n)
    ]
    one = clustered_interval(*sums, level=level)
    return one, one.clusters, f"{one.clusters} clusters of {key}"


def cluster_note(result: Any, fewest: int, said: str) -> str:
    """How many independent cases the clusters count like, or why that cannot be known."""
    if math.isnan(result.n_eff):
        return f"insufficient data ({said}: one cluster says nothing about the spread between clusters)"
    few = f"insufficient data (fewer than {FEW} clusters); " if fewest < FEW else ""
    return f"{few}{said} count like {result.n_eff:.0f} independent cases"


def worth_showing(table: pd.DataFrame) -> bool:
    """Whether the data hold anything of a metric that nobody asked for by name."""
    return bool(table["metric"].isin(["ASR", "CR"]).any() or (table["n"] + table["missing"]).sum())


def cost_not_measured(counted: Counted, one: Metric, level: float) -> pd.DataFrame:
    """A security table without any cost says so, row by row."""
    said = "not computable: no benign case and no task outcome in the record, so the cost of the mode is not measured"
    numbers = dict.fromkeys(("k", "n", "missing"), 0) | dict.fromkeys(
        ("rate", "low", "high", "floor", "ceiling", "n_eff"), math.nan
    )
    frame = pd.DataFrame(grid(counted, one)).assign(
        metric=one.symbol, level=level, method="", note=said, **numbers
    )
    return frame.assign(clusters=pd.array([pd.NA] * len(frame), dtype="Int64"))


def joined(tables: list[pd.DataFrame], strata: list[str]) -> pd.DataFrame:
    """All metrics under each other with the columns of the contract; a fact of the suite has an
    empty mode.
    """
    columns = ["metric", *strata, *NUMBERS]
    rows = [(table if "mode" in table else table.assign(mode=""))[columns] for table in tables]
    return pd.concat(rows, ignore_index=True) if rows else pd.DataFrame(columns=columns)
