"""`compare(judge=...)`: the judge's error in a difference, against the values of other programs."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ferrite_nb as fnb
from ferrite_nb import stats
from tests.analysis.test_compare import only, two_modes

NAMES = ("tp", "fn", "tn", "fp")
CELLS = ("both", "b", "c", "neither")
PATH = Path(__file__).parents[1] / "stats" / "reference" / "comparisons.json"
REFERENCE = [
    one["inputs"] | {"expected": one["expected"]}
    for one in json.loads(PATH.read_text("utf-8"))
    if one["routine"] == "corrected_difference"
]


def labels_of(counts: dict[str, list[int]]) -> pd.DataFrame:
    rows = [{"mode": mode, **dict(zip(NAMES, four, strict=True))} for mode, four in counts.items()]
    return pd.DataFrame(rows)


def shared_or_own(given: dict) -> pd.DataFrame:
    if given.get("labels_b") is None:
        return labels_of({"x": given["labels_a"]}).drop(columns="mode")
    return labels_of({"Off": given["labels_a"], "on": given["labels_b"]})


@pytest.mark.parametrize("given", REFERENCE)
def test_the_reference_values_come_out_of_the_verb(given):
    runs = fnb.outcomes(two_modes(*(given[name] for name in CELLS)))
    row = only(fnb.compare(runs, judge=shared_or_own(given)))
    expected = given["expected"]
    for name in ("diff", "low", "high"):
        if expected[name] is None or math.isnan(expected[name]):
            assert row["state"] == "none" and row["why"]
        else:
            assert row[name] == pytest.approx(expected[name], abs=1e-6)
    assert (row["b"], row["c"]) == (given["b"], given["c"])


LABELS = labels_of({"Off": [95, 5, 97, 3], "On": [70, 30, 97, 3]})


def test_containment_is_the_mirror_of_attack_success_after_the_judge_too():
    runs = fnb.outcomes(two_modes(30, 40, 10, 220))
    for labels in (LABELS, LABELS.drop(columns="mode").head(1)):
        asr, cr = (only(fnb.compare(runs, metric, judge=labels)) for metric in ("ASR", "CR"))
        assert cr[["diff", "low", "high"]].tolist() == pytest.approx(
            [-asr["diff"], -asr["high"], -asr["low"]], abs=1e-12
        )
        assert cr["p"] == asr["p"]


def test_shared_labels_say_the_sensitivity_at_which_the_modes_are_equal():
    runs = fnb.outcomes(two_modes(30, 40, 10, 220))
    row = only(fnb.compare(runs, judge={"tp": 95, "fn": 5, "tn": 97, "fp": 3}))
    # Se_B* = (p_B + Sp - 1) / rate_A + 1 - Sp
    rate_a = (70 / 300 + 0.97 - 1) / (0.95 + 0.97 - 1)
    tipping = (40 / 300 - 0.03) / rate_a + 0.03
    assert f'equal if its sensitivity on "On" were {tipping:.2f}' in row["note"]
    plain = only(fnb.compare(runs))
    assert (row["low"] > 0) == (plain["low"] > 0) and row["p"] == plain["p"]


def test_shared_labels_leave_zero_where_the_clusters_left_it():
    rng = np.random.default_rng(0)
    labels = {"tp": 95, "fn": 5, "tn": 97, "fp": 3}
    for _ in range(30):
        four = rng.multinomial(60, [0.2, 0.3, 0.1, 0.4])
        frame = two_modes(*four.tolist())
        frame["template"] = [f"t{number % 60 // 6}" for number in range(120)]
        runs = fnb.outcomes(frame, cluster="template")
        raw, row = only(fnb.compare(runs)), only(fnb.compare(runs, judge=labels))
        outside = raw["low"] > 0 or raw["high"] < 0
        assert (row["low"] > 1e-12 or row["high"] < -1e-12) == outside


def test_clusters_make_a_corrected_difference_wider():
    frame = two_modes(30, 40, 10, 220)
    frame["template"] = [f"t{number % 300 // 10}" for number in range(600)]
    runs = fnb.outcomes(frame)
    for labels in (LABELS, LABELS.drop(columns="mode").head(1)):
        plain = only(fnb.compare(runs, judge=labels))
        wide = only(fnb.compare(runs, judge=labels, cluster="template"))
        assert plain["diff"] == pytest.approx(wide["diff"])
        assert wide["low"] < plain["low"] and wide["high"] > plain["high"]


def test_labels_of_the_run_give_the_rates_that_rates_gives():
    frame = two_modes(30, 40, 10, 220)
    labels = labels_of({"Off": [20, 2, 60, 3], "On": [12, 4, 70, 2]})
    runs, judge = fnb.outcomes(frame), fnb.Labels(labels, part_of_run="by flag")
    row = only(fnb.compare(runs, judge=judge))
    first, second = fnb.rates(runs, "ASR", judge=judge).to_dict("records")
    assert first["method"] == "double sample" and row["diff"] == pytest.approx(
        first["rate"] - second["rate"]
    )
    below = math.hypot(first["rate"] - first["low"], second["high"] - second["rate"])
    assert row["low"] == pytest.approx(row["diff"] - below)


def test_se_and_sp_alone_correct_without_an_error_of_their_own():
    runs = fnb.outcomes(two_modes(30, 40, 10, 220))
    row = only(fnb.compare(runs, judge={"se": 0.9, "sp": 0.95}))
    plain = only(fnb.compare(runs))
    assert row["diff"] == pytest.approx(0.1 / 0.85)
    assert row["low"] == pytest.approx(plain["low"] / 0.85, abs=1e-4)
    assert row["high"] == pytest.approx(plain["high"] / 0.85, abs=1e-4)


@pytest.mark.parametrize(
    ("labels", "state"),
    [
        (labels_of({"guard": [9, 1, 9, 1]}), "ok"),  # none for this pair: said, not corrected
        (labels_of({"Off": [9, 1, 9, 1]}), "none"),  # none for one of the modes
        (labels_of({"Off": [9, 1, 9, 1], "On": [5, 5, 5, 5]}), "none"),  # no better than chance
        (labels_of({"Off": [9, 1, 9, 1], "On": [0, 0, 9, 1]}), "none"),  # Se unknown in one mode
    ],
)
def test_labels_that_do_not_do_are_refused_and_never_borrowed(labels, state):
    row = only(fnb.compare(fnb.outcomes(two_modes(30, 40, 10, 220)), judge=labels))
    assert row["state"] == state and math.isnan(row["diff"]) == (state == "none")
    assert bool(row["why"]) == (state == "none") and row["b"] == 40


def test_a_metric_that_the_judge_does_not_decide_stays():
    frame = two_modes(30, 40, 10, 220).assign(task_success=lambda f: ~f["attack_success"])
    runs = fnb.outcomes(frame)
    plain, row = (fnb.compare(runs, "task success", judge=judge) for judge in (None, LABELS))
    pd.testing.assert_frame_equal(plain, row)


def test_labels_by_stratum_serve_their_stratum():
    first = two_modes(30, 40, 10, 220, tier="T1")
    other = two_modes(30, 40, 10, 220, tier="T2").assign(case_id=lambda f: "o" + f["case_id"])
    labels = pd.concat([LABELS.assign(tier="T1"), LABELS[::-1].assign(tier="T2")])
    labels.loc[labels["tier"] == "T2", "mode"] = ["Off", "On"]
    table = fnb.compare(fnb.outcomes(pd.concat([first, other])), by="tier", judge=labels)
    rows = table[table["quantity"] == "difference"].set_index("tier")
    for tier, sets in {"T1": (0, 1), "T2": (1, 0)}.items():
        four = [LABELS[list(NAMES)].iloc[at].tolist() for at in sets]
        expected = stats.corrected_difference(30, 40, 10, 220, *four)
        assert rows.loc[tier, "diff"] == pytest.approx(expected.diff)
