"""The checks of arguments: what passes, what raises, and that the message names the argument and
the value.
"""

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from ferrite_nb.stats import _check, _groups


@pytest.mark.parametrize(
    "value", [3, 3.0, np.int8(3), np.uint64(3), np.float32(3), np.array(3), Decimal(3)]
)
def test_a_whole_number_is_a_python_int(value):
    result = _check.count(value, "k")
    assert result == 3 and type(result) is int


@pytest.mark.parametrize(
    "value", ["3", b"3", None, 3 + 0j, np.datetime64("2026-01-01"), [3], {}, "", np.str_("3")]
)
def test_what_is_no_number_raises_type_error(value):
    with pytest.raises(TypeError, match="k must be"):
        _check.count(value, "k")


@pytest.mark.parametrize(
    "value",
    [
        2.5,
        math.nan,
        math.inf,
        -1,
        -1.0,
        True,
        np.True_,
        Decimal("2.5"),
        Decimal("NaN"),
        2**53 + 2,
        2**70,
    ],
)
def test_a_number_that_is_no_count_raises_value_error(value):
    with pytest.raises(ValueError, match="k must be"):
        _check.count(value, "k")


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ([True, 2], ValueError),
        ((1, False), ValueError),
        ([1, "2"], TypeError),
        ([1, None], TypeError),
        ([1, 2.5], ValueError),
        ([[1, 2], [3]], TypeError),
        ([2**70, 1], ValueError),
        (pd.Series([1, None]), ValueError),
        (pd.array([1, None], dtype="Int64"), ValueError),
        (np.array(["1"]), TypeError),
        (np.array([True]), ValueError),
        (np.array([2**63], dtype=np.uint64), ValueError),
    ],
)
def test_lists_are_checked_item_by_item(value, error):
    with pytest.raises(error, match="k must be"):
        _check.counts(value, "k")


@pytest.mark.parametrize(
    "value",
    [
        [1, 2],
        (1, 2.0),
        np.array([1, 2], dtype=np.uint8),
        pd.Series([1, 2]),
        pd.array([1, 2], dtype="Int64"),
        [Decimal(1), 2],
    ],
)
def test_lists_of_counts_become_int64(value):
    result = _check.counts(value, "k")
    assert result.dtype == np.int64 and result.tolist() == [1, 2]


def test_an_empty_list_is_no_count_at_all():
    assert (
        _check.counts([], "k").shape == (0,) and _check.counts(np.array([]), "k").dtype == np.int64
    )


def test_the_input_is_not_changed():
    value = np.array([1.0, 2.0])
    _check.counts(value, "k")[:] = 7
    assert value.tolist() == [1.0, 2.0]


def test_messages_name_argument_value_and_what_is_allowed():
    with pytest.raises(ValueError, match=r"^missing must be whole numbers >= 0, got 2\.5$"):
        _check.count(2.5, "missing")
    with pytest.raises(ValueError, match=r"^k must be at most n, got k = 7 of n = 5$"):
        _check.counts_of([1, 7], [5, 5])
    with pytest.raises(TypeError, match=r"^k must be whole numbers, got '5'$"):
        _check.count("5", "k")


LABELS = np.array([["a"], ["b"]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: _check.count([3], "k"), "k must be one whole number, got an array of shape (1,)"),
        (
            lambda: _check.counts(np.array([True]), "k"),
            "k must be whole numbers, got booleans; sum them first",
        ),
        (lambda: _check.counts(np.array([4, -2]), "k"), "k must be whole numbers >= 0, got -2"),
        (lambda: _check.counts([0.5, 1.5], "k"), "k must be whole numbers >= 0, got 0.5"),
        (lambda: _check.count(2**53 + 1, "k"), "k must be at most 2**53, got 9007199254740993"),
        (
            lambda: _check.count(2**70, "k"),
            "k must be whole numbers from 0 to 2**53, got one beyond 64 bits",
        ),
        (lambda: _check.counts([1, None], "k"), "k must be whole numbers, got None"),
        (
            lambda: _check.counts([np.True_, 1], "k"),
            "k must be whole numbers, got the boolean True",
        ),
        (lambda: _check.counts([[1], [2, 3]], "k"), "k must be whole numbers, got [1]"),
        (
            lambda: _check.count(Decimal("NaN"), "k"),
            "k must be whole numbers >= 0, got Decimal('NaN')",
        ),
        (
            lambda: _check.count(Decimal("2.5"), "k"),
            "k must be whole numbers >= 0, got Decimal('2.5')",
        ),
        (
            lambda: _check.counts_of([1, 2], [1, 2, 3]),
            "k and n must fit together, got shapes (2,) and (3,)",
        ),
        (
            lambda: _check.series([1, 2], [3]),
            "k and n must be lists of one length, one entry per group, got shapes (2,) and (1,)",
        ),
        (lambda: _check.items(5, "sizes"), "sizes must be a list, got 5"),
        (
            lambda: _check.numbers(2.5, "values"),
            "values must be a list of numbers, got an array of shape ()",
        ),
        (lambda: _check.numbers([1, "2"], "values"), "values must be numbers, got '1'"),
        (
            lambda: _check.numbers([1.0, math.inf], "values"),
            "values must be finite numbers up to 1e150, got inf; leave missing values out",
        ),
        (lambda: _check.fraction(None, "rate"), "rate must be a number, got None"),
        (lambda: _check.fraction(True, "rate"), "rate must be a number, got the boolean True"),
        (lambda: _check.fraction([0.5], "rate"), "rate must be one number, got [0.5]"),
        (lambda: _check.fraction(-0.5, "rate"), "rate must lie in [0, 1], got -0.5"),
        (lambda: _check.fraction(100, "rate"), "rate must lie in [0, 1], got 100"),
        (
            lambda: _check.fraction(99.5, "rate"),
            "rate must lie in [0, 1], got 99.5; write 0.995 for 99.5 %",
        ),
        (lambda: _check.level_of(95), "level must lie in (0, 1), got 95; write 0.95 for 95 %"),
        (lambda: _check.level_of(1), "level must lie in (0, 1), got 1"),
        (lambda: _check.z_of(0.9, 2), "give level or z, not both, got level = 0.9 and z = 2"),
        (lambda: _check.z_of(0.95, "2"), "z must be a number above 0, got '2'"),
        (
            lambda: _check.z_of(0.95, 1e7),
            "z must be a number above 0 and at most 1e+06, got 10000000.0",
        ),
        (lambda: _check.choice("x", "side", ("a", "b")), "side must be one of a, b, got 'x'"),
        (lambda: _check.generator(True), "seed must be a whole number >= 0, got the boolean True"),
        (lambda: _check.generator(0.5), "seed must be a whole number >= 0, got 0.5"),
        (lambda: _check.generator(-1), "seed must be a whole number >= 0, got -1"),
        (lambda: _check.draws_of(0), "resamples must be at least 1, got 0"),
        (
            lambda: _groups.codes("aab", "task", 3),
            "task must be a list of labels, one per entry, got 'aab'",
        ),
        (
            lambda: _groups.codes(LABELS, "task", 2),
            "task must have one label per entry, got an array of shape (2, 1)",
        ),
        (
            lambda: _groups.codes(["a"], "task", 2),
            "task must have one label per entry, got 1 labels for 2 entries",
        ),
        (
            lambda: _groups.codes(["a", None], "task", 2),
            "task must not be missing, got None; leave such rows out or name a group",
        ),
    ],
)
def test_every_message_is_one_whole_sentence(call, message):
    with pytest.raises((TypeError, ValueError)) as found:
        call()
    assert str(found.value) == message


