"""Pairs, gradient and heatmap: the promises that only they make."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.text import Text

from ferrite_nb.show import figures, style

from . import hand

ROOT = Path(__file__).resolve().parents[2]


def named(figure: Figure, name: str) -> list[Any]:
    """The artists with this name."""
    return [artist for artist in figure.findobj(lambda one: (one.get_gid() or "") == name)]


def words(figure: Figure) -> str:
    """All that can be read in a figure, on one line."""
    return " ".join(text.get_text() for text in figure.findobj(Text)).replace("\n", " ")


def test_the_lab_table_draws_its_paired_interval_and_in_grey_the_one_that_ignores_the_pairing() -> (
    None
):
    chart = figures.pairs(pd.DataFrame([hand.lab()]))
    assert list(named(chart.figure, "interval:0")[0].get_xdata()) == [0.1181, 0.2024]
    assert list(named(chart.figure, "grey:0")[0].get_xdata()) == [0.089, 0.229]
    assert "pairing ignored" in chart.caption
    assert "+16.0 points [11.8, 20.2], b 48, c 0 of 300 pairs" in chart.alt
    (b,), (c,) = named(chart.figure, "b:0"), named(chart.figure, "c:0")
    assert b.get_width() < 0 and c.get_width() == 0
    assert "48" in words(chart.figure) and "+16.0 [11.8, 20.2]" in words(chart.figure)


def test_pairs_that_cannot_decide_say_so_in_place_of_a_p() -> None:
    chart = figures.pairs(hand.pairs_tables()["mixed"], width="text")
    said = words(chart.figure)
    assert "no discordant pairs" in said
    assert "too few discordant pairs to reach 0.05" in said
    assert "insufficient data (n\u00a0=\u00a03)" in said
    assert "not computable: the two modes share no case" in said
    assert "4 unpaired" in said and "9 unpaired" in said
    assert "p < 1e-300" in said  # 2,000 discordant pairs on one side
    hatched = [patch for patch in chart.figure.findobj(Patch) if patch.get_hatch() == style.HATCH]
    assert len(hatched) == 1 and named(chart.figure, "marker:1") == []
    assert named(chart.figure, "marker:3") != []  # a difference of zero is a difference


def test_a_difference_of_a_b_has_the_sign_of_b_minus_c() -> None:
    chart = figures.pairs(pd.DataFrame([hand.pair("A", "B", (5, 3, 20, 40))]))
    (point,) = named(chart.figure, "marker:0")
    assert point.get_xdata()[0] == pytest.approx((3 - 20) / 68)
    low, high = chart.figure.axes[1].get_xlim()
    assert (
        low < chart.table["low"][0] < 0 < high < 0.1
    )  # the interval, and zero in sight, and no more


@pytest.mark.parametrize(
    ("column", "value", "match"),
    [
        ("b", -1, "b must be a count"),
        ("b", 400, "at most n_pairs"),
        ("diff", 16.0, "diff must lie between -1 and 1"),
    ],
)
def test_impossible_pairs_raise(column: str, value: float, match: str) -> None:
    with pytest.raises(ValueError, match=f"row 0: .*{match.replace('row 0: ', '')}"):
        figures.pairs(pd.DataFrame([hand.lab() | {column: value}]))


def test_a_gradient_keeps_the_order_and_the_empty_place_of_a_stratum() -> None:
    chart = figures.gradient(hand.gradient_tables()["scope"])
    ax = chart.figure.axes[0]
    assert list(ax.get_xticks()) == [0, 1, 2]
    said = [text.get_text() for text in ax.texts[:3]]
    assert said == list(hand.SCOPES)
    assert named(chart.figure, "interval:7") == []  # On ran no case of domain_suffix
    assert len(named(chart.figure, "hatched:8")) == 1


def test_contained_attacks_by_scope_are_limits_at_both_ends() -> None:
    chart = figures.gradient(hand.gradient({"LoopOnly": (661, 777, 5, 5, 0, 5)}))
    up, down = named(chart.figure, "arrow:1")[0], named(chart.figure, "arrow:2")[0]
    ends = [[point[1] for point in arrow._posA_posB] for arrow in (up, down)]
    assert ends[0] == [pytest.approx(0.5655, abs=1e-4), 1.0]
    assert ends[1] == [pytest.approx(0.4345, abs=1e-4), 0.0]
    assert named(chart.figure, "label:0")[0].get_text().startswith("661/777")


def test_a_line_needs_an_order_and_does_not_cross_an_empty_place() -> None:
    table = hand.gradient_tables()["scope"]
    assert (
        figures.gradient(table).figure.findobj(
            lambda one: (one.get_gid() or "").startswith("join:")
        )
        == []
    )
    chart = figures.gradient(table, line=True)
    joined = {
        one.get_gid()
        for one in chart.figure.findobj(lambda one: (one.get_gid() or "").startswith("join:"))
    }
    assert joined == {"join:0", "join:1", "join:3", "join:4"}
    free = table.rename(columns={"scope": "carrier"})
    with pytest.raises(ValueError, match="carrier has no order"):
        figures.gradient(free.assign(order=""), line=True)
    assert figures.gradient(free.assign(order="carrier"), line=True).alt


def test_totals_stand_apart_and_the_macro_mean_does_not_pass_for_its_counts() -> None:
    chart = figures.gradient(hand.totals(), width="text")
    assert chart.figure.axes[0].get_xticks()[3] > 3
    assert named(chart.figure, "label:4")[0].get_text() == "mean 61.7%\n[47.2, 76.2]"
    assert named(chart.figure, "label:3")[0].get_text().startswith("666/787")


def test_the_trend_is_in_the_caption_with_the_name_of_its_test() -> None:
    assert "Cochran-Armitage, LoopOnly: trend p <0.0001" in figures.gradient(hand.totals()).caption
    assert "no trend computable" in figures.gradient(hand.gradient_tables()["two"]).caption


def test_a_gradient_refuses_a_second_stratum_a_second_metric_and_double_rows() -> None:
    table = hand.gradient_tables()["scope"]
    two = table.copy()
    two.insert(2, "tier", ["a", "b", "c"] * 3)
    with pytest.raises(ValueError, match="choose one value of tier"):
        figures.gradient(two)
    with pytest.raises(ValueError, match="draws one metric"):
        figures.gradient(table.assign(metric=["CR", "ASR", "CR"] * 3))
    with pytest.raises(ValueError, match="stands twice"):
        figures.gradient(pd.concat([table, table]))


CELLS = pd.read_csv(ROOT / "data" / "agentdojo_tables_2510.05244.csv")
GROUPS = [
    pytest.param(part, id=f"{table}-{model}")
    for (table, model), part in CELLS.groupby(["table", "model"])
]


def test_the_published_cells_are_twelve_matrices_of_four_suites_and_seven_defences() -> None:
    assert len(CELLS) == 336 and len(GROUPS) == 12


@pytest.mark.parametrize("part", GROUPS)
def test_each_published_cell_shows_its_row_on_a_shade_that_can_be_read(part: pd.DataFrame) -> None:
    metric = {"ASR": "ASR", "BU": "task success", "UA": "task success under attack"}[
        part["table"].iloc[0]
    ]
    rows = [
        hand.row(metric, one.k_pooled, one.n_pooled, suite=one.suite, mode=one.defence)
        for one in part.itertuples()
    ]
    chart = figures.heatmap(hand.rates(rows))
    assert len(chart.table) == 28
    shades = {}
    for place, row in chart.table.iterrows():
        (text,), (box,) = (
            named(chart.figure, f"label:{place}"),
            named(chart.figure, f"cell:{place}"),
        )
        assert text.get_text().split("\n")[0] == f"{row['k']}/{row['n']}"
        low, high = map(float, re.findall(r"[\d.]+", text.get_text().split("\n")[1]))
        assert (low, high) == pytest.approx((100 * row["low"], 100 * row["high"]), abs=0.0501)
        light, ink = luminance(box.get_facecolor()), luminance(to_rgb(text.get_color()))
        assert (max(light, ink) + 0.05) / (min(light, ink) + 0.05) >= 4.5
        shades[row["rate"]] = light
    lights = [shades[rate] for rate in sorted(shades)]
    assert lights == sorted(lights, reverse=True)  # a higher rate is never lighter, in grey too


def luminance(colour: tuple[float, ...]) -> float:
    """WCAG 2.2, relative luminance."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour[:3]
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_nothing_succeeded_and_nothing_ran_and_nothing_there_are_three_cells() -> None:
    chart = figures.heatmap(hand.heatmap_tables()["mixed"])
    assert named(chart.figure, "label:1")[0].get_text() == "0/20\n[0.0, 16.1]"
    assert hand.NOT_RUN in named(chart.figure, "blank:2")[0].get_text().replace("\n", " ")
    assert len(named(chart.figure, "none")) == 1  # travel, Off
    hatched = [box for box in chart.figure.findobj(Rectangle) if box.get_hatch() == style.HATCH]
    assert sorted(box.get_gid() for box in hatched) == ["hatched:0", "hatched:5"]
    assert "micro: all cases" in words(chart.figure)


