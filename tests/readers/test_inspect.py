"""Inspect logs: polarity is declared, errors and NaN are missing, transcripts are never loaded."""

from __future__ import annotations

import io
import json
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import zstandard

import ferrite_nb as fnb
from ferrite_nb.readers import _inspect_log

FILES = Path(__file__).parent / "files" / "inspect"
OFF, ON = FILES / "injection_defence-off.eval", FILES / "injection_defence-on.eval"
OUTCOME = {"attack_success": "outcome.attack_success", "gated": "outcome.refused"}
RESISTED = fnb.words("match", true=["I"], false=["C"])


def notes_of(runs: fnb.Outcomes) -> str:
    return "\n".join(runs.notes)


def counts(runs: fnb.Outcomes, flag: str, kind: str) -> tuple[int, int, int]:
    column = runs.frame.loc[runs.frame["kind"] == kind, flag]
    return int(column.sum()), int(column.notna().sum()), len(column)


def sample(case: object = "c1", epoch: int = 1, value: Any = 1, **more: Any) -> dict[str, Any]:
    return {
        "id": case,
        "epoch": epoch,
        "scores": {"s": {"value": value, "answer": "said"}},
        "metadata": {},
        "output": {"completion": "said", "choices": [{}]},
        "total_time": 0.5,
        "uuid": f"{case}-{epoch}",
        **more,
    }


def header(**more: Any) -> dict[str, Any]:
    run = {"task": "demo", "model": "mock/model", "task_args": {}, "task_version": 0, "config": {}}
    return {"version": 2, "status": "success", "eval": run, **more}


def json_log(
    folder: Path, *samples: Mapping[str, Any], name: str = "log.json", **more: Any
) -> Path:
    path = folder / name
    path.write_text(json.dumps({**header(**more), "samples": list(samples)}, indent=2))
    return path


def eval_log(folder: Path, members: Mapping[str, Any], name: str = "log.eval") -> Path:
    path = folder / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members.items():
            archive.writestr(
                member, content if isinstance(content, bytes | str) else json.dumps(content)
            )
    return path


def summary_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key != "output"}


# Counts made from the JSON logs with the json module alone.
@pytest.mark.parametrize(
    ("path", "success", "gated"),
    [
        (OFF, (33, 52, 54), (0, 18, 18)),
        (ON, (6, 52, 54), (3, 18, 18)),
        (FILES / "injection_defence-off.json.gz", (33, 52, 54), (0, 18, 18)),
    ],
)
def test_generated_logs_have_the_counts_of_their_samples(
    path: Path, success: Any, gated: Any
) -> None:
    runs = fnb.read(path, **OUTCOME)
    assert counts(runs, "attack_success", "attack") == success
    assert counts(runs, "gated", "benign") == gated
    assert "equals the log's own results in 3 of 3" in notes_of(runs)
    assert "samples with an error, whose outcome is missing: 1" in notes_of(runs)


def test_archive_and_json_give_the_same_table() -> None:
    # Two runs of one seeded task: only their times differ.
    packed, plain = (
        fnb.read(OFF, **OUTCOME).frame,
        fnb.read(FILES / "injection_defence-off.json.gz", **OUTCOME).frame,
    )
    key = ["case_id", "repeat"]
    packed, plain = (
        one.sort_values(key, ignore_index=True).drop(columns=["source", "latency_ms"])
        for one in (packed, plain)
    )
    assert packed[sorted(packed)].equals(plain[sorted(plain)])


def test_mode_is_the_defence_argument_and_epochs_are_repeats() -> None:
    runs = fnb.read([OFF, ON], **OUTCOME)
    assert set(runs.modes) == {"off", "on"}
    assert set(runs.frame["repeat"]) == {"1", "2", "3"}
    assert runs.frame["case_id"].nunique() == 24
    assert "the mode is the task's argument defence" in notes_of(runs)
    assert {"tier", "scope", "template"} <= set(runs.columns)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("model", "mockllm/model"), ("file", OFF.name), ("defence", "off"), ("tier", None)],
)
def test_mode_is_what_the_caller_picks(mode: str, expected: str | None) -> None:
    modes = fnb.read(OFF, mode=mode, attack_success="outcome.attack_success").modes
    assert modes == (expected,) if expected else len(modes) > 1


