"""Values of strangers' JSON: safe access to objects, texts, numbers, columns from loose fields."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..outcomes.contract import CANONICAL
from ._files import text_of

SHORT = 200
# Loose fields with these names are taken as they are; another canonical name would be read as an
# outcome.
STRATA = ("kind", "tier", "scope", "suite", "category", "carrier", "attack")


def inside(value: Any, key: str | None) -> Mapping[str, Any]:
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
