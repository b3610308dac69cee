"""`overhead`: what a mode costs in time or tokens, case by case, as quantiles of the
differences.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from ..count.cube import cube, find_mode, labels, modes_of
from ..estimate import number
from ..outcomes.declare import pandas_of
from ..outcomes.table import UNCHECKED, Outcomes, baseline_of
from ..schema import Table, made
from ..stats._check import level_of
from ..stats.differences import paired_quantile
from ..stats.followed import quantile_units
from .unit import listed, unit_of

SYMBOLS = {"latency_ms": "dL", "tokens": "dT"}
REASONS = {
    "latency_ms": "no case has a latency in both modes",
    "tokens": "no token counts in both modes",
}


def overhead(
    runs: Outcomes,
    *,
    baseline: str | None = None,
    mode: str | Iterable[str] | None = None,
    column: str = "latency_ms",
    quantiles: float | Sequence[float] = (0.5, 0.95),
    per: str = "run",
    cluster: str | Iterable[str] | None = None,
    level: float = 0.95,
) -> Table:
    """The overhead of modes over the baseline: quantiles of the differences on the same cases.

    Parameters
    ----------
    baseline: the mode without defence, in any case of letters; None takes the one of the data.
    mode: one mode or several; None is all but the baseline.
    column: "latency_ms" (dL) or "tokens" (dT), or another number column.
    quantiles: each in (0, 1).
    per: "run": what a user waits for in one run (all pairs of runs of a case, each case with weight
        1); "case": repeats are averaged to the case first.
    cluster: a column whose cases may be alike; None takes what was declared with the data.
    level: confidence level of the interval.

    Returns
    -------
    Table with `metric`, `mode_a` (the mode), `mode_b` (the baseline), `quantity` ("p50 per run"),
    `quantile`, `value`, `low`, `high` (units of the column, signed, A minus B), `n_pairs` (cases),
    `unpaired`, `state`, `why`, `note`. An end that the number of units cannot bound is infinite.

    Not computable when
    -------------------
    no case has the number in both modes; the modes ran different suite versions; or cached answers
    make it meaningless (a column `cache_hits` above 0 in any row of the two modes). Never 0 ms for
    no pair.

    Notes
    -----
    A row with an error has no latency. Where each case ran once and no cluster is named, the value
    is the element at index floor((n - 1) q + 0.5) of the sorted differences, as the public report
    prints it, with order statistics as limits; else the limits are Woodruff's, by unit.

    Source
    ------
    David, Nagaraja 2003, Order Statistics, section 7.1; Woodruff 1952.

    Example
    -------
    >>> import pandas as pd, ferrite_nb as fnb
    >>> rows = {"case_id": ["a", "a"], "mode": ["Off", "On"], "latency_ms": [100, 250]}
    >>> fnb.overhead(fnb.outcomes(pd.DataFrame(rows)))["value"].tolist()
    [150.0, 150.0]
    """
    if per not in ("run", "case"):
        raise ValueError(f'per is "run" or "case", got {per!r}')
    if not isinstance(quantiles, int | float | Iterable):
        raise TypeError(f"quantiles are numbers such as (0.5, 0.95), got {quantiles!r}")
    asked = [quantiles] if isinstance(quantiles, int | float) else list(quantiles)
    if not asked:
        raise ValueError("quantiles names at least one quantile, such as 0.5")
    there, level = modes_of(runs), level_of(level)
    base = baseline_of(runs)[0] if baseline is None else find_mode(there, baseline, "baseline")
    wanted = [find_mode(there, one, "mode") for one in listed(mode)]
    if base in wanted:
        raise ValueError(f"mode and baseline are both {base!r}: name two modes")
    unit = unit_of(runs, cluster)
    if len(unit.keys) > 1:
        raise ValueError("overhead takes one cluster column; join two columns first")
    keys = [key for key in unit.keys if key != "case_id"]
    rows = []
    for one in wanted or [name for name in there if name != base]:
        shared = {"metric": SYMBOLS.get(column, column), "mode_a": one, "mode_b": base}
        for row in of_pair(runs, column, base, one, asked, per, keys, level):
            rows.append(shared | row)
    name = keys[0] if keys else "case"
    return made("overhead", rows, level=level, unit=name, source=runs.source)


def of_pair(
    runs: Outcomes,
    column: str,
    baseline: str,
    mode: str,
    quantiles: Sequence[float],
    per: str,
    keys: Sequence[str],
    level: float,
) -> list[dict[str, Any]]:
    """One row a quantile for one mode against the baseline."""
    why = not_computable(runs, column, baseline, mode)
    values, unpaired = ([], 0) if why else differences(runs, column, baseline, mode, per, keys)
    cases = pd.DataFrame(values, columns=["case", "unit", "weight", "value"])
    n = int(cases["case"].nunique())
    if not why and not n:
        why = REASONS.get(column, f"no case has {column} in both modes")
    lost = "" if why else without(runs, column, baseline, mode, n + unpaired)
    note = f"not computable: {why}" if why else ""
    once = len(cases) == n and not keys
    rows = []
    for q in quantiles:
        row = {"quantity": f"p{number(100 * q)} per {per}", "quantile": q, "n_pairs": n}
        row |= {"unpaired": unpaired, "state": "none" if why else "ok", "why": why}
        found: Any = (
            paired_quantile(cases["value"], q, level=level)
            if once
            else quantile_units(cases["value"], cases["weight"], cases["unit"], q, level=level)
        )
        ends = {"value": found.value, "low": found.low, "high": found.high}
        row |= ends if not why else {}
        row["method"] = "order statistics" if once else "Woodruff, by unit"
        said = [note or found.note, lost, "" if runs.checked else UNCHECKED]
        rows.append(row | {"note": "; ".join(filter(None, said))})
    return rows


def differences(
    runs: Outcomes, column: str, baseline: str, mode: str, per: str, keys: Sequence[str]
) -> tuple[list[tuple[Any, Any, float, float]], int]:
    """Case, unit, weight and difference, one entry a pair of runs (or a case); and the cases known
    in one mode only.
    """
    rows = runs.table.filter(nw.col("mode").is_in([baseline, mode])).select(
        "case_id", "mode", *labels(runs, keys), nw.col(column).cast(nw.Float64).alias("_value")
    )
    table = pandas_of(rows.filter(~nw.col("_value").is_null()))
    sides = [table[table["mode"] == name].groupby("case_id") for name in (mode, baseline)]
    if per == "case":
        first, second = (side["_value"].mean() for side in sides)
    else:
        first, second = (side["_value"].apply(np.array) for side in sides)
    shared = first.index.intersection(second.index)
    unit = table.drop_duplicates("case_id").set_index("case_id")[keys[0]] if keys else None
    found = []
    for case in sorted(shared):
        gaps = np.subtract.outer(np.atleast_1d(first[case]), np.atleast_1d(second[case])).ravel()
        mine = case if unit is None else unit[case]
        found += [(case, mine, 1 / len(gaps), float(gap)) for gap in gaps]
    return found, len(first.index.symmetric_difference(second.index))


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


def not_computable(runs: Outcomes, column: str, baseline: str, mode: str) -> str:
    """The reason that rules the difference out before anything is counted; empty when there is
    none.
    """
    have = runs.columns
    if "case_id" not in have:
        return "a table of counts has no cases to pair"
    if column not in have:
        if column in REASONS:
            return f"{REASONS[column]}; the record has no column {column}"
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
            return f"suite versions differ ({said}); runs.pool_versions() accepts them"
    if "cache_hits" in have:
        rows = runs.table.filter(nw.col("mode").is_in([baseline, mode]))
        most = pandas_of(rows.select(nw.col("cache_hits").cast(nw.Float64).max().alias("most")))[
            "most"
        ].iloc[0]
        if pd.notna(most) and most > 0:
            return f"cached answers make {column} meaningless (cache_hits above 0 in these modes)"
    return ""
