"""Looking more than once: early looks at a gate, repeated tests, runs until a pass, alarms over
releases.

Each look is another chance, for a bad system to pass and for a quiet series to alarm. The
probabilities are exact: the distribution of the count is carried from look to look by convolution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from ._check import choice, count, counts, fraction, items
from .planning import discordant_limit


@dataclass(frozen=True)
class Looks:
    """Result of `repeated_looks` and `repeated_tests`.

    `at_each` is the probability to stop first at each look, `any_look` their sum, `last_look` the
    probability of the same result when only the last look is taken, `mean_n` the cases used on
    average.
    """

    at_each: NDArray[np.float64]
    any_look: float
    last_look: float
    mean_n: float


def repeated_looks(sizes: Any, limits: Any, rate: float, *, direction: str = "at most") -> Looks:
    """Probability to pass when the gate is tried early and the run stops at the first pass.

    Parameters
    ----------
    sizes : numbers of cases at the looks, increasing.
    limits : the k of the gate at each look, from `largest_k` or `smallest_k`; None where no k
        passes.
    rate : true rate of the system.
    direction : "at most" or "at least".

    Example
    -------
    >>> looks = repeated_looks([200, 400, 600], [0, 3, 5], 0.02)
    >>> round(looks.any_look, 3), round(looks.last_look, 3)
    (0.057, 0.019)
    """
    direction = choice(direction, "direction", ("at most", "at least"))
    n, rate = _sizes(sizes), fraction(rate, "rate")
    limits = items(limits, "limits")
    if len(limits) != n.size:
        raise ValueError(
            f"sizes and limits must have one entry per look, got {n.size} and {len(limits)}"
        )
    masks = []
    for size, limit in zip(n.tolist(), limits, strict=True):
        events = np.arange(size + 1)
        if limit is None:
            masks.append(np.zeros(size + 1, dtype=bool))
        else:
            k = count(limit, "limits")
            masks.append(events <= k if direction == "at most" else events >= k)
    return _stopped(n, masks, rate)


def repeated_tests(sizes: Any, *, alpha: float = 0.05, share: float = 0.5) -> Looks:
    """Probability that the exact sign (McNemar) test reaches p <= alpha at any of several looks.

    Parameters
    ----------
    sizes : numbers of discordant pairs at the looks, increasing.
    alpha : the limit for p at each look.
    share : true share of pairs that only the first mode has; one half is "no effect".

    Example
    -------
    >>> looks = repeated_tests(range(10, 101, 10))
    >>> round(looks.last_look, 4), round(looks.any_look, 3)
    (0.0352, 0.143)
    """
    n, share = _sizes(sizes), fraction(share, "share")
    critical = discordant_limit(n, fraction(alpha, "alpha", open_ends=True))
    masks = []
    for size, limit in zip(n.tolist(), critical.tolist(), strict=True):
        b = np.arange(size + 1)
        masks.append(np.minimum(b, size - b) <= limit)
    return _stopped(n, masks, share)


def _sizes(sizes: Any) -> NDArray[np.int64]:
    """Sizes of the looks: at least one, each larger than the one before."""
    n = counts(items(sizes, "sizes"), "sizes")
    if n.ndim != 1 or not n.size or n[0] == 0 or (np.diff(n) <= 0).any():
        raise ValueError(
            f"sizes must increase from look to look, starting above 0, got {n.tolist()}"
        )
    return n


def _stopped(n: NDArray[np.int64], masks: list[NDArray[np.bool_]], rate: float) -> Looks:
    """Carry the distribution of the count from look to look, taking out what stops at each."""
    going, before, at_each = np.ones(1), 0, []
    for size, mask in zip(n.tolist(), masks, strict=True):
        more = size - before
        going = np.convolve(going, binom.pmf(np.arange(more + 1), more, rate))
        at_each.append(float(going[mask].sum()))
        going, before = np.where(mask, 0.0, going), size
    last = float(binom.pmf(np.arange(n[-1] + 1), n[-1], rate)[masks[-1]].sum())
    used = math.fsum(p * size for p, size in zip(at_each, n.tolist(), strict=True))
    return Looks(
        np.array(at_each), math.fsum(at_each), last, used + float(going.sum()) * int(n[-1])
    )


def at_least_once(probability: float, times: int) -> float:
    """Probability that something of this probability happens at least once in independent tries.

    It is the chance to pass by running again until a pass, the chance that one of many variants
    passes, and the chance of a false alarm over many releases.

    Example
    -------
    >>> round(at_least_once(0.05, 20), 3)
    0.642
    """
    probability, times = fraction(probability, "probability"), count(times, "times")
    if probability == 1:
        return 1.0 if times else 0.0
    return -math.expm1(times * math.log1p(-probability))
