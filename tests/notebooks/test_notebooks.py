"""Every notebook: its shape as it lies in the project, and what a reader sees after Run All in a
fresh kernel.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat
import pytest

import ferrite_nb as fnb

from .expected import PRINTS
from .lesson import FOLDER, NOTEBOOKS, executed, holds, lines_of, run, text_of

LABS = {
    "lab_chapter_29",
    "lab_chapter_29_solutions",
}  # a lab repeats a chapter's exercises: longer than a lesson
LESSONS = [path for path in NOTEBOOKS if path.stem not in LABS]

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
every_lesson = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)


def test_the_notebooks_are_those_that_are_expected() -> None:
    assert {path.stem for path in NOTEBOOKS} == set(PRINTS)


# --- shape: read only
# -----------------------------------------------------------------------------------------------


def cells(path: Path, kind: str) -> list[str]:
    """The sources of the cells of one kind."""
    return [
        text_of(cell.source)
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == kind
    ]


def prose(path: Path) -> str:
    return "\n\n".join(cells(path, "markdown"))


def headings(path: Path) -> list[tuple[int, str]]:
    found = re.findall(r"^(#{1,6})\s+(.+)$", prose(path), flags=re.MULTILINE)
    return [(len(marks), text.strip()) for marks, text in found]


@every_notebook
def test_kernel_is_python3(path: Path) -> None:
    assert nbformat.read(path, as_version=4).metadata.kernelspec.name == "python3"


@every_notebook
def test_one_h1_and_no_skipped_level(path: Path) -> None:
    levels = [level for level, _ in headings(path)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


@every_notebook
def test_first_sentence_is_a_question(path: Path) -> None:
    opening = "\n".join(line for line in prose(path).splitlines() if line.strip())
    first = opening.splitlines()[1]
    assert re.match(r"[^.!]*\?", first), first


@every_notebook
def test_header_card_says_what_who_how_long_and_which_data(path: Path) -> None:
    card = "\n".join(line for line in prose(path).splitlines() if line.startswith("|")).lower()
    for entry in ("you will be able to", "you need first", "minutes", "data"):
        assert entry in card
    assert re.search(r"real|reconstructed|synthetic|simulated|no data|none", card)


@every_notebook
def test_contents_are_links_when_there_are_more_than_three_headings(path: Path) -> None:
    if len(headings(path)) > 3:
        assert re.search(r"\]\(#[^)]+\)", prose(path))


@every_notebook
def test_contents_links_lead_somewhere(path: Path) -> None:
    anchors = {re.sub(r"\s+", "-", re.sub(r"[`*_]", "", text)) for _, text in headings(path)}
    links = re.findall(r"\]\(#([^)]+)\)", prose(path))
    assert [link for link in links if link not in anchors] == []


@every_notebook
def test_set_up_cell_and_its_sentence(path: Path) -> None:
    assert "import ferrite_nb as fnb" in cells(path, "code")[0]
    assert "fnb.__version__" in cells(path, "code")[0]
    assert "Run > Run All Cells" in prose(path) + cells(path, "code")[0]


@every_notebook
def test_reader_predicts_before_running(path: Path) -> None:
    assert re.search(r"^fnb\.lab\.predict\(\"\w+\"\)$", "\n".join(cells(path, "code")), flags=re.M)


@every_notebook
def test_claims_that_may_and_may_not_be_made(path: Path) -> None:
    for title in ("claims you may make", "claims you may not make"):
        found = re.search(rf"^#+ {title}$(.*?)(?=^#|\Z)", prose(path), flags=re.I | re.M | re.S)
        assert found, title
        points = re.findall(r"^(?:[-*]|\d+\.)\s", found.group(1), flags=re.M)
        assert 3 <= len(points) <= 5, (title, len(points))


@every_notebook
def test_ends_with_try_it_and_a_summary(path: Path) -> None:
    titles = " | ".join(text.lower() for _, text in headings(path))
    assert "try it" in titles
    assert "in this notebook" in prose(path).lower()


@every_notebook
def test_no_magic_and_no_shell(path: Path) -> None:
    assert [
        code for code in cells(path, "code") if re.search(r"^\s*[%!]", code, flags=re.MULTILINE)
    ] == []


@every_notebook
def test_cells_are_short(path: Path) -> None:
    lengths = {
        code: len([line for line in code.splitlines() if line.strip()])
        for code in cells(path, "code")
    }
    assert [code for code, length in lengths.items() if length > 10] == []
    body = r"^def .*\n(?:[ \t]+.*(?:\n|\Z)){7,}"
    assert [code for code in lengths if re.search(body, code, flags=re.MULTILINE)] == []


@every_lesson
def test_one_idea_a_notebook(path: Path) -> None:
    code = [line for cell in cells(path, "code") for line in cell.splitlines() if line.strip()]
    words = re.findall(r"\b\w[\w'-]*\b", re.sub(r"^\|.*$", "", prose(path), flags=re.MULTILINE))
    assert len(nbformat.read(path, as_version=4).cells) <= 35
    assert len(code) <= 80
    assert len(words) <= 1200


@every_notebook
def test_ids_are_unique_and_no_path_is_typed(path: Path) -> None:
    ids = [cell.id for cell in nbformat.read(path, as_version=4).cells]
    assert len(set(ids)) == len(ids)
    code = "\n".join(cells(path, "code"))
    assert not re.search(r"""['"](?:\.\./|/)[\w./-]+['"]""", code)
    assert "://" not in code


