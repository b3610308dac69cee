"""Results drawn for a lesson: a first look, a denominator to choose, strata in order, cases in
clusters.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from ...analysis.gradient import gradient
from ...analysis.rates import rates
from ...estimate import bracket
from ...metrics import METRICS
from ...outcomes.table import Outcomes
from ...show import figures
from ...show.sentence import sentence
from ...show.style import MAX_ROWS
from ...stats import interval
from .told import Told, told

__all__ = ["COUNTINGS", "clustered", "denominator", "first_look", "over_strata"]

COUNTINGS = ("known outcomes", "errors as safe", "errors as successes", "delivered attacks")


def first_look(runs: Outcomes) -> Told:
    """The first security metric that the data support, and beside it the first cost metric, by
    mode.

    Raises
    ------
    ValueError: the data support no rate.
    """
    table = rates(runs)
    if table.empty:
        raise ValueError("the data support no rate; the table above says why")
    known = table[table["rate"].notna()]["metric"].unique()
    shown = []
    for side in ("security", "cost"):
        shown += [name for name in known if METRICS[name].side == side][:1]
    part = table[table["metric"].isin(shown)].head(MAX_ROWS)
    part.attrs = table.attrs
    said = " ".join(sentence(part[part["metric"] == name]) for name in shown)
    return told(figures.forest(part, width="text"), said)


def denominator(runs: Outcomes, counting: str = "known outcomes") -> Told:
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
    if counting.startswith("errors"):
        table = assumed(table, as_event=counting == "errors as successes")
    return told(figures.forest(table, width="text"), f"Denominator: {counting}. {sentence(table)}")


def assumed(table: pd.DataFrame, *, as_event: bool) -> pd.DataFrame:
    """A table of rates as if every unknown outcome were an event, or none were."""
    filled = table.copy()
    filled["n"] += filled["missing"]
    filled["k"] += filled["missing"] * as_event
    ends = interval(filled["k"].to_numpy(), filled["n"].to_numpy())
    filled["rate"], filled["low"], filled["high"] = filled["k"] / filled["n"], ends.low, ends.high
    word = "successes" if as_event else "safe"
    filled["note"] = [
        f"an assumption: {m} unknown outcomes taken as {word}" if m else ""
        for m in filled["missing"]
    ]
    filled["missing"], filled["floor"], filled["ceiling"] = 0, filled["rate"], filled["rate"]
    filled.attrs = table.attrs
    return filled


def over_strata(
    runs: Outcomes, strata: str = "scope", mode: str | None = None, *, metric: str = "CR"
) -> Told:
    """One metric over the values of one stratum, with both totals; one mode, or all.

    Raises
    ------
    ValueError: an unknown column, mode or metric.
    """
    table = gradient(runs, metric, strata, mode=None if mode in (None, "all") else mode)
    return told(figures.gradient(table, width="text"), sentence(table))


def clustered(runs: Outcomes, cluster: str = "none", *, metric: str = "ASR") -> Told:
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
    plain: Any = rates(runs, metric)
    if cluster == "none":
        return told(
            figures.forest(plain, width="text"),
            f"Every case counts as independent. {sentence(plain)}",
        )
    table = rates(runs, metric, cluster=cluster)
    attrs = table.attrs
    table = table.assign(independent_low=plain["low"], independent_high=plain["high"])
    table.attrs = attrs
    return told(figures.forest(table, width="text"), _most_changed(table))


def _most_changed(table: pd.DataFrame) -> str:
    """The mode whose interval grows most when clusters are known; 0/n and n/n are limits and not
    compared.
    """
    between = table[(table["rate"] > 0) & (table["rate"] < 1) & table["low"].notna()]
    if between.empty:
        return sentence(table)
    ratio = (between["high"] - between["low"]) / (
        between["independent_high"] - between["independent_low"]
    )
    row: Any = between.loc[ratio.idxmax()]
    old, new = (
        bracket(row["independent_low"], row["independent_high"]),
        bracket(row["low"], row["high"]),
    )
    return f"Most changed: {row['mode']} {row['k']}/{row['n']}, {new} in place of {old}. {row['note']}."
