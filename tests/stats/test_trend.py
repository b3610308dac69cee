"""Tests over modes, strata, ordered groups and seeds, against R, scipy, statsmodels and arithmetic
by hand.
"""

import dataclasses
import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, chi2_contingency, norm
from statsmodels.stats.contingency_tables import StratifiedTable

from ferrite_nb.stats import cmh, cochrans_q, seed_spread, trend
from ferrite_nb.stats.trend import CochransQ, Trend

from .reference import agrees, caught, load

CASES = {
    routine: [case.values[0]["inputs"] for case in load("trend", routine)]
    for routine in ("cochrans_q", "cmh", "trend")
}
TWELVE = CASES["cochrans_q"][0]["table"]
PENICILLIN, BERKELEY = CASES["cmh"][0]["tables"], CASES["cmh"][1]["tables"]


@pytest.mark.parametrize("case", load("trend"))
def test_agrees_with_the_reference(case):
    agrees(case)


def test_cochrans_q_of_twelve_cases():
    result = cochrans_q(TWELVE)
    assert (result.q, result.df, result.note) == (pytest.approx(7.75), 2, "")
    assert result.p == pytest.approx(0.020754, abs=5.1e-7)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=40))
def test_cochrans_q_of_two_modes_is_mcnemars_chi_square(rows):
    b, c = sum(one > other for one, other in rows), sum(one < other for one, other in rows)
    result = cochrans_q(rows)
    if b + c == 0:
        assert math.isnan(result.q) and math.isnan(result.p)
        assert result.note == "every case has the same outcome in all modes"
    else:
        assert result.q == pytest.approx((b - c) ** 2 / (b + c))
        assert result.p == pytest.approx(chi2.sf(result.q, 1))


def test_cochrans_q_of_all_zeros_and_of_one_row():
    assert math.isnan(cochrans_q([[0, 0, 0]] * 4).q) and math.isnan(cochrans_q([[1, 1, 1]] * 4).q)
    one = cochrans_q([[1, 0, 0]])
    assert one.q == pytest.approx(2.0) and one.df == 2  # 2·(3·1 - 1)/(3·1 - 1)
    none = cochrans_q(np.zeros((0, 3), dtype=int))
    assert math.isnan(none.q) and none.df == 2 and none.note


def test_rows_that_never_differ_say_nothing():
    assert cochrans_q([*TWELVE, [1, 1, 1], [0, 0, 0]]) == cochrans_q(TWELVE)


def test_cochrans_q_keeps_small_p_values():
    result = cochrans_q([[1, 0]] * 100)
    assert result.q == pytest.approx(100) and result.p == pytest.approx(1.5239706e-23, rel=1e-7)


@pytest.mark.parametrize(
    ("table", "error"),
    [
        ([[0, 1, 2]], ValueError),
        ([[0, 0.5]], ValueError),
        ([[0, math.nan]], ValueError),
        ([[True, False]], ValueError),
        ([["0", "1"]], TypeError),
        ([[0], [1]], ValueError),
        ([0, 1], ValueError),
        ([], ValueError),
    ],
)
def test_cochrans_q_takes_zeros_and_ones_only(table, error):
    with pytest.raises(error, match="table"):
        cochrans_q(table)


def test_penicillin_data():
    # R: mantelhaen.test(Rabbits, correct = FALSE); correct = TRUE gives X² 3.9286, p .04747 (its
    # help page)
    result = cmh(PENICILLIN)
    assert (result.strata_used, result.strata_dropped, result.note) == (3, 2, "")
    assert result.odds_ratio == pytest.approx(7)
    assert (result.low, result.high) == pytest.approx((1.026713, 47.725133), abs=5.1e-7)
    assert (result.chi2, result.p) == pytest.approx((5.657143, 0.017384), abs=5.1e-7)
    corrected = cmh(PENICILLIN, correction=True)
    assert corrected.chi2 == pytest.approx(3.9286, abs=5.1e-5) and corrected.p == pytest.approx(
        0.04747, abs=5.1e-6
    )
    assert corrected.odds_ratio == result.odds_ratio


