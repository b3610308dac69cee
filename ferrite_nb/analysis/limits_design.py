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

import numpy as np
import pandas as pd

from ..count.cube import cube
from ..estimate import bracket
from ..stats.clusters import clustered_interval, design_effect
from ..stats.planning import smallest_discordant
from .cells import FEW
from .disagree import adjusters, turned_orders
from .evidence import RARE, Evidence, Limit, check, said, shortened, some_of
from .profile import one_to_one

WORTH = 1.5  # a design effect below this changes an interval by less than a quarter
SHUFFLES = 1999
SMALL = 20  # cases: a stratum that may be one choice of its designer
MOST_UNPAIRED = 0.2


@dataclass(frozen=True)
class Spread:
    """How much the cases of one label rise and fall together, in the mode where they do so most."""

    label: str
    mode: str
    deff: float
    k: int
    n: int
    groups: int
    bounds: tuple[float, float]
    n_eff: float
    real: bool

    @property
    def evidence(self) -> str:
        """The finding in numbers."""
        counted = f": they count like {self.n_eff:.0f} independent cases" if self.real else ""
        size = f"design effect {self.deff:.1f} in {self.mode}"
        return f"{self.n} cases from {self.groups} values of {self.label}, {size}{counted}"

    @property
    def reading(self) -> str:
        """How the rate is to be read."""
        plain = said(self.k, self.n)
        return f"read {self.mode} as {plain[: plain.rindex('[')]}{bracket(*self.bounds)}, not as {plain}"


@check
def clusters(e: Evidence) -> Iterable[Limit]:
    """Labels whose cases rise and fall together: the finest, those that cross it, and coarser
    ones.
    """
    if e.main is None or not e.keyed:
        return
    names = [
        label.name for label in sorted(e.labels, key=lambda label: -label.values) if label.cluster
    ][:6]
    found = [one for name in names for one in _spread(e, name, tests=len(names) * len(e.modes))]
    real = [one for one in found if one.real]
    crossing = [one for one in real[1:] if not _nested(e, real[0].label, one.label)]
    named = [one.label for one in [*real[:1], *crossing][:2]]
    call = f"name cluster={named if len(named) > 1 else ''.join(named)!r} in every call"
    for one in found:
        if not one.real:
            safe = f"no sign that cases of one {one.label} rise and fall together; cluster={one.label!r} is still safer"
            yield Limit(f"cases share {one.label}", one.evidence, safe, "note")
        elif one is real[0] or one in crossing:
            yield Limit(
                f"cases share {one.label}", one.evidence, f"{one.reading}; {call}", "severe"
            )
        else:
            coarser = f"if {one.label}, coarser than {real[0].label}, is what you would draw anew, {one.reading}"
            yield Limit(f"cases share {one.label}", one.evidence, coarser, "note")
    if not found:
        yield Limit(
            "clusters among the cases",
            "no text column has many values that several cases share",
            "cases made from one template, prompt or task rise and fall together; a column that names it would show "
            "how many independent cases there are",
            "not checked",
        )


def _spread(e: Evidence, name: str, tests: int) -> Iterable[Spread]:
    """The design effect of one candidate; a label with one value for most cases is a factor and no
    cluster.
    """
    assert e.main is not None
    table = e.by_label(e.main, [name])
    found = []
    for mode, part in table[table["n"] > 0].groupby("mode", sort=False):
        deff = design_effect(part["k"], part["n"]).deff
        if not math.isnan(deff) and part["n"].max() <= part["n"].sum() / 2:
            rare = max(RARE / tests, 1.01 / (SHUFFLES + 1))
            found.append(
                (deff >= WORTH and together(part["k"], part["n"]) <= rare, deff, str(mode), part)
            )
    if not found:
        return
    real, deff, mode, part = max(found, key=lambda item: item[:2])
    wide = clustered_interval(part["k"], part["n"])
    k, n = int(part["k"].sum()), int(part["n"].sum())
    yield Spread(name, mode, deff, k, n, len(part), (wide.low, wide.high), wide.n_eff, real)


def _nested(e: Evidence, fine: str, coarse: str) -> bool:
    """Whether every value of the finer label has one value of the coarser."""
    pairs = cube(e.attacks, [fine, coarse], [])
    return len(pairs.drop_duplicates([fine, coarse])) == pairs[fine].nunique()


def together(k: Any, n: Any) -> float:
    """How often shuffled outcomes differ as much between clusters: a permutation p, seeded."""
    events, cases = np.asarray(k, dtype=np.int64), np.asarray(n, dtype=np.int64)
    shuffles = int(min(SHUFFLES, max(199, 20_000_000 // len(cases))))
    rate = events.sum() / cases.sum()
    observed = float(((events - cases * rate) ** 2).sum())
    drawn = np.random.default_rng(0).multivariate_hypergeometric(
        cases, int(events.sum()), size=shuffles
    )
    reached = (((drawn - cases * rate) ** 2).sum(axis=1) >= observed - 1e-9).sum()
    return float((reached + 1) / (shuffles + 1))


@check
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


@check
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
                f"cases: {largest}, {', '.join(alike)}; within each of the latter the cases share {some_of(common)}",
                f"do not read the {label.name} rates of these strata as rates of their kind: each shows one design "
                "choice, whatever its n",
                "note",
            )


@check
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
            "they are counted as different modes, each with its own part of the rows; if they are one, give it one "
            "name in the file",
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


@check
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


@check
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


@check
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
        f"p-values are corrected over the {pairs} pairs (Holm): the smallest must be below {0.05 / pairs:.4f}, which "
        f"takes {smallest_discordant(pairs)} discordant cases; strata looked at afterwards are not in this count",
        "note",
    )


@check
def suite_versions(e: Evidence) -> Iterable[Limit]:
    """Several versions of the suite in one table."""
    if "suite_version" not in e.columns:
        yield Limit(
            "suite version",
            "no column suite_version",
            "whether all rows come from one version of the suite is not known; a column that names it would show it",
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
            "rates of different versions are not comparable: choose one with runs.where(suite_version=...)"
            + (" (they were pooled on request)" if e.runs.pooled else ""),
            "severe",
        )
