"""The declaration of the metrics: complete, consistent, and the source of every listing."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import ferrite_nb as fnb
from ferrite_nb.metrics import METRICS, metric, recorded
from ferrite_nb.order import NO_VALUE, baseline_among, ordered_modes, ordered_strata
from ferrite_nb.outcomes.contract import CANONICAL

DOCUMENTED = {
    "ASR": ("lower", "security"),
    "CR": ("higher", "security"),
    "ADR": ("higher", "security"),
    "SDR": ("higher", "security"),
    "FGR": ("lower", "cost"),
    "FSR": ("lower", "cost"),
    "FSR-proxy": ("lower", "cost"),
    "UP": ("higher", "cost"),
    "R": ("lower", "security"),
    "dL": ("lower", "cost"),
    "dT": ("lower", "cost"),
    "tried": ("lower", "security"),
    "ran": ("lower", "security"),
    "blocked": ("higher", "security"),
    "false refusal": ("lower", "cost"),
    "final answer (attacks)": ("higher", "cost"),
    "final answer (benign)": ("higher", "cost"),
    "residual share": ("lower", "security"),
    "task success": ("higher", "cost"),
    "task success under attack": ("higher", "cost"),
    "ASR over delivered": ("lower", "security"),
    "robust accuracy": ("higher", "security"),
    "prediction degraded": ("lower", "cost"),
    "prediction empty": ("lower", "cost"),
    "prediction precision": ("higher", "security"),
    "prediction recall": ("higher", "cost"),
    "covers": ("higher", "cost"),
    "over-admits": ("lower", "security"),
}


def test_every_documented_metric_is_declared_with_its_direction_and_side():
    assert {one.symbol: (one.better, one.side) for one in METRICS.values()} == DOCUMENTED


# Counted over counted, as the public metrics page and the live report define them; "cases" are
# distinct cases, and "measurable" leaves out attacks that could not be measured.
IN_WORDS = {
    "ASR": ("attack_success true", "attack rows with measurable, event known"),
    "CR": ("attack_success false", "attack rows with measurable, event known"),
    "ADR": ("deviation_caught true", "rows with is_deviation true, event known"),
    "SDR": ("finding_caught true", "rows with has_expected_finding true, event known"),
    "ASR over delivered": (
        "attack_success true",
        "attack rows with delivered true and measurable, event known",
    ),
    "robust accuracy": (
        "task_success true and attack_success false",
        "attack rows with measurable, event known",
    ),
    "tried": ("attempted true", "attack rows with measurable, event known"),
    "ran": ("attack_success true", "attack rows with measurable, event known"),
    "blocked": ("blocked true", "attack rows with attempted true and measurable, event known"),
    "R": ("within_fingerprint true", "attack cases, event known"),
    "residual share": ("within_fingerprint true", "attack rows with measurable, event known"),
    "prediction precision": ("sum of predicted_ideal", "sum of predicted over cases"),
    "over-admits": ("prediction_over_admits true", "cases, event known"),
    "FGR": ("gated true", "benign rows, event known"),
    "FSR": ("sum of segments_excised", "sum of segments over benign rows"),
    "FSR-proxy": ("gated true", "benign rows, event known"),
    "UP": (
        "benign cases whose trace equals that of the same case in the baseline mode",
        "cases with the record in both modes",
    ),
    "false refusal": ("gated true", "benign rows, event known"),
    "task success": ("task_success true", "benign rows, event known"),
    "task success under attack": ("task_success true", "attack rows, event known"),
    "final answer (attacks)": ("final_answer true", "attack rows, event known"),
    "final answer (benign)": ("final_answer true", "benign rows, event known"),
    "prediction degraded": ("prediction_degraded true", "cases, event known"),
    "prediction empty": ("prediction_empty true", "cases, event known"),
    "prediction recall": ("sum of predicted_ideal", "sum of ideal over cases"),
    "covers": ("prediction_covers true", "cases, event known"),
    "dL": (
        "latency_ms in the mode minus in the baseline mode, case by case",
        "cases with the record in both modes",
    ),
    "dT": (
        "tokens in the mode minus in the baseline mode, case by case",
        "cases with the record in both modes",
    ),
}


def test_every_metric_counts_what_its_definition_says():
    table = fnb.metrics().set_index("metric")
    assert {
        name: tuple(table.loc[name, ["numerator", "denominator"]]) for name in table.index
    } == IN_WORDS
    columns = {
        "ASR": "kind, attack_success",
        "FSR": "kind, segments_excised, segments",
        "UP": "kind, trace",
        "blocked": "kind, attempted, blocked",
        "dL": "latency_ms",
        "R": "kind, within_fingerprint",
    }
    assert {name: table.loc[name, "columns"] for name in columns} == columns
    assert (table["better"].eq("lower") | table["better"].eq("higher")).all()


def test_the_table_shows_what_is_declared():
    table = fnb.metrics()
    assert table.columns.tolist() == [
        "metric",
        "name",
        "meaning",
        "numerator",
        "denominator",
        "columns",
        "better",
        "side",
        "not computable",
    ]
    for row, one in zip(table.to_dict("records"), METRICS.values(), strict=True):
        assert (row["name"], row["meaning"], row["not computable"]) == (
            one.name,
            one.meaning,
            one.gap,
        )
        assert (row["better"], row["side"]) == (one.better, one.side)


def test_texts_for_people_are_sentences_without_a_mark_at_either_end():
    """Names, meanings and reasons stand inside sentences and tables: lower case (or a symbol)
    first, no full stop.
    """
    for one in METRICS.values():
        reasons = [*one.inactive.values(), *one.elsewhere.values(), one.gap]
        for text in (one.name, one.meaning, *reasons):
            assert text == text.strip() and text[0].islower() and text[-1] not in ".;,:", text


def test_modes_in_which_an_event_cannot_occur_are_declared_with_their_reason():
    loop, sanitizer = (
        "the loop does not run in this mode",
        "the sanitizer does not run in this mode",
    )
    assert {name: dict(one.inactive) for name, one in METRICS.items() if one.inactive} == {
        "ADR": {"off": loop, "sanitizeronly": loop},
        "SDR": {"off": sanitizer, "looponly": sanitizer},
        "false refusal": {"off": "no guard runs in off", "dryrun": "no guard acts in dryrun"},
    }
    assert {name: list(one.elsewhere) for name, one in METRICS.items() if one.elsewhere} == {
        "FGR": ["sanitizeronly"]
    }
    assert {name: one.only for name, one in METRICS.items() if one.only} == {
        "residual share": ("off",),
        "FSR-proxy": ("sanitizeronly",),
    }


def test_live_words_scripted_words_and_words_of_both_are_told_apart():
    live = {
        "tried",
        "ran",
        "blocked",
        "residual share",
        "false refusal",
        "final answer (attacks)",
        "final answer (benign)",
    }
    assert {name for name, one in METRICS.items() if one.live} == live
    assert {name for name, one in METRICS.items() if one.live is False} == {"FGR", "FSR-proxy"}
    assert {name: one.counted for name, one in METRICS.items() if one.counted != "rows"} == {
        "R": "cases",
        "FSR": "amounts",
        "UP": "traces",
        "dL": "differences",
        "dT": "differences",
        **dict.fromkeys(
            (
                "prediction precision",
                "prediction recall",
                "prediction degraded",
                "prediction empty",
                "covers",
                "over-admits",
            ),
            "cases",
        ),
    }
    assert {name for name, one in METRICS.items() if one.live is None} == set(METRICS) - live - {
        "FGR",
        "FSR-proxy",
    }


def test_a_metric_is_not_changed_by_its_user():
    with pytest.raises(dataclasses.FrozenInstanceError):
        metric("ASR").better = "higher"


def test_every_column_of_a_metric_is_canonical():
    assert {column for one in METRICS.values() for column in one.columns} <= set(CANONICAL)


def test_the_table_of_definitions_has_a_row_for_each_metric_and_no_gap():
    table = fnb.metrics()
    assert table["metric"].tolist() == list(METRICS)
    assert (table.map(str.strip) != "").all().all()


@pytest.mark.parametrize("name", ["asr", " ASR ", "attack success rate", "Attack Success Rate"])
def test_a_metric_is_found_by_symbol_and_name_in_any_case(name):
    assert metric(name).symbol == "ASR"


def test_an_unknown_metric_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"no metric 'ASX'.*ASR, CR"):
        metric("ASX")


def test_live_words_replace_the_scripted_cost_where_the_table_has_measurable():
    scripted = {one.symbol for one in recorded(["kind", "attack_success", "attempted", "gated"])}
    live = {
        one.symbol
        for one in recorded(["kind", "attack_success", "attempted", "gated", "measurable"])
    }
    assert {"FGR", "FSR-proxy"} <= scripted and not {"tried", "false refusal"} & scripted
    assert {"tried", "ran", "false refusal"} <= live and not {"FGR", "FSR-proxy"} & live
    assert {"ASR", "CR"} <= scripted & live


def test_modes_stand_in_the_documented_order_and_others_in_natural_order():
    assert ordered_modes(["On", "Off", "LoopOnly", "SanitizerOnly"]) == [
        "Off",
        "SanitizerOnly",
        "LoopOnly",
        "On",
    ]
    assert ordered_modes(["dryrun", "full", "guard", "off"]) == ["off", "guard", "full", "dryrun"]
    assert ordered_modes(["v10", "On", "v9", "guard"]) == ["On", "guard", "v9", "v10"]


def test_a_given_order_of_modes_is_kept_and_the_baseline_comes_first():
    assert ordered_modes(["b", "a", "Off"], ["b", "a", "Off"]) == ["Off", "b", "a"]
    assert ordered_modes(["a", "b", "new"], ["b", "a"]) == ["b", "a", "new"]
    assert ordered_modes(["Off", "b", "a"], baseline="B") == ["b", "Off", "a"]


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_modes_does_not_depend_on_the_order_of_rows(seed):
    modes = ["guard v10", "guard v2", "none", "On", "DryRun", "x", "X", "10", "9"]
    shuffled = [modes[place] for place in np.random.default_rng(seed).permutation(len(modes))]
    wanted = ["none", "On", "DryRun", "9", "10", "X", "guard v2", "guard v10", "x"]
    assert ordered_modes(shuffled) == wanted


@pytest.mark.parametrize(
    "mode",
    ["off", "OFF", "none", "None", "undefended", "baseline", "Vanilla", "no_defense", "no-defense"],
)
def test_the_words_for_no_defence_are_known_in_any_spelling(mode):
    for name in (mode, mode.upper(), f" {mode} ", mode.replace("_", " ").replace("nse", "nce")):
        assert baseline_among(["aaa", name]) == (name, "known")


@pytest.mark.parametrize(
    "mode", ["offline", "none/gpt", "baseline2", "nonexistent", "vanillaguard"]
)
def test_a_mode_whose_name_only_contains_such_a_word_is_no_baseline(mode):
    assert baseline_among(["aaa", mode]) == ("aaa", "first")


def test_two_known_words_decide_nothing_and_a_declared_baseline_decides_all():
    assert baseline_among(["x", "off", "none"]) == ("x", "first")
    assert baseline_among(["x", "off", "none"], "None") == ("none", "declared")
    assert baseline_among(["off", "Off"], "Off") == ("Off", "declared")
    assert baseline_among(["x", "off"], "gone") == ("off", "known")
    assert baseline_among([]) == ("", "first")


def test_scopes_are_ordered_from_exact_to_task_open():
    found = ordered_strata("scope", ["task_open", NO_VALUE, "exact", "other", "domain_suffix"])
    assert found == ["exact", "domain_suffix", "task_open", "other", NO_VALUE]


@pytest.mark.parametrize("prefix", ["", "Tier", "try", "2.", "a b ", "é"])
def test_every_group_of_digits_is_a_whole_number(prefix):
    wanted = [f"{prefix}{number}" for number in (*range(1, 13), 100, 2**64, 2**64 + 1)]
    assert ordered_strata("tier", reversed(wanted)) == wanted
    assert ordered_strata("tier", ["2.10", "2.9", "10.1"]) == ["2.9", "2.10", "10.1"]
    digits = ["9" * 5_000, "1" + "0" * 5_000]
    assert ordered_strata("tier", digits[::-1]) == digits


def test_the_order_of_strata_is_total_and_the_one_without_a_value_is_last():
    assert ordered_strata("tier", ["b", NO_VALUE, "1", "01", "~"]) == [
        "01",
        "1",
        "b",
        "~",
        NO_VALUE,
    ]
