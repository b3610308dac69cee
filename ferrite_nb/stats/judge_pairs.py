"""Judge error in a comparison: the difference of two modes whose outcomes a judge decided."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import _check
from .differences import newcombe_limits
from .intervals import score_limits
from .judge import lang_reiczigel

NAN = float("nan")
MOST = 10**12
Labels = Sequence[Any]


@dataclass(frozen=True)
class CorrectedDifference:
    """The difference of two modes after the judge; `tipping` is the sensitivity in the second mode
    at which the two would be equal (shared labels only).
    """

    diff: float
    low: float
    high: float
    tipping: float = NAN
    note: str = ""


@dataclass(frozen=True)
class LabelsNeeded:
    """How many labels a mode needs; no number of them beats the half width `best_half`."""

    labels: float
    best_half: float
    note: str = ""


def corrected_difference(
    both: int,
    b: int,
    c: int,
    neither: int,
    labels_a: Labels,
    labels_b: Labels | None = None,
    *,
    level: float = 0.95,
) -> CorrectedDifference:
    """The difference of the true rates of two modes on the same cases, seen through a judge.

    Parameters
    ----------
    both, b, c, neither : int
        Cases that the judge flagged in both modes, in the first only, the second only, in none.
    labels_a, labels_b : (tp, fn, tn, fp)
        People's labels in either mode, from outside the run. Without `labels_b` one set of labels
        serves both modes, which assumes that the judge errs alike in both.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    CorrectedDifference
        Own labels: the limits of both rates (Lang, Reiczigel) put together by the method of
        variance recovery, with the pairing. Shared labels: Newcombe's limits over those of Youden's
        J as a ratio; 0 is inside if and only if it is inside Newcombe's.

    Not computable when
    -------------------
    Se + Sp <= 1 in the labels or within their error: NaN, the note says why.

    Source
    ------
    Lang, Reiczigel 2014; Newcombe 1998; Zou, Donner 2008; Donner, Zou 2012.

    Example
    -------
    >>> result = corrected_difference(30, 40, 10, 220, [95, 5, 97, 3], [70, 30, 97, 3])
    >>> round(result.low, 4), round(result.high, 4)
    (-0.0176, 0.1536)
    """
    cells = [_check.count(v, n) for v, n in zip((both, b, c, neither), CELLS, strict=True)]
    sets = [_four(labels_a, "labels_a"), [] if labels_b is None else _four(labels_b, "labels_b")]
    return after_judge(cells, sets[0], sets[1], _check.z_of(_check.level_of(level)))


def after_judge(
    cells: Sequence[float],
    labels_a: Sequence[float],
    labels_b: Sequence[float],
    z: float,
    limits: tuple[float, float] | None = None,
) -> CorrectedDifference:
    """`corrected_difference` for any real counts; `limits` are those of the judge's difference
    where the cases are not independent: what they are wider than Newcombe's goes into the result.
    """
    if not sum(cells):
        return CorrectedDifference(NAN, NAN, NAN, note="no case")
    for labels in filter(None, (labels_a, labels_b)):
        if youden(labels) <= 0 or shrunk(labels) <= 0:
            return CorrectedDifference(NAN, NAN, NAN, note="too few labels, or Se + Sp <= 1")
    if labels_b:
        return CorrectedDifference(*_own(cells, labels_a, labels_b, z, limits))
    return _shared(cells, labels_a, z, limits)


CELLS = ("both", "b", "c", "neither")


def _four(labels: Any, name: str) -> list[int]:
    """The counts (tp, fn, tn, fp), checked."""
    counts = [_check.count(value, name) for value in _check.items(labels, name)]
    if len(counts) != 4:
        raise ValueError(f"{name} must be the counts (tp, fn, tn, fp), got {len(counts)}")
    return counts


def youden(labels: Sequence[float]) -> float:
    """Se + Sp - 1 of labels (tp, fn, tn, fp)."""
    tp, fn, tn, fp = labels
    return tp / (tp + fn) + tn / (tn + fp) - 1 if tp + fn and tn + fp else -1.0


def shrunk(labels: Sequence[float]) -> float:
    """Youden's J with one pseudo-label more in each cell: where it is not above 0, there are too
    few labels.
    """
    tp, fn, tn, fp = labels
    return (tp + 1) / (tp + fn + 2) + (tn + 1) / (tn + fp + 2) - 1


def _own(
    cells: Sequence[float],
    labels_a: Sequence[float],
    labels_b: Sequence[float],
    z: float,
    wider: tuple[float, float] | None = None,
) -> tuple[float, float, float]:
    """Difference and limits with labels of each mode's own, for any real counts."""
    both, b, c, neither = cells
    n = sum(cells)
    rates, limits, errors, youdens = [], [], [], []
    for k, labels in ((both + b, labels_a), (both + c, labels_b)):
        tn, fp = labels[2:]
        youdens.append(shrunk(labels))
        rates.append((k / n + tn / (tn + fp) - 1) / youden(labels))
        limits.append(lang_reiczigel(k, n, labels, z))
        errors.append((limits[-1][1] - limits[-1][0]) / 2 / z)
    pairing = (both * neither - b * c) / n**3 / (youdens[0] * youdens[1]) / (errors[0] * errors[1])
    below = [rate - low for rate, (low, _) in zip(rates, limits, strict=True)]
    above = [high - rate for rate, (_, high) in zip(rates, limits, strict=True)]
    down = below[0] ** 2 + above[1] ** 2 - 2 * pairing * below[0] * above[1]
    up = above[0] ** 2 + below[1] ** 2 - 2 * pairing * above[0] * below[1]
    if wider is not None:
        d, slope = (b - c) / n, min(youden(labels_a), youden(labels_b))
        plain = newcombe_limits(both, b, c, neither, z)
        extra = [
            ((d - x) ** 2 - (d - y) ** 2) / slope**2 for x, y in zip(wider, plain, strict=True)
        ]
        down, up = max(down, 0.0) + max(extra[0], 0.0), max(up, 0.0) + max(extra[1], 0.0)
    diff = rates[0] - rates[1]
    low, high = diff - math.sqrt(max(down, 0.0)), diff + math.sqrt(max(up, 0.0))
    return diff, max(low, -1.0), min(high, 1.0)


