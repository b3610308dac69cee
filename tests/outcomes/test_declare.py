"""From a declared frame to canonical columns: the same table on every engine, and errors that name
the place.
"""

from __future__ import annotations

import math

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ferrite_nb as fnb
from ferrite_nb.outcomes.declare import pandas_of, tidy_pandas

from ..engines import ENGINES, on_engine


def table(**columns):
    """A small frame with keys, and the columns of the test."""
    rows = max((len(values) for values in columns.values()), default=2)
    keys = {"case_id": [f"c{row}" for row in range(rows)], "mode": ["On"] * rows}
    return pd.DataFrame(keys | columns)


def values(runs, column):
    """A column as Python values, missing ones as None."""
    found = tidy_pandas(pandas_of(runs.table)).sort_values("case_id")[column]
    return [None if pd.isna(value) else value for value in found]


# Flags, errors, polarity.
def test_an_error_beats_every_outcome_and_no_fact():
    frame = table(
        attack_success=["yes", "yes", "no"],
        task_success=["yes"] * 3,
        latency_ms=["1", "2", "3"],
        tokens=[1, 2, 3],
        delivered=["yes"] * 3,
        error=["", "context length", None],
    )
    runs = fnb.outcomes(frame)
    assert values(runs, "attack_success") == [True, None, False]
    assert values(runs, "task_success") == [True, None, True]
    assert values(runs, "latency_ms") == [1.0, None, 3.0]
    assert values(runs, "tokens") == [1.0, None, 3.0]
    assert values(runs, "delivered") == [True, True, True]
    assert values(runs, "error") == [None, "context length", None]


def test_error_and_timeout_as_an_outcome_are_errors_of_the_whole_row():
    runs = fnb.outcomes(
        table(attack_success=["yes", "Timeout", "no"], blocked=["no", "yes", "ERROR"])
    )
    assert values(runs, "error") == [None, "Timeout", "ERROR"]
    assert values(runs, "attack_success") == [True, None, None]
    assert values(runs, "blocked") == [False, None, None]


