"""Paired modes against R, exact rational arithmetic, full enumeration and the printed worked
examples.
"""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrite_nb.stats import (
    cohens_h,
    difference,
    holm,
    interval,
    mcnemar,
    paired_difference,
    paired_quantile,
    sign_flip,
)

from .reference import agrees, load

NAN = math.nan
FILES = ("mcnemar", "holm", "cohens_h", "paired_difference", "permutation", "quantiles")


@pytest.mark.parametrize("case", [case for name in FILES for case in load(name)])
def test_pairs_reference(case):
    agrees(case)


# --- McNemar


def test_mcnemar_equals_exact_rational_arithmetic_up_to_200_and_200():
    for total in range(1, 401):
        term, tail = Fraction(1, 2**total), Fraction(0)  # C(total, 0) / 2**total
        for small in range(total // 2 + 1):
            tail += term
            b, c = small, total - small
            if c <= 200:
                exact = min(Fraction(1), 2 * tail)
                mid = 1 - term / 2 if b == c else exact - term
                for result in (mcnemar(b, c), mcnemar(c, b)):
                    assert result.p == pytest.approx(float(exact), rel=1e-12, abs=0)
                    assert result.mid_p == pytest.approx(float(mid), rel=1e-11, abs=0)
                    assert result.n_discordant == total
                assert result.log10_p == pytest.approx(_log10(exact), rel=1e-12, abs=1e-12)
            term = term * (total - small) / (small + 1)


def _log10(fraction):
    """log10 of a fraction of any size; whole numbers of any size have a logarithm in Python."""
    return math.log10(fraction.numerator) - math.log10(fraction.denominator)


@pytest.mark.parametrize(
    ("b", "c", "log10_p"),
    [
        (2000, 0, -601.758961),
        (0, 2000, -601.758961),
        (1500, 500, -114.831385),
        (500, 1500, -114.831385),
    ],
)
def test_mcnemar_log10_p_never_underflows(b, c, log10_p):
    assert mcnemar(b, c).log10_p == pytest.approx(log10_p, abs=5e-7)


def test_mcnemar_log10_p_below_the_smallest_float_equals_exact_arithmetic():
    for b, c in [(30, 1200), (700, 3300), (1, 1100), (20_000, 25_500)]:
        total, small = b + c, min(b, c)
        term = tail = 1
        for i in range(small):
            term = term * (total - i) // (i + 1)
            tail += term
        exact = math.log10(2 * tail) - total * math.log10(2)
        assert mcnemar(b, c).log10_p == pytest.approx(exact, abs=1e-7)


def test_mcnemar_p_is_zero_only_where_a_float_cannot_hold_it():
    result = mcnemar(0, 2000)
    assert (result.p, result.mid_p) == (0.0, 0.0)
    assert mcnemar(0, 1000).p == pytest.approx(2.0**-999, rel=1e-9)


@pytest.mark.parametrize(
    ("b", "c", "p", "mid_p"),
    [
        (1, 9, 0.021484375, 0.01171875),
        (3, 3, 1, 0.84375),
        (0, 22, 4.76837158203125e-07, 2.384185791015625e-07),
        (0, 48, 2 * 0.5**48, 0.5**48),
        (6, 20, 0.009355306625366211, 0.005924612283706665),
        (5, 5, 1, 0.876953125),
        (0, 5, 0.0625, 0.03125),
        (0, 6, 0.03125, 0.015625),
    ],
)
def test_mcnemar_printed_values(b, c, p, mid_p):
    result = mcnemar(b, c)
    assert result.p == pytest.approx(p, rel=1e-9, abs=0)
    assert result.mid_p == pytest.approx(mid_p, rel=1e-9, abs=0)


def test_mcnemar_takes_the_small_tail_and_is_never_above_one():
    assert all(mcnemar(b, c).p <= 1 for b in range(12) for c in range(12))


def test_mcnemar_without_discordant_pairs_says_so():
    result = mcnemar(0, 0)
    assert (result.p, result.mid_p, result.log10_p, result.n_discordant) == (1.0, 1.0, 0.0, 0)
    assert result.note == "no discordant pairs"


def test_mcnemar_at_equal_counts_is_exactly_one_with_fagerlands_mid_p():
    for each in (1, 2, 5, 40, 700):
        result = mcnemar(each, each)
        middle = math.comb(2 * each, each) / 4**each
        assert (result.p, result.log10_p) == (1.0, 0.0)
        assert result.mid_p == pytest.approx(1 - middle / 2, rel=1e-12)


def test_mcnemar_gives_python_numbers():
    result = mcnemar(np.int32(3), np.int64(9))
    assert [type(x) for x in (result.p, result.mid_p, result.log10_p)] == [float] * 3
    assert type(result.n_discordant) is int


@pytest.mark.parametrize(
    ("b", "c", "error"),
    [
        ("3", 1, TypeError),
        (None, 1, TypeError),
        (1.5, 1, ValueError),
        (-1, 1, ValueError),
        (True, 1, ValueError),
    ],
)
def test_mcnemar_refuses_what_is_no_count(b, c, error):
    with pytest.raises(error, match="b must"):
        mcnemar(b, c)


# --- Holm


@pytest.mark.parametrize(
    ("p", "family", "adjusted"),
    [
        ([0.2, 0.001, 0.04, 0.01, 0.8, 0.03], "all", [0.4, 0.006, 0.12, 0.05, 0.8, 0.12]),
        ([0.01, NAN, 0.03, 0.005, 0.2, 0.04], "all", [0.05, NAN, 0.12, 0.03, 0.4, 0.12]),
        ([0.01, NAN, 0.03, 0.005, 0.2, 0.04], "tested", [0.04, NAN, 0.09, 0.025, 0.2, 0.09]),
        ([0.01, 0.01, 0.03, 0.03, 0.5, 0.5], "all", [0.06, 0.06, 0.12, 0.12, 1, 1]),
        ([0.01, 0.04, NAN, 0.03], "tested", [0.03, 0.06, NAN, 0.06]),
        ([0.01, 0.04, NAN, 0.03], "all", [0.04, 0.09, NAN, 0.09]),
        ([0.01, 0.02, 0.03, 0.04, 0.05, 0.06], "all", [0.06, 0.1, 0.12, 0.12, 0.12, 0.12]),
    ],
)
def test_holm_printed_values(p, family, adjusted):
    result = holm(p, family=family)
    np.testing.assert_allclose(result.adjusted, adjusted, rtol=0, atol=1e-12)


def test_holm_nan_is_never_rejected_and_both_counts_are_given():
    result = holm([NAN, 0.001, NAN])
    assert result.reject.tolist() == [False, True, False]
    assert (result.family_size, result.tested) == (3, 1)
    assert holm([NAN, 0.001, NAN], family="tested").family_size == 1
    nothing = holm([NAN, NAN])
    assert np.isnan(nothing.adjusted).all() and not nothing.reject.any() and nothing.tested == 0


def test_holm_empty_in_empty_out():
    result = holm([])
    assert (result.adjusted.size, result.reject.size, result.family_size, result.tested) == (
        0,
        0,
        0,
        0,
    )


def test_holm_rejects_exactly_where_the_adjusted_p_keeps_to_alpha():
    # 5 * 0.01 is 0.05 exactly; 11 * (0.05 / 11) is 0.05000000000000001 as a float: both count as
    # reached
    assert holm([0.01, 0.5, 0.5, 0.5, 0.5]).reject.tolist() == [True, False, False, False, False]
    assert 0.05 / 11 * 11 > 0.05
    assert holm([0.05 / 11] + [0.9] * 10).reject[0]
    assert not holm([0.0500001]).reject[0]
    assert holm([0.09], alpha=0.1).reject[0]


def test_holm_gives_arrays_of_floats_and_booleans():
    result = holm((0, 1))
    assert result.adjusted.dtype == float and result.reject.dtype == bool


@given(
    st.lists(st.one_of(st.floats(0, 1), st.just(NAN)), max_size=8),
    st.randoms(use_true_random=False),
)
def test_holm_does_not_depend_on_the_order(p, random):
    order = list(range(len(p)))
    random.shuffle(order)
    straight, shuffled = holm(p).adjusted, holm([p[i] for i in order]).adjusted
    np.testing.assert_array_equal(straight[order], shuffled)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_steps_down_in_the_order_of_p(p):
    # by the definition: in ascending order, max over the first i of (m - j) * p_j, cut at 1
    result, m = holm(p).adjusted, len(p)
    order = sorted(range(m), key=lambda i: p[i])
    for i, place in enumerate(order):
        expected = min(1.0, max((m - j) * p[order[j]] for j in range(i + 1)))
        assert result[place] == pytest.approx(expected, abs=1e-15)


def test_holm_agrees_with_statsmodels_where_nothing_is_missing():
    from statsmodels.stats.multitest import multipletests

    p = np.random.default_rng(3).uniform(0, 0.2, 40)
    np.testing.assert_allclose(holm(p).adjusted, multipletests(p, method="holm")[1], rtol=1e-13)


@pytest.mark.parametrize("p", [[0.1, 1.1], [-0.1], [[0.1], [0.2]], 0.1])
def test_holm_refuses_what_is_no_list_of_p_values(p):
    with pytest.raises(ValueError, match="p must"):
        holm(p)


@pytest.mark.parametrize("p", [["0.1"], [None, 0.1], [True, False]])
def test_holm_refuses_other_types(p):
    with pytest.raises(TypeError, match="p must be numbers"):
        holm(p)


def test_holm_refuses_an_unknown_family():
    with pytest.raises(ValueError, match="all, tested"):
        holm([0.1], family="valid")


# --- Cohen's h


@pytest.mark.parametrize(
    ("p1", "p2", "h"),
    [(1, 0, math.pi), (0, 1, -math.pi), (0.35, 0.19, 0.364050), (0.1, 0.5, -0.92730), (0, 0, 0)],
)
def test_cohens_h_is_signed(p1, p2, h):
    assert cohens_h(p1, p2) == pytest.approx(h, abs=5e-6)
    assert type(cohens_h(p1, p2)) is float


@pytest.mark.parametrize("p", [50, -0.1, NAN, True])
def test_cohens_h_refuses_percentages(p):
    with pytest.raises(ValueError, match="p1"):
        cohens_h(p, 0.2)


# --- paired difference

PAIRS = [
    ((20, 12, 2, 16), (0.056156, 0.329207), (0.061112, 0.344709)),
    ((1, 1, 7, 12), (-0.506920, -0.025559), (-0.517232, -0.026003)),
    ((57, 48, 0, 195), (0.118120, 0.202377), (0.122854, 0.205744)),
    ((10, 0, 0, 12), (-0.083305, 0.083305), (-0.148655, 0.148655)),
    ((0, 22, 0, 0), (0.789770, 1), (0.702690, 1)),
]


@pytest.mark.parametrize(("table", "newcombe", "tango"), PAIRS)
def test_paired_difference_printed_values(table, newcombe, tango):
    for method, (low, high) in (("newcombe", newcombe), ("tango", tango)):
        result = paired_difference(*table, method=method)
        assert (result.low, result.high) == pytest.approx((low, high), abs=5e-7)
        assert result.diff == pytest.approx((table[1] - table[2]) / sum(table), abs=1e-15)
        assert result.note == ""


@pytest.mark.parametrize(
    ("table", "newcombe"),
    [  # the lab's margins, 105 and 57 of 300, with the pairing changed
        ((55, 50, 2, 193), (0.1160, 0.2042)),
        ((52, 53, 5, 190), (0.1131, 0.2069)),
        ((47, 58, 10, 185), (0.1086, 0.2109)),
        ((37, 68, 20, 175), (0.1006, 0.2183)),
        ((0, 105, 57, 138), (0.0777, 0.2394)),
    ],
)
def test_paired_difference_depends_on_the_pairing_not_on_the_margins(table, newcombe):
    result = paired_difference(*table)
    assert result.diff == pytest.approx(0.16, abs=1e-15)
    assert (result.low, result.high) == pytest.approx(newcombe, abs=5e-5)


def _tango_statistic(b, c, n, delta):
    """Tango's score statistic, written down once more from the paper."""
    linear, constant = -b - c + (2 * n - b + c) * delta, -c * delta * (1 - delta)
    q = (math.sqrt(linear**2 - 8 * n * constant) - linear) / (4 * n)
    return (b - c - n * delta) / math.sqrt(n * (2 * q + delta * (1 - delta)))


def test_tango_limits_are_roots_of_the_score_statistic_on_either_side():
    for both, b, c, neither in itertools.product((0, 3, 40), (0, 1, 7), (0, 2, 9), (0, 5, 60)):
        n = both + b + c + neither
        if not n:
            continue
        result = paired_difference(both, b, c, neither, method="tango")
        assert -1 <= result.low <= result.diff <= result.high <= 1
        for delta, expected in ((result.low, 1.959963984540054), (result.high, -1.959963984540054)):
            if abs(delta) < 1:
                assert _tango_statistic(b, c, n, delta) == pytest.approx(expected, abs=1e-6)


def test_tango_without_discordant_pairs_does_not_stop_at_the_estimate():
    for n in (1, 22, 5000):
        z2 = 1.959963984540054**2
        result = paired_difference(0, 0, 0, n, method="tango")
        assert (result.low, result.high) == pytest.approx(
            (-z2 / (n + z2), z2 / (n + z2)), abs=1e-12
        )


@given(*[st.integers(0, 60)] * 4)
def test_paired_difference_changes_sign_when_the_modes_change_places(both, b, c, neither):
    if both + b + c + neither == 0:
        return
    for method in ("newcombe", "tango"):
        one = paired_difference(both, b, c, neither, method=method)
        other = paired_difference(both, c, b, neither, method=method)
        assert (one.diff, one.low, one.high) == pytest.approx(
            (-other.diff, -other.high, -other.low), abs=1e-9
        )
        assert -1 <= one.low <= one.diff <= one.high <= 1
        assert one.high > one.low


def test_newcombe_correlation_is_corrected_for_continuity_only_when_positive():
    # a negative cross product keeps its value: worked by hand from the definition
    both, b, c, neither = 1, 6, 5, 2
    n, first, second = 14, 7, 6
    (l1, u1), (l2, u2) = ((e.low, e.high) for e in (interval(first, n), interval(second, n)))
    p1, p2 = first / n, second / n
    phi = (both * neither - b * c) / math.sqrt(first * (n - first) * second * (n - second))
    low = p1 - p2 - math.sqrt((p1 - l1) ** 2 - 2 * phi * (p1 - l1) * (u2 - p2) + (u2 - p2) ** 2)
    high = p1 - p2 + math.sqrt((u1 - p1) ** 2 - 2 * phi * (u1 - p1) * (p2 - l2) + (p2 - l2) ** 2)
    result = paired_difference(both, b, c, neither)
    assert (result.low, result.high) == pytest.approx((low, high), abs=1e-12)
    # a small positive one is cut at zero: both limits are those without correlation
    near = paired_difference(3, 3, 2, 3)
    (l1, u1), (l2, u2) = ((e.low, e.high) for e in (interval(6, 11), interval(5, 11)))
    assert near.low == pytest.approx(1 / 11 - math.hypot(6 / 11 - l1, u2 - 5 / 11), abs=1e-12)
    assert near.high == pytest.approx(1 / 11 + math.hypot(u1 - 6 / 11, 5 / 11 - l2), abs=1e-12)


def test_paired_difference_without_cases_is_not_computable():
    for method in ("newcombe", "tango", "bootstrap"):
        result = paired_difference(0, 0, 0, 0, method=method)
        assert math.isnan(result.diff) and math.isnan(result.low) and math.isnan(result.high)
        assert result.note == "no case"


def test_paired_bootstrap_without_discordant_pairs_says_why_it_has_no_width():
    result = paired_difference(10, 0, 0, 12, method="bootstrap")
    assert result.diff == 0 and math.isnan(result.low) and math.isnan(result.high) and result.note


def test_paired_bootstrap_takes_limits_at_the_level_from_drawn_tables():
    """Against percentiles of plain multinomial draws, 12 of 50 minus 2 of 50."""
    drawn = np.random.default_rng(5).multinomial(50, [0.4, 0.24, 0.04, 0.32], 40_000)
    for level in (0.8, 0.95):
        result = paired_difference(20, 12, 2, 16, method="bootstrap", level=level)
        ends = np.quantile(drawn[:, 1] - drawn[:, 2], [(1 - level) / 2, (1 + level) / 2]) / 50
        assert result.diff == 0.2 and (result.low, result.high) == pytest.approx(
            tuple(ends), abs=0.021
        )
    assert paired_difference(20, 2, 12, 16, method="bootstrap").diff == -0.2


def test_paired_bootstrap_is_the_same_twice_and_leaves_the_global_generator_alone():
    np.random.seed(1)
    before = np.random.get_state()[1].tobytes()
    one, two = (paired_difference(20, 12, 2, 16, method="bootstrap") for _ in range(2))
    assert one == two
    assert np.random.get_state()[1].tobytes() == before


@pytest.mark.parametrize(
    ("arguments", "options", "error"),
    [
        ((1, 2, 3, -1), {}, ValueError),
        ((1, 2, "3", 1), {}, TypeError),
        ((1, 2, 3, 1), {"method": "wald"}, ValueError),
        ((1, 2, 3, 1), {"level": 95}, ValueError),
    ],
)
def test_paired_difference_refuses_bad_input(arguments, options, error):
    with pytest.raises(error):
        paired_difference(*arguments, **options)


# --- unmatched difference


@pytest.mark.parametrize(
    ("counts", "low", "high", "p"),
    [
        ((56, 70, 48, 80), 0.052431, 0.333873, 0.012521),
        ((9, 10, 3, 10), 0.170523, 0.809018, 0.019767),
    ],
)
def test_difference_printed_values(counts, low, high, p):
    result = difference(*counts)
    assert (result.low, result.high, result.p) == pytest.approx((low, high, p), abs=5e-7)
    assert {type(x) for x in (result.diff, result.low, result.high, result.p)} == {float}


def test_difference_stays_inside_and_holds_the_ends():
    result = difference(10, 10, 0, 10)
    assert result.diff == 1 and 0 < result.low < 1 and result.high == pytest.approx(1, abs=1e-12)
    assert result.high <= 1
    nothing = difference(0, 10, 0, 10)
    assert nothing.low < 0 < nothing.high and nothing.p == 1


def test_difference_with_an_empty_group_is_not_computable():
    for counts in ((0, 0, 3, 10), (3, 10, 0, 0)):
        result = difference(*counts)
        assert all(math.isnan(x) for x in (result.diff, result.low, result.high, result.p))


def test_difference_refuses_more_events_than_cases():
    with pytest.raises(ValueError, match="at most n"):
        difference(3, 2, 0, 1)


# --- sign flips


@pytest.mark.parametrize(
    ("sums", "p"),
    [
        ([1] * 9 + [-1], 0.021484375),
        ([3, -1, 2, 0, 4, 1], 0.1875),
        ([1] * 6, 0.03125),
        ([0.5, 0.25], 0.5),
    ],
)
def test_sign_flip_printed_values(sums, p):
    result = sign_flip(sums)
    assert (result.p, result.method, result.clusters) == (p, "exact", len(sums))


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=9))
def test_sign_flip_equals_the_enumeration_of_all_signs(sums):
    patterns = [
        abs(sum(s * x for s, x in zip(signs, sums, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(sums))
    ]
    expected = sum(total >= abs(sum(sums)) for total in patterns) / len(patterns)
    assert sign_flip(sums).p == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(("b", "c"), [(1, 9), (4, 4), (0, 12), (7, 13)])
def test_sign_flip_with_one_case_per_cluster_is_mcnemar(b, c):
    assert sign_flip([1] * b + [-1] * c).p == pytest.approx(mcnemar(b, c).p, abs=1e-12)


def test_sign_flip_draws_patterns_beyond_twenty_clusters():
    assert sign_flip([1] * 20).method == "exact" and sign_flip([1] * 20 + [0]).p == 2 / 2**20
    assert sign_flip([1] * 21).method == "monte carlo"
    drawn = sign_flip([1] * 25 + [-1] * 10 + [0] * 5)
    assert (drawn.method, drawn.clusters) == ("monte carlo", 40)
    exact = mcnemar(25, 10).p  # three Monte-Carlo standard errors
    assert drawn.p == pytest.approx(exact, abs=3 * math.sqrt(exact * (1 - exact) / 100_000))


@pytest.mark.parametrize("clusters", [21, 63, 64, 65, 128, 200])
@pytest.mark.parametrize("alike", [1, 2, 7, 8, 9, 40])
def test_sign_flip_draws_any_number_of_equal_clusters(clusters, alike):
    """Clusters of one size are drawn together: none may be lost, however many are alike (sizes
    differ by 1e-11).
    """
    more = 5 + clusters // 10
    b, c = clusters // 2 + more, clusters - clusters // 2 - more
    exact = mcnemar(b, c).p
    sizes = 1 + np.arange(clusters) // alike * 1e-11
    drawn = sign_flip(sizes * ([1] * b + [-1] * c))
    assert drawn.p == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 100_000))


