"""Rates seen through an imperfect judge, with the judge's own error in the interval.

k of n outputs were flagged by the judge. On outputs that people labelled too, tp, fn, tn, fp say
how good it is: sensitivity Se = tp/(tp + fn), specificity Sp = tn/(tn + fp). Labels from elsewhere
lead to `rogan_gladen`, labels that are a random part of the same run to `double_sample`. How good a
judge is by itself stands in `validation.py`, what a garak report prints in `garak.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._check import choice, count, counts_of, fraction, level_of, z_of
from .intervals import interval
from .validation import no_better_than_chance

NAN = math.nan


@dataclass(frozen=True)
class RoganGladen:
    """Result of `rogan_gladen`: `raw*` as computed, `rate`, `low`, `high` clipped to [0, 1]."""

    observed: float
    rate: float
    raw: float
    low: float
    high: float
    raw_low: float
    raw_high: float
    se: float
    sp: float
    clipped: str
    note: str


@dataclass(frozen=True)
class DoubleSample:
    """Result of `double_sample`: the corrected rate, and the two shares of events it is made of."""

    rate: float
    low: float
    high: float
    ppv: float
    fom: float
    note: str


@dataclass(frozen=True)
class _Judge:
    """What is known of the judge: counts of labels, or Se and Sp alone (then the counts are
    None).
    """

    se: float
    sp: float
    labels: tuple[int, int, int, int] | None
    refusal: str


def rogan_gladen(
    k: int,
    n: int,
    tp: int | None = None,
    fn: int | None = None,
    tn: int | None = None,
    fp: int | None = None,
    *,
    se: float | None = None,
    sp: float | None = None,
    method: str = "delta",
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> RoganGladen:
    """Rate of events behind a judge's flags, corrected by labels from an outside calibration set.

    Parameters
    ----------
    k, n : flagged outputs of all judged outputs.
    tp, fn, tn, fp : the judge's flags against human labels: all four, or none with `se` and `sp`.
    se, sp : sensitivity and specificity taken as known; with method "fixed" only.
    method : "delta" (both errors, closed form), "bootstrap" (both errors, drawn), "fixed" (Wilson
        limits through the map: it ignores the judge's error and is there for comparison).
    level : confidence level; `resamples`, `seed`: of the bootstrap only.

    Returns
    -------
    RoganGladen
        `observed` = k/n; `raw` = (k/n + Sp - 1)/(Se + Sp - 1) and its unclipped limits; `rate`,
        `low`, `high` clipped to [0, 1]; `clipped` says which limit was ("low", "high", "both", "");
        `se`, `sp`.

    Not computable when
    -------------------
    A class has no label; Se + Sp <= 1, at any distance; the whole interval lies outside [0, 1]; at
    least half of the draws are unusable; n = 0. Rate and limits are NaN, the note says why. The
    uncorrected rate is never put in its place.

    Raises
    ------
    ValueError
        Some but not all label counts, counts together with `se` or `sp`, one of them alone, or `se`
        and `sp` with a method that needs counts.

    Notes
    -----
    In the variance the specificity term carries (1 - P')**2; a plus sign found in print is a slip.

    Source
    ------
    Rogan, Gladen 1978, Am J Epidemiol 107:71; Lang, Reiczigel 2014, Prev Vet Med 113:13.

    Example
    -------
    >>> r = rogan_gladen(400, 1000, 180, 20, 140, 60)
    >>> round(r.rate, 4), round(r.low, 4), round(r.high, 4)
    (0.1667, 0.0564, 0.2627)
    """
    method = choice(method, "method", ("delta", "fixed", "bootstrap"))
    z, resamples, seed = z_of(level), count(resamples, "resamples"), count(seed, "seed")
    if resamples < 1:
        raise ValueError("resamples must be at least 1, got 0")
    k, n = (int(x) for x in counts_of(count(k, "k"), count(n, "n")))
    judge = _judge(tp, fn, tn, fp, se, sp, method)
    observed = k / n if n else NAN
    if n == 0 or judge.refusal:
        return _refused(observed, NAN, (NAN, NAN), judge, judge.refusal or "no output was judged")
    raw = (observed + judge.sp - 1) / (judge.se + judge.sp - 1)
    if method == "fixed" or judge.labels is None:
        ends = interval(k, n, level=level)
        low, high = (
            (float(p) + judge.sp - 1) / (judge.se + judge.sp - 1) for p in (ends.low, ends.high)
        )
    elif method == "delta":
        low, high = lang_reiczigel(k, n, judge.labels, z)
    else:
        low, high = _drawn(k, n, judge.labels, level, resamples, seed)
        if math.isnan(low):
            return _refused(
                observed, raw, (low, high), judge, "in at least half of the draws Se + Sp <= 1"
            )
    return _clipped(observed, raw, (low, high), judge)


def _judge(tp: Any, fn: Any, tn: Any, fp: Any, se: Any, sp: Any, method: str) -> _Judge:
    """The judge from either source, with the reason why it cannot be used, if there is one."""
    given = [x is not None for x in (tp, fn, tn, fp)]
    rates = [x is not None for x in (se, sp)]
    if any(given) and any(rates):
        raise ValueError("give the label counts tp, fn, tn, fp or se and sp, not both")
    if any(rates):
        if not all(rates):
            raise ValueError(f"se and sp go together, got se = {se} and sp = {sp}")
        if method != "fixed":
            raise ValueError(
                f"method {method!r} needs the counts tp, fn, tn, fp; se and sp go with 'fixed'"
            )
        known_se, known_sp = fraction(se, "se"), fraction(sp, "sp")
        useless = known_se + known_sp <= 1 + 1e-12
        return _Judge(
            known_se, known_sp, None, no_better_than_chance(known_se, known_sp) if useless else ""
        )
    if not all(given):
        raise ValueError(f"give all of tp, fn, tn, fp, got {tp}, {fn}, {tn}, {fp}")
    tp, fn, tn, fp = count(tp, "tp"), count(fn, "fn"), count(tn, "tn"), count(fp, "fp")
    refusals = []
    if tp + fn == 0:
        refusals.append("no human-labelled positives: sensitivity is unknown")
    if tn + fp == 0:
        refusals.append("no human-labelled negatives: specificity is unknown")
    se, sp = (tp / (tp + fn) if tp + fn else NAN), (tn / (tn + fp) if tn + fp else NAN)
    if not refusals and tp * tn <= fn * fp:  # Se + Sp <= 1, in whole numbers
        refusals.append(no_better_than_chance(se, sp))
    elif not refusals and (tp + 1) / (tp + fn + 2) + (tn + 1) / (tn + fp + 2) <= 1:
        refusals.append("too few labels: with one more of each kind Se + Sp would not be above 1")
    return _Judge(se, sp, (tp, fn, tn, fp), "; ".join(refusals))


def lang_reiczigel(k: float, n: float, labels: Sequence[float], z: float) -> tuple[float, float]:
    """Lang and Reiczigel's limits: pseudo-counts in all three proportions, then a shifted normal
    interval.
    """
    tp, fn, tn, fp = labels
    n_all, n_se, n_sp = n + z**2, tp + fn + 2, tn + fp + 2
    p, se, sp = (k + z**2 / 2) / n_all, (tp + 1) / n_se, (tn + 1) / n_sp
    youden = se + sp - 1
    rate = (p + sp - 1) / youden
    var_p, var_se, var_sp = p * (1 - p) / n_all, se * (1 - se) / n_se, sp * (1 - sp) / n_sp
    shift = 2 * z**2 * (rate * var_se - (1 - rate) * var_sp)
    half = z * math.sqrt(var_p + rate**2 * var_se + (1 - rate) ** 2 * var_sp) / youden
    return rate + shift - half, rate + shift + half


def _drawn(
    k: int, n: int, labels: tuple[int, int, int, int], level: float, resamples: int, seed: int
) -> tuple[float, float]:
    """Percentiles of the map over independent binomial draws; NaN when half of them are
    unusable.
    """
    tp, fn, tn, fp = labels
    rng = np.random.default_rng(seed)
    p = rng.binomial(n, k / n, resamples) / n
    se = rng.binomial(tp + fn, tp / (tp + fn), resamples) / (tp + fn)
    sp = rng.binomial(tn + fp, tn / (tn + fp), resamples) / (tn + fp)
    usable = se + sp > 1 + 1e-12
    if 2 * np.count_nonzero(usable) <= resamples:
        return NAN, NAN
    rates = (p[usable] + sp[usable] - 1) / (se[usable] + sp[usable] - 1)
    return _percentiles(rates, level)


def _percentiles(draws: NDArray[np.float64], level: float) -> tuple[float, float]:
    """The two percentiles that leave (1 - level)/2 of the draws outside on either side."""
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _refused(
    observed: float, raw: float, ends: tuple[float, float], judge: _Judge, note: str
) -> RoganGladen:
    """A result without a rate; what is known stays filled."""
    return RoganGladen(observed, NAN, raw, NAN, NAN, *ends, judge.se, judge.sp, "", note)


def _clipped(observed: float, raw: float, ends: tuple[float, float], judge: _Judge) -> RoganGladen:
    """Cut to [0, 1] and say so: a tight interval made by cutting is never shown without its
    reason.
    """
    low, high = ends
    floor = 1 - judge.sp
    why = ""
    if observed < floor - 1e-12:
        why = f"observed {observed:.1%} is below the judge's false-positive floor {floor:.1%}"
    elif observed > judge.se + 1e-12:
        why = f"observed {observed:.1%} is above the judge's sensitivity {judge.se:.1%}"
    if high < 0 or low > 1:
        note = f"the data contradict Se and Sp: {why or 'too few labels for this interval'}"
        return _refused(observed, raw, ends, judge, note)
    if not why and low < 0 and high > 1:
        why = (
            "the limits hold every rate from 0 to 1: too few labels, or a judge too near to chance"
        )
    elif not why and low < 0:
        why = f"not distinguishable from 0: the judge's false-positive floor is {floor:.1%}"
    cut = {(True, True): "both", (True, False): "low", (False, True): "high"}.get(
        (low < 0, high > 1), ""
    )
    rate, shown_low, shown_high = (min(max(x, 0.0), 1.0) for x in (raw, low, high))
    return RoganGladen(
        observed, rate, raw, shown_low, shown_high, low, high, judge.se, judge.sp, cut, why
    )


def double_sample(
    k: int,
    n: int,
    tp: int,
    fn: int,
    tn: int,
    fp: int,
    *,
    level: float = 0.95,
    resamples: int = 20_000,
    seed: int = 0,
) -> DoubleSample:
    """Rate of events when people labelled a random part of the same run.

    Parameters
    ----------
    k, n : flagged outputs of all judged outputs, the labelled ones among them.
    tp, fn, tn, fp : the judge's flags against the labels of that part.
    level : confidence level; `resamples`, `seed`: of the draws.

    Returns
    -------
    DoubleSample
        `rate` = PPV p + FOM (1 - p) with `ppv` = tp/(tp + fp) and `fom` = fn/(fn + tn); `low`,
        `high` in [0, 1]; `note`.

    Not computable when
    -------------------
    n = 0. Without a flagged (or an unflagged) label the prior mean one half stands in, and the note
    says so.

    Raises
    ------
    ValueError
        More labelled flags than flags, or more labelled unflagged outputs than there are: the
            labels are
        not a part of this run.

    Notes
    -----
    Needs no Se + Sp > 1 and never leaves [0, 1]. The limits are percentiles of independent Beta
    draws (Jeffreys prior) for p, PPV and FOM, and always hold the point: with no event seen, low is
    exactly 0.

    Source
    ------
    Tenenbein 1970, JASA 65:1350.

    Example
    -------
    >>> r = double_sample(130, 600, 28, 3, 113, 6)
    >>> round(r.rate, 4)
    0.1987
    """
    level, resamples, seed = level_of(level), count(resamples, "resamples"), count(seed, "seed")
    if resamples < 1:
        raise ValueError("resamples must be at least 1, got 0")
    k, n = (int(x) for x in counts_of(count(k, "k"), count(n, "n")))
    tp, fn, tn, fp = count(tp, "tp"), count(fn, "fn"), count(tn, "tn"), count(fp, "fp")
    if tp + fp > k or fn + tn > n - k:
        raise ValueError(
            f"the labels are not a part of this run: {tp + fp} labelled flags of {k}, "
            f"{fn + tn} labelled unflagged outputs of {n - k}; "
            "use rogan_gladen for labels from elsewhere"
        )
    if n == 0:
        return DoubleSample(NAN, NAN, NAN, NAN, NAN, "no output was judged")
    ppv = tp / (tp + fp) if tp + fp else 0.5
    fom = fn / (fn + tn) if fn + tn else 0.5
    rate = ppv * k / n + fom * (n - k) / n
    missing = [
        word for word, labels in (("flagged", tp + fp), ("unflagged", fn + tn)) if not labels
    ]
    note = "; ".join(f"no labelled {word} output: one half is assumed there" for word in missing)
    rng = np.random.default_rng(seed)
    p = rng.beta(k + 0.5, n - k + 0.5, resamples)
    right = rng.beta(tp + 0.5, fp + 0.5, resamples)
    missed = rng.beta(fn + 0.5, tn + 0.5, resamples)
    low, high = _percentiles(right * p + missed * (1 - p), level)
    return DoubleSample(rate, min(low, rate), max(high, rate), ppv, fom, note)
