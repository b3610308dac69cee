"""Paired modes: the exact McNemar test, Holm's correction, Cohen's h.

Cases are counted once per pair of modes: `both`, `b` (only the first mode, A), `c` (only the
second, B) and `neither` had the event. Every difference is A minus B. Its intervals stand in
`differences.py`, cases that are not independent in `paired.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betainc

from ._check import choice, count, fraction

TAIL_TERMS = 100_000  # enough for every tail below 1e-290 with up to 1e10 discordant pairs


@dataclass(frozen=True)
class McNemar:
    """Result of `mcnemar`: the exact p decides, mid_p stands beside it, log10_p never
    underflows.
    """

    p: float
    mid_p: float
    log10_p: float
    n_discordant: int
    note: str


@dataclass(frozen=True)
class Holm:
    """Result of `holm`: arrays in the order of the input, and the two counts of the family."""

    adjusted: np.ndarray[Any, np.dtype[np.float64]]
    reject: np.ndarray[Any, np.dtype[np.bool_]]
    family_size: int
    tested: int


def mcnemar(b: int, c: int) -> McNemar:
    """Exact two-sided McNemar test from the two discordant counts.

    Parameters
    ----------
    b, c : cases where only the first, only the second mode had the event.

    Returns
    -------
    McNemar
        `p` = twice the smaller binomial tail, cut at 1; `mid_p`; `log10_p`; `n_discordant` = b + c.

    Notes
    -----
    The small tail is summed; the large one, doubled, gives "probabilities" above 1. `p` may
    underflow to 0.0 below 1e-308, then print `log10_p`. At b = c three mid-p conventions are in
    use: 1 - f/2 (Fagerland et al.), 1, and 1 - f, with f the probability of the middle count. The
        first is used.

    Source
    ------
    McNemar 1947; Fagerland, Lydersen, Laake 2013, BMC Med Res Methodol 13:91. Agrees with R's
    `binom.test(min(b, c), b + c)`.

    Example
    -------
    >>> round(mcnemar(1, 9).p, 7), round(mcnemar(3, 3).mid_p, 7)
    (0.0214844, 0.84375)
    """
    b, c = count(b, "b"), count(c, "c")
    total, small = b + c, min(b, c)
    if total == 0:
        return McNemar(1.0, 1.0, 0.0, 0, "no discordant pairs")
    tail, shorter = _tail(small, total), _tail(small - 1, total)
    if b == c:
        return McNemar(
            1.0, 0.5 + shorter, 0.0, total, ""
        )  # 1 - f/2, since the shorter tail is 1/2 - f/2
    # At |b - c| = 1 the doubled tail is exactly 1; elsewhere it is below 1.
    p = 1.0 if abs(b - c) == 1 else 2 * tail
    return McNemar(p, tail + shorter, _log10_p(small, total, p), total, "")


def _tail(small: int, total: int) -> float:
    """P(X <= small) of a fair coin thrown `total` times."""
    return float(betainc(total - small, small + 1, 0.5)) if small >= 0 else 0.0


def _log10_p(small: int, total: int, p: float) -> float:
    """log10 of the doubled tail; where p is too small for a float, by log-gamma and a sum of
    ratios.
    """
    if p > 1e-290:
        return math.log10(p)
    log_middle = math.lgamma(total + 1) - math.lgamma(small + 1) - math.lgamma(total - small + 1)
    # Each term of the tail is the one above it times i / (total - i + 1), so the sum stays near 1.
    i = np.arange(small, max(0, small - TAIL_TERMS), -1, dtype=float)
    ratios = 1 + float(np.cumprod(i / (total - i + 1)).sum())
    return (log_middle + math.log(ratios)) / math.log(10) - (total - 1) * math.log10(2)


def holm(p: Any, *, family: str = "all", alpha: float = 0.05) -> Holm:
    """Holm's step-down correction of a family of p-values, with an open rule for untested ones.

    Parameters
    ----------
    p : one-dimensional p-values; NaN marks a comparison that was planned and could not be tested.
    family : "all" counts NaN as members (the family was fixed before the data), "tested" does not.
    alpha : the error rate of the family that `reject` is judged by.

    Returns
    -------
    Holm
        `adjusted` (NaN stays NaN), `reject` (False for NaN, always), `family_size`, `tested`.

    Raises
    ------
    ValueError
        A p outside [0, 1], or an array that is not one-dimensional.

    Notes
    -----
    One rule decides: adjusted <= alpha, with a relative slack of 1e-12, so that an adjusted p and
        its
    decision never disagree. The step-down is written out: statsmodels' `multipletests` agrees
    without NaN, but rejects a NaN and runs Python's garbage collector on each call (25 ms and
    more).

    Source
    ------
    Holm 1979, Scand J Stat 6:65. Agrees with R's `p.adjust(p, "holm", n)`.

    Example
    -------
    >>> [round(float(x), 3) for x in holm([0.01, float("nan"), 0.03]).adjusted]
    [0.03, nan, 0.06]
    """
    family = choice(family, "family", ("all", "tested"))
    alpha = fraction(alpha, "alpha", open_ends=True)
    values = _p_values(p)
    valid = ~np.isnan(values)
    tested = int(valid.sum())
    size = values.size if family == "all" else tested
    adjusted = np.full(values.size, np.nan)
    order = np.argsort(values, kind="stable")[:tested]  # NaN sorts last
    steps = np.maximum.accumulate(values[order] * (size - np.arange(tested)))
    adjusted[order] = np.minimum(steps, 1.0)
    reject = np.zeros(values.size, dtype=bool)
    reject[valid] = adjusted[valid] <= alpha * (1 + 1e-12)
    return Holm(adjusted, reject, int(size), tested)


def _p_values(p: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """p-values as a vector of floats, checked."""
    array = np.asarray(p)
    if array.ndim != 1:
        raise ValueError(
            f"p must be a one-dimensional list of p-values, got {array.ndim} dimensions"
        )
    if array.size and array.dtype.kind not in "fiu":
        raise TypeError(f"p must be numbers (NaN for a comparison not tested), got {array.dtype}")
    values = array.astype(float)
    wrong = values[(values < 0) | (values > 1)]
    if wrong.size:
        raise ValueError(f"p must lie in [0, 1], got {wrong[0]}")
    return values


def cohens_h(p1: float, p2: float) -> float:
    """Cohen's signed effect size of two proportions, 2 asin(sqrt p1) - 2 asin(sqrt p2).

    Raises
    ------
    ValueError
        A proportion outside [0, 1]; percentages are refused.

    Source
    ------
    Cohen 1988. Agrees with R's `pwr::ES.h`.

    Example
    -------
    >>> round(cohens_h(0.35, 0.19), 6)
    0.36405
    """
    from statsmodels.stats.proportion import proportion_effectsize

    return float(proportion_effectsize(fraction(p1, "p1"), fraction(p2, "p2")))
