"""Ordered strata beyond one table: a trend within strata or over clusters, and the mean of strata
of equal weight.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtrit

from . import _check, _groups
from .intervals import score_limits
from .permutation import sign_flip
from .trend import trend

NAN = float("nan")
RESAMPLES = (
    10_000  # a p of .05 is then known to within .004; the smallest that can come out is .0001
)


@dataclass(frozen=True)
class OrderedTrend:
    """The trend of a rate over ordered groups: `z` above 0 is a rise, `method` the test, `drawn`
    whether p is drawn.
    """

    z: float
    p: float
    method: str
    note: str = ""
    drawn: bool = False


@dataclass(frozen=True)
class EqualWeight:
    """The unweighted mean of rates and its interval."""

    rate: float
    low: float
    high: float


def ordered_trend(
    k: Any, n: Any, scores: Any, *, stratum: Any = None, cluster: Any = None
) -> OrderedTrend:
    """Whether a rate rises or falls over ordered groups, within strata and over clusters where they
    are named.

    Parameters
    ----------
    k, n : array of int
        Events and cases of each cell (group, stratum, cluster).
    scores : array of float
        The place of each cell's group on the scale.
    stratum : array of labels, optional
        Groups are compared within these strata only, so that a mix of strata cannot make a trend.
    cluster : array of labels, optional
        Cells of one cluster may rise and fall together.

    Returns
    -------
    OrderedTrend
        Without either: Cochran-Armitage. With strata: Mantel's extension. With clusters, with or
            without strata: each
        cluster's part of the trend score may change its sign (`sign_flip`); z is that of the test
        without clusters.

    Not computable when
        There is no case, all outcomes are the same, or no stratum has two groups: NaN, with a note.

    Notes
    -----
    The score of a cell is (k - n·P)·(s - x̄), P and x̄ taken over its stratum. Because Σ n(s - x̄)
    = 0, estimating P does not change the score to first order, and signs may be flipped by cluster.
    Mantel's variance divides by N - 1.

    Source
    ------
    Mantel 1963, J Am Stat Assoc 58:690; Hemerik, Goeman, Finos 2020, J R Stat Soc B 82:841
    (sign-flipped scores).

    Example
    -------
    >>> round(ordered_trend([2, 5, 9, 14], [40] * 4, [1, 2, 3, 4]).z, 6)
    3.623287
    """
    events, cases = _check.series(k, n)
    places = _check.numbers(scores, "scores")
    if len(places) != len(cases):
        raise ValueError(
            f"scores must have one entry per cell, got {len(places)} for {len(cases)} cells"
        )
    strata = (
        np.zeros(len(cases), np.intp)
        if stratum is None
        else _groups.codes(stratum, "stratum", len(cases))[0]
    )
    if stratum is None:
        plain = trend(events, cases, places)
        found = OrderedTrend(plain.z, plain.p, "Cochran-Armitage", plain.note)
    else:
        found = _mantel(events, cases, places, strata)
    if cluster is None or math.isnan(found.z):
        return found
    code, groups = _groups.codes(cluster, "cluster", len(cases))
    parts = np.bincount(code, weights=_scores(events, cases, places, strata), minlength=groups)
    parts[np.abs(parts) < 1e-9] = 0.0
    flipped = sign_flip(parts, resamples=RESAMPLES, seed=0)
    active = int(np.count_nonzero(parts))
    few = (
        f"{active} clusters bear on the trend: p cannot fall below {2 / 2**active:.3g}"
        if active < 6
        else ""
    )
    name = "sign-flipped scores of clusters" + (", within strata" if stratum is not None else "")
    return OrderedTrend(found.z, flipped.p, name, few, flipped.method == "monte carlo")


def _means(
    events: NDArray[Any], cases: NDArray[Any], places: NDArray[np.float64], strata: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Of each stratum: cases, rate and mean score (0 where it has no case)."""
    total = np.bincount(strata, weights=cases).astype(np.float64)
    divisor = np.where(total > 0, total, 1)
    rate = np.bincount(strata, weights=events) / divisor
    return total, rate, np.bincount(strata, weights=cases * places) / divisor


