"""`overhead`: what a mode costs in time or tokens, case by case, as quantiles of the
differences.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from ..count.cube import check_columns, cube, filled, find_mode, labels, modes_of
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
    cluster: a column whose cases may be alike, or two crossed columns (the wider limits count);
        None takes what was declared with the data.
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
    keys = [key for key in unit.keys if key != "case_id"]
    rows = []
    for one in wanted or [name for name in there if name != base]:
        shared = {"metric": SYMBOLS.get(column, column), "mode_a": one, "mode_b": base}
        for row in of_pair(runs, column, base, one, asked, per, keys, level):
            rows.append(shared | row)
    return made("overhead", rows, level=level, unit=unit.name, source=runs.source)


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
    pairs, alone, neither = differences(runs, "" if why else column, baseline, mode, per, keys)
    n = int(pairs["case_id"].nunique())
    if not why and not n:
        why = REASONS.get(column, f"no case has {column} in both modes")
    once = len(pairs) == n and not keys
    left = f"{neither} case{'s have' if neither > 1 else ' has'} no {column} in either mode"
    rows = []
    for q in quantiles:
        row = {"quantity": f"p{number(100 * q)} per {per}", "quantile": q, "n_pairs": n}
        row |= {"unpaired": alone, "state": "none" if why else "ok", "why": why}
        row["method"] = "order statistics" if once else "Woodruff, by unit"
        results: list[Any] = [
            quantile_units(pairs["value"], pairs["weight"], pairs[key], q, level=level)
            for key in keys or ["case_id"]
        ]
        if once:
            results = [paired_quantile(pairs["value"], q, level=level)]
        ends = [(result.low, result.high) for result in results]
        if not why:
            row["value"] = results[0].value
            row["low"], row["high"] = np.min(ends, axis=0)[0], np.max(ends, axis=0)[1]
        notes = [f"not computable: {why}" if why else results[0].note, left if neither else ""]
        row["note"] = "; ".join(filter(None, [*notes, "" if runs.checked else UNCHECKED]))
        rows.append(row)
    return rows


def differences(
    runs: Outcomes, column: str, baseline: str, mode: str, per: str, keys: Sequence[str]
) -> tuple[pd.DataFrame, int, int]:
    """All pairs of runs of a case (or its means) with `value`, `weight` and unit; and how many
    cases have the number in one of the modes only, and in neither. Without a column there are none.
    """
    if not column:
        return pd.DataFrame(columns=["case_id", "value", "weight", *keys], dtype=float), 0, 0
    rows = runs.table.filter(nw.col("mode").is_in([baseline, mode])).select(
        "case_id", "mode", *labels(runs, keys), nw.col(column).cast(nw.Float64).alias("_value")
    )
    table = filled(pandas_of(rows), keys)
    known = table.dropna(subset="_value")
    if per == "case":
        known = known.groupby(["case_id", "mode", *keys], as_index=False)["_value"].mean()
    first, second = (known[known["mode"] == name] for name in (mode, baseline))
    pairs = first.merge(second[["case_id", "_value"]], on="case_id").sort_values("case_id")
    value = pairs["_value_x"] - pairs["_value_y"]
    size = pairs.groupby("case_id")["case_id"].transform("size")
    cases, some = table["case_id"].nunique(), known["case_id"].nunique()
    pairs = pairs.assign(value=value, weight=1 / size)
    return pairs, some - pairs["case_id"].nunique(), cases - some


def not_computable(runs: Outcomes, column: str, baseline: str, mode: str) -> str:
    """The reason that rules the difference out before anything is counted; empty when there is
    none.
    """
    have = runs.columns
    if "case_id" not in have:
        return "a table of counts has no cases to pair"
    if column not in have and column in REASONS:
        return f"{REASONS[column]}; the record has no column {column}"
    check_columns(runs, [column], "column")
    if not runs.table.collect_schema()[column].is_numeric():
        raise ValueError(f"{column} holds no numbers")
    two = runs.where(mode=[baseline, mode])
    if not runs.pooled and "suite_version" in have:
        cells = cube(two, ["mode", "suite_version"], [])
        suites = cells.groupby("mode")["suite_version"].unique().map(sorted)
        if cells["suite_version"].nunique() > 1:
            words = ", ".join(f'"{name}" {" and ".join(suites[name])}' for name in (baseline, mode))
            return f"suite versions differ ({words}); runs.pool_versions() accepts them"
    if "cache_hits" in have:
        cached = two.table.select(nw.col("cache_hits").cast(nw.Float64).max().alias("most"))
        if pandas_of(cached)["most"].fillna(0).iloc[0] > 0:
            return f"cached answers make {column} meaningless (cache_hits above 0 in these modes)"
    return ""
