"""What all tests share: which tests run in one worker, a seeded generator, and no figure left open."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent


def pytest_sessionstart(session: pytest.Session) -> None:
    """On a new machine matplotlib builds its list of fonts once; in a kernel it would say so on stderr."""
    import matplotlib.font_manager  # noqa: F401


@pytest.hookimpl(tryfirst=True)  # before xdist writes the groups down
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """For `--dist loadgroup`: one JupyterLab server and one Spark session for all, one file per group."""
    for item in items:
        folder = item.path.relative_to(ROOT).parts[1]
        if folder == "browser":
            item.add_marker("browser")
        if item.get_closest_marker("browser"):
            group = "browser"
        elif item.get_closest_marker("spark"):
            group = "spark"
        elif folder == "notebooks" and hasattr(item, "callspec"):
            group = str(item.callspec.id)  # each notebook runs once, for all of its tests
        else:
            group = item.path.as_posix()
        item.add_marker(pytest.mark.xdist_group(group))
    # Slow groups first, so that the two workers end together.
    items.sort(key=lambda item: item.get_closest_marker("browser") is None)


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator of the test's own, the same at each run."""
    return np.random.default_rng(0)


@pytest.fixture(autouse=True)
def no_open_figures() -> Iterator[None]:
    """The package draws on its own figures; one registered with pyplot would pile up in a session."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        left = pyplot.get_fignums()
        pyplot.close("all")
        assert not left, f"a figure was made with pyplot and left open: {left}"
