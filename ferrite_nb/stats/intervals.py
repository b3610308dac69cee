"""Intervals of one proportion: k of n cases, and what the rate may be.

Wilson is the default everywhere: it keeps its level on average, also for small n and rare events,
    and it
never leaves [0, 1]. Clopper-Pearson is for rules that must never cover less than they say. The
textbook (normal) interval is refused: at 0 of n it is [0, 0], which claims certainty out of a few
cases.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainccinv, betaincinv, ndtri

from . import _check

METHODS = {  # ours, and what statsmodels calls it
    "wilson": "wilson",
    "clopper-pearson": "beta",
    "jeffreys": "jeffreys",
    "agresti-coull": "agresti_coull",
}
_REFUSED = {
    "normal": "the normal interval has no width at 0 of n and covers far too little for rare events"
}

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """The two ends of an interval: floats, or arrays of the shape of k and n."""

    low: Any
    high: Any


@dataclass(frozen=True)
class ExactTest:
    """P values of the exact binomial test: rate different, rate smaller, rate greater than the
    given one.
    """

    two_sided: float
    less: float
    greater: float


@dataclass(frozen=True)
class MissingBounds:
    """The rate if no unknown outcome, and if every unknown outcome, were an event."""

    floor: float
    ceiling: float


def interval(
    k: Any, n: Any, *, method: str = "wilson", level: float = 0.95, z: float | None = None
) -> Interval:
    """The two-sided confidence interval of a proportion.

    Parameters
    ----------
    k, n : int or array of int
        Events and cases; arrays broadcast against each other.
    method : {"wilson", "clopper-pearson", "jeffreys", "agresti-coull"}
    level : float
        Confidence level in (0, 1), 0.95 and not 95.
    z : float, optional
        The normal quantile itself in place of `level`; wilson and agresti-coull only.

    Returns
    -------
    Interval
        `low` and `high`, proportions: floats for scalars, arrays for arrays. For every method the
            low end
        at k = 0 is exactly 0.0 and the high end at k = n exactly 1.0.

    Not computable when
        n = 0: both ends are NaN.

    Raises
    ------
    TypeError
        A count is text or None.
    ValueError
        A count is a fraction, negative, a boolean or missing, k > n, the level is not inside (0,
        1), the method is unknown, or `z` is given together with a level or with a method that has
        no z.

    Notes
    -----
    The jeffreys ends at k = 0 and k = n are set by the rule of Brown, Cai and DasGupta; the other
    end stays the plain quantile. Its coverage falls to .88 at n = 100; wilson stays near its level
    on average.

    Source
    ------
    Wilson 1927; Clopper, Pearson 1934; Agresti, Coull 1998; Brown, Cai, DasGupta 2001. Tested
    against R and mpmath.

    Example
    -------
    >>> from ferrite_nb.stats import interval
    >>> ends = interval(30, 200)
    >>> round(ends.low, 6), round(ends.high, 6)
    (0.107136, 0.206056)
    >>> interval(0, 22).low
    0.0
    """
    events, cases = _check.counts_of(k, n)
    _check.choice(method, "method", tuple(METHODS), _REFUSED)
    level = _check.level_of(level)
    if z is not None and method not in ("wilson", "agresti-coull"):
        raise ValueError(
            f"z works with wilson and agresti-coull only, got method = {method!r}; give level"
        )
    quantile = None if z is None else _check.z_of(level, z)
    # floats, because the square of a large integer n overflows in silence
    some = np.where(cases > 0, cases, 1).astype(np.float64)
    low, high = _ends(events.astype(np.float64), some, method, level, quantile)
    low, high = _exact_ends(events, cases, low, high)
    if events.ndim == 0:
        return Interval(float(low), float(high))
    return Interval(low, high)


def limit(k: int, n: int, *, side: str, method: str = "wilson", level: float = 0.95) -> float:
    """The one-sided confidence limit of a proportion, with the whole error on that side.

    Parameters
    ----------
    k, n : int
        Events and cases.
    side : {"upper", "lower"}
    method, level
        As in `interval`; a limit at .95 is the end of the two-sided interval at .90.

    Returns
    -------
    float
        The limit, a proportion. The upper limit at k = n is 1.0, the lower limit at k = 0 is 0.0.

    Not computable when
        n = 0: NaN.

    Raises
    ------
    TypeError, ValueError
        As in `interval`.

    Notes
    -----
    The argument `alternative` of statsmodels is not used: there "larger" returns [0, upper].

    Example
    -------
    >>> from ferrite_nb.stats import limit
    >>> round(limit(0, 22, side="upper"), 6)
    0.109512
    """
    events, cases = _check.count(k, "k"), _check.count(n, "n")
    _check.choice(side, "side", ("upper", "lower"))
    level = _check.level_of(level)
    if level > 0.5:
        ends = interval(events, cases, method=method, level=2 * level - 1)
        return float(ends.high if side == "upper" else ends.low)
    _check.counts_of(events, cases)
    _check.choice(method, "method", tuple(METHODS), _REFUSED)
    return _inner_limit(events, cases, side, method, level)


def exact_test(k: int, n: int, rate: float) -> ExactTest:
    """The exact binomial test of an observed rate against a fixed one.

    Parameters
    ----------
    k, n : int
        Events and cases.
    rate : float
        The rate to test against, in [0, 1].

    Returns
    -------
    ExactTest
        `two_sided` (the sum of all outcomes that are at most as likely as the observed one),
        `less`, `greater`.

    Not computable when
        n = 0: all NaN.

    Raises
    ------
    TypeError, ValueError
        As in `interval`; a rate outside [0, 1].

    Notes
    -----
    Never the z test: at k = 0 its estimated standard error is 0 and its p value 0 or missing.

    Example
    -------
    >>> from ferrite_nb.stats import exact_test
    >>> round(exact_test(0, 22, 0.1).two_sided, 4)
    0.1606
    """
    from scipy.stats import binomtest

    events, cases = _check.count(k, "k"), _check.count(n, "n")
    _check.counts_of(events, cases)
    rate = _check.fraction(rate, "rate")
    if cases == 0:
        return ExactTest(float("nan"), float("nan"), float("nan"))

    return ExactTest(
        two_sided=float(binomtest(events, cases, rate).pvalue),
        less=float(binomtest(events, cases, rate, alternative="less").pvalue),
        greater=float(binomtest(events, cases, rate, alternative="greater").pvalue),
    )


def missing_bounds(k: int, n: int, missing: int) -> MissingBounds:
    """The lowest and the highest rate that unknown outcomes leave possible.

    Parameters
    ----------
    k, n : int
        Events and cases among the known outcomes.
    missing : int
        The number of cases whose outcome is unknown; they are not part of n.

    Returns
    -------
    MissingBounds
        `floor` and `ceiling`, proportions: the worst cases, not an interval.

    Not computable when
        There is no case at all: both NaN.

    Raises
    ------
    TypeError, ValueError
        As in `interval`.

    Source
    ------
    Manski, worst-case bounds.

    Example
    -------
    >>> from ferrite_nb.stats import missing_bounds
    >>> bounds = missing_bounds(30, 200, 10)
    >>> round(bounds.floor, 6), round(bounds.ceiling, 6)
    (0.142857, 0.190476)
    """
    events, cases, unknown = (
        _check.count(k, "k"),
        _check.count(n, "n"),
        _check.count(missing, "missing"),
    )
    _check.counts_of(events, cases)
    everything = cases + unknown
    if everything == 0:
        return MissingBounds(float("nan"), float("nan"))
    return MissingBounds(events / everything, (events + unknown) / everything)


def score_limits(rate: Any, n: Any, z: Any) -> tuple[Any, Any]:
    """The Wilson formula for any real n > 0: also for an effective sample size and a Student
    quantile.
    """
    shrink = 1 + z**2 / n
    centre = (rate + z**2 / (2 * n)) / shrink
    half_width = z * np.sqrt(rate * (1 - rate) / n + z**2 / (4 * n**2)) / shrink
    return np.clip(centre - half_width, 0, 1), np.clip(centre + half_width, 0, 1)


def _added_limits(k: Any, n: Any, z: Any) -> tuple[Any, Any]:
    """The Agresti-Coull formula: the normal interval after z**2 more cases, half of them events."""
    more = n + z**2
    rate = (k + z**2 / 2) / more
    half_width = z * np.sqrt(rate * (1 - rate) / more)
    return np.clip(rate - half_width, 0, 1), np.clip(rate + half_width, 0, 1)


def _ends(
    k: Floats, n: Floats, method: str, level: float, z: float | None
) -> tuple[Floats, Floats]:
    """Both ends before the exact ends are set."""
    if z is not None:
        return score_limits(k / n, n, z) if method == "wilson" else _added_limits(k, n, z)
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(k, n, alpha=1 - level, method=METHODS[method])
    return np.asarray(low), np.asarray(high)


def _exact_ends(
    events: NDArray[np.int64], cases: NDArray[np.int64], low: Floats, high: Floats
) -> tuple[Floats, Floats]:
    """Set what rounding and the jeffreys prior miss: 0 at k = 0, 1 at k = n; NaN without a case."""
    low = np.where(events == 0, 0.0, np.clip(low, 0, 1))
    high = np.where(events == cases, 1.0, np.clip(high, 0, 1))
    return np.where(cases == 0, np.nan, low), np.where(cases == 0, np.nan, high)


def _inner_limit(k: int, n: int, side: str, method: str, level: float) -> float:
    """A limit at a level of at most one half, where no two-sided interval ends: the tail formula
    itself.
    """
    if n == 0:
        return float("nan")
    if (side, k) in (("lower", 0), ("upper", n)):
        return 0.0 if side == "lower" else 1.0
    if method in ("wilson", "agresti-coull"):
        z = float(ndtri(level))  # zero or negative: the ends change places
        ends = score_limits(k / n, n, z) if method == "wilson" else _added_limits(k, n, z)
        return float(ends[1] if side == "upper" else ends[0])
    prior = 0.5 if method == "jeffreys" else 0.0
    if side == "upper":
        return float(betaincinv(k + (prior or 1.0), n - k + prior, level))
    return float(betainccinv(k + prior, n - k + (prior or 1.0), level))