def test_sign_flip_drawn_with_unequal_sizes_agrees_with_a_convolution():
    rng = np.random.default_rng(5)
    sums = rng.integers(-4, 7, 30)
    totals = {0: 1.0}
    for size in sums[sums != 0]:
        step = {}
        for total, weight in totals.items():
            for sign in (1, -1):
                step[total + sign * size] = step.get(total + sign * size, 0) + weight / 2
        totals = step
    exact = sum(weight for total, weight in totals.items() if abs(total) >= abs(sums.sum()))
    drawn = sign_flip(sums)
    assert drawn.method == "monte carlo"
    assert drawn.p == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 100_000) + 1e-5)


def test_sign_flip_counts_the_observed_pattern_among_the_drawn():
    assert sign_flip([1] * 60, resamples=99).p == 1 / 100


def test_sign_flip_is_the_same_twice_and_leaves_the_global_generator_alone():
    np.random.seed(1)
    before = np.random.get_state()[1].tobytes()
    sums = np.arange(1, 31) * np.where(np.arange(30) % 3, 1, -1)
    assert sign_flip(sums) == sign_flip(sums)
    assert sign_flip(sums, seed=1) != sign_flip(sums)
    assert np.random.get_state()[1].tobytes() == before


def test_sign_flip_without_a_difference_says_so():
    for sums in ([], [0, 0, 0]):
        result = sign_flip(sums)
        assert (result.p, result.method, result.note) == (1.0, "exact", "no cluster differs")
        assert result.clusters == len(sums)


