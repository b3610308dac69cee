"""Planning and components: values from closed forms, exact sums and simulation."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

import ferrite_nb as fnb


def row(**asked: object) -> pd.Series:
    table = fnb.plan(**asked)
    assert len(table) == 1 and table["state"].item() == "ok"
    return table.iloc[0]


def test_cases_for_a_half_width_hold_and_one_less_does_not():
    n = int(row(rate=0.1, width=0.03)["n"])
    assert n == 388
    halves = [np.ptp(proportion_confint(0.1 * m, m, method="wilson")) / 2 for m in (n, n - 1)]
    assert halves[0] <= 0.03 < halves[1]


def test_a_gate_is_planned_with_its_count():
    found = row(at_most=0.02, true=0.005, power=0.9)
    assert (found["n"], found["accept"]) == (581, 5)
    assert binom.cdf(5, 581, 0.005) >= 0.9
    mirrored = row(at_least=0.98, true=0.995, power=0.9)
    assert (mirrored["n"], mirrored["accept"]) == (581, 576)


def test_cases_for_a_pair_reach_the_power_of_the_exact_test():
    n = int(row(difference=0.1, discordant=0.2)["n"])
    assert fnb.stats.mcnemar_power(n, 0.15, 0.05) >= 0.8
    assert fnb.stats.mcnemar_power(n - 20, 0.15, 0.05) < 0.8
    with pytest.raises(ValueError, match="at most discordant"):
        fnb.plan(difference=0.3, discordant=0.2)


def test_labels_in_each_mode_are_those_of_the_reference():
    asked = {"rate": 0.2, "discordant": 0.2, "se": (0.95, 0.7), "sp": (0.97, 0.97), "n": 300}
    assert row(labels=0.12, **asked)["n"] == 108
    assert row(labels=0.10, **asked)["n"] == 175
    none = fnb.plan(labels=0.05, **asked).iloc[0]
    assert none["state"] == "none" and "n is too small" in none["why"]


@pytest.mark.parametrize("by_flag", [True, False])
def test_labels_by_flag_give_the_half_width_that_was_asked(by_flag):
    n, rate, se, sp, half = 2000, 0.1, 0.8, 0.9, 0.03
    found = fnb.stats.labels_by_flag(half, n, rate, se, sp)
    random = np.random.default_rng(1)
    estimates = []
    for _ in range(4000):
        events = random.binomial(n, rate)
        true = [random.binomial(events, se), 0]
        true[1] = events - true[0]
        false = random.binomial(n - events, 1 - sp)
        sizes = [true[0] + false, n - true[0] - false]
        if by_flag:
            drawn = [int(found.flagged), int(found.unflagged)]
        else:
            drawn = [random.binomial(int(found.proportional), sizes[0] / n), 0]
            drawn[1] = int(found.proportional) - drawn[0]
        shares = [
            random.hypergeometric(k, size - k, m) / m
            for k, size, m in zip(true, sizes, drawn, strict=True)
        ]
        estimates.append(float(np.dot(sizes, shares)) / n)
    assert np.mean(estimates) == pytest.approx(rate, abs=0.002)
    assert 1.96 * np.std(estimates) == pytest.approx(half, rel=0.1)
    assert found.flagged + found.unflagged < found.proportional


def test_a_question_without_its_other_half_or_none_at_all_is_refused():
    for asked in ({}, {"width": 0.1}, {"at_most": 0.1}, {"difference": 0.1}, {"labels": 0.1}):
        with pytest.raises(ValueError, match="plan"):
            fnb.plan(**asked)


def grid(templates: int, cases: int, repeats: int, seed: int = 0) -> fnb.Outcomes:
    random = np.random.default_rng(seed)
    rows = []
    for template in range(templates):
        chance = random.beta(0.5, 1.0)
        for case in range(cases):
            for turn in range(repeats):
                for mode, factor in (("Off", 1.0), ("On", 0.6)):
                    hit = bool(random.random() < factor * chance)
                    rows.append((f"{template}/{case}", f"t{template}", mode, str(turn), hit))
    names = ["case_id", "template", "mode", "repeat", "attack_success"]
    return fnb.outcomes(pd.DataFrame(rows, columns=names))


def test_what_these_cases_can_show_is_what_compare_says():
    runs = grid(20, 4, 1)
    for cluster in (None, "template"):
        table = fnb.plan(runs, cluster=cluster)
        pair = fnb.compare(runs, cluster=cluster).iloc[0]
        assert table["value"].item() == pytest.approx(pair["detectable"])
        assert (table["n"].item(), table["unit"].item()) == (80, pair["unit"])
    one = fnb.plan(runs.where(mode="On")).iloc[0]
    assert one["state"] == "none" and one["why"]


def test_the_share_of_a_template_is_that_of_the_analysis_of_variance():
    runs = grid(12, 5, 1)
    table = fnb.components(runs, "ASR", "template", mode="Off")
    frame = runs.frame[runs.frame["mode"] == "Off"]
    hits = frame["attack_success"].astype(float)
    means = hits.groupby(frame["template"]).mean()
    between = 5 * ((means - hits.mean()) ** 2).sum() / 11
    within = ((hits - frame["template"].map(means)) ** 2).sum() / 48
    parts = np.array([(between - within) / 5 / 12, within / 60])
    assert table["facet"].tolist() == ["template", "repeat"]
    assert table["share"].tolist() == pytest.approx((parts / parts.sum()).tolist())
    assert table["levels"].tolist() == [12, 60] and set(table["state"]) == {"ok"}


def test_facets_follow_what_was_declared_and_every_mode_is_by_itself():
    table = fnb.components(grid(8, 3, 2).declare(cluster="template"))
    assert table["mode"].unique().tolist() == ["Off", "On"]
    assert {"template", "case_id", "repeat"} <= set(table["facet"])
    assert table.groupby("mode")["share"].sum().tolist() == pytest.approx([1.0, 1.0])
    assert list(table)[:4] == ["facet", "metric", "mode", "levels"]


def test_refusals_are_states():
    runs = grid(8, 3, 2)
    twin = fnb.outcomes(runs.frame.assign(prompt=runs.frame["template"] + "!"))
    table = fnb.components(twin, "ASR", ["template", "prompt"], mode="On")
    assert set(table["state"]) == {"none"} and table["why"].str.contains("confounded").all()
    few = fnb.components(grid(3, 6, 1), "ASR", "template", mode="Off").set_index("facet")
    assert few.loc["template", "state"] == "few" and few.loc["repeat", "state"] == "ok"
    same = fnb.outcomes(runs.frame.assign(attack_success=False))
    assert set(fnb.components(same, "ASR", "template")["state"]) == {"none"}
    lone = fnb.outcomes(runs.frame.assign(suite="one"))
    assert fnb.components(lone, "ASR", "suite")["why"].unique().tolist() == ["one level only"]
    with pytest.raises(ValueError, match="at least one facet"):
        fnb.components(grid(8, 3, 1), "ASR")


def test_missing_outcomes_are_left_out_and_counted():
    frame = grid(8, 3, 2).frame.astype({"attack_success": object})
    frame.loc[frame.index[:3], "attack_success"] = None
    table = fnb.components(fnb.outcomes(frame), "ASR", "template")
    assert table["note"].str.contains("rows without a known outcome").all()
    assert table.groupby("mode")["levels"].max().sum() == len(frame) - 3


def test_a_plan_says_what_more_of_each_facet_would_bring():
    runs = grid(12, 4, 3)
    table = fnb.plan(runs, facets=["template", "case_id"])
    facets = table[table["question"] == "facet"]
    found = fnb.components(runs, "ASR", ["template", "case_id"])
    assert facets["value"].tolist() == pytest.approx(found["doubled"].tolist(), nan_ok=True)
    best = facets.loc[facets["value"].idxmax()]
    assert best["unit"] == "template" and f"{best['value']:.0%} narrower" in best["answer"]
