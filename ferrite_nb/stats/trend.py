"""Several modes, strata, ordered groups and seeds: one test for each of these shapes of counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, ndtr, ndtri

from . import _check

NAN = float("nan")


@dataclass(frozen=True)
class CochransQ:
    """Cochran's Q: the statistic, its degrees of freedom and the p value."""

    q: float
    df: int
    p: float
    note: str = ""


@dataclass(frozen=True)
class StratifiedOdds:
    """The odds ratio over strata, its test, and the test that it is the same in all strata."""

    odds_ratio: float
    low: float
    high: float
    chi2: float
    p: float
    homogeneity_chi2: float
    homogeneity_p: float
    strata_used: int
    strata_dropped: int
    note: str = ""


@dataclass(frozen=True)
class Trend:
    """The trend of a rate over ordered groups: z, two-sided p, and p for a rise."""

    z: float
    p: float
    p_increasing: float
    note: str = ""


@dataclass(frozen=True)
class SeedSpread:
    """The spread of a rate over seeds beside the spread that chance alone gives."""

    mean: float
    sd: float
    binomial_sd: float
    chi2: float
    df: int
    p: float
    note: str = ""


def cochrans_q(table: Any) -> CochransQ:
    """Whether several modes have the same rate on the same cases.

    Parameters
    ----------
    table : array of 0 and 1, shape (cases, modes)

    Returns
    -------
    CochransQ
        `q`, `df` (modes - 1), `p`, `note`.

    Not computable when
        No case has different outcomes in different modes: q and p are NaN.

    Raises
    ------
    TypeError
        An entry is text or None.
    ValueError
        An entry is neither 0 nor 1, or there are fewer than two modes. statsmodels would count only
        the largest of three values, in silence.

    Source
    ------
    Cochran 1950; tested against R (friedman.test, DescTools, coin).

    Example
    -------
    >>> from ferrite_nb.stats import cochrans_q
    >>> cochrans_q([[1, 0], [1, 0], [1, 1], [1, 0]]).q
    3.0
    """
    outcomes = _check.counts(table, "table")
    if outcomes.ndim != 2 or outcomes.shape[1] < 2:
        raise ValueError(
            f"table must have a row per case and two modes or more, got shape {outcomes.shape}"
        )
    if (outcomes > 1).any():
        raise ValueError(f"table must hold only 0 and 1, got {outcomes.max()}")
    df = outcomes.shape[1] - 1
    if len(outcomes) == 0:
        return CochransQ(NAN, df, NAN, "no case")
    if (outcomes == outcomes[:, :1]).all():
        return CochransQ(NAN, df, NAN, "every case has the same outcome in all modes")
    from statsmodels.stats.contingency_tables import cochrans_q as statsmodels_q

    q = float(statsmodels_q(outcomes).statistic)
    return CochransQ(q, df, float(chdtrc(df, q)))


def cmh(tables: Any, *, correction: bool = False) -> StratifiedOdds:
    """The odds ratio of two modes on different cases, over strata that may differ in their rates.

    Parameters
    ----------
    tables : array of int, shape (strata, 2, 2)
        Each stratum is [[events, no events], [events, no events]]: the first mode, then the second.
    correction : bool
        The continuity correction of ½, applied only as far as the difference allows.

    Returns
    -------
    StratifiedOdds
        Mantel-Haenszel `odds_ratio` with the 95 % interval `low`, `high`; Cochran-Mantel-Haenszel
        `chi2` (1 degree of freedom) and `p`; Breslow-Day `homogeneity_chi2` and `homogeneity_p`;
        `strata_used`, `strata_dropped`.

    Not computable when
        No stratum has information (at least two cases, both modes, events and no events): all NaN.
        The odds ratio is 0 or infinite: interval and homogeneity are NaN. One stratum is left:
            homogeneity
        is NaN.

    Raises
    ------
    TypeError, ValueError
        A cell is no count, or the shape is wrong.

    Notes
    -----
    p values come from the survival function: one minus the distribution function is 0 from a
        chi-square of
    about 75. The Breslow-Day statistic (no Tarone term) is our own: the quadratic in statsmodels is
    0/0 at odds ratio 1.

    Source
    ------
    Mantel, Haenszel 1959; Robins, Breslow, Greenland 1986; tested against R (mantelhaen.test).

    Example
    -------
    >>> from ferrite_nb.stats import cmh
    >>> result = cmh([[[3, 7], [1, 9]], [[1, 0], [0, 0]]])
    >>> round(result.odds_ratio, 4), result.strata_used, result.strata_dropped
    (3.8571, 1, 1)
    """
    cells = _check.counts(tables, "tables")
    if cells.size == 0:
        cells = cells.reshape(0, 2, 2)
    if cells.ndim != 3 or cells.shape[1:] != (2, 2):
        raise ValueError(f"tables must be a list of 2 x 2 tables, got shape {cells.shape}")
    informative = (cells.sum(axis=1) > 0).all(axis=1) & (cells.sum(axis=2) > 0).all(axis=1)
    used, dropped = int(informative.sum()), int((~informative).sum())
    if used == 0:
        return StratifiedOdds(
            NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0, dropped, "no stratum has information"
        )
    return _pooled_odds(cells[informative].astype(np.float64), dropped, bool(correction))