# --- after Run All
# --------------------------------------------------------------------------------------------------


@every_notebook
def test_runs_from_the_top_and_leaves_no_file(path: Path) -> None:
    assert (
        executed(path).left == frozenset()
    )  # the run itself allows each cell 120 s; nothing is timed here


@every_notebook
def test_no_cell_writes_to_stderr(path: Path) -> None:
    streams = [
        output for _, output in executed(path).outputs() if output["output_type"] == "stream"
    ]
    assert [text_of(output["text"]) for output in streams if output["name"] == "stderr"] == []


@every_notebook
def test_prints_what_it_must(path: Path) -> None:
    lines = executed(path).lines()
    missing = [
        wanted for wanted in PRINTS[path.stem] if not any(holds(line, wanted) for line in lines)
    ]
    assert missing == []


class Images(HTMLParser):
    """The alt texts of the images of a piece of HTML."""

    def __init__(self) -> None:
        super().__init__()
        self.alts: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "img":
            self.alts.append(dict(attrs).get("alt") or "")


def alts(output: Any) -> list[str]:
    parser = Images()
    parser.feed(text_of(output.get("data", {}).get("text/html")))
    return parser.alts


def has_figure(output: Any) -> bool:
    return "image/png" in output.get("data", {}) or bool(alts(output))


@every_notebook
def test_every_image_has_a_twin_with_alt_text(path: Path) -> None:
    figures = [output for _, output in executed(path).outputs() if has_figure(output)]
    assert [
        output for output in figures if len(alts(output)) != 1 or len(alts(output)[0]) < 20
    ] == []


@every_notebook
def test_a_table_follows_each_figure(path: Path) -> None:
    outputs = executed(path).outputs()
    bare = []
    for place, (number, output) in enumerate(outputs):
        if has_figure(output):
            later = [later for cell, later in outputs[place:] if cell - number <= 2]
            if not any("<table" in text_of(one.get("data", {}).get("text/html")) for one in later):
                bare.append(number)
    assert bare == []


@every_notebook
def test_no_output_is_large(path: Path) -> None:
    sizes = [
        len(text_of(value))
        for _, output in executed(path).outputs()
        for kind, value in output.get("data", {}).items()
        if "json" not in kind
    ]
    assert max(sizes, default=0) <= 200_000


LEVEL = re.compile(
    r"\d[\d.]*\s*%\s*(?=interval|confidence|CI\b|level|Wilson|limit|upper|lower|band)",
    re.IGNORECASE,
)
THRESHOLD = re.compile(
    r"(?:[<>≤≥]=?|at most|at least|requirement(?: of)?|power|threshold)\s*\d[\d.]*\s*%",
    re.IGNORECASE,
)
SUPPORTED = re.compile(r"\d\s*/\s*\d|\d of \d|\[[^\]]*\d[^\]]*\]")


@pytest.mark.parametrize(
    ("line", "bare"),
    [
        ("ASR 15.0%", True),
        ("30/200 = 15.0% [10.7, 20.6]", False),
        ("95% interval", False),
        ("pass: at most 2%", False),
    ],
)
def test_what_a_bare_percentage_is(line: str, bare: bool) -> None:
    assert bool(bare_percentages([line])) is bare


def bare_percentages(lines: list[str]) -> list[str]:
    """Lines with a percentage that has neither counts nor bounds beside it."""
    return [
        line
        for line in lines
        if re.search(r"\d\s*%", THRESHOLD.sub("", LEVEL.sub("", line)))
        and not SUPPORTED.search(line)
    ]


@every_notebook
def test_no_bare_percentage_is_printed(path: Path) -> None:
    assert bare_percentages(executed(path).lines()) == []


def test_start_notebook_takes_the_readers_own_file() -> None:
    seen = run(FOLDER / "00_start_here.ipynb", FERRITE_RESULTS=str(fnb.data("ferrite_run_a.csv")))
    assert any("run_a" in line for line in seen.lines())


def test_lines_of_a_chart_are_its_words_not_its_picture() -> None:
    output = {
        "output_type": "display_data",
        "data": {"image/png": "AAAA", "text/html": "<p>30/200</p>"},
    }
    assert list(lines_of(output)) == ["30/200"]
