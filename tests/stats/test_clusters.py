"""Rates and means from clusters, against R, statsmodels' sandwich, one-way analysis of variance and
exact fractions.
"""

import dataclasses
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaln
from scipy.stats import f_oneway, t

from ferrite_nb.stats import (
    cluster_mean,
    clustered_interval,
    crossed_interval,
    design_effect,
    interval,
)
from ferrite_nb.stats.intervals import score_limits

from .reference import agrees, caught, load

with warnings.catch_warnings():
    warnings.simplefilter(
        "ignore", DeprecationWarning
    )  # statsmodels 0.14.6 uses what pandas 3.1 deprecates
    from statsmodels.regression.linear_model import OLS

K, N = [4, 1, 5, 1, 3, 0, 3, 4], [5] * 8


@pytest.mark.parametrize("case", load("clusters"))
def test_agrees_with_the_reference(case):
    agrees(case)


def rows_of(k, n):
    """The 0/1 rows of counts per cluster, and their labels."""
    rows = np.concatenate(
        [np.repeat([1, 0], [events, cases - events]) for events, cases in zip(k, n, strict=True)]
    )
    return rows, np.repeat(np.arange(len(n)), n)


@pytest.mark.parametrize(
    ("k", "n", "rate", "ends", "n_eff"),
    [
        (K, N, 0.525, (0.266575, 0.770695), 11.246054),
        ([2] * 5, [4] * 5, 0.5, (0.236275, 0.763725), 9.966622),
        ([10] * 6 + [0] * 54, [10] * 60, 0.1, (0.045663, 0.205098), 56.699659),
        ([0] * 20, [10] * 20, 0, (0, 0.161125), 20),
        ([3], [10], 0.3, (math.nan, math.nan), math.nan),
    ],
)
def test_known_intervals_to_six_digits(k, n, rate, ends, n_eff):
    result = clustered_interval(k, n)
    got = (result.rate, result.low, result.high, result.n_eff)
    assert got == pytest.approx((rate, *ends, n_eff), abs=5.1e-7, nan_ok=True)
    assert result.deff == pytest.approx(sum(n) / n_eff, rel=1e-6, nan_ok=True)


unequal = st.lists(st.integers(1, 12), min_size=2, max_size=12).flatmap(
    lambda n: st.tuples(st.tuples(*(st.integers(0, cases) for cases in n)), st.just(tuple(n)))
)
mixed = unequal.filter(lambda pair: 0 < sum(pair[0]) < sum(pair[1]))


@given(mixed)
def test_standard_error_is_the_cluster_sandwich_of_an_intercept(pair):
    rows, cluster = rows_of(*pair)
    fit = OLS(rows, np.ones(len(rows))).fit(cov_type="cluster", cov_kwds={"groups": cluster})
    # statsmodels: CR1, G/(G-1) · (N-1)/(N-K) with K = 1
    variance = float(np.asarray(fit.cov_params()).item())
    assert design_effect(*pair).se ** 2 == pytest.approx(variance, abs=1e-12)


@given(mixed)
def test_icc_is_that_of_one_way_analysis_of_variance(pair):
    k, n = np.array(pair[0]), np.array(pair[1])
    result = design_effect(k, n)
    if n.sum() == len(n):
        assert math.isnan(result.icc)
        return
    within = (k * (n - k) / n).sum()
    size = (n.sum() - (n**2).sum() / n.sum()) / (len(n) - 1)
    if within == 0:
        assert result.icc == pytest.approx(1)
        return
    f = f_oneway(
        *(np.repeat([1, 0], [events, cases - events]) for events, cases in zip(k, n, strict=True))
    ).statistic
    assert result.icc == pytest.approx((f - 1) / (f + size - 1), abs=1e-9)


