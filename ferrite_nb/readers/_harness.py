"""What the harness readers share: safe access to JSON objects, and columns from the loose fields of
a record.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from ..outcomes.contract import CANONICAL, FLAGS, KEYS, Const, OutcomesError, Words
from ..outcomes.table import Outcomes
from ._combine import combined
from ._files import text_of

SHORT = 200
ENDINGS = re.compile(r"(?:\.report)?(?:\.(?:jsonl?|eval|csv|txt))?(?:\.gz)?$", re.IGNORECASE)
# Loose fields with these names are taken as they are; another canonical name would be read as an
# outcome.
STRATA = ("kind", "tier", "scope", "suite", "category", "carrier", "attack")


def named(value: Any, key: str | None) -> Mapping[str, Any]:
    """The object under a key (or the value itself), or an empty one where there is none."""
    if key is not None:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def listed(value: Any) -> list[Any]:
    """The list, or an empty one where there is none."""
    return value if isinstance(value, list) else []


def text(value: Any) -> str | None:
    """A JSON value as text that every engine can hold: lone surrogates are replaced; null and NaN
    are missing.
    """
    if type(value) is str and value.isascii():
        return value
    if value is None:
        return None
    if type(value) is int:
        return str(value)
    if isinstance(value, float) and math.isnan(value):
        return None
    try:
        made = text_of(value)
    except RecursionError:
        made = "(nested too deeply)"
    if made is None or made.isascii():
        return made
    return made.encode("utf-8", "replace").decode("utf-8")


def number(value: Any) -> float | None:
    """A finite number, or nothing."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        made = float(value)
    except OverflowError:
        return None
    return made if math.isfinite(made) else None


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


def loose_columns(
    records: Sequence[Mapping[str, Any]], prefix: str, taken: Iterable[str], wanted: set[str]
) -> tuple[dict[str, list[str | None]], list[str]]:
    """Columns from loose fields (metadata, variables), and the names of the fields that were left
    out.

    A field is left out when it holds lists, objects or long texts, unless the caller names it. Its
    column is called `prefix.field` when the plain name is taken or would be read as an outcome.
    """
    taken = set(taken)
    columns: dict[str, list[str | None]] = {}
    left: list[str] = []
    for key in dict.fromkeys(key for record in records for key in record):
        full = f"{prefix}.{key}"
        plain = key not in taken and (key in STRATA or key not in CANONICAL)
        values = [record.get(key) for record in records]
        asked = full in wanted or (plain and key in wanted)
        if not asked and any(
            isinstance(one, dict | list) or (isinstance(one, str) and len(one) > SHORT)
            for one in values
        ):
            left.append(key)
            continue
        texts = [text(one) for one in values]
        if key == "kind" and not asked:
            plain = plain and {(one or "").strip().lower() for one in texts} <= {"attack", "benign"}
        name = text(key if plain and full not in wanted else full) or ""
        if name not in columns:
            columns[name] = texts
    return columns, left


def without_constants(frame: pd.DataFrame, declared: Mapping[str, Any]) -> pd.DataFrame:
    """The frame without the columns for which the caller declares one value."""
    fixed = [name for name, what in declared.items() if isinstance(what, Const) and name in frame]
    return frame.drop(columns=fixed)


def flag_text(value: Any, threshold: float | None = None) -> str | None:
    """A score as the spelling of a flag: at or above the threshold is true; NaN is missing."""
    made = number(value)
    if made is None:
        return None if isinstance(value, float) else text(value)
    if threshold is not None:
        return "true" if made >= threshold else "false"
    return str(int(made)) if made == int(made) else repr(made)


def score_column(name: str, taken: Iterable[str], wanted: set[str]) -> str:
    """The column of a score. One with the name of the contract is no outcome until the caller says
    so.
    """
    plain = name not in taken and (name in wanted or name not in CANONICAL)
    return name if plain else f"score.{name}"


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
        f'fnb.read("{name}", attack_success="{first}"), or attack_resisted="{first}" if 1 is a resisted attack'
    )


def seen(values: Iterable[Any]) -> str:
    """The values that a score takes, for a message."""
    found = sorted({text(value) or "missing" for value in values})
    return ", ".join(one[:20] for one in found[:6]) + (", ..." if len(found) > 6 else "")


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
        note = "several files have the same cases in one mode: each file is a mode; choose with mode=, or name them"
        parts = [
            replace(
                part, frame=part.frame.assign(mode=name), modes=(name,), notes=(*part.notes, note)
            )
            for part, name in zip(parts, names, strict=True)
        ]
    made = combined(parts, keep=declared.get("keep"), check=declared.get("check", "auto"))
    return made if "case_id" in declared else replace(made, tasks=tuple(dict.fromkeys(tasks)))


def run_names(paths: Sequence[Path]) -> list[str]:
    """A name for each file: its own without endings, or with its folder where two files have one
    name.
    """
    plain = [ENDINGS.sub("", path.name) or path.name for path in paths]
    if len(set(plain)) == len(plain):
        return plain
    longer = [
        f"{path.resolve().parent.name}/{name}" for path, name in zip(paths, plain, strict=True)
    ]
    return longer if len(set(longer)) == len(longer) else [path.as_posix() for path in paths]


def collide(parts: Sequence[Outcomes]) -> bool:
    """Whether two runs have a key in common."""
    modes = [mode for part in parts for mode in part.modes]
    if len(set(modes)) == len(modes):
        return False
    keys = [name for name in KEYS if all(name in part.frame for part in parts)]
    return bool(pd.concat([part.frame[keys] for part in parts]).duplicated().any())
