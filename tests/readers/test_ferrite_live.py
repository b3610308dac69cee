"""Ferrite's live runs: the last line of a run counts, nothing is an outcome that was not
measured.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pandas as pd
import pytest

import ferrite_nb as fnb

from .test_read import put

SAMPLE = Path(__file__).parent / "files/ferrite/ollama--small_1b--main_1b.jsonl"
BASE = json.loads(SAMPLE.read_text().splitlines()[0])


def run(case="c1", mode="off", **changes):
    """One stored run; `outcome`, `calls` and `prediction` are changed key by key."""
    record = copy.deepcopy(BASE)
    record |= {
        "case_id": case,
        "mode": mode,
        "run_key": f"{case}|ollama|small:1b|main:1b|{mode}|0123456789abcdef",
    }
    for name, value in changes.items():
        if name in ("outcome", "calls") and isinstance(value, dict):
            record[name] |= value
        else:
            record[name] = value
    return record


def stored(folder, *records, name="a.jsonl"):
    return put(folder, name, "".join(json.dumps(record) + "\n" for record in records))


def test_the_sample_as_the_format_says():
    runs = fnb.read(SAMPLE)
    frame = runs.frame.set_index(["case_id", "mode"])
    assert len(frame) == 6 and runs.modes == ("off", "guard", "dryrun")
    one = "00000000-0000-4000-8000-000000000001"
    assert frame.loc[
        (one, "off"), ["attack_success", "attempted", "blocked", "measurable"]
    ].tolist() == [
        True,
        True,
        False,
        True,
    ]
    # The retry of the failed guard run replaced it.
    assert frame.loc[(one, "guard"), ["attack_success", "attempted", "blocked"]].tolist() == [
        False,
        True,
        True,
    ]
    assert pd.isna(frame.loc[(one, "guard"), "error"])
    two = "00000000-0000-4000-8000-000000000002"
    assert frame.loc[[(two, "guard")], "gated"].tolist() == [True]
    assert frame.loc[[(two, "off"), (two, "dryrun")], "gated"].isna().all()
    assert (
        frame["suite_version"].unique().tolist() == ["0123456789abcdef"]
        and "task_success" not in frame
    )
    assert "latency_ms" not in frame and "tokens" not in frame
    for note in (
        "runs replaced by a later run of the same run_key: 1",
        "lines of another schema than 1, left out: 1",
        "half-written last lines: 1",
        "runs with cached answers, so that latency and tokens are not used: 1",
    ):
        assert any(one.startswith(note) for one in runs.notes), note


def test_the_counts_of_the_sample():
    table = fnb.rates(fnb.read(SAMPLE), ["tried", "ran", "blocked", "false refusal"]).set_index(
        ["metric", "mode"]
    )
    assert table.loc[("tried", "off"), ["k", "n"]].tolist() == [1, 1]
    assert table.loc[("ran", "guard"), ["k", "n"]].tolist() == [0, 1]
    assert table.loc[("blocked", "guard"), ["k", "n"]].tolist() == [1, 1]
    assert table.loc[("false refusal", "guard"), ["k", "n"]].tolist() == [1, 1]
    assert pd.isna(table.loc[("false refusal", "off"), "rate"])


def test_across_files_the_later_start_wins_and_a_tie_goes_to_the_later_file(tmp_path):
    early = run(started_at="2026-01-01", outcome={"attack_executed": True})
    late = run(started_at="2026-01-02", outcome={"attack_executed": False})
    stored(tmp_path, late, name="a.jsonl")
    stored(tmp_path, early, name="b.jsonl")
    runs = fnb.read(tmp_path)
    assert runs.frame["attack_success"].tolist() == [False] and runs.frame["source"].tolist() == [
        "a.jsonl:1"
    ]
    stored(
        tmp_path, run(started_at="2026-01-02", outcome={"attack_executed": True}), name="b.jsonl"
    )
    assert fnb.read(tmp_path).frame["source"].tolist() == ["b.jsonl:1"]


def test_inside_a_file_the_last_line_wins_whatever_its_start(tmp_path):
    late, early = (
        run(started_at="2026-01-02"),
        run(started_at="2026-01-01", outcome={"attack_executed": False}),
    )
    assert fnb.read(stored(tmp_path, late, early)).frame["attack_success"].tolist() == [False]


def test_a_failed_run_is_missing_and_measurable_by_its_case(tmp_path):
    error = {"class": "timeout", "message": "x", "retryable": True}
    default = {"measurable": False, "attack_attempted": False, "attack_executed": False}
    path = stored(tmp_path, run(), run(mode="guard", error=error, outcome=default))
    runs = fnb.read(path)
    failed = runs.frame.set_index("mode").loc["guard"]
    assert (
        failed["error"] == "timeout" and failed["measurable"] and pd.isna(failed["attack_success"])
    )
    table = fnb.rates(runs, "ran").set_index("mode")
    assert table.loc["guard", ["n", "missing"]].tolist() == [0, 1]


def test_an_error_without_a_class_is_still_an_error(tmp_path):
    for error in ({}, "boom", {"class": None}, True):
        runs = fnb.read(stored(tmp_path, run(), run("c2", error=error)))
        assert runs.frame["error"].isna().tolist() == [True, False]


def test_groups_of_models_and_settings_never_mix(tmp_path):
    other = run(main_model="main:7b") | {"run_key": "other"}
    runs = fnb.read(stored(tmp_path, run(), other))
    assert runs.frame["case_id"].nunique() == 2 and runs.frame["group"].nunique() == 2
    with pytest.raises(fnb.OutcomesError, match=r"version"):
        fnb.rates(runs, "ran")
    group = runs.frame["group"][1]
    assert fnb.rates(runs.where(group=group), "ran")["n"].tolist() == [1]


def test_dry_run_in_both_spellings_is_one_mode(tmp_path):
    runs = fnb.read(stored(tmp_path, run(mode="dry_run"), run("c2", mode="dryrun")))
    assert runs.modes == ("dryrun",)


def test_latency_and_tokens_are_kept_without_cached_answers(tmp_path):
    frame = fnb.read(
        stored(tmp_path, run(), run("c2", calls={"prompt_tokens": 5, "eval_tokens": 2}))
    ).frame
    assert frame["tokens"].tolist() == [5070.0, 7.0] and frame["latency_ms"].tolist() == [
        1200.0,
        1200.0,
    ]


@pytest.mark.parametrize(
    ("truth", "deviation", "within"),
    [
        ("deviation", True, False),
        ("residual", False, True),
        ("origin_shift", False, False),
        ("none", False, False),
    ],
)
def test_ground_truth(tmp_path, truth, deviation, within):
    row = fnb.read(stored(tmp_path, run(ground_truth=truth))).frame.iloc[0]
    assert row[["is_deviation", "within_fingerprint", "ground_truth"]].tolist() == [
        deviation,
        within,
        truth,
    ]


def test_an_unknown_ground_truth_is_named_and_missing(tmp_path):
    runs = fnb.read(stored(tmp_path, run(ground_truth="odd")))
    assert runs.frame[["is_deviation", "within_fingerprint"]].isna().all(axis=None)
    assert any("unknown ground truth 'odd'" in note for note in runs.notes)


def test_an_unknown_kind_raises_with_its_place(tmp_path):
    with pytest.raises(
        fnb.OutcomesError, match=r"a.jsonl:2: column kind has 'odd'; kind must be attack or benign"
    ):
        fnb.read(stored(tmp_path, run(), run("c2", kind="odd")))


def test_the_mock_provider_is_named(tmp_path):
    runs = fnb.read(stored(tmp_path, run(provider="mock")))
    assert any("provider mock, which measure no model: 1" in note for note in runs.notes)


def test_lines_that_are_no_run_are_counted(tmp_path):
    lines = [
        run(),
        run("c2", schema=2),
        {"schema": 1, "run_key": 3, "case_id": "x", "mode": "off"},
        [1],
        "x",
    ]
    path = put(
        tmp_path, "a.jsonl", "".join(json.dumps(line) + "\n" for line in lines) + "\n{broken}\n"
    )
    runs = fnb.read(path)
    assert len(runs.frame) == 1
    for note in (
        "another schema than 1, left out: 1",
        "without run_key, case_id or mode, left out: 1",
        "hold no JSON object: 2",
        "cannot be read: 1",
    ):
        assert any(note in one for one in runs.notes), (note, runs.notes)


def test_a_file_of_another_schema_only_is_refused(tmp_path):
    with pytest.raises(
        fnb.OutcomesError, match=r"a.jsonl holds no run of schema 1; lines of another schema"
    ):
        fnb.read(stored(tmp_path, run(schema=2)))


def prediction(must=(), may=(), degraded=False):
    return {"must_use": list(must), "may_use": list(may), "degraded": degraded, "predictor": "llm"}


def test_predictions_are_one_per_case_the_first_by_run_key(tmp_path):
    path = stored(
        tmp_path,
        run("c1", "off", prediction=None),
        run("c1", "guard", prediction=prediction(["web.read"], ["web.navigate"])),
        run("c1", "full", prediction=prediction(degraded=True)),
        run(
            "c2",
            "guard",
            prediction=prediction(["web.read", "web.interact"]),
            attack_capabilities=None,
        ),
        run("c3", "guard", prediction=prediction(["web.read"]), ideal_capabilities=None),
    )
    frame = fnb.read(path).frame.drop_duplicates("case_id").set_index("case_id")
    # "…|full|…" comes before "…|guard|…".
    assert frame["prediction_degraded"].tolist() == [True, False, False]
    assert frame["prediction_empty"].tolist() == [True, False, False]
    assert frame["prediction_covers"].tolist() == [False, True, pd.NA]
    assert frame[["predicted", "predicted_ideal", "ideal"]].loc["c2"].tolist() == [2, 2, 2]
    assert frame.loc["c3", ["predicted", "predicted_ideal", "ideal"]].isna().all()
    assert frame["prediction_over_admits"].tolist() == [False, pd.NA, pd.NA]
    assert frame.loc["c2", "ideal_capabilities"] == "web.interact web.read"


def test_rates_of_predictions(tmp_path):
    path = stored(
        tmp_path,
        run("c1", "guard", prediction=prediction(["web.read"], ["web.navigate"])),
        run("c2", "guard", prediction=prediction(["web.read", "web.interact"])),
    )
    table = fnb.rates(
        fnb.read(path), ["prediction precision", "prediction recall", "covers", "over-admits"]
    )
    assert table[["k", "n"]].apply(tuple, axis=1).tolist() == [(3, 4), (3, 4), (1, 2), (1, 2)]


# report.csv: group, section, mode, key, metric, k, n, rate, ci_low, ci_high, note.
HEAD = "group,section,mode,key,metric,k,n,rate,ci_low,ci_high,note\n"


def report(folder, *rows):
    return put(folder, "report.csv", HEAD + "".join(f"g,{row},,,,\n" for row in rows))


def test_counts_of_the_report_give_the_same_rates(tmp_path):
    path = report(
        tmp_path,
        "attack,off,all,attempted,15,20",
        "attack,off,all,executed,12,20",
        "attack,guard,all,executed,3,20",
        "benign,guard,all,false_positive,2,9",
        "by_suite,guard,s1,executed,1,4",
        "meta,,all,stored_runs,,",
    )
    runs = fnb.read(path)
    wanted = {
        ("ran", "off"): (12, 20),
        ("ran", "guard"): (3, 20),
        ("false refusal", "guard"): (2, 9),
    }
    table = fnb.rates(runs, ["ran", "false refusal"]).set_index(["metric", "mode"])
    assert {key: tuple(table.loc[key, ["k", "n"]]) for key in wanted} == wanted
    assert any("counts only (report.csv)" in note for note in runs.notes)


def test_the_pairs_of_the_report_are_noted():
    runs = fnb.read(SAMPLE.parent / "report.csv")
    assert "paired in the file: off_vs_guard b=1 c=0" in runs.notes
    assert fnb.rates(runs, "ran")[["k", "n"]].iloc[0].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("attack,off,all,executed,5,3", "report.csv, row 1: k = 5 and n = 3 must be whole"),
        ("attack,off,all,executed,x,3", "report.csv, row 1: k = x and n = 3"),
        ("cost,off,all,runs,,", "holds no counts of attacks or benign tasks"),
    ],
)
def test_a_damaged_report_names_the_place(tmp_path, row, message):
    with pytest.raises(fnb.OutcomesError, match=message):
        fnb.read(report(tmp_path, row))


def test_the_report_beside_the_results_is_noted_not_read(tmp_path):
    stored(tmp_path, run(), name="results/a.jsonl")
    report(tmp_path, "attack,off,all,executed,12,20")
    runs = fnb.read(tmp_path)
    assert len(runs.frame) == 1
    assert "files of counts beside the results, not read: 1 (first: report.csv)" in runs.notes
