"""Ferrite, scripted runs: eval_report.csv, corpus.db or executions.jsonl, joined with the cases
beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ..outcomes.contract import OutcomesError
from ..outcomes.declare import some
from ._ferrite_cases import cases_of, is_case, is_database, rows_of_database
from ._files import Tally, frame_of, json_lines, part_of, text_of
from .recognise import Head, head_of, holds
from .run import Asked, Run
from .table import text_frame

NAME = "Ferrite scripted run (eval_report.csv, corpus.db, executions.jsonl)"
EXECUTION = ("case_id", "defense_mode", "final_outcome")
MOST_NEIGHBOURS = 20_000
CAUGHT = {"Caught": True, "Missed": False, "NotApplicable": None}
ATTACK_SUCCESS = {
    "Executed": True,
    "Stripped": False,
    "Blocked": False,
    "ContainedViaConsent": False,
    "NotAttempted": False,
}
ATTEMPTED = {
    "Executed": True,
    "Stripped": True,
    "Blocked": True,
    "ContainedViaConsent": True,
    "NotAttempted": False,
}
BLOCKED = {
    "Executed": False,
    "Stripped": True,
    "Blocked": True,
    "ContainedViaConsent": True,
    "NotAttempted": False,
}
GATED = {"BenignFalseFlag": True, "BenignNoFlag": False}
KINDS = {"Attack": "attack", "Benign": "benign"}
SANITIZED = {"SanitizerOnly", "On"}
MADE = (
    "mode",
    "kind",
    "attack_success",
    "attempted",
    "blocked",
    "gated",
    "deviation_caught",
    "finding_caught",
)


def sniff(head: Head) -> bool:
    """A report with the execution's columns, executions or cases as JSON, or the database."""
    return (
        (head.kind == "sqlite" and is_database(head.path))
        or holds(head, EXECUTION)
        or is_case(head)
    )


def parse(paths: Sequence[Path], asked: Asked) -> list[Run]:
    """A scripted run.

    The database is preferred to executions.jsonl, and that to the report: they hold the same run,
        and the first two
    also its traces. Cases are taken from the database, cases.jsonl or case files, given or beside
    the results.

    Notes
    -----
    Without the cases, which of them deviate is not known, so ADR and R are not computable.
    """
    tally = Tally()
    kinds: dict[str, list[Path]] = {"database": [], "lines": [], "report": [], "cases": []}
    for path in sorted(paths):
        kinds[_kind_of(head_of(path))].append(path)
    executions, chosen = _executions(kinds, tally)
    sources = kinds["cases"] + kinds["database"] or _neighbours(chosen)
    cases = cases_of(sources, tally)
    if cases:
        tally.add(
            f"cases joined from {some(dict.fromkeys(path.name for path in sources), 3)}",
            times=len(cases),
        )
    frame = _joined(executions, cases, tally)
    frame = _canonical(frame, tally)
    name = some([path.name for path in chosen], 4)
    return [Run(chosen[0], frame, name=name, notes=tally.notes())]


def _kind_of(head: Head) -> str:
    if head.kind == "sqlite":
        return "database"
    if is_case(head):
        return "cases"
    return "lines" if head.json_start else "report"


def _executions(
    kinds: Mapping[str, Sequence[Path]], tally: Tally
) -> tuple[pd.DataFrame, Sequence[Path]]:
    """The executions as a frame of texts, and the files they come from; what lies beside them is
    counted.
    """
    rows = rows_of_database(kinds["database"], tally)
    found: pd.DataFrame | None = None
    chosen: Sequence[Path] = ()
    if rows:
        found, chosen = (
            frame_of([_execution(record, place) for place, record in rows]),
            kinds["database"],
        )
    for name, reads in (("lines", _from_lines), ("report", _from_reports)):
        if kinds[name] and found is None:
            found, chosen = reads(kinds[name], tally), kinds[name]
        elif kinds[name] and found is not None:
            _beside(found, reads(kinds[name], Tally()), kinds[name], tally)
    if found is None or found.empty:
        seen = some([path.name for paths in kinds.values() for path in paths], 4)
        raise OutcomesError(
            f"{seen}: no execution in it, only cases; read the run's corpus.db or eval_report.csv"
        )
    return found, chosen


def _beside(found: pd.DataFrame, other: pd.DataFrame, paths: Sequence[Path], tally: Tally) -> None:
    """The same run in another file is not read twice; a different number of executions is said."""
    what = (
        "the same run, not read twice"
        if len(other) == len(found)
        else (
            f"not read; it holds {len(other):,} executions, the file that was read {len(found):,}"
        )
    )
    for path in paths:
        tally.add(f"{path.name}: {what}")


def _from_lines(paths: Sequence[Path], tally: Tally) -> pd.DataFrame:
    return frame_of(
        [
            _execution(record, f"{path.name}:{line}")
            for path in paths
            for line, record in json_lines(path, tally)
        ]
    )


def _from_reports(paths: Sequence[Path], tally: Tally) -> pd.DataFrame:
    frame = pd.concat([text_frame(head_of(path), tally) for path in paths], ignore_index=True)
    return frame.drop(columns=["audit_log_anchor"], errors="ignore").rename(
        columns={"total_ms": "latency_ms"}
    )


