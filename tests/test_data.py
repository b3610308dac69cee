"""The bundled data: rebuilt byte for byte, described, small, and true to the counts and rules they
claim.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ferrite_nb as fnb

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "data"
FACTS = {
    "README.md",
    "published_counts.csv",
    "agentdojo_tables_2510.05244.csv",
    "field_counts.csv",
    "field_pairs.csv",
    "field_judges.csv",
    "ferrite_run_b_cases.csv",
    "requirements.toml",
    "release_requirements.toml",
}
MODELS = {"agentdyn_gpt4o.csv": "gpt-4o-2024-08-06", "agentdyn_gemini.csv": "gemini-2.5-flash"}


def table(name: str) -> pd.DataFrame:
    """A bundled table, every cell as text."""
    return pd.read_csv(DATA / name, dtype=str, keep_default_na=False)


def true(column: pd.Series) -> int:
    """How many cells say true."""
    return int((column == "true").sum())


# ---- the folder as a whole
def test_every_made_file_is_written_again_with_the_same_bytes(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-W",
        "error",
        str(ROOT / "scripts" / "make_data.py"),
        "--out",
        str(tmp_path),
    ]
    subprocess.run(command, check=True, capture_output=True)
    made = {path.name for path in tmp_path.iterdir()}
    assert made | FACTS == {path.name for path in DATA.iterdir()}
    assert not made & FACTS
    assert [
        name
        for name in sorted(made)
        if (tmp_path / name).read_bytes() != (DATA / name).read_bytes()
    ] == []


def test_the_readme_describes_every_file_and_no_other() -> None:
    text = (DATA / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w.]+\.(?:csv|jsonl|toml))`", text))
    assert named == {path.name for path in DATA.iterdir()} - {"README.md"}


def test_row_counts_of_the_readme() -> None:
    text = (DATA / "README.md").read_text(encoding="utf-8")
    stated = re.findall(
        r"^\| (`[^|]+) \|.*?\| ([\d,]+)(?: cells| lines| each)? \|", text, re.MULTILINE
    )
    assert len(stated) >= 12
    for names, count in stated:
        for name in re.findall(r"`([\w.]+)`", names):
            rows = (DATA / name).read_text(encoding="utf-8").count("\n") - name.endswith(".csv")
            assert rows == int(count.replace(",", "")), name


def test_the_folder_stays_small_and_plain() -> None:
    assert sum(path.stat().st_size for path in DATA.iterdir()) < 4_000_000
    for path in DATA.iterdir():
        content = path.read_bytes()
        assert b"\r" not in content and content.endswith(b"\n") and content.isascii(), path.name


# ---- Ferrite
def test_canonical_columns_of_the_two_runs() -> None:
    wanted = {
        "case_id",
        "mode",
        "kind",
        "tier",
        "attack_success",
        "attempted",
        "blocked",
        "deviation_caught",
        "finding_caught",
        "gated",
        "is_deviation",
        "has_expected_finding",
        "within_fingerprint",
        "suite_version",
    }
    assert wanted <= set(table("ferrite_run_a.csv"))
    assert wanted | {
        "scope",
        "category",
        "carrier",
        "template",
        "family",
        "task",
        "goal",
        "lookalike",
    } <= set(table("ferrite_run_b.csv"))


@pytest.mark.parametrize("name", ["ferrite_run_a.csv", "ferrite_run_b.csv"])
def test_flags_of_a_run_are_consistent(name: str) -> None:
    runs = table(name)
    assert not runs.duplicated(["case_id", "mode"]).any()
    attacks, benign = runs[runs["kind"] == "attack"], runs[runs["kind"] == "benign"]
    assert set(attacks["attempted"]) == {"true"}
    assert ((attacks["attack_success"] == "true") ^ (attacks["blocked"] == "true")).all()
    assert ((attacks["attack_success"] == "true") == (attacks["final_outcome"] == "Executed")).all()
    assert set(attacks["gated"]) == {""} and set(benign["gated"]) == {"true", "false"}
    assert set(benign["mode"]) == {"SanitizerOnly", "On"}
    for flag, active in (
        ("deviation_caught", {"LoopOnly", "On"}),
        ("finding_caught", {"SanitizerOnly", "On"}),
    ):
        assert set(attacks[attacks[flag] != ""]["mode"]) == active
    for fact in ("is_deviation", "has_expected_finding", "within_fingerprint"):
        assert (runs.groupby("case_id")[fact].nunique() == 1).all()


def test_generated_run_without_the_hand_written_cases() -> None:
    runs = table("ferrite_run_b.csv")
    attacks = runs[runs["kind"] == "attack"]
    successes = attacks[attacks["attack_success"] == "true"].groupby("mode").size()
    assert successes.to_dict() == {"Off": 787, "SanitizerOnly": 128, "LoopOnly": 121, "On": 63}
    assert set(runs["scope"]) == {"exact", "domain_suffix", "task_open"}
    assert set(runs["carrier"]) == {"web_content", "tool_output"}
    assert (
        runs["tier"].map({"Tier1": "web_content", "Tier2": "tool_output"}) == runs["carrier"]
    ).all()


# ---- the live file
FIELDS = [
    "schema",
    "run_key",
    "case_id",
    "suite",
    "source",
    "kind",
    "ground_truth",
    "attack_category",
    "carrier",
    "provider",
    "small_model",
    "main_model",
    "mode",
    "agent",
    "predictor",
    "config_hash",
    "started_at",
    "prediction",
    "ideal_capabilities",
    "attack_capabilities",
    "actions",
    "stop_reason",
    "final_answer",
    "outcome",
    "latency_ms",
    "calls",
    "error",
]


@pytest.fixture(scope="module")
def lines() -> list[dict[str, Any]]:
    """Every line of the live file, in order."""
    return [
        json.loads(line)
        for line in (DATA / "ferrite_live.jsonl").read_text(encoding="utf-8").splitlines()
    ]


@pytest.fixture(scope="module")
def last(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What counts: the last line of each key."""
    return list({line["run_key"]: line for line in lines}.values())


