"""`Outcomes`: frozen, checked, described; rows chosen and versions pooled without changing what was
read.
"""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ferrite_nb as fnb
from ferrite_nb.outcomes.contract import Note
from ferrite_nb.outcomes.declare import pandas_of, tidy_pandas
from ferrite_nb.outcomes.table import Outcomes, baseline_of

from ..engines import ENGINES, on_engine, random_outcomes

FIXTURES = Path(__file__).parents[1] / "fixtures"


def small():
    """Two cases in two modes, one of them with an error."""
    return pd.DataFrame(
        {
            "case_id": ["a", "b", "a", "b"],
            "mode": ["Off", "Off", "On", "On"],
            "tier": ["T1", "T2", "T1", "T2"],
            "attack_success": ["yes", "yes", "no", ""],
            "error": ["", "", "", "timeout"],
        }
    )


def test_outcomes_are_frozen():
    runs = fnb.outcomes(small())
    with pytest.raises(dataclasses.FrozenInstanceError):
        runs.notes = ()
    assert isinstance(runs.notes, tuple) and isinstance(runs.modes, tuple)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_input_is_left_unchanged(engine):
    frame = on_engine(engine, small())
    kept = pandas_of(fnb.outcomes(on_engine(engine, small())).table)
    before = small().to_csv()
    first = fnb.outcomes(frame, tier=fnb.words("tier", Web=["T1"], Tool=["T2"]))
    again = pandas_of(fnb.outcomes(frame).table)
    pd.testing.assert_frame_equal(again, kept)
    if engine == "pandas":
        assert frame.to_csv() == before
    assert first is not again


def test_an_operation_leaves_the_old_outcomes_unchanged():
    runs = fnb.outcomes(small())
    before = runs.frame.copy()
    chosen = runs.where(mode="On")
    pooled = runs.pool_versions()
    pd.testing.assert_frame_equal(runs.frame, before)
    assert runs.modes == ("Off", "On") and not runs.pooled and len(runs.notes) == 1
    assert (
        chosen.modes == ("On",)
        and chosen.notes[-1] == "chosen: mode = On"
        and len(chosen.frame) == 2
    )
    assert pooled.pooled and pooled.notes[-1] == "suite versions are pooled on request"


@pytest.mark.parametrize("engine", ENGINES)
def test_where_takes_one_value_or_a_list_on_every_engine(engine):
    runs = fnb.outcomes(on_engine(engine, random_outcomes(3)))
    chosen = runs.where(tier="Tier1", mode=["off", "ON"])
    found = pandas_of(chosen.table)
    wanted = pandas_of(runs.table)
    wanted = wanted[(wanted["tier"] == "Tier1") & wanted["mode"].isin(["Off", "On"])]
    assert len(found) == len(wanted) > 0
    assert sorted(found["case_id"]) == sorted(wanted["case_id"])


def test_where_takes_flags_and_numbers_as_they_are_written():
    runs = fnb.outcomes(
        small().assign(delivered=["yes", "no", "yes", "no"], group=[1, 2, 1, 2]), goal="group"
    )
    assert runs.where(delivered=True).frame["case_id"].tolist() == ["a", "a"]
    assert runs.where(goal=2).frame["case_id"].tolist() == ["b", "b"]


def test_where_says_what_there_is():
    runs = fnb.outcomes(small())
    with pytest.raises(
        ValueError, match="there is no column 'teir'; the columns are case_id, mode, tier"
    ):
        runs.where(teir="T1")
    with pytest.raises(ValueError, match="no row has tier = 't1'; there are T1, T2"):
        runs.where(tier="t1")
    with pytest.raises(ValueError, match="choose at least one value of tier"):
        runs.where(tier=[])


# Duplicates: see test_identity.
def twice():
    return pd.concat(
        [small(), small().iloc[[0]].assign(attack_success="no", source="x")], ignore_index=True
    )