def _execution(record: Mapping[str, Any], place: str) -> dict[str, Any]:
    """One execution record. Its `model` names Gemini whatever ran, so it is left out."""
    row = {
        name: record.get(name)
        for name in (*EXECUTION, "sanitizer_caught", "fingerprint_caught", "residual_risk")
    }
    events = record.get("actual_events")
    if isinstance(events, list):
        actions = [
            f"{_action(event)} {text_of(_field(event, 'origin')) or ''}".strip() for event in events
        ]
        row["trace"] = "; ".join(actions) or "(no action)"
    return row | {"latency_ms": part_of(record, "timing").get("total_ms"), "source": place}


def _field(event: Any, name: str) -> Any:
    """A field of an event, where the event is an object."""
    return event.get(name) if isinstance(event, dict) else None


def _action(event: Any) -> str:
    """Old records say `tool` for `primitive`."""
    return text_of(_field(event, "primitive") or _field(event, "tool")) or ""


def _neighbours(paths: Sequence[Path]) -> list[Path]:
    """The case files beside the results: corpus.db, cases.jsonl, case files as JSON."""
    found = []
    for folder in dict.fromkeys(path.parent for path in paths):
        files = [
            path
            for path in sorted(folder.iterdir())
            if path.suffix in {".db", ".jsonl", ".json"} and path.is_file()
        ]
        for path in files[:MOST_NEIGHBOURS]:
            if path in paths:
                continue
            try:
                head = head_of(path)
            except OutcomesError:
                continue
            if is_case(head) or (head.kind == "sqlite" and is_database(path)):
                found.append(path)
    return found


def _joined(
    executions: pd.DataFrame, cases: Mapping[str, Mapping[str, Any]], tally: Tally
) -> pd.DataFrame:
    """Executions with the facts of their cases; a column of the report wins where it is filled."""
    if not cases:
        return executions
    facts = frame_of([{"case_id": name, **case} for name, case in cases.items()]).set_index(
        "case_id"
    )
    frame = executions.copy()
    for name in facts.columns:
        known = frame["case_id"].map(facts[name])
        frame[name] = (
            frame[name].where(frame[name].fillna("") != "", known) if name in frame else known
        )
    unknown = frame[~frame["case_id"].isin(facts.index)]
    if len(unknown):
        names = some(dict.fromkeys(unknown["case_id"].astype(str)), 3)
        tally.add(
            f"executions whose case is not among the cases ({names})",
            unknown["source"].iloc[0],
            len(unknown),
        )
    return frame


def _canonical(frame: pd.DataFrame, tally: Tally) -> pd.DataFrame:
    """Ferrite's words in canonical columns. A word that is not known raises, with its place."""
    corpus = frame["corpus"] if "corpus" in frame else pd.Series([None] * len(frame), dtype="str")
    other = ~corpus.isin(KINDS)
    if other.any():
        words = some(dict.fromkeys(corpus[other].fillna("no corpus")), 3)
        tally.add(
            f"executions left out, neither attack nor benign ({words})",
            frame["source"][other].iloc[0],
            int(other.sum()),
        )
        frame = frame[~other].reset_index(drop=True)
    if frame.empty:
        raise OutcomesError(
            "no execution of an attack or benign case; executions need their cases (cases.jsonl,"
            " corpus.db) beside them"
        )
    made = frame.drop(columns=[name for name in MADE if name in frame]).rename(
        columns={"defense_mode": "mode"}
    )
    made["kind"] = made["corpus"].map(KINDS)
    if "repeat" not in made:
        made["repeat"] = "1"
    attack = made["kind"] == "attack"
    _known(made, "final_outcome", {**ATTACK_SUCCESS, **GATED})
    misfit = attack == made["final_outcome"].isin(GATED)
    if misfit.any():
        tally.add(
            "outcomes that do not fit the kind of case, taken as missing",
            made["source"][misfit].iloc[0],
            int(misfit.sum()),
        )
    for name, meaning in (
        ("attack_success", ATTACK_SUCCESS),
        ("attempted", ATTEMPTED),
        ("blocked", BLOCKED),
    ):
        made[name] = made["final_outcome"].map(meaning).where(attack).astype("boolean")
    made["gated"] = made["final_outcome"].map(GATED).where(~attack).astype("boolean")
    for name, column in (
        ("deviation_caught", "fingerprint_caught"),
        ("finding_caught", "sanitizer_caught"),
    ):
        if column in made:
            _known(made, column, CAUGHT)
            made[name] = made[column].map(CAUGHT).astype("boolean")
    if "has_expected_finding" not in made and "finding_caught" in made:
        made["has_expected_finding"] = _expected_finding(made)
        tally.add(
            "cases: whether they hold an expected finding is taken from sanitizer_caught",
            times=made["case_id"].nunique(),
        )
    return made.drop(
        columns=["corpus", "fingerprint_caught", "sanitizer_caught", "consent_gated"],
        errors="ignore",
    )


def _known(frame: pd.DataFrame, column: str, words: Mapping[str, Any]) -> None:
    bad = ~frame[column].isin(words)
    if bad.any():
        row = frame[bad].iloc[0]
        raise OutcomesError(
            f"{row['source']}: column {column} has {str(row[column])[:80]!r}; the words are"
            f" {', '.join(words)}"
        )


def _expected_finding(frame: pd.DataFrame) -> pd.Series:
    """Caught or Missed in any mode shows an expected finding; only NotApplicable where the
    sanitizer ran shows none.
    """
    shown = frame["finding_caught"].notna().groupby(frame["case_id"]).transform("max")
    ran = frame["mode"].isin(SANITIZED).groupby(frame["case_id"]).transform("max")
    return shown.astype("boolean").where(shown | ran)
