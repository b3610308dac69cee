"""A measurement programme: how many cases a gate needs, what it tells apart, and several gates
together.

One gate has one operating curve (`planning.py`). A release meets several gates; gates tried again
or early stand in `looks.py`. Everything here is exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from ._check import choice, count, counts_of, fraction, items, level_of
from .intervals import interval
from .planning import GATE_METHODS, SLACK

LARGEST_N = 10**9  # a requirement that needs more cases than this is no plan


@dataclass(frozen=True)
class GateSize:
    """Result of `n_for_gate`: `first` n that reaches the power, and from `lasting` on every larger
    one does.
    """

    first: int
    lasting: int


@dataclass(frozen=True)
class GatesTogether:
    """Result of `gates_together`: independent gates, and the limits for any dependence between
    them.
    """

    independent: float
    low: float
    high: float


@dataclass(frozen=True)
class PossibleCounts:
    """Result of `possible_counts`: whether the rate is a count of n, and the neighbours that
    are.
    """

    possible: bool
    below: int
    above: int


def _rule(method: str, sides: str, level: float) -> tuple[str, float]:
    """The method and the two-sided level whose upper end is the bound of the gate."""
    choice(method, "method", GATE_METHODS)
    choice(sides, "sides", ("two", "one"))
    level = level_of(level)
    if sides == "one" and level <= 0.5:
        raise ValueError(f"a one-sided rule needs a level above one half, got {level}")
    return method, 2 * level - 1 if sides == "one" else level


def _smallest_sizes(
    k: NDArray[Any], threshold: float, rule: tuple[str, float]
) -> NDArray[np.int64]:
    """For each k the smallest n whose bound keeps to the threshold: bisection on all of them at
    once.
    """
    method, level = rule

    def passes(n: NDArray[Any]) -> NDArray[np.bool_]:
        if method == "point":
            return np.asarray(k <= (threshold + SLACK) * n)
        # With fewer cases than events there is no bound; such an n never passes.
        bound = interval(np.minimum(k, n), n, method=method, level=level).high
        return np.asarray((bound <= threshold + SLACK) & (n >= k))

    low = np.maximum(k - 1, 0).astype(np.int64)  # low fails, high passes: the bound falls with n
    high = low + 1
    while not (done := passes(high)).all():
        if high.max() > LARGEST_N:
            raise ValueError(f"threshold {threshold} needs more than {LARGEST_N} cases")
        low, high = np.where(done, low, high), np.where(done, high, 2 * high + 1)
    while (high - low > 1).any():
        middle = np.where(high - low > 1, (low + high) // 2, high)
        good = passes(middle)
        low, high = np.where(good, low, middle), np.where(good, middle, high)
    return np.asarray(high, dtype=np.int64)


def n_for_gate(
    threshold: float,
    rate: float,
    power: float,
    *,
    direction: str = "at most",
    method: str = "wilson",
    sides: str = "two",
    level: float = 0.95,
    step: int = 1,
) -> GateSize:
    """Cases that a gate needs to pass a system of a stated true rate with a stated probability.

    Parameters
    ----------
    threshold : the requirement, inside (0, 1); `direction`: "at most" or "at least".
    rate : true rate of the system, on the good side of the threshold.
    power : probability to pass, inside (0, 1).
    method, sides, level : the rule, as in `largest_k`.
    step : plan in whole steps of this many cases.

    Returns
    -------
    GateSize
        `first` multiple of `step` that reaches the power, and the one from which on all larger do.

    Raises
    ------
    ValueError
        A true rate on the wrong side: no number of cases makes such a system pass.

    Notes
    -----
    The probability is a saw-tooth: it falls with each case until one more event is allowed. So a
    size that reaches the power is not followed only by sizes that do, and both answers are given.

    Example
    -------
    >>> n_for_gate(0.02, 0.005, 0.9)
    GateSize(first=581, lasting=650)
    """
    direction = choice(direction, "direction", ("at most", "at least"))
    threshold = fraction(threshold, "threshold", open_ends=True)
    rate, power = fraction(rate, "rate"), fraction(power, "power", open_ends=True)
    step = count(step, "step")
    if direction == "at least":  # failures instead of successes: every rule is symmetric in the two
        threshold, rate = 1 - threshold, 1 - rate
    if rate >= threshold or step == 0:
        what = (
            "step must be at least 1" if step == 0 else "the true rate must keep to the threshold"
        )
        raise ValueError(f"{what}, got rate = {rate}, threshold = {threshold}, step = {step}")
    rule = _rule(method, sides, level)
    size = 64
    while True:
        sizes = _smallest_sizes(np.arange(size + 1), threshold, rule)
        # Beyond the last tooth Chernoff's bound keeps the failures below the wish, for every larger
        # n.
        if _chernoff(size, int(sizes[-1]) - 1, rate) < 1 - power:
            break
        size *= 2
    n = np.arange(1, math.ceil(sizes[-1] / step) + 1) * step
    allowed = np.searchsorted(sizes, n, side="right") - 1
    enough = (allowed >= 0) & (binom.cdf(allowed, n, rate) >= power - SLACK)
    short = np.flatnonzero(~enough)
    return GateSize(int(n[enough][0]), int(n[short[-1] + 1]) if short.size else step)


def _chernoff(k: int, n: int, rate: float) -> float:
    """An upper limit of P(X >= k), X of n cases at this rate; 1 where k/n is not above the rate."""
    share = min(k / n, 1.0) if n else 0.0
    if share <= rate:
        return 1.0
    if rate == 0:
        return 0.0
    rest = (1 - share) * math.log((1 - share) / (1 - rate)) if share < 1 else 0.0
    return math.exp(-n * (share * math.log(share / rate) + rest))


def gates_together(passes: Sequence[float]) -> GatesTogether:
    """Probability that a system passes all its gates.

    Parameters
    ----------
    passes : the probability to pass each gate, from `operating_curve` at the system's true rates.

    Returns
    -------
    GatesTogether
        The product for `independent` gates (other cases), and the `low` and `high` limits that hold
        however the gates hang together, as they do when they count events of the same cases.

    Source
    ------
    The limits are those of Frechet.

    Example
    -------
    >>> gates_together([0.9, 0.8]).independent, round(gates_together([0.9, 0.8]).low, 3)
    (0.7200000000000001, 0.7)
    """
    values = [fraction(p, "passes") for p in items(passes, "passes")]
    low = max(0.0, math.fsum(values) - len(values) + 1)
    return GatesTogether(math.prod(values), low, min(values, default=1.0))


def nested_gates(n: int, k: int, rate: float, inner_k: int, inner_rate: float) -> float:
    """Probability to pass two gates where the second counts some of the events of the first.

    Parameters
    ----------
    n, k, rate : the outer gate: at most k events (proposals) in n cases, at their true rate.
    inner_k, inner_rate : at most inner_k of those events go on (executions), each with this
        probability.

    Example
    -------
    >>> round(nested_gates(600, 5, 0.01, 0, 0.05), 4)
    0.3659
    """
    k, n = (int(x) for x in counts_of(count(k, "k"), count(n, "n")))
    inner_k = count(inner_k, "inner_k")
    rate, inner_rate = fraction(rate, "rate"), fraction(inner_rate, "inner_rate")
    events = np.arange(k + 1)
    return float(np.sum(binom.pmf(events, n, rate) * binom.cdf(inner_k, events, inner_rate)))


def possible_counts(rate: float, n: int) -> PossibleCounts:
    """Whether a rate can be a count out of n, and the two counts next to it.

    Example
    -------
    >>> possible_counts(0.93, 150)
    PossibleCounts(possible=False, below=139, above=140)
    """
    rate, n = fraction(rate, "rate"), count(n, "n")
    nearest = round(rate * n)
    if abs(rate * n - nearest) <= 1e-9 * max(1, n):
        return PossibleCounts(True, nearest, nearest)
    return PossibleCounts(False, math.floor(rate * n), math.ceil(rate * n))
