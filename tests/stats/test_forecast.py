"""Success beyond the budget: other programs' values, the truth of known designs, refusals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from ferrite_nb.stats import forecast, interval

from .reference import agrees, load


@pytest.mark.parametrize("case", load("ahead", "forecast"))
def test_agrees_with_the_reference(case):
    agrees(case)


@given(st.integers(0, 80), st.integers(0, 80), st.integers(1, 80), st.integers(2, 30))
def test_rows_are_ordered_and_grow_with_the_budget(early, late, rest, m):
    hits, n = early + late, early + late + rest
    bands = [forecast(early, hits, n, m, m * times) for times in (2, 4, 10)]
    for band in bands:
        assert band.at_budget == hits / n
        if not band.note:
            assert 0 <= band.low <= band.at_budget <= band.steady + 1e-12
            assert band.steady <= band.high + 1e-12 <= 1 + 2e-12
            assert band.low == interval(hits, n).low
    if not bands[0].note:
        for name in ("steady", "high"):
            values = [getattr(band, name) for band in bands]
            assert values == sorted(values)


def test_with_one_chance_for_all_the_steady_line_is_the_truth():
    """Rates of a constant chance .02: 1 - .98^K, to the rounding of 10,000,000 cases."""
    n = 10_000_000
    early, hits = (round(n * (1 - 0.98**m)) for m in (10, 20))
    band = forecast(early, hits, n, 20, 60)
    assert band.steady == pytest.approx(1 - 0.98**60, abs=1e-5)
    assert band.low < 1 - 0.98**60 < band.high


@pytest.mark.parametrize("chances", [(0.0, 0.05), (0.002, 0.3), (0.01, 0.1)])
def test_the_band_holds_the_truth_and_the_usual_formula_does_not(chances):
    """Half of the cases at each chance; the expected counts of 4,000 cases."""
    p, n, m, K = np.array(chances), 4000, 20, 80
    within = {j: float((1 - binom.pmf(0, j, p)).mean()) for j in (m // 2, m, K)}
    band = forecast(round(n * within[m // 2]), round(n * within[m]), n, m, K)
    assert band.low <= within[K] <= band.high
    assert 1 - (1 - p.mean()) ** K > band.high


def test_everything_or_nothing_broken():
    band = forecast(50, 50, 50, 10, 20)
    assert (band.at_budget, band.steady, band.high) == (1.0, 1.0, 1.0) and band.low < 1
    band = forecast(0, 0, 50, 10, 20)
    assert (band.low, band.steady) == (0.0, 0.0) and band.high > 0


@pytest.mark.parametrize(
    "given",
    [
        (5, 40, 100, 10, 20),
        (20, 50, 50, 10, 20),
        (0, 1, 100, 10, 20),
        (10, 10, 100, 10, 101),
        (0, 0, 0, 10, 20),
    ],
    ids=[
        "hazard rises",
        "all broken late",
        "first hit in the second half",
        "beyond ten budgets",
        "no case",
    ],
)
def test_what_cannot_be_forecast_has_no_band_but_a_reason(given):
    band = forecast(*given)
    assert all(math.isnan(getattr(band, name)) for name in ("low", "steady", "high")) and band.note
    assert math.isnan(band.at_budget) if not given[2] else band.at_budget == given[1] / given[2]


def test_a_constant_hazard_of_halves_of_unequal_length_is_no_rise():
    # 5 attempts: two in the first half, three in the second; .9^5 left of 100,000
    assert not forecast(19_000, 40_951, 100_000, 5, 10).note
    assert forecast(19_000, 40_960, 100_000, 5, 10).note


@pytest.mark.parametrize(
    "given", [(5, 4, 10, 10, 20), (1, 11, 10, 10, 20), (1, 2, 10, 1, 20), (1, 2, 10, 10, 10)]
)
def test_counts_that_do_not_fit_are_refused(given):
    with pytest.raises(ValueError, match="hits_by_half <= hits <= cases"):
        forecast(*given)
