"""`gradient`: a metric over ordered strata, mode by mode, with a trend test, both totals and a word on reversals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ..counts import check_columns, find_mode, labels, repeated
from ..metrics import SCOPES, Metric, ordered_strata
from ..normalise import pandas_of
from ..outcomes import Outcomes
from ..stats._check import level_of
from ..stats.ordered import OrderedTrend, equal_weight, ordered_trend
from .cells import FEW, Counted, chosen_metrics, count, counts_of, facts, listed
from .disagree import adjusters, disagreements
from .rates import NUMBERS, named_cluster, one_metric

MICRO, MACRO = "micro: all cases", "macro: mean of strata"
FEWEST_STRATA = 3  # two points always lie on a line
NO_CASE = "not computable: no case in this stratum"


@dataclass(frozen=True)
class Scale:
    """The ordered column with its values in order, and further columns within which the trend is taken."""

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
    by: the ordered column. `{"tier": ["Tier2", "Tier1"]}` gives its order; without one, `scope` goes from exact to
        task_open and other columns are in text order. Further columns in a list keep tables apart and the trend is
        then taken within them.
    mode: one mode or several; None is all.
    level: confidence level, a proportion.
    cluster: as in `fnb.rates`; the trend then flips the signs of whole clusters.

    Returns
    -------
    The columns of `fnb.rates` and `trend_p`, the same in all rows of a mode. After the strata of a mode stand "micro:
    all cases" (every case counts once) and "macro: mean of strata" (every stratum counts once; `k` and `n` stay those
    of all cases). A stratum of the order without a case keeps its place. `attrs` holds `ordered` (the column), `order`
    and `trend` (the name of the test).

    Not computable when
    -------------------
    fewer than three strata have cases, or all outcomes are the same: `trend_p` is NaN and the note begins "no trend".

    Raises
    ------
    ValueError: an unknown metric, column or mode; an order that lacks a stratum of the data.

    Notes
    -----
    `note` warns when the pooled picture turns round within the strata (Simpson 1951): the trend within tier, suite,
    category, carrier, attack or model, or the order of two modes. The macro interval is recovered from the strata's
    own limits (Zou, Huang, Zhang 2009); where clusters span strata the limits are averaged, which is wider.

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
        raise ValueError(f"by names the ordered stratum and never the mode (modes are kept apart), got {by!r}")
    column, *within = check_columns(runs, names, "by")
    there = pandas_of(runs.table.select(*labels(runs, [column])).unique())[column]
    found = ordered_strata(column, there.fillna("(missing)").astype(str))
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
    """The gradient from what is already counted; `extra` are columns of the cube to look for reversals in."""
    options = {"method": "wilson", "level": level, "z": None}
    implied = counted.cluster == ["case_id"]
    cells = replace(counted, strata=[scale.column, *scale.within, "mode"])
    pooled = replace(counted, strata=[*scale.within, "mode"])
    strata = one_metric(cells, one, options, implied).assign(mode=_mode)
    totals = one_metric(pooled, one, options, implied).assign(mode=_mode)
    if modes:
        strata, totals = (part[part["mode"].isin(["", *modes])] for part in (strata, totals))
    below = counts_of(cells, one).assign(mode=_mode)
    trends = trends_of(below, scale, counted.cluster)
    said = disagreements(counted, one, (scale.column, scale.order), modes=modes, extra=extra, level=level)
    parts = []
    for _, micro in totals.iterrows():
        mine = placed(strata, micro, scale)
        spans = _spans(same(below, micro, [*scale.within, "mode"]), scale.column, counted.cluster)
        mean = macro(mine, micro, scale.column, spans)
        both: list[dict[str, Any]] = [{**micro, scale.column: MICRO}, {**mean, scale.column: MACRO}]
        found = trends.get(micro["mode"]) or OrderedTrend(math.nan, math.nan, "", "no case")
        parts.append(_block(mine, both, found, said.get(micro["mode"], "")))
    columns = ["metric", scale.column, *scale.within, "mode", *NUMBERS, "trend_p"]
    table = pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)
    table[["k", "n", "missing"]] = table[["k", "n", "missing"]].fillna(0).astype("int64")
    table["clusters"] = table["clusters"].astype("Int64")
    table["note"] = _orders_differ(table, scale)
    names = dict.fromkeys(found.method for found in trends.values() if not math.isnan(found.p))
    table.attrs = {"ordered": scale.column, "order": list(scale.order), "trend": " or ".join(names)}
    table.attrs |= facts(counted)
    return table


def _mode(frame: pd.DataFrame) -> Any:
    return frame.get("mode", "")


def same(frame: pd.DataFrame, row: Any, columns: Sequence[str]) -> pd.DataFrame:
    """The rows of a frame that agree with one row in some columns."""
    return frame[np.logical_and.reduce([frame[name] == row[name] for name in columns])]


def trends_of(below: pd.DataFrame, scale: Scale, cluster: Sequence[str]) -> dict[str, OrderedTrend]:
    """The trend of each mode; with two crossed clusters the test with the larger p."""
    place = {value: at for at, value in enumerate(scale.order, 1)}
    found: dict[str, OrderedTrend] = {}
    for mode, part in below.groupby("mode", sort=False):
        part = part[part["n"] > 0]
        if part[scale.column].nunique() < FEWEST_STRATA:
            found[str(mode)] = OrderedTrend(math.nan, math.nan, "", "fewer than three strata with cases")
            continue
        within = part[list(scale.within)].agg("\x1f".join, axis=1).tolist() if scale.within else None
        keys = [key for key in (cluster or _segments(part)) if key in part]
        labelled: list[Any] = [part[key].tolist() for key in keys] or [None]
        k, n, scores = part["k"], part["n"], part[scale.column].map(place).astype("float64").to_numpy()
        tests = [ordered_trend(k, n, scores, stratum=within, cluster=one) for one in labelled]
        found[str(mode)] = max(tests, key=lambda test: -1.0 if math.isnan(test.p) else test.p)
    return found


def _segments(part: pd.DataFrame) -> list[str]:
    """Segments of a case belong together, so their counts come with the case."""
    return ["case_id"] if "case_id" in part else []


def placed(strata: pd.DataFrame, micro: Any, scale: Scale) -> pd.DataFrame:
    """The strata of one mode in order; one without a case keeps its place."""
    mine = same(strata, micro, [*scale.within, "mode"]).set_index(scale.column).reindex(list(scale.order)).reset_index()
    mine.loc[mine["note"].isna(), "note"] = NO_CASE
    for name in ("metric", "level", "method", *scale.within, "mode"):
        mine[name] = micro[name]
    return mine


def _block(mine: pd.DataFrame, totals: list[dict[str, Any]], found: OrderedTrend, warning: str) -> pd.DataFrame:
    """The rows of one mode: strata in order, micro, macro, each with the trend."""
    block = pd.concat([mine, pd.DataFrame(totals).astype({"clusters": "Int64"})], ignore_index=True)
    block["trend_p"] = found.p
    reason = f"no trend: {found.note}" if math.isnan(found.p) else ""
    test = reason or "; ".join(filter(None, [f"trend: {found.method}, {_way(found.z)}", found.note]))
    more = [[reason]] * len(mine) + [[test, warning], [reason, warning]]
    block["note"] = [
        note if note.startswith("not computable") else "; ".join(filter(None, [note, *said]))
        for note, said in zip(block["note"], more, strict=True)
    ]
    return block


def _way(z: float) -> str:
    return f"z = {z:.2f} ({'rising' if z > 0 else 'falling' if z < 0 else 'flat'} in the order given)"


def macro(mine: pd.DataFrame, micro: Any, column: str, spans: bool) -> dict[str, Any]:
    """The total in which every stratum counts once; `spans` says that clusters lie in several strata."""
    used = mine[mine["n"] > 0]
    row: dict[str, Any] = micro.to_dict()
    if used.empty:
        return row
    total = equal_weight(used["rate"], used["low"], used["high"], independent=not spans)
    row |= {"rate": total.rate, "low": total.low, "high": total.high, "n_eff": math.nan}
    row |= {"floor": used["floor"].mean(), "ceiling": used["ceiling"].mean()}
    row["method"] = f"macro mean of {used['method'].iloc[0]}"
    notes = [f"mean of {len(used)} of {len(mine)} strata, whatever their size"]
    few = [f"{value} has n = {n:.0f}" for value, n in zip(used[column], used["n"], strict=True) if n < FEW]
    notes += [f"rests on few cases: {', '.join(few[:4])}"] if few else []
    notes.append("limits averaged, because clusters span strata" if spans else "limits combined over strata")
    notes += [] if used["low"].notna().all() else ["interval not computable: a stratum has none"]
    row["note"] = "; ".join(notes)
    return row


def _orders_differ(table: pd.DataFrame, scale: Scale) -> list[str]:
    """The notes, those of macro rows with the modes that micro and macro put in different orders."""
    rows: list[Any] = table.to_dict("records")
    totals: dict[Any, dict[str, float]] = {}
    for row in rows:
        if row[scale.column] in (MICRO, MACRO):
            within = tuple(row[name] for name in scale.within)
            totals.setdefault((within, row["mode"]), {})[row[scale.column]] = row["rate"]
    for row in rows:
        within = tuple(row[name] for name in scale.within)
        if row[scale.column] == MACRO:
            mine = totals[within, row["mode"]]
            peers = [(mode, rate) for (where, mode), rate in totals.items() if where == within]
            turned = [m for m, rate in peers if (mine[MICRO] - rate[MICRO]) * (mine[MACRO] - rate[MACRO]) < 0]
            said = f"micro and macro put this mode and {', '.join(turned[:3])} in different orders" if turned else ""
            row["note"] = "; ".join(filter(None, [row["note"], said]))
    return [row["note"] for row in rows]


def _spans(part: pd.DataFrame, column: str, cluster: Sequence[str]) -> bool:
    """Whether some cluster has cases in more than one stratum."""
    part = part[part["n"] > 0]
    return any(key in part and bool((part.groupby(key)[column].nunique() > 1).any()) for key in cluster)