@pytest.mark.parametrize("word", ["", " ", "nan", "None", "NULL", "n/a", "false", "0", "no"])
def test_words_that_say_there_was_no_error(word):
    runs = fnb.outcomes(table(attack_success=["yes"], error=[word]))
    assert values(runs, "attack_success") == [True] and values(runs, "error") == [None]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_boolean_error_column(engine):
    frame = table(
        attack_success=pd.array([True, True], dtype="boolean"),
        error=pd.array([True, False], dtype="boolean"),
    )
    runs = fnb.outcomes(on_engine(engine, frame))
    assert values(runs, "attack_success") == [None, True] and values(runs, "error") == [
        "error",
        None,
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_resisted_attack_is_turned_round(engine):
    frame = table(attack_resisted=["yes", "no", None, "timeout"])
    runs = fnb.outcomes(on_engine(engine, frame))
    assert values(runs, "attack_success") == [False, True, None, None]
    typed = table(safe=pd.array([True, False, None], dtype="boolean"))
    assert values(
        fnb.outcomes(on_engine(engine, typed), attack_resisted="safe"), "attack_success"
    ) == [
        False,
        True,
        None,
    ]
    own = fnb.words("attack_resisted", true=["held"], false=["gave in"])
    runs = fnb.outcomes(
        on_engine(engine, table(attack_resisted=["held", "Gave in"])), attack_resisted=own
    )
    assert values(runs, "attack_success") == [False, True]


def test_a_resisted_attack_takes_no_word_that_could_mean_either():
    for word in ("blocked", "success", "refused"):
        with pytest.raises(fnb.OutcomesError, match=f"column attack_resisted has '{word}'"):
            fnb.outcomes(table(attack_resisted=[word]))


def test_both_polarities_at_once_are_refused():
    with pytest.raises(fnb.OutcomesError, match="attack_success or attack_resisted, not both"):
        fnb.outcomes(table(a=["yes"], b=["no"]), attack_success="a", attack_resisted="b")


BOTH = {
    "attack_success": ["yes", "no", "Yes", "no", None, "yes"],
    "attack_resisted": ["no", "yes", "TRUE", "0", "yes", "n/a"],
}


@pytest.mark.parametrize("engine", ENGINES)
def test_two_columns_of_the_outcome_that_contradict_each_other_are_refused(engine):
    with pytest.raises(
        fnb.OutcomesError, match=r"attack_resisted has .*says the opposite \(2 rows contradict\)"
    ):
        fnb.outcomes(on_engine(engine, table(**BOTH)), read_from="run.csv")
    agreed = table(
        attack_success=["yes", "no", None, "yes"], attack_resisted=["no", "yes", "yes", ""]
    )
    runs = fnb.outcomes(on_engine(engine, agreed))
    assert values(runs, "attack_success") == [True, False, None, True]
    assert not any("contradict" in note for note in runs.notes)
    assert runs.columns == [*agreed, "kind"]


def test_a_contradiction_names_file_first_row_and_number_of_rows():
    with pytest.raises(fnb.OutcomesError) as caught:
        fnb.outcomes(table(**BOTH), read_from="run.csv")
    said = str(caught.value)
    assert said.startswith(
        "run.csv, row 3 (the header not counted) and 1 more: column attack_resisted has 'TRUE'; "
    )
    assert "(2 rows contradict)" in said and 'attack_success="attack_success"' in said
    typed = table(attack_success=[True, False, False], attack_resisted=[False, True, False])
    with pytest.raises(fnb.OutcomesError, match=r"^row 3 .* has 'False'; .*\(1 rows contradict\)"):
        fnb.outcomes(typed)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("declared", "outcome", "count"),
    [
        ({"attack_success": "attack_success"}, [True, False, True, False, None, True], 2),
        ({"attack_resisted": "attack_resisted"}, [True, False, False, True, False, None], 2),
        ({"attack_success": "human"}, [False, False, False, False, False, False], 2),
        ({"attack_resisted": "human"}, [True, True, True, True, True, True], 2),
        (
            {
                "attack_resisted": fnb.words(
                    "attack_resisted", true=["no", "0"], false=["yes", "TRUE"]
                )
            },
            [False, True, True, False, True, None],
            2,
        ),
    ],
)
def test_the_caller_may_say_which_of_two_outcomes_counts(engine, declared, outcome, count):
    frame = table(**BOTH, human=["no"] * 6)
    runs = fnb.outcomes(on_engine(engine, frame), **declared)
    assert values(runs, "attack_success") == outcome
    (note,) = [note for note in runs.notes if "contradicts the declared outcome" in note]
    other = "attack_success" if "attack_resisted" in declared else "attack_resisted"
    assert note == f"rows whose other outcome ({other}) contradicts the declared outcome: {count}"


def test_a_table_in_which_the_caller_chose_can_be_joined_with_another():
    frame = table(**BOTH)
    runs = fnb.read(
        {"before": frame, "after": frame}, attack_success="attack_success", mode=fnb.const("On")
    )
    assert runs.modes == ("before", "after") and len(runs.frame) == 12
    assert [note for note in runs.notes if "contradicts" in note] == [
        "rows whose other outcome (attack_resisted) contradicts the declared outcome: 2"
    ]


def test_benign_and_unattempted_rows_may_neither_succeed_nor_be_resisted():
    neither = {"attack_success": ["no"] * 3, "attack_resisted": ["no"] * 3}
    assert len(fnb.outcomes(table(**neither, kind=["benign"] * 3)).frame) == 3
    assert len(fnb.outcomes(table(**neither, attempted=["no"] * 3)).frame) == 3
    with pytest.raises(fnb.OutcomesError, match=r"\(2 rows contradict\)"):
        fnb.outcomes(table(**neither, attempted=["no", "yes", None]))


def test_a_declared_outcome_beside_a_resisted_column_of_the_file_is_taken():
    runs = fnb.outcomes(
        table(hit=["yes", "no"], attack_resisted=["no", "yes"]), attack_success="hit"
    )
    assert values(runs, "attack_success") == [True, False] and not any(
        "contradict" in note for note in runs.notes
    )


def test_a_text_false_is_never_true():
    runs = fnb.outcomes(table(attack_success=["False", "0", "no", "N", "0.0"]))
    assert values(runs, "attack_success") == [False] * 5


