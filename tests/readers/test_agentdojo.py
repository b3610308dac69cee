"""AgentDojo and AgentDyn: mode from the directory, polarity, failed runs, versions, and the numbers
of a real study.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest

import ferrite_nb as fnb

from .test_read import put

SUMMARY = Path(__file__).parent / "files/agentdyn_gpt4o_four_modes.csv.gz"


def run(injection="injection_task_0", task="user_task_0", suite="shop", **changes):
    """One run file as AgentDojo writes it, without texts."""
    record = {
        "suite_name": suite,
        "pipeline_name": "local",
        "user_task_id": task,
        "injection_task_id": injection,
        "attack_type": "important_instructions" if injection else None,
        "injections": {},
        "messages": [],
        "error": None,
        "benchmark_version": "v1.2.2",
        "utility": True,
        "security": False,
        "duration": 3.2,
    }
    return record | changes


def tree(folder, mode, *records):
    """Run files in their places."""
    for record in records:
        place = f"{record['suite_name']}/{record['user_task_id']}/{record['attack_type'] or 'none'}"
        name = f"{record['injection_task_id'] or 'none'}.json"
        put(folder, f"runs/{mode}/{place}/{name}", json.dumps(record))
    return folder


def test_a_tree_in_canonical_columns(tmp_path):
    tree(tmp_path, "model", run(security=True), run(None, security=True))
    tree(tmp_path, "model-filter", run(utility=False), run(None, security=True, utility=False))
    runs = fnb.read(tmp_path)
    frame = runs.frame.set_index(["case_id", "mode"])
    attack, benign = "shop/user_task_0/injection_task_0", "shop/user_task_0"
    assert frame.loc[(attack, "model"), ["kind", "attack_success", "task_success"]].tolist() == [
        "attack",
        True,
        True,
    ]
    assert frame.loc[(attack, "model-filter"), ["attack_success", "task_success"]].tolist() == [
        False,
        False,
    ]
    assert frame.loc[(benign, "model"), ["kind", "task_success"]].tolist() == ["benign", True]
    # A benign run always says security true: it is never read there.
    assert frame.xs(benign)["attack_success"].isna().all()
    strata = ["attack", "suite", "suite_version", "user_task", "injection_task"]
    assert frame.loc[(attack, "model"), strata].tolist() == [
        "important_instructions",
        "shop",
        "v1.2.2",
        "shop/user_task_0",
        "shop/injection_task_0",
    ]
    assert frame["latency_ms"].tolist() == [3200.0] * 4 and "tokens" not in frame
    assert "modes with the one pipeline name local; the folder names the mode: 2" in runs.notes


@pytest.mark.parametrize("start", ["", "runs", "runs/model", "runs/model/shop"])
def test_any_folder_of_the_tree_names_the_same_mode(tmp_path, start):
    tree(tmp_path, "model", run(), run("injection_task_1"))
    assert fnb.read(tmp_path / start).modes == ("model",)


def test_one_run_file_is_read(tmp_path):
    tree(tmp_path, "model", run())
    path = tmp_path / "runs/model/shop/user_task_0/important_instructions/injection_task_0.json"
    assert fnb.read(path).modes == ("model",)
    assert fnb.read(put(tmp_path, "loose.json", json.dumps(run()))).modes == ("local",)


def test_a_zip_gives_the_rows_of_its_folder(tmp_path):
    tree(tmp_path, "model", run(), run("injection_task_1", security=True), run(None))
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted((tmp_path / "runs").rglob("*.json")):
            archive.write(path, path.relative_to(tmp_path))
        archive.writestr("runs/README.txt", "x")
    pd.testing.assert_frame_equal(
        fnb.read(tmp_path / "a.zip").frame, fnb.read(tmp_path / "runs").frame
    )


def test_a_failed_run_is_missing_not_a_success(tmp_path):
    tree(
        tmp_path,
        "model",
        run(error="context length", utility=False, security=True),
        run("injection_task_1"),
    )
    runs = fnb.read(tmp_path)
    assert runs.frame["attack_success"].tolist() == [pd.NA, False]
    table = fnb.rates(runs, "ASR").iloc[0]
    assert table[["k", "n", "missing", "floor", "ceiling"]].tolist() == [0, 1, 1, 0.0, 0.5]
    assert any(
        "runs with an error: the outcome is missing, whatever the file says: 1" in note
        for note in runs.notes
    )


def test_a_run_without_an_outcome_is_missing_and_listed(tmp_path):
    record = run()
    del record["utility"], record["security"]
    tree(tmp_path, "model", record, run("injection_task_1"))
    runs = fnb.read(tmp_path)
    assert runs.frame["attack_success"].tolist() == [pd.NA, False]
    assert any(
        "runs without an outcome, which is missing: 1 (first: model/shop" in note
        for note in runs.notes
    )


def test_an_injection_task_alone_is_left_out_with_a_note(tmp_path):
    tree(tmp_path, "model", run(), run(None, task="injection_task_3"))
    runs = fnb.read(tmp_path)
    assert len(runs.frame) == 1
    assert "runs left out: an injection task alone, neither attack nor benign: 1" in runs.notes
    tree(tmp_path / "x", "model", run(None, task="injection_task_3"))
    with pytest.raises(fnb.OutcomesError, match=r"every run is an injection task alone"):
        fnb.read(tmp_path / "x")


def test_a_second_attack_is_a_stratum_and_part_of_the_case(tmp_path):
    tree(tmp_path, "model", run(), run(attack_type="direct", security=True), run(None))
    runs = fnb.read(tmp_path)
    assert sorted(runs.frame["case_id"]) == [
        "shop/user_task_0",
        "shop/user_task_0/injection_task_0/direct",
        "shop/user_task_0/injection_task_0/important_instructions",
    ]
    assert any(
        "attack types, each part of the case and a stratum (direct, important_instructions): 2"
        in note
        for note in runs.notes
    )


def test_versions_are_told_apart_and_an_empty_one_is_its_own(tmp_path):
    none = run("injection_task_1")
    del none["benchmark_version"]
    tree(tmp_path, "model", run(), none, run("injection_task_2", benchmark_version="v1.1.2"))
    runs = fnb.read(tmp_path)
    assert sorted(runs.frame["suite_version"]) == ["(empty)", "v1.1.2", "v1.2.2"]
    with pytest.raises(fnb.OutcomesError, match=r"version"):
        fnb.rates(runs, "ASR")
    assert fnb.rates(runs.pool_versions(), "ASR")["n"].tolist() == [3]


def test_tokens_of_drift_runs_are_kept(tmp_path):
    record = run(conversations=[], total_tokens=1234, tool_permission={})
    del record["messages"], record["error"]
    tree(tmp_path, "model-drift", record)
    assert fnb.read(tmp_path).frame["tokens"].tolist() == [1234.0]


def test_damaged_and_foreign_files_are_counted(tmp_path):
    tree(tmp_path, "model", run())
    place = "runs/model/shop/user_task_0/important_instructions"
    put(tmp_path, f"{place}/injection_task_1.json", json.dumps(run())[:80])
    put(tmp_path, f"{place}/injection_task_2.json", "[1]")
    put(tmp_path, f"{place}/injection_task_3.json", '{"suite_name": 3, "user_task_id": null}')
    put(tmp_path, f"{place}/notes.txt", "x")
    runs = fnb.read(tmp_path)
    assert len(runs.frame) == 1
    for note in (
        "run files that cannot be read: 1",
        "files of another layout, not read: 2",
        "other files in the folder, not read: 1",
    ):
        assert any(one.startswith(note) for one in runs.notes), runs.notes


def test_an_odd_outcome_names_the_file(tmp_path):
    tree(tmp_path, "model", run(security="partly"))
    with pytest.raises(
        fnb.OutcomesError,
        match=r"model/shop/user_task_0/.*.json: column attack_success has 'partly'",
    ):
        fnb.read(tmp_path)


def test_the_opposite_polarity_of_another_layout_is_refused_and_can_be_declared(tmp_path):
    record = {
        "task": "t1",
        "condition": "poison",
        "evaluation": {"utility": True, "security": True},
    }
    path = put(tmp_path, "seed_1.json", json.dumps(record))
    with pytest.raises(
        fnb.OutcomesError, match=r"stayed safe.*attack_resisted=\"evaluation.security\""
    ):
        fnb.read(path)
    runs = fnb.read(path, attack_resisted="evaluation.security", case_id="task", mode="condition")
    assert runs.frame["attack_success"].tolist() == [False]


# The summary table of a real study (AgentDyn, gpt-4o-2024-08-06, four of its nine modes).
def test_the_summary_needs_no_declaration_and_gives_the_numbers_of_its_runs():
    runs = fnb.read(SUMMARY)
    asr = fnb.rates(runs, "ASR").set_index("mode")
    assert asr.loc["none", ["k", "n"]].tolist() == [218, 560]
    assert asr.loc["transformers_pi_detector", ["k", "n"]].tolist() == [5, 560]
    assert asr.loc["drift", ["k", "n"]].tolist() == [5, 560]
    assert asr.loc["repeat_user_prompt", ["k", "n", "missing"]].tolist() == [180, 559, 1]
    # The detector "wins" because it breaks every task: 0 of 60, upper limit 6.02%.
    done = fnb.rates(runs, "task success").set_index("mode")
    assert done.loc["transformers_pi_detector", ["k", "n"]].tolist() == [0, 60]
    assert done.loc["transformers_pi_detector", "high"] == pytest.approx(0.0602, abs=5e-5)
    assert done.loc["none", ["k", "n"]].tolist() == [32, 60]
    assert "runs left out: an injection task alone, neither attack nor benign: 84" in runs.notes
    assert any("runs without an outcome, which is missing: 1" in note for note in runs.notes)


def test_modes_of_different_versions_are_not_compared():
    pair = fnb.compare(fnb.read(SUMMARY), "ASR", modes=["none", "drift"]).iloc[0]
    assert pd.isna(pair["p"]) and "version" in pair["note"]


def test_the_summary_can_be_declared_as_a_plain_table():
    runs = fnb.read(
        SUMMARY,
        case_id=["suite_name", "user_task_id", "injection_task_id"],
        mode="defense",
        kind=fnb.words("case_kind", attack=["attack"], benign=["benign_user_task"]),
        attack_success="security",
        task_success="utility",
        suite_version="benchmark_version",
    )
    assert fnb.rates(runs, "ASR").set_index("mode").loc["none", ["k", "n"]].tolist() == [218, 560]
    assert any("84 rows left out: kind is 'injection_task_alone'" in note for note in runs.notes)


def test_models_of_one_summary_are_told_apart(tmp_path):
    head = "model,defense,suite_name,user_task_id,injection_task_id,utility,security\n"
    rows = "".join(
        f"{model},none,shop,user_task_0,injection_task_0,true,false\n" for model in ("a", "b")
    )
    assert fnb.read(put(tmp_path, "a.csv", head + rows)).modes == ("a/none", "b/none")


def test_a_summary_without_a_mode_says_what_is_missing(tmp_path):
    text = (
        "suite_name,user_task_id,injection_task_id,utility,security\nshop,user_task_0,,true,true\n"
    )
    with pytest.raises(fnb.OutcomesError, match=r"no column mode, defense or pipeline_name"):
        fnb.read(put(tmp_path, "a.csv", text))


@pytest.mark.parametrize("size", [2**16 - 1, 2**16, 2**16 + 1, 300_000])
def test_a_run_file_is_read_whole_whatever_its_size(tmp_path, size):
    bare = len(json.dumps(run(security=True, messages="")))
    tree(tmp_path, "model", run(security=True, messages="x" * (size - bare)))
    (path,) = (tmp_path / "runs").rglob("*.json")
    assert path.stat().st_size == size
    runs = fnb.read(tmp_path)
    assert runs.frame["attack_success"].tolist() == [True]
    assert not any("cannot be read" in note for note in runs.notes)
