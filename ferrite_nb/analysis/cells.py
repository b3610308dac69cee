"""Cells: for each metric and stratum the counts, and the reason where there is nothing to count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ..count.cube import (
    NO_VALUE,
    amount_counts,
    case_counts,
    check_columns,
    cube,
    find_mode,
    grouped,
    masks,
    modes_of,
    name_of,
    need_outcomes,
    tally,
    trace_counts,
    versions,
)
from ..estimate import bracket
from ..metrics import METRICS, Metric, recorded
from ..metrics import metric as find_metric
from ..order import mode_key, ordered_modes, ordered_strata
from ..outcomes.contract import OutcomesError
from ..outcomes.table import UNCHECKED, Outcomes, baseline_of
from .unit import Unit, listed

COUNTS = ("k", "n", "missing", "not_attempted", "unmeasurable")


def chosen_metrics(runs: Outcomes, names: str | Iterable[str] | None) -> list[Metric]:
    """The metrics asked for, or all proportions that the data support."""
    need_outcomes(runs)
    if names is None:
        # A table whose every attack failed to run still says so of its attacks.
        able = [metric for metric in recorded(runs.columns) if metric.counted != "differences"]
        return [one for one in able if one in runs.supports or one.own == {"attack_success"}]
    found = [find_metric(name) for name in listed(names)]
    for metric in found:
        if metric.counted == "differences":
            raise ValueError(
                f"{metric.symbol} is a difference between two modes, not a rate: call"
                " fnb.overhead(runs)"
            )
    return found


@dataclass(frozen=True)
class Counted:
    """All that was counted for one call: the cube, the strata kept apart, the unit, the modes.

    `parts` may hold k, n and missing of metrics that no cube gives, in finer strata: they are
    summed, not recounted.
    """

    runs: Outcomes
    cells: pd.DataFrame
    strata: list[str]
    unit: Unit
    modes: list[str]
    baseline: str
    parts: Mapping[str, pd.DataFrame] = field(default_factory=dict)

    @cached_property
    def have(self) -> list[str]:
        """The columns of the data: engines are asked once."""
        return self.runs.columns

    @cached_property
    def kinds(self) -> dict[tuple[str, str], int]:
        """The number of rows of each mode and kind."""
        sums: Counter[tuple[str, str]] = Counter()
        for mode, kind, rows in zip(
            *(self.cells[name].tolist() for name in ("mode", "kind", "rows")), strict=True
        ):
            sums[mode, kind] += rows
        return sums


def count(runs: Outcomes, wanted: Sequence[Metric], by: Sequence[str], unit: Unit) -> Counted:
    """Count once what the wanted metrics need, per stratum, mode and unit."""
    check_columns(runs, by, "by")
    strata = [*by] if "mode" in by else [*by, "mode"]
    flags = {column for metric in wanted for column in metric.columns} | {"attempted"}
    cells = cube(runs, list(dict.fromkeys([*strata, *unit.keys])), sorted(flags))
    baseline, _ = baseline_of(runs)
    return Counted(runs, cells, strata, unit, modes_of(runs), baseline)


def strata_of(counted: Counted, metric: Metric) -> list[str]:
    """The strata of a metric: a fact of the suite has no mode."""
    return (
        [name for name in counted.strata if name != "mode"]
        if metric.counted == "cases"
        else counted.strata
    )


def grid(counted: Counted, metric: Metric) -> list[dict[str, Any]]:
    """Every stratum that occurs, under every mode, in the order in which tables show them."""
    strata = strata_of(counted, metric)
    others = [name for name in strata if name != "mode"]
    _, first = grouped(counted.cells, others)
    columns = [counted.cells[name].take(first).tolist() for name in others]
    labels = list(zip(*columns, strict=True)) if columns else [()]
    modes = [mode for mode in counted.modes if not metric.only or mode_key(mode) in metric.only]
    found = [dict(zip(others, label, strict=True)) for label in labels]
    if "mode" in strata:
        found = [{**cell, "mode": mode} for cell in found for mode in modes]
    places = {
        name: places_of(name, {cell[name] for cell in found}, counted.modes) for name in strata
    }
    return sorted(found, key=lambda cell: [places[name][cell[name]] for name in strata])


def places_of(name: str, values: Iterable[str], modes: Sequence[str]) -> dict[str, int]:
    """The place of each value of a column: modes and scopes in their documented order, others in
    text order.
    """
    order = ordered_modes(values, modes) if name == "mode" else ordered_strata(name, values)
    return {value: place for place, value in enumerate(order)}


def in_order(frame: pd.DataFrame, strata: Sequence[str], modes: Sequence[str]) -> pd.DataFrame:
    """The rows of a table in the order of their strata, as `places_of` has it."""
    if not strata:
        return frame
    ranks = []
    for name in strata:
        places = places_of(name, frame[name].unique(), modes)
        ranks.append([places[value] for value in frame[name]])
    return frame.iloc[np.lexsort(ranks[::-1])].reset_index(drop=True)


def counts_of(counted: Counted, metric: Metric) -> pd.DataFrame:
    """k, n, missing and the material of notes, one row per cell of `grid` and (where wanted) per
    cluster below it.
    """
    strata = list(dict.fromkeys([*strata_of(counted, metric), *unit_for(counted, metric).keys]))
    have = counted.have
    if any(column not in have for column in metric.columns):
        return pd.DataFrame(columns=[*strata, "k", "n", "missing"])
    if metric.symbol in counted.parts:
        part, numbers = counted.parts[metric.symbol], ["k", "n", "missing"]
        sums = (
            part.groupby(strata, sort=False)[numbers].sum().reset_index()
            if strata
            else part[numbers].sum()
        )
        return sums if isinstance(sums, pd.DataFrame) else sums.to_frame().T
    if metric.counted == "cases":
        return case_counts(counted.runs, metric, strata)
    if metric.counted == "amounts":
        return amount_counts(counted.runs, metric, strata)
    if metric.counted == "traces":
        try:
            baseline = find_mode(counted.modes, counted.baseline, "baseline")
        except ValueError:
            return pd.DataFrame(columns=[*strata, "k", "n", "missing"])
        return trace_counts(counted.runs, metric, strata, baseline)
    return tally(counted.cells, metric, strata)


def unit_for(counted: Counted, metric: Metric) -> Unit:
    """The unit of a metric: segments of one case are not independent draws; a case is no cluster
    of itself.
    """
    unit = counted.unit
    if metric.counted == "amounts" and not unit.keys and not unit.counts:
        return replace(unit, keys=("case_id",))
    if metric.counted == "cases":
        return replace(unit, keys=tuple(key for key in unit.keys if key != "case_id"))
    return unit


def cells_of(counted: Counted, metric: Metric) -> tuple[list[dict[str, Any]], pd.DataFrame]:
    """The cells of a metric with their counts, suite version and reason (`why`, empty where there
    is a rate), and the counts below them (one row per unit).

    Cells are few: as plain rows they cost a fraction of what a table of them does.
    """
    strata = strata_of(counted, metric)
    below = counts_of(counted, metric)
    sums = summed(below, strata)
    told = versions(counted.cells, metric, strata)
    rows: list[dict[str, Any]] = []
    for cell in grid(counted, metric):
        labels = tuple(cell[name] for name in strata)
        row = cell | sums.get(labels, dict.fromkeys(COUNTS, 0))
        mode = row.get("mode", "")
        several = told.get(labels, [])
        why = reason(counted, metric, row, mode)
        if len(several) > 1 and not counted.runs.pooled:
            if metric.counted != "cases":
                raise OutcomesError(_mixed(counted, metric, strata, row, several), fix="versions")
            why = f"suite versions differ ({', '.join(several)}); see runs.pool_versions()"
        row["suite_version"] = ", ".join(several) if any(v != NO_VALUE for v in several) else ""
        row["why"] = why
        if why:
            row |= {"k": 0, "n": 0} | ({"missing": 0} if _inactive(metric, mode) else {})
        rows.append(row)
    return rows, below


def summed(below: pd.DataFrame, strata: Sequence[str]) -> dict[tuple[str, ...], dict[str, int]]:
    """The counts of each stratum, summed over the clusters below it."""
    groups, first = grouped(below, strata)
    numbers = {name: np.zeros(len(first), dtype="int64") for name in COUNTS}
    for name in set(COUNTS) & set(below):
        np.add.at(numbers[name], groups, below[name].to_numpy(dtype="int64"))
    labels = (
        zip(*(below[name].to_numpy(dtype=object)[first] for name in strata), strict=True)
        if strata
        else [()]
    )
    return {
        tuple(label): {name: int(values[place]) for name, values in numbers.items()}
        for place, label in enumerate(labels if len(first) else [])
    }


def _inactive(metric: Metric, mode: str) -> bool:
    return mode_key(mode) in {**metric.inactive, **metric.elsewhere}


def reason(counted: Counted, metric: Metric, row: Any, mode: str) -> str:
    """Why a cell has no rate; empty when it has metric."""
    key = mode_key(mode)
    if key in metric.elsewhere:
        return f"{metric.elsewhere[key]}"
    if metric.counted == "traces":
        if mode and key == mode_key(counted.baseline):
            return "this is the baseline mode itself"
        told = {} if counted.runs.pooled else versions(counted.cells, metric, ["mode"])
        mine, theirs = (_versions_in(told, name) for name in (mode, counted.baseline))
        if mine and theirs and mine != theirs:
            said = f"{counted.baseline} {' and '.join(theirs)}, {mode} {' and '.join(mine)}"
            return f"suite versions differ ({said}); runs.pool_versions() accepts them"
        if not row["n"]:
            return f"no benign case ran in {counted.baseline}, so there is no trace to compare with"
    if row["n"]:
        return ""
    if key in metric.inactive and not _known_in(counted, metric, mode):
        return f"{metric.inactive[key]}"
    if any(column not in counted.have for column in metric.columns):
        return f"{metric.gap}"
    if row["missing"]:
        kind = f"{metric.population.get('kind', '')} row".strip()
        return f"no {kind} has a known outcome"
    if metric.population.get("kind") == "benign":
        ran = _rows(counted, mode, kind="benign")
        return f"no benign case {'in this stratum' if ran else 'ran in this mode'}"
    if metric.population.get("kind") == "attack" and not _rows(counted, mode, kind="attack"):
        return "no attack ran in this mode"
    wanted = " and ".join(
        f"{name} {str(value).lower()}"
        for name, value in metric.population.items()
        if name != "kind"
    )
    return f"no case{' with ' + wanted if wanted else ''} in this stratum"


def _versions_in(told: Mapping[tuple[str, ...], list[str]], mode: str) -> list[str]:
    """The suite versions of a mode, found in any case; none where the mode has no row."""
    return told.get((mode,)) or next(
        (found for (name,), found in told.items() if mode_key(name) == mode_key(mode)), []
    )


def _rows(counted: Counted, mode: str, kind: str) -> int:
    return sum(
        rows
        for (other, what), rows in counted.kinds.items()
        if what == kind and mode in ("", other)
    )


def _known_in(counted: Counted, metric: Metric, mode: str) -> bool:
    """Whether any outcome of the metric's population is known in the mode."""
    _, known, _ = masks(counted.cells, metric)
    mine = counted.cells["mode"].to_numpy(dtype=object) == mode
    return bool(counted.cells["rows"].to_numpy()[known & mine].any())


