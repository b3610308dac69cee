"""The drawings of the lessons: their numbers against published ones, and the controls above
them.
"""

from __future__ import annotations

import re
from typing import Any

import ipywidgets
import pytest
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

import ferrite_nb as fnb
from ferrite_nb import lessons
from ferrite_nb.teach.lessons import controls


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


def test_a_page_has_finding_picture_caption_and_table() -> None:
    shown = controls.page(lessons.one_interval)
    assert [len(re.findall(f"<{tag}", shown)) for tag in ("img", "figcaption", "table")] == [
        1,
        1,
        1,
    ]
    assert shown.startswith('<div role="status">')


def test_payloads_in_a_message_stay_text() -> None:
    shown = controls.page(lessons.one_interval, 3, 20, 0.95, "<script>alert(1)</script>")
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
