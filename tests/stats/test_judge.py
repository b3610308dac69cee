"""Judge correction against R, two public implementations of Lang-Reiczigel, and formulas written
down again.
"""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrite_nb.stats import (
    double_sample,
    garak_interval,
    interval,
    judge_validation,
    kappa,
    rogan_gladen,
)

from .reference import agrees, load

NAN = math.nan


@pytest.mark.parametrize("case", [*load("judge"), *load("kappa")])
def test_judge_reference(case):
    agrees(case)


# --- Rogan-Gladen: values


@pytest.mark.parametrize(
    ("counts", "raw", "low", "high"),
    [
        ((400, 1000, 180, 20, 140, 60), 0.166667, 0.05635, 0.26273),
        ((120, 600, 27, 3, 114, 6), 0.176471, 0.11637, 0.24085),
        ((60, 600, 75, 0, 75, 0), 0.1, 0.05657, 0.12523),
    ],
)
def test_delta_printed_values(counts, raw, low, high):
    result = rogan_gladen(*counts)
    assert (result.raw, result.low, result.high) == pytest.approx((raw, low, high), abs=6e-6)
    assert result.rate == result.raw and result.clipped == "" and result.note == ""
    assert (result.raw_low, result.raw_high) == (result.low, result.high)


def test_delta_below_the_false_positive_floor_is_clipped_and_says_so():
    result = rogan_gladen(12, 600, 27, 3, 114, 6)
    assert (result.raw, result.raw_low, result.raw_high) == pytest.approx(
        (-0.035294, -0.10154, 0.00828), abs=6e-6
    )
    assert (result.rate, result.low, result.clipped) == (0.0, 0.0, "low")
    assert result.high == result.raw_high
    assert result.note == "observed 2.0% is below the judge's false-positive floor 5.0%"


def test_delta_is_lang_and_reiczigels_formula():
    # written down once more; the specificity term is (1 - P')^2, the plus sign found in print moves
    # the limits
    k, n, tp, fn, tn, fp, z = 33, 310, 41, 9, 88, 12, 1.959963984540054
    p, se, sp = (k + z * z / 2) / (n + z * z), (tp + 1) / (tp + fn + 2), (tn + 1) / (tn + fp + 2)
    j = se + sp - 1
    rate = (p + sp - 1) / j
    a, b, c = (
        p * (1 - p) / (n + z * z),
        se * (1 - se) / (tp + fn + 2),
        sp * (1 - sp) / (tn + fp + 2),
    )
    shift = 2 * z * z * (rate * b - (1 - rate) * c)
    right = z * math.sqrt((a + rate**2 * b + (1 - rate) ** 2 * c) / j**2)
    wrong = z * math.sqrt((a + rate**2 * b + (1 + rate) ** 2 * c) / j**2)
    result = rogan_gladen(k, n, tp, fn, tn, fp)
    assert (result.raw_low, result.raw_high) == pytest.approx(
        (rate + shift - right, rate + shift + right), abs=1e-12
    )
    assert abs(result.raw_low - (rate + shift - wrong)) > 1e-3


def test_fixed_is_wilson_through_the_map_whatever_the_source_of_se_and_sp():
    ends = interval(30, 200)
    known = rogan_gladen(30, 200, se=0.9, sp=0.95, method="fixed")
    counted = rogan_gladen(30, 200, 90, 10, 95, 5, method="fixed")
    for result in (known, counted):
        expected = [(p - 0.05) / 0.85 for p in (0.15, ends.low, ends.high)]
        assert [result.raw, result.raw_low, result.raw_high] == pytest.approx(expected, abs=1e-12)
        assert (result.se, result.sp) == pytest.approx((0.9, 0.95))


