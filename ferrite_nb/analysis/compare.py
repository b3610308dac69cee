"""`compare`: two modes on the same cases, all pairs asked for in one family, and what the missing
outcomes could change.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import chdtrc

from ..count.cube import check_columns, cube, find_mode, modes_of, name_of, vectors, versions
from ..estimate import FEW, bracket, p_text
from ..metrics import NO_VALUE, Metric, mode_key, ordered_modes
from ..metrics import metric as find_metric
from ..outcomes.contract import FLAGS, OutcomesError
from ..outcomes.table import UNCHECKED, Outcomes
from ..schema import Table, made
from ..stats._check import level_of, z_of
from ..stats.differences import difference, paired_difference
from ..stats.paired import paired_crossed, paired_units, what_missing_decides
from ..stats.pairs import cohens_h, holm, mcnemar
from ..stats.planning import detectable
from ..stats.trend import cmh
from .cells import in_order
from .unit import Unit, listed, unit_of
from .unpaired import Unpaired

SEED = "0 (100,000 draws)"
ALL = "all strata"
POWER = 0.8
Numbers = NDArray[Any]


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
    by: strata columns; pairs are compared within each stratum, and one more row a pair
        (`quantity` "interaction") says whether the strata agree.
    level: confidence level of the interval of the difference.
    cluster: a column whose cases may rise and fall together, or a pair of crossed columns; None
        takes what was declared with the data, an empty tuple none.
    judge: what is known of the judge of the outcomes, as in `fnb.rates`: `diff`, `low`, `high` are
        then corrected; labels by mode keep Se and Sp apart.
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


@dataclass(frozen=True)
class Asked:
    """What a call asks for: modes in order, strata, unit, level, whether Holm corrects, and whether
    only pairs with the first mode are wanted.
    """

    modes: list[str]
    strata: list[str]
    unit: Unit
    level: float
    holm: bool
    with_first: bool

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs of modes as places."""
        if self.with_first:
            return [(0, place) for place in range(1, len(self.modes))]
        return list(combinations(range(len(self.modes)), 2))

    @property
    def keys(self) -> list[str]:
        """The cluster columns; a case is no cluster of itself."""
        return [key for key in self.unit.keys if key != "case_id"]


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
    told = versions_of(runs, metric, strata)
    cells = in_order(table[strata].drop_duplicates(), strata, []).to_dict("records")
    left_out = Unpaired(runs, metric, modes, strata)
    sheet = None
    if judge is not None:
        from .judged import Sheet, corrected_pair, labels_of_run

        labels = labels_of_run(judge, runs, [*strata, "mode"])
        sheet = Sheet.of(labels, [{"mode": mode} for mode in modes], [*strata, "mode"])
    rows: list[dict[str, Any]] = []
    for cell in cells if strata else [{}]:
        part = table[(table[list(cell)] == pd.Series(cell)).all(axis=1)] if cell else table
        family = []
        for first, second in asked.pairs:
            names = {"mode_a": modes[first], "mode_b": modes[second]}
            row = {"metric": metric.symbol, **cell, **names, "quantity": "difference"}
            label = tuple(str(value) for value in cell.values())
            both = [told.get((*label, mode), [""]) for mode in names.values()]
            row["suite_version"] = ", ".join(sorted({v for several in both for v in several if v}))
            why = version_reason(*names.values(), *both)
            family.append(row | one_pair(part, (first, second), metric, row, asked, why))
        finish(family, asked)
        for row in family:
            notes = [*row["note"], left_out.note(row), "" if runs.checked else UNCHECKED]
            if sheet is not None and row["state"] != "none":
                notes.append(corrected_pair(row, sheet, metric, clustered=bool(asked.unit.keys)))
            lead = [f"not computable: {row['why']}"] if row["state"] == "none" else []
            row["note"] = "; ".join(filter(None, [*lead, *notes]))
        rows += family
    if strata:
        rows += [agreement(rows, pair, asked) for pair in asked.pairs]
    return rows


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
    words = f"{a} {', '.join(first) or NO_VALUE}, {b} {', '.join(second) or NO_VALUE}"
    return f"suite versions differ ({words}); runs.pool_versions() accepts them"


