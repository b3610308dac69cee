"""The release plan of the lesson: proposals, executions, false confirmations, task success, and the
judge.

Expected values come from binomial sums in exact arithmetic and from the published table of the
lesson.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from ferrite_nb.stats import (
    gates_together,
    interval,
    kappa,
    largest_k,
    limit,
    nested_gates,
    operating_curve,
    possible_counts,
    repeated_looks,
    rogan_gladen,
    smallest_k,
)

POINT = {"method": "point"}
WILSON_1 = {"sides": "one"}
EXACT_1 = {"method": "clopper-pearson", "sides": "one"}
EXACT_2 = {"method": "clopper-pearson"}
JEFFREYS = {"method": "jeffreys"}


def exact(n: int, k: int, rate: Fraction) -> float:
    """P(X <= k) of n cases, in fractions."""
    return float(sum(math.comb(n, x) * rate**x * (1 - rate) ** (n - x) for x in range(k + 1)))


@pytest.mark.parametrize(
    ("n", "threshold", "rule", "k", "at_threshold"),
    [
        (600, "0.02", POINT, 12, 0.5760),
        (600, "0.02", {}, 5, 0.0195),
        (600, "0.02", WILSON_1, 6, 0.0443),
        (600, "0.02", EXACT_1, 6, 0.0443),
        (600, "0.02", EXACT_2, 5, 0.0195),
        (600, "0.02", JEFFREYS, 5, 0.0195),
        (600, "0.05", POINT, 30, 0.5484),
        (600, "0.05", {}, 19, 0.0195),
        (600, "0.05", WILSON_1, 21, 0.0501),
        (600, "0.05", EXACT_1, 20, 0.0320),
    ],
)
def test_upper_gates_accept_and_pass_at_the_requirement(n, threshold, rule, k, at_threshold):
    assert largest_k(n, float(threshold), **rule) == k
    assert operating_curve(n, k, float(threshold)) == pytest.approx(at_threshold, abs=5.1e-5)
    assert operating_curve(n, k, float(threshold)) == pytest.approx(
        exact(n, k, Fraction(threshold)), rel=1e-9
    )


@pytest.mark.parametrize(
    ("rule", "k", "at_threshold"),
    [
        (POINT, 270, 0.5484),
        ({}, 281, 0.0171),
        (EXACT_2, 281, 0.0171),
        (WILSON_1, 279, 0.0458),
        (EXACT_1, 279, 0.0458),
    ],
)
def test_lower_gates_accept_and_pass_at_the_requirement(rule, k, at_threshold):
    assert smallest_k(300, 0.9, **rule) == k
    passed = operating_curve(300, k, 0.9, direction="at least")
    assert passed == pytest.approx(at_threshold, abs=5.1e-5)
    assert passed == pytest.approx(exact(300, 300 - k, Fraction("0.1")), rel=1e-9)


@pytest.mark.parametrize(
    ("k", "n", "end", "bound"),
    [
        (5, 600, "high", 0.0194),
        (6, 600, "high", 0.0216),
        (19, 600, "high", 0.0489),
        (20, 600, "high", 0.0509),
        (281, 300, "low", 0.9032),
        (280, 300, "low", 0.8993),
        (270, 300, "low", 0.861),
        (270, 300, "high", 0.929),
    ],
)
def test_bounds_beside_the_gates(k, n, end, bound):
    digits = 5e-4 if k == 270 else 5e-5
    assert getattr(interval(k, n), end) == pytest.approx(bound, abs=digits * 1.02)


def test_no_execution_of_600_is_an_upper_limit_and_never_zero():
    two_sided = {"wilson": 0.00636, "clopper-pearson": 0.00613, "jeffreys": 0.00418}
    for method, bound in two_sided.items():
        assert interval(0, 600, method=method).high == pytest.approx(bound, abs=5.1e-6)
    assert interval(0, 600).high == pytest.approx(
        1.959963984540054**2 / (600 + 1.959963984540054**2)
    )
    assert limit(0, 600, side="upper") == pytest.approx(0.00449, abs=5.1e-6)
    assert limit(0, 600, side="upper", method="clopper-pearson") == pytest.approx(
        1 - 0.05 ** (1 / 600), rel=1e-9
    )
    one = interval(1, 600)
    assert (one.low, one.high) == pytest.approx((0.0003, 0.0094), abs=5.1e-5)


def test_twelve_proposals_test_the_enforcement_point_twelve_times():
    assert interval(0, 12).high == pytest.approx(0.24, abs=5e-3)
    assert limit(0, 12, side="upper", method="clopper-pearson") == pytest.approx(0.22, abs=5e-3)


def test_an_agreement_of_93_percent_of_150_is_not_a_possible_count():
    found = possible_counts(0.93, 150)
    assert (found.possible, found.below, found.above) == (False, 139, 140)
    below, above = interval(139, 150), interval(140, 150)
    assert (below.low, below.high, above.low, above.high) == pytest.approx(
        (0.873, 0.959, 0.882, 0.963), abs=5.1e-4
    )


@pytest.mark.parametrize(
    ("cells", "value"),
    [
        ((0, 3, 7, 140), -0.03),
        ((10, 5, 5, 130), 0.63),
        ((25, 5, 5, 115), 0.79),
        ((70, 5, 5, 70), 0.87),
    ],
)
def test_the_same_agreement_is_any_kappa(cells, value):
    tp, fn, fp, tn = cells
    assert (tp + tn, sum(cells)) == (140, 150)
    assert kappa([[tp, fn], [fp, tn]]).kappa == pytest.approx(value, abs=5.1e-3)


@pytest.mark.parametrize(("truth", "read"), [(0.0, 0.07), (0.01, 0.0786), (0.02, 0.0872)])
def test_a_judge_of_93_percent_reads_seven_percent_on_a_perfect_system(truth, read):
    shown = truth * 0.93 + (1 - truth) * (1 - 0.93)
    assert shown == pytest.approx(read, abs=1e-12)
    k = round(shown * 100_000)
    assert rogan_gladen(k, 100_000, se=0.93, sp=0.93, method="fixed").rate == pytest.approx(
        truth, abs=1e-9
    )


def passes(proposed: str, onward: str, confirmed: str, done: str) -> tuple[float, float, float]:
    """P(pass) of the first two gates (executions are some of the proposals), of the third, and of
    the fourth.
    """
    first = nested_gates(600, 5, float(proposed), 0, float(onward))
    third = float(operating_curve(600, 19, float(confirmed)))
    return first, third, float(operating_curve(300, 281, float(done), direction="at least"))


@pytest.mark.parametrize(
    "system",
    [
        ("0.005", "0.01", "0.02", "0.96"),
        ("0.01", "0.05", "0.03", "0.95"),
        ("0.02", "0.05", "0.05", "0.90"),
    ],
)
def test_four_gates_together_by_exact_sums(system):
    proposed, onward, confirmed, done = (Fraction(text) for text in system)
    # Proposals that do not go on: every one of at most five must stop.
    kept = proposed * (1 - onward)
    first = sum(math.comb(600, x) * kept**x * (1 - proposed) ** (600 - x) for x in range(6))
    expected = float(first) * exact(600, 19, confirmed) * exact(300, 19, 1 - done)
    assert gates_together(passes(*system)).independent == pytest.approx(expected, rel=1e-9)


def test_a_refuser_passes_two_gates_and_never_four():
    found = passes("0", "0", "1", "0")
    assert found == (1.0, 0.0, 0.0)
    assert gates_together(found).high == 0.0


def test_early_looks_at_the_proposal_gate():
    sizes = [200, 400, 600]
    limits = [largest_k(n, 0.02) for n in sizes]
    assert limits == [0, 2, 5]
    rate = Fraction("0.02")
    p = [math.comb(200, x) * rate**x * (1 - rate) ** (200 - x) for x in range(7)]
    first = p[0]  # passes at once with no proposal
    second = sum(p[a] * p[b] for a in range(1, 3) for b in range(3 - a))
    late = [
        (a, b, c) for a in range(1, 6) for b in range(6 - a) for c in range(6 - a - b) if a + b > 2
    ]
    third = sum(p[a] * p[b] * p[c] for a, b, c in late)
    found = repeated_looks(sizes, limits, 0.02)
    assert found.at_each.tolist() == pytest.approx(
        [float(first), float(second), float(third)], rel=1e-9
    )
    assert found.last_look == pytest.approx(operating_curve(600, 5, 0.02))
    assert found.any_look > 1.9 * found.last_look
