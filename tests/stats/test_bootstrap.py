"""The bootstrap in closed form, against binomial quantiles and against plain resampling."""

import dataclasses
import math
import random
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, bootstrap

from ferrite_nb.stats import bootstrap_mean, bootstrap_pairs, bootstrap_proportion

from .reference import agrees, caught, load


@pytest.mark.parametrize("case", load("bootstrap"))
def test_agrees_with_the_reference(case):
    agrees(case)


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [(102, 256, 0.339844, 0.457031), (5, 100, 0.01, 0.10), (48, 300, 0.12, 0.203333)],
)
def test_known_bounds(k, n, low, high):
    exact = bootstrap_proportion(k, n)
    assert (exact.low, exact.high) == pytest.approx((low, high), abs=5.1e-7)
    drawn = bootstrap_proportion(k, n, method="draws")
    assert (drawn.low, drawn.high) == pytest.approx((low, high), abs=1 / n + 1e-12)
    assert not exact.degenerate and not drawn.degenerate and exact.note == drawn.note == ""


@given(st.integers(2, 400), st.data(), st.sampled_from([0.8, 0.95, 0.99]))
def test_exact_bounds_are_the_first_counts_that_leave_the_tail(n, data, level):
    k = data.draw(st.integers(1, n - 1))
    result = bootstrap_proportion(k, n, level=level)
    low, high = round(result.low * n), round(result.high * n)
    tail = (1 - level) / 2
    assert binom.cdf(low, n, k / n) >= tail * (1 - 1e-9) and binom.cdf(low - 1, n, k / n) < tail * (
        1 + 1e-9
    )
    assert (
        binom.cdf(high, n, k / n) >= (1 - tail) * (1 - 1e-9)
        and binom.cdf(high - 1, n, k / n) < 1 - tail + 1e-9
    )
    assert 0 <= result.low <= k / n <= result.high <= 1


def test_the_closed_form_is_what_resampling_rows_gives():
    rows = np.repeat([1, 0], [30, 170])
    resampled = np.random.default_rng(1).choice(rows, size=(20000, 200)).mean(axis=1)
    result = bootstrap_proportion(30, 200)
    assert (result.low, result.high) == pytest.approx(
        tuple(np.quantile(resampled, [0.025, 0.975])), abs=1 / 200
    )


@pytest.mark.parametrize("method", ["exact", "draws"])
def test_all_or_none_has_no_width_and_says_so(method):
    none, full = (
        bootstrap_proportion(0, 22, method=method),
        bootstrap_proportion(22, 22, method=method),
    )
    assert (none.low, none.high, none.degenerate) == (0.0, 0.0, True)
    assert (full.low, full.high, full.degenerate) == (1.0, 1.0, True)
    assert (
        none.note == "the bootstrap of 0 of 22 has no width; use wilson" and "22 of 22" in full.note
    )
    empty = bootstrap_proportion(0, 0, method=method)
    assert (
        math.isnan(empty.low)
        and math.isnan(empty.high)
        and empty.degenerate is False
        and empty.note
    )


@pytest.mark.parametrize("method", ["exact", "draws"])
def test_a_trillion_cases_take_no_memory(method):
    tracemalloc.start()
    result = bootstrap_proportion(3 * 10**11, 10**12, method=method)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    half_width = 1.96 * math.sqrt(0.3 * 0.7 / 10**12)
    assert (result.low, result.high) == pytest.approx(
        (0.3 - half_width, 0.3 + half_width), abs=half_width / 10
    )
    assert peak < 2**22


def test_pairs_are_multinomial_draws():
    result = bootstrap_pairs(57, 48, 0, 195)
    assert result.diff == 0.16 and result.note == ""
    assert (result.low, result.high) == pytest.approx(
        (36 / 300, 61 / 300), abs=1 / 300 + 1e-12
    )  # Bin(300, .16)
    pairs = np.repeat([0, 1, -1, 0], [20, 12, 2, 16])
    resampled = np.random.default_rng(1).choice(pairs, size=(20000, 50)).mean(axis=1)
    result = bootstrap_pairs(20, 12, 2, 16)
    assert (result.low, result.high) == pytest.approx(
        tuple(np.quantile(resampled, [0.025, 0.975])), abs=1 / 50
    )