@pytest.mark.parametrize(
    ("k", "rate"), [(12, 0.0109), (3, -0.0054)]
)  # Se .93, Sp .99: 1.09 % and -.54 %, the second clipped
def test_fixed_values_of_the_worked_example(k, rate):
    result = rogan_gladen(k, 600, se=0.93, sp=0.99, method="fixed")
    assert result.raw == pytest.approx(rate, abs=5e-5)
    assert result.rate == max(result.raw, 0)


def test_a_judge_with_low_sensitivity_turns_ten_percent_into_thirty_six():
    # Se 47/187 = .2513, Sp 186/189 = .9841
    result = rogan_gladen(100, 1000, 47, 140, 186, 3)
    assert (result.se, result.sp) == pytest.approx((0.2513, 0.9841), abs=5e-5)
    assert result.raw == pytest.approx(0.357, abs=5e-4)
    assert result.low < 0.357 < result.high


def test_a_perfect_system_seen_by_a_93_percent_judge_cannot_be_told_from_zero():
    for k in (36, 42, 48):
        result = rogan_gladen(k, 600, 93, 7, 93, 7)
        assert result.low == 0 and result.clipped == "low"
        assert "7.0%" in result.note  # the reason: the judge's false-positive floor


def test_bootstrap_agrees_with_the_normal_approximation_for_large_counts():
    # delta method with plain estimates: exact enough at these sizes
    k, n, tp, fn, tn, fp = 30_000, 100_000, 9_000, 1_000, 9_500, 500
    p, se, sp = 0.3, 0.9, 0.95
    rate = (p + sp - 1) / (se + sp - 1)
    variance = (
        p * 0.7 / n + rate**2 * se * 0.1 / 10_000 + (1 - rate) ** 2 * sp * 0.05 / 10_000
    ) / 0.85**2
    result = rogan_gladen(k, n, tp, fn, tn, fp, method="bootstrap")
    half = 1.96 * math.sqrt(variance)
    assert (result.low, result.high) == pytest.approx((rate - half, rate + half), abs=3e-4)
    assert rogan_gladen(k, n, tp, fn, tn, fp, method="bootstrap") == result


def test_draws_leave_the_global_generator_alone_and_follow_their_seed():
    np.random.seed(1)
    before = np.random.get_state()[1].tobytes()
    one = rogan_gladen(130, 600, 28, 3, 113, 6, method="bootstrap")
    assert one == rogan_gladen(130, 600, 28, 3, 113, 6, method="bootstrap", seed=0)
    assert one != rogan_gladen(130, 600, 28, 3, 113, 6, method="bootstrap", seed=1)
    assert double_sample(130, 600, 28, 3, 113, 6) == double_sample(130, 600, 28, 3, 113, 6)
    assert double_sample(130, 600, 28, 3, 113, 6) != double_sample(130, 600, 28, 3, 113, 6, seed=1)
    assert np.random.get_state()[1].tobytes() == before


# --- Rogan-Gladen: refusals


def nothing(*values):
    return all(math.isnan(value) for value in values)


@pytest.mark.parametrize("method", ["delta", "fixed", "bootstrap"])
def test_refuses_without_labels_of_a_class(method):
    result = rogan_gladen(10, 100, 0, 0, 50, 2, method=method)
    assert nothing(
        result.rate, result.low, result.high, result.raw, result.raw_low, result.raw_high, result.se
    )
    assert (result.observed, result.sp) == (0.1, 50 / 52)
    assert result.note == "no human-labelled positives: sensitivity is unknown"
    result = rogan_gladen(10, 100, 5, 1, 0, 0, method=method)
    assert nothing(result.sp, result.rate) and result.se == 5 / 6
    assert result.note == "no human-labelled negatives: specificity is unknown"


