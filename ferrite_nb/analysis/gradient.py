"""`gradient`: a metric over ordered strata, mode by mode, with a trend test, both totals and a word
on reversals.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ..count.cube import check_columns, find_mode, labels, repeated
from ..metrics import NO_VALUE, SCOPES, Metric, ordered_strata
from ..outcomes.declare import pandas_of
from ..outcomes.table import Outcomes
from ..estimate import MACRO, MICRO
from ..stats._check import level_of
from ..stats.ordered import RESAMPLES, OrderedTrend, equal_weight, ordered_trend
from .cells import FEW, Counted, chosen_metrics, count, facts, listed
from .disagree import adjusters, disagreements
from .rates import NUMBERS, named_cluster, rated

FEWEST_STRATA = 3  # two points always lie on a line
NO_CASE = "not computable: no case in this stratum"


@dataclass(frozen=True)
class Scale:
    """The ordered column with its values in order, and further columns within which the trend is
    taken.
    """

    column: str
    order: tuple[str, ...]
    within: tuple[str, ...] = ()


def gradient(
    runs: Outcomes,
    metric: str = "CR",
    by: str | Iterable[str] | Mapping[str, Iterable[str]] = "scope",
    *,
    mode: str | Iterable[str] | None = None,
    level: float = 0.95,
    cluster: str | Iterable[str] | None = None,
) -> pd.DataFrame:
    """One metric over ordered strata: each stratum, two totals, and the trend, mode by mode.

    Parameters
    ----------
    metric: a symbol or word of `fnb.metrics()`.
    by: the ordered column. `{"tier": ["Tier2", "Tier1"]}` gives its order; without one, `scope`
        goes from exact to task_open and other columns are in text order. Further columns in a list
        keep tables apart and the trend is then taken within them.
    mode: one mode or several; None is all.
    level: confidence level, a proportion.
    cluster: as in `fnb.rates`; the trend then flips the signs of whole clusters.

    Returns
    -------
    The columns of `fnb.rates` and `trend_p`, the same in all rows of a mode. After the strata of a
    mode stand "micro: all cases" (every case counts once) and "macro: mean of strata" (every
        stratum counts once; `k` and `n` stay those
    of all cases). A stratum of the order without a case keeps its place. `attrs` holds `ordered`
    (the column), `order` and `trend` (the name of the test).

    Not computable when
    -------------------
    fewer than three strata have cases, or all outcomes are the same: `trend_p` is NaN and the note
        begins "no trend".

    Raises
    ------
    ValueError: an unknown metric, column or mode; an order that lacks a stratum of the data.

    Notes
    -----
    `note` warns when the pooled picture turns round within the strata (Simpson 1951): the trend
    within tier, suite, category, carrier, attack or model, or the order of two modes. The macro
    interval is recovered from the strata's own limits (Zou, Huang, Zhang 2009); where clusters span
    strata the limits are averaged, which is wider.

    Example
    -------
    >>> import pandas as pd, ferrite_nb as fnb
    >>> rows = {"case_id": list("abcdefghi"), "mode": "On", "scope": ["exact", "domain_suffix", "task_open"] * 3,
    ...         "attack_success": [0, 0, 1, 0, 1, 1, 0, 0, 1]}
    >>> table = fnb.gradient(fnb.outcomes(pd.DataFrame(rows)))
    >>> table[["scope", "k", "n"]].values.tolist()[:3]
    [['exact', 3, 3], ['domain_suffix', 2, 3], ['task_open', 0, 3]]
    """
    (one,), level = chosen_metrics(runs, [metric]), level_of(level)
    scale, clusters = scale_of(runs, by), named_cluster(cluster)
    implied = not clusters and one.counted == "rows" and repeated(runs)
    keys = ["case_id"] if implied else clusters
    extra = adjusters(runs, one, [scale.column, *scale.within, *keys])
    counted = count(runs, [one], [scale.column, *scale.within, *extra], keys, "Off")
    wanted = [find_mode(counted.modes, name) for name in listed(mode)]
    return gradient_table(counted, one, scale, modes=wanted, level=level, extra=extra)


def scale_of(runs: Outcomes, by: str | Iterable[str] | Mapping[str, Iterable[str]]) -> Scale:
    """The ordered column and its values, as the caller, the metrics page or the text order them."""
    names = list(by) if isinstance(by, Mapping) else listed(by)
    if not names or "mode" in names:
        raise ValueError(
            f"by names the ordered stratum and never the mode (modes are kept apart), got {by!r}"
        )
    column, *within = check_columns(runs, names, "by")
    there = pandas_of(runs.table.select(*labels(runs, [column])).unique())[column]
    found = ordered_strata(column, there.fillna(NO_VALUE).astype(str))
    totals = {MICRO, MACRO} & set(found)
    if totals:
        raise ValueError(
            f"{column} has the stratum {min(totals)!r}, the name of a total: give it another name first"
        )
    if isinstance(by, Mapping):
        return Scale(column, given_order(column, listed(by[column]), found), tuple(within))
    known = column == "scope" and set(found) <= set(SCOPES)
    return Scale(column, SCOPES if known else tuple(found), tuple(within))


def given_order(column: str, order: Sequence[Any], found: Sequence[str]) -> tuple[str, ...]:
    """The caller's order, which must hold every stratum of the data; others keep an empty place."""
    named = tuple(str(value) for value in order)
    lacking = [value for value in found if value not in named]
    if lacking:
        raise ValueError(
            f"the order of {column} lacks {', '.join(map(repr, lacking[:8]))}, which the data hold: name it too, "
            f"or leave it out with runs.where({column}=[...])"
        )
    if len(set(named)) < len(named):
        raise ValueError(f"the order of {column} names a stratum twice: {list(named)}")
    return named