def test_the_largest_values_are_still_allowed():
    assert _check.count(2**53, "k") == 2**53 and _check.z_of(0.95, 1e6) == 1e6
    assert _check.numbers([1e150, -1e150], "values").tolist() == [1e150, -1e150]
    for beyond in (1.0001e150, -1.0001e150):
        with pytest.raises(ValueError, match=r"^values must be finite numbers up to 1e150, got "):
            _check.numbers([beyond], "values")


def test_series_need_one_k_and_one_n_per_group():
    k, n = _check.series([1, 2], [3, 4])
    assert k.tolist() == [1, 2] and n.tolist() == [3, 4]
    for pair in ((1, 2), ([1], [2, 3]), ([[1]], [[2]]), ([1, 2], 5)):
        with pytest.raises(ValueError, match="lists of one length"):
            _check.series(*pair)


def test_numbers_are_finite():
    assert _check.numbers([1, 2.5, True], "values").tolist() == [1.0, 2.5, 1.0]
    assert _check.numbers([Decimal("0.5")], "values").tolist() == [0.5]
    for value, error in (
        ([1.0, math.nan], ValueError),
        ([1.0, -math.inf], ValueError),
        ([1e200], ValueError),
        (3.0, ValueError),
        ([[1.0]], ValueError),
        (["1.0"], TypeError),
        ([None], TypeError),
        ([1j], TypeError),
    ):
        with pytest.raises(error, match="values must be"):
            _check.numbers(value, "values")


def test_fractions_refuse_percentages():
    assert _check.fraction(0, "rate") == 0.0 and _check.fraction(np.float64(1), "rate") == 1.0
    with pytest.raises(ValueError, match=r"rate must lie in \[0, 1\], got 15; write 0.15 for 15 %"):
        _check.fraction(15, "rate")
    for value, error in (
        (math.nan, ValueError),
        (-0.1, ValueError),
        (True, ValueError),
        ("0.5", TypeError),
        (None, TypeError),
        ([0.5, 0.6], TypeError),
    ):
        with pytest.raises(error, match="rate must"):
            _check.fraction(value, "rate")


def test_the_normal_quantile_of_a_level():
    assert _check.z_of(0.95) == pytest.approx(1.959963985, abs=5e-10)
    assert _check.z_of(1 - 1e-13) == pytest.approx(norm.isf((1 - (1 - 1e-13)) / 2), rel=1e-14)
    assert _check.z_of(0.95, 1.96) == 1.96
    for z, error in (
        (0, ValueError),
        (-1, ValueError),
        (math.nan, ValueError),
        (True, ValueError),
        ("1.96", TypeError),
    ):
        with pytest.raises(error, match="z must be"):
            _check.z_of(0.95, z)
    with pytest.raises(ValueError, match="level or z, not both"):
        _check.z_of(0.9, 1.96)


def test_a_choice_lists_what_is_allowed():
    assert _check.choice("a", "method", ("a", "b")) == "a"
    with pytest.raises(ValueError, match=r"^method must be one of a, b, got 'c'; too old$"):
        _check.choice("c", "method", ("a", "b"), {"c": "too old"})
    for value in (None, 1, ["a"], np.array(["a", "b"])):
        with pytest.raises(ValueError, match="method must be one of a, b"):
            _check.choice(value, "method", ("a", "b"))


def test_generators_are_local_and_reproducible():
    assert (
        _check.generator(5).random()
        == _check.generator(np.int64(5)).random()
        == np.random.default_rng(5).random()
    )
    assert _check.generator(2**80).random() != _check.generator(0).random()
    assert _check.draws_of(1) == 1
    with pytest.raises(ValueError, match="resamples must be at least 1, got 0"):
        _check.draws_of(0)
