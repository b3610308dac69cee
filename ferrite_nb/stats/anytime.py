"""Intervals that may be looked at after every batch: they hold at all looks together.

Each is a game of bets against a rate m: capital that cannot grow on average while m is the truth
reaches 1/α at any time with probability α at most (Ville 1939). The bets are a Beta(½, ½) mixture,
cut at m, one game for each side; the interval holds every m whose two games stay below 2/(1-level).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from scipy.special import betainc, betaincc, betaln, roots_legendre, xlog1py, xlogy

from . import _check
from .intervals import Interval

_nodes = lru_cache(maxsize=16)(roots_legendre)


@dataclass(frozen=True)
class AnytimePairs(Interval):
    """A paired difference with limits and a p-value that hold at all looks together."""

    diff: float
    p: float


@dataclass(frozen=True)
class AnytimeClusters(Interval):
    """A rate of cases in clusters with limits that hold after every cluster."""

    rate: float


def anytime_interval(k: Any, n: Any, *, level: float = 0.95) -> Interval:
    """The interval of a proportion that stays true however often one looks, and whenever one stops.

    Parameters
    ----------
    k, n : int or array of int
        Events and cases so far; arrays broadcast. Cumulative counts give the running interval.
    level : float
        The chance that the truth lies inside at every look.

    Returns
    -------
    Interval
        `low` and `high`; at k = 0 `low` is exactly 0, at k = n `high` is exactly 1, n = 0 gives
        [0, 1]: before the first case every rate is possible.

    Notes
    -----
    Cases are independent and come in an order that does not depend on their outcomes. The limits of
    a look use all cases so far; the intersection with those of earlier looks holds too.

    Source
    ------
    Robbins 1970, Ann Math Stat 41:1397; Waudby-Smith, Ramdas 2024, J R Stat Soc B 86:1.

    Example
    -------
    >>> ends = anytime_interval([0, 3], [22, 600])
    >>> ends.low.round(6).tolist(), ends.high.round(6).tolist()
    ([0.0, 0.000178], [0.187163, 0.019571])
    """
    events, cases = _check.counts_of(k, n)
    level, rest, rate = _check.level_of(level), cases - events, events / np.maximum(cases, 1)

    def wealth(m: Any, share: Any) -> Any:
        a, b = events + 0.5, rest + 0.5
        bets = betaln(a, b) - betaln(0.5, 0.5) - xlogy(events, m) - xlog1py(rest, -m)
        return bets + np.log(share(a, b, m)) - np.log(share(0.5, 0.5, m))

    low = np.where(events > 0, _edge(partial(wealth, share=betaincc), rate, 0.0, level), 0.0)
    high = np.where(rest > 0, _edge(partial(wealth, share=betainc), rate, 1.0, level), 1.0)
    return Interval(low, high) if events.ndim else Interval(float(low), float(high))


def anytime_pairs(both: int, b: int, c: int, neither: int, *, level: float = 0.95) -> AnytimePairs:
    """The difference of two modes on the same cases, for tables that are looked at as they grow.

    Parameters
    ----------
    both, b, c, neither : int
        Cases with the event in both modes, only in the first, only in the second, in neither.
    level : float
        The chance that the truth lies inside at every look.

    Returns
    -------
    AnytimePairs
        `diff` (first minus second), its limits, and `p`: the chance that it ever gets this small
        without a difference is at most p. Without a case: NaN, [-1, 1] and 1.

    Source
    ------
    Waudby-Smith, Ramdas 2024, J R Stat Soc B 86:1, bets on (d + 1)/2 with d in {-1, 0, 1}.

    Example
    -------
    >>> result = anytime_pairs(20, 12, 2, 16)
    >>> round(result.low, 4), round(result.high, 4), round(result.p, 4)
    (-0.0178, 0.4358, 0.0921)
    """
    level, names = _check.level_of(level), ("both", "b", "c", "neither")
    table = [_check.count(*item) for item in zip((both, b, c, neither), names, strict=True)]
    # a case is a cluster of two: d = 1 has two events, a tie one, d = -1 none
    k, n = np.array([2, 1, 0]), np.array([2, 2, 2])
    times = np.array([table[1], table[0] + table[3], table[2]])
    rate, low, high = _limits(k, n, times, 2, level)
    most = max(_wealth(0.5, k, n, times, 2, upper) for upper in (True, False))
    p = min(1.0, 2 * math.exp(-most))
    return AnytimePairs(diff=2 * rate - 1, low=2 * low - 1, high=2 * high - 1, p=p)


def anytime_clusters(
    k: Any, n: Any, *, most: int | None = None, level: float = 0.95
) -> AnytimeClusters:
    """The rate of cases that come in clusters, for a look after every cluster.

    Parameters
    ----------
    k, n : array of int
        Events and cases of each cluster that is complete.
    most : int, optional
        The planned largest cluster; the largest so far when left out.
    level : float
        The chance that the truth lies inside at every look.

    Returns
    -------
    AnytimeClusters
        `rate` of all cases, and its limits. Without a case: NaN and [0, 1].

    Raises
    ------
    ValueError
        A cluster is larger than `most`.

    Notes
    -----
    A cluster is one bet, however its cases depend on each other. State `most` before the first
    look: a guarantee for all looks needs stakes that no later cluster changes.

    Source
    ------
    Waudby-Smith, Ramdas 2024, J R Stat Soc B 86:1.

    Example
    -------
    >>> result = anytime_clusters([4, 1, 5, 1, 3, 0, 3, 4], [5] * 8, most=5)
    >>> round(result.rate, 3), round(result.low, 3), round(result.high, 3)
    (0.525, 0.191, 0.83)
    """
    (events, cases), level = _check.series(k, n), _check.level_of(level)
    seen = int(cases.max(initial=1))
    largest = seen if most is None else _check.count(most, "most")
    if largest < seen:
        raise ValueError(f"most must be at least the largest cluster, {seen}, got {largest}")
    kinds, times = np.unique(np.stack([events, cases]), axis=1, return_counts=True)
    rate, low, high = _limits(kinds[0], kinds[1], times, largest, level)
    return AnytimeClusters(rate=rate, low=low, high=high)


def _limits(k: Any, n: Any, times: Any, most: int, level: float) -> tuple[float, float, float]:
    """Rate and limits of `times` clusters of each kind, k events in n cases."""
    events, cases = int(k @ times), int(n @ times)
    if not cases:
        return math.nan, 0.0, 1.0
    rate, game = events / cases, partial(_wealth, k=k, n=n, times=times, most=most)
    low = float(_edge(partial(game, upper=False), rate, 0.0, level)) if events else 0.0
    high = float(_edge(partial(game, upper=True), rate, 1.0, level)) if events < cases else 1.0
    return rate, low, high


def _wealth(m: Any, k: Any, n: Any, times: Any, most: int, upper: bool) -> float:
    """The log capital of the game against m, integrated over the angle of the bet's rate."""
    # more nodes for more bets: the capital gathers at one rate
    nodes, weights = _nodes(96 * (1 + math.isqrt(int(times.sum()) // 1000)))
    cut, part = math.asin(math.sqrt(m)), (nodes + 1) / 2
    angle = part * cut if upper else cut + part * (math.pi / 2 - cut)
    stake = (np.sin(angle) ** 2 - m) / (m * (1 - m))
    growth = np.maximum(1 + stake[:, None] * (k - m * n) / most, np.finfo(float).tiny)
    gains = np.log(growth) @ times
    return float(gains.max() + math.log(np.exp(gains - gains.max()) @ weights / 2))


def _edge(wealth: Any, rate: Any, end: float, level: float) -> Any:
    """Where, on the way from the rate to an end of [0, 1], the capital reaches 2/(1-level)."""
    inside, outside = np.asarray(rate, dtype=float), np.full(np.shape(rate), end)
    for _ in range(60):  # halvings: down to the digits of a float
        middle = (inside + outside) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            out = wealth(middle) >= math.log(2 / (1 - level))
        inside, outside = np.where(out, inside, middle), np.where(out, middle, outside)
    return outside