def test_pairs_change_sign_with_the_modes():
    one, other = bootstrap_pairs(20, 12, 2, 16), bootstrap_pairs(20, 2, 12, 16)
    assert one.diff == -other.diff == 0.2
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1 / 50)


@pytest.mark.parametrize("cells", [(10, 0, 0, 12), (0, 22, 0, 0), (0, 0, 22, 0)])
def test_pairs_without_any_spread_have_no_interval(cells):
    result = bootstrap_pairs(*cells)
    assert result.diff == (cells[1] - cells[2]) / 22
    assert math.isnan(result.low) and math.isnan(result.high) and "newcombe or tango" in result.note


def test_no_pair_is_not_computable():
    result = bootstrap_pairs(0, 0, 0, 0)
    assert all(map(math.isnan, (result.diff, result.low, result.high))) and result.note


def test_mean_agrees_with_scipy():
    values = np.random.default_rng(2).exponential(size=80)
    theirs = bootstrap(
        (values,), np.mean, method="percentile", rng=np.random.default_rng(3)
    ).confidence_interval
    result = bootstrap_mean(values)
    assert result.estimate == pytest.approx(values.mean(), abs=1e-12)
    width = theirs.high - theirs.low
    assert (result.low, result.high) == pytest.approx((theirs.low, theirs.high), abs=0.05 * width)


def test_clusters_are_resampled_whole():
    source = np.random.default_rng(4)
    sizes = source.integers(1, 9, size=25)
    cluster = np.repeat([f"task {i}" for i in range(25)], sizes)
    values = np.repeat(source.normal(size=25), sizes) + source.normal(0, 0.1, size=sizes.sum())
    groups = [values[cluster == name] for name in np.unique(cluster)]
    means = [
        np.concatenate([groups[i] for i in source.integers(25, size=25)]).mean()
        for _ in range(5000)
    ]
    low, high = np.quantile(means, [0.025, 0.975])
    result = bootstrap_mean(values, cluster=cluster)
    assert (result.low, result.high) == pytest.approx((low, high), abs=0.05 * (high - low))
    alone = bootstrap_mean(values)
    assert result.high - result.low > 1.5 * (alone.high - alone.low)
    order = source.permutation(len(values))
    shuffled = bootstrap_mean(values[order], cluster=cluster[order])
    assert (shuffled.low, shuffled.high) == pytest.approx((low, high), abs=0.05 * (high - low))


