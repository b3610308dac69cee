"""Chart: what a notebook gets, what is saved, and that nothing is left half written."""

from __future__ import annotations

import base64
import dataclasses
import html
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure

from ferrite_nb.show import figures
from ferrite_nb.show.chart import Chart

from . import hand

AWKWARD = 'He said "a < b & c"\nand that\'s all'


@pytest.fixture
def chart() -> Chart:
    """A small chart of two rows."""
    return figures.forest(hand.run_b().iloc[:2])


def awkward() -> Chart:
    """A chart with an alt text that has every sign that HTML minds."""
    return Chart(
        Figure(figsize=(2, 1)),
        pd.DataFrame({"a<b": ["<script>x</script>"]}),
        AWKWARD,
        "A caption & more.",
    )


def test_a_notebook_gets_html_png_and_text(chart: Chart) -> None:
    data, metadata = chart._repr_mimebundle_()
    assert set(data) == {"text/html", "image/png", "text/plain"}
    assert data["text/plain"] == str(chart) == repr(chart) == chart.alt
    assert metadata == {"image/png": {"alt": chart.alt}}
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert data["image/png"] in data["text/html"]
    assert "width:343px" in data["text/html"]  # 3.3 inches at 104 px: 7 pt come out at 10 px


def test_include_and_exclude_are_obeyed(chart: Chart) -> None:
    assert set(chart._repr_mimebundle_(include=["text/plain", "text/latex"])[0]) == {"text/plain"}
    data, metadata = chart._repr_mimebundle_(exclude={"image/png"})
    assert set(data) == {"text/html", "text/plain"} and metadata == {}


def test_the_alt_text_survives_html_and_xml() -> None:
    page = awkward()._repr_mimebundle_()[0]["text/html"]
    found = re.findall(r'<img alt="([^"]*)"', page)
    assert [html.unescape(alt) for alt in found] == [AWKWARD]
    image = ElementTree.fromstring(page.removesuffix(">") + "/>")
    assert image.get("alt") == AWKWARD


def test_the_figure_element_has_picture_caption_and_table_and_no_script() -> None:
    page = awkward().html()
    assert page.startswith('<figure tabindex="0">') and page.endswith("</figure>")
    assert page.count("<img ") == page.count("<table ") == page.count("<figcaption>") == 1
    assert "A caption &amp; more." in page and "<script" not in page and "&lt;script&gt;" in page


@pytest.mark.parametrize("kind", ["pdf", "svg", "png"])
def test_saving_writes_three_files_and_the_same_bytes_again(
    chart: Chart, kind: str, tmp_path: Path
) -> None:
    paths = chart.save(tmp_path / f"fig.{kind}")
    assert paths == [tmp_path / f"fig.{kind}", tmp_path / "fig.csv", tmp_path / "fig.alt.txt"]
    before = [path.read_bytes() for path in paths]
    assert before[2] == f"{chart.alt}\n".encode()
    assert [path.read_bytes() for path in chart.save(str(tmp_path / f"fig.{kind}"))] == before
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in paths)


def test_pdf_fonts_are_truetype_and_text_stays_text(chart: Chart, tmp_path: Path) -> None:
    content = chart.save(tmp_path / "fig.pdf")[0].read_bytes()
    assert b"/FontFile2" in content or b"/CIDFontType2" in content
    assert b"/Type3" not in content and b"/CreationDate" not in content


def test_the_csv_can_be_left_out(chart: Chart, tmp_path: Path) -> None:
    assert [path.name for path in chart.save(tmp_path / "fig.png", table=False)] == [
        "fig.png",
        "fig.alt.txt",
    ]


def test_another_suffix_raises_and_names_the_three(chart: Chart, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\.pdf, \.svg or \.png.*fig\.jpg"):
        chart.save(tmp_path / "fig.jpg")
    assert list(tmp_path.iterdir()) == []


def test_a_read_only_target_raises_and_keeps_the_old_files(chart: Chart, tmp_path: Path) -> None:
    chart.save(tmp_path / "fig.svg")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    (tmp_path / "fig.alt.txt").chmod(0o444)
    with pytest.raises(PermissionError, match="read-only"):
        figures.forest(hand.run_a()).save(tmp_path / "fig.svg")
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_table_of_the_readers_own_is_not_overwritten(chart: Chart, tmp_path: Path) -> None:
    (tmp_path / "results.csv").write_text("my data")
    with pytest.raises(FileExistsError, match=r"results\.csv"):
        chart.save(tmp_path / "results.pdf")
    assert [path.name for path in tmp_path.iterdir()] == ["results.csv"]


def test_a_chart_is_frozen_and_pyplot_is_not_loaded_for_it(chart: Chart) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        chart.alt = "x"  # type: ignore[misc]
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or pyplot.get_fignums() == []


def test_latex_is_a_whole_figure_with_an_escaped_caption() -> None:
    chart = Chart(Figure(), pd.DataFrame(), "alt", "15 % of a_b & c$")
    text = chart.latex(label="fig:one", path="out/one.pdf")
    assert "\\caption{15 \\% of a\\_b \\& c\\$}" in text
    assert text.startswith("\\begin{figure}\n") and text.endswith("\\end{figure}\n")
    assert "\\label{fig:one}" in text and "{out/one.pdf}" in text
    assert "\\label" not in chart.latex() and "figure*" in chart.latex(star=True)
    for wrong in ("a}b", "a b", "%"):
        with pytest.raises(ValueError, match="letters, digits"):
            chart.latex(label=wrong)
