"""Which stratum may be the worst: other programs' values, and the promise by exact sums."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from ferrite_nb.stats import interval, worst

from .reference import agrees, load

STRATA = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=12)


@pytest.mark.parametrize("case", load("ahead", "worst"))
def test_agrees_with_the_reference(case):
    agrees(case)


@given(STRATA)
def test_the_highest_rate_is_always_possible_and_order_does_not_matter(pairs):
    k, n = np.array([(k, k + rest) for k, rest in pairs]).T
    found, back = worst(k, n), worst(k[::-1], n[::-1])
    some = n > 0
    assert found.possible[~some].all() and np.isnan(found.low[~some]).all()
    if some.any():
        rates = np.divide(k, n, where=some, out=np.full(len(n), -1.0))
        assert found.possible[rates.argmax()]
        assert (found.low[some] >= 0).all() and (found.high[some] <= 1).all()
        assert (found.low[k == 0][some[k == 0]] == 0).all()
    assert np.array_equal(found.possible, back.possible[::-1])


def test_one_stratum_is_clopper_pearson_and_more_strata_widen():
    alone, ends = worst([3], [20]), interval(3, 20, method="clopper-pearson")
    assert (alone.low[0], alone.high[0]) == (ends.low, ends.high)
    among = worst([3, 0, 0, 0], [20] * 4)
    assert among.low[0] < alone.low[0] and among.high[0] > alone.high[0]


def test_a_stratum_without_a_case_does_not_widen_the_others():
    found = worst([3, 0], [20, 0])
    assert found.high[0] == worst([3], [20]).high[0] and math.isnan(found.high[1])


@pytest.mark.parametrize("rates", [(0.1, 0.1), (0.1, 0.3), (0.05, 0.06, 0.5)])
def test_all_limits_hold_together_in_at_least_95_of_100(rates):
    n, inside, kept = 12, 0.0, 0.0
    truth = np.array(rates)
    for k in itertools.product(range(n + 1), repeat=len(rates)):
        weight, found = float(np.prod(binom.pmf(k, n, truth))), worst(k, [n] * len(rates))
        inside += weight * bool(((found.low <= truth) & (truth <= found.high)).all())
        kept += weight * bool(found.possible[truth == truth.max()].all())
    assert 0.95 <= inside <= kept


def test_what_is_no_list_of_counts_is_refused():
    with pytest.raises(ValueError, match="one length"):
        worst([1, 2], [3])
    with pytest.raises(ValueError, match="at most"):
        worst([4], [3])
