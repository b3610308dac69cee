"""How good is a judge: its flags against human labels, as rates with intervals and as Cohen's
kappa.

Agreement alone says little: at 2 % prevalence a judge that always says "no" agrees 98 times of 100.
So every result carries the agreement of such a constant judge beside the agreement found.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._check import count, counts, level_of, z_of
from .intervals import interval

NAN = math.nan


@dataclass(frozen=True)
class Kappa:
    """Result of `kappa`: `state` is "ok", "no interval" (se is 0) or "undefined" (all NaN)."""

    kappa: float
    se: float
    low: float
    high: float
    state: str
    note: str


@dataclass(frozen=True)
class JudgeValidation:
    """Result of `judge_validation`: rates and Wilson limits, all proportions; n labelled
    outputs.
    """

    se: float
    se_low: float
    se_high: float
    sp: float
    sp_low: float
    sp_high: float
    agreement: float
    agreement_low: float
    agreement_high: float
    kappa: float
    kappa_low: float
    kappa_high: float
    kappa_state: str
    prevalence: float
    constant_judge: float
    n: int
    note: str


def judge_validation(tp: int, fn: int, tn: int, fp: int, *, level: float = 0.95) -> JudgeValidation:
    """A judge against human labels: Se, Sp, agreement, kappa, and the constant judge.

    Parameters
    ----------
    tp, fn : human positives that the judge flagged, and missed.
    tn, fp : human negatives that the judge left alone, and flagged.
    level : confidence level of all intervals.

    Returns
    -------
    JudgeValidation
        `se`, `sp`, `agreement` with Wilson limits; `kappa*`; `prevalence` = share of human
        positives; `constant_judge` = agreement of a judge that always gives the commoner answer;
        `n`; `note`.

    Not computable when
    -------------------
    A class has no label: its rate is NaN and the note says so. No label at all: everything is NaN.

    Notes
    -----
    Call it once per condition: agreement can be equal where sensitivity is not (.92 against .64 at
    93.3 % agreement in both).

    Example
    -------
    >>> r = judge_validation(24, 3, 46, 2)
    >>> round(r.se, 4), round(r.agreement, 4), r.constant_judge
    (0.8889, 0.9333, 0.64)
    """
    level = level_of(level)
    tp, fn, tn, fp = count(tp, "tp"), count(fn, "fn"), count(tn, "tn"), count(fp, "fp")
    positives, negatives = tp + fn, tn + fp
    n = positives + negatives
    hits, cases = np.array([tp, tn, tp + tn]), np.array([positives, negatives, n])
    ends = interval(hits, cases, level=level)
    rates = [k / of if of else NAN for k, of in zip(hits.tolist(), cases.tolist(), strict=True)]
    lows, highs = ends.low.tolist(), ends.high.tolist()
    chance = kappa([[tp, fn], [fp, tn]], level=level)
    notes = []
    if not positives:
        notes.append("no human-labelled positives: sensitivity is unknown")
    if not negatives:
        notes.append("no human-labelled negatives: specificity is unknown")
    if chance.note:
        notes.append(f"kappa {chance.state}: {chance.note}")
    return JudgeValidation(
        se=rates[0],
        se_low=lows[0],
        se_high=highs[0],
        sp=rates[1],
        sp_low=lows[1],
        sp_high=highs[1],
        agreement=rates[2],
        agreement_low=lows[2],
        agreement_high=highs[2],
        kappa=chance.kappa,
        kappa_low=chance.low,
        kappa_high=chance.high,
        kappa_state=chance.state,
        prevalence=positives / n if n else NAN,
        constant_judge=max(positives, negatives) / n if n else NAN,
        n=n,
        note="; ".join(notes),
    )


def kappa(table: Any, *, level: float = 0.95) -> Kappa:
    """Cohen's kappa of two raters, with the non-null standard error.

    Parameters
    ----------
    table : square table of counts: rows are the first rater's answers, columns the second's.
    level : confidence level.

    Returns
    -------
    Kappa
        `kappa`, `se`, `low`, `high` (clipped to [-1, 1]), `state`, `note`.

    Not computable when
    -------------------
    The table is empty, one cell holds everything, or one rater always gives the same answer: state
    "undefined", all NaN. Standard error 0, as with perfect agreement: state "no interval".

    Raises
    ------
    ValueError
        The table is not square or holds anything but counts.

    Source
    ------
    Cohen 1960, EPM 20:37; Fleiss, Cohen, Everitt 1969, Psychol Bull 72:323. Agrees with the R
    packages vcd, psych and DescTools; the estimate is statsmodels' `cohens_kappa`.

    Example
    -------
    >>> r = kappa([[20, 5], [10, 15]])
    >>> round(r.kappa, 3), round(r.low, 3), round(r.high, 3)
    (0.4, 0.151, 0.649)
    """
    z = z_of(level)
    cells = counts(table, "table")
    if cells.ndim != 2 or cells.shape[0] != cells.shape[1] or not cells.size:
        raise ValueError(f"table must be square, got shape {cells.shape}")
    reason = _undefined(cells)
    if reason:
        return Kappa(NAN, NAN, NAN, NAN, "undefined", reason)
    from statsmodels.stats.inter_rater import cohens_kappa

    # A standard error of 0 makes the library divide by it for a test that is not used here.
    with np.errstate(all="ignore"):
        result = cohens_kappa(cells)
    value, se = float(result.kappa), float(result.std_kappa)
    if not se > 1e-9:
        return Kappa(value, 0.0, NAN, NAN, "no interval", "the standard error is 0")
    return Kappa(value, se, max(-1.0, value - z * se), min(1.0, value + z * se), "ok", "")


def _undefined(cells: np.ndarray[Any, Any]) -> str:
    """Why chance agreement leaves nothing to measure, or nothing."""
    if not cells.sum():
        return "no label"
    if np.count_nonzero(cells) == 1:
        return "all labels are in one cell"
    if 1 in (np.count_nonzero(cells.sum(axis=0)), np.count_nonzero(cells.sum(axis=1))):
        return "one rater gives the same answer always"
    return ""


def no_better_than_chance(se: float, sp: float) -> str:
    """The reason to refuse a judge whose flags carry no information, or the wrong one."""
    return f"the judge is no better than chance: Se {se:.3f} + Sp {sp:.3f} is not above 1"


@dataclass(frozen=True)
class KappaLimits:
    """The limits of Cohen's kappa of two answers."""

    low: float
    high: float
    note: str = ""


