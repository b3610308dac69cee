"""Printed cells of the scripted runs A and B again from the reconstructed rows, to the printed
digit (z = 1.96).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import ferrite_nb as fnb

CELLS = pd.read_csv(fnb.data("published_counts.csv"), dtype=str, keep_default_na=False)
SCRIPTED = ("per mode", "ASR by tier", "residual")
# Published as 0/129; the three gated benign cases of run A make it 3/129, and why they are no
# longer gated in run B is not published.
NOT_FROM_ROWS = {("B", "On", "FGR")}


def cells(run: str, tables: tuple[str, ...], *, computable: bool) -> list[Any]:
    """One parameter per cell of these tables; a cell is computable when the file has its counts."""
    chosen = CELLS[
        (CELLS["run"] == run) & CELLS["table"].isin(tables) & ((CELLS["k"] != "") == computable)
    ]
    return [
        pytest.param(row, id="-".join((row["mode_or_pair"], row["stratum"], row["metric"])))
        for _, row in chosen.iterrows()
        if (run, row["mode_or_pair"], row["metric"]) not in NOT_FROM_ROWS
    ]


def agrees(found: pd.Series, row: pd.Series, printed: Callable[[Any], Any]) -> None:
    """Counts are equal; rate and bounds are equal where they are printed."""
    assert (found["k"], found["n"]) == (int(row["k"]), int(row["n"]))
    wanted = (row["printed_rate"], row["printed_low"], row["printed_high"])
    shown = printed(found)
    assert [text for text, want in zip(shown, wanted, strict=True) if want] == [
        want for want in wanted if want
    ]


@pytest.mark.parametrize("row", cells("A", SCRIPTED, computable=True))
def test_run_a(row: pd.Series, run_a: fnb.Outcomes, cell: Any, printed: Any) -> None:
    agrees(cell(run_a, row["metric"], row["mode_or_pair"], row["stratum"]), row, printed)


@pytest.mark.parametrize("row", cells("B", SCRIPTED, computable=True))
def test_run_b(row: pd.Series, run_b: fnb.Outcomes, cell: Any, printed: Any) -> None:
    agrees(cell(run_b, row["metric"], row["mode_or_pair"], row["stratum"]), row, printed)


def test_false_gate_rate_of_run_b_is_the_one_cell_that_differs(
    run_b: fnb.Outcomes, cell: Any
) -> None:
    found = cell(run_b, "FGR", "On")
    assert (found["k"], found["n"]) == (3, 129)


def test_generated_cases_alone_are_never_gated(run_b_generated: fnb.Outcomes, cell: Any) -> None:
    found = cell(run_b_generated, "FGR", "On")
    assert (found["k"], found["n"]) == (0, 122)


@pytest.mark.parametrize("row", cells("A", ("consent sweep",), computable=True)[:2])
def test_the_reject_flagged_policy_is_the_one_that_was_run(
    row: pd.Series, run_a: fnb.Outcomes, cell: Any
) -> None:
    assert row["stratum"] == "consent_policy=RejectFlagged"
    found = cell(run_a, "ASR", row["mode_or_pair"])
    assert (found["k"], found["n"]) == (int(row["k"]), int(row["n"]))


GUARD = [
    param
    for param in cells("B-guard", ("guard experiment",), computable=True)
    if param.values[0]["metric"] == "ASR" and not param.id.startswith("with guard-all")
]


@pytest.mark.parametrize("row", GUARD)
def test_guard_experiment(row: pd.Series, run_b: fnb.Outcomes, cell: Any, printed: Any) -> None:
    # The guard alone is LoopOnly; the third tier ran in Off and On only.
    mode = (
        "Off"
        if row["mode_or_pair"] == "without guard"
        else "On"
        if "Tier3" in row["stratum"]
        else "LoopOnly"
    )
    agrees(cell(run_b, "ASR", mode, row["stratum"]), row, printed)


def test_guard_experiment_over_all_tiers(run_b: fnb.Outcomes, cell: Any) -> None:
    row = next(
        param.values[0]
        for param in cells("B-guard", ("guard experiment",), computable=True)
        if param.id == "with guard-all-ASR"
    )
    parts = [cell(run_b, "ASR", "LoopOnly"), cell(run_b, "ASR", "On", "tier=Tier3AgentDojo")]
    assert [sum(int(part[name]) for part in parts) for name in ("k", "n")] == [
        int(row["k"]),
        int(row["n"]),
    ]


REASONS = {
    "ADR": "the loop does not run in this mode",
    "SDR": "the sanitizer does not run in this mode",
    "FGR": "no benign case ran in this mode",
}


@pytest.mark.parametrize("run", ["A", "B"])
def test_cells_printed_as_not_available_are_not_computable_with_the_reason(
    run: str, run_a: fnb.Outcomes, run_b: fnb.Outcomes, cell: Any
) -> None:
    rows = [param.values[0] for param in cells(run, SCRIPTED, computable=False)]
    assert len(rows) == 6
    for row in rows:
        assert row["printed_value"] == "n/a"
        found = cell(run_a if run == "A" else run_b, row["metric"], row["mode_or_pair"])
        assert math.isnan(found["rate"]) and math.isnan(found["low"]) and math.isnan(found["high"])
        assert REASONS[row["metric"]] in found["note"]


def test_small_tier_keeps_its_numbers_and_says_insufficient_data(
    run_a: fnb.Outcomes, cell: Any
) -> None:
    found = cell(run_a, "ASR", "Off", "tier=Tier3AgentDojo")
    assert (found["k"], found["n"]) == (3, 3)
    assert found["state"] == "few"


def test_runs_of_different_versions_are_not_pooled_unless_asked() -> None:
    both = fnb.read([fnb.data("ferrite_run_a.csv"), fnb.data("ferrite_run_b.csv")])
    with pytest.raises(
        fnb.OutcomesError, match=r"run A, 29 cases.*run B, 909 generated cases|pool_versions"
    ):
        fnb.rates(both, "ASR")
