"""`attempts`: success within K attempts, per mode: what a patient attacker gets. The unit is the
case.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..count.cube import check_columns, filled, labels, modes_of, need_events, row_masks
from ..estimate import FEW, state_of
from ..metrics import Metric
from ..metrics import metric as find_metric
from ..order import natural
from ..outcomes.contract import OutcomesError
from ..outcomes.declare import pandas_of
from ..outcomes.table import UNCHECKED, Outcomes
from ..schema import Table, made
from ..stats._check import level_of
from ..stats.followed import Within, within
from ..stats.forecast import forecast as forecast_of
from .cells import in_order
from .compare import versions_of
from .unit import listed, unit_of

MOST_ATTEMPTS = 10_000
Floats = NDArray[np.float64]


def attempts(
    runs: Outcomes,
    metric: str = "ASR",
    *,
    by: str | Iterable[str] = "mode",
    cluster: str | Iterable[str] | None = None,
    level: float = 0.95,
    forecast: int | Iterable[int] = (),
) -> Table:
    """The share of cases with at least one success within K attempts, for each K.

    Parameters
    ----------
    metric: an event of a case, counted in each attempt (column `repeat`; attempts stand in the
        order of its numbers).
    by: strata columns; modes are kept apart also when they are not named.
    cluster: a column whose cases may rise and fall together, or two crossed columns (the wider
        limits count); None takes what was declared with the data.
    level: confidence level.
    forecast: numbers of attempts beyond those that were made, up to ten times as many.

    Returns
    -------
    Table with `metric`, the strata, `mode`, `quantity`, `attempts` (K), `k` (cases with a success
    within K), `n` (all cases), `rate`, `low`, `high`, `value`, `at_risk` (cases followed to K),
    `independent` (1 - (1 - p)^K with p the share of attempts that succeed: what K attempts would
    give if they were alike and independent), `floor` and `ceiling` (if the unknown outcomes were
    failures, or successes), `clusters`, `n_eff`. The quantities are "within", one row a K;
    "median", whose `value` is the number of attempts to the first success of the median case (with
    its limits; infinite where fewer than half succeed); and "forecast", a band from `low` to `high`
    that holds where the chance of each case stays as it is: `floor` is the share if nothing more
    breaks, `rate` and `ceiling` that if it goes on as in the second half of the attempts.

    Not computable when
    -------------------
    no case was followed for K attempts: the rows end there. A case is followed up to its first
    attempt without a known outcome. Fewer than five cases at risk: `state` is "few". A forecast is
    refused where the second half of the attempts broke more than the first.

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
    beyond = [forecast] if isinstance(forecast, int) else list(forecast)
    unit, one = unit_of(runs, cluster), find_metric(metric)
    keys = [key for key in unit.keys if key != "case_id"]
    table = rows_of(runs, one, strata, keys)
    order = in_order(table[strata].drop_duplicates(), strata, modes_of(runs)).to_dict("records")
    groups = dict(tuple(table.groupby(strata, sort=False)))
    rows = []
    for cell in order:
        for row in one_curve(groups[tuple(cell.values())], keys, level, beyond):
            notes = [row.get("note", ""), "" if runs.checked else UNCHECKED]
            note = "; ".join(filter(None, notes))
            rows.append({"metric": one.symbol, **cell, **row, "note": note})
    return made("attempts", rows, strata, level=level, unit=unit.name, source=runs.source)


def rows_of(runs: Outcomes, one: Metric, strata: list[str], cluster: list[str]) -> pd.DataFrame:
    """One row per attempt of the metric's population: strata, case, place of the attempt, event (1,
    0 or missing).
    """
    have = need_events(runs, one)
    check_columns(runs, [*strata, *cluster], "by and cluster")
    inside = [column for column in strata if column in ("case_id", "repeat", *one.event)]
    if inside:
        raise ValueError(
            f"by: {inside[0]} tells the attempts of a case apart, so it is no stratum of cases"
        )
    if "repeat" not in have:
        raise OutcomesError(
            'attempts need the columns case_id and repeat; declare repeat="<column>"',
            column="repeat",
            fix="repeat",
        )
    versions_of(runs, one, [name for name in strata if name != "mode"])  # a mix in a mode raises
    population, known, event = row_masks(one, have)
    state = nw.when(known & event).then(nw.lit(1.0)).otherwise(nw.when(known).then(nw.lit(0.0)))
    names = list(dict.fromkeys([*strata, *cluster]))
    table = runs.table.filter(population).select(
        "case_id", "repeat", *labels(runs, names), state.alias("_event")
    )
    rows = filled(pandas_of(table), names)
    if rows.empty:
        raise OutcomesError(f"no row belongs to the population of {one.symbol}")
    order = sorted(rows["repeat"].dropna().astype(str).unique(), key=natural)
    rows["_order"] = rows["repeat"].astype(str).map({name: at for at, name in enumerate(order)})
    rows = rows.sort_values([*strata, "case_id", "_order"], kind="stable", ignore_index=True)
    rows["_place"] = rows.groupby([*strata, "case_id"], sort=False).cumcount() + 1
    return rows