def test_berkeley_admissions():
    result = cmh(BERKELEY)
    assert result.odds_ratio == pytest.approx(0.904697, abs=5.1e-7)
    assert (result.low, result.high) == pytest.approx((0.771907, 1.060330), abs=5.1e-7)
    assert result.p == pytest.approx(0.216924, abs=5.1e-7)
    theirs = StratifiedTable([np.array(stratum) for stratum in BERKELEY]).test_equal_odds()
    assert result.homogeneity_chi2 == pytest.approx(theirs.statistic, rel=1e-9)
    assert result.homogeneity_p == pytest.approx(theirs.pvalue, rel=1e-9)


def test_exchanging_the_modes_inverts_the_odds_ratio():
    one, other = cmh(BERKELEY), cmh([[second, first] for first, second in BERKELEY])
    assert other.odds_ratio == pytest.approx(1 / one.odds_ratio) and other.low == pytest.approx(
        1 / one.high
    )
    assert (other.chi2, other.homogeneity_chi2) == pytest.approx((one.chi2, one.homogeneity_chi2))


def test_homogeneity_at_an_odds_ratio_of_exactly_one():
    # by hand: expected cells 5, variance 1 / (4/5) = 1.25, so 2 · (6 - 5)²/1.25; the general
    # quadratic is 0/0 here
    result = cmh([[[6, 4], [4, 6]], [[4, 6], [6, 4]]])
    assert result.odds_ratio == pytest.approx(1) and result.chi2 == pytest.approx(0, abs=1e-12)
    assert result.homogeneity_chi2 == pytest.approx(1.6) and result.homogeneity_p == pytest.approx(
        chi2.sf(1.6, 1)
    )


@given(st.lists(st.lists(st.integers(1, 40), min_size=4, max_size=4), min_size=2, max_size=5))
def test_expected_cells_have_the_common_odds_ratio(cells):
    tables = np.array(cells).reshape(-1, 2, 2)
    result = cmh(tables)
    # solve each expected cell by bisection instead of the quadratic
    total = 0.0
    for (a, b), (c, d) in tables.tolist():
        row, column, rest = a + b, a + c, d - a
        low, high = max(0, -rest), min(row, column)
        for _ in range(200):
            x = (low + high) / 2
            ratio_too_large = x * (rest + x) > result.odds_ratio * (row - x) * (column - x)
            low, high = (low, x) if ratio_too_large else (x, high)
        total += (a - x) ** 2 * (1 / x + 1 / (row - x) + 1 / (column - x) + 1 / (rest + x))
    assert result.homogeneity_chi2 == pytest.approx(total, rel=1e-6, abs=1e-9)


def test_homogeneity_of_very_unequal_cells_in_fifty_digits():
    tables = [[[10**6, 10**9], [10**9, 1]], [[10**6, 10**9], [10**9, 3]]]
    with localcontext(prec=50):
        odds = sum(Decimal(a * d) / (a + b + c + d) for (a, b), (c, d) in tables)
        odds /= sum(Decimal(b * c) / (a + b + c + d) for (a, b), (c, d) in tables)
        total = Decimal(0)
        for (a, b), (c, d) in tables:
            row, column, rest = a + b, a + c, d - a
            middle = odds * (row + column) + rest
            x = ((middle**2 + 4 * (1 - odds) * odds * row * column).sqrt() - middle) / (
                2 * (1 - odds)
            )
            total += (a - x) ** 2 * (1 / x + 1 / (row - x) + 1 / (column - x) + 1 / (rest + x))
    result = cmh(tables)
    assert result.odds_ratio == pytest.approx(float(odds), rel=1e-12)
    assert result.homogeneity_chi2 == pytest.approx(float(total), rel=1e-8)


def test_p_values_do_not_vanish():
    result = cmh([[[900, 100], [500, 500]], [[800, 200], [400, 600]]])
    assert result.chi2 > 300 and 0 < result.p < 1e-60


def test_the_correction_goes_only_as_far_as_the_difference():
    balanced = [[[5, 5], [5, 5]], [[3, 4], [3, 4]]]
    assert cmh(balanced, correction=True).chi2 == 0.0 and cmh(balanced, correction=True).p == 1.0
    close = [[[6, 5], [5, 5]]]  # the difference is .238, less than one half
    assert cmh(close).chi2 > 0 and cmh(close, correction=True).chi2 == 0.0


