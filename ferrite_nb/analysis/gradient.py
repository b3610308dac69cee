"""`gradient`: a metric over strata, mode by mode, with both totals and the test that fits them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ..count.cube import NO_VALUE, check_columns, find_mode, labels
from ..estimate import FEW, MACRO, MICRO, state_of
from ..metrics import Metric
from ..order import SCOPES, ordered_strata
from ..outcomes.declare import pandas_of
from ..outcomes.table import Outcomes
from ..schema import Table
from ..stats._check import level_of
from ..stats.homogeneity import homogeneity
from ..stats.ordered import RESAMPLES, OrderedTrend, equal_weight, ordered_trend
from .cells import Counted, chosen_metrics, count
from .disagree import adjusters, disagreements
from .rates import BOUNDS, rated, table_of
from .unit import listed, unit_of

FEWEST_STRATA = 3  # two points always lie on a line
NO_CASE = "no case in this stratum"
NOTHING = OrderedTrend(math.nan, math.nan, "", "no case")


@dataclass(frozen=True)
class Scale:
    """The column of strata with its values as shown, whether they have an order, and further
    columns within which a trend is taken.
    """

    column: str
    order: tuple[str, ...]
    ordered: bool
    within: tuple[str, ...] = ()


def gradient(
    runs: Outcomes,
    metric: str = "CR",
    by: str | Iterable[str] | Mapping[str, Iterable[str]] = "scope",
    *,
    mode: str | Iterable[str] | None = None,
    level: float = 0.95,
    cluster: str | Iterable[str] | None = None,
) -> Table:
    """One metric over strata: each stratum, two totals, and a test, mode by mode.

    Parameters
    ----------
    metric: a symbol or word of `fnb.metrics()`.
    by: the column of strata. `scope`, an ordered categorical, or an order that the caller gives
        (`{"tier": ["Tier2", "Tier1"]}`) have a trend; other strata have no order and are tested for
        any difference. Further columns in a list keep tables apart, and the test is then taken
        within them.
    mode: one mode or several; None is all.
    level: confidence level, a proportion.
    cluster: as in `fnb.rates`; the trend then flips the signs of whole clusters.

    Returns
    -------
    The columns of `fnb.rates` and `trend_p`, or `differ_p` where the strata have no order, the same
    in all rows of a mode. After the strata of a mode stand "micro: all cases" (every case counts
    once) and "macro: mean of strata" (every stratum counts once; `k` and `n` stay those of all
    cases). A stratum of the order without a case keeps its place. The fact `order` names the
    ordered column ("" where there is none), `test` the test.

    Not computable when
    -------------------
    fewer than three strata have cases (two without an order), or all outcomes are the same: the p
    is NaN and the note of the total says why.

    Raises
    ------
    ValueError: an unknown metric, column or mode; an order that lacks a stratum of the data.

    Notes
    -----
    `note` warns when the pooled picture turns round within the strata (Simpson 1951): the trend
    within tier, suite, category, carrier, attack or model, or the order of two modes. The macro
    interval is recovered from the strata's own limits (Zou, Huang, Zhang 2009); where clusters span
    strata the limits are averaged, which is wider. A stratum without a value enters neither the
    macro mean nor a trend.

    Example
    -------
    >>> import pandas as pd, ferrite_nb as fnb
    >>> rows = {"case_id": list("abcdefghi"), "mode": "On",
    ...         "scope": ["exact", "domain_suffix", "task_open"] * 3,
    ...         "attack_success": [0, 0, 1, 0, 1, 1, 0, 0, 1]}
    >>> table = fnb.gradient(fnb.outcomes(pd.DataFrame(rows)))
    >>> table[["scope", "k", "n"]].values.tolist()[:3]
    [['exact', 3, 3], ['domain_suffix', 2, 3], ['task_open', 0, 3]]
    """
    (wanted,), level = chosen_metrics(runs, [metric]), level_of(level)
    scale, unit = scale_of(runs, by), unit_of(runs, cluster)
    extra = adjusters(runs, wanted, [scale.column, *scale.within, *unit.keys])
    counted = count(runs, [wanted], [scale.column, *scale.within, *extra], unit)
    modes = [find_mode(counted.modes, name) for name in listed(mode)]
    return gradient_table(counted, wanted, scale, modes=modes, level=level, extra=extra)


def scale_of(runs: Outcomes, by: str | Iterable[str] | Mapping[str, Iterable[str]]) -> Scale:
    """The column and its values, as the caller, the metrics page, the data or the text order
    them.
    """
    names = list(by) if isinstance(by, Mapping) else listed(by)
    if not names or "mode" in names:
        raise ValueError(
            f"by names the stratum and never the mode (modes are kept apart), got {by!r}"
        )
    column, *within = check_columns(runs, names, "by")
    there = pandas_of(runs.table.select(*labels(runs, [column])).unique())[column]
    values = ordered_strata(column, there.fillna("").astype(str).replace("", NO_VALUE))
    totals = {MICRO, MACRO} & set(values)
    if totals:
        raise ValueError(
            f"{column} has the stratum {min(totals)!r}, the name of a total: give it another name"
        )
    if isinstance(by, Mapping):
        return Scale(column, given_order(column, listed(by[column]), values), True, tuple(within))
    dtype = runs.frame[column].dtype if isinstance(runs.frame, pd.DataFrame) else None
    if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered:
        order = [str(value) for value in dtype.categories if str(value) in values]
        order += [value for value in values if value not in order]
        return Scale(column, tuple(order), True, tuple(within))
    known = column == "scope" and set(values) - {NO_VALUE} <= set(SCOPES)
    if known:
        order = [*SCOPES, *(value for value in values if value == NO_VALUE)]
        return Scale(column, tuple(order), True, tuple(within))
    return Scale(column, tuple(values), False, tuple(within))


def given_order(column: str, order: Sequence[Any], values: Sequence[str]) -> tuple[str, ...]:
    """The caller's order, which must hold every stratum of the data; others keep an empty place."""
    named = tuple(str(value) for value in order)
    lacking = [value for value in values if value not in named]
    if lacking:
        raise ValueError(
            f"the order of {column} lacks {', '.join(map(repr, lacking[:8]))}, which the data "
            f"hold: name it too, or leave it out with runs.where({column}=[...])"
        )
    if len(set(named)) < len(named):
        raise ValueError(f"the order of {column} names a stratum twice: {list(named)}")
    return named


