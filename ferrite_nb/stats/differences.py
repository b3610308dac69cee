"""Intervals of a difference between two modes: paired counts, unmatched counts, and measured
overhead.

Two paired methods are offered because no library has either: Newcombe's (closed form, the default)
and Tango's score interval. Both keep a width when no case differs, where a bootstrap has none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binom

from ._check import choice, count, counts_of, fraction, level_of, z_of
from .bootstrap import bootstrap_pairs
from .intervals import score_limits


@dataclass(frozen=True)
class PairedDifference:
    """Result of `paired_difference`: A minus B with its limits, all in [-1, 1]."""

    diff: float
    low: float
    high: float
    note: str


@dataclass(frozen=True)
class Difference:
    """Result of `difference`: first minus second rate with its limits, and Fisher's exact p."""

    diff: float
    low: float
    high: float
    p: float


@dataclass(frozen=True)
class PairedQuantile:
    """Result of `paired_quantile`; the indices count from 1 and are NaN when there is no pair."""

    value: float
    low: float
    high: float
    low_index: float
    high_index: float
    coverage: float
    n: int
    note: str


def paired_difference(
    both: int,
    b: int,
    c: int,
    neither: int,
    *,
    method: str = "newcombe",
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> PairedDifference:
    """Difference of two rates on the same cases, A minus B = (b - c)/n, with an interval.

    Parameters
    ----------
    both, b, c, neither : cases where A and B, only A, only B, none had the event.
    method : "newcombe" (method 10, closed form), "tango" (score interval) or "bootstrap".
    level : confidence level; `resamples`, `seed`: of the bootstrap only.

    Returns
    -------
    PairedDifference
        `diff`, `low`, `high`, `note`.

    Not computable when
    -------------------
    There is no case; with "bootstrap" also when no case differs. The limits are NaN, the note says
    why.

    Source
    ------
    Newcombe 1998, Stat Med 17:2635, method 10; Tango 1998, Stat Med 17:891. Agrees with the R
    packages ratesci, contingencytables and PropCIs.

    Example
    -------
    >>> r = paired_difference(57, 48, 0, 195)
    >>> round(r.diff, 4), round(r.low, 4), round(r.high, 4)
    (0.16, 0.1181, 0.2024)
    """
    method = choice(method, "method", ("newcombe", "tango", "bootstrap"))
    z = z_of(level)
    both, b, c, neither = (
        count(both, "both"),
        count(b, "b"),
        count(c, "c"),
        count(neither, "neither"),
    )
    n = both + b + c + neither
    if n == 0:
        return PairedDifference(math.nan, math.nan, math.nan, "no case")
    if method == "bootstrap":
        drawn = bootstrap_pairs(both, b, c, neither, level=level, resamples=resamples, seed=seed)
        return PairedDifference((b - c) / n, drawn.low, drawn.high, drawn.note)
    low, high = _tango(b, c, n, z) if method == "tango" else newcombe_limits(both, b, c, neither, z)
    return PairedDifference((b - c) / n, max(-1.0, low), min(1.0, high), "")


def newcombe_limits(
    both: float, b: float, c: float, neither: float, z: float
) -> tuple[float, float]:
    """Newcombe's method 10 for any real counts and any quantile."""
    n = both + b + c + neither
    rates = np.array([(both + b) / n, (both + c) / n])
    lows, highs = score_limits(rates, n, z)
    below, above = rates - lows, highs - rates
    cross = both * neither - b * c
    if cross > 0:
        cross = max(cross - n / 2, 0.0)
    margins = math.sqrt(max((both + b) * (c + neither) * (both + c) * (b + neither), 0.0))
    phi = cross / margins if margins > 1e-12 else 0.0
    down = below[0] ** 2 - 2 * phi * below[0] * above[1] + above[1] ** 2
    up = above[0] ** 2 - 2 * phi * above[0] * below[1] + below[1] ** 2
    diff = float(rates[0] - rates[1])
    return diff - math.sqrt(max(down, 0.0)), diff + math.sqrt(max(up, 0.0))


def _tango(b: int, c: int, n: int, z: float) -> tuple[float, float]:
    """The two roots of the score equation; where its variance is 0 at the estimate, in closed
    form.
    """
    if b == c == 0:
        end = z * z / (n + z * z)
        return -end, end
    if n in (b, c):
        end = (n - z * z) / (n + z * z)
        return (end, 1.0) if b == n else (-1.0, -end)
    from scipy.optimize import brentq

    def score(delta: float, side: float) -> float:
        """Numerator minus side * z * standard error: one root on each side of the estimate."""
        linear = -b - c + (2 * n - b + c) * delta
        constant = -c * delta * (1 - delta)
        root = math.sqrt(max(linear * linear - 8 * n * constant, 0.0))
        # Two forms of the same solution: the one without cancellation is taken.
        q = -2 * constant / (root + linear) if linear > 0 else (root - linear) / (4 * n)
        variance = n * (2 * q + delta * (1 - delta))
        return b - c - n * delta - side * z * math.sqrt(max(variance, 0.0))

    diff = (b - c) / n
    low = brentq(score, -1.0, diff, args=(1.0,), xtol=1e-14)
    high = brentq(score, diff, 1.0, args=(-1.0,), xtol=1e-14)
    return float(low), float(high)


def difference(k1: int, n1: int, k2: int, n2: int, *, level: float = 0.95) -> Difference:
    """Difference of two rates of **different** cases; for the same cases use `paired_difference`.

    Returns
    -------
    Difference
        `diff` = k1/n1 - k2/n2; Newcombe's limits for independent rates, clipped to [-1, 1]; `p` of
        Fisher's exact test. All NaN when either n is 0.

    Source
    ------
    Newcombe 1998, Stat Med 17:873. The interval and the test are statsmodels' and scipy's.

    Example
    -------
    >>> r = difference(9, 10, 3, 10)
    >>> round(r.low, 6), round(r.high, 6), round(r.p, 6)
    (0.170523, 0.809018, 0.019767)
    """
    level = level_of(level)
    k1, n1 = (int(x) for x in counts_of(count(k1, "k1"), count(n1, "n1"), ("k1", "n1")))
    k2, n2 = (int(x) for x in counts_of(count(k2, "k2"), count(n2, "n2"), ("k2", "n2")))
    if n1 == 0 or n2 == 0:
        return Difference(math.nan, math.nan, math.nan, math.nan)
    from scipy.stats import fisher_exact
    from statsmodels.stats.proportion import confint_proportions_2indep

    # The result is a tuple in every release, but not always of the same type.
    low, high = (
        float(end)
        for end in confint_proportions_2indep(k1, n1, k2, n2, method="newcomb", alpha=1 - level)
    )
    p = float(fisher_exact(np.array([[k1, n1 - k1], [k2, n2 - k2]])).pvalue)
    return Difference(k1 / n1 - k2 / n2, max(-1.0, low), min(1.0, high), min(p, 1.0))


def paired_quantile(differences: Any, q: float, *, level: float = 0.95) -> PairedQuantile:
    """Quantile of measured differences (latency, tokens) with a distribution-free interval.

    Parameters
    ----------
    differences : one number per pair, in the unit of the measurement.
    q : the quantile, inside (0, 1).

    Returns
    -------
    PairedQuantile
        `value` = the element at floor((n-1)q + 1/2); `low`, `high` = order statistics whose ranks
        are `low_index`, `high_index` (from 1; 0 and n+1 are open ends, -Inf and Inf); their
        `coverage`.

    Not computable when
    -------------------
    There is no pair: NaN, never 0 ms.

    Raises
    ------
    ValueError
        A NaN among the differences: leave out the pair that was not measured, and say so.

    Source
    ------
    David, Nagaraja 2003, Order Statistics. Agrees with R's `qbinom` for the ranks.

    Example
    -------
    >>> r = paired_quantile([1, 2, 3, 4, 5], 0.5)
    >>> r.value, r.high, r.note
    (3.0, inf, 'no lower and no upper limit from 5 pairs')
    """
    level, q = level_of(level), fraction(q, "q", open_ends=True)
    array = np.asarray(differences)
    if array.ndim != 1:
        raise ValueError(f"differences must be one number per pair, got {array.ndim} dimensions")
    if array.size and array.dtype.kind not in "fiu":
        raise TypeError(f"differences must be numbers, got {array.dtype}")
    values = np.sort(array.astype(float))
    if np.isnan(values).any():
        raise ValueError(
            "differences must not hold NaN; leave out the pairs that were not measured"
        )
    n = values.size
    if n == 0:
        nan = math.nan
        return PairedQuantile(nan, nan, nan, nan, nan, nan, 0, "no pair")
    # Half rounds up, on every rank: Python's round would go to the even one.
    value = float(values[math.floor((n - 1) * q + 0.5)])
    low_index, high_index = (
        int(binom.ppf(tail, n, q)) for tail in ((1 - level) / 2, (1 + level) / 2)
    )
    high_index += 1
    coverage = float(binom.cdf(high_index - 1, n, q) - binom.cdf(low_index - 1, n, q))
    low = float(values[low_index - 1]) if low_index else -math.inf
    high = float(values[high_index - 1]) if high_index <= n else math.inf
    open_ends = " and ".join(
        word
        for word, is_open in (("no lower", not low_index), ("no upper", high_index > n))
        if is_open
    )
    note = f"{open_ends} limit from {n} pair{'s' * (n > 1)}" if open_ends else ""
    return PairedQuantile(value, low, high, low_index, high_index, coverage, n, note)
