"""One plain sentence that states the finding of a table of rates or of a gradient, its numbers as
they are printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ..escape import missing, plain
from ..estimate import MACRO, MICRO, Estimate, p_text, reason
from ..metrics import METRICS
from .rows import rows_of

__all__ = ["apart", "sentence"]

_READ = ("plain", "zero", "all", "corrected")


def sentence(table: pd.DataFrame) -> str:
    """The finding of a table of `fnb.rates` or `fnb.gradient` of one metric.

    It names the lowest and the highest rate that may be read, or says why none may be; for one rate
    that rate; for a gradient of one mode its two ends and the trend.
    """
    if table.empty:
        return "There is no row in this choice."
    symbol = str(table["metric"].iloc[0])
    better = f" ({METRICS[symbol].better} is better)" if symbol in METRICS else ""
    ordered = str(table.attrs.get("ordered", ""))
    rows = table[~table[ordered].isin([MICRO, MACRO])] if ordered in table else table
    names = [
        name for name in rows.columns[1 : rows.columns.get_loc("k")] if rows[name].nunique() > 1
    ]
    fixed = [name for name in rows.columns[1 : rows.columns.get_loc("k")] if name not in names]
    where = _where(rows, fixed)
    read = [(Estimate.from_row(row), _name(row, names)) for row in rows_of(rows)]
    read = [(one, name) for one, name in read if one.kind in _READ]
    if not read:
        return f"No rate of {symbol}{where} can be read: {_why(rows)}."
    if len(read) == 1:
        one, name = read[0]
        return (
            f"{symbol}{better}{where}{f' in {name}' if name else ''} is {one}{_clustered(table)}."
        )
    if ordered and rows["mode"].nunique() == 1:
        ends = f"from {_both(read[0])} to {_both(read[-1])}"
        return f"{symbol}{better}{where} goes {ends}{_clustered(table)}{_trend(table)}."
    low, high = min(read, key=lambda pair: pair[0].rate), max(read, key=lambda pair: pair[0].rate)
    if low[0].rate == high[0].rate:
        same = f"is the same in all {len(read)} rates that can be read, such as {_both(low)}"
        return f"{symbol}{better}{where} {same}{_clustered(table)}."
    left = len(rows) - len(read)
    rest = f" {left} of {len(rows)} cannot be read." if left else ""
    return f"{symbol}{better}{where} is lowest in {_both(low)}, highest in {_both(high)}{_clustered(table)}.{rest}"


def _where(rows: pd.DataFrame, fixed: Sequence[str]) -> str:
    told = [plain(rows[name].iloc[0]) for name in fixed if not missing(rows[name].iloc[0])]
    return f" in {', '.join(told)}" if told else ""


def _name(row: Any, names: Sequence[str]) -> str:
    return ", ".join(plain(row[name]) or "(empty)" for name in names)


def _both(pair: tuple[Estimate, str]) -> str:
    return f"{pair[1]}: {pair[0]}"


def _why(rows: pd.DataFrame) -> str:
    said = list(dict.fromkeys(reason(note) or "no reason given" for note in rows["note"]))
    few = [str(Estimate.from_row(row)) for row in rows_of(rows) if 0 < row["n"] < 5]
    return plain("; ".join((few or said)[:3]), 300)


def _clustered(table: pd.DataFrame) -> str:
    name = plain(table.attrs.get("cluster", ""))
    return f" (clustered by {name})" if name else ""


def _trend(table: pd.DataFrame) -> str:
    p = table["trend_p"].iloc[0]
    return "; no trend can be tested" if missing(p) else f"; p of the trend {p_text(p)}"


def apart(table: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The table with nothing but reasons left in its notes, and the rest of the notes as lines,
    each said once.
    """
    lines: dict[str, list[str]] = {}
    kept = []
    names = [
        name for name in table.columns[: table.columns.get_loc("k")] if table[name].nunique() > 1
    ]
    for row in rows_of(table):
        parts = [part.strip() for part in str(row["note"]).split(";") if part.strip()]
        reasons = [part for part in parts if reason(part)]
        kept.append("; ".join(reasons))
        for part in parts:
            if part not in reasons:
                lines.setdefault(part, []).append(
                    _name(row, [name for name in names if not missing(row[name])])
                )
    told = [
        f"{'; '.join(filter(None, who[:3]))}{' and others' if len(who) > 3 else ''}: {text}".removeprefix(
            ": "
        )
        for text, who in lines.items()
    ]
    return table.assign(note=kept), told
