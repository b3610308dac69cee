"""Attempts, releases and quantiles by unit, against reference values and other programs."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import CensoredData, ecdf

from ferrite_nb.stats import (
    drift,
    interval,
    macro,
    mcnemar,
    paired_quantile,
    quantile_units,
    within,
)

from .reference import agrees, load

INF = math.inf


@pytest.mark.parametrize("case", load("comparisons", "within", "drift", "quantile_units", "macro"))
def test_agrees_with_the_reference(case):
    agrees(case)


# --- attempts

histories = st.lists(
    st.tuples(st.integers(1, 6), st.booleans(), st.integers(0, 3)), min_size=1, max_size=25
)


def of(listed):
    """First success (Inf where none was seen) and attempts followed."""
    first = [float(t) if hit else INF for t, hit, _ in listed]
    return first, [t for t, *_ in listed]


@given(histories, st.integers(1, 6))
def test_the_rate_is_that_of_kaplan_and_meier_by_scipy(listed, budget):
    first, followed = of(listed)
    result = within(first, followed, budget)
    if math.isnan(result.rate):
        assert result.note and result.at_risk == 0
        return
    times, hit = np.array(followed), np.isfinite(first)
    curve = ecdf(CensoredData(uncensored=times[hit], right=times[~hit])).cdf
    expected = float(curve.evaluate(budget)) if hit.any() else 0.0
    assert result.rate == pytest.approx(expected, abs=1e-12)
    assert 0 <= result.low <= result.rate + 1e-12 and result.rate <= result.high + 1e-12


@given(st.integers(1, 40), st.data(), st.sampled_from([0.8, 0.95]))
def test_without_censoring_it_is_wilson_of_k_of_n(n, data, level):
    k = data.draw(st.integers(0, n))
    first = [1.0 + case % 4 for case in range(k)] + [INF] * (n - k)
    result, plain = within(first, [4] * n, 4, level=level), interval(k, n, level=level)
    assert (result.rate, result.low, result.high, result.n_eff) == pytest.approx(
        (k / n, plain.low, plain.high, n), abs=1e-12
    )
    assert (result.hits, result.at_risk) == (k, n - sum(t < 4 for t in first))


@given(histories)
def test_the_rate_never_falls_with_the_budget_and_clusters_never_narrow_it(listed):
    first, followed = of(listed)
    rates = [within(first, followed, budget).rate for budget in range(1, 7)]
    known = [rate for rate in rates if not math.isnan(rate)]
    assert known == sorted(known)
    cluster = [label for *_, label in listed]
    for budget in (2, 5):
        plain, clustered = (within(first, followed, budget, c) for c in (None, cluster))
        if len(set(cluster)) > 1 and not math.isnan(plain.low):
            assert clustered.low <= plain.low + 1e-9 and clustered.high >= plain.high - 1e-9


def test_errors_that_end_a_case_do_not_shift_the_rate():
    """60 cases followed to 1 (20 hit), 40 to 2: 1 - (2/3)(1 - 8/40)."""
    first = [1] * 20 + [INF] * 40 + [2] * 8 + [INF] * 32
    result = within(first, [1] * 60 + [2] * 40, 2)
    assert result.rate == pytest.approx(1 - 0.8 * 0.8) and result.at_risk == 40


# --- releases

runs = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 3), st.integers(0, 2)),
    min_size=1,
    max_size=7,
)


def split(listed):
    new_n, new_k, old_n, old_k = zip(*listed, strict=True)
    return [list(map(min, new_k, new_n)), new_n, list(map(min, old_k, old_n)), old_n]


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=40))
def test_run_once_in_two_releases_it_is_mcnemars_test(pairs):
    new, old = zip(*pairs, strict=True)
    ones = [1] * len(new)
    b, c = sum(x > y for x, y in pairs), sum(x < y for x, y in pairs)
    result = drift(new, ones, old, ones)
    assert result.p == pytest.approx(mcnemar(b, c).p, abs=1e-12)
    assert result.informative == b + c


@given(runs)
def test_p_is_that_of_enumerating_which_runs_are_new(listed):
    new_k, new_n, old_k, old_n = split(listed)
    chances = {0: 1.0}
    for k, n, past, m in zip(new_k, new_n, old_k, old_n, strict=True):
        if n and m:
            flags = [1] * (k + past) + [0] * (n + m - k - past)
            sums = [sum(part) for part in itertools.combinations(flags, n)]
            chances = {
                total: sum(
                    chances[before] * sums.count(total - before) / len(sums) for before in chances
                )
                for total in {before + step for before in chances for step in sums}
            }
    seen = sum(k for k, n, m in zip(new_k, new_n, old_n, strict=True) if n and m)
    tails = [
        sum(p for total, p in chances.items() if side * total <= side * seen) for side in (1, -1)
    ]
    result = drift(new_k, new_n, old_k, old_n)
    assert result.p == pytest.approx(min(1.0, 2 * min(tails)), abs=1e-9)
    assert drift(old_k, old_n, new_k, new_n).p == pytest.approx(result.p, abs=1e-9)


def test_the_same_cases_show_what_unmatched_counts_do_not():
    """Release 3 breaks 12 new cases of 400 and repairs none."""
    old, new = [1] * 20 + [0] * 380, [1] * 32 + [0] * 368
    assert drift(new, [1] * 400, old, [1] * 400).p == pytest.approx(2 / 2**12)


# --- quantiles


@given(st.lists(st.integers(0, 30), min_size=2, max_size=60), st.sampled_from([0.5, 0.9]))
def test_quantile_and_limits_are_values_and_in_order(values, q):
    unit = [place // 3 for place in range(len(values))]
    result = quantile_units(values, [1] * len(values), unit, q)
    assert result.value in values
    if not math.isnan(result.low):
        assert result.low <= result.value <= result.high
        assert result.low in (*values, -INF) and result.high in (*values, INF)
        assert 0 < result.n_eff <= len(values)


def test_one_value_per_unit_gives_nearly_the_plain_order_statistics():
    values = list(range(1, 201))
    ours, plain = (
        quantile_units(values, [1] * 200, range(200), 0.5),
        paired_quantile(values, 0.5),
    )
    assert abs(ours.low_index - plain.low_index) <= 1
    assert abs(ours.high_index - plain.high_index) <= 1


def test_equal_cases_count_once_however_often_they_ran():
    values = list(range(10)) * 20  # ten cases, each the same in twenty runs
    result = quantile_units(values, [1] * 200, values, 0.5)
    assert result.n_eff == pytest.approx(9, abs=1e-9)
    assert quantile_units(values, [1] * 200, range(200), 0.5).n_eff == pytest.approx(199)


# --- means of groups


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=1, max_size=8))
def test_the_macro_mean_is_inside_and_mirrors(groups):
    k, n = [min(pair) for pair in groups], [max(pair) for pair in groups]
    one, other = macro(k, n), macro([m - e for e, m in zip(k, n, strict=True)], n)
    assert 0 <= one.low <= one.rate <= one.high <= 1
    assert one.rate == pytest.approx(np.mean(np.divide(k, n)))
    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-9)
