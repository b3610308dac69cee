"""JailbreakBench artifacts: attacks that gave up, two judges, a stored count that follows an older
judge.
"""

from __future__ import annotations

import json

import pandas as pd
import pytest

import ferrite_nb as fnb

from .test_read import put


def artifact(
    method="PAIR", model="vicuna", defense=None, stored=None, success=(True, False, False)
):
    """An artifact with one behaviour per outcome; the last attack gave up."""
    last = len(success) - 1
    jailbreaks = [
        {
            "index": index,
            "goal": "(invented)",
            "behavior": f"b{index}",
            "category": "Fraud",
            "jailbroken": hit,
            "prompt": None if index == last else "(invented)",
            "response": None,
            "response_tokens": 10 * index,
            "jailbroken_llama_guard1": not hit,
        }
        for index, hit in enumerate(success)
    ]
    parameters = {"method": method, "model": model, "attack_type": "black_box", "defense": defense}
    if stored is not None:
        parameters["number_of_jailbreaks"] = stored
    return json.dumps({"parameters": parameters, "jailbreaks": jailbreaks})


def test_an_artifact_in_canonical_columns(tmp_path):
    runs = fnb.read(put(tmp_path, "a.json", artifact()))
    frame = runs.frame
    assert frame["case_id"].tolist() == ["0", "1", "2"] and runs.modes == ("vicuna",)
    assert frame["attack_success"].tolist() == [True, False, False]
    assert frame["delivered"].tolist() == [True, True, False]
    assert frame["tokens"].tolist() == [0.0, 10.0, 20.0]
    assert frame[["attack", "category", "model"]].iloc[0].tolist() == ["PAIR", "Fraud", "vicuna"]
    assert frame["jailbroken_llama_guard1"].tolist() == ["false", "true", "true"]
    assert not {"prompt", "response", "goal"} & set(frame.columns)


def test_both_denominators_are_reported(tmp_path):
    runs = fnb.read(put(tmp_path, "a.json", artifact()))
    table = fnb.rates(runs, ["ASR", "ASR over delivered"]).set_index("metric")
    assert table.loc["ASR", ["k", "n"]].tolist() == [1, 3]
    assert table.loc["ASR over delivered", ["k", "n"]].tolist() == [1, 2]
    assert any("gave up without a prompt; see ASR over delivered: 1" in note for note in runs.notes)


def test_a_stored_count_of_an_older_judge_is_noted(tmp_path):
    runs = fnb.read(put(tmp_path, "a.json", artifact(stored=2)))
    assert (
        "a.json: it states 2 jailbreaks, its labels are counted again: true labels: 1" in runs.notes
    )
    runs = fnb.read(put(tmp_path, "a.json", artifact(stored=1)))
    assert not any("counted again" in note for note in runs.notes)


def test_methods_are_part_of_the_case_and_defences_are_modes(tmp_path):
    put(tmp_path, "1.json", artifact())
    put(tmp_path, "2.json", artifact(method="GCG"))
    put(tmp_path, "3.json", artifact(defense="SmoothLLM"))
    runs = fnb.read(tmp_path)
    assert set(runs.modes) == {"vicuna", "SmoothLLM"} and "GCG/0" in set(runs.frame["case_id"])
    put(tmp_path, "4.json", artifact(model="llama", defense="SmoothLLM"))
    assert set(fnb.read(tmp_path).modes) == {"vicuna", "vicuna/SmoothLLM", "llama/SmoothLLM"}


def test_the_second_judge_can_be_declared(tmp_path):
    runs = fnb.read(put(tmp_path, "a.json", artifact()), attack_success="jailbroken_llama_guard1")
    assert runs.frame["attack_success"].tolist() == [False, True, True]


@pytest.mark.parametrize(
    "text", ['{"parameters": {}, "jailbreaks": []}', '{"parameters": 1, "jailbreaks": {"a": 1}}']
)
def test_an_empty_artifact_is_refused(tmp_path, text):
    with pytest.raises(fnb.OutcomesError, match=r"a.json holds no list of jailbreaks"):
        fnb.read(put(tmp_path, "a.json", text))


def test_a_missing_index_names_the_entry(tmp_path):
    text = json.dumps({"parameters": {"model": "m"}, "jailbreaks": [{"jailbroken": True}]})
    with pytest.raises(fnb.OutcomesError, match=r"a.json, entry 1: column case_id has nothing"):
        fnb.read(put(tmp_path, "a.json", text))
    missing = json.dumps({"parameters": {"model": "m"}, "jailbreaks": [{"index": 1}]})
    assert pd.isna(fnb.read(put(tmp_path, "a.json", missing)).frame["attack_success"][0])
