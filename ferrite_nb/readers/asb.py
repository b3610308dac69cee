"""Agent Security Bench: result tables of one run each, whose outcomes are the texts 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ..outcomes.declare import some
from ..outcomes.table import Outcomes, outcomes
from . import table
from ._files import Tally
from .recognise import Head, head_of, holds

NAME = "Agent Security Bench results (CSV)"
COLUMNS = ("Agent Name", "Attack Tool", "Attack Successful")
RENAMED = {
    "Agent Name": "agent",
    "Attack Tool": "attack_tool",
    "Attack Successful": "attack_success",
    "Original Task Successful": "task_success",
    "Refuse Result": "refused",
    "Aggressive": "aggressive",
}
# `messages` holds a Python literal with the whole conversation: never evaluated, never kept.
DROPPED = ["messages", "Memory Found", "run"]


def sniff(head: Head) -> bool:
    """The benchmark's own names of columns."""
    return holds(head, COLUMNS)


def read(paths: Sequence[Path], *, named: str | None = None, **options: Any) -> Outcomes:
    """Outcomes of runs; the mode is the file (or the column `run`), `agent` and `attack_tool` are
    crossed clusters.
    """
    if {"case_id", "attack_success", "attack_resisted"} & set(options):
        return table.read(paths, named=named, **options)
    tally = Tally()
    parts = []
    for path in paths:
        frame = table.text_frame(head_of(path), tally)
        frame["mode"] = frame["run"] if "run" in frame else named or path.name.split(".")[0]
        parts.append(frame)
    frame = pd.concat(parts, ignore_index=True)
    frame = frame.drop(columns=[name for name in DROPPED if name in frame]).rename(columns=RENAMED)
    frame["case_id"] = frame["agent"] + "/" + frame["attack_tool"]
    frame["kind"] = "attack"
    return outcomes(
        frame, read_from=some([path.name for path in paths], 4), notes=tally.notes(), **options
    )
