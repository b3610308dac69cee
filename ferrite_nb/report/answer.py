"""The first three sentences of a report, made from its tables by rules: the largest decided
difference, the worst cost, the most severe limit."""

from __future__ import annotations

import pandas as pd

from ..estimate import difference_text, digits, estimate_text, p_text
from ..metrics import METRICS


def answer(rates: pd.DataFrame, compared: pd.DataFrame | None, limits: pd.DataFrame) -> list[str]:
    """Three sentences; each says so when there is nothing to say."""
    return [difference_sentence(compared), cost_sentence(rates), limit_sentence(limits)]


def difference_sentence(compared: pd.DataFrame | None) -> str:
    """The largest difference between modes in a security metric that is decided at the level of the
    table.
    """
    if compared is None or compared.empty:
        return "There is one mode only, so there is nothing to compare."
    pairs = compared[compared["quantity"] == "difference"]
    security = pairs[pairs["metric"].map(lambda name: METRICS[name].side == "security")]
    decided = security[(security["p_holm"] <= 1 - security["level"]) & (security["state"] == "ok")]
    if decided.empty:
        return "No difference between two modes is decided by these cases."
    row = decided.loc[decided["diff"].abs().idxmax()]
    metric = METRICS[row["metric"]]
    lower = row["mode_a"] if row["diff"] < 0 else row["mode_b"]
    higher = row["mode_b"] if row["diff"] < 0 else row["mode_a"]
    ends = sorted((abs(row["low"]), abs(row["high"])))
    gap = difference_text(abs(row["diff"]), *ends)
    rates = sorted((row["rate_a"], row["rate_b"]), reverse=True)
    span = f"from {digits(rates[0])}% to {digits(rates[1])}%"
    return (
        f'On the same {row["n_pairs"]} cases, {metric.name} ({metric.symbol}) is lower in "{lower}" '
        f'than in "{higher}" by {gap.lstrip("+")}, {span}; p {p_text(row["p_holm"])} after Holm. It '
        "is the largest decided difference."
    )


def cost_sentence(rates: pd.DataFrame) -> str:
    """The worst cost that was measured."""
    cost = rates[
        rates["metric"].map(lambda name: METRICS[name].side == "cost") & rates["rate"].notna()
    ]
    cost = cost[cost["state"] == "ok"]
    if cost.empty:
        return (
            "What the defence costs was not measured well enough to say: no cost metric has enough "
            "cases here."
        )
    bad = [
        1 - row.rate if METRICS[row.metric].better == "higher" else row.rate
        for row in cost.itertuples()
    ]
    row = cost.iloc[max(range(len(bad)), key=bad.__getitem__)]
    metric = METRICS[row["metric"]]
    name = metric.name if metric.name == metric.symbol else f"{metric.name} ({metric.symbol})"
    return f'The worst cost: {name} in "{row["mode"]}" is {estimate_text(row)}.'


def limit_sentence(limits: pd.DataFrame) -> str:
    """The first severe limit, or that none was found."""
    severe = limits[limits["severity"] == "severe"]
    if severe.empty:
        return "No severe limit was found in the data; what could not be checked is listed under limits."
    row = severe.iloc[0]
    more = len(severe) - 1
    rest = f" ({more} more under limits)" if more else ""
    said = f"{row['evidence']}; {row['consequence']}."
    return f"The most severe limit{rest}: {row['limit']}. {said[:1].upper()}{said[1:]}"
