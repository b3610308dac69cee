"""Which of several strata may be the worst: limits that hold for all of them together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _check
from .intervals import Interval, interval


@dataclass(frozen=True)
class Worst(Interval):
    """Limits of each stratum that hold together, and whether it may have the highest rate."""

    possible: Any


def worst(k: Any, n: Any, *, level: float = 0.95) -> Worst:
    """The strata that may have the highest rate: the largest of many noisy rates need not be it.

    Parameters
    ----------
    k, n : array of int
        Events and cases of each stratum. Where a low rate is the bad one, give n - k.
    level : float
        The chance that all limits hold, so that the set holds the worst stratum.

    Returns
    -------
    Worst
        `low`, `high`: Clopper-Pearson at level^(1/S) for the S strata with a case; `possible`: its
        high end reaches the largest low end. A stratum without a case has NaN limits and stays
        possible: nothing rules it out.

    Notes
    -----
    Cases and strata are independent. Rates are not pulled towards each other: that would hide a
    single bad stratum, which is what is looked for.

    Source
    ------
    Clopper, Pearson 1934; Šidák 1967 for level^(1/S).

    Example
    -------
    >>> worst([0, 0, 1, 2, 0, 1, 0, 6], [20] * 8).possible.all()
    np.True_
    >>> worst([1, 2, 30], [100, 100, 100]).possible.tolist()
    [False, False, True]
    """
    events, cases = _check.series(k, n)
    each = _check.level_of(level) ** (1 / max(int((cases > 0).sum()), 1))
    ends = interval(events, cases, method="clopper-pearson", level=each)
    # a comparison with NaN is false: a stratum without a case is never below
    below = ends.high < np.max(ends.low, where=cases > 0, initial=0.0)
    return Worst(ends.low, ends.high, ~below)
