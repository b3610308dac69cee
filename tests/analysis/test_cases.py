"""`cases`: the rows behind a cell or a pair, alike on every engine; hostile texts stay texts."""

from __future__ import annotations

import pandas as pd
import pytest

import ferrite_nb as fnb
from tests.engines import ENGINES, on_engine, random_outcomes

ONLY = (None, "b", "c", "missing", "event")


def runs_of(rows: list[tuple[object, ...]], **more: object) -> fnb.Outcomes:
    frame = pd.DataFrame(rows, columns=["case_id", "mode", "attack_success"])
    return fnb.outcomes(frame.assign(**more))


def test_the_published_pair_of_run_a_names_its_case():
    # SanitizerOnly against LoopOnly: b 7, c 1
    runs = fnb.read(fnb.data("ferrite_run_a.csv"))
    pair = ("SanitizerOnly", "LoopOnly")
    table = fnb.cases(runs, pair=pair, only="c")
    assert table[["case_id", *pair]].to_numpy().tolist() == [["c24", "no", "yes"]]
    assert table["source"].tolist() == ["ferrite_run_a.csv, row 84; ferrite_run_a.csv, row 85"]
    assert len(fnb.cases(runs, pair=pair, only="b")) == 7 and len(fnb.cases(runs, pair=pair)) == 19


@pytest.mark.parametrize("repeats", [1, 2, 3])
@pytest.mark.parametrize("metric", ["ASR", "CR", "FGR"])
def test_there_are_as_many_cases_as_compare_counts(repeats, metric):
    runs = fnb.outcomes(random_outcomes(repeats, repeats=repeats))
    for row in fnb.compare(runs, metric).to_dict("records"):
        for only in "bc":
            table = fnb.cases(runs, metric, pair=(row["mode_a"], row["mode_b"]), only=only)
            assert table["case_id"].nunique() == row[only]


def test_an_event_counts_as_rates_count_it():
    runs = fnb.outcomes(random_outcomes(3))
    for row in fnb.rates(runs, "ASR").to_dict("records"):
        table = fnb.cases(runs, mode=row["mode"], only="event")
        assert len(table) == row["k"] and set(table[row["mode"]]) == {"yes"}
        assert len(fnb.cases(runs, mode=row["mode"], only="missing")) == row["missing"]
        assert len(fnb.cases(runs, mode=row["mode"])) == row["n"] + row["missing"]


def test_unknown_and_not_run_are_different_answers():
    runs = runs_of([("a", "Off", True), ("a", "On", None), ("b", "Off", False)])
    table = fnb.cases(runs)
    assert table[["case_id", "Off", "On"]].to_numpy().tolist() == [
        ["a", "yes", "unknown"],
        ["b", "no", ""],
    ]
    assert fnb.cases(runs, pair=("Off", "On"))["case_id"].tolist() == ["a"]
    assert fnb.cases(runs, only="missing")["case_id"].tolist() == ["a"]


@pytest.mark.parametrize("engine", ENGINES[1:])
def test_every_engine_gives_the_same_cases(engine):
    frame = random_outcomes(4, repeats=2)
    ours, theirs = fnb.outcomes(frame), fnb.outcomes(on_engine(engine, frame))
    for only in ONLY:
        options = {"pair": ("Off", "On"), "only": only, "show": ["error", "trace", "goal"]}
        a, b = fnb.cases(ours, **options), fnb.cases(theirs, **options)
        pd.testing.assert_frame_equal(a, b)


NAMES = ["case_id", "source", "tier", "metric", "repeat", "_answer", "b", "none", "insufficient"]


@pytest.mark.parametrize("name", NAMES)
def test_a_mode_may_have_the_name_of_a_column(name):
    runs = runs_of([("a", name, True), ("a", "On", False)], tier="T")
    table = fnb.cases(runs, pair=(name, "On"), only="b")
    other = runs_of([("a", "M", True), ("a", "On", False)], tier="T")
    plain = fnb.cases(other, pair=("M", "On"), only="b")
    assert table["case_id"].tolist() == ["a"] and table["tier"].tolist() == ["T"]
    at = list(plain.columns).index("M")
    assert table.iloc[0, at] == "yes" and table.columns[at] in (name, f"mode {name}")
    assert table.columns.is_unique and len(table.columns) == len(plain.columns)


def test_texts_of_the_record_come_only_when_named_and_are_cut_and_escaped():
    payload = "<script>alert(1)</script>" + "x" * 5_000
    runs = runs_of([("a", "Off", True), ("a", "On", False)], prompt=payload, answer=["=1+1", "no"])
    assert "prompt" not in fnb.cases(runs)
    table = fnb.cases(runs, show=["prompt", "answer"])
    assert len(table["prompt"].iloc[0]) == 500
    assert table[["answer: Off", "answer: On"]].to_numpy().tolist() == [["=1+1", "no"]]


def test_tables_escape_the_texts_of_the_record():
    runs = runs_of([("a", "Off", True)], prompt="<script>alert(1)</script>", answer="=1+1")
    table = fnb.cases(runs, show=["prompt", "answer"])
    assert "<script>" not in str(fnb.tables.html(table)) and "'=1+1" in fnb.tables.csv(table)


def test_clusters_and_strata_stand_between_the_key_and_the_modes():
    frame = random_outcomes(1, repeats=2)
    table = fnb.cases(fnb.outcomes(frame, cluster="goal"), mode=["On", "Off"])
    first = ["case_id", "repeat", "goal", "tier", "scope", "On", "Off", "source", "metric"]
    assert list(table.columns) == first and isinstance(table, pd.DataFrame)


def test_numbered_cases_sort_as_numbers():
    runs = runs_of([(f"c{n}", "On", True) for n in (10, 9, 100, 1)])
    assert fnb.cases(runs)["case_id"].tolist() == ["c1", "c9", "c10", "c100"]


def test_no_case_is_an_empty_table_with_its_columns():
    runs = runs_of([("a", "Off", True), ("a", "On", True)])
    table = fnb.cases(runs, pair=("Off", "On"), only="b")
    assert table.empty and {"case_id", "Off", "On", "source"} <= set(table.columns)


@pytest.mark.parametrize(
    "options",
    [
        {"only": "d"},
        {"only": "b"},
        {"mode": "On", "pair": ("Off", "On")},
        {"pair": ("Off", "off")},
        {"pair": ("Off",)},
        {"mode": "guard"},
        {"show": "nothing"},
        {"metric": "R"},
    ],
)
def test_a_bad_call_is_refused(options):
    with pytest.raises(ValueError):
        fnb.cases(fnb.outcomes(random_outcomes(0)), **options)


def test_a_table_of_counts_has_no_cases():
    runs = fnb.outcomes(pd.DataFrame({"mode": ["Off", "On"], "k": [1, 2], "n": [9, 9]}))
    with pytest.raises(fnb.OutcomesError):
        fnb.cases(runs)
