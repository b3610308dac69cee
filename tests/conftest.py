"""What all tests share: which tests run in one worker, seeded examples, and no figure left open."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

# Properties have the same examples in each run, and no deadline: that is a fact of the machine, not
# of the code.
settings.register_profile("ferrite", deadline=None, derandomize=True)
settings.load_profile("ferrite")


def pytest_sessionstart(session: pytest.Session) -> None:
    """On a new machine matplotlib builds its list of fonts once; in a kernel it would say so on
    stderr.
    """
    import matplotlib.font_manager  # noqa: F401


def place_of(nodeid: str) -> str:
    """The part of the tests that runs in one worker: one JupyterLab for all browser tests, one run
    per notebook.
    """
    file, _, name = nodeid.partition("::")
    if file.startswith("tests/browser/"):
        return "browser"
    if file == "tests/notebooks/test_notebooks.py" and "[" in name:
        return name.partition("[")[2]
    return file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """For `-n 2 --dist loadscope`: whole parts instead of modules."""
    from xdist.scheduler import LoadScopeScheduling

    class Parts(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return place_of(nodeid)

    return Parts(config, log) if config.getvalue("dist") == "loadscope" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests are marked, and slow parts come first, so that two workers end together."""
    slow = ["tests/browser/", "tests/notebooks/", "tests/test_spark"]
    for item in items:
        if item.nodeid.startswith("tests/browser/"):
            item.add_marker("browser")
    items.sort(
        key=lambda item: next(
            (rank for rank, part in enumerate(slow) if item.nodeid.startswith(part)), 9
        )
    )


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator of the test's own, the same at each run."""
    return np.random.default_rng(0)


@pytest.fixture(autouse=True)
def no_open_figures() -> Iterator[None]:
    """The package draws on its own figures; one registered with pyplot would pile up in a
    session.
    """
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        left = pyplot.get_fignums()
        pyplot.close("all")
        assert not left, f"a figure was made with pyplot and left open: {left}"
