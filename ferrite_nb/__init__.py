"""Turn the raw outcomes of AI-security evaluations into numbers a careful reader can trust.

    import ferrite_nb as fnb

    runs = fnb.read("eval_report.csv")  # what was read, what was left out and why, which metrics it
    supports fnb.rates(runs)                     # every rate with k, n, both bounds, or the reason
    why there is none fnb.compare(runs)                   # two modes on the same cases
    fnb.limits(runs)                    # what this data set cannot say

Names are loaded when they are first used, so that the import costs little more than that of pandas.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# These functions share their name with their module. Bound later, the module would hide them.
from .metrics import metrics
from .outcomes import Outcomes, OutcomesError, const, outcomes, words

if TYPE_CHECKING:
    from . import lab, lessons, stats
    from .analysis.attempts import attempts
    from .analysis.compare import compare
    from .analysis.detector import detector
    from .analysis.estimate import estimate
    from .analysis.gate import gate
    from .analysis.gradient import gradient
    from .analysis.judges import judges
    from .analysis.known_judge import Labels
    from .analysis.limits import limits
    from .analysis.overhead import overhead
    from .analysis.rates import rates
    from .analysis.releases import releases
    from .bundled import data
    from .readers import read
    from .show import figures, tables
    from .show.text import Estimate
    from .widgets import explore

__version__ = "0.1.0"

__all__ = [
    "Estimate",
    "Labels",
    "Outcomes",
    "OutcomesError",
    "attempts",
    "compare",
    "const",
    "data",
    "detector",
    "estimate",
    "explore",
    "figures",
    "gate",
    "gradient",
    "judges",
    "lab",
    "lessons",
    "limits",
    "metrics",
    "outcomes",
    "overhead",
    "rates",
    "read",
    "releases",
    "stats",
    "tables",
    "words",
]

_VERBS = (
    "attempts",
    "compare",
    "detector",
    "estimate",
    "gate",
    "gradient",
    "judges",
    "limits",
    "overhead",
    "rates",
    "releases",
)
_HOME = {verb: f"ferrite_nb.analysis.{verb}" for verb in _VERBS} | {
    "Estimate": "ferrite_nb.show.text",
    "Labels": "ferrite_nb.analysis.known_judge",
    "data": "ferrite_nb.bundled",
    "explore": "ferrite_nb.widgets",
    "read": "ferrite_nb.readers",
}
_ROOMS = {
    "figures": "ferrite_nb.show.figures",
    "lab": "ferrite_nb.lab",
    "lessons": "ferrite_nb.lessons",
    "stats": "ferrite_nb.stats",
    "tables": "ferrite_nb.show.tables",
}


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        value: Any = import_module(_ROOMS[name])
    elif name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    else:
        raise AttributeError(f"module 'ferrite_nb' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
