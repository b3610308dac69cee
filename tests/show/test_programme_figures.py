"""Budget, ROC, gate and judge: each figure's own promises, with values from arithmetic and from
published examples.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

import ferrite_nb as fnb
from ferrite_nb.analysis.passing import curve
from ferrite_nb.show import figures

from . import hand
from . import hand_programme as made


def named(figure: Figure, start: str) -> list[Any]:
    """The artists whose name begins so."""
    return figure.findobj(lambda one: (one.get_gid() or "").startswith(start))


def words(figure: Figure) -> str:
    """All that can be read in a figure, line ends as spaces."""
    return " ".join(text.get_text().replace("\n", " ") for text in figure.findobj(Text))


# --- budget
# ------------------------------------------------------------------------------------------------


def test_two_percent_an_attempt_is_a_fifth_of_what_varied_cases_hide() -> None:
    chart = figures.budget(fnb.attempts(fnb.read(fnb.data("attempts.csv"))))
    alike, varied = named(chart.figure, "curve:")
    (dashed, _) = named(chart.figure, "independent:")
    assert dashed.get_ydata()[-1] == pytest.approx(1 - 0.98**25, abs=1e-9)
    assert round(dashed.get_ydata()[-1], 4) == 0.3965 and "0.3965" in words(chart.figure)
    assert alike.get_ydata()[-1] == pytest.approx(99 / 250)
    assert varied.get_ydata()[-1] == pytest.approx(43 / 250)
    assert alike.get_drawstyle() == "steps-post" and (np.diff(alike.get_ydata()) >= 0).all()
    assert alike.get_xdata()[0] == 1 and alike.get_ydata()[0] == pytest.approx(5 / 250)
    assert chart.figure.axes[1].get_xscale() == "log"


def test_the_ribbon_is_the_interval_at_each_k() -> None:
    table = made.budget_tables()["lesson"]
    (ribbon, _) = named(figures.budget(table).figure, "ribbon:")
    heights = ribbon.get_paths()[0].vertices[:, 1]
    first = table[table["mode"] == "static"]
    assert heights.min() == pytest.approx(first["low"].min()) and heights.max() == pytest.approx(
        first["high"].max()
    )


def test_falling_n_the_median_and_too_few_cases_are_said() -> None:
    chart = figures.budget(made.budget_tables()["falling"])
    said = words(chart.figure)
    assert "n falls from 20 to 4, first at K = 3" in said and "median: 2 [1, 4]" in said
    assert "from K = 5 on insufficient data (n\u00a0=\u00a04)" in said
    (median,) = named(chart.figure, "median:")
    assert float(median.get_xdata()[0]) == 2
    assert len(named(chart.figure, "hatched:")) == 2 and len(named(chart.figure, "curve:")) == 1
    assert "n falls" in chart.caption


def test_a_k_that_falls_is_refused_and_nine_series_have_nine_looks() -> None:
    table = made.budget_tables()["two"]
    with pytest.raises(ValueError, match="grow within a series"):
        figures.budget(table.iloc[::-1])
    nine = pd.concat([table.assign(mode=f"m{i}") for i in range(9)], ignore_index=True)
    looks = [
        (key.get_markerfacecolor(), key.get_marker())
        for key in figures.budget(nine).figure.findobj(Line2D)
        if (key.get_gid() or "").startswith("key:")
    ]
    assert len(looks) == len({*looks}) >= 9


# --- roc ----------------------------------------------------------------------------------------


def test_the_shade_ends_at_one_negative_and_steps_are_the_distinct_scores() -> None:
    frame = pd.DataFrame(
        {"score": [9, 9, 8, 8, 8, 7, 6, 6, 5, 4] * 3, "label": (["f"] * 4 + ["g"] * 6) * 3}
    )
    named_so = {"score": "score", "label": "label", "positive": "f", "max_fpr": 0.2}
    chart = figures.roc(fnb.detector(frame, **named_so), curve=fnb.roc_curve(frame, **named_so))
    (shade,) = named(chart.figure, "unmeasurable")
    assert shade.get_x() + shade.get_width() == pytest.approx(1 / 18)
    (steps,) = named(chart.figure, "curve")
    assert (
        len(steps.get_xdata()) == frame["score"].nunique() == 6
        and steps.get_drawstyle() == "steps-post"
    )
    assert "FPR below 1/18: not measurable" in words(chart.figure)
    assert [chart.figure.axes[0].get_xscale(), chart.figure.axes[0].get_yscale()] == ["log", "log"]


def test_precision_of_the_lesson_at_three_base_rates() -> None:
    points = [made.point(0.01, 95, 100, 10, 1000, base) for base in (0.5, 0.01, 0.001)]
    rows = [*points[0], *points[1][2:], *points[2][2:]]
    chart = figures.roc(hand.table_of("detector", rows))
    marks = [float(mark.get_ydata()[0]) for mark in named(chart.figure, "marker:")]
    assert [round(mark, 4) for mark in marks[1:]] == [0.9896, 0.4897, 0.0868]
    said = words(chart.figure)
    assert "PPV 8.7% [" in said and "9.5 right, 99.9 wrong alerts in 10,000 cases" in said


def test_no_false_alarm_is_an_arrow_from_its_bound_and_no_marker() -> None:
    table = made.roc_tables()["no alarm"]
    table.loc[1, "state"] = "few"  # as where the negatives cannot resolve the limit
    chart = figures.roc(table)
    (arrow,) = named(chart.figure, "arrow:")
    assert arrow.get_gid() == "arrow:1"
    assert [one.get_gid() for one in named(chart.figure, "marker:")] == ["marker:2"]
    assert "not measurable with so few negatives" in words(chart.figure)


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("no negative", "not computable: no negative case"),
        ("insufficient", "insufficient data (3 positives)"),
    ],
)
def test_a_class_without_cases_is_words_in_the_place_of_points(key: str, said: str) -> None:
    chart = figures.roc(made.roc_tables()[key])
    assert said in words(chart.figure)
    assert named(chart.figure, "marker:") == [] and named(chart.figure, "interval:") == []
    assert bool(named(chart.figure, "hatched:")) is (key == "insufficient")


def test_a_curve_that_falls_asks_for_the_direction_of_the_score() -> None:
    curve = made.roc_curve([0, 40, 95, 100], [0, 0, 10, 1000], 100, 1000)
    assert figures.roc(made.roc_tables()["two"], curve=curve).alt
    with pytest.raises(ValueError, match=r"higher=True or False"):
        figures.roc(made.roc_tables()["two"], curve=curve.iloc[::-1])


def test_auc_stands_in_the_caption_only() -> None:
    chart = figures.roc(made.roc_tables()["lesson"])
    assert "AUC 0.970 [0.950, 0.990]" in chart.caption and "AUC" not in words(chart.figure)


# --- gate ---------------------------------------------------------------------------------------


def test_both_rules_have_their_chance_at_the_requirement() -> None:
    table = fnb.gate(fnb.read(fnb.data("gate_pass.csv")), fnb.data("requirements.toml")).iloc[[0]]
    chart = figures.gate(table, curve=curve(table.iloc[0]))
    point, bound = (float(mark.get_ydata()[0]) for mark in named(chart.figure, "chance:"))
    assert (round(point, 4), round(bound, 4)) == (0.5760, 0.0195)
    said = words(chart.figure)
    assert (
        "point rule: k \u2264 12 of 600; P(pass) 0.5760" in said
        and "k \u2264 5 of 600; P(pass) 0.0195" in said
    )
    (requirement,) = named(chart.figure, "requirement")
    assert list(requirement.get_xdata()) == [0.02, 0.02]
    for line, at_one in zip(named(chart.figure, "curve:"), (0.9915, 0.4449), strict=True):
        assert np.interp(0.01, line.get_xdata(), line.get_ydata()) == pytest.approx(
            at_one, abs=5e-5
        )


def test_a_suite_change_breaks_the_series_and_no_line_crosses_it() -> None:
    chart = figures.gate(made.gate_tables()["mixed"], width="text")
    breaks = [float(line.get_ydata()[0]) for line in named(chart.figure, "break:")]
    assert len(breaks) == 3  # v1 | v2 | unknown | unknown
    for line in [*named(chart.figure, "join:"), *named(chart.figure, "threshold:")]:
        low, high = min(line.get_ydata()), max(line.get_ydata())
        assert not [at for at in breaks if low < at < high]
    assert {line.get_gid() for line in named(chart.figure, "join:")} == {"join:0"}
    assert len(named(chart.figure, "threshold:")) == 4
    said = words(chart.figure)
    assert (
        "suite version v1" in said
        and "suite version v2" in said
        and said.count("suite version unknown") == 2
    )
    assert [one.get_gid() for one in named(chart.figure, "judge:")] == ["judge:2", "judge:4"]
    assert "never joined" in chart.caption and "in 4 series" in chart.alt


def test_a_refused_release_keeps_its_place_with_the_reason() -> None:
    chart = figures.gate(made.gate_tables()["mixed"])
    blanks = [one.get_text().replace("\n", " ") for one in named(chart.figure, "blank:")]
    assert "no attack ran in this mode" in blanks[0] and "for suite version v1" in blanks[1]


def test_a_scale_of_rates_is_whole_at_its_good_end_and_holds_all_bounds() -> None:
    for key, good in (("two", 0.0), ("lower", 1.0)):
        table = made.gate_tables()[key]
        ends = figures.gate(table).figure.axes[-1].get_xlim()
        assert good in ends and ends[0] <= table["low"].min() and table["high"].max() <= ends[1]
    assert "scale of rates goes from 0 to 0.05" in figures.gate(made.gate_tables()["two"]).caption


def test_several_requirements_are_refused_with_the_way_out() -> None:
    table = fnb.gate(fnb.read(fnb.data("gate_pass.csv")), fnb.data("requirements.toml"))
    with pytest.raises(ValueError, match=r"got 4.*groupby"):
        figures.gate(table)


def test_a_table_without_a_curve_draws_its_releases() -> None:
    table = made.gate_tables()["two"]
    chart = figures.gate(table)
    assert "P(pass)" not in chart.caption and named(chart.figure, "curve:") == []
    assert len(named(figures.gate(table, curve=made.curve()).figure, "curve:")) == 2
    with pytest.raises(ValueError, match="p_pass"):
        figures.gate(table, curve=made.curve().drop(columns="p_pass"))


# --- judge --------------------------------------------------------------------------------------


def test_agreement_hides_what_se_shows() -> None:
    labels = pd.read_csv(fnb.data("judge_bias.csv"))
    chart = figures.judge(
        fnb.judges(labels, human="human", judges="judge", by="condition"), width="text"
    )
    said = words(chart.figure)
    assert said.count("70/75") == 2 and "24/26" in said and "9/14" in said
    constant = [float(one.get_xdata()[0]) for one in named(chart.figure, "constant:")]
    assert constant == pytest.approx([49 / 75, 61 / 75])


def test_a_corrected_rate_below_zero_is_an_arrow_with_its_raw_value() -> None:
    row = hand.row("", 3, 600) | {"judge": "judge", "quantity": "corrected", "method": "delta"}
    cut = {"rate": 0.0, "low": 0.0, "high": 0.006, "value": -0.0054}  # Se .93, Sp .99
    chart = figures.judge(hand.table_of("judges", [row | cut]))
    assert "raw \u22120.0054" in words(chart.figure) and "raw \u22120.0054" in chart.alt
    assert [one.get_gid() for one in named(chart.figure, "arrow:")] == ["arrow:0"]
    assert named(chart.figure, "marker:") == []


def test_a_judge_without_positives_or_no_better_than_chance_has_its_reason() -> None:
    chart = figures.judge(made.judge_tables()["odd"], width="text")
    said = [one.get_text().replace("\n", " ") for one in named(chart.figure, "blank:")]
    assert said[0] == "not computable: the judge does no better than chance"
    assert said[1] == "not computable: no such human label"
    few = chart.table.index[chart.table["state"] == "few"]
    hatched = {one.get_gid() for one in named(chart.figure, "hatched:")}
    assert hatched == {f"hatched:{place}" for place in few} and hatched
