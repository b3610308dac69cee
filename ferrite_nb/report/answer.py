"""The first sentences of a report, made from its tables by rules: the largest decided difference
from the baseline, what it cost, the most severe limit.
"""

from __future__ import annotations

import pandas as pd

from ..analysis.gate import IDLE
from ..estimate import difference_text, digits, estimate_text, p_text
from ..metrics import METRICS

DONE = ("task success", "final answer (benign)")


def answer(
    rates: pd.DataFrame, compared: pd.DataFrame | None, limits: pd.DataFrame, baseline: str
) -> list[str]:
    """Three sentences; each says so when there is nothing to say."""
    pairs = None if compared is None else fair(compared, rates)
    best = None if pairs is None else headline(pairs, baseline)
    return [
        difference_sentence(pairs, best),
        cost_sentence(rates, pairs, best),
        limit_sentence(limits),
    ]


def fair(compared: pd.DataFrame, rates: pd.DataFrame) -> pd.DataFrame:
    """The pairs that may be in a headline: no mode that does hardly any normal task, and most of
    the cases in both modes.
    """
    slack = rates[rates["metric"].isin(DONE) & (rates["state"] == "ok") & (rates["high"] < IDLE)]
    idle = compared[["mode_a", "mode_b"]].isin(list(slack["mode"])).any(axis=1)
    shared = compared["n_pairs"] > compared["unpaired"]
    return compared[(compared["quantity"] == "difference") & ~idle & shared]


def headline(pairs: pd.DataFrame, baseline: str) -> pd.Series | None:
    """The largest decided difference in a security metric, with the baseline where there is one."""
    security = pairs[pairs["metric"].map(lambda name: METRICS[name].side == "security")]
    decided = security[(security["p_holm"] <= 1 - security["level"]) & (security["state"] == "ok")]
    based = decided[(decided[["mode_a", "mode_b"]] == baseline).any(axis=1)]
    rows = decided if based.empty else based
    return None if rows.empty else rows.loc[rows["diff"].abs().idxmax()]


def difference_sentence(pairs: pd.DataFrame | None, row: pd.Series | None) -> str:
    """The headline in words."""
    if pairs is None:
        return "There is one mode only, so there is nothing to compare."
    if row is None:
        return "No difference between two modes is decided by these cases."
    metric = METRICS[row["metric"]]
    lower = row["mode_a"] if row["diff"] < 0 else row["mode_b"]
    higher = row["mode_b"] if row["diff"] < 0 else row["mode_a"]
    ends = sorted((abs(row["low"]), abs(row["high"])))
    gap = difference_text(abs(row["diff"]), *ends)
    rates = sorted((row["rate_a"], row["rate_b"]), reverse=True)
    span = f"from {digits(rates[0])}% to {digits(rates[1])}%"
    return (
        f'On the same {row["n_pairs"]} cases, {metric.name} ({metric.symbol}) is lower in "{lower}"'
        f' than in "{higher}" by {gap.lstrip("+")}, {span}; p {p_text(row["p_holm"])} after Holm.'
        " It is the largest decided difference."
    )


def cost_sentence(rates: pd.DataFrame, pairs: pd.DataFrame | None, best: pd.Series | None) -> str:
    """What the headline cost on the same cases; where that was not measured, the worst cost."""
    if pairs is not None and best is not None:
        same = (pairs["mode_a"] == best["mode_a"]) & (pairs["mode_b"] == best["mode_b"])
        cost = pairs["metric"].map(lambda name: METRICS[name].side == "cost")
        rows = pairs[same & cost & (pairs["state"] == "ok")]
        if len(rows):
            return paired_cost(rows.iloc[0])
    cost = rates[rates["metric"].map(lambda name: METRICS[name].side == "cost")]
    cost = cost[cost["rate"].notna() & (cost["state"] == "ok")]
    if cost.empty:
        return (
            "What the defence costs was not measured well enough to say: no cost metric has enough "
            "cases here."
        )
    bad = cost["rate"].where([METRICS[name].better == "lower" for name in cost["metric"]])
    row = cost.loc[bad.fillna(1 - cost["rate"]).idxmax()]
    return f'The worst cost: {named(row["metric"])} in "{row["mode"]}" is {estimate_text(row)}.'


def paired_cost(row: pd.Series) -> str:
    """A cost in both modes of the headline, and whether the difference is decided."""
    gap = difference_text(row["diff"], row["low"], row["high"])
    decided = "decided" if row["p_holm"] <= 1 - row["level"] else "not decided"
    return (
        f"The cost on the same {row['n_pairs']} cases: {named(row['metric'])} is "
        f'{digits(row["rate_a"])}% in "{row["mode_a"]}" and {digits(row["rate_b"])}% in '
        f'"{row["mode_b"]}"; the difference, {gap}, is {decided} (p {p_text(row["p_holm"])} after '
        "Holm)."
    )


def named(symbol: str) -> str:
    """A metric by its name, with its symbol where that is another word."""
    name = METRICS[symbol].name
    return name if name in (symbol, f"{symbol}s") else f"{name} ({symbol})"


def limit_sentence(limits: pd.DataFrame) -> str:
    """The first severe limit, or that none was found."""
    severe = limits[limits["severity"] == "severe"]
    if severe.empty:
        return (
            "No severe limit was found in the data; what could not be checked is listed under"
            " limits."
        )
    row = severe.iloc[0]
    more = len(severe) - 1
    rest = f" ({more} more under limits)" if more else ""
    said = f"{row['evidence']}; {row['consequence']}."
    return f"The most severe limit{rest}: {row['limit']}. {said[:1].upper()}{said[1:]}"