@pytest.mark.parametrize(
    "column", [[1.0, 0.0, math.nan], [1, 0, None], [True, False, None], ["1", "0", ""]]
)
def test_numbers_and_booleans_are_read_like_their_spellings(column):
    for typed in (pd.Series(column), pd.Series(column, dtype=object)):
        assert values(fnb.outcomes(table(attack_success=typed)), "attack_success") == [
            True,
            False,
            None,
        ]


# Errors that name the place.
def test_an_unknown_word_names_file_row_column_and_value():
    with pytest.raises(
        fnb.OutcomesError,
        match=r"^runs.csv, row 3 .*column attack_success has 'maybe'; true is .*words",
    ):
        fnb.outcomes(table(attack_success=["yes", "no", "maybe"]), read_from="runs.csv")
    frame = table(verdict=["hit", "odd", "odd"], source=["a.jsonl:1", "a.jsonl:7", "a.jsonl:9"])
    with pytest.raises(
        fnb.OutcomesError,
        match=r"^a.jsonl:7 and 1 more: column verdict \(declared as gated\) has 'odd'",
    ):
        fnb.outcomes(frame, gated=fnb.words("verdict", true=["hit"]), read_from="a.jsonl")


def test_a_hostile_value_is_cut_and_quoted():
    with pytest.raises(fnb.OutcomesError) as caught:
        fnb.outcomes(table(attack_success=["\x1b[2J" + "x" * 10_000]))
    assert len(str(caught.value)) < 800 and "\x1b" not in str(caught.value)


def test_a_missing_column_lists_those_that_are_there_and_the_call():
    frame = pd.DataFrame({"id": ["a"], "defence": ["On"], "source": ["f, row 1"]})
    with pytest.raises(
        fnb.OutcomesError,
        match=r"no column case_id; the columns are id, defence. Declare it: case_id",
    ):
        fnb.outcomes(frame)
    with pytest.raises(fnb.OutcomesError, match=r"no column mode; .*fnb.const\("):
        fnb.outcomes(frame, case_id="id")
    with pytest.raises(
        fnb.OutcomesError,
        match="there is no column 'defense' to take mode from; the columns are id",
    ):
        fnb.outcomes(frame, case_id="id", mode="defense")


@pytest.mark.parametrize(
    ("key", "bad"),
    [
        (key, bad)
        for key in ("case_id", "mode", "repeat")
        for bad in (None, "", "  ")
        if key != "mode" or bad is None
    ],
)
def test_a_key_must_be_there(key, bad):
    frame = table(attack_success=["yes", "no"]).assign(repeat=["1", "1"])
    frame[key] = ["x", bad]
    with pytest.raises(
        fnb.OutcomesError,
        match=rf"row 2 .*column {key} has .*a key must not be missing in any row",
    ):
        fnb.outcomes(frame)


@pytest.mark.parametrize(
    "name", ["001", "1E5", "None", "NA", "null", "nan", "true", " x ", "é\u202e", "=1+1"]
)
def test_a_key_is_any_text_and_stays_as_it_is(name):
    runs = fnb.outcomes(
        pd.DataFrame({"case_id": [name], "mode": [name], "attack_success": ["yes"]})
    )
    assert runs.frame[["case_id", "mode"]].iloc[0].tolist() == [name, name]


@pytest.mark.parametrize("column", ["latency_ms", "tokens", "segments"])
@pytest.mark.parametrize("bad", ["1,5", "fast", "inf", "1_000", "0x10", "--1"])
def test_what_is_no_number_raises(column, bad):
    with pytest.raises(
        fnb.OutcomesError, match=f"row 2 .*column {column} has {bad!r}; it must be a number"
    ):
        fnb.outcomes(table(**{column: ["1", bad]}))


def test_numbers_are_read_from_text_and_nan_is_missing():
    runs = fnb.outcomes(
        table(latency_ms=["1.25", " 2e1 ", "", "NaN"], segments=["3", "", "n/a", "0"])
    )
    assert values(runs, "latency_ms") == [1.25, 20.0, None, None]
    assert values(runs, "segments") == [3, None, None, 0]


