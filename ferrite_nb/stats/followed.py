"""Success within K attempts, change between releases, quantiles of runs: by their units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtrit
from scipy.stats import binom, hypergeom

from . import _check, _groups
from .intervals import score_limits

NAN = float("nan")


@dataclass(frozen=True)
class Within:
    """The share of cases with a success within K attempts; `at_risk` cases were followed to K."""

    rate: float
    low: float
    high: float
    n_eff: float
    at_risk: int
    hits: int
    note: str = ""


@dataclass(frozen=True)
class Drift:
    """Whether the cases of a new release changed; `informative` counts those that can move."""

    p: float
    informative: int
    note: str = ""


@dataclass(frozen=True)
class QuantileUnits:
    """A quantile of weighted values with its limits; an end that cannot be bounded is infinite."""

    value: float
    low: float
    high: float
    n_eff: float
    low_index: int
    high_index: int
    note: str = ""


def within(
    first: Any, followed: Any, K: int, cluster: Any = None, *, level: float = 0.95
) -> Within:
    """The share of cases with a success within K attempts, where not all were followed so far.

    Parameters
    ----------
    first : array
        The attempt of the first success of each case, Inf where there is none.
    followed : array of int
        Attempts with a known outcome, from the first one on.
    K : int
        The budget.
    cluster : array of labels, optional
        Cases that may rise and fall together.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    Within
        The Kaplan-Meier estimate with Wilson's limits at Greenwood's effective number of cases;
        where all were followed this is k of n, bit for bit up to rounding.

    Not computable when
    -------------------
    nobody was followed to K and some case is left: rate and limits are NaN.

    Notes
    -----
    Attempts are taken as lost at random given the number of the attempt.

    Source
    ------
    Kaplan, Meier 1958; Greenwood 1926; Rothman 1978, J Chron Dis 31:557.

    Example
    -------
    >>> inf = float("inf")
    >>> result = within([1] * 20 + [inf] * 30 + [2] * 8 + [inf] * 42, [1] * 50 + [2] * 50, 2)
    >>> round(result.rate, 4)
    0.328
    """
    budget, level = _check.count(K, "K"), _check.level_of(level)
    hit = _check.floats(first, "first")
    seen = _check.numbers(followed, "followed")
    if len(hit) != len(seen):
        raise ValueError(f"first and followed have one entry a case, got {len(hit)}, {len(seen)}")
    inside = hit <= np.minimum(seen, budget)
    steps = np.unique(hit[inside])  # nothing changes between the attempts at which a case is hit
    time = np.minimum(hit, seen)
    risk: NDArray[np.int64] = (time[:, None] >= steps).sum(axis=0)
    x: NDArray[np.int64] = ((hit[:, None] == steps) & inside[:, None]).sum(axis=0)
    hits, left = int(x.sum()), int((time >= budget).sum())
    if not len(hit) or (left == 0 and not (risk == x).any()):
        return Within(NAN, NAN, NAN, NAN, left, hits, "nobody was followed so far")
    done = np.flatnonzero(risk == x)  # nobody is left after this
    last = int(done[0]) + 1 if len(done) else len(steps)
    steps, risk, x = steps[:last], risk[:last], x[:last]
    survival = float(np.prod(1 - x / risk))
    rate = 1 - survival
    tell = int((inside | (seen >= budget)).sum())
    z = _check.z_of(level)
    if survival in (0.0, 1.0):
        n_eff = float(tell)
    else:
        greenwood = float((x / (risk * (risk - x))).sum())
        n_eff = rate / (survival * greenwood)
    if cluster is not None:
        code, groups = _groups.codes(cluster, "cluster", len(hit))
        if groups < 2:
            return Within(rate, NAN, NAN, NAN, left, hits, "one cluster")
        z = -float(stdtrit(groups - 1, (1 - level) / 2))
        if survival in (0.0, 1.0):
            n_eff = tell * groups / len(hit)
        else:
            n_eff /= _design(time, steps, risk, x, code, groups, inside, seen >= budget)
    low, high = score_limits(rate, n_eff, z)
    low = 0.0 if survival == 1 else float(low)
    return Within(rate, low, 1.0 if survival == 0 else float(high), n_eff, left, hits)


def _design(
    time: NDArray[np.float64],
    steps: NDArray[np.float64],
    risk: NDArray[np.int64],
    x: NDArray[np.int64],
    code: NDArray[np.intp],
    groups: int,
    inside: NDArray[np.bool_],
    followed: NDArray[np.bool_],
) -> float:
    """The design effect of a survival estimate, from the influence of each case on it."""
    event = (time[:, None] == steps) & inside[:, None]
    under = time[:, None] >= steps
    influence = ((event - under * (x / risk)) / (risk - x)).sum(axis=1)
    n = len(time)
    sizes = np.bincount(code, minlength=groups)
    sums = np.bincount(code, weights=influence, minlength=groups)
    plain = n / (n - 1) * float((influence**2).sum())
    deff = max(float((sums**2 / (1 - sizes / n)).sum()) / plain, 1.0)
    with_hit = int((np.bincount(code, weights=inside, minlength=groups) > 0).sum())
    with_rest = int((np.bincount(code, weights=~inside & followed, minlength=groups) > 0).sum())
    share = 2.0 ** -min(with_hit, with_rest)
    return max(deff, (1 - share) * deff + share * n / groups)


def drift(new_k: Any, new_n: Any, old_k: Any, old_n: Any) -> Drift:
    """Whether a new release differs from the earlier ones, on the same cases.

    Parameters
    ----------
    new_k, new_n, old_k, old_n : array of int
        Events and runs of each case in the new release and in all earlier ones together.

    Returns
    -------
    Drift
        The two-sided `p` of the exact conditional test with the case as stratum; run once in two
        releases it is McNemar's. Cases without runs on either side drop out.

    Source
    ------
    Birch 1964; R's mantelhaen.test(exact=TRUE).

    Example
    -------
    >>> drift([1, 0, 1, 1], [1] * 4, [0, 0, 0, 1], [1] * 4).p
    0.5
    """
    k, n = _check.counts(new_k, "new_k"), _check.counts(new_n, "new_n")
    past_k, past_n = _check.counts(old_k, "old_k"), _check.counts(old_n, "old_n")
    if len(k) != len(past_k):
        raise ValueError(f"one entry a case on either side, got {len(k)} and {len(past_k)}")
    both = (n > 0) & (past_n > 0)  # cases without runs on either side drop out
    _check.series(k[both], n[both]), _check.series(past_k[both], past_n[both])
    moves = both & (k + past_k > 0) & (k + past_k < n + past_n)
    strata, often = np.unique(
        np.stack([n + past_n, k + past_k, n])[:, moves], axis=1, return_counts=True
    )
    chances = np.ones(1)
    for (total, events, new), times in zip(strata.T, often, strict=True):
        one = hypergeom(total, events, new).pmf(np.arange(new + 1))
        for _ in range(times):
            chances = np.convolve(chances, one)
    seen = int(k[moves].sum())
    tails = (chances[: seen + 1].sum(), chances[seen:].sum())
    p = min(1.0, 2 * float(min(tails))) if moves.any() else 1.0
    return Drift(p, int(moves.sum()), "" if moves.any() else "no case can move")


def quantile_units(
    values: Any, weights: Any, unit: Any, q: float, *, level: float = 0.95
) -> QuantileUnits:
    """A quantile of values that come in units (runs of a case, cases of a template).

    Parameters
    ----------
    values, weights : array of float
        The measured values and what each counts.
    unit : array of labels
        The unit of each value.
    q : float
        The quantile, inside (0, 1).
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    QuantileUnits
        `value`, the smallest value with a share of at least q at or below it; `low`, `high` read
        from the distribution at the ranks `low_index`, `high_index` of `n_eff` independent values
        (-Inf and Inf where there is no such rank).

    Not computable when
    -------------------
    there is no value: NaN; one unit: limits are NaN.

    Source
    ------
    Woodruff 1952; David, Nagaraja 2003 for the ranks; the share's variance by CR2.

    Example
    -------
    >>> quantile_units(range(1, 101), [1] * 100, range(100), 0.5).value
    50.0
    """
    numbers, level = _check.numbers(values, "values"), _check.level_of(level)
    weight = _check.numbers(weights, "weights")
    q = _check.fraction(q, "q", open_ends=True)
    code, groups = _groups.codes(unit, "unit", len(numbers))
    if not len(numbers):
        return QuantileUnits(NAN, NAN, NAN, NAN, 0, 0, "no value")
    order = np.argsort(numbers, kind="stable")
    ranked, shares = numbers[order], np.cumsum(weight[order]) / weight.sum()

    def at(share: float) -> float:
        place = int(np.searchsorted(shares, share - 1e-12))
        return float(ranked[min(place, len(ranked) - 1)])

    value = at(q)
    if groups < 2:
        return QuantileUnits(value, NAN, NAN, NAN, 0, 0, "one unit")
    below = numbers <= value
    share = float(weight[below].sum() / weight.sum())
    sums = np.bincount(code, weights=weight * (below - share), minlength=groups)
    parts = np.bincount(code, weights=weight, minlength=groups) / weight.sum()
    variance = float((sums**2 / (1 - parts)).sum()) / float(weight.sum()) ** 2
    n_eff = min(share * (1 - share) / variance, len(numbers)) if variance > 1e-15 else groups
    worth = math.floor(n_eff + 1e-9)
    tail = float(ndtr(stdtrit(groups - 1, (1 - level) / 2)))
    low_index = int(binom.ppf(tail, worth, q))
    high_index = int(binom.ppf(1 - tail, worth, q)) + 1
    low = at((low_index - 0.5) / worth) if low_index else -math.inf
    high = at((high_index - 0.5) / worth) if high_index <= worth else math.inf
    return QuantileUnits(value, low, high, float(n_eff), low_index, high_index)
