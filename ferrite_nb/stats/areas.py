"""Areas: the limits of an area under a ROC, also where it is 1."""

from __future__ import annotations

import math

from ._check import count, fraction, z_of
from .intervals import Interval

NAN = math.nan


def auc_limits(theta: float, n_pos: int, n_neg: int, *, level: float = 0.95) -> Interval:
    """The limits of an area under the ROC, also where it is 1.

    Parameters
    ----------
    theta : the area, in [0, 1]; `n_pos`, `n_neg`: positives and negatives.
    level : confidence level.

    Returns
    -------
    Interval
        NaN where a class is empty.

    Source
    ------
    Newcombe 2006, Stat Med 25:559, method 5.

    Example
    -------
    >>> round(auc_limits(1.0, 20, 20).low, 6)
    0.898668
    """
    from scipy.optimize import brentq

    area, z = fraction(theta, "theta"), z_of(level)
    pos, neg = count(n_pos, "n_pos"), count(n_neg, "n_neg")
    if not pos or not neg:
        return Interval(NAN, NAN)
    many = (pos + neg) / 2 - 1

    def gap(t: float) -> float:
        variance = t * (1 - t) * (1 + many * (1 - t) / (2 - t) + many * t / (1 + t)) / (pos * neg)
        return abs(area - t) - z * math.sqrt(variance)

    dust = 1e-12
    low = brentq(gap, dust, min(area, 1 - dust), xtol=1e-14) if gap(dust) > 0 else 0.0
    high = brentq(gap, max(area, dust), 1 - dust, xtol=1e-14) if gap(1 - dust) > 0 else 1.0
    return Interval(float(low), float(high))