def test_a_matrix_that_does_not_fit_is_turned_and_one_that_fits_neither_way_raises() -> None:
    rows = [
        hand.row("ASR", 100, 400, suite=f"s{i}", mode=f"m{j}") for i in range(2) for j in range(9)
    ]
    turned = figures.heatmap(hand.rates(rows), width="column")
    assert turned.figure.axes[0].get_xlim() == (0, 2)
    square = [hand.row("ASR", 1, 40, suite=f"s{i}", mode=f"m{i}") for i in range(14)]
    with pytest.raises(ValueError, match="too narrow for text of 7 points"):
        figures.heatmap(hand.rates(square), width="column")


def test_a_matrix_needs_one_metric_and_two_strata() -> None:
    with pytest.raises(ValueError, match="two strata, got mode"):
        figures.heatmap(hand.run_b().iloc[:4])
    with pytest.raises(ValueError, match="draws one metric"):
        figures.heatmap(hand.run_b())
    with pytest.raises(ValueError, match="stands twice"):
        figures.heatmap(hand.rates([hand.row("ASR", 1, 9, suite="a", mode="b")] * 2))


def test_a_stratum_without_a_name_is_called_none() -> None:
    table = hand.rates([hand.row("ASR", 1, 9, suite=suite, mode="On") for suite in ("", "slack")])
    assert "(none)" in words(figures.heatmap(table).figure)
    assert "(none)" in words(figures.gradient(table).figure)
