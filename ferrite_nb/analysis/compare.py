"""`compare`: two modes on the same cases, all pairs asked for in one family, and what the missing
outcomes could change.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import chdtrc

from ..count.cube import check_columns, cube, find_mode, modes_of, name_of, vectors, versions
from ..estimate import digits, p_text
from ..metrics import Metric
from ..metrics import metric as find_metric
from ..order import NO_VALUE, ordered_modes
from ..outcomes.contract import FLAGS, OutcomesError
from ..outcomes.table import UNCHECKED, Outcomes
from ..schema import Table, made
from ..stats._check import level_of, z_of
from ..stats.missing import what_missing_decides
from ..stats.pairs import holm
from ..stats.trend import cmh, cochrans_q
from .cells import in_order
from .judged_pairs import corrected_pair, sheet_of
from .pairing import Asked, Places, one_pair
from .unit import listed, unit_of
from .unpaired import Unpaired

ALL, OTHERS = "all strata", "all others"


def compare(
    runs: Outcomes,
    metric: str | Iterable[str] = "ASR",
    *,
    modes: Sequence[str] | None = None,
    baseline: str | None = None,
    by: str | Iterable[str] | None = None,
    level: float = 0.95,
    cluster: str | Iterable[str] | None = None,
    judge: Any = None,
    correction: str | None = "holm",
) -> Table:
    """Compare modes on the cases that both ran: one row per metric, stratum and pair of modes.

    Parameters
    ----------
    metric: an event of a case (ASR, CR, ADR, SDR, task success, ...), one or several.
    modes: the modes to compare, in this order; None is all. The baseline comes first.
    baseline: only the pairs with this mode, and no others, are asked for.
    by: strata columns; pairs are compared within each stratum, one more row a pair (`quantity`
        "interaction") says whether the strata agree, and with more than two modes one row
        ("all modes") whether they all have one rate.
    level: confidence level of the interval of the difference.
    cluster: a column whose cases may rise and fall together, or a pair of crossed columns; None
        takes what was declared with the data, an empty tuple none.
    judge: what is known of the judge of the outcomes, as in `fnb.rates`: `diff`, `low`, `high` are
        then corrected, counts and p stay those of the judge's flags. Labels by mode keep Se and Sp
        apart; others assume that the judge errs alike, and the note says what would undo that.
    correction: "holm" over all pairs asked for, of one metric in one stratum, or None.

    Returns
    -------
    Table with `metric`, the strata, `mode_a`, `mode_b`, `quantity`, `n_pairs`, `both`, `b` (the
    event in A only), `c` (in B only), `neither`, `rate_a`, `rate_b`, `diff` (A minus B) with `low`
    and `high`, `h` (Cohen, signed), `p`, `log10_p`, `p_holm`, `p_least` (the smallest p that these
    cases or clusters can reach), `detectable` (the smallest difference that they would find with
    power .8), `unpaired` (cases known in one of the two modes only), `independent_low` and
    `independent_high` (the interval that ignores the pairing, to be shown in grey), `state`, `why`,
    `note` and the facts, among them `unit` and `method`.

    Not computable when
    -------------------
    the two modes share no case, ran different suite versions, or one has no known outcome: NaN and
    the reason in `why`; such a pair still counts in the family.

    Raises
    ------
    ValueError: an unknown metric, mode, column or correction. OutcomesError: one mode only, or no
        cases to pair.

    Notes
    -----
    Independent cases that ran once: exact two-sided McNemar and Newcombe's paired interval (method
    10). With clusters or repeats: sign flips of the units, and the hull of subset limits and
    Newcombe's interval at the effective number of cases; with two crossed keys also the two-way
    variance. There p and interval never contradict each other at 0. With repeats `b` counts cases
    whose mean rate is higher in A. Rows are paired by `case_id`, never by order.

    Source
    ------
    McNemar 1947; Holm 1979; Newcombe 1998 (Stat Med 17:2635); Hartigan 1969; Cohen 1988.

    Example
    -------
    >>> import ferrite_nb as fnb
    >>> runs = fnb.read(fnb.data("ferrite_run_a.csv"))
    >>> fnb.compare(runs, modes=["Off", "On"])[["n_pairs", "b", "c"]].values.tolist()
    [[22, 22, 0]]
    """
    if correction not in ("holm", "none", None):
        raise ValueError(f'correction must be "holm" or None, got {correction!r}')
    strata, level = listed(by), level_of(level)
    if "mode" in strata:
        raise ValueError("by takes strata, not the mode: the modes are what is compared")
    unit, chosen = unit_of(runs, cluster), chosen_modes(runs, modes, baseline)
    metrics = [find_metric(name) for name in listed(metric)]
    if not metrics:
        raise ValueError("name at least one metric")
    events = {column for one in metrics for column in one.event}
    counted = [
        name for name in check_columns(runs, strata, "by") if name in FLAGS and name in events
    ]
    if counted:
        raise ValueError(
            f"{counted[0]} is counted here, so it cannot be a stratum too: it would part the pairs"
        )
    asked = Asked(chosen, strata, unit, level, correction == "holm", baseline is not None)
    rows = [row for one in metrics for row in rows_of(runs, one, asked, judge)]
    return made("compare", rows, strata, level=level, unit=unit.name, source=runs.source)


def chosen_modes(
    runs: Outcomes, modes: Sequence[str] | None, baseline: str | None = None
) -> list[str]:
    """At least two modes in the order given, the baseline first."""
    there = modes_of(runs)
    wanted = there if modes is None else [find_mode(there, one, "modes") for one in listed(modes)]
    first = runs.baseline if baseline is None else find_mode(there, baseline, "baseline")
    if baseline is not None and first not in wanted:
        wanted = [str(first), *wanted]
    if len(set(wanted)) < 2:
        raise OutcomesError(
            f"one mode only ({', '.join(wanted) or 'none'}): there is nothing to compare"
        )
    return ordered_modes(wanted, wanted, first if first in wanted else None)


def rows_of(runs: Outcomes, metric: Metric, asked: Asked, judge: Any) -> list[dict[str, Any]]:
    """The rows of one metric: each pair in each stratum, and with strata whether they agree."""
    strata, modes = asked.strata, asked.modes
    table = vectors(runs, metric, modes, list(dict.fromkeys([*strata, *asked.keys])))
    suites = versions_of(runs, metric, strata)
    order = in_order(table[strata].drop_duplicates(), strata, [])
    cells = order.to_dict("records") if strata else [{}]
    parts = dict(tuple(table.groupby(strata, sort=False))) if strata else {(): table}
    left_out = Unpaired(runs, metric, modes, strata)
    sheet = None if judge is None else sheet_of(judge, runs, cells, asked)
    rows: list[dict[str, Any]] = []
    for cell in cells:
        label, family = tuple(cell.values()), []
        for first, second in asked.pairs:
            names = {"mode_a": modes[first], "mode_b": modes[second]}
            row = {"metric": metric.symbol, **cell, **names, "quantity": "difference"}
            both = [suites.get((*label, mode), [""]) for mode in names.values()]
            row["suite_version"] = ", ".join(sorted({v for several in both for v in several if v}))
            why = version_reason(modes[first], modes[second], *both)
            family.append(row | one_pair(parts[label], (first, second), metric, asked, why))
        finish(family, asked)
        for row in family:
            if sheet is not None and row["state"] != "none":
                corrected_pair(row, sheet, metric, asked)
            notes = [*row["note"], left_out.note(row), "" if runs.checked else UNCHECKED]
            row["note"] = "; ".join(filter(None, [*refusal_of(row), *notes]))
        rows += family
    if not strata:
        return rows
    shared = {"metric": metric.symbol, **dict.fromkeys(strata, ALL)}
    more = [agreement(rows, pair, asked) for pair in asked.pairs]
    more += [all_modes(table, asked)] if len(modes) > 2 else []
    for row in more:
        row["note"] = "; ".join(filter(None, [*refusal_of(row), row.get("note", "")]))
    return rows + [shared | row for row in more]


def refusal_of(row: Mapping[str, Any]) -> list[str]:
    """How the note of a row without a number begins."""
    return [f"not computable: {row['why']}"] if row["state"] == "none" else []


def versions_of(
    runs: Outcomes, metric: Metric, strata: list[str]
) -> dict[tuple[str, ...], list[str]]:
    """Suite versions per stratum and mode; nothing where there are none or where they were pooled
    on request.
    """
    if runs.pooled or "suite_version" not in runs.columns:
        return {}
    keys = [*strata, "mode"]
    found = versions(cube(runs, keys, list(metric.columns)), metric, keys)
    for labels, several in found.items():
        if len(several) > 1:
            raise OutcomesError(
                f"{name_of(keys, labels)} mixes suite versions ({', '.join(several)}). Choose one "
                "with runs.where(suite_version=...) or accept the mix with runs.pool_versions()",
                fix="versions",
            )
    return {labels: [v for v in several if v != NO_VALUE] for labels, several in found.items()}


def version_reason(a: str, b: str, first: list[str], second: list[str]) -> str:
    """Why two modes of different suite versions are not compared; empty when they may be."""
    if first == [""] or second == [""] or first == second:
        return ""
    words = f'"{a}" {", ".join(first) or NO_VALUE}, "{b}" {", ".join(second) or NO_VALUE}'
    return f"suite versions differ ({words}); runs.pool_versions() accepts them"


def finish(family: list[dict[str, Any]], asked: Asked) -> None:
    """Holm over the pairs of one stratum, and what the missing outcomes of each could change."""
    p = [row.get("p", math.nan) for row in family]
    alpha = 1 - asked.level
    for place, row in enumerate(family):
        others = [*p[:place], *p[place + 1 :]] if asked.holm else []
        row["p_holm"] = holm([p[place], *others]).adjusted[0] if asked.holm else math.nan
        if row["ends"] is None:
            continue
        lost, floor, ceiling = row["ends"]
        state = what_missing_decides((row["diff"], row["p"]), floor, ceiling, others, alpha)
        modes = zip((row["mode_a"], row["mode_b"]), lost, strict=True)
        whose = " and ".join(f'{n} of "{mode}"' for mode, n in modes if n)
        shown = [
            f"{difference_points(diff)}, {'Holm p' if others else 'p'} "
            f"{p_text(float(holm([value, *others]).adjusted[0]))}"
            for diff, value in (floor, ceiling)
        ]
        row["note"].append(
            f"the missing outcomes ({whose}) {MISSING[state]}: at the floor {shown[0]}, at the "
            f"ceiling {shown[1]}"
        )


MISSING = {
    "decides nothing": "decide nothing",
    "could undo": "could undo this",
    "could bring": "could bring a decision",
}


def difference_points(diff: float) -> str:
    """A difference without bounds: it is one completion of the data, no estimate."""
    return f"{digits(diff)} points"


def agreement(rows: Sequence[dict[str, Any]], pair: Places, asked: Asked) -> dict[str, Any]:
    """Whether the strata agree on the difference of one pair of modes: Cochran's Q of their
    differences, weighted by their intervals, and the Mantel-Haenszel summary.
    """
    a, b = (asked.modes[place] for place in pair)
    mine = [row for row in rows if (row["mode_a"], row["mode_b"]) == (a, b)]
    used = [row for row in mine if row["state"] == "ok" and row["high"] > row["low"]]
    out: dict[str, Any] = {"mode_a": a, "mode_b": b, "quantity": "interaction"}
    out |= {"method": "Cochran's Q of strata", "state": "ok"}
    names = ("n_pairs", "both", "b", "c", "neither", "unpaired")
    out |= {name: sum(row[name] for row in mine) for name in names}
    if len(used) < 2:
        return out | {"state": "none", "why": "fewer than two strata with an interval"}
    diffs, low, high = (np.array([row[name] for row in used]) for name in ("diff", "low", "high"))
    weights = 1 / ((high - low) / (2 * z_of(asked.level))) ** 2
    mean = float(weights @ diffs / weights.sum())
    p = float(chdtrc(len(used) - 1, float(weights @ (diffs - mean) ** 2)))
    note = f"do the {len(used)} strata agree? Cochran's Q of their differences"
    if all(row["plain"] for row in used):
        tables = [
            [
                [row["both"] + row["b"], row["c"] + row["neither"]],
                [row["both"] + row["c"], row["b"] + row["neither"]],
            ]
            for row in used
        ]
        odds = cmh(tables)
        if math.isfinite(odds.odds_ratio) and math.isfinite(odds.low):
            note += f"; Mantel-Haenszel odds ratio {odds.odds_ratio:.3g} "
            note += f"[{odds.low:.3g}, {odds.high:.3g}], pairing ignored"
    return out | {"p": p, "log10_p": math.log10(max(p, 1e-300)), "note": note}


def all_modes(table: pd.DataFrame, asked: Asked) -> dict[str, Any]:
    """Whether all modes have one rate on the cases that are known in each of them: Cochran's Q."""
    places = range(len(asked.modes))
    n, lost = (table[[f"{what}{place}" for place in places]].to_numpy() for what in "nm")
    complete = (n > 0).all(axis=1)
    out: dict[str, Any] = {"mode_a": asked.modes[0], "mode_b": OTHERS, "state": "none"}
    out["quantity"] = "all modes"
    out |= {"method": "Cochran's Q", "n_pairs": int(table["cases"][complete].sum())}
    if asked.keys or ((n + lost) > 1).any():
        return out | {"why": "Cochran's Q takes independent cases that ran once"}
    known = table[complete]
    events = known[[f"k{place}" for place in places]].to_numpy()
    result = cochrans_q(np.repeat(events, known["cases"], axis=0))
    if math.isnan(result.p):
        return out | {"why": result.note}
    note = f"do all {len(places)} modes have one rate? Cochran's Q over all strata"
    more = {"p": result.p, "log10_p": math.log10(max(result.p, 1e-300)), "note": note}
    return out | more | {"state": "ok"}
