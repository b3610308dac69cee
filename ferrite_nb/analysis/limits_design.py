"""Limits of the design: clusters among the cases, small strata, cases that did not run everywhere,
reversals.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import pandas as pd

from ..count.cube import cube
from ..estimate import FEW, Estimate, bracket
from ..stats.clusters import clustered_interval
from ..stats.homogeneity import homogeneity
from ..stats.intervals import interval
from ..stats.planning import smallest_discordant
from .disagree import adjusters, turned_orders
from .evidence import RARE, Evidence, Limit, Severity, shortened, some_of
from .profile import Label, one_to_one

WORTH = 1.5  # a design effect below this changes an interval by less than a quarter
SMALL = 20  # cases: a stratum that may be one choice of its designer
MOST_UNPAIRED = 0.2
MOST_LABELS = 6  # candidates for clusters that are looked at, the finest first
APART = 0.2  # strata whose rates are this far apart and differ beyond chance are no one rate


@dataclass(frozen=True)
class Spread:
    """How much the cases of one label rise and fall together, in the mode where they do so most."""

    label: Label
    mode: str
    k: int
    n: int
    result: Any

    @property
    def deff(self) -> float:
        """The cases over the independent ones that they are worth."""
        return float(self.result.deff)

    @property
    def real(self) -> bool:
        """Whether knowing the label moves the interval."""
        return self.deff >= WORTH

    def evidence(self, noun: str) -> str:
        """The finding in numbers."""
        most = 1 + self.result.icc_high * (self.deff - 1) / self.result.icc_plausible
        upto = f"; up to {most:.1f} agrees with the data" if most == most and most > 1 else ""
        return (
            f"{self.n} {noun}s from {self.result.clusters} values of {self.label.name}; in "
            f'"{self.mode}" they are worth about {self.result.n_eff:.0f} independent ones (design '
            f"effect {self.deff:.1f}{upto})"
        )

    def reading(self, symbol: str) -> str:
        """How the rate is to be read, and what ignoring the label would give."""
        found = self.result
        rate = Estimate(self.k, self.n, found.rate, found.low, found.high)
        plain = interval(self.k, self.n)
        return (
            f'in "{self.mode}", {symbol} is {rate}; ignoring {self.label.name} would give a '
            f"falsely narrow {bracket(float(plain.low), float(plain.high))}"
        )


def clusters(e: Evidence) -> Iterable[Limit]:
    """Labels whose cases rise and fall together: those of this call, the finest other one, those
    that cross it, and coarser ones.
    """
    if e.main is None or not e.keyed:
        return
    known = [key for key in e.unit.keys if key != "case_id"]
    for key in known:
        words = f"the intervals of this call take {e.unit.name} as the unit"
        yield Limit(f"cases share {key}", f"{e.unit.how}: {e.unit.name}", words, "handled", (key,))
    labels = sorted((label for label in e.labels if label.shared), key=lambda one: -one.values)
    labels = [label for label in labels if label.name not in known][:MOST_LABELS]
    found = [spread for label in labels for spread in _spread(e, label)]
    fine = [one for one in found if one.real and one.label.cluster]
    crossing = [one for one in fine[1:] if not _nested(e, fine[0].label.name, one.label.name)]
    named = [one.label.name for one in [*fine[:1], *crossing][:2]]
    call = f"use cluster={named if len(named) > 1 else ''.join(named)!r}"
    covered = [one for one in found if any(_nested(e, key, one.label.name) for key in known)]
    for one in found:
        name, evidence = one.label.name, one.evidence(e.unit.noun)
        reading = one.reading(e.main.symbol)
        if one in covered:
            words = f"{name} is coarser than {e.unit.name}, the unit of this call"
            yield Limit(f"cases share {name}", evidence, words, "note", (name,))
        elif fine and (one is fine[0] or one in crossing):
            severity: Severity = "note" if known else "severe"
            columns = tuple(named)
            yield Limit(f"cases share {name}", evidence, f"{reading}; {call}", severity, columns)
        elif one.real:
            words = f"if {name} is what you would draw anew, {reading}"
            yield Limit(f"cases share {name}", evidence, words, "note", (name,))
        elif one.label.cluster:
            words = f"cluster={name!r} costs little and is safer: the interval hardly moves"
            yield Limit(f"cases share {name}", evidence, words, "note", (name,))
    if not found and not known:
        yield Limit(
            "clusters among the cases",
            "no text column has values that several cases share",
            "cases made from one template, prompt or task rise and fall together; a column that "
            "names it would show how many independent cases there are",
            "not checked",
        )


def _spread(e: Evidence, label: Label) -> Iterable[Spread]:
    """The mode in which the cases of one candidate are worth least; a label with one value for most
    cases is a factor and no cluster.
    """
    assert e.main is not None
    table = e.by_label(e.main, [label.name])
    found = []
    for mode, part in table[table["n"] > 0].groupby("mode", sort=False):
        k, n = int(part["k"].sum()), int(part["n"].sum())
        if 0 < k < n and part["n"].max() <= n / 2:
            found.append(Spread(label, str(mode), k, n, clustered_interval(part["k"], part["n"])))
    if found:
        yield max(found, key=lambda one: one.deff)


def _nested(e: Evidence, fine: str, coarse: str) -> bool:
    """Whether every value of the finer label has one value of the coarser."""
    pairs = cube(e.attacks, [fine, coarse], [])
    return len(pairs.drop_duplicates([fine, coarse])) == pairs[fine].nunique()


def strata_apart(e: Evidence) -> Iterable[Limit]:
    """Strata that disagree: their pooled rate is a rate of none of them."""
    if e.main is None:
        return
    for label in e.strata:
        table = e.by_label(e.main, [label.name])
        worst = None
        for mode, part in table[table["n"] >= FEW].groupby("mode", sort=False):
            rates = part["k"] / part["n"]
            gap = float(rates.max() - rates.min())
            if len(part) > 1 and gap >= APART and homogeneity(part["k"], part["n"]) < RARE:
                worst = max(worst or (0.0, "", part), (gap, str(mode), part), key=lambda x: x[0])
        if worst is None:
            continue
        _, mode, part = worst
        ends = [part.loc[(part["k"] / part["n"]).pipe(pick)] for pick in (_lowest, _highest)]
        cells = tuple(str(row[label.name]) for row in ends)
        said = " and ".join(f"{shortened(row[label.name])} {row['k']}/{row['n']}" for row in ends)
        yield Limit(
            f"strata of {label.name} that disagree",
            f'{e.main.symbol} in "{mode}": {said}',
            f"one rate over all of them is a rate of none: show {label.name} first, the worst"
            " on top",
            "note",
            (label.name,),
            cells,
        )


def _lowest(rates: pd.Series) -> Any:
    return rates.idxmin()


def _highest(rates: pd.Series) -> Any:
    return rates.idxmax()


def small_strata(e: Evidence) -> Iterable[Limit]:
    """Strata with fewer cases than can be read."""
    if e.main is None:
        return
    found = []
    for label in e.strata:
        table = e.by_label(e.main, [label.name])
        few = table[(table["n"] > 0) & (table["n"] < FEW)].groupby(label.name)["n"].min()
        found += [f"{label.name} {shortened(value)} (n = {n})" for value, n in few.items()]
    if found:
        yield Limit(
            "strata too small to read",
            some_of(found, 8, 100),
            f"with fewer than {FEW} cases a rate is not shown; pool them or add cases",
            "note",
        )


def one_design(e: Evidence) -> Iterable[Limit]:
    """Small strata whose cases differ in hardly anything: they show one choice of their
    designer.
    """
    cells = e.described
    if e.main is None or cells.empty:
        return
    for label in e.strata:
        names = [name for name in cells if name not in (label.name, "case_id")]
        others = [name for name in names if not one_to_one(cells, label.name, name)]
        sizes = cells.groupby(label.name)["case_id"].nunique()
        alike: dict[str, list[str]] = {}
        for value, n in sizes[
            (sizes >= FEW) & (sizes < SMALL) & (sizes < sizes.sum() / 10)
        ].items():
            part = cells[cells[label.name] == value]
            fixed = [
                name for name in others if part[name].nunique() == 1 and cells[name].nunique() > 1
            ]
            if len(fixed) >= max(3, len(others) / 2):
                alike[f"{shortened(value)} {n}"] = fixed
        if alike:
            largest = f"{shortened(sizes.idxmax())} {sizes.max()}"
            common = [name for name in others if all(name in fixed for fixed in alike.values())]
            yield Limit(
                f"strata of {label.name} that are one design",
                f"cases: {largest}, {', '.join(alike)}; within each of the latter the cases share"
                f" {some_of(common)}",
                f"do not read the {label.name} rates of these strata as rates of their kind: each"
                " shows one design choice, whatever its n",
                "note",
            )


def modes_alike(e: Evidence) -> Iterable[Limit]:
    """Modes whose names a reader would take for one: other case, spaces, accents or signs that are
    not seen.
    """
    alike: dict[str, list[str]] = {}
    for mode in e.modes:
        alike.setdefault(seen(mode), []).append(mode)
    several = [
        " and ".join(ascii(mode)[:60] for mode in names)
        for names in alike.values()
        if len(names) > 1
    ]
    if several:
        yield Limit(
            "modes whose names look alike",
            some_of(several, 3),
            "they are counted as different modes, each with its own part of the rows; if they are"
            " one, give it one name in the file",
            "severe",
        )


def seen(name: str) -> str:
    """A name as a reader sees it: without case, spaces, underscores and invisible signs, accents in
    one form.
    """
    shown = unicodedata.normalize("NFKC", name).casefold()
    return "".join(
        sign
        for sign in shown
        if sign != "_" and unicodedata.category(sign) not in ("Zs", "Cc", "Cf")
    )


def unpaired(e: Evidence) -> Iterable[Limit]:
    """Cases that did not run in every mode."""
    if e.main is None or not e.keyed or len(e.modes) < 2:
        return
    ran = pd.DataFrame(
        {mode: e.cases[f"n{at}"] + e.cases[f"m{at}"] > 0 for at, mode in enumerate(e.modes)}
    )
    weight = e.cases["cases"]
    total = int(weight.sum())
    everywhere = int(weight[ran.all(axis=1)].sum())
    if everywhere == total:
        return
    worst = min(
        combinations(e.modes, 2), key=lambda pair: weight[ran[pair[0]] & ran[pair[1]]].sum()
    )
    shared = int(weight[ran[worst[0]] & ran[worst[1]]].sum())
    either = int(weight[ran[worst[0]] | ran[worst[1]]].sum())
    where = _where_unpaired(e)
    yield Limit(
        "cases that did not run in every mode",
        f"{everywhere} of {total} cases ran in all {len(e.modes)} modes; "
        f"{worst[0]} and {worst[1]} share {shared} of {either}" + (f"; {where}" if where else ""),
        "modes are compared on the cases they share; their plain rates are over different cases"
        + ("" if shared else f", and {worst[0]} and {worst[1]} cannot be compared at all"),
        "severe" if shared < (1 - MOST_UNPAIRED) * either and either >= FEW else "note",
    )


def _where_unpaired(e: Evidence) -> str:
    """The strata that are absent in some mode."""
    assert e.main is not None
    found = []
    for label in e.strata:
        table = e.by_label(e.main, [label.name])
        table = table[table["n"] + table["missing"] > 0]
        for value, part in table.groupby(label.name, sort=False):
            if len(part) < len(e.modes):
                there = [mode for mode in e.modes if mode in set(part["mode"])]
                found.append(f"{label.name} {shortened(value)} in {some_of(there)} only")
    return some_of(found, 4, 100)


def reversals(e: Evidence) -> Iterable[Limit]:
    """Two modes whose order turns round in every stratum."""
    if e.main is None or len(e.modes) < 2:
        return
    extra = adjusters(e.runs, e.main, [])
    for name in extra:
        table = e.by_label(e.main, [name])
        for first, second, warning in turned_orders(table, name, e.modes):
            yield Limit(
                f"{first} and {second} turn round by {name}",
                warning,
                f"compare them within {name}, or on the same cases (fnb.compare)",
                "severe",
            )


def many_comparisons(e: Evidence) -> Iterable[Limit]:
    """How many answers can be had from this table, and what that asks of a p-value."""
    pairs = math.comb(len(e.modes), 2)
    if pairs < 2:
        return
    strata = sum(label.values for label in e.strata)
    yield Limit(
        "many comparisons",
        f"{len(e.modes)} modes make {pairs} pairs"
        + (f", and {strata} strata multiply them" if strata else ""),
        f"p-values are corrected over the {pairs} pairs (Holm): the smallest must be below "
        f"{0.05 / pairs:.4f}, which takes {smallest_discordant(pairs)} "
        f"{'discordant cases' if e.unit.name == 'case' else f'values of {e.unit.name} that differ'}"
        "; strata looked at afterwards are not in this count",
        "note",
    )


def suite_versions(e: Evidence) -> Iterable[Limit]:
    """Several versions of the suite in one table."""
    if "suite_version" not in e.columns:
        yield Limit(
            "suite version",
            "no column suite_version",
            "whether all rows come from one version of the suite is not known; a column that names"
            " it would show it",
            "not checked",
        )
        return
    found = e.cells.groupby("mode")["suite_version"].unique()
    versions = sorted(set(e.cells["suite_version"]))
    if len(versions) > 1:
        per_mode = "; ".join(f"{mode}: {some_of(sorted(found[mode]), 3)}" for mode in e.modes[:6])
        yield Limit(
            "several suite versions",
            f"{len(versions)} versions. {per_mode}",
            "rates of different versions are not comparable: choose one with"
            " runs.where(suite_version=...)"
            + (" (they were pooled on request)" if e.runs.pooled else ""),
            "severe",
        )


CHECKS = (
    clusters,
    strata_apart,
    small_strata,
    one_design,
    modes_alike,
    unpaired,
    reversals,
    many_comparisons,
    suite_versions,
)
