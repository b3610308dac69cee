"""Unit: what is independent in a call, decided once, and the one function that makes bounds of it.

Rates, the worst case of missing outcomes, the verdict of a gate, the evidence of a limit and the
note of a comparison all take the unit and the bounds from here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..count.cube import NO_VALUE, check_columns, need_outcomes, repeated
from ..estimate import state_of
from ..outcomes.table import Outcomes
from ..stats.anytime import anytime_clusters, anytime_interval
from ..stats.clusters import clustered_interval, crossed_interval
from ..stats.intervals import interval

UNNAMED = {NO_VALUE, ""}  # a label that no row of a cell has makes no cluster there

Ints = NDArray[np.int64]


def listed(names: str | Iterable[str] | None) -> list[str]:
    """One name or many, as a list."""
    if names is not None and not isinstance(names, Iterable):
        raise TypeError(f"a name or a list of names is needed, got {names!r}")
    return [] if names is None else [names] if isinstance(names, str) else list(names)


@dataclass(frozen=True)
class Unit:
    """What is independent: the case, a cluster, or two crossed keys; repeats lie below them.

    `keys` are the columns (none: each row by itself), `how` says who chose them: "call",
    "declared", "repeats" (a case that ran several times is a cluster of its runs) or "rows".
    """

    keys: tuple[str, ...] = ()
    how: Literal["call", "declared", "repeats", "rows"] = "rows"
    repeats: bool = False
    counts: bool = False

    @property
    def noun(self) -> str:
        """What one row of the outcomes is: "case", or "run" where cases ran several times."""
        return "row" if self.counts else "run" if self.repeats else "case"

    @property
    def name(self) -> str:
        """The unit in words: "case", "row", "template", "user_task × injection_task"."""
        if self.keys in ((), ("case_id",)):
            return "row" if self.counts else "case"
        return " × ".join(self.keys)


def unit_of(runs: Outcomes, cluster: str | Iterable[str] | None = None) -> Unit:
    """What is independent in a call on these outcomes.

    Parameters
    ----------
    cluster: a column, or a pair of crossed columns; None takes what was declared when the file was
        read; an empty tuple treats every case as independent. Runs of one case never are.

    Raises
    ------
    ValueError: no such column, more than two, or the mode.
    """
    need_outcomes(runs)
    declared = cluster is None
    keys = runs.cluster if declared else tuple(listed(cluster))
    if len(keys) > 2:
        raise ValueError(
            f"cluster takes one column or two crossed columns, got {list(keys)}; join columns first"
        )
    if "mode" in check_columns(runs, keys, "cluster"):
        raise ValueError("cluster names what makes cases alike, never the mode")
    repeats, counts = repeated(runs), "case_id" not in runs.columns
    if keys:
        return Unit(keys, "declared" if declared else "call", repeats, counts)
    return Unit(("case_id",), "repeats", True) if repeats else Unit(counts=counts)


@dataclass(frozen=True)
class Sample:
    """The counts of one cell, one entry per unit: events, known outcomes, unknown ones.

    `labels` holds the labels of the units by key; without any each row is a unit and the counts
    are single numbers.
    """

    k: Ints
    n: Ints
    missing: Ints
    labels: dict[str, NDArray[Any]] = field(default_factory=dict)
    noun: str = "case"

    @property
    def totals(self) -> tuple[int, int, int]:
        """Events, known outcomes and unknown outcomes of the cell."""
        return int(self.k.sum()), int(self.n.sum()), int(self.missing.sum())

    def named(self) -> dict[str, NDArray[Any]]:
        """The labels that some row with a known outcome has."""
        known = self.n > 0
        return {key: mark for key, mark in self.labels.items() if not set(mark[known]) <= UNNAMED}


@dataclass(frozen=True)
class Bounds:
    """The interval of one cell, and the interval that holds whatever the missing outcomes were."""

    low: float
    high: float
    outer_low: float
    outer_high: float
    n_eff: float
    clusters: int | None
    method: str
    state: str
    why: str
    notes: tuple[str, ...] = ()


def bounds(
    sample: Sample, *, level: float = 0.95, method: str = "wilson", z: float | None = None
) -> Bounds:
    """The bounds of one cell by its unit: plain, clustered, or with two crossed keys.

    The outer bounds are those of the same routine with the missing outcomes set to no event and to
    events, each in its own cluster, and never narrower than the interval itself.
    """
    k, n, missing = sample.totals
    labels = sample.named()
    if not n or not labels:
        one = plain_bounds(
            *(np.array([v]) for v in (k, n, missing)), level=level, method=method, z=z
        )
        unlabelled = [f"no row here has the label {key}" for key in sample.labels if n]
        return _with_notes(one[0], unlabelled)
    if method == "anytime":
        return anytime_bounds(sample, labels, level)
    if method != "wilson" or z is not None:
        raise ValueError(
            'with clusters the interval is the clustered Wilson one: leave method="wilson", z=None'
        )
    result, clusters, notes = _clustered(sample.k, sample.n, labels, level, sample.noun)
    low, high = float(result.low), float(result.high)
    ends = [(low, high)]
    if missing:
        lost = sample.n + sample.missing
        for events in (sample.k, sample.k + sample.missing):
            end, _, _ = _clustered(events, lost, labels, level, sample.noun)
            ends.append((float(end.low), float(end.high)))
    lows, highs = ([end[side] for end in ends if not math.isnan(end[side])] for side in (0, 1))
    state, why = state_of(n, k / n, low)
    if math.isnan(low):
        state, why = "few", "one cluster: its spread cannot be estimated"
    notes += [f"no row here has the label {key}" for key in sample.labels if key not in labels]
    notes += [
        f"rows without {key} count as one cluster"
        for key, mark in labels.items()
        if NO_VALUE in mark[sample.n > 0]
    ]
    return Bounds(
        low,
        high,
        min(lows, default=math.nan),
        max(highs, default=math.nan),
        float(result.n_eff),
        clusters,
        "crossed wilson" if len(labels) == 2 else "clustered wilson",
        state,
        why,
        tuple(notes),
    )


def anytime_bounds(sample: Sample, labels: dict[str, NDArray[Any]], level: float) -> Bounds:
    """The bounds of one cell with clusters that hold after every cluster."""
    k, n, _ = sample.totals
    if len(labels) == 2:
        why = "two crossed keys have no bounds that hold at every look; name one"
        nan = math.nan
        return Bounds(nan, nan, nan, nan, nan, None, "anytime", "none", why)
    (mark,) = labels.values()
    code, values = pd.factorize(mark)
    known, lost = sample.n, sample.n + sample.missing
    ends = []
    for events, cases in ((sample.k, known), (sample.k, lost), (sample.k + sample.missing, lost)):
        sums = [np.bincount(code, each, len(values)).astype("int64") for each in (events, cases)]
        ends.append(anytime_clusters(*sums, level=level))
    (one, *_), clusters = ends, len(set(code[known > 0]))
    outer = min(end.low for end in ends), max(end.high for end in ends)
    state, why = state_of(n, k / n, one.low)
    return Bounds(one.low, one.high, *outer, math.nan, clusters, "anytime clusters", state, why)


def plain_bounds(
    k: Ints, n: Ints, missing: Ints, *, level: float, method: str = "wilson", z: float | None = None
) -> list[Bounds]:
    """The bounds of many cells whose rows are independent, in one call of each routine."""
    if method == "anytime" and z is not None:
        raise ValueError("bounds that hold at every look follow level; leave z=None")

    def ends(events: Ints, cases: Ints) -> Any:
        if method == "anytime":
            return anytime_interval(events, cases, level=level)
        return interval(events, cases, method=method, level=level, z=z)

    found, floor, ceiling = ends(k, n), ends(k, n + missing), ends(k + missing, n + missing)
    outer_low, outer_high = np.fmin(found.low, floor.low), np.fmax(found.high, ceiling.high)
    rows = []
    for place, (events, cases) in enumerate(zip(k.tolist(), n.tolist(), strict=True)):
        low = float(found.low[place])
        state, why = state_of(cases, events / cases if cases else math.nan, low)
        rows.append(
            Bounds(
                low,
                float(found.high[place]),
                float(outer_low[place]) if cases else math.nan,
                float(outer_high[place]) if cases else math.nan,
                float(cases) if cases else math.nan,
                None,
                method,
                state,
                why,
            )
        )
    return rows


def _with_notes(found: Bounds, notes: Sequence[str]) -> Bounds:
    return replace(found, notes=(*found.notes, *notes))


def _clustered(
    k: Ints, n: Ints, labels: dict[str, NDArray[Any]], level: float, noun: str
) -> tuple[Any, int, list[str]]:
    """The interval of a cell with clusters, the smaller number of them, and the notes on them."""
    if len(labels) == 2:
        crossed = crossed_interval(k, n, *labels.values(), level=level)
        one_way = [_one_way(k, n, mark, level) for mark in labels.values()]
        # two crossed keys are never narrower than one of them alone
        ends = [one for one in (crossed, *one_way) if not math.isnan(one.low)]
        result = replace(
            crossed,
            low=min((one.low for one in ends), default=math.nan),
            high=max((one.high for one in ends), default=math.nan),
            n_eff=min((one.n_eff for one in ends), default=math.nan),
        )
        if min(crossed.clusters) < 2:
            result = crossed
        sizes = zip(result.clusters, labels, strict=True)
        words = " and ".join(f"{size} values of {key}" for size, key in sizes)
        return result, min(result.clusters), [_worth(words, int(n.sum()), noun, result)]
    (key, mark), *_ = labels.items()
    one = _one_way(k, n, mark, level)
    if one.clusters == one.n_eff == n.sum():  # every cluster is one case
        return one, one.clusters, []
    return (
        one,
        one.clusters,
        [_worth(f"{one.clusters} values of {key}", int(n.sum()), noun, one), one.note],
    )


def _one_way(k: Ints, n: Ints, mark: NDArray[Any], level: float) -> Any:
    """The clustered interval of one key."""
    code, values = pd.factorize(mark)
    sums = [
        np.bincount(code, weights=counts, minlength=len(values)).astype("int64")
        for counts in (k, n)
    ]
    return clustered_interval(*sums, level=level)


def _worth(clusters: str, n: int, noun: str, result: Any) -> str:
    """How many independent cases the rows of a cell are worth."""
    if math.isnan(result.n_eff):
        return ""
    return f"{n:,} {noun}s from {clusters} are worth about {result.n_eff:.0f} independent ones"