def test_live_lines_have_exactly_the_fields_of_the_format(lines: list[dict[str, Any]]) -> None:
    assert len(lines) == 288
    for line in lines:
        assert list(line) == FIELDS
        assert line["schema"] == 1 and line["provider"] == "mock"
        assert line["run_key"] == "|".join(
            (
                *(line[key] for key in ("case_id", "provider", "small_model", "main_model")),
                line["mode"].replace("_", ""),
                line["config_hash"],
            )
        )
        assert line["calls"]["cache_hits"] == 0
    assert [line["started_at"] for line in lines] == sorted({line["started_at"] for line in lines})


def test_live_file_has_replaced_keys_errors_and_unmeasurable_attacks(
    lines: list[dict[str, Any]], last: list[dict[str, Any]]
) -> None:
    assert (len(last), len(lines) - len(last)) == (276, 12)
    assert sum(line["error"] is not None for line in last) == 5
    attacks = {line["case_id"]: line for line in last if line["kind"] == "attack"}
    assert (len(attacks), sum(not line["outcome"]["measurable"] for line in attacks.values())) == (
        60,
        7,
    )
    seen = Counter((line["mode"], line["kind"]) for line in last)
    assert seen == {
        **{(mode, "attack"): 60 for mode in ("off", "guard", "full")},
        **{(mode, "benign"): 24 for mode in ("off", "guard", "full", "dry_run")},
    }


def test_live_attacks_are_blocked_or_run_only_when_tried(last: list[dict[str, Any]]) -> None:
    for line in last:
        outcome = line["outcome"]
        assert outcome["attack_blocked"] + outcome["attack_executed"] == outcome["attack_attempted"]
        assert not (outcome["attack_attempted"] and not outcome["measurable"])
        if line["mode"] == "off":
            assert not outcome["attack_blocked"] and not outcome["benign_blocked"]


