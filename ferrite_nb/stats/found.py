"""Found: the difference that cases can show, and how labels are best drawn by the judge's flag."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from ._check import count, floats, fraction, level_of, z_of

SLACK = 1e-12


def detectable(n: float, discordant: float, *, power: float = 0.8, alpha: float = 0.05) -> float:
    """The smallest paired difference that n cases find with a given power.

    Parameters
    ----------
    n : float
        Cases that ran in both modes, or the independent ones that they are worth.
    discordant : float
        The share of cases that differ between the modes; where the difference is larger, all of
        them differ.
    power, alpha : float
        Chance to find it, and the two-sided error.

    Returns
    -------
    float
        A difference of rates; NaN where n cases find none.

    Source
    ------
    Connor 1987, Biometrics 43:207: n δ² = (z sqrt(ψ) + z' sqrt(ψ - δ²))².

    Example
    -------
    >>> round(detectable(100, 0.2), 4)
    0.1238
    """
    from scipy.optimize import brentq

    z = -float(ndtri(fraction(alpha, "alpha", open_ends=True) / 2))
    more = float(ndtri(fraction(power, "power", open_ends=True)))
    n, share = float(floats([n], "n")[0]), fraction(discordant, "discordant")

    def gap(delta: float) -> float:
        psi = max(share, delta)
        return delta * math.sqrt(n) - z * math.sqrt(psi) - more * math.sqrt(psi - delta**2)

    if n <= 0 or gap(1.0) < 0:
        return float("nan")
    return float(brentq(gap, 1e-9, 1.0)) if gap(1e-9) < 0 else 0.0


@dataclass(frozen=True)
class LabelsByFlag:
    """People's labels for one rate: `proportional` to the judge's flags, or `flagged` plus
    `unflagged` of the outputs that it flags and does not; NaN, with the note, where none suffice.
    """

    proportional: float
    flagged: float
    unflagged: float
    best_half: float
    note: str = ""


def labels_by_flag(
    half: float, n: int, rate: float, se: float, sp: float, *, level: float = 0.95
) -> LabelsByFlag:
    """How many outputs of a run people have to label for its rate, and of which flag.

    Parameters
    ----------
    half : float
        The half width that is wanted.
    n : int
        Outputs that the judge has seen.
    rate, se, sp : float
        The expected true rate, and the judge's expected sensitivity and specificity.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    LabelsByFlag
        With w the shares of the flags and s² the variance of the truth within a flag, the labels
        are Σ w s² / v in proportion and (Σ w s)² / v by flag, each flag with its part of Σ w s; v
        is the variance that the half width leaves after that of n outputs.

    Source
    ------
    Tenenbein 1970, J Am Stat Assoc 65:1350 (double sampling); Neyman 1934 for the parts.

    Example
    -------
    >>> result = labels_by_flag(0.05, 2000, 0.05, 0.9, 0.95)
    >>> result.proportional, result.flagged, result.unflagged
    (44, 9, 12)
    """
    half, z = fraction(half, "half", open_ends=True), z_of(level_of(level))
    n, rate = count(n, "n"), fraction(rate, "rate")
    se, sp = fraction(se, "se"), fraction(sp, "sp")
    hit, wrong = rate * se, (1 - rate) * (1 - sp)
    weight = np.array([hit + wrong, 1 - hit - wrong])
    true = np.array([hit, rate - hit]) / np.where(weight > 0, weight, 1.0)
    spread = np.clip(true * (1 - true), 0, None)  # rounding can pass an end
    between = max(0.0, float(weight @ true**2) - rate**2) / n if n else math.inf
    left = (half / z) ** 2 - between
    best = z * math.sqrt(between) if n else math.inf
    if left <= 0:
        return LabelsByFlag(
            math.nan, math.nan, math.nan, best, "no number of labels: n is too small"
        )
    parts = weight * np.sqrt(spread)
    flagged, unflagged = (math.ceil(x * (1 - SLACK)) for x in parts * parts.sum() / left)
    proportional = math.ceil(float(weight @ spread) / left * (1 - SLACK))
    if max(proportional, flagged + unflagged) > n:
        note = "more labels than outputs: n is too small"
        return LabelsByFlag(math.nan, math.nan, math.nan, best, note)
    return LabelsByFlag(proportional, flagged, unflagged, best)
