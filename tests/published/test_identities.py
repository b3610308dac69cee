"""The sums that the published numbers, and the rows rebuilt from them, have to keep."""

from __future__ import annotations

import pandas as pd
import pytest

import ferrite_nb as fnb

CELLS = pd.read_csv(fnb.data("published_counts.csv"), dtype=str, keep_default_na=False)
LIVE = CELLS[(CELLS["run"] == "C") & (CELLS["n"] != "") & (CELLS["k"] != "")].astype(
    {"k": int, "n": int}
)


def rows(name: str) -> pd.DataFrame:
    """A bundled table as text."""
    return pd.read_csv(fnb.data(name), dtype=str, keep_default_na=False)


def live(metric: str, mode: str, table: str = "attacks") -> pd.Series:
    """The one cell of a live metric."""
    found = LIVE[
        (LIVE["metric"] == metric) & (LIVE["mode_or_pair"] == mode) & (LIVE["table"] == table)
    ]
    assert len(found) == 1
    return found.iloc[0]


def test_run_a_has_96_executions() -> None:
    table = rows("ferrite_run_a.csv")
    assert len(table) == 19 * 4 + 3 * 2 + 7 * 2 == 96
    assert table["case_id"].nunique() == 29
    first = table.drop_duplicates("case_id")
    assert first.groupby(["kind", "tier"]).size().to_dict() == {
        ("attack", "Tier1"): 12,
        ("attack", "Tier2"): 7,
        ("attack", "Tier3AgentDojo"): 3,
        ("benign", "Tier1"): 5,
        ("benign", "Tier2"): 2,
    }


def test_tiers_of_run_a_add_up_and_containment_is_the_rest() -> None:
    cells = CELLS[(CELLS["run"] == "A") & (CELLS["k"] != "")].astype({"k": int, "n": int})
    for mode in ("Off", "SanitizerOnly", "LoopOnly", "On"):
        here = cells[cells["mode_or_pair"] == mode]
        asr = here[(here["metric"] == "ASR") & (here["table"] == "per mode")].iloc[0]
        containment = here[(here["metric"] == "CR") & (here["table"] == "per mode")].iloc[0]
        tiers = here[here["table"] == "ASR by tier"]
        assert (tiers["k"].sum(), tiers["n"].sum()) == (asr["k"], asr["n"])
        assert asr["k"] + containment["k"] == asr["n"] == containment["n"]


def test_what_the_counts_of_run_a_fix() -> None:
    table = rows("ferrite_run_a.csv")
    attacks = table[(table["kind"] == "attack") & (table["mode"] == "On")]
    first = attacks[attacks["tier"] != "Tier3AgentDojo"]
    assert first["ground_truth"].value_counts().to_dict() == {
        "deviation": 16,
        "origin_shift": 2,
        "residual": 1,
    }
    assert (first["has_expected_finding"] == "true").sum() == 14
    assert first[first["finding_caught"] == "true"].groupby("tier").size().to_dict() == {
        "Tier1": 7,
        "Tier2": 5,
    }
    assert list(attacks[attacks["within_fingerprint"] == "true"]["case_id"]) == ["c24"]
    third = attacks[attacks["tier"] == "Tier3AgentDojo"]
    assert set(third["ground_truth"]) == {"deviation"} and set(third["finding_caught"]) == {"false"}


def test_run_b_has_3488_executions_with_run_a() -> None:
    table = pd.concat([rows("ferrite_run_a.csv"), rows("ferrite_run_b.csv")])
    assert len(rows("ferrite_run_b.csv")) == 3392 == 787 * 4 + 122 * 2
    assert len(table) == 806 * 4 + 3 * 2 + 129 * 2 == 3488
    first = table.drop_duplicates("case_id")
    kinds = first.groupby(["kind", "tier"]).size()
    assert kinds["attack"].to_dict() == {"Tier1": 539, "Tier2": 267, "Tier3AgentDojo": 3}
    assert kinds["benign"].to_dict() == {"Tier1": 90, "Tier2": 39}
    assert len(first) == 809 + 129 == 29 + 909 == 938