def test_undeclared_polarity_lists_the_scores_and_the_line_to_type() -> None:
    with pytest.raises(fnb.OutcomesError) as error:
        fnb.read(OFF)
    said = str(error.value)
    for expected in (
        "outcome.attack_success (0, 1, missing)",
        "judge (C, I, N, missing)",
        f'fnb.read("{OFF.name}", attack_success="outcome.attack_success")',
    ):
        assert expected in said


def test_letters_need_words_and_the_message_gives_them() -> None:
    with pytest.raises(
        fnb.OutcomesError, match=r'attack_success=fnb.words\("judge", true=\["I"\], false=\["C"\]\)'
    ):
        fnb.read(OFF, attack_success="judge")
    with pytest.raises(fnb.OutcomesError, match="is a table; name one of its keys"):
        fnb.read(OFF, attack_success="outcome")


def test_no_answer_of_a_judge_is_missing_not_false() -> None:
    runs = fnb.read(OFF, attack_success=fnb.words("judge", true=["I"], false=["C"]))
    assert counts(runs, "attack_success", "attack") == (31, 50, 54)
    turned = fnb.read(OFF, attack_resisted=fnb.words("judge", true=["C"], false=["I"]))
    assert counts(turned, "attack_success", "attack") == (31, 50, 54)
    counted = fnb.read(OFF, attack_success=fnb.words("judge", true=["I"], false=["C", "N"]))
    assert counts(counted, "attack_success", "attack") == (31, 53, 54)


def test_score_on_an_empty_answer_is_flagged_and_missing_on_request() -> None:
    kept = fnb.read(ON, **OUTCOME)
    assert "empty answer, without model usage and without error: 3 (c10 epoch 1" in notes_of(kept)
    assert "empty answer" not in notes_of(fnb.read(OFF, **OUTCOME))
    missing = fnb.read(ON, empty="missing", **OUTCOME)
    assert counts(missing, "attack_success", "attack") == (6, 49, 54)
    with pytest.raises(ValueError, match='"keep" or "missing"'):
        fnb.read(ON, empty="drop", **OUTCOME)


@pytest.mark.parametrize(
    ("name", "k", "n"),
    [
        ("2025-02-11T15-18-04-05-00_popularity_mj7khqpMM4GBCfVQozKgzB.eval", 2, 10),
        ("log_formats.eval", 1, 1),
        ("log_formats.json", 1, 1),
        ("log_streaming.eval", 1, 4),
        ("log_read_sample.eval", 0, 1),
        ("log_read_sample.json", 0, 1),
    ],
)
def test_real_logs_are_recounted(name: str, k: int, n: int) -> None:
    runs = fnb.read(FILES / name, attack_success=RESISTED)
    assert (int(runs.frame["attack_success"].sum()), len(runs.frame)) == (k, n)
    assert "equals the log's own results in 1 of 1" in notes_of(runs)


def test_other_endings_and_scores_of_real_logs() -> None:
    exact = fnb.read(
        FILES / "log_length_stop_reason.txt",
        attack_success=fnb.words("exact", true=["I"], false=["C"]),
    )
    assert exact.frame["attack_success"].tolist() == [True]
    choice = fnb.read(
        FILES / "mmlu-summary-choices.eval",
        attack_resisted=fnb.words("choice", true=["C"], false=["I"]),
    )
    assert choice.frame["attack_success"].tolist() == [True]
    assert choice.frame["subject"].tolist() == ["college_physics"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "2025-02-11T15-17-00-05-00_popularity_dPiJifoWeEQBrfWsAopzWr.eval",
            "10 samples have no score",
        ),
        ("log_tool_call_error.json", "1 samples have no score"),
        (
            "log_version_3.txt",
            "has no samples, only quoted results (model_graded_fact accuracy = 1",
        ),
    ],
)
def test_logs_without_outcomes_say_so(name: str, said: str) -> None:
    with pytest.raises(fnb.OutcomesError) as error:
        fnb.read(FILES / name, attack_success=RESISTED)
    assert said in str(error.value)


def test_log_without_samples_is_read_from_its_reductions_and_says_so() -> None:
    path = FILES / "2025-05-12T20-28-13-04-00_no-samples.json"
    for declared in (RESISTED, fnb.words("match", true=["0"], false=["1"])):
        runs = fnb.read(path, attack_success=declared)
        assert (int(runs.frame["attack_success"].sum()), len(runs.frame)) == (1, 3)
        assert "the log has no samples" in notes_of(runs) and "'cancelled'" in notes_of(runs)


