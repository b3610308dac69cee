"""The drawings of the lessons: their numbers against published ones, and the controls above
them.
"""

from __future__ import annotations

import re
from typing import Any

import ipywidgets
import pandas as pd
import pytest
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

import ferrite_nb as fnb
from ferrite_nb import lessons
from ferrite_nb.teach.lessons import controls, pairs

# c, both, b, neither; the bootstrap's ends as counts of 300 and Newcombe's method 10 as ratesci
# prints it; McNemar's p as R's binom.test gives it. Lab S of the chapter on measurement, with its
# margins kept.
SAME_MARGINS = [
    (0, 57, 48, 195, (36, 61), "[11.8, 20.2]", 7.1e-15),
    (2, 55, 50, 193, (35, 61), "[11.6, 20.4]", 6.1e-13),
    (5, 52, 53, 190, (34, 62), "[11.3, 20.7]", 3.5e-11),
    (10, 47, 58, 185, (33, 63), "[10.9, 21.1]", 2.4e-09),
    (20, 37, 68, 175, (30, 66), "[10.1, 21.8]", 2.8e-07),
    (57, 0, 105, 138, (24, 72), "[7.8, 23.9]", 2.0e-04),
]


@pytest.fixture(scope="module")
def run_b() -> fnb.Outcomes:
    return fnb.read(fnb.data("ferrite_run_b.csv"))


@pytest.mark.parametrize(("c", "both", "b", "neither", "boot", "newcombe", "p"), SAME_MARGINS)
def test_the_same_margins_with_other_pairs(
    c: int, both: int, b: int, neither: int, boot: tuple[int, int], newcombe: str, p: float
) -> None:
    row = lessons.pairings([c]).iloc[0]
    assert (row["both"], row["b"], row["c"], row["neither"]) == (both, b, c, neither)
    ends = pairs.exact_bootstrap(both, b, c, neither)
    assert [round(300 * end, 6) for end in ends] == list(boot)
    assert row["newcombe"] == newcombe
    assert float(row["p"]) == pytest.approx(p, rel=0.03)


def test_exact_bootstrap_of_one_sided_pairs_is_that_of_a_proportion() -> None:
    low, high = pairs.exact_bootstrap(3, 9, 0, 28)
    assert [round(40 * low), round(40 * high)] == list(binom.ppf([0.025, 0.975], 40, 9 / 40))


@pytest.mark.parametrize("c", [0, 20, 57])
def test_a_pairing_says_what_its_table_holds(c: int) -> None:
    chart = lessons.pairing(c)
    row = chart.table.iloc[0]
    assert (row["b"], row["c"], row["n_pairs"]) == (48 + c, c, 300)
    assert f"with c = {c} the difference is 48/300 = +16.0 points" in chart.caption
    assert f"b {48 + c}, c {c}" in chart.alt


def test_margins_that_no_table_has_are_said_in_one_line() -> None:
    shown = controls.page(lessons.pairing, c=58)
    assert "<img" not in shown
    assert "c must lie in 0 to 57" in shown


