"""`explore` without a browser: its controls, what each choice shows, saving, hostile names.
Pictures: tests/browser.
"""

from __future__ import annotations

import re
from pathlib import Path

import ipywidgets
import pandas as pd
import pytest

import ferrite_nb as fnb
from ferrite_nb.analysis.choice import Choice, open_cube
from ferrite_nb.widgets import Explorer, call_of, draw

HOSTILE = [
    "<script>alert(1)</script>",
    "$\\input{passwd}$",
    "=cmd|' /C calc'!A0",
    "\u202egnirts",
    "z" * 300,
    "",
]


@pytest.fixture(scope="module")
def runs() -> fnb.Outcomes:
    return fnb.read(fnb.data("ferrite_run_b.csv")).declare(cluster=())


@pytest.fixture
def explorer(runs: fnb.Outcomes) -> Explorer:
    return Explorer(open_cube(runs))


def text(explorer: Explorer, place: str = "sentence") -> str:
    import html

    return html.unescape(re.sub(r"<[^>]+>", " ", explorer.places[place].value))


def controls(widget: ipywidgets.Widget) -> list[ipywidgets.Widget]:
    """All controls below a box."""
    found = (
        [widget]
        if hasattr(widget, "description") and not isinstance(widget, ipywidgets.HTML)
        else []
    )
    for child in getattr(widget, "children", ()):
        found += controls(child)
    return found


def test_explore_gives_one_box_and_refuses_a_bare_frame(runs: fnb.Outcomes) -> None:
    box = fnb.explore(runs)
    assert isinstance(box, ipywidgets.VBox)
    assert "ferrite-explore" in box._dom_classes
    with pytest.raises(TypeError, match="explore takes outcomes"):
        fnb.explore(runs.frame)


def test_every_control_has_a_name(explorer: Explorer) -> None:
    named = controls(explorer.box)
    assert {"Metric", "Show", "Interval", "Level", "Cluster", "mode", "tier", "scope", "More"} <= {
        one.description for one in named
    }
    assert all(one.description for one in named)


def test_figure_table_and_sentence_agree(explorer: Explorer) -> None:
    assert (
        text(explorer)
        .strip()
        .startswith("ASR (lower is better) is lowest in On: 63/787 = 8.0% [2.8, 21.0]")
    )
    assert explorer.chart is not None and "63/787" in explorer.chart.alt
    assert "63/787" in text(explorer, "numbers") and "0/122" in text(explorer, "numbers")


@pytest.mark.parametrize(
    ("control", "value", "words"),
    [
        ("metric", "CR", "CR (higher is better)"),
        ("show", "tier", "Tier2, On: 0/260"),
        ("show", "gradient:scope", "SanitizerOnly: 0/5"),
        ("level", 0.99, "[2.1, 26.5]"),
        ("cluster", (), "[6.3, 10.1]"),
        ("cluster", ("task",), "(clustered by task)"),
    ],
)
def test_each_control_changes_what_is_said(
    explorer: Explorer, control: str, value: object, words: str
) -> None:
    before = {name: place.value for name, place in explorer.places.items()}
    getattr(explorer, control).value = value
    assert words in text(explorer)
    assert explorer.places["figure"].value != before["figure"]
    assert explorer.places["numbers"].value != before["numbers"]


def test_the_interval_can_be_chosen_without_clusters_only(explorer: Explorer) -> None:
    assert explorer.method.disabled
    explorer.cluster.value = ()
    assert not explorer.method.disabled
    explorer.method.value = "clopper-pearson"
    assert "[6.2, 10.1]" in text(explorer) and "method='clopper-pearson'" in text(explorer)


def test_a_fixed_interval_has_its_reason_and_reset_goes_back(explorer: Explorer) -> None:
    start = {name: place.value for name, place in explorer.places.items()}
    assert "fixed" in explorer.why.value and explorer.cluster.value == ("template",)
    explorer.cluster.value = ()
    assert explorer.why.value == ""
    explorer.method.value = "jeffreys"
    explorer.show.value = "gradient:scope"
    explorer.strata["tier"].list.value = ("Tier1",)
    explorer.again.click()
    assert {name: place.value for name, place in explorer.places.items()} == start
    assert explorer.method.value == "wilson"


def test_an_empty_choice_says_so_and_comes_back(explorer: Explorer) -> None:
    explorer.strata["tier"].list.value = ()
    assert text(explorer).strip() == "choose at least one tier"
    assert explorer.places["figure"].value == "" and explorer.chart is None
    explorer.strata["tier"].list.value = ("Tier2",)
    assert "/260" in text(explorer)