def kappa_limits(yy: int, yn: int, ny: int, nn: int, *, level: float = 0.95) -> KappaLimits:
    """The limits of kappa by goodness of fit: computable wherever kappa is, also at 1.

    Parameters
    ----------
    yy, yn, ny, nn : items on which both said yes, the first only, the second only, both no.
    level : confidence level.

    Returns
    -------
    KappaLimits
        NaN where both raters give one answer only. A note where the raters differ in level, because
        the model has one prevalence for both.

    Source
    ------
    Donner, Eliasziw 1992, Stat Med 11:1511.

    Example
    -------
    >>> result = kappa_limits(25, 0, 0, 25)
    >>> round(result.low, 6), result.high
    (0.857305, 1.0)
    """
    from scipy.optimize import brentq

    cells = [count(v, n) for v, n in ((yy, "yy"), (yn, "yn"), (ny, "ny"), (nn, "nn"))]
    z, total = z_of(level), sum(cells)
    yes = 2 * cells[0] + cells[1] + cells[2]
    if not 0 < yes < 2 * total:
        return KappaLimits(NAN, NAN, "both raters give one answer only")
    p = yes / (2 * total)
    seen = (cells[0], cells[1] + cells[2], cells[3])
    point = 1 - seen[1] / (2 * total * p * (1 - p))

    def gap(kappa: float) -> float:
        spread = p * (1 - p)
        shares = (p**2 + spread * kappa, 2 * spread * (1 - kappa), (1 - p) ** 2 + spread * kappa)
        parts = (  # without a case the part is its share alone, also where that share is 0
            (n - total * s) ** 2 / (total * max(s, 1e-300)) if n else total * max(s, 0.0)
            for n, s in zip(seen, shares, strict=True)
        )
        return sum(parts) - z**2

    floor = max(-p / (1 - p), -(1 - p) / p)
    least = floor + 1e-12 * (1 - floor)
    low = float(brentq(gap, least, point, xtol=1e-14)) if gap(least) > 0 else floor
    most = 1 - 1e-14
    high = float(brentq(gap, point, most, xtol=1e-14)) if point < 1 and gap(most) > 0 else 1.0
    apart = abs(cells[1] - cells[2]) > z * math.sqrt(max(cells[1] + cells[2], 1))
    return KappaLimits(low, high, "the raters differ in level" if apart else "")
