"""`compare` by kind: values of other programs through the verb, sentences against brute force, and
no row whose test and interval contradict each other without a word.
"""

from __future__ import annotations

import json
import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ferrite_nb as fnb
from ferrite_nb import stats
from tests.analysis.test_compare import only, two_modes

PATH = Path(__file__).parents[1] / "stats" / "reference" / "comparisons.json"
REFERENCE = json.loads(PATH.read_text("utf-8"))


def reference(routine: str) -> list[dict[str, Any]]:
    mine = [one for one in REFERENCE if one["routine"] == routine]
    return [one for one in mine if not any(one["inputs"].get(key) for key in ("strata", "others"))]


def runs_of(a: list[Any], b: list[Any], **labels: Any) -> fnb.Outcomes:
    """One row a case and mode; a rate that is no whole number becomes that share of ten runs."""
    rows = []
    times = 1 if {*a, *b} <= {0, 1, None} else 10
    for place, pair in enumerate(zip(a, b, strict=True)):
        marks = {name: values[place] for name, values in labels.items()}
        for mode, rate in zip(("Off", "On"), pair, strict=True):
            for run in range(times):
                event = None if rate is None else run < round(rate * times)
                row = {"case_id": f"c{place}", "mode": mode, "repeat": str(run)}
                rows.append(row | {"attack_success": event} | marks)
    return fnb.outcomes(pd.DataFrame(rows))


ONCE = [  # rates of runs are tested in stats, as are fixed strata and families
    one
    for one in reference("paired_units")
    if {*one["inputs"]["a"], *one["inputs"]["b"]} <= {0, 1} and not one["inputs"].get("runs")
]


@pytest.mark.parametrize("given", ONCE)
def test_one_key_gives_the_reference_values(given):
    inputs, expected = given["inputs"], given["expected"]
    runs = runs_of(inputs["a"], inputs["b"], template=[str(mark) for mark in inputs["unit"]])
    level = inputs.get("level", 0.95)
    row = only(fnb.compare(runs, cluster="template", level=level))
    for name in {"diff", "low", "high", "p"} & set(expected):
        if expected[name] is not None:
            assert row[name] == pytest.approx(expected[name], abs=1e-6)


@pytest.mark.parametrize("given", reference("paired_crossed"))
def test_two_crossed_keys_give_the_reference_values(given):
    inputs, expected = given["inputs"], given["expected"]
    marks = {name: [f"{name}{mark}" for mark in inputs[name]] for name in ("first", "second")}
    runs = runs_of(inputs["a"], inputs["b"], **marks)
    row = only(fnb.compare(runs, cluster=["first", "second"]))
    for name in {"diff", "low", "high", "p"} & set(expected):
        if expected[name] is not None:
            assert row[name] == pytest.approx(expected[name], abs=1e-6)


def test_constant_differences_in_templates_have_an_interval():
    # 22 of 22 against 0 of 22 in 11 templates: [.560, 1], p .00098
    frame = two_modes(0, 22, 0, 0)
    frame["template"] = [f"t{number % 22 // 2}" for number in range(44)]
    row = only(fnb.compare(fnb.outcomes(frame), cluster="template"))
    assert [row["low"], row["high"], row["p"]] == pytest.approx([0.5602, 1, 2**-10], abs=1e-4)


def test_few_clusters_say_the_smallest_p_that_they_can_reach():
    # 5 templates of 20, 60 against 0: [0, .751], p .0625
    frame = two_modes(0, 60, 0, 40)
    frame["template"] = [f"t{number % 100 % 5}" for number in range(200)]
    row = only(fnb.compare(fnb.outcomes(frame), cluster="template"))
    assert row["p"] == row["p_least"] == 0.0625
    assert [row["low"], row["high"]] == pytest.approx([0, 0.751], abs=1e-3)
    assert "5 of 5 values of template differ: p cannot be below 0.0625" in row["note"]


def test_runs_of_a_case_are_tested_on_the_mean_difference():
    # Off breaks each case with .10, On 20 of 200 cases always: the means are alike
    off = np.repeat([0.0, 0.1, 0.2], [50, 100, 50]).tolist()
    on = [1.0] * 20 + [0.0] * 180
    row = only(fnb.compare(runs_of(off, on)))
    assert row["diff"] == pytest.approx(0, abs=1e-12) and row["p"] > 0.5
    assert row["low"] < 0 < row["high"] and row["unit"] == "case"


