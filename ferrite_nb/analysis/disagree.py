"""Where a pooled picture turns round within its strata: trends, and the order of two modes
(Simpson's paradox).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from ..count.cube import labels
from ..estimate import FEW
from ..metrics import Metric
from ..outcomes.declare import pandas_of
from ..outcomes.table import Outcomes
from ..stats.ordered import OrderedTrend, ordered_trend
from .cells import Counted, counts_of
from .unit import Unit

MIXED = (
    "tier",
    "suite",
    "category",
    "carrier",
    "attack",
    "model",
)  # strata that a pooled number may mix
MOST_STRATA = 12


def adjusters(runs: Outcomes, one: Metric, taken: Iterable[str]) -> list[str]:
    """The known strata, with at most twelve values each, within which a picture may turn round."""
    if one.counted != "rows":
        return []
    found = []
    for name in MIXED:
        if name in runs.columns and name not in set(taken):
            values = pandas_of(
                runs.table.select(*labels(runs, [name])).unique().head(MOST_STRATA + 1)
            )
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
    """Per mode, a warning where pooled and stratified pictures disagree; modes without one are left
    out.

    `scale` is the ordered column with its values in order, `extra` the columns within which they
    may disagree.
    """
    column, order = scale
    if one.counted != "rows":
        return {}
    said: dict[str, list[str]] = {}
    table = counts_of(replace(counted, strata=[column, *extra, "mode"], unit=Unit()), one)
    chosen = [mode for mode in counted.modes if not modes or mode in modes]
    for mode in chosen if extra else []:
        warnings = turned_trends(table[table["mode"] == mode], (column, order), extra, 1 - level)
        said.setdefault(mode, []).extend(warnings)
    for name in [column, *extra]:
        for first, second, warning in turned_orders(table, name, chosen):
            said.setdefault(first, []).append(warning)
            said.setdefault(second, []).append(warning)
    return {mode: "; ".join(dict.fromkeys(warnings)) for mode, warnings in said.items() if warnings}


def turned_trends(
    table: pd.DataFrame, scale: tuple[str, Sequence[str]], others: Sequence[str], alpha: float
) -> list[str]:
    """A warning for each of `others` within whose strata the trend over the ordered column has
    another direction.

    Cells may be finer than both: only the sums over cells of one place and stratum bear on either
        test.
    """
    (column, order), table = scale, table[table["n"] > 0]
    if table[column].nunique() < 3:
        return []
    k, n = (table[name].to_numpy() for name in ("k", "n"))
    scores = (
        table[column]
        .map({value: place for place, value in enumerate(order)})
        .to_numpy(dtype="float64")
    )
    pooled = ordered_trend(k, n, scores)
    found = []
    for other in others:
        within = ordered_trend(k, n, scores, stratum=table[other].to_numpy(dtype=object))
        if (
            pooled.z * within.z < 0 and min(pooled.p, within.p) <= alpha
        ):  # a trend that is not computable is NaN
            found.append(_turned(pooled, within, column, other))
    return found


def _turned(pooled: OrderedTrend, within: OrderedTrend, column: str, other: str) -> str:
    words = ("rises", "falls")
    return (
        f"Simpson: over all cases the rate {words[pooled.z < 0]} along {column}, "
        f"within {other} it {words[within.z < 0]}; read it by {other}"
    )


def turned_orders(
    table: pd.DataFrame, column: str, modes: Sequence[str]
) -> list[tuple[str, str, str]]:
    """Pairs of modes that stand the other way round in every stratum than in the total, each with a
    warning.
    """
    place = {mode: at for at, mode in enumerate(modes)}
    table = table[table["mode"].isin(list(modes))]
    row, strata = pd.factorize(table[column])
    k, n = np.zeros((2, len(strata), len(modes)))
    mode = table["mode"].map(place).to_numpy(dtype=int)
    for sums, name in ((k, "k"), (n, "n")):
        np.add.at(sums, (row, mode), table[name].to_numpy(dtype="float64"))
    found = []
    for a, b in itertools.combinations(range(len(modes)), 2):
        read = (n[:, a] >= FEW) & (n[:, b] >= FEW)
        if read.sum() < 2:
            continue
        whole = k[:, a].sum() / n[:, a].sum() - k[:, b].sum() / n[:, b].sum()
        gap = k[read, a] / n[read, a] - k[read, b] / n[read, b]
        if whole == 0 or (gap * whole > 0).any() or not gap.any():
            continue
        higher, lower = (modes[a], modes[b]) if whole > 0 else (modes[b], modes[a])
        warning = (
            f"Simpson: over all cases {higher} is above {lower}, but in no {column} "
            f"({int(read.sum())} compared); the modes ran on different mixes"
        )
        found.append((modes[a], modes[b], warning))
    return found
