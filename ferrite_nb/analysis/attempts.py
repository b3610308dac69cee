"""`attempts`: success within K attempts, per mode: what a patient attacker gets. The unit is the
case.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from ..count.cube import check_columns, labels, modes_of, need_outcomes, row_masks
from ..metrics import metric
from ..outcomes.contract import OutcomesError
from ..outcomes.declare import pandas_of
from ..outcomes.table import UNCHECKED, Outcomes
from ..stats._check import level_of
from ..stats.clusters import clustered_interval
from ..stats.intervals import interval
from .cells import FEW, in_order, listed
from .compare import versions_of
from .rates import cluster_note

COLUMNS = (
    "attempts",
    "k",
    "n",
    "rate",
    "low",
    "high",
    "level",
    "method",
    "independent",
    "median",
    "clusters",
    "note",
)
MOST_ATTEMPTS = 10_000


def attempts(
    runs: Outcomes,
    metric: str = "ASR",
    *,
    by: str | Iterable[str] = "mode",
    cluster: str | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """The share of cases with at least one success within K attempts, for each K.

    Parameters
    ----------
    metric: an event of a case, counted in each attempt (column `repeat`; attempts stand in the
        order of its numbers).
    by: strata columns; modes are kept apart also when they are not named.
    cluster: a column whose cases may rise and fall together.
    level: confidence level.

    Returns
    -------
    DataFrame with `metric`, the strata, `attempts` (K), `k`, `n` (cases with a success within K, or
    followed for at least K attempts), `rate`, `low`, `high`, `level`, `method`, `independent` (1 -
    (1 - p)^K with p the share of attempts that succeed: what K attempts would give if they were
    alike and independent), `median` (attempts to the first success in the median case, NaN while
    fewer than half succeed), `clusters`, `note`.

    Not computable when
    -------------------
    no case was followed for K attempts: the row is missing from there on. A case is followed up to
        its first attempt
    without a known outcome.

    Raises
    ------
    ValueError: an unknown metric or column. OutcomesError: no `repeat` column, so that there is one
        attempt at most.

    Notes
    -----
    Per try and within K tries are two estimands: 10 prompts that each break once in 5 tries are
        10/50 per try and
    10/10 within 5. Where cases stop being followed at different K, n falls, and the note says so.

    Example
    -------
    >>> import ferrite_nb as fnb
    >>> table = fnb.attempts(fnb.read(fnb.data("attempts.csv")))
    >>> table[table["attempts"] == 25][["mode", "k", "n"]].values.tolist()
    [['alike', 99, 250], ['varied', 43, 250]]
    """
    strata, level = listed(by), level_of(level)
    strata = strata if "mode" in strata else [*strata, "mode"]
    rows = rows_of(runs, metric, strata, [cluster] if cluster else [])
    tables = []
    for cell, part in rows.groupby(strata, sort=False):
        table = one_curve(part, cluster, level)
        for name, value in zip(strata, cell, strict=True):
            table[name] = value
        tables.append(table)
    found = pd.concat(tables, ignore_index=True).assign(metric=_symbol(metric))
    if not runs.checked:
        found["note"] = [f"{note}; {UNCHECKED}".strip("; ") for note in found["note"]]
    return in_order(found[["metric", *strata, *COLUMNS]], [*strata], modes_of(runs))


def _symbol(name: str) -> str:
    return metric(name).symbol


def rows_of(runs: Outcomes, name: str, strata: list[str], cluster: list[str]) -> pd.DataFrame:
    """One row per attempt of the metric's population: strata, case, place of the attempt, event (1,
    0 or missing).
    """
    need_outcomes(runs)
    one, have = metric(name), runs.columns
    check_columns(runs, [*strata, *cluster], "by and cluster")
    inside = [column for column in strata if column in ("case_id", "repeat", *one.event)]
    if inside:
        raise ValueError(
            f"by: {inside[0]} tells the attempts of a case apart, so it is no stratum of cases"
        )
    if one.counted != "rows":
        raise ValueError(
            f"{one.symbol} is not an event of a case, so there are no attempts to count"
        )
    lacking = [column for column in one.columns if column not in have]
    if lacking:
        raise ValueError(
            f"{one.symbol} is not computable: {one.gap} (no column {', '.join(lacking)})"
        )
    if not {"case_id", "repeat"} <= set(have):
        raise OutcomesError(
            'attempts need the columns case_id and repeat; declare repeat="<column>"'
        )
    versions_of(
        runs, one, [name for name in strata if name != "mode"]
    )  # a mix within a mode raises
    population, known, event = row_masks(one, have)
    state = nw.when(known & event).then(nw.lit(1.0)).otherwise(nw.when(known).then(nw.lit(0.0)))
    names = list(dict.fromkeys([*strata, *cluster]))
    table = runs.table.filter(population).select(
        "case_id", "repeat", *labels(runs, names), state.alias("_event")
    )
    rows = pandas_of(table)
    if rows.empty:
        raise OutcomesError(f"no row belongs to the population of {one.symbol}")
    number = pd.to_numeric(rows["repeat"], errors="coerce")
    rows["_order"] = number if number.notna().all() else rows["repeat"].rank(method="dense")
    rows = rows.sort_values([*strata, "case_id", "_order"], kind="stable", ignore_index=True)
    rows["_place"] = rows.groupby([*strata, "case_id"], sort=False).cumcount() + 1
    return rows


def one_curve(part: pd.DataFrame, cluster: str | None, level: float) -> pd.DataFrame:
    """The curve of one stratum and mode: one row per K."""
    event = part["_event"].to_numpy()
    part = part.assign(
        _hit=np.where(event == 1, part["_place"], np.inf),
        _gap=np.where(np.isnan(event), part["_place"], np.inf),
    )
    cases = part.groupby("case_id", sort=False).agg(
        first=("_hit", "min"),
        gap=("_gap", "min"),
        tried=("_place", "max"),
        **({"label": (cluster, "first")} if cluster else {}),
    )
    # A success after an attempt with an unknown outcome may not be the first one: the case is
    # followed up to there.
    cases["followed"] = np.minimum(cases["tried"], cases["gap"] - 1)
    cases["first"] = cases["first"].where(cases["first"] < cases["gap"], np.inf)
    known = event[~np.isnan(event)]
    share = float(known.mean()) if len(known) else math.nan
    most = int(min(cases["followed"].max(), MOST_ATTEMPTS))
    lost = int((cases["gap"] < np.inf).sum())
    median = (
        float(np.median(cases["first"])) if (cases["first"] < np.inf).mean() > 0.5 else math.nan
    )
    rows = []
    for budget in range(1, most + 1):
        inside = (cases["first"] <= budget) | (cases["followed"] >= budget)
        rows.append(
            one_budget(cases[inside], budget, cluster, level)
            | {"independent": 1 - (1 - share) ** budget}
        )
        if not inside.all():
            rows[-1]["note"] = "; ".join(
                filter(
                    None,
                    [
                        rows[-1]["note"],
                        f"{int((~inside).sum())} cases not followed for {budget} attempts"
                        + (f" ({lost} with an unknown outcome)" if lost else ""),
                    ],
                )
            )
    return pd.DataFrame(rows, columns=list(COLUMNS)).assign(median=median, level=level)


def one_budget(
    cases: pd.DataFrame, budget: int, cluster: str | None, level: float
) -> dict[str, Any]:
    """Cases with a success within the budget, out of those that can tell."""
    hit = (cases["first"] <= budget).to_numpy()
    k, n = int(hit.sum()), len(hit)
    row: dict[str, Any] = {
        "attempts": budget,
        "k": k,
        "n": n,
        "rate": k / n,
        "clusters": pd.NA,
        "method": "wilson",
    }
    notes = [f"insufficient data (n<{FEW})"] if n < FEW else []
    if cluster:
        whole = (
            pd.DataFrame({"k": hit, "n": 1}).groupby(cases["label"].to_numpy(), sort=False).sum()
        )
        found = clustered_interval(whole["k"], whole["n"], level=level)
        notes.append(cluster_note(found, found.clusters, f"{found.clusters} clusters of {cluster}"))
        row |= {
            "low": found.low,
            "high": found.high,
            "clusters": found.clusters,
            "method": "clustered wilson",
        }
    else:
        ends = interval(k, n, level=level)
        row |= {"low": ends.low, "high": ends.high}
    return row | {"note": "; ".join(notes)}
