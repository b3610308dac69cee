"""Sample files of lm-evaluation-harness, `samples_<task>_<date>.jsonl`: one metric as the outcome,
one filter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ..outcomes.table import Outcomes, OutcomesError, outcomes
from ._files import Tally, json_lines
from ._harness import (
    columns_named,
    flag_text,
    listed,
    loose_columns,
    number,
    refuse_undeclared,
    run_names,
    score_column,
    text,
    together,
    without_constants,
)
from ._harness import named as inside
from .recognise import Head

NAME = "lm-evaluation-harness samples"

Line = tuple[int, Mapping[str, Any]]
FILE = re.compile(r"^samples_(?P<task>.+?)_\d{4}-\d{2}-\d{2}T")


def sniff(head: Head) -> bool:
    """Whether the file holds samples of lm-evaluation-harness."""
    return head.keys >= {"doc_id", "resps", "filtered_resps"}


def read(
    paths: Sequence[Path],
    *,
    named: str | None = None,
    filter: str | None = None,
    threshold: float | None = None,
    **declared: Any,
) -> Outcomes:
    """The outcomes of sample files: one row per document, for one filter.

    Parameters
    ----------
    filter: which filter's rows to read. A document has one row per filter, so a file with several
        needs it.
    threshold: turns a metric between 0 and 1 into an outcome: at or above it is true.
    declared: the meaning of a metric, such as `attack_success="acc"` or `attack_resisted="acc"`.
        Short fields of the document are columns (`kind="doc.kind"`). The mode is the model, where
        the folder of the file has its name, else the file.

    Returns
    -------
    Outcomes with `case_id` (hash of the document, or its number where hashes are missing or
    repeated), `mode`, `suite` (task), the flags declared, and the metrics.

    Raises
    ------
    OutcomesError: several filters and none named; no polarity declared (the message lists the
        metrics and the line to type).
    """
    tallies = [Tally() for _ in paths]
    found = [one_filter(path, filter, tally) for path, tally in zip(paths, tallies, strict=True)]
    several = len({task_of(path) for path in paths}) > 1
    parts = []
    for path, lines, tally in zip(paths, found, tallies, strict=True):
        scores = metrics_of(lines)
        refuse_undeclared(path.name, scores, declared)
        wanted = columns_named(declared)
        frame, notes = frame_of(path, lines, wanted, several)
        for name, values in scores.items():
            made = [flag_text(value, threshold) for value in values]
            frame[score_column(name, frame.columns, wanted)] = pd.array(made, dtype="str")
        notes = [*notes, *tally.notes()]
        parts.append(
            outcomes(
                without_constants(frame, declared), read_from=path.name, notes=notes, **declared
            )
        )
    return together(parts, paths, named, declared, [task_of(path) for path in paths])


def one_filter(path: Path, wanted: str | None, tally: Tally) -> list[Line]:
    """The lines of one filter; those of others are counted."""
    lines: list[Line] = list(json_lines(path, tally))
    by_filter: dict[str, list[Line]] = {}
    for number_, entry in lines:
        by_filter.setdefault(text(entry.get("filter")) or "none", []).append((number_, entry))
    if not lines:
        raise OutcomesError(f"{path.name} holds no sample: there is nothing to count")
    names = ", ".join(sorted(by_filter)[:20])
    if wanted is None and len(by_filter) > 1:
        raise OutcomesError(
            f"{path.name} has one row per filter ({names}); a document counts once, so name one: "
            f'fnb.read("{path.name}", filter="{min(by_filter)}", ...)'
        )
    if wanted is not None and wanted not in by_filter:
        raise OutcomesError(f"{path.name} has no filter {wanted!r}; there are {names}")
    kept = by_filter[wanted] if wanted is not None else lines
    if len(kept) < len(lines):
        tally.add("rows of other filters left out", times=len(lines) - len(kept))
    return kept


def metrics_of(lines: Sequence[Line]) -> dict[str, list[Any]]:
    """The metrics that the rows name, or in old files every key with a number; each with its
    values.
    """
    names = dict.fromkeys(
        text(name) or "" for _, entry in lines for name in listed(entry.get("metrics"))
    )
    if not names:
        fixed = {"doc_id", "target"}
        names = dict.fromkeys(
            key
            for _, entry in lines
            for key, value in entry.items()
            if key not in fixed and (isinstance(value, bool) or number(value) is not None)
        )
    return {
        name: [entry.get(name) for _, entry in lines]
        for name in names
        if any(name in entry for _, entry in lines)
    }


def task_of(path: Path) -> str:
    """The task in the name of a file."""
    found = FILE.match(path.name)
    return found.group("task") if found else run_names([path])[0].removeprefix("samples_")


def frame_of(
    path: Path, lines: Sequence[Line], wanted: set[str], several: bool
) -> tuple[pd.DataFrame, list[str]]:
    """One row per document, without the metrics."""
    task, folder = task_of(path), path.resolve().parent.name
    model = folder if "__" in folder else None
    hashes, ids = ([text(entry.get(key)) for _, entry in lines] for key in ("doc_hash", "doc_id"))
    hashed = all(hashes) and len(set(hashes)) == len(set(zip(hashes, ids, strict=True)))
    cases = [case or "" for case in (hashes if hashed else ids)]
    columns: dict[str, Any] = {
        "case_id": [f"{task}/{case}" for case in cases] if several else cases,
        "mode": model or run_names([path])[0],
        "suite": task,
        "source": [f"{path.name}:{line}" for line, _ in lines],
    }
    if model:
        columns["model"] = model
    loose, left = loose_columns(
        [inside(entry, "doc") for _, entry in lines], "doc", columns, wanted
    )
    mode = "model" if model else "file"
    notes = [
        f"lm-evaluation-harness: {len(lines):,} documents of the task {task}; the mode is the {mode}"
    ]
    if not hashed and any(hashes):
        notes.append(
            "documents with one hash or none: the case is doc_id, which pairs only runs of one data version"
        )
    if left:
        names = ", ".join(left[:10])
        notes.append(
            f"fields of the document left out (long texts, lists or tables; name one to have it): {names}"
        )
    return pd.DataFrame(columns | loose, index=range(len(lines))), notes
