"""The key of a row: every (case, mode, repeat) once. Copies, retries after an error and rows that
contradict each other are told apart, and each is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from .contract import AMOUNTS, EVENTS, KEYS, NUMBERS, Note, OutcomesError
from .frames import ROW, Frame, numbered, pandas_of, place_of, plural, some

Keep = Literal["first", "last", "known"]


def number_repeats(table: Frame) -> tuple[Frame, list[Note]]:
    """Rows of one case and mode as its repeats, numbered in the order of the rows."""
    if isinstance(table, nw.LazyFrame):
        raise ValueError('repeat="count" needs an order of rows, which a lazy frame has not')
    keys = pandas_of(table.select("case_id", "mode"))
    number = (keys.groupby(["case_id", "mode"]).cumcount() + 1).astype(str).tolist()
    series = nw.new_series("repeat", number, nw.String, backend=table.implementation)
    again = sum(text != "1" for text in number)
    note = f"repeats are numbered in the order of the rows: {plural(again)} of a case seen before"
    return table.with_columns(series), [Note(note, "count", again)]


def one_row_each(
    table: Frame, keep: Keep | None = None, what: str = ""
) -> tuple[Frame, list[Note]]:
    """Every (case, mode, repeat) once.

    Rows that are alike in all but their `source` count once. A row with an error, or without a
    known outcome, gives way to one with a known outcome; of several without one the last stays. Two
    different rows with known outcomes raise and name both places, unless `keep` says which of all
    rows stays: the "first", the "last", or the first "known" one.
    """
    have = table.collect_schema().names()
    keys = [name for name in KEYS if name in have]
    if "case_id" not in keys or "rows" in have:
        return table, []
    if isinstance(table, nw.LazyFrame):
        return _unique_on_engine(table, keys, keep, what), []
    twice = table.select(*keys).is_duplicated().to_numpy()
    if not twice.any():
        return table, []
    places = np.flatnonzero(twice)
    rows = pandas_of(numbered(table)[places])
    group = rows.groupby(keys, sort=False).ngroup()
    facts = [name for name in rows if name not in ("source", ROW)]
    same = rows[facts].astype(str).groupby(facts, sort=False, dropna=False).ngroup()
    known = _known(rows)
    order = pd.Series(np.arange(len(rows)), rows.index)
    rank = {"first": order, "last": -order}.get(
        str(keep), order.where(known, 2 * len(rows) - order)
    )
    kept = rank == rank.groupby(group).transform("min")

    def of_kept(values: pd.Series) -> pd.Series:
        return values.where(kept).groupby(group).transform("max")

    copy = ~kept & (same == of_kept(same))
    retry = ~kept & ~copy & ~known
    clash = ~kept & ~copy & known
    if keep is None and clash.any():
        first = rows[group == group[clash].iloc[0]]
        raise _conflict(first, keys, facts, int(group[clash].nunique()), what)
    shown = some([" / ".join(row) for row in rows.loc[clash, keys].astype(str).to_numpy()], 3)
    said: list[tuple[Any, str, Any]] = [
        (copy, "repeat another row in every column and count once", "duplicate"),
        (retry, "without a known outcome give way to another row of the same key", "retry"),
        (clash, f"replaced by another row of the same key (keep={keep!r}): {shown}", "replaced"),
    ]
    notes = [
        Note(f"{plural(int(which.sum()))} {text}", kind, int(which.sum()))
        for which, text, kind in said
        if which.any()
    ]
    stays = np.ones(len(table), dtype=bool)
    stays[places[~kept.to_numpy()]] = False
    return table[np.flatnonzero(stays)], notes


def _known(rows: pd.DataFrame) -> pd.Series:
    """Rows without an error that hold an outcome: of an attack an event, else any measure."""
    events = [name for name in EVENTS if name in rows]
    others = [name for name in (*AMOUNTS, *NUMBERS, "trace") if name in rows]
    if not events + others:
        return pd.Series(True, rows.index)
    known = rows[events].notna().any(axis=1)
    known |= rows[others].notna().any(axis=1) & (rows["kind"] != "attack")
    return known & (rows["error"].isna() if "error" in rows else True)


def _unique_on_engine(
    table: nw.LazyFrame[Any], keys: Sequence[str], keep: Keep | None, what: str
) -> nw.LazyFrame[Any]:
    """A lazy table has no order of rows, so a key that stands twice raises."""
    groups = table.select(*keys).group_by(*keys).agg(nw.len().alias("rows"))
    found = pandas_of(groups.filter(nw.col("rows") > 1).head(10_000)).sort_values(list(keys))
    if found.empty:
        return table
    if keep:
        raise ValueError(
            "keep= needs an order of rows, which a lazy frame has not; drop the duplicates first"
        )
    first = found.iloc[0]
    raise OutcomesError(
        f"{what + ', ' if what else ''}{plural(len(found), 'key')} ({', '.join(keys)}) stand in "
        f"more than one row: {' / '.join(str(first[key])[:60] for key in keys)} "
        f"({int(first['rows'])} rows). On an engine rows have no order: drop the duplicates, or "
        "read the table in memory",
        column="repeat",
        fix="repeat",
        file=what or None,
    )


def _conflict(
    rows: pd.DataFrame, keys: Sequence[str], facts: Sequence[str], count: int, what: str
) -> OutcomesError:
    """Several different rows with one key: where they stand, in what they differ, what to say."""
    places = [place_of(rows, row) for row in range(len(rows))]
    differ = [name for name in facts if rows[name].astype(str).nunique(dropna=False) > 1]
    return OutcomesError(
        f"{what + ', ' if what else ''}{plural(count, 'key')} ({', '.join(keys)}) stand in more "
        f"than one row: {' / '.join(str(rows[key].iloc[0])[:60] for key in keys)} ({len(rows)} "
        f"rows) differs in {some(differ, 5)} (the first in {some([p for p, _ in places], 3)}). "
        'If the rows are repeats, declare repeat="<column>", or repeat="count" to number them in '
        'the order of the rows; if they replace each other, say keep="last", "first" or "known"; '
        'if several attacks share a case, declare case_id=["attack", "case_id"]',
        column="repeat",
        fix="keep",
        file=what or None,
        row=places[0][1],
    )
