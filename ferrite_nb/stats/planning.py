"""Planning before the run: how many cases, what power, and what a pass rule lets through.

A gate is a rule and its operating curve: `largest_k` and `smallest_k` turn a requirement into a
    whole
number of events, `operating_curve` says how often systems of each true rate then pass. All routines
are exact; none simulates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from ._check import choice, count, counts_of, fraction, level_of, z_of
from .anytime import anytime_interval
from .intervals import interval, limit

SLACK = 1e-12  # a bound that equals its threshold passes, whatever the last digit of either
GATE_METHODS = ("wilson", "clopper-pearson", "jeffreys", "agresti-coull", "point", "anytime")


@dataclass(frozen=True)
class SampleSize:
    """Result of `n_for_h`: `n` cases per group, and the root that was rounded up."""

    n: int
    exact: float


def n_for_half_width(p: float, half_width: float, *, level: float = 0.95) -> int:
    """Smallest n whose Wilson interval at rate p is at most `half_width` to either side.

    Parameters
    ----------
    p : the rate expected, in [0, 1], taken as continuous.
    half_width : half the length of the interval, a proportion in (0, 1): 0.03 is three points.
    level : confidence level.

    Notes
    -----
    The half-width falls with every case, so the answer holds for all larger n too. It solves
    (w/z)**2 (n + z**2)**2 = p(1-p) n + z**2/4.

    Example
    -------
    >>> n_for_half_width(0.5, 0.05), n_for_half_width(0, 0.01)
    (381, 189)
    """
    p, half_width = fraction(p, "p"), fraction(half_width, "half_width", open_ends=True)
    z2 = z_of(level) ** 2
    ratio, spread = half_width**2 / z2, p * (1 - p)
    linear, constant = 2 * ratio * z2 - spread, ratio * z2 * z2 - z2 / 4
    if constant >= 0:  # at least one half wide: any case will do
        return 1
    # constant < 0, so the root is real and positive; the form without cancellation is taken.
    root = math.sqrt(linear * linear - 4 * ratio * constant)
    exact = (root - linear) / (2 * ratio) if linear < 0 else -2 * constant / (linear + root)
    return max(1, math.ceil(exact * (1 - SLACK)))


def n_for_zero_events(max_rate: float, *, level: float = 0.95) -> int:
    """Cases needed, all without the event, to show that its rate is below `max_rate`.

    It is the smallest n with (1 - max_rate)**n <= 1 - level: the one-sided Clopper-Pearson limit.

    Example
    -------
    >>> n_for_zero_events(0.001)
    2995
    """
    max_rate, level = fraction(max_rate, "max_rate", open_ends=True), level_of(level)
    return max(1, math.ceil(math.log1p(-level) / math.log1p(-max_rate) * (1 - SLACK)))


def smallest_discordant(family: int = 6, *, alpha: float = 0.05, mid_p: bool = False) -> int:
    """Fewest discordant pairs, all on one side, whose McNemar p can pass the first step of Holm.

    Parameters
    ----------
    family : number of comparisons.
    alpha : error rate of the family.
    mid_p : judge by the mid-p instead of the exact p.

    Example
    -------
    >>> smallest_discordant(), smallest_discordant(1), smallest_discordant(mid_p=True)
    (8, 6, 7)
    """
    family, alpha = count(family, "family"), fraction(alpha, "alpha", open_ends=True)
    if family == 0:
        raise ValueError("family must be at least 1, got 0")
    sides = 1 if mid_p else 2
    return max(1, math.ceil(math.log2(sides * family / alpha) - SLACK))


def mcnemar_power(n: int, p_b: float, p_c: float, *, alpha: float = 0.05) -> float:
    """Probability that the exact McNemar test on n cases reaches p <= alpha.

    Parameters
    ----------
    n : cases run in both modes.
    p_b, p_c : probability that a case has the event only in the first, only in the second mode.
    alpha : the limit for p; alpha/6 for the first step of Holm over six comparisons.

    Notes
    -----
    Exact: the discordant pairs are Bin(n, p_b + p_c), and for each number of them the rejection
        region is
    two binomial tails. With no effect it gives the true size of the test, which is below alpha.

    Example
    -------
    >>> round(mcnemar_power(50, 0.12, 0), 4)
    0.5647
    """
    n, alpha = count(n, "n"), fraction(alpha, "alpha", open_ends=True)
    p_b, p_c = fraction(p_b, "p_b"), fraction(p_c, "p_c")
    discordant = p_b + p_c
    if discordant > 1 + SLACK:
        raise ValueError(f"p_b + p_c must be at most 1, got {p_b} + {p_c}")
    if discordant == 0:
        return 0.0
    total = np.arange(n + 1)
    critical = discordant_limit(total, alpha)
    share = p_b / discordant
    tails = binom.cdf(critical, total, share) + binom.sf(total - critical - 1, total, share)
    rejected = np.where(critical >= 0, tails, 0.0)
    return min(1.0, float(np.sum(binom.pmf(total, n, min(discordant, 1.0)) * rejected)))


def discordant_limit(total: NDArray[Any], alpha: float) -> NDArray[np.int64]:
    """Largest min(b, c) that the exact McNemar test rejects, per number of discordant pairs; -1:
    none.
    """
    largest = np.asarray(binom.ppf(alpha / 2, total, 0.5)).astype(np.int64)
    passes = 2 * binom.cdf(largest, total, 0.5) <= alpha * (1 + SLACK)
    return np.where(passes & (total > 0), largest, np.where(total > 0, largest - 1, -1))


def power_h(h: float, n: int, *, n2: int | None = None, alpha: float = 0.05) -> float:
    """Power of the two-sided comparison of two unmatched rates with effect size h.

    Parameters
    ----------
    h : Cohen's h, in [-pi, pi].
    n, n2 : cases in the two groups; n2 = n when left out.
    alpha : the test's level.

    Returns
    -------
    float
        Both tails are counted. NaN when a group is empty.

    Example
    -------
    >>> round(power_h(0.36405, 50), 4)
    0.4445
    """
    h, alpha = _effect(h), fraction(alpha, "alpha", open_ends=True)
    n = count(n, "n")
    n2 = n if n2 is None else count(n2, "n2")
    if n == 0 or n2 == 0:
        return math.nan
    return _two_tails(h * math.sqrt(n * n2 / (n + n2)), float(ndtri(1 - alpha / 2)))


def n_for_h(h: float, power: float, *, alpha: float = 0.05) -> SampleSize:
    """Cases per group for a power to find an effect size h between two unmatched rates.

    Parameters
    ----------
    h : Cohen's h, not 0; its sign does not matter.
    power : the wish, above alpha and below 1.
    alpha : the test's level.

    Returns
    -------
    SampleSize
        `n`, at least 2, and the `exact` root.

    Raises
    ------
    ValueError
        h = 0, or a power that is not above alpha (any n reaches it).

    Notes
    -----
    One bracketed root in the shift of the statistic, which always exists; no solver in n that may
    fail.

    Source
    ------
    Cohen 1988. Agrees with R's `pwr::pwr.2p.test` with a tight tolerance.

    Example
    -------
    >>> n_for_h(0.36405, 0.8).n
    119
    """
    from scipy.optimize import brentq

    h, alpha = _effect(h), fraction(alpha, "alpha", open_ends=True)
    power = fraction(power, "power", open_ends=True)
    if h == 0:
        raise ValueError("h must not be 0: no number of cases finds an effect that is not there")
    if power <= alpha:
        raise ValueError(f"power must be above alpha = {alpha}, got {power}; any n reaches that")
    z = float(ndtri(1 - alpha / 2))
    one_tail = z + float(ndtri(power))  # the other tail only adds power: the root lies below
    shift = float(brentq(lambda x: _two_tails(x, z) - power, 0.0, one_tail + 1e-9, xtol=1e-14))
    exact = 2 * (shift / h) * (shift / h)
    if not math.isfinite(exact):
        raise ValueError(f"h must be large enough for a finite number of cases, got {h}")
    return SampleSize(max(2, math.ceil(exact)), exact)


def _effect(h: Any) -> float:
    """An effect size h inside [-pi, pi]."""
    if isinstance(h, str | bytes) or h is None:
        raise TypeError(f"h must be a number, got {h!r}")
    number = float(h)
    if not abs(number) <= math.pi + 1e-9:
        raise ValueError(f"h must lie in [-pi, pi], got {h}; take it from cohens_h")
    return number


def _two_tails(shift: float, z: float) -> float:
    """Probability that a normal with this mean falls beyond z on either side."""
    return float(ndtr(shift - z) + ndtr(-shift - z))


def largest_k(
    n: int,
    threshold: float,
    *,
    method: str = "wilson",
    sides: str = "two",
    level: float = 0.95,
    z: float | None = None,
) -> int | None:
    """Largest number of events in n cases that still passes "at most `threshold`".

    Parameters
    ----------
    n : cases; `threshold`: the largest rate allowed, in [0, 1].
    method : the bound: "wilson", "clopper-pearson", "jeffreys", "agresti-coull"; or "point": k/n
        itself.
    sides : "two": the end of the two-sided interval at `level`; "one": the one-sided limit at
        `level`.
    z : the quantile itself, for two-sided wilson and agresti-coull.

    Returns
    -------
    int or None
        None when not even 0 events pass: n is too small for this requirement.

    Example
    -------
    >>> largest_k(600, 0.02), largest_k(600, 0.02, method="point"), largest_k(100, 0.02)
    (5, 12, None)
    """
    n, threshold = count(n, "n"), fraction(threshold, "threshold")
    bound = _bound(n, "upper", method, sides, level, z)

    def passes(k: int) -> bool:
        return bound(k) <= threshold + SLACK

    if n == 0 or not passes(0):
        return None
    low, high = 0, n + 1  # the upper bound grows with k: passes(low) holds, passes(high) does not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if passes(middle) else (low, middle)
    return low


def smallest_k(
    n: int,
    threshold: float,
    *,
    method: str = "wilson",
    sides: str = "two",
    level: float = 0.95,
    z: float | None = None,
) -> int | None:
    """Smallest number of events in n cases that passes "at least `threshold`".

    The arguments are those of `largest_k`.

    Returns
    -------
    int or None
        None when not even n events pass.

    Example
    -------
    >>> smallest_k(300, 0.9), smallest_k(300, 0.9, method="point")
    (281, 270)
    """
    n, threshold = count(n, "n"), fraction(threshold, "threshold")
    bound = _bound(n, "lower", method, sides, level, z)

    def passes(k: int) -> bool:
        return bound(k) >= threshold - SLACK

    if n == 0 or not passes(n):
        return None
    low, high = -1, n  # passes(high) holds, passes(low) does not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high


def _bound(
    n: int, side: str, method: str, sides: str, level: float, z: float | None
) -> Callable[[int], float]:
    """The number that a gate compares with its threshold, as a function of k; arguments are checked
    once.
    """
    choice(method, "method", GATE_METHODS)
    choice(sides, "sides", ("two", "one"))
    level_of(level)
    if z is not None:
        z_of(level, z)
        if sides == "one" or method == "point":
            raise ValueError(
                f"z needs a two-sided interval, got sides = {sides!r}, method = {method!r}"
            )
    if method == "point":
        return lambda k: k / n
    if sides == "one":
        return lambda k: limit(k, n, side=side, method=method, level=level)
    end = {"upper": "high", "lower": "low"}[side]
    if method == "anytime":
        return lambda k: float(getattr(anytime_interval(k, n, level=level), end))
    return lambda k: float(getattr(interval(k, n, method=method, level=level, z=z), end))


def operating_curve(n: int, k: int, rates: Any, *, direction: str = "at most") -> Any:
    """Probability that a system passes the gate, at each true rate.

    Parameters
    ----------
    n, k : the gate: k events in n independent cases.
    rates : true rates in [0, 1], one or many.
    direction : "at most" k events pass, or "at least" k.

    Returns
    -------
    array of the shape of `rates`, a float for one rate. NaN when n = 0.

    Example
    -------
    >>> [round(float(p), 4) for p in operating_curve(600, 5, [0.005, 0.01, 0.02])]
    [0.9166, 0.4449, 0.0195]
    """
    direction = choice(direction, "direction", ("at most", "at least"))
    k, n = (int(x) for x in counts_of(count(k, "k"), count(n, "n")))
    values = np.asarray(rates)
    if values.size and values.dtype.kind not in "fiu":
        raise TypeError(f"rates must be numbers, got {values.dtype}")
    values = values.astype(float)
    wrong = values[~((values >= 0) & (values <= 1))]
    if wrong.size:
        raise ValueError(f"rates must lie in [0, 1], got {wrong[0]}")
    passed: Any = np.full(values.shape, math.nan)
    if n:
        passed = binom.cdf(k, n, values) if direction == "at most" else binom.sf(k - 1, n, values)
    return np.asarray(passed) if values.ndim else float(passed)