@pytest.mark.parametrize(
    ("tables", "odds"),
    [([[[0, 5], [3, 4]], [[0, 6], [2, 5]]], 0.0), ([[[5, 0], [3, 4]], [[6, 0], [2, 5]]], math.inf)],
)
def test_an_odds_ratio_of_zero_or_infinity_has_no_interval(tables, odds):
    result = cmh(tables)
    assert result.odds_ratio == odds and result.note
    assert result.chi2 > 0 and 0 < result.p < 1
    missing = (result.low, result.high, result.homogeneity_chi2, result.homogeneity_p)
    assert all(map(math.isnan, missing))


def test_strata_without_information_are_dropped():
    useless = [
        [[1, 0], [0, 0]],
        [[0, 0], [3, 4]],
        [[0, 5], [0, 6]],
        [[5, 0], [6, 0]],
        [[0, 0], [0, 0]],
    ]
    result, alone = cmh([*BERKELEY, *useless]), cmh(BERKELEY)
    assert (result.strata_used, result.strata_dropped) == (6, 5)
    assert dataclasses.replace(result, strata_dropped=0) == alone
    one = cmh([BERKELEY[0], *useless])
    assert (
        one.strata_used == 1
        and math.isnan(one.homogeneity_chi2)
        and math.isnan(one.homogeneity_p)
        and one.note
    )
    assert one.low < one.odds_ratio < one.high
    for nothing in (useless, []):
        none = cmh(nothing)
        assert none.strata_used == 0 and none.strata_dropped == len(nothing) and none.note
        assert all(
            map(
                math.isnan,
                (none.odds_ratio, none.low, none.high, none.chi2, none.p, none.homogeneity_p),
            )
        )


def test_cmh_takes_two_by_two_tables_of_counts():
    for tables in (
        [[1, 2], [3, 4]],
        [[[1, 2, 3], [4, 5, 6]]],
        [[[1, -2], [3, 4]]],
        [[[1, 2.5], [3, 4]]],
    ):
        with pytest.raises(ValueError, match="tables"):
            cmh(tables)
    with pytest.raises(TypeError, match="tables"):
        cmh([[["1", 2], [3, 4]]])


def test_known_trends():
    rising = trend([2, 5, 9, 14], [40] * 4)
    assert rising.z == pytest.approx(3.623287, abs=5.1e-7) and rising.p == pytest.approx(
        0.00029088, abs=5.1e-9
    )
    alcohol = trend(**CASES["trend"][3])
    assert alcohol.z == pytest.approx(2.563227, abs=5.1e-7) and alcohol.p == pytest.approx(
        0.010370, abs=5.1e-7
    )


@pytest.mark.parametrize("n", [[20, 20, 20], [7 * 3, 13 * 3, 29 * 3]])
def test_a_flat_gradient_has_z_exactly_zero(n):
    result = trend([cases // 3 for cases in n] if n[0] % 3 == 0 else [5, 5, 5], n)
    assert (result.z, result.p, result.p_increasing, result.note) == (0.0, 1.0, 0.5, "")


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=2, max_size=6),
    st.floats(0.1, 10),
    st.floats(-5, 5),
)
def test_trend_depends_only_on_the_spacing_of_scores_and_turns_with_their_order(
    groups, scale, shift
):
    k, n = [min(pair) for pair in groups], [max(pair) for pair in groups]
    result = trend(k, n)
    if math.isnan(result.z):
        assert result.note
        return
    scores = [shift + scale * place for place in range(len(k))]
    assert trend(k, n, scores).z == pytest.approx(result.z, abs=1e-6)
    turned = trend(k[::-1], n[::-1])
    assert turned.z == pytest.approx(-result.z, abs=1e-9)
    assert turned.p_increasing == pytest.approx(1 - result.p_increasing, abs=1e-9)
    assert result.p == pytest.approx(2 * min(result.p_increasing, turned.p_increasing), abs=1e-9)


def test_the_trend_of_two_groups_is_the_pooled_z_test():
    chi_square = chi2_contingency([[12, 28], [25, 15]], correction=False)
    result = trend([12, 25], [40, 40])
    assert result.z**2 == pytest.approx(chi_square.statistic) and result.p == pytest.approx(
        chi_square.pvalue
    )
    assert result.z > 0 and result.p_increasing == pytest.approx(norm.sf(result.z))


