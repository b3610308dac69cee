"""Planning against R (pwr), search over all integers, exact rational sums, and the worked example's
gates.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from ferrite_nb.stats import (
    interval,
    largest_k,
    limit,
    mcnemar,
    mcnemar_power,
    n_for_h,
    n_for_half_width,
    n_for_zero_events,
    operating_curve,
    power_h,
    smallest_discordant,
    smallest_k,
)

from .reference import agrees, load


@pytest.mark.parametrize("case", load("planning"))
def test_planning_reference(case):
    agrees(case)


# --- sizes


@pytest.mark.parametrize(
    ("p", "half_width", "n"), [(0.5, 0.05, 381), (0.1, 0.03, 388), (0.1, 0.05, 141), (0, 0.01, 189)]
)
def test_n_for_half_width_printed_values(p, half_width, n):
    assert n_for_half_width(p, half_width) == n


def test_judge_labels_for_a_half_width_around_93_percent():
    # at a continuous rate; at whole counts near 93 % the first n that keep to it are 286 and 631
    assert (n_for_half_width(0.93, 0.03), n_for_half_width(0.93, 0.02)) == (285, 633)
    n = np.arange(1, 900)
    ends = interval(np.round(0.93 * n).astype(int), n)
    half = (ends.high - ends.low) / 2
    assert (n[half <= 0.03][0], n[half <= 0.02][0]) == (286, 631)


@given(st.floats(0, 1), st.floats(0.005, 0.6), st.sampled_from([0.8, 0.95, 0.99]))
def test_n_for_half_width_is_the_smallest_and_holds_for_all_larger(p, half_width, level):
    z = norm.ppf(0.5 + level / 2)

    def half(n):
        return z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)

    n = n_for_half_width(p, half_width, level=level)
    larger = np.arange(n, n + 3000)
    assert (half(larger) <= half_width * (1 + 1e-9)).all()
    assert n == 1 or half(n - 1) > half_width * (1 - 1e-9)


@pytest.mark.parametrize(("p", "half_width"), [(0.5, 5), (0.5, 0), (50, 0.1), (0.5, 1)])
def test_n_for_half_width_refuses_percentages(p, half_width):
    with pytest.raises(ValueError):
        n_for_half_width(p, half_width)


def test_n_for_zero_events_is_the_smallest():
    assert (n_for_zero_events(0.001), n_for_zero_events(0.1), n_for_zero_events(0.01)) == (
        2995,
        29,
        299,
    )
    for rate, level in [(0.001, 0.95), (0.02, 0.9), (0.5, 0.75), (0.9, 0.9), (0.3, 0.99)]:
        n = n_for_zero_events(rate, level=level)
        exact, limit_ = 1 - Fraction(str(rate)), 1 - Fraction(str(level))
        assert exact**n <= limit_ < exact ** (n - 1)


def test_smallest_discordant_is_where_the_test_can_first_pass():
    assert (smallest_discordant(), smallest_discordant(mid_p=True)) == (8, 7)
    for family in (1, 2, 3, 6, 10, 15, 100):
        for alpha in (0.05, 0.01, 0.1, 0.0625):
            n, m = (
                smallest_discordant(family, alpha=alpha),
                smallest_discordant(family, alpha=alpha, mid_p=True),
            )
            assert mcnemar(n, 0).p <= alpha / family < mcnemar(n - 1, 0).p
            assert mcnemar(m, 0).mid_p <= alpha / family < mcnemar(m - 1, 0).mid_p or m == 1
    with pytest.raises(ValueError, match="family"):
        smallest_discordant(0)


# --- power


@pytest.mark.parametrize(
    ("arguments", "power"),
    [
        ((50, 0.12, 0), 0.564664),
        ((100, 0.10, 0.04), 0.270779),
        ((22, 0.27, 0), 0.569077),
        ((50, 0.12, 0), 0.565),
        ((100, 0.12, 0), 0.985),
        ((100, 0.06, 0.02), 0.172),
        ((200, 0.06, 0.02), 0.435),
        ((300, 0.06, 0.02), 0.632),
    ],
)
def test_mcnemar_power_printed_values(arguments, power):
    assert mcnemar_power(*arguments) == pytest.approx(power, abs=5e-4)


@pytest.mark.parametrize(
    ("n", "p_b", "p_c", "alpha"), [(12, 0.3, 0.1, 0.05), (15, 0.5, 0.5, 0.05), (10, 0.4, 0, 0.01)]
)
def test_mcnemar_power_is_the_sum_over_the_trinomial(n, p_b, p_c, alpha):
    total = 0.0
    for b in range(n + 1):
        for c in range(n + 1 - b):
            ways = math.comb(n, b) * math.comb(n - b, c)
            if mcnemar(b, c).p <= alpha:
                total += ways * p_b**b * p_c**c * (1 - p_b - p_c) ** (n - b - c)
    assert mcnemar_power(n, p_b, p_c, alpha=alpha) == pytest.approx(total, abs=1e-12)


@pytest.mark.parametrize(
    ("pairs", "size"), [(5, 0), (6, 0.031), (10, 0.021), (20, 0.041), (50, 0.033)]
)
def test_true_size_of_the_exact_mcnemar_test_is_below_its_level(pairs, size):
    assert mcnemar_power(pairs, 0.5, 0.5) == pytest.approx(size, abs=6e-4)


def test_mcnemar_power_counts_a_p_equal_to_alpha_as_reached():
    assert mcnemar_power(6, 1, 0, alpha=0.03125) == 1.0
    assert mcnemar_power(6, 1, 0, alpha=0.03124) == 0.0


def test_mcnemar_power_edges():
    assert mcnemar_power(0, 0.1, 0.1) == mcnemar_power(100, 0, 0) == 0.0
    assert 0.9999 < mcnemar_power(200, 0.7, 0.3) < mcnemar_power(400, 0.7, 0.3) <= 1
    for p_b, p_c in [(0.6, 0.5), (12, 0), (-0.1, 0)]:
        with pytest.raises(ValueError):
            mcnemar_power(10, p_b, p_c)


def test_power_h_counts_both_tails_and_unequal_groups():
    assert power_h(0.36405, 50) == pytest.approx(0.444521, abs=1e-5)
    assert power_h(0.3, 50, n2=50) == power_h(-0.3, 50) == pytest.approx(power_h(0.3, 50))
    shift = 0.3 * math.sqrt(40 * 90 / 130)
    expected = norm.cdf(shift - 1.959963984540054) + norm.cdf(-shift - 1.959963984540054)
    assert power_h(0.3, 40, n2=90) == pytest.approx(expected, abs=1e-12)
    assert power_h(0, 10) == pytest.approx(0.05)
    assert math.isnan(power_h(0.3, 0)) and math.isnan(power_h(0.3, 10, n2=0))


def test_n_for_h_printed_value():
    result = n_for_h(0.36404, 0.8)
    assert type(result.n) is int and type(result.exact) is float
    exact = n_for_h(0.36405004918697415, 0.8)
    assert (exact.n, exact.exact) == (119, pytest.approx(118.444369, abs=5e-7))


@given(st.floats(0.01, 3.14), st.floats(0.06, 0.999), st.sampled_from([0.001, 0.01, 0.05]))
def test_n_for_h_is_the_root_of_the_power(h, power, alpha):
    result = n_for_h(h, power, alpha=alpha)
    shift, z = h * math.sqrt(result.exact / 2), norm.ppf(1 - alpha / 2)
    assert norm.cdf(shift - z) + norm.cdf(-shift - z) == pytest.approx(power, abs=1e-9)
    assert result.n == max(2, math.ceil(result.exact))
    assert n_for_h(-h, power, alpha=alpha) == result


def test_n_for_h_below_two_cases_and_for_tiny_effects():
    assert n_for_h(math.pi, 0.1).n == 2
    assert n_for_h(1e-9, 0.8).n > 10**18


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((0, 0.8), ValueError),
        ((0.3, 0.05), ValueError),
        ((0.3, 1), ValueError),
        ((36, 0.8), ValueError),
        ((float("nan"), 0.8), ValueError),
        (("0.3", 0.8), TypeError),
        ((1e-200, 0.8), ValueError),
    ],
)
def test_n_for_h_refuses(arguments, error):
    with pytest.raises(error):
        n_for_h(*arguments)


# --- gates


@pytest.mark.parametrize(
    ("n", "threshold", "options", "k"),
    [
        (600, 0.02, {"method": "point"}, 12),
        (600, 0.02, {}, 5),
        (600, 0.02, {"sides": "one"}, 6),
        (600, 0.02, {"method": "clopper-pearson", "sides": "one"}, 6),
        (600, 0.02, {"method": "clopper-pearson"}, 5),
        (600, 0.02, {"method": "jeffreys"}, 5),
        (600, 0.05, {"method": "point"}, 30),
        (600, 0.05, {}, 19),
        (600, 0.05, {"z": 1.96}, 19),
        (600, 0.05, {"sides": "one"}, 21),
        (600, 0.05, {"method": "clopper-pearson", "sides": "one"}, 20),
        (188, 0.02, {}, None),
        (189, 0.02, {}, 0),
        (10, 1, {}, 10),
        (0, 0.5, {}, None),
    ],
)
def test_largest_k_of_the_worked_example(n, threshold, options, k):
    assert largest_k(n, threshold, **options) == k


@pytest.mark.parametrize(
    ("n", "threshold", "options", "k"),
    [
        (300, 0.9, {"method": "point"}, 270),
        (300, 0.9, {}, 281),
        (300, 0.9, {"method": "clopper-pearson"}, 281),
        (300, 0.9, {"sides": "one"}, 279),
        (300, 0.9, {"method": "clopper-pearson", "sides": "one"}, 279),
        (10, 0.9, {}, None),
        (10, 0, {}, 0),
        (0, 0.5, {}, None),
    ],
)
def test_smallest_k_of_the_worked_example(n, threshold, options, k):
    assert smallest_k(n, threshold, **options) == k


@pytest.mark.parametrize(
    "method", ["wilson", "clopper-pearson", "jeffreys", "agresti-coull", "point"]
)
@pytest.mark.parametrize("sides", ["two", "one"])
def test_gates_equal_a_search_over_all_k(method, sides):
    for n in (1, 7, 60, 251):
        for threshold in (0, 0.013, 0.1, 0.5, 0.88, 1):
            upper, lower = [], []
            for k in range(n + 1):
                if method == "point":
                    ends = (k / n, k / n)
                elif sides == "one":
                    ends = tuple(
                        limit(k, n, side=side, method=method) for side in ("lower", "upper")
                    )
                else:
                    found = interval(k, n, method=method)
                    ends = (found.low, found.high)
                if ends[1] <= threshold + 1e-12:
                    upper.append(k)
                if ends[0] >= threshold - 1e-12:
                    lower.append(k)
            assert largest_k(n, threshold, method=method, sides=sides) == max(upper, default=None)
            assert smallest_k(n, threshold, method=method, sides=sides) == min(lower, default=None)


def test_point_gate_allows_the_last_digit():
    assert all(largest_k(n, k / n, method="point") == k for n in (3, 49, 600) for k in range(n + 1))
    assert largest_k(100, 0.29, method="point") == 29


@pytest.mark.parametrize(
    "options",
    [
        {"method": "normal"},
        {"sides": "both"},
        {"level": 95},
        {"z": 1.96, "sides": "one"},
        {"z": 1.96, "method": "point"},
        {"z": -1},
        {"z": 1.96, "level": 0.9},
    ],
)
def test_gates_refuse_bad_options(options):
    for routine in (largest_k, smallest_k):
        with pytest.raises(ValueError):
            routine(600, 0.02, **options)


@pytest.mark.parametrize(
    ("rate", "point", "wilson"),
    [
        (0.0025, 1.0, 0.9956),
        (0.005, 1.0, 0.9166),
        (0.0075, 0.9992, 0.7033),
        (0.01, 0.9915, 0.4449),
        (0.015, 0.8774, 0.1139),
        (0.02, 0.5760, 0.0195),
        (0.025, 0.2645, 0.0026),
        (0.03, 0.0883, 0.0003),
        (0.04, 0.0047, 2e-6),
    ],
)
def test_operating_curve_of_the_proposal_gate(rate, point, wilson):
    assert operating_curve(600, 12, rate) == pytest.approx(point, abs=6e-5)
    assert operating_curve(600, 5, rate) == pytest.approx(wilson, abs=6e-5)


def test_operating_curve_at_least_and_shapes():
    assert operating_curve(300, 270, 0.9, direction="at least") == pytest.approx(0.5484, abs=5e-5)
    assert operating_curve(300, 281, 0.9, direction="at least") == pytest.approx(0.0171, abs=5e-5)
    assert type(operating_curve(600, 5, 0.01)) is float
    grid = operating_curve(600, 5, [[0.01, 0.02], [0, 1]])
    assert grid.shape == (2, 2) and grid[1].tolist() == [1.0, 0.0]
    assert math.isnan(operating_curve(0, 0, 0.5))
    assert operating_curve(5, 0, 0.4, direction="at least") == operating_curve(5, 5, 0.4) == 1.0


def test_operating_curve_equals_an_exact_sum():
    rate = Fraction(1, 50)
    for k in (0, 3, 9):
        exact = sum(math.comb(200, x) * rate**x * (1 - rate) ** (200 - x) for x in range(k + 1))
        assert operating_curve(200, k, 0.02) == pytest.approx(float(exact), rel=1e-12)
        others = operating_curve(200, k + 1, 0.02, direction="at least")
        assert others == pytest.approx(float(1 - exact), rel=1e-11)


@pytest.mark.parametrize(
    ("rate", "zero"), [(1e-4, 0.942), (1 / 2000, 0.741), (1e-3, 0.549), (1 / 200, 0.049)]
)
def test_zero_of_600_happens_to_bad_systems_too(rate, zero):
    assert operating_curve(600, 0, rate) == pytest.approx(zero, abs=5e-4)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((600, 601, 0.1), ValueError),
        ((600, None, 0.1), TypeError),
        ((600, 5, 2), ValueError),
        ((600, 5, [0.1, float("nan")]), ValueError),
        ((600, 5, ["0.1"]), TypeError),
    ],
)
def test_operating_curve_refuses(arguments, error):
    with pytest.raises(error):
        operating_curve(*arguments)
