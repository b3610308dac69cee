"""Success within more attempts than were made: the band that a falling hazard allows."""

from __future__ import annotations

import math
from dataclasses import dataclass

from . import _check
from .intervals import interval

FARTHEST = 10  # budgets: beyond this the second half says nothing any more


@dataclass(frozen=True)
class Forecast:
    """The share broken beyond the budget, between "nothing more breaks" and "it goes on like the
    second half".
    """

    low: float
    at_budget: float
    steady: float
    high: float
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
    given = {"hits_by_half": hits_by_half, "hits": hits, "cases": cases}
    given |= {"attempts": attempts, "within": within}
    early, broken, n, m, to = (_check.count(value, name) for name, value in given.items())
    level = _check.level_of(level)
    if not (early <= broken <= n and 2 <= m < to):
        need = "hits_by_half <= hits <= cases and 2 <= attempts < within"
        raise ValueError(f"needs {need}, got {given}")
    left, half, rate = n - early, m // 2, broken / n if n else math.nan
    why = "" if n else "no case"
    if to > FARTHEST * m:
        why = f"beyond {FARTHEST} times the budget of {m} attempts"
    elif n and ((n - broken) / max(left, 1)) ** half < (left / n) ** (m - half) * (1 - 1e-12):
        why = "the hazard rises: the attacker learns or the chance is not constant"
    if why:
        return Forecast(math.nan, rate, math.nan, math.nan, f"cannot be forecast: {why}")
    low = float(interval(broken, n, level=level).low)
    if broken == n:
        return Forecast(low, 1.0, 1.0, 1.0)

    def logs(k: int, of: int) -> tuple[float, float]:
        return math.log1p(-k / of), math.log1p(-float(interval(k, of, level=level).high))

    (first, least_first), (second, least_second) = logs(early, n), logs(broken - early, left)
    more = 1 + (to - m) / (m - half)
    steady = first + more * second
    spread = math.hypot(first - least_first, more * (second - least_second))
    return Forecast(low, rate, -math.expm1(steady), -math.expm1(steady - spread))
