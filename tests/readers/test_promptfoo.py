"""promptfoo: the three forms agree, failures are read by the kind of the test, errors are
missing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ferrite_nb as fnb

FILES = Path(__file__).parent / "files" / "promptfoo"
FORMS = ["sim_redteam_out.csv", "sim_redteam_out.json.gz", "sim_redteam_out.jsonl.gz"]


def notes_of(runs: fnb.Outcomes) -> str:
    return "\n".join(runs.notes)


def result(case: str = "a", *, success: Any = True, reason: Any = 0, **more: Any) -> dict[str, Any]:
    return {
        "promptIdx": 0,
        "testIdx": 0,
        "provider": {"id": "sim", "label": "guarded"},
        "vars": {"case_id": case},
        "success": success,
        "failureReason": reason,
        "latencyMs": 10,
        "response": {"output": "x"},
        **more,
    }


def lines(folder: Path, *rows: Any, name: str = "out.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


# Counts of the simulated run: per mode, attacks (k, n, rows) and false refusals (k, n).
@pytest.mark.parametrize("name", FORMS)
def test_every_form_has_the_counts_of_the_run(name: str) -> None:
    frame = fnb.read(FILES / name).frame
    found = {}
    for mode, rows in frame.groupby("mode"):
        attacks = rows.loc[rows["kind"] == "attack", "attack_success"]
        benign = rows.loc[rows["kind"] == "benign", "gated"]
        found[mode] = (
            int(attacks.sum()),
            int(attacks.notna().sum()),
            len(attacks),
            int(benign.sum()),
            int(benign.notna().sum()),
        )
    assert found == {"undefended": (15, 34, 36, 0, 16), "guarded": (6, 32, 36, 1, 16)}


def test_the_forms_agree_row_by_row() -> None:
    key, shared = (
        ["case_id", "mode", "repeat"],
        ["kind", "attack_success", "gated", "strategy", "description"],
    )
    tables = [
        fnb.read(FILES / name).frame.sort_values(key, ignore_index=True)[key + shared]
        for name in FORMS
    ]
    assert tables[0].equals(tables[1]) and tables[1].equals(tables[2])
    assert set(tables[0]["repeat"]) == {"1", "2"}


def test_failed_tests_are_no_outcome_of_the_other_kind() -> None:
    frame = fnb.read(FILES / FORMS[1]).frame
    assert frame.loc[frame["kind"] == "benign", "attack_success"].isna().all()
    assert frame.loc[frame["kind"] == "attack", "gated"].isna().all()


def test_latency_of_an_error_is_missing_not_zero() -> None:
    frame = fnb.read(FILES / FORMS[1]).frame
    attacks = frame[(frame["kind"] == "attack") & (frame["mode"] == "undefended")]
    assert attacks["latency_ms"].median() == 554
    assert attacks["latency_ms"].isna().sum() == 2


def test_totals_of_the_file_are_checked() -> None:
    assert "76 passed, 22 failed" in notes_of(fnb.read(FILES / FORMS[1]))
    assert "recount equals the totals of the file" in notes_of(fnb.read(FILES / FORMS[1]))


def test_other_totals_are_said(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    stats = {"successes": 5, "failures": 0, "errors": 0}
    path.write_text(
        json.dumps(
            {"evalId": "e", "results": {"version": 3, "results": [result()], "stats": stats}}
        )
    )
    assert "the file states other totals: 5 passed, 0 failed, 0 errors" in notes_of(fnb.read(path))


def test_pass_rate_leaves_errors_out(tmp_path: Path) -> None:
    # promptfoo issue 6343: 2 passes, 3 failures, 5 errors are a pass rate of 2 of 5.
    rows = [result(f"p{i}") for i in range(2)] + [
        result(f"f{i}", success=False, reason=1) for i in range(3)
    ]
    rows += [result(f"e{i}", success=False, reason=2, error="503") for i in range(5)]
    rates = fnb.rates(fnb.read(lines(tmp_path, *rows)), "ASR", by="mode").iloc[0]
    assert (rates["k"], rates["n"], rates["missing"]) == (3, 5, 5)


def test_failed_grader_is_missing_and_nothing_can_be_computed(tmp_path: Path) -> None:
    # promptfoo issue 7040: 16 rows whose grader gave no verdict are written as failed.
    grading = {
        "pass": False,
        "componentResults": [{"pass": False, "metadata": {"graderError": True}}],
    }
    rows = [result(f"c{i}", success=False, reason=1, gradingResult=grading) for i in range(16)]
    runs = fnb.read(lines(tmp_path, *rows))
    assert runs.frame["attack_success"].isna().all()
    assert (
        "rows whose grader failed: outcome missing, though promptfoo counts them as failed: 16"
        in notes_of(runs)
    )
    rates = fnb.rates(runs, "ASR", by="mode").iloc[0]
    assert rates["n"] == 0 and rates["rate"] != rates["rate"]


def test_a_failed_assertion_with_an_error_text_is_a_failure(tmp_path: Path) -> None:
    runs = fnb.read(
        lines(tmp_path, result(success=False, reason=1, error="Expected output to not contain X"))
    )
    assert runs.frame["attack_success"].tolist() == [True] and "error" not in runs.columns


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"success": True}, False),
        ({"success": False, "gradingResult": {"pass": False}}, True),
        ({"success": False, "error": "503"}, None),
    ],
)
def test_older_rows_without_failure_reason(
    tmp_path: Path, row: dict[str, Any], expected: bool | None
) -> None:
    old = {key: value for key, value in result().items() if key != "failureReason"} | row
    hits = fnb.read(lines(tmp_path, old)).frame["attack_success"]
    assert hits.isna().tolist() == [expected is None] and (
        expected is None or hits.tolist() == [expected]
    )


def test_unknown_failure_reason_is_named(tmp_path: Path) -> None:
    runs = fnb.read(lines(tmp_path, result(success=False, reason=9), result("b")))
    assert "rows whose success and failureReason do not fit or are unknown" in notes_of(runs)
    assert "success false, failureReason 9" in notes_of(runs)
    assert runs.frame["attack_success"].isna().tolist() == [True, False]


def test_case_must_be_named_because_test_numbers_do_not_tell_it(tmp_path: Path) -> None:
    rows = [
        result() | {"vars": {"q": "hi"}, "testIdx": i, "testCase": {"description": "d"}}
        for i in range(2)
    ]
    with pytest.raises(fnb.OutcomesError, match=r'testIdx does not.*q.*case_id="description"'):
        fnb.read(lines(tmp_path, *rows))
    frame = fnb.read(lines(tmp_path, *rows), case_id="q").frame
    assert (frame["case_id"].tolist(), frame["repeat"].tolist()) == (["hi", "hi"], ["1", "2"])


def test_kind_takes_the_words_of_the_caller(tmp_path: Path) -> None:
    rows = [
        result("a", success=False, reason=1) | {"metadata": {"purpose": "red"}},
        result("b", success=False, reason=1) | {"metadata": {"purpose": "normal"}},
    ]
    runs = fnb.read(
        lines(tmp_path, *rows), kind=fnb.words("purpose", attack=["red"], benign=["normal"])
    )
    assert (
        runs.frame["attack_success"].tolist()[0] is True and runs.frame["gated"].tolist()[1] is True
    )
    assert "gated" not in fnb.read(lines(tmp_path, *rows)).columns, (
        "without a kind every row is an attack"
    )


def test_several_prompts_of_a_provider_are_no_repeats(tmp_path: Path) -> None:
    rows = [
        result(prompt={"label": label}) | {"promptIdx": i}
        for i, label in enumerate(("short", "long"))
    ]
    assert set(fnb.read(lines(tmp_path, *rows)).modes) == {"guarded / short", "guarded / long"}
    assert set(fnb.read(lines(tmp_path, *rows), mode="prompt").modes) == {"short", "long"}


def test_repeats_that_are_copies_are_flagged(tmp_path: Path) -> None:
    copies = [result(case, testIdx=f"{case}{again}") for case in "ab" for again in range(5)]
    assert "repeats are identical in all cases" in notes_of(fnb.read(lines(tmp_path, *copies)))
    copies[3]["response"] = {"output": "another"}
    assert "repeats are identical" not in notes_of(fnb.read(lines(tmp_path, *copies)))


def test_one_test_index_is_one_attempt_and_a_new_one_a_repeat(tmp_path: Path) -> None:
    failed, passed = {"success": False, "reason": 1}, {"success": True}
    error = {"success": False, "reason": 2, "error": "503"}
    again = fnb.read(lines(tmp_path, result(**error), result(**failed)))
    assert again.frame["attack_success"].tolist() == [True]
    assert [note.rows for note in again.notes if note.kind == "retry"] == [1]
    both = lines(tmp_path, result(**failed), result(**passed))
    with pytest.raises(fnb.OutcomesError, match=r"out\.jsonl:1, out\.jsonl:2"):
        fnb.read(both)
    kept = [
        fnb.read(both, keep=keep).frame["attack_success"].tolist() for keep in ("first", "last")
    ]
    assert kept == [[True], [False]]
    new = fnb.read(lines(tmp_path, result(**failed), result(**passed, testIdx=1)))
    assert new.frame["repeat"].tolist() == ["1", "2"]


@pytest.mark.parametrize("name", ["case_id", "vars.case_id"])
def test_a_variable_called_case_id_has_both_names(tmp_path: Path, name: str) -> None:
    assert fnb.read(lines(tmp_path, result("a")), case_id=name).frame["case_id"].tolist() == ["a"]


def test_a_pass_against_a_failed_part_is_said(tmp_path: Path) -> None:
    grading = {"pass": True, "componentResults": [{"pass": False}, {"pass": True}]}
    runs = fnb.read(
        lines(tmp_path, result("a", gradingResult=grading), result("b", score=0), result("c"))
    )
    assert "with a score of 0; they count as passed: 2" in notes_of(runs)


def test_file_without_results_is_valid_and_has_nothing_to_count() -> None:
    with pytest.raises(fnb.OutcomesError, match="without a result"):
        fnb.read(FILES / "empty_promptfoo-results.json")


def test_csv_is_read_by_position_and_also_without_a_status_column(tmp_path: Path) -> None:
    path = tmp_path / "old.csv"
    path.write_text(
        "case_id,[one] {{q}},[two] {{q}}\na,[PASS] ok,[FAIL] leaked\nb,[ERROR] 503,what\n"
    )
    runs = fnb.read(path)
    hits = runs.frame.set_index(["case_id", "mode"])["attack_success"].dropna()
    assert hits.to_dict() == {("a", "one"): False, ("a", "two"): True}
    assert runs.frame["attack_success"].isna().sum() == 2
    assert "rows with an unknown status: outcome missing: 1" in notes_of(runs)


def test_error_texts_are_cut_to_their_first_line() -> None:
    errors = fnb.read(FILES / FORMS[1]).frame["error"].dropna()
    assert set(errors) == {
        "Error: HTTP 503 upstream unavailable",
        "Request timed out after 30000ms",
    }


def test_csv_whose_header_is_damaged_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text('case_id,"kind,[a] {{q}},Status\n1,attack,x,PASS\n')
    with pytest.raises(fnb.OutcomesError):
        fnb.read(path)
