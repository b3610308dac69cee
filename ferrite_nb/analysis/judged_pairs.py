"""Differences seen through a judge: what its error makes of one pair of modes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..metrics import Metric
from ..outcomes.table import Outcomes
from ..stats._check import z_of
from ..stats.judge_pairs import CorrectedDifference, after_judge
from .judge import Judge, Labels, Sheet, labels_of_run
from .judged import unclipped, warnings
from .pairing import Asked, share_of_pair

WITHOUT_END = 10**9  # labels that stand for Se and Sp taken as known


def sheet_of(judge: Any, runs: Outcomes, cells: Sequence[Mapping[str, Any]], asked: Asked) -> Sheet:
    """All that is known of the judge, for the strata and modes of a comparison."""
    strata = [*asked.strata, "mode"]
    rows = [{**cell, "mode": mode} for cell in cells for mode in asked.modes]
    return Sheet.of(labels_of_run(judge, runs, strata), rows, strata)


def corrected_pair(row: dict[str, Any], sheet: Sheet, metric: Metric, asked: Asked) -> None:
    """Put the judge's error into the difference of a row and its interval.

    Labels by mode: the limits of both rates put together (by double sampling where the labels are a
    random part of independent cases that ran once). Labels that no mode tells apart: the judge errs
    alike in both, which is said with the sensitivity that would make the modes equal. Counts and p
    stay those of the judge's flags.
    """
    flag = sheet.labels.event
    if set(metric.event) != {flag}:
        return
    sides = [{**row, "mode": row[name]} for name in ("mode_a", "mode_b")]
    own = "mode" in sheet.strata
    known = [sheet.judge(metric, side) for side in (sides if own else sides[:1])]
    if not any(sheet.here(metric, side).any() for side in sides):
        row["note"].append("not corrected: no labels for this pair")
        return
    lacking = [judge for judge in known if isinstance(judge, str)]
    judges = [judge for judge in known if isinstance(judge, Judge)]
    turned = not metric.event[flag]
    try:
        if lacking:
            raise ValueError(lacking[0])
        result, used = after(row, share_of_pair(row, turned), judges, sheet.labels, turned, asked)
        if math.isnan(result.low) and not math.isnan(row["low"]):
            raise ValueError(result.note)
    except (ValueError, ArithmeticError) as failure:
        empty = dict.fromkeys(("diff", "low", "high", "p", "log10_p", "p_holm"), math.nan)
        row |= empty | {"state": "none", "why": str(failure)}
        return
    low, high = (result.low, result.high) if not turned else turn_round((result.low, result.high))
    row |= {"diff": -result.diff if turned else result.diff, "low": low, "high": high}
    row |= {"independent_low": math.nan, "independent_high": math.nan}
    row["method"] += f", corrected by {used}"
    n = row["n_pairs"]
    for judge, side in zip(judges, ("a", "b"), strict=False):
        flagged = round(n * (1 - row[f"rate_{side}"] if turned else row[f"rate_{side}"]))
        mode = f' in "{row[f"mode_{side}"]}"' if own else ""
        words = [f"with {judge}{mode}"]
        words += warnings(judge, used, sheet.labels, flagged, n)
        row["note"].append(f"corrected {'; '.join(words)}")
    if not own:
        equal = f'equal if its sensitivity on "{row["mode_b"]}" were {result.tipping:.2f}'
        word = "this assumes that the judge errs alike in both modes"
        row["note"].append(f"{word}: {equal}" if 0 <= result.tipping <= 1 else word)
    row["note"].append("counts and p are of the judge's flags")


def after(
    row: Mapping[str, Any],
    cells: Sequence[float],
    judges: Sequence[Judge],
    labels: Labels,
    turned: bool,
    asked: Asked,
) -> tuple[CorrectedDifference, str]:
    """The difference of the judge's flags after the judge, and the name of the way."""
    own, independent = len(judges) == 2, row["plain"]
    if own and independent and not row["unpaired"] and all(judge.part for judge in judges):
        return in_the_run(cells, judges, labels, asked.level), "double sample"
    limits = (row["low"], row["high"])
    wider = None if independent else turn_round(limits) if turned else limits
    known = [labels_of(judge) for judge in judges]
    z = z_of(asked.level)
    return after_judge(cells, known[0], known[1] if own else (), z, wider), "delta"


def labels_of(judge: Judge) -> Sequence[float]:
    """The labels of a judge; Se and Sp alone are as good as labels without end."""
    if judge.cells is not None:
        return judge.cells
    shares = (judge.se, 1 - judge.se, judge.sp, 1 - judge.sp)
    return [share * WITHOUT_END for share in shares]


def turn_round(ends: tuple[float, float]) -> tuple[float, float]:
    """The bounds of a difference of the reverse event."""
    return -ends[1], -ends[0]


def in_the_run(
    cells: Sequence[float], judges: Sequence[Judge], labels: Labels, level: float
) -> CorrectedDifference:
    """The difference of two rates that double sampling gives, by the method of variance recovery
    (Zou, Donner 2008); the pairing is left out, which only makes it wider.
    """
    both, b, c, _ = (int(cell) for cell in cells)
    n = int(sum(cells))
    first, second = (
        unclipped(k, n, judge, "double sample", labels, level)
        for k, judge in zip((both + b, both + c), judges, strict=True)
    )
    diff = first.rate - second.rate
    down = math.hypot(first.rate - first.low, second.high - second.rate)
    up = math.hypot(first.high - first.rate, second.rate - second.low)
    note = first.note if math.isnan(first.rate) else second.note
    return CorrectedDifference(diff, max(diff - down, -1.0), min(diff + up, 1.0), note=note)
