"""What is known of the judge of a run, cell by cell: counts of labels, or Se and Sp, or why there
is nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..metrics import Metric, mode_key
from ..outcomes.contract import Words, spelled
from ..outcomes.declare import some
from ..stats._check import fraction
from .cells import FEW
from .labels import (
    Column,
    answers,
    given_counts,
    is_counts,
    name_of_column,
    people_of,
    table_of,
    texts,
)
from .rates import NUMBERS

# Se and Sp are never taken from another mode, judge or suite version: the judge may be biased
# there.
APART = ("mode", "detector", "suite_version")
NO_STRATA = frozenset({"metric", *NUMBERS, "trend_p", "observed", "observed_low", "observed_high"})
NAN = math.nan
Cells = tuple[int, int, int, int]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Labels:
    """What is known of the judge of a run, where the plain table or counts do not say it all.

    Parameters
    ----------
    known: a table of labels (a frame or the path of a file: one row per item, a column of people's
        labels, one of the judge's verdicts, and optional strata such as `mode` or `attack`); counts
        `tp`, `fn`, `tn`, `fp` as a mapping or a table with strata; or `se` and `sp` alone, in
        either form. To `fnb.rates` labels may name cases of the run (`case_id`, with `mode` and
        `repeat` where it has several) instead of a column of verdicts.
    human, judge: the columns of people's labels (several: the majority decides) and of verdicts.
    part_of_run: the labelled outputs are a random part of the very run whose rates are corrected
        (or drawn at random from its flagged and from its unflagged outputs). Then
        `stats.double_sample` is the better estimate.
    event: the flag that the judge decides.
    resamples, seed: of the methods that draw.

    Example
    -------
    A judge calls 30 of 100 outputs a success. People looked at 40 of them, drawn at random: of 12
        that the judge
    called successes 8 were, of the other 28 one was. So the rate is .30 · 8/12 + .70 · 1/28:

    >>> import pandas as pd, ferrite_nb as fnb
    >>> outcomes = {"case_id": range(100), "mode": "On", "attack_success": [1] * 30 + [0] * 70}
    >>> runs = fnb.outcomes(pd.DataFrame(outcomes))
    >>> labels = pd.DataFrame({"human": [1] * 9 + [0] * 31, "judge": [1] * 8 + [0] * 28 + [1] * 4})
    >>> table = fnb.rates(runs, "ASR", judge=fnb.Labels(labels, part_of_run=True))
    >>> table[["k", "n", "method"]].values.tolist()
    [[30, 100, 'double sample']]
    >>> round(float(table["observed"].iloc[0]), 3), round(float(table["rate"].iloc[0]), 3)
    (0.3, 0.225)
    """

    known: Any
    human: Column | Sequence[Column] = "human"
    judge: Column = "judge"
    part_of_run: bool = False
    event: str = "attack_success"
    resamples: int = 10_000
    seed: int = 0


@dataclass(frozen=True)
class Judge:
    """The judge in one cell. `part`: the labels are a random part of it; `pooled`: they are of
    other cells too.
    """

    cells: Cells | None
    se: float = NAN
    sp: float = NAN
    part: bool = False
    pooled: bool = False

    @property
    def classes(self) -> tuple[int, int]:
        """How many positives and negatives people found."""
        tp, fn, tn, fp = self.cells or (0, 0, 0, 0)
        return tp + fn, tn + fp

    def __str__(self) -> str:
        if self.cells is None:
            return f"Se {self.se:.3f} and Sp {self.sp:.3f} taken as known"
        tp, fn, tn, fp = self.cells
        elsewhere = "of all strata, too few in this one" if self.pooled else "from elsewhere"
        where = "of this cell" if self.part else elsewhere
        return f"{sum(self.cells)} labels {where}: Se {tp}/{tp + fn}, Sp {tn}/{tn + fp}"


@dataclass(frozen=True, eq=False)
class Sheet:
    """All that is known of the judge as one table.

    `cells` holds tp, fn, tn, fp per row (for an item one of them is 1), `rates` Se and Sp where no
    counts are known; `strata` the labels' strata that the table of rates has too, `unnamed` its
    other strata; `part` whether the labels are a random part of the run.
    """

    frame: pd.DataFrame
    strata: dict[str, NDArray[Any]]
    unnamed: tuple[str, ...]
    cells: NDArray[np.int64] | None
    rates: NDArray[np.float64] | None
    part: bool

    @classmethod
    def of(cls, labels: Labels, table: pd.DataFrame) -> Sheet:
        """Read labels, counts, or Se and Sp, for a table of rates."""
        known = labels.known
        frame = table_of(
            pd.DataFrame([dict(known)]) if isinstance(known, Mapping | pd.Series) else known
        )
        cells = rates = None
        if is_counts(frame):
            cells = np.array(
                [given_counts(frame, row).cells for row in range(len(frame))], dtype=np.int64
            )
        elif {"se", "sp"} <= set(frame.columns):
            rates = np.array(
                [[fraction(float(value), name) for value in frame[name]] for name in ("se", "sp")]
            ).T
        else:
            cells = _one_of_four(frame, labels)
        names = [str(name) for name in table if name not in NO_STRATA]
        shared = [name for name in names if name in frame]
        items = cells is not None and not is_counts(frame)
        for name in ("detector",) if items else ("detector", "judge"):
            if name in frame and name not in shared and frame[name].nunique() > 1:
                raise ValueError(
                    f"column {name!r} of the labels names several judges ({some(frame[name].unique())}): choose the "
                    f"rows of one, or keep the rates apart with by=[…, {name!r}]"
                )
        strata = {name: _keys(name, texts(frame[name])) for name in shared}
        unnamed = (
            name
            for name in names
            if name not in shared and len(set(table[name].map(str)) - {""}) > 1
        )
        return cls(frame, strata, tuple(unnamed), cells, rates, labels.part_of_run)

    def judge(self, one: Metric, row: Any) -> Judge | str:
        """The judge in a cell, or why nothing is known of it."""
        exact = self.population(one)
        wide = exact.copy()
        for name, values in self.strata.items():
            here = values == _keys(name, np.array([str(row[name])], dtype=object))[0]
            exact &= here
            wide &= here if name in APART else True
        if self.rates is not None:
            return _only(self.rates[exact])
        assert self.cells is not None  # one of the two is always there
        near, far = _sum(self.cells[exact]), _sum(self.cells[wide])
        if self.part and any(near) and not self.missing(one):
            return Judge(near, part=True)
        own, joined = Judge(near), Judge(far, pooled=True)
        if min(own.classes) < FEW and min(joined.classes) > min(own.classes):
            return joined
        return own if min(own.classes) else _lacking(own)

    def missing(self, one: Metric) -> list[str]:
        """The columns without which nobody can say which cell a label of this run is a part of."""
        population = [name for name in one.population if name != "kind" and name not in self.frame]
        return [*self.unnamed, *population]

    def population(self, one: Metric) -> Mask:
        """Labels of rows that the metric is about, where the labels say which these are."""
        chosen = np.ones(len(self.frame), dtype=bool)
        for name, wanted in one.population.items():
            if name in self.frame and isinstance(wanted, str):
                chosen &= np.array(
                    [spelled(value) == wanted for value in self.frame[name]], dtype=bool
                )
            elif name in self.frame:
                chosen &= np.array(
                    [value is wanted for value in answers(self.frame, name)], dtype=bool
                )
        return chosen


def _keys(name: str, values: NDArray[Any]) -> NDArray[Any]:
    """Values of a stratum as they are compared: modes in any case."""
    return (
        np.array([mode_key(value) for value in values], dtype=object) if name == "mode" else values
    )


def _one_of_four(frame: pd.DataFrame, labels: Labels) -> NDArray[np.int64]:
    """Each item as tp, fn, tn or fp; none of them where a label or verdict is missing or a third
    state.
    """
    named = [labels.human] if isinstance(labels.human, str | Words) else list(labels.human)
    lacking = [name for name in map(name_of_column, [*named, labels.judge]) if name not in frame]
    if lacking:
        raise ValueError(
            f"judge: no column {', '.join(lacking)} of labels; the columns are {some(map(str, frame.columns))}. Name "
            "them: fnb.Labels(labels, human=…, judge=…); or give counts tp, fn, tn, fp"
        )
    human, verdict = people_of(frame, labels.human).answer, answers(frame, labels.judge)
    found = np.zeros((len(frame), 4), dtype=np.int64)
    places = {(True, True): 0, (True, False): 1, (False, False): 2, (False, True): 3}
    for row, (label, flag) in enumerate(zip(human, verdict, strict=True)):
        if isinstance(label, bool) and isinstance(flag, bool):
            found[row, places[label, flag]] = 1
    return found


def _sum(cells: NDArray[np.int64]) -> Cells:
    tp, fn, tn, fp = cells.sum(axis=0).tolist()
    return tp, fn, tn, fp


def _only(pairs: NDArray[np.float64]) -> Judge | str:
    """Se and Sp of a cell, if there is exactly one pair of them."""
    different = np.unique(pairs, axis=0)
    if len(different) > 1:
        return f"{len(different)} different pairs of Se and Sp for this cell"
    if not len(different):
        return "no Se and Sp for this cell"
    se, sp = different[0].tolist()
    return Judge(None, se, sp)


def _lacking(judge: Judge) -> str:
    positives, negatives = judge.classes
    if not positives and not negatives:
        return "no labels for this cell"
    unknown = "positives: sensitivity" if not positives else "negatives: specificity"
    return f"no human-labelled {unknown} is unknown"