def _pooled_odds(cells: NDArray[np.float64], dropped: int, correction: bool) -> StratifiedOdds:
    """Odds ratio, interval and both tests of strata that all have information."""
    from statsmodels.stats.contingency_tables import StratifiedTable

    a, b, c, d = cells[:, 0, 0], cells[:, 0, 1], cells[:, 1, 0], cells[:, 1, 1]
    total = cells.sum(axis=(1, 2))
    table = StratifiedTable(np.moveaxis(cells, 0, 2))
    chi2 = float(table.test_null_odds(correction=False).statistic)
    excess = abs(float((a - (a + b) * (a + c) / total).sum()))
    if correction and excess > 0:  # statsmodels subtracts ½ also from a smaller difference
        chi2 *= ((excess - min(0.5, excess)) / excess) ** 2
    p = float(chdtrc(1, chi2))
    used = len(cells)
    if (a * d).sum() == 0 or (b * c).sum() == 0:
        odds = 0.0 if (a * d).sum() == 0 else float("inf")
        note = f"the odds ratio is {odds:g}: no interval"
        return StratifiedOdds(odds, NAN, NAN, chi2, p, NAN, NAN, used, dropped, note)
    odds = float(table.oddsratio_pooled)
    low, high = (
        odds * math.exp(z * float(table.logodds_pooled_se)) for z in (ndtri(0.025), -ndtri(0.025))
    )
    if used == 1:
        note = "one stratum: homogeneity cannot be tested"
        return StratifiedOdds(odds, low, high, chi2, p, NAN, NAN, used, dropped, note)
    homogeneity = _breslow_day(cells, odds)
    homogeneity_p = float(chdtrc(used - 1, homogeneity))
    return StratifiedOdds(odds, low, high, chi2, p, homogeneity, homogeneity_p, used, dropped)


def _breslow_day(cells: NDArray[np.float64], odds: float) -> float:
    """The Breslow-Day statistic: observed first cells against those that the common odds ratio
    expects.
    """
    first = cells[:, 0, 0]
    row, column = cells[:, 0].sum(axis=1), cells[:, :, 0].sum(axis=1)
    rest = cells[:, 1, 1] - first
    # the expected cell solves qa x² + qb x + qc = 0; each sign of qb has one form without
    # cancellation
    qa, qb, qc = 1 - odds, odds * (row + column) + rest, -odds * row * column
    root = np.sqrt(np.maximum(qb**2 - 4 * qa * qc, 0))
    expected = np.where(qb >= 0, -2 * qc / (qb + root + (qb < 0)), (root - qb) / (2 * qa or 1.0))
    variance = 1 / (
        1 / expected + 1 / (column - expected) + 1 / (row - expected) + 1 / (rest + expected)
    )
    return float(((first - expected) ** 2 / variance).sum())


