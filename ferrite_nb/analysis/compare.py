"""`compare`: two modes on the same cases, all pairs of modes in one family, and what the missing
cases could change.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ..count.cube import (
    NO_VALUE,
    check_columns,
    cube,
    find_mode,
    modes_of,
    name_of,
    vectors,
    versions,
)
from ..estimate import bracket
from ..metrics import Metric, mode_key
from ..metrics import metric as find_metric
from ..outcomes.contract import FLAGS, OutcomesError
from ..outcomes.table import UNCHECKED, Outcomes
from ..stats._check import level_of
from ..stats.clusters import cluster_mean
from ..stats.differences import difference, paired_difference
from ..stats.pairs import cohens_h, holm, mcnemar, repeated_pairs
from ..stats.permutation import sign_flip
from .cells import FEW, in_order, listed
from .rates import named_cluster
from .unpaired import Unpaired

RESAMPLES, SEED = 100_000, 0  # of sign patterns that are too many to take all
COLUMNS = (
    "mode_a",
    "mode_b",
    "n_pairs",
    "both",
    "b",
    "c",
    "neither",
    "rate_a",
    "rate_b",
    "diff",
    "low",
    "high",
    "h",
    "p",
    "log10_p",
    "p_holm",
    "unpaired",
    "independent_low",
    "independent_high",
    "level",
    "method",
    "note",
)


def compare(
    runs: Outcomes,
    metric: str | Iterable[str] = "ASR",
    *,
    modes: Sequence[str] | None = None,
    by: str | Iterable[str] | None = None,
    level: float = 0.95,
    cluster: str | Iterable[str] | None = None,
    correction: str | None = "holm",
) -> pd.DataFrame:
    """Compare modes on the cases that both ran: one row per metric, stratum and pair of modes.

    Parameters
    ----------
    metric: an event of a case (ASR, CR, ADR, SDR, task success, ...), one or several.
    modes: the modes to compare; None is all. They are compared in the documented order.
    by: strata columns; pairs are compared within each stratum.
    level: confidence level of the interval of the difference.
    cluster: a column whose cases may rise and fall together, or a pair of crossed columns.
    correction: "holm" over all pairs of modes of one metric in one stratum, or None.

    Returns
    -------
    DataFrame with `metric`, the strata, `mode_a`, `mode_b`, `n_pairs`, `both`, `b` (the event in A
    only), `c` (in B only), `neither`, `rate_a`, `rate_b`, `diff` (A minus B) with `low` and `high`,
    `h` (Cohen, signed), `p`, `log10_p`, `p_holm`, `unpaired` (cases known in one of the two modes
    only), `independent_low` and `independent_high` (the interval that ignores the pairing, to be
    shown in grey), `level`, `method`, `note`.

    Not computable when
    -------------------
    the two modes share no case, ran different suite versions, or one has no known outcome: NaN and
        the reason in
    `note`; such a pair still counts in the family.

    Raises
    ------
    ValueError: an unknown metric, mode, column or correction. OutcomesError: one mode only, or no
        cases to pair.

    Notes
    -----
    Without clusters: exact two-sided McNemar and Newcombe's paired interval (method 10). With one
        cluster: sign flips
    of the cluster sums and the clustered mean difference. With two crossed clusters both are done
    one way, and the larger p and the wider interval are given. With repeats the case is the unit:
        `b` counts cases whose mean rate is
    higher in A. Rows are paired by `case_id`, never by order.

    Source
    ------
    McNemar 1947; Holm 1979; Newcombe 1998 (Stat Med 17:2635); Cohen 1988.

    Example
    -------
    >>> import ferrite_nb as fnb
    >>> runs = fnb.read(fnb.data("ferrite_run_a.csv"))
    >>> fnb.compare(runs, modes=["Off", "On"])[["n_pairs", "b", "c"]].values.tolist()
    [[22, 22, 0]]
    """
    if correction not in ("holm", "none", None):
        raise ValueError(f'correction must be "holm" or None, got {correction!r}')
    strata, clusters, level = listed(by), named_cluster(cluster), level_of(level)
    if "mode" in strata:
        raise ValueError("by takes strata, not the mode: the modes are what is compared")
    if "mode" in check_columns(runs, clusters, "cluster"):
        raise ValueError(
            "cluster names what makes cases alike, not the mode: the modes are what is compared"
        )
    chosen = chosen_modes(runs, modes)
    wanted = listed(metric)
    if not wanted:
        raise ValueError("name at least one metric")
    events = {column for one in wanted for column in find_metric(one).event}
    counted = [name for name in strata if name in FLAGS and name in events]
    if counted:
        raise ValueError(
            f"{counted[0]} is counted here, so it cannot be a stratum too: it would part the pairs"
        )
    tables = [
        one_family(runs, name, chosen, strata, clusters, level, correction == "holm")
        for name in wanted
    ]
    table = pd.concat([one for one, _ in tables], ignore_index=True)
    told = sorted(
        {version for _, found in tables for several in found.values() for version in several}
    )
    found = {
        "source": runs.source,
        "cluster": " and ".join(clusters),
        "suite_version": ", ".join(told),
    }
    found["seed"] = (
        f"{SEED} ({RESAMPLES:,} draws)" if table["method"].str.contains("monte carlo").any() else ""
    )
    table.attrs |= {name: text for name, text in found.items() if text}
    return table


def chosen_modes(runs: Outcomes, modes: Sequence[str] | None) -> list[str]:
    """At least two modes in the documented order."""
    there = modes_of(runs)
    found = there if modes is None else [find_mode(there, one, "modes") for one in listed(modes)]
    if len(set(found)) < 2:
        raise OutcomesError(
            f"one mode only ({', '.join(found) or 'none'}): there is nothing to compare"
        )
    return [mode for mode in there if mode in found]


def one_family(
    runs: Outcomes,
    name: str,
    modes: list[str],
    strata: list[str],
    clusters: list[str],
    level: float,
    correct: bool,
) -> tuple[pd.DataFrame, dict[tuple[str, ...], list[str]]]:
    """All pairs of modes of one metric, with Holm's correction within each stratum; and the suite
    versions met.
    """
    one = find_metric(name)
    keep = list(dict.fromkeys([*strata, *clusters]))
    table = vectors(runs, one, modes, keep)
    told = versions_of(runs, one, strata)
    cells = (
        in_order(table[strata].drop_duplicates(), strata, []) if strata else pd.DataFrame(index=[0])
    )
    left_out = Unpaired(runs, one, modes, strata)
    rows: list[dict[str, Any]] = []
    for _, cell in cells.iterrows():
        part = table[(table[strata] == cell[strata]).all(axis=1)] if strata else table
        family = []
        for first, second in combinations(range(len(modes)), 2):
            row = {"metric": one.symbol, **{key: cell[key] for key in strata}}
            row |= {"mode_a": modes[first], "mode_b": modes[second], "level": level}
            labels = tuple(cell[key] for key in strata)
            refused = version_reason(told, labels, modes[first], modes[second])
            family.append(row | one_pair(part, (first, second), one, row, clusters, refused))
        adjusted = (
            holm([row["p"] for row in family]).adjusted if correct else [math.nan] * len(family)
        )
        for row, value in zip(family, adjusted, strict=True):
            row["p_holm"] = float(value)
            said = (row["note"], left_out.note(row), "" if runs.checked else UNCHECKED)
            row["note"] = "; ".join(filter(None, said))
        rows += family
    return pd.DataFrame(rows, columns=["metric", *strata, *COLUMNS]), told


def versions_of(runs: Outcomes, one: Metric, strata: list[str]) -> dict[tuple[str, ...], list[str]]:
    """Suite versions per stratum and mode; nothing where there are none or where they were pooled
    on request.
    """
    if runs.pooled or "suite_version" not in runs.columns:
        return {}
    keys = [*strata, "mode"]
    found = versions(cube(runs, keys, list(one.columns)), one, keys)
    for labels, several in found.items():
        if len(several) > 1:
            raise OutcomesError(
                f"{name_of(keys, labels)} mixes suite versions ({', '.join(several)}). Choose one with "
                "runs.where(suite_version=...) or accept the mix with runs.pool_versions()"
            )
    return found


def version_reason(
    told: dict[tuple[str, ...], list[str]], labels: tuple[str, ...], a: str, b: str
) -> str:
    """Why two modes of different suite versions are not compared; empty when they may be."""
    first, second = told.get((*labels, a), []), told.get((*labels, b), [])
    if not first or not second or first == second:
        return ""
    return f"not computable: suite versions differ ({a} {first[0]}, {b} {second[0]}); runs.pool_versions() accepts them"


def one_pair(
    part: pd.DataFrame,
    places: tuple[int, int],
    one: Metric,
    row: dict[str, Any],
    clusters: list[str],
    refused: str,
) -> dict[str, Any]:
    """One row of `compare` from the vectors of one stratum."""
    k_a, n_a, m_a, k_b, n_b, m_b = (
        part[f"{what}{place}"].to_numpy() for place in places for what in "knm"
    )
    cases = part["cases"].to_numpy()
    known = (n_a > 0) & (n_b > 0)
    out: dict[str, Any] = {"unpaired": int(cases[(n_a > 0) ^ (n_b > 0)].sum())}
    if refused or not known.any():
        blank: dict[str, Any] = dict.fromkeys(COLUMNS[7:15], math.nan) | dict.fromkeys(
            COLUMNS[2:7], 0
        )
        blank |= {"independent_low": math.nan, "independent_high": math.nan, "method": ""}
        return blank | out | {"note": refused or no_pair_reason(one, row, n_a, m_a, n_b, m_b)}
    rate_a, rate_b = k_a[known] / n_a[known], k_b[known] / n_b[known]
    weight = cases[known]
    out |= counted(rate_a, rate_b, weight)
    notes = pair_notes(out)
    once = not ((n_a[known] > 1).any() or (n_b[known] > 1).any())
    if once:
        n = out["n_pairs"]
        apart = difference(out["both"] + out["b"], n, out["both"] + out["c"], n, level=row["level"])
        out |= {"independent_low": apart.low, "independent_high": apart.high}
    if clusters:
        labels = {key: part.loc[known, key].to_numpy() for key in clusters}
        notes += clustered_test(out, rate_a - rate_b, weight, labels, row["level"])
    elif not once:
        notes += repeated_test(
            out, (k_a[known], n_a[known], k_b[known], n_b[known]), weight, row["level"]
        )
    else:
        notes += plain_test(out, row["level"])
    notes += missing_note(row, (k_a, n_a, m_a), (k_b, n_b, m_b), cases, out)
    return out | {"note": "; ".join(filter(None, notes))}


def no_pair_reason(one: Metric, row: dict[str, Any], n_a: Any, m_a: Any, n_b: Any, m_b: Any) -> str:
    """Why there is no case known in both modes."""
    for mode, n, m in ((row["mode_a"], n_a, m_a), (row["mode_b"], n_b, m_b)):
        if not n.sum() and mode_key(mode) in one.inactive:
            return f"not computable: {one.inactive[mode_key(mode)].replace('this mode', mode)}"
        if not n.sum() and m.sum():
            return f"not computable: no case of {mode} has a known outcome"
        if not n.sum():
            return f"not computable: no case of {one.symbol} ran in {mode}"
    return "not computable: the two modes share no case"


def counted(
    rate_a: np.ndarray[Any, Any], rate_b: np.ndarray[Any, Any], weight: np.ndarray[Any, Any]
) -> dict[str, Any]:
    """The four cells over cases, the mean case rates, their difference and Cohen's h."""
    higher, lower, tie = rate_a > rate_b, rate_a < rate_b, rate_a == rate_b
    total = int(weight.sum())
    mean_a, mean_b = float(rate_a @ weight) / total, float(rate_b @ weight) / total
    return {
        "n_pairs": total,
        "both": int(weight[tie & (rate_a >= 0.5)].sum()),
        "b": int(weight[higher].sum()),
        "c": int(weight[lower].sum()),
        "neither": int(weight[tie & (rate_a < 0.5)].sum()),
        "rate_a": mean_a,
        "rate_b": mean_b,
        "diff": float((rate_a - rate_b) @ weight) / total,
        "h": cohens_h(min(mean_a, 1.0), min(mean_b, 1.0)),
        "independent_low": math.nan,
        "independent_high": math.nan,
    }


