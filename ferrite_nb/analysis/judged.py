"""Rates seen through a judge: what labels say of it in each cell, and each rate corrected by that.

Which method a cell gets by itself follows the coverage measured by
`tests/benchmarks/coverage_judges.py` (docs/coverage.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
from scipy.stats import hypergeom

from ..estimate import FEW, state_of
from ..metrics import METRICS
from ..schema import Table, made, strata_of
from ..stats._check import choice, level_of
from ..stats.intervals import interval
from ..stats.judge import double_sample, rogan_gladen
from .judge import Judge, Labels, Sheet

METHODS = ("backoff", "double sample", "delta", "bootstrap", "fixed", "simple", "none")
NEEDS_COUNTS = ("double sample", "delta", "bootstrap")
PLAIN = dict.fromkeys(
    ("clopper-pearson", "jeffreys", "agresti-coull"),
    "that is an interval of a rate without a judge; leave method out to correct where labels exist",
)
DRAWN = {"bootstrap": 1, "double sample": 2}  # methods that draw, and how many times `resamples`
RARE = 0.01  # a part of the run drawn at random looks as unlike the rest as this once in a hundred
NAN = math.nan
Cells = tuple[int, int, int, int]
Ends = tuple[float, float]


def judged_rates(
    table: pd.DataFrame, judge: Any, *, method: str = "backoff", level: float = 0.95
) -> Table:
    """A table of rates with the error of the judge in each rate and its interval.

    Parameters
    ----------
    table: rates as `fnb.rates` gives them (also read back from a file).
    judge: a table of labels with columns `human` and `judge`, counts, or `se` and `sp`; or
        `Labels`, to name columns or to say that the labels are a random part of the run. Columns
        that are strata of the table keep Se and Sp apart.
    method: "backoff" takes in each cell what the labels allow: "double sample" when they are a
        random part of the run (naming that method says so), "delta" for other labels, "fixed" for
        Se and Sp without counts, and the plain interval, uncorrected, where there is no label. A
        method that is named is taken everywhere, and a cell without labels is then not computable.
        "simple": uncorrected; "none": no interval.
    level: confidence level, that of the table.

    Returns
    -------
    The table with `rate`, `low`, `high`, `method`, `state`, `why` and `note` corrected, and
    `observed`, `observed_low`, `observed_high` as they were; `k` and `n` stay the observed counts.
    Metrics that the judge does not decide stay as they are.

    Not computable when
    -------------------
    labels of one class are missing in a cell that has others (how many more would do is said),
    Se + Sp <= 1, or the data contradict Se and Sp (see `stats.rogan_gladen`). There is no fallback
    to the uncorrected rate then, and Se and Sp are never borrowed from another stratum. A failure
    in one cell leaves the others as they are.

    Raises
    ------
    ValueError: an unknown method, or one that needs counts with Se and Sp alone; labels of several
        judges without a stratum that tells them apart.

    Notes
    -----
    Clusters widen the part of the interval that comes from k/n by the method of variance recovery
    (Zou, Donner 2008, Stat Med 27:1693); "backoff" then takes "delta" also for labels of the run,
    because Se and Sp, other than PPV and FOM, do not vary with the rate of a cluster.

    Example
    -------
    >>> import ferrite_nb as fnb
    >>> runs = fnb.read(fnb.data("ferrite_run_b.csv")).where(mode="LoopOnly")
    >>> table = fnb.rates(runs, "ASR", judge={"tp": 47, "fn": 140, "tn": 186, "fp": 3})
    >>> table[["k", "n", "method"]].values.tolist()
    [[121, 787, 'delta']]
    >>> table[["observed", "rate"]].round(3).values.tolist()
    [[0.154, 0.586]]
    """
    strata = strata_of(table)
    records = table.to_dict("records")
    rows = [{key: v for key, v in row.items() if not pd.isna(v)} for row in records]
    labels = judge if isinstance(judge, Labels) else Labels(judge)
    return made("rates", judged_rows(rows, labels, strata, method, level), strata)


def judged_rows(
    rows: Iterable[dict[str, Any]], labels: Labels, strata: Sequence[str], method: str, level: float
) -> list[dict[str, Any]]:
    """Rows of rates, each corrected as its labels and the wanted method allow."""
    rows, level = list(rows), level_of(level)
    how = "backoff" if method == "wilson" else choice(method, "method", METHODS, PLAIN)
    if how == "double sample" and not labels.part_of_run:
        labels = replace(labels, part_of_run=True)
    sheet = Sheet.of(labels, rows, strata)
    if how in NEEDS_COUNTS and sheet.rates is not None:
        raise ValueError(
            f"method {how!r} needs the counts tp, fn, tn, fp; se and sp alone go with "
            'method="fixed"'
        )
    return [judged_row(row, sheet, how, level) for row in rows]


def judged_row(row: dict[str, Any], sheet: Sheet, how: str, level: float) -> dict[str, Any]:
    """One row of rates after the judge; whatever fails in it is the reason of this row alone."""
    seen = {f"observed{end}": row.get(name, NAN) for end, name in OBSERVED}
    out = {**row, **seen}
    metric = METRICS.get(row["metric"])
    flag = sheet.labels.event
    if metric is None or set(metric.event) != {flag} or not row["n"] or math.isnan(row["rate"]):
        return out
    if how == "none":
        return out | {"low": NAN, "high": NAN, "method": "none"} | _none("no interval asked for")
    if how == "simple":
        return out | {"note": joined(row, "not corrected for the judge")}
    judge = sheet.judge(metric, row)
    used = how
    try:
        if isinstance(judge, str):
            if how == "backoff" and not sheet.here(metric, row).any():
                return out | {"note": joined(row, f"not corrected: {judge}")}
            raise ArithmeticError(judge)
        clustered = row.get("clusters") is not None
        used = chosen(judge, clustered) if how == "backoff" else how
        if used == "double sample" and not judge.part:
            lacking = ", ".join(sheet.missing(metric)) or "this cell"
            raise ArithmeticError(
                f"the labels do not name {lacking}, so they are no random part of it"
            )
        return out | corrected(row, judge, used, sheet.labels, level)
    except (ValueError, ArithmeticError) as failure:
        why = str(failure)
        blank: dict[str, Any] = {"rate": NAN, "low": NAN, "high": NAN}
        blank["method"] = "delta" if used == "backoff" else used
        return (
            out | blank | _none(why) | {"note": joined(row, f"not computable: {why}", first=True)}
        )


OBSERVED = (("", "rate"), ("_low", "low"), ("_high", "high"))


def _none(why: str) -> dict[str, str]:
    return {"state": "none", "why": why}


def joined(row: Mapping[str, Any], more: str, *, first: bool = False) -> str:
    """The note of a row with more to say."""
    parts = [more, row.get("note") or ""] if first else [row.get("note") or "", more]
    return "; ".join(filter(None, parts))


def chosen(judge: Judge, clustered: bool) -> str:
    """The method that covers as it says with such labels (docs/coverage.md).

    PPV and FOM vary with the rate of a cluster, Se and Sp do not: with clusters "delta" covers and
    "double sample" does not.
    """
    if judge.cells is None:
        return "fixed"
    return "double sample" if judge.part and not (clustered and min(judge.classes)) else "delta"


@dataclass(frozen=True)
class Unclipped:
    """A corrected rate before it is cut to [0, 1]; `slope` is how much it changes with k/n."""

    rate: float
    low: float
    high: float
    slope: float
    note: str


def corrected(
    row: Mapping[str, Any], judge: Judge, used: str, labels: Labels, level: float
) -> dict[str, Any]:
    """The corrected rate of a cell, clusters in its interval, cut to [0, 1]."""
    metric = METRICS[row["metric"]]
    turned = not metric.event[labels.event]  # CR counts what the judge did not flag
    k, n = int(row["k"]), int(row["n"])
    flagged = n - k if turned else k
    result = unclipped(flagged, n, judge, used, labels, level)
    about = f"in terms of attack success, {result.note}" if turned and result.note else result.note
    if math.isnan(result.rate):
        raise ArithmeticError(about)
    if row.get("clusters") is not None:
        ends = (row["low"], row["high"])
        plain = interval(flagged, n, level=level)
        result = widened(result, flagged / n, plain, turn(ends) if turned else ends)
    rate, low, high = (min(max(end, 0.0), 1.0) for end in (result.rate, result.low, result.high))
    if turned:
        rate, (low, high) = 1 - rate, turn((low, high))
    words = [f"corrected with {judge}", *warnings(judge, used, labels, flagged, n), about]
    state, why = state_of(n, rate, low)
    state, why = ("few", row["why"]) if row["state"] == "few" else (state, why)
    found: dict[str, Any] = {
        "rate": rate,
        "low": low,
        "high": high,
        "method": used,
        "state": state,
        "why": why,
    }
    found |= {"outer_low": None, "outer_high": None}
    if used in DRAWN:
        found["seed"] = f"{labels.seed} ({DRAWN[used] * labels.resamples:,} draws)"
    return found | {"note": joined(row, "; ".join(filter(None, words)))}


def warnings(judge: Judge, used: str, labels: Labels, flagged: int, n: int) -> list[str]:
    """What weakens a correction: Se and Sp without error, a handful of labels, labels unlike the
    run.
    """
    if judge.cells is None:
        return ["judge error not included"]
    words = []
    few = min(judge.classes)
    if used != "double sample" and few < FEW:
        words.append(f"only {few} labels of a class: such bounds hold the truth too seldom")
    if judge.part and labels.part_of_run is True:
        flags = judge.cells[0] + judge.cells[3]
        if flag_share_p(flags, sum(judge.cells), flagged, n) <= RARE:
            words.append(
                f"the labels do not look like a random part: {flags} of {sum(judge.cells)} are "
                f"flagged, {flagged} of {n} in the run; if they were drawn by flag, say "
                'part_of_run="by flag"'
            )
    return words


def flag_share_p(flagged: int, labels: int, k: int, n: int) -> float:
    """The p-value that a random part of a run has so many or so few flags: hypergeometric, twice
    the smaller tail (Fisher 1935).
    """
    if labels > n or flagged > k or labels - flagged > n - k:
        return 1.0  # no part of this cell at all, which the routine itself refuses
    draw = hypergeom(n, k, labels)
    return float(min(1.0, 2 * min(draw.cdf(flagged), draw.sf(flagged - 1))))


def turn(ends: Ends) -> Ends:
    """The bounds of a share from those of the rest."""
    return 1 - ends[1], 1 - ends[0]


def unclipped(k: int, n: int, judge: Judge, used: str, labels: Labels, level: float) -> Unclipped:
    """Rate and bounds by the method, before clusters and cutting; a refusal is NaN with its
    note.
    """
    draws: dict[str, Any] = {"level": level, "resamples": DRAWN.get(used, 1) * labels.resamples}
    if used == "double sample":
        assert judge.cells is not None  # only counts can be a part of the run
        ds = double_sample(k, n, *judge.cells, seed=labels.seed, **draws)
        seldom = "not distinguishable from 0: people found no event in the labelled part"
        note = "; ".join(filter(None, [ds.note, "" if judge.classes[0] else seldom]))
        return Unclipped(ds.rate, ds.low, ds.high, ds.ppv - ds.fom, note)
    options: dict[str, Any] = {"method": used, "seed": labels.seed, **draws}
    if judge.cells is None:
        options |= {"se": judge.se, "sp": judge.sp}
    rg = rogan_gladen(k, n, *(judge.cells or ()), **options)
    if math.isnan(rg.rate):
        return Unclipped(NAN, NAN, NAN, NAN, rg.note)
    return Unclipped(rg.raw, rg.raw_low, rg.raw_high, 1 / (rg.se + rg.sp - 1), rg.note)


def widened(result: Unclipped, observed: float, plain: Any, clustered: Ends) -> Unclipped:
    """Put the clustered bounds of k/n in the place of the plain ones: the squares of the distances
    are exchanged.
    """
    if math.isnan(clustered[0]):
        return replace(result, low=NAN, high=NAN)
    down = max((observed - clustered[0]) ** 2 - (observed - float(plain.low)) ** 2, 0.0)
    up = max((clustered[1] - observed) ** 2 - (float(plain.high) - observed) ** 2, 0.0)
    if result.slope < 0:
        down, up = up, down
    low = result.rate - math.sqrt(max(result.rate - result.low, 0.0) ** 2 + result.slope**2 * down)
    high = result.rate + math.sqrt(max(result.high - result.rate, 0.0) ** 2 + result.slope**2 * up)
    return replace(result, low=low, high=high)