def gradient_table(
    counted: Counted,
    one: Metric,
    scale: Scale,
    *,
    modes: Sequence[str] = (),
    level: float = 0.95,
    extra: Sequence[str] = (),
) -> pd.DataFrame:
    """The gradient from what is already counted; `extra` are columns of the cube to look for
    reversals in.
    """
    options = {"method": "wilson", "level": level, "z": None}
    implied = counted.cluster == ["case_id"]
    cells = replace(counted, strata=[scale.column, *scale.within, "mode"])
    pooled = replace(counted, strata=[*scale.within, "mode"])
    where = [*scale.within, "mode"]
    fine, counts = rated(cells, one, options, implied)
    coarse, _ = rated(pooled, one, options, implied)
    named = {"mode": "", "metric": one.symbol}  # a fact of the suite has no mode
    strata = {
        label_of(row, [scale.column, *where]): row for row in ({**named, **row} for row in fine)
    }
    totals = [
        row
        for row in ({**named, **row} for row in coarse)
        if not modes or row["mode"] in ("", *modes)
    ]
    below = counts.assign(mode=_mode)
    trends = trends_of(below, scale, counted.cluster)
    said = disagreements(
        counted, one, (scale.column, scale.order), modes=modes, extra=extra, level=level
    )
    spans = _spans(below, scale.column, where, counted.cluster)
    rows: list[dict[str, Any]] = []
    for micro in totals:
        here = label_of(micro, where)
        mine = [strata.get((value, *here)) or absent(micro, scale, value) for value in scale.order]
        mean = macro(mine, micro, scale.column, here in spans)
        found = trends.get(micro["mode"]) or OrderedTrend(math.nan, math.nan, "", "no case")
        both = [{**micro, scale.column: MICRO}, {**mean, scale.column: MACRO}]
        rows += with_trend(mine, both, found, said.get(micro["mode"], ""))
    add_turned_orders(rows, scale)
    table = pd.DataFrame(rows, columns=["metric", scale.column, *where, *NUMBERS, "trend_p"])
    table = table.astype({"k": "int64", "n": "int64", "missing": "int64", "clusters": "Int64"})
    names = dict.fromkeys(found.method for found in trends.values() if not math.isnan(found.p))
    table.attrs = {"ordered": scale.column, "order": list(scale.order), "trend": " or ".join(names)}
    if any(found.drawn for found in trends.values()):
        table.attrs["seed"] = f"0 ({RESAMPLES:,} draws)"
    table.attrs |= facts(counted)
    return table


def _mode(frame: pd.DataFrame) -> Any:
    return frame.get("mode", "")


def label_of(row: Mapping[str, Any], columns: Sequence[str]) -> tuple[Any, ...]:
    """What a row is of."""
    return tuple(row[name] for name in columns)


def trends_of(below: pd.DataFrame, scale: Scale, cluster: Sequence[str]) -> dict[str, OrderedTrend]:
    """The trend of each mode; with two crossed clusters the test with the larger p."""
    place = {value: at for at, value in enumerate(scale.order, 1)}
    found: dict[str, OrderedTrend] = {}
    for mode, part in below.groupby("mode", sort=False):
        part = part[part["n"] > 0]
        if part[scale.column].nunique() < FEWEST_STRATA:
            found[str(mode)] = OrderedTrend(
                math.nan, math.nan, "", "fewer than three strata with cases"
            )
            continue
        within = (
            part[list(scale.within)].agg("\x1f".join, axis=1).tolist() if scale.within else None
        )
        keys = [key for key in (cluster or _segments(part)) if key in part]
        labelled: list[Any] = [part[key].tolist() for key in keys] or [None]
        k, n, scores = (
            part["k"],
            part["n"],
            part[scale.column].map(place).astype("float64").to_numpy(),
        )
        tests = [ordered_trend(k, n, scores, stratum=within, cluster=one) for one in labelled]
        found[str(mode)] = max(tests, key=lambda test: -1.0 if math.isnan(test.p) else test.p)
    return found


