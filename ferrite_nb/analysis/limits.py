"""`limits`: what this data set cannot say, each limit found from the data with its evidence in
numbers.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..count.cube import need_outcomes
from ..outcomes.table import Outcomes
from ..schema import Table, made
from . import limits_cost, limits_design, limits_outcomes, limits_record
from .evidence import Evidence
from .unit import unit_of

ORDER = {"severe": 0, "note": 1, "handled": 2, "not checked": 3}
CHECKS = (
    *limits_outcomes.CHECKS,
    *limits_design.CHECKS,
    *limits_record.CHECKS,
    *limits_cost.CHECKS,
)


def limits(runs: Outcomes, *, cluster: str | Iterable[str] | None = None) -> Table:
    """The limits of this data set: what was found, in numbers, what it changes for a reader, and
    how much.

    Parameters
    ----------
    cluster: the unit of the calls that are meant, as in `fnb.rates`; what it handles is "handled".

    Returns
    -------
    Table with `limit`, `severity`, `evidence`, `consequence`, and as data for programs `columns`
    (a tuple: the clusters to name) and `cells` (the modes or strata that are meant). Severities:
    "severe" changes what may be said, "note" has to be known, "handled" is taken care of by the
    unit of this call, "not checked" names what the data cannot show and what would show it. Severe
    limits come first. Intervals are those of `fnb.rates` with the same cluster.

    Notes
    -----
    Looked for: outcomes fixed by construction; outcomes that a rule on the labels gives; clusters;
        small strata and
    strata of one design; modes whose names look alike; unpaired cases and missing modes; rows
    without an outcome, not delivered or not measurable; mixed suite versions; identical repeats; a
    defence that refuses everything; security without cost; comparisons beyond the first; empty
    outputs counted as safe; pooled pictures that turn round. Nothing is claimed from absence: what
    the record cannot show is listed as not checked. A check that rests on a test speaks at p below
    0.001.

    Example
    -------
    >>> import pandas as pd, ferrite_nb as fnb
    >>> rows = {"case_id": [f"c{i}" for i in range(80)], "mode": "Off", "attack_success": True}
    >>> fnb.limits(fnb.outcomes(pd.DataFrame(rows))).query("severity == 'severe'")["limit"].tolist()
    ['every attack succeeds in Off']
    """
    need_outcomes(runs)
    evidence = Evidence(runs, unit_of(runs, cluster))
    found = [limit for check in CHECKS for limit in check(evidence)]
    found.sort(key=lambda limit: ORDER[limit.severity])
    return made("limits", [vars(limit) for limit in found])
