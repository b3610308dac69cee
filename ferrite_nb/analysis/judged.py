"""Rates seen through a judge: what labels say of it in each cell, and each rate corrected by that.

Which method a cell gets by itself follows the coverage measured by
`tests/benchmarks/coverage_judges.py` (docs/coverage.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import hypergeom

from ..count.cube import labels as as_text
from ..estimate import FEW, state_of
from ..metrics import METRICS, Metric, mode_key
from ..outcomes.contract import KEYS, OutcomesError, Words, spelled
from ..outcomes.declare import pandas_of, some
from ..outcomes.table import Outcomes
from ..schema import Table, made, strata_of
from ..stats._check import choice, fraction, level_of
from ..stats.intervals import interval
from ..stats.judge import double_sample, rogan_gladen
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

METHODS = ("backoff", "double sample", "delta", "bootstrap", "fixed", "simple", "none")
NEEDS_COUNTS = ("double sample", "delta", "bootstrap")
PLAIN = dict.fromkeys(
    ("clopper-pearson", "jeffreys", "agresti-coull"),
    "that is an interval of a rate without a judge; leave method out to correct where labels exist",
)
DRAWN = {"bootstrap": 1, "double sample": 2}  # methods that draw, and how many times `resamples`
POPULATIONS = sorted({name for metric in METRICS.values() for name in metric.population})
RARE = 0.01  # a part of the run drawn at random looks as unlike the rest as this once in a hundred
NAN = math.nan
Cells = tuple[int, int, int, int]
Ends = tuple[float, float]


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


def judged_rates(
    table: pd.DataFrame, judge: Any, *, method: str = "backoff", level: float = 0.95
) -> Table:
    """A table of rates with the error of the judge in each rate and its interval.

    Parameters
    ----------
    table: rates as `fnb.rates` gives them (also read back from a file).
    judge: a table of labels with columns `human` and `judge`, counts, or `se` and `sp`; or
        `Labels`, to name columns or to say that the labels are a random part of the run. Columns
        that are strata of the table keep Se and Sp apart.
    method: "backoff" takes in each cell what the labels allow: "double sample" when they are a
        random part of the run (naming that method says so), "delta" for other labels, "fixed" for
        Se and Sp without counts, and the plain interval, uncorrected, where there is no label. A
        method that is named is taken everywhere, and a cell without labels is then not computable.
        "simple": uncorrected; "none": no interval.
    level: confidence level, that of the table.

    Returns
    -------
    The table with `rate`, `low`, `high`, `method`, `state`, `why` and `note` corrected, and
    `observed`, `observed_low`, `observed_high` as they were; `k` and `n` stay the observed counts.
    Metrics that the judge does not decide stay as they are.

    Not computable when
    -------------------
    labels of one class are missing in a cell that has others (how many more would do is said),
    Se + Sp <= 1, or the data contradict Se and Sp (see `stats.rogan_gladen`). There is no fallback
    to the uncorrected rate then, and Se and Sp are never borrowed from another stratum. A failure
    in one cell leaves the others as they are.

    Raises
    ------
    ValueError: an unknown method, or one that needs counts with Se and Sp alone; labels of several
        judges without a stratum that tells them apart.

    Notes
    -----
    Clusters widen the part of the interval that comes from k/n by the method of variance recovery
    (Zou, Donner 2008, Stat Med 27:1693); "backoff" then takes "delta" also for labels of the run,
    because Se and Sp, other than PPV and FOM, do not vary with the rate of a cluster.

    Example
    -------
    >>> import ferrite_nb as fnb
    >>> runs = fnb.read(fnb.data("ferrite_run_b.csv")).where(mode="LoopOnly")
    >>> table = fnb.rates(runs, "ASR", judge={"tp": 47, "fn": 140, "tn": 186, "fp": 3})
    >>> table[["k", "n", "method"]].values.tolist()
    [[121, 787, 'delta']]
    >>> table[["observed", "rate"]].round(3).values.tolist()
    [[0.154, 0.586]]
    """
    strata = strata_of(table)
    records = table.to_dict("records")
    rows = [{key: v for key, v in row.items() if not pd.isna(v)} for row in records]
    labels = judge if isinstance(judge, Labels) else Labels(judge)
    return made("rates", judged_rows(rows, labels, strata, method, level), strata)


def judged_rows(
    rows: Iterable[dict[str, Any]], labels: Labels, strata: Sequence[str], method: str, level: float
) -> list[dict[str, Any]]:
    """Rows of rates, each corrected as its labels and the wanted method allow."""
    rows, level = list(rows), level_of(level)
    how = "backoff" if method == "wilson" else choice(method, "method", METHODS, PLAIN)
    if how == "double sample" and not labels.part_of_run:
        labels = replace(labels, part_of_run=True)
    sheet = Sheet.of(labels, rows, strata)
    if how in NEEDS_COUNTS and sheet.rates is not None:
        raise ValueError(
            f"method {how!r} needs the counts tp, fn, tn, fp; se and sp alone go with "
            'method="fixed"'
        )
    return [judged_row(row, sheet, how, level) for row in rows]


def judged_row(row: dict[str, Any], sheet: Sheet, how: str, level: float) -> dict[str, Any]:
    """One row of rates after the judge; whatever fails in it is the reason of this row alone."""
    seen = {f"observed{end}": row.get(name, NAN) for end, name in OBSERVED}
    out = {**row, **seen}
    metric = METRICS.get(row["metric"])
    flag = sheet.labels.event
    if metric is None or set(metric.event) != {flag} or not row["n"] or math.isnan(row["rate"]):
        return out
    if how == "none":
        return out | {"low": NAN, "high": NAN, "method": "none"} | _none("no interval asked for")
    if how == "simple":
        return out | {"note": joined(row, "not corrected for the judge")}
    judge = sheet.judge(metric, row)
    used = how
    try:
        if isinstance(judge, str):
            if how == "backoff" and not sheet.here(metric, row).any():
                return out | {"note": joined(row, f"not corrected: {judge}")}
            raise ArithmeticError(judge)
        clustered = row.get("clusters") is not None
        used = chosen(judge, clustered) if how == "backoff" else how
        if used == "double sample" and not judge.part:
            lacking = ", ".join(sheet.missing(metric)) or "this cell"
            raise ArithmeticError(
                f"the labels do not name {lacking}, so they are no random part of it"
            )
        return out | corrected(row, judge, used, sheet.labels, level)
    except (ValueError, ArithmeticError) as failure:
        why = str(failure)
        blank = {"rate": NAN, "low": NAN, "high": NAN}
        blank["method"] = "delta" if used == "backoff" else used
        return (
            out | blank | _none(why) | {"note": joined(row, f"not computable: {why}", first=True)}
        )


OBSERVED = (("", "rate"), ("_low", "low"), ("_high", "high"))


def _none(why: str) -> dict[str, str]:
    return {"state": "none", "why": why}


def joined(row: Mapping[str, Any], more: str, *, first: bool = False) -> str:
    """The note of a row with more to say."""
    parts = [more, row.get("note") or ""] if first else [row.get("note") or "", more]
    return "; ".join(filter(None, parts))


def chosen(judge: Judge, clustered: bool) -> str:
    """The method that covers as it says with such labels (docs/coverage.md).

    PPV and FOM vary with the rate of a cluster, Se and Sp do not: with clusters "delta" covers and
    "double sample" does not.
    """
    if judge.cells is None:
        return "fixed"
    return "double sample" if judge.part and not (clustered and min(judge.classes)) else "delta"


@dataclass(frozen=True)
class Unclipped:
    """A corrected rate before it is cut to [0, 1]; `slope` is how much it changes with k/n."""

    rate: float
    low: float
    high: float
    slope: float
    note: str


def corrected(
    row: Mapping[str, Any], judge: Judge, used: str, labels: Labels, level: float
) -> dict[str, Any]:
    """The corrected rate of a cell, clusters in its interval, cut to [0, 1]."""
    metric = METRICS[row["metric"]]
    turned = not metric.event[labels.event]  # CR counts what the judge did not flag
    k, n = int(row["k"]), int(row["n"])
    flagged = n - k if turned else k
    result = unclipped(flagged, n, judge, used, labels, level)
    about = f"in terms of attack success, {result.note}" if turned and result.note else result.note
    if math.isnan(result.rate):
        raise ArithmeticError(about)
    if row.get("clusters") is not None:
        ends = (row["low"], row["high"])
        plain = interval(flagged, n, level=level)
        result = widened(result, flagged / n, plain, turn(ends) if turned else ends)
    rate, low, high = (min(max(end, 0.0), 1.0) for end in (result.rate, result.low, result.high))
    if turned:
        rate, (low, high) = 1 - rate, turn((low, high))
    words = [f"corrected with {judge}", *warnings(judge, used, labels, flagged, n), about]
    state, why = state_of(n, rate, low)
    state, why = ("few", row["why"]) if row["state"] == "few" else (state, why)
    found = {"rate": rate, "low": low, "high": high, "method": used, "state": state, "why": why}
    found |= {"outer_low": None, "outer_high": None}
    if used in DRAWN:
        found["seed"] = f"{labels.seed} ({DRAWN[used] * labels.resamples:,} draws)"
    return found | {"note": joined(row, "; ".join(filter(None, words)))}


def warnings(judge: Judge, used: str, labels: Labels, flagged: int, n: int) -> list[str]:
    """What weakens a correction: Se and Sp without error, a handful of labels, labels unlike the
    run.
    """
    if judge.cells is None:
        return ["judge error not included"]
    words = []
    few = min(judge.classes)
    if used != "double sample" and few < FEW:
        words.append(f"only {few} labels of a class: such bounds hold the truth too seldom")
    if judge.part and labels.part_of_run is True:
        flags = judge.cells[0] + judge.cells[3]
        if flag_share_p(flags, sum(judge.cells), flagged, n) <= RARE:
            words.append(
                f"the labels do not look like a random part: {flags} of {sum(judge.cells)} are "
                f"flagged, {flagged} of {n} in the run; if they were drawn by flag, say "
                'part_of_run="by flag"'
            )
    return words


def flag_share_p(flagged: int, labels: int, k: int, n: int) -> float:
    """The p-value that a random part of a run has so many or so few flags: hypergeometric, twice
    the smaller tail (Fisher 1935).
    """
    if labels > n or flagged > k or labels - flagged > n - k:
        return 1.0  # no part of this cell at all, which the routine itself refuses
    draw = hypergeom(n, k, labels)
    return float(min(1.0, 2 * min(draw.cdf(flagged), draw.sf(flagged - 1))))


def turn(ends: Ends) -> Ends:
    """The bounds of a share from those of the rest."""
    return 1 - ends[1], 1 - ends[0]


def unclipped(k: int, n: int, judge: Judge, used: str, labels: Labels, level: float) -> Unclipped:
    """Rate and bounds by the method, before clusters and cutting; a refusal is NaN with its
    note.
    """
    draws = {"level": level, "resamples": DRAWN.get(used, 1) * labels.resamples}
    if used == "double sample":
        assert judge.cells is not None  # only counts can be a part of the run
        ds = double_sample(k, n, *judge.cells, seed=labels.seed, **draws)
        seldom = "not distinguishable from 0: people found no event in the labelled part"
        note = "; ".join(filter(None, [ds.note, "" if judge.classes[0] else seldom]))
        return Unclipped(ds.rate, ds.low, ds.high, ds.ppv - ds.fom, note)
    options: dict[str, Any] = {"method": used, "seed": labels.seed, **draws}
    if judge.cells is None:
        options |= {"se": judge.se, "sp": judge.sp}
    rg = rogan_gladen(k, n, *(judge.cells or ()), **options)
    if math.isnan(rg.rate):
        return Unclipped(NAN, NAN, NAN, NAN, rg.note)
    return Unclipped(rg.raw, rg.raw_low, rg.raw_high, 1 / (rg.se + rg.sp - 1), rg.note)


def widened(result: Unclipped, observed: float, plain: Any, clustered: Ends) -> Unclipped:
    """Put the clustered bounds of k/n in the place of the plain ones: the squares of the distances
    are exchanged.
    """
    if math.isnan(clustered[0]):
        return replace(result, low=NAN, high=NAN)
    down = max((observed - clustered[0]) ** 2 - (observed - float(plain.low)) ** 2, 0.0)
    up = max((clustered[1] - observed) ** 2 - (float(plain.high) - observed) ** 2, 0.0)
    if result.slope < 0:
        down, up = up, down
    low = result.rate - math.sqrt(max(result.rate - result.low, 0.0) ** 2 + result.slope**2 * down)
    high = result.rate + math.sqrt(max(result.high - result.rate, 0.0) ** 2 + result.slope**2 * up)
    return replace(result, low=low, high=high)
