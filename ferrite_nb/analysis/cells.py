"""Cells: for each metric and stratum the counts, and the reason where there is nothing to count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ..outcomes.contract import OutcomesError
from ..count.cube import (
    NO_VALUE,
    amount_counts,
    case_counts,
    check_columns,
    cube,
    find_mode,
    grouped,
    masks,
    name_of,
    need_outcomes,
    tally,
    trace_counts,
    versions,
)
from ..metrics import METRICS, Metric, metric, mode_key, ordered_modes, ordered_strata, supported
from ..outcomes.table import UNCHECKED, Outcomes

COUNTS = ("k", "n", "missing", "not_attempted", "unmeasurable")
FEW = 5  # fewer cases, or fewer independent clusters, are not read as a rate


def listed(names: str | Iterable[str] | None) -> list[str]:
    """One name or many, as a list."""
    if names is not None and not isinstance(names, Iterable):
        raise TypeError(f"a name or a list of names is needed, got {names!r}")
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def chosen_metrics(runs: Outcomes, names: str | Iterable[str] | None) -> list[Metric]:
    """The metrics asked for, or all proportions that the data support."""
    need_outcomes(runs)
    if names is None:
        return [one for one in supported(runs.columns) if one.counted != "differences"]
    found = [metric(name) for name in listed(names)]
    for one in found:
        if one.counted == "differences":
            raise ValueError(
                f"{one.symbol} is a difference between two modes, not a rate: call fnb.overhead(runs)"
            )
    return found


@dataclass(frozen=True)
class Counted:
    """All that was counted for one call: the cube, the strata kept apart, the clusters, and the
    modes in order.

    `parts` may hold k, n and missing of metrics that no cube gives, in finer strata: they are
        summed, not recounted.
    """

    runs: Outcomes
    cells: pd.DataFrame
    strata: list[str]
    cluster: list[str]
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
        found: Counter[tuple[str, str]] = Counter()
        for mode, kind, rows in zip(
            *(self.cells[name].tolist() for name in ("mode", "kind", "rows")), strict=True
        ):
            found[mode, kind] += rows
        return found

    @property
    def by_mode(self) -> bool:
        """Whether the mode is one of the strata (it always is for rates)."""
        return "mode" in self.strata


def count(
    runs: Outcomes,
    wanted: Sequence[Metric],
    by: Sequence[str],
    cluster: Sequence[str],
    baseline: str,
) -> Counted:
    """Count once what the wanted metrics need, per stratum, mode and cluster."""
    check_columns(runs, by, "by")
    check_columns(runs, cluster, "cluster")
    strata = [*by] if "mode" in by else [*by, "mode"]
    flags = {column for one in wanted for column in one.columns} | {"attempted"}
    cells = cube(runs, list(dict.fromkeys([*strata, *cluster])), sorted(flags))
    modes = ordered_modes(runs.modes or cells["mode"].unique(), runs.modes)
    return Counted(runs, cells, strata, list(cluster), modes, baseline)


def strata_of(counted: Counted, one: Metric) -> list[str]:
    """The strata of a metric: a fact of the suite has no mode."""
    return (
        [name for name in counted.strata if name != "mode"]
        if one.counted == "cases"
        else counted.strata
    )


def grid(counted: Counted, one: Metric) -> list[dict[str, Any]]:
    """Every stratum that occurs, under every mode, in the order in which tables show them."""
    strata = strata_of(counted, one)
    others = [name for name in strata if name != "mode"]
    _, first = grouped(counted.cells, others)
    columns = [counted.cells[name].take(first).tolist() for name in others]
    labels = list(zip(*columns, strict=True)) if columns else [()]
    modes = [mode for mode in counted.modes if not one.only or mode_key(mode) in one.only]
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


def counts_of(counted: Counted, one: Metric) -> pd.DataFrame:
    """k, n, missing and the material of notes, one row per cell of `grid` and (where wanted) per
    cluster below it.
    """
    strata = list(dict.fromkeys([*strata_of(counted, one), *cluster_of(counted, one)]))
    have = counted.have
    if any(column not in have for column in one.columns):
        return pd.DataFrame(columns=[*strata, "k", "n", "missing"])
    if one.symbol in counted.parts:
        part, numbers = counted.parts[one.symbol], ["k", "n", "missing"]
        sums = (
            part.groupby(strata, sort=False)[numbers].sum().reset_index()
            if strata
            else part[numbers].sum()
        )
        return sums if isinstance(sums, pd.DataFrame) else sums.to_frame().T
    if one.counted == "cases":
        return case_counts(counted.runs, one, strata)
    if one.counted == "amounts":
        return amount_counts(counted.runs, one, strata)
    if one.counted == "traces":
        try:
            baseline = find_mode(counted.modes, counted.baseline, "baseline")
        except ValueError:
            return pd.DataFrame(columns=[*strata, "k", "n", "missing"])
        return trace_counts(counted.runs, one, strata, baseline)
    return tally(counted.cells, one, strata)


def facts(counted: Counted) -> dict[str, str]:
    """What a caption has to name beside the numbers: source, suite version, the column of
    clusters.
    """
    cells = counted.cells
    told = sorted(cells["suite_version"].unique()) if "suite_version" in cells else []
    told = [version or "(none)" for version in told] if any(told) else []
    found = {
        "source": counted.runs.source,
        "cluster": " and ".join(counted.cluster),
        "suite_version": ", ".join(told),
    }
    return {name: text for name, text in found.items() if text}


def cluster_of(counted: Counted, one: Metric) -> list[str]:
    """The clusters of a metric: segments of one case are not independent draws; a case is no
    cluster of itself.
    """
    if one.counted == "amounts" and not counted.cluster and "case_id" in counted.runs.columns:
        return ["case_id"]
    return [name for name in counted.cluster if not (one.counted == "cases" and name == "case_id")]


def cells_of(counted: Counted, one: Metric) -> tuple[list[dict[str, Any]], pd.DataFrame]:
    """The cells of a metric with their counts and reasons (`note`), and the counts below them (one
    row per cluster).

    Cells are few: as plain rows they cost a fraction of what a table of them does.
    """
    strata = strata_of(counted, one)
    below = counts_of(counted, one)
    sums = summed(below, strata)
    told = versions(counted.cells, one, strata) if not counted.runs.pooled else {}
    rows: list[dict[str, Any]] = []
    for cell in grid(counted, one):
        labels = tuple(cell[name] for name in strata)
        row = cell | sums.get(labels, dict.fromkeys(COUNTS, 0))
        mode = row.get("mode", "")
        row["note"] = _reason(counted, one, row, mode)
        found = told.get(labels, [])
        if len(found) > 1 and one.counted != "cases":
            raise OutcomesError(_mixed(counted, one, strata, row, found))
        if len(found) > 1:
            row["note"] = (
                f"not computable: suite versions differ ({', '.join(found)}); see runs.pool_versions()"
            )
        if row["note"]:
            row |= {"k": 0, "n": 0} | ({"missing": 0} if _inactive(one, mode) else {})
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


def _inactive(one: Metric, mode: str) -> bool:
    return mode_key(mode) in {**one.inactive, **one.elsewhere}


def _reason(counted: Counted, one: Metric, row: Any, mode: str) -> str:
    """Why a cell has no rate; empty when it has one."""
    key = mode_key(mode)
    if key in one.elsewhere:
        return f"not computable: {one.elsewhere[key]}"
    if one.counted == "traces":
        if mode and key == mode_key(counted.baseline):
            return "not computable: this is the baseline mode itself"
        told = {} if counted.runs.pooled else versions(counted.cells, one, ["mode"])
        mine, theirs = (_versions_in(told, name) for name in (mode, counted.baseline))
        if mine and theirs and mine != theirs:
            said = f"{counted.baseline} {' and '.join(theirs)}, {mode} {' and '.join(mine)}"
            return (
                f"not computable: suite versions differ ({said}); runs.pool_versions() accepts them"
            )
        if not row["n"]:
            return f"not computable: no benign case ran in {counted.baseline}, so there is no trace to compare with"
    if row["n"]:
        return ""
    if key in one.inactive and not _known_in(counted, one, mode):
        return f"not computable: {one.inactive[key]}"
    if any(column not in counted.have for column in one.columns):
        return f"not computable: {one.gap}"
    if row["missing"]:
        kind = f"{one.population.get('kind', '')} row".strip()
        return f"not computable: no {kind} has a known outcome"
    if one.population.get("kind") == "benign":
        ran = _rows(counted, mode, kind="benign")
        return f"not computable: no benign case {'in this stratum' if ran else 'ran in this mode'}"
    if one.population.get("kind") == "attack" and not _rows(counted, mode, kind="attack"):
        return "not computable: no attack ran in this mode"
    wanted = " and ".join(
        f"{name} {str(value).lower()}" for name, value in one.population.items() if name != "kind"
    )
    return f"not computable: no case{' with ' + wanted if wanted else ''} in this stratum"


def _versions_in(told: Mapping[tuple[str, ...], list[str]], mode: str) -> list[str]:
    """The suite versions of a mode, found in any case; none where the mode has no row."""
    return told.get((mode,)) or next(
        (found for (name,), found in told.items() if mode_key(name) == mode_key(mode)), []
    )


def _rows(counted: Counted, mode: str, kind: str) -> int:
    return sum(
        rows for (one, other), rows in counted.kinds.items() if other == kind and mode in ("", one)
    )


def _known_in(counted: Counted, one: Metric, mode: str) -> bool:
    """Whether any outcome of the metric's population is known in the mode."""
    _, known, _ = masks(counted.cells, one)
    mine = counted.cells["mode"].to_numpy(dtype=object) == mode
    return bool(counted.cells["rows"].to_numpy()[known & mine].any())