@given(mixed)
def test_design_effect_in_exact_fractions(pair):
    k, n = pair
    total, groups = sum(n), len(n)
    p = Fraction(sum(k), total)
    squares = sum((events - cases * p) ** 2 for events, cases in zip(k, n, strict=True))
    v = Fraction(groups, groups - 1) * squares / total**2
    deff = v / (p * (1 - p) / (total - 1))
    result = design_effect(k, n)
    assert result.deff == pytest.approx(float(deff), rel=1e-15)
    assert result.se == pytest.approx(math.sqrt(v), rel=1e-15)
    assert result.n_eff == pytest.approx(float(total / deff) if deff > 1 else total, rel=1e-15)


@given(st.lists(st.integers(0, 1), min_size=2, max_size=60).filter(lambda k: 0 < sum(k) < len(k)))
def test_one_row_per_cluster_gives_a_design_effect_of_exactly_one(k):
    result = design_effect(k, [1] * len(k))
    assert result.deff == 1.0 and result.n_eff == len(k) and math.isnan(result.icc)
    mean = cluster_mean(k, range(len(k)))
    assert mean.deff == 1.0 and math.isnan(mean.icc)


@given(mixed, st.randoms())
def test_the_order_of_clusters_does_not_matter(pair, random):
    shuffled = list(zip(*pair, strict=True))
    random.shuffle(shuffled)
    one, other = clustered_interval(*pair), clustered_interval(*zip(*shuffled, strict=True))
    fields = dataclasses.astuple(one), dataclasses.astuple(other)
    for mine, its in zip(*fields, strict=True):
        assert mine == its or mine == pytest.approx(its, rel=1e-9, nan_ok=True)


@given(unequal, st.floats(0.5, 0.999))
def test_holds_the_plain_interval_and_stays_inside_zero_and_one(pair, level):
    result = clustered_interval(*pair, level=level)
    plain = interval(sum(pair[0]), sum(pair[1]), level=level)
    assert 0 <= result.low <= result.rate <= result.high <= 1
    assert result.low <= plain.low + 1e-12 and result.high >= plain.high - 1e-12
    assert 0 < result.n_eff <= sum(pair[1]) and result.deff == sum(pair[1]) / result.n_eff
    assert result.largest_share == max(pair[1]) / sum(pair[1])


@given(mixed, st.floats(0.5, 0.999))
def test_is_symmetric_when_events_and_other_cases_change_places(pair, level):
    k, n = np.array(pair[0]), np.array(pair[1])
    one, other = clustered_interval(k, n, level=level), clustered_interval(n - k, n, level=level)
    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-9)
    assert one.n_eff == pytest.approx(other.n_eff, rel=1e-9)


@given(st.lists(st.integers(0, 1), min_size=2, max_size=80), st.floats(0.5, 0.999))
def test_clusters_of_one_case_are_plain_wilson_bit_for_bit(k, level):
    result, plain = (
        clustered_interval(k, [1] * len(k), level=level),
        interval(sum(k), len(k), level=level),
    )
    assert (result.low, result.high, result.n_eff) == (plain.low, plain.high, len(k))
    assert result.note == ""


