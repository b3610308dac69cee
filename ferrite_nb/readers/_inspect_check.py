"""What an Inspect log states as its results, compared with the recount from its samples."""

from __future__ import annotations

import math
from statistics import fmean
from typing import Any

from ._inspect_log import Log
from .values import inside as named
from .values import listed, number, text

LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}


def check_results(log: Log) -> list[str]:
    """Recompute each stated mean or accuracy in the log's own way: epochs first, all kinds of
    samples together.
    """
    equal, skipped, differing = 0, [], []
    for entry in listed(log.results.get("scores")):
        stated = named(entry, None)
        name, scorer = text(stated.get("name")) or "", text(stated.get("scorer")) or ""
        value = stated_mean(stated)
        if value is None or text(stated.get("reducer")) not in (None, "mean"):
            skipped.append(name)
            continue
        ours = mean_of(log, scorer or name, name)
        if ours is not None and math.isclose(ours, value, abs_tol=1e-6):
            equal += 1
        else:
            here = "nothing" if ours is None else f"{ours:.6g}"
            differing.append(f"{name} {value:.6g} in the log, {here} here")
    if not (equal or skipped or differing):
        return ["the log states no results: the recount cannot be checked"]
    notes = [
        f"recount from the samples equals the log's own results in {equal} of"
        f" {equal + len(differing)} scores (computed in its way: epochs reduced first, attack and"
        " benign samples together; rates here are not)"
    ]
    if differing:
        reasons = "errors, missing scores, edited scores or another reducer"
        notes.append(f"results that differ ({reasons}): {'; '.join(differing[:5])}")
    if skipped:
        notes.append(
            "results without a mean or accuracy over all samples, not compared:"
            f" {', '.join(skipped[:5])}"
        )
    return notes


def stated_mean(stated: Any) -> float | None:
    """The mean or accuracy that an entry of the results states."""
    metrics = named(stated, "metrics")
    for metric in ("accuracy", "mean"):
        if metric in metrics:
            return number(named(metrics, metric).get("value"))
    return None


def mean_of(log: Log, scorer: str, name: str) -> float | None:
    """The mean over samples of the mean over epochs, as Inspect computes it; NaN and missing scores
    are left out.
    """
    cases, numbers = [], []
    for sample in log.samples:
        value = sample.scores.get(scorer, sample.scores.get(name))
        if isinstance(value, dict):
            value = value.get(name)
        if (made := as_number(value)) is not None:
            cases.append(sample.case)
            numbers.append(made)
    if cases and len(set(cases)) == len(cases):
        return fmean(numbers)
    by_case: dict[str, list[float]] = {}
    for case, made in zip(cases, numbers, strict=True):
        by_case.setdefault(case, []).append(made)
    return fmean(fmean(values) for values in by_case.values()) if by_case else None


def as_number(value: Any) -> float | None:
    """A score as Inspect turns it into a number: C is 1, P is one half, I and N are 0."""
    if value is True or value is False:
        return float(value)
    if isinstance(value, str):
        if value.strip().lower() in ("yes", "true"):
            return 1.0
        if value.strip().lower() in ("no", "false"):
            return 0.0
        try:
            made = float(value)
        except ValueError:
            return LETTERS.get(value)
        return made if math.isfinite(made) else None
    return number(value)