@dataclass(frozen=True)
class Followed:
    """The cases of one curve: the first success and the first unknown outcome of each (infinite:
    none), how many attempts it had, its clusters, and the share of known attempts that succeed.
    """

    first: Floats
    gap: Floats
    tried: Floats
    marks: list[Any]
    share: float

    @classmethod
    def of(cls, part: pd.DataFrame, keys: list[str]) -> Followed:
        """From the rows of one stratum and mode."""
        event, place = part["_event"], part["_place"].astype(float)
        columns = {"first": place.where(event == 1, np.inf), "tried": place}
        columns |= {"gap": place.where(event.isna(), np.inf)}
        cases = pd.DataFrame(columns).groupby(part["case_id"].to_numpy(), sort=False)
        low, high = cases.min(), cases.max()
        by_case = part.groupby("case_id", sort=False)
        marks = [by_case[key].first().to_numpy() for key in keys]
        sides = (low["first"].to_numpy(), low["gap"].to_numpy(), high["tried"].to_numpy())
        return cls(*sides, marks, float(event.mean()))

    @property
    def seen(self) -> tuple[Floats, Floats]:
        """The first success of each case, and how far it was followed. A success after an attempt
        with an unknown outcome may not be the first one: a case is followed up to there.
        """
        return np.where(self.first < self.gap, self.first, np.inf), np.minimum(
            self.tried, self.gap - 1
        )

    def ends(self, budget: int, level: float) -> tuple[float, float]:
        """The share if unknown outcomes were failures, and if they were successes."""
        early = np.minimum(self.first, self.gap)
        low, high = (within(hit, self.tried, budget, level=level) for hit in (self.first, early))
        return low.rate, high.rate


def one_curve(
    part: pd.DataFrame, keys: list[str], level: float, beyond: list[int]
) -> list[dict[str, Any]]:
    """The curve of one stratum and mode: one row per K, the median, and forecasts beyond."""
    cases = Followed.of(part, keys)
    n, lost = len(cases.first), int((cases.gap < np.inf).sum())
    seen, until = cases.seen
    rows: list[dict[str, Any]] = []
    results = []
    for budget in range(1, int(min(until.max(), MOST_ATTEMPTS)) + 1):
        by_key = [within(seen, until, budget, mark, level=level) for mark in cases.marks or [None]]
        result = replace(
            min(by_key, key=lambda one: one.n_eff),
            low=float(np.min([one.low for one in by_key])),
            high=float(np.max([one.high for one in by_key])),
        )
        if math.isnan(result.rate):
            break
        floor, ceiling = cases.ends(budget, level) if lost else (result.rate, result.rate)
        short = int(((seen > budget) & (until < budget)).sum())
        row = {"quantity": "within", "attempts": budget, "k": result.hits, "n": n}
        row |= {name: getattr(result, name) for name in ("rate", "low", "high", "at_risk", "n_eff")}
        row |= {"floor": floor, "ceiling": ceiling, "independent": 1 - (1 - cases.share) ** budget}
        row["method"] = "kaplan-meier, wilson" if short else "wilson"
        row["clusters"] = min((len(set(mark)) for mark in cases.marks), default=None)
        row["state"], row["why"] = state_of(n, result.rate, result.low)
        if row["state"] == "ok" and result.at_risk < FEW and result.rate < 1:
            row |= {"state": "few", "why": f"fewer than {FEW} cases at risk"}
        if math.isnan(result.low):
            row |= {"state": "few", "why": "one cluster: its spread cannot be estimated"}
        if short:
            unknown = f" ({lost} with an unknown outcome)" if lost else ""
            row["note"] = f"{short} cases not followed for {budget} attempts{unknown}"
        rows.append(row)
        results.append(result)
    more = [beyond_budget(results, budget, level) for budget in beyond] if rows else []
    return [*rows, median_of(rows), *more] if rows else rows


def median_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The attempts to the first success of the median case (Brookmeyer, Crowley 1982)."""
    names = {"value": "rate", "low": "high", "high": "low"}
    ends = {
        end: next((row["attempts"] for row in rows if row[name] >= 0.5), math.inf)
        for end, name in names.items()
    }
    note = "" if math.isfinite(ends["value"]) else "fewer than half of the cases succeed"
    return {"quantity": "median", **ends, "state": "ok", "note": note} | {
        "method": "first K with half"
    }


def beyond_budget(results: list[Within], budget: int, level: float) -> dict[str, Any]:
    """The forecast for a budget, from the estimates at half of the attempts made and at all.

    Clusters and cases that were not followed so far count as the independent cases that the
    estimate is worth.
    """
    made_ = len(results)
    half, last = results[made_ // 2 - 1], results[-1]
    out: dict[str, Any] = {"quantity": "forecast", "attempts": budget, "n_eff": last.n_eff}
    out |= {"method": "falling hazard, wilson", "state": "none"}
    if not 2 <= made_ < budget:
        why = f"a forecast is for more attempts than the {made_} made, of at least 2"
    elif math.isnan(last.n_eff):
        why = "one cluster: its spread cannot be estimated"
    else:
        worth = round(last.n_eff)
        early, hits = (round(result.rate * worth) for result in (half, last))
        band = forecast_of(early, hits, worth, made_, budget, level=level)
        if not band.note:
            note = f"beyond the {made_} attempts made, if the chance of each case stays as it is"
            ends = {"rate": band.steady, "low": band.low, "high": band.high}
            ends |= {"floor": band.at_budget, "ceiling": band.steady}
            return out | ends | {"state": "ok", "note": note}
        why = band.note
    return out | {"why": why, "note": f"not computable: {why}"}
