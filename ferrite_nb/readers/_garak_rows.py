"""From the attempts of a garak report to rows: which detector decides, and one row per output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..outcomes.table import OutcomesError
from ._garak_report import Report, Scores, short_name

Numbers = np.ndarray[Any, np.dtype[Any]]


def choose(report: Report, detector: str | Mapping[str, str] | None) -> dict[str, list[str]]:
    """The detectors that decide, by probe; an empty list where no detector judged a probe."""
    if detector is not None and not isinstance(detector, str | Mapping):
        raise TypeError(
            f"detector must be a name, a table of probe and detector, or 'all', got {detector!r}"
        )
    there: dict[str, list[str]] = {probe: [] for probe in dict.fromkeys(report.probes)}
    for probe, name in report.pairs:
        there[probe].append(name)
    if detector == "all":
        return there
    if isinstance(detector, str):
        return one_for_all(report, there, short_name(detector))
    asked = {short_name(probe): short_name(name) for probe, name in (detector or {}).items()}
    for probe, name in asked.items():
        if name not in there.get(probe, []):
            raise OutcomesError(
                f"{report.name}: no score of the detector {name} on the probe {probe}; there are "
                + "; ".join(f"{one}: {', '.join(names)}" for one, names in list(there.items())[:10])
            )
    return {probe: decide(report, probe, names, asked.get(probe)) for probe, names in there.items()}


def one_for_all(report: Report, there: Mapping[str, list[str]], name: str) -> dict[str, list[str]]:
    """The probes that a named detector has judged; the attempts of the others are left out with
    their count.
    """
    with_it = {probe: [name] for probe, names in there.items() if name in names}
    if not with_it:
        names = sorted({name for _, name in report.pairs})
        raise OutcomesError(
            f"{report.name}: no probe has the detector {name}; there are {', '.join(names[:30])}"
        )
    lost = sum(probe not in with_it for probe in report.probes)
    if lost:
        report.tally.add(f"attempts of probes without the detector {name} left out", times=lost)
    return with_it


def decide(report: Report, probe: str, names: list[str], asked: str | None) -> list[str]:
    """The detector of one probe: the one asked for, the primary one, or the only one."""
    main = report.primary.get(probe)
    if asked or main in names:
        return [asked or main or ""]
    if len(names) <= 1:
        if main and names:
            report.tally.add(
                "probes without a score of their primary detector, read with the only other one",
                probe,
            )
        return names
    first = sorted(names)[0]
    raise OutcomesError(
        f"{report.name}: the probe {probe} was judged by {', '.join(sorted(names)[:10])}, and the"
        " report does not say "
        f"which one is primary; several detectors judge one output, so their counts are never"
        f" added. Choose: "
        f'fnb.read("{report.name}", detector={{"{probe}": "{first}"}}), or detector="all" to keep'
        " each apart"
    )


def frame_of(
    report: Report, chosen: Mapping[str, list[str]], threshold: float, *, apart: bool
) -> pd.DataFrame:
    """One row per output, in the order of the file; with `apart` the detector joins the case, so
    keys stay unique.
    """
    names = list(dict.fromkeys(name for found in chosen.values() for name in found or [""]))
    parts = []
    for probe, found in chosen.items():
        for name in found or [""]:
            index, place, values = outputs_of(
                report, probe, report.pairs.get((probe, name), Scores())
            )
            parts.append((index, place, values, np.full(len(index), names.index(name))))
    index, place, values, code = (np.concatenate([part[i] for part in parts]) for i in range(4))
    order = np.lexsort((place, code, index))
    index, place, values, code = index[order], place[order], values[order], code[order]

    def by_attempt(column: list[Any]) -> pd.Series:
        return pd.Series(pd.array(column, dtype="str").take(index))

    detector = pd.Series(pd.array([name or None for name in names], dtype="str").take(code))
    counted = pd.array([str(i) for i in range(int(place.max(initial=0)) + 1)], dtype="str").take(
        place
    )
    hit = pd.array(values >= threshold, dtype="boolean")
    hit[np.isnan(values)] = pd.NA
    case = by_attempt(report.cases)
    columns = {
        "case_id": case + "/" + detector.fillna("no detector") if apart else case,
        "mode": by_attempt([target or report.name for target in report.targets]),
        "repeat": (
            by_attempt(report.prefixes) + pd.Series(counted) if any(report.prefixes) else counted
        ),
        "kind": "attack",
        "attack_success": hit,
        "score": values,
        "attack": by_attempt(report.probes),
        "category": by_attempt([probe.rpartition(".")[0] or probe for probe in report.probes]),
        "detector": detector,
        "model": by_attempt([target or None for target in report.targets]),
        "suite_version": by_attempt([version or None for version in report.versions]),
        "source": by_attempt([f"{report.name}:{line}" for line in report.lines]),
    }
    if any(report.intents):
        columns["intent"] = by_attempt(report.intents)
    if any(report.sources) and not report.aggregated:
        pairs = zip(report.sources, report.cases, strict=True)
        columns["source_prompt"] = by_attempt([source or case for source, case in pairs])
    return pd.DataFrame({name: column for name, column in columns.items()})


def outputs_of(report: Report, probe: str, scores: Scores) -> tuple[Numbers, Numbers, Numbers]:
    """Attempt, number of the output, and score of every output of a probe; an attempt without
    scores is missing.
    """
    mine = np.flatnonzero(report.codes() == report.code(probe))
    absent = np.setdiff1d(mine, np.array(scores.attempts, dtype=np.int64))
    if len(absent):
        place = f"{report.name}:{report.lines[absent[0]]}"
        report.tally.add(
            "judged attempts without a score of their detector: outcome missing", place, len(absent)
        )
    attempts = np.concatenate([np.array(scores.attempts, dtype=np.int64), absent])
    counts = np.array(scores.counts + [report.outputs[i] for i in absent], dtype=np.int64)
    values = np.concatenate(
        [scores.numbers(), np.full(int(counts.sum()) - len(scores.values), np.nan)]
    )
    starts = np.cumsum(counts) - counts
    return (
        np.repeat(attempts, counts),
        np.arange(1, len(values) + 1) - np.repeat(starts, counts),
        values,
    )


def summary(
    report: Report, chosen: Mapping[str, list[str]], threshold: float, frame: pd.DataFrame
) -> list[str]:
    """What was read and by which rule."""
    several = {probe: names for probe, names in chosen.items() if len(names) > 1}
    versions = ", ".join(dict.fromkeys(version or "unknown" for version in report.versions))
    notes = [
        (
            f"garak {versions}: {len(frame):,} outputs of {len(report.lines):,} judged attempts on"
            f" {frame['case_id'].nunique():,} different prompts, {len(chosen)} probes; every row is"
            " an attack"
        ),
        (
            f"a score of {threshold:g} or more is a success of the attack; the outputs of one"
            " prompt are its repeats"
        ),
    ]
    others = sorted(
        {
            f"{probe}: {name}"
            for probe, name in report.pairs
            if name not in chosen.get(probe, [name])
        }
    )
    if others:
        notes.append(
            f"other detectors not read: {'; '.join(others[:5])}{' ...' if len(others) > 5 else ''}"
        )
    if several:
        notes.append(
            f"{len(several)} probes have several detectors: each is apart, and the detector is in"
            " case_id"
        )
    if report.stated is not None and report.stated != threshold:
        notes.append(
            f"the run's own threshold was {report.stated:g}, this table uses {threshold:g}"
        )
    missing = int(frame["attack_success"].isna().sum())
    if missing:
        notes.append(
            f"outputs without a score (null or NaN): {missing:,}; their outcome is missing"
        )
    return notes


def doubts(report: Report) -> list[str]:
    """What the report cannot show or does not have."""
    notes = []
    unjudged = report.waiting - len(report.lines)
    if unjudged > 0 and not report.aggregated:
        notes.append(f"attempts that were sent and have no judged row: {unjudged:,}")
    # Before 0.9.0.14 garak wrote no such row.
    if (
        not report.completed
        and not report.aggregated
        and version_key(report.version) >= (0, 9, 0, 14)
    ):
        notes.append("no completion row: the run was interrupted, or the file is cut")
    if report.aggregated:
        notes.append(
            "several reports were joined in this file: the number of the run stands before the"
            " repeat"
        )
    if report.again:
        notes.append(
            f"attempts that send a prompt of the same run again: {report.again:,}; they are more"
            " repeats of one case"
        )
    if any("hit_at_k" in row for row in report.evals):
        notes.append(
            "hit_at_k of the report is not used: recount success within k attempts with"
            " fnb.attempts"
        )
    if report.iterative:
        notes.append(
            f"attempts of iterative probes, without a sequence number: {report.iterative:,}; "
            "each is a case of its own and pairs with no other run"
        )
    if any(report.sources) and report.aggregated:
        notes.append("prompts changed by a buff cannot be traced to their source in joined reports")
    elif any(report.sources):
        notes.append(
            'buffs changed prompts: name cluster="source_prompt", the prompt they come from'
        )
    return notes


def version_key(version: str) -> tuple[int, ...]:
    """A version as numbers; text after the numbers does not count."""
    parts = []
    for part in version.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        parts.append(int(digits[:9]))
    return tuple(parts)