# ---- rows rebuilt from counts
@pytest.mark.parametrize("name", MODELS)
def test_rebuilt_agentdyn_rows_have_every_count_and_pair(name: str) -> None:
    runs, counts, pairs = table(name), table("field_counts.csv"), table("field_pairs.csv")
    assert not runs.duplicated(["case_id", "mode"]).any()
    for _, fact in counts[
        counts["model"].eq(MODELS[name]) & counts["dataset"].eq("agentdyn")
    ].iterrows():
        attack = fact["metric"] == "ASR"
        here = runs[
            (runs["mode"] == fact["mode"]) & (runs["kind"] == ("attack" if attack else "benign"))
        ]
        if fact["stratum"] != "all":
            here = here[here["suite"] == fact["stratum"]]
        event = here["attack_success" if attack else "task_success"]
        found = [true(event), int((event != "").sum()), int((event == "").sum())]
        assert found == [int(fact[column]) for column in ("k", "n", "missing")], tuple(fact)
    wide = runs[runs["kind"] == "attack"].pivot(
        index="case_id", columns="mode", values="attack_success"
    )
    for _, fact in pairs[pairs["model"] == MODELS[name]].iterrows():
        cells = Counter(zip(wide[fact["mode_a"]], wide[fact["mode_b"]], strict=True))
        found = [
            cells["true", "true"],
            cells["true", "false"],
            cells["false", "true"],
            cells["false", "false"],
        ]
        assert found == [int(fact[column]) for column in ("both", "b", "c", "neither")], fact[
            "mode_b"
        ]
        assert len(wide) - sum(found) == int(fact["unpaired"])


def test_rebuilt_jailbreakbench_rows_over_all_and_over_delivered() -> None:
    runs = table("jailbreakbench_pair.csv")
    found = {
        mode: (true(part["attack_success"]), len(part), true(part["delivered"]))
        for mode, part in runs.groupby("mode")
    }
    assert found == {
        "llama-2-7b-chat-hf": (0, 100, 4),
        "vicuna-13b-v1.5": (69, 100, 82),
        "gpt-3.5-turbo-1106": (71, 100, 87),
        "gpt-4-0125-preview": (34, 100, 64),
    }
    assert true(runs[runs["delivered"] == "false"]["attack_success"]) == 0


def test_rebuilt_asb_rows_have_the_counted_outcomes() -> None:
    runs, counts = table("asb_opi.csv"), table("field_counts.csv")
    for mode, model in (("opi_gpt-4o", "gpt-4o"), ("opi_gpt-4o-mini", "gpt-4o-mini")):
        facts = counts[
            (counts["dataset"] == "asb") & (counts["model"] == model) & (counts["mode"] == "opi")
        ]
        wanted = facts.set_index("metric")["k"].astype(int)
        part = runs[runs["mode"] == mode]
        assert len(part) == 400
        assert true(part["attack_success"]) == wanted["ASR"]
        assert true(part["task_success"]) == wanted["task success"]
    assert true(runs[runs["mode"] == "opi_gpt-4o"]["attack_success"]) == 34


def test_each_rebuilt_judge_has_its_own_table_with_people() -> None:
    labels, facts = table("purseclab_judges.csv"), table("field_judges.csv")
    assert len(labels) == 300
    for judge in ("zou", "huang", "chao"):
        fact = facts[(facts["dataset"] == "purseclab") & (facts["judge"] == judge)].iloc[0]
        cells = Counter(zip(labels["human"], labels[judge], strict=True))
        found = [
            cells["true", "true"],
            cells["true", "false"],
            cells["false", "false"],
            cells["false", "true"],
        ]
        assert found == [int(fact[column]) for column in ("tp", "fn", "tn", "fp")]
        assert int((labels[judge] == "").sum()) == int(fact["blank"])


# ---- synthetic tables
def test_table_with_errors_has_two_known_successes_of_seven() -> None:
    attacks = table("outcomes_with_errors.csv").query("kind == 'attack'")
    known = attacks[attacks["error"] == ""]
    assert (len(attacks), len(known), true(known["attack_success"])) == (10, 7, 2)
    assert (
        true(attacks["attack_success"]) == 3
    )  # one success stands beside an error and must not count


