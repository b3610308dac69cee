"""Judge: what labels, counts or Se and Sp say of the judge of a run, cell by cell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..count.cube import labels as as_text
from ..estimate import FEW
from ..metrics import METRICS, Metric
from ..order import mode_key
from ..outcomes.contract import KEYS, OutcomesError, Words, spelled
from ..outcomes.declare import pandas_of, some
from ..outcomes.table import Outcomes
from ..stats._check import fraction
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

NAN = math.nan
Cells = tuple[int, int, int, int]


POPULATIONS = sorted({name for metric in METRICS.values() for name in metric.population})


@dataclass(frozen=True)
class Labels:
    """What is known of the judge of a run, where the plain table or counts do not say it all.

    Parameters
    ----------
    known: a table of labels (a frame or the path of a file: one row per item, a column of people's
        labels, one of the judge's verdicts, and optional strata such as `mode` or `attack`); counts
        `tp`, `fn`, `tn`, `fp` as a mapping or a table with strata; or `se` and `sp` alone, in
        either form. Labels may name cases of the run (`case_id`, with `mode` and `repeat` where it
        has several) instead of a column of verdicts.
    human, judge: the columns of people's labels (several: the majority decides) and of verdicts.
    part_of_run: True when the labelled outputs are a random part of the very run whose rates are
        corrected, "by flag" when they were drawn at random from its flagged and from its unflagged
        outputs apart. Then `stats.double_sample` is the better estimate.
    event: the flag that the judge decides.
    resamples, seed: of the methods that draw.

    Example
    -------
    A judge calls 30 of 100 outputs a success. People looked at 40 of them, drawn at random: of 12
    that the judge called successes 8 were, of the other 28 one was. So the rate is
    .30 · 8/12 + .70 · 1/28:

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
    part_of_run: bool | str = False
    event: str = "attack_success"
    resamples: int = 10_000
    seed: int = 0


@dataclass(frozen=True)
class Judge:
    """The judge in one cell: counts of labels, or Se and Sp alone; `part` says that the labels are
    a part of that very cell.
    """

    cells: Cells | None
    se: float = NAN
    sp: float = NAN
    part: bool = False

    @property
    def classes(self) -> tuple[int, int]:
        """How many positives and negatives people found."""
        tp, fn, tn, fp = self.cells or (0, 0, 0, 0)
        return tp + fn, tn + fp

    def __str__(self) -> str:
        if self.cells is None:
            return f"Se {self.se:.3f} and Sp {self.sp:.3f} taken as known"
        tp, fn, tn, fp = self.cells
        where = "of this cell" if self.part else "from elsewhere"
        return f"{sum(self.cells)} labels {where}: Se {tp}/{tp + fn}, Sp {tn}/{tn + fp}"


@dataclass(frozen=True, eq=False)
class Sheet:
    """All that is known of the judge as one table.

    `cells` holds tp, fn, tn, fp per row (for an item one of them is 1), `rates` Se and Sp where no
    counts are known; `strata` the labels' strata that the table of rates has too, `unnamed` its
    other strata.
    """

    labels: Labels
    frame: pd.DataFrame
    strata: dict[str, NDArray[Any]]
    unnamed: tuple[str, ...]
    cells: NDArray[np.int64] | None
    rates: NDArray[np.float64] | None

    @classmethod
    def of(cls, labels: Labels, rows: Sequence[Mapping[str, Any]], strata: Sequence[str]) -> Sheet:
        """Read labels, counts, or Se and Sp, for rows of rates in these strata."""
        known = labels.known
        frame = table_of(
            pd.DataFrame([dict(known)]) if isinstance(known, Mapping | pd.Series) else known
        )
        cells = rates = None
        counts = is_counts(frame)
        if counts:
            given = [given_counts(frame, row).cells for row in range(len(frame))]
            cells = np.array(given, dtype=np.int64)
        elif {"se", "sp"} <= set(frame.columns):
            pairs = ([fraction(float(v), name) for v in frame[name]] for name in ("se", "sp"))
            rates = np.array(list(pairs)).T
        else:
            cells = _one_of_four(frame, labels)
        shared = [name for name in strata if name in frame]
        for name in ("detector", "judge") if counts or rates is not None else ("detector",):
            if name in frame and name not in shared and frame[name].nunique() > 1:
                raise ValueError(
                    f"column {name!r} of the labels names several judges "
                    f"({some(frame[name].unique())}): choose the rows of one, or keep the rates "
                    f"apart with by=[…, {name!r}]"
                )
        keys = {name: _keys(name, texts(frame[name])) for name in shared}
        several = {name for name in strata if len({str(row.get(name, "")) for row in rows}) > 1}
        unnamed = tuple(name for name in strata if name not in shared and name in several)
        return cls(labels, frame, keys, unnamed, cells, rates)

    def here(self, metric: Metric, cell: Mapping[str, Any]) -> NDArray[np.bool_]:
        """The rows of the sheet that are of a cell."""
        chosen = self.population(metric)
        for name, values in self.strata.items():
            chosen &= values == _keys(name, np.array([str(cell[name])], dtype=object))[0]
        return chosen

    def judge(self, metric: Metric, cell: Mapping[str, Any]) -> Judge | str:
        """The judge in a cell, or why nothing is known of it."""
        here = self.here(metric, cell)
        if self.rates is not None:
            return _only(self.rates[here])
        assert self.cells is not None  # one of the two is always there
        tp, fn, tn, fp = self.cells[here].sum(axis=0).tolist()
        part = bool(self.labels.part_of_run) and not self.missing(metric)
        judge = Judge((tp, fn, tn, fp), part=part)
        if not sum((tp, fn, tn, fp)):
            return "no labels for this cell"
        if part or min(judge.classes):
            return judge
        lacking = "positives: sensitivity" if not judge.classes[0] else "negatives: specificity"
        return f"no human-labelled {lacking} is unknown; label about {self.more(judge)} more"

    def more(self, judge: Judge) -> int:
        """About how many more labels bring five of the class that a cell lacks."""
        assert self.cells is not None
        both = self.cells.sum(axis=0)
        classes = (both[0] + both[1], both[2] + both[3])
        rarer = classes[0] if judge.classes[0] < judge.classes[1] else classes[1]
        return math.ceil(FEW * (sum(classes) + 1) / (int(rarer) + 0.5))

    def missing(self, metric: Metric) -> list[str]:
        """The columns without which nobody can say which cell a label of this run is a part of."""
        population = [
            name for name in metric.population if name != "kind" and name not in self.frame
        ]
        return [*self.unnamed, *population]

    def population(self, metric: Metric) -> NDArray[np.bool_]:
        """Labels of rows that the metric is about, where the labels say which these are."""
        chosen = np.ones(len(self.frame), dtype=bool)
        for name, wanted in metric.population.items():
            if name not in self.frame:
                continue
            values = (
                [spelled(value) == wanted for value in self.frame[name]]
                if isinstance(wanted, str)
                else [value is wanted for value in answers(self.frame, name)]
            )
            chosen &= np.array(values, dtype=bool)
        return chosen


def _keys(name: str, values: NDArray[Any]) -> NDArray[Any]:
    """Values of a stratum as they are compared: modes in any case."""
    if name != "mode":
        return values
    return np.array([mode_key(value) for value in values], dtype=object)


def _one_of_four(frame: pd.DataFrame, labels: Labels) -> NDArray[np.int64]:
    """Each item as tp, fn, tn or fp; none of them where a label or verdict is missing or a third
    state.
    """
    named = [labels.human] if isinstance(labels.human, str | Words) else list(labels.human)
    lacking = [name for name in map(name_of_column, [*named, labels.judge]) if name not in frame]
    if lacking:
        raise ValueError(
            f"judge: no column {', '.join(lacking)} of labels; the columns are "
            f"{some(map(str, frame.columns))}. Name them: fnb.Labels(labels, human=…, judge=…); or "
            "give counts tp, fn, tn, fp"
        )
    human, verdict = people_of(frame, labels.human).answer, answers(frame, labels.judge)
    quarters = ((True, True), (True, False), (False, False), (False, True))
    columns = [
        [label is positive and flag is flagged for label, flag in zip(human, verdict, strict=True)]
        for positive, flagged in quarters
    ]
    return np.array(columns, dtype=np.int64).T


def _only(pairs: NDArray[np.float64]) -> Judge | str:
    """Se and Sp of a cell, if there is exactly one pair of them."""
    different = np.unique(pairs, axis=0)
    if len(different) == 1:
        return Judge(None, *different[0].tolist())
    if not len(different):
        return "no Se and Sp for this cell"
    return f"{len(different)} different pairs of Se and Sp for this cell"


def labels_of_run(judge: Any, runs: Outcomes, strata: Sequence[str]) -> Labels:
    """The labels, their verdicts and strata taken from the run where they name cases of it
    (`case_id`, and `mode` and `repeat` where it has several).

    Raises
    ------
    ValueError: a labelled case stands in several rows of the run, so that the labels must name mode
        or repeat too.
    OutcomesError: no labelled case is in the run, or a case is labelled twice.
    """
    labels = judge if isinstance(judge, Labels) else Labels(judge)
    if isinstance(labels.known, Mapping | pd.Series):
        return labels
    frame = table_of(labels.known)
    have, verdict = runs.columns, name_of_column(labels.judge)
    keys = [name for name in KEYS if name in frame and name in have]
    told = verdict in frame or is_counts(frame) or {"se", "sp"} & set(frame)
    if told or labels.event not in have or "case_id" not in keys:
        return labels
    frame = frame.assign(**{name: texts(frame[name]) for name in keys})
    if "mode" in keys:
        spelling = {mode_key(mode): mode for mode in runs.modes}
        frame["mode"] = [spelling.get(mode_key(mode), mode) for mode in frame["mode"]]
    if frame.duplicated(keys).any():
        twice = frame.loc[frame.duplicated(keys), "case_id"]
        raise OutcomesError(
            f"judge: {len(twice)} labels are of a case that is labelled before ({some(twice, 3)})"
        )
    wanted = [
        name
        for name in dict.fromkeys([*strata, *POPULATIONS])
        if name in have and name not in frame and name not in keys
    ]
    cases = list(dict.fromkeys(frame["case_id"]))
    chosen = runs.table.filter(nw.col("case_id").cast(nw.String).is_in(cases))
    columns = [nw.col(name) for name in wanted] + [nw.col(labels.event).alias(verdict)]
    rows = pandas_of(chosen.select(*as_text(runs, keys), *columns))
    if rows.duplicated(keys).any():
        case = rows.loc[rows.duplicated(keys), "case_id"].iloc[0]
        needed = ", ".join(name for name in KEYS if name in have and name not in keys)
        raise ValueError(
            f"judge: case {case!r} stands in several rows of the run; the labels must say which: "
            f"add {needed}"
        )
    merged = frame.merge(rows, on=keys, how="inner", validate="1:1")
    if merged.empty:
        raise OutcomesError(
            f"judge: no labelled case is in the run, such as {some(frame['case_id'], 3)}"
        )
    return replace(labels, known=merged, judge=verdict)