def _mixed(counted: Counted, one: Metric, strata: list[str], row: Any, found: list[str]) -> str:
    per_mode = versions(counted.cells, one, ["mode"])
    said = "; ".join(
        f"{mode}: {', '.join(version or NO_VALUE for version in per_mode.get((mode,), ['none']))}"
        for mode in counted.modes
    )
    cell = name_of(strata, [row[name] for name in strata])
    return (
        f"{one.symbol} in {cell} would mix suite versions ({', '.join(found)}). Versions per mode: "
        f"{said}. "
        "Choose one with runs.where(suite_version=...), keep them apart with by=[..., 'suite_version'], "
        "or accept the mix with runs.pool_versions()"
    )


def plain_notes(counted: Counted, one: Metric, row: Any) -> list[str]:
    """What has to be said beside a rate that exists."""
    notes = []
    if 0 < row["n"] < FEW:
        notes.append(f"insufficient data (n<{FEW})")
    if one.symbol == "CR" and row["not_attempted"]:
        notes.append(f"contained includes {row['not_attempted']} not attempted")
    if row["unmeasurable"]:
        notes.append(f"{row['unmeasurable']} attack rows not measurable, left out")
    if row["missing"]:
        noun, verb = ("row", "is") if row["missing"] == 1 else ("rows", "are")
        notes.append(f"{row['missing']} {noun} without a known outcome {verb} not in n")
    if one.symbol == "FSR-proxy":
        notes.append("FSR-proxy, not FGR")
    if not counted.runs.checked:
        notes.append(UNCHECKED)
    if counted.runs.pooled:
        notes.append("suite versions pooled")
    return notes


def no_cost(chosen: Sequence[Metric]) -> Metric | None:
    """The cost metric to show as missing where none of the chosen ones is a cost; None if there is
    one.
    """
    return None if any(one.side == "cost" for one in chosen) else METRICS["FGR"]
