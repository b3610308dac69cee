"""Selecting rows by the values that a caller names: flags by meaning, numbers by value, modes in
any case.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import pandas as pd

from .contract import TAKEN, flag_meaning
from .frames import Frame, distinct, some


class NoRowError(ValueError):
    """A value was asked for that no row has."""


def check_columns(have: Sequence[str], names: Iterable[Any], what: str) -> list[str]:
    """The named columns, or an error that lists what there is."""
    wanted = list(names)
    for name in wanted:
        if not isinstance(name, str):
            raise TypeError(f"{what} takes column names, got {name!r}")
        if name not in have:
            taken = TAKEN.fullmatch(name) and f"{name}_" in have
            called = f" (the file's column is called {name}_ here)" if taken else ""
            raise ValueError(
                f"{what}: there is no column {name!r}{called}; the columns are {some(have)}"
            )
    if len(set(wanted)) < len(wanted):
        raise ValueError(f"{what}: a column is named twice in {wanted}")
    return wanted


def held(table: Frame, column: str, wanted: Any) -> list[Any]:
    """The wanted values (one or many) as the column holds them, None for a missing one; a value
    that does not occur raises.
    """
    one = isinstance(wanted, str | bytes) or not isinstance(wanted, Iterable)
    values = [
        None if pd.api.types.is_scalar(value) and pd.isna(value) else value
        for value in ([wanted] if one else wanted)
    ]
    if not values:
        raise ValueError(f"choose at least one value of {column}")
    typed = table.collect_schema()[column]
    read = _flag if typed == nw.Boolean else _number if typed.is_numeric() else _text
    named = {read(column, value): value for value in values if value is not None}
    modes = distinct(table, column) if column == "mode" else []
    spelled: dict[Any, Any] = {mode.lower(): mode for mode in modes} | {
        mode: mode for mode in modes
    }
    found = [spelled.get(value) or spelled.get(str(value).lower()) or value for value in named]
    there = distinct(table.filter(meets(table, column, found)), column) if named else []
    known = {read(column, value) for value in there}
    for value, given in zip(found, named.values(), strict=True):
        if value not in known and typed != nw.Boolean:
            listed = some(sorted(distinct(table, column)))
            raise NoRowError(
                f"no row has {column} = {str(given)!r}; there are {listed or 'no values'}"
            )
    return found + ([None] if None in values else [])


def meets(table: Frame, column: str, found: list[Any]) -> nw.Expr:
    """The rows of which the column holds one of the found values."""
    typed = table.collect_schema()[column]
    named = [value for value in found if value is not None]
    kind = nw.Boolean if typed == nw.Boolean else nw.Float64 if typed.is_numeric() else nw.String
    there, empty = nw.col(column).cast(kind).is_in(named), nw.col(column).is_null()
    # Arrow looks for no empty list
    return empty if not named else there | empty if None in found else there


def _flag(column: str, value: Any) -> bool | None:
    """A value of a flag; a word that is neither true nor false raises."""
    means = flag_meaning(column, value)
    if isinstance(means, str):
        raise ValueError(f"{column} is true, false or missing (None), got {value!r}")
    return means


def _number(column: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{column} holds numbers, got {value!r}") from None


def _text(column: str, value: Any) -> str:
    return str(value)
