"""Detectors against R (pROC), counting by hand, and plain resampling."""

from __future__ import annotations

import itertools
import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrite_nb.stats import alerts, auc, auc_difference, interval, tpr_at_fpr

from .reference import agrees, load

NAN = math.nan
SMALL = (
    [0] * 10 + [1] * 8,
    [
        0.05,
        0.1,
        0.1,
        0.2,
        0.3,
        0.35,
        0.4,
        0.55,
        0.6,
        0.8,
        0.15,
        0.35,
        0.5,
        0.6,
        0.7,
        0.8,
        0.9,
        0.95,
    ],
)
TIES = ([0] * 6 + [1] * 5, [0.1, 0.1, 0.5, 0.5, 0.5, 0.9, 0.1, 0.5, 0.9, 0.9, 0.9])


@pytest.mark.parametrize("case", load("detection"))
def test_detection_reference(case):
    agrees(case)


# --- TPR at a fixed FPR


def test_tpr_printed_values():
    at_ten = tpr_at_fpr(*SMALL, 0.1, interval="wilson")
    assert (at_ten.tp, at_ten.n_pos, at_ten.fp, at_ten.threshold, at_ten.resolvable) == (
        4,
        8,
        1,
        0.7,
        True,
    )
    assert (at_ten.low, at_ten.high) == pytest.approx((0.215216, 0.784784), abs=5e-7)
    at_five = tpr_at_fpr(*SMALL, 0.05)
    assert (at_five.tp, at_five.fp, at_five.threshold, at_five.resolvable) == (2, 0, 0.9, False)
    assert (
        at_five.note
        == "1/10 is above the limit: this is the TPR at no false positive in 10 negatives"
    )
    none = tpr_at_fpr(*TIES, 0)
    assert (none.tpr, none.threshold) == (0.0, math.inf)
    assert (
        type(at_ten.tpr) is float and type(at_ten.n_pos) is int and type(at_ten.resolvable) is bool
    )


scores = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 6)), min_size=2, max_size=25)


@given(scores, st.sampled_from([0, 0.05, 0.1, 0.2, 1 / 3, 0.5, 0.9, 1]))
def test_tpr_is_the_best_count_over_all_observed_thresholds(cases, max_fpr):
    labels, values = zip(*cases, strict=True)
    n_neg, n_pos = labels.count(0), labels.count(1)
    result = tpr_at_fpr(labels, values, max_fpr, interval="wilson")
    assert (result.n_pos, result.n_neg) == (n_pos, n_neg)
    if not n_pos or not n_neg:
        assert math.isnan(result.tpr) and not result.resolvable and result.note
        return
    allowed = [
        t for t in values if sum(v >= t and not y for y, v in cases) <= max_fpr * n_neg + 1e-9
    ]
    threshold = min(allowed, default=math.inf)
    assert result.threshold == threshold
    assert result.tp == sum(v >= threshold and y for y, v in cases)
    assert result.fp == sum(v >= threshold and not y for y, v in cases)
    assert (result.tpr, result.fpr) == (result.tp / n_pos, result.fp / n_neg)


def test_allowed_false_positives_are_a_count_not_a_float_comparison():
    # 0.07 * 100 is 7.000000000000001 and 0.29 * 100 is 28.999999999999996 as floats
    labels, values = [0] * 100 + [1], [*range(100), 1000]
    for percent in range(101):
        assert tpr_at_fpr(labels, values, percent / 100, interval="wilson").fp == percent


def test_everything_is_flagged_when_every_false_positive_is_allowed():
    result = tpr_at_fpr(*SMALL, 1)
    assert (result.tpr, result.fpr, result.threshold, result.high) == (1, 1, 0.05, 1)


def test_minus_infinity_is_flagged_too_when_everything_is():
    result = tpr_at_fpr([0, 0, 1, 1], [-math.inf, 2, 1, -math.inf], 1)
    assert (result.tp, result.fp, result.threshold) == (2, 2, -math.inf)


def test_minus_infinity_is_a_score_and_order_does_not_matter():
    labels, values = [0, 0, 1, 1, 0], [-math.inf, 0.2, 0.9, -math.inf, 0.1]
    result = tpr_at_fpr(labels, values, 0.0)
    assert (result.tp, result.threshold) == (1, 0.9)
    for order in itertools.permutations(range(5)):
        assert tpr_at_fpr([labels[i] for i in order], [values[i] for i in order], 0.0) == result


