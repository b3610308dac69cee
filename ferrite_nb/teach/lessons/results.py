"""Results drawn for a lesson: a first look, a denominator to choose, strata in order, cases in
clusters.
"""

from __future__ import annotations

from typing import Any

from ...analysis.gradient import gradient
from ...analysis.rates import rates
from ...estimate import bracket
from ...metrics import METRICS
from ...outcomes.table import Outcomes
from ...schema import Table
from ...show import figures
from ...show.chart import Chart
from ...show.sentence import sentence
from ...show.style import MAX_ROWS
from ...stats import interval
from .controls import with_finding

__all__ = ["COUNTINGS", "clustered", "denominator", "first_look", "over_strata"]

COUNTINGS = ("known outcomes", "errors as safe", "errors as successes", "delivered attacks")


def first_look(runs: Outcomes) -> Chart:
    """The first security metric that the data support, and beside it the first cost metric, by
    mode.

    Raises
    ------
    ValueError: the data support no rate.
    """
    table = rates(runs)
    if table.empty:
        raise ValueError("the data support no rate; the table above says why")
    known = table[table["state"] != "none"]["metric"].unique()
    sides = [
        [name for name in known if METRICS[name].side == side] for side in ("security", "cost")
    ]
    shown = [names[0] for names in sides if names]
    part = table[table["metric"].isin(shown)].head(MAX_ROWS)
    finding = " ".join(sentence(part[part["metric"] == name]) for name in shown)
    return with_finding(figures.forest(part, width="text"), finding)


def denominator(runs: Outcomes, counting: str = "known outcomes") -> Chart:
    """The attack success rate by mode, over one of four denominators.

    Parameters
    ----------
    counting: "known outcomes"; "errors as safe" or "errors as successes" (assumptions, not
        measurements); or "delivered attacks", those that reached the model.

    Raises
    ------
    ValueError: another word.
    """
    if counting not in COUNTINGS:
        raise ValueError(f"counting is one of {', '.join(COUNTINGS)}, got {counting!r}")
    table = rates(runs, "ASR over delivered" if counting == COUNTINGS[3] else "ASR")
    if counting in COUNTINGS[1:3]:
        table = assumed(table, as_event=counting == COUNTINGS[2])
    finding = f"Denominator: {counting}. {sentence(table)}"
    return with_finding(figures.forest(table, width="text"), finding)


def assumed(table: Table, *, as_event: bool) -> Table:
    """A table of rates as if every unknown outcome were an event, or none were."""
    n, k = table["n"] + table["missing"], table["k"] + table["missing"] * as_event
    ends, word = interval(k.to_numpy(), n.to_numpy()), "successes" if as_event else "safe"
    notes = [
        f"an assumption: {missing} unknown outcomes taken as {word}" if missing else ""
        for missing in table["missing"]
    ]
    rate = k / n
    same = {"floor": rate, "ceiling": rate, "outer_low": ends.low, "outer_high": ends.high}
    filled = {"k": k, "n": n, "rate": rate, "low": ends.low, "high": ends.high, "missing": 0}
    return table.assign(**filled, **same, note=notes)


def over_strata(
    runs: Outcomes, strata: str = "scope", mode: str | None = None, *, metric: str = "CR"
) -> Chart:
    """One metric over the values of one stratum, with both totals; one mode, or all.

    Raises
    ------
    ValueError: an unknown column, mode or metric.
    """
    table = gradient(runs, metric, strata, mode=None if mode in (None, "all") else mode)
    return with_finding(figures.gradient(table, width="text"), sentence(table))


def clustered(runs: Outcomes, cluster: str = "none", *, metric: str = "ASR") -> Chart:
    """One metric by mode with the plain interval, or with the one that knows which cases belong
    together.

    The plain interval stays beside it in grey.

    Parameters
    ----------
    cluster: a column, or "none".

    Raises
    ------
    ValueError: there is no such column.
    """
    plain: Any = rates(runs, metric, cluster=())
    if cluster == "none":
        finding = f"Every case counts as independent. {sentence(plain)}"
        return with_finding(figures.forest(plain, width="text"), finding)
    table: Any = rates(runs, metric, cluster=cluster)
    table = table.assign(independent_low=plain["low"], independent_high=plain["high"])
    return with_finding(figures.forest(table, width="text"), _most_changed(table))


def _most_changed(table: Table) -> str:
    """The mode whose interval grows most when clusters are known; 0/n and n/n are limits and not
    compared.
    """
    between = table[(table["rate"] > 0) & (table["rate"] < 1) & table["low"].notna()]
    if between.empty:
        return sentence(table)
    narrow = between["independent_high"] - between["independent_low"]
    row: Any = between.loc[((between["high"] - between["low"]) / narrow).idxmax()]
    old, new = (bracket(row[f"{side}low"], row[f"{side}high"]) for side in ("independent_", ""))
    return (
        f"Most changed: {row['mode']} {row['k']}/{row['n']}, {new} in place of {old}; "
        f"{row['clusters']} clusters, worth {row['n_eff']:.1f} independent cases."
    )
