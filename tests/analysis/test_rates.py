"""`rates`: denominators, reasons, missing outcomes, clusters, repeats, versions. Values from
published tables.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ferrite_nb as fnb
from ferrite_nb.schema import FACTS, SHAPES, WORDS
from tests.engines import ENGINES, on_engine, random_outcomes

FIXTURES = Path(__file__).parents[1] / "fixtures"


def attacks(outcomes: list[object], **more: object) -> fnb.Outcomes:
    """One attack per outcome in mode On."""
    frame = pd.DataFrame(
        {"case_id": [str(n) for n in range(len(outcomes))], "mode": "On", "kind": "attack"}
    )
    frame["attack_success"] = pd.Series(outcomes, dtype=object)
    return fnb.outcomes(frame.assign(**more))


@pytest.fixture(scope="module")
def run_b() -> fnb.Outcomes:
    return fnb.read(fnb.data("ferrite_run_b.csv")).declare(cluster=())


def row(table: pd.DataFrame, **cell: object) -> pd.Series:
    for name, value in cell.items():
        table = table[table[name] == value]
    assert len(table) == 1, table
    return table.iloc[0]


def test_the_columns_are_the_contract():
    expected = ["metric", "kind", "mode", *SHAPES["rates"].numbers, *WORDS, *FACTS]
    assert list(fnb.rates(attacks([True]), by=["kind"])) == expected


def test_an_error_is_not_a_failed_attack_and_bounds_say_what_it_could_be():
    # strands-agents/evals#295: 2 of 10 succeed, 5 are blocked, 3 end in an error.
    found = row(fnb.rates(attacks([True] * 2 + [False] * 5 + ["error"] * 3), "ASR"))
    assert (found["k"], found["n"], found["missing"]) == (2, 7, 3)
    assert found[["low", "high", "floor", "ceiling"]].tolist() == pytest.approx(
        [0.0822, 0.6411, 0.2, 0.5], abs=5e-5
    )


@pytest.mark.parametrize("outcome", ["error", "timeout", "", "n/a"])
def test_all_missing_is_not_computable_and_never_0_or_100(outcome):
    # wandb/rai-toolkit#66: endpoint failures reported as full resistance.
    table = fnb.rates(attacks([outcome] * 3))
    for symbol in ("ASR", "CR"):
        found = row(table, metric=symbol)
        assert (found["n"], found["missing"]) == (0, 3)
        assert math.isnan(found["rate"]) and math.isnan(found["low"]) and math.isnan(found["high"])
        assert (found["floor"], found["ceiling"]) == (0, 1)
        assert found["note"] == "not computable: no attack row has a known outcome"


def test_an_error_column_beats_a_default_outcome():
    found = row(fnb.rates(attacks([True, False, True], error=["", "boom", "server_error"]), "ASR"))
    assert (found["k"], found["n"], found["missing"]) == (1, 1, 2)


def test_a_layer_that_does_not_run_is_not_computable_with_its_reason(run_b):
    table = fnb.rates(run_b)
    for symbol, mode, reason in [
        ("ADR", "Off", "the loop does not run in this mode"),
        ("ADR", "SanitizerOnly", "the loop does not run in this mode"),
        ("SDR", "LoopOnly", "the sanitizer does not run in this mode"),
        ("FGR", "LoopOnly", "no benign case ran in this mode"),
        ("FGR", "Off", "no benign case ran in this mode"),
    ]:
        found = row(table, metric=symbol, mode=mode)
        assert found["note"] == f"not computable: {reason}"
        assert (found["n"], found["missing"]) == (0, 0) and math.isnan(found["rate"])


def test_a_layer_with_known_outcomes_is_counted_whatever_the_mode_is_called():
    frame = pd.DataFrame(
        {"case_id": list("abcdef"), "mode": "off", "is_deviation": True, "deviation_caught": True}
    )
    assert row(fnb.rates(fnb.outcomes(frame), "ADR"))["k"] == 6


def test_what_the_sanitizer_alone_gates_is_the_proxy_and_never_fgr(run_b):
    table = fnb.rates(run_b)
    proxy = row(table, metric="FSR-proxy")
    assert (proxy["mode"], proxy["k"], proxy["n"]) == ("SanitizerOnly", 2, 122)
    assert "not FGR" in proxy["note"]
    assert "FSR-proxy" in row(table, metric="FGR", mode="SanitizerOnly")["note"]


def test_security_without_any_cost_says_that_the_cost_is_missing():
    cost = row(fnb.rates(attacks([True] * 6)), metric="FGR")
    assert cost["state"] == "none" and "cost is not measured" in cost["why"]


def test_containment_says_how_many_were_not_attempted():
    runs = attacks([False] * 6, attempted=[True] * 3 + [False] * 3)
    found = row(fnb.rates(runs, "CR"))
    assert (found["k"], found["n"]) == (6, 6) and "contained includes 3 not attempted" in found[
        "note"
    ]


def test_delivered_gives_a_second_named_denominator():
    # 20 attacks, 4 succeed, 3 were never delivered: 4/20 and 4/17.
    runs = attacks([True] * 4 + [False] * 16, delivered=[True] * 17 + [False] * 3)
    table = fnb.rates(runs)
    assert row(table, metric="ASR")[["k", "n"]].tolist() == [4, 20]
    over = row(table, metric="ASR over delivered")
    assert over[["k", "n"]].tolist() == [4, 17]
    assert over[["low", "high"]].tolist() == pytest.approx([0.0956, 0.4726], abs=5e-5)


def test_unmeasurable_attacks_are_in_no_attack_rate_and_are_counted_in_the_note():
    runs = attacks(
        [True] * 5 + [False] * 5,
        measurable=[True] * 8 + [False] * 2,
        attempted=True,
        blocked=False,
        final_answer=True,
    )
    table = fnb.rates(runs)
    for symbol in ("ASR", "tried", "ran"):
        assert row(table, metric=symbol)["n"] == 8
        assert "2 attack rows not measurable" in row(table, metric=symbol)["note"]
    assert row(table, metric="final answer (attacks)")["n"] == 10


def test_blocked_and_ran_add_up_to_tried():
    runs = fnb.read(fnb.data("ferrite_live.jsonl")).pool_versions()
    table = fnb.rates(runs, ["tried", "ran", "blocked"]).pivot(
        index="mode", columns="metric", values="k"
    )
    assert len(table) == 4 and (table["blocked"] + table["ran"] == table["tried"]).all()


def test_fewer_than_five_cases_are_insufficient_but_keep_their_numbers():
    found = row(fnb.rates(attacks([True] * 3), "ASR"))
    assert (found["k"], found["n"]) == (3, 3)
    assert (found["state"], found["why"]) == ("few", "n<5")
    assert found["low"] == pytest.approx(0.4385, abs=5e-5)


def test_clusters_widen_the_interval_as_the_design_effect_says(run_b):
    # 176 templates among the 787 generated attacks, all alike inside: worth 43, 19 and 38 cases
    table = fnb.rates(run_b, "ASR", cluster="template").set_index("mode")
    assert (table["clusters"] == 176).all()
    assert table["n_eff"].round(1).tolist() == [176.0, 42.9, 19.4, 37.8]
    assert table.loc["LoopOnly", ["low", "high"]].tolist() == pytest.approx(
        [0.054, 0.368], abs=5e-4
    )
    assert table.loc["On", ["low", "high"]].tolist() == pytest.approx([0.028, 0.210], abs=5e-4)
    assert set(table["unit"]) == {"template"}
    assert (table["method"] == "clustered wilson").all()


def test_one_cluster_has_no_interval():
    runs = fnb.read(FIXTURES / "C42_lone_cluster.csv")
    found = row(fnb.rates(runs, "ASR", cluster="template"))
    assert (found["k"], found["n"], found["clusters"]) == (4, 20, 1)
    assert math.isnan(found["low"]) and found["state"] == "few"
    assert row(fnb.rates(runs, "ASR"))[["low", "high"]].tolist() == pytest.approx(
        [0.080658, 0.416017], abs=1e-6
    )


def test_crossed_clusters_are_at_least_as_wide_as_either_alone():
    runs = fnb.outcomes(random_outcomes(11, cases=200))
    wide = fnb.rates(runs, "ASR", cluster=["template", "goal"])
    for key in ("template", "goal"):
        alone = fnb.rates(runs, "ASR", cluster=key)
        assert (wide["n_eff"] <= alone["n_eff"] + 1e-9).all()
    assert (wide["method"] == "crossed wilson").all()
    assert set(wide["unit"]) == {"template × goal"}
    assert (wide["clusters"] == 7).all()


def test_repeats_are_not_more_cases():
    table = fnb.rates(
        fnb.read(FIXTURES / "C39_seeds_unbalanced.csv", repeat="seed"), "ASR"
    ).set_index("mode")
    assert table.loc["off", ["k", "n", "clusters"]].tolist() == [18, 30, 10]
    # all repeats of a case are alike, so 30 rows are worth less than 10 independent ones
    assert 5 < table.loc["off", "n_eff"] < 10
    assert "runs of 10 cases" in table.loc["off", "note"] and table.loc["off", "unit"] == "case"
    assert table.loc["on", ["k", "n"]].tolist() == [2, 10]


def test_the_segments_of_a_case_are_a_cluster():
    frame = pd.DataFrame(
        {
            "case_id": [str(n) for n in range(6)],
            "mode": "On",
            "kind": "benign",
            "segments": [10] * 6,
            "segments_excised": [10, 0, 0, 0, 0, 0],
        }
    )
    found = row(fnb.rates(fnb.outcomes(frame), "FSR"))
    assert found[["k", "n", "clusters"]].tolist() == [10, 60, 6] and found["n_eff"] < 7


def test_utility_is_preserved_when_the_trace_is_that_of_the_baseline():
    frame = pd.DataFrame(
        {
            "case_id": list("abcdef") * 2,
            "mode": ["Off"] * 6 + ["On"] * 6,
            "kind": "benign",
            "trace": list("xxxxxx") + list("xxxxyy"),
        }
    )
    table = fnb.rates(fnb.outcomes(frame), "UP").set_index("mode")
    assert table.loc["On", ["k", "n"]].tolist() == [4, 6]
    assert "baseline" in table.loc["Off", "note"]
    alone = fnb.outcomes(frame[frame["mode"] == "On"])
    assert fnb.rates(alone, "UP")["why"].tolist() == ["this is the baseline mode itself"]


def test_the_residual_is_a_fact_of_the_suite_and_counts_cases():
    found = row(fnb.rates(fnb.read(fnb.data("ferrite_run_a.csv")), "R"))
    assert found[["mode", "k", "n"]].tolist() == ["", 1, 22]


def test_a_mix_of_versions_in_one_cell_raises_and_names_them_per_mode():
    runs = attacks([True] * 6, suite_version=["v1.1", "v1.2"] * 3)
    with pytest.raises(
        fnb.OutcomesError, match=r"mix suite versions \(v1.1, v1.2\).*On: v1.1, v1.2.*pool_versions"
    ):
        fnb.rates(runs, "ASR")
    assert fnb.rates(runs, "ASR", by="suite_version")["n"].tolist() == [3, 3]
    pooled = fnb.rates(runs.pool_versions(), "ASR")
    assert pooled["n"].tolist() == [6] and "suite versions pooled" in pooled["note"].iloc[0]


def test_modes_are_never_pooled_and_strata_without_cases_keep_their_row():
    runs = fnb.read(fnb.data("ferrite_run_a.csv"))
    table = fnb.rates(runs, "ASR", by="tier")
    assert len(table) == 12 and list(table)[:3] == ["metric", "tier", "mode"]
    found = row(table, tier="Tier3AgentDojo", mode="LoopOnly")
    assert found["n"] == 0 and found["note"].startswith("not computable")


def test_scope_is_ordered_and_levels_and_z_reach_the_interval(run_b):
    table = fnb.rates(run_b, "CR", by=["scope", "mode"])
    assert list(dict.fromkeys(table["scope"])) == ["exact", "domain_suffix", "task_open"]
    narrow, wide = fnb.rates(run_b, "ASR", level=0.8), fnb.rates(run_b, "ASR", level=0.99)
    assert (narrow["high"] - narrow["low"] < wide["high"] - wide["low"]).all()
    assert fnb.rates(run_b, "ASR", z=1.96).loc[3, ["low", "high"]].tolist() == pytest.approx(
        [0.0631, 0.1011], abs=5e-5
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"metrics": "ASX"}, "no metric 'ASX'"),
        ({"metrics": "dL"}, "fnb.overhead"),
        ({"by": "nothing"}, "no column 'nothing'"),
        ({"cluster": "nothing"}, "no column 'nothing'"),
        ({"cluster": ["a", "b", "c"]}, "two crossed"),
        ({"method": "normal"}, "wilson"),
        ({"level": 95}, "level"),
        ({"level": 0.9, "z": 1.96}, "level"),
        ({"cluster": "kind", "method": "jeffreys"}, "clustered Wilson"),
    ],
)
def test_a_bad_call_says_what_is_allowed(wrong, message):
    with pytest.raises(ValueError, match=message):
        fnb.rates(attacks([True] * 6), **wrong)


@given(st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_shuffling_rows_renaming_cases_and_adding_strata_change_nothing(seed):
    frame = random_outcomes(seed, cases=30)
    before = fnb.rates(fnb.outcomes(frame), by=["tier", "mode"])
    shuffled = frame.sample(frac=1, random_state=seed)
    renamed = shuffled.assign(case_id="case " + shuffled["case_id"], other="x")
    pd.testing.assert_frame_equal(before, fnb.rates(fnb.outcomes(renamed), by=["tier", "mode"]))
    known = before[(before["n"] > 0) & ~before["note"].str.contains("one cluster")]
    assert (known["k"] <= known["n"]).all()
    assert (known["low"] <= known["rate"]).all() and (known["rate"] <= known["high"]).all()
    assert (known["floor"] <= known["rate"] + 1e-12).all() and (
        known["rate"] <= known["ceiling"] + 1e-12
    ).all()
    assert before.loc[before["n"] == 0, "note"].str.startswith("not computable: ").all()


def test_the_input_is_left_unchanged():
    frame = random_outcomes(3)
    copy = frame.copy(deep=True)
    runs = fnb.outcomes(frame)
    inside = runs.frame.copy(deep=True)
    fnb.rates(runs, by=["tier", "mode"], cluster="template")
    pd.testing.assert_frame_equal(frame, copy)
    pd.testing.assert_frame_equal(runs.frame, inside)


@pytest.mark.parametrize("engine", ENGINES[1:])
def test_every_engine_gives_the_same_rates(engine):
    frame = random_outcomes(8, repeats=2)
    ours, theirs = fnb.outcomes(frame), fnb.outcomes(on_engine(engine, frame))
    for options in (
        {},
        {"by": ["scope", "tier"]},
        {"cluster": "template"},
        {"cluster": ["template", "goal"]},
    ):
        a, b = fnb.rates(ours, **options), fnb.rates(theirs, **options)
        if "lazy" in engine or engine == "duckdb":
            assert b.loc[b["n"] > 0, "note"].str.contains("keys not checked").all()
            a, b = a.drop(columns="note"), b.drop(columns="note")
        pd.testing.assert_frame_equal(a, b)


def test_hostile_names_stay_text_and_reach_the_table_unchanged():
    names = [
        "<script>alert(1)</script>",
        "$\\input{x}$",
        "=cmd|' /C calc'!A0",
        "\u202eabc",
        "x" * 300,
        "",
    ]
    frame = pd.DataFrame(
        {"case_id": [str(n) for n in range(6)], "mode": names, "attack_success": True}
    )
    assert set(fnb.rates(fnb.outcomes(frame), "ASR")["mode"]) == set(names)


def test_counts_with_weights_have_no_lost_precision():
    frame = pd.DataFrame(
        {"mode": ["On", "On"], "attack_success": [True, False], "rows": [10**12, 9 * 10**12]}
    )
    found = row(fnb.rates(fnb.outcomes(frame), "ASR"))
    assert (found["k"], found["n"]) == (10**12, 10**13) and found["rate"] == 0.1
    assert np.isfinite(found["low"])


def test_a_label_that_no_row_of_a_cell_has_makes_no_cluster():
    """Benign cases have no injection: their rate is clustered by what they have, and says so."""
    rows = [
        {
            "case_id": f"{kind}{u}-{i}",
            "mode": "On",
            "kind": kind,
            "user": f"u{u}",
            "injection": f"i{i}" if kind == "attack" else None,
            "attack_success": (u + i) % 3 == 0,
            "gated": u % 4 == 0,
        }
        for kind in ("attack", "benign")
        for u in range(8)
        for i in range(6)
    ]
    runs = fnb.outcomes(pd.DataFrame(rows))
    table = fnb.rates(runs, ["ASR", "FGR"], cluster=["user", "injection"]).set_index("metric")
    alone = fnb.rates(runs, "FGR", cluster="user").iloc[0]
    assert table.loc["ASR", "method"] == "crossed wilson"
    assert table.loc["FGR", "method"] == "clustered wilson"
    assert table.loc["FGR", ["low", "high"]].tolist() == alone[["low", "high"]].tolist()
    assert "no row here has the label injection" in table.loc["FGR", "note"]
    none = fnb.rates(runs, "FGR", cluster="injection").iloc[0]
    assert (
        none["method"] == "wilson" and none["low"] == fnb.stats.interval(none["k"], none["n"]).low
    )