def test_bootstrap_limits_are_those_of_resampling_cases_one_by_one():
    rng = np.random.default_rng(11)
    neg, pos = rng.normal(0, 1, 200).round(1), rng.normal(1.5, 1, 80).round(1)  # rounded: with ties
    labels, values = np.repeat([0, 1], [200, 80]), np.concatenate([neg, pos])
    drawn = []
    for _ in range(3000):
        some_neg, some_pos = rng.choice(neg, 200), rng.choice(pos, 80)
        found = tpr_at_fpr(labels, np.concatenate([some_neg, some_pos]), 0.05, interval="wilson")
        drawn.append(found.tpr)
    result = tpr_at_fpr(labels, values, 0.05, resamples=20_000)
    wilson = interval(result.tp, 80)
    low, high = np.quantile(drawn, [0.025, 0.975])
    expected = (min(low, wilson.low), max(high, wilson.high))
    assert (result.low, result.high) == pytest.approx(expected, abs=2 / 80)


def test_bootstrap_limits_hold_the_wilson_limits_and_are_wider_where_the_threshold_is_uncertain():
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], [300, 100])
    values = np.concatenate([rng.normal(0, 1, 300), rng.normal(2, 1, 100)])
    given_threshold, estimated = (
        tpr_at_fpr(labels, values, 0.01, interval=i) for i in ("wilson", "bootstrap")
    )
    assert estimated.low <= given_threshold.low and estimated.high >= given_threshold.high
    assert estimated.high - estimated.low > 1.3 * (given_threshold.high - given_threshold.low)


def test_bootstrap_of_a_perfect_detector_is_widened_to_the_wilson_limit():
    result = tpr_at_fpr([0] * 4 + [1] * 3, [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8], 0)
    assert (result.low, result.high) == (pytest.approx(0.4385029682449546, abs=1e-12), 1.0)


def test_bootstrap_is_the_same_twice_and_leaves_the_global_generator_alone():
    np.random.seed(1)
    before = np.random.get_state()[1].tobytes()
    assert tpr_at_fpr(*SMALL, 0.1) == tpr_at_fpr(*SMALL, 0.1, seed=0)
    assert np.random.get_state()[1].tobytes() == before


def test_bootstrap_time_does_not_grow_with_resamples_times_cases():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 200_000)
    values = rng.normal(labels, 1)
    start = time.process_time()
    tpr_at_fpr(labels, values, 0.001)
    assert time.process_time() - start < 1.0


@pytest.mark.parametrize(
    ("labels", "values", "error"),
    [
        ([0, 1], [0.1, NAN], ValueError),
        ([0, 1], [0.1, math.inf], ValueError),
        ([0, 2], [0.1, 0.2], ValueError),
        ([0, 1, 1], [0.1, 0.2], ValueError),
        ([[0, 1]], [[0.1, 0.2]], ValueError),
        (["0", "1"], [0.1, 0.2], TypeError),
        ([0, 1], ["0.1", "0.2"], TypeError),
    ],
)
def test_detection_refuses_bad_cases(labels, values, error):
    for routine in (lambda: tpr_at_fpr(labels, values, 0.1), lambda: auc(labels, values)):
        with pytest.raises(error, match=r"labels|scores"):
            routine()


@pytest.mark.parametrize(
    "options", [{"max_fpr": 5}, {"interval": "normal"}, {"resamples": 0}, {"level": 95}]
)
def test_tpr_refuses_bad_options(options):
    with pytest.raises(ValueError):
        tpr_at_fpr(*SMALL, **{"max_fpr": 0.1, **options})


# --- AUC


def test_auc_printed_values():
    small = auc(*SMALL)
    assert (small.auc, small.se, small.low, small.high) == pytest.approx(
        (0.781250, 0.113220, 0.559343, 1), abs=5e-7
    )
    ties = auc(*TIES)
    assert (ties.auc, ties.se) == pytest.approx((0.7, 0.173045), abs=5e-7)


@given(scores)
def test_auc_is_the_share_of_ordered_pairs(cases):
    pos, neg = [v for y, v in cases if y], [v for y, v in cases if not y]
    labels, values = zip(*cases, strict=True)
    result = auc(labels, values)
    if not pos or not neg:
        assert math.isnan(result.auc) and result.note
        return
    share = sum((p > n) + (p == n) / 2 for p in pos for n in neg) / len(pos) / len(neg)
    assert result.auc == pytest.approx(share, abs=1e-12)
    v10 = [sum((p > n) + (p == n) / 2 for n in neg) / len(neg) for p in pos]
    v01 = [sum((p > n) + (p == n) / 2 for p in pos) / len(pos) for n in neg]
    if len(pos) > 1 and len(neg) > 1 and (len(set(v10)) > 1 or len(set(v01)) > 1):
        variance = np.var(v10, ddof=1) / len(pos) + np.var(v01, ddof=1) / len(neg)
        assert result.se == pytest.approx(math.sqrt(variance), abs=1e-9)
    else:
        assert math.isnan(result.se) and math.isnan(result.low) and result.note


