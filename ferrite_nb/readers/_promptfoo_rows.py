"""The results in a promptfoo file, JSON, JSON lines or CSV, as rows of one shape."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ..outcomes.table import OutcomesError
from ._files import Tally, json_file, json_lines, whole_file
from .recognise import Head, separator_of
from .values import inside as named
from .values import listed, number, text

Verdict = Literal["pass", "fail", "error"]
BLOCK = re.compile(r"^\[(?P<label>.*?)\] ", re.DOTALL)
# An output cell of the time before promptfoo had a column Status.
MARK = re.compile(r"^\[(PASS|FAIL|ERROR)\]")


@dataclass
class Row:
    """One test on one provider with one prompt."""

    provider: str
    prompt: str
    fields: Mapping[str, Any]
    verdict: Verdict | None
    place: str
    description: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    latency: float | None = None
    tokens: float | None = None
    output: str | None = None
    attempt: str = ""


@dataclass
class Results:
    """What a file says of itself: the totals it states, and the id of the evaluation."""

    stats: Mapping[str, Any] = field(default_factory=dict)
    identity: str | None = None


def rows_of(head: Head, tally: Tally) -> tuple[list[Row], Results]:
    """The rows of a file in any of the three forms, and the totals that it states."""
    path = head.path
    if head.columns:
        return list(csv_rows(path, separator_of(head.header), tally)), Results()
    if head.keys & {"promptIdx", "testIdx"}:
        return [
            row_of(entry, f"{path.name}:{line}", tally) for line, entry in json_lines(path, tally)
        ], Results()
    content = json_file(path, tally)
    results = content.get("results") if isinstance(content, dict) else None
    found = results if isinstance(results, list) else listed(named(results, None).get("results"))
    rows = []
    for count, entry in enumerate(found, start=1):
        place = f"{path.name}, result {count}"
        if isinstance(entry, dict):
            rows.append(row_of(entry, place, tally))
        else:
            tally.add("results that are no objects, left out", place)
    return rows, Results(named(results, "stats"), text(named(content, None).get("evalId")))


def row_of(entry: Mapping[str, Any], place: str, tally: Tally) -> Row:
    """One result of the JSON forms."""
    provider, test, prompt = entry.get("provider"), named(entry, "testCase"), named(entry, "prompt")
    verdict = verdict_of(entry, place, tally)
    error = None
    if verdict == "error":
        error = text(entry.get("error") or named(entry, "response").get("error")) or "error"
    elif any(
        named(part, "metadata").get("graderError") is True
        for part in listed(named(entry, "gradingResult").get("componentResults"))
    ):
        verdict, error = "error", "the grader failed"
        tally.add(
            "rows whose grader failed: outcome missing, though promptfoo counts them as failed",
            place,
        )
    parts = [
        named(part, None).get("pass")
        for part in listed(named(entry, "gradingResult").get("componentResults"))
    ]
    if verdict == "pass" and (False in parts or entry.get("score") == 0):
        tally.add(
            "rows that passed although a part of their grading failed, or with a score of 0; they"
            " count as passed",
            place,
        )
    label = named(provider, None).get("label") or named(provider, None).get("id") or provider
    return Row(
        provider=text(label) or "provider",
        prompt=text(prompt.get("label") or prompt.get("raw")) or "prompt",
        fields=named(entry, "vars") or named(test, "vars"),
        verdict=verdict,
        place=place,
        description=text(test.get("description") or entry.get("description")),
        metadata={**named(test, "metadata"), **named(entry, "metadata")},
        error=error.split("\n")[0][:500] or "error" if error else None,
        # A row with an error has a latency of 0: that is no time.
        latency=None if error else number(entry.get("latencyMs")),
        tokens=None if error else number(named(entry, "tokenUsage").get("total")),
        output=text(named(entry, "response").get("output")),
        # A row without an index is an attempt of its own.
        attempt=f"{text(label)} {entry.get('promptIdx')} {entry.get('testIdx', place)}",
    )


def verdict_of(entry: Mapping[str, Any], place: str, tally: Tally) -> Verdict | None:
    """Pass, fail or error. `failureReason` tells a failure from an error; older files need the
    grading result.
    """
    success, reason = entry.get("success"), entry.get("failureReason")
    if success is True and reason in (None, 0):
        return "pass"
    if success is not True and reason in (1, 2):
        return "fail" if reason == 1 else "error"
    if success is False and reason is None:
        return (
            "error"
            if entry.get("error") and not isinstance(entry.get("gradingResult"), dict)
            else "fail"
        )
    said = f"{place}: success {text(success)}, failureReason {text(reason)}"[:200]
    tally.add(
        "rows whose success and failureReason do not fit or are unknown: outcome missing", said
    )
    return None


def csv_rows(path: Path, separator: str, tally: Tally) -> Iterator[Row]:
    """The wide CSV: the columns of the test, then one block of columns per provider, read by
    position.
    """
    content = whole_file(path).decode("utf-8-sig", "replace")
    # A reply of a model may be longer than the usual limit of a cell.
    usual = csv.field_size_limit(2**31 - 1)
    try:
        table = list(csv.reader(io.StringIO(content, newline=""), delimiter=separator))
    except csv.Error as problem:
        raise OutcomesError(f"{path.name} cannot be read as CSV: {problem}") from problem
    finally:
        csv.field_size_limit(usual)
    first = next(
        (row for row, cells in enumerate(table) if any(BLOCK.match(cell) for cell in cells)), None
    )
    if first is None:
        raise OutcomesError(
            f"{path.name} has no column of a provider, such as [label] prompt, in its header"
        )
    header = table[first]
    starts = [place for place, name in enumerate(header) if BLOCK.match(name)]
    blocks = list(zip(starts, [*starts[1:], len(header)], strict=True))
    for count, cells in enumerate(table[first + 1 :], start=1):
        if not any(cells):
            continue
        place = f"{path.name}, row {count}"
        if len(cells) != len(header):
            tally.add(
                "rows with more or fewer cells than the header; what is missing is empty", place
            )
            cells = cells + [""] * (len(header) - len(cells))
        fields = dict(zip(header[: starts[0]], cells, strict=False))
        description = fields.pop("Description", None)
        for start, end in blocks:
            yield csv_row(header[start:end], cells[start:end], fields, description, place, tally)


def csv_row(
    names: list[str],
    cells: list[str],
    fields: Mapping[str, Any],
    description: str | None,
    place: str,
    tally: Tally,
) -> Row:
    """One block of a CSV row; its first column has the provider in its name and the output in its
    cells.
    """
    found, mark = BLOCK.match(names[0]), MARK.match(cells[0])
    status = cells[names.index("Status")] if "Status" in names else (mark.group(1) if mark else "")
    known: dict[str, Verdict] = {"PASS": "pass", "FAIL": "fail", "ERROR": "error"}
    verdict = known.get(status.strip().upper())
    if verdict is None:
        tally.add("rows with an unknown status: outcome missing", f"{place}: {status[:40]!r}")
    return Row(
        provider=found.group("label") if found else "provider",
        prompt=names[0][found.end() :] if found else names[0],
        fields=fields,
        verdict=verdict,
        place=place,
        description=description or None,
        error=(cells[0].split("\n")[0][:500] or "error") if verdict == "error" else None,
        output=cells[0],
        attempt=f"{names[0]} {place}",
    )
