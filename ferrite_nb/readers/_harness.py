"""What the harness readers share: safe access to JSON objects, and columns from the loose fields of
a record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from ..outcomes.contract import FLAGS, KEYS, Const, Note, OutcomesError, Words
from ..outcomes.table import Outcomes
from ._combine import combined
from .run import run_names, seen
from .values import inside

named = inside


def columns_named(declared: Mapping[str, Any]) -> set[str]:
    """The names of columns that declarations refer to."""
    names: set[str] = set()
    for key, what in declared.items():
        if key in ("keep", "check"):
            continue
        if isinstance(what, Words):
            names.add(what.column)
        elif isinstance(what, str):
            names.add(what)
        elif isinstance(what, list | tuple):
            names.update(str(one) for one in what)
    return names


def without_constants(frame: pd.DataFrame, declared: Mapping[str, Any]) -> pd.DataFrame:
    """The frame without the columns for which the caller declares one value."""
    fixed = [name for name, what in declared.items() if isinstance(what, Const) and name in frame]
    return frame.drop(columns=fixed)


def refuse_undeclared(
    name: str, scores: Mapping[str, Iterable[Any]], declared: Mapping[str, Any]
) -> None:
    """Raise where the caller has not said what a score means, with the scores and the line to
    type.
    """
    if any(key in FLAGS or key == "attack_resisted" for key in declared):
        return
    if not scores:
        raise OutcomesError(f"{name} holds no score, so there is no outcome in it")
    first = next(iter(scores))
    listing = "; ".join(f"{score} ({seen(values)})" for score, values in list(scores.items())[:20])
    raise OutcomesError(
        f"{name}: the file does not tell what its scores mean. They are {listing}. Say it: "
        f'fnb.read("{name}", attack_success="{first}"), or attack_resisted="{first}" if 1 is a'
        " resisted attack"
    )


def together(
    parts: Sequence[Outcomes],
    paths: Sequence[Path],
    named: str | None,
    declared: Mapping[str, Any],
    tasks: Iterable[str] = (),
) -> Outcomes:
    """Several runs as one table. Runs of the same cases in one mode are told apart by their files.

    `tasks` are those whose cases have names of their own in each task only; where there are
    several, the parts name the task in the case already. A case that the caller declares is taken
    at its word.
    """
    if named is None and "mode" not in declared and collide(parts):
        names = run_names(paths)
        note = Note(
            "several files have the same cases in one mode: each file is a mode; choose with mode=,"
            " or name them"
        )
        parts = [
            replace(
                part, frame=part.frame.assign(mode=name), modes=(name,), notes=(*part.notes, note)
            )
            for part, name in zip(parts, names, strict=True)
        ]
    made = combined(parts, keep=declared.get("keep"), check=declared.get("check", "auto"))
    return made if "case_id" in declared else replace(made, tasks=tuple(dict.fromkeys(tasks)))


def collide(parts: Sequence[Outcomes]) -> bool:
    """Whether two runs have a key in common."""
    modes = [mode for part in parts for mode in part.modes]
    if len(set(modes)) == len(modes):
        return False
    keys = [name for name in KEYS if all(name in part.frame for part in parts)]
    return bool(pd.concat([part.frame[keys] for part in parts]).duplicated().any())
