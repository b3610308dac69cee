"""Notebooks as a reader has them: run from the menu, a control moved, read aloud, opened again
without a kernel.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

from .jupyter import Notebook, Server
from .test_notebook_widgets import MOVES

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))
# The learner's lab has the cells of the solved one; the rest is moved, and its numbers are read,
# with the widgets.
OTHERS = [
    path for path in NOTEBOOKS if path.stem not in {"lab_chapter_29", *(move[0] for move in MOVES)}
]
CONTROLS = ".jp-OutputArea :is(.widget-dropdown, .widget-slider, .widget-checkbox, .widget-select)"


def test_every_notebook_is_moved_here_or_there() -> None:
    assert len(OTHERS) + len(MOVES) + 1 == len(NOTEBOOKS)
    assert OTHERS


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.stem)
def test_runs_and_its_control_changes_what_is_shown(
    notebook: Notebook, server: Server, path: Path
) -> None:
    notebook.open(server.put(path, path.name))
    notebook.run_all(120)
    controls = notebook.panel.locator(CONTROLS)
    assert controls.count() > 0, "no control is shown"
    notebook.move(controls.first)
    assert notebook.stderr() == []
    for image in notebook.panel.locator(".jp-OutputArea img").all():
        assert len(image.get_attribute("alt") or "") > 20


def test_the_outputs_of_the_start_notebook_are_accessible(
    notebook: Notebook, server: Server
) -> None:
    notebook.open(server.put(NOTEBOOKS[0], "accessible.ipynb"))
    notebook.run_all(120)
    found = Axe().run(notebook.page, ".jp-NotebookPanel .jp-OutputArea").response["violations"]
    assert [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found] == []


def test_a_notebook_without_its_kernel_keeps_what_does_not_move(
    notebook: Notebook, server: Server
) -> None:
    """Saved, closed, opened again elsewhere: pictures with alt text and tables are there, controls
    are not.
    """
    notebook.open(server.put(NOTEBOOKS[0], "saved.ipynb"))
    notebook.run_all(120)
    pictures = notebook.panel.locator(
        ".jp-Cell > .jp-Cell-outputWrapper img:not(.widget-output img)"
    ).count()
    notebook.page.evaluate("() => jupyterapp.commands.execute('docmanager:save')")
    notebook.page.wait_for_function("() => !jupyterapp.shell.currentWidget.context.model.dirty")
    server.end_kernels()
    notebook.page.goto(server.url("saved.ipynb"), wait_until="domcontentloaded")
    notebook.page.wait_for_selector("#jupyterlab-splash", state="detached")
    images = notebook.panel.locator(".jp-OutputArea img")
    images.first.wait_for(timeout=30_000)
    assert images.count() >= max(1, pictures - 1)
    assert all(len(image.get_attribute("alt") or "") > 20 for image in images.all())
    assert notebook.panel.locator(".jp-OutputArea table").count() > 0
