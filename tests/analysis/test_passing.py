"""Passing curves: the chances of the worked example's gates, at both ends of the scale and in
tables.
"""

from __future__ import annotations

import pandas as pd
import pytest
from scipy.stats import binom

import ferrite_nb as fnb
from ferrite_nb.analysis.passing import curve

TWO = {
    "requirement": "proposals at most 2%",
    "n": 600,
    "threshold": 0.02,
    "rule": "upper bound",
    "level": 0.95,
}


def at(table: pd.DataFrame, rule: str, rate: float) -> float:
    """The chance of a rule at one of the true rates."""
    one = table[(table["rule"] == rule) & (abs(table["true_rate"] - rate) < 1e-9)]
    return float(one["p_pass"].iloc[0])


def test_chances_of_the_release_plan_at_the_requirement_and_at_half_of_it() -> None:
    table = curve(TWO)  # 29.5: at most 12 of 600 by the point, at most 5 by the Wilson bound
    assert dict(zip(table["rule"], table["accept"], strict=True)) == {"point": 12, "bound": 5}
    assert [round(at(table, rule, 0.02), 4) for rule in ("point", "bound")] == [0.5760, 0.0195]
    assert [round(at(table, rule, 0.01), 4) for rule in ("point", "bound")] == [0.9915, 0.4449]


def test_a_lower_threshold_runs_from_its_own_side_to_one() -> None:
    table = curve(TWO | {"n": 300, "threshold": 0.9, "rule": "lower bound"})
    assert dict(zip(table["rule"], table["accept"], strict=True)) == {"point": 270, "bound": 281}
    assert (
        at(table, "point", 0.9)
        == pytest.approx(binom.sf(269, 300, 0.9))
        == pytest.approx(0.5484, abs=5e-5)
    )
    assert table["true_rate"].max() == 1 and table["true_rate"].min() < 0.85


@pytest.mark.parametrize("upper", [True, False])
def test_the_chance_falls_towards_the_bad_end_and_rates_rise(upper: bool) -> None:
    table = curve(TWO | {"threshold": 0.02 if upper else 0.98, "upper": upper})
    for _, part in table.groupby("rule"):
        steps = part["p_pass"].diff().dropna()
        assert (
            part["true_rate"].is_monotonic_increasing and not part["true_rate"].duplicated().any()
        )
        assert (steps <= 1e-12).all() if upper else (steps >= -1e-12).all()


@pytest.mark.parametrize(
    ("threshold", "upper"), [(0.0, True), (1.0, True), (0.0, False), (1.0, False)]
)
def test_thresholds_at_the_ends_of_the_scale_have_a_curve_too(
    threshold: float, upper: bool
) -> None:
    table = curve(TWO | {"threshold": threshold, "upper": upper})
    assert table["true_rate"].between(0, 1).all() and table["p_pass"].between(0, 1).all()
    assert (table["true_rate"] == threshold).sum() == 2


def test_a_rule_that_nothing_can_pass_never_passes() -> None:
    table = curve(TWO | {"n": 10})  # even 0 of 10 has an upper bound of 28 in 100
    bound = table[table["rule"] == "bound"]
    assert bound["accept"].isna().all() and (bound["p_pass"] == 0).all()


def test_no_case_no_curve() -> None:
    assert len(curve(TWO | {"n": 0})) == 0


def test_a_row_of_a_gate_gives_its_curve_and_one_with_clusters_none() -> None:
    table = fnb.gate(fnb.read(fnb.data("gate_pass.csv")), fnb.data("requirements.toml"))
    rows = table.to_dict("records")
    assert round(at(curve(rows[0]), "bound", 0.02), 4) == 0.0195
    assert curve(rows[3])["accept"].tolist()[0] == 270  # of a metric that is better high
    assert curve(rows[0] | {"clusters": 60}).empty


def test_a_cell_says_its_own_suite_version() -> None:
    frame = pd.DataFrame(
        {
            "case_id": list("abcdef"),
            "mode": ["Off", "On"] * 3,
            "attack_success": "true",
            "suite_version": ["", "v1.2"] * 3,
        }
    )
    table = fnb.rates(fnb.outcomes(frame), "ASR")
    assert table.set_index("mode")["suite_version"].to_dict() == {"Off": "", "On": "v1.2"}