def _scores(
    events: NDArray[Any], cases: NDArray[Any], places: NDArray[np.float64], strata: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Each cell's part of the trend score."""
    _, rate, middle = _means(events, cases, places, strata)
    parts: NDArray[np.float64] = (events - cases * rate[strata]) * (places - middle[strata])
    return parts


def _mantel(
    events: NDArray[Any], cases: NDArray[Any], places: NDArray[np.float64], strata: NDArray[np.intp]
) -> OrderedTrend:
    """Mantel's extension: scores and permutation variances summed over strata."""
    total, rate, middle = _means(events, cases, places, strata)
    spread = np.bincount(strata, weights=cases * (places - middle[strata]) ** 2)
    several = total > 1
    divisor = np.where(several, total - 1, 1)
    variance = float((total * rate * (1 - rate) * spread / divisor)[several].sum())
    name = "Mantel, within strata"
    if variance < 1e-12:
        return OrderedTrend(NAN, NAN, name, "no stratum has two groups with different outcomes")
    z = float(_scores(events, cases, places, strata).sum()) / math.sqrt(variance)
    return OrderedTrend(z, float(2 * ndtr(-abs(z))), name)


def equal_weight(rate: Any, low: Any, high: Any, *, independent: bool = True) -> EqualWeight:
    """The unweighted mean of rates, with an interval recovered from their own limits.

    Parameters
    ----------
    rate, low, high : array of float
        Each stratum's rate and limits, all at one level.
    independent : bool
        Whether the strata share no cluster. If they do, the limits are averaged, which is wide
        enough for any correlation between them.

    Returns
    -------
    EqualWeight
        NaN where there is no stratum, or a stratum without limits.

    Notes
    -----
    low = mean - sqrt(Σ (rate - low)²)/G, high alike ("MOVER"): strata of 0 of n or n of n keep
    their width, which a standard error would set to 0.

    Source
    ------
    Zou, Huang, Zhang 2009, Comput Stat Data Anal 53:1080; for two rates it is Newcombe's interval
    (1998).

    Example
    -------
    >>> result = equal_weight([0.5, 1.0], [0.24, 0.72], [0.76, 1.0])
    >>> round(result.rate, 3), round(result.low, 3), round(result.high, 3)
    (0.75, 0.559, 0.88)
    """
    rates, lows, highs = (np.asarray(values, dtype=np.float64) for values in (rate, low, high))
    if not len(rates):
        return EqualWeight(NAN, NAN, NAN)
    mean = float(rates.mean())
    if not independent:
        return EqualWeight(mean, float(lows.mean()), float(highs.mean()))
    below, above = (
        math.sqrt(float(((rates - ends) ** 2).sum())) / len(rates) for ends in (lows, highs)
    )
    # Not with max and min: of NaN and 0 they keep the 0, and a stratum without limits would get the
    # interval [0, 1].
    return EqualWeight(
        mean, float(np.maximum(mean - below, 0.0)), float(np.minimum(mean + above, 1.0))
    )


@dataclass(frozen=True)
class Macro:
    """The unweighted mean of rates, with Wilson's limits at its effective number of cases."""

    rate: float
    low: float
    high: float
    n_eff: float
    df: float


def macro(k: Any, n: Any, *, level: float = 0.95) -> Macro:
    """The mean of the rates of several groups, each counting once.

    Parameters
    ----------
    k, n : array of int
        Events and cases of each group; groups without a case are left out.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    Macro
        NaN without a group.

    Source
    ------
    Wilson 1927 at the n_eff of the mean, Satterthwaite 1946; one pseudo-case in each group.

    Example
    -------
    >>> result = macro([0, 1, 2, 0], [10] * 4)
    >>> round(result.rate, 3), round(result.low, 4), round(result.high, 4)
    (0.075, 0.0252, 0.2026)
    """
    events, cases = _check.series(k, n)
    level = _check.level_of(level)
    events, cases = events[cases > 0], cases[cases > 0]
    groups = len(cases)
    if not groups:
        return Macro(NAN, NAN, NAN, NAN, NAN)
    mean = float((events / cases).mean())
    pure = mean in (0.0, 1.0)
    rate = (events + mean) / (cases + 1)
    spread = rate * (1 - rate) / cases / groups**2
    n_eff = groups**2 / float((1 / cases).sum()) if pure else mean * (1 - mean) / spread.sum()
    rest = float((spread**2 / np.maximum(cases - 1, 1)).sum())
    df = float(cases.sum() - groups) if pure else float(spread.sum() ** 2 / rest)
    z = -float(stdtrit(max(df, 1.0), (1 - level) / 2))
    low, high = score_limits(mean, n_eff, z)
    low, high = 0.0 if mean == 0 else float(low), 1.0 if mean == 1 else float(high)
    return Macro(mean, low, high, float(n_eff), df)
