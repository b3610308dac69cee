"""Paired differences of cases that are not independent: one key, two crossed keys, repeats.

A value is inside when flipping the signs of the clusters does not refuse it; these limits are the
percentiles of the means over all subsets of clusters (Hartigan 1969). So few or so equal clusters
that subsets say little are covered by Newcombe's paired interval with the effective number of
cases and Student's quantile. The wider end counts, and at 0 the exact test has the last word.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtr, stdtrit

from . import _check, _groups
from .differences import newcombe_limits
from .permutation import sign_flip

NAN = float("nan")
EXACT = 20  # 2**20 subsets are all looked at; of more units subsets are drawn
DRAWN, SEED = 100_000, 0
FEW_CASES, MOST = 5, 0.5  # fewer cases that carry more than this of the squares: it hangs on them
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PairedUnits:
    """The mean difference of two modes on the same cases, its test and its interval.

    `floor` is the smallest p that these units can reach, `units` how many there are, `differing`
    how many have a sum of differences that is not 0, `n_eff` the independent cases that they are
    worth, `hangs_on` the few cases that carry more than half of the squares (0: it hangs on none),
    `carried` whether the test moved an end of the interval to 0, `drawn` whether signs or subsets
    were drawn.
    """

    diff: float
    low: float
    high: float
    p: float
    floor: float
    n_eff: float
    units: int
    differing: int
    hangs_on: int = 0
    carried: bool = False
    drawn: bool = False
    note: str = ""


@dataclass(frozen=True)
class PairedCrossed:
    """As `PairedUnits`, with two crossed keys; `units` are the counts of either."""

    diff: float
    low: float
    high: float
    p: float
    floor: float
    n_eff: float
    df: float
    units: tuple[int, int]
    carried: bool = False
    drawn: bool = False
    note: str = ""


def paired_units(
    a: Any, b: Any, unit: Any, *, runs: int | None = None, level: float = 0.95
) -> PairedUnits:
    """The difference of two modes on the same cases, whose units are cases or clusters of them.

    Parameters
    ----------
    a, b : array of float
        The rate of each case in either mode, in [0, 1] (0 or 1 when it ran once).
    unit : array of labels
        The cluster of each case; with repeats alone the case itself.
    runs : int, optional
        With repeats the sum over cases of the smaller number of runs.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    PairedUnits
        `diff` (the mean of a - b), `low`, `high`, `p` of the sign flip of unit sums, and what
        belongs to it.

    Not computable when
    -------------------
    there is one unit: low and high are NaN, p stays; without a case all is NaN.

    Source
    ------
    Fisher 1935 (sign flips); Hartigan 1969, J Am Stat Assoc 64:1303; Newcombe 1998, Stat Med
    17:2635, method 10; Bell, McCaffrey 2002; Korn, Graubard 1998.

    Example
    -------
    >>> result = paired_units([1] * 22, [0] * 22, [case // 2 for case in range(22)])
    >>> round(result.low, 4), result.high, round(result.p, 6)
    (0.5602, 1.0, 0.000977)
    """
    first, second, level = *_rates(a, b), _check.level_of(level)
    runs = None if runs is None else _check.count(runs, "runs")
    code, groups = _groups.codes(unit, "unit", len(first))
    cases = len(first)
    if not cases:
        return PairedUnits(NAN, NAN, NAN, NAN, NAN, NAN, 0, 0, note="no case")
    d = first - second
    sizes, sums = unit_sums(d, code, groups)
    diff = float(sums.sum() / cases)
    test = sign_flip(sums)
    differing = int(np.count_nonzero(sums))
    floor = min(1.0, 2.0 ** (1 - differing))
    if groups < 2:
        return PairedUnits(diff, NAN, NAN, test.p, floor, NAN, groups, differing, note="one unit")
    variance = float(((sums - sizes * diff) ** 2 / (1 - sizes / cases)).sum()) / cases**2
    n_eff = _worth(first, second, variance, groups, _pure(d, code, groups), runs)
    student = -float(stdtrit(groups - 1, (1 - level) / 2))
    ends = [_newcombe(first, second, n_eff, student)]
    subset = _subset_limits(sums, sizes, level)
    ends += [subset] if subset else []
    low, high, carried = _decided(_hull(ends), test.p, level)
    drawn = test.method != "exact" or groups > EXACT
    squares = np.sort(d**2)[::-1]
    half = int(np.searchsorted(np.cumsum(squares), MOST * squares.sum(), side="right")) + 1
    hangs = half if runs and 0 < half < FEW_CASES < cases and squares.sum() > 0 else 0
    return PairedUnits(
        diff, low, high, test.p, floor, n_eff, groups, differing, hangs, carried, drawn
    )


def paired_crossed(
    a: Any, b: Any, first: Any, second: Any, *, strata: Any = None, level: float = 0.95
) -> PairedCrossed:
    """The difference of two modes on the same cases, which two crossed keys make alike.

    Parameters
    ----------
    a, b : array of float
        The rate of each case in either mode, in [0, 1].
    first, second : array of labels
        The two keys of each case (user task and injection).
    strata : array of labels, optional
        Fixed strata (suites) with means of their own: the spread is then taken within them, and the
        test is the two-way one alone, because signs cannot be flipped there.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    PairedCrossed
        `p` is the largest of the two sign flips and the two-way test, the interval the hull of all
        three, so it is never narrower than that of one key alone.

    Not computable when
    -------------------
    a key has one value: low and high are NaN. A stratum has one value of a key: p is NaN too.

    Source
    ------
    Cameron, Gelbach, Miller 2011, with the CR2 factor of each grouping (Bell, McCaffrey 2002);
    Satterthwaite 1946.

    Example
    -------
    >>> result = paired_crossed([0, 1, 1, 1, 0, 0], [0] * 6, list("aabbcc"), [0, 1] * 3)
    >>> result.diff, result.p, result.units
    (0.5, 0.5, (3, 2))
    """
    rate_a, rate_b, level = *_rates(a, b), _check.level_of(level)
    cases = len(rate_a)
    keys = [
        _groups.codes(label, name, cases) for label, name in ((first, "first"), (second, "second"))
    ]
    units = (keys[0][1], keys[1][1])
    if not cases:
        return PairedCrossed(NAN, NAN, NAN, NAN, NAN, NAN, NAN, units, note="no case")
    d = rate_a - rate_b
    diff = float(d.mean())
    one_way = [paired_units(rate_a, rate_b, code, level=level) for code, _ in keys]
    floor = max(found.floor for found in one_way)
    fewest = min(units)
    if fewest < 2:
        p = max(found.p for found in one_way)
        return PairedCrossed(diff, NAN, NAN, p, floor, NAN, NAN, units, note="one unit of a key")
    if strata is None:
        parts, cells = [(d, [code for code, _ in keys])], [fewest - 1.0]
    else:
        stratum, many = _groups.codes(strata, "strata", cases)
        parts = [
            (d[stratum == one], [code[stratum == one] for code, _ in keys]) for one in range(many)
        ]
        cells = [min(len(np.unique(code)) for code in codes) - 1.0 for _, codes in parts]
        if min(cells) < 1:
            note = "a stratum has one unit of a key"
            return PairedCrossed(diff, NAN, NAN, NAN, 0.0, NAN, NAN, units, note=note)
    variances = np.array([_two_way(values, codes) for values, codes in parts]) / cases**2
    variance = float(variances.sum())
    spread = (variances**2 / cells).sum()
    df = fewest - 1.0 if strata is None else float(variance**2 / spread) if variance else sum(cells)
    groups = fewest if strata is None else int(sum(cells) + len(cells))
    pure = min(_pure(d, code, many) for code, many in keys)
    n_eff = _worth(rate_a, rate_b, variance, groups, pure, None)
    student = -float(stdtrit(df, (1 - level) / 2))
    ends = [_newcombe(rate_a, rate_b, n_eff, student)]
    p = _two_way_p(rate_a, rate_b, n_eff, df)
    if strata is None:
        p = max(p, *(found.p for found in one_way))
        ends += [(found.low, found.high) for found in one_way]
    low, high, carried = _decided(_hull(ends), p, level)
    drawn = strata is None and any(found.drawn for found in one_way)
    return PairedCrossed(
        diff, low, high, p, 0.0 if strata is not None else floor, n_eff, df, units, carried, drawn
    )


def _rates(a: Any, b: Any) -> tuple[Floats, Floats]:
    """The rates of the cases in both modes, checked."""
    first, second = _check.numbers(a, "a"), _check.numbers(b, "b")
    if len(first) != len(second):
        raise ValueError(f"a and b have one rate per case, got {len(first)} and {len(second)}")
    for name, rates in (("a", first), ("b", second)):
        if len(rates) and not (rates.min() >= 0 and rates.max() <= 1):
            raise ValueError(f"{name} holds rates from 0 to 1, got {rates.min()} to {rates.max()}")
    return first, second


def unit_sums(d: Floats, code: NDArray[np.intp], groups: int) -> tuple[Floats, Floats]:
    """The size of each unit and its sum of differences; a sum of rounding errors is exactly 0."""
    sizes = np.bincount(code, minlength=groups).astype(np.float64)
    sums = np.bincount(code, weights=d, minlength=groups)
    return sizes, np.where(np.abs(sums) < 1e-12 * sizes, 0.0, sums)


def _pure(d: Floats, code: NDArray[np.intp], groups: int) -> int:
    """Units that are not of the commonest pure kind (wholly at 0, at +1 or at -1)."""
    most = 0
    for value in (0.0, 1.0, -1.0):
        wholly = np.bincount(code, weights=d != value, minlength=groups) == 0
        most = max(most, int(wholly.sum()))
    return groups - most


def _worth(
    a: Floats, b: Floats, variance: float, groups: int, impure: int, runs: int | None
) -> float:
    """The independent cases that the units are worth: by their spread, and towards their number
    the fewer of them are unlike the rest.
    """
    cases = len(a)
    d = a - b
    discordant = float(np.abs(d).sum()) / cases
    spread = cases / (cases - 1) * (discordant - float(d.mean()) ** 2) if cases > 1 else 0.0
    deff = cases * variance / spread if spread > 1e-15 else 1.0
    deff = max(deff, cases / (runs or cases))
    share = 2.0**-impure
    return cases / max(deff, (1 - share) * deff + share * cases / groups)


def _newcombe(a: Floats, b: Floats, n: float, z: float) -> tuple[float, float]:
    """Newcombe's paired interval (method 10) of n cases with the shares of these."""
    cells = np.array(
        [
            np.minimum(a, b).sum(),
            np.maximum(a - b, 0).sum(),
            np.maximum(b - a, 0).sum(),
            (1 - np.maximum(a, b)).sum(),
        ]
    )
    both, only_a, only_b, neither = cells * (n / len(a))
    return newcombe_limits(both, only_a, only_b, neither, z)


def _subset_limits(sums: Floats, sizes: Floats, level: float) -> tuple[float, float] | None:
    """Percentiles of the means over subsets of the units; None where there are too few."""
    groups, tail = len(sums), (1 - level) / 2
    if groups <= EXACT:
        totals, counts = np.zeros(1), np.zeros(1)
        for value, size in zip(sums, sizes, strict=True):
            totals = np.concatenate([totals, totals + value])
            counts = np.concatenate([counts, counts + size])
        means = np.sort(totals[1:] / counts[1:])
        place = math.floor(tail * 2**groups + 1e-9)
    else:
        order = np.lexsort((np.abs(sums), sizes))  # the order of the units is none of ours
        pairs, often = np.unique(np.stack([sums[order], sizes[order]]), axis=1, return_counts=True)
        rng = np.random.default_rng(SEED)
        drawn = rng.binomial(often, 0.5, size=(DRAWN // 2, len(often)))
        drawn = np.concatenate([drawn, often - drawn])
        counts = drawn @ pairs[1]
        means = np.sort((drawn @ pairs[0])[counts > 0] / counts[counts > 0])
        place = math.floor(tail * (len(means) + 2)) - 1
    return (float(means[place - 1]), float(means[-place])) if place >= 1 else None


def _hull(ends: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The smallest interval that holds all of them."""
    return max(min(low for low, _ in ends), -1.0), min(max(high for _, high in ends), 1.0)


def _decided(ends: tuple[float, float], p: float, level: float) -> tuple[float, float, bool]:
    """The interval where the test has the last word at 0, and whether it moved an end there."""
    low, high = ends
    refuses = p <= 1 - level + 1e-12
    if refuses and low < 0 < high:
        return (0.0, high, True) if abs(low) < high else (low, 0.0, True)
    if not refuses and low > 0:
        return 0.0, high, True
    if not refuses and high < 0:
        return low, 0.0, True
    return low, high, False


def _two_way(d: Floats, codes: Sequence[NDArray[np.intp]]) -> float:
    """The two-way variance of a sum of differences, never less than that of one key."""
    n, e = len(d), d - d.mean()
    joint = _groups.compact(codes[0] * (codes[1].max() + 1) + codes[1])[0]
    parts = []
    for code in (*codes, joint):
        dense, groups = _groups.compact(code)
        sizes = np.bincount(dense, minlength=groups)
        sums = np.bincount(dense, weights=e, minlength=groups)
        lone = sizes == n
        share = np.where(lone, 1.0, 1 - sizes / n)
        parts.append(float(np.where(lone, 0.0, sums**2 / share).sum()))
    return max(parts[0] + parts[1] - parts[2], parts[0], parts[1])


def _two_way_p(a: Floats, b: Floats, n_eff: float, df: float) -> float:
    """McNemar's z at the effective number of cases, with Student's distribution."""
    scale = n_eff / len(a)
    only_a = float(np.maximum(a - b, 0).sum()) * scale
    only_b = float(np.maximum(b - a, 0).sum()) * scale
    if only_a + only_b <= 0:
        return 1.0
    z = abs(only_a - only_b) / math.sqrt(only_a + only_b)
    return float(2 * stdtr(df, -z)) if math.isfinite(df) else float(2 * ndtr(-z))
