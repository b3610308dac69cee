"""`judges`: how far a judge may be trusted, by condition, and the disagreements for a person."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..outcomes.declare import some
from ..schema import Table, made
from ..stats._check import level_of
from ..stats.judge import double_sample, rogan_gladen
from ..stats.validation import judge_validation
from .cells import in_order
from .labels import (
    Column,
    Confusion,
    answers,
    confusion,
    given_counts,
    is_counts,
    name_of_column,
    people_of,
    table_of,
    texts,
)
from .unit import Sample, bounds, listed

SKIPPED = ("human_missing", "judge_missing", "other", "people_differ")
Marks = NDArray[Any] | None


def judges(
    labels: Any,
    *,
    human: Column | Sequence[Column] | None = None,
    judges: Column | Iterable[Column] | None = None,
    by: str | Iterable[str] | None = None,
    item: str | None = None,
    cluster: str | None = None,
    level: float = 0.95,
) -> Table:
    """Each judge against people: one row a judge, condition and quantity.

    Parameters
    ----------
    labels: one row per item (a frame, or the path of a file) with a column of people's labels and
        one per judge; or counts in columns `tp`, `fn`, `tn`, `fp` (optional `judge`, `blank`, and
        `flagged` of `judged` outputs of a run that the labels are not a part of), then without
        `human` and `judges`.
    human: the column of people's labels, or several raters: the majority of those who answered
        decides, a tie is a missing label. To see how far people agree, give one rater as `human`
        and the others as `judges`.
    judges: one or more columns of verdicts. `fnb.words(column, true=[…], false=[…], refused=[…])`
        declares words; one that means neither true nor false stays a state of its own, in no rate,
        counted in `other`.
    by: columns of conditions, such as the mode: a judge may be biased in one of them.
    item: the column that names the items; an item that stands twice is refused.
    cluster: a column whose items may be judged alike (a template, a conversation).
    level: confidence level of all intervals.

    Returns
    -------
    Table with `judge`, the `by` columns, `quantity`, `k`, `n`, `rate`, `low`, `high`, `value`. The
    quantities: "sensitivity", "specificity", "agreement", "constant judge" (agreement of a judge
    that always gives the commoner answer), "prevalence" (share of human positives), "flagged"
    (share that the judge flagged, uncorrected), "corrected, Se and Sp known", "corrected" (their
    error carried), and "kappa", which is no rate: it stands in `value` (as the corrected rate
    before it is cut to [0, 1]). Then the counts `human_missing`, `judge_missing`, `other` (a third
    state), `people_differ`, `ties`; with clusters `clusters` and `n_eff` (the independent items
    that these are worth).

    Not computable when
    -------------------
    a class has no label, Se + Sp <= 1, or a rater gives one answer only (kappa): `state` is "none"
    and `why` says so.

    Raises
    ------
    ValueError: no such column. OutcomesError: a word that nobody declared, a score in place of a
        label, an item twice; the message names row, column and value.

    Notes
    -----
    A blank, "error" or "timeout" is a missing verdict, never a hit and never a miss. In a table of
    items the labelled ones are taken as a random part of the judged ones (Tenenbein 1970). No text
    is judged here: whether "I'm sorry to hear that" is a refusal, or a named payload a breach, is
    for people to label, and this table shows how a rule does.

    Example
    -------
    >>> import pandas as pd, ferrite_nb as fnb
    >>> labels = pd.read_csv(fnb.data("purseclab_judges.csv"))
    >>> table = fnb.judges(labels, human="human", judges=["zou", "chao"])
    >>> table[table["quantity"] == "sensitivity"][["judge", "k", "n"]].values.tolist()
    [['zou', 103, 141], ['chao', 99, 140]]
    """
    level, conditions = level_of(level), listed(by)
    frame = table_of(labels, item)
    for name in [*conditions, *listed(cluster)]:
        if name not in frame:
            raise ValueError(
                f"there is no column {name!r}; the columns are {some(map(str, frame.columns))}"
            )
    if human is None and judges is None and is_counts(frame):
        parts = list(_given(frame, conditions))
    elif human is None or judges is None:
        raise ValueError(
            "name the columns of labels: human=… and judges=…; or give counts tp, fn, tn, fp"
        )
    else:
        marks = texts(frame[cluster]) if cluster else None
        people = people_of(frame, human)
        parts = list(_counted(frame, people, _columns(judges), conditions, marks))
    rows = [row for part in parts for row in _rows(part, cluster or "item", level)]
    return made("judges", rows, conditions, level=level, unit=cluster or "item")


def _columns(judges: Column | Iterable[Column]) -> list[Column]:
    one = not isinstance(judges, Iterable) or isinstance(judges, str)
    return [judges] if one else list(judges)  # type: ignore[list-item, arg-type]


@dataclass(frozen=True)
class _Part:
    """One judge under one condition: its counts, the answers behind them by cluster, and whether
    the labels are a part of what was judged.
    """

    names: dict[str, str]
    counts: Confusion
    human: NDArray[Any] | None = None
    verdict: NDArray[Any] | None = None
    marks: Marks = None
    outside: bool = False


def _counted(
    frame: pd.DataFrame, people: Any, judges: Sequence[Column], by: Sequence[str], marks: Marks
) -> Iterator[_Part]:
    """Judges as they were named, and within each the conditions in order."""
    cells = pd.DataFrame({name: texts(frame[name]) for name in by}, index=frame.index, dtype=object)
    groups = in_order(cells.drop_duplicates(), by, []).to_dict("records") if by else [{}]
    for column in judges:
        verdicts = answers(frame, column)
        for cell in groups:
            chosen = np.ones(len(frame), dtype=bool)
            for name, value in cell.items():
                chosen &= cells[name].to_numpy() == value
            names = {"judge": name_of_column(column)} | {str(k): str(v) for k, v in cell.items()}
            counts = confusion(people, verdicts, chosen)
            mine = None if marks is None else marks[chosen]
            yield _Part(names, counts, people.answer[chosen], verdicts[chosen], mine)


def _given(frame: pd.DataFrame, by: Sequence[str]) -> Iterator[_Part]:
    """One row of counts each, in the order of the table."""
    names = {name: texts(frame[name]) for name in dict.fromkeys(["judge", *by]) if name in frame}
    outside = {"flagged", "judged"} <= set(frame.columns)
    for row in range(len(frame)):
        labels = {"judge": "judge"} | {name: str(values[row]) for name, values in names.items()}
        yield _Part(labels, given_counts(frame, row), outside=outside)


def _rows(part: _Part, unit: str, level: float) -> list[dict[str, Any]]:
    """All quantities of one judge under one condition."""
    counts = part.counts
    tp, fn, tn, fp = counts.cells
    labelled = sum(counts.cells)
    shares = {
        "sensitivity": (tp, tp + fn, "no human-labelled positives: sensitivity is unknown"),
        "specificity": (tn, tn + fp, "no human-labelled negatives: specificity is unknown"),
        "agreement": (tp + tn, labelled, "no item with both answers"),
        "prevalence": (tp + fn, labelled, "no item with both answers"),
        "flagged": (counts.flagged, counts.judged, "no output was judged"),
    }
    rows: list[dict[str, Any]] = []
    for quantity, (k, n, lacking) in shares.items():
        limit = bounds(_sample(part, quantity, k, n, unit), level=level)
        why = lacking if not n else limit.why
        note = [f"not computable: {why}"] if limit.state == "none" else [*limit.notes]
        rate = k / n if n else math.nan
        row: dict[str, Any] = {"quantity": quantity, "k": k, "n": n, "rate": rate}
        row["low"] = limit.low
        row |= {"high": limit.high, "n_eff": limit.n_eff, "clusters": limit.clusters}
        rows.append(row | {"state": limit.state, "why": why, "method": limit.method, "note": note})
    always = max(tp + fn, tn + fp)
    if labelled:
        constant = {"quantity": "constant judge", "k": always, "n": labelled, "state": "ok"}
        rows.insert(3, constant | {"rate": always / labelled, "method": "", "note": [], "why": ""})
        if tp + tn <= always:
            answer = "no" if always == tn + fp else "yes"
            words = f"no better than a judge that always says {answer} ({always}/{labelled})"
            rows[2]["note"].append(f"agreement {tp + tn}/{labelled} is {words}")
    rows += [*_corrected(part, level), _kappa(counts, level)]
    rows[0]["note"] = [*rows[0]["note"], *_left_out(counts)]
    facts = {name: getattr(counts, name) for name in (*SKIPPED, "ties")}
    return [
        {**part.names, **facts, **row, "note": "; ".join(filter(None, row["note"]))} for row in rows
    ]


def _sample(part: _Part, quantity: str, k: int, n: int, unit: str) -> Sample:
    """The counts of a quantity, by cluster where there are clusters."""
    none = np.zeros(1, dtype="int64")
    if part.marks is None or part.human is None or part.verdict is None:
        return Sample(np.array([k]), np.array([n]), none, noun="item")
    yes, no = (np.array([a is v for a in part.human], dtype=bool) for v in (True, False))
    flag, clear = (np.array([a is v for a in part.verdict], dtype=bool) for v in (True, False))
    both = (yes | no) & (flag | clear)
    hit, known = {
        "sensitivity": (yes & flag, yes & both),
        "specificity": (no & clear, no & both),
        "agreement": ((yes & flag) | (no & clear), both),
        "prevalence": (yes & both, both),
        "flagged": (flag, flag | clear),
    }[quantity]
    zeros = np.zeros(len(known), dtype="int64")
    return Sample(hit.astype("int64"), known.astype("int64"), zeros, {unit: part.marks}, "item")


def _corrected(part: _Part, level: float) -> list[dict[str, Any]]:
    """The judged rate corrected: with Se and Sp taken as known, and with their error carried."""
    counts = part.counts
    k, n = counts.flagged, counts.judged
    labelled = sum(counts.cells)
    best: Any
    notes: list[str]
    if not n:
        return []
    fixed = rogan_gladen(k, n, *counts.cells, method="fixed", level=level)
    if math.isnan(fixed.raw):
        best, notes = fixed, []
    elif part.outside:
        best, notes = rogan_gladen(k, n, *counts.cells, level=level), []
    else:
        best = double_sample(k, n, *counts.cells, level=level)
        words = f"the {labelled} labelled of {n} judged items are taken as a random part of them"
        notes = [words] if labelled < n else []
    if part.marks is not None:
        notes = [*notes, "clusters are not in this interval"]
    names = ("corrected, Se and Sp known", "corrected")
    methods = ("fixed", "delta" if part.outside else "double sample")
    rows = []
    for quantity, method, result in zip(names, methods, (fixed, best), strict=True):
        lost = math.isnan(result.rate)
        row = {"quantity": quantity, "k": k, "n": n, "rate": result.rate, "low": result.low}
        row |= {"high": result.high, "method": method, "state": "none" if lost else "ok"}
        note = [f"not computable: {result.note}"] if lost else [result.note]
        row |= {"why": result.note if lost else "", "note": [*note, *notes]}
        rows.append(row | ({"seed": "0 (20,000 draws)"} if method == "double sample" else {}))
    rows[0]["value"] = fixed.raw  # not cut to [0, 1]
    rows[0]["note"].append("judge error not included")
    return rows


def _kappa(counts: Confusion, level: float) -> dict[str, Any]:
    """Cohen's kappa, which is no rate."""
    result = judge_validation(*counts.cells, level=level)
    lost = math.isnan(result.kappa)
    why = "a rater gives one answer only, so kappa is undefined" if lost else ""
    return {
        "quantity": "kappa",
        "value": result.kappa,
        "low": result.kappa_low,
        "high": result.kappa_high,
        "state": "none" if lost else "ok",
        "why": why,
        "method": "Cohen's kappa",
        "note": [f"not computable: {why}" if lost else ""],
    }