@pytest.mark.parametrize("method", ["delta", "fixed", "bootstrap"])
@pytest.mark.parametrize(
    "labels", [(50, 50, 50, 50), (10, 90, 20, 80), (1, 9, 9, 1), (0, 5, 5, 0), (0, 5, 0, 5)]
)
def test_refuses_a_judge_no_better_than_chance(method, labels):
    result = rogan_gladen(180, 600, *labels, method=method)
    assert nothing(
        result.rate, result.low, result.high, result.raw, result.raw_low, result.raw_high
    )
    assert result.observed == 0.3 and result.clipped == ""
    assert result.note.startswith("the judge is no better than chance")
    tp, fn, tn, fp = labels
    assert (result.se, result.sp) == (tp / (tp + fn), tn / (tn + fp))


@pytest.mark.parametrize(
    ("se", "sp"),
    [
        (0.7, 0.3),
        (0.1, 0.9),
        (0.3, 0.7),
        (0.57, 0.43),
        (0, 1),
        (0.4, 0.5),
        (0.3000000000000003, 0.7),
    ],
)
def test_refuses_se_and_sp_that_sum_to_one_also_in_floats(se, sp):
    result = rogan_gladen(100, 1000, se=se, sp=sp, method="fixed")
    assert nothing(result.rate, result.raw) and "no better than chance" in result.note


def test_does_not_refuse_a_judge_just_above_chance():
    result = rogan_gladen(300, 600, 51, 49, 50, 50)
    assert not math.isnan(result.raw) and result.clipped == "both"
    assert "every rate from 0 to 1" in result.note


@pytest.mark.parametrize("k", [0, 1])
def test_refuses_data_that_contradict_se_and_sp(k):
    result = rogan_gladen(k, 6290, se=0.95, sp=0.99, method="fixed")
    assert nothing(result.rate, result.low, result.high)
    assert result.raw < result.raw_high < 0 and (result.se, result.sp) == (0.95, 0.99)
    assert result.note.startswith("the data contradict Se and Sp") and "floor 1.0%" in result.note
    high = rogan_gladen(990, 1000, se=0.8, sp=0.9, method="fixed")
    assert nothing(high.rate) and high.raw_low > 1 and "sensitivity 80.0%" in high.note


def test_clipping_at_the_other_end():
    result = rogan_gladen(85, 100, se=0.8, sp=0.9, method="fixed")
    assert (result.rate, result.high, result.clipped) == (1.0, 1.0, "high")
    assert result.raw > 1 and result.low == result.raw_low < 1
    assert result.note == "observed 85.0% is above the judge's sensitivity 80.0%"


def test_bootstrap_with_unusable_draws_is_not_computable():
    # Se 1/100, Sp 1981/2000: in 37 % of the draws no positive is found, in others the false alarms
    # are more
    result = rogan_gladen(50, 100, 1, 99, 1981, 19, method="bootstrap")
    assert nothing(result.rate, result.low, result.high) and "half of the draws" in result.note
    assert not math.isnan(result.raw)


def test_no_judged_output_is_not_computable():
    result = rogan_gladen(0, 0, 27, 3, 114, 6)
    assert nothing(result.observed, result.rate, result.low) and result.se == 0.9 and result.note


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ((10, 100), {}),
        ((10, 100, 5, 1, 9), {}),
        ((10, 100, 5, 1, 9, 1), {"se": 0.9, "sp": 0.9}),
        ((10, 100), {"se": 0.9, "method": "fixed"}),
        ((10, 100), {"se": 0.9, "sp": 0.9}),
        ((10, 100), {"se": 0.9, "sp": 0.9, "method": "bootstrap"}),
        ((10, 100), {"se": 90, "sp": 0.9, "method": "fixed"}),
        ((10, 9, 5, 1, 9, 1), {}),
        ((10, 100, 5, 1, 9, 1), {"method": "wald"}),
        ((10, 100, 5, 1, 9, 1), {"resamples": 0}),
    ],
)
def test_rogan_gladen_refuses_arguments_that_do_not_go_together(arguments, options):
    with pytest.raises(ValueError):
        rogan_gladen(*arguments, **options)


def test_rogan_gladen_refuses_text():
    with pytest.raises(TypeError):
        rogan_gladen("10", 100, 5, 1, 9, 1)


