"""Rates seen through a judge: corrected with people's labels where there are any, cell by cell,
each with its reason.

It works on a finished table of rates, so an old report can be corrected afterwards, any number of
times, without running anything again. Which method a cell gets by itself follows the coverage
measured by `tests/benchmarks/coverage_judges.py` (docs/coverage.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from ..metrics import METRICS
from ..stats._check import choice, count, level_of
from ..stats.intervals import interval
from ..stats.judge import double_sample, rogan_gladen
from .cells import FEW
from .known_judge import Judge, Labels, Sheet

__all__ = ["METHODS", "Labels", "judged_rates"]

METHODS = ("backoff", "double sample", "delta", "bootstrap", "fixed", "simple", "none")
NEEDS_COUNTS = ("double sample", "delta", "bootstrap")
PLAIN = dict.fromkeys(
    ("clopper-pearson", "jeffreys", "agresti-coull"),
    "that is an interval of a rate without a judge; leave method out to correct where labels exist",
)
DRAWN = {"bootstrap": 1, "double sample": 2}  # methods that draw, and how many times `resamples`
NAN = math.nan


def judged_rates(
    table: pd.DataFrame, judge: Any, *, method: str = "backoff", level: float = 0.95
) -> pd.DataFrame:
    """A table of rates with the error of the judge in each rate and its interval.

    Parameters
    ----------
    table: rates as `fnb.rates` gives them (also read back from a file).
    judge: a table of labels with columns `human` and `judge`, counts, or `se` and `sp`; or
        `Labels`, to name columns or to say that the labels are a random part of the run. Columns
        that are strata of the table keep Se and Sp apart.
    method: "backoff" takes in each cell what the labels allow: "double sample" when they are a
        random part of the run (naming that method says so), "delta" for other labels, "fixed" for
        Se and Sp without counts, and the plain interval, uncorrected, where no label says how good
        the judge is. A method that is named is taken everywhere, and a cell without labels is then
            not computable. "simple": uncorrected; "none": no interval.
    level: confidence level, that of the table.

    Returns
    -------
    The table with `rate`, `low`, `high`, `method` and `note` corrected, and `observed`,
    `observed_low`, `observed_high` as they were; `k` and `n` stay the observed counts. Metrics that
    the judge does not decide stay as they are.

    Not computable when
    -------------------
    Se + Sp <= 1, or the data contradict Se and Sp (see `stats.rogan_gladen`): the rate is NaN and
    `note` says why. There is no fallback to the uncorrected rate then. A failure in one cell leaves
    the others as they are.

    Raises
    ------
    ValueError: an unknown method, or one that needs counts with Se and Sp alone; labels of several
        judges without a
    stratum that tells them apart.

    Notes
    -----
    A stratum with fewer than five labelled positives or negatives takes Se and Sp from all strata
    of the same mode, judge and suite version, and says so. Clusters widen the part of the interval
    that comes from k/n by the method of variance recovery (Zou, Donner 2008, Stat Med 27:1693);
    "backoff" then takes "delta" also for labels of the run, because Se and Sp, other than PPV and
        FOM, do not vary with the rate of a cluster. Coverage: docs/coverage.md.

    Example
    -------
    >>> import ferrite_nb as fnb
    >>> runs = fnb.read(fnb.data("ferrite_run_b.csv")).where(mode="LoopOnly")
    >>> table = fnb.rates(runs, "ASR", judge={"tp": 47, "fn": 140, "tn": 186, "fp": 3})
    >>> table[["k", "n", "method"]].values.tolist(), table[["observed", "rate"]].round(3).values.tolist()
    ([[121, 787, 'delta']], [[0.154, 0.586]])
    """
    level = level_of(level)
    how = "backoff" if method == "wilson" else choice(method, "method", METHODS, PLAIN)
    labels = judge if isinstance(judge, Labels) else Labels(judge)
    sheet = Sheet.of(replace(labels, part_of_run=True) if how == "double sample" else labels, table)
    if how in NEEDS_COUNTS and sheet.rates is not None:
        raise ValueError(
            f'method {how!r} needs the counts tp, fn, tn, fp; se and sp alone go with method="fixed"'
        )
    out = table.reset_index(drop=True)
    out = out.assign(observed=out["rate"], observed_low=out["low"], observed_high=out["high"])
    for place, row in enumerate(out.to_dict("records")):
        if not decided(row, labels.event):
            continue
        found = one_cell(row, sheet, labels, how, level)
        out.loc[place, ["rate", "low", "high"]] = [found.rate, found.low, found.high]
        out.loc[place, "method"] = found.method
        said = [note_of(row), found.said]
        out.loc[place, "note"] = "; ".join(
            filter(None, said if not math.isnan(found.rate) else said[::-1])
        )
    draws = {DRAWN[used] * labels.resamples for used in out["method"] if used in DRAWN}
    if draws:
        out.attrs["seed"] = f"{labels.seed} ({max(draws):,} draws)"
    return out


def note_of(row: Any) -> str:
    """The note of a row; a table read back from a file has NaN where there was none."""
    return row["note"] if isinstance(row["note"], str) else ""


def decided(row: Any, event: str) -> bool:
    """Whether the judge's flag, and nothing else, is the event of the row's metric, and there is a
    rate to correct.
    """
    one = METRICS.get(row["metric"])
    return (
        one is not None
        and set(one.event) == {event}
        and bool(row["n"])
        and not pd.isna(row["rate"])
    )


@dataclass(frozen=True)
class Corrected:
    """The rate of one cell after the judge, the method it got, and why."""

    rate: float
    low: float
    high: float
    method: str
    said: str


@dataclass(frozen=True)
class Unclipped:
    """A corrected rate before it is cut to [0, 1]; `slope` is how much it changes with k/n."""

    rate: float
    low: float
    high: float
    slope: float
    note: str


def one_cell(row: Any, sheet: Sheet, labels: Labels, how: str, level: float) -> Corrected:
    """The cell as its labels and the wanted method allow; whatever fails here is this cell's
    reason.
    """
    if how == "none":
        return Corrected(row["rate"], NAN, NAN, "none", "no interval asked for")
    if how == "simple":
        return Corrected(
            row["rate"], row["low"], row["high"], row["method"], "not corrected for the judge"
        )
    used = how
    try:
        judge = sheet.judge(METRICS[row["metric"]], row)
        if isinstance(judge, str):
            if how == "backoff":
                return Corrected(
                    row["rate"], row["low"], row["high"], row["method"], f"not corrected: {judge}"
                )
            return refused(how, judge)
        used = chosen(judge, is_clustered(row)) if how == "backoff" else how
        if used == "double sample" and not judge.part:
            missing = ", ".join(sheet.missing(METRICS[row["metric"]])) or "this cell"
            return refused(
                used, f"the labels do not name {missing}, so they are no random part of it"
            )
        return corrected(row, judge, used, labels, level)
    except (ValueError, ArithmeticError) as failure:
        return refused(used, str(failure))


def is_clustered(row: Any) -> bool:
    """Whether the interval of the row comes from clusters."""
    return not pd.isna(row.get("clusters", pd.NA))


def refused(method: str, why: str) -> Corrected:
    """A cell without a corrected rate, and the reason."""
    return Corrected(NAN, NAN, NAN, method, f"not computable: {why}")


def chosen(judge: Judge, clustered: bool) -> str:
    """The method that covers as it says with such labels (docs/coverage.md).

    PPV and FOM vary with the rate of a cluster, Se and Sp do not: with clusters "delta" covers and
        "double sample" not.
    """
    if judge.cells is None:
        return "fixed"
    return "double sample" if judge.part and not (clustered and min(judge.classes)) else "delta"


def corrected(row: Any, judge: Judge, used: str, labels: Labels, level: float) -> Corrected:
    """The corrected rate of a cell, clusters in its interval, cut to [0, 1]."""
    turned = not METRICS[row["metric"]].event[labels.event]  # CR counts what the judge did not flag
    k, n = count(row["k"], "k"), count(row["n"], "n")
    flagged = n - k if turned else k
    found = unclipped(flagged, n, judge, used, labels, level)
    if turned and found.note:
        found = replace(found, note=f"in terms of attack success, {found.note}")
    if math.isnan(found.rate):
        return refused(used, found.note)
    if is_clustered(row):
        ends = (row["low"], row["high"])
        found = widened(
            found, flagged / n, interval(flagged, n, level=level), turn(ends) if turned else ends
        )
    rate, low, high = (min(max(end, 0.0), 1.0) for end in (found.rate, found.low, found.high))
    if turned:
        rate, (low, high) = 1 - rate, turn((low, high))
    error = "judge error not included" if used == "fixed" else few(judge, used)
    return Corrected(
        rate,
        low,
        high,
        used,
        "; ".join(filter(None, [f"corrected with {judge}", error, found.note])),
    )


def few(judge: Judge, used: str) -> str:
    """What to say when Se or Sp rests on a handful of labels; double sampling does not need
    them.
    """
    if used == "double sample" or min(judge.classes) >= FEW:
        return ""
    return f"only {min(judge.classes)} labels of a class: such bounds hold the truth less often than they say"


def turn(ends: tuple[float, float]) -> tuple[float, float]:
    """The bounds of a share from those of the rest."""
    return 1 - ends[1], 1 - ends[0]


def unclipped(k: int, n: int, judge: Judge, used: str, labels: Labels, level: float) -> Unclipped:
    """Rate and bounds by the method, before clusters and cutting; a refusal is NaN with its
    note.
    """
    if used == "double sample":
        assert judge.cells is not None  # only counts can be a part of the run
        ds = double_sample(
            k,
            n,
            *judge.cells,
            level=level,
            resamples=DRAWN[used] * labels.resamples,
            seed=labels.seed,
        )
        tp, fn, _, _ = judge.cells
        none = (
            "not distinguishable from 0: people found no event in the labelled part"
            if not tp + fn
            else ""
        )
        note = "; ".join(filter(None, [ds.note, none]))
        return Unclipped(ds.rate, ds.low, ds.high, ds.ppv - ds.fom, note)
    options: dict[str, Any] = {
        "method": used,
        "level": level,
        "resamples": labels.resamples,
        "seed": labels.seed,
    }
    if judge.cells is None:
        rg = rogan_gladen(k, n, se=judge.se, sp=judge.sp, **options)
    else:
        rg = rogan_gladen(k, n, *judge.cells, **options)
    if math.isnan(rg.rate):
        return Unclipped(NAN, NAN, NAN, NAN, rg.note)
    return Unclipped(rg.raw, rg.raw_low, rg.raw_high, 1 / (rg.se + rg.sp - 1), rg.note)


def widened(
    found: Unclipped, observed: float, plain: Any, clustered: tuple[float, float]
) -> Unclipped:
    """Put the clustered bounds of k/n in the place of the plain ones: the squares of the distances
    are exchanged.
    """
    if math.isnan(clustered[0]):
        return replace(found, low=NAN, high=NAN)
    down = max((observed - clustered[0]) ** 2 - (observed - float(plain.low)) ** 2, 0.0)
    up = max((clustered[1] - observed) ** 2 - (float(plain.high) - observed) ** 2, 0.0)
    if found.slope < 0:
        down, up = up, down
    low = found.rate - math.sqrt(max(found.rate - found.low, 0.0) ** 2 + found.slope**2 * down)
    high = found.rate + math.sqrt(max(found.high - found.rate, 0.0) ** 2 + found.slope**2 * up)
    return replace(found, low=low, high=high)