def _left_out(counts: Confusion) -> list[str]:
    """What is in none of the four counts."""
    unlabelled = counts.human_missing - counts.ties
    said = {
        f"{unlabelled} items without a label by people are not in n": unlabelled,
        f"{counts.ties} items on which people are tied are not in n": counts.ties,
        f"{counts.judge_missing} items without a verdict are not in n": counts.judge_missing,
        f"{counts.other} items with a third state are not in n ({counts.states})": counts.other,
    }
    return [text for text, often in said.items() if often]


def disagreements(
    labels: Any, *, human: Column | Sequence[Column], judge: Column | Iterable[Column]
) -> pd.DataFrame:
    """The items on which a judge and people differ, or people are tied, for a person to decide.

    Parameters
    ----------
    labels, human: as in `judges`.
    judge: one or more columns of verdicts.

    Returns
    -------
    DataFrame, one row per item and judge: `row` (from 1, the header not counted), `judged_by`, all
    columns of the table, `people` and `verdict` ("true", "false", a state), `disagreement` ("missed
    by the judge", "false alarm of the judge", "a third state", "people are tied") and an empty
    `decision` to fill in. Save it with `fnb.tables.csv(table, "to_decide.csv")`, which guards text
    against spreadsheet formulas.

    Notes
    -----
    Items without a verdict or without a label are not in it: there is nothing to disagree with.

    Example
    -------
    >>> import pandas as pd, ferrite_nb as fnb
    >>> from ferrite_nb.analysis.judges import disagreements
    >>> labels = pd.read_csv(fnb.data("judge_bias.csv"))
    >>> found = disagreements(labels, human="human", judge="judge")
    >>> found["disagreement"].value_counts().to_dict()
    {'missed by the judge': 7, 'false alarm of the judge': 3}
    """
    frame = table_of(labels)
    people = people_of(frame, human)
    rows = []
    for column in _columns(judge):
        name, verdicts = name_of_column(column), answers(frame, column)
        for place, (label, verdict) in enumerate(zip(people.answer, verdicts, strict=True)):
            tied = bool(people.tied[place])
            if (label is None and not tied) or verdict is None or (label == verdict and not tied):
                continue
            rows.append((place, name, _word(label), _word(verdict), _why(label, verdict, tied)))
    places, judged_by, said, verdict_words, reasons = zip(*rows, strict=True) if rows else [()] * 5
    own = {str(name): frame[name].iloc[list(places)].to_numpy() for name in frame}
    added = {"people": said, "verdict": verdict_words, "disagreement": reasons}
    lead = {"row": [place + 1 for place in places], "judged_by": judged_by}
    own = {name: values for name, values in own.items() if name not in {**lead, **added}}
    return pd.DataFrame({**lead, **own, **added, "decision": [""] * len(rows)})


def _word(answer: Any) -> str:
    return "" if answer is None else str(answer).lower()


def _why(label: Any, verdict: Any, tied: bool) -> str:
    if tied:
        return "people are tied"
    if isinstance(label, str) or isinstance(verdict, str):
        return "a third state"
    return "missed by the judge" if label else "false alarm of the judge"
