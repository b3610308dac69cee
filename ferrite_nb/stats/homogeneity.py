"""Homogeneity: do the rates of several groups differ at all?"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import chdtrc

from . import _check


def homogeneity(k: Any, n: Any, n_eff: Any = None) -> float:
    """The p-value of Pearson's chi-squared test that all groups have one rate.

    Parameters
    ----------
    k, n : array of int
        Events and cases of each group; groups without a case are left out.
    n_eff : array of float, optional
        How many independent cases those of each group are worth; both cells of a group are scaled
        by n_eff/n, as Rao and Scott 1981 do with design effects.

    Returns
    -------
    float
        NaN with fewer than two groups, or where all outcomes are the same.

    Source
    ------
    Pearson 1900; Rao, Scott 1981, J Am Stat Assoc 76:221.

    Example
    -------
    >>> round(homogeneity([10, 20], [100, 100]), 6)
    0.04767
    """
    events, cases = _check.series(k, n)
    worth = _check.floats(cases if n_eff is None else n_eff, "n_eff")
    used = (cases > 0) & np.isfinite(worth) & (worth > 0)
    rates, weights = events[used] / cases[used], worth[used]
    if len(weights) < 2:
        return float("nan")
    mean = float(weights @ rates / weights.sum())
    if not 0 < mean < 1:
        return float("nan")
    statistic = float(weights @ (rates - mean) ** 2) / (mean * (1 - mean))
    return float(chdtrc(len(weights) - 1, statistic))
