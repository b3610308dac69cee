"""The script of the figures takes its tables and its drawing from the notebook on paper figures."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from ferrite_nb import figures

from .lesson import FOLDER


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    """What the cells define."""
    place = FOLDER.parent / "scripts" / "make_figures.py"
    spec = importlib.util.spec_from_file_location("make_figures", place)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.cells()


NINE = ["budget", "forest", "gate", "gradient", "heatmap", "judge", "pairs", "plane", "roc"]


def test_the_notebook_has_a_table_for_each_figure(made: dict[str, Any]) -> None:
    assert sorted(made["tables"]) == NINE == sorted(figures.__all__)


@pytest.mark.parametrize("name", NINE)
@pytest.mark.parametrize(("width", "inches"), [("column", 3.3), ("text", 7.0)])
def test_each_is_drawn_at_both_widths(
    made: dict[str, Any], tmp_path: Path, name: str, width: str, inches: float
) -> None:
    chart = made["paper_figure"](name, width)
    assert chart.figure.get_size_inches()[0] == pytest.approx(inches, abs=0.01)
    assert chart.caption
    again = [chart.save(tmp_path / f"{name}.svg")[0].read_bytes() for _ in range(2)]
    assert again[0] == again[1]


@pytest.mark.parametrize("name", ["gate", "roc"])
def test_the_curve_stands_beside_its_table(made: dict[str, Any], name: str) -> None:
    assert not made["beside"][name]["curve"].empty
