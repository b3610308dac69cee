"""Ordered strata: the trend against its definition in fractions, and the mean of strata of equal
weight by hand.

More of it, against published values and another program, stands with `gradient`, which shows these
numbers.
"""

import itertools
import math
from fractions import Fraction

import pytest
from scipy.stats import norm

from ferrite_nb.stats import ordered, sign_flip, trend
from ferrite_nb.stats.ordered import equal_weight, ordered_trend

K, N, PLACES = [1, 3, 0, 4, 2, 5], [4, 5, 3, 6, 7, 5], [1, 2, 4, 1, 2, 4]
STRATUM = ["a", "a", "a", "b", "b", "b"]


def parts_of(stratum):
    """Each cell's (k - nP)(s - mean s), P and the mean score over its stratum, and Mantel's
    variance, in fractions.
    """
    parts, variance = [Fraction(0)] * len(K), Fraction(0)
    for label in dict.fromkeys(stratum):
        at = [i for i in range(len(K)) if stratum[i] == label]
        cases, events = sum(N[i] for i in at), sum(K[i] for i in at)
        rate, middle = Fraction(events, cases), Fraction(sum(N[i] * PLACES[i] for i in at), cases)
        for i in at:
            parts[i] = (K[i] - N[i] * rate) * (PLACES[i] - middle)
        spread = sum(N[i] * (PLACES[i] - middle) ** 2 for i in at)
        variance += cases * rate * (1 - rate) * spread / (cases - 1)
    return parts, variance


def flipped(sums):
    """The share of sign patterns whose sum is at least as far from 0, one by one."""
    signs = itertools.product((1, -1), repeat=len(sums))
    totals = [
        abs(sum(sign * part for sign, part in zip(pattern, sums, strict=True))) for pattern in signs
    ]
    return sum(total >= abs(sum(sums)) for total in totals) / len(totals)


def test_without_strata_and_clusters_it_is_the_cochran_armitage_test():
    found, plain = ordered_trend(K, N, PLACES), trend(K, N, PLACES)
    assert (found.z, found.p, found.method, found.note) == (
        plain.z,
        plain.p,
        "Cochran-Armitage",
        "",
    )


def test_within_strata_it_is_mantels_sum_of_scores_and_variances():
    parts, variance = parts_of(STRATUM)
    found = ordered_trend(K, N, PLACES, stratum=STRATUM)
    assert found.z == pytest.approx(float(sum(parts)) / math.sqrt(variance), rel=1e-12)
    assert found.p == pytest.approx(2 * norm.sf(abs(found.z)), rel=1e-12)
    assert (found.method, found.note) == ("Mantel, within strata", "")


def test_one_stratum_differs_from_the_test_without_by_the_last_case_only():
    """Mantel divides by N - 1 where Cochran-Armitage divides by N."""
    within, plain = ordered_trend(K, N, PLACES, stratum=["a"] * 6), ordered_trend(K, N, PLACES)
    assert within.z == pytest.approx(plain.z * math.sqrt((sum(N) - 1) / sum(N)), rel=1e-12)


def test_a_stratum_of_one_case_or_none_adds_nothing():
    usual = ordered_trend(K, N, PLACES, stratum=STRATUM)
    more = ordered_trend(
        [*K, 1, 0, 0], [*N, 1, 0, 0], [*PLACES, 4, 1, 2], stratum=[*STRATUM, "c", "d", "d"]
    )
    assert (more.z, more.p) == pytest.approx((usual.z, usual.p), rel=1e-12)


@pytest.mark.parametrize("stratum", [None, STRATUM])
@pytest.mark.parametrize("cluster", [list("uvwxyz"), list("uuvvww"), list("uvuvwx")])
def test_over_clusters_p_is_the_share_of_all_sign_patterns(stratum, cluster):
    parts, _ = parts_of(stratum or ["all"] * 6)
    sums = [
        sum(part for part, label in zip(parts, cluster, strict=True) if label == one)
        for one in sorted({*cluster})
    ]
    found = ordered_trend(K, N, PLACES, stratum=stratum, cluster=cluster)
    assert found.p == pytest.approx(flipped(sums), abs=1e-12)
    assert found.z == ordered_trend(K, N, PLACES, stratum=stratum).z
    assert found.method == "sign-flipped scores of clusters" + (
        ", within strata" if stratum else ""
    )
    active = sum(part != 0 for part in sums)
    smallest = {6: "", 4: "0.125", 3: "0.25"}[active]
    assert found.note == (
        f"{active} clusters bear on the trend: p cannot fall below {smallest}" if smallest else ""
    )


def test_rounding_is_no_part_of_a_cluster():
    """Two clusters are alike and at the mean rate: their parts are 1e-17, and only the others bear
    on the trend.
    """
    k, n, places = [1, 1, 1, 1, 2, 0], [3, 3, 3, 3, 3, 3], [0.1, 0.3, 0.1, 0.3, 0.1, 0.3]
    found = ordered_trend(k, n, places, cluster=["a", "a", "b", "b", "c", "d"])
    assert found.note == "2 clusters bear on the trend: p cannot fall below 0.5"
    assert found.p == 0.5


def test_many_clusters_are_drawn_as_often_as_the_module_says():
    assert ordered.RESAMPLES == 10_000
    k, n, places = [0] * 30 + [1] * 30, [1] * 60, [1.0] * 30 + [2.0] * 30
    found = ordered_trend(k, n, places, cluster=list(range(60)))
    assert found.p == 1 / 10_001 == sign_flip([1] * 60, resamples=10_000).p


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([1], [2], [1, 2]), "scores must have one entry per cell, got 2 for 1 cells"),
        (([1, 1], [2, 2], ["low", "high"]), "scores must be numbers, got 'low'"),
        (
            ([1, 1], [2, 2], [1, 2], ["a"]),
            "stratum must have one label per entry, got 1 labels for 2 entries",
        ),
        (
            ([1, 1], [2, 2], [1, 2], ["a", "a"], ["u"]),
            "cluster must have one label per entry, got 1 labels for 2",
        ),
    ],
)
def test_what_does_not_fit_is_refused(arguments, words):
    k, n, scores, *labels = arguments
    k = k if len(labels) < 2 else [0, 1]
    with pytest.raises((TypeError, ValueError), match=f"^{words}"):
        ordered_trend(k, n, scores, **dict(zip(("stratum", "cluster"), labels, strict=False)))


def test_equal_weight_adds_the_squares_of_the_half_widths():
    """Rates .2 and .6: half-widths .03, .04 below and .06, .08 above, so .05 and .1, halved."""
    found = equal_weight([0.2, 0.6], [0.17, 0.56], [0.26, 0.68])
    assert (found.rate, found.low, found.high) == pytest.approx((0.4, 0.375, 0.45), abs=1e-12)


def test_equal_weight_of_dependent_strata_averages_the_limits():
    found = equal_weight([0.2, 0.6], [0.17, 0.56], [0.26, 0.68], independent=False)
    assert (found.rate, found.low, found.high) == pytest.approx((0.4, 0.365, 0.47), abs=1e-12)


def test_equal_weight_stays_inside_zero_and_one():
    assert (
        equal_weight([0.0], [-0.2], [0.5]).low == 0.0
        and equal_weight([1.0], [0.5], [1.2]).high == 1.0
    )


@pytest.mark.parametrize("independent", [True, False])
def test_equal_weight_of_a_stratum_without_limits_has_none(independent):
    found = equal_weight([0.2, 0.6], [0.1, math.nan], [0.3, math.nan], independent=independent)
    assert found.rate == pytest.approx(0.4) and math.isnan(found.low) and math.isnan(found.high)