def trend(k: Any, n: Any, scores: Any = None) -> Trend:
    """Whether a rate rises or falls over ordered groups.

    Parameters
    ----------
    k, n : array of int
        Events and cases of each group, in order.
    scores : array of float, optional
        The place of each group on the scale; 1, 2, 3 … by default.

    Returns
    -------
    Trend
        `z` (above 0 for a rise), `p` (two-sided), `p_increasing` (one-sided, for a rise), `note`.

    Not computable when
        There is no case, all outcomes are the same, or all cases have the same score: NaN.

    Raises
    ------
    TypeError, ValueError
        As in `interval`; lists of different lengths; scores that are not finite numbers.

    Notes
    -----
    The variance divides by N, as in the papers and in R, not by N - 1.

    Source
    ------
    Cochran 1954; Armitage 1955; tested against R (prop.trend.test, DescTools).

    Example
    -------
    >>> from ferrite_nb.stats import trend
    >>> round(trend([2, 5, 9, 14], [40, 40, 40, 40]).z, 6)
    3.623287
    """
    events, cases = _check.series(k, n)
    places = _check.numbers(np.arange(1, len(cases) + 1) if scores is None else scores, "scores")
    if len(places) != len(cases):
        raise ValueError(
            f"scores must have one entry per group, got {len(places)} for {len(cases)} groups"
        )
    total_k, total_n = int(events.sum()), int(cases.sum())
    if total_n == 0:
        return Trend(NAN, NAN, NAN, "no case")
    if total_k in (0, total_n):
        return Trend(NAN, NAN, NAN, "all outcomes are the same")
    present = places[cases > 0]
    if present.min() == present.max():
        return Trend(NAN, NAN, NAN, "one group: a trend needs two")
    middle = float(cases @ places) / total_n
    # multiplied out, so that a flat gradient with whole scores gives exactly 0
    slope = (total_n * float(events @ places) - total_k * float(cases @ places)) / total_n
    spread = float(cases @ (places - middle) ** 2)
    rate = total_k / total_n
    z = slope / math.sqrt(rate * (1 - rate) * spread)
    return Trend(z, float(2 * ndtr(-abs(z))), float(ndtr(-z)))


def seed_spread(k: Any, n: Any) -> SeedSpread:
    """Whether a rate differs between seeds by more than chance.

    Parameters
    ----------
    k, n : array of int
        Events and cases of each seed. Seeds without a case are dropped.

    Returns
    -------
    SeedSpread
        `mean` and `sd` (with n - 1) of the rates, `binomial_sd` (what chance alone gives), `chi2`
        of homogeneity on `df` degrees of freedom, `p`, `note`.

    Not computable when
        There is one seed or all outcomes are the same: chi2 and p are NaN. With one seed sd is NaN
            too,
        without any seed everything is.

    Raises
    ------
    TypeError, ValueError
        As in `interval`; lists of different lengths.

    Notes
    -----
    Valid when each seed draws its own items. When every seed runs the same items, the counts of
    different seeds are not independent: use `paired_units` or `clustered_interval`. The spread
        over seeds is not
    the error bar of the rate.

    Source
    ------
    Pearson's chi-square test of homogeneity.

    Example
    -------
    >>> from ferrite_nb.stats import seed_spread
    >>> round(seed_spread([22, 26, 27, 21, 29], [200] * 5).p, 6)
    0.716847
    """
    events, cases = _check.series(k, n)
    events, cases = events[cases > 0], cases[cases > 0]
    if len(cases) == 0:
        return SeedSpread(NAN, NAN, NAN, NAN, 0, NAN, "no case")
    df = len(cases) - 1
    rates = events / cases
    pooled = int(events.sum()) / int(cases.sum())
    binomial_sd = math.sqrt(pooled * (1 - pooled) * float((1 / cases).mean()))
    mean, sd = float(rates.mean()), float(rates.std(ddof=1)) if df else NAN
    if df == 0:
        return SeedSpread(
            mean, sd, binomial_sd, NAN, df, NAN, "one seed: its spread cannot be estimated"
        )
    if pooled in (0.0, 1.0):
        return SeedSpread(mean, sd, binomial_sd, NAN, df, NAN, "all outcomes are the same")
    chi2 = float(((events - cases * pooled) ** 2 / (cases * pooled * (1 - pooled))).sum())
    return SeedSpread(mean, sd, binomial_sd, chi2, df, float(chdtrc(df, chi2)))