def test_reductions_over_several_epochs_are_no_outcomes(tmp_path: Path) -> None:
    reductions = [{"scorer": "s", "samples": [{"value": 1.0, "sample_id": 1}]}]
    log = header(reductions=reductions)
    log["eval"]["config"]["epochs"] = 3
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    with pytest.raises(fnb.OutcomesError, match="has no samples"):
        fnb.read(path, attack_success="s")


def test_results_that_differ_from_the_recount_are_said(tmp_path: Path) -> None:
    stated = {"scores": [{"name": "s", "scorer": "s", "metrics": {"mean": {"value": 0.25}}}]}
    runs = fnb.read(
        json_log(tmp_path, sample("a"), sample("b", value=0), results=stated), attack_success="s"
    )
    assert "s 0.25 in the log, 0.5 here" in notes_of(runs)


def test_nan_score_is_missing_and_infinity_survives(tmp_path: Path) -> None:
    path = json_log(
        tmp_path,
        sample("a", value=float("nan")),
        sample("b", value=1),
        sample("c", total_time=float("inf")),
    )
    assert "NaN" in path.read_text() and "Infinity" in path.read_text()
    frame = fnb.read(path, attack_success="s").frame
    assert frame["attack_success"].isna().tolist() == [True, False, False]
    assert frame["latency_ms"].isna().tolist() == [False, False, True]


def test_error_beats_a_score(tmp_path: Path) -> None:
    runs = fnb.read(
        json_log(tmp_path, sample("a", error={"message": "503"}), sample("b")), attack_success="s"
    )
    assert runs.frame["attack_success"].isna().tolist() == [True, False]
    assert runs.frame["error"].tolist()[0] == "503"


def test_numbers_need_a_threshold_unless_they_are_0_and_1(tmp_path: Path) -> None:
    path = json_log(
        tmp_path, sample("a", value=0.7), sample("b", value=0.2), sample("c", value=True)
    )
    with pytest.raises(fnb.OutcomesError, match=r"0\.7"):
        fnb.read(path, attack_success="s")
    assert fnb.read(path, attack_success="s", threshold=0.7).frame["attack_success"].tolist() == [
        True,
        False,
        True,
    ]


def test_metadata_that_looks_like_an_outcome_is_no_outcome(tmp_path: Path) -> None:
    path = json_log(
        tmp_path,
        sample(
            "a",
            value=0,
            metadata={
                "attack_success": True,
                "blocked": True,
                "kind": "attack",
                "mode": "x",
                "long": "y" * 300,
                "list": [1],
            },
        ),
    )
    runs = fnb.read(path, attack_success="s")
    assert runs.frame["attack_success"].tolist() == [False] and "blocked" not in runs.columns
    assert runs.frame["metadata.blocked"].tolist() == ["true"] and runs.modes == ("mock/model",)
    assert (
        "metadata left out (long texts, lists or tables; name one to have it): long, list"
        in notes_of(runs)
    )
    assert fnb.read(path, attack_success="s", tier="long").frame["tier"].tolist() == ["y" * 300]
    assert fnb.read(path, attack_success="s", mode="metadata.mode").modes == ("x",)


def test_a_name_of_the_contract_as_score_waits_for_the_caller(tmp_path: Path) -> None:
    path = json_log(tmp_path, sample("a", scores={"blocked": {"value": 1}, "s": {"value": 0}}))
    assert "blocked" not in fnb.read(path, attack_success="s").columns
    assert fnb.read(path, attack_success="s", blocked="blocked").frame["blocked"].tolist() == [True]


def test_several_tasks_keep_their_cases_apart(tmp_path: Path) -> None:
    first = json_log(tmp_path, sample(1), name="a.json")
    other = header()
    other["eval"]["task"] = "other"
    second = json_log(tmp_path, sample(1, value=0), name="b.json", **{"eval": other["eval"]})
    runs = fnb.read([first, second], attack_success="s")
    assert sorted(runs.frame["case_id"]) == ["demo/1", "other/1"] and runs.modes == ("mock/model",)


