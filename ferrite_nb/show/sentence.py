"""One plain sentence that states the finding of a table of rates or of a gradient, its numbers as
they are printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ..escape import missing, plain
from ..estimate import MACRO, MICRO, Estimate, p_text, refusal
from ..metrics import METRICS
from ..schema import strata_of
from .facts import clustered_by, values
from .rows import rows_of

__all__ = ["sentence"]


def sentence(table: pd.DataFrame) -> str:
    """The finding of a table of `fnb.rates` or `fnb.gradient` of one metric.

    It names the lowest and the highest rate that may be read, or says why none may be; for one rate
    that rate; for a gradient of one mode its two ends and the trend.
    """
    if table.empty:
        return "There is no row in this choice."
    symbol = str(table["metric"].iloc[0])
    better = f" ({METRICS[symbol].better} is better)" if symbol in METRICS else ""
    ordered = next(iter(values(table, "order")), "")
    rows = table[~table[strata_of(table)].isin([MICRO, MACRO]).any(axis=1)]
    names = [name for name in strata_of(rows) if rows[name].nunique() > 1]
    where = _where(rows, [name for name in strata_of(rows) if name not in names])
    read = [(Estimate.from_row(row), _name(row, names)) for row in rows_of(rows)]
    read = [(estimate, name) for estimate, name in read if estimate.state == "ok"]
    said = f"{symbol}{better}{where}"
    units = clustered_by(table)
    unit = f" (clustered by {units})" if units else ""
    if not read:
        return f"No rate of {symbol}{where} can be read: {_why(rows)}."
    (low, least), (high, most) = (end(read, key=lambda pair: pair[0].rate) for end in (min, max))
    if len(read) == 1:
        return f"{said}{f' in {least}' if least else ''} is {low}{unit}."
    if ordered and rows["mode"].nunique() == 1:
        (first, start), (last, end) = read[0], read[-1]
        ends = f"from {start}: {first} to {end}: {last}"
        return f"{said} goes {ends}{unit}{_trend(table)}."
    if low.rate == high.rate:
        same = f"is the same in all {len(read)} rates that can be read, such as {least}: {low}"
        return f"{said} {same}{unit}."
    left = len(rows) - len(read)
    rest = f" {left} of {len(rows)} cannot be read." if left else ""
    return f"{said} is lowest in {least}: {low}, highest in {most}: {high}{unit}.{rest}"


def _where(rows: pd.DataFrame, fixed: Sequence[str]) -> str:
    said = [plain(rows[name].iloc[0]) for name in fixed if not missing(rows[name].iloc[0])]
    return f" in {', '.join(said)}" if said else ""


def _name(row: Any, names: Sequence[str]) -> str:
    return ", ".join(plain(row[name]) or "(none)" for name in names)


def _why(rows: pd.DataFrame) -> str:
    few = [str(Estimate.from_row(row)) for row in rows_of(rows) if row["state"] == "few"]
    none = [refusal(str(row["state"]), str(row["why"])) for row in rows_of(rows)]
    return plain("; ".join((few or list(dict.fromkeys(none)))[:3]), 300)


def _trend(table: pd.DataFrame) -> str:
    p = table["trend_p"].iloc[0]
    return "; no trend can be tested" if missing(p) else f"; p of the trend {p_text(p)}"