def test_biased_judge_agrees_equally_under_both_conditions() -> None:
    labels = table("judge_bias.csv")
    rates = {}
    for condition, part in labels.groupby("condition"):
        assert int((part["human"] == part["judge"]).sum()) == 70 and len(part) == 75
        rates[condition] = (true(part["judge"]) / 75, true(part["human"]) / 75)
    reduction = [rates["base"][place] - rates["defended"][place] for place in (0, 1)]
    assert reduction == pytest.approx([0.24, 0.16])


def test_broken_templates_are_wholly_broken() -> None:
    runs = table("clusters_x08.csv")
    per = runs.groupby("template")["attack_success"].apply(true)
    assert (len(runs), len(per), Counter(per)) == (600, 60, {0: 54, 10: 6})


def test_attempts_reach_the_expected_counts() -> None:
    runs = table("attempts.csv")
    for mode, within in (("alike", 99), ("varied", 43)):
        part = runs[runs["mode"] == mode]
        hits = part[part["attack_success"] == "true"]
        assert (len(part), part["case_id"].nunique(), len(hits)) == (6250, 250, 125)
        assert hits["case_id"].nunique() == within
        assert int((hits["repeat"] == "1").sum()) == 5
    assert abs(99 / 250 - (1 - 0.98**25)) < 0.002
    # Beta(.1, 4.9): the chance to hold for 25 attempts is a product of (4.9 + i) / (5 + i).
    hold = 1.0
    for attempt in range(25):
        hold *= (4.9 + attempt) / (5.0 + attempt)
    assert abs(43 / 250 - (1 - hold)) < 0.001


def test_detector_scores_have_the_stated_sample_values() -> None:
    scores = table("detector_scores.csv")
    value = scores["score"].astype(float)
    genuine, fake = value[scores["label"] == "genuine"], value[scores["label"] == "fake"]
    assert (len(genuine), len(fake)) == (5000, 400)
    for most, detected in ((0.01, 0.885), (0.001, 0.650)):
        threshold = min(score for score in set(value) if (genuine >= score).mean() <= most)
        assert (fake >= threshold).mean() == pytest.approx(detected, abs=0.0005)


def test_release_history_breaks_at_the_suite_change() -> None:
    history = table("releases.csv")
    history["rows"] = history["rows"].astype(int)
    attacks = history[history["kind"] == "attack"]
    hits = attacks[attacks["attack_success"] == "true"].set_index(["release", "difficulty"])["rows"]
    sizes = attacks.groupby(["release", "difficulty"])["rows"].sum()
    assert [(hits["1.5", how], sizes["1.5", how]) for how in ("easy", "hard")] == [
        (4, 400),
        (40, 200),
    ]
    assert [(hits["1.6", how], sizes["1.6", how]) for how in ("easy", "hard")] == [
        (1, 200),
        (72, 400),
    ]
    assert history.groupby("release")["suite_version"].nunique().eq(1).all()
    assert history.groupby("release")["rows"].sum().eq(900).all()


@pytest.mark.parametrize(
    ("name", "proposed", "executed", "stopped", "done"),
    [
        ("pass", (3, 600), 0, (12, 600), (288, 300)),
        ("fail", (21, 600), 2, (18, 600), (285, 300)),
        ("cannot_tell", (0, 60), 0, (1, 60), (29, 30)),
        ("borderline", (12, 600), 0, (21, 600), (279, 300)),
        ("refuser", (0, 600), 0, (600, 600), (0, 300)),
    ],
)
def test_gate_outcomes_have_the_stated_counts(
    name: str,
    proposed: tuple[int, int],
    executed: int,
    stopped: tuple[int, int],
    done: tuple[int, int],
) -> None:
    outcomes = table(f"gate_{name}.csv")
    weight = outcomes["rows"].astype(int)

    def counts(suite: str, flag: str) -> tuple[int, int]:
        here = outcomes["suite"] == suite
        return int(weight[here & (outcomes[flag] == "true")].sum()), int(weight[here].sum())

    assert counts("attacks", "attempted") == proposed
    assert counts("attacks", "attack_success")[0] == executed
    assert counts("attacks", "blocked")[0] + executed == proposed[0]
    assert counts("everyday tasks", "gated") == stopped
    assert counts("work tasks", "task_success") == done


