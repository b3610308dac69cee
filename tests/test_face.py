"""The face: every promised name is there, each is what it says, and the import stays light."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys
from types import ModuleType

import pandas as pd
import pytest

import ferrite_nb as fnb

VERBS = [
    "read",
    "outcomes",
    "rates",
    "compare",
    "gradient",
    "overhead",
    "limits",
    "cases",
    "gate",
    "explore",
    "judges",
    "detector",
    "roc_curve",
    "attempts",
    "components",
    "plan",
    "releases",
    "estimate",
    "metrics",
    "data",
    "const",
    "words",
]
CLASSES = ["Outcomes", "OutcomesError", "Estimate", "Labels"]
ROOMS = ["stats", "figures", "tables", "lab", "lessons"]
HEAVY = [
    "matplotlib",
    "seaborn",
    "ipywidgets",
    "IPython",
    "statsmodels",
    "scipy.stats",
    "duckdb",
    "polars",
    "pyspark",
]


def run(code: str) -> str:
    """What a fresh interpreter prints."""
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_all_lists_exactly_the_face() -> None:
    assert sorted(fnb.__all__) == sorted(VERBS + CLASSES + ROOMS)


def test_dir_shows_the_face_before_anything_is_loaded() -> None:
    shown = run("import ferrite_nb; print(*dir(ferrite_nb))").split()
    assert set(fnb.__all__) <= set(shown)


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_is_a_function_with_a_docstring(name: str) -> None:
    verb = getattr(fnb, name)
    assert inspect.isfunction(verb)
    assert verb.__name__ == name
    assert inspect.getdoc(verb)


@pytest.mark.parametrize("name", CLASSES)
def test_every_class_is_a_class_with_a_docstring(name: str) -> None:
    assert inspect.isclass(getattr(fnb, name))
    assert inspect.getdoc(getattr(fnb, name))


@pytest.mark.parametrize("name", ROOMS)
def test_every_room_is_a_module(name: str) -> None:
    assert isinstance(getattr(fnb, name), ModuleType)


def test_a_name_stays_what_it_is_after_all_modules_are_imported() -> None:
    """A module with the name of a function would hide it as soon as somebody imports the module."""
    before = {name: getattr(fnb, name) for name in fnb.__all__}
    for module in pkgutil.walk_packages(fnb.__path__, "ferrite_nb."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    after = {name: getattr(fnb, name) for name in fnb.__all__}
    assert after == before


def test_unknown_name_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match="asr"):
        fnb.asr  # noqa: B018


def test_import_loads_nothing_heavy() -> None:
    loaded = run(f"import sys, ferrite_nb; print(*[m for m in {HEAVY!r} if m in sys.modules])")
    assert loaded == ""


def test_star_import_gives_the_face() -> None:
    assert run(
        "from ferrite_nb import *; print(outcomes.__name__, rates.__name__, stats.__name__)"
    ) == ("outcomes rates ferrite_nb.stats")


def test_outcomes_error_is_a_value_error() -> None:
    assert issubclass(fnb.OutcomesError, ValueError)


def test_metrics_is_a_table_of_definitions() -> None:
    table = fnb.metrics()
    assert isinstance(table, pd.DataFrame)
    assert not table.empty


def test_data_gives_a_path_that_exists() -> None:
    path = fnb.data("ferrite_run_a.csv")
    assert path.is_absolute()
    assert path.is_file()


@pytest.mark.parametrize("name", ["ferrite_run_z.csv", "../pyproject.toml", "", "README.md"])
def test_data_with_an_unknown_name_lists_the_names(name: str) -> None:
    with pytest.raises(ValueError, match=r"ferrite_run_a\.csv"):
        fnb.data(name)


def test_data_guesses_a_misspelled_name() -> None:
    with pytest.raises(ValueError, match=r"did you mean 'ferrite_run_a\.csv'"):
        fnb.data("ferrite_run-a.csv")


def test_version_is_that_of_the_installation() -> None:
    from importlib.metadata import version

    assert fnb.__version__ == version("ferrite_nb")
