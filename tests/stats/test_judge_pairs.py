"""Judge error in a difference, limits of an area and of kappa, against reference values."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrite_nb.stats import (
    auc_limits,
    corrected_difference,
    kappa,
    kappa_limits,
    labels_needed,
    paired_difference,
    rogan_gladen,
)

from .reference import agrees, load

ROUTINES = ("corrected_difference", "labels_needed", "auc_limits", "kappa_limits")


@pytest.mark.parametrize("case", load("comparisons", *ROUTINES))
def test_agrees_with_the_reference(case):
    agrees(case)


cell, label = st.integers(0, 60), st.integers(0, 60)
cells = st.tuples(cell, cell, cell, cell).filter(any)
labels = st.tuples(label, label, label, label)


@given(cells, labels)
def test_shared_labels_never_change_what_newcombes_interval_says_of_zero(table, shared):
    result, plain = corrected_difference(*table, shared), paired_difference(*table)
    if math.isnan(result.low):
        assert result.note
        return
    assert (result.low <= 0 <= result.high) == (plain.low <= 0 <= plain.high)
    assert -1 <= result.low <= result.high <= 1


@given(cells, labels, labels)
def test_the_modes_changed_over_mirror_the_limits(table, first, second):
    both, b, c, neither = table
    one = corrected_difference(both, b, c, neither, first, second)
    other = corrected_difference(both, c, b, neither, second, first)
    assert (one.diff, one.low, one.high) == pytest.approx(
        (-other.diff, -other.high, -other.low), abs=1e-9, nan_ok=True
    )


def test_a_judge_without_error_leaves_the_plain_difference():
    many = (10**9, 0, 10**9, 0)
    result, plain = corrected_difference(57, 48, 0, 195, many), paired_difference(57, 48, 0, 195)
    assert (result.diff, result.low, result.high) == pytest.approx(
        (plain.diff, plain.low, plain.high), abs=1e-6
    )


def test_at_the_tipping_point_the_modes_are_equal():
    se, sp = 0.9, 0.95
    result = corrected_difference(60, 50, 10, 180, [90, 10, 95, 5])
    rate_a, rate_b = 110 / 300, 70 / 300
    true_a = (rate_a + sp - 1) / (se + sp - 1)
    assert (rate_b + sp - 1) / (result.tipping + sp - 1) == pytest.approx(true_a)


@given(labels, st.integers(0, 40), st.integers(0, 40))
def test_few_labels_are_refused_and_never_turn_the_limits_over(counts, k, more):
    """Pseudo-counts can turn the sign of Youden's J although Se + Sp > 1 in the labels."""
    result = rogan_gladen(k, k + more, *counts)
    assert math.isnan(result.raw_low) or result.raw_low <= result.raw_high
    tp, fn, tn, fp = counts
    if (tp + 1) / (tp + fn + 2) + (tn + 1) / (tn + fp + 2) <= 1:
        assert math.isnan(result.low) and result.note


def test_the_number_of_labels_is_the_smallest_that_is_enough():
    plan = [300, [0.1, 0.1, 0.1, 0.7], [0.95, 0.7], [0.97, 0.97]]
    assert labels_needed(0.1, *plan).labels == 175
    none = labels_needed(0.05, *plan)
    assert math.isnan(none.labels) and none.best_half == pytest.approx(0.0708, abs=5e-5)
    halves = [labels_needed(half, *plan).labels for half in (0.08, 0.1, 0.12, 0.2)]
    assert halves == sorted(halves, reverse=True)


@given(st.floats(0, 1), st.integers(1, 300), st.integers(1, 300))
def test_an_area_lies_inside_its_limits_which_mirror(area, positives, negatives):
    result = auc_limits(area, positives, negatives)
    assert 0 <= result.low <= area + 1e-9 and area - 1e-9 <= result.high <= 1
    other = auc_limits(1 - area, positives, negatives)
    assert (result.low, result.high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-6)
    assert result.high - result.low > 0


@given(st.integers(0, 40), st.integers(0, 20), st.integers(0, 20), st.integers(0, 40))
def test_kappa_lies_inside_limits_that_are_computable_wherever_it_is(yy, yn, ny, nn):
    plain = kappa([[yy, yn], [ny, nn]])
    result = kappa_limits(yy, yn, ny, nn)
    if plain.state != "undefined":
        assert -1 <= result.low < result.high <= 1
    if plain.state != "undefined" and yn == ny:  # one prevalence: both estimate the same kappa
        assert result.low - 1e-9 <= plain.kappa <= result.high + 1e-9
    swapped = kappa_limits(nn, ny, yn, yy)
    assert (result.low, result.high) == pytest.approx(
        (swapped.low, swapped.high), abs=1e-9, nan_ok=True
    )


def test_raters_that_differ_in_level_are_said_to():
    assert kappa_limits(20, 15, 1, 20).note and not kappa_limits(20, 8, 8, 20).note