@pytest.mark.parametrize(
    ("sums", "error"),
    [([1, NAN], ValueError), ([[1, 2]], ValueError), (["1"], TypeError), ([None], TypeError)],
)
def test_sign_flip_refuses_what_is_no_sum(sums, error):
    with pytest.raises(error, match="sums must"):
        sign_flip(sums)


# --- repeats


# --- quantiles of paired differences

LATENCY = [60, 55, 47, 110, 60, 63, 55, 53, 210, 61, 56, 60, 55, 64, 52, 51, 59, 63, 61, 59]


def test_paired_quantile_ranks():
    median = paired_quantile(LATENCY, 0.5)
    assert (median.value, median.low, median.high) == (60, 55, 61)
    assert (median.low_index, median.high_index) == (6, 15)
    assert median.coverage == pytest.approx(0.958611, abs=5e-7) and median.note == ""
    upper = paired_quantile(LATENCY, 0.95)
    assert (upper.value, upper.low, upper.high) == (110, 63, math.inf)
    assert (upper.low_index, upper.high_index) == (17, 21)
    assert upper.note == "no upper limit from 20 pairs"


def test_paired_quantile_coverage_is_the_binomial_probability_between_the_ranks():
    for n, q in [(20, 0.5), (20, 0.95), (7, 0.3), (5, 0.5), (40, 0.05)]:
        result = paired_quantile(range(n), q)
        exact = sum(
            Fraction(math.comb(n, x)) * Fraction(q) ** x * (1 - Fraction(q)) ** (n - x)
            for x in range(int(result.low_index), min(int(result.high_index), n + 1))
        )
        assert result.coverage == pytest.approx(float(exact), abs=1e-12)
        assert result.coverage >= 0.95


