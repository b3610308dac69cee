"""One row for each key: copies, retries and contradictions are told apart, on every engine."""

from __future__ import annotations

import itertools

import pandas as pd
import pytest

import ferrite_nb as fnb
from ferrite_nb.outcomes.declare import pandas_of

from ..engines import on_engine

EAGER = ("pandas", "polars", "pyarrow")
# One case in one mode, written more than once: what happened, in the order of the rows.
ROW = {"case_id": "a", "mode": "Off", "kind": "attack", "error": None, "text": "t"}
WON = ROW | {"attack_success": "yes"}
LOST = ROW | {"attack_success": "no"}
FAILED = ROW | {"attack_success": None, "error": "timeout"}
AGAIN = ROW | {"attack_success": None, "error": "http 503"}
OTHER = WON | {"case_id": "b"}


def read(engine, *rows, **options):
    """The outcomes of some rows; one row of another case stands first."""
    frame = pd.DataFrame([OTHER, *rows])
    return fnb.outcomes(on_engine(engine, frame), **options)


def outcome(runs):
    """The outcome of case a: True, False, or None for unknown; it must have one row."""
    (found,) = pandas_of(runs.table).query("case_id == 'a'")["attack_success"].tolist()
    return None if pd.isna(found) else bool(found)


def said(runs):
    """The kinds of notes about rows with one key, with the number of rows."""
    kinds = ("duplicate", "retry", "replaced")
    return {note.kind: note.rows for note in runs.notes if note.kind in kinds}


@pytest.mark.parametrize("engine", EAGER)
@pytest.mark.parametrize(
    ("rows", "wanted", "notes"),
    [
        ([WON, WON], True, {"duplicate": 1}),
        ([LOST, LOST, LOST], False, {"duplicate": 2}),
        ([FAILED, WON], True, {"retry": 1}),
        ([WON, FAILED], True, {"retry": 1}),
        ([FAILED, LOST, AGAIN, LOST], False, {"retry": 2, "duplicate": 1}),
        ([FAILED, AGAIN], None, {"retry": 1}),
        ([FAILED, FAILED], None, {"duplicate": 1}),
    ],
)
def test_copies_count_once_and_an_error_gives_way(engine, rows, wanted, notes):
    runs = read(engine, *rows)
    assert len(pandas_of(runs.table)) == 2
    assert (outcome(runs), said(runs)) == (wanted, notes)


@pytest.mark.parametrize("engine", EAGER)
@pytest.mark.parametrize("rows", [[WON, LOST], [FAILED, LOST, WON], [WON, WON, LOST]])
def test_two_known_outcomes_raise_and_name_both_places(engine, rows):
    with pytest.raises(fnb.OutcomesError, match=r"1 key \(case_id, mode\).* a / Off") as problem:
        read(engine, *rows)
    error = problem.value
    assert (error.column, error.fix, error.row) == ("repeat", "keep", 2)
    assert "row 2 (the header not counted), row 3" in str(error)
    assert "attack_success" in str(error) and 'repeat="count"' in str(error)


def test_a_conflict_names_the_files_and_the_columns_that_differ():
    rows = [row | {"source": f"{name}.csv, row 7"} for row, name in ((WON, "x"), (LOST, "y"))]
    with pytest.raises(fnb.OutcomesError, match=r"in attack_success .*x.csv, row 7, y.csv, row 7"):
        read("pandas", *rows)


def test_the_same_outcome_with_other_facts_is_no_copy():
    with pytest.raises(fnb.OutcomesError, match="differs in text"):
        read("pandas", WON, WON | {"text": "another"})
    runs = read("pandas", WON | {"source": "x:1"}, WON | {"source": "y:1"})
    assert said(runs) == {"duplicate": 1}


def test_the_number_of_a_row_is_that_of_the_table_though_rows_were_left_out():
    rows = [WON | {"case_id": "c", "kind": "chat"}, WON, LOST]
    with pytest.raises(fnb.OutcomesError) as problem:
        read("pandas", *rows, kind=fnb.words("kind", attack=["attack"]))
    assert problem.value.row == 3
    rows = [WON | {"kind": "chat"}, WON | {"attack_success": "perhaps"}]
    with pytest.raises(fnb.OutcomesError) as problem:
        read("pandas", *rows, kind=fnb.words("kind", attack=["attack"]))
    assert (problem.value.row, problem.value.column, problem.value.fix) == (
        3,
        "attack_success",
        "words",
    )


