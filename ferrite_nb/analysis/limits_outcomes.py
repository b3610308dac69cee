"""Limits of the outcomes themselves: fixed by construction, given by the labels, the same in every
repeat.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pandas as pd

from ..count.cube import cube, repeated
from ..estimate import FEW
from ..outcomes.contract import FACTS
from ..stats.planning import n_for_half_width
from .evidence import MOST_CELLS, Evidence, Limit, some_of

CHANCE = (
    -9.0
)  # log10 of the chance of a rule without exception; far below, because many rules are tried
FIXED = 0.95  # a lower limit above this is no rate of a model that sometimes gives way
LEAST = 20  # cases per mode below which a rate of 0 or 1 says little


def every_attack_succeeds(e: Evidence) -> Iterable[Limit]:
    """A mode in which no attack fails."""
    if e.main is None or e.main.symbol != "ASR":
        return
    for mode, rate in e.estimates(e.main).items():
        if rate.n < FEW or rate.k < rate.n:
            continue
        yield Limit(
            f"every attack succeeds in {mode}",
            str(rate),
            "either a script obeys by construction or the attacks were chosen because they "
            f'succeed: "{mode}" does not say how often a model gives way, and a drop from it is a '
            "drop from all",
            "severe" if rate.low >= FIXED else "note",
            cells=(mode,),
        )


def metric_without_variation(e: Evidence) -> Iterable[Limit]:
    """A metric that is 0 or 1 in every mode."""
    for one in e.runs.supports:
        if one.counted != "rows" or one.symbol in ("CR", "ran", "ASR over delivered"):
            continue
        counts = e.counts(one)
        counts = counts[counts["n"] >= LEAST]
        if len(counts) < 2 or not ((counts["k"] == 0).all() or (counts["k"] == counts["n"]).all()):
            continue
        yield Limit(
            f"{one.symbol} is the same in all modes",
            e.text(one, counts.index[:4]),
            f"{one.symbol} cannot tell these modes apart; harder cases would be needed to see a"
            " difference",
            "severe" if one is e.main else "note",
        )


def no_event_is_a_limit(e: Evidence) -> Iterable[Limit]:
    """A mode in which no attack succeeded."""
    if e.main is None or e.main.symbol != "ASR":
        return
    counts = e.counts(e.main)
    zero = counts[(counts["n"] >= FEW) & (counts["k"] == 0)]
    if len(zero):
        wanted = n_for_half_width(0, 0.01)
        yield Limit(
            "no success is not safety",
            e.text(e.main, zero.index[:4]),
            f"read the upper limit; an upper limit of 2% would need {wanted} attacks without a"
            " success",
            "note",
        )


def labels_give_the_outcomes(e: Evidence) -> Iterable[Limit]:
    """Whether a rule on the labels predicts every outcome: then there is no sampling noise."""
    names = [label.name for label in e.labels if label.of_case] + _facts(e)
    if e.main is None or not names or not e.keyed:
        return
    cells = by_labels(e, names)
    if cells is None:
        yield Limit(
            "labels that give the outcomes",
            f"more than {MOST_CELLS:,} combinations of {some_of(names)}",
            "whether a rule on the labels predicts every outcome is not known; fewer label columns"
            " would show it",
            "not checked",
        )
        return
    counts = e.counts(e.main)
    vary = counts.index[(counts["k"] > 0) & (counts["k"] < counts["n"])].tolist()
    rules = {mode: rule_of(cells[cells["mode"] == mode], names) for mode in vary}
    found = {mode: rule for mode, rule in rules.items() if rule}
    if not found:
        return
    one_mode = len(e.modes) == 1
    told = [
        f"{mode} by {some_of(rule)} ({groups(cells, mode, rule)})" for mode, rule in found.items()
    ]
    yield Limit(
        "a rule on the labels gives every outcome",
        "cases with the same labels have the same outcome, without exception:"
        f" {'; '.join(told[:4])}",
        "there is no sampling noise here: intervals describe the design of the suite, and more rows"
        " of the same design add nothing"
        + ("; or these columns record the outcome itself" if one_mode else ""),
        "note" if one_mode or len(found) < len(vary) else "severe",
    )


def groups(cells: pd.DataFrame, mode: str, rule: list[str]) -> str:
    """How many outcomes the rule gives from how many combinations."""
    part = cells[cells["mode"] == mode]
    return (
        f"{int(part['n'].sum())} outcomes from {part.groupby(rule, sort=False).ngroups}"
        " combinations"
    )


def _facts(e: Evidence) -> list[str]:
    """Flags that describe the case and are the same in all its modes."""
    wanted = [
        name for name in FACTS if name in e.columns and name not in ("delivered", "measurable")
    ]
    if len(e.modes) < 2 or not e.keyed:
        return []
    found = []
    for name in wanted:
        pairs = cube(e.attacks, ["case_id"], [name])
        if (
            pairs.groupby("case_id")[name].nunique(dropna=False).max() == 1
            and pairs[name].nunique(dropna=False) > 1
        ):
            found.append(name)
    return found


def by_labels(e: Evidence, names: list[str]) -> pd.DataFrame | None:
    """k and n by mode and all labels; None where there are too many combinations."""
    assert e.main is not None
    flags = [name for name in names if name in FACTS]
    table = cube(
        e.attacks,
        ["mode", *(name for name in names if name not in FACTS)],
        [*e.main.columns, *flags],
    )
    if len(table) > MOST_CELLS:
        return None
    (column, wanted), *more = e.main.event.items()
    known = table[
        table[column].notna()
        & (table["kind"] == "attack" if "attack" in set(table["kind"]) else True)
    ]
    if more:
        return None
    known = known.assign(n=known["rows"], k=known["rows"].where(known[column] == wanted, 0))
    for name in flags:
        known[name] = known[name].astype(object).astype(str)
    summed: pd.DataFrame = (
        known.groupby(["mode", *names], sort=False)[["k", "n"]].sum().reset_index()
    )
    return summed


def rule_of(cells: pd.DataFrame, names: list[str]) -> list[str]:
    """The labels that give every outcome of one mode; none where chance could do as much.

    All labels together give every outcome as soon as no two cases share them all. So columns are
    dropped one by one, those with many values first, while no exception appears; what is left must
    be a rule for many cases.
    """
    kept = list(names)
    if _exceptions(cells, kept):
        return []
    for name in sorted(names, key=lambda column: -cells[column].nunique()):
        rest = [column for column in kept if column != name]
        if rest and not _exceptions(cells, rest):
            kept = rest
    summed = cells.groupby(kept, sort=False)[["k", "n"]].sum()
    n = summed["n"].to_numpy(dtype="float64")
    rate = float(summed["k"].sum() / n.sum())
    chance = np.logaddexp(n * math.log(rate), n * math.log1p(-rate)).sum() / math.log(10)
    return kept if chance <= CHANCE else []


def _exceptions(cells: pd.DataFrame, names: list[str]) -> bool:
    """Whether some combination of labels has more than one outcome."""
    summed = cells.groupby(names, sort=False)[["k", "n"]].sum()
    return bool(((summed["k"] > 0) & (summed["k"] < summed["n"])).any())


def repeats(e: Evidence) -> Iterable[Limit]:
    """Repeats that are the same every time, or no repeats at all."""
    if not e.keyed or e.main is None:
        yield Limit(
            "run-to-run variation",
            "a table of counts",
            "repeats cannot be told from cases; rows per case would show it",
            "not checked",
        )
        return
    if not repeated(e.runs):
        yield Limit(
            "one repeat per case",
            "each case ran once in each mode",
            "nothing is known about run-to-run variation",
            "note",
        )
        return
    several = mixed = 0
    for at in range(len(e.modes)):
        k, n, cases = e.cases[f"k{at}"], e.cases[f"n{at}"], e.cases["cases"]
        several += int(cases[n > 1].sum())
        mixed += int(cases[(k > 0) & (k < n)].sum())
    if not several or mixed:
        yield Limit(
            "repeats are not more cases",
            f"{mixed} of {several} repeated cases (a case in a mode) differ between their repeats",
            "the unit is the case: intervals are clustered by case_id, and repeats only narrow the"
            " noise within a case",
            "note",
        )
        return
    counts = e.counts(e.main)
    rate = float(counts["k"].sum() / max(counts["n"].sum(), 1))
    yield Limit(
        "repeats are identical",
        f"all {several} repeated cases have the same outcome in every repeat",
        "repeats add no information (a cache, a fixed seed, or a deterministic system): they count"
        " as one",
        "severe" if several >= LEAST and 0.05 < rate < 0.95 else "note",
    )


def few_cases(e: Evidence) -> Iterable[Limit]:
    """Modes whose interval is too wide to say much."""
    if e.main is None:
        return
    counts = e.counts(e.main)
    few = counts[(counts["n"] > 0) & (counts["n"] < 30)]
    if len(few):
        rates = [e.estimates(e.main)[mode] for mode in few.index]
        widest = max((rate.high - rate.low for rate in rates if rate.low == rate.low), default=1.0)
        yield Limit(
            "few cases",
            e.text(e.main, few.index[:4]),
            f"an interval is up to {math.ceil(100 * widest)} points wide: only very large "
            "differences can be seen",
            "note",
        )


CHECKS = (
    every_attack_succeeds,
    metric_without_variation,
    no_event_is_a_limit,
    labels_give_the_outcomes,
    repeats,
    few_cases,
)
