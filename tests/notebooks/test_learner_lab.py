"""The learner's lab is made from the solved one; blanks stop nothing, and the solved one passes
every check.
"""

from __future__ import annotations

import importlib.util
import re
from typing import Any

import nbformat

from .lesson import FOLDER, executed

SOLVED, LEARNER = FOLDER / "lab_chapter_29_solutions.ipynb", FOLDER / "lab_chapter_29.ipynb"
EXERCISES = ["EX085", "EX086", "EX087", "X10"]


def script() -> Any:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location(
        "learner", FOLDER.parent / "scripts" / "make_learner_lab.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_learners_lab_is_not_stale() -> None:
    made = script().learner(SOLVED.read_text(encoding="utf-8"))
    assert made.encode() == LEARNER.read_bytes(), "run: python scripts/make_learner_lab.py"


def test_a_change_of_the_solved_lab_makes_it_stale() -> None:
    changed = SOLVED.read_text(encoding="utf-8").replace("EX085", "EX084", 1)
    assert script().learner(changed).encode() != LEARNER.read_bytes()


def test_blanks_and_places_to_write_stand_where_the_solutions_were() -> None:
    solved, learner = (nbformat.read(path, as_version=4).cells for path in (SOLVED, LEARNER))
    assert [cell.id for cell in solved] == [cell.id for cell in learner]
    tagged = [
        (a, b)
        for a, b in zip(solved, learner, strict=True)
        if "solution" in a.metadata.get("tags", [])
    ]
    blanks = [b.source for _, b in tagged if b.cell_type == "code"]
    assert blanks == ["answer = None  # your answer"] * len(EXERCISES)
    assert all(
        b.source.startswith("*Write your answer here")
        for _, b in tagged
        if b.cell_type == "markdown"
    )
    assert all("tags" not in cell.metadata for cell in learner)
    assert "Sample answers" not in "".join(cell.source for cell in learner)


def test_every_solution_is_right() -> None:
    lines = "\n".join(executed(SOLVED).lines())
    for exercise in EXERCISES:
        assert f"✔ {exercise}: right." in lines
    assert f"{len(EXERCISES)} of {len(EXERCISES)} right." in lines


def test_the_blank_lab_prints_what_is_still_open() -> None:
    lines = "\n".join(executed(LEARNER).lines())
    for exercise in EXERCISES:
        assert f"○ {exercise}: not answered yet." in lines
    assert f"0 of {len(EXERCISES)} right; still open: " in lines
    assert "✔" not in lines and "✘" not in lines
    assert "right so far: off; still open: on." in lines


def test_the_counts_of_the_lucky_seed_are_printed() -> None:
    lines = "\n".join(executed(SOLVED).lines())
    for wanted in (
        "both 57, only Off 48, only On 0, neither 195",
        "✔ LAB: right.",
        "36/300 to 61/300",
        "1921/2000",
        "43/2000",
        "2.4%",
    ):
        assert wanted in lines
    assert re.search(
        r"SD of five seeds 0\.0170; binomial SD of one run at the truth 0\.0230", lines
    )
