"""What the harness readers share: safe access to JSON objects, and columns from the loose fields of a record."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from ..columns import CANONICAL, Const, Words
from ..outcomes import Outcomes
from ._combine import combined
from ._files import text_of

SHORT = 200
# Loose fields with these names are taken as they are; another canonical name would be read as an outcome.
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
    """A JSON value as text that every engine can hold: lone surrogates are replaced; null and NaN are missing."""
    if type(value) is str and value.isascii():
        return value
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
    for what in declared.values():
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
    """Columns from loose fields (metadata, variables), and the names of the fields that were left out.

    A field is left out when it holds lists, objects or long texts, unless the caller names it. Its column is
    called `prefix.field` when the plain name is taken or would be read as an outcome.
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
            isinstance(one, dict | list) or (isinstance(one, str) and len(one) > SHORT) for one in values
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


def together(
    parts: Sequence[Outcomes], paths: Sequence[Path], named: str | None, declared: Mapping[str, Any]
) -> Outcomes:
    """Several runs as one table. Where two files have one mode, and the caller names none, the files are the modes."""
    modes = [mode for part in parts for mode in part.modes]
    if len(set(modes)) < len(modes) and named is None and "mode" not in declared:
        names = [path.name.split(".")[0] for path in paths]
        names = names if len(set(names)) == len(names) else [path.as_posix() for path in paths]
        note = "files with the same mode: each file is a mode of its own; choose with mode=, or name them in a dict"
        parts = [
            replace(part, frame=part.frame.assign(mode=name), modes=(name,), notes=(*part.notes, note))
            for part, name in zip(parts, names, strict=True)
        ]
    return combined(parts, keep=declared.get("keep"), check=declared.get("check", "auto"))
