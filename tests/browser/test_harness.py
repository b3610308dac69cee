"""The harness itself, on a small notebook: it sees what changes, and each thing it asserts can
fail.
"""

from __future__ import annotations

import nbformat
import pytest
from playwright.sync_api import Error, expect

from .jupyter import Notebook, Server

# Every choice gives another number: otherwise a change could not be seen.
SET_UP = """\
import ipywidgets as widgets
from IPython.display import display
from matplotlib.figure import Figure
from ferrite_nb.show.chart import Chart
import pandas as pd
counts = pd.DataFrame({"model": ["a", "b"], "k": [18, 14], "n": [20, 20]})"""
DRAW = """\
def draw(model):
    row = counts[counts["model"] == model]
    figure = Figure(figsize=(4, 2)); figure.subplots().barh(row["model"], row["k"] / row["n"])
    words = f"model {model}: {row['k'].item()} of {row['n'].item()}"
    print(words); display(Chart(figure, row, words, "caption"))"""
WIDGET = """\
pick = widgets.Dropdown(options=["a", "b"], description="Model")
pick.add_class("ferrite-model")
out = widgets.interactive_output(draw, {"model": pick})
out.add_class("ferrite-plot")
widgets.VBox([pick, out])"""


def small(draw: str = DRAW, *more: str) -> nbformat.NotebookNode:
    """A notebook with one dropdown and one picture."""
    codes = [SET_UP, draw, WIDGET, *more]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in codes])
    notebook.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    return notebook


def test_a_choice_changes_picture_number_and_alt_text(notebook: Notebook, server: Server) -> None:
    notebook.open(server.put(small(), "small.ipynb"))
    notebook.run_all()
    before = notebook.picture("plot")
    assert "18 of 20" in notebook.words("plot")
    notebook.choose("model", "b", shown="plot")
    expect(notebook.part("plot")).to_contain_text("14 of 20")
    assert notebook.picture("plot") != before
    assert notebook.alt("plot") == "model b: 14 of 20"
    assert notebook.panel.get_by_role("combobox", name="Model").count() == 1
    assert notebook.stderr() == []


def test_a_stale_picture_is_found(notebook: Notebook, server: Server) -> None:
    """Negative control: the number changes, the picture does not."""
    stale = DRAW.replace('row["k"]', '0 * row["k"]').replace('row["model"]', '["x"]', 1)
    stale = stale.replace('barh(row["model"]', 'barh(["x"]')
    notebook.open(server.put(small(stale), "stale.ipynb"))
    notebook.run_all()
    with pytest.raises(Error, match="Timeout"):
        notebook.choose("model", "b", shown="plot", seconds=3)


def test_two_pictures_are_found(notebook: Notebook, server: Server) -> None:
    """Negative control: a figure that is displayed twice."""
    twice = DRAW.replace(
        'display(Chart(figure, row, words, "caption"))',
        '[display(Chart(figure, row, words, "")) for _ in "ab"]',
    )
    notebook.open(server.put(small(twice), "twice.ipynb"))
    notebook.run_all()
    with pytest.raises(AssertionError):
        notebook.source("plot")


def test_a_missing_alt_text_is_found(notebook: Notebook, server: Server) -> None:
    """Negative control: JupyterLab shows a bare figure without alt text."""
    bare = DRAW.replace('display(Chart(figure, row, words, "caption"))', "display(figure)")
    notebook.open(server.put(small(bare), "bare.ipynb"))
    notebook.run_all()
    assert notebook.alt("plot") == ""


def test_stderr_and_tracebacks_are_found(notebook: Notebook, server: Server) -> None:
    """Negative control: a cell that warns, and a cell that fails."""
    notebook.open(
        server.put(small(DRAW, "import warnings; warnings.warn('old')", "1 / 0"), "noisy.ipynb")
    )
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        notebook.run_all()
    assert "old" in "".join(notebook.stderr())


def test_the_dark_theme_leaves_the_figure_white(notebook: Notebook, server: Server) -> None:
    notebook.open(server.put(small(), "dark.ipynb"), dark=True)
    notebook.run_all()
    corner = notebook.page.evaluate(
        """() => {
          const image = document.querySelector('.ferrite-plot img');
          const canvas = Object.assign(document.createElement('canvas'), {width: 1, height: 1});
          const pen = canvas.getContext('2d');
          pen.drawImage(image, 0, 0);
          return [...pen.getImageData(0, 0, 1, 1).data];
        }"""
    )
    assert corner == [255, 255, 255, 255]