def test_paired_quantile_rounds_half_up_on_every_rank():
    # (n - 1) q + 1/2 is whole at q = .5 and even n: always the upper of the two middle elements
    for n in (2, 4, 6, 8, 10):
        assert paired_quantile(range(n), 0.5).value == n // 2


def test_paired_quantile_does_not_depend_on_order_and_leaves_its_input_alone():
    values = np.array(LATENCY)
    paired_quantile(values, 0.5)
    assert values.tolist() == LATENCY
    assert paired_quantile(sorted(LATENCY), 0.5) == paired_quantile(LATENCY, 0.5)


def test_paired_quantile_of_nothing_is_not_zero():
    result = paired_quantile([], 0.5)
    assert result.n == 0 and result.note == "no pair"
    assert all(
        math.isnan(x)
        for x in (result.value, result.low, result.high, result.low_index, result.coverage)
    )


@pytest.mark.parametrize("q", [0, 1, 50, -0.1])
def test_paired_quantile_refuses_q_outside(q):
    with pytest.raises(ValueError, match="q must"):
        paired_quantile([1, 2], q)


def test_paired_quantile_refuses_a_missing_difference():
    with pytest.raises(ValueError, match="NaN"):
        paired_quantile([1, NAN], 0.5)
    with pytest.raises(TypeError):
        paired_quantile(["1"], 0.5)


def test_results_are_frozen():
    result = mcnemar(1, 2)
    with pytest.raises(AttributeError):
        result.p = 0
    assert json.dumps(mcnemar(3, 1).__dict__)  # plain Python numbers only
