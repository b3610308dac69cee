"""Frames of any engine: what comes back as pandas, and the place of a row that breaks a rule."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import narwhals.stable.v2 as nw
import pandas as pd

from .contract import OutcomesError
from .printed import rate_hint

Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]
LARGEST = 2.0**53  # up to here every number in use holds a count exactly
ROW = "\u2063row"  # the number of a row as it was given, once rows have been left out


def pandas_of(frame: Frame) -> pd.DataFrame:
    """A small result as pandas: engines are asked for pandas by name, eager frames are
    converted.
    """
    if isinstance(frame, nw.LazyFrame):
        return frame.collect("pandas").to_native()
    return frame.to_pandas()


def native(table: Frame) -> Any:
    """The native frame behind narwhals; pandas with a fresh index."""
    frame = table.to_native()
    return frame.reset_index(drop=True) if isinstance(frame, pd.DataFrame) else frame


def how_many(condition: nw.Expr) -> nw.Expr:
    """The number of rows that meet a condition; Spark sums no booleans, so they are made numbers
    first.
    """
    return nw.when(condition).then(nw.lit(1)).otherwise(nw.lit(0)).sum()


def distinct(frame: Frame, name: str, most: int = 100_000) -> list[str]:
    """The distinct values of a column as text, the missing one left out.

    On an engine a group-by, because `unique` there keeps a whole row of each value and is many
    times slower.
    """
    text = frame.select(nw.col(name).cast(nw.String).alias(name))
    if isinstance(text, nw.DataFrame):
        found = text[name].unique(maintain_order=True).drop_nulls().to_list()
    else:
        groups = text.group_by(name).agg(nw.len().alias("_rows"))
        found = pandas_of(groups.head(most))[name].dropna()
    return [str(value) for value in found[:most]]


def some(names: Iterable[Any], most: int = 30) -> str:
    """The first names of a list, for a message."""
    names = [str(name)[:60] for name in names]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def plural(number: int, word: str = "row") -> str:
    """A number of things.

    >>> plural(1), plural(2_000, "key")
    ('1 row', '2,000 keys')
    """
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def numbered(frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
    """The frame with the numbers of its rows as they were given, from 0."""
    return frame if ROW in frame.columns else frame.with_row_index(ROW)


def place_of(rows: pd.DataFrame, row: int = 0) -> tuple[str, int]:
    """Where a row of a numbered frame stands, in words, and its number from 1."""
    number = int(rows[ROW].iloc[row]) + 1
    source = rows["source"].iloc[row] if "source" in rows else None
    told = isinstance(source, str) and source
    return source if told else f"row {number} (the header not counted)", number


def raise_places(
    frame: Frame,
    bad: nw.Expr,
    column: str,
    name: str,
    rule: str,
    what: str = "",
    fix: str | None = None,
) -> None:
    """Raise OutcomesError that names file, row, column and value of the first bad rows."""
    place, row, more = "a row", None, 0
    if isinstance(frame, nw.LazyFrame):
        found = pandas_of(frame.filter(bad).select(column).head(1))
    elif not frame.select(bad.any().alias(column))[column][0]:
        return
    else:
        rows = numbered(frame).filter(bad)
        found, more = pandas_of(rows.head(1)), len(rows) - 1
        place, row = place_of(found)
    if found.empty:
        return
    value = found[column].iloc[0]
    shown = "nothing" if pd.isna(value) else repr(str(value)[:80])
    # The place of a row names its file already.
    file = "" if not what or place.startswith(what) else f"{what}, "
    raise OutcomesError(
        f"{file}{place}{f' and {more} more' if more else ''}: column {column}"
        f"{'' if column == name else f' (declared as {name})'} has {shown}; {rule}"
        f"{rate_hint(value, found.get('n'))}",
        column=name,
        fix=fix,
        file=what or None,
        row=row,
    )