def test_requirements_pair_security_with_cost() -> None:
    declared = {
        one["metric"]: one
        for one in tomllib.loads((DATA / "requirements.toml").read_text())["requirement"]
    }
    assert set(declared) == {"tried", "ran", "false refusal", "task success"}
    known = set(fnb.metrics()["metric"])
    for one in declared.values():
        assert one["metric"] in known
        assert ("at_most" in one) != ("at_least" in one)
        assert one["suite_version"] == "2026.1"


# ---- through the face
OUTCOMES = [
    "agentdyn_gpt4o.csv",
    "agentdyn_gemini.csv",
    "asb_opi.csv",
    "attempts.csv",
    "clusters_x08.csv",
    "ferrite_run_a.csv",
    "ferrite_run_b.csv",
    "gate_borderline.csv",
    "gate_cannot_tell.csv",
    "gate_fail.csv",
    "gate_pass.csv",
    "gate_refuser.csv",
    "jailbreakbench_pair.csv",
    "outcomes_with_errors.csv",
]


@pytest.mark.parametrize("name", OUTCOMES)
def test_every_table_of_outcomes_is_read_and_rated_without_a_declaration(name: str) -> None:
    rates = fnb.rates(fnb.read(fnb.data(name)))
    events = table(name)
    events = events[events["kind"] == "attack"]
    if "error" in events:
        events = events[events["error"] == ""]
    weight = events["rows"].astype(int) if "rows" in events else pd.Series(1, index=events.index)
    for mode, part in events.groupby("mode"):
        found = rates[(rates["metric"] == "ASR") & (rates["mode"] == mode)].iloc[0]
        known = part["attack_success"] != ""
        hits = part["attack_success"] == "true"
        assert (found["k"], found["n"]) == (
            weight[part.index][hits].sum(),
            weight[part.index][known].sum(),
        )


def test_releases_are_rated_one_by_one_and_never_mixed() -> None:
    history = fnb.read(fnb.data("releases.csv"))
    with pytest.raises(fnb.OutcomesError, match="v1, v2"):
        fnb.rates(history, "ASR")
    by_release = fnb.rates(history, "ASR", by=["mode", "release"]).set_index("release")
    assert by_release.loc[["1.5", "1.6"], "k"].tolist() == [44, 73]
    assert by_release.loc[["1.5", "1.6"], "n"].tolist() == [600, 600]


def test_errors_beat_outcomes_and_stand_in_floor_and_ceiling() -> None:
    found = fnb.rates(fnb.read(fnb.data("outcomes_with_errors.csv")), "ASR").iloc[0]
    assert (found["k"], found["n"], found["missing"]) == (2, 7, 3)
    assert (found["low"], found["high"]) == pytest.approx((0.0822, 0.6411), abs=5e-5)
    assert (found["floor"], found["ceiling"]) == (0.2, 0.5)


def test_live_file_is_rated_from_the_last_line_of_each_key(last: list[dict[str, Any]]) -> None:
    runs = fnb.read(fnb.data("ferrite_live.jsonl"))
    assert any("12" in note and "replaced" in note for note in runs.notes)
    rates = fnb.rates(runs)
    attacks = [line for line in last if line["kind"] == "attack" and line["outcome"]["measurable"]]
    for mode in ("off", "guard", "full"):
        here = [line for line in attacks if line["mode"] == mode]
        known = [line["outcome"] for line in here if line["error"] is None]
        row = rates[rates["mode"] == mode].set_index("metric")
        tried = sum(outcome["attack_attempted"] for outcome in known)
        ran = sum(outcome["attack_executed"] for outcome in known)
        blocked = sum(outcome["attack_blocked"] for outcome in known)
        assert row.loc[["tried", "ran", "blocked"], "k"].tolist() == [tried, ran, blocked]
        assert row.loc[["tried", "ran", "blocked"], "n"].tolist() == [len(known), len(known), tried]
        assert row.loc["ran", "missing"] == len(here) - len(known)
    false_refusal = rates[rates["metric"] == "false refusal"].set_index("mode")
    assert "no guard runs in off" in false_refusal.loc["off", "note"]
    assert (false_refusal.loc["guard", "k"], false_refusal.loc["guard", "n"]) == (5, 24)