@dataclass(frozen=True)
class Pair:
    """The cases of two modes, one entry a distinct vector: events, known and unknown runs in each,
    how many cases have it, and their clusters.
    """

    k_a: Numbers
    n_a: Numbers
    m_a: Numbers
    k_b: Numbers
    n_b: Numbers
    m_b: Numbers
    cases: Numbers
    labels: dict[str, Numbers] = field(default_factory=dict)

    def known(self) -> Numbers:
        """Cases with a known outcome in both modes."""
        return (self.n_a > 0) & (self.n_b > 0)

    def ran(self) -> Numbers:
        """Cases that ran in both modes, known or not."""
        return (self.n_a + self.m_a > 0) & (self.n_b + self.m_b > 0)

    def rates(self, up: int | None = None) -> tuple[Numbers, Numbers, Numbers]:
        """The rate of each case in both modes, and the chosen entries: as they are, or the unknown
        of A taken as `up` and those of B as the reverse.
        """
        if up is None:
            rows = self.known()
            return self.k_a[rows] / self.n_a[rows], self.k_b[rows] / self.n_b[rows], rows
        rows = self.ran()
        a = (self.k_a + up * self.m_a)[rows] / (self.n_a + self.m_a)[rows]
        b = (self.k_b + (1 - up) * self.m_b)[rows] / (self.n_b + self.m_b)[rows]
        return a, b, rows


def one_pair(
    part: pd.DataFrame,
    places: tuple[int, int],
    metric: Metric,
    row: Mapping[str, Any],
    asked: Asked,
    refused: str,
) -> dict[str, Any]:
    """One row of `compare` from the vectors of one stratum, before the family is known."""
    counts = [part[f"{what}{place}"].to_numpy() for place in places for what in "knm"]
    labels = {key: part[key].to_numpy() for key in asked.keys}
    pair = Pair(*counts, part["cases"].to_numpy(), labels)
    known = pair.known()
    alone = (pair.n_a > 0) ^ (pair.n_b > 0)
    out: dict[str, Any] = {"unpaired": int(pair.cases[alone].sum()), "note": [], "ends": None}
    if refused or not known.any():
        counts_ = dict.fromkeys(("n_pairs", "both", "b", "c", "neither"), 0)
        why = refused or no_pair_reason(metric, row, pair)
        return out | counts_ | {"state": "none", "why": why, "method": ""}
    a, b, rows = pair.rates()
    out |= counted(a, b, pair.cases[rows])
    test = tested(pair, None, asked)
    out |= test
    out["note"] = [*test["note"], *power_notes(out, asked)]
    few = out["n_pairs"] < FEW
    if few or math.isnan(out["low"]):
        out |= {"state": "few", "why": f"n<{FEW} pairs" if few else "one cluster"}
    lost = [int((m * pair.cases)[pair.ran()].sum()) for m in (pair.m_a, pair.m_b)]
    if any(lost):
        ends = [tested(pair, up, asked) for up in (0, 1)]
        out["ends"] = (lost, *((end["diff"], end["p"]) for end in ends))
        out["missing"] = sum(lost)
        out["outer_low"] = min(end["low"] for end in (out, *ends))
        out["outer_high"] = max(end["high"] for end in (out, *ends))
    return out


def no_pair_reason(metric: Metric, row: Mapping[str, Any], pair: Pair) -> str:
    """Why there is no case known in both modes."""
    sides = ((row["mode_a"], pair.n_a, pair.m_a), (row["mode_b"], pair.n_b, pair.m_b))
    for mode, n, m in sides:
        if not n.sum() and mode_key(mode) in metric.inactive:
            return metric.inactive[mode_key(mode)].replace("this mode", mode)
        if not n.sum() and m.sum():
            return f"no case of {mode} has a known outcome"
        if not n.sum():
            return f"no case of {metric.symbol} ran in {mode}"
    return "the two modes share no case"


def counted(a: Numbers, b: Numbers, weight: Numbers) -> dict[str, Any]:
    """The four cells over cases, the mean case rates, their difference and Cohen's h."""
    tie = a == b
    total = int(weight.sum())
    mean_a, mean_b = float(a @ weight) / total, float(b @ weight) / total
    return {
        "n_pairs": total,
        "both": int(weight[tie & (a >= 0.5)].sum()),
        "b": int(weight[a > b].sum()),
        "c": int(weight[a < b].sum()),
        "neither": int(weight[tie & (a < 0.5)].sum()),
        "rate_a": mean_a,
        "rate_b": mean_b,
        "diff": float((a - b) @ weight) / total,
        "h": cohens_h(min(mean_a, 1.0), min(mean_b, 1.0)),
        "state": "ok",
        "why": "",
    }


