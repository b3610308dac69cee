"""Frames of any engine: what comes back as pandas, the place of a row that breaks a rule, and what
to say of a rate in the place of a count.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import narwhals.stable.v2 as nw
import pandas as pd

from .contract import OutcomesError

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


def names_of(frame: Frame) -> list[str]:
    """Column names without touching the rows."""
    return list(frame.collect_schema().names())


def how_many(condition: nw.Expr) -> nw.Expr:
    """The number of rows that meet a condition; Spark sums no booleans, so they are made numbers
    first.
    """
    return nw.when(condition).then(nw.lit(1)).otherwise(nw.lit(0)).sum()


def distinct(frame: Frame, column: str | nw.Expr, most: int = 100_000) -> list[str]:
    """The distinct values of a column as text, the missing one left out.

    On an engine a group-by, because `unique` there keeps a whole row of each value and is many
    times slower.
    """
    values = nw.col(column) if isinstance(column, str) else column
    text = frame.select(values.cast(nw.String).alias("value"))
    if isinstance(text, nw.LazyFrame):
        text = text.group_by("value").agg(nw.len().alias("rows")).head(most)
        return [str(value) for value in pandas_of(text)["value"].dropna()]
    found = text["value"].unique(maintain_order=True).drop_nulls()
    return [str(value) for value in found.to_list()[:most]]


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
    named = isinstance(source, str) and source != ""
    return str(source) if named else f"row {number} (the header not counted)", number


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


def rate_hint(value: Any, n: pd.Series | None = None, row: int = 0) -> str:
    """What to say when an outcome looks like a rate: the counts it may stand for; nothing where it
    is no rate.
    """
    text = str(value).strip().replace(",", ".")
    percent = text.endswith("%")
    number = pd.to_numeric(text.rstrip("% "), errors="coerce")
    if not 0 <= number <= 100 or (number in (0, 1) and not percent):
        return ""
    said = (
        ". This looks like a rate; a rate cannot be checked, so give whole counts in columns k "
        "and n"
    )
    total = pd.to_numeric(n, errors="coerce").iloc[row] if n is not None and len(n) > row else 0
    if not total >= 1:
        return said
    digits = len(text.rstrip("% ").partition(".")[2])
    scales = {"percent": 100} | ({"a fraction": 1} if number < 1 and not percent else {})
    ways = {word: counts_of(number, int(total), scale, digits) for word, scale in scales.items()}
    found = [
        f"{' or '.join(f'{k}/{int(total)}' for k in counts)} if it is {word}"
        for word, counts in ways.items()
        if counts
    ]
    return f"{said} ({', '.join(found) or f'no whole count of {int(total)} gives it'})"


def counts_of(rate: float, n: int, scale: int, digits: int) -> list[int]:
    """The counts k of n next to a printed rate: the one that gives it exactly, else those that
    round to it.

    >>> counts_of(93, 150, 100, 0), counts_of(45.2, 500, 100, 1)
    ([139, 140], [226])
    """
    exact = rate / scale * n
    if abs(exact - round(exact)) < 1e-9 * max(n, 1):
        return [round(exact)]
    near = (math.floor(exact), math.ceil(exact))
    return [k for k in near if abs(scale * k / n - rate) <= 0.5 * 10.0**-digits + 1e-12]
