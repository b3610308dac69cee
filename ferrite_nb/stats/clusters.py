"""Rates and means of cases that come in clusters: templates, prompts, tasks that rise and fall
together.

Ten variants of one template are not ten independent cases. We ask how many independent cases they
are worth and put that number into Wilson's formula. It is the smaller of two answers: what the
observed spread between clusters says, reduced for the few clusters that it rests on, and what all
correlations that fit the data say on average.

Limit: one to three hot templates expected in the sample and the rest near 0 (coverage .79 to .93):
when none was drawn, nothing in the data shows it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtrit

from . import _check, _groups
from .intervals import interval, score_limits
from .plausible import plausible_icc

NAN = float("nan")
HOT, FEW_DF = 0.25, 4.0  # from such a share in one cluster, or below so few, the note speaks
FEWEST = 5  # below this many clusters the spread between them is hardly known
ONE = "one cluster: its spread cannot be estimated"


@dataclass(frozen=True)
class DesignEffect:
    """How much the clusters inflate the variance of a rate."""

    rate: float
    se: float
    deff: float
    icc: float
    n_eff: float
    clusters: int


@dataclass(frozen=True)
class ClusteredInterval:
    """A rate and its interval from clusters."""

    rate: float
    low: float
    high: float
    n_eff: float
    icc_plausible: float
    deff: float
    df: float
    largest_share: float
    clusters: int
    note: str = ""
    icc_high: float = NAN


@dataclass(frozen=True)
class CrossedInterval:
    """A rate and its interval from two crossed labels; `clusters` counts the groups of either."""

    rate: float
    low: float
    high: float
    n_eff: float
    deff: float
    df: int
    clusters: tuple[int, int]
    note: str = ""


@dataclass(frozen=True)
class ClusterMean:
    """A mean and its interval from clusters."""

    mean: float
    se: float
    icc: float
    deff: float
    df: int
    clusters: int
    low: float
    high: float
    note: str = ""


def design_effect(k: Any, n: Any) -> DesignEffect:
    """How much more a rate varies because its cases come in clusters.

    Parameters
    ----------
    k, n : array of int
        Events and cases of each cluster. Clusters without a case are dropped.

    Returns
    -------
    DesignEffect
        `rate`; `se` by survey linearisation (the "CR1" sandwich of an intercept); `deff`, the
        variance over that of a simple random sample; `icc`, the intraclass correlation by analysis
        of variance, which may be negative; `n_eff`, the number of independent cases worth as much,
        never above n; `clusters`.

    Not computable when
        All outcomes are the same: deff and icc are NaN, se is 0 and n_eff the number of clusters.
        One case per cluster: icc is NaN. One cluster: all but rate and clusters are NaN. No case:
            rate too.

    Raises
    ------
    TypeError, ValueError
        As in `interval`; lists of different lengths.

    Source
    ------
    Kish 1965; Liang, Zeger 1986; Donner, Klar 2000; tested against R (survey, sandwich).

    Example
    -------
    >>> from ferrite_nb.stats import design_effect
    >>> round(design_effect([4, 1, 5, 1, 3, 0, 3, 4], [5] * 8).deff, 6)
    2.443609
    """
    events, cases = _filled(*_check.series(k, n))
    clusters, total_k, total_n = len(cases), int(events.sum()), int(cases.sum())
    if clusters < 2:
        return DesignEffect(_share(total_k, total_n), NAN, NAN, NAN, NAN, clusters)
    rate = total_k / total_n
    if total_k in (0, total_n):
        return DesignEffect(rate, 0.0, NAN, NAN, float(clusters), clusters)
    residuals = _groups.residuals(events, cases)
    se, deff = (
        math.sqrt(_groups.variance(residuals, total_n)),
        _groups.deff(residuals, total_k, total_n),
    )
    between = float(((events - cases * rate) ** 2 / cases).sum())
    within = float((events * ((cases - events) / cases)).sum())
    icc = _groups.icc(between, within, cases)
    return DesignEffect(rate, se, deff, icc, _groups.n_eff(total_n, deff), clusters)


def clustered_interval(k: Any, n: Any, *, level: float = 0.95) -> ClusteredInterval:
    """The confidence interval of a rate whose cases come in clusters.

    Parameters
    ----------
    k, n : array of int
        Events and cases of each cluster. Clusters without a case are dropped.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    ClusteredInterval
        `rate` (of cases: large clusters weigh more), `low`, `high`, `n_eff` (independent cases that
        they are worth), `icc_plausible` (mean of the correlations that fit the data), `deff` (n
        over n_eff), `df` (Bell-McCaffrey), `largest_share` (of the cases in one cluster),
        `clusters`, `note`.

    Not computable when
        There is one cluster or no case: low, high, n_eff and deff are NaN.

    Notes
    -----
    Without an event, or with nothing but events, each cluster counts once: P(no event) is at most
    (1-p)^G whatever the dependence inside clusters. The first event may lower the upper limit,
    because it rules all-or-nothing clusters out. Clusters of one case give plain Wilson. `icc_high`
    is the largest correlation that still agrees with the data: 95 % of its weight lies below it.

    Source
    ------
    Wilson 1927; Kish 1965; Bell, McCaffrey 2002 (CR2 and its degrees of freedom); Franco, Little,
    Louis, Slud 2019. The correlation is the posterior mean under the beta-binomial model, with a
    Beta(½, ½) mean and a uniform correlation.

    Example
    -------
    >>> from ferrite_nb.stats import clustered_interval
    >>> result = clustered_interval([4, 1, 5, 1, 3, 0, 3, 4], [5] * 8)
    >>> round(result.low, 6), round(result.high, 6), round(result.n_eff, 6)
    (0.266575, 0.770695, 11.246054)
    """
    events, cases = _filled(*_check.series(k, n))
    z = _check.z_of(_check.level_of(level))
    clusters, total_k, total_n = len(cases), int(events.sum()), int(cases.sum())
    rate = _share(total_k, total_n)
    largest = float(cases.max() / total_n) if clusters else NAN
    if clusters < 2:
        note = ONE if clusters else "no case"
        return ClusteredInterval(rate, NAN, NAN, NAN, NAN, NAN, NAN, largest, clusters, note)
    share = cases / total_n
    df = _bell_mccaffrey(cases, total_n)
    icc, most, n_eff, note = NAN, NAN, float(total_n), ""
    if total_k in (0, total_n):
        n_eff = float(clusters)
        if clusters < total_n:
            note = f"{total_k} of {total_n} in {clusters} clusters: counted as {clusters}"
            note += ", the worst case"
    elif clusters < total_n:
        spread = events - cases * rate
        variance = float((spread**2 / (1 - share)).sum()) / total_n**2
        exact = _groups.residuals(events, cases)
        simple = rate * (1 - rate) * total_n / (total_n - 1)
        n_spread = min(total_n, simple / variance) if any(exact) else float(total_n)
        student = -float(stdtrit(df, float(ndtr(-z))))
        icc, most = plausible_icc(events, cases)
        n_model = total_n / (1 + icc * (float((cases.astype(float) ** 2).sum()) / total_n - 1))
        n_eff = min(n_spread * (z / student) ** 2, n_model)
        if largest >= HOT or df < FEW_DF:
            note = (
                f"one cluster holds {int(cases.max())} of {total_n} cases; the {clusters} clusters "
                f"say as much about the spread as {df + 1:.1f} equal ones"
            )
    if clusters == total_n:  # plain Wilson, bit for bit
        plain = interval(total_k, total_n, level=level)
        low, high = plain.low, plain.high
    else:
        low, high = _wilson(total_k, total_n, n_eff, z)
    deff = total_n / n_eff
    return ClusteredInterval(rate, low, high, n_eff, icc, deff, df, largest, clusters, note, most)


def _bell_mccaffrey(cases: NDArray[np.int64], total: int) -> float:
    """Degrees of freedom of the CR2 variance of a mean: G - 1 when clusters are equally large."""
    sizes = cases.astype(np.float64)
    share = sizes / total
    q = sizes * share / (1 - share)
    return float(total**2 / ((sizes**2).sum() + q.sum() ** 2 - (q**2).sum()))


def crossed_interval(
    k: Any, n: Any, first: Any, second: Any, *, level: float = 0.95
) -> CrossedInterval:
    """The confidence interval of a rate whose cases have two crossed labels (task, injection).

    Parameters
    ----------
    k, n : array of int
        Events and cases of each cell. Cells without a case are dropped.
    first, second : array of labels
        The two labels of each cell.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    CrossedInterval
        As `clustered_interval`; `clusters` is the pair of counts and `df` the smaller of them less
        one.

    Not computable when
        Either label has one value, or there is no case: low, high, n_eff and deff are NaN.

    Raises
    ------
    TypeError, ValueError
        As in `interval`; a label that is missing; lists of different lengths.

    Notes
    -----
    The variance is first + second - both, but never less than that of one label alone: the plain
    sum can be negative, and a crossed interval must not be narrower than a one-way one.

    Source
    ------
    Cameron, Gelbach, Miller 2011; variances tested against R (sandwich::vcovCL).

    Example
    -------
    >>> from ferrite_nb.stats import crossed_interval
    >>> crossed_interval([1, 0, 1, 1], [2] * 4, ["a", "a", "b", "b"], [1, 2, 1, 2]).clusters
    (2, 2)
    """
    events, cases = _check.series(k, n)
    level = _check.level_of(level)
    kept = cases > 0
    one, ones = _groups.compact(_groups.codes(first, "first", len(cases))[0][kept])
    two, twos = _groups.compact(_groups.codes(second, "second", len(cases))[0][kept])
    events, cases = events[kept], cases[kept]
    total_k, total_n = int(events.sum()), int(cases.sum())
    rate, fewest = _share(total_k, total_n), min(ones, twos)
    df, clusters = max(fewest - 1, 0), (ones, twos)
    if fewest < 2:
        return CrossedInterval(rate, NAN, NAN, NAN, NAN, df, clusters, ONE if fewest else "no case")
    deff, n_eff, notes = NAN, float(fewest), _few(fewest)
    if total_k in (0, total_n):
        notes.append(f"{total_k} of {total_n} in {ones} and {twos} clusters: counted as {fewest}")
    else:
        both, pairs = _groups.compact(one * twos + two)
        residuals = _groups.residuals(events, cases)
        parts = [
            _groups.deff(_groups.group_sums(residuals, code, groups), total_k, total_n)
            for code, groups in ((one, ones), (two, twos), (both, pairs))
        ]
        deff = max(parts[0] + parts[1] - parts[2], parts[0], parts[1])
        n_eff = _groups.n_eff(total_n, deff)
    low, high = _wilson(total_k, total_n, n_eff, _student(df, level))
    return CrossedInterval(rate, low, high, n_eff, deff, df, clusters, "; ".join(notes))


def cluster_mean(values: Any, cluster: Any, *, level: float = 0.95) -> ClusterMean:
    """The mean of values that come in clusters, and its confidence interval.

    Parameters
    ----------
    values : array of float
        One value per row: an averaged metric, or the difference of a pair.
    cluster : array of labels
        The cluster of each value.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    ClusterMean
        `mean`, `se`, `icc`, `deff`, `df` (clusters - 1), `clusters`, `low`, `high`, `note`; se, low
        and high in the unit of the values. With fewer than five clusters the note starts with
        "insufficient clusters".

    Not computable when
        There is one cluster: se, icc, deff, low and high are NaN; without any value the mean too.
        se is 0: low and high are NaN, because a width of zero is not precision. All values are
            equal: icc
        and deff are NaN. One value per cluster: icc is NaN.

    Raises
    ------
    TypeError, ValueError
        Values that are not finite numbers; a label that is missing; lists of different lengths.

    Source
    ------
    Liang, Zeger 1986; Donner, Klar 2000; tested against R (survey, sandwich, estimatr).

    Example
    -------
    >>> from ferrite_nb.stats import cluster_mean
    >>> result = cluster_mean([1, 0, 0, 1, 1, 1, 0, 0, 0, 1], list("aabbccddee"))
    >>> result.mean, round(result.se, 6)
    (0.5, 0.158114)
    """
    numbers = _check.numbers(values, "values")
    level = _check.level_of(level)
    code, groups = _groups.codes(cluster, "cluster", len(numbers))
    df = max(groups - 1, 0)
    if groups < 2:
        mean = float(numbers.mean()) if groups else NAN
        return ClusterMean(mean, NAN, NAN, NAN, df, groups, NAN, NAN, ONE if groups else "no value")
    mean, sums = _groups.deviations(numbers, code, groups)
    sizes, rows, notes = np.bincount(code, minlength=groups), len(numbers), _few(groups)
    squares, total = math.fsum(sums**2), math.fsum((numbers - mean) ** 2)
    if numbers.min() == numbers.max() or total == 0:
        notes.append("all values are equal: no interval")
        return ClusterMean(mean, 0.0, NAN, NAN, df, groups, NAN, NAN, "; ".join(notes))
    se = math.sqrt(groups / df * squares) / rows
    # grouped so that one value per cluster gives exactly 1
    deff = (groups * (rows - 1)) / (df * rows) * (squares / total)
    between = float((sums**2 / sizes).sum())
    within = float(((numbers - mean - (sums / sizes)[code]) ** 2).sum())
    icc = _groups.icc(between, within, sizes)
    if se == 0:
        notes.append("all cluster means are equal: no interval")
        return ClusterMean(mean, se, icc, deff, df, groups, NAN, NAN, "; ".join(notes))
    half_width = _student(df, level) * se
    return ClusterMean(
        mean, se, icc, deff, df, groups, mean - half_width, mean + half_width, "; ".join(notes)
    )


def _filled(
    events: NDArray[np.int64], cases: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Only the clusters that have cases."""
    return events[cases > 0], cases[cases > 0]


def _share(k: int, n: int) -> float:
    """k/n, or NaN without a case."""
    return k / n if n else NAN


def _few(clusters: int) -> list[str]:
    """The note that there are too few clusters, if so."""
    if clusters >= FEWEST:
        return []
    return [f"insufficient clusters ({clusters}; at least {FEWEST} are needed)"]


def _student(df: int, level: float) -> float:
    """The two-sided Student quantile, taken from the lower tail."""
    return -float(stdtrit(df, (1 - level) / 2))


def _wilson(total_k: int, total_n: int, n_eff: float, z: float) -> tuple[float, float]:
    """Wilson's formula; exact ends where all outcomes are the same."""
    low, high = score_limits(total_k / total_n, n_eff, z)
    return 0.0 if total_k == 0 else float(low), 1.0 if total_k == total_n else float(high)