label = st.integers(0, 80)


@given(st.integers(0, 400), label, label, label, label, st.sampled_from(["delta", "fixed"]))
def test_shown_rates_stay_inside_and_in_order(k, tp, fn, tn, fp, method):
    result = rogan_gladen(k, 400, tp, fn, tn, fp, method=method)
    if math.isnan(result.rate):
        assert result.note and nothing(result.low, result.high)
        return
    assert 0 <= result.low <= result.high <= 1 and 0 <= result.rate <= 1
    cut = ("low" if result.raw_low < 0 else "", "high" if result.raw_high > 1 else "")
    assert result.clipped == ("both" if all(cut) else "".join(cut))
    if result.clipped in ("low", "both"):
        assert result.note


# --- double sample


def test_double_sample_printed_values():
    result = double_sample(130, 600, 28, 3, 113, 6)
    assert (result.rate, result.low, result.high) == pytest.approx(
        (0.198690, 0.1566, 0.2465), abs=1e-3
    )
    assert (result.ppv, result.fom) == (28 / 34, 3 / 116)
    rare = double_sample(36, 600, 2, 0, 141, 7)
    assert (rare.rate, rare.low, rare.high) == pytest.approx((0.0133, 0.0042, 0.0408), abs=1e-3)


def test_double_sample_does_not_need_a_judge_better_than_chance():
    result = double_sample(300, 600, 10, 40, 20, 40)
    assert 0 < result.low < result.rate < result.high < 1 and result.note == ""


def test_double_sample_takes_one_half_where_nothing_was_labelled():
    no_flag = double_sample(30, 600, 0, 2, 100, 0)
    assert no_flag.rate == pytest.approx(0.5 * 0.05 + 2 / 102 * 0.95)
    assert "no labelled flagged output" in no_flag.note
    no_other = double_sample(30, 600, 5, 0, 0, 1)
    assert no_other.rate == pytest.approx(5 / 6 * 0.05 + 0.5 * 0.95)
    assert "no labelled unflagged output" in no_other.note
    neither = double_sample(30, 600, 0, 0, 0, 0)
    assert neither.rate == 0.5 and neither.note.count("one half") == 2


def test_double_sample_limits_hold_the_point_also_at_the_ends():
    clean = double_sample(0, 600, 0, 0, 150, 0)
    assert clean.rate == 0.0 and clean.low == 0.0 and clean.high > 0
    full = double_sample(600, 600, 150, 0, 0, 0)
    assert full.rate == 1.0 and full.high == 1.0 and full.low < 1


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("counts", [(2, 10, 1, 1, 3, 1), (7, 9, 5, 0, 1, 1), (6, 14, 3, 1, 4, 2)])
def test_double_sample_limits_are_those_of_jeffreys_draws_of_another_generator(counts, level):
    """Python's own Beta generator, and the three posteriors written down again."""
    k, n, tp, fn, tn, fp = counts
    draw = random.Random(1).betavariate
    rates = []
    for _ in range(20_000):
        flagged = draw(k + 0.5, n - k + 0.5)
        rates.append(flagged * draw(tp + 0.5, fp + 0.5) + (1 - flagged) * draw(fn + 0.5, tn + 0.5))
    ends = np.quantile(rates, [(1 - level) / 2, (1 + level) / 2])
    result = double_sample(k, n, tp, fn, tn, fp, level=level)
    assert (result.low, result.high) == pytest.approx(tuple(ends), abs=0.011)


def test_double_sample_without_outputs_is_not_computable():
    result = double_sample(0, 0, 0, 0, 0, 0)
    assert nothing(result.rate, result.low, result.high) and result.note


@pytest.mark.parametrize("labels", [(8, 0, 20, 3), (5, 60, 40, 1)])
def test_double_sample_refuses_labels_that_are_no_part_of_the_run(labels):
    with pytest.raises(ValueError, match="not a part of this run"):
        double_sample(10, 100, *labels)


