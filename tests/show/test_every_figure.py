"""Every figure keeps the same promises. A new figure is one line in `FIGURES`."""

from __future__ import annotations

import hashlib
import io
import math
import os
import pickle
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.artist import Artist
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, Patch
from matplotlib.text import Text

from ferrite_nb.show import figures, style
from ferrite_nb.show.chart import Chart

from . import hand, hand_programme


@dataclass(frozen=True)
class Drawn:
    """A figure under test.

    `bounds` says which columns hold the ends of an interval: the artist `interval:<row>` has those
        under "", the
    artist `interval:<row>:<part>` those under the part. `rates` is whether rows are rates, with
    arrows and hatches. `needed` is a column without which the figure cannot be drawn; `estimate`
    the one that needs a reason when NaN. `counts` are the pairs of k and n that the figure writes,
    as columns or sums of columns. `curves` is whether rows are points of a curve: any number has
        room.
    """

    name: str
    draw: Callable[..., Chart]
    tables: dict[str, pd.DataFrame]
    bounds: dict[str, tuple[str, str]] = field(default_factory=lambda: {"": ("low", "high")})
    rates: bool = True
    needed: str = "low"
    estimate: str = "rate"
    counts: tuple[tuple[str, str], ...] = (("k", "n"),)
    curves: bool = False


FIGURES = [
    Drawn("forest", figures.forest, hand.forest_tables()),
    Drawn("gradient", figures.gradient, hand.gradient_tables()),
    Drawn("heatmap", figures.heatmap, hand.heatmap_tables(), rates=False),
    Drawn("plane", figures.plane, hand.plane_tables(), rates=False),
    Drawn(
        "pairs",
        figures.pairs,
        hand.pairs_tables(),
        rates=False,
        needed="diff",
        estimate="diff",
        counts=(),
    ),
    Drawn("budget", figures.budget, hand_programme.budget_tables(), rates=False, curves=True),
    Drawn("roc", figures.roc, hand_programme.roc_tables(), rates=False, curves=True),
    Drawn("gate", figures.gate, hand_programme.gate_tables()),
    Drawn("judge", figures.judge, hand_programme.judge_tables(), rates=False),
]
WIDTHS = ("column", "text")
CASES = [
    pytest.param(one, key, width, id=f"{one.name}-{key}-{width}")
    for one in FIGURES
    for key in one.tables
    for width in WIDTHS
]
NAMES = [pytest.param(one, id=one.name) for one in FIGURES]


@cache
def _charts() -> dict[tuple[str, str, str], Chart]:
    return {}


def chart_of(one: Drawn, key: str, width: str) -> Chart:
    """Draw once for all tests."""
    found = _charts()
    if (one.name, key, width) not in found:
        found[one.name, key, width] = one.draw(one.tables[key], width=width)
    return found[one.name, key, width]


def artists(figure: Figure, prefix: str, kind: type = Artist) -> Iterator[tuple[str, Any]]:
    """The artists whose name begins with a prefix, with the rest of the name."""
    for artist in figure.findobj(kind):
        name = artist.get_gid() or ""
        if name.startswith(f"{prefix}:"):
            yield name.partition(":")[2], artist


def texts(figure: Figure) -> list[Text]:
    """Every text that can be seen."""
    return [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]


def ticks(figure: Figure) -> set[Text]:
    """The labels of axis ticks."""
    return {
        label
        for ax in figure.axes
        for axis in (ax.xaxis, ax.yaxis)
        for label in axis.get_ticklabels()
    }


def insufficient(row: Any) -> bool:
    """Whether a row of rates has too few cases or clusters, read in the plainest way."""
    return bool(row["state"] == "few")


def limit(row: Any) -> bool:
    """Whether a row of rates is a one-sided limit."""
    return (
        bool(row["n"])
        and not insufficient(row)
        and row["rate"] in (0, 1)
        and row["k"] in (0, row["n"])
    )


@pytest.mark.parametrize(("one", "key", "width"), CASES)
def test_drawn_brackets_end_at_the_bounds_of_the_table(one: Drawn, key: str, width: str) -> None:
    chart = chart_of(one, key, width)
    seen = 0
    for name, line in artists(chart.figure, "interval", Line2D):
        place, _, part = name.partition(":")
        low, high = (
            chart.table[column].iloc[int(place)] for column in one.bounds[part.partition(":")[0]]
        )
        x, y = line.get_xdata(), line.get_ydata()
        values = x if y[0] == y[1] and (x[0] != x[1] or low == high) else y
        assert min(values) == pytest.approx(low, abs=1e-9) and max(values) == pytest.approx(
            high, abs=1e-9
        )
        seen += 1
    if one.rates:
        plain = [
            not insufficient(row) and not math.isnan(row["rate"])
            for _, row in chart.table.iterrows()
        ]
        assert seen == sum(plain)


