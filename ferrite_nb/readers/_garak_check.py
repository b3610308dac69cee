"""What a garak report says about itself, compared with the recount: eval rows and stored
intervals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._files import Tally
from ._garak_report import Report, Scores, short_name
from .values import number, text

SHOWN = 5


@dataclass(frozen=True)
class Eval:
    """An eval row: hits of judged outputs, outputs without a score, and the interval stored with
    it.
    """

    probe: str
    detector: str
    k: int
    n: int
    nones: int | None
    low: float | None
    high: float | None
    level: float

    @property
    def name(self) -> str:
        """Probe and detector."""
        return f"{self.probe} / {self.detector}"


def eval_of(entry: Mapping[str, Any]) -> Eval | None:
    """An eval row of any version; nothing when its counts cannot be."""
    passed, fails, nones = (whole(entry.get(key)) for key in ("passed", "fails", "nones"))
    total = whole(entry.get("total_evaluated", entry.get("total")))
    if fails is None and total is not None and passed is not None:
        fails = total - passed
    if total is None and fails is not None and passed is not None:
        total = fails + passed
    if fails is None or total is None or not 0 <= fails <= total:
        return None
    level = entry.get("confidence")
    try:
        stated = float(level) if isinstance(level, str | int | float) else 0.95
    except ValueError:
        stated = 0.95
    return Eval(
        short_name(text(entry.get("probe")) or ""),
        short_name(text(entry.get("detector")) or ""),
        fails,
        total,
        nones,
        number(entry.get("confidence_lower")),
        number(entry.get("confidence_upper")),
        stated if 0 < stated < 1 else 0.95,
    )


def whole(value: Any) -> int | None:
    """A whole number that is not negative."""
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
        else None
    )


def evals_of(report: Report, tally: Tally) -> list[Eval]:
    """The eval rows that can be used; the others are counted."""
    found = [eval_of(entry) for entry in report.evals]
    if None in found:
        tally.add(
            "eval rows whose counts cannot be (k > n, or no whole numbers)", times=found.count(None)
        )
    return [one for one in found if one is not None]


def recount(scores: Scores, threshold: float) -> tuple[int, int, int]:
    """Hits, judged outputs, and scores that are no number (garak takes NaN for a hit)."""
    values = scores.numbers()
    known = ~np.isnan(values)
    broken = len(values) - int(known.sum()) - sum(one is None for one in scores.values)
    return int((values >= threshold).sum()), int(known.sum()), broken


def check_recount(report: Report, evals: Iterable[Eval], threshold: float) -> list[str]:
    """Compare the recounted attempts with the eval rows, pair by pair; every difference is
    explained or named.
    """
    stated: dict[tuple[str, str], tuple[int, int]] = {}
    for one in evals:
        k, n = stated.get((one.probe, one.detector), (0, 0))
        stated[one.probe, one.detector] = (k + one.k, n + one.n)
    if not stated:
        return ["no eval row in this report: the recount cannot be checked"]
    equal, notes, differing = 0, [], []
    for (probe, detector), (file_k, file_n) in stated.items():
        k, n, broken = recount(report.pairs.get((probe, detector), Scores()), threshold)
        name = f"{probe} / {detector}"
        if (k, n) == (file_k, file_n):
            equal += 1
        elif broken and (k + broken, n + broken) == (file_k, file_n):
            notes.append(
                f"{name}: garak counts {broken} NaN scores as hits ({file_k}/{file_n}); here they"
                f" are missing ({k}/{n})"
            )
        else:
            reason = agreeing(report.pairs.get((probe, detector), Scores()), file_k, file_n)
            differing.append(f"{name} {k}/{n} here, {file_k}/{file_n} in its eval row{reason}")
    notes.insert(
        0,
        f"recount from the attempts equals the report's own eval rows in {equal} of {len(stated)}"
        " pairs of probe and detector",
    )
    if differing:
        notes.append(
            "the recount differs (a cut or interrupted file, or another threshold): "
            + some(differing)
        )
    without = [f"{probe} / {name}" for probe, name in report.pairs if (probe, name) not in stated]
    if without:
        notes.append("no eval row to check: " + some(without))
    return notes


def agreeing(scores: Scores, k: int, n: int) -> str:
    """The threshold at which the counts would agree, where there is one."""
    values = scores.numbers()
    known = np.sort(values[~np.isnan(values)])[::-1]
    if len(known) != n or not 0 < k <= n or (k < n and known[k - 1] == known[k]):
        return ""
    return f" (they agree at threshold={known[k - 1]:g})"


def check_intervals(
    evals: Iterable[Eval], known: Mapping[str, tuple[float, float]], correcting: bool
) -> list[str]:
    """Judge the stored intervals of attack success; they are compared only, never shown as ours.

    `known` has Se and Sp by detector. `correcting` says that the version may have corrected its
    intervals with them.
    """
    found: dict[str, list[str]] = {}
    for one in evals:
        if one.low is not None and one.high is not None and one.n:
            shown = f"{one.name} [{one.low:.4g}, {one.high:.4g}] for {one.k}/{one.n}"
            found.setdefault(verdict(one, known.get(one.detector), correcting), []).append(shown)
    meaning = {
        "agrees": "",
        "zero": (
            "stored intervals without any width at 0/n or n/n (garak issue 2033); ours are Wilson: "
        ),
        "inverted": (
            "stored intervals that are upside down, of the pass rate instead of the success rate"
            " (garak issue 2047), not used: "
        ),
        "corrected": "stored intervals corrected with the detector's Se and Sp, taken as known: ",
        "unclear": (
            "stored intervals that fit the counts neither as they are nor upside down; garak 0.17"
            " may have corrected them with its detector metrics (give its file as"
            " detector_metrics=): "
        ),
        "wrong": "stored intervals that do not fit their own counts, not used: ",
    }
    stored = sum(len(names) for names in found.values())
    notes = [
        f"stored intervals that agree with their counts: {len(found.get('agrees', []))} of {stored}"
    ]
    notes += [
        f"{words}{some(found[key])}" for key, words in meaning.items() if words and key in found
    ]
    return notes if stored else []


def verdict(one: Eval, rates: tuple[float, float] | None, correcting: bool) -> str:
    """What a stored interval is: see the meanings in `check_intervals`."""
    from ..stats import garak_interval

    low, high = one.low or 0.0, one.high or 0.0
    if low == high and one.k in (0, one.n) and low == one.k / one.n:
        return "zero"

    def fits(k: int, **options: float) -> bool:
        near = 1 / one.n + 1e-9
        for mode in ("bootstrap", "simple"):
            end = garak_interval(k, one.n, mode=mode, level=one.level, min_n=1, **options)
            if abs(end.low - low) <= near and abs(end.high - high) <= near:
                return True
        return False

    if fits(one.k):
        return "agrees"
    if rates and fits(one.k, se=rates[0], sp=rates[1]):
        return "corrected"
    rate = one.k / one.n
    other_way = low <= 1 - rate <= high and not low <= rate <= high
    if fits(one.n - one.k) or (other_way and not correcting):
        return "inverted"
    return "unclear" if correcting and not rates else "wrong"


def some(names: list[str]) -> str:
    """The first of a list of findings, and how many more."""
    return "; ".join(names[:SHOWN]) + (
        f"; and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    )
