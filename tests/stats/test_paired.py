"""Paired differences by unit, against reference values, enumeration and invariants."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrite_nb.stats import (
    holm,
    mcnemar,
    missing_state,
    paired_crossed,
    paired_difference,
    paired_units,
    sign_flip,
)

from .reference import agrees, load

ROUTINES = ("paired_units", "paired_crossed", "missing_state")


@pytest.mark.parametrize("case", load("comparisons", *ROUTINES))
def test_agrees_with_the_reference(case):
    agrees(case)


rates = st.sampled_from([0.0, 1 / 3, 0.5, 1.0])
rows = st.lists(st.tuples(rates, rates, st.integers(0, 5), st.integers(0, 3)), min_size=1)
LEVELS = st.sampled_from([0.8, 0.95, 0.99])


def decided(result, level):
    """The interval and the test say the same about 0."""
    if result.p <= 1 - level:
        assert not result.low < 0 < result.high
    else:
        assert result.low <= 0 <= result.high


def holds(result, level):
    if math.isnan(result.low):
        assert math.isnan(result.high) and result.note
        return
    assert (
        -1 <= result.low <= result.diff + 1e-12 and result.diff <= result.high + 1e-12 <= 1 + 1e-9
    )
    assert result.low < result.high and 0 < result.p <= 1
    decided(result, level)


@given(rows, LEVELS)
def test_estimate_inside_and_p_and_interval_never_contradict(listed, level):
    a, b, first, second = zip(*listed, strict=True)
    holds(paired_units(a, b, first, level=level), level)
    holds(paired_units(a, b, range(len(a)), runs=2 * len(a), level=level), level)
    holds(paired_crossed(a, b, first, second, level=level), level)
    holds(paired_crossed(a, b, first, second, strata=[f % 2 for f in first], level=level), level)


@given(rows)
def test_the_modes_changed_over_mirror_the_interval(listed):
    a, b, first, second = zip(*listed, strict=True)
    for one, other in (
        (paired_units(a, b, first), paired_units(b, a, first)),
        (paired_crossed(a, b, first, second), paired_crossed(b, a, first, second)),
    ):
        ends = (one.diff, one.low, one.high, one.p, one.n_eff)
        mirrored = (-other.diff, -other.high, -other.low, other.p, other.n_eff)
        assert ends == pytest.approx(mirrored, abs=1e-12, nan_ok=True)


@given(rows, st.randoms())
def test_the_order_of_cases_and_the_names_of_units_do_not_matter(listed, random):
    shuffled = list(listed)
    random.shuffle(shuffled)
    (a, b, first, second), (c, d, third, fourth) = (
        zip(*part, strict=True) for part in (listed, shuffled)
    )
    named = [f"unit {9 - label}" for label in third]
    for one, other in (
        (paired_units(a, b, first), paired_units(c, d, named)),
        (paired_crossed(a, b, first, second), paired_crossed(c, d, named, fourth)),
    ):
        for field in ("diff", "low", "high", "p", "floor", "n_eff", "carried"):
            mine, its = getattr(one, field), getattr(other, field)
            assert mine == pytest.approx(its, abs=1e-9, nan_ok=True), field


@given(rows)
def test_two_keys_are_never_narrower_than_one(listed):
    a, b, first, second = zip(*listed, strict=True)
    both = paired_crossed(a, b, first, second)
    for key in (first, second):
        alone = paired_units(a, b, key)
        assert both.p >= alone.p
        # where the test of both keys refuses 0 it may cut one end there; one key's test did not
        if not math.isnan(both.low) and not both.carried and not alone.carried:
            assert both.low <= alone.low + 1e-12 and both.high >= alone.high - 1e-12


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=18))
def test_one_run_and_one_case_per_unit_hold_the_plain_interval_and_have_mcnemars_p(pairs):
    a, b = np.array(pairs).T
    result = paired_units(a, b, range(len(a)))
    cells = [int((x & y).sum()) for x, y in ((a, b), (a, 1 - b), (1 - a, b), (1 - a, 1 - b))]
    plain = paired_difference(*cells)
    assert result.p == pytest.approx(mcnemar(cells[1], cells[2]).p, abs=1e-12)
    if not result.carried:
        assert result.low <= plain.low + 1e-12 and result.high >= plain.high - 1e-12
    assert result.differing == cells[1] + cells[2]


def subset_ends(sums, sizes, level):
    """Percentiles of the means over all subsets of units, one by one."""
    means = []
    for chosen in itertools.product((0, 1), repeat=len(sums)):
        if any(chosen):
            means.append(np.dot(chosen, sums) / np.dot(chosen, sizes))
    place = math.floor((1 - level) / 2 * 2 ** len(sums) + 1e-9)
    means.sort()
    return means[place - 1], means[-place]


def test_the_interval_holds_the_means_of_all_subsets():
    a = [1, 1, 0, 1, 1, 1, 0, 0, 1, 1, 0, 1, 1, 0, 1, 1]
    b = [0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0]
    unit = [0, 0, 0, 1, 1, 2, 3, 3, 3, 4, 5, 5, 6, 6, 7, 7]
    d = np.subtract(a, b)
    sums = [d[np.equal(unit, u)].sum() for u in range(8)]
    sizes = [unit.count(u) for u in range(8)]
    low, high = subset_ends(sums, sizes, 0.95)
    result = paired_units(a, b, unit)
    assert result.low <= max(low, 0.0) and result.high >= high
    assert result.p == sign_flip(sums).p


def test_the_floor_counts_units_that_differ_and_not_cases():
    a, b = [1] * 60 + [0] * 40, [0] * 100
    unit = list(range(5)) * 20
    result = paired_units(a, b, unit)
    assert (result.units, result.differing, result.floor, result.p) == (5, 5, 0.0625, 0.0625)
    assert result.low == 0.0 and result.carried  # the test does not exclude 0, so neither do limits
    none = paired_units([1, 0, 1], [1, 0, 1], [1, 2, 3])
    assert (none.differing, none.floor, none.p) == (0, 1.0, 1.0)


def test_repeats_test_the_mean_and_not_the_directions():
    """Off breaks each of 200 cases with .1, On breaks 20 always: the means are equal."""
    off, on = [0.1] * 200, [1.0] * 20 + [0.0] * 180
    result = paired_units(off, on, range(200), runs=1000)
    assert result.diff == pytest.approx(0, abs=1e-12) and result.p > 0.9
    assert 0.04 < result.high < 0.055 and result.low == pytest.approx(-result.high)


def test_a_difference_that_hangs_on_few_cases_says_on_how_many():
    a, b = [1.0] * 3 + [0.2] * 97, [0.0] * 3 + [0.1] * 97
    assert paired_units(a, b, range(100), runs=500).hangs_on == 2
    assert paired_units([0.4] * 100, [0.2] * 100, range(100), runs=500).hangs_on == 0
    assert paired_units(a, b, range(100)).hangs_on == 0  # run once there is nothing to say


def test_many_units_are_drawn_with_the_same_numbers_each_time():
    random = np.random.default_rng(4)
    a, b = random.integers(0, 2, (2, 300))
    state = np.random.get_state()[1].copy()
    one, other = (paired_units(a, b, np.arange(300) // 5) for _ in range(2))
    assert one == other and one.drawn and (np.random.get_state()[1] == state).all()
    assert not paired_units(a[:30], b[:30], np.arange(30) // 3).drawn


def test_fixed_strata_take_the_spread_within_them():
    """Suites with opposite effects: pooled, their distance is spread; as strata it is none."""
    suite = np.repeat([0, 1], 60)
    first, second = np.arange(120) // 6, suite * 6 + np.tile(np.arange(6), 20)
    a, b = np.where(suite == 0, 1, 0), np.where(suite == 0, 0, 1)
    a[::7], b[::7] = 0, 0
    pooled, fixed = (paired_crossed(a, b, first, second, strata=s) for s in (None, suite))
    assert fixed.n_eff > pooled.n_eff and fixed.high - fixed.low < pooled.high - pooled.low


def test_a_stratum_with_one_unit_of_a_key_has_no_spread():
    result = paired_crossed([1, 0, 1], [0, 0, 1], [1, 2, 3], [1, 2, 3], strata=[1, 1, 2])
    assert math.isnan(result.low) and math.isnan(result.p)
    assert result.note == "a stratum has one unit of a key"


def test_labels_and_rates_that_do_not_fit_are_refused():
    for bad in ([0, 1.5], [0, -0.1]):
        with pytest.raises(ValueError, match="rates from 0 to 1"):
            paired_units(bad, [0, 1], [1, 2])
    with pytest.raises(ValueError, match="one rate per case"):
        paired_units([0, 1], [0], [1, 2])
    with pytest.raises(ValueError, match="unit must not be missing"):
        paired_units([0, 1], [0, 1], [1, None])
    with pytest.raises(ValueError, match="level"):
        paired_units([0, 1], [0, 1], [1, 2], level=95)


outcome = st.sampled_from([0, 1, 0, 1, None])
cases = st.lists(st.tuples(outcome, outcome, st.integers(0, 3)), min_size=1, max_size=9)


@given(cases, st.booleans(), st.lists(st.floats(0, 1), max_size=3))
def test_the_state_is_that_of_every_completion(listed, clustered, others):
    """The two ends stand for all completions: each decides as they say it may."""
    a, b, labels = zip(*listed, strict=True)
    if sum(x is None for x in (*a, *b)) > 6:
        return
    unit = labels if clustered else None
    result = missing_state(a, b, unit=unit, others=others)

    def decision(first, second, kept):
        d = np.subtract(first, second)
        if clustered:
            p = sign_flip([float(d[np.equal(kept, u)].sum()) for u in set(kept)]).p
        else:
            p = mcnemar(int((d > 0).sum()), int((d < 0).sum())).p
        adjusted = holm([p, *others]).adjusted[0]
        return int(np.sign(d.sum())) if adjusted <= 0.05 else 0

    known = [row for row in listed if None not in row[:2]]
    mine = decision(*zip(*known, strict=True)) if known else 0
    open_places = [
        (row, mode) for row in range(len(a)) for mode in (0, 1) if listed[row][mode] is None
    ]
    possible = set()
    for filling in itertools.product((0, 1), repeat=len(open_places)):
        full = [list(row[:2]) for row in listed]
        for (row, mode), value in zip(open_places, filling, strict=True):
            full[row][mode] = value
        possible.add(decision(*zip(*full, strict=True), labels))
    expected = "decides nothing"
    if possible != {mine}:
        expected = "could undo" if mine else "could bring"
    assert result.state == expected
    assert result.floor <= result.ceiling
