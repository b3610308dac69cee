"""Gate sizes, gates together, early looks and run designs, against enumeration and the worked
example.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from ferrite_nb.stats import (
    at_least_once,
    cluster_effect,
    clustered_counts,
    clustered_pass,
    gates_together,
    largest_k,
    mcnemar,
    n_for_gate,
    nested_gates,
    operating_curve,
    possible_counts,
    repeated_looks,
    repeated_tests,
    smallest_k,
    within_attempts,
)

# --- sizes of gates


@pytest.mark.parametrize(
    ("rate", "at_80", "at_90"),
    [(0.0025, 370, 370), (0.005, 510, 650), (0.0075, 790, 980), (0.01, 1360, 1660)],
)
def test_tasks_for_the_wilson_gate_in_steps_of_ten(rate, at_80, at_90):
    assert n_for_gate(0.02, rate, 0.8, step=10).lasting == at_80
    assert n_for_gate(0.02, rate, 0.9, step=10).lasting == at_90


@pytest.mark.parametrize(
    ("threshold", "rate", "power", "options"),
    [
        (0.12, 0.04, 0.8, {}),
        (0.15, 0.04, 0.9, {"method": "clopper-pearson", "sides": "one"}),
        (0.1, 0.0, 0.9, {}),
        (0.2, 0.15, 0.7, {"method": "point"}),
        (0.9, 0.97, 0.8, {"direction": "at least"}),
    ],
)
def test_n_for_gate_equals_a_search_over_all_n(threshold, rate, power, options):
    rule = {key: value for key, value in options.items() if key != "direction"}
    find = smallest_k if "direction" in options else largest_k
    direction = options.get("direction", "at most")
    good = []
    for n in range(1, 500):
        k = find(n, threshold, **rule)
        good.append(
            k is not None and operating_curve(n, k, rate, direction=direction) >= power - 1e-12
        )
    result = n_for_gate(threshold, rate, power, **options)
    assert result.first == good.index(True) + 1
    assert result.lasting == max((n for n in range(1, 500) if not good[n - 1]), default=0) + 1
    assert all(good[result.lasting - 1 :])


def test_n_for_gate_that_allows_hundreds_of_events_equals_a_search():
    """At most half of n, at a true rate of .48: the count allowed is n // 2, and the power is a
    binomial sum.
    """
    n = np.arange(1, 4001)
    enough = binom.cdf(n // 2, n, 0.48) >= 0.9
    result = n_for_gate(0.5, 0.48, 0.9, method="point")
    assert result.first == n[enough][0] > 300
    assert result.lasting == n[~enough][-1] + 1 < 2000


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (
            (0.02, 0.02, 0.8),
            {},
            "the true rate must keep to the threshold, got rate = 0.02, threshold = 0.02",
        ),
        (
            (0.02, 0.05, 0.8),
            {},
            "the true rate must keep to the threshold, got rate = 0.05, threshold = 0.02",
        ),
        (
            (0.75, 0.5, 0.8),
            {"direction": "at least"},
            "the true rate must keep to the threshold, got rate = 0.5",
        ),
        ((0.02, 0.01, 1), {}, "power must lie in"),
        (
            (0.02, 0.01, 0.8),
            {"step": 0},
            "step must be at least 1, got rate = 0.01, threshold = 0.02, step = 0",
        ),
        (
            (0.02, 0.01, 0.8),
            {"sides": "one", "level": 0.4},
            "a one-sided rule needs a level above one half, got 0.4",
        ),
        (
            (0.02, 0.01, 0.8),
            {"sides": "one", "level": 0.5},
            "a one-sided rule needs a level above one half, got 0.5",
        ),
    ],
)
def test_n_for_gate_refuses(arguments, options, words):
    with pytest.raises(ValueError, match=f"^{words}"):
        n_for_gate(*arguments, **options)


# --- gates together


def test_gates_together_between_the_limits_of_any_dependence():
    result = gates_together([0.9, 0.8, 0.95])
    assert (result.independent, result.low, result.high) == pytest.approx((0.684, 0.65, 0.8))
    assert gates_together([0.3, 0.3]).low == 0.0
    nothing = gates_together([])
    assert (nothing.independent, nothing.low, nothing.high) == (1.0, 1.0, 1.0)
    with pytest.raises(ValueError, match="passes"):
        gates_together([95])


def test_the_always_refusing_system_is_stopped_by_its_cost_gates_only():
    refuser = [
        operating_curve(600, 5, 0.0),
        operating_curve(600, 0, 0.0),
        operating_curve(600, 19, 1.0),
        operating_curve(300, 281, 0.0, direction="at least"),
    ]
    assert refuser == [1.0, 1.0, 0.0, 0.0]
    assert gates_together(refuser).high == 0.0


def test_nested_gates_equal_the_sum_over_all_outcomes():
    n, k, rate, inner_k, inner_rate = 9, 3, 0.2, 1, 0.4
    total = 0.0
    for outcome in itertools.product(
        (0, 1, 2), repeat=n
    ):  # no event, event stopped, event that goes on
        events, through = n - outcome.count(0), outcome.count(2)
        if events <= k and through <= inner_k:
            stopped = events - through
            total += (
                (1 - rate) ** (n - events)
                * (rate * (1 - inner_rate)) ** stopped
                * (rate * inner_rate) ** through
            )
    assert nested_gates(n, k, rate, inner_k, inner_rate) == pytest.approx(total, abs=1e-12)


def test_nested_gates_reduce_to_one_gate():
    assert nested_gates(600, 5, 0.01, 0, 0.0) == pytest.approx(operating_curve(600, 5, 0.01))
    assert nested_gates(600, 600, 0.01, 0, 0.05) == pytest.approx(operating_curve(600, 0, 0.0005))


@pytest.mark.parametrize(
    ("rate", "possible", "below", "above"), [(0.93, False, 139, 140), (0.94, True, 141, 141)]
)
def test_a_percentage_of_150_need_not_be_a_count(rate, possible, below, above):
    result = possible_counts(rate, 150)
    assert (result.possible, result.below, result.above) == (possible, below, above)


# --- looks


def by_paths(sizes, stops, share):
    """First stop at each look by enumerating every sequence of outcomes."""
    first = [0.0] * len(sizes)
    for path in itertools.product((0, 1), repeat=sizes[-1]):
        weight = share ** sum(path) * (1 - share) ** (len(path) - sum(path))
        for place, size in enumerate(sizes):
            if stops(place, size, sum(path[:size])):
                first[place] += weight
                break
    return first


def test_repeated_looks_equal_the_enumeration_of_all_sequences():
    sizes, limits, rate = [4, 7, 12], [0, None, 2], 0.3
    result = repeated_looks(sizes, limits, rate)
    first = by_paths(
        sizes, lambda place, _, k: limits[place] is not None and k <= limits[place], rate
    )
    assert result.at_each.tolist() == pytest.approx(first, abs=1e-12)
    assert result.any_look == pytest.approx(sum(first))
    assert result.last_look == pytest.approx(operating_curve(12, 2, rate))
    assert result.mean_n == pytest.approx(
        4 * first[0] + 7 * first[1] + 12 * (1 - first[0] - first[1])
    )
    upward = repeated_looks([3, 6], [3, 5], 0.6, direction="at least")
    expected = by_paths([3, 6], lambda place, _, k: k >= (3, 5)[place], 0.6)
    assert upward.at_each.tolist() == pytest.approx(expected, abs=1e-12)


def test_repeated_tests_equal_the_enumeration_of_all_sequences():
    sizes = [6, 9, 13]
    for share in (0.5, 0.8):
        expected = by_paths(sizes, lambda _, size, b: mcnemar(b, size - b).p <= 0.05, share)
        assert repeated_tests(sizes, share=share).at_each.tolist() == pytest.approx(
            expected, abs=1e-12
        )


def test_peeking_ten_times_triples_the_error_of_the_exact_test():
    looks = repeated_tests(range(10, 101, 10))
    assert looks.last_look == pytest.approx(0.0352, abs=5e-5)
    rng = np.random.default_rng(1)  # by simulation, four standard errors
    steps = rng.binomial(10, 0.5, (40_000, 10)).cumsum(axis=1)
    limits = [
        max(m for m in range(-1, n // 2) if m < 0 or mcnemar(m, n - m).p <= 0.05)
        for n in range(10, 101, 10)
    ]
    smaller = np.minimum(steps, np.arange(10, 101, 10) - steps)
    simulated = (smaller <= limits).any(axis=1).mean()
    assert looks.any_look == pytest.approx(
        simulated, abs=4 * math.sqrt(simulated * (1 - simulated) / 40_000)
    )
    assert looks.any_look < 1 - 0.95**10  # the looks are not independent


def test_looking_early_lets_bad_systems_through_more_often():
    sizes = [200, 400, 600]
    limits = [largest_k(n, 0.02) for n in sizes]
    early, once = repeated_looks(sizes, limits, 0.02), operating_curve(600, 5, 0.02)
    assert early.last_look == pytest.approx(once) and early.any_look > 1.9 * once
    assert early.mean_n < 600


@pytest.mark.parametrize("sizes", [[], [10, 10], [20, 10], [0, 10]])
def test_looks_refuse_sizes_that_do_not_increase(sizes):
    with pytest.raises(ValueError, match="sizes"):
        repeated_tests(sizes)
    with pytest.raises(ValueError):
        repeated_looks(sizes, [0] * (len(sizes) + 1), 0.1)


@pytest.mark.parametrize(
    ("probability", "times", "value"),
    [
        (0.05, 20, 0.642),
        (0.05, 10, 0.401),
        (0.0195, 3, 0.0574),
        (1, 2, 1),
        (1, 0, 0),
        (0.3, 0, 0),
        (1e-18, 5, 5e-18),
    ],
)
def test_at_least_once(probability, times, value):
    assert at_least_once(probability, times) == pytest.approx(value, rel=1e-2, abs=1e-30)


# --- designs


def test_some_of_twenty_variants_passes_a_gate_that_one_fails():
    one = operating_curve(600, 12, 0.03)
    assert one == pytest.approx(0.088, abs=5e-4)
    assert at_least_once(one, 20) == pytest.approx(0.843, abs=5e-4)


def test_attempts_alike_and_independent_or_belonging_to_the_case():
    assert within_attempts(0.02, 25) == pytest.approx(0.3965, abs=5e-5)
    assert within_attempts(0.02, 25, icc=1 / 6) == pytest.approx(0.1720, abs=5e-5)  # Beta(.1, 4.9)
    for icc in (0.0, 0.2, 1.0):
        assert within_attempts(0.02, 1, icc=icc) == pytest.approx(0.02)
    curve = within_attempts(0.02, [0, 1, 25], icc=1e-9)
    assert curve.tolist() == pytest.approx([0, 0.02, 0.3965], abs=5e-5)
    assert within_attempts(0, 9) == 0.0 and within_attempts(1, 9, icc=0.3) == 1.0


@pytest.mark.parametrize(
    ("icc", "deff", "n_eff", "coverage"), [(0.3, 3.7, 162, 0.68), (0.1, 1.9, 316, 0.84)]
)
def test_templates_and_the_coverage_of_the_interval_that_ignores_them(icc, deff, n_eff, coverage):
    result = cluster_effect(60, 10, 0.02, icc=icc)
    assert (result.deff, round(result.n_eff)) == (pytest.approx(deff), n_eff)
    assert result.coverage == pytest.approx(coverage, abs=6e-3)


def test_the_wilson_gate_passes_a_clustered_system_more_often_than_it_says():
    assert clustered_pass(60, 10, 5, 0.02, icc=0.3) == pytest.approx(0.16, abs=5e-3)
    assert clustered_pass(60, 10, 5, 0.02, icc=0) == pytest.approx(operating_curve(600, 5, 0.02))
    both = clustered_pass(60, 10, 5, 0.02, icc=0.3) + clustered_pass(
        60, 10, 6, 0.02, icc=0.3, direction="at least"
    )
    assert both == pytest.approx(1)


def test_clustered_counts_is_the_distribution_of_beta_binomial_sums():
    rng = np.random.default_rng(0)
    weights = clustered_counts(7, 4, 0.3, icc=0.25)
    assert weights.sum() == pytest.approx(1) and weights.size == 29
    mean = weights @ np.arange(29)
    variance = weights @ (np.arange(29) - mean) ** 2
    assert (mean, variance) == pytest.approx((28 * 0.3, 28 * 0.3 * 0.7 * (1 + 3 * 0.25)))
    drawn = rng.binomial(4, rng.beta(0.9, 2.1, (200_000, 7))).sum(axis=1)
    simulated = np.bincount(drawn, minlength=29) / 200_000
    assert np.abs(weights - simulated).max() < 4 * math.sqrt(0.1 / 200_000)


def test_clustered_counts_at_the_ends():
    assert clustered_counts(3, 4, 0.2, icc=1)[[0, 4, 8, 12]].tolist() == pytest.approx(
        [0.512, 0.384, 0.096, 0.008]
    )
    assert (
        clustered_counts(3, 4, 0.0, icc=0.5)[0] == 1
        and clustered_counts(3, 4, 1.0, icc=0.5)[-1] == 1
    )
    assert clustered_counts(0, 4, 0.2, icc=0.5).tolist() == [1.0]
    assert math.isnan(cluster_effect(0, 4, 0.2, icc=0.5).coverage)
