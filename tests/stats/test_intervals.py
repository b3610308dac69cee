"""Intervals of one proportion, against R, mpmath, exact sums and the equations that define them."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaincc
from scipy.stats import binom, norm

from ferrite_nb.stats import exact_test, interval, limit, missing_bounds
from ferrite_nb.stats.intervals import Interval

from .reference import agrees, caught, load

METHODS = ("wilson", "clopper-pearson", "jeffreys", "agresti-coull")

every_method = pytest.mark.parametrize("method", METHODS)


@pytest.mark.parametrize("case", load("intervals"))
def test_agrees_with_the_reference(case):
    agrees(case)


@pytest.mark.parametrize(
    ("k", "n", "wilson", "clopper_pearson", "jeffreys"),
    [
        (0, 22, (0, 0.148655), (0, 0.154373), (0, 0.106740)),
        (5, 10, (0.236593, 0.763407), (0.187086, 0.812914), (0.223529, 0.776471)),
        (3, 20, (0.052369, 0.360419), (0.032071, 0.378927), (0.044131, 0.348578)),
        (30, 200, (0.107136, 0.206056), (0.103550, 0.207159), (0.105677, 0.204362)),
        (22, 22, (0.851345, 1), (0.845627, 1), (0.893260, 1)),
    ],
)
def test_known_values_to_six_digits(k, n, wilson, clopper_pearson, jeffreys):
    # R: binom::binom.wilson(k, n), binom.test(k, n)$conf.int, qbeta(c(.025, .975), k + .5, n - k +
    # .5)
    for method, ends in (
        ("wilson", wilson),
        ("clopper-pearson", clopper_pearson),
        ("jeffreys", jeffreys),
    ):
        result = interval(k, n, method=method)
        assert (result.low, result.high) == pytest.approx(ends, abs=5.1e-7)


def test_z_in_place_of_the_level():
    result = interval(30, 200, z=1.96)
    assert (result.low, result.high) == pytest.approx((0.107135, 0.206057), abs=5.1e-7)
    exact = interval(30, 200)
    assert exact.low - result.low == pytest.approx(1e-6, rel=0.5)  # 1.96 is wider than 1.959964
    by_level, by_z = (
        interval(3, 20, method="agresti-coull"),
        interval(3, 20, method="agresti-coull", z=norm.isf(0.025)),
    )
    assert (by_level.low, by_level.high) == pytest.approx((by_z.low, by_z.high), abs=1e-14)


@every_method
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_zero_of_n_has_lower_end_exactly_zero_and_n_of_n_upper_end_exactly_one(method, level):
    n = np.arange(1, 3001)
    assert (interval(np.zeros_like(n), n, method=method, level=level).low == 0.0).all()
    assert (interval(n, n, method=method, level=level).high == 1.0).all()
    nothing, everything = (
        interval(0, 22, method=method, level=level),
        interval(22, 22, method=method, level=level),
    )
    assert nothing.low == 0.0 and everything.high == 1.0
    assert 0 < nothing.high < 1 and 0 < everything.low < 1


def test_exact_ends_hold_for_a_given_z_too():
    n = np.arange(1, 3001)
    for method in ("wilson", "agresti-coull"):
        assert (interval(0, n, method=method, z=1.96).low == 0.0).all()
        assert (interval(n, n, method=method, z=1.96).high == 1.0).all()


def test_a_given_z_works_for_a_trillion_cases():
    # the square of n is beyond 64 bits
    z = float(norm.isf(0.025))
    for method in ("wilson", "agresti-coull"):
        by_level, by_z = (
            interval(3 * 10**11, 10**12, method=method),
            interval(3 * 10**11, 10**12, method=method, z=z),
        )
        assert (by_z.low, by_z.high) == pytest.approx((by_level.low, by_level.high), abs=1e-15)


def test_jeffreys_at_zero_keeps_the_plain_quantile_at_the_other_end():
    # the rule of Brown, Cai and DasGupta; the alternative, the whole 5 % in one tail, gives .084
    assert interval(0, 22, method="jeffreys").high == pytest.approx(0.106740, abs=5.1e-7)


def test_wilson_ends_solve_the_score_equation():
    z = norm.isf(0.025)
    k, n = np.array([1, 3, 30, 199]), np.array([7, 20, 200, 200])
    ends = interval(k, n)
    for end in (ends.low, ends.high):
        assert np.abs(k - n * end) == pytest.approx(z * np.sqrt(n * end * (1 - end)), rel=1e-10)


def test_clopper_pearson_ends_leave_half_of_alpha_in_each_tail():
    k, n = np.array([1, 3, 30, 199]), np.array([7, 20, 200, 200])
    ends = interval(k, n, method="clopper-pearson")
    assert binom.sf(k - 1, n, ends.low) == pytest.approx(0.025, rel=1e-9)
    assert binom.cdf(k, n, ends.high) == pytest.approx(0.025, rel=1e-9)


def test_levels_close_to_one_lose_no_digits():
    level = 1 - 1e-7
    high = interval(0, 1000, method="clopper-pearson", level=level).high
    assert high == pytest.approx(0.0166707, abs=5.1e-8)
    assert high == pytest.approx(
        -math.expm1(math.log((1 - level) / 2) / 1000), rel=1e-12
    )  # 1 - (α/2)^(1/n)
    high = interval(0, 1000, method="jeffreys", level=level).high
    assert betaincc(0.5, 1000.5, high) == pytest.approx((1 - level) / 2, rel=1e-11)


@pytest.mark.parametrize(
    ("n", "rate", "coverage"),
    [(22, 0.01, 0.980), (22, 0.02, 0.929), (22, 0.05, 0.978), (100, 0.01, 0.921)],
)
def test_wilson_covers_as_often_as_it_says_for_rare_events(n, rate, coverage):
    counts = np.arange(n + 1)
    ends = interval(counts, n)
    reached = binom.pmf(counts, n, rate)[(ends.low <= rate) & (rate <= ends.high)].sum()
    assert reached == pytest.approx(coverage, abs=0.0006)


def test_clopper_pearson_never_covers_too_little():
    n, rates = 40, np.linspace(0.001, 0.999, 999)
    counts = np.arange(n + 1)[:, None]
    ends = interval(counts, n, method="clopper-pearson")
    inside = (ends.low <= rates) & (rates <= ends.high)
    assert (binom.pmf(counts, n, rates) * inside).sum(axis=0).min() >= 0.95


counts_of_many = st.integers(1, 10**12).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts_of_many, st.sampled_from(METHODS), st.floats(0.5, 0.9999))
def test_contains_the_rate_and_stays_within_zero_and_one(pair, method, level):
    k, n = pair
    result = interval(k, n, method=method, level=level)
    assert 0 <= result.low <= k / n <= result.high <= 1


@given(counts_of_many, st.sampled_from(METHODS))
def test_is_symmetric_when_events_and_other_cases_change_places(pair, method):
    k, n = pair
    one, other = interval(k, n, method=method), interval(n - k, n, method=method)
    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-14)


@given(st.integers(1, 10**12), st.data(), st.sampled_from(METHODS))
def test_never_falls_when_there_are_more_events(n, data, method):
    k = np.sort(data.draw(st.lists(st.integers(0, n), min_size=2, max_size=20)))
    ends = interval(k, n, method=method)
    assert (np.diff(ends.low) >= -1e-15).all() and (np.diff(ends.high) >= -1e-15).all()


@given(st.integers(1, 3000), st.data(), st.sampled_from(METHODS))
def test_a_higher_level_is_wider(n, data, method):
    k = data.draw(st.integers(0, n))
    narrow, wide = (
        interval(k, n, method=method, level=0.8),
        interval(k, n, method=method, level=0.99),
    )
    assert wide.low <= narrow.low <= narrow.high <= wide.high


@every_method
def test_arrays_give_what_scalars_give(method):
    k, n = np.array([[0, 3, 20], [30, 7, 0]]), np.array([22, 20, 200])
    n = np.array([[22, 20, 20], [200, 7, 0]])
    ends = interval(k, n, method=method)
    assert ends.low.shape == ends.high.shape == k.shape
    for place in np.ndindex(k.shape):
        one = interval(int(k[place]), int(n[place]), method=method)
        assert (ends.low[place], ends.high[place]) == pytest.approx(
            (one.low, one.high), nan_ok=True, abs=0
        )


def test_a_million_intervals_in_one_call():
    k = np.arange(1_000_001)
    ends = interval(k, 1_000_000)
    assert ends.low.shape == (1_000_001,) and ends.low[0] == 0.0 and ends.high[-1] == 1.0
    assert (ends.low <= k / 1_000_000).all() and (np.diff(ends.low) >= 0).all()


def test_scalars_give_python_floats_and_arrays_give_arrays():
    for k, n in ((3, 20), (np.int64(3), np.uint8(20)), (3.0, 20), (np.array(3), np.array(20))):
        result = interval(k, n)
        assert type(result.low) is float and type(result.high) is float
    for k, n in (([3], 20), (3, [20, 30]), (pd.Series([3, 4]), pd.Series([20, 20])), ([], 20)):
        result = interval(k, n)
        assert type(result.low) is np.ndarray and type(result.high) is np.ndarray
    assert interval(pd.Series([3, 4], index=[9, 8]), 20).low[0] == interval(3, 20).low


@every_method
def test_no_case_is_not_computable_and_is_no_error(method):
    result = interval(0, 0, method=method)
    assert math.isnan(result.low) and math.isnan(result.high)
    ends = interval([0, 3], [0, 20], method=method)
    assert math.isnan(ends.low[0]) and ends.low[1] == interval(3, 20, method=method).low


@pytest.mark.parametrize(
    ("k", "n", "error"),
    [
        ("5", 10, TypeError),
        (5, "10", TypeError),
        (None, 10, TypeError),
        (["a"], 10, TypeError),
        (2.5, 10, ValueError),
        (math.nan, 10, ValueError),
        (math.inf, 10, ValueError),
        (-1, 10, ValueError),
        (11, 10, ValueError),
        (1, 0, ValueError),
        (True, 10, ValueError),
        ([True, False], 10, ValueError),
        ([1, 2, 3], [5, 5], ValueError),
    ],
)
@pytest.mark.parametrize(
    "routine", [interval, lambda k, n: exact_test(k, n, 0.1), lambda k, n: missing_bounds(k, n, 1)]
)
def test_what_is_no_count_raises(routine, k, n, error):
    if routine is not interval and isinstance(k, list) and error is ValueError:
        error = (TypeError, ValueError)  # these take one pair of counts only
    with pytest.raises(error):
        routine(k, n)


@pytest.mark.parametrize("level", [95, 0, 1, 1.5, -0.1, math.nan, True])
def test_a_level_outside_zero_and_one_raises(level):
    with pytest.raises(ValueError, match="level"):
        interval(3, 20, level=level)
    with pytest.raises(ValueError, match="level"):
        limit(3, 20, side="upper", level=level)


def test_the_message_says_how_to_write_a_level():
    with pytest.raises(
        ValueError, match=r"level must lie in \(0, 1\), got 95; write 0.95 for 95 %"
    ):
        interval(3, 20, level=95)


def test_the_normal_interval_is_refused_and_the_message_says_why():
    with pytest.raises(
        ValueError,
        match=r"wilson, clopper-pearson, jeffreys, agresti-coull, got 'normal'; .* no width",
    ):
        interval(3, 20, method="normal")
    for unknown in ("beta", "Wilson", "", None, 3):
        with pytest.raises(ValueError, match="method must be one of wilson"):
            interval(3, 20, method=unknown)


def test_z_goes_neither_with_a_level_nor_with_a_beta_method():
    with pytest.raises(ValueError, match="level or z, not both"):
        interval(3, 20, z=1.96, level=0.9)
    assert interval(3, 20, z=1.96, level=0.95) == interval(3, 20, z=1.96)
    for method in ("clopper-pearson", "jeffreys"):
        with pytest.raises(ValueError, match="wilson and agresti-coull only"):
            interval(3, 20, z=1.96, method=method)
    for z in (0, -1.96, math.nan, math.inf):
        with pytest.raises(ValueError, match="z must be"):
            interval(3, 20, z=z)


def test_results_are_frozen_and_inputs_stay_as_they_were():
    result = interval(3, 20)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.low = 0.0
    k, n = np.array([0, 3]), np.array([0, 20])
    interval(k, n)
    assert k.tolist() == [0, 3] and n.tolist() == [0, 20]


def test_one_sided_limits():
    assert limit(0, 22, side="upper") == pytest.approx(0.109512, abs=5.1e-7)
    assert limit(0, 22, side="upper", method="clopper-pearson") == pytest.approx(
        1 - 0.05 ** (1 / 22), abs=1e-12
    )
    assert limit(3, 20, side="upper") == pytest.approx(0.321828, abs=5.1e-7)
    assert limit(0, 600, side="upper", method="clopper-pearson") == pytest.approx(
        0.0049804, abs=5.1e-8
    )


@every_method
@pytest.mark.parametrize("level", [0.2, 0.5, 0.50001, 0.95])
def test_limits_at_the_ends_are_exact(method, level):
    assert limit(22, 22, side="upper", method=method, level=level) == 1.0
    assert limit(0, 22, side="lower", method=method, level=level) == 0.0
    assert math.isnan(limit(0, 0, side="upper", method=method, level=level))
    assert type(limit(3, 20, side="lower", method=method, level=level)) is float


@pytest.mark.parametrize("level", [0.1, 0.5, 0.6, 0.95, 0.9999])
def test_clopper_pearson_limits_leave_the_whole_error_on_one_side(level):
    upper = limit(3, 20, side="upper", method="clopper-pearson", level=level)
    lower = limit(3, 20, side="lower", method="clopper-pearson", level=level)
    assert binom.cdf(3, 20, upper) == pytest.approx(1 - level, rel=1e-9)
    assert binom.sf(2, 20, lower) == pytest.approx(1 - level, rel=1e-9)


@pytest.mark.parametrize("method", ["wilson", "jeffreys", "agresti-coull"])
def test_the_lower_limit_is_the_upper_limit_at_the_opposite_level(method):
    for level in (0.1, 0.3, 0.5):
        below = limit(3, 20, side="upper", method=method, level=level)
        assert below == pytest.approx(
            limit(3, 20, side="lower", method=method, level=1 - level), abs=1e-12
        )


@every_method
def test_a_limit_rises_with_its_level_through_one_half(method):
    levels = (0.05, 0.3, 0.499, 0.5, 0.501, 0.7, 0.95)
    upper = [limit(3, 20, side="upper", method=method, level=level) for level in levels]
    lower = [limit(3, 20, side="lower", method=method, level=level) for level in levels]
    assert upper == sorted(upper) and lower == sorted(lower, reverse=True)
    assert upper[4] - upper[2] < 0.001


def test_limit_refuses_other_sides_methods_and_arrays():
    with pytest.raises(ValueError, match="side must be one of upper, lower, got 'larger'"):
        limit(3, 20, side="larger")
    for level in (0.3, 0.95):
        with pytest.raises(ValueError, match="method must be one of"):
            limit(3, 20, side="upper", method="normal", level=level)
        with pytest.raises(ValueError, match="at most n"):
            limit(21, 20, side="upper", level=level)
    with pytest.raises(TypeError, match="one whole number"):
        limit([3, 4], 20, side="upper")


def test_exact_test_against_a_fixed_rate():
    assert exact_test(0, 22, 0.1).two_sided == pytest.approx(0.1606, abs=5.1e-5)
    assert exact_test(12, 600, 0.02).less == pytest.approx(0.5760, abs=5.1e-5)
    result = exact_test(0, 22, 0.1)
    assert result.less == pytest.approx(0.9**22, rel=1e-12) and result.greater == 1.0


def test_exact_test_at_the_ends_and_without_a_case():
    assert exact_test(0, 22, 0.0).two_sided == 1.0 and exact_test(22, 22, 1.0).two_sided == 1.0
    assert exact_test(1, 22, 0.0).two_sided == 0.0
    assert all(math.isnan(p) for p in dataclasses.astuple(exact_test(0, 0, 0.1)))
    with pytest.raises(ValueError, match="rate must lie in"):
        exact_test(3, 22, 10)


def test_missing_outcomes_bound_the_rate():
    bounds = missing_bounds(30, 200, 10)
    assert (bounds.floor, bounds.ceiling) == pytest.approx((0.142857, 0.190476), abs=5.1e-7)
    assert missing_bounds(30, 200, 0).floor == missing_bounds(30, 200, 0).ceiling == 0.15
    assert dataclasses.astuple(missing_bounds(0, 0, 4)) == (0.0, 1.0)
    assert all(math.isnan(end) for end in dataclasses.astuple(missing_bounds(0, 0, 0)))
    with pytest.raises(ValueError, match="missing"):
        missing_bounds(3, 20, -1)


# Mutants: the reference cases must be able to tell the routine from these common errors.


def wald(k, n, *, method="wilson", level=0.95, z=None):
    half_width = norm.isf((1 - level) / 2) * math.sqrt(k / n * (1 - k / n) / n)
    return Interval(max(k / n - half_width, 0), min(k / n + half_width, 1))


def one_sided(k, n, *, method="wilson", level=0.95, z=None):
    return interval(k, n, method=method, level=2 * level - 1 if level > 0.5 else level, z=z)


def larger_tail(k, n, *, method="wilson", level=0.95, z=None):
    return interval(k, n, method=method, level=1 - (1 - level) / 2, z=z)


@pytest.mark.parametrize("mutant", [wald, one_sided, larger_tail])
def test_a_wrong_interval_is_caught(monkeypatch, mutant):
    mutant.__name__ = "interval"
    assert caught(monkeypatch, "intervals", mutant)


def test_a_wrong_limit_is_caught(monkeypatch):
    def two_sided(k, n, *, side, method="wilson", level=0.95):
        ends = interval(k, n, method=method, level=level)
        return ends.high if side == "upper" else ends.low

    def exchanged(k, n, *, side, method="wilson", level=0.95):
        return limit(k, n, side="lower" if side == "upper" else "upper", method=method, level=level)

    for mutant in (two_sided, exchanged):
        mutant.__name__ = "limit"
        assert caught(monkeypatch, "intervals", mutant)