def test_a_long_list_is_searched_and_what_is_shown_counts(explorer: Explorer) -> None:
    template = explorer.strata["template"]
    template.search.value = "NEWS/nav"
    assert template.chosen == ("news/nav_exfil",)
    assert "one cluster: its spread cannot be estimated" in text(explorer)
    explorer.cluster.value = ()
    assert "/128" in text(explorer)
    template.search.value = "no such name"
    assert "choose at least one template" in text(explorer)
    template.search.value = ""
    assert len(template.chosen) == 195 and "/787" in text(explorer)


def test_a_column_that_is_put_away_chooses_all_again(explorer: Explorer) -> None:
    explorer.more.value = "family"
    explorer.strata["family"].list.value = ("mtg",)
    assert "/312" in text(explorer)
    explorer.more.value = "template"
    assert "/787" in text(explorer)
    assert explorer.extra.children == (explorer.strata["template"].box,)


def test_the_call_in_words_gives_the_same_table(runs: fnb.Outcomes, explorer: Explorer) -> None:
    explorer.strata["tier"].list.value = ("Tier1",)
    explorer.modes.list.value = ("LoopOnly", "On")
    explorer.show.value = "scope"
    code = call_of(explorer.cube, explorer.choice)
    table = eval(code, {"fnb": fnb, "runs": runs})
    assert explorer.chart is not None
    assert table[["k", "n", "low"]].equals(explorer.chart.table[["k", "n", "low"]])


def test_saving_writes_figure_table_and_alt_text(explorer: Explorer, tmp_path: Path) -> None:
    explorer.path.value = str(tmp_path / "mine.svg")
    explorer.button.click()
    assert "saved:" in explorer.saved.value
    assert {path.name for path in tmp_path.iterdir()} == {"mine.svg", "mine.csv", "mine.alt.txt"}
    explorer.path.value = str(tmp_path / "no such folder" / "mine.svg")
    explorer.button.click()
    assert "not saved: no folder" in explorer.saved.value
    explorer.strata["tier"].list.value = ()
    explorer.button.click()
    assert "there is no figure to save" in explorer.saved.value


def test_a_figure_that_would_be_too_long_is_one_line(runs: fnb.Outcomes) -> None:
    rows = [
        {"case_id": f"{s}-{i}", "mode": f"mode {m}", "suite": f"suite {s}", "attack_success": i < 3}
        for m in range(4)
        for s in range(12)
        for i in range(6)
    ]
    found = Explorer(open_cube(fnb.outcomes(pd.DataFrame(rows))))
    found.show.value = "suite"
    assert "draws at most 40 rows" in text(found)


def test_hostile_names_are_text() -> None:
    rows = [
        {
            "case_id": f"{s}-{i}",
            "mode": mode,
            "suite": name,
            "$x$<b>": str(i % 2),
            "attack_success": i < 3,
        }
        for mode in ("On<i>", "$a$")
        for s, name in enumerate(HOSTILE)
        for i in range(8)
    ]
    found = Explorer(open_cube(fnb.outcomes(pd.DataFrame(rows))))
    for show in ("mode", "suite", "gradient:suite", "$x$<b>"):
        found.show.value = show
        for place in found.places.values():
            assert (
                "<script>" not in place.value
                and "<b>" not in place.value
                and "<i>" not in place.value
            )
            assert "\u202e" not in place.value
        assert 'class="tex2jax_ignore mathjax_ignore"' in found.places["sentence"].value
    assert all("$" not in one.description for one in controls(found.box))
    labels = [label for label, _ in found.strata["suite"].list.options]
    assert "(none) (16)" in labels and "<script>alert(1)</script> (16)" in labels
    assert max(map(len, labels)) < 80


def test_draw_needs_no_widget(runs: fnb.Outcomes) -> None:
    chart = draw(open_cube(runs), Choice("ASR", ("Off", "On")))
    assert "787/787" in chart.alt and chart.table["mode"].tolist() == ["Off", "On"]


def test_a_saved_notebook_shows_the_numbers_where_it_shows_no_widget():
    """GitHub and a notebook that is opened again show no widget: what it says stands beside it as a
    table.
    """
    runs = fnb.read(fnb.data("ferrite_run_a.csv"))
    shown = fnb.explore(runs)._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in shown
    assert (
        "22/22, lower limit 85.1% [85.1, 100.0]" in shown["text/html"]
        and "fnb.rates(runs, " in shown["text/html"]
    )
    assert "<script" not in shown["text/html"] and "<img" not in shown["text/html"]
