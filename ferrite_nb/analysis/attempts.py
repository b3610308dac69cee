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
from ..estimate import FEW, state_of
from ..metrics import Metric, natural
from ..metrics import metric as find_metric
from ..outcomes.contract import OutcomesError
from ..outcomes.declare import pandas_of
from ..outcomes.table import UNCHECKED, Outcomes
from ..schema import Table, made
from ..stats._check import level_of
from ..stats.followed import within
from .cells import in_order
from .compare import versions_of
from .unit import listed, unit_of

MOST_ATTEMPTS = 10_000


def attempts(
    runs: Outcomes,
    metric: str = "ASR",
    *,
    by: str | Iterable[str] = "mode",
    cluster: str | Iterable[str] | None = None,
    level: float = 0.95,
) -> Table:
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
    Table with `metric`, the strata, `mode`, `quantity`, `attempts` (K), `k` (cases with a success
    within K), `n` (all cases), `rate`, `low`, `high`, `value`, `at_risk` (cases followed to K),
    `independent` (1 - (1 - p)^K with p the share of attempts that succeed: what K attempts would
    give if they were alike and independent), `floor` and `ceiling` (if the unknown outcomes were
    failures, or successes), `clusters`, `n_eff`. The quantities are "within", one row a K;
    "median", whose `value` is the number of attempts to the first success of the median case (with
    its limits; infinite where fewer than half succeed); and "forecast".

    Not computable when
    -------------------
    no case was followed for K attempts: the rows end there. A case is followed up to its first
    attempt without a known outcome. Fewer than five cases at risk: `state` is "few".

    Raises
    ------
    ValueError: an unknown metric or column. OutcomesError: no `repeat` column, so that there is one
        attempt at most.

    Notes
    -----
    Per try and within K tries are two estimands: 10 prompts that each break once in 5 tries are
    10/50 per try and 10/10 within 5. Where cases stop being followed at different K the rate is
    that of Kaplan and Meier, which takes attempts as lost at random given their number; where all
    were followed it is k/n.

    Source
    ------
    Kaplan, Meier 1958; Rothman 1978, J Chron Dis 31:557.

    Example
    -------
    >>> import ferrite_nb as fnb
    >>> table = fnb.attempts(fnb.read(fnb.data("attempts.csv")))
    >>> table = table[(table["quantity"] == "within") & (table["attempts"] == 25)]
    >>> table[["mode", "k", "n"]].values.tolist()
    [['alike', 99, 250], ['varied', 43, 250]]
    """
    strata, level = listed(by), level_of(level)
    strata = strata if "mode" in strata else [*strata, "mode"]
    unit = unit_of(runs, cluster)
    if len(unit.keys) > 1:
        raise ValueError("attempts take one cluster column; join two columns first")
    keys = [key for key in unit.keys if key != "case_id"]
    one = find_metric(metric)
    table = rows_of(runs, one, strata, keys)
    order = in_order(table[strata].drop_duplicates(), strata, modes_of(runs))
    groups = dict(tuple(table.groupby(strata, sort=False)))
    rows = []
    for cell in order.to_dict("records"):
        part = groups[tuple(cell.values())]
        curve = one_curve(part, keys, level)
        rows += [{"metric": one.symbol, **cell, **row} for row in curve]
    for row in rows:
        row["note"] = "; ".join(filter(None, [row["note"], "" if runs.checked else UNCHECKED]))
    name = keys[0] if keys else "case"
    return made("attempts", rows, strata, level=level, unit=name, source=runs.source)


def rows_of(runs: Outcomes, one: Metric, strata: list[str], cluster: list[str]) -> pd.DataFrame:
    """One row per attempt of the metric's population: strata, case, place of the attempt, event (1,
    0 or missing).
    """
    need_outcomes(runs)
    have = runs.columns
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
    order = sorted(rows["repeat"].dropna().astype(str).unique(), key=natural)
    rows["_order"] = rows["repeat"].astype(str).map({name: at for at, name in enumerate(order)})
    rows = rows.sort_values([*strata, "case_id", "_order"], kind="stable", ignore_index=True)
    rows["_place"] = rows.groupby([*strata, "case_id"], sort=False).cumcount() + 1
    return rows


def one_curve(part: pd.DataFrame, keys: list[str], level: float) -> list[dict[str, Any]]:
    """The curve of one stratum and mode: one row per K, and the median."""
    event, place = part["_event"].to_numpy(), part["_place"].to_numpy()
    cases = pd.DataFrame(
        {
            "case": part["case_id"].to_numpy(),
            "first": np.where(event == 1, place, np.inf),
            "gap": np.where(np.isnan(event), place, np.inf),
            "tried": place,
            "label": part[keys[0]].to_numpy() if keys else "",
        }
    )
    most = {"first": "min", "gap": "min", "tried": "max", "label": "first"}
    cases = cases.groupby("case", sort=False).agg(most)
    first, gap, tried = (cases[name].to_numpy(dtype=float) for name in ("first", "gap", "tried"))
    # A success after an attempt with an unknown outcome may not be the first one: the case is
    # followed up to there.
    followed = np.minimum(tried, gap - 1)
    seen = np.where(first < gap, first, np.inf)
    marks = cases["label"].to_numpy() if keys else None
    known = event[~np.isnan(event)]
    share = float(known.mean()) if len(known) else math.nan
    lost = int((gap < np.inf).sum())
    rows: list[dict[str, Any]] = []
    for budget in range(1, int(min(followed.max(), MOST_ATTEMPTS)) + 1):
        result = within(seen, followed, budget, marks, level=level)
        if math.isnan(result.rate):
            break
        row = {"quantity": "within", "attempts": budget, "k": result.hits, "n": len(cases)}
        row |= {"rate": result.rate, "low": result.low, "high": result.high}
        row |= {"at_risk": result.at_risk, "n_eff": result.n_eff}
        row |= {"independent": 1 - (1 - share) ** budget, "method": "wilson"}
        row |= {"clusters": len(set(marks)) if marks is not None else None}
        short = int(((seen > budget) & (followed < budget)).sum())
        notes = []
        if short:
            row["method"] = "kaplan-meier, wilson"
            words = f"{short} cases not followed for {budget} attempts"
            notes.append(words + (f" ({lost} with an unknown outcome)" if lost else ""))
        if lost:
            row["floor"] = within(first, tried, budget, level=level).rate
            row["ceiling"] = within(np.minimum(first, gap), tried, budget, level=level).rate
        else:
            row |= {"floor": result.rate, "ceiling": result.rate}
        row["state"], row["why"] = state_of(len(cases), result.rate, result.low)
        if row["state"] == "ok" and result.at_risk < FEW and result.rate < 1:
            row |= {"state": "few", "why": f"fewer than {FEW} cases at risk"}
        if math.isnan(result.low) and row["state"] == "none":
            row |= {"state": "few", "why": "one cluster: its spread cannot be estimated"}
        rows.append(row | {"note": "; ".join(notes)})
    return [*rows, median_of(rows)] if rows else rows


def median_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The attempts to the first success of the median case (Brookmeyer, Crowley 1982)."""

    def first(name: str) -> float:
        return next((row["attempts"] for row in rows if row[name] >= 0.5), math.inf)

    value, low, high = first("rate"), first("high"), first("low")
    note = "" if math.isfinite(value) else "fewer than half of the cases succeed"
    words = {"state": "ok", "why": "", "note": note, "method": "first K with half"}
    return {"quantity": "median", "value": value, "low": low, "high": high, **words}
