"""Detectors by counts: TPR at a fixed FPR, AUC with DeLong's interval, and alerts at a base rate.

A detector flags a case when score >= threshold; labels are 1 for positives and 0 for negatives. An
allowed false-positive rate is first turned into a number of negatives, so that no two floats are
ever compared.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._check import choice, count, fraction, level_of, z_of
from .intervals import interval as proportion_interval

NAN = math.nan
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TprAtFpr:
    """Result of `tpr_at_fpr`: rates are proportions, `tp` of `n_pos` and `fp` of `n_neg` are
    counts.
    """

    tpr: float
    low: float
    high: float
    tp: int
    n_pos: int
    fp: int
    n_neg: int
    fpr: float
    threshold: float
    resolvable: bool
    note: str


@dataclass(frozen=True)
class Auc:
    """Result of `auc`: the area with DeLong's standard error and clipped limits."""

    auc: float
    se: float
    low: float
    high: float
    note: str


@dataclass(frozen=True)
class AucDifference:
    """Result of `auc_difference`: first minus second area on the same cases."""

    diff: float
    low: float
    high: float
    z: float
    p: float


@dataclass(frozen=True)
class Alerts:
    """Result of `alerts`: `precision` is a proportion, the others are expected cases a day."""

    precision: float
    true_alerts: float
    false_alerts: float
    missed: float


