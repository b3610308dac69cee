"""`judges`: how far a judge may be trusted, by condition, and the list of disagreements for a
person to decide.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..outcomes.declare import some
from ..stats._check import level_of
from ..stats.intervals import interval
from ..stats.judge import double_sample, rogan_gladen
from ..stats.validation import JudgeValidation, judge_validation
from .cells import in_order, listed
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

__all__ = ["disagreements", "judges"]

SKIPPED = ("human_missing", "judge_missing", "other", "people_differ")
NAN = math.nan


def judges(
    labels: Any,
    *,
    human: Column | Sequence[Column] | None = None,
    judges: Column | Iterable[Column] | None = None,
    by: str | Iterable[str] | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """Each judge against people: confusion, sensitivity, specificity, agreement, kappa, and the
    corrected rate.

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
    level: confidence level of all intervals.

    Returns
    -------
    DataFrame, one row per judge and condition, with `judge`, the `by` columns, and

    - `tp`, `fn`, `tn`, `fp` and their sum `n`: the items with both labels known;
    - `se`, `sp`, `agreement` each with `_low` and `_high` (Wilson); `kappa`, `kappa_low`,
        `kappa_high`, `kappa_state`;
    - `prevalence` (share of human positives) and `constant_judge` (agreement of a judge that always
      gives the commoner answer);
    - counts `human_missing`, `judge_missing`, `other` (a third state), `people_differ` (items on
        which raters differ);
    - `flagged` of `judged` outputs, and four rates with `_low` and `_high`: `observed` (Wilson,
      uncorrected), `people` (by people's labels, Wilson), `fixed` (corrected as if Se and Sp were
      known), `corrected` (with their error carried); `raw` (corrected with Se and Sp, not cut to
      [0, 1]); `corrected_note`: why there is none, or a warning;
    - `level`, `method` (of `corrected`: "double sample", or "delta" with `flagged` and `judged`
        given), `note`.

    Not computable when
    -------------------
    A class has no label: its rate is NaN with the reason in `note`. Se + Sp <= 1: the corrected
        rates are NaN with the
    reason in `corrected_note`. kappa is undefined (`kappa_state`) when a rater gives one answer
    only.

    Raises
    ------
    ValueError: no such column. OutcomesError: a word that nobody declared, a score in place of a
        label; the message
    names row, column and value.

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
    >>> table[["judge", "tp", "fn", "tn", "fp", "n", "judge_missing"]].values.tolist()
    [['zou', 103, 38, 116, 43, 300, 0], ['chao', 99, 41, 107, 3, 250, 50]]
    """
    level, conditions = level_of(level), listed(by)
    frame = table_of(labels)
    for name in conditions:
        if name not in frame:
            raise ValueError(
                f"by: there is no column {name!r}; the columns are {some(map(str, frame.columns))}"
            )
    if human is None and judges is None and is_counts(frame):
        parts = list(_given(frame, conditions))
    elif human is None or judges is None:
        raise ValueError(
            "name the columns of labels: human=… and judges=…; or give counts tp, fn, tn, fp"
        )
    else:
        columns = (
            [judges]
            if not isinstance(judges, Iterable) or isinstance(judges, str)
            else list(judges)
        )
        parts = list(_counted(frame, people_of(frame, human), columns, conditions))
    rows = [_row(part, level) for part in parts]
    return pd.DataFrame(rows, columns=["judge", *conditions, *COLUMNS])


@dataclass(frozen=True)
class _Part:
    """One row to make: who judged, under which condition, the counts, and whether the labels are
    part of the judged.
    """

    names: dict[str, str]
    counts: Confusion
    outside: bool = False


def _counted(
    frame: pd.DataFrame, people: Any, judges: Sequence[Column], by: Sequence[str]
) -> Iterator[_Part]:
    """Judges as they were named, and within each the conditions in order."""
    cells = pd.DataFrame({name: texts(frame[name]) for name in by}, index=frame.index, dtype=object)
    groups = in_order(cells.drop_duplicates(), by, []) if by else cells
    for column in judges:
        verdicts = answers(frame, column)
        for cell in groups.to_dict("records") if by else [{}]:
            chosen = np.ones(len(frame), dtype=bool)
            for name, value in cell.items():
                chosen &= cells[name].to_numpy() == value
            names = {"judge": name_of_column(column)} | {
                str(name): str(value) for name, value in cell.items()
            }
            yield _Part(names, confusion(people, verdicts, chosen))


def _given(frame: pd.DataFrame, by: Sequence[str]) -> Iterator[_Part]:
    """One row of counts each, in the order of the table."""
    names = {name: texts(frame[name]) for name in dict.fromkeys(["judge", *by]) if name in frame}
    outside = {"flagged", "judged"} <= set(frame.columns)
    for row in range(len(frame)):
        labels = {"judge": "judge"} | {name: str(values[row]) for name, values in names.items()}
        yield _Part(labels, given_counts(frame, row), outside)


def _row(part: _Part, level: float) -> dict[str, Any]:
    counts = part.counts
    found = judge_validation(*counts.cells, level=level)
    row = {**part.names, **asdict(counts), **asdict(found)}
    return (
        row | _rates(counts, level, part.outside) | {"level": level, "note": _note(counts, found)}
    )


def _note(counts: Confusion, found: JudgeValidation) -> str:
    """What is not in n, and whether a judge that always says the same would agree as often."""
    notes = [found.note]
    if counts.human_missing - counts.ties:
        notes.append(
            f"{counts.human_missing - counts.ties} items without a label by people are not in n"
        )
    if counts.ties:
        notes.append(f"{counts.ties} items on which people are tied are not in n")
    if counts.judge_missing:
        notes.append(f"{counts.judge_missing} items without a verdict are not in n")
    if counts.other:
        notes.append(f"{counts.other} items with a third state are not in n ({counts.states})")
    agreed, commoner = counts.tp + counts.tn, max(counts.tp + counts.fn, counts.tn + counts.fp)
    if found.n and agreed <= commoner:
        answer = "no" if commoner == counts.tn + counts.fp else "yes"
        always = f"a judge that always says {answer} ({commoner}/{found.n})"
        notes.append(f"agreement {agreed}/{found.n} is no better than that of {always}")
    return "; ".join(filter(None, notes))


def _rates(counts: Confusion, level: float, outside: bool) -> dict[str, Any]:
    """The judged rate: as observed, by people, with Se and Sp taken as known, and with their error
    carried.
    """
    positives, labelled = counts.tp + counts.fn, sum(counts.cells)
    row: dict[str, Any] = _share("observed", counts.flagged, counts.judged, level)
    row |= _share("people", positives, labelled, level)
    row |= {"method": "delta" if outside else "double sample", "raw": NAN, "corrected_note": ""}
    names = ("fixed", "fixed_low", "fixed_high", "corrected", "corrected_low", "corrected_high")
    row |= dict.fromkeys(names, NAN)
    if not counts.judged:
        return row | {"corrected_note": "no output was judged"}
    fixed = rogan_gladen(counts.flagged, counts.judged, *counts.cells, method="fixed", level=level)
    row |= {"raw": fixed.raw, "corrected_note": fixed.note}
    row |= dict(zip(names[:3], (fixed.rate, fixed.low, fixed.high), strict=True))
    if math.isnan(fixed.raw):
        return row
    best: Any
    if outside:
        best = rogan_gladen(counts.flagged, counts.judged, *counts.cells, level=level)
    else:
        best = double_sample(counts.flagged, counts.judged, *counts.cells, level=level)
    row |= dict(zip(names[3:], (best.rate, best.low, best.high), strict=True))
    part = f"the {labelled} labelled of {counts.judged} judged items are taken as a random part of them"
    said = [best.note, part if not outside and labelled < counts.judged else ""]
    return row | {"corrected_note": "; ".join(filter(None, said))}


def _share(name: str, k: int, n: int, level: float) -> dict[str, float]:
    ends = interval(k, n, level=level)
    return {
        name: k / n if n else NAN,
        f"{name}_low": float(ends.low),
        f"{name}_high": float(ends.high),
    }


COLUMNS = [
    "tp",
    "fn",
    "tn",
    "fp",
    "n",
    "se",
    "se_low",
    "se_high",
    "sp",
    "sp_low",
    "sp_high",
    "agreement",
    "agreement_low",
    "agreement_high",
    "kappa",
    "kappa_low",
    "kappa_high",
    "kappa_state",
    "prevalence",
    "constant_judge",
    *SKIPPED,
    "flagged",
    "judged",
    "observed",
    "observed_low",
    "observed_high",
    "people",
    "people_low",
    "people_high",
    "fixed",
    "fixed_low",
    "fixed_high",
    "corrected",
    "corrected_low",
    "corrected_high",
    "raw",
    "corrected_note",
    "level",
    "method",
    "note",
]


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
        columns
    of the table, `people` and `verdict` ("true", "false", a state), `disagreement` ("missed by the
    judge", "false alarm of the judge", "a third state", "people are tied") and an empty `decision`
    to fill in. Save it with `fnb.tables.csv(table, "to_decide.csv")`, which guards text against
    spreadsheet formulas.

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
    columns = [judge] if not isinstance(judge, Iterable) or isinstance(judge, str) else list(judge)
    rows = []
    for column in columns:
        name, verdicts = name_of_column(column), answers(frame, column)
        for place, (label, verdict) in enumerate(zip(people.answer, verdicts, strict=True)):
            tied = bool(people.tied[place])
            if (label is None and not tied) or verdict is None or (label == verdict and not tied):
                continue
            rows.append((place, name, _word(label), _word(verdict), _why(label, verdict, tied)))
    places = [row[0] for row in rows]
    own = {str(name): frame[name].iloc[places].to_numpy() for name in frame if name not in _ADDED}
    added = {
        name: [row[at] for row in rows]
        for at, name in ((2, "people"), (3, "verdict"), (4, "disagreement"))
    }
    lead = {"row": [place + 1 for place in places], "judged_by": [row[1] for row in rows]}
    return pd.DataFrame({**lead, **own, **added, "decision": [""] * len(rows)})


_ADDED = frozenset({"row", "judged_by", "people", "verdict", "disagreement", "decision"})


def _word(answer: Any) -> str:
    return "" if answer is None else str(answer).lower()


def _why(label: Any, verdict: Any, tied: bool) -> str:
    if tied:
        return "people are tied"
    if isinstance(label, str) or isinstance(verdict, str):
        return "a third state"
    return "missed by the judge" if label else "false alarm of the judge"