def test_trend_not_computable():
    for k, n in (
        ([0, 0, 0], [20] * 3),
        ([20] * 3, [20] * 3),
        ([3], [20]),
        ([3, 0], [20, 0]),
        ([], []),
        ([0, 0], [0, 0]),
    ):
        result = trend(k, n)
        assert result.note and all(map(math.isnan, (result.z, result.p, result.p_increasing)))
    assert trend([3, 5], [20, 20], [1, 1]).note
    assert trend([2, 0, 5], [20, 0, 20]).z == pytest.approx(
        trend([2, 5], [20, 20]).z
    )  # an empty group says nothing


def test_trend_refuses_scores_that_do_not_fit():
    with pytest.raises(
        ValueError, match="scores must have one entry per group, got 2 for 3 groups"
    ):
        trend([1, 2, 3], [9, 9, 9], [1, 2])
    with pytest.raises(ValueError, match="scores must be finite"):
        trend([1, 2], [9, 9], [1, math.nan])
    with pytest.raises(TypeError, match="scores"):
        trend([1, 2], [9, 9], ["exact", "open"])
    with pytest.raises(ValueError, match="k and n must be lists of one length"):
        trend([1, 2], [9])


def test_spread_over_five_seeds():
    result = seed_spread([22, 26, 27, 21, 29], [200] * 5)
    assert (result.mean, result.df, result.note) == (0.125, 4, "")
    assert (result.sd, result.binomial_sd) == pytest.approx((0.016956, 0.023385), abs=5.1e-7)
    assert (result.chi2, result.p) == pytest.approx((2.102857, 0.716847), abs=5.1e-7)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=2, max_size=8))
def test_seed_spread_is_the_chi_square_test_of_homogeneity(seeds):
    k, n = [min(pair) for pair in seeds], [max(pair) for pair in seeds]
    result = seed_spread(k, n)
    table = [(a, b - a) for a, b in zip(k, n, strict=True) if b]
    if len(table) < 2 or sum(k) in (0, sum(n)):
        assert math.isnan(result.chi2) and math.isnan(result.p) and result.note
        return
    theirs = chi2_contingency(table, correction=False)
    assert (result.chi2, result.df, result.p) == pytest.approx(
        (theirs.statistic, theirs.dof, theirs.pvalue), abs=1e-9
    )


def test_chance_spread_of_seeds_of_unequal_size():
    result = seed_spread([3, 4], [20, 80])
    assert result.binomial_sd == pytest.approx(math.sqrt(0.07 * 0.93 * (1 / 20 + 1 / 80) / 2))
    assert result.mean == pytest.approx(0.1) and result.sd == pytest.approx(0.1 / math.sqrt(2))


def test_seed_spread_edges():
    one = seed_spread([3], [20])
    assert (
        one.mean == 0.15
        and math.isnan(one.sd)
        and one.df == 0
        and math.isnan(one.chi2)
        and "one seed" in one.note
    )
    same = seed_spread([0, 0, 0], [20] * 3)
    assert (
        (same.mean, same.sd, same.binomial_sd) == (0.0, 0.0, 0.0)
        and math.isnan(same.p)
        and same.note
    )
    none = seed_spread([], [])
    assert math.isnan(none.mean) and none.note
    assert seed_spread([3, 4, 0], [20, 20, 0]) == seed_spread([3, 4], [20, 20])


def test_errors_in_the_formulas_are_caught(monkeypatch):
    def divided_by_n_less_one(k, n, scores=None):
        right = trend(k, n, scores)
        z = right.z * math.sqrt((sum(n) - 1) / sum(n))
        return Trend(z, float(2 * norm.sf(abs(z))), float(norm.sf(z)), right.note)

    def falling_for_rising(k, n, scores=None):
        right = trend(k, n, scores)
        return dataclasses.replace(right, p_increasing=1 - right.p_increasing)

    def one_sided(k, n, scores=None):
        right = trend(k, n, scores)
        return dataclasses.replace(right, p=right.p / 2)

    for mutant in (divided_by_n_less_one, falling_for_rising, one_sided):
        mutant.__name__ = "trend"
        assert caught(monkeypatch, "trend", mutant)

    def one_degree_more(table):
        right = cochrans_q(table)
        return CochransQ(right.q, right.df, float(chi2.sf(right.q, right.df + 1)), right.note)

    one_degree_more.__name__ = "cochrans_q"
    assert caught(monkeypatch, "trend", one_degree_more)

    def always_corrected(tables, *, correction=False):
        return cmh(tables, correction=True)

    always_corrected.__name__ = "cmh"
    assert caught(monkeypatch, "trend", always_corrected)