def test_repeats_are_no_duplicates():
    runs = fnb.outcomes(twice().assign(seed=[1, 1, 1, 1, 2]), repeat="seed")
    assert len(runs.frame) == 5 and runs.frame["repeat"].tolist() == ["1", "1", "1", "1", "2"]


@pytest.mark.parametrize("engine", ["polars lazy", "duckdb"])
def test_a_lazy_table_is_checked_on_request(engine):
    runs = fnb.outcomes(on_engine(engine, twice()))
    assert not runs.checked and "keys not checked for duplicates" in repr(runs)
    with pytest.raises(fnb.OutcomesError, match="stand in more than one row"):
        fnb.outcomes(on_engine(engine, twice()), check="full")
    assert fnb.outcomes(on_engine(engine, small()), check="full").checked
    with pytest.raises(ValueError, match="keep= needs an order of rows"):
        fnb.outcomes(on_engine(engine, twice()), keep="last")


def test_weighted_rows_have_no_key():
    frame = pd.DataFrame({"mode": ["On", "On"], "attack_success": ["yes", "no"], "rows": [3, 17]})
    runs = fnb.outcomes(frame)
    assert "20 rows (20 attack; 0 errors)" in repr(runs)


# Calls and frames that make no sense.
def test_a_bad_call_is_a_plain_error():
    with pytest.raises(ValueError, match='keep must be "first", "last" or "known"'):
        fnb.outcomes(small(), keep="newest")
    with pytest.raises(
        TypeError, match=r"tier takes a column name, a list of names, fnb.const or fnb.words, got 3"
    ):
        fnb.outcomes(small(), tier=3)
    with pytest.raises(TypeError, match="tier takes"):
        fnb.outcomes(small(), tier=[])
    with pytest.raises(
        TypeError, match="a frame of pandas, Polars, PyArrow, DuckDB or Spark is needed, got str"
    ):
        fnb.outcomes("results.csv")


def test_a_frame_without_rows_or_with_odd_columns_is_refused():
    with pytest.raises(fnb.OutcomesError, match="has no row of outcomes"):
        fnb.outcomes(small().iloc[:0], read_from="empty.csv")
    with pytest.raises(fnb.OutcomesError, match="column names must be texts and differ"):
        fnb.outcomes(pd.DataFrame([[1, 2]], columns=["case_id", "case_id"]))
    with pytest.raises(fnb.OutcomesError, match="column names must be texts and differ"):
        fnb.outcomes(pd.DataFrame([[1, 2]]))


def test_the_index_of_a_frame_does_not_matter():
    frame = small().set_axis([7, 7, 7, 7])
    assert fnb.outcomes(frame).frame.index.tolist() == [0, 1, 2, 3]


# What is shown.
def test_the_display_says_what_was_read_and_what_is_not_computable():
    runs = fnb.outcomes(small(), read_from="runs.csv")
    text = repr(runs)
    assert "runs.csv: 4 rows of 2 cases (4 attack; 1 error); modes: Off, On" in text
    assert "ASR  CR" in text and "FGR" in text.split("not recorded", 1)[1]
    assert "no column kind" in text
    page = runs._repr_html_()
    assert page.startswith("<table>") and "runs.csv: 4 rows" in page


def test_hostile_text_is_escaped_in_the_display():
    runs = fnb.outcomes(small(), read_from="<script>alert(1)</script>", notes=["<b>x</b>"])
    assert "<script>" not in runs._repr_html_() and "<b>" not in runs._repr_html_()


def test_an_all_error_table_is_read_and_has_no_known_outcome():
    frame = small().assign(error="boom")
    runs = fnb.outcomes(frame)
    assert runs.frame["attack_success"].isna().all() and "4 errors" in repr(runs)