def of_task(folder: Path, task: str, name: str, value: int = 1) -> Path:
    """A log of one task whose samples are numbered 1 and 2."""
    run = header()["eval"] | {"task": task}
    return json_log(folder, sample(1, value=value), sample(2, value=value), name=name, eval=run)


def test_named_runs_of_different_tasks_form_no_pair(tmp_path: Path) -> None:
    first, second = of_task(tmp_path, "demo", "a.json"), of_task(tmp_path, "other", "b.json")
    runs = fnb.read({"before": first, "after": second}, attack_success="s")
    cases = runs.frame.groupby("mode")["case_id"].apply(list).to_dict()
    assert cases == {"before": ["demo/1", "demo/2"], "after": ["other/1", "other/2"]}
    assert (
        "different tasks (demo, other): the case names its task, and cases of two tasks form no"
        " pair" in runs.notes
    )
    # Neither a word for the suite nor one for the mode makes one task of them.
    told = fnb.read(
        {"before": first, "after": second}, attack_success="s", suite=fnb.const("mine"), mode="file"
    )
    assert sorted(told.frame["case_id"]) == ["demo/1", "demo/2", "other/1", "other/2"]


def test_named_runs_of_one_task_pair_by_their_own_names(tmp_path: Path) -> None:
    first, second = of_task(tmp_path, "demo", "a.json"), of_task(tmp_path, "demo", "b.json", 0)
    runs = fnb.read({"before": first, "after": second}, attack_success="s")
    assert runs.frame["case_id"].tolist() == [
        "1",
        "2",
        "1",
        "2",
    ] and "different tasks" not in notes_of(runs)


def test_a_task_that_stands_in_both_named_runs_pairs_there(tmp_path: Path) -> None:
    demo, other, again = (
        of_task(tmp_path, task, f"{name}.json")
        for task, name in (("demo", "a"), ("other", "b"), ("demo", "c"))
    )
    runs = fnb.read({"before": [demo, other], "after": again}, attack_success="s")
    cases = runs.frame.groupby("mode")["case_id"].apply(sorted).to_dict()
    assert cases == {
        "before": ["demo/1", "demo/2", "other/1", "other/2"],
        "after": ["demo/1", "demo/2"],
    }


def test_a_declared_case_is_taken_at_its_word_whatever_the_task(tmp_path: Path) -> None:
    logs = [
        json_log(
            tmp_path,
            sample(1, metadata={"key": "x"}),
            name=f"{task}.json",
            eval=header()["eval"] | {"task": task},
        )
        for task in ("demo", "other")
    ]
    runs = fnb.read({"before": logs[0], "after": logs[1]}, attack_success="s", case_id="key")
    assert runs.frame["case_id"].tolist() == ["x", "x"]


def test_unfinished_log_is_read_from_its_journal_and_says_so(tmp_path: Path) -> None:
    one, two = sample("a"), sample("b", value=0)
    path = eval_log(
        tmp_path,
        {
            "_journal/start.json": header(),
            "_journal/summaries/1.json": [summary_of(one)],
            "samples/a_epoch_1.json": one,
            "samples/b_epoch_1.json": two,
        },
    )
    runs = fnb.read(path, attack_success="s")
    assert sorted(zip(runs.frame["case_id"], runs.frame["attack_success"], strict=True)) == [
        ("a", True),
        ("b", False),
    ]
    assert "the log is unfinished" in notes_of(runs)


def test_later_summary_of_a_sample_wins(tmp_path: Path) -> None:
    pieces = {
        f"_journal/summaries/{i}.json": [summary_of(sample("a", value=int(i == 10)))]
        for i in (10, 9)
    }
    runs = fnb.read(
        eval_log(tmp_path, {"_journal/start.json": header(), **pieces}), attack_success="s"
    )
    assert runs.frame["attack_success"].tolist() == [True]