@pytest.mark.parametrize("engine", ENGINES)
def test_nan_in_a_number_column_is_missing_on_every_engine(engine):
    frame = table(latency_ms=[1.5, math.nan], attack_success=["yes", "no"])
    assert values(fnb.outcomes(on_engine(engine, frame)), "latency_ms") == [1.5, None]


@pytest.mark.parametrize("bad", ["-1", "1.5"])
def test_an_amount_is_a_whole_number(bad):
    with pytest.raises(fnb.OutcomesError, match="it must be a whole number >= 0"):
        fnb.outcomes(table(segments=["1", bad]))


def test_an_endless_number_raises():
    with pytest.raises(fnb.OutcomesError, match="it must be a finite number"):
        fnb.outcomes(table(latency_ms=[1.0, math.inf]))


# Declarations.
def test_a_list_of_columns_is_joined_with_a_slash():
    frame = pd.DataFrame({"attack": ["A", "B"], "index": [7, 7], "mode": ["On", "On"]})
    runs = fnb.outcomes(frame, case_id=["attack", "index"])
    assert runs.frame["case_id"].tolist() == ["A/7", "B/7"] and runs.frame["attack"].tolist() == [
        "A",
        "B",
    ]


def test_const_gives_every_row_one_value():
    frame = pd.DataFrame({"case_id": ["a", "b"]})
    runs = fnb.outcomes(
        frame,
        mode=fnb.const("On"),
        kind=fnb.const("benign"),
        gated=fnb.const(False),
        repeat=fnb.const(1),
    )
    assert runs.frame[["mode", "kind", "gated", "repeat"]].iloc[1].tolist() == [
        "On",
        "benign",
        False,
        "1",
    ]


def test_words_of_kind_leave_other_rows_out_with_a_note():
    frame = table(type=["attack", "injection alone", "user", "injection alone", None]).assign(
        attack_success="yes"
    )
    with pytest.raises(fnb.OutcomesError, match="column kind"):
        fnb.outcomes(frame, kind="type")
    runs = fnb.outcomes(frame.iloc[:4], kind=fnb.words("type", attack=["attack"], benign=["user"]))
    assert runs.frame["kind"].tolist() == ["attack", "benign"]
    assert "2 rows left out: kind is 'injection alone', neither attack nor benign" in runs.notes
    with pytest.raises(ValueError, match="words for kind mean attack or benign"):
        fnb.outcomes(frame, kind=fnb.words("type", attack=["attack"], normal=["user"]))


def test_words_of_a_stratum_rename_and_refuse_others():
    frame = table(tier=["1", "2", " 1"])
    runs = fnb.outcomes(frame, tier=fnb.words("tier", Web=["1"], Tool=["2"]))
    assert runs.frame["tier"].tolist() == ["Web", "Tool", "Web"]
    with pytest.raises(fnb.OutcomesError, match="column tier has '2'; the declared words are 1 "):
        fnb.outcomes(frame, tier=fnb.words("tier", Web=["1"]))


def test_other_columns_stay_and_declared_ones_become_text():
    frame = table(template=["t1", "t2"], group=[1, 2], day=[3, 4])
    runs = fnb.outcomes(frame, goal="group")
    assert runs.frame["template"].tolist() == ["t1", "t2"]
    assert runs.frame["goal"].tolist() == ["1", "2"] and runs.frame["day"].tolist() == [3, 4]


def test_a_replaced_column_of_the_file_is_noted():
    frame = table(mode=["x", "y"], defence=["On", "Off"])
    runs = fnb.outcomes(frame, mode="defence")
    assert runs.frame["mode"].tolist() == ["On", "Off"]
    assert "the file's own columns mode are replaced by the declared ones" in runs.notes


def test_no_kind_is_said():
    assert (
        "no column kind: every row is taken as an attack"
        in fnb.outcomes(table(attack_success=["yes"])).notes
    )


