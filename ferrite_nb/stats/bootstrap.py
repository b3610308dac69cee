"""Bootstrap intervals, in closed form where resampling is only a slow way to a known distribution.

Resampling the 0/1 outcomes of n cases is drawing from a binomial distribution, and resampling pairs
is drawing the four cells of a table, so neither needs the rows. The bootstrap is here because
others report it. It has no width when all outcomes are the same, and says so: for rates use
    `interval`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _check, _groups

NAN = float("nan")
BLOCK = 2**20  # draws held at once: with their values and sizes 24 MiB


@dataclass(frozen=True)
class BootstrapProportion:
    """Percentile interval of a proportion; degenerate when it has no width."""

    low: float
    high: float
    degenerate: bool
    note: str = ""


@dataclass(frozen=True)
class BootstrapPairs:
    """Difference of two paired rates (A minus B) and its percentile interval."""

    diff: float
    low: float
    high: float
    note: str = ""


@dataclass(frozen=True)
class BootstrapMean:
    """A mean and its percentile interval."""

    estimate: float
    low: float
    high: float
    note: str = ""


def bootstrap_proportion(
    k: int,
    n: int,
    *,
    method: str = "exact",
    level: float = 0.95,
    resamples: int = 10000,
    seed: int = 0,
) -> BootstrapProportion:
    """The percentile bootstrap interval of a proportion, in a time that does not depend on n.

    Parameters
    ----------
    k, n : int
        Events and cases.
    method : {"exact", "draws"}
        "exact": the quantiles of the binomial distribution, the limit of ever more resamples.
        "draws": percentiles of `resamples` binomial draws, as a program that resamples would
            report.
    level, resamples, seed
        Confidence level; number and seed of the draws.

    Returns
    -------
    BootstrapProportion
        `low`, `high`, `degenerate`, `note`. At k = 0 it is (0, 0) and at k = n (1, 1), degenerate,
        with a note: such an interval must not be shown.

    Not computable when
        n = 0: NaN, not degenerate.

    Raises
    ------
    TypeError, ValueError
        As in `interval`; fewer than one resample; a seed that is no whole number.

    Source
    ------
    Efron, Tibshirani 1993.

    Example
    -------
    >>> from ferrite_nb.stats import bootstrap_proportion
    >>> result = bootstrap_proportion(5, 100)
    >>> result.low, result.high
    (0.01, 0.1)
    """
    events, cases = _check.count(k, "k"), _check.count(n, "n")
    _check.counts_of(events, cases)
    _check.choice(method, "method", ("exact", "draws"))
    tail = (1 - _check.level_of(level)) / 2
    draws, random = _check.draws_of(resamples), _check.generator(seed)
    if cases == 0:
        return BootstrapProportion(NAN, NAN, False, "no case")
    if events in (0, cases):
        note = f"the bootstrap of {events} of {cases} has no width; use wilson"
        return BootstrapProportion(events / cases, events / cases, True, note)
    if method == "exact":
        from scipy.stats import binom

        ends = np.asarray(binom.ppf([tail, 1 - tail], cases, events / cases))
    else:
        ends = np.quantile(random.binomial(cases, events / cases, size=draws), [tail, 1 - tail])
    return BootstrapProportion(float(ends[0]) / cases, float(ends[1]) / cases, False)


def bootstrap_pairs(
    both: int,
    b: int,
    c: int,
    neither: int,
    *,
    level: float = 0.95,
    resamples: int = 10000,
    seed: int = 0,
) -> BootstrapPairs:
    """The percentile bootstrap interval of the difference of two paired rates.

    Parameters
    ----------
    both, b, c, neither : int
        Cases where A and B, only A, only B, none had the event.
    level, resamples, seed
        Confidence level; number and seed of the draws of the four cells.

    Returns
    -------
    BootstrapPairs
        `diff` = (b - c)/n, `low`, `high`, `note`.

    Not computable when
        n = 0: all NaN. All resamples would be the same (b = c = 0, or only b, or only c): low and
        high are NaN.

    Raises
    ------
    TypeError, ValueError
        A cell is no count; fewer than one resample; a seed that is no whole number.

    Example
    -------
    >>> from ferrite_nb.stats import bootstrap_pairs
    >>> bootstrap_pairs(57, 48, 0, 195).diff
    0.16
    """
    cells = [
        _check.count(cell, name) for cell, name in zip((both, b, c, neither), _CELLS, strict=True)
    ]
    tail = (1 - _check.level_of(level)) / 2
    draws, random = _check.draws_of(resamples), _check.generator(seed)
    cases = sum(cells)
    if cases == 0:
        return BootstrapPairs(NAN, NAN, NAN, "no case")
    diff = (cells[1] - cells[2]) / cases
    if cells[1] == cells[2] == 0:
        note = "no case differs: the bootstrap has no width; use newcombe or tango"
        return BootstrapPairs(diff, NAN, NAN, note)
    if cases in (cells[1], cells[2]):
        note = "every case differs in the same direction: the bootstrap has no width; "
        note += "use newcombe or tango"
        return BootstrapPairs(diff, NAN, NAN, note)
    drawn = random.multinomial(cases, np.array(cells) / cases, size=draws)
    low, high = np.quantile(drawn[:, 1] - drawn[:, 2], [tail, 1 - tail])
    return BootstrapPairs(diff, float(low) / cases, float(high) / cases)


def bootstrap_mean(
    values: Any, *, cluster: Any = None, level: float = 0.95, resamples: int = 10000, seed: int = 0
) -> BootstrapMean:
    """The percentile bootstrap interval of a mean; with clusters, whole clusters are resampled.

    Parameters
    ----------
    values : array of float
    cluster : array of labels, optional
        The cluster of each value, such as its template or its task.
    level, resamples, seed
        Confidence level; number and seed of the resamples.

    Returns
    -------
    BootstrapMean
        `estimate`, `low`, `high` in the unit of the values, `note`.

    Not computable when
        There are fewer than two values or clusters, all values are equal, or no resample differs:
            low and
        high are NaN. Without any value the estimate is NaN too.

    Raises
    ------
    TypeError, ValueError
        Values that are not finite numbers; a label that is missing; lists of different lengths.

    Notes
    -----
    Draws are made in blocks of about 24 MiB, whatever the number of values. With few clusters a
    percentile interval is too narrow: `cluster_mean` is the better choice below about 30.

    Source
    ------
    Efron, Tibshirani 1993.

    Example
    -------
    >>> from ferrite_nb.stats import bootstrap_mean
    >>> bootstrap_mean([1.0, 2.0, 3.0, 4.0]).estimate
    2.5
    """
    numbers = _check.numbers(values, "values")
    tail = (1 - _check.level_of(level)) / 2
    draws, random = _check.draws_of(resamples), _check.generator(seed)
    if cluster is None:
        code, groups = np.arange(len(numbers)), len(numbers)
    else:
        code, groups = _groups.codes(cluster, "cluster", len(numbers))
    if len(numbers) == 0:
        return BootstrapMean(NAN, NAN, NAN, "no value")
    mean, sums = _groups.deviations(numbers, code, groups)
    if groups < 2:
        what = "value" if cluster is None else "cluster"
        return BootstrapMean(mean, NAN, NAN, f"one {what}: its spread cannot be estimated")
    if not sums.any():
        what = "values" if numbers.min() == numbers.max() else "cluster means"
        return BootstrapMean(mean, NAN, NAN, f"all {what} are equal: the bootstrap has no width")
    sizes = np.bincount(code, minlength=groups).astype(np.float64)
    low, high = np.quantile(_resampled(random, sums, sizes, draws), [tail, 1 - tail])
    return BootstrapMean(mean, mean + float(low), mean + float(high))


_CELLS = ("both", "b", "c", "neither")


def _resampled(
    random: np.random.Generator, sums: NDArray[np.float64], sizes: NDArray[np.float64], draws: int
) -> NDArray[np.float64]:
    """The mean deviation in each resample of the groups, in blocks that fit into memory."""
    groups = len(sums)
    rows = max(1, BLOCK // groups)
    means = np.empty(draws)
    for start in range(0, draws, rows):
        part = means[start : start + rows]
        total, size = np.zeros(len(part)), np.zeros(len(part))
        for left in range(0, groups, BLOCK):
            picked = random.integers(groups, size=(len(part), min(BLOCK, groups - left)))
            total += sums[picked].sum(axis=1)
            size += sizes[picked].sum(axis=1)
        part[:] = total / size
    return means
