"""Evidence for limits: what the checks share, each part counted once and only when a check asks for
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import narwhals.stable.v2 as nw
import pandas as pd

from ..count.cube import cube, modes_of, tally, vectors
from ..estimate import Estimate, plain
from ..metrics import METRICS, Metric
from ..outcomes.contract import FLAGS
from ..outcomes.declare import pandas_of
from ..outcomes.table import Outcomes
from .profile import Label, labels_of, one_to_one
from .rates import rates
from .unit import Unit

Severity = Literal["severe", "note", "not checked", "handled"]
MAIN = ("ASR", "task success", "task success under attack", "FGR", "false refusal", "ADR", "SDR")
MOST_CELLS = 200_000
# a check that tests something speaks only when chance would do so once in a thousand data sets
RARE = 0.001


@dataclass(frozen=True)
class Limit:
    """One limit: what it is, its evidence in numbers, what it changes for the reader, how much,
    and the columns and cells that a program needs of it.
    """

    limit: str
    evidence: str
    consequence: str
    severity: Severity
    columns: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()


Check = Callable[["Evidence"], Iterable[Limit]]


class Evidence:
    """One data set under examination. Everything is counted when first asked for."""

    def __init__(self, runs: Outcomes, unit: Unit) -> None:
        self.runs, self.unit = runs, unit
        self.columns = runs.columns
        self.modes = modes_of(runs)
        self.keyed = "case_id" in self.columns
        self._counted: dict[tuple[str, ...], pd.DataFrame] = {}
        self._rates: dict[str, dict[str, Estimate]] = {}

    @cached_property
    def cells(self) -> pd.DataFrame:
        """Rows by mode, kind and every flag."""
        return cube(self.runs, ["mode"], FLAGS)

    @cached_property
    def kinds(self) -> pd.DataFrame:
        """Rows by mode and kind; a mode without rows of a kind has 0."""
        table = self.cells.pivot_table(
            index="mode", columns="kind", values="rows", aggfunc="sum", fill_value=0
        )
        return table.reindex(index=self.modes, columns=["attack", "benign"], fill_value=0)

    @cached_property
    def attacks(self) -> Outcomes:
        """The attack rows; all rows where there is no attack."""
        return self.runs.where(kind="attack") if self.kinds["attack"].sum() else self.runs

    @cached_property
    def labels(self) -> list[Label]:
        """The text columns of the attack cases."""
        return labels_of(self.attacks)

    @cached_property
    def described(self) -> pd.DataFrame:
        """The attack cases with their labels, one row each; empty where they are too many to look
        at one by one.
        """
        names = [label.name for label in self.labels if label.of_case]
        if not self.keyed or not names or self.labels[0].cases > MOST_CELLS:
            return pd.DataFrame()
        return cube(self.attacks, [*names, "case_id"], [])[[*names, "case_id"]].drop_duplicates(
            ignore_index=True
        )

    @cached_property
    def strata(self) -> list[Label]:
        """Labels whose few values can be read one by one; of labels that say the same the first."""
        found: list[Label] = []
        for label in self.labels:
            known = [] if self.described.empty else [one.name for one in found]
            if label.stratum and not any(
                one_to_one(self.described, name, label.name) for name in known
            ):
                found.append(label)
        return found

    @cached_property
    def main(self) -> Metric | None:
        """The outcome that the checks look at: attack success, or the first outcome that is
        known.
        """
        for symbol in MAIN:
            one = METRICS[symbol]
            if (
                set(one.columns) <= set(self.columns)
                and self.counts(one)[["n", "missing"]].sum().sum()
            ):
                return one
        return None

    def counts(self, one: Metric) -> pd.DataFrame:
        """k, n and missing of a metric in each mode, in the documented order; index is the mode."""
        if not set(one.columns) <= set(self.columns):
            return pd.DataFrame(
                {"k": 0, "n": 0, "missing": 0}, index=pd.Index(self.modes, name="mode")
            )
        found: pd.DataFrame = tally(self.cells, one, ["mode"]).set_index("mode")
        return found.reindex(self.modes, fill_value=0)

    def estimates(self, metric: Metric) -> dict[str, Estimate]:
        """The rate of each mode as `fnb.rates` prints it in a call with the same unit."""
        if metric.symbol not in self._rates:
            runs = self.runs.pool_versions()  # a mix of versions is a limit of its own
            keys = [key for key in self.unit.keys if key != "case_id"]
            table = rates(runs, metric.symbol, cluster=tuple(keys))
            rows = zip(table["mode"], table.to_dict("records"), strict=True)
            self._rates[metric.symbol] = {mode: Estimate.from_row(row) for mode, row in rows}
        return self._rates[metric.symbol]

    def text(self, metric: Metric, modes: Iterable[str]) -> str:
        """The rates of some modes in words."""
        found = self.estimates(metric)
        return "; ".join(f"{mode} {found[mode]}" for mode in modes)

    def by_label(self, one: Metric, names: Sequence[str]) -> pd.DataFrame:
        """k, n and missing of a metric by mode and labels."""
        key = (one.symbol, *names)
        if key not in self._counted:
            self._counted[key] = tally(
                cube(self.runs, ["mode", *names], sorted(one.columns)), one, ["mode", *names]
            )
        return self._counted[key]

    @cached_property
    def cases(self) -> pd.DataFrame:
        """Distinct vectors of (k, n, missing) per mode over the cases of the main metric, with
        their number.
        """
        return (
            vectors(self.runs, self.main, self.modes)
            if self.main is not None and self.keyed
            else pd.DataFrame()
        )

    def rows_where(self, condition: nw.Expr) -> pd.DataFrame:
        """Attack rows that meet a condition, counted by mode; index is the mode."""
        weight = nw.col("rows").sum() if "rows" in self.columns else nw.len()
        table = self.attacks.table.filter(condition).group_by("mode").agg(weight.alias("rows"))
        return pandas_of(table).set_index("mode").reindex(self.modes, fill_value=0)


def shortened(text: Any, most: int = 40) -> str:
    """One name in words, cut in the middle."""
    return plain(text, most) or "(empty)"


def some_of(names: Iterable[Any], most: int = 6, length: int = 40) -> str:
    """A list in words, cut after a few."""
    found = list(names)
    shown = ", ".join(shortened(name, length) for name in found[:most])
    return shown + (f" and {len(found) - most} more" if len(found) > most else "")


def rows_of(frame: pd.DataFrame) -> Iterator[Any]:
    """The rows of a small table, each with its index as `Index`."""
    yield from frame.itertuples()