@pytest.mark.parametrize(("one", "key", "width"), CASES)
def test_no_percentage_stands_alone_and_every_count_is_in_the_table(
    one: Drawn, key: str, width: str
) -> None:
    chart = chart_of(one, key, width)
    given = " ".join(map(str, chart.table.select_dtypes(exclude="number").to_numpy().ravel()))
    for text in set(texts(chart.figure)) - ticks(chart.figure):
        words = text.get_text()
        rule = "bound must be" in words
        quoted = (
            words.replace("\n", " ") in given or key == "hostile"
        )  # names with a percent sign of their own
        assert "%" not in words or "/" in words or "[" in words or rule or quoted, words
        assert "±" not in words
    counts = {f"{int(k)}/{int(n)}" for k, n in _counts(one, chart.table) if n == n}
    for _, label in artists(chart.figure, "label", Text):
        for found in re.findall(r"(?<![\w/.])\d+/\d+(?![\w/])", label.get_text()):
            assert found in counts


def _counts(one: Drawn, table: pd.DataFrame) -> list[tuple[Any, Any]]:
    """All pairs of k and n that a figure writes of its table, those without a case too."""
    pairs = [zip(table.eval(k), table.eval(n), strict=True) for k, n in one.counts]
    return [(k, n) for pair in pairs for k, n in pair if k is not pd.NA and k == k]


@pytest.mark.parametrize(("one", "key", "width"), [case for case in CASES if case.values[0].rates])
def test_hatches_are_insufficient_rows_and_arrows_are_limits(
    one: Drawn, key: str, width: str
) -> None:
    chart = chart_of(one, key, width)
    rows = [row for _, row in chart.table.iterrows()]
    hatches = [patch for patch in chart.figure.findobj(Patch) if patch.get_hatch() == style.HATCH]
    assert len(hatches) == sum(map(insufficient, rows))
    assert len(chart.figure.findobj(FancyArrowPatch)) == sum(map(limit, rows))
    marked = {int(name) for name, _ in artists(chart.figure, "marker")}
    assert marked == {
        i for i, row in enumerate(rows) if row["n"] and not insufficient(row) and not limit(row)
    }


@pytest.mark.parametrize(("one", "key", "width"), CASES)
def test_colours_are_okabe_and_itos_and_no_two_series_share_colour_and_marker(
    one: Drawn, key: str, width: str
) -> None:
    figure = chart_of(one, key, width).figure
    allowed = {
        colour.lower() for colour in (*style.OKABE_ITO.values(), style.INK, *style.GREYS, "#ffffff")
    }
    used = set()
    for line in figure.findobj(Line2D):
        used |= {line.get_color(), line.get_markerfacecolor(), line.get_markeredgecolor()}
    for patch in figure.findobj(Patch):
        if not (patch.get_gid() or "").startswith("cell:"):  # a heat map has a scale of colours
            used |= {patch.get_edgecolor(), patch.get_facecolor()}
    used |= {text.get_color() for text in figure.findobj(Text)}
    shown = {to_hex(colour) for colour in used if colour not in ("none", "None")}
    grey = {colour for colour in shown if colour[1:3] == colour[3:5] == colour[5:7]}
    assert shown - grey <= allowed
    looks = {
        (line.get_markerfacecolor(), line.get_marker())
        for _, line in artists(figure, "marker", Line2D)
    }
    colours = {colour for colour, _ in looks}
    assert len(looks) == len(colours) == len({shape for _, shape in looks})


@pytest.mark.parametrize(("one", "key", "width"), CASES)
def test_text_is_large_enough_inside_the_figure_and_apart(one: Drawn, key: str, width: str) -> None:
    figure = chart_of(one, key, width).figure
    assert figure.get_size_inches()[0] == pytest.approx({"column": 3.3, "text": 7.0}[width])
    with style.settings():
        figure.draw_without_rendering()
        boxes = [(text, text.get_window_extent()) for text in texts(figure)]
    for text, box in boxes:
        assert text.get_fontsize() >= 7, text.get_text()
        inside = (
            box.x0 >= -1
            and box.y0 >= -1
            and box.x1 <= figure.bbox.x1 + 1
            and box.y1 <= figure.bbox.y1 + 1
        )
        assert inside, (text.get_text(), box, figure.bbox)
    for (first, one_box), (second, other) in combinations(boxes, 2):
        over = min(one_box.x1, other.x1) - max(one_box.x0, other.x0)
        under = min(one_box.y1, other.y1) - max(one_box.y0, other.y0)
        assert over <= 1 or under <= 1, (first.get_text(), second.get_text(), over, under)
    for line in figure.findobj(Line2D):
        visible = line.get_linestyle() not in ("None", "") and len(line.get_xdata()) > 1
        assert not visible or line.get_linewidth() >= 0.8
    assert all(line.get_markersize() >= 4 for _, line in artists(figure, "marker", Line2D))