def tested(pair: Pair, up: int | None, asked: Asked, *, only_p: bool = False) -> dict[str, Any]:
    """The test and the interval of the mean difference, by the unit of the row."""
    a, b, rows = pair.rates(up)
    weight = pair.cases[rows]
    runs_a, runs_b = (
        (n + (m if up is not None else 0))[rows]
        for n, m in ((pair.n_a, pair.m_a), (pair.n_b, pair.m_b))
    )
    once = not ((runs_a > 1).any() or (runs_b > 1).any())
    if once and not asked.keys:
        return plain_test(a, b, weight, asked.level, only_p)
    a, b = np.repeat(a, weight), np.repeat(b, weight)
    marks = [np.repeat(pair.labels[key][rows], weight) for key in asked.keys]
    runs = None if once else int(np.minimum(runs_a, runs_b) @ weight)
    if len(marks) == 2:
        result: Any = paired_crossed(a, b, *marks, level=asked.level)
        words = " and ".join(
            f"{n} of {key}" for n, key in zip(result.units, asked.keys, strict=True)
        )
        name, fewest = "largest of two sign flips and the two-way test", min(result.units)
    else:
        unit = marks[0] if marks else np.arange(len(a))
        result = paired_units(a, b, unit, runs=runs, level=asked.level)
        words = f"{result.units} values of {asked.keys[0]}" if marks else ""
        name, fewest = "sign flip", result.units
    out = {"diff": result.diff, "p": result.p, "p_least": result.floor, "fewest": fewest}
    if only_p:
        return out
    out |= {"low": result.low, "high": result.high, "n_eff": result.n_eff}
    out |= {"log10_p": math.log10(result.p), "method": f"{name}, subset and Newcombe limits"}
    out |= {"seed": SEED} if result.drawn else {}
    notes = [
        words
        and f"{len(a):,} cases from {words} are worth about {result.n_eff:.0f} independent ones"
    ]
    notes += [
        f"cases without {key} count as one cluster"
        for key, mark in zip(asked.keys, marks, strict=True)
        if (mark == NO_VALUE).any()
    ]
    if not marks:
        notes.append("the unit is the case: runs are averaged first")
        if result.hangs_on:
            notes.append(f"the difference hangs on {result.hangs_on} cases")
    if result.carried:
        decides = result.p <= 1 - asked.level
        notes.append(
            "0 itself is excluded by the exact test" if decides else "the test does not exclude 0"
        )
    return out | {"note": notes, "units": words or f"{fewest} cases"}


def plain_test(
    a: Numbers, b: Numbers, weight: Numbers, level: float, only_p: bool
) -> dict[str, Any]:
    """Exact McNemar and Newcombe's paired interval."""
    both, only_a, only_b, neither = (
        int(weight[(a == x) & (b == y)].sum()) for x, y in ((1, 1), (1, 0), (0, 1), (0, 0))
    )
    n = int(weight.sum())
    test = mcnemar(only_a, only_b)
    least = min(1.0, 2.0 ** (1 - only_a - only_b))
    out: dict[str, Any] = {"diff": (only_a - only_b) / n, "p": test.p, "p_least": least}
    if only_p:
        return out
    limits = paired_difference(both, only_a, only_b, neither, method="newcombe", level=level)
    apart = difference(both + only_a, n, both + only_b, n, level=level)
    out |= {"low": limits.low, "high": limits.high, "log10_p": test.log10_p, "n_eff": float(n)}
    out |= {"independent_low": apart.low, "independent_high": apart.high}
    notes = []
    if test.p > 1 - level and (limits.low > 0 or limits.high < 0):
        notes.append("the interval leaves 0 out, the exact test does not exclude it; p decides")
    return out | {"method": "mcnemar, newcombe", "note": notes, "units": ""}