def test_types_of_the_table():
    runs = fnb.outcomes(small().assign(segments=[1, 2, None, 4], latency_ms="3"))
    types = {name: str(kind) for name, kind in runs.frame.dtypes.items()}
    assert types == {
        "case_id": "str",
        "mode": "str",
        "tier": "str",
        "attack_success": "boolean",
        "error": "str",
        "segments": "Int64",
        "latency_ms": "float64",
        "kind": "str",
    }


# Round trips.
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_outcomes_of_outcomes_are_the_same(seed):
    runs = fnb.outcomes(random_outcomes(seed, cases=8))
    again = fnb.outcomes(runs.frame)
    pd.testing.assert_frame_equal(again.frame, runs.frame)
    assert again.modes == runs.modes


def test_a_round_trip_through_parquet_keeps_every_value(tmp_path):
    runs = fnb.outcomes(random_outcomes(5).assign(case_id=lambda frame: "00" + frame["case_id"]))
    runs.frame.to_parquet(tmp_path / "runs.parquet")
    again = fnb.read(tmp_path / "runs.parquet")
    columns = [name for name in again.frame if name != "source"]
    assert set(columns) == set(runs.columns)
    left, right = (tidy_pandas(one.frame)[columns] for one in (again, runs))
    pd.testing.assert_frame_equal(left, right, check_dtype=False)
    left, right = (fnb.rates(one).drop(columns="source") for one in (again, runs))
    pd.testing.assert_frame_equal(left, right)


# Fixtures from public reports of wrong numbers.
def test_a_european_spreadsheet_export():
    runs = fnb.read(
        FIXTURES / "C32_excel_european.csv", attack_success="success", latency_ms="latency"
    )
    frame = runs.frame
    assert sorted(set(frame["case_id"])) == ["001", "002", "1E5"] and frame.columns[0] == "case_id"
    by_mode = frame.groupby("mode")["attack_success"].agg(["sum", "count"])
    assert by_mode.loc["off"].tolist() == [2, 3] and by_mode.loc["on"].tolist() == [1, 3]
    assert frame[frame["mode"] == "off"]["latency_ms"].mean() == pytest.approx(1.35)
    pair = fnb.compare(runs).iloc[0]
    assert (pair["b"], pair["c"]) == (1, 0)


def test_every_token_of_the_spellings_fixture():
    table = pd.read_csv(FIXTURES / "C33_outcome_tokens.csv", dtype=str, keep_default_na=False)
    with pytest.raises(
        fnb.OutcomesError,
        match=r"C33_outcome_tokens.csv, row 15: column attack_success has 'maybe'",
    ):
        fnb.read(FIXTURES / "C33_outcome_tokens.csv", attack_success="outcome", mode=fnb.const("x"))
    frame = fnb.outcomes(
        table[table["outcome"] != "maybe"], attack_success="outcome", mode=fnb.const("x")
    ).frame
    true, false = (
        {int(case) for case in frame["case_id"][frame["attack_success"].eq(value).fillna(False)]}
        for value in (True, False)
    )
    assert true == {0, 1, 3, 5, 7, 11} and false == {2, 4, 6, 12, 13}
    assert frame["case_id"][frame["attack_success"].isna() & frame["error"].isna()].tolist() == [
        "8",
        "9",
    ]
    assert frame["case_id"][frame["error"].notna()].tolist() == ["10"]


def test_bare_rates_are_refused_with_the_counts_they_may_stand_for():
    path = FIXTURES / "C44_percent_or_fraction.csv"
    for declared in ({}, {"attack_success": "asr", "case_id": "mode"}):
        with pytest.raises(
            fnb.OutcomesError,
            match=r"rate.*whole counts in columns k and n.*226/500 if it is percent",
        ):
            fnb.read(path, **declared)
    counts = pd.DataFrame({"mode": ["off", "on"], "k": [226, 4], "n": [500, 500]})
    table = fnb.rates(fnb.outcomes(counts), "ASR").set_index("mode")
    assert table.loc["off", ["low", "high"]].tolist() == pytest.approx(
        [0.408907, 0.495825], abs=1e-6
    )
    assert table.loc["on", ["low", "high"]].tolist() == pytest.approx(
        [0.003115, 0.020387], abs=1e-6
    )