def plain_test(out: dict[str, Any], level: float) -> list[str]:
    """Exact McNemar and Newcombe's paired interval."""
    test = mcnemar(out["b"], out["c"])
    found = paired_difference(
        out["both"], out["b"], out["c"], out["neither"], method="newcombe", level=level
    )
    out |= {
        "low": found.low,
        "high": found.high,
        "p": test.p,
        "log10_p": test.log10_p,
        "method": "mcnemar, newcombe",
    }
    return [found.note]


def repeated_test(
    out: dict[str, Any], counts: tuple[Any, Any, Any, Any], weight: Any, level: float
) -> list[str]:
    """Repeats: a sign test over cases and the mean of the case differences."""
    found = repeated_pairs(*(np.repeat(part, weight) for part in counts), level=level)
    test = mcnemar(found.positive, found.negative)
    out |= {"low": found.low, "high": found.high, "p": test.p, "log10_p": test.log10_p}
    out["method"] = "sign test, mean of cases"
    return [
        found.note.replace("not computable", "no interval"),
        "the unit is the case: repeats are averaged first",
    ]


def clustered_test(
    out: dict[str, Any], d: Any, weight: Any, labels: dict[str, Any], level: float
) -> list[str]:
    """Sign flips and the clustered mean, for each key; of two keys the larger p and the wider
    interval stay.
    """
    found = {}
    for key, label in labels.items():
        sums = pd.Series(d * weight).groupby(label, sort=False).sum().to_numpy()
        test = sign_flip(np.where(np.abs(sums) < 1e-12, 0.0, sums), resamples=RESAMPLES, seed=SEED)
        mean = cluster_mean(np.repeat(d, weight), np.repeat(label, weight), level=level)
        found[key] = (test, mean)
    key_p = max(found, key=lambda key: found[key][0].p)
    key_wide = max(found, key=lambda key: _width(found[key][1]))
    test, mean = found[key_p][0], found[key_wide][1]
    out |= {
        "low": max(mean.low, -1.0),
        "high": min(mean.high, 1.0),
        "p": test.p,
        "log10_p": math.log10(test.p),
    }
    out["method"] = f"sign flip ({test.method}), clustered mean"
    fewest = min(result.clusters for result, _ in found.values())
    notes = [f"{found[key][0].clusters} clusters of {key}" for key in labels]
    notes += [
        f"cases without {key} count as one cluster"
        for key, label in labels.items()
        if (label == NO_VALUE).any()
    ]
    if len(labels) == 2:
        notes.append(
            f"p from {key_p}, interval from {key_wide}: the larger and the wider of the two one-way results"
        )
    if fewest < FEW:
        notes.insert(0, f"insufficient data (fewer than {FEW} clusters)")
    if math.isnan(mean.low):
        notes.append(f"no interval: {mean.note}")
    return notes


