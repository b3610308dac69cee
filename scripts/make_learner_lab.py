"""Derive the learner's lab from the solved one: `python scripts/make_learner_lab.py` writes
lab_chapter_29.ipynb.

Code cells tagged `solution` become a blank, text cells tagged `solution` (sample answers) a place
to write. Outputs and tags go. The same source gives the same bytes; a test makes the learner's
version again and compares.
"""

from __future__ import annotations

import re
from pathlib import Path

import nbformat

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
SOLVED, LEARNER = FOLDER / "lab_chapter_29_solutions.ipynb", FOLDER / "lab_chapter_29.ipynb"
LINE = re.compile(r"^(\s*\w+) = .*  # blank: (.*)$", re.MULTILINE)  # a line to be written
BLANK = "answer = None  # your answer"
PLACE = "*Write your answer here. A person grades it with the rubric above.*"


def learner(solved: str) -> str:
    """The learner's notebook, as the text of its file."""
    notebook = nbformat.reads(solved, as_version=4)
    for cell in notebook.cells:
        code = cell.cell_type == "code"
        if "solution" in cell.metadata.get("tags", []):
            cell.source = BLANK if code else PLACE
        cell.source = cell.source.replace(" (solved)\n", "\n")
        if code:
            cell.source = LINE.sub(r"\1 = None  # blank: \2", cell.source)
        cell.metadata.pop("tags", None)
        if code:
            cell.outputs, cell.execution_count = [], None
    return str(nbformat.writes(notebook)) + "\n"


if __name__ == "__main__":
    LEARNER.write_text(learner(SOLVED.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"written: {LEARNER.name}")