def gradient_table(
    counted: Counted,
    metric: Metric,
    scale: Scale,
    *,
    modes: Sequence[str] = (),
    level: float = 0.95,
    extra: Sequence[str] = (),
) -> Table:
    """The gradient from what is already counted; reversals are looked for in the columns `extra`
    of the cube.
    """
    options = {"method": "wilson", "level": level, "z": None}
    cells = replace(counted, strata=[scale.column, *scale.within, "mode"])
    where = [*scale.within, "mode"]
    fine, below = rated(cells, metric, options)
    coarse, _ = rated(replace(counted, strata=where), metric, options)
    named = {"mode": ""}  # a fact of the suite has no mode
    strata = {label_of(row, [scale.column, *where]): row for row in ({**named, **r} for r in fine)}
    totals = [
        row for row in ({**named, **r} for r in coarse) if not modes or row["mode"] in ("", *modes)
    ]
    below = below if "mode" in below else below.assign(mode="")
    tests = tests_of(below, fine, scale, counted.unit.keys)
    warnings = disagreements(
        counted, metric, (scale.column, scale.order), modes=modes, extra=extra, level=level
    )
    spans = _spans(below, scale.column, where, counted.unit.keys)
    rows: list[dict[str, Any]] = []
    for micro in totals:
        here = label_of(micro, where)
        mine = [
            strata.get((value, *here)) or absent(micro, scale.column, value)
            for value in scale.order
            if value != NO_VALUE or strata.get((value, *here), {"n": 0})["n"]
        ]
        mean = macro(mine, micro, scale.column, here in spans)
        test = tests.get(micro["mode"], NOTHING)
        both = [{**micro, scale.column: MICRO}, {**mean, scale.column: MACRO}]
        rows += with_test(mine, both, test, scale, warnings.get(micro["mode"], ""))
    add_turned_orders(rows, scale)
    return table_of(rows, replace(counted, strata=[scale.column, *where]))


def label_of(row: Mapping[str, Any], columns: Sequence[str]) -> tuple[Any, ...]:
    """What a row is of."""
    return tuple(row[name] for name in columns)


def tests_of(
    below: pd.DataFrame, rows: Sequence[Mapping[str, Any]], scale: Scale, keys: Sequence[str]
) -> dict[str, OrderedTrend]:
    """The test of each mode: a trend over ordered strata, else whether they differ at all."""
    found: dict[str, OrderedTrend] = {}
    known = below[(below["n"] > 0) & (below[scale.column] != NO_VALUE)]
    for mode, part in known.groupby("mode", sort=False):
        if scale.ordered:
            found[str(mode)] = trend_of(part, scale, keys)
            continue
        mine = [row for row in rows if row.get("mode", "") == mode and row["n"]]
        mine = [row for row in mine if row[scale.column] != NO_VALUE]
        counts = [np.array([row[name] for row in mine]) for name in ("k", "n", "n_eff")]
        p = homogeneity(*counts) if len(mine) > 1 else math.nan
        why = "fewer than two strata with cases" if len(mine) < 2 else "all outcomes are the same"
        found[str(mode)] = OrderedTrend(math.nan, p, "chi-squared", why if math.isnan(p) else "")
    return found