@pytest.mark.parametrize(("one", "key", "width"), CASES)
def test_alt_text_holds_every_count_and_is_plain(one: Drawn, key: str, width: str) -> None:
    chart = chart_of(one, key, width)
    assert 20 < len(chart.alt) <= 1500
    assert "±" not in chart.alt and "\n" not in chart.alt and "\u202e" not in chart.alt
    titles = {text.get_text() for text in texts(chart.figure)}
    assert chart.alt not in titles
    assert not re.search(r"\b(red|blue|green|orange|purple|yellow)\b", chart.alt)
    counts = [(k, n) for k, n in _counts(one, chart.table) if n == n and n]
    if len(counts) <= 12:
        for k, n in counts:
            assert f"{int(k)}/{int(n)}" in chart.alt
    else:
        assert "the table holds all" in chart.alt and str(len(chart.table)) in chart.alt


@pytest.mark.parametrize(("one", "key", "width"), CASES)
def test_caption_says_method_level_unit_and_version(one: Drawn, key: str, width: str) -> None:
    caption = chart_of(one, key, width).caption
    assert (
        "level 0.95" in caption
        and "version" in caption
        and "unit of independence" in caption.lower()
    )
    assert "±" not in caption
    assert ("every cell has insufficient data" in caption.lower()) == (key == "insufficient")


def _bytes(chart: Chart) -> dict[str, str]:
    return {
        kind: hashlib.sha256(style.render(chart.figure, kind, 100)).hexdigest()
        for kind in ("pdf", "svg", "png")
    }


@pytest.mark.parametrize("one", NAMES)
def test_two_renderings_and_two_charts_have_the_same_bytes(one: Drawn) -> None:
    table = next(iter(one.tables.values()))
    chart = one.draw(table)
    first = _bytes(chart)
    assert first == _bytes(chart) == _bytes(one.draw(table))


_SCRIPT = """
import hashlib, pickle, sys
from ferrite_nb.show import figures, style
for name, table in pickle.load(open(sys.argv[1], "rb")):
    chart = getattr(figures, name)(table)
    for kind in ("pdf", "svg", "png"):
        print(name, kind, hashlib.sha256(style.render(chart.figure, kind, 100)).hexdigest())
    print(chart.alt, chart.caption)
"""


def test_bytes_are_equal_in_two_processes(tmp_path: Path) -> None:
    work = [(one.name, one.tables["hostile"]) for one in FIGURES]
    (tmp_path / "tables.pickle").write_bytes(pickle.dumps(work))
    said = []
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", _SCRIPT, tmp_path / "tables.pickle"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        said.append(done.stdout)
    assert said[0] == said[1] and said[0].count("svg") >= len(work)


@pytest.mark.parametrize(("one", "key", "width"), CASES)
def test_table_twin_holds_the_drawn_rows_and_reads_back(
    one: Drawn, key: str, width: str, tmp_path: Path
) -> None:
    chart = chart_of(one, key, width)
    assert len(chart.table) == len(one.tables[key])
    if key == "hostile" or width == "text":
        return  # guarded cells differ by their guard: see the next test
    chart.save(tmp_path / "fig.svg")
    back = pd.read_csv(tmp_path / "fig.csv", dtype=str, keep_default_na=False)
    assert list(back.columns) == list(chart.table.columns) and len(back) == len(chart.table)
    for column in back.columns:
        for mine, theirs in zip(chart.table[column], back[column], strict=True):
            if mine is None or mine is pd.NA or mine != mine:
                assert theirs == ""
            else:
                told = isinstance(mine, str | bool | np.bool_)
                assert str(mine) == theirs if told else mine == float(theirs), (
                    column,
                    mine,
                    theirs,
                )


@pytest.mark.parametrize("one", NAMES)
def test_hostile_text_is_harmless_in_svg_and_csv(one: Drawn, tmp_path: Path) -> None:
    chart = chart_of(one, "hostile", "column")
    paths = chart.save(tmp_path / "fig.svg")
    assert [path.name for path in paths] == ["fig.svg", "fig.csv", "fig.alt.txt"]
    root = ElementTree.parse(tmp_path / "fig.svg").getroot()
    tags = {element.tag.rpartition("}")[2].lower() for element in root.iter()}
    assert "path" in tags and not tags & {"script", "foreignobject", "image", "a"}
    cells = pd.read_csv(tmp_path / "fig.csv", dtype=str, keep_default_na=False).to_numpy().ravel()
    numbers = [cell for cell in cells if re.fullmatch(r"[-+]?[\d.]+(e[-+]?\d+)?|[+-]?inf", cell)]
    assert not [cell for cell in set(cells) - set(numbers) if cell[:1] in tuple("=+-@\t\r")]
    for kind in ("pdf", "png"):
        assert style.render(chart.figure, kind, 100)