def test_mean_edges():
    for values, cluster, word in (
        ([], None, "no value"),
        ([1.0], None, "one value"),
        ([1, 2], [7, 7], "one cluster"),
    ):
        result = bootstrap_mean(values, cluster=cluster)
        assert word in result.note and math.isnan(result.low) and math.isnan(result.high)
        assert result.estimate == pytest.approx(
            np.mean(values) if values else math.nan, nan_ok=True
        )
    same = bootstrap_mean([0.1] * 7)
    assert same.estimate == 0.1 and math.isnan(same.low) and "equal" in same.note
    # every cluster has the mean .2, up to rounding: a width of 1e-17 is no width
    level = bootstrap_mean([0.1, 0.2, 0.3] * 6, cluster=[i // 3 for i in range(18)])
    assert level.estimate == pytest.approx(0.2) and math.isnan(level.low) and "equal" in level.note
    with pytest.raises(ValueError, match="finite"):
        bootstrap_mean([1.0, math.nan])
    with pytest.raises(ValueError, match="cluster must not be missing"):
        bootstrap_mean([1.0, 2.0], cluster=["a", None])


@pytest.mark.parametrize(("size", "resamples"), [(100_000, 500), (1_500_000, 8)])
def test_mean_works_in_blocks_of_less_than_64_mib(size, resamples):
    values = np.random.default_rng(5).normal(size=size)
    few = bootstrap_mean(values[:1000])  # loads what is loaded once
    assert few.low < few.high
    tracemalloc.start()
    result = bootstrap_mean(values, resamples=resamples)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak - 8 * 8 * size < 2**26  # beyond a few copies of the values themselves
    assert result.low < result.estimate < result.high
    assert result.high - result.low == pytest.approx(
        2 * 1.96 / math.sqrt(size), rel=0.2 if resamples > 8 else 0.9
    )


def test_blocks_do_not_change_the_number_of_draws(monkeypatch):
    values = np.random.default_rng(6).normal(size=20)
    whole = bootstrap_mean(values)
    monkeypatch.setattr(
        "ferrite_nb.stats.bootstrap.BLOCK", 15
    )  # a resample of 20 takes a block of 15 and one of 5
    parts = bootstrap_mean(values)
    assert parts.high - parts.low == pytest.approx(whole.high - whole.low, rel=0.05)


CALLS = [
    lambda seed: bootstrap_proportion(30, 200, method="draws", seed=seed),
    lambda seed: bootstrap_pairs(20, 12, 2, 16, seed=seed),
    lambda seed: bootstrap_mean(np.linspace(0, 1, 50) ** 2, seed=seed),
    lambda seed: bootstrap_mean(np.linspace(0, 1, 50) ** 2, cluster=np.arange(50) // 5, seed=seed),
]


@pytest.mark.parametrize("call", CALLS)
def test_the_same_call_gives_the_same_bytes_and_leaves_the_global_state_alone(call):
    np.random.seed(11)
    random.seed(11)
    numpy_before, python_before = np.random.get_state(), random.getstate()
    first = call(0)
    np.random.seed(12)
    assert call(0) == first
    np.random.seed(11)
    call(3)
    numpy_after = np.random.get_state()
    assert (numpy_before[1] == numpy_after[1]).all() and numpy_before[2:] == numpy_after[2:]
    assert random.getstate() == python_before


def test_another_seed_gives_other_draws():
    assert CALLS[2](0) != CALLS[2](1) and CALLS[3](0) != CALLS[3](1)


@pytest.mark.parametrize("call", CALLS)
def test_a_seed_is_a_whole_number(call):
    for seed, error in (
        (-1, ValueError),
        (True, ValueError),
        (None, TypeError),
        ("0", TypeError),
        (0.5, TypeError),
    ):
        with pytest.raises(error, match="seed"):
            call(seed)
    assert call(np.int64(3)) == call(3)


def test_bad_arguments_raise():
    for call in (
        lambda **options: bootstrap_proportion(3, 20, **options),
        lambda **options: bootstrap_pairs(3, 2, 1, 4, **options),
        lambda **options: bootstrap_mean([1, 2, 3], **options),
    ):
        for options in ({"resamples": 0}, {"resamples": 2.5}, {"level": 95}, {"level": 1}):
            with pytest.raises(ValueError, match=next(iter(options))):
                call(**options)
    with pytest.raises(ValueError, match="method must be one of exact, draws"):
        bootstrap_proportion(3, 20, method="percentile")
    with pytest.raises(ValueError, match="at most n"):
        bootstrap_proportion(21, 20)
    with pytest.raises(ValueError, match="neither"):
        bootstrap_pairs(1, 2, 3, -4)


def test_one_tail_in_place_of_two_is_caught(monkeypatch):
    def one_tail(k, n, *, method="exact", level=0.95, resamples=10000, seed=0):
        return bootstrap_proportion(
            k, n, method=method, level=2 * level - 1, resamples=resamples, seed=seed
        )

    def shifted(k, n, *, method="exact", level=0.95, resamples=10000, seed=0):
        right = bootstrap_proportion(
            k, n, method=method, level=level, resamples=resamples, seed=seed
        )
        return dataclasses.replace(right, low=max(right.low - 1 / n, 0.0))

    for mutant in (one_tail, shifted):
        mutant.__name__ = "bootstrap_proportion"
        assert caught(monkeypatch, "bootstrap", mutant)