def tpr_at_fpr(
    labels: Any,
    scores: Any,
    max_fpr: float,
    *,
    interval: str = "bootstrap",
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> TprAtFpr:
    """True-positive rate at the largest threshold set that keeps false positives within a limit.

    Parameters
    ----------
    labels : 1 (or True) for positives, 0 for negatives.
    scores : one number per case, higher = more suspect.
    max_fpr : the allowed false-positive rate, in [0, 1].
    interval : "bootstrap" (the threshold is estimated, and found anew in each resample) or "wilson"
        (as if the threshold were given; it covers too little).
    level, resamples, seed : of the interval.

    Returns
    -------
    TprAtFpr
        `tpr` = tp/n_pos with limits; `threshold` = smallest observed score with at most
        floor(max_fpr n_neg) negatives at or above it, Inf when there is none; `fpr`; `resolvable`.

    Not computable when
    -------------------
    A class is empty: NaN, with the counts filled.

    Raises
    ------
    ValueError
        Labels other than 0 and 1, a NaN or +Inf score, or lengths that differ.

    Notes
    -----
    Ties move together and nothing is interpolated. Below 1/n_neg a rate cannot be told from 0:
    `resolvable` is False and the note says what was measured instead. The bootstrap limits are
    widened to hold the Wilson limits.

    Example
    -------
    >>> r = tpr_at_fpr([0, 0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8], 0.25)
    >>> r.tp, r.n_pos, r.threshold
    (3, 3, 0.4)
    """
    interval = choice(interval, "interval", ("bootstrap", "wilson"))
    level, max_fpr = level_of(level), fraction(max_fpr, "max_fpr")
    resamples, seed = count(resamples, "resamples"), count(seed, "seed")
    if resamples < 1:
        raise ValueError("resamples must be at least 1, got 0")
    pos, neg = _split(labels, scores)
    n_pos, n_neg = pos.size, neg.size
    if not n_pos or not n_neg:
        empty = "positive" if not n_pos else "negative"
        return TprAtFpr(NAN, NAN, NAN, 0, n_pos, 0, n_neg, NAN, NAN, False, f"no {empty} case")
    allowed = math.floor(max_fpr * n_neg + 1e-9)
    # The first negative that must stay below the threshold, and all that tie with it.
    barrier = neg[n_neg - 1 - allowed] if allowed < n_neg else -math.inf
    tp, fp = _above(pos, barrier, allowed >= n_neg), _above(neg, barrier, allowed >= n_neg)
    flagged = np.concatenate([pos[n_pos - tp :], neg[n_neg - fp :]])
    wilson = proportion_interval(tp, n_pos, level=level)
    low, high = float(wilson.low), float(wilson.high)
    if interval == "bootstrap":
        drawn_low, drawn_high = _resampled(pos, neg, allowed, level, (resamples, seed))
        low, high = min(low, drawn_low), max(high, drawn_high)
    resolvable = max_fpr * n_neg >= 1 - 1e-9
    note = (
        f"1/{n_neg} is above the limit: this is the TPR at no false positive in {n_neg} negatives"
    )
    threshold = float(flagged.min()) if flagged.size else math.inf
    note = "" if resolvable else note
    return TprAtFpr(
        tp / n_pos, low, high, tp, n_pos, fp, n_neg, fp / n_neg, threshold, resolvable, note
    )


def _split(labels: Any, scores: Any) -> tuple[Floats, Floats]:
    """Sorted scores of the positives and of the negatives, checked."""
    is_positive, values = _cases(labels, scores, "scores")
    return np.sort(values[is_positive]), np.sort(values[~is_positive])


def _cases(labels: Any, scores: Any, name: str) -> tuple[NDArray[np.bool_], Floats]:
    """Labels as booleans and scores as floats, of one length."""
    flags, values = np.asarray(labels), np.asarray(scores)
    for array, word in ((flags, "labels"), (values, name)):
        if array.ndim != 1:
            raise ValueError(f"{word} must be one per case, got {array.ndim} dimensions")
        if array.size and array.dtype.kind not in "biuf":
            raise TypeError(f"{word} must be numbers, got {array.dtype}")
    if flags.size != values.size:
        raise ValueError(
            f"labels and {name} need one entry per case, got {flags.size} and {values.size}"
        )
    wrong = flags[(flags != 0) & (flags != 1)]
    if wrong.size:
        raise ValueError(f"labels must be 0 or 1, got {wrong[0]}")
    values = values.astype(float)
    bad = values[np.isnan(values) | np.isposinf(values)]
    if bad.size:
        raise ValueError(
            f"{name} must be numbers below infinity, got {bad[0]}; leave unscored cases out"
        )
    return flags == 1, values


def _above(ordered: Floats, barrier: float, everything: bool) -> int:
    """How many of the ordered scores lie above the barrier."""
    return (
        ordered.size
        if everything
        else int(ordered.size - np.searchsorted(ordered, barrier, side="right"))
    )


def _resampled(
    pos: Floats, neg: Floats, allowed: int, level: float, draws: tuple[int, int]
) -> tuple[float, float]:
    """Percentiles of the TPR when positives and negatives are resampled and the threshold is found
    anew.

    Only one order statistic of the resampled negatives matters, and of uniform ranks it is a Beta
    draw; the resampled positives above it are a binomial draw. So each resample costs two numbers,
    at any n.
    """
    resamples, seed = draws
    rng = np.random.default_rng(seed)
    n_pos, n_neg = pos.size, neg.size
    if allowed >= n_neg:
        return 1.0, 1.0
    ranks = (rng.beta(n_neg - allowed, allowed + 1, resamples) * n_neg).astype(np.int64)
    barriers = neg[np.minimum(ranks, n_neg - 1)]
    above = n_pos - np.searchsorted(pos, barriers, side="right")
    tpr = rng.binomial(n_pos, above / n_pos) / n_pos
    low, high = np.quantile(tpr, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def auc(labels: Any, scores: Any, *, level: float = 0.95) -> Auc:
    """Area under the ROC curve with DeLong's standard error and interval, clipped to [0, 1].

    Parameters
    ----------
    labels, scores : as in `tpr_at_fpr`.
    level : confidence level.

    Returns
    -------
    Auc
        `auc` (ties count one half), `se`, `low`, `high`, `note`.

    Not computable when
    -------------------
    A class is empty: all NaN. One case in a class, or no variance (as at an area of 1): no
        interval.

    Source
    ------
    DeLong, DeLong, Clarke-Pearson 1988, Biometrics 44:837, by ranks. Agrees with R's pROC.

    Example
    -------
    >>> r = auc([0] * 6 + [1] * 5, [1, 1, 5, 5, 5, 9, 1, 5, 9, 9, 9])
    >>> round(r.auc, 3), round(r.se, 3)
    (0.7, 0.173)
    """
    z = z_of(level)
    is_positive, values = _cases(labels, scores, "scores")
    n_pos = int(is_positive.sum())
    n_neg = is_positive.size - n_pos
    if not n_pos or not n_neg:
        return Auc(NAN, NAN, NAN, NAN, f"no {'positive' if not n_pos else 'negative'} case")
    v10, v01 = _placements(is_positive, values)
    area = math.fsum(v10.tolist()) / n_pos
    if n_pos == 1 or n_neg == 1:
        return Auc(
            area, NAN, NAN, NAN, f"one {'positive' if n_pos == 1 else 'negative'} case: no interval"
        )
    variance = _variance(v10, v01)
    if variance == 0:
        return Auc(area, NAN, NAN, NAN, f"no variance at an AUC of {area:g}: no interval")
    se = math.sqrt(variance)
    return Auc(area, se, max(0.0, area - z * se), min(1.0, area + z * se), "")


def _placements(is_positive: NDArray[np.bool_], values: Floats) -> tuple[Floats, Floats]:
    """Share of negatives below each positive, and of positives above each negative; ties count one
    half.
    """
    from scipy.stats import rankdata

    pos, neg = values[is_positive], values[~is_positive]
    ranks = rankdata(values)
    v10 = (ranks[is_positive] - rankdata(pos)) / neg.size
    v01 = 1 - (ranks[~is_positive] - rankdata(neg)) / pos.size
    return v10, v01


def _variance(v10: Floats, v01: Floats) -> float:
    """DeLong's variance; equal placements have exactly none, whatever rounding makes of their
    mean.
    """
    parts = [float(v.var(ddof=1)) / v.size if np.ptp(v) > 1e-12 else 0.0 for v in (v10, v01)]
    return sum(parts)


def auc_difference(
    labels: Any, scores_a: Any, scores_b: Any, *, level: float = 0.95
) -> AucDifference:
    """Difference of two areas on the same cases, with DeLong's paired standard error.

    Parameters
    ----------
    labels : as in `tpr_at_fpr`; `scores_a`, `scores_b`: the two detectors' scores of the same
        cases.
    level : confidence level.

    Returns
    -------
    AucDifference
        `diff` = first minus second area; `low`, `high` clipped to [-1, 1]; `z`; two-sided `p`.

    Not computable when
    -------------------
    A class is empty: all NaN. One case in a class or no variance of the difference: limits, z, p
        are NaN.

    Source
    ------
    DeLong, DeLong, Clarke-Pearson 1988, Biometrics 44:837.
    """
    z = z_of(level)
    is_positive, first = _cases(labels, scores_a, "scores_a")
    _, second = _cases(labels, scores_b, "scores_b")
    n_pos = int(is_positive.sum())
    if not n_pos or n_pos == is_positive.size:
        return AucDifference(NAN, NAN, NAN, NAN, NAN)
    a10, a01 = _placements(is_positive, first)
    b10, b01 = _placements(is_positive, second)
    diff = math.fsum((a10 - b10).tolist()) / n_pos
    # The variance of the difference is that of the differences of placements.
    variance = _variance(a10 - b10, a01 - b01) if 1 < n_pos < is_positive.size - 1 else 0.0
    if variance == 0:
        return AucDifference(diff, NAN, NAN, NAN, NAN)
    se = math.sqrt(variance)
    p = math.erfc(abs(diff / se) / math.sqrt(2))
    return AucDifference(diff, max(-1.0, diff - z * se), min(1.0, diff + z * se), diff / se, p)


def alerts(tpr: float, fpr: float, base_rate: float, per_day: float) -> Alerts:
    """What a detector's rates mean at a real base rate: precision, and cases a day.

    Parameters
    ----------
    tpr, fpr, base_rate : proportions in [0, 1].
    per_day : cases a day, of both kinds.

    Returns
    -------
    Alerts
        `precision` = share of alerts that are right; `true_alerts`, `false_alerts`, `missed` a day.

    Not computable when
    -------------------
    There is no alert at all: precision is NaN.

    Example
    -------
    >>> r = alerts(0.95, 0.05, 0.001, 20_000)
    >>> round(r.precision, 4), r.true_alerts, round(r.false_alerts, 6)
    (0.0187, 19.0, 999.0)
    """
    tpr, fpr, base_rate = (
        fraction(tpr, "tpr"),
        fraction(fpr, "fpr"),
        fraction(base_rate, "base_rate"),
    )
    if isinstance(per_day, str | bytes) or per_day is None:
        raise TypeError(f"per_day must be a number >= 0, got {per_day!r}")
    per_day = float(per_day)
    if not math.isfinite(per_day) or per_day < 0:
        raise ValueError(f"per_day must be a number >= 0, got {per_day}")
    right, wrong = tpr * base_rate, fpr * (1 - base_rate)
    precision = right / (right + wrong) if right + wrong else NAN
    return Alerts(precision, right * per_day, wrong * per_day, (1 - tpr) * base_rate * per_day)
