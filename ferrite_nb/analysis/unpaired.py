"""Which cases a comparison had to leave out: their strata, and the rate on kept and on left-out
cases.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import pandas as pd

from ..count.cube import vectors
from ..metrics import Metric
from ..outcomes.table import Outcomes

DESCRIBED = ("tier", "scope", "suite", "category", "carrier", "attack")


class Unpaired:
    """The cases left out of one family of comparisons; counted once, and only when somebody
    asks.
    """

    def __init__(self, runs: Outcomes, one: Metric, modes: list[str], strata: list[str]) -> None:
        self.runs, self.one, self.modes, self.strata = runs, one, modes, strata
        have = runs.columns
        self.where = next((name for name in DESCRIBED if name in have and name not in strata), None)

    @cached_property
    def table(self) -> pd.DataFrame:
        """The vectors of all modes with the stratum that describes the cases."""
        keep = [*self.strata, *([self.where] if self.where else [])]
        return vectors(self.runs, self.one, self.modes, keep)

    def note(self, row: dict[str, Any]) -> str:
        """For each mode with such cases: how many, from which stratum, and the event on left-out
        and kept cases.
        """
        if not row["unpaired"]:
            return ""
        table = self.table
        for key in self.strata:
            table = table[table[key] == row[key]]
        pair = [self.modes.index(row["mode_a"]), self.modes.index(row["mode_b"])]
        said = (
            _one_mode(table, place, other, self.modes[place], self.where)
            for place, other in (pair, pair[::-1])
        )
        return "; ".join(filter(None, said))


def _one_mode(table: pd.DataFrame, place: int, other: int, mode: str, where: str | None) -> str:
    mine, theirs = table[f"n{place}"] > 0, table[f"n{other}"] > 0
    only, kept = table[mine & ~theirs], table[mine & theirs]
    if only.empty:
        return ""
    cases = int(only["cases"].sum())
    parts = only.groupby(where, sort=True)["cases"].sum() if where else pd.Series(dtype="int64")
    places = (
        f" ({where} {', '.join(f'{str(name)[:40]} {n}' for name, n in parts.head(4).items())})"
        if where
        else ""
    )
    said = f"{cases} {'case' if cases == 1 else 'cases'} known in {mode} only{places}: the event in {_of(only, place)}"
    return f"{said} of them, in {_of(kept, place)} of the kept" if len(kept) else f"{said} of them"


def _of(table: pd.DataFrame, place: int) -> str:
    k, n = (int((table[f"{what}{place}"] * table["cases"]).sum()) for what in "kn")
    return f"{k}/{n}"