def _segments(part: pd.DataFrame) -> list[str]:
    """Segments of a case belong together, so their counts come with the case."""
    return ["case_id"] if "case_id" in part else []


def absent(micro: Mapping[str, Any], scale: Scale, value: str) -> dict[str, Any]:
    """The row of a stratum without a case, which keeps its place."""
    numbers = dict.fromkeys(("rate", "low", "high", "floor", "ceiling", "n_eff"), math.nan)
    none = dict.fromkeys(("k", "n", "missing"), 0)
    return {**micro, **none, **numbers, "clusters": pd.NA, scale.column: value, "note": NO_CASE}


def with_trend(
    mine: list[dict[str, Any]], totals: list[dict[str, Any]], found: OrderedTrend, warning: str
) -> list[dict[str, Any]]:
    """The rows of one mode: strata in order, micro, macro, each with the trend."""
    reason = f"no trend: {found.note}" if math.isnan(found.p) else ""
    test = reason or "; ".join(
        filter(None, [f"trend: {found.method}, {_way(found.z)}", found.note])
    )
    more = [[reason]] * len(mine) + [[test, warning], [reason, warning]]
    notes = [
        row["note"]
        if row["note"].startswith("not computable")
        else "; ".join(filter(None, [row["note"], *said]))
        for row, said in zip([*mine, *totals], more, strict=True)
    ]
    return [
        {**row, "trend_p": found.p, "note": note}
        for row, note in zip([*mine, *totals], notes, strict=True)
    ]


def _way(z: float) -> str:
    return (
        f"z = {z:.2f} ({'rising' if z > 0 else 'falling' if z < 0 else 'flat'} in the order given)"
    )


def macro(
    mine: list[dict[str, Any]], micro: dict[str, Any], column: str, spans: bool
) -> dict[str, Any]:
    """The total in which every stratum counts once; `spans` says that clusters lie in several
    strata.
    """
    used = [row for row in mine if row["n"]]
    if not used:
        return micro
    rates, lows, highs, floors, ceilings = (
        np.array([row[name] for row in used], dtype=np.float64)
        for name in ("rate", "low", "high", "floor", "ceiling")
    )
    total = equal_weight(rates, lows, highs, independent=not spans)
    notes = [f"mean of {len(used)} of {len(mine)} strata, whatever their size"]
    few = [f"{row[column]} has n = {row['n']}" for row in used if row["n"] < FEW]
    notes += [f"rests on few cases: {', '.join(few[:4])}"] if few else []
    notes.append(
        "limits averaged, because clusters span strata" if spans else "limits combined over strata"
    )
    notes += ["interval not computable: a stratum has none"] if np.isnan(lows).any() else []
    return micro | {
        "rate": total.rate,
        "low": total.low,
        "high": total.high,
        "n_eff": math.nan,
        "floor": float(floors.mean()),
        "ceiling": float(ceilings.mean()),
        "method": f"macro mean of {used[0]['method']}",
        "note": "; ".join(notes),
    }


def add_turned_orders(rows: list[dict[str, Any]], scale: Scale) -> None:
    """Add to the notes of macro rows the modes that micro and macro put in different orders."""
    totals: dict[Any, dict[str, float]] = {}
    for row in rows:
        if row[scale.column] in (MICRO, MACRO):
            totals.setdefault(label_of(row, [*scale.within, "mode"]), {})[row[scale.column]] = row[
                "rate"
            ]
    for row in rows:
        if row[scale.column] != MACRO:
            continue
        *within, mode = label_of(row, [*scale.within, "mode"])
        mine = totals[*within, mode]
        peers = [(other, rate) for (*where, other), rate in totals.items() if where == within]
        turned = [
            m for m, rate in peers if (mine[MICRO] - rate[MICRO]) * (mine[MACRO] - rate[MACRO]) < 0
        ]
        said = (
            f"micro and macro put this mode and {', '.join(turned[:3])} in different orders"
            if turned
            else ""
        )
        row["note"] = "; ".join(filter(None, [row["note"], said]))


def _spans(
    below: pd.DataFrame, column: str, where: Sequence[str], cluster: Sequence[str]
) -> set[tuple[Any, ...]]:
    """Where some cluster has cases in more than one stratum."""
    found: set[tuple[Any, ...]] = set()
    for key in [name for name in cluster if name in below]:
        cells = below.loc[below["n"] > 0, [*where, key, column]].drop_duplicates()
        twice = cells[cells.duplicated([*where, key])]
        found |= set(twice[[*where]].itertuples(index=False, name=None))
    return found
