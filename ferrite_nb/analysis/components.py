"""`components`: where the variance of a rate comes from, and what more of it would bring."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from ..count.cube import check_columns, filled, find_mode, labels, modes_of, row_masks
from ..metrics import Metric
from ..metrics import metric as find_metric
from ..outcomes.frames import pandas_of
from ..outcomes.table import Outcomes
from ..schema import Table, made
from ..stats._check import level_of
from ..stats.components import Confounded
from ..stats.components import components as variance_components
from .unit import listed, unit_of

METHOD = "Henderson 1"


def components(
    runs: Outcomes,
    metric: str = "ASR",
    facets: str | Iterable[str] | None = None,
    *,
    mode: str | Iterable[str] | None = None,
    level: float = 0.95,
) -> Table:
    """How much each facet (template, case, judge, repeat) adds to the error of a rate, by mode.

    Parameters
    ----------
    metric: an event of a case (ASR, CR, task success, ...).
    facets: columns, crossed or nested; None takes the declared cluster, and the case where cases
        ran several times. What varies from row to row within them is the facet "repeat".
    mode: one mode or several; None is all, each by itself.
    level: confidence level of the limits.

    Returns
    -------
    Table with `facet`, `metric`, `mode`, `levels`, `share` (of the variance of the rate, from 0 to
    1), `doubled` (how much narrower the interval gets with twice the levels: 0.23 is 23 %) with
    `low` and `high`, which are about right, `state`, `why`, `note` and the facts.

    Not computable when
    -------------------
    nothing varies, or these rows cannot tell the facets apart: `state` is "none" and `why` says so.
    With fewer than five levels of a facet its `state` is "few".

    Raises
    ------
    ValueError: an unknown metric, mode or column, no facet, or a metric that is not counted in
        rows.

    Source
    ------
    Henderson 1953, Biometrics 9:226, method 1.

    Example
    -------
    >>> import ferrite_nb as fnb
    >>> runs = fnb.read(fnb.data("ferrite_run_b.csv"))
    >>> table = fnb.components(runs, "ASR", ["template"], mode="LoopOnly")
    >>> table[["facet", "levels"]].values.tolist()
    [['template', 176], ['repeat', 787]]
    """
    wanted, level, names = find_metric(metric), level_of(level), listed(facets)
    if wanted.counted != "rows":
        raise ValueError(f"{wanted.symbol} is not counted in rows, so no facet of them varies")
    if facets is None:
        unit = unit_of(runs)
        names = list(dict.fromkeys([*unit.keys, *(["case_id"] if unit.repeats else [])]))
    if not names or "mode" in names:
        raise ValueError("name at least one facet, such as facets=['template']; never the mode")
    names, modes = check_columns(runs, names, "facets"), modes_of(runs)
    chosen = modes if mode is None else [find_mode(modes, name) for name in listed(mode)]
    table = outcomes_of(runs, wanted, names)
    rows: list[dict[str, Any]] = []
    for name in chosen:
        part = table[table["mode"] == name]
        more = {"metric": wanted.symbol, "mode": name}
        rows += [row | more for row in facet_rows(part, names, level)]
    return made("components", rows, level=level, method=METHOD, unit="row", source=runs.source)


def outcomes_of(runs: Outcomes, metric: Metric, names: list[str]) -> pd.DataFrame:
    """One row per outcome of the metric's population: mode, facets, `known` and `event`."""
    population, known, event = row_masks(metric, runs.columns)
    columns = list(dict.fromkeys(["mode", *names]))
    rows = runs.table.filter(population)
    rows = rows.select(*labels(runs, columns), known.alias("known"), event.alias("event"))
    return filled(pandas_of(rows), columns)


def facet_rows(part: pd.DataFrame, names: list[str], level: float) -> list[dict[str, Any]]:
    """The rows of one mode: a facet each, or the reason for none."""
    known = part[part["known"].astype(bool)]
    lost = len(part) - len(known)
    sizes = {name: known[name].nunique() for name in names}
    several = {name: known[name].to_numpy() for name in names if sizes[name] > 1}
    rows = [_none(name, size, "one level only") for name, size in sizes.items() if size < 2]
    if not several:
        return rows
    outcome = known["event"].to_numpy(dtype="float64")
    single = any(size == len(known) for size in sizes.values())
    try:
        found = variance_components(outcome, several, repeat=not single, level=level)
    except Confounded as problem:
        return rows + [_none(name, sizes[name], str(problem)) for name in several]
    notes = [f"{lost} rows without a known outcome are left out" if lost else "", found.note]
    for name, share in found.share.items():
        row = {"facet": name, "levels": found.levels[name], "share": share, "state": "ok"}
        row |= {end: getattr(found, end)[name] for end in ("doubled", "low", "high")}
        row["note"] = "; ".join(filter(None, notes))
        if pd.isna(share):
            row |= _none(name, found.levels[name], "nothing varies here")
        elif found.few[name]:
            row |= {"state": "few", "why": f"{found.levels[name]} levels, fewer than 5"}
        rows.append(row)
    return rows


def _none(name: str, levels: int, why: str) -> dict[str, Any]:
    why = why if levels else "no known outcome"
    row = {"facet": name, "levels": levels, "state": "none", "why": why}
    return row | {"note": f"not computable: {why}"}
