"""Selecting rows by the values that a caller names: flags by meaning, numbers by value, modes in
any case.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import narwhals.stable.v2 as nw
import pandas as pd

from .contract import flag_meaning
from .declare import Frame, distinct, pandas_of, some


def listed_values(wanted: Any) -> list[Any]:
    """One value or many, as a list; a text is one value."""
    return (
        [wanted]
        if isinstance(wanted, str | bytes) or not isinstance(wanted, Iterable)
        else list(wanted)
    )


def held(table: Frame, column: str, wanted: list[Any]) -> list[Any]:
    """The wanted values as the column holds them, None for a missing one; a value that does not
    occur raises.
    """
    typed = table.collect_schema()[column]
    plain = [
        None if pd.api.types.is_scalar(value) and pd.isna(value) else value for value in wanted
    ]
    if typed == nw.Boolean:
        return [_flag(column, value) for value in plain]
    named: list[Any] = [
        _number(column, value) if typed.is_numeric() else str(value)
        for value in plain
        if value is not None
    ]
    if not named:  # Arrow looks for no empty list
        return [None]
    there: dict[Any, Any]
    if typed.is_numeric():
        rows = table.filter(nw.col(column).cast(nw.Float64).is_in(named)).select(column)
        there = {float(value): value for value in pandas_of(rows)[column].unique().tolist()}
    elif column == "mode":
        modes = distinct(table, column)
        there = {mode.lower(): mode for mode in modes} | {mode: mode for mode in modes}
        named = [value if value in there else value.lower() for value in named]
    else:
        there = {
            value: value
            for value in distinct(table.filter(nw.col(column).cast(nw.String).is_in(named)), column)
        }
    for value in named:
        if value not in there:
            known = some(sorted(distinct(table, column)))
            raise ValueError(
                f"no row has {column} = {_as_given(value, plain)}; there are {known or 'no values'}"
            )
    return [there[value] for value in named] + [None] * any(value is None for value in plain)


def meets(table: Frame, column: str, found: list[Any]) -> nw.Expr:
    """The rows of which the column holds one of the found values."""
    typed = table.collect_schema()[column]
    value = (
        nw.col(column)
        if typed == nw.Boolean or typed.is_numeric()
        else nw.col(column).cast(nw.String)
    )
    named = [one for one in found if one is not None]
    if not named:
        return nw.col(column).is_null()
    return nw.col(column).is_null() | value.is_in(named) if None in found else value.is_in(named)


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


def _as_given(value: Any, given: list[Any]) -> str:
    """The value as the caller wrote it."""
    written = [
        one
        for one in given
        if one is not None and (one == value or str(one).lower() == str(value).lower())
    ]
    return repr(str(written[0])) if written else repr(value)