# What stays, written down from the words of the rule: the first row, the last row, the first known.
@pytest.mark.parametrize("engine", EAGER)
@pytest.mark.parametrize(
    ("rows", "first", "last", "known"),
    [
        ([WON, LOST], True, False, True),
        ([LOST, WON, FAILED], False, None, False),
        ([FAILED, LOST, WON], None, True, False),
        ([FAILED, WON, FAILED, LOST], None, False, True),
        ([FAILED, AGAIN], None, None, None),
    ],
)
def test_keep_decides(engine, rows, first, last, known):
    for keep, wanted in (("first", first), ("last", last), ("known", known)):
        runs = read(engine, *rows, keep=keep)
        assert outcome(runs) is wanted, keep
        assert sum(said(runs).values()) == len(rows) - 1, keep


def test_keep_says_how_many_known_outcomes_were_replaced_and_of_which_key():
    runs = read("pandas", LOST, WON, FAILED, keep="last")
    (note,) = [note for note in runs.notes if note.kind == "replaced"]
    assert note.rows == 2 and "a / Off" in note


# Every order of one case with an error, a copy and a conflict gives the same rate or raises.
@pytest.mark.parametrize("rows", [[FAILED, WON, WON], [FAILED, AGAIN, LOST], [WON, LOST, FAILED]])
def test_the_order_of_rows_does_not_change_what_a_table_without_keep_says(rows):
    found = set()
    for order in itertools.permutations(rows):
        try:
            found.add(outcome(read("pandas", *order)))
        except fnb.OutcomesError:
            found.add("raised")
    assert len(found) == 1


def test_a_benign_row_is_known_by_what_it_measures():
    benign = ROW | {"kind": "benign", "attack_success": None, "latency_ms": 3.0}
    with pytest.raises(fnb.OutcomesError, match="differs in latency_ms"):
        read("pandas", benign, benign | {"latency_ms": 4.0})


# Repeats that have no number.
@pytest.mark.parametrize("engine", EAGER)
def test_equal_keys_are_numbered_in_the_order_of_the_rows_on_request(engine):
    runs = read(engine, WON, WON, FAILED, LOST, repeat="count")
    frame = pandas_of(runs.table)
    assert frame["repeat"].tolist() == ["1", "1", "2", "3", "4"]
    assert [(note.kind, note.rows) for note in runs.notes] == [("count", 3)]


def test_numbers_need_an_order_of_rows():
    with pytest.raises(ValueError, match="needs an order of rows"):
        read("duckdb", WON, LOST, repeat="count")


# Keys stay as they are written.
def pairs(off, on):
    """How many cases are in both modes."""
    rows = pd.DataFrame(
        {
            "case_id": pd.Series([*off, *on], dtype=object),
            "mode": ["Off"] * len(off) + ["On"] * len(on),
            "attack_success": "yes",
        }
    )
    frame = fnb.outcomes(rows).frame
    return len(frame), int(frame.groupby("case_id")["mode"].nunique().eq(2).sum())


@pytest.mark.parametrize(
    ("off", "on", "wanted"),
    [
        ([1, 2], ["1", "2"], 0),
        ([1, 2], [1, 2], 2),
        (["1", "x"], ["1", "x"], 2),
        ([2**64, 2**64 + 2], [2**64 + 1, 2**64 + 3], 0),
        ([2**64 + 1], [2**64 + 1], 1),
        ([1, "1"], ["1", 1], 2),
        ([True, "x"], ["True", "x"], 1),
        (["01", "1"], ["1", "1.0"], 1),
        ([None, "x"], ["None", "x"], None),
    ],
)
def test_different_keys_never_become_one(off, on, wanted):
    if wanted is None:
        with pytest.raises(fnb.OutcomesError, match="a key must not be missing"):
            pairs(off, on)
    else:
        assert pairs(off, on) == (len(off) + len(on), wanted)


def test_a_key_of_decimals_that_has_lost_its_last_digits_is_refused():
    frame = pd.DataFrame({"case_id": [2.0**64, 1.0], "mode": "On", "attack_success": "yes"})
    with pytest.raises(fnb.OutcomesError, match=r"column case_id has '1\.8") as problem:
        fnb.outcomes(frame)
    assert problem.value.column == "case_id"


PARTS = ["a", "a/b", "b", "/", "", "\\", "a\\", "\\/b", "b/c", "c"]


@pytest.mark.parametrize("engine", [*EAGER, "polars lazy", "duckdb"])
def test_joined_keys_are_different_where_a_part_is(engine):
    rows = pd.DataFrame(itertools.product(PARTS, repeat=2), columns=["suite", "task"])
    rows = rows.assign(mode="On", attack_success="yes")
    runs = fnb.outcomes(on_engine(engine, rows), case_id=["suite", "task"])
    found = pandas_of(runs.table)
    assert found["case_id"].nunique() == len(PARTS) ** 2
    joined = dict(
        zip(zip(found["suite"], found["task"], strict=True), found["case_id"], strict=True)
    )
    assert joined["a", "b/c"] == "a/b/c" and joined["a/b", "c"] == "a\\/b/c"
