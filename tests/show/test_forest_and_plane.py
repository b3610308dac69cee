"""Forest and plane: the requirement's line, totals that say what they are, anchors, places and the
frontier.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from ferrite_nb.show import figures, style
from ferrite_nb.show.chart import Chart

from . import hand

ROOT = Path(__file__).resolve().parents[2]


def named(figure: Figure, name: str) -> list[Any]:
    """The artists with this name."""
    return [artist for artist in figure.findobj(lambda one: (one.get_gid() or "") == name)]


def words(figure: Figure) -> str:
    """All that can be read in a figure."""
    return "\n".join(text.get_text() for text in figure.findobj(Text))


def test_the_requirement_is_a_line_at_its_threshold_with_its_rule_in_words() -> None:
    chart = figures.forest(hand.run_b(), requirement={"ASR": 0.1})
    (line,) = named(chart.figure, "requirement")
    assert list(line.get_xdata()) == [0.1, 0.1]
    assert "upper bound must be left of 10 %" in words(chart.figure)
    assert "upper bound must be left of 10 %" in chart.caption
    better_high = hand.rates([hand.row("CR", 661, 787, mode="LoopOnly")])
    assert "lower bound must be right of 95 %" in words(
        figures.forest(better_high, requirement=0.95).figure
    )


def test_a_requirement_needs_its_metric_and_a_proportion() -> None:
    with pytest.raises(ValueError, match="name the metric"):
        figures.forest(hand.run_b(), requirement=0.1)
    for wrong in ({"ADR": 0.1}, {"ASR": 10}):
        with pytest.raises(ValueError, match="threshold from 0 to 1"):
            figures.forest(hand.run_b(), requirement=wrong)


def test_metrics_of_opposite_direction_have_panels_of_their_own_with_cost_beside_gain() -> None:
    table = hand.rates(
        [
            hand.row("ASR", 9, 40, mode="On"),
            hand.row("CR", 31, 40, mode="On"),
            hand.row("FGR", 1, 40, mode="On"),
        ]
    )
    chart = figures.forest(table, width="text")
    drawn = [ax for ax in chart.figure.axes if ax.axison]
    assert len(drawn) == 3
    assert [ax.get_position().x0 > 0.5 for ax in drawn] == [False, True, False]
    assert "CR: containment rate (higher is better)" in words(chart.figure)


def published(model: str, defence: str) -> pd.DataFrame:
    """The published cells of one model and defence with micro and macro totals (arXiv:2510.05244v1,
    Table 11).
    """
    cells = pd.read_csv(ROOT / "data" / "agentdojo_tables_2510.05244.csv")
    cells = cells[
        (cells["table"] == "ASR") & (cells["model"] == model) & (cells["defence"] == defence)
    ]
    rows = [
        hand.row("ASR", one.k_pooled, one.n_pooled, suite=one.suite) for one in cells.itertuples()
    ]
    micro = hand.row(
        "ASR", cells["k_pooled"].sum(), cells["n_pooled"].sum(), suite="micro: all cases"
    )
    macro = micro | {"suite": "macro: mean of strata", "rate": cells["published_rate"].mean() / 100}
    return hand.rates(
        [*rows, micro, macro | {"low": 0.32, "high": 0.37, "note": "mean of 4 of 4 strata"}]
    )


def test_totals_of_the_published_cells_are_named_micro_and_macro() -> None:
    chart = figures.forest(published("gpt-4o-2024-08-06", "none"), width="text")
    assert "micro: all cases 662/2847 [21.7, 24.8]" in chart.alt
    assert "662/2847, macro mean 34.2% [32.0, 37.0]" in chart.alt
    assert "micro: all cases" in words(chart.figure) and "macro: mean of strata" in words(
        chart.figure
    )


def test_a_total_that_does_not_say_what_it_is_is_refused() -> None:
    table = published("gpt-4o-2024-08-06", "none")
    with pytest.raises(ValueError, match="micro: all cases"):
        figures.forest(table.replace({"suite": {"micro: all cases": "overall"}}))
    with pytest.raises(ValueError, match="note on how its interval"):
        figures.forest(table.assign(note=""))


def test_rows_are_sorted_only_when_asked_and_the_caption_says_so() -> None:
    plain, ordered = (
        figures.forest(hand.run_b().iloc[:4]),
        figures.forest(hand.run_b().iloc[:4], sort=True),
    )
    assert list(plain.table["mode"]) == list(hand.MODES) and "sorted" not in plain.caption
    assert list(ordered.table["mode"]) == ["On", "LoopOnly", "SanitizerOnly", "Off"]
    assert "sorted by rate" in ordered.caption


def test_missing_outcomes_are_a_span_from_floor_to_ceiling_and_a_word() -> None:
    chart = figures.forest(hand.run_a())
    (span,) = named(chart.figure, "missing:1")
    assert list(span.get_xdata()) == [5 / 15, 8 / 15]
    assert "missing 3" in words(chart.figure) and "(missing 3)" in chart.alt


def test_the_interval_that_ignores_the_judge_is_grey_and_named() -> None:
    table = hand.clustered()
    table[["observed", "observed_low", "observed_high"]] = table[["rate", "low", "high"]]
    table.loc[1, ["rate", "low", "high"]] = [0.2, 0.15, 0.25]
    chart = figures.forest(table)
    (grey,) = named(chart.figure, "grey:1")
    assert list(grey.get_xdata()) == list(table.loc[1, ["observed_low", "observed_high"]])
    (main,) = named(chart.figure, "interval:1")
    assert list(main.get_xdata()) == [0.15, 0.25] and main.get_linewidth() > grey.get_linewidth()
    assert "judge's errors" in chart.caption
    assert "judge" not in figures.forest(hand.clustered()).caption


def test_a_security_metric_without_cost_says_so() -> None:
    assert "No cost metric" in figures.forest(hand.run_a()).caption
    assert "No cost metric" not in figures.forest(hand.run_b()).caption


def plane(**options: Any) -> Any:
    """The plane of all kinds of modes."""
    return figures.plane(hand.plane_tables()["mixed"], **options)


def at(line: Line2D) -> tuple[float, float]:
    """The place of a point."""
    return float(line.get_xdata()[0]), float(line.get_ydata()[0])


def test_the_refuser_lies_where_no_attack_and_no_task_succeeds() -> None:
    (anchor,) = named(plane().figure, "anchor:refuser")
    assert at(anchor) == (0.0, 0.0)
    gates = figures.plane(
        hand.run_b()
    )  # a gate rate, not a success rate: refusing everything gates everything
    assert at(named(gates.figure, "anchor:refuser")[0]) == (0.0, 1.0)


def test_modes_lie_at_their_rates_and_one_without_a_cost_has_no_marker() -> None:
    chart = plane()
    places = {mode: index for index, mode in enumerate(chart.table["mode"]) if index < 8}
    assert at(named(chart.figure, f"marker:{places['B']}")[0]) == (0.2, 0.88)
    for mode in "CDEFG":
        assert named(chart.figure, f"marker:{places[mode]}") == []
    assert "E: cost not measured" in words(chart.figure)
    (line,) = named(chart.figure, f"interval:{places['E']}")
    assert min(line.get_xdata()) == chart.table["low"][places["E"]]
    assert "Not placed, because a metric is unknown: C, D, E, F, G" in chart.caption
    assert "count different cases" in chart.caption


def joins(modes: dict[str, tuple[int, int, int, int]]) -> int:
    """How many lines the frontier of these modes has."""
    rows = [
        hand.row(metric, *counts[2 * i : 2 * i + 2], mode=mode)
        for i, metric in enumerate(("ASR", "task success"))
        for mode, counts in modes.items()
    ]
    chart = figures.plane(hand.rates(rows))
    return len(chart.figure.findobj(lambda one: (one.get_gid() or "").startswith("join:")))


def test_the_frontier_joins_only_modes_whose_intervals_lie_apart() -> None:
    assert joins({"A": (5, 100, 20, 100), "B": (60, 100, 90, 100)}) == 1
    assert (
        joins({"A": (20, 100, 80, 100), "B": (22, 100, 82, 100)}) == 0
    )  # overlap in both directions
    assert joins({"A": (5, 100, 90, 100), "B": (60, 100, 20, 100)}) == 0  # B is beaten by A in both
    assert joins({"A": (5, 100, 20, 100)}) == 0


def test_the_plane_needs_one_metric_of_each_side() -> None:
    with pytest.raises(ValueError, match="one cost metric"):
        figures.plane(hand.run_a())
    more = pd.concat(
        [hand.run_b(), hand.rates([hand.row("CR", 1, 9, mode="On")])], ignore_index=True
    )
    with pytest.raises(ValueError, match="one security metric, got ASR, CR"):
        figures.plane(more)
    assert set(figures.plane(more, security="ASR").table["metric"]) == {"ASR", "FGR"}
    with pytest.raises(ValueError, match="must be a metric of the table"):
        figures.plane(more, security="ADR")


MODES = ["Off", *(f"m{i}" for i in range(1, 12))]


def looks(chart: Chart) -> dict[str, tuple[str, str]]:
    """Colour and marker of each mode, as it is drawn."""
    found = {}
    for point in chart.figure.findobj(Line2D):
        kind, _, row = (point.get_gid() or "").partition(":")
        if kind == "marker":
            mode = chart.table.loc[int(row), "mode"]
            found[mode] = (point.get_markerfacecolor(), point.get_marker())
    return found


def test_twelve_modes_have_twelve_looks_and_the_same_in_every_figure() -> None:
    rows = [hand.row(metric, 3, 9, mode=mode) for mode in MODES for metric in ("ASR", "FGR")]
    table = hand.rates(rows)
    plane, forest = figures.plane(table), figures.forest(table)
    strata = [hand.row("ASR", 3, 9, mode=mode, scope=s) for mode in MODES for s in ("a", "b")]
    gradient = figures.gradient(hand.rates(strata))
    assert looks(plane) == looks(forest) == looks(gradient)
    assert len({*looks(plane).values()}) == len(MODES)
    assert looks(plane)["Off"][0] == style.PALE
    assert all("Grey: Off, the undefended mode" in one.caption for one in (plane, forest, gradient))
    other = figures.forest(table, baseline="m3")
    assert looks(other)["m3"][0] == style.PALE != looks(other)["Off"][0]
    none = figures.forest(table, baseline="")
    assert "undefended" not in none.caption
    assert style.PALE not in {colour for colour, _ in looks(none).values()}


def test_names_of_the_reader_stand_in_the_figure_its_table_and_its_texts() -> None:
    names = {"Off": "no defence", "On": "all layers"}
    chart = figures.forest(hand.run_b(), labels=names, title="Own title")
    assert {*names.values()} <= {*chart.table["mode"]} and "no defence" in chart.alt
    assert "Grey: no defence, the undefended mode" in chart.caption
    assert "Own title" in [text.get_text() for text in chart.figure.findobj(Text)]
    with pytest.raises(ValueError, match="the same name"):
        figures.forest(hand.run_b(), labels={"Off": "x", "On": "x"})


@pytest.mark.parametrize("inches", [3.3, 5.5, 6.75, 7.0])
def test_a_width_in_inches_is_the_width_of_the_page(inches: float) -> None:
    chart = figures.plane(hand.run_b(), width=inches)
    assert chart.figure.get_size_inches()[0] == inches
    for wrong in (0, 2.9, 100, float("nan"), "wide", True):
        with pytest.raises(ValueError, match="width must be"):
            figures.plane(hand.run_b(), width=wrong)
