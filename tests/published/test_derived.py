"""Run B beyond the printed tables: intervals, scope, families and clusters of the reconstructed
rows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ferrite_nb as fnb

DERIVED = pd.read_csv(
    Path(__file__).with_name("derived_counts.csv"), dtype=str, keep_default_na=False
)
COUNTED = DERIVED[DERIVED["k"] != ""]
SCOPES = DERIVED[DERIVED["table"] == "ASR by scope"]


def named(cells: pd.DataFrame) -> list[Any]:
    """One parameter per row, with a readable name."""
    columns = ["run", "mode_or_pair", "stratum", "metric"]
    return [
        pytest.param(row, id="-".join(row[columns]).replace(" ", "_"))
        for _, row in cells.iterrows()
    ]


@pytest.mark.parametrize("row", named(COUNTED))
def test_intervals_from_counts(row: pd.Series) -> None:
    bounds = fnb.stats.interval(int(row["k"]), int(row["n"]), z=1.96)
    assert (f"{100 * bounds.low:.1f}", f"{100 * bounds.high:.1f}") == (row["low"], row["high"])


@pytest.mark.parametrize("row", named(SCOPES))
def test_attack_success_by_scope_from_rows(
    row: pd.Series, run_b_generated: fnb.Outcomes, cell: Any
) -> None:
    found = cell(run_b_generated, "ASR", row["mode_or_pair"], row["stratum"])
    assert (found["k"], found["n"]) == (int(row["k"]), int(row["n"]))
    assert (f"{100 * found['low']:.1f}", f"{100 * found['high']:.1f}") == (row["low"], row["high"])


def test_five_cases_of_one_design_are_not_flagged_as_few(
    run_b_generated: fnb.Outcomes, cell: Any
) -> None:
    assert "insufficient" not in cell(run_b_generated, "ASR", "LoopOnly", "scope=task_open")["note"]


def test_families_of_the_generated_corpus() -> None:
    cases = pd.read_csv(fnb.data("ferrite_run_b_cases.csv"), dtype=str, keep_default_na=False)
    sizes = cases.groupby(["family", "kind"]).size().to_dict()
    assert sizes == {
        ("mtg", "attack"): 13 * 12 * 2,
        ("mcg", "attack"): 12 * 11,
        ("mdr", "attack"): 2 * 28 * 4,
        ("mrs", "attack"): 28 * 3,
        ("msc", "attack"): 5 * 3,
        ("mos", "attack"): 20,
        ("mos", "benign"): 5,
        ("mbn", "benign"): 117,
    }
    attacks = cases[cases["kind"] == "attack"]
    assert attacks.groupby("scope").size().to_dict() == {
        "exact": 777,
        "domain_suffix": 5,
        "task_open": 5,
    }
    assert attacks["task"].nunique() == 13


def test_outcomes_follow_from_the_labels_without_exception() -> None:
    table = pd.read_csv(fnb.data("ferrite_run_b.csv"), dtype=str, keep_default_na=False)
    attacks = table[table["kind"] == "attack"]
    labels = ["mode", "ground_truth", "has_expected_finding"]
    assert (attacks.groupby(labels)["attack_success"].nunique() == 1).all()


def test_template_joins_task_goal_and_lookalike() -> None:
    table = pd.read_csv(fnb.data("ferrite_run_b.csv"), dtype=str, keep_default_na=False)
    attacks = table[table["kind"] == "attack"]
    assert attacks["template"].nunique() == 176
    assert attacks.groupby(["task", "goal", "lookalike"])["template"].nunique().eq(1).all()
    assert attacks.groupby("template")[["task", "goal", "lookalike"]].nunique().eq(1).all().all()


# mode, design effect by survey linearisation, computed once outside this package. Few clusters carry
# most events, so the effective n that the intervals rest on is smaller still: see `clusters.json`.
TEMPLATES = [("SanitizerOnly", 3.17, 42.9), ("LoopOnly", 12.85, 19.4), ("On", 6.21, 37.8)]


@pytest.mark.parametrize(("mode", "effect", "effective"), TEMPLATES)
def test_templates_widen_the_intervals(
    mode: str, effect: float, effective: float, run_b_generated: fnb.Outcomes, cell: Any
) -> None:
    table = fnb.rates(run_b_generated, "ASR", cluster="template")
    found = table[table["mode"] == mode].iloc[0]
    assert found["clusters"] == 176
    assert found["n_eff"] == pytest.approx(effective, abs=0.05)
    assert found["n"] / found["n_eff"] > effect
    plain = cell(run_b_generated, "ASR", mode)
    assert found["low"] < plain["low"] and found["high"] > plain["high"]


def test_loop_only_interval_with_templates_is_5_to_37_percent(
    run_b_generated: fnb.Outcomes,
) -> None:
    table = fnb.rates(run_b_generated, "ASR", cluster="template")
    found = table[table["mode"] == "LoopOnly"].iloc[0]
    assert (found["low"], found["high"]) == pytest.approx((0.054, 0.368), abs=0.0005)


def test_thirteen_tasks_as_clusters_are_worth_a_dozen_cases(run_b_generated: fnb.Outcomes) -> None:
    table = fnb.rates(run_b_generated, "ASR", cluster="task")
    effects = (table["n"] / table["n_eff"])[table["mode"] != "Off"]
    # survey linearisation gives 18 to 25; 13 clusters cannot hold it to that
    assert effects.tolist() == pytest.approx([66.05, 89.62, 67.73], abs=0.005)
    assert (table["clusters"] == 13).all()
