"""Labels of the cases: which text columns describe a case, how many values they have, and which may
be clusters.
"""

from __future__ import annotations

from dataclasses import dataclass

import narwhals.stable.v2 as nw
import pandas as pd

from ..outcomes.contract import KEYS
from ..outcomes.declare import how_many, pandas_of
from ..outcomes.table import Outcomes

FEW_VALUES = (
    12  # a column with more values is no stratum to look at one by one, but may be a cluster
)
NO_LABEL = ("kind", "trace", "source", "error", "suite_version", *KEYS)
LABELLED = (
    0.95  # of the cases, for a cluster: an empty label would make one big cluster of unlike cases
)


@dataclass(frozen=True)
class Label:
    """A text column: its number of values, its labelled cases, and whether it is the same in all
    rows of a case.
    """

    name: str
    values: int
    labelled: float
    of_case: bool
    cases: int

    @property
    def stratum(self) -> bool:
        """Whether its values can be looked at one by one."""
        return self.of_case and 1 < self.values <= FEW_VALUES

    @property
    def shared(self) -> bool:
        """Whether several cases share its values, from two values up."""
        return self.of_case and 2 <= self.values <= self.cases / 2 and self.labelled >= LABELLED

    @property
    def cluster(self) -> bool:
        """Whether its values may be clusters: many of them, each with two cases or more on
        average.
        """
        many = FEW_VALUES < self.values <= self.cases / 2
        return self.of_case and many and self.labelled >= LABELLED


def labels_of(runs: Outcomes) -> list[Label]:
    """The text columns that may describe a case, in the order of the table."""
    table, schema = runs.table, runs.table.collect_schema()
    names = [name for name in schema.names() if _text(schema[name]) and name not in NO_LABEL]
    if not names:
        return []
    cases, keyed = _cases(runs), "case_id" in schema.names()
    total = int(pandas_of(table.select(nw.len().alias("rows")))["rows"].iloc[0])
    texts = {name: nw.col(name).cast(nw.String) for name in names}
    values = pandas_of(table.select(*(text.n_unique().alias(name) for name, text in texts.items())))
    known = [how_many(~text.is_null() & (text != "")).alias(name) for name, text in texts.items()]
    filled = pandas_of(table.select(*known))
    found = []
    for name in names:
        several, share = int(values[name].iloc[0]), int(filled[name].iloc[0] or 0) / max(total, 1)
        few = 1 < several <= max(cases / 2, FEW_VALUES)  # a name or a text of each case is no label
        found.append(
            Label(name, several, share, few and (not keyed or _constant(runs, name, cases)), cases)
        )
    return found


def _text(dtype: object) -> bool:
    return (
        dtype == nw.String or isinstance(dtype, nw.Categorical | nw.Enum) or dtype == nw.Categorical
    )


def _cases(runs: Outcomes) -> int:
    if "case_id" not in runs.columns:
        return int(pandas_of(runs.table.select(nw.col("rows").sum().alias("rows")))["rows"].iloc[0])
    return int(
        pandas_of(runs.table.select(nw.col("case_id").n_unique().alias("cases")))["cases"].iloc[0]
    )


def _constant(runs: Outcomes, name: str, cases: int) -> bool:
    """Whether every case has one value: as many pairs of case and value as cases."""
    labels = runs.table.select("case_id", nw.col(name).cast(nw.String).alias("_label"))
    pairs = labels.group_by("case_id", "_label").agg(nw.len().alias("_rows"))
    return int(pandas_of(pairs.select(nw.len().alias("pairs")))["pairs"].iloc[0]) == cases


def one_to_one(cases: pd.DataFrame, first: str, second: str) -> bool:
    """Whether two labels say the same in other words: every value of either has one of the
    other.
    """
    pairs = len(cases.drop_duplicates([first, second]))
    return bool(pairs == cases[first].nunique() == cases[second].nunique())