def test_one_timeout_in_six_clusters_decides_nothing():
    # 6 clusters of 5, three of them A alone, one outcome unknown: p .25 whatever it was
    a = [1] * 15 + [0] * 15
    b: list[Any] = [0] * 14 + [None] + [0] * 15
    runs = runs_of(a, b, template=[f"t{number // 5}" for number in range(30)])
    row = only(fnb.compare(runs, cluster="template"))
    assert row["p"] == 0.25 and "decide nothing" in row["note"]


@pytest.mark.parametrize("given", reference("missing_state"))
def test_what_missing_outcomes_decide_is_the_reference(given):
    inputs, expected = given["inputs"], given["expected"]
    marks = {} if inputs.get("unit") is None else {"template": [str(m) for m in inputs["unit"]]}
    runs = runs_of(inputs["a"], inputs["b"], **marks)
    row = only(fnb.compare(runs, cluster=list(marks), level=inputs.get("level", 0.95)))
    assert row["p"] == pytest.approx(expected["p"], abs=1e-6)
    words = {"decides nothing": "decide nothing"}.get(expected["state"], expected["state"])
    assert words in row["note"]


def decision(a: list[int], b: list[int], unit: list[str] | None) -> int:
    d = np.array(a) - np.array(b)
    if unit is None:
        p = stats.mcnemar(int((d > 0).sum()), int((d < 0).sum())).p
    else:
        p = stats.sign_flip(pd.Series(d).groupby(unit).sum().to_numpy()).p
    return int(np.sign(d.sum())) if p <= 0.05 else 0


@pytest.mark.parametrize("clustered", [False, True])
def test_no_completion_of_the_missing_outcomes_refutes_the_sentence(clustered):
    rng = np.random.default_rng(7)
    seen = set()
    for _ in range(60):
        size = int(rng.integers(12, 30))
        a = rng.choice(np.array([1, 0], dtype=object), size, p=[0.6, 0.4])
        b = rng.choice(np.array([1, 0], dtype=object), size, p=[0.2, 0.8])
        for _ in range(int(rng.integers(1, 4))):
            (a, b)[int(rng.integers(2))][int(rng.integers(size))] = None
        unit = [f"t{number // 2}" for number in range(size)] if clustered else None
        runs = runs_of(a.tolist(), b.tolist(), **({"template": unit} if unit else {}))
        note = only(fnb.compare(runs, cluster="template" if unit else ()))["note"]
        known = [x is not None and y is not None for x, y in zip(a, b, strict=True)]
        marks = [mark for mark, there in zip(unit or [], known, strict=False) if there]
        mine = decision(a[known].tolist(), b[known].tolist(), marks if unit else None)
        holes = [(side, at) for side in (a, b) for at in range(size) if side[at] is None]
        found = set()
        for values in product([0, 1], repeat=len(holes)):
            for (side, at), value in zip(holes, values, strict=True):
                side[at] = value
            found.add(decision(a.tolist(), b.tolist(), unit))
        state = "decide nothing" if found == {mine} else "could undo" if mine else "could bring"
        assert state in note
        seen.add(state)
    assert len(seen) == 3


def random_tables(count: int):
    """Random tables with clusters, repeats, crossed keys and missing outcomes."""
    rng = np.random.default_rng(11)
    for _ in range(count):
        cases, repeats = int(rng.integers(2, 40)), int(rng.choice([1, 1, 1, 3]))
        groups = int(rng.integers(1, 12))
        template = rng.integers(0, groups, cases)
        rates = rng.beta(0.5, 0.5, (2, groups)) * rng.choice([0.1, 0.5, 1.0])
        size = cases * 2 * repeats
        case = np.repeat(np.arange(cases), 2 * repeats)
        mode = np.tile(np.repeat([0, 1], repeats), cases)
        hit = pd.array(rng.random(size) < rates[mode, template[case]], dtype="boolean")
        hit[rng.random(size) < rng.choice([0, 0.1])] = pd.NA
        frame = pd.DataFrame(
            {
                "case_id": case.astype(str),
                "mode": np.array(["Off", "On"])[mode],
                "repeat": np.tile(np.arange(repeats), cases * 2).astype(str),
                "template": template[case].astype(str),
                "goal": (case % 5).astype(str),
                "attack_success": hit,
            }
        )
        yield frame, [(), "template", ["template", "goal"]][int(rng.integers(3))]