@pytest.mark.parametrize(
    ("n", "df"),
    [
        ([7] * 9, 8.0),
        # explicit matrices: e = (I - H) y and the CR2 factor of each cluster
        ([100, 100] + [5] * 18, None),
        ([2, 3, 5, 8, 13, 20, 32, 51, 81, 128], None),
    ],
)
def test_degrees_of_freedom_are_those_of_the_explicit_quadratic_form(n, df):
    total = sum(n)
    form = np.zeros((total, total))
    start = 0
    for size in n:
        row = np.full((1, total), -size / total)
        row[0, start : start + size] += 1
        form += row.T @ row / (1 - size / total)
        start += size
    exact = np.trace(form) ** 2 / np.trace(form @ form)
    result = clustered_interval([size // 2 for size in n], n)
    assert result.df == pytest.approx(exact, rel=1e-10)
    assert df is None or result.df == pytest.approx(df, rel=1e-12)


@pytest.mark.parametrize("pair", [(K, N), ([1, 0, 0, 4, 2], [2, 3, 9, 9, 4]), ([0, 6], [6, 6])])
def test_the_plausible_correlation_is_the_mean_over_the_whole_posterior(pair):
    """Beta-binomial likelihoods summed over a fine grid, in place of the zoomed quadrature."""
    k, n = (np.array(part)[:, None, None] for part in pair)
    r = ((np.arange(1200) + 0.5) / 1200)[:, None]
    mean = np.sin((np.arange(600) + 0.5) / 600 * np.pi / 2) ** 2
    a, b = mean * (1 - r) / r, (1 - mean) * (1 - r) / r
    weight = np.exp((betaln(a + k, b + n - k) - betaln(a, b)).sum(axis=0)).sum(axis=1)
    exact = float(weight @ r[:, 0] / weight.sum())
    assert clustered_interval(*pair).icc_plausible == pytest.approx(exact, abs=2e-4)


@pytest.mark.parametrize(("k", "low", "high"), [(0, 0.0, None), (10, None, 1.0)])
def test_equal_outcomes_count_each_cluster_once(k, low, high):
    result = clustered_interval([k] * 60, [10] * 60)
    assert result.n_eff == 60 and result.deff == 10 and math.isnan(result.icc_plausible)
    assert result.note == f"{60 * k} of 600 in 60 clusters: counted as 60, the worst case"
    assert result.low == low if low is not None else result.high == high
    plain = interval(0, 60)
    assert result.high - result.low == pytest.approx(plain.high, abs=1e-12)


def test_the_first_event_lowers_the_upper_limit():
    none, one = (clustered_interval([k] + [0] * 59, [10] * 60) for k in (0, 1))
    assert (none.high, one.high) == pytest.approx((0.0602, 0.0315), abs=5e-5)


def test_a_cluster_that_dominates_is_said_with_its_share():
    result = clustered_interval([20] + [1] * 20, [104] + [5] * 20)
    assert result.largest_share == 104 / 204 and result.df < 5
    assert result.note == (
        f"one cluster holds 104 of 204 cases; the 21 clusters say as much about the spread as "
        f"{result.df + 1:.1f} equal ones"
    )
    assert clustered_interval([1, 2, 0, 3, 1], [5] * 5).note == ""


def test_one_cluster_and_no_case_are_not_computable():
    for k in (3, 0):  # before the rule for equal outcomes
        one = clustered_interval([k], [10])
        assert (one.rate, one.clusters, one.largest_share) == (k / 10, 1, 1.0)
        assert one.note == "one cluster: its spread cannot be estimated"
        assert math.isnan(one.low) and math.isnan(one.high)
    effect = design_effect([3], [10])
    assert (effect.rate, effect.clusters) == (0.3, 1)
    assert all(map(math.isnan, (effect.se, effect.deff, effect.icc, effect.n_eff)))
    for k, n in (([], []), ([0, 0], [0, 0])):
        none = clustered_interval(k, n)
        assert none.clusters == 0 and none.note == "no case"
        assert all(map(math.isnan, (none.rate, none.low, none.high, none.n_eff)))
        assert math.isnan(design_effect(k, n).rate)


def test_equal_clusters_have_a_variance_of_exactly_zero():
    # 1/49 is no float: residuals in floats would be 1e-16 and not 0
    result = design_effect([1] * 49, [49] * 49)
    assert result.se == 0.0 and result.deff == 0.0 and result.n_eff == 2401


def test_ends_are_exact_for_any_number_of_clusters():
    for clusters in range(2, 400):
        assert clustered_interval([0] * clusters, [7] * clusters).low == 0.0
        assert clustered_interval([7] * clusters, [7] * clusters).high == 1.0


def test_clusters_without_a_case_are_dropped_after_validation():
    assert clustered_interval([*K, 0, 0], [*N, 0, 0]) == clustered_interval(K, N)
    assert design_effect([*K, 0], [*N, 0]) == design_effect(K, N)
    with pytest.raises(ValueError, match="k = 2 of n = 0"):
        clustered_interval([*K, 2], [*N, 0])


def test_counts_too_large_for_floats_stay_exact():
    result = design_effect([2**40, 0, 2**40], [2**41, 2**41, 2**41])
    small = design_effect([1, 0, 1], [2, 2, 2])
    assert result.se == small.se and result.icc == pytest.approx(
        1 / 3, abs=1e-9
    )  # (1/12) / (1/12 + 1/6)


@pytest.mark.parametrize("routine", [design_effect, clustered_interval])
def test_bad_counts_raise(routine):
    for k, n in (
        ([1, 2], [5]),
        (3, 10),
        ([[1, 2]], [[5, 5]]),
        ([1.5], [5]),
        ([True], [5]),
        ([-1], [5]),
    ):
        with pytest.raises(ValueError):
            routine(k, n)
    with pytest.raises(TypeError):
        routine(["1"], [5])
    with pytest.raises(ValueError, match="level"):
        clustered_interval(K, N, level=95)


GRID = [1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0]
TASK, INJECTION = [i // 5 for i in range(30)], [i % 5 for i in range(30)]


def test_crossed_grid():
    result = crossed_interval(GRID, [1] * 30, TASK, INJECTION)
    assert (result.rate, result.df, result.clusters, result.note) == (0.4, 4, (6, 5), "")
    assert (result.low, result.high) == pytest.approx((0.122547, 0.760897), abs=5.1e-7)
    assert result.n_eff == pytest.approx(10.767697, abs=5.1e-7)
    # R: sandwich::vcovCL(lm(k ~ 1), cluster = ~ task + injection, type = "HC0"), with G/(G-1) for
    # each part
    assert result.deff * 0.4 * 0.6 / 29 == pytest.approx(0.0230575, abs=5.1e-8)


def one_way(k, n, label):
    """The variance of one labelling in exact fractions, as the paper writes it."""
    p = Fraction(sum(k), sum(n))
    sums = {}
    for events, cases, name in zip(k, n, label, strict=True):
        sums[name] = sums.get(name, 0) + events - cases * p
    return (
        Fraction(len(sums), len(sums) - 1)
        * sum(e**2 for e in sums.values())
        / Fraction(sum(n)) ** 2
    )


cells = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from("abcd"), st.integers(1, 4)),
    min_size=2,
    max_size=30,
)


@given(cells)
def test_crossed_variance_in_exact_fractions(listed):
    k, n = [min(a, b) for a, b, _, _ in listed], [max(a, b) for a, b, _, _ in listed]
    result = crossed_interval(
        k, n, [name for *_, name, _ in listed], [number for *_, number in listed]
    )
    full = [
        (a, b, name, number) for a, b, (*_, name, number) in zip(k, n, listed, strict=True) if b
    ]
    if min(len({c for *_, c, _ in full}), len({c for *_, c in full})) < 2:
        assert math.isnan(result.low) and result.note
        return
    k, n, first, second = zip(*full, strict=True)
    assert result.clusters == (len(set(first)), len(set(second)))
    if sum(k) in (0, sum(n)):
        assert (
            result.n_eff == min(result.clusters)
            and math.isnan(result.deff)
            and "counted as" in result.note
        )
        return
    one, two = one_way(k, n, first), one_way(k, n, second)
    both = one_way(k, n, list(zip(first, second, strict=True)))
    p = Fraction(sum(k), sum(n))
    deff = max(one + two - both, one, two) / (p * (1 - p) / (sum(n) - 1))
    assert result.deff == pytest.approx(float(deff), rel=1e-12)
    assert result.n_eff == pytest.approx(float(sum(n) / deff) if deff > 1 else sum(n), rel=1e-12)
    assert 0 <= result.low <= result.rate <= result.high <= 1


def test_a_crossed_interval_is_never_narrower_than_a_one_way_one():
    # checkerboard: the plain sum of the three parts is negative here
    first, second = np.indices((6, 6)).reshape(2, -1)
    k = (first + second) % 2
    result = crossed_interval(k, np.ones_like(k), first, second)
    assert result.deff == 0.0 and result.n_eff == 36
    # all spread lies between the values of the first label
    k = (first < 3).astype(int)
    result = crossed_interval(k, np.ones_like(k), first, second)
    alone = design_effect([6, 6, 6, 0, 0, 0], [6] * 6)
    low, high = score_limits(0.5, alone.n_eff, t.isf(0.025, 5))
    assert result.deff == pytest.approx(alone.deff)
    assert (result.low, result.high) == pytest.approx((low, high))


def test_crossed_edges():
    one = crossed_interval([1, 0], [1, 1], ["a", "a"], [1, 2])
    assert (
        one.rate == 0.5
        and math.isnan(one.low)
        and one.clusters == (1, 2)
        and "one cluster" in one.note
    )
    same = crossed_interval([0] * 30, [2] * 30, TASK, INJECTION)
    assert (same.low, same.n_eff) == (
        0.0,
        5,
    ) and same.note == "0 of 60 in 6 and 5 clusters: counted as 5"
    few = crossed_interval(GRID[:20], [1] * 20, TASK[:20], INJECTION[:20])
    assert few.note.startswith("insufficient clusters") and few.low < few.high
    none = crossed_interval([], [], [], [])
    assert math.isnan(none.rate) and none.clusters == (0, 0)
    # an empty cell does not make a cluster
    extra = crossed_interval([*GRID, 0], [1] * 30 + [0], [*TASK, 99], [*INJECTION, 0])
    assert extra == crossed_interval(GRID, [1] * 30, TASK, INJECTION)


def test_labels_may_be_of_any_kind_but_not_missing():
    expected = crossed_interval(GRID, [1] * 30, TASK, INJECTION)
    text, pairs = [f"task {i}" for i in TASK], [("injection", i) for i in INJECTION]
    assert crossed_interval(GRID, [1] * 30, text, pairs) == expected
    assert (
        crossed_interval(GRID, [1] * 30, np.array(text), np.array(INJECTION, dtype=float))
        == expected
    )
    for missing in (None, math.nan, np.datetime64("NaT")):
        with pytest.raises(ValueError, match="second must not be missing"):
            crossed_interval(GRID, [1] * 30, TASK, [missing, *INJECTION[1:]])
    with pytest.raises(ValueError, match="29 labels for 30 entries"):
        crossed_interval(GRID, [1] * 30, TASK[1:], INJECTION)
    with pytest.raises(TypeError, match="first must be a list of labels"):
        crossed_interval(GRID, [1] * 30, "task", INJECTION)


DIFFERENCES = [1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0]


def test_mean_of_24_differences_in_6_clusters():
    result = cluster_mean(DIFFERENCES, [i // 4 for i in range(24)])
    assert (result.mean, result.clusters, result.df, result.note) == (0.25, 6, 5, "")
    assert (result.se, result.low, result.high) == pytest.approx(
        (0.064550, 0.084070, 0.415930), abs=5.1e-7
    )


@given(mixed)
def test_the_mean_of_rows_agrees_with_the_rate_of_counts(pair):
    rows, cluster = rows_of(*pair)
    mean, effect = cluster_mean(rows, cluster), design_effect(*pair)
    assert mean.mean == pytest.approx(effect.rate, abs=1e-12)
    assert mean.se == pytest.approx(effect.se, abs=1e-12)
    assert (mean.deff, mean.icc) == pytest.approx((effect.deff, effect.icc), abs=1e-9, nan_ok=True)
    if mean.se > 0:
        half_width = t.isf(0.025, mean.df) * mean.se
        assert (mean.low, mean.high) == pytest.approx(
            (mean.mean - half_width, mean.mean + half_width), abs=1e-12
        )


def test_a_width_of_zero_is_not_an_interval():
    values = [0.1, 0.2, 0.3] * 6  # the means of the clusters differ by rounding only
    result = cluster_mean(values, [i // 3 for i in range(18)])
    assert result.se == 0.0 and result.deff == 0.0 and result.icc < 0
    assert math.isnan(result.low) and math.isnan(result.high) and "equal" in result.note
    same = cluster_mean([0.1] * 7, range(7))
    assert (same.mean, same.se) == (0.1, 0.0) and all(
        map(math.isnan, (same.deff, same.icc, same.low, same.high))
    )


def test_mean_edges():
    one = cluster_mean([1.0, 2.0], ["a", "a"])
    assert (one.mean, one.clusters, one.df) == (1.5, 1, 0)
    assert (
        all(map(math.isnan, (one.se, one.icc, one.deff, one.low, one.high)))
        and "one cluster" in one.note
    )
    none = cluster_mean([], [])
    assert math.isnan(none.mean) and none.clusters == 0 and none.note
    assert cluster_mean([1.0, 2.0, 4.0], ["a", "b", "c"]).note.startswith("insufficient clusters")
    for values, error in (
        ([1.0, math.nan], ValueError),
        ([1.0, math.inf], ValueError),
        (["1", 2], TypeError),
    ):
        with pytest.raises(error, match="values"):
            cluster_mean(values, [1, 2])


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.data())
def test_the_mean_lies_inside_and_nothing_warns(values, data):
    cluster = data.draw(st.lists(st.integers(0, 5), min_size=len(values), max_size=len(values)))
    result = cluster_mean(values, cluster)
    if not math.isnan(result.low):
        assert result.low < result.mean < result.high
    else:
        assert result.note


def test_results_are_frozen_and_inputs_stay_as_they_were():
    k, n = np.array(K), np.array(N)
    result = clustered_interval(k, n)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.low = 0.0
    assert k.tolist() == K and n.tolist() == N
    assert all(type(value) in (int, float, str) for value in dataclasses.astuple(result))


def by_the_spread_alone(k, n, *, level=0.95):
    right = clustered_interval(k, n, level=level)
    return dataclasses.replace(right, n_eff=sum(n) / design_effect(k, n).deff)


def with_clusters_less_one(k, n, *, level=0.95):
    right = clustered_interval(k, n, level=level)
    return dataclasses.replace(right, df=right.clusters - 1.0)


def equal_outcomes_count_every_case(k, n, *, level=0.95):
    right = clustered_interval(k, n, level=level)
    alike = right.rate in (0.0, 1.0)
    return dataclasses.replace(right, n_eff=float(sum(n))) if alike else right


def without_clusters(k, n, *, level=0.95):
    right, plain = clustered_interval(k, n, level=level), interval(sum(k), sum(n), level=level)
    return dataclasses.replace(right, low=plain.low, high=plain.high)


@pytest.mark.parametrize(
    "mutant",
    [
        by_the_spread_alone,
        with_clusters_less_one,
        without_clusters,
        equal_outcomes_count_every_case,
    ],
)
def test_a_wrong_interval_is_caught(monkeypatch, mutant):
    mutant.__name__ = "clustered_interval"
    assert caught(monkeypatch, "clusters", mutant)


def test_a_variance_without_the_correction_for_few_clusters_is_caught(monkeypatch):
    def uncorrected(k, n):
        right = design_effect(k, n)
        return dataclasses.replace(
            right, se=right.se * math.sqrt((right.clusters - 1) / right.clusters)
        )

    uncorrected.__name__ = "design_effect"
    assert caught(monkeypatch, "clusters", uncorrected)