@pytest.mark.parametrize(("k", "n"), [(3, 20), (30, 200), (300, 2000), (0, 22)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_wald_is_the_textbook_interval(k: int, n: int, level: float) -> None:
    ends = lessons.wald(k, n, level=level)
    rate, z = k / n, {0.9: 1.6448536269514722, 0.95: 1.959963984540054}[level]
    half = z * (rate * (1 - rate) / n) ** 0.5
    assert (float(ends.low), float(ends.high)) == pytest.approx(
        (rate - half, rate + half), abs=1e-12
    )


def test_wald_of_the_chapter() -> None:
    found = [lessons.wald(k, n) for k, n in ((3, 20), (30, 200), (300, 2000))]
    assert [round(float(ends.low), 4) for ends in found] == [-0.0065, 0.1005, 0.1344]
    assert [round(float(ends.high), 4) for ends in found] == [0.3065, 0.1995, 0.1656]


@pytest.mark.parametrize(("n", "rate"), [(20, 0.02), (50, 0.1), (600, 0.02)])
@pytest.mark.parametrize(
    ("method", "other"), [("wald", "normal"), ("wilson", "wilson"), ("clopper-pearson", "beta")]
)
def test_coverage_is_that_of_another_program(n: int, rate: float, method: str, other: str) -> None:
    held = 0.0
    for k in range(n + 1):
        low, high = proportion_confint(k, n, method=other)
        held += binom.pmf(k, n, rate) * (low <= rate <= high)
    assert lessons.coverage(n, rate, method=method) == pytest.approx(held, abs=1e-9)


def test_coverages_says_the_share_at_two_percent() -> None:
    chart = lessons.coverages(20)
    row = chart.table[chart.table["true rate"] == 0.02].iloc[0]
    assert (round(row["Wald"], 3), round(row["Wilson"], 3)) == (0.332, 0.940)
    assert "0.332" in chart.caption
    assert "0.940" in chart.alt


@pytest.mark.parametrize(
    ("k", "n", "said"),
    [
        (0, 20, "Wald has no width"),
        (1, 20, "leaves the scale"),
        (19, 20, "leaves the scale"),
        (10, 20, ""),
    ],
)
def test_one_interval_says_what_is_wrong_with_wald(k: int, n: int, said: str) -> None:
    finding = lessons.one_interval(k, n).caption
    assert said in finding
    assert bool(said) is ("Wald has" in finding or "Wald leaves" in finding)


@pytest.mark.parametrize("wrong", [{"k": 21}, {"method": "wald"}, {"level": 95}])
def test_one_interval_refuses_what_makes_no_sense(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"k|normal|wilson|level"):
        lessons.one_interval(**wrong)


@pytest.mark.parametrize(
    ("counting", "counts"),
    [("known outcomes", (2, 7)), ("errors as safe", (2, 10)), ("errors as successes", (5, 10))],
)
def test_each_denominator_gives_its_counts(counting: str, counts: tuple[int, int]) -> None:
    chart = lessons.denominator(fnb.read(fnb.data("outcomes_with_errors.csv")), counting)
    assert tuple(chart.table.iloc[0][["k", "n"]]) == counts
    assert f"{counts[0]}/{counts[1]}" in chart.caption
    assert ("an assumption" in chart.table.iloc[0]["note"]) is counting.startswith("errors")


def test_delivered_attacks_are_another_denominator() -> None:
    table = lessons.denominator(
        fnb.read(fnb.data("jailbreakbench_pair.csv")), "delivered attacks"
    ).table
    assert table.set_index("mode").loc["llama-2-7b-chat-hf", ["k", "n"]].tolist() == [0, 4]


def test_what_was_not_recorded_is_not_computable() -> None:
    chart = lessons.denominator(fnb.read(fnb.data("outcomes_with_errors.csv")), "delivered attacks")
    assert "not computable: the record does not say what was delivered" in chart.caption


def test_an_unknown_denominator_names_those_that_are_known() -> None:
    with pytest.raises(ValueError, match="errors as safe"):
        lessons.denominator(fnb.read(fnb.data("outcomes_with_errors.csv")), "all")


def test_first_look_shows_cost_beside_security(run_b: fnb.Outcomes) -> None:
    chart = lessons.first_look(run_b)
    assert list(chart.table["metric"].unique()) == ["ASR", "FGR"]
    assert "63/787" in chart.caption
    assert "0/122" in chart.caption


def test_first_look_of_a_table_with_many_modes_still_draws() -> None:
    rows = {"case_id": "1", "mode": [f"m{place}" for place in range(60)], "attack_success": True}
    chart = lessons.first_look(fnb.outcomes(pd.DataFrame(rows)))
    assert len(chart.table) == 40


def test_strata_of_one_mode_or_all(run_b: fnb.Outcomes) -> None:
    one = lessons.over_strata(run_b, "scope", "LoopOnly").table
    assert one[one["scope"] == "task_open"][["k", "n"]].values.tolist() == [[0, 5]]
    assert set(lessons.over_strata(run_b, "scope", "all").table["mode"]) == {
        "Off",
        "SanitizerOnly",
        "LoopOnly",
        "On",
    }


def test_clusters_widen_and_the_plain_interval_stays_in_grey(run_b: fnb.Outcomes) -> None:
    row = lessons.clustered(run_b, "template").table.set_index("mode").loc["LoopOnly"]
    plain = lessons.clustered(run_b).table.set_index("mode").loc["LoopOnly"]
    assert (row["independent_low"], row["independent_high"]) == (plain["low"], plain["high"])
    assert row["low"] == pytest.approx(0.054, abs=0.001)
    assert row["high"] == pytest.approx(0.368, abs=0.001)
    assert (
        "LoopOnly 121/787, [5.4, 36.8] in place of [13.0, 18.1]"
        in lessons.clustered(run_b, "template").caption
    )


def test_a_page_has_finding_picture_caption_and_table() -> None:
    shown = controls.page(lessons.pairing, c=0)
    assert [len(re.findall(f"<{tag}", shown)) for tag in ("img", "figcaption", "table")] == [
        1,
        1,
        1,
    ]
    assert shown.startswith('<div role="status">')


def test_payloads_in_a_message_stay_text() -> None:
    shown = controls.page(lessons.denominator, None, "<script>alert(1)</script>")
    assert "<script>" not in shown


def test_controls_are_named_and_a_choice_draws_again(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(controls, "display", shown.append)
    box = lessons.choose(lessons.one_interval, k=range(3, 21), level=[0.95, 0.9])
    slider, levels = box.children[0].children
    assert isinstance(slider, ipywidgets.IntSlider)
    assert (slider.description, levels.description) == ("k", "level")
    assert not slider.continuous_update
    assert "ferrite-k" in slider._dom_classes
    slider.value = 4
    levels.value = 0.9
    assert ["3/20" in shown[0], "4/20" in shown[1], "level 0.9:" in shown[2]] == [True] * 3
    assert len(shown) == 3


def test_a_hundred_intervals_and_those_that_miss() -> None:
    table = lessons.rain(0.15, 200, seed=3).table
    ends = [proportion_confint(k, 200, method="wilson") for k in table["k"]]
    missed = [not low <= 0.15 <= high for low, high in ends]
    assert table["misses"].tolist() == missed
    assert len(table) == 100


def test_cases_that_are_alike_make_the_plain_interval_miss_more_often() -> None:
    missed = [
        sum(int(lessons.rain(alike=alike, seed=seed).table["misses"].sum()) for seed in range(3))
        for alike in (1, 10)
    ]
    assert missed[0] <= 30  # exactly .95 of them hold the truth
    assert missed[1] >= 120  # about a quarter does


def test_the_lucky_seed_in_its_crowd() -> None:
    chart = lessons.crowd(42)
    assert chart.table["seeds"].sum() == 2000
    assert chart.table.loc[chart.table["turned of 300"] >= 48, "seeds"].sum() == 43
    assert "43 of 2000" in chart.caption


def test_published_rates_are_those_of_the_paper_with_the_case_as_their_unit() -> None:
    table = fnb.rates(lessons.published_counts(), "ASR").set_index("mode")
    cells = lessons.published()
    part = cells[(cells["table"] == "ASR") & (cells["model"] == "gpt-4o-2024-08-06")]
    pooled = part.groupby("defence")[["k_pooled", "n_pooled"]].sum()
    for mode, row in pooled.iterrows():
        assert table.loc[mode, ["k", "n"]].tolist() == row.tolist()
    none = table.loc["none"]
    assert 949 <= none["n_eff"] <= 2847
    assert (none["low"], none["high"]) == pytest.approx((0.2068, 0.2604), abs=0.001)
