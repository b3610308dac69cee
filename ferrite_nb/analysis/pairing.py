"""Pairing: the numbers of one pair of modes, by the unit of the call: what `compare` prints in a
row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..estimate import FEW, p_text
from ..metrics import Metric
from ..order import NO_VALUE, mode_key
from ..stats.differences import difference, paired_difference
from ..stats.found import detectable
from ..stats.paired import paired_crossed, paired_units
from ..stats.pairs import cohens_h, mcnemar
from .unit import Unit

SEED = "0 (100,000 draws)"
POWER = 0.8
Places = tuple[int, int]
Floats = NDArray[np.float64]


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
    def pairs(self) -> list[Places]:
        """The pairs of modes as places."""
        pairs = list(combinations(range(len(self.modes)), 2))
        return [pair for pair in pairs if pair[0] == 0 or not self.with_first]

    @property
    def keys(self) -> list[str]:
        """The cluster columns; a case is no cluster of itself."""
        return [key for key in self.unit.keys if key != "case_id"]


@dataclass(frozen=True)
class Rates:
    """The rate of each case in both modes, how many cases have it, the runs of both sides together
    (the smaller number of a case), whether each ran once, and the clusters.
    """

    a: Floats
    b: Floats
    cases: NDArray[np.int64]
    runs: int
    once: bool
    labels: list[NDArray[Any]]


def rates_of(part: pd.DataFrame, places: Places, asked: Asked, up: int | None = None) -> Rates:
    """The cases known in both modes; or, with `up`, all that ran in both, the unknown outcomes of A
    taken as `up` and those of B as the reverse.
    """
    k, n, m = ([part[f"{what}{place}"].to_numpy() for place in places] for what in "knm")
    ran = [known + unknown for known, unknown in zip(n, m, strict=True)]
    once = not any((runs[(ran[0] > 0) & (ran[1] > 0)] > 1).any() for runs in ran)
    if up is not None:
        k, n = [k[0] + up * m[0], k[1] + (1 - up) * m[1]], ran
    rows = (n[0] > 0) & (n[1] > 0)
    a, b = (events[rows] / runs[rows] for events, runs in zip(k, n, strict=True))
    cases = part["cases"].to_numpy()[rows]
    labels = [part[key].to_numpy()[rows] for key in asked.keys]
    return Rates(a, b, cases, int(np.minimum(*n)[rows] @ cases), once, labels)


def one_pair(
    part: pd.DataFrame, places: Places, metric: Metric, asked: Asked, refused: str
) -> dict[str, Any]:
    """One row of `compare` from the vectors of one stratum, before the family is known.

    Beside the columns of the table it has `note` as a list, `ends` (what the unknown outcomes could
    make of it), `shares` (both, A only, B only, neither as sums over cases) and `plain` (whether
    cases are independent and ran once).
    """
    cases = part["cases"].to_numpy()
    known = [(part[f"n{place}"] > 0).to_numpy() for place in places]
    out: dict[str, Any] = {"unpaired": int(cases[known[0] ^ known[1]].sum())}
    out |= {"note": [], "ends": None}
    if refused or not (known[0] & known[1]).any():
        why = refused or no_pair_reason(metric, part, places, asked.modes)
        counts = dict.fromkeys(("n_pairs", "both", "b", "c", "neither"), 0)
        return out | counts | {"state": "none", "why": why}
    rates = rates_of(part, places, asked)
    out |= counted(rates)
    out |= tested(rates, asked)
    out["note"] += power_notes(out, asked)
    if out["n_pairs"] < FEW or math.isnan(out["low"]):
        why = f"n<{FEW} pairs" if out["n_pairs"] < FEW else "one cluster"
        out |= {"state": "few", "why": why}
    ran = np.logical_and(*((part[f"n{at}"] + part[f"m{at}"] > 0).to_numpy() for at in places))
    lost = [int((part[f"m{place}"].to_numpy() * cases)[ran].sum()) for place in places]
    if any(lost):
        ends = [tested(rates_of(part, places, asked, up), asked) for up in (0, 1)]
        out["ends"] = (lost, *((end["diff"], end["p"]) for end in ends))
        out["missing"] = sum(lost)
        out["outer_low"] = min(end["low"] for end in (out, *ends))
        out["outer_high"] = max(end["high"] for end in (out, *ends))
    return out


def no_pair_reason(metric: Metric, part: pd.DataFrame, places: Places, modes: Sequence[str]) -> str:
    """Why there is no case known in both modes."""
    for place in places:
        mode = modes[place]
        if part[f"n{place}"].any():
            continue
        if mode_key(mode) in metric.inactive:
            return metric.inactive[mode_key(mode)].replace("this mode", f'"{mode}"')
        if part[f"m{place}"].any():
            return f'no case of "{mode}" has a known outcome'
        return f'no case of {metric.symbol} ran in "{mode}"'
    return "the two modes share no case"


def counted(rates: Rates) -> dict[str, Any]:
    """The four counts of cases, the mean rates, and Cohen's h."""
    a, b, weight = rates.a, rates.b, rates.cases
    total, tie = int(weight.sum()), a == b
    means = [float(side @ weight) / total for side in (a, b)]
    cells = {"both": tie & (a >= 0.5), "b": a > b, "c": a < b, "neither": tie & (a < 0.5)}
    shares = (np.minimum(a, b), np.maximum(a - b, 0), np.maximum(b - a, 0), 1 - np.maximum(a, b))
    return {
        "n_pairs": total,
        **{name: int(weight[rows].sum()) for name, rows in cells.items()},
        "rate_a": means[0],
        "rate_b": means[1],
        "h": cohens_h(*(min(mean, 1.0) for mean in means)),
        "shares": tuple(float(share @ weight) for share in shares),
        "state": "ok",
        "why": "",
    }