def _shared(
    cells: Sequence[float],
    labels: Sequence[float],
    z: float,
    limits: tuple[float, float] | None = None,
) -> CorrectedDifference:
    """Difference and limits with one set of labels for both modes: a ratio by variance recovery."""
    both, b, c, neither = cells
    tp, fn, tn, fp = labels
    n, j = sum(cells), youden(labels)
    se, sp = tp / (tp + fn), tn / (tn + fp)
    (se_low, se_high), (sp_low, sp_high) = (
        score_limits(rate, size, z) for rate, size in ((se, tp + fn), (sp, tn + fp))
    )
    j_low = j - math.hypot(se - se_low, sp - sp_low)
    j_high = j + math.hypot(se_high - se, sp_high - sp)
    if j_low <= 0:
        return CorrectedDifference((b - c) / n / j, NAN, NAN, note="too few labels for a limit")
    d = (b - c) / n
    low, high = limits or newcombe_limits(both, b, c, neither, z)
    ends = [
        _ratio(d, j, low, j_high if low >= 0 else j_low, -1),
        _ratio(d, j, high, j_low if high >= 0 else j_high, 1),
    ]
    rate_a, p_b = ((both + b) / n + sp - 1) / j, (both + c) / n
    tipping = (p_b + sp - 1) / rate_a + 1 - sp if rate_a > 0 else NAN
    return CorrectedDifference(d / j, max(ends[0], -1.0), min(ends[1], 1.0), tipping)


def _ratio(d: float, j: float, x: float, y: float, side: int) -> float:
    """One limit of d/j from a limit x of d and a limit y of j, in the form that does not cancel."""
    inside = d**2 * j**2 - x * y * (2 * d - x) * (2 * j - y)
    root = math.sqrt(max(inside, 0.0))
    lead, rest = d * j + side * root, d * j - side * root
    if abs(y * (2 * j - y)) >= abs(rest) or rest == 0:
        return lead / (y * (2 * j - y))
    return x * (2 * d - x) / rest


def _flagged(true: Sequence[float], se: Sequence[float], sp: Sequence[float]) -> list[float]:
    """The cells that the judge shows where the true ones are these and its errors independent."""
    flags = [((sens, 1 - spec)) for sens, spec in zip(se, sp, strict=True)]
    chances = [(flags[0][x], flags[1][y]) for x, y in ((0, 0), (0, 1), (1, 0), (1, 1))]
    both = sum(n * a * b for n, (a, b) in zip(true, chances, strict=True))
    only_a = sum(n * a * (1 - b) for n, (a, b) in zip(true, chances, strict=True))
    only_b = sum(n * (1 - a) * b for n, (a, b) in zip(true, chances, strict=True))
    return [both, only_a, only_b, sum(true) - both - only_a - only_b]


def labels_needed(
    half: float,
    n: int,
    cells: Sequence[float],
    se: Sequence[float],
    sp: Sequence[float],
    *,
    positives: float = 0.5,
    level: float = 0.95,
) -> LabelsNeeded:
    """How many people's labels a mode needs for a corrected difference of a given half width.

    Parameters
    ----------
    half : float
        The half width that is wanted.
    n : int
        Cases that run in both modes.
    cells : (both, b, c, neither)
        Expected shares of the true outcomes.
    se, sp : (first mode, second mode)
        The judge's expected sensitivity and specificity in either mode.
    positives : float
        Share of positives among the labelled outputs.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    LabelsNeeded
        `labels` for each mode, the smallest number whose interval at the expected counts is narrow
        enough; NaN, with the note, where no number is.

    Example
    -------
    >>> labels_needed(0.12, 300, [0.1, 0.1, 0.1, 0.7], [0.95, 0.7], [0.97, 0.97]).labels
    108
    """
    half = _check.fraction(half, "half", open_ends=True)
    z, cases = _check.z_of(_check.level_of(level)), _check.count(n, "n")
    true = [_check.fraction(cell, "cells") * cases for cell in _check.items(cells, "cells")]
    se, sp = (
        [_check.fraction(one, name) for one in _check.items(rates, name)]
        for rates, name in ((se, "se"), (sp, "sp"))
    )
    counts = _flagged(true, se, sp)
    share = _check.fraction(positives, "positives", open_ends=True)

    def width(labels: float) -> float:
        sets = [
            (
                labels * share * sens,
                labels * share * (1 - sens),
                labels * (1 - share) * spec,
                labels * (1 - share) * (1 - spec),
            )
            for sens, spec in zip(se, sp, strict=True)
        ]
        if any(shrunk(one) <= 0 for one in sets):
            return math.inf
        _, low, high = _own(counts, sets[0], sets[1], z)
        return (high - low) / 2

    best = width(MOST)
    if best > half:
        return LabelsNeeded(NAN, best, "no number of labels: n is too small")
    low, high = 1, 2
    while width(high) > half:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if width(middle) <= half else (middle, high)
    return LabelsNeeded(high, best)