def test_auc_of_perfect_or_constant_scores_has_no_interval():
    for values, area in (([1, 2, 3, 4], 1), ([4, 3, 2, 1], 0), ([5, 5, 5, 5], 0.5)):
        result = auc([0, 0, 1, 1], values)
        assert (
            result.auc == area and math.isnan(result.se) and math.isnan(result.high) and result.note
        )


def test_auc_of_1e5_scores_takes_less_than_a_second():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 100_000)
    values = rng.normal(labels, 1)
    start = time.process_time()
    result = auc(labels, values)
    assert time.process_time() - start < 1.0
    assert result.auc == pytest.approx(0.7602499, abs=4 * result.se)  # Phi(1 / sqrt 2)


def test_auc_difference_of_a_detector_with_itself_is_not_tested():
    result = auc_difference(*SMALL, SMALL[1])
    assert result.diff == 0 and all(
        math.isnan(x) for x in (result.low, result.high, result.z, result.p)
    )


def test_auc_difference_uses_the_covariance_of_the_placements():
    # DeLong by the definition, with the 2 x 2 covariance matrices
    labels = np.array(SMALL[0])
    a, b = np.array(SMALL[1]), np.random.default_rng(2).permutation(SMALL[1])
    placements = []
    for values in (a, b):
        pos, neg = values[labels == 1], values[labels == 0]
        order = (pos[:, None] > neg) + (pos[:, None] == neg) / 2
        placements.append((order.mean(axis=1), order.mean(axis=0)))
    s10, s01 = (np.cov([placements[0][i], placements[1][i]]) for i in (0, 1))
    matrix = s10 / 8 + s01 / 10
    se = math.sqrt(matrix[0, 0] + matrix[1, 1] - 2 * matrix[0, 1])
    diff = placements[0][0].mean() - placements[1][0].mean()
    result = auc_difference(labels, a, b)
    assert (result.diff, result.z) == pytest.approx((diff, diff / se), abs=1e-12)
    assert (result.low, result.high) == pytest.approx(
        (diff - 1.959964 * se, min(1, diff + 1.959964 * se)), abs=1e-6
    )
    assert result.p == pytest.approx(
        2 * (1 - 0.5 * (1 + math.erf(abs(diff / se) / math.sqrt(2)))), abs=1e-12
    )
    swapped = auc_difference(labels, b, a)
    assert (swapped.diff, swapped.low, swapped.p) == pytest.approx(
        (-diff, -result.high, result.p), abs=1e-12
    )


def test_auc_difference_without_a_class_is_not_computable():
    assert math.isnan(auc_difference([1, 1], [1, 2], [2, 1]).diff)
    assert math.isnan(auc_difference([1, 0, 0], [1, 2, 0], [2, 1, 3]).p)
    with pytest.raises(ValueError, match="scores_b"):
        auc_difference([1, 0], [1, 2], [2, NAN])


# --- alerts


@pytest.mark.parametrize(
    ("tpr", "fpr", "precision", "true", "false"),
    [
        (0.95, 0.05, 0.018664, 19, 999),
        (0.90, 0.01, 0.082645, 18, 199.8),
        (0.80, 0.001, 0.444691, 16, 19.98),
    ],
)
def test_alerts_at_a_base_rate_of_one_in_a_thousand(tpr, fpr, precision, true, false):
    result = alerts(tpr, fpr, 0.001, 20_000)
    assert result.precision == pytest.approx(precision, abs=5e-7)
    assert (result.true_alerts, result.false_alerts) == pytest.approx((true, false))
    assert result.true_alerts + result.missed == pytest.approx(20)


@pytest.mark.parametrize(
    ("base_rate", "precision"), [(0.5, 0.9896), (0.01, 0.4897), (0.001, 0.0868)]
)
def test_precision_falls_with_the_base_rate(base_rate, precision):
    assert alerts(0.95, 0.01, base_rate, 10_000).precision == pytest.approx(precision, abs=5e-5)


def test_without_an_alert_precision_is_not_computable():
    result = alerts(0, 0, 0.001, 100)
    assert math.isnan(result.precision) and (result.true_alerts, result.false_alerts) == (0, 0)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((95, 0.05, 0.001, 100), ValueError),
        ((0.9, 0.05, 0.1, 100), None),
        ((0.9, 0.05, 0.1, -1), ValueError),
        ((0.9, 0.05, 0.1, NAN), ValueError),
        ((0.9, 0.05, 0.1, "100"), TypeError),
    ],
)
def test_alerts_refuses_percentages_and_negative_days(arguments, error):
    if error is None:
        assert alerts(*arguments).missed == pytest.approx(1)
        return
    with pytest.raises(error):
        alerts(*arguments)
