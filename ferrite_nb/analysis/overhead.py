"""`overhead`: what a mode costs in time or tokens, case by case, as quantiles of the
differences.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from ..count.cube import cube, differences, find_mode, modes_of
from ..outcomes.declare import pandas_of
from ..outcomes.table import UNCHECKED, Outcomes
from ..stats.differences import paired_quantile

REASONS = {
    "latency_ms": "no case has a latency in both modes",
    "tokens": "no token counts in both modes",
}


def overhead(
    runs: Outcomes,
    *,
    baseline: str = "Off",
    mode: str = "On",
    column: str = "latency_ms",
    quantiles: Sequence[float] = (0.5, 0.95),
    level: float = 0.95,
) -> pd.DataFrame:
    """The overhead of a mode over the baseline: quantiles of the differences on the same cases.

    Parameters
    ----------
    baseline, mode: the two modes, in any case; the difference is `mode` minus `baseline`.
    column: "latency_ms" (dL) or "tokens" (dT), or another number column.
    quantiles: each in (0, 1).
    level: confidence level of the order-statistic interval.

    Returns
    -------
    DataFrame with `quantile`, `value`, `low`, `high` (units of the column, signed), `n_pairs`,
    `unpaired`, `note`. An end that the number of pairs cannot bound is infinite, and the note says
    so.

    Not computable when
    -------------------
    no case has the number in both modes; the modes ran different suite versions; or cached answers
    make it meaningless (a column `cache_hits` above 0 in any row of the two modes). Never 0 ms for
    no pair.

    Notes
    -----
    A row with an error has no latency. Repeats are averaged to the case first. The value is the
    element at index floor((n - 1) q + 0.5) of the sorted differences, as the public report prints
    it.

    Source
    ------
    David, Nagaraja 2003, Order Statistics, section 7.1.

    Example
    -------
    >>> import pandas as pd, ferrite_nb as fnb
    >>> frame = pd.DataFrame({"case_id": ["a", "a"], "mode": ["Off", "On"], "latency_ms": [100, 250]})
    >>> fnb.overhead(fnb.outcomes(frame))["value"].tolist()
    [150.0, 150.0]
    """
    modes = modes_of(runs)
    baseline, mode = find_mode(modes, baseline, "baseline"), find_mode(modes, mode, "mode")
    if baseline == mode:
        raise ValueError(f"mode and baseline are both {mode!r}: name two modes")
    reason = not_computable(runs, column, baseline, mode)
    values: Sequence[float] | np.ndarray[Any, Any]
    values, unpaired = ([], 0) if reason else differences(runs, column, baseline, mode)
    if not reason and not len(values):
        reason = f"not computable: {REASONS.get(column, f'no case has {column} in both modes')}"
    lost = "" if reason else without(runs, column, baseline, mode, len(values) + unpaired)
    rows: list[dict[str, Any]] = []
    if not isinstance(quantiles, int | float | Iterable):
        raise TypeError(f"quantiles are numbers such as (0.5, 0.95), got {quantiles!r}")
    asked = [quantiles] if isinstance(quantiles, int | float) else list(quantiles)
    if not asked:
        raise ValueError("quantiles names at least one quantile, such as 0.5")
    for q in asked:
        found = paired_quantile(values, q, level=level)
        ends = {"value": found.value, "low": found.low, "high": found.high}
        if reason:
            ends = dict.fromkeys(ends, math.nan)
        notes = [reason or found.note, lost, "" if runs.checked else UNCHECKED]
        rows.append(
            {"quantile": q, **ends, "n_pairs": len(values), "unpaired": unpaired}
            | {"note": joined(notes)}
        )
    return pd.DataFrame(
        rows, columns=["quantile", "value", "low", "high", "n_pairs", "unpaired", "note"]
    )


def without(runs: Outcomes, column: str, baseline: str, mode: str, known: int) -> str:
    """How many cases have the number in neither mode, for they are in no count of the table."""
    rows = runs.table.filter(nw.col("mode").is_in([baseline, mode]))
    cases = int(
        pandas_of(rows.select(nw.col("case_id").n_unique().alias("cases")))["cases"].iloc[0]
    )
    left = cases - known
    return (
        f"{left} case{'s have' if left > 1 else ' has'} no {column} in either mode" if left else ""
    )


def joined(notes: Sequence[str]) -> str:
    """Notes as one text."""
    return "; ".join(note for note in notes if note)


def not_computable(runs: Outcomes, column: str, baseline: str, mode: str) -> str:
    """The reason that rules the difference out before anything is counted; empty when there is
    none.
    """
    have = runs.columns
    if "case_id" not in have:
        return "not computable: a table of counts has no cases to pair"
    if column not in have:
        if column in REASONS:
            return f"not computable: {REASONS[column]}; the record has no column {column}"
        raise ValueError(f"there is no column {column!r}; the columns are {', '.join(have)}")
    if not runs.table.collect_schema()[column].is_numeric():
        raise ValueError(f"{column} holds no numbers")
    if not runs.pooled and "suite_version" in have:
        cells = cube(runs.where(mode=[baseline, mode]), ["mode", "suite_version"], [])
        found = {
            one: sorted(part)
            for one, part in cells.groupby("mode")["suite_version"].unique().items()
        }
        if len({version for several in found.values() for version in several}) > 1:
            said = ", ".join(f"{one} {' and '.join(found[one])}" for one in (baseline, mode))
            return (
                f"not computable: suite versions differ ({said}); runs.pool_versions() accepts them"
            )
    if "cache_hits" in have:
        rows = runs.table.filter(nw.col("mode").is_in([baseline, mode]))
        most = pandas_of(rows.select(nw.col("cache_hits").cast(nw.Float64).max().alias("most")))[
            "most"
        ].iloc[0]
        if pd.notna(most) and most > 0:
            return f"not computable: cached answers make {column} meaningless (cache_hits above 0 in these modes)"
    return ""
