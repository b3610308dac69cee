"""`limits`: what this data set cannot say, each limit found from the data with its evidence in
numbers.
"""

from __future__ import annotations

import pandas as pd

from ..outcomes.table import Outcomes
from . import limits_cost, limits_design, limits_outcomes, limits_record
from .evidence import CHECKS, Evidence

__all__ = ["limits"]

ORDER = {"severe": 0, "note": 1, "not checked": 2}
ROOMS = [room.__name__ for room in (limits_outcomes, limits_design, limits_record, limits_cost)]
CHECKS.sort(
    key=lambda check: ROOMS.index(check.__module__)
)  # rooms registered their checks when they were imported


def limits(runs: Outcomes) -> pd.DataFrame:
    """The limits of this data set: what was found, in numbers, what it changes for a reader, and
    how much.

    Returns
    -------
    DataFrame with `limit`, `evidence`, `consequence` and `severity`: "severe" changes what may be
        said, "note" has to
    be known, "not checked" names what the data cannot show and what would show it. Severe limits
    come first.

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
    >>> rows = pd.DataFrame({"case_id": [f"c{i}" for i in range(80)], "mode": "Off", "attack_success": True})
    >>> fnb.limits(fnb.outcomes(rows)).query("severity == 'severe'")["limit"].tolist()
    ['every attack succeeds in Off']
    """
    evidence = Evidence(runs)
    found = [one for check in CHECKS for one in check(evidence)]
    table = pd.DataFrame(
        [(one.limit, one.evidence, one.consequence, one.severity) for one in found],
        columns=["limit", "evidence", "consequence", "severity"],
        dtype="str",
    )
    return table.sort_values(
        "severity", key=lambda column: column.map(ORDER), kind="stable", ignore_index=True
    )
