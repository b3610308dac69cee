"""The cases of a scripted Ferrite run: case definitions in corpus.db, in cases.jsonl and in case
files.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..outcomes.contract import OutcomesError
from ._files import Tally, json_file, json_lines, json_value, part_of, progress, text_of
from .recognise import Head, head_of, holds

CASE_KEYS = ("case_id", "ground_truth", "expected_origins")
SCOPES = {
    "exact": "exact",
    "domain_suffix": "domain_suffix",
    "task_open": "task_open",
    "domainsuffix": "domain_suffix",
    "taskopen": "task_open",
}
CARRIERS = {"WebContent": "web_content", "ToolOutput": "tool_output"}
TRUTHS = {
    "Deviation": "deviation",
    "WithinFingerprintDataOnly": "residual",
    "WithinFingerprintOriginShift": "origin_shift",
    "None": "none",
}


def is_case(head: Head) -> bool:
    """A case definition, alone in a line or as the `case` of a case file."""
    return head.json_start and (holds(head, CASE_KEYS) or {"case", "content"} <= head.keys)


@contextmanager
def database(path: Path) -> Iterator[sqlite3.Connection]:
    """Ferrite's database, opened read-only; what goes wrong becomes an `OutcomesError` that names
    the file.
    """
    try:
        with closing(
            sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True)
        ) as connection:
            connection.text_factory = lambda data: data.decode("utf-8", "replace")
            connection.execute("PRAGMA trusted_schema = OFF")
            yield connection
    except sqlite3.Error as problem:
        raise OutcomesError(f"{path.name} cannot be read as a database: {problem}") from problem


def is_database(path: Path) -> bool:
    """Whether an SQLite file has the tables of Ferrite's corpus.db."""
    try:
        with database(path) as connection:
            names = {
                name
                for (name,) in connection.execute(
                    "SELECT name FROM sqlite_master WHERE type = 'table'"
                )
            }
    except OutcomesError:
        return False
    return {"case_definitions", "execution_records"} <= names


def rows_of_database(paths: Sequence[Path], tally: Tally) -> list[tuple[str, dict[str, Any]]]:
    """All execution records as (place, record). The column `data` is the record; the others quote
    their words.
    """
    return [row for path in paths for row in _data(path, "execution_records", tally)]


def _data(path: Path, table: str, tally: Tally) -> Iterator[tuple[str, dict[str, Any]]]:
    with database(path) as connection:
        for number, (data,) in enumerate(
            connection.execute(f"SELECT data FROM {table} ORDER BY rowid"), start=1
        ):
            place = f"{path.name}, {table} row {number}"
            packed = data if isinstance(data, bytes) else str(data).encode("utf-8", "replace")
            try:
                record = json_value(packed, place, tally)
            except OutcomesError:
                tally.add("records that cannot be read", place)
                continue
            if isinstance(record, dict):
                yield place, record
            else:
                tally.add("records that cannot be read", place)


def cases_of(paths: Sequence[Path], tally: Tally) -> dict[str, dict[str, Any]]:
    """The facts of each case by its id, from databases, lines and case files."""
    found: dict[str, dict[str, Any]] = {}
    for path in progress(paths, "reading cases"):
        for place, case in _cases_in(path, tally):
            if isinstance(case.get("case_id"), str):
                found[case["case_id"]] = facts(case, place, tally)
            else:
                tally.add("cases without case_id, left out", place)
    return found


def _cases_in(path: Path, tally: Tally) -> Iterator[tuple[str, dict[str, Any]]]:
    head = head_of(path)
    if head.kind == "sqlite":
        yield from _data(path, "case_definitions", tally)
    elif "case" in head.keys:
        yield path.name, part_of(json_file(path, tally), "case")
    else:
        records = list(json_lines(path, local := Tally()))
        if not records:
            value = json_file(path, local)
            records = [(1, value)] if isinstance(value, dict) else []
        yield from ((f"{path.name}:{line}", record) for line, record in records)


def facts(case: Mapping[str, Any], place: str, tally: Tally) -> dict[str, Any]:
    """What the metrics need of one case, in canonical columns. A word that is not known is counted
    and missing.
    """
    truth = _tag(case.get("ground_truth"))
    if truth not in TRUTHS:
        tally.add(f"cases with the unknown ground truth {truth[:40]!r}", place)
    carrier, placement = _carrier(case)
    return {
        "corpus": case.get("corpus"),
        "tier": case.get("tier"),
        "scope": _scope(case.get("expected_origins")),
        "category": case.get("attack_category"),
        "carrier": carrier,
        "placement": placement,
        "ground_truth": TRUTHS.get(truth),
        "is_deviation": truth == "Deviation" if truth in TRUTHS else None,
        "within_fingerprint": truth == "WithinFingerprintDataOnly" if truth in TRUTHS else None,
        "has_expected_finding": case.get("expected_finding") is not None,
    }


def _tag(value: Any) -> str:
    """The tag of a Rust enum: the bare string, or the one key of an object."""
    if isinstance(value, dict) and len(value) == 1:
        return str(next(iter(value)))
    return "None" if value is None else str(value)


def _scope(origins: Any) -> str | None:
    """The scope by its tag; old files have all fields and a `scope_type`."""
    if not isinstance(origins, dict):
        return None
    tag = origins.get("scope_type", _tag(origins) if len(origins) == 1 else "")
    return SCOPES.get(str(tag).lower())


def _carrier(case: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Where the payload came from, and its place there; old files have two flat fields."""
    vector = case.get("carrier_vector")
    if isinstance(vector, dict) and len(vector) == 1:
        tag, placement = next(iter(vector.items()))
    else:
        tag, placement = case.get("carrier"), vector
    return CARRIERS.get(str(tag)), text_of(placement)