def power_notes(out: dict[str, Any], asked: Asked) -> list[str]:
    """What the number of cases or clusters that differ allows; fills `detectable`."""
    alpha = 1 - asked.level
    discordant = out["b"] + out["c"]
    family = len(asked.pairs) if asked.holm else 1
    worth = out["n_eff"]
    if not math.isnan(worth):
        share = discordant / out["n_pairs"]
        out["detectable"] = detectable(worth, share, power=POWER, alpha=alpha)
    if not discordant:
        return ["no discordant pairs: the data cannot separate the modes"]
    if out["p_least"] > alpha:
        who = f"{discordant} discordant {'pair' if discordant == 1 else 'pairs'}"
        who = out["units"] or who
        return [f"{who}: p cannot be below {p_text(out['p_least'])}"]
    if out["p_least"] * family > alpha:
        return [f"p cannot be below {p_text(out['p_least'])}, too much for {family} pairs"]
    return []


def finish(family: list[dict[str, Any]], asked: Asked) -> None:
    """Holm over the pairs of one stratum, and what the missing outcomes of each could change."""
    p = [row.get("p", math.nan) for row in family]
    adjusted = holm(p).adjusted if asked.holm else [math.nan] * len(family)
    for place, (row, value) in enumerate(zip(family, adjusted, strict=True)):
        row["p_holm"] = float(value)
        ends = row.pop("ends")
        if ends is None:
            continue
        lost, floor, ceiling = ends
        others = [*p[:place], *p[place + 1 :]] if asked.holm else []
        state = what_missing_decides(
            (row["diff"], row["p"]), floor, ceiling, others, 1 - asked.level
        )
        names = ((row["mode_a"], lost[0]), (row["mode_b"], lost[1]))
        whose = " and ".join(f'{n} of "{mode}"' for mode, n in names if n)
        span = bracket(floor[0], ceiling[0])
        row["note"].append(f"the missing outcomes ({whose}) {MISSING[state](span, floor, ceiling)}")


End = tuple[float, float]


def _undone(span: str, floor: End, ceiling: End) -> str:
    worst = max(floor, ceiling, key=lambda end: end[1])
    return f"could undo this: between floor and ceiling {span} p reaches {p_text(worst[1])}"


def _brought(span: str, floor: End, ceiling: End) -> str:
    best = min(floor, ceiling, key=lambda end: end[1])
    return f"could bring a decision: between floor and ceiling {span} p reaches {p_text(best[1])}"


MISSING = {
    "decides nothing": lambda span, floor, ceiling: (
        f"decide nothing: at both ends, {span}, the decision is the same"
    ),
    "could undo": _undone,
    "could bring": _brought,
}


def agreement(
    rows: Sequence[dict[str, Any]], pair: tuple[int, int], asked: Asked
) -> dict[str, Any]:
    """Whether the strata agree on the difference of one pair of modes: Cochran's Q of their
    differences, weighted by their intervals, and the Mantel-Haenszel summary.
    """
    a, b = (asked.modes[place] for place in pair)
    mine = [row for row in rows if (row["mode_a"], row["mode_b"]) == (a, b)]
    used = [row for row in mine if row["state"] == "ok" and row["high"] > row["low"]]
    out: dict[str, Any] = {"metric": mine[0]["metric"], **dict.fromkeys(asked.strata, ALL)}
    out |= {"mode_a": a, "mode_b": b, "quantity": "interaction", "method": "Cochran's Q of strata"}
    sums = {name: sum(row[name] for row in mine) for name in ("n_pairs", "both", "b", "c")}
    out |= sums | {"neither": sum(row["neither"] for row in mine), "unpaired": 0}
    if len(used) < 2:
        why = "fewer than two strata with an interval"
        return out | {"state": "none", "why": why, "note": f"not computable: {why}"}
    diffs = np.array([row["diff"] for row in used])
    errors = np.array([row["high"] - row["low"] for row in used]) / (2 * z_of(asked.level))
    weights = 1 / errors**2
    mean = float(weights @ diffs / weights.sum())
    p = float(chdtrc(len(used) - 1, float(weights @ (diffs - mean) ** 2)))
    tables = [
        [
            [row["both"] + row["b"], row["c"] + row["neither"]],
            [row["both"] + row["c"], row["b"] + row["neither"]],
        ]
        for row in used
    ]
    summary = cmh(tables)
    note = f"do the {len(used)} strata agree? Cochran's Q of their differences"
    if math.isfinite(summary.odds_ratio) and math.isfinite(summary.low):
        note += (
            f"; Mantel-Haenszel odds ratio {summary.odds_ratio:.3g} "
            f"[{summary.low:.3g}, {summary.high:.3g}], pairing ignored"
        )
    return out | {"p": p, "log10_p": math.log10(max(p, 1e-300)), "state": "ok", "note": note}
