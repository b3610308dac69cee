"""Ferrite's scripted runs: three forms of one run, joined with its cases."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

import ferrite_nb as fnb

from .test_read import put

SAMPLE = Path(__file__).parent / "files/ferrite"
FORMS = ("eval_report.csv", "corpus.db", "executions.jsonl")
COLUMNS = "case_id,corpus,tier,defense_mode,sanitizer_caught,fingerprint_caught,consent_gated,final_outcome,residual_risk"


def alone(folder, name):
    """One file of the sample in a folder of its own."""
    shutil.copy(SAMPLE / name, folder / name)
    return folder / name


def report(folder, *rows, name="eval_report.csv"):
    """A report with these rows, without times."""
    return put(folder, name, COLUMNS + "\n" + "".join(row + "\n" for row in rows))


ROW = "c{n},{corpus},Tier1,{mode},{sanitizer},{loop},Gated,{outcome},None"


def row(n=1, corpus="Attack", mode="On", sanitizer="Caught", loop="Caught", outcome="Executed"):
    return ROW.format(
        n=n, corpus=corpus, mode=mode, sanitizer=sanitizer, loop=loop, outcome=outcome
    )


# The three forms.
@pytest.mark.parametrize("form", FORMS)
def test_the_three_forms_of_one_run_agree(form):
    frame = fnb.read(SAMPLE / form).frame.sort_values(["case_id", "mode"]).reset_index(drop=True)
    wanted = pd.DataFrame(
        {
            "mode": ["LoopOnly", "Off", "On", "SanitizerOnly", "On", "SanitizerOnly"],
            "kind": ["attack"] * 4 + ["benign"] * 2,
            "tier": ["Tier1"] * 6,
            "attack_success": pd.array([False, True, False, False, None, None], dtype="boolean"),
            "attempted": pd.array([True] * 4 + [None] * 2, dtype="boolean"),
            "blocked": pd.array([True, False, True, True, None, None], dtype="boolean"),
            "deviation_caught": pd.array([True, None, True, None, None, None], dtype="boolean"),
            "finding_caught": pd.array([None, None, True, True, None, None], dtype="boolean"),
            "gated": pd.array([None] * 4 + [False, True], dtype="boolean"),
            "is_deviation": pd.array([True] * 4 + [False] * 2, dtype="boolean"),
            "has_expected_finding": pd.array([True] * 4 + [False] * 2, dtype="boolean"),
            "within_fingerprint": pd.array([False] * 6, dtype="boolean"),
            "scope": ["exact"] * 4 + ["task_open"] * 2,
            "carrier": ["web_content"] * 6,
            "placement": ["HtmlComment"] * 6,
            "latency_ms": [6.0, 2.0, 7.0, 3.0, 5.0, 2.0],
            "repeat": ["1"] * 6,
        }
    )
    pd.testing.assert_frame_equal(frame[wanted.columns], wanted, check_dtype=False)
    assert frame["category"].tolist()[:4] == ["DataExfiltration"] * 4
    assert "model" not in frame


@pytest.mark.parametrize("form", ["corpus.db", "executions.jsonl"])
def test_a_trace_is_the_ordered_list_of_actions(form):
    frame = fnb.read(SAMPLE / form).frame
    assert set(frame["trace"]) == {"dom.read https://cafe.example; navigate https://bad.example"}


def test_old_records_name_the_tool_and_an_empty_run_has_a_trace(tmp_path):
    base = json.loads((SAMPLE / "executions.jsonl").read_text().splitlines()[0])
    shutil.copy(SAMPLE / "cases.jsonl", tmp_path / "cases.jsonl")
    old = base | {"actual_events": [{"tool": "dom.read", "origin": None}, 7]}
    none = base | {"actual_events": [], "defense_mode": "Off"}
    path = put(tmp_path, "executions.jsonl", json.dumps(old) + "\n" + json.dumps(none) + "\n")
    assert fnb.read(path).frame["trace"].tolist() == ["dom.read; ", "(no action)"]


def test_a_folder_prefers_the_database_and_says_what_it_left(tmp_path):
    for name in (*FORMS, "cases.jsonl", "case_file.json"):
        alone(tmp_path, name)
    put(tmp_path, "EVAL_REPORT.md", "# report")
    runs = fnb.read(tmp_path)
    assert runs.source == "corpus.db" and len(runs.frame) == 6
    assert "eval_report.csv: the same run, not read twice: 1" in runs.notes
    assert "executions.jsonl: the same run, not read twice: 1" in runs.notes


def test_a_different_number_of_executions_in_another_form_is_said(tmp_path):
    alone(tmp_path, "corpus.db")
    report(tmp_path, row())
    runs = fnb.read(tmp_path)
    assert any("it holds 1 executions, the file that was read 6" in note for note in runs.notes)


# Without the cases.
def test_without_cases_what_needs_them_is_not_computable(tmp_path):
    runs = fnb.read(alone(tmp_path, "eval_report.csv"))
    assert not {"is_deviation", "within_fingerprint", "scope"} & set(runs.columns)
    assert runs.frame["has_expected_finding"].tolist() == [True] * 4 + [False] * 2
    assert any("expected finding is taken from sanitizer_caught" in note for note in runs.notes)
    text = repr(runs)
    assert "SDR" in text.split("not computable")[0] and "ADR" not in text.split("not computable")[0]


def test_an_expected_finding_is_unknown_where_no_sanitizer_ran(tmp_path):
    path = report(
        tmp_path,
        row(1, mode="Off", sanitizer="NotApplicable"),
        row(2, mode="Off", sanitizer="NotApplicable"),
        row(2, mode="On", sanitizer="Missed"),
        row(3, mode="On", sanitizer="NotApplicable"),
    )
    frame = fnb.read(path).frame
    assert frame["has_expected_finding"].tolist() == [pd.NA, True, True, False]


def test_executions_without_their_cases_are_refused(tmp_path):
    with pytest.raises(
        fnb.OutcomesError,
        match=r"executions need their cases \(cases.jsonl, corpus.db\) beside them",
    ):
        fnb.read(alone(tmp_path, "executions.jsonl"))


@pytest.mark.parametrize("name", ["cases.jsonl", "case_file.json"])
def test_cases_alone_are_no_results(tmp_path, name):
    with pytest.raises(fnb.OutcomesError, match=f"{name}: no execution in it, only cases"):
        fnb.read(alone(tmp_path, name))


def test_an_execution_of_an_unknown_case_is_listed(tmp_path):
    alone(tmp_path, "cases.jsonl")
    runs = fnb.read(
        report(tmp_path, row(9), "00000000-0000-4000-8000-000000000001" + row(1, mode="Off")[2:])
    )
    assert any(
        "whose case is not among the cases (c9): 1 (first: eval_report.csv, row 1)" in note
        for note in runs.notes
    )
    assert runs.frame.set_index("case_id")["is_deviation"].tolist() == [pd.NA, True]


# Words.
@pytest.mark.parametrize(
    ("outcome", "success", "attempted", "blocked"),
    [
        ("Executed", True, True, False),
        ("Stripped", False, True, True),
        ("Blocked", False, True, True),
        ("ContainedViaConsent", False, True, True),
        ("NotAttempted", False, False, False),
    ],
)
def test_outcomes_of_attacks(tmp_path, outcome, success, attempted, blocked):
    found = fnb.read(report(tmp_path, row(outcome=outcome))).frame.iloc[0]
    assert found[["attack_success", "attempted", "blocked"]].tolist() == [
        success,
        attempted,
        blocked,
    ]
    assert pd.isna(found["gated"])


@pytest.mark.parametrize(("outcome", "gated"), [("BenignFalseFlag", True), ("BenignNoFlag", False)])
def test_outcomes_of_benign_cases(tmp_path, outcome, gated):
    found = fnb.read(report(tmp_path, row(corpus="Benign", outcome=outcome))).frame.iloc[0]
    assert (
        found["gated"] == gated and found[["attack_success", "attempted", "blocked"]].isna().all()
    )


@pytest.mark.parametrize(
    ("column", "change"),
    [
        ("final_outcome", "outcome"),
        ("fingerprint_caught", "loop"),
        ("sanitizer_caught", "sanitizer"),
    ],
)
def test_an_unknown_word_raises_with_its_place(tmp_path, column, change):
    with pytest.raises(
        fnb.OutcomesError, match=f"eval_report.csv, row 2: column {column} has 'Odd'; the words are"
    ):
        fnb.read(report(tmp_path, row(1), row(2, **{change: "Odd"})))


def test_a_corpus_that_is_neither_is_left_out_with_a_note(tmp_path):
    runs = fnb.read(report(tmp_path, row(1), row(2, corpus="unknown")))
    assert len(runs.frame) == 1
    assert any(
        "neither attack nor benign (unknown): 1 (first: eval_report.csv, row 2)" in note
        for note in runs.notes
    )


def test_an_outcome_that_does_not_fit_the_case_is_missing(tmp_path):
    runs = fnb.read(
        report(
            tmp_path, row(1, outcome="BenignNoFlag"), row(2, corpus="Benign", outcome="Executed")
        )
    )
    assert runs.frame[["attack_success", "gated"]].isna().all(axis=None)
    assert any("do not fit the kind of case, taken as missing: 2" in note for note in runs.notes)


def test_other_columns_of_a_report_stay_as_text(tmp_path):
    path = put(tmp_path, "r.csv", f"{COLUMNS},template\n{row()},007\n")
    assert fnb.read(path).frame["template"].tolist() == ["007"]


def test_a_duplicate_execution_raises_and_keep_decides(tmp_path):
    path = report(tmp_path, row(), row(outcome="Stripped"))
    with pytest.raises(
        fnb.OutcomesError,
        match=r"c1 / On / 1 \(2 rows\).*eval_report.csv, row 1, eval_report.csv, row 2",
    ):
        fnb.read(path)
    assert fnb.read(path, keep="last").frame["attack_success"].tolist() == [False]


# Cases.
def case(**changes):
    return (
        json.loads((SAMPLE / "cases.jsonl").read_text().splitlines()[0])
        | {"case_id": "c1"}
        | changes
    )


@pytest.mark.parametrize(
    ("change", "column", "value"),
    [
        ({"expected_origins": {"domain_suffix": ["x"]}}, "scope", "domain_suffix"),
        ({"expected_origins": {"task_open": {"rationale": "x"}}}, "scope", "task_open"),
        (
            {
                "expected_origins": {
                    "exact": [],
                    "domain_suffix": [],
                    "task_open": False,
                    "scope_type": "DomainSuffix",
                }
            },
            "scope",
            "domain_suffix",
        ),
        ({"expected_origins": None}, "scope", None),
        ({"ground_truth": {"WithinFingerprintDataOnly": {}}}, "within_fingerprint", True),
        ({"ground_truth": {"WithinFingerprintDataOnly": {}}}, "is_deviation", False),
        ({"ground_truth": {"WithinFingerprintOriginShift": {}}}, "within_fingerprint", False),
        ({"ground_truth": "None"}, "is_deviation", False),
        ({"ground_truth": {"Odd": {}}}, "is_deviation", None),
        ({"expected_finding": None}, "has_expected_finding", False),
        ({"carrier_vector": {"ToolOutput": "JsonField"}}, "carrier", "tool_output"),
        ({"carrier_vector": {"ToolOutput": "JsonField"}}, "placement", "JsonField"),
        ({"carrier": "WebContent", "carrier_vector": "VisibleText"}, "carrier", "web_content"),
        ({"carrier": "WebContent", "carrier_vector": "VisibleText"}, "placement", "VisibleText"),
    ],
)
def test_facts_of_a_case(tmp_path, change, column, value):
    put(tmp_path, "cases.jsonl", json.dumps(case(**change)) + "\n")
    found = fnb.read(report(tmp_path, row(), row(mode="Off"))).frame[column].iloc[0]
    assert pd.isna(found) if value is None else found == value


def test_a_case_file_has_its_case_inside(tmp_path):
    put(tmp_path, "one.json", json.dumps({"case": case(), "content": {}}, indent=1))
    put(tmp_path, "two.json", json.dumps(case(case_id="c2", ground_truth="None"), indent=1))
    frame = fnb.read(report(tmp_path, row(1), row(2))).frame
    assert frame["is_deviation"].tolist() == [True, False]


def test_a_damaged_record_of_the_database_is_counted(tmp_path):
    path = alone(tmp_path, "corpus.db")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE execution_records SET data = '{broken' WHERE rowid = 1")
        connection.execute("UPDATE execution_records SET data = X'ff00' WHERE rowid = 2")
        connection.execute("UPDATE execution_records SET data = '[1]' WHERE rowid = 3")
        connection.commit()
    runs = fnb.read(path)
    assert len(runs.frame) == 3
    assert (
        "records that cannot be read: 3 (first: corpus.db, execution_records row 1)" in runs.notes
    )


def test_the_database_is_not_written(tmp_path):
    path = alone(tmp_path, "corpus.db")
    before = path.read_bytes()
    path.chmod(0o444)
    fnb.read(path)
    assert path.read_bytes() == before and [one.name for one in tmp_path.iterdir()] == ["corpus.db"]


def test_a_truncated_database_is_refused(tmp_path):
    path = alone(tmp_path, "corpus.db")
    path.write_bytes(path.read_bytes()[:9000])
    with pytest.raises(fnb.OutcomesError, match=r"corpus.db"):
        fnb.read(path)
