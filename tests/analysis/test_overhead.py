"""`overhead`: quantiles by their unit, per run and per case, against exact order statistics."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import ferrite_nb as fnb
from ferrite_nb import stats


def runs_of(gaps: dict[str, list[float]], modes: tuple[str, str] = ("Off", "On"), **more: object):
    """Each case once without the defence, at 0, and as often with it as it has gaps."""
    rows = [(case, modes[0], "0", 0.0) for case in gaps]
    rows += [(case, modes[1], str(at), gap) for case in gaps for at, gap in enumerate(gaps[case])]
    frame = pd.DataFrame(rows, columns=["case_id", "mode", "repeat", "latency_ms"])
    return fnb.outcomes(frame.assign(**more))


def test_a_tail_of_runs_is_no_tail_of_case_means():
    # 200 cases of 10 runs, nine at 1 ms and one at 100: per run p50 1, p95 100; per case 10.9
    runs = runs_of({f"c{n}": [1.0] * 9 + [100.0] for n in range(200)})
    by_run, by_case = fnb.overhead(runs), fnb.overhead(runs, per="case")
    assert by_run["value"].tolist() == [1, 100] and by_run["quantity"].tolist() == [
        "p50 per run",
        "p95 per run",
    ]
    assert by_case["value"].tolist() == pytest.approx([10.9, 10.9])
    assert by_case["quantity"].tolist() == ["p50 per case", "p95 per case"]


def test_a_case_counts_once_however_often_it_ran():
    runs = runs_of({"a": [5.0] * 30, "b": [1.0], "c": [2.0]})
    assert fnb.overhead(runs, quantiles=0.5)["value"].tolist() == [2.0]


def test_templates_are_the_unit_when_they_are_named():
    rng = np.random.default_rng(0)
    levels = rng.normal(50, 20, 20)
    runs = runs_of({f"c{n}": [float(levels[n // 10])] for n in range(200)})
    template = [f"t{int(case[1:]) // 10}" for case in runs.frame["case_id"]]
    frame = runs.frame.assign(template=template, other=runs.frame["case_id"].str[-1])
    plain, wide = (
        fnb.overhead(fnb.outcomes(frame), quantiles=0.5, cluster=key).iloc[0]
        for key in ((), "template")
    )
    assert wide["low"] < plain["low"] <= plain["high"] < wide["high"]
    expected = stats.quantile_units(
        np.repeat(levels, 10), np.ones(200), np.repeat(np.arange(20), 10), 0.5
    )
    assert [wide[name] for name in ("value", "low", "high")] == pytest.approx(
        [expected.value, expected.low, expected.high]
    )
    both = fnb.overhead(fnb.outcomes(frame, cluster=["template", "other"]), quantiles=0.5).iloc[0]
    assert both["low"] <= wide["low"] and both["high"] >= wide["high"]
    assert both["unit"] == "template × other"


@pytest.mark.parametrize("names", [("none", "guard v2"), ("undefended", "A"), ("vanilla", "0")])
def test_the_baseline_is_that_of_the_data_whatever_it_is_called(names):
    runs = runs_of({"a": [3.0], "b": [5.0]}, modes=names)
    for frame in (runs.frame, runs.frame[::-1]):
        row = fnb.overhead(fnb.outcomes(frame), quantiles=0.5).iloc[0]
        assert (row["mode_a"], row["mode_b"], row["value"]) == (names[1], names[0], 5.0)
    turned = fnb.overhead(runs, baseline=names[1], quantiles=0.5).iloc[0]
    assert (turned["mode_a"], turned["mode_b"], turned["value"]) == (names[0], names[1], -3.0)


NAMES = ["insufficient", "not computable", "; note (none)", "dropped", "(none)"]


@pytest.mark.parametrize("name", NAMES)
def test_names_that_look_like_states_change_nothing_but_the_name(name):
    def table(mode: str, mark: str) -> pd.DataFrame:
        runs = runs_of({f"c{n}": [float(n)] for n in range(30)}, modes=("Off", mode))
        marks = [mark if case.endswith("1") else case[:2] for case in runs.frame["case_id"]]
        return fnb.overhead(fnb.outcomes(runs.frame.assign(mark=marks)), cluster="mark")

    one, other = (table(*names).drop(columns="mode_a") for names in (("M", "x"), (name, name)))
    pd.testing.assert_frame_equal(one, other)


def test_versions_that_differ_are_not_compared():
    frame = runs_of({"a": [3.0], "b": [5.0]}).frame
    mixed = frame.assign(suite_version=frame["mode"])
    row = fnb.overhead(fnb.outcomes(mixed)).iloc[0]
    assert row["state"] == "none" and math.isnan(row["value"]) and row["why"]
    assert fnb.overhead(fnb.outcomes(mixed).pool_versions()).iloc[0]["value"] == 5.0
