"""Passing: the count that a rule accepts, and how often a system then passes, by true rate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..metrics import METRICS
from ..stats.planning import operating_curve
from .unit import plain_bounds

__all__ = ["COLUMNS", "acceptance", "curve"]

COLUMNS = ("requirement", "rule", "n", "accept", "threshold", "true_rate", "p_pass")
POINTS = 121  # enough for a smooth line at the width of a page
METHODS = {"bound": "wilson", "anytime": "anytime"}
SLACK = 1e-12  # a bound that equals its threshold passes, whatever the last digit of either


def curve(row: Any) -> pd.DataFrame:
    """The chance to pass a requirement by true rate, with the n of one verdict: by its own rule, by
    the point rule and by the bound at a single look.

    Parameters
    ----------
    row: a row of `fnb.gate` or `fnb.releases` (or any mapping with `requirement`, `n`, `threshold`,
        `rule` or `upper`, and `level` and `missing` where they matter).

    Returns
    -------
    DataFrame with `requirement`, `rule` ("point", "bound" or "anytime"), `n`, `accept` (the k that
    decides), `threshold`, `true_rate` (rising; the threshold is one of them) and `p_pass`. It has
    no row where no binomial chance describes the verdict: without a case, with clusters, for a
    difference, or where a judge is corrected.

    Notes
    -----
    Exact binomial chances for n independent cases, at one look. A rule that no result can pass has
    `accept` missing and a chance of 0.

    Example
    -------
    >>> row = {"requirement": "tried at most 2%", "n": 600, "threshold": 0.02}
    >>> table = curve({**row, "rule": "upper bound"})
    >>> table[table["true_rate"] == 0.02][["rule", "accept", "p_pass"]].round(4).values.tolist()
    [['point', 12, 0.576], ['bound', 5, 0.0195]]
    """
    n, threshold, rule = int(row["n"]), float(row["threshold"]), str(row.get("rule", ""))
    metric = METRICS.get(str(row.get("metric", "")))
    lower = metric.better == "higher" if metric else rule.endswith("lower bound")
    upper = bool(row["upper"]) if "upper" in row else not lower
    level = float(row["level"]) if "level" in row else 0.95
    own = ("anytime",) if rule.startswith("anytime") else ()
    # the method of a row says what its bounds are of: these have no binomial chance
    plain = str(row.get("method", "wilson")) in ("wilson", "anytime")
    described = n and plain and pd.isna(row.get("clusters")) and pd.isna(row.get("value"))
    rules = ("point", "bound", *own) if described else ()
    rates, parts = true_rates(n, threshold, upper=upper) if rules else [], []
    for name in rules:
        missing = int(row.get("missing", 0))
        accept = acceptance(name, n, missing, threshold, upper=upper, level=level)
        direction = "at most" if upper else "at least"
        chances = 0.0 if accept is None else operating_curve(n, accept, rates, direction=direction)
        part = pd.DataFrame({"true_rate": rates, "p_pass": chances})
        count = pd.array([accept] * len(part), dtype="Int64")
        parts.append(part.assign(rule=name, n=n, accept=count, threshold=threshold))
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)
    return table.assign(requirement=str(row["requirement"]))[[*COLUMNS]]


def acceptance(
    rule: str, n: int, missing: int, threshold: float, *, upper: bool, level: float
) -> int | None:
    """The largest k (the smallest for a lower threshold) that passes; None when none does.

    Cases are independent; the missing outcomes are taken at their worst, as in the verdict.
    """

    def passes(good: int) -> bool:  # of `good` on the good side of the threshold
        k = n - good if upper else good
        if rule == "point":
            ends = k / n, (k + missing * upper) / (n + missing)
            return all(_keeps(end, threshold, upper) for end in ends)
        counts = (np.array([value]) for value in (k, n, missing))
        (found,) = plain_bounds(*counts, level=level, method=METHODS[rule])
        end = found.outer_high if upper else found.outer_low
        return found.state == "ok" and _keeps(end, threshold, upper)

    if not n or not passes(n):
        return None
    low, high = -1, n  # `high` on the good side pass, `low` do not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return n - high if upper else high


def _keeps(value: float, threshold: float, upper: bool) -> bool:
    return value <= threshold + SLACK if upper else value >= threshold - SLACK


def true_rates(n: int, threshold: float, *, upper: bool) -> Any:
    """True rates from the good end of the scale to well beyond the threshold; it and half the way
    to it among them.
    """
    room = threshold if upper else 1 - threshold
    spread = (max(room, 1 / n) * (1 - room) / n) ** 0.5 if room < 1 else 0.0
    far = min(1.0, room + max(room, 4 * spread, 4 / n))
    away = np.append(np.linspace(0.0, far, POINTS), (room / 2, room))
    return np.unique(np.round(away if upper else 1 - away, 12))
