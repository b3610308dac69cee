"""Agent Security Bench: outcomes are the texts 0 and 1, files list the same cases in different
order.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import ferrite_nb as fnb

from .test_read import put

RUNS = Path(__file__).parent / "files/asb_two_runs.csv.gz"
HEAD = (
    "Agent Name,Attack Tool,Attack Successful,Original Task Successful,Refuse Result,Memory"
    " Found,Aggressive,messages\n"
)


def test_the_texts_0_and_1_are_counted_not_taken_as_true():
    runs = fnb.read(RUNS)
    assert runs.cluster == ("agent", "attack_tool")
    table = fnb.rates(runs, "ASR", cluster=()).set_index("mode")
    # 34/400 = 8.5% [6.15, 11.64], not 100% as `astype(bool)` makes of the texts.
    assert table.loc["opi_gpt-4o", ["k", "n"]].tolist() == [34, 400]
    assert table.loc["opi_gpt-4o", ["low", "high"]].tolist() == pytest.approx(
        [0.0615, 0.1164], abs=5e-5
    )
    assert table.loc["opi_gpt-4o-mini", ["k", "n"]].tolist() == [18, 400]


def test_cases_are_agent_and_tool_and_pair_by_key(tmp_path):
    first = put(tmp_path, "base.csv", HEAD + "A,T1,1,1,0,N/A,1,x\nA,T2,0,1,0,N/A,0,x\n")
    second = put(tmp_path, "shield.csv", HEAD + "A,T2,0,0,1,N/A,0,x\nA,T1,0,1,1,N/A,1,x\n")
    runs = fnb.read([first, second])
    assert runs.modes == ("base", "shield") and sorted(set(runs.frame["case_id"])) == [
        "A/T1",
        "A/T2",
    ]
    assert runs.frame["task_success"].tolist() == [True, True, False, True]
    assert runs.frame[["agent", "attack_tool", "refused", "aggressive"]].iloc[0].tolist() == [
        "A",
        "T1",
        "0",
        "1",
    ]
    pair = fnb.compare(runs, "ASR").iloc[0]
    assert pair[["both", "b", "c", "neither", "unpaired"]].tolist() == [0, 1, 0, 1, 0]


def test_messages_are_neither_evaluated_nor_kept(tmp_path):
    trap = tmp_path / "ran"
    code = f"\"[__import__('pathlib').Path('{trap}').touch()]\""
    runs = fnb.read(put(tmp_path, "a.csv", HEAD + f"A,T1,1,1,0,N/A,1,{code}\n"))
    assert not trap.exists() and "messages" not in runs.columns


def test_names_become_the_modes(tmp_path):
    text = HEAD + "A,T1,1,1,0,N/A,1,x\n"
    runs = fnb.read({"before": put(tmp_path, "1.csv", text), "after": put(tmp_path, "2.csv", text)})
    assert runs.modes == ("before", "after")


def test_it_can_be_declared_as_a_plain_table():
    runs = fnb.read(
        RUNS, case_id=["Agent Name", "Attack Tool"], mode="run", attack_success="Attack Successful"
    )
    assert fnb.rates(runs, "ASR")["k"].tolist() == [34, 18]


def test_an_odd_outcome_names_the_row(tmp_path):
    with pytest.raises(fnb.OutcomesError, match=r"a.csv, row 1: column attack_success has 'N/B'"):
        fnb.read(put(tmp_path, "a.csv", HEAD + "A,T1,N/B,1,0,N/A,1,x\n"))
    assert pd.isna(
        fnb.read(put(tmp_path, "a.csv", HEAD + "A,T1,N/A,1,0,N/A,1,x\n")).frame["attack_success"][0]
    )