# --- garak


@pytest.mark.parametrize(
    ("k", "n", "options", "low", "high", "used"),
    [
        (102, 256, {"mode": "bootstrap"}, 0.339844, 0.457031, "bootstrap"),
        (102, 256, {"mode": "simple"}, 0.340393, 0.459485, "simple"),
        (102, 256, {}, 0.340393, 0.459485, "simple"),
        (102, 256, {"se": 1, "sp": 1}, 0.339844, 0.457031, "bootstrap"),
        (30, 100, {"mode": "bootstrap", "se": 1, "sp": 0.75}, 0, 0.186667, "bootstrap"),
        (7, 20, {"se": 0.9, "sp": 0.9}, 0.181192, 0.567146, "simple"),
        (7, 20, {"se": 0.3, "sp": 0.3}, 0.181192, 0.567146, "simple"),
    ],
)
def test_garak_interval_values(k, n, options, low, high, used):
    result = garak_interval(k, n, **options)
    assert (result.low, result.high) == pytest.approx((low, high), abs=5e-7)
    assert result.used == used


@pytest.mark.parametrize(
    ("k", "n", "options"),
    [
        (40, 100, {"mode": "none"}),
        (7, 20, {"mode": "bootstrap"}),
        (40, 100, {"se": 0.4, "sp": 0.5}),
        (40, 100, {"mode": "bootstrap", "se": 0.7, "sp": 0.3}),
        (0, 0, {}),
    ],
)
def test_garak_interval_not_computable(k, n, options):
    result = garak_interval(k, n, **options)
    assert nothing(result.low, result.high) and result.used == "none" and result.note


def test_garak_interval_is_what_resampling_gives():
    rng = np.random.default_rng(0)
    outcomes = np.repeat([1, 0], [24, 56])
    means = outcomes[rng.integers(0, 80, (20_000, 80))].mean(axis=1)
    drawn = np.clip((np.quantile(means, [0.025, 0.975]) + 0.95 - 1) / (0.9 + 0.95 - 1), 0, 1)
    result = garak_interval(24, 80, mode="bootstrap", se=0.9, sp=0.95)
    assert (result.low, result.high) == pytest.approx(tuple(drawn), abs=1 / 80 / 0.85 + 1e-9)


@pytest.mark.parametrize(
    "options", [{"se": 0.9}, {"sp": 0.9}, {"mode": "exact"}, {"se": 1.2, "sp": 0.9}]
)
def test_garak_interval_refuses(options):
    with pytest.raises(ValueError):
        garak_interval(30, 100, **options)


# --- validation


def test_judge_validation_printed_values():
    result = judge_validation(24, 3, 46, 2)
    shown = (result.se, result.se_low, result.se_high, result.sp, result.sp_low, result.sp_high)
    assert shown == pytest.approx(
        (0.888889, 0.719422, 0.961480, 0.958333, 0.860243, 0.988498), abs=5e-7
    )
    agreement = (result.agreement, result.agreement_low, result.agreement_high)
    assert agreement == pytest.approx((0.933333, 0.853249, 0.971190), abs=5e-7)
    assert (result.constant_judge, result.prevalence, result.n) == (0.64, 0.36, 75)
    assert type(result.se) is float and type(result.n) is int


def test_equal_agreement_can_hide_an_unequal_sensitivity():
    base, defended = judge_validation(24, 2, 46, 3), judge_validation(9, 5, 61, 0)
    assert base.agreement == pytest.approx(defended.agreement) == pytest.approx(0.9333, abs=5e-5)
    assert (base.se, defended.se) == pytest.approx((0.92, 0.64), abs=5e-3)
    assert (base.kappa, defended.kappa) == pytest.approx((0.854, 0.745), abs=5e-4)


