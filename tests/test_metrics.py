"""The declaration of the metrics: complete, consistent, and the source of every listing."""

from __future__ import annotations

import pytest

import ferrite_nb as fnb
from ferrite_nb.columns import CANONICAL
from ferrite_nb.metrics import METRICS, metric, mode_key, ordered_modes, ordered_strata, supported

DOCUMENTED = {
    "ASR": ("lower", "security"), "CR": ("higher", "security"), "ADR": ("higher", "security"),
    "SDR": ("higher", "security"), "FGR": ("lower", "cost"), "FSR": ("lower", "cost"), "FSR-proxy": ("lower", "cost"),
    "UP": ("higher", "cost"), "R": ("lower", "security"), "dL": ("lower", "cost"), "dT": ("lower", "cost"),
    "tried": ("lower", "security"), "ran": ("lower", "security"), "blocked": ("higher", "security"),
    "false refusal": ("lower", "cost"), "final answer (attacks)": ("higher", "cost"),
    "final answer (benign)": ("higher", "cost"), "residual share": ("lower", "security"),
    "task success": ("higher", "cost"), "task success under attack": ("higher", "cost"),
    "ASR over delivered": ("lower", "security"), "robust accuracy": ("higher", "security"),
    "prediction degraded": ("lower", "cost"), "prediction empty": ("lower", "cost"),
    "prediction precision": ("higher", "security"), "prediction recall": ("higher", "cost"),
    "covers": ("higher", "cost"), "over-admits": ("lower", "security"),
}  # fmt: skip


def test_every_documented_metric_is_declared_with_its_direction_and_side():
    assert {one.symbol: (one.better, one.side) for one in METRICS.values()} == DOCUMENTED


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
    scripted = {one.symbol for one in supported(["kind", "attack_success", "attempted", "gated"])}
    live = {one.symbol for one in supported(["kind", "attack_success", "attempted", "gated", "measurable"])}
    assert {"FGR", "FSR-proxy"} <= scripted and not {"tried", "false refusal"} & scripted
    assert {"tried", "ran", "false refusal"} <= live and not {"FGR", "FSR-proxy"} & live
    assert {"ASR", "CR"} <= scripted & live


def test_modes_stand_in_the_documented_order_and_others_as_first_seen():
    assert ordered_modes(["On", "Off", "LoopOnly", "SanitizerOnly"]) == ["Off", "SanitizerOnly", "LoopOnly", "On"]
    assert ordered_modes(["dryrun", "full", "guard", "off"]) == ["off", "guard", "full", "dryrun"]
    assert ordered_modes(["b", "a", "Off"], ["b", "a"]) == ["Off", "b", "a"]
    assert ordered_modes(["b", "a"]) == ["a", "b"]
    assert mode_key("dry_run") == mode_key("dryrun")


def test_scopes_are_ordered_from_exact_to_task_open_and_other_strata_by_text():
    assert ordered_strata("scope", ["task_open", "exact", "domain_suffix"]) == ["exact", "domain_suffix", "task_open"]
    assert ordered_strata("tier", ["b", "10", "2"]) == ["10", "2", "b"]