def test_residual_and_loop_only_attack_success_have_one_numerator() -> None:
    cells = CELLS[CELLS["run"].isin(["B", "B-guard"]) & (CELLS["k"] != "")]
    residual = cells[cells["metric"] == "R"].iloc[0]
    loop = cells[(cells["metric"] == "ASR") & (cells["mode_or_pair"] == "LoopOnly")].iloc[0]
    guard = cells[(cells["metric"] == "ASR") & (cells["mode_or_pair"] == "with guard")]
    tiers = guard[guard["stratum"] != "all"]["k"].astype(int)
    assert int(residual["k"]) == int(loop["k"]) == 122 == tiers.sum() == 96 + 26 + 0


@pytest.mark.parametrize("mode", ["off", "guard"])
@pytest.mark.parametrize("table", ["suite", "category", "ground truth", "carrier"])
def test_each_breakdown_of_run_c_adds_up(mode: str, table: str) -> None:
    for metric in ("tried", "ran"):
        part = LIVE[
            (LIVE["table"] == f"breakdown by {table}")
            & (LIVE["mode_or_pair"] == mode)
            & (LIVE["metric"] == metric)
        ]
        whole = live(metric, mode)
        assert (part["k"].sum(), part["n"].sum()) == (whole["k"], whole["n"])
        assert whole["n"] == 1542


@pytest.mark.parametrize(
    ("mode", "blocked", "ran", "tried"), [("off", 0, 31, 31), ("guard", 15, 6, 21)]
)
def test_blocked_and_ran_are_the_tried_attacks(
    mode: str, blocked: int, ran: int, tried: int
) -> None:
    assert (live("blocked", mode)["k"], live("ran", mode)["k"], live("tried", mode)["k"]) == (
        blocked,
        ran,
        tried,
    )
    assert blocked + ran == tried == live("blocked", mode)["n"]


def test_what_the_guard_stopped_is_not_a_block_rate() -> None:
    pair = CELLS[(CELLS["run"] == "C") & (CELLS["table"] == "paired")].iloc[0]
    assert int(pair["b"]) - int(pair["c"]) == 31 - 6 == 25
    # 15 of the 25 were blocked; 10 were never tried under guard, all of them in one suite.
    slack = LIVE[
        (LIVE["stratum"] == "suite=agentdojo/slack") & (LIVE["metric"] == "tried")
    ].set_index("mode_or_pair")
    assert slack["k"].to_dict() == {"off": 14, "guard": 4}
    assert live("blocked", "guard")["k"] + (14 - 4) == 25


def test_sizes_of_run_c() -> None:
    suites = LIVE[
        (LIVE["table"] == "breakdown by suite")
        & (LIVE["mode_or_pair"] == "off")
        & (LIVE["metric"] == "tried")
    ]
    measurable = suites.set_index("stratum")["n"]
    unmeasurable = {"redteam": 121, "core": 1, "banking": 12, "travel": 38, "workspace": 44}
    assert sum(unmeasurable.values()) == 216
    # Imported suites: user tasks x injection tasks, and the user tasks alone as benign runs.
    imported = {"workspace": (40, 14), "travel": (20, 7), "banking": (16, 9), "slack": (21, 5)}
    for suite, (tasks, injections) in imported.items():
        assert (
            measurable[f"suite=agentdojo/{suite}"] + unmeasurable.get(suite, 0)
            == tasks * injections
        )
    assert sum(tasks * injections for tasks, injections in imported.values()) == 949
    assert sum(tasks for tasks, _ in imported.values()) == 97
    assert 1542 + 216 == 1758 == 809 + 949
    assert live("final answer (attacks)", "off")["n"] == 1758
    assert live("final answer (benign)", "off", "benign")["n"] == 226 == 129 + 97
    assert 1984 == 938 + 1046 == 1758 + 226
    assert 2 * 1758 == 3516 and 2 * 216 == 432 and 2 * 1984 == 3968


def test_residual_of_run_c_is_the_same_in_both_tables() -> None:
    share = live("residual share", "off", "residual share")
    part = LIVE[(LIVE["stratum"] == "ground_truth=residual") & (LIVE["mode_or_pair"] == "off")]
    assert share["k"] == 418 and set(part["n"]) == {418}
