"""Where a pooled picture turns round within its strata: trends, and the order of two modes (Simpson's paradox)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import pandas as pd

from ..counts import labels
from ..metrics import Metric
from ..normalise import pandas_of
from ..outcomes import Outcomes
from ..stats.ordered import ordered_trend
from .cells import FEW, Counted, counts_of

MIXED = ("tier", "suite", "category", "carrier", "attack", "model")  # strata that a pooled number may mix
MOST_STRATA = 12


def adjusters(runs: Outcomes, one: Metric, taken: Iterable[str]) -> list[str]:
    """The known strata, with at most twelve values each, within which a picture may turn round."""
    if one.counted != "rows":
        return []
    found = []
    for name in MIXED:
        if name in runs.columns and name not in set(taken):
            values = pandas_of(runs.table.select(*labels(runs, [name])).unique().head(MOST_STRATA + 1))
            if 1 < len(values) <= MOST_STRATA:
                found.append(name)
    return found


def disagreements(
    counted: Counted,
    one: Metric,
    scale: tuple[str, Sequence[str]],
    *,
    modes: Sequence[str],
    extra: Sequence[str],
    level: float,
) -> dict[str, str]:
    """Per mode, a warning where pooled and stratified pictures disagree; modes without one are left out.

    `scale` is the ordered column with its values in order, `extra` the columns within which they may disagree.
    """
    column, order = scale
    if one.counted != "rows":
        return {}
    said: dict[str, list[str]] = {}
    for other in extra:
        table = counts_of(replace(counted, strata=[column, other, "mode"], cluster=[]), one)
        for mode, part in table.groupby("mode", sort=False):
            warning = turned_trend(part, (column, order), other, 1 - level)
            if warning and (not modes or mode in modes):
                said.setdefault(str(mode), []).append(warning)
    for name in [column, *extra]:
        table = counts_of(replace(counted, strata=[name, "mode"], cluster=[]), one)
        for first, second in itertools.combinations([mode for mode in counted.modes if not modes or mode in modes], 2):
            warning = turned_order(table, name, first, second)
            if warning:
                said.setdefault(first, []).append(warning)
                said.setdefault(second, []).append(warning)
    return {mode: "; ".join(dict.fromkeys(warnings)) for mode, warnings in said.items()}


def turned_trend(table: pd.DataFrame, scale: tuple[str, Sequence[str]], other: str, alpha: float) -> str:
    """A warning when the trend over the ordered column has another direction within the strata of `other`."""
    (column, order), table = scale, table[table["n"] > 0]
    if table[column].nunique() < 3:
        return ""
    scores = table[column].map({value: place for place, value in enumerate(order)}).astype("float64").to_numpy()
    pooled = ordered_trend(table["k"], table["n"], scores)
    within = ordered_trend(table["k"], table["n"], scores, stratum=table[other].tolist())
    if math.isnan(pooled.z) or math.isnan(within.z) or pooled.z * within.z >= 0 or min(pooled.p, within.p) > alpha:
        return ""
    words = ("rises", "falls")
    return (
        f"Simpson: over all cases the rate {words[pooled.z < 0]} along {column}, "
        f"within {other} it {words[within.z < 0]}; read it by {other}"
    )


def turned_order(table: pd.DataFrame, column: str, first: str, second: str) -> str:
    """A warning when two modes stand the other way round in every stratum than in the total."""
    parts = [table[table["mode"] == mode].set_index(column)[["k", "n"]] for mode in (first, second)]
    both = pd.concat(parts, axis=1, keys=("first", "second")).fillna(0)
    k, n = (both.xs(name, axis=1, level=1).to_numpy(dtype="float64") for name in ("k", "n"))
    if (n.sum(axis=0) == 0).any():
        return ""
    total = k.sum(axis=0) / n.sum(axis=0)
    whole = float(total[0] - total[1])
    read = (n >= FEW).all(axis=1)
    rate = k[read] / n[read]
    gap = rate[:, 0] - rate[:, 1]
    if read.sum() < 2 or whole == 0 or (gap * whole > 0).any() or not gap.any():
        return ""
    higher, lower = (first, second) if whole > 0 else (second, first)
    return (
        f"Simpson: over all cases {higher} is above {lower}, but in no {column} "
        f"({int(read.sum())} compared); the modes ran on different mixes"
    )