def _width(mean: Any) -> float:
    return math.inf if math.isnan(mean.low) else float(mean.high - mean.low)


def pair_notes(out: dict[str, Any]) -> list[str]:
    """What the number of pairs allows."""
    notes = []
    if out["n_pairs"] < FEW:
        notes.append(f"insufficient data (n<{FEW} pairs)")
    discordant = out["b"] + out["c"]
    if discordant == 0:
        notes.append("no discordant pairs: the data cannot separate the modes")
    elif 2 * 0.5**discordant > 0.05:
        noun = "pair" if discordant == 1 else "pairs"
        notes.append(f"{discordant} discordant {noun} cannot reach 0.05: n too small")
    return notes


def missing_note(row: dict[str, Any], a: Any, b: Any, cases: Any, out: dict[str, Any]) -> list[str]:
    """Would the sign or the significance change if the missing outcomes fell the other way?"""
    (k_a, n_a, m_a), (k_b, n_b, m_b) = a, b
    ran = (n_a + m_a > 0) & (n_b + m_b > 0)
    lost_a, lost_b = int((m_a * cases)[ran].sum()), int((m_b * cases)[ran].sum())
    if not lost_a + lost_b:
        return []
    ends = []
    for a_up in (0, 1):
        rate_a = (k_a + a_up * m_a)[ran] / (n_a + m_a)[ran]
        rate_b = (k_b + (1 - a_up) * m_b)[ran] / (n_b + m_b)[ran]
        end = counted(rate_a, rate_b, cases[ran])
        ends.append((end["diff"], mcnemar(end["b"], end["c"]).p))
    (floor, p_floor), (ceiling, p_ceiling) = ends
    alpha = 1 - row["level"]
    whose = " and ".join(
        f"{n} of {m}" for m, n in ((row["mode_a"], lost_a), (row["mode_b"], lost_b)) if n
    )
    said = f"the missing outcomes ({whose}) put the difference between floor and ceiling {bracket(floor, ceiling)}"
    if floor < 0 < ceiling or (out["diff"] and min(floor * out["diff"], ceiling * out["diff"]) < 0):
        return [said + ": they decide this, floor and ceiling differ in sign"]
    if len({p <= alpha for p in (p_floor, out["p"], p_ceiling)}) > 1:
        return [said + f": they decide whether McNemar's p stays at or below {alpha:.2g}"]
    return [said + ": neither sign nor decision changes"]