@pytest.mark.parametrize(("one", "key", "width"), CASES)
def test_drawing_changes_nothing_outside(one: Drawn, key: str, width: str) -> None:
    if width == "text":
        return
    table = one.tables[key]
    before, settings = table.copy(deep=True), dict(matplotlib.rcParams)
    chart = one.draw(table, width=width)
    style.render(chart.figure, "png", 72)
    pd.testing.assert_frame_equal(table, before)
    assert dict(matplotlib.rcParams) == settings
    assert chart.table is not table


@pytest.mark.parametrize("one", NAMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_an_empty_table_draws_a_message(one: Drawn, width: str) -> None:
    for empty in (pd.DataFrame(), next(iter(one.tables.values())).iloc[:0]):
        chart = one.draw(empty, width=width)
        assert chart.alt.startswith("nothing to draw: ")
        shown = " ".join(text.get_text() for text in texts(chart.figure)).replace("\n", " ")
        assert shown == chart.alt and len(chart.table) == 0


@pytest.mark.parametrize("one", NAMES)
def test_a_missing_column_is_named_with_the_verb_that_makes_it(one: Drawn) -> None:
    table = next(iter(one.tables.values())).drop(columns=one.needed)
    with pytest.raises(ValueError, match=rf"figures\.{one.name}.*{one.needed}.*fnb\.\w+"):
        one.draw(table)


@pytest.mark.parametrize("one", NAMES)
def test_a_wrong_width_a_wrong_type_and_too_many_rows_raise(one: Drawn) -> None:
    table = next(iter(one.tables.values()))
    with pytest.raises(ValueError, match="column, text"):
        one.draw(table, width="page")
    with pytest.raises(TypeError, match=r"DataFrame.*list"):
        one.draw([1, 2])
    if one.curves:
        return
    with pytest.raises(ValueError, match=r"200.*facet with by=, or filter"):
        one.draw(pd.concat([table] * (200 // len(table) + 1), ignore_index=True).iloc[:200])


@pytest.mark.parametrize("one", NAMES)
def test_impossible_numbers_raise_with_row_and_values(one: Drawn) -> None:
    table = one.tables["two"]
    low, high = one.bounds[""] if "" in one.bounds else next(iter(one.bounds.values()))
    swapped = table.copy()
    swapped.loc[swapped.index[1], [low, high]] = [0.4, 0.3]
    with pytest.raises(ValueError, match=r"row 1.*0\.4.*0\.3"):
        one.draw(swapped)
    if one.rates:
        for k, n in ((21, 20), (-1, 20)):
            wrong = table.copy()
            wrong.loc[wrong.index[1], ["k", "n"]] = [k, n]
            with pytest.raises(ValueError, match=rf"row 1.*{k}.*{n}"):
                one.draw(wrong)
        wrong = table.copy()
        wrong.loc[wrong.index[1], "rate"] = 15.0
        with pytest.raises(ValueError, match=r"row 1.*15"):
            one.draw(wrong)


@pytest.mark.parametrize("one", NAMES)
def test_a_missing_estimate_needs_its_reason(one: Drawn) -> None:
    table = one.tables["two"].copy()
    table["why"] = ""
    table.loc[table.index[1], one.estimate] = np.nan
    with pytest.raises(ValueError, match=r"row 1.*reason"):
        one.draw(table)


@pytest.mark.parametrize("one", [case for case in NAMES if case.values[0].name not in ("gate",)])
def test_suite_versions_are_not_mixed(one: Drawn) -> None:
    table = one.tables["two"].copy()
    table["suite_version"] = ["1.1.2", *["1.2"] * (len(table) - 1)]
    with pytest.raises(ValueError, match=r"1\.1\.2, 1\.2"):
        one.draw(table)
    table["suite_version"] = "1.2"
    assert "suite version 1.2" in one.draw(table).caption.lower()


@pytest.mark.parametrize(
    ("one", "key"), [pytest.param(o, k, id=f"{o.name}-{k}") for o in FIGURES for k in o.tables]
)
def test_a_figure_is_ready_in_two_seconds(one: Drawn, key: str) -> None:
    best = math.inf
    for _ in range(3):  # processor time, so that a busy machine does not decide
        start = time.process_time()
        style.render(one.draw(one.tables[key]).figure, "png", 150)
        best = min(best, time.process_time() - start)
        if best < 2:
            break
    assert best < 2


def test_every_figure_of_the_package_is_registered_here() -> None:
    assert {one.name for one in FIGURES} == set(figures.__all__)
    buffer = io.BytesIO()
    pickle.dump([one.tables for one in FIGURES], buffer)
