"""The open cube: all strata counted once, from which any choice of metric, modes, strata and
clusters is re-summed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..count.cube import amount_counts, case_counts, cube, modes_of, repeated, trace_counts
from ..metrics import METRICS, Metric
from ..order import NO_VALUE, SCOPES, ordered_modes, ordered_strata
from ..outcomes.contract import FLAGS
from ..outcomes.declare import pandas_of
from ..outcomes.table import Outcomes, baseline_of
from ..schema import Table
from ..stats._check import level_of
from .cells import Counted, chosen_metrics, unit_for
from .disagree import MIXED
from .gradient import Scale, gradient_table
from .profile import FEW_VALUES, labels_of
from .rates import rated, table_of
from .unit import Unit

MOST_CELLS = 200_000
COSTS = ("FGR", "false refusal", "task success", "task success under attack", "FSR-proxy")


@dataclass(frozen=True)
class Axis:
    """One column of the cube: its values in order, the rows of each, and the code of each cell."""

    values: tuple[str, ...]
    rows: tuple[int, ...]
    codes: NDArray[np.int64]


@dataclass(frozen=True)
class OpenCube:
    """All strata of a data set, counted once.

    `strata` are the columns to choose from, `clusters` the columns and crossed pairs that may be
    clusters, `metrics` what can be shown, `notes` what had to be left out and why.
    """

    runs: Outcomes
    axes: Mapping[str, Axis]
    flags: Mapping[str, NDArray[np.int64]]
    weight: NDArray[np.int64]
    parts: Mapping[str, pd.DataFrame]
    strata: tuple[str, ...]
    clusters: tuple[tuple[str, ...], ...]
    metrics: tuple[Metric, ...]
    modes: tuple[str, ...]
    notes: tuple[str, ...]
    repeats: bool = False
    counts: bool = False

    def values(self, column: str) -> dict[str, int]:
        """The values of a column in order, each with its number of rows."""
        axis = self.axes[column]
        return dict(zip(axis.values, axis.rows, strict=True))

    @property
    def cells(self) -> int:
        """The number of cells held."""
        return len(self.weight)


@dataclass(frozen=True)
class Choice:
    """What to show. `show` is "mode", a stratum, or "gradient:" and a stratum; `cluster` none, one
    or two columns.
    """

    metric: str
    modes: tuple[str, ...]
    strata: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    show: str = "mode"
    method: str = "wilson"
    level: float = 0.95
    cluster: tuple[str, ...] = ()


def open_cube(runs: Outcomes, *, most: int = MOST_CELLS) -> OpenCube:
    """Count all strata of a data set once.

    Columns that describe a case are strata; those with many values for several cases each may be
    clusters. While the cube has more than `most` cells, the column with most values is dropped, and
    `notes` says so.
    """
    labels = labels_of(runs)
    weights = "case_id" not in runs.columns
    names = [label.name for label in labels if (label.of_case or weights) and label.values > 1]
    repeats = repeated(runs)
    several = "suite_version" in runs.columns and not runs.pooled
    names += ["suite_version"] if several else []
    used = {column for one in chosen_metrics(runs, None) for column in one.columns} | {
        "attempted",
        "measurable",
    }
    flags = sorted(used & set(FLAGS))
    columns = ["mode", *names, *(["case_id"] if repeats else [])]
    cells, columns, notes = fitting(runs, columns, flags, most)
    clusters = [label.name for label in labels if label.cluster and label.name in columns]
    parts, more = other_counts(runs, columns, most)
    shown = tuple(
        one for one in chosen_metrics(runs, None) if one.counted == "rows" or one.symbol in parts
    )
    axes = {name: axis(cells, name, runs) for name in [*columns, "kind"]}
    if "suite_version" in cells and "suite_version" not in axes:
        axes["suite_version"] = axis(cells, "suite_version", runs)
    strata = [
        name for name in columns if name not in ("mode", "case_id") and len(axes[name].values) > 1
    ]
    if repeats and "case_id" not in columns:
        notes.append(
            "intervals take repeats for cases here and are too narrow; fnb.rates clusters them by"
            " case_id"
        )
    have = [name for name in FLAGS if name in cells]
    coded = {name: cells[name].astype("Int8").fillna(2).to_numpy(dtype=np.int64) for name in have}
    clusters.sort(key=lambda name: -len(axes[name].values))
    found: list[tuple[str, ...]] = [("case_id",)] if "case_id" in columns else []
    found += [(name,) for name in clusters] + crossed(axes, clusters)
    declared = runs.cluster
    if declared and all(name in axes for name in declared):
        found = [declared, *(keys for keys in found if keys != declared)]
    weight = cells["rows"].to_numpy(dtype=np.int64)
    return OpenCube(
        runs,
        axes,
        coded,
        weight,
        parts,
        tuple(strata),
        tuple(found),
        shown,
        tuple(modes_of(runs)),
        (*notes, *more),
        repeats,
        weights,
    )


def crossed(axes: Mapping[str, Axis], clusters: Sequence[str]) -> list[tuple[str, ...]]:
    """The finest cluster with each label that is not a coarser form of it."""
    found: list[tuple[str, ...]] = []
    for other in clusters[1:]:
        first, second = axes[clusters[0]], axes[other]
        pairs = len(np.unique(first.codes * len(second.values) + second.codes))
        if pairs > len(first.values):
            found.append((clusters[0], other))
    return found


def fitting(
    runs: Outcomes, columns: list[str], flags: list[str], most: int
) -> tuple[pd.DataFrame, list[str], list[str]]:
    """The cube over as many of the columns as fit, those columns, and a note for each one
    dropped.
    """
    notes: list[str] = []
    have = dict.fromkeys(name for name in (*flags, "kind", "suite_version") if name in runs.columns)
    while (
        runs.lazy and len(columns) > 1
    ):  # an engine says how many cells there are before they are fetched
        size = size_of(runs, [*columns, *(name for name in have if name not in columns)])
        if size <= most:
            break
        widest = max(columns[1:], key=lambda name: size_of(runs, [name]))
        notes.append(_dropped(widest, size_of(runs, [widest]), size, most))
        columns = [name for name in columns if name != widest]
    cells = cube(runs, columns, flags)
    while len(cells) > most and len(columns) > 1:
        widest = max(columns[1:], key=lambda name: cells[name].nunique())
        notes.append(_dropped(widest, cells[widest].nunique(), len(cells), most))
        columns = [name for name in columns if name != widest]
        keys = [name for name in cells if name not in (widest, "rows")]
        cells = cells.groupby(keys, sort=False, dropna=False)["rows"].sum().reset_index()
    return cells, columns, notes


def _dropped(name: str, values: int, size: int, most: int) -> str:
    return (
        f"{name} ({values:,} values) cannot be chosen here: with it the table of all strata would"
        f" have {size:,} cells, more than {most:,}"
    )


def size_of(runs: Outcomes, names: Sequence[str]) -> int:
    """How many combinations of values some columns have."""
    groups = runs.table.group_by(*names).agg(nw.len().alias("_rows"))
    return int(pandas_of(groups.select(nw.len().alias("_groups")))["_groups"].iloc[0])


def axis(cells: pd.DataFrame, name: str, runs: Outcomes) -> Axis:
    """One column of the cube as codes, its values in the documented order."""
    codes, found = pd.factorize(cells[name])
    values = [str(value) for value in found]
    order = ordered_modes(values, runs.modes) if name == "mode" else ordered_strata(name, values)
    place = {value: at for at, value in enumerate(order)}
    coded = np.array([place[value] for value in values], dtype=np.int64)[codes]
    rows = np.bincount(coded, weights=cells["rows"], minlength=len(order)).astype(np.int64)
    return Axis(tuple(order), tuple(int(n) for n in rows), coded)


def other_counts(
    runs: Outcomes, columns: Sequence[str], most: int
) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """k, n and missing, in all strata, of metrics that count cases, amounts or traces."""
    parts: dict[str, pd.DataFrame] = {}
    notes = []
    strata = [name for name in columns if name not in ("mode", "case_id")]
    for one in chosen_metrics(runs, None):
        if one.counted == "cases":
            found = case_counts(runs, one, strata)
        elif one.counted == "amounts":
            found = amount_counts(
                runs, one, [*strata, "mode", *(["case_id"] if "case_id" in runs.columns else [])]
            )
        elif one.counted == "traces":
            baseline, _ = baseline_of(runs)
            found = trace_counts(runs, one, [*strata, "mode"], baseline)
        else:
            continue
        if len(found) <= most:
            parts[one.symbol] = found
        else:
            notes.append(
                f"{one.symbol} cannot be chosen here: it would need {len(found):,} counts; see"
                " fnb.rates"
            )
    return parts, notes


def summed_cells(
    cube: OpenCube, names: Sequence[str], flags: Sequence[str], keep: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    """The cube of some columns and flags over the chosen values: sums of cells, no row is read."""
    mask = np.ones(cube.cells, dtype=bool)
    for name, wanted in keep.items():
        inside = np.isin(np.array(cube.axes[name].values, dtype=object), list(wanted))
        if not inside.all():
            mask &= inside[cube.axes[name].codes]
    sizes = [(name, len(cube.axes[name].values), cube.axes[name].codes) for name in names]
    sizes += [(name, 3, cube.flags[name]) for name in flags]
    key = np.zeros(int(mask.sum()), dtype=np.int64)
    for _, size, codes in sizes:
        key = key * size + codes[mask]
    found, inverse = np.unique(key, return_inverse=True)
    frame: dict[str, object] = {
        "rows": np.bincount(inverse, weights=cube.weight[mask], minlength=len(found))
    }
    for name, size, _ in reversed(sizes):
        found, code = np.divmod(found, size)
        if name in cube.flags:
            frame[name] = pd.arrays.BooleanArray(code == 1, code == 2)
        else:
            # as codes: texts would be taken apart again for each metric and stratum
            frame[name] = pd.Categorical.from_codes(code, list(cube.axes[name].values))
    table = pd.DataFrame(frame)
    table["rows"] = table["rows"].astype("int64")
    return table


def answer(cube: OpenCube, choice: Choice) -> Table:
    """The table of a choice: `fnb.rates` or `fnb.gradient` of the chosen rows, from the cube.

    Raises
    ------
    ValueError: nothing is chosen, or the choice makes no sense; the message says what to do.
    """
    for name, values in [("mode", choice.modes), *choice.strata.items()]:
        if not values:
            raise ValueError(f"choose at least one {name}")
    one, level = METRICS[choice.metric], level_of(choice.level)
    gradient, _, column = choice.show.rpartition(":")
    counted = chosen_counts(cube, choice, one, [column] if column != "mode" else [])
    if gradient:
        known = cube.axes[column].values
        wanted = choice.strata.get(column, known)
        kept = tuple(value for value in known if value in wanted)
        ordered = column == "scope" and set(kept) <= {*SCOPES, NO_VALUE}
        scale = Scale(column, kept, ordered)
        extra = [
            name
            for name in MIXED
            if name in cube.strata and name != column and name in counted.cells
        ]
        return gradient_table(counted, one, scale, level=level, extra=extra)
    method = "wilson" if unit_for(counted, one).keys else choice.method
    rows, _ = rated(counted, one, {"method": method, "level": level, "z": None})
    return table_of(rows, counted)


def chosen_counts(cube: OpenCube, choice: Choice, one: Metric, by: Sequence[str]) -> Counted:
    """The chosen part of the cube, as a verb would have counted it."""
    keep = {"mode": choice.modes, **choice.strata}
    mixed = []
    if choice.show.startswith("gradient:"):
        mixed = [
            name
            for name in MIXED
            if name in cube.strata and len(cube.axes[name].values) <= FEW_VALUES
        ]
    cluster = list(choice.cluster)
    version = ["suite_version"] if "suite_version" in cube.axes else []
    names = list(dict.fromkeys(["mode", "kind", *by, *cluster, *mixed, *version]))
    flags = [name for name in cube.flags if name in {*one.columns, "measurable", "attempted"}]
    cells = summed_cells(cube, names, flags, keep)
    modes = [mode for mode in cube.modes if mode in choice.modes]
    parts = {one.symbol: _kept(cube.parts[one.symbol], keep)} if one.symbol in cube.parts else {}
    repeats = cube.repeats and "case_id" in cube.axes
    unit = Unit(tuple(cluster), "call" if cluster else "rows", repeats, cube.counts)
    return Counted(cube.runs, cells, [*by, "mode"], unit, modes, baseline_of(cube.runs)[0], parts)


def _kept(part: pd.DataFrame, keep: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    for name, wanted in keep.items():
        if name in part:
            part = part[part[name].isin(list(wanted))]
    return part


def cost_of(cube: OpenCube, choice: Choice) -> pd.DataFrame | None:
    """The cost beside a security metric, in the same strata (for a gradient by mode); None where
    none is measured.
    """
    if METRICS[choice.metric].side == "cost":
        return None
    plain = replace(choice, show="mode") if choice.show.startswith("gradient:") else choice
    for symbol in COSTS:
        if symbol in {one.symbol for one in cube.metrics}:
            table = answer(cube, replace(plain, metric=symbol))
            if (table["n"] + table["missing"]).sum():
                return table
    return None