# The same table on every engine.
MIXED = pd.DataFrame(
    {
        "case_id": ["001", "1E5", "None", "d"],
        "mode": ["Off", "On", "Off", "On"],
        "kind": ["Attack", "attack ", "BENIGN", "benign"],
        "attack_success": ["executed", "n/a", None, ""],
        "gated": [None, None, "True", "timeout"],
        "latency_ms": ["1.5", "2", None, "4"],
        "segments": [1, 2, 3, 4],
        "tier": ["T1", None, "T2", "T2"],
        "template": ["a", "a", "b", None],
    }
)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_gives_the_same_table(engine):
    runs = fnb.outcomes(on_engine(engine, MIXED))
    found = tidy_pandas(pandas_of(runs.table)).sort_values("case_id").reset_index(drop=True)
    wanted = tidy_pandas(
        pd.DataFrame(
            {
                "case_id": ["001", "1E5", "None", "d"],
                "mode": ["Off", "On", "Off", "On"],
                "kind": ["attack", "attack", "benign", "benign"],
                "attack_success": [True, None, None, None],
                "gated": [None, None, True, None],
                "latency_ms": [1.5, 2.0, None, None],
                "segments": [1, 2, 3, 4],
                "tier": ["T1", None, "T2", "T2"],
                "template": ["a", "a", "b", None],
                "error": [None, None, None, "timeout"],
            }
        )
    )
    pd.testing.assert_frame_equal(found[wanted.columns], wanted, check_dtype=False)
    assert set(found.columns) == set(wanted.columns)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_raises_for_an_unknown_word(engine):
    frame = MIXED.assign(attack_success=["maybe", "yes", "no", "no"])
    with pytest.raises(fnb.OutcomesError, match="column attack_success has 'maybe'"):
        fnb.outcomes(on_engine(engine, frame))


FLAG = st.sampled_from(["true", " YES", "0", "No", "", "n/a", "timeout", "Executed", "contained"])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(FLAG, st.sampled_from(["", "boom", "none"])), min_size=1, max_size=20))
def test_known_spellings_never_raise_and_errors_win(rows):
    frame = table(attack_success=[word for word, _ in rows], error=[error for _, error in rows])
    found = fnb.outcomes(frame).frame
    meaning = {
        "true": True,
        "yes": True,
        "executed": True,
        "0": False,
        "no": False,
        "contained": False,
    }
    for (word, error), (_, row) in zip(rows, found.iterrows(), strict=True):
        token = word.strip().lower()
        if error == "boom" or token == "timeout":
            assert pd.isna(row["attack_success"]) and pd.notna(row["error"])
        else:
            assert pd.isna(row["error"])
            assert (
                None if pd.isna(row["attack_success"]) else row["attack_success"]
            ) == meaning.get(token)


def test_a_mode_may_have_an_empty_name():
    frame = table(attack_success=["yes", "no"]).assign(mode="")
    assert fnb.outcomes(frame).modes == ("",)


# The caller's own words.
@pytest.mark.parametrize("engine", ENGINES)
def test_words_of_a_flag_have_four_meanings(engine):
    frame = table(outcome=["success", "failure", "Undetermined", "failure", "crashed", ""])
    own = fnb.words(
        "outcome",
        true=["success"],
        false=["failure"],
        missing=["undetermined"],
        error=["crashed"],
    )
    runs = fnb.outcomes(on_engine(engine, frame), attack_success=own)
    assert values(runs, "attack_success") == [True, False, None, False, None, None]
    assert values(runs, "error") == [None, None, None, None, "crashed", None]


def test_own_words_may_turn_a_known_word_round():
    own = fnb.words("v", true=["no"], false=["yes"], missing=["error"], error=["none"])
    runs = fnb.outcomes(table(v=["no", "yes", "error", "none"]), attack_success=own)
    assert values(runs, "attack_success") == [True, False, None, None]
    assert values(runs, "error") == [None, None, None, "none"]


@pytest.mark.parametrize("name", ["attack_success", "gated", "attack_resisted", "kind"])
def test_an_unknown_keyword_of_words_raises(name):
    with pytest.raises(ValueError, match=r"words for .* mean .*, got \['maybe'\]"):
        fnb.outcomes(table(v=["x", "y"]), **{name: fnb.words("v", maybe=["x"])})


def test_a_stratum_may_have_words_that_are_missing():
    runs = fnb.outcomes(table(t=["1", "?"]), tier=fnb.words("t", Web=["1"], missing=["?"]))
    assert values(runs, "tier") == ["Web", None]


