"""The face of the statistics: every name is there, loads when it is used, and is explained."""

import importlib
import inspect
import pkgutil
import subprocess
import sys
import types

import pytest

from ferrite_nb import stats

CONTRACT = [
    "interval",
    "limit",
    "exact_test",
    "missing_bounds",
    "design_effect",
    "clustered_interval",
    "crossed_interval",
    "cluster_mean",
    "mcnemar",
    "holm",
    "cohens_h",
    "paired_difference",
    "difference",
    "sign_flip",
    "paired_quantile",
    "cochrans_q",
    "cmh",
    "trend",
    "seed_spread",
    "bootstrap_proportion",
    "bootstrap_pairs",
    "bootstrap_mean",
    "rogan_gladen",
    "double_sample",
    "garak_interval",
    "judge_validation",
    "kappa",
    "tpr_at_fpr",
    "auc",
    "auc_difference",
    "alerts",
    "n_for_half_width",
    "n_for_zero_events",
    "smallest_discordant",
    "mcnemar_power",
    "power_h",
    "n_for_h",
    "largest_k",
    "smallest_k",
    "operating_curve",
]


@pytest.mark.parametrize("name", stats.__all__)
def test_every_name_is_an_explained_routine(name):
    routine = getattr(stats, name)
    assert inspect.isfunction(routine) and routine.__name__ == name
    first = inspect.getdoc(routine).splitlines()[0]
    assert first.endswith(".") and len(first) > 20, f"{name} does not say what it gives"


@pytest.mark.parametrize(
    "name", sorted(set(stats.__all__) - {"cmh", "cochrans_q", "seed_spread", "trend"})
)
def test_the_first_use_of_a_routine_gives_it_as_every_later_one(name, monkeypatch):
    """Routines are loaded when they are used, all but those of `trend`, which has the name of its
    module.
    """
    routine = getattr(stats, name)
    monkeypatch.delitem(vars(stats), name, raising=False)
    assert getattr(stats, name) is routine is getattr(stats, name)


def test_the_list_of_names_is_whole_and_shown():
    assert list(stats.__all__) == sorted(set(stats.__all__))
    assert set(CONTRACT) <= set(stats.__all__)
    assert set(stats.__all__) <= set(dir(stats))


def test_no_routine_is_hidden_by_a_module_of_the_same_name():
    for module in pkgutil.iter_modules(stats.__path__):
        importlib.import_module(f"ferrite_nb.stats.{module.name}")
    for name in stats.__all__:
        assert not isinstance(getattr(stats, name), types.ModuleType), name


def test_an_unknown_name_raises():
    with pytest.raises(AttributeError, match="attribute wald"):
        _ = stats.wald


def loaded_after(code):
    """The modules that a fresh Python has loaded after the code."""
    report = f"{code}\nimport sys; print('\\n'.join(sys.modules))"
    return set(
        subprocess.run(
            [sys.executable, "-c", report], check=True, capture_output=True, text=True
        ).stdout.split()
    )


def test_importing_the_package_loads_no_statistics():
    modules = loaded_after("import ferrite_nb")
    assert not modules & {"scipy.stats", "statsmodels", "matplotlib", "seaborn", "ipywidgets"}


def test_importing_the_statistics_loads_neither_scipy_stats_nor_statsmodels():
    modules = loaded_after("import ferrite_nb.stats; ferrite_nb.stats.trend([1, 2], [9, 9])")
    assert not modules & {"scipy.stats", "statsmodels"} and "ferrite_nb.stats.trend" in modules
