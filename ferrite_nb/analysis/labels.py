"""Labels: answers of people and of judges, read as true, false, missing or a state of their own,
and counted.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from ..count.cube import NO_VALUE
from ..outcomes.contract import MISSING, OutcomesError, Words, allowed, flag_meaning, spelled
from ..outcomes.declare import pandas_of, some
from ..stats._check import count

Answer = bool | str | None
Answers = np.ndarray[Any, np.dtype[np.object_]]
Column = str | Words
CELLS = ("tp", "fn", "tn", "fp")


def table_of(labels: Any, item: str | None = None) -> pd.DataFrame:
    """A table of labels as pandas: any eager or lazy frame, or the path of a file of labels."""
    if isinstance(labels, str | os.PathLike):
        from ..readers.labels import read_labels

        return read_labels(os.fspath(labels))
    if not isinstance(labels, pd.DataFrame):
        try:
            labels = pandas_of(nw.from_native(labels))
        except TypeError:
            raise TypeError(
                f"labels are a data frame or the path of a file, got {type(labels).__name__}"
            ) from None
    if not labels.columns.is_unique:
        twice = labels.columns[labels.columns.duplicated()][0]
        raise OutcomesError(
            f"two columns of labels are called {str(twice)[:60]!r}; every column needs its own name"
        )
    if item is not None:
        if item not in labels:
            raise ValueError(
                f"there is no column {item!r} of items; the columns are "
                f"{some(map(str, labels.columns))}"
            )
        labels = labels.drop_duplicates(ignore_index=True)  # a copy of a row is no second item
        twice = labels[item].duplicated(keep=False)
        if twice.any():
            place, other = np.flatnonzero(labels[item] == labels[item][twice].iloc[0])[:2] + 1
            raise OutcomesError(
                f"rows {place} and {other} (the header not counted): item "
                f"{str(labels[item][twice].iloc[0])[:80]!r} stands twice; keep one row of it",
                column=item,
            )
    return labels.reset_index(drop=True)


def name_of_column(column: Column) -> str:
    """The column that a declaration names."""
    return column.column if isinstance(column, Words) else column


def answers(frame: pd.DataFrame, column: Column) -> Answers:
    """One answer per row: True, False, None (missing: blank, error, timeout) or the name of a
    declared state.

    Declared words that mean neither true nor false (`fnb.words("verdict", true=[…], false=[…],
    refused=[…])`) are states of their own: they are never folded into true or false.
    """
    name = name_of_column(column)
    if not isinstance(name, str):
        raise TypeError(f"a column of labels is a name or fnb.words(...), got {column!r}")
    if name not in frame:
        raise ValueError(
            f"there is no column {name!r} of labels; the columns are"
            f" {some(map(str, frame.columns))}"
        )
    own = column.meaning if isinstance(column, Words) else None
    codes, values = pd.factorize(frame[name].astype(object), use_na_sentinel=True)
    meanings = [_meaning(name, value, own, frame) for value in values] + [
        None
    ]  # the last is for missing values
    found = np.empty(len(meanings), dtype=object)
    found[:] = meanings
    return found[codes]


def _meaning(name: str, value: Any, own: Any, frame: pd.DataFrame) -> Answer:
    """What one spelling means; a word that nobody declared raises with its place."""
    token = spelled(value)
    if own and isinstance(own.get(token), str):
        return str(own[token])
    means = flag_meaning("label", value, own)
    if means != "?":
        return None if means == "error" else means
    row = int(np.argmax([spelled(one) == token for one in frame[name]])) + 1
    advice = (
        f"declare words, and states such as refused: fnb.words({name!r}, true=[…], false=[…],"
        " refused=[…])"
    )
    if _is_number(token):
        advice = (
            f"a score becomes a label at a threshold that you choose, such as labels[{name!r}]"
            " >= 0.5"
        )
    raise OutcomesError(
        f"row {row} (the header not counted): column {name} has {str(value)[:80]!r};"
        f" {allowed('label', own)}; {advice}"
    )


def _is_number(token: str) -> bool:
    try:
        float(token)
    except ValueError:
        return False
    return token not in MISSING


@dataclass(frozen=True)
class People:
    """What people answered: the answer of the majority per row, the rows on which they differ, and
    the ties.
    """

    answer: Answers
    differ: np.ndarray[Any, np.dtype[np.bool_]]
    tied: np.ndarray[Any, np.dtype[np.bool_]]


def people_of(frame: pd.DataFrame, human: Column | Sequence[Column]) -> People:
    """One rater's labels, or the majority of several: of those who answered; a tie is a missing
    label.
    """
    raters = [human] if isinstance(human, str | Words) else list(human)
    if not raters:
        raise ValueError("human names at least one column of labels by people")
    votes = [answers(frame, rater) for rater in raters]
    none = np.zeros(len(frame), dtype=bool)
    if len(votes) == 1:
        return People(votes[0], none, none)
    found, differ, tied = np.empty(len(frame), dtype=object), none.copy(), none.copy()
    for row, given in enumerate(zip(*votes, strict=True)):
        ranked = Counter(vote for vote in given if vote is not None).most_common()
        differ[row] = len(ranked) > 1
        tied[row] = len(ranked) > 1 and ranked[0][1] == ranked[1][1]
        found[row] = ranked[0][0] if ranked and not tied[row] else None
    return People(found, differ, tied)


@dataclass(frozen=True)
class Confusion:
    """One judge against people: the four counts, what is in none of them, and all that the judge
    flagged.

    `flagged` of `judged` outputs were called positive, also those without a human label. `other`
    rows have a state that is neither true nor false; `states` says which.
    """

    tp: int
    fn: int
    tn: int
    fp: int
    flagged: int
    judged: int
    human_missing: int = 0
    judge_missing: int = 0
    other: int = 0
    people_differ: int = 0
    ties: int = 0
    states: str = ""

    @property
    def cells(self) -> tuple[int, int, int, int]:
        """tp, fn, tn, fp: the order of all routines that take them."""
        return self.tp, self.fn, self.tn, self.fp


def confusion(people: People, verdicts: Answers, rows: Any) -> Confusion:
    """Count the chosen rows. A missing verdict is in no cell: it is neither a hit nor a miss."""
    human, judge = people.answer[rows], verdicts[rows]
    yes, no = _is(human, True), _is(human, False)
    flag, clear = _is(judge, True), _is(judge, False)
    no_human, no_judge = _is(human, None), _is(judge, None)
    states = [_states("people", human), _states("judge", judge)]
    return Confusion(
        tp=int((yes & flag).sum()),
        fn=int((yes & clear).sum()),
        tn=int((no & clear).sum()),
        fp=int((no & flag).sum()),
        flagged=int(flag.sum()),
        judged=int((flag | clear).sum()),
        human_missing=int(no_human.sum()),
        judge_missing=int(no_judge.sum()),
        other=int(((~(yes | no) & ~no_human) | (~(flag | clear) & ~no_judge)).sum()),
        people_differ=int(people.differ[rows].sum()),
        ties=int(people.tied[rows].sum()),
        states="; ".join(filter(None, states)),
    )


def _is(found: Answers, wanted: Answer) -> np.ndarray[Any, np.dtype[np.bool_]]:
    return np.array([one is wanted for one in found], dtype=bool)


def _states(who: str, found: Answers) -> str:
    """How often which third state was given: "judge: 12 refused"."""
    often = Counter(one for one in found if isinstance(one, str))
    return (
        f"{who}: " + ", ".join(f"{times} {state}" for state, times in sorted(often.items()))
        if often
        else ""
    )


def is_counts(frame: pd.DataFrame) -> bool:
    """Whether the table holds counts tp, fn, tn, fp instead of one row per item."""
    return set(CELLS) <= set(frame.columns)


def given_counts(frame: pd.DataFrame, row: int) -> Confusion:
    """The counts of one row; `flagged` of `judged` default to the labelled outputs, `blank` to
    none.
    """
    tp, fn, tn, fp = (_whole(frame[name].iloc[row], name) for name in CELLS)
    flagged, judged = tp + fp, tp + fn + tn + fp
    if {"flagged", "judged"} <= set(frame.columns):
        flagged, judged = (_whole(frame[name].iloc[row], name) for name in ("flagged", "judged"))
    if flagged > judged:
        raise OutcomesError(
            f"row {row + 1}: {flagged} flagged of {judged} judged outputs is impossible"
        )
    blank = _whole(frame["blank"].iloc[row], "blank") if "blank" in frame else 0
    return Confusion(tp, fn, tn, fp, flagged, judged, judge_missing=blank)


def _whole(value: Any, name: str) -> int:
    """A count from a table: text of a CSV too."""
    if isinstance(value, str):
        text = value.strip()
        if not text.isdigit():
            raise OutcomesError(f"{name} must be a whole number >= 0, got {value!r}")
        return int(text)
    return count(value, name)


def texts(column: pd.Series) -> np.ndarray[Any, Any]:
    """A column of conditions as text; a missing one is a condition of its own."""
    plain = column.astype(object)
    there = plain.notna() & (plain.astype(str).str.strip() != "")
    return plain.where(there, NO_VALUE).astype(str).to_numpy(dtype=object)