# Columns in which a failed run is written, though nobody declared them.
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("column", "bad", "good"),
    [
        ("errors", "boom", ""),
        ("error_message", "model not found", None),
        ("exception", "KeyError", "none"),
        ("run.error", "{'code': 404}", "[]"),
        ("status", "error", "success"),
        ("status", "Timed out", "failed"),
        ("stop_reason", "api_error", "end_turn"),
        ("http_status", "503", "200"),
        ("status_code", "429", "201"),
        ("finish_reason", "error", "length"),
    ],
)
def test_what_looks_like_a_failed_run_is_said(engine, column, bad, good):
    frame = table(attack_success=["no"] * 5).assign(**{column: [bad, good, bad, good, bad]})
    runs = fnb.outcomes(on_engine(engine, frame))
    (note,) = [note for note in runs.notes if note.kind == "error"]
    assert note.rows == 3 and column in note
    fine = fnb.outcomes(on_engine(engine, frame.assign(**{column: good or "ok"})))
    assert not [note for note in fine.notes if note.kind == "error"]


def test_a_declared_error_and_columns_of_other_names_are_not_said():
    frame = table(attack_success=["no", "no"], errors=["boom", ""], terror=["error", "x"])
    runs = fnb.outcomes(frame, error="errors")
    assert values(runs, "attack_success") == [None, False]
    assert not [note for note in runs.notes if note.kind == "error"]
    # A row that is known to have failed is not said again.
    frame = table(attack_success=["no", "no"], error=["x", ""], status=["error", "ok"])
    assert not [note for note in fnb.outcomes(frame).notes if note.kind == "error"]


@pytest.mark.parametrize("word", ["ok", "OK", "-", "[]", "{}", "no error", " "])
def test_words_of_the_error_column_that_say_all_went_well(word):
    runs = fnb.outcomes(table(attack_success=["yes"], error=[word]))
    assert values(runs, "attack_success") == [True] and values(runs, "error") == [None]


# Errors carry what a program needs.
@pytest.mark.parametrize(
    ("frame", "declared", "column", "fix"),
    [
        (pd.DataFrame({"id": ["a"]}), {}, "case_id", "case_id"),
        (pd.DataFrame({"case_id": ["a"]}), {}, "mode", "mode"),
        (table(attack_success=["maybe"]), {}, "attack_success", "words"),
        (table(kind=["chat"]), {}, "kind", "words"),
        (table(tokens=["many"]), {}, "tokens", "tokens"),
        (table(gated=["no"]), {"tier": "nope"}, "tier", "tier"),
        (table(**BOTH), {}, "attack_resisted", "attack_success"),
    ],
)
def test_an_error_names_the_column_and_the_declaration_that_helps(frame, declared, column, fix):
    with pytest.raises(fnb.OutcomesError) as problem:
        fnb.outcomes(frame, read_from="a.csv", **declared)
    error = problem.value
    assert (error.column, error.fix, error.file) == (column, fix, "a.csv")


def test_a_message_holds_no_control_sign():
    with pytest.raises(fnb.OutcomesError) as problem:
        fnb.outcomes(table(attack_success=["maybe"], source=["\x1b[31mx.jsonl:1"]))
    assert "\x1b" not in str(problem.value)


# Weights that do not fit.
@pytest.mark.parametrize("weight", [2**63, 2**64, 2**53 + 2, -1, 1e300])
def test_a_weight_that_no_number_holds_exactly_is_refused(weight):
    for frame in (
        pd.DataFrame({"mode": ["On"], "attack_success": ["yes"], "rows": [weight]}),
        pd.DataFrame({"mode": ["On"], "k": [0], "n": [weight]}),
        table(attack_success=["yes"]).assign(rows=[weight]),
    ):
        with pytest.raises(fnb.OutcomesError):
            fnb.outcomes(frame)


def test_a_sum_of_weights_that_wraps_is_refused():
    frame = table(attack_success=["yes"] * 2048).assign(rows=2**53)
    with pytest.raises(fnb.OutcomesError, match="repeats") as problem:
        fnb.outcomes(frame)
    assert problem.value.column == "rows"