def trend_of(part: pd.DataFrame, scale: Scale, keys: Sequence[str]) -> OrderedTrend:
    """The trend of one mode; with two crossed clusters the test with the larger p."""
    place = {value: at for at, value in enumerate(scale.order, 1)}
    if part[scale.column].nunique() < FEWEST_STRATA:
        return OrderedTrend(math.nan, math.nan, "", "fewer than three strata with cases")
    codes = [pd.factorize(part[name])[0] for name in scale.within]
    within = list(zip(*codes, strict=True)) if codes else None
    used = [key for key in (keys or ["case_id"]) if key in part]
    marks: list[Any] = [part[key].tolist() for key in used] or [None]
    k, n = part["k"], part["n"]
    scores = part[scale.column].map(place).astype("float64").to_numpy()
    stratum = None if within is None else pd.factorize(pd.Series(within))[0]
    tests = [ordered_trend(k, n, scores, stratum=stratum, cluster=mark) for mark in marks]
    return max(tests, key=lambda test: -1.0 if math.isnan(test.p) else test.p)


def absent(micro: Mapping[str, Any], column: str, value: str) -> dict[str, Any]:
    """The row of a stratum without a case, which keeps its place."""
    numbers = dict.fromkeys(("rate", "floor", "ceiling", *BOUNDS))
    none = dict.fromkeys(("k", "n", "missing"), 0)
    words = {"state": "none", "why": NO_CASE, "note": f"not computable: {NO_CASE}"}
    return {**micro, **none, **numbers, **words, column: value}


def with_test(
    mine: list[dict[str, Any]],
    totals: list[dict[str, Any]],
    test: OrderedTrend,
    scale: Scale,
    warning: str,
) -> list[dict[str, Any]]:
    """The rows of one mode: strata in order, micro, macro, each with the test of the mode."""
    micro, mean = totals
    lacking = "no trend" if scale.ordered else "no test"
    if math.isnan(test.p):
        words = [f"{lacking}: {test.note}"]
    elif scale.ordered:
        words = [f"trend: {test.method}, {_way(test.z)}", test.note]
    else:
        words = [f"do the strata differ: {test.method}", test.note]
    micro["note"] = "; ".join(filter(None, [micro["note"], *words, warning]))
    mean["note"] = "; ".join(filter(None, [mean["note"], warning]))
    facts: dict[str, Any] = {"trend_p" if scale.ordered else "differ_p": test.p}
    facts |= {"order": scale.column if scale.ordered else "", "test": test.method}
    if test.drawn:
        facts["seed"] = f"0 ({RESAMPLES:,} draws)"
    return [{**row, **facts} for row in (*mine, micro, mean)]


def _way(z: float) -> str:
    return f"z = {z:.2f} ({'rising' if z > 0 else 'falling' if z < 0 else 'flat'} in this order)"


def macro(
    mine: list[dict[str, Any]], micro: dict[str, Any], column: str, spans: bool
) -> dict[str, Any]:
    """The total in which every stratum counts once, whether or not clusters lie in several."""
    named = [row for row in mine if row[column] != NO_VALUE]
    used = [row for row in named if row["n"]]
    if not used:
        return dict(micro)
    names = ("rate", "low", "high", "floor", "ceiling", "outer_low", "outer_high")
    values = {name: np.array([row[name] for row in used], dtype=np.float64) for name in names}
    rate, low, high, floors, ceilings, outer_low, outer_high = values.values()
    total = equal_weight(rate, low, high, independent=not spans)
    outer = equal_weight(rate, outer_low, outer_high, independent=not spans)
    notes = [f"mean of {len(used)} of {len(named)} strata, whatever their size"]
    few = [f"{row[column]} has n = {row['n']}" for row in used if row["n"] < FEW]
    notes += [f"rests on few cases: {', '.join(few[:4])}"] if few else []
    notes.append(
        "limits averaged, because clusters span strata" if spans else "limits combined over strata"
    )
    lost = bool(np.isnan(low).any())
    state, why = state_of(micro["n"], total.rate, total.low)
    return micro | {
        "rate": total.rate,
        "low": total.low,
        "high": total.high,
        "outer_low": outer.low,
        "outer_high": outer.high,
        "n_eff": None,
        "floor": float(floors.mean()),
        "ceiling": float(ceilings.mean()),
        "method": f"macro mean of {used[0]['method']}",
        "state": state,
        "why": "a stratum has no interval" if lost and state == "none" else why,
        "note": "; ".join(notes),
    }


def add_turned_orders(rows: list[dict[str, Any]], scale: Scale) -> None:
    """Add to the notes of macro rows the modes that micro and macro put in different orders."""
    totals: dict[Any, dict[str, float]] = {}
    for row in rows:
        if row[scale.column] in (MICRO, MACRO):
            label = label_of(row, [*scale.within, "mode"])
            totals.setdefault(label, {})[row[scale.column]] = row["rate"]
    for row in rows:
        if row[scale.column] != MACRO:
            continue
        *within, mode = label_of(row, [*scale.within, "mode"])
        mine = totals[*within, mode]
        peers = [(other, rate) for (*where, other), rate in totals.items() if where == within]
        turned = [
            other
            for other, rate in peers
            if (mine[MICRO] - rate[MICRO]) * (mine[MACRO] - rate[MACRO]) < 0
        ]
        if turned:
            words = f"micro and macro put this mode and {', '.join(turned[:3])} in different orders"
            row["note"] = "; ".join(filter(None, [row["note"], words]))


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
