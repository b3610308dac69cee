"""What the design of a run does to its numbers: clusters, attempts, variants, several comparisons.

All are exact: the number of events in clusters is a convolution of beta-binomials, never a
    simulation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln
from scipy.stats import betabinom, binom

from ._check import choice, count, counts, fraction
from .intervals import interval


@dataclass(frozen=True)
class ClusterEffect:
    """Result of `cluster_effect`: what templates do to a run that is taken for independent
    cases.
    """

    deff: float
    n_eff: float
    coverage: float


def clustered_counts(clusters: int, size: int, rate: float, *, icc: float) -> NDArray[np.float64]:
    """Distribution of the number of events when cases come in clusters of the same size.

    Parameters
    ----------
    clusters, size : number of clusters, and of cases in each.
    rate : true rate over all clusters.
    icc : correlation of two cases of one cluster, in [0, 1]; each cluster's own rate is a Beta
        draw.

    Returns
    -------
    array of clusters * size + 1 probabilities, of 0, 1, ... events.

    Example
    -------
    >>> p = clustered_counts(60, 10, 0.02, icc=0.3)
    >>> round(float(p[:6].sum()), 2)
    0.16
    """
    clusters, size = count(clusters, "clusters"), count(size, "size")
    rate, icc = fraction(rate, "rate"), fraction(icc, "icc")
    events = np.arange(size + 1)
    if icc == 0 or rate in (0, 1):
        one = binom.pmf(events, size, rate)
    elif icc == 1:  # a cluster has the event in all its cases or in none
        one = np.where(events == size, rate, 0.0) + np.where(events == 0, 1 - rate, 0.0)
    else:
        strength = 1 / icc - 1  # a + b of the Beta distribution
        one = betabinom.pmf(events, size, rate * strength, (1 - rate) * strength)
    total = np.ones(1)
    while clusters:  # the power of a distribution, by squaring
        if clusters % 2:
            total = np.convolve(total, one)
        clusters //= 2
        one = np.convolve(one, one) if clusters else one
    return total


def cluster_effect(
    clusters: int, size: int, rate: float, *, icc: float, level: float = 0.95
) -> ClusterEffect:
    """What clusters do to a run: design effect, effective cases, true coverage of plain Wilson.

    Parameters
    ----------
    clusters, size, rate, icc : as in `clustered_counts`.
    level : what the interval says it covers.

    Returns
    -------
    ClusterEffect
        `deff` = 1 + (size - 1) icc; `n_eff` = cases / deff; `coverage` of the plain interval.

    Example
    -------
    >>> effect = cluster_effect(60, 10, 0.02, icc=0.3)
    >>> round(effect.deff, 1), round(effect.n_eff), round(effect.coverage, 2)
    (3.7, 162, 0.68)
    """
    weights = clustered_counts(clusters, size, rate, icc=icc)
    n = weights.size - 1
    if n == 0:
        return ClusterEffect(math.nan, math.nan, math.nan)
    ends = interval(np.arange(n + 1), n, level=level)
    deff = 1 + (size - 1) * icc
    return ClusterEffect(
        deff, n / deff, float(weights[(ends.low <= rate) & (rate <= ends.high)].sum())
    )


def clustered_pass(
    clusters: int, size: int, k: int, rate: float, *, icc: float, direction: str = "at most"
) -> float:
    """Probability to pass a gate on k events when cases come in clusters: the gate's true curve.

    Parameters
    ----------
    clusters, size, rate, icc : as in `clustered_counts`.
    k, direction : the gate, as in `operating_curve`.

    Example
    -------
    >>> [round(clustered_pass(60, 10, 5, 0.02, icc=icc), 4) for icc in (0.3, 0)]
    [0.1612, 0.0195]
    """
    direction, k = choice(direction, "direction", ("at most", "at least")), count(k, "k")
    weights = clustered_counts(clusters, size, rate, icc=icc)
    return min(1.0, float(weights[: k + 1].sum() if direction == "at most" else weights[k:].sum()))


def within_attempts(rate: float, attempts: Any, *, icc: float = 0.0) -> Any:
    """Probability of at least one success within K attempts on a case.

    Parameters
    ----------
    rate : success rate of one attempt, over all cases.
    attempts : K, one or many.
    icc : how much of it belongs to the case: 0 = all cases alike; else each case has its own rate,
        a Beta draw with this correlation of its attempts.

    Returns
    -------
    float, or array of the shape of `attempts`.

    Example
    -------
    >>> round(within_attempts(0.02, 25), 4), round(within_attempts(0.02, 25, icc=1 / 6), 4)
    (0.3965, 0.172)
    """
    rate, icc = fraction(rate, "rate"), fraction(icc, "icc")
    tries = counts(attempts, "attempts")
    if rate in (0, 1) or icc == 1:
        found = np.where(tries > 0, rate, 0.0)
    elif icc == 0:
        found = -np.expm1(tries * math.log1p(-rate))
    else:
        strength = 1 / icc - 1
        a, b = rate * strength, (1 - rate) * strength
        found = -np.expm1(betaln(a, b + tries) - betaln(a, b))
    return np.asarray(found) if tries.ndim else float(found)