def test_two_discordant_counts_alone_name_the_call():
    with pytest.raises(
        fnb.OutcomesError,
        match=r"C43_huge_discordance.json, b and c alone .*fnb.stats.mcnemar\(b, c\)",
    ):
        fnb.read(FIXTURES / "C43_huge_discordance.json")


def test_outcomes_are_made_by_one_door():
    assert isinstance(fnb.outcomes(small()), Outcomes)


@pytest.mark.parametrize("engine", ENGINES)
def test_clusters_and_baseline_are_declared_once_and_kept(engine):
    frame = on_engine(engine, random_outcomes(5))
    runs = fnb.outcomes(frame, cluster=["template", "goal"], baseline="ON")
    assert runs.cluster == ("template", "goal") and runs.baseline == "On"
    assert baseline_of(runs) == ("On", "declared")
    assert runs.where(tier="Tier1").pool_versions().cluster == ("template", "goal")
    again = runs.declare(cluster="template")
    assert (again.cluster, again.baseline) == (("template",), "On")
    assert runs.declare(cluster=()).cluster == () and runs.cluster == ("template", "goal")
    assert baseline_of(runs.where(mode=["Off", "LoopOnly"])) == ("Off", "known")
    if not runs.lazy:
        assert runs.modes == ("On", "Off", "SanitizerOnly", "LoopOnly")
        assert runs.declare(modes=["LoopOnly", "Off"]).modes[:2] == ("On", "LoopOnly")


@pytest.mark.parametrize("wrong", ["nope", "mode", "kind", "attack_success", ["tier", "tier"]])
def test_a_cluster_is_a_column_that_can_say_what_belongs_together(wrong):
    with pytest.raises(fnb.OutcomesError) as problem:
        fnb.outcomes(random_outcomes(5), cluster=wrong)
    assert problem.value.fix == "cluster"


def test_a_baseline_is_one_of_the_modes():
    with pytest.raises(fnb.OutcomesError) as problem:
        fnb.outcomes(small(), baseline="none")
    assert (problem.value.column, problem.value.fix) == ("mode", "baseline")


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_modes_is_the_same_in_any_order_of_rows(seed):
    rows = pd.DataFrame(
        {
            "case_id": "a",
            "mode": ["guard v2", "none", "guard v10", "On"],
            "attack_success": [True, False, True, False],
        }
    )
    runs = fnb.outcomes(rows.sample(frac=1, random_state=seed))
    assert runs.modes == ("none", "On", "guard v2", "guard v10")


def test_named_tables_keep_the_order_in_which_they_are_named():
    frame = small()[["case_id", "attack_success"]].head(2)
    assert fnb.read({"z": frame, "a": frame}).modes == ("z", "a")
    assert fnb.read({"z": frame, "a": frame, "None": frame}).modes == ("None", "z", "a")


def test_every_note_has_a_kind_and_plain_text_becomes_one():
    runs = fnb.outcomes(small(), notes=["read as: a table"]).where(mode="On").pool_versions()
    assert [note.kind for note in runs.notes] == ["note", "assumed", "chosen", "version"]
    note = pickle.loads(pickle.dumps(Note("2 rows left out", "left out", 2).of("a.csv")))
    assert (note, note.kind, note.rows) == ("a.csv: 2 rows left out", "left out", 2)


def test_an_error_carries_what_a_program_needs_and_survives_a_pickle():
    problem = fnb.OutcomesError("no", column="mode", fix="mode", file="a.csv", row=3)
    again = pickle.loads(pickle.dumps(problem))
    assert (str(again), again.column, again.fix, again.file, again.row) == (
        "no",
        "mode",
        "mode",
        "a.csv",
        3,
    )
