"""`limits`: what run B holds, each limit on a small table made for it, silence on clean data,
hostile names.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ferrite_nb as fnb

_beside = importlib.util.spec_from_file_location("clean", Path(__file__).with_name("clean.py"))
assert _beside is not None and _beside.loader is not None
_module = importlib.util.module_from_spec(_beside)
_beside.loader.exec_module(_module)
clean = _module.clean

SEEDS = 12  # of the 200 that tests/benchmarks/test_false_alarms.py runs


def found(runs: fnb.Outcomes, limit: str) -> pd.Series:
    """The one row whose limit begins with these words."""
    table = fnb.limits(runs)
    rows = table[table["limit"].str.startswith(limit)]
    assert len(rows) == 1, table["limit"].tolist()
    return rows.iloc[0]


def names(runs: fnb.Outcomes, severity: str | None = None) -> list[str]:
    table = fnb.limits(runs)
    return (
        table[table["severity"] == severity]["limit"].tolist()
        if severity
        else table["limit"].tolist()
    )


def changed(seed: int = 1, **change: Any) -> fnb.Outcomes:
    """Clean data with some columns replaced by functions of the frame."""
    frame = clean(seed).frame.copy()
    for name, value in change.items():
        frame[name] = value(frame) if callable(value) else value
    return fnb.outcomes(frame)


@pytest.fixture(scope="module")
def run_b() -> fnb.Outcomes:
    return fnb.outcomes(
        pd.read_csv(fnb.data("ferrite_run_b.csv"), dtype=str, keep_default_na=False)
    )


@pytest.fixture(scope="module")
def limits_b(run_b: fnb.Outcomes) -> pd.DataFrame:
    return fnb.limits(run_b)


# Run B: what is known of its design must be found from its columns alone.


def test_run_b_shares_templates(limits_b: pd.DataFrame) -> None:
    one = limits_b.set_index("limit").loc["cases share template"]
    assert one["severity"] == "severe"
    assert "787 cases from 176 values of template" in one["evidence"]
    assert "worth about 19 independent ones (design effect 40.5" in one["evidence"]
    assert "121/787 = 15.4% [5.4, 36.8]" in one["consequence"]
    assert "falsely narrow [13.0, 18.1]" in one["consequence"]
    assert one["columns"] == ("template",)


def test_what_the_call_handles_is_handled(run_b: fnb.Outcomes) -> None:
    for table in (
        fnb.limits(run_b, cluster="template"),
        fnb.limits(run_b.declare(cluster="template")),
    ):
        one = table.set_index("limit").loc["cases share template"]
        assert one["severity"] == "handled" and one["columns"] == ("template",)
        severe = table[table["severity"] == "severe"]
        assert not severe["limit"].str.startswith("cases share").any()


def test_run_b_off_is_fixed(limits_b: pd.DataFrame) -> None:
    one = limits_b.set_index("limit").loc["every attack succeeds in Off"]
    assert one["severity"] == "severe" and one["evidence"].startswith("787/787, lower limit 99.5%")
    assert "by construction" in one["consequence"]


def test_run_b_follows_from_its_labels(limits_b: pd.DataFrame) -> None:
    one = limits_b.set_index("limit").loc["a rule on the labels gives every outcome"]
    assert one["severity"] == "severe"
    assert "LoopOnly by within_fingerprint (787 outcomes from 2 combinations)" in one["evidence"]
    assert "SanitizerOnly" in one["evidence"] and "On by" in one["evidence"]


def test_run_b_scopes_are_one_design_each(limits_b: pd.DataFrame) -> None:
    one = limits_b.set_index("limit").loc["strata of scope that are one design"]
    assert "exact 777, domain_suffix 5, task_open 5" in one["evidence"]
    assert "family" in one["evidence"] and "goal" in one["evidence"]


def test_run_b_says_what_is_missing_on_the_cost_side(limits_b: pd.DataFrame) -> None:
    one = limits_b.set_index("limit").loc["modes without cost"]
    assert "SanitizerOnly, On only; not in Off, LoopOnly" in one["evidence"]


def test_severe_limits_come_first_and_columns_are_the_contract(limits_b: pd.DataFrame) -> None:
    words = ["limit", "severity", "evidence", "consequence"]
    assert limits_b.columns.tolist() == [*words, "columns", "cells"]
    order = limits_b["severity"].map({"severe": 0, "note": 1, "handled": 2, "not checked": 3})
    assert order.notna().all() and order.is_monotonic_increasing
    assert (limits_b[words].map(len) > 0).all(axis=None)


def test_the_order_of_rows_and_the_input_do_not_matter(
    run_b: fnb.Outcomes, limits_b: pd.DataFrame
) -> None:
    before = run_b.frame.copy()
    shuffled = fnb.outcomes(before.sample(frac=1, random_state=0))
    assert set(map(tuple, fnb.limits(shuffled).to_numpy())) == set(map(tuple, limits_b.to_numpy()))
    pd.testing.assert_frame_equal(run_b.frame, before)


# Clean data.


@pytest.mark.parametrize("seed", range(SEEDS))
def test_clean_data_have_no_severe_limit(seed: int) -> None:
    """But for clusters: 13 tasks say little about how alike their cases are, so knowing them moves
    an interval also where they are not alike.
    """
    severe = [name for name in names(clean(seed), "severe") if not name.startswith("cases share")]
    assert severe == []


def test_clean_data_claim_nothing_from_absence() -> None:
    said = fnb.limits(clean(0))
    unchecked = said[said["severity"] == "not checked"]["limit"].tolist()
    assert {
        "judge error",
        "attackers who adapt",
        "rows removed before this file was written",
    } <= set(unchecked)
    assert "delivery of the attacks" not in unchecked  # the column is there, and all were delivered


# Each limit on data made for it.


def test_outcomes_that_follow_the_template_are_clusters() -> None:
    rng = np.random.default_rng(0)
    rates = dict(zip([f"template {i}" for i in range(40)], rng.beta(0.4, 0.6, 40), strict=True))
    runs = changed(
        attack_success=lambda f: f["attack_success"].mask(
            f["kind"] == "attack", pd.Series(rng.random(len(f)) < f["template"].map(rates))
        )
    )
    assert found(runs, "cases share template")["severity"] == "severe"


def test_crossed_clusters_are_named_together() -> None:
    rng = np.random.default_rng(2)
    user, injection = np.divmod(np.arange(30 * 14), 14)
    rate = 1 / (1 + np.exp(-(rng.normal(0, 1.5, 30)[user] + rng.normal(0, 1.5, 14)[injection])))
    frame = pd.DataFrame(
        {"user_task": [f"u{i}" for i in user], "injection": [f"i{i}" for i in injection]}
    )
    frame["attack_success"] = rng.random(len(frame)) < rate
    frame["case_id"] = frame["user_task"] + frame["injection"]
    runs = fnb.outcomes(frame.assign(mode="On"))
    assert (
        "use cluster=['user_task', 'injection']"
        in found(runs, "cases share user_task")["consequence"]
    )
    assert found(runs, "cases share injection")["severity"] == "severe"


def test_a_label_with_one_common_value_is_no_cluster() -> None:
    runs = changed(task=lambda f: f["task"].where(f["template"].str.endswith("9"), "plain"))
    assert "cases share task" not in names(runs)


def test_errors_of_one_mode_are_severe_and_can_turn_the_order() -> None:
    rng = np.random.default_rng(0)
    runs = changed(
        error=lambda f: np.where((f["mode"] == "Full") & (rng.random(len(f)) < 0.3), "timeout", "")
    )
    one = found(runs, "errors concentrated in one mode")
    assert one["severity"] == "severe"
    assert "Full" in one["evidence"] and "of 150" in one["evidence"]
    assert "could turn the order of Guard and Full" in one["consequence"]


def test_a_mode_in_which_nothing_is_known_is_severe() -> None:
    """All attack rows of a mode in error: the endpoint was down."""
    runs = changed(error=lambda f: np.where(f["mode"] == "Full", "fetch failed", ""))
    assert (
        "nothing is known in Full" in found(runs, "errors concentrated in one mode")["consequence"]
    )


def test_undelivered_attacks() -> None:
    rng = np.random.default_rng(0)
    runs = changed(delivered=lambda f: ~((f["mode"] == "Full") & (rng.random(len(f)) < 0.4)))
    one = found(runs, "attacks that were not delivered")
    assert (
        one["severity"] == "severe" and "Full" in one["evidence"] and "Off" not in one["evidence"]
    )
    few = changed(delivered=lambda f: f["case_id"] != "case 1")
    assert found(few, "attacks that were not delivered")["severity"] == "note"


def test_unmeasurable_and_not_attempted_attacks_are_counted() -> None:
    runs = changed(
        measurable=lambda f: f["case_id"] != "case 1",
        attempted=lambda f: f["attack_success"].fillna(False),
    )
    assert (
        "Off 1 of 150, Guard 1 of 150"
        in found(runs, "attacks that could not be measured")["evidence"]
    )
    assert "not a block rate" in found(runs, "attacks that were not attempted")["consequence"]


def test_empty_outputs_scored_as_safe() -> None:
    safe = "mode == 'Full' and attack_success == False"
    runs = changed(output=lambda f: np.where(f.index.isin(f.query(safe).index), " ", "some text"))
    assert found(runs, "attacks with an empty output")["severity"] == "severe"
    rows = clean(1).frame.assign(tokens=lambda f: f["tokens"].where(f["mode"] != "Full", 0))
    assert found(fnb.outcomes(rows), "attacks with an empty tokens")["severity"] == "severe"
    bare = fnb.outcomes(clean(1).frame.drop(columns="tokens"))
    assert found(bare, "empty outputs scored as safe")["severity"] == "not checked"


def test_latencies_of_zero() -> None:
    runs = changed(latency_ms=lambda f: f["latency_ms"].where(f["case_id"] != "case 2", 0.0))
    assert found(runs, "latencies of zero")["evidence"].startswith("3 of 630 rows")


def test_several_suite_versions() -> None:
    runs = changed(suite_version=lambda f: np.where(f["mode"] == "Full", "8", "7"))
    one = found(runs, "several suite versions")
    assert (
        one["severity"] == "severe" and "Off: 7" in one["evidence"] and "Full: 8" in one["evidence"]
    )


def test_identical_repeats_and_repeats_that_differ() -> None:
    frame = clean(3).frame
    same = fnb.outcomes(pd.concat([frame.assign(repeat=name) for name in "123"]))
    assert found(same, "repeats are identical")["severity"] == "severe"
    other = fnb.outcomes(
        pd.concat([clean(3).frame.assign(repeat="1"), _again(clean(3).frame).assign(repeat="2")])
    )
    assert "differ between their repeats" in found(other, "repeats are not more cases")["evidence"]
    assert "one repeat per case" in names(clean(3))


def _again(frame: pd.DataFrame) -> pd.DataFrame:
    fresh = np.random.default_rng(9).random(len(frame)) < 0.4
    return frame.assign(
        attack_success=frame["attack_success"].where(frame["attack_success"].isna(), fresh)
    )


def test_a_defence_that_refuses_everything() -> None:
    """AgentDyn, gpt-4o: task success 0 of 60 in one mode and 40 of 60 without a defence."""
    runs = changed(task_success=lambda f: f["task_success"].mask(f["mode"] == "Full", False))
    one = found(runs, "Full does hardly any normal task")
    assert one["severity"] == "severe" and "0/" in one["evidence"] and "while" in one["evidence"]
    gated = changed(gated=lambda f: f["mode"] == "Full")
    assert "normal tasks refused" in found(gated, "Full does hardly any normal task")["evidence"]


def test_security_without_cost() -> None:
    frame = clean(1).frame
    attacks = frame[frame["kind"] == "attack"].drop(columns=["gated", "task_success"])
    assert found(fnb.outcomes(attacks), "security without cost")["severity"] == "severe"
    one_mode = attacks[attacks["mode"] == "Full"]
    assert found(fnb.outcomes(one_mode), "security without cost")["severity"] == "note"


def test_cases_that_did_not_run_everywhere() -> None:
    frame = clean(1).frame
    few = fnb.outcomes(frame[(frame["tier"] != "Tier3") | (frame["mode"] != "Guard")])
    one = found(few, "cases that did not run in every mode")
    assert "tier Tier3 in Off, Full only" in one["evidence"]
    other = frame["case_id"].where(frame["mode"] != "Full", "other " + frame["case_id"])
    apart = found(fnb.outcomes(frame.assign(case_id=other)), "cases that did not run in every mode")
    assert apart["severity"] == "severe" and "cannot be compared at all" in apart["consequence"]


@pytest.mark.parametrize("other", ["on", "On ", "\u200bOn", "\uff2fn", "O n", "_on", "ON\u202e"])
def test_modes_that_a_reader_would_take_for_one(other: str) -> None:
    frame = pd.DataFrame(
        {"case_id": [str(n) for n in range(20)] * 2, "mode": ["On"] * 20 + [other] * 20}
    )
    found = fnb.limits(fnb.outcomes(frame.assign(attack_success=[True, False] * 20)))
    row = found[found["limit"] == "modes whose names look alike"].iloc[0]
    assert row["severity"] == "severe" and "'On'" in row["evidence"] and row["evidence"].isascii()
    frame["mode"] = ["On"] * 20 + ["Off"] * 20
    assert "modes whose names look alike" not in set(fnb.limits(fnb.outcomes(frame))["limit"])


def test_order_of_modes_that_turns_round_within_strata() -> None:
    """Kidney stones, Charig et al. 1986."""
    rows = [
        {"mode": mode, "suite": suite, "attack_success": at < k}
        for mode, suite, k, n in [
            ("open", "small", 81, 87),
            ("open", "large", 192, 263),
            ("pcnl", "small", 234, 270),
            ("pcnl", "large", 55, 80),
        ]
        for at in range(n)
    ]
    frame = pd.DataFrame(rows).assign(case_id=[f"c{at}" for at in range(len(rows))])
    assert found(fnb.outcomes(frame), "open and pcnl turn round by suite")["severity"] == "severe"


def test_strata_too_small_to_read() -> None:
    runs = changed(tier=lambda f: np.where(f["case_id"] == "case 1", "Rare", "Common"))
    assert "tier Rare (n = 1)" in found(runs, "strata too small to read")["evidence"]


def test_a_metric_that_never_varies_cannot_tell_modes_apart() -> None:
    none = changed(
        attack_success=lambda f: pd.array(
            np.where(f["kind"] == "attack", False, None), dtype="boolean"
        )
    )
    assert found(none, "ASR is the same in all modes")["severity"] == "severe"
    assert (
        "upper limit of 2% would need 189 attacks"
        in found(none, "no success is not safety")["consequence"]
    )


def test_outcome_column_of_a_single_mode_is_not_called_a_rule_for_sure() -> None:
    frame = clean(1).frame
    one = frame[frame["mode"] == "Off"].assign(
        final=lambda f: f["attack_success"].map({True: "ran", False: "held"})
    )
    limit = found(fnb.outcomes(one), "a rule on the labels")
    assert limit["severity"] == "note" and "record the outcome itself" in limit["consequence"]


def test_labels_as_fine_as_the_cases_are_no_rule() -> None:
    """All labels together give every outcome when no two cases share them: that is no finding."""
    runs = changed(
        template=lambda f: "t" + (f["case_id"].str.slice(5).astype(int) // 2).astype(str)
    )
    assert not [name for name in names(runs) if name.startswith("a rule")]


def test_rows_left_out_while_reading_are_repeated() -> None:
    frame = clean(1).frame.assign(
        kind=lambda f: np.where(f["case_id"] == "case 5", "warm-up", f["kind"])
    )
    runs = fnb.outcomes(frame, kind=fnb.words("kind", attack=["attack"], benign=["benign"]))
    assert "3 rows left out" in found(runs, "rows left out while reading")["evidence"]


# Edges.


def test_a_table_of_counts_is_examined_as_far_as_it_goes() -> None:
    runs = fnb.outcomes(pd.DataFrame({"mode": ["Off", "On"], "k": [90, 3], "n": [90, 90]}))
    assert found(runs, "every attack succeeds in Off")["severity"] == "severe"
    assert found(runs, "run-to-run variation")["severity"] == "not checked"


def test_one_row_and_no_outcome() -> None:
    one = fnb.outcomes(pd.DataFrame({"case_id": ["a"], "mode": ["On"], "attack_success": [True]}))
    assert names(one, "severe") == []
    none = fnb.outcomes(pd.DataFrame({"case_id": ["a"], "mode": ["On"], "tier": ["x"]}))
    assert "no known outcome" in names(none, "severe")


def test_hostile_names_come_through_as_cut_text() -> None:
    hostile = ["<script>alert(1)</script>", "=cmd|' /C calc'!A0", "\u202egnirts", "x" * 300, ""]
    rng = np.random.default_rng(0)
    names = pd.Series(hostile)
    runs = changed(
        tier=lambda f: names[rng.integers(0, 5, len(f))].to_numpy(),
        mode=lambda f: f["mode"] + "$\\input{}",
    )
    table = fnb.limits(runs)
    text = table.to_csv()
    assert "\u202e" not in text and "x" * 100 not in text
    assert "$\\input{}" in text


@pytest.mark.parametrize("engine", ["polars", "pyarrow", "duckdb"])
def test_every_engine_finds_the_same(
    run_b: fnb.Outcomes, limits_b: pd.DataFrame, engine: str
) -> None:
    if engine == "duckdb":
        import duckdb

        frame = run_b.frame
        relation = duckdb.connect().from_df(frame)
        runs = fnb.outcomes(relation)
    else:
        import narwhals.stable.v2 as nw

        plain = run_b.frame.astype(object).where(run_b.frame.notna(), None)
        columns = {name: plain[name].tolist() for name in plain}
        runs = fnb.outcomes(nw.from_dict(columns, backend=engine).to_native())
    found = fnb.limits(runs)
    assert (
        found[found["severity"] == "severe"].to_dict()
        == limits_b[limits_b["severity"] == "severe"].to_dict()
    )
