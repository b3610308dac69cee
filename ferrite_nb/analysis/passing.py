"""Passing curves: how often the point rule and the bound rule of a requirement let a system pass,
by its true rate.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..metrics import METRICS
from ..stats.planning import largest_k, operating_curve, smallest_k

__all__ = ["COLUMNS", "curve"]

COLUMNS = ("requirement", "rule", "n", "accept", "threshold", "true_rate", "p_pass")
POINTS = 121  # enough for a smooth line at the width of a page
RULES = {"point": "point", "bound": "wilson"}


def curve(row: Any) -> pd.DataFrame:
    """The chance to pass a requirement by true rate, for both rules, with the n of one verdict.

    Parameters
    ----------
    row: a row of `fnb.gate` or `fnb.releases` (or any mapping with `requirement`, `n`, `threshold`,
        `rule` or `upper`, and `level`).

    Returns
    -------
    DataFrame with `requirement`, `rule` ("point" or "bound"), `n`, `accept` (the k that decides),
    `threshold`, `true_rate` (rising; the threshold is one of them) and `p_pass`. It has no row when
    n is 0 or the row has clusters.

    Notes
    -----
    Exact binomial chances for n independent cases. A rule that no result can pass has `accept` missing and a chance of 0.

    Example
    -------
    >>> row = {"requirement": "tried at most 2%", "n": 600, "threshold": 0.02}
    >>> table = curve({**row, "rule": "upper bound"})
    >>> table[table["true_rate"] == 0.02][["rule", "accept", "p_pass"]].round(4).values.tolist()
    [['point', 12, 0.576], ['bound', 5, 0.0195]]
    """
    n, threshold = int(row["n"]), float(row["threshold"])
    metric = METRICS.get(str(row.get("metric", "")))
    lower = metric.better == "higher" if metric else row["rule"] == "lower bound"
    upper = bool(row["upper"]) if "upper" in row else not lower
    level = float(row["level"]) if "level" in row else 0.95
    clustered = pd.notna(row.get("clusters", None))  # no binomial chance describes clusters
    rules = RULES if n and not clustered else ()
    frames = [_rule(rule, n, threshold, upper=upper, level=level) for rule in rules]
    table = (
        pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=list(COLUMNS[1:]))
    )
    table.insert(0, "requirement", str(row["requirement"]))
    return table


def _rule(rule: str, n: int, threshold: float, *, upper: bool, level: float) -> pd.DataFrame:
    find, direction = (largest_k, "at most") if upper else (smallest_k, "at least")
    accept = find(n, threshold, method=RULES[rule], level=level)
    rates = true_rates(n, threshold, upper=upper)
    chances = (
        np.zeros(len(rates))
        if accept is None
        else operating_curve(n, accept, rates, direction=direction)
    )
    return pd.DataFrame(
        {
            "rule": rule,
            "n": n,
            "accept": pd.NA if accept is None else accept,
            "threshold": threshold,
            "true_rate": rates,
            "p_pass": chances,
        }
    ).astype({"accept": "Int64"})


def true_rates(n: int, threshold: float, *, upper: bool) -> Any:
    """True rates from the good end of the scale to well beyond the threshold; it and half the way
    to it among them.
    """
    room = threshold if upper else 1 - threshold
    spread = (max(room, 1 / n) * (1 - room) / n) ** 0.5 if room < 1 else 0.0
    far = min(1.0, room + max(room, 4 * spread, 4 / n))
    away = np.append(np.linspace(0.0, far, POINTS), (room / 2, room))
    return np.unique(np.round(away if upper else 1 - away, 12))