def test_no_row_contradicts_itself_without_a_word():
    worded = 0
    for frame, cluster in random_tables(100):
        row = only(fnb.compare(fnb.outcomes(frame), cluster=cluster))
        if math.isnan(row["low"]):
            assert row["state"] in ("few", "none") and row["why"]
            continue
        assert row["low"] <= row["diff"] <= row["high"]
        outside = row["low"] > 0 or row["high"] < 0
        if outside and row["p"] > 0.05:
            assert "p decides" in row["note"]
            worded += 1
        if not outside and row["p"] <= 0.05:  # 0 is an end, and it is said to be excluded
            assert 0 in (row["low"], row["high"]) and "0 itself is excluded" in row["note"]
        assert row["p_least"] <= row["p"] + 1e-12
    assert worded


NAMES = ["insufficient", "not computable", "undecided", "; note (none)", "all strata", "state"]


@pytest.mark.parametrize("name", NAMES)
def test_names_that_look_like_states_change_nothing_but_the_name(name):
    def table(mode: str, stratum: str, mark: str) -> pd.DataFrame:
        frame = two_modes(9, 7, 1, 12)
        frame["mode"] = frame["mode"].replace("On", mode)
        numbers = frame["case_id"].str[1:].astype(int)
        frame["group"] = np.where(numbers % 2 == 0, stratum, "other")
        frame["mark"] = np.where(numbers % 3 == 0, mark, "m" + (numbers % 7).astype(str))
        return fnb.compare(fnb.outcomes(frame), by="group", cluster="mark")

    plain, named = table("M", "s", "k"), table(name, name, name)
    first, second = (one.sort_values(["b", "c", "n_pairs"]) for one in (plain, named))
    numbers = [*first.columns[first.columns.get_loc("n_pairs") :]]
    numbers.remove("note")
    pd.testing.assert_frame_equal(
        first[numbers].reset_index(drop=True), second[numbers].reset_index(drop=True)
    )


def test_only_pairs_with_the_baseline_are_a_family_of_their_own():
    frame = pd.concat(
        [two_modes(5, 9, 0, 6), two_modes(5, 9, 3, 6).query("mode == 'On'").assign(mode="guard")]
    )
    runs = fnb.outcomes(frame)
    table = fnb.compare(runs, baseline="Off")
    assert set(table["mode_a"]) == {"Off"} and len(table) == 2
    p = sorted(table["p"])
    assert table["p_holm"].min() == pytest.approx(2 * p[0])
    turned = fnb.compare(runs, baseline="guard")
    assert set(turned["mode_a"]) == {"guard"}


def test_the_order_given_is_kept_whatever_the_order_of_rows():
    frame = two_modes(5, 9, 0, 6).replace({"mode": {"Off": "guard v2", "On": "none"}})
    for seed in range(3):
        runs = fnb.outcomes(frame.sample(frac=1, random_state=seed))
        row = only(fnb.compare(runs, modes=["guard v2", "none"]))
        assert (row["mode_a"], row["mode_b"], row["diff"]) == ("none", "guard v2", -9 / 20)


def test_all_modes_at_once_against_the_routine():
    rng = np.random.default_rng(3)
    events = rng.random((40, 3)) < [0.6, 0.4, 0.2]
    frame = pd.DataFrame(
        {
            "case_id": np.repeat(np.arange(40), 3).astype(str),
            "mode": np.tile(["Off", "guard", "On"], 40),
            "tier": np.repeat(np.arange(40) % 2, 3).astype(str),
            "attack_success": events.ravel(),
        }
    )
    runs = fnb.outcomes(frame)
    assert set(fnb.compare(runs)["quantity"]) == {"difference"}
    table = fnb.compare(runs, by="tier")
    row = only(table[table["quantity"] == "all modes"])
    assert row["p"] == pytest.approx(stats.cochrans_q(events.astype(int)).p)
    assert row["n_pairs"] == 40
    assert "not computable: no case" not in fnb.tables.markdown(table)
    clustered = fnb.compare(runs, by="tier", cluster="tier").query("quantity == 'all modes'")
    assert only(clustered)["state"] == "none"
