"""The control of each lesson, moved once: the figure, the numbers in words and the alt text change
together.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from .jupyter import Notebook, Server

# notebook, control, place of the drawing, the choice (None: one step of a slider), a text before
# and a text after
MOVES = [
    ("00_start_here", "metric", "figure", "CR", "63/787", "724/787"),
    ("01_raw_outcomes", "metric", "drawing", "ASR over delivered", "0/100", "0/4"),
    ("02_wilson_intervals", "k", "one-interval", "1", "3/20 = 0.150", "1/20 = 0.050"),
    ("03_paired_modes", "c", "drawing", None, "b 48, c 0", "b 49, c 1"),
    ("04_scope_gradient", "strata", "drawing", "carrier", "0/5", "431/527"),
    ("05_limits", "cluster", "drawing", "template", "121/787 [13.0, 18.1]", "121/787 [5.4, 36.8]"),
]


@pytest.mark.parametrize(
    ("name", "control", "place", "choice", "before", "after"), MOVES, ids=[one[0] for one in MOVES]
)
def test_a_choice_changes_figure_numbers_and_alt_text(
    notebook: Notebook,
    server: Server,
    notebooks: Path,
    *,
    name: str,
    control: str,
    place: str,
    choice: str | None,
    before: str,
    after: str,
) -> None:
    notebook.open(server.put(notebooks / f"{name}.ipynb", f"moved_{name}.ipynb"))
    notebook.run_all(120)
    assert before in notebook.alt(place)
    old, words = notebook.source(place), notebook.words("sentence" if place == "figure" else place)
    if choice is None:
        notebook.part(control).locator(".noUi-handle").press("ArrowRight")
        notebook.redrawn(place, old)
    else:
        notebook.choose(control, choice, shown=place)
    assert after in notebook.alt(place)
    assert before not in notebook.alt(place)
    expect(notebook.part("sentence" if place == "figure" else place)).not_to_have_text(words)
    assert notebook.stderr() == []
