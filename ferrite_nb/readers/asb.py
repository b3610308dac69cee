"""Agent Security Bench: result tables of one run each, whose outcomes are the texts 0 and 1."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from ..outcomes.declare import some
from . import table
from ._files import Tally
from .recognise import Head, head_of, holds
from .run import Asked, Run

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
CLEAN = re.compile(r"(?:^|[_. -])clean(?:[_. -]|$)", re.IGNORECASE)
# `messages` holds a Python literal with the whole conversation: never evaluated, never kept.
DROPPED = ["messages", "Memory Found", "run"]


def sniff(head: Head) -> bool:
    """The benchmark's own names of columns."""
    return holds(head, COLUMNS)


def parse(paths: Sequence[Path], asked: Asked) -> list[Run]:
    """Runs; the mode is the file (or the column `run`), `agent` and `attack_tool` are crossed
    clusters. A file called clean has no attack in it: its rows are normal tasks.
    """
    if asked.outcomes:
        return table.parse(paths, asked)
    tally = Tally()
    parts = []
    for path in paths:
        frame = table.text_frame(head_of(path), tally)
        frame["mode"] = frame["run"] if "run" in frame else asked.named or path.name.split(".")[0]
        parts.append(frame)
    frame = pd.concat(parts, ignore_index=True)
    frame = frame.drop(columns=[name for name in DROPPED if name in frame]).rename(columns=RENAMED)
    frame["case_id"] = frame["agent"] + "/" + frame["attack_tool"]
    clean = frame["mode"].str.contains(CLEAN)
    frame["kind"] = clean.map({True: "benign", False: "attack"}).astype("str")
    if clean.any():
        tally.add("rows of a clean run, without an attack: benign", times=int(clean.sum()))
    return [
        Run(
            paths[0],
            frame,
            only={"attack_success": "attack"},
            cluster=("agent", "attack_tool"),
            name=some([path.name for path in paths], 4),
            notes=tally.notes(),
        )
    ]
