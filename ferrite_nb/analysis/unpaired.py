"""Which cases a comparison had to leave out: their strata, and the rate on kept and on left-out
cases.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from ..count.cube import vectors
from ..escape import plain
from ..metrics import Metric
from ..outcomes.frames import plural
from ..outcomes.table import Outcomes

DESCRIBED = ("tier", "scope", "suite", "category", "carrier", "attack")


@dataclass(frozen=True)
class Unpaired:
    """The cases left out of one family of comparisons; counted once, when somebody asks."""

    runs: Outcomes
    metric: Metric
    modes: list[str]
    strata: list[str]

    @cached_property
    def where(self) -> str | None:
        """The stratum that describes the cases."""
        have = [name for name in self.runs.columns if name not in self.strata]
        return next((name for name in DESCRIBED if name in have), None)

    @cached_property
    def table(self) -> pd.DataFrame:
        """The vectors of all modes with that stratum."""
        keep = [*self.strata, *([self.where] if self.where else [])]
        return vectors(self.runs, self.metric, self.modes, keep)

    def note(self, row: Mapping[str, Any]) -> str:
        """For each mode with such cases: how many, from which stratum, and the event on left-out
        and kept cases.
        """
        if not row["unpaired"]:
            return ""
        part = self.table
        for key in self.strata:
            part = part[part[key] == row[key]]
        first, second = (self.modes.index(row[name]) for name in ("mode_a", "mode_b"))
        texts = [self.of_mode(part, *pair) for pair in ((first, second), (second, first))]
        return "; ".join(filter(None, texts))

    def of_mode(self, part: pd.DataFrame, place: int, other: int) -> str:
        """The cases that are known in one of two modes only."""
        mine, theirs = part[f"n{place}"] > 0, part[f"n{other}"] > 0
        only, kept = part[mine & ~theirs], part[mine & theirs]
        if only.empty:
            return ""
        where = ""
        if self.where:
            sizes = only.groupby(self.where)["cases"].sum().head(4)
            where = (
                f" ({self.where} {', '.join(f'{plain(name)} {n}' for name, n in sizes.items())})"
            )
        cases = plural(int(only["cases"].sum()), "case")
        words = f'{cases} known in "{self.modes[place]}" only{where}: the event in'
        beside = f", in {_of(kept, place)} of the kept" if len(kept) else ""
        return f"{words} {_of(only, place)} of them{beside}"


def _of(table: pd.DataFrame, place: int) -> str:
    k, n = (int((table[f"{what}{place}"] * table["cases"]).sum()) for what in "kn")
    return f"{k}/{n}"