@pytest.mark.parametrize(
    ("positives", "value"), [(3, -0.03), (15, 0.63), (30, 0.79), (75, 0.87)]
)  # 140 of 150 agree, the ten errors split evenly
def test_kappa_depends_on_prevalence_at_the_same_agreement(positives, value):
    fn = min(5, positives)
    fp = 10 - fn
    result = judge_validation(positives - fn, fn, 150 - positives - fp, fp)
    assert result.agreement == pytest.approx(140 / 150)
    assert result.kappa == pytest.approx(value, abs=6e-3)


def test_judge_validation_names_what_is_unknown():
    no_positive = judge_validation(0, 0, 46, 2)
    assert (
        nothing(no_positive.se, no_positive.se_low, no_positive.kappa) and no_positive.sp == 46 / 48
    )
    assert "sensitivity is unknown" in no_positive.note and no_positive.kappa_state == "undefined"
    perfect = judge_validation(20, 0, 20, 0)
    assert perfect.kappa == 1 and nothing(perfect.kappa_low, perfect.kappa_high)
    assert perfect.kappa_state == "no interval" and perfect.se_high == 1.0
    empty = judge_validation(0, 0, 0, 0)
    assert nothing(empty.agreement, empty.prevalence, empty.constant_judge) and empty.n == 0


def test_agreement_of_five_equal_labels_is_kept_though_kappa_is_not_computable():
    result = judge_validation(5, 0, 0, 0)
    assert result.agreement == 1 and result.agreement_low == pytest.approx(0.5655, abs=5e-5)
    assert result.kappa_state == "undefined" and math.isnan(result.kappa)


# --- kappa


@pytest.mark.parametrize(
    ("table", "value", "low", "high"),
    [
        ([[40, 5], [7, 48]], 0.758551, 0.630528, 0.886574),
        ([[20, 5], [10, 15]], 0.4, 0.151092, 0.648908),
        ([[2, 1], [0, 1]], 0.5, -0.234986, 1),
    ],
)
def test_kappa_printed_values(table, value, low, high):
    result = kappa(table)
    assert (result.kappa, result.low, result.high) == pytest.approx((value, low, high), abs=5e-7)
    assert result.state == "ok"


def test_kappa_at_another_level_uses_the_same_standard_error():
    result = kappa([[20, 5], [10, 15]], level=0.9)
    half = 1.6448536269514722 * 0.12699606293110033
    assert (result.low, result.high) == pytest.approx((0.4 - half, 0.4 + half), abs=1e-12)


@pytest.mark.parametrize(
    "table",
    [
        [[0, 0], [0, 0]],
        [[100, 0], [0, 0]],
        [[0, 7], [0, 0]],
        [[60, 29], [0, 0]],
        [[60, 0], [29, 0]],
        [[9]],
    ],
)
def test_kappa_of_a_constant_rater_is_undefined(table):
    result = kappa(table)
    assert result.state == "undefined" and result.note
    assert nothing(result.kappa, result.se, result.low, result.high)


def test_kappa_of_perfect_agreement_has_no_interval():
    for table in ([[5, 0], [0, 7]], [[3, 0, 0], [0, 4, 0], [0, 0, 5]], [[0, 4], [4, 0]]):
        result = kappa(table)
        assert (result.state, result.se) == ("no interval", 0.0)
        assert result.kappa in (1.0, -1.0) and nothing(result.low, result.high)


def test_kappa_of_an_unused_category_is_that_of_the_others():
    wide = kappa([[20, 5, 0], [10, 15, 0], [0, 0, 0]])
    assert (wide.kappa, wide.se) == pytest.approx((0.4, 0.126996), abs=1e-6)


@pytest.mark.parametrize("table", [[[1, 2]], [1, 2], [[1, 2], [3, -1]], [[1.5, 2], [3, 1]], []])
def test_kappa_refuses_what_is_no_square_table_of_counts(table):
    with pytest.raises(ValueError):
        kappa(table)
