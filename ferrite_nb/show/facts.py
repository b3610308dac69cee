"""Facts: level, method, unit, source and versions of the rows of a table, as words for a caption or
the lines below a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ..escape import missing, plain
from ..estimate import method_text, number

__all__ = ["facts", "values"]

_WORDS = {
    "suite_version": "suite version",
    "judge_version": "judge version",
    "source": "source",
    "date": "run of",
    "seed": "seed",
}
_SINGLE = ("", "case", "row", "item")  # units that are no clusters


def values(table: pd.DataFrame, column: str) -> list[Any]:
    """The values of a column in the order of the rows, each once, without those that are empty."""
    if column not in table.columns:
        return []
    return list(dict.fromkeys(value for value in table[column] if not missing(value)))


def facts(table: pd.DataFrame) -> list[str]:
    """Method and level, unit of independence, cases, version, source and seed of these rows."""
    methods = ", ".join(method_text(name) for name in values(table, "method"))
    levels = " and ".join(number(level) for level in values(table, "level"))
    said = [f"intervals: {methods}" if methods else "intervals" if levels else ""]
    said += [f"level {levels}" if levels else ""]
    parts = [", ".join(filter(None, said)), _unit(table), _cases(table)]
    for name, word in _WORDS.items():
        parts.append(f"{word} {_all(values(table, name))}" if values(table, name) else "")
    if not values(table, "suite_version"):
        parts.append("suite version not recorded")
    return [part for part in parts if part]


def _all(found: Sequence[Any]) -> str:
    return ", ".join(plain(value, None) for value in found)


def _unit(table: pd.DataFrame) -> str:
    counts = sorted(float(value) for value in values(table, "clusters"))
    units = values(table, "unit") or (["cluster"] if counts else ["case"])
    of = f" ({_span(counts)} clusters)" if counts and {*units} - {*_SINGLE} else ""
    return f"unit of independence: {_all(units)}{of}"


def _cases(table: pd.DataFrame) -> str:
    column = next((name for name in ("n", "n_pairs") if name in table.columns), "")
    counts = sorted(float(value) for value in values(table, column))
    return f"cases: {column} = {_span(counts)}" if counts else ""


def _span(counts: list[float]) -> str:
    ends = dict.fromkeys(number(value) for value in (counts[0], counts[-1]))
    return " to ".join(ends)


def clustered_by(table: pd.DataFrame) -> str:
    """The unit of the rows where it is a cluster, else ""."""
    return ", ".join(plain(unit) for unit in values(table, "unit") if unit not in _SINGLE)
