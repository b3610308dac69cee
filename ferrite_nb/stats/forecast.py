"""Success within more attempts than were made: the band that a falling hazard allows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from . import _check
from .intervals import Interval, interval

FARTHEST = 10  # budgets: beyond this the second half says nothing any more


@dataclass(frozen=True)
class Forecast(Interval):
    """The share broken beyond the budget, between "nothing more breaks" and "it goes on like the
    second half".
    """

    at_budget: float
    steady: float
    note: str = ""


def forecast(
    hits_by_half: int,
    hits: int,
    cases: int,
    attempts: int,
    within: int,
    *,
    level: float = 0.95,
) -> Forecast:
    """The share of cases that `within` attempts break, from runs of fewer attempts.

    Parameters
    ----------
    hits_by_half, hits : int
        Cases with a success by attempt `attempts // 2`, and by `attempts`.
    cases, attempts : int
        All cases, each followed to `attempts` (at least 2).
    within : int
        The budget asked for, larger than `attempts`.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    Forecast
        `low` and `high` of the band, the share `at_budget`, and `steady`: the share if the hazard
        of the second half goes on.

    Not computable when
    -------------------
    there is no case; the hazard rises (an attempt of the second half breaks more of those left than
    one of the first half did); `within` is beyond ten budgets: the band is NaN, `note` says why.

    Notes
    -----
    Where every case has a chance per attempt of its own that does not change, those left are the
    harder ones: the hazard can only fall, and the share lies between both ends. `low` is Wilson's
    limit at the budget; `high` joins Wilson's limits of the two halves on the log scale (MOVER).

    Source
    ------
    Zou, Donner 2008, Stat Med 27:1693, for joining the limits.

    Example
    -------
    >>> band = forecast(29, 43, 250, 25, 50)
    >>> round(band.low, 6), round(band.steady, 6), round(band.high, 6)
    (0.130275, 0.269916, 0.364428)
    """
    names = ("hits_by_half", "hits", "cases", "attempts", "within")
    given = dict(zip(names, (hits_by_half, hits, cases, attempts, within), strict=True))
    early, broken, n, m, to = (_check.count(value, name) for name, value in given.items())
    if not (early <= broken <= n and 2 <= m < to):
        need = "hits_by_half <= hits <= cases and 2 <= attempts < within"
        raise ValueError(f"needs {need}, got {given}")
    low, left, half = float(interval(broken, n, level=level).low), n - early, m // 2
    rate, why = broken / n if n else math.nan, "" if n else "no case"
    if to > FARTHEST * m:
        why = f"beyond {FARTHEST} times the budget of {m} attempts"
    elif n and ((n - broken) / max(left, 1)) ** half < (left / n) ** (m - half) * (1 - 1e-12):
        why = "the hazard rises: the attacker learns or the chance is not constant"
    if why:
        return Forecast(math.nan, math.nan, rate, math.nan, f"cannot be forecast: {why}")
    if broken == n:
        return Forecast(low, 1.0, 1.0, 1.0)
    # log survival of the two halves, at the rates and at their upper limits
    k, of, times = np.array([early, broken - early]), np.array([n, left]), np.ones(2)
    times[1] += (to - m) / (m - half)
    steady = np.log1p(-k / of) * times
    spread = np.hypot(*(steady - np.log1p(-interval(k, of, level=level).high) * times))
    goes_on, high = (-np.expm1(steady.sum() - np.array([0, spread]))).tolist()
    return Forecast(low, high, rate, goes_on)