def _mixed(counted: Counted, metric: Metric, strata: list[str], row: Any, found: list[str]) -> str:
    per_mode = versions(counted.cells, metric, ["mode"])
    said = "; ".join(
        f"{mode}: {', '.join(version or NO_VALUE for version in per_mode.get((mode,), ['none']))}"
        for mode in counted.modes
    )
    cell = name_of(strata, [row[name] for name in strata])
    return (
        f"{metric.symbol} in {cell} would mix suite versions ({', '.join(found)}). Versions per"
        f" mode: {said}. Choose one with runs.where(suite_version=...), keep them apart with"
        " by=[..., 'suite_version'], or accept the mix with runs.pool_versions()"
    )


def plain_notes(counted: Counted, metric: Metric, row: Any) -> list[str]:
    """What has to be said beside a rate that exists."""
    notes = []
    if metric.symbol == "CR" and row["not_attempted"]:
        notes.append(f"contained includes {row['not_attempted']} not attempted")
    if row["unmeasurable"]:
        notes.append(f"{row['unmeasurable']} attack rows not measurable, left out")
    if row["missing"]:
        span = bracket(row["floor"], row["ceiling"])
        whole = "1 unknown outcome" if row["missing"] == 1 else f"{row['missing']} unknown outcomes"
        notes.append(f"{whole}: the rate lies in {span} whatever they were")
    if metric.symbol == "FSR-proxy":
        notes.append("FSR-proxy, not FGR")
    if not counted.runs.checked:
        notes.append(UNCHECKED)
    if counted.runs.pooled:
        notes.append("suite versions pooled")
    return notes


def no_cost(chosen: Sequence[Metric]) -> Metric | None:
    """The cost metric to show as missing where none of the chosen ones is a cost; None if there is
    metric.
    """
    return None if any(metric.side == "cost" for metric in chosen) else METRICS["FGR"]