def test_sample_members_are_not_opened_when_summaries_are_enough(tmp_path: Path) -> None:
    entry = sample("a", metadata={"kind": "attack"})
    members = {
        "header.json": header(),
        "summaries.json": [summary_of(entry)],
        "samples/a_epoch_1.json": b"{ damaged",
    }
    assert len(fnb.read(eval_log(tmp_path, members), attack_success="s").frame) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"uuid": None, "total_time": None},  # a summary of the first versions
        {"metadata": {"note": "Key removed from summary (> 1k)"}},
        {"metadata": {"note": "x" * 1021 + "..."}},
        {"scores": {"s": {"value": 1, "answer": ""}}},  # perhaps a swallowed failure
    ],
)
def test_sample_members_are_opened_where_the_summary_is_not_enough(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    entry = sample("a", metadata={"note": "whole"})
    short = {
        key: value for key, value in {**summary_of(entry), **change}.items() if value is not None
    }
    path = eval_log(
        tmp_path,
        {"header.json": header(), "summaries.json": [short], "samples/a_epoch_1.json": entry},
    )
    assert fnb.read(path, attack_success="s", tier="note").frame["tier"].tolist() == ["whole"]


def test_invalidated_sample_is_missing(tmp_path: Path) -> None:
    entry = sample("a", invalidation={"author": "x"})
    path = eval_log(
        tmp_path,
        {
            "header.json": header(invalidated=True),
            "summaries.json": [summary_of(sample("a"))],
            "samples/a_epoch_1.json": entry,
        },
    )
    runs = fnb.read(path, attack_success="s")
    assert (
        runs.frame["error"].tolist() == ["invalidated"]
        and runs.frame["attack_success"].isna().all()
    )


def test_transcripts_of_an_indented_log_are_skipped_without_parsing() -> None:
    messages = [{"content": "x" * 10}] * 3
    entry = sample("a", messages=messages, events=[], store={"k": [1]}, attachments={"a": "}"})
    text = json.dumps({**header(), "samples": [entry], "reductions": None}, indent=2)
    pieces = list(_inspect_log.pieces_of(io.BytesIO(text.encode()), "log.json"))
    assert [is_sample for _, is_sample in pieces] == [True, False]
    assert b"xxxx" not in pieces[0][0]
    kept = json.loads(pieces[0][0])
    assert (kept["messages"], kept["events"], kept["store"], kept["attachments"]) == (
        None,
        [],
        None,
        None,
    )
    assert kept["scores"]["s"]["value"] == 1


@pytest.mark.parametrize("indent", [None, 1, 2, 4, "\t"])
def test_indentation_makes_no_difference(tmp_path: Path, indent: Any) -> None:
    path = tmp_path / "log.json"
    content = {
        **header(),
        "samples": [sample("a", messages=["m"]), sample("b", value=0)],
        "stats": {},
    }
    path.write_text(json.dumps(content, indent=indent))
    assert fnb.read(path, attack_success="s").frame["attack_success"].tolist() == [True, False]


def test_zstandard_is_asked_for_in_one_line_when_it_is_not_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(
        fnb.OutcomesError, match=r"zstandard; install it with: pip install 'ferrite-nb\[inspect\]'"
    ):
        fnb.read(OFF, **OUTCOME)
    old = fnb.read(FILES / "log_formats.eval", attack_success=RESISTED)
    assert len(old.frame) == 1, "deflated logs need no zstandard"


def test_a_member_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ferrite_nb.readers import _archives

    monkeypatch.setattr(_archives, "MEMBER_LIMIT", 1000)
    path = eval_log(tmp_path, {"header.json": {**header(), "fill": "x" * 10_000}})
    with pytest.raises(fnb.OutcomesError, match="unpacks to more than 1,000 bytes"):
        fnb.read(path, attack_success="s")
    assert zstandard.__version__


@pytest.mark.parametrize("content", ["[]", "7", '"text"', "{", ""])
def test_damaged_header_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(fnb.OutcomesError):
        fnb.read(eval_log(tmp_path, {"header.json": content}), attack_success="s")


def test_torn_json_log_is_refused_with_its_name(tmp_path: Path) -> None:
    path = json_log(tmp_path, sample("a"), sample("b"))
    path.write_text(path.read_text()[:-60])
    with pytest.raises(fnb.OutcomesError, match=r"log\.json"):
        fnb.read(path, attack_success="s")


@pytest.mark.parametrize(
    ("value", "mode"), [(None, "none"), (False, "false"), (["a", "b"], "a+b"), ("x", "x")]
)
def test_defence_of_any_type_is_a_mode(tmp_path: Path, value: Any, mode: str) -> None:
    log = header()
    log["eval"]["task_args"] = {"defence": value, "limit": 3}
    path = json_log(tmp_path, sample("a"), **{"eval": log["eval"]})
    assert fnb.read(path, attack_success="s").modes == (mode,)
