"""What a table supports is found in its values, and what was read is said with the right units."""

from __future__ import annotations

import pandas as pd
import pytest

import ferrite_nb as fnb

from ..engines import ENGINES, on_engine, random_outcomes


def frame(**columns):
    """Two attacks and two benign cases in two modes."""
    keys = {
        "case_id": ["a", "b", "c", "d"] * 2,
        "mode": ["Off"] * 4 + ["guard"] * 4,
        "kind": ["attack", "attack", "benign", "benign"] * 2,
        "attack_success": ["yes", "no", None, None] * 2,
    }
    return pd.DataFrame(keys | columns)


def symbols(runs):
    return {metric.symbol for metric in runs.supports}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("columns", "wanted"),
    [
        ({}, {"ASR", "CR"}),
        ({"task_success": [None, None, "yes", "no"] * 2}, {"ASR", "CR", "task success"}),
        (
            {"task_success": ["yes", None, None, None] * 2},
            {"ASR", "CR", "robust accuracy", "task success under attack"},
        ),
        ({"gated": ["yes", "no", None, None] * 2}, {"ASR", "CR"}),
        ({"gated": [None, None, "yes", None] * 2}, {"ASR", "CR", "FGR"}),
        ({"latency_ms": [1.0, 2.0, 3.0, 4.0] * 2}, {"ASR", "CR", "dL"}),
        ({"latency_ms": [1.0] * 4 + [None] * 4}, {"ASR", "CR"}),
        ({"trace": [None, None, "r", "w"] * 2}, {"ASR", "CR", "UP"}),
        ({"trace": ["r", "w", None, None] * 2}, {"ASR", "CR"}),
        ({"delivered": ["no"] * 8}, {"ASR", "CR"}),
        ({"delivered": ["yes"] * 8}, {"ASR", "CR", "ASR over delivered"}),
        ({"error": ["boom"] * 8, "task_success": ["yes"] * 8}, set()),
    ],
)
def test_a_metric_is_supported_when_a_row_of_its_population_has_a_known_event(
    engine, columns, wanted
):
    assert symbols(fnb.outcomes(on_engine(engine, frame(**columns)))) == wanted


def test_a_metric_of_one_mode_needs_that_mode():
    gated = frame(gated=[None, None, "yes", None] * 2)
    assert "FSR-proxy" not in symbols(fnb.outcomes(gated))
    gated["mode"] = gated["mode"].replace("guard", "Sanitizer_Only")
    assert "FSR-proxy" in symbols(fnb.outcomes(gated))


def lines(runs):
    found: dict[str, list[str]] = {}
    for name, text in runs.describe():
        found.setdefault(name, []).append(text)
    return found


def test_what_the_record_tries_to_say_is_told_apart_from_what_it_does_not_record():
    told = lines(fnb.outcomes(frame(task_success=[None, None, "yes", "no"] * 2)))
    assert told["not computable"] == [
        "robust accuracy, task success under attack: no task outcome of attack rows in the record"
    ]
    (rest,) = told["not recorded"]
    assert "FGR" in rest and "dL" in rest and "robust accuracy" not in rest


def test_rows_cases_errors_and_missing_outcomes_are_counted_apart():
    rows = pd.DataFrame(
        {
            "case_id": [f"c{case}" for case in range(10) for _ in range(4)],
            "mode": "On",
            "repeat": [str(number) for _ in range(10) for number in range(4)],
            "attack_success": ["yes"] * 30 + [None] * 6 + ["no"] * 4,
            "error": [None] * 36 + ["timeout"] * 4,
        }
    )
    (read,) = lines(fnb.outcomes(rows, read_from="x.csv"))["read"]
    wanted = "40 rows of 10 cases (40 attack; 4 errors; 6 attack rows without an outcome)"
    assert read == f"x.csv: {wanted}; modes: On"


def test_weights_are_rows():
    counts = pd.DataFrame(
        {"mode": ["Off", "On"], "k": [3, 1], "n": [1000, 1000], "missing": [7, 0]}
    )
    (read,) = lines(fnb.outcomes(counts, read_from="x"))["read"]
    wanted = "2,007 rows (2,007 attack; 0 errors; 7 attack rows without an outcome)"
    assert read == f"x: {wanted}; modes: Off, On"


def test_cluster_and_baseline_are_said():
    runs = fnb.outcomes(random_outcomes(3))
    assert lines(runs)["baseline"] == ["Off (known by its name)"]
    told = lines(runs.declare(cluster=["template", "goal"], baseline="On"))
    assert (told["cluster"], told["baseline"]) == (["template × goal"], ["On"])
    (first,) = lines(fnb.outcomes(frame(mode=["x"] * 4 + ["y"] * 4)))["baseline"]
    assert first.startswith("x (the first") and "baseline=" in first
    assert "baseline" not in lines(runs.where(mode="On"))
