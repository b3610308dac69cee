"""Intervals for every look: other programs' values, their own definition, and what they promise."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from ferrite_nb.stats import (
    anytime_clusters,
    anytime_interval,
    anytime_pairs,
    interval,
    largest_k,
    paired_difference,
    repeated_looks,
    smallest_k,
)

from .reference import agrees, load

COUNTS = st.integers(0, 60)


@pytest.mark.parametrize(
    "case", load("ahead", "anytime_interval", "anytime_pairs", "anytime_clusters")
)
def test_agrees_with_the_reference(case):
    agrees(case)


@given(COUNTS, COUNTS)
def test_inside_around_the_rate_and_mirrored(k, rest):
    n = k + rest
    ends, mirror = anytime_interval(k, n), anytime_interval(rest, n)
    assert 0 <= ends.low <= (k / n if n else 0) <= (k / n if n else 1) <= ends.high <= 1
    assert (ends.low == 0) == (k == 0) and (ends.high == 1) == (rest == 0)
    assert ends.low == pytest.approx(1 - mirror.high, abs=1e-12)


def test_arrays_are_the_numbers_one_by_one_in_their_shape():
    k, n = np.array([[0, 3], [5, 10]]), np.array([22, 20])
    ends = anytime_interval(k, n)
    assert ends.low.shape == ends.high.shape == (2, 2)
    for place, events in np.ndenumerate(k):
        single = anytime_interval(int(events), int(n[place[1]]))
        assert isinstance(single.low, float)
        assert (single.low, single.high) == (ends.low[place], ends.high[place])


def test_more_events_move_both_ends_up_and_a_higher_level_widens():
    ends = anytime_interval(np.arange(101), 100)
    assert (np.diff(ends.low) > 0).all() and (np.diff(ends.high[:-1]) > 0).all()
    wide = anytime_interval(np.arange(101), 100, level=0.99)
    assert (wide.low <= ends.low).all() and (wide.high >= ends.high).all()


def test_before_the_first_case_everything_is_possible():
    assert (anytime_interval(0, 0).low, anytime_interval(0, 0).high) == (0.0, 1.0)
    pairs, clusters = anytime_pairs(0, 0, 0, 0), anytime_clusters([0, 0], [0, 0])
    assert math.isnan(pairs.diff) and (pairs.low, pairs.high, pairs.p) == (-1.0, 1.0, 1.0)
    assert math.isnan(clusters.rate) and (clusters.low, clusters.high) == (0.0, 1.0)


def missed(ends, rate):
    """The chance that some look excludes the true rate, by the distribution of the count."""
    going, out = np.ones(1), 0.0
    for size in range(1, len(ends.low) + 1):
        going = np.convolve(going, [1 - rate, rate])
        low, high = ends.low[size - 1, : size + 1], ends.high[size - 1, : size + 1]
        bad = (low > rate) | (high < rate)
        out += going[bad].sum()
        going[bad] = 0
    return out


def test_the_truth_stays_inside_at_all_looks_in_at_least_95_of_100_runs():
    k, n = np.arange(101), np.arange(1, 101)[:, None]
    ends, once = (how(np.minimum(k, n), n) for how in (anytime_interval, interval))
    for rate in (0.05, 0.2, 0.5):
        assert missed(ends, rate) <= 0.05 < 0.2 < missed(once, rate)


def test_a_gate_may_be_tried_every_day():
    sizes = np.arange(50, 5001, 50)
    for how, chance in ((interval, 0.135), (anytime_interval, 0.0145)):
        limits = (how(np.arange(101), np.maximum(sizes[:, None], 101)).high <= 0.02).sum(axis=1) - 1
        limits = [
            int(k) if k >= 0 and size > 101 else None for k, size in zip(limits, sizes, strict=True)
        ]
        assert repeated_looks(sizes, limits, 0.02).any_look == pytest.approx(chance, abs=0.01)


def test_largest_and_smallest_counts_that_pass():
    sizes = (400, 600, 1000, 2000)
    assert [largest_k(n, 0.02, method="anytime") for n in sizes] == [1, 3, 7, 21]
    assert [n - smallest_k(n, 0.98, method="anytime") for n in sizes] == [1, 3, 7, 21]
    assert largest_k(100, 0.02, method="anytime") is None


@settings(max_examples=30)
@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_pairs_are_mirrored_ordered_and_agree_with_their_p(both, b, c, neither):
    found, mirror = anytime_pairs(both, b, c, neither), anytime_pairs(both, c, b, neither)
    assert found.low == pytest.approx(-mirror.high, abs=1e-9)
    assert found.p == pytest.approx(mirror.p, abs=1e-12)
    assert -1 <= found.low <= found.high <= 1 and 0 < found.p <= 1
    if both + b + c + neither:
        assert found.low - 1e-12 <= found.diff <= found.high + 1e-12
        assert (found.p <= 0.05 - 1e-9) <= (not found.low <= 0 <= found.high)
        once = paired_difference(both, b, c, neither)
        assert found.high - found.low > once.high - once.low


def by_quadrature(m, tables):
    """The capital of the upper game against m, from its definition."""

    def product(angle):
        stake = (math.sin(angle) ** 2 - m) / (m * (1 - m))
        return math.prod((1 + stake * (x - m)) ** times for x, times in tables)

    cut = math.asin(math.sqrt(m))
    return quad(product, 0, cut, epsabs=0, epsrel=1e-10, limit=200)[0] / cut


def test_the_upper_limit_is_where_the_capital_by_quadrature_is_forty():
    high = (anytime_pairs(5, 9, 1, 25).high + 1) / 2
    assert by_quadrature(high, [(1, 9), (0.5, 30), (0, 1)]) == pytest.approx(40, rel=1e-8)


def test_many_pairs_need_more_nodes_and_get_them():
    """Only ties but for b and c: both halves of 200,000 events are one rate of a single game."""
    many = anytime_pairs(0, 120_000, 80_000, 0)
    single = anytime_interval(120_000, 200_000)
    assert many.low == pytest.approx(2 * single.low - 1, abs=1e-9)
    assert many.high == pytest.approx(2 * single.high - 1, abs=1e-9)


def test_clusters_of_one_are_cases():
    k = [0, 1, 1, 0, 0, 1, 0, 0]
    found, plain = anytime_clusters(k, [1] * 8), anytime_interval(3, 8)
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high), abs=1e-9)


def test_clusters_are_wider_than_cases_and_wider_for_a_larger_planned_cluster():
    k, n = [4, 1, 5, 1, 3, 0, 3, 4], [5] * 8
    plain = anytime_interval(21, 40)
    found, planned = anytime_clusters(k, n), anytime_clusters(k, n, most=10)
    assert plain.high - plain.low < found.high - found.low < planned.high - planned.low
    assert found == anytime_clusters(k[::-1], n, most=5)


def test_what_is_no_count_is_refused_with_its_name():
    with pytest.raises(ValueError, match="most"):
        anytime_clusters([1], [5], most=4)
    with pytest.raises(ValueError, match="k must be at most n"):
        anytime_interval(3, 2)
    with pytest.raises(ValueError, match="level"):
        anytime_interval(1, 2, level=95)
    with pytest.raises(TypeError, match="neither"):
        anytime_pairs(1, 1, 1, "1")
