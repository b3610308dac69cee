"""Statistics: numbers in, numbers out.

No routine here sees a table of outcomes, prints, draws or rounds. Each is loaded when it is first
asked for, so that importing this package costs no more than numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# `trend` is a routine and a module. Bound here, at once, the routine wins: bound later, it would be
# hidden by the module as soon as somebody imports that.
from .trend import cmh, cochrans_q, seed_spread, trend

if TYPE_CHECKING:
    from .bootstrap import bootstrap_mean, bootstrap_pairs, bootstrap_proportion
    from .clusters import cluster_mean, clustered_interval, crossed_interval, design_effect
    from .design import (
        cluster_effect,
        clustered_counts,
        clustered_pass,
        expected_best,
        holm_power,
        within_attempts,
    )
    from .detection import alerts, auc, auc_difference, tpr_at_fpr
    from .intervals import exact_test, interval, limit, missing_bounds
    from .judge import double_sample, garak_interval, judge_validation, kappa, rogan_gladen
    from .looks import at_least_once, repeated_looks, repeated_tests
    from .pairs import (
        cohens_h,
        difference,
        holm,
        mcnemar,
        paired_difference,
        paired_quantile,
        repeated_pairs,
        sign_flip,
    )
    from .planning import (
        largest_k,
        mcnemar_power,
        n_for_h,
        n_for_half_width,
        n_for_zero_events,
        operating_curve,
        power_h,
        smallest_discordant,
        smallest_k,
    )
    from .programme import (
        gates_together,
        n_for_gate,
        nested_gates,
        passing_rate,
        possible_counts,
        smallest_n,
    )

__all__ = [
    "alerts",
    "at_least_once",
    "auc",
    "auc_difference",
    "bootstrap_mean",
    "bootstrap_pairs",
    "bootstrap_proportion",
    "cluster_effect",
    "cluster_mean",
    "clustered_counts",
    "clustered_interval",
    "clustered_pass",
    "cmh",
    "cochrans_q",
    "cohens_h",
    "crossed_interval",
    "design_effect",
    "difference",
    "double_sample",
    "exact_test",
    "expected_best",
    "garak_interval",
    "gates_together",
    "holm",
    "holm_power",
    "interval",
    "judge_validation",
    "kappa",
    "largest_k",
    "limit",
    "mcnemar",
    "mcnemar_power",
    "missing_bounds",
    "n_for_gate",
    "n_for_h",
    "n_for_half_width",
    "n_for_zero_events",
    "nested_gates",
    "operating_curve",
    "paired_difference",
    "paired_quantile",
    "passing_rate",
    "possible_counts",
    "power_h",
    "repeated_looks",
    "repeated_pairs",
    "repeated_tests",
    "rogan_gladen",
    "seed_spread",
    "sign_flip",
    "smallest_discordant",
    "smallest_k",
    "smallest_n",
    "tpr_at_fpr",
    "trend",
    "within_attempts",
]

_MODULES = {
    "bootstrap": ("bootstrap_mean", "bootstrap_pairs", "bootstrap_proportion"),
    "clusters": ("cluster_mean", "clustered_interval", "crossed_interval", "design_effect"),
    "design": (
        "cluster_effect",
        "clustered_counts",
        "clustered_pass",
        "expected_best",
        "holm_power",
        "within_attempts",
    ),
    "detection": ("alerts", "auc", "auc_difference", "tpr_at_fpr"),
    "intervals": ("exact_test", "interval", "limit", "missing_bounds"),
    "judge": ("double_sample", "garak_interval", "judge_validation", "kappa", "rogan_gladen"),
    "looks": ("at_least_once", "repeated_looks", "repeated_tests"),
    "pairs": (
        "cohens_h",
        "difference",
        "holm",
        "mcnemar",
        "paired_difference",
        "paired_quantile",
        "repeated_pairs",
        "sign_flip",
    ),
    "planning": (
        "largest_k",
        "mcnemar_power",
        "n_for_h",
        "n_for_half_width",
        "n_for_zero_events",
        "operating_curve",
        "power_h",
        "smallest_discordant",
        "smallest_k",
    ),
    "programme": (
        "gates_together",
        "n_for_gate",
        "nested_gates",
        "passing_rate",
        "possible_counts",
        "smallest_n",
    ),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load the module of a routine when the routine is first used."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    routine = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = routine
    return routine


def __dir__() -> list[str]:
    """The routines, loaded or not."""
    return sorted(set(globals()) | set(__all__))
