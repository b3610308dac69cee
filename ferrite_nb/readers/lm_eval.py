"""Sample files of lm-evaluation-harness, `samples_<task>_<date>.jsonl`: one metric as the outcome,
one filter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ..outcomes.contract import OutcomesError
from ._files import Tally, json_lines
from .recognise import Head
from .run import Asked, Run, run_names
from .values import inside, listed, loose_columns, number, text

NAME = "lm-evaluation-harness samples"

Line = tuple[int, Mapping[str, Any]]
FILE = re.compile(r"^samples_(?P<task>.+?)_\d{4}-\d{2}-\d{2}T")


def sniff(head: Head) -> bool:
    """Whether the file holds samples of lm-evaluation-harness."""
    return head.keys >= {"doc_id", "resps", "filtered_resps"}


def parse(paths: Sequence[Path], asked: Asked, *, filter: str | None = None) -> list[Run]:
    """Sample files: one row per document, for one filter. The mode is the model, where the folder
    of the file has its name, else the file; the suite is the task.

    Parameters
    ----------
    filter: which filter's rows to read. A document has one row per filter, so a file with several
        needs it.

    Raises
    ------
    OutcomesError: several filters and none named; two rows of a document without a filter's name.
    """
    runs = []
    for path in paths:
        tally = Tally()
        lines = one_filter(path, filter, tally)
        frame, notes = frame_of(path, lines, asked.columns)
        scores = metrics_of(lines)
        task = task_of(path)
        runs.append(Run(path, frame, scores, task=task, notes=[*notes, *tally.notes()]))
    return runs


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
    first: dict[str, Any] = {}
    if not any("filter" in entry for _, entry in kept) and any(
        first.setdefault(str(entry.get("doc_id")), entry) != entry for _, entry in kept
    ):
        raise OutcomesError(
            f"{path.name} has several rows per document and names no filter, as old versions wrote"
            " it: they are one row per filter, not repeats. Keep the rows of one filter in a file"
            " of their own",
            file=path.name,
        )
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


def frame_of(path: Path, lines: Sequence[Line], wanted: set[str]) -> tuple[pd.DataFrame, list[str]]:
    """One row per document, without the metrics."""
    task, folder = task_of(path), path.resolve().parent.name
    model = folder if "__" in folder else None
    hashes, ids = ([text(entry.get(key)) for _, entry in lines] for key in ("doc_hash", "doc_id"))
    hashed = all(hashes) and len(set(hashes)) == len(set(zip(hashes, ids, strict=True)))
    cases = [case or "" for case in (hashes if hashed else ids)]
    columns: dict[str, Any] = {
        "case_id": cases,
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
        f"lm-evaluation-harness: {len(lines):,} documents of the task {task}; the mode is the"
        f" {mode}"
    ]
    if not hashed and any(hashes):
        notes.append(
            "documents with one hash or none: the case is doc_id, which pairs only runs of one data"
            " version"
        )
    if left:
        names = ", ".join(left[:10])
        notes.append(
            "fields of the document left out (long texts, lists or tables; name one to have it):"
            f" {names}"
        )
    return pd.DataFrame(columns | loose, index=range(len(lines))), notes
