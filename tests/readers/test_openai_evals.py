"""OpenAI evals logs: match events by sample, errors missing, final report ignored. Invented after
its source code.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ferrite_nb as fnb

SPEC = {"spec": {"run_id": "r", "completion_fns": ["demo-model"], "eval_name": "demo.test.v0"}}


def event(sample: str, kind: str = "match", **data: Any) -> dict[str, Any]:
    return {
        "run_id": "r",
        "event_id": 0,
        "sample_id": sample,
        "type": kind,
        "data": data,
        "created_by": "",
        "created_at": "",
    }


def lines(folder: Path, *rows: Any, torn: str = "") -> Path:
    path = folder / "run.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows) + torn)
    return path


def test_match_events_are_recounted_and_errors_are_missing(tmp_path: Path) -> None:
    path = lines(
        tmp_path,
        SPEC,
        event("d.0", "sampling", prompt="x"),
        event("d.0", correct=True, picked="A"),
        event("d.1", correct=False),
        event("d.2", "error", type="ValueError", message="boom\ntrace"),
        event("d.3", "sampling"),
        {"final_report": {"accuracy": 0.5}},
    )
    runs = fnb.read(path, attack_success="correct")
    frame = runs.frame
    assert frame["case_id"].tolist() == ["d.0", "d.1", "d.2", "d.3"]
    assert frame["attack_success"].isna().tolist() == [False, False, True, True]
    assert frame["attack_success"].tolist()[:2] == [True, False]
    assert frame["error"].tolist()[2] == "boom"
    assert runs.modes == ("demo-model",) and set(frame["suite"]) == {"demo.test.v0"}
    for said in (
        "error event, whose outcome is missing: 1",
        "without a verdict and without an error: 1",
        "recount equals the accuracy of the final report (0.5)",
    ):
        assert any(said in note for note in runs.notes)


def test_final_report_that_differs_is_said_and_not_used(tmp_path: Path) -> None:
    path = lines(
        tmp_path,
        SPEC,
        event("a", correct=True),
        event("b", correct=False),
        {"final_report": {"accuracy": 1.0}},
    )
    runs = fnb.read(path, attack_resisted="correct")
    assert runs.frame["attack_success"].tolist() == [False, True]
    assert any(
        "recount (1/2) differs from the accuracy of the final report (1)" in note
        for note in runs.notes
    )


def test_polarity_is_never_guessed(tmp_path: Path) -> None:
    with pytest.raises(
        fnb.OutcomesError, match=r'correct \(false, true\).*attack_success="correct"'
    ):
        fnb.read(lines(tmp_path, SPEC, event("a", correct=True), event("b", correct=False)))


def test_a_sample_judged_again_is_the_same_attempt(tmp_path: Path) -> None:
    rows = [event(f"d.{i}", correct=i < 4) for i in range(10)]
    again = lines(tmp_path, SPEC, *rows, *rows[:3], {"final_report": {"accuracy": 7 / 13}})
    runs = fnb.read(again, attack_success="correct")
    assert runs.frame["attack_success"].tolist() == [True] * 4 + [False] * 6
    assert [note.rows for note in runs.notes if note.kind == "duplicate"] == [3]
    assert any("recount (4/10) differs" in note for note in runs.notes)
    clash = lines(tmp_path, SPEC, event("a", correct=True), event("a", correct=False))
    with pytest.raises(fnb.OutcomesError, match=r"run\.jsonl:2, run\.jsonl:3"):
        fnb.read(clash, attack_success="correct")
    for keep, hit in (("first", True), ("last", False), ("known", True)):
        frame = fnb.read(clash, attack_success="correct", keep=keep).frame
        assert frame["attack_success"].tolist() == [hit]


def test_a_verdict_after_an_error_is_the_retry(tmp_path: Path) -> None:
    path = lines(tmp_path, SPEC, event("a", "error", message="429"), event("a", correct=True))
    assert fnb.read(path, attack_success="correct").frame["attack_success"].tolist() == [True]


def test_match_and_metrics_of_a_sample_are_one_verdict(tmp_path: Path) -> None:
    path = lines(tmp_path, SPEC, event("a", correct=True), event("a", "metrics", score=0.2))
    frame = fnb.read(path, attack_success="correct").frame
    assert frame[["attack_success", "score"]].astype(str).to_numpy().tolist() == [["True", "0.2"]]


def test_error_of_a_sample_beats_its_verdict(tmp_path: Path) -> None:
    path = lines(
        tmp_path,
        SPEC,
        event("a", correct=True),
        event("a", "error", message="x"),
        event("b", correct=True),
    )
    assert fnb.read(path, attack_success="correct").frame["attack_success"].isna().tolist() == [
        True,
        False,
    ]


def test_metrics_events_have_their_own_columns(tmp_path: Path) -> None:
    path = lines(
        tmp_path,
        SPEC,
        event("a", "metrics", choice="Yes", score=0.75),
        event("b", "metrics", choice="No", score=0),
    )
    runs = fnb.read(path, attack_success=fnb.words("choice", true=["Yes"], false=["No"]))
    assert runs.frame["attack_success"].tolist() == [True, False]
    assert fnb.read(path, attack_success="score", threshold=0.5).frame[
        "attack_success"
    ].tolist() == [True, False]


def test_unknown_events_and_torn_lines_are_counted(tmp_path: Path) -> None:
    path = lines(
        tmp_path,
        SPEC,
        event("a", correct=True),
        event("a", "new_thing"),
        {"stray": 1},
        torn='{"run_id": "r", "ev',
    )
    notes = fnb.read(path, attack_success="correct").notes
    assert any(
        "events of an unknown type left out: 1" in note and "new_thing" in note for note in notes
    )
    assert any("half-written last lines: 1" in note for note in notes)
    assert any("lines that are no event of a sample, left out: 1" in note for note in notes)


def test_log_without_events_is_refused(tmp_path: Path) -> None:
    with pytest.raises(fnb.OutcomesError, match="no event of a sample"):
        fnb.read(lines(tmp_path, SPEC), attack_success="correct")


def of_eval(folder: Path, name: str, *samples: str) -> Path:
    """A log of one eval."""
    folder.mkdir()
    spec = {"spec": SPEC["spec"] | {"eval_name": name}}
    return lines(folder, spec, *(event(sample, correct=True) for sample in samples))


def test_samples_of_different_evals_form_no_pair(tmp_path: Path) -> None:
    first, second = (
        of_eval(tmp_path / "a", "law.test.v0", "1", "2"),
        of_eval(tmp_path / "b", "art.test.v0", "1", "2"),
    )
    wanted = ["art.test.v0/1", "art.test.v0/2", "law.test.v0/1", "law.test.v0/2"]
    named = fnb.read({"before": first, "after": second}, attack_success="correct")
    assert sorted(named.frame["case_id"]) == wanted and named.modes == ("before", "after")
    assert any(
        note.startswith("different tasks (law.test.v0, art.test.v0)") for note in named.notes
    )
    assert sorted(fnb.read([first, second], attack_success="correct").frame["case_id"]) == wanted
    # The harness's own ids name the eval: they stay, and two versions of one eval pair.
    own = [
        of_eval(tmp_path / f"own{one}", f"law.test.v{one}", "law.test.0", "law.test.1")
        for one in (0, 1)
    ]
    paired = fnb.read({"before": own[0], "after": own[1]}, attack_success="correct")
    assert paired.frame["case_id"].tolist() == ["law.test.0", "law.test.1"] * 2