def tested(rates: Rates, asked: Asked) -> dict[str, Any]:
    """The test and the interval of the mean difference, by the unit of the row."""
    if rates.once and not asked.keys:
        return plain_test(rates, asked.level)
    a, b = np.repeat(rates.a, rates.cases), np.repeat(rates.b, rates.cases)
    marks = [np.repeat(pd.factorize(label)[0], rates.cases) for label in rates.labels]
    if len(marks) == 2:
        result: Any = paired_crossed(a, b, *marks, level=asked.level)
        units, method = result.units, "largest of two sign flips and the two-way test"
    else:
        unit = marks[0] if marks else np.arange(len(a))
        runs = None if rates.once else rates.runs
        result = paired_units(a, b, unit, runs=runs, level=asked.level)
        units, method = (result.units,), "sign flip"
    who = " and ".join(f"{n} values of {key}" for n, key in zip(units, asked.keys, strict=False))
    notes = []
    if who and not math.isnan(result.n_eff):
        worth = f"are worth about {result.n_eff:.0f} independent ones"
        notes.append(f"{len(a):,} cases from {who} {worth}")
    notes += [
        f"cases without {key} count as one cluster"
        for key, label in zip(asked.keys, rates.labels, strict=True)
        if (label == NO_VALUE).any()
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
    return {
        **{name: getattr(result, name) for name in ("diff", "low", "high", "p", "n_eff")},
        "p_least": result.floor,
        "log10_p": math.log10(result.p),
        "method": f"{method}, subset and Newcombe limits",
        "seed": SEED if result.drawn else "",
        "units": who if len(marks) == 2 else who and f"{result.differing} of {who} differ",
        "note": notes,
        "plain": False,
    }


def plain_test(rates: Rates, level: float) -> dict[str, Any]:
    """Exact McNemar and Newcombe's paired interval; the interval without pairing beside it."""
    sides = ((1, 1), (1, 0), (0, 1), (0, 0))
    cells = [int(rates.cases[(rates.a == x) & (rates.b == y)].sum()) for x, y in sides]
    both, only_a, only_b, _ = cells
    n, test = sum(cells), mcnemar(only_a, only_b)
    limits = paired_difference(*cells, method="newcombe", level=level)
    apart = difference(both + only_a, n, both + only_b, n, level=level)
    differ = test.p > 1 - level and (limits.low > 0 or limits.high < 0)
    return {
        **{"diff": (only_a - only_b) / n, "low": limits.low, "high": limits.high},
        **{"p": test.p, "log10_p": test.log10_p, "n_eff": float(n)},
        "p_least": min(1.0, 2.0 ** (1 - only_a - only_b)),
        **{"independent_low": apart.low, "independent_high": apart.high},
        "method": "mcnemar, newcombe",
        "units": "",
        "note": ["the interval leaves 0 out, the exact test does not; p decides"] * differ,
        "plain": True,
    }


def power_notes(row: dict[str, Any], asked: Asked) -> list[str]:
    """What the number of cases or clusters that differ allows; fills `detectable`."""
    alpha, family = 1 - asked.level, len(asked.pairs) if asked.holm else 1
    discordant, least = row["b"] + row["c"], row["p_least"]
    if not math.isnan(row["n_eff"]):
        share = discordant / row["n_pairs"]
        row["detectable"] = detectable(row["n_eff"], share, power=POWER, alpha=alpha)
    if not discordant:
        return ["no discordant pairs: the data cannot separate the modes"]
    if least > alpha:
        pairs = f"{discordant} discordant {'pair' if discordant == 1 else 'pairs'}"
        return [f"{row['units'] or pairs}: p cannot be below {p_text(least)}"]
    if least * family > alpha:
        return [f"p cannot be below {p_text(least)}, too much for {family} pairs"]
    return []


def share_of_pair(row: Mapping[str, Any], turned: bool) -> list[float]:
    """Both, A only, B only and neither of a row, of the event or of its reverse."""
    both, b, c, neither = row["shares"]
    return [neither, c, b, both] if turned else [both, b, c, neither]
