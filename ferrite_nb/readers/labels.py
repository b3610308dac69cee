"""Judge labels: tables with human labels beside those of judges, for `fnb.judges` and
`fnb.rates(..., judge=...)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from ..outcomes.contract import FALSE, MISSING, TRUE, OutcomesError, spelled
from ..outcomes.declare import some
from . import pyrit, table
from ._files import Tally
from .recognise import Head, head_of
from .run import Asked, Run

NAME = "judge labels (a table with human labels; see ferrite_nb.readers.read_labels)"
SPECIFIC = False
COUNTS = {"tp", "fn", "tn", "fp"}
HUMAN = ("human", "manual", "rater", "annotator")
TEXTS = {"item", "id", "_id", "mode", "repeat", "harm_category", "data_type"}


def sniff(head: Head) -> bool:
    """Human labels or the four counts, and neither a case nor a mode."""
    names = {name.lower() for name in (head.columns or head.keys)}
    human = any(name.startswith(HUMAN) for name in names)
    return (human or names >= COUNTS or pyrit.sniff_labels(head)) and not {
        "case_id",
        "mode",
    } & names


def parse(paths: Sequence[Path], asked: Asked, *, encoding: str | None = None) -> list[Run]:
    """A plain table if the caller declares one; else an explanation, since labels of a judge are no
    outcomes of modes.
    """
    if asked.outcomes:
        return table.parse(paths, asked, encoding=encoding)
    name = paths[0].name
    read = f"labels = ferrite_nb.readers.read_labels({name!r}) and call"
    columns = read_labels(paths[0]).columns
    if set(columns) >= COUNTS:
        raise OutcomesError(
            f"{name} holds counts of a judge (tp, fn, tn, fp), not outcomes of modes. Read it with "
            f"{read} fnb.rates(runs, judge=labels)",
            file=name,
        )
    human = [one for one in columns if one.lower().startswith(HUMAN)] or ["<human>"]
    raise OutcomesError(
        f"{name} holds labels of judges (columns {some(columns, 12)}), not outcomes of modes. Read "
        f"it with {read} fnb.judges(labels, human={human[0]!r}, judges=[...]); "
        "or declare case_id, mode and attack_success to read it as outcomes",
        file=name,
    )


def read_labels(path: str | Path, *, threshold: float | None = None) -> pd.DataFrame:
    """A table of labels: one row per item, with the labels of humans and judges; or the counts tp,
    fn, tn, fp.

    Parameters
    ----------
    path: a CSV, TSV, JSON lines or Parquet file; a PyRIT scorer evaluation; or a PyRIT metrics
        file, whose counts are solved back from its rates.
    threshold: where given, scores (columns with other numbers than 0 and 1) become true at or above
        it.

    Returns
    -------
    DataFrame with `item` as text, true/false columns as nullable booleans (a blank stays missing,
    it is no label), scores as numbers, everything else as text: a third state such as "refused"
    stays a state.

    Raises
    ------
    OutcomesError: a damaged file, or metrics that fit no counts or more than one set of them.

    Example
    -------
    >>> import ferrite_nb as fnb
    >>> from ferrite_nb.readers import read_labels
    >>> read_labels(fnb.data("purseclab_judges.csv"))["chao"].isna().sum()
    np.int64(50)
    """
    path = Path(path)
    head = head_of(path)
    head.refuse()
    if pyrit.is_metrics(head):
        return pyrit.counts(path)
    frame = table.text_frame(head, Tally()).drop(columns=[*pyrit.TEXTS], errors="ignore")
    frame = once(frame, "item").drop(columns="source")
    if "item" not in frame:
        frame.insert(0, "item", [str(row) for row in range(1, len(frame) + 1)])
    graded = [name for name in frame if _is_graded(frame[name], name)]
    if any(name.startswith("human_score") for name in graded):
        graded += [name for name in frame if name.startswith("human_score") and name not in graded]
    for name in frame.columns:
        if name in graded:
            score = _score(frame, name)
            frame[name] = (
                score
                if threshold is None
                else (score >= threshold).astype("boolean").where(score.notna())
            )
        elif set(frame.columns) >= COUNTS and name in COUNTS:
            frame[name] = _whole(frame[name], path.name)
        elif not _is_text(name) and set(map(spelled, frame[name])) <= TRUE | FALSE | MISSING:
            tokens = frame[name].map(spelled)
            frame[name] = tokens.isin(TRUE).astype("boolean").where(~tokens.isin(MISSING))
    return frame


def once(frame: pd.DataFrame, item: str) -> pd.DataFrame:
    """The rows of a file that names its items, each item once: copies count once.

    Raises
    ------
    OutcomesError: two rows of one item that differ; the message names both places.
    """
    if item not in frame:
        return frame
    facts = [name for name in frame if name != "source"]
    frame = frame.drop_duplicates(facts, ignore_index=True)
    twice = frame[frame[item] == frame.loc[frame[item].duplicated(), item].min()]
    if len(twice):
        raise OutcomesError(
            f"{some(twice['source'], 3)}: the item {str(twice[item].iloc[0])[:80]!r} stands in "
            f"{len(twice)} rows that differ; keep one row of it",
            column=item,
        )
    return frame


def _is_text(name: str) -> bool:
    return name.lower() in TEXTS or name.lower().endswith("_id")


def _blank(column: pd.Series) -> pd.Series:
    return column.map(spelled).isin(MISSING)


def _is_graded(column: pd.Series, name: str) -> bool:
    """A column of numbers of which at least one is neither 0 nor 1."""
    known = column[~_blank(column)]
    number = pd.to_numeric(known, errors="coerce")
    return (
        not _is_text(name)
        and name not in COUNTS
        and bool(number.notna().all())
        and not number.isin([0, 1]).all()
    )


def _score(frame: pd.DataFrame, name: str) -> pd.Series:
    """A column of scores as numbers; the message names the place of what is none."""
    blank = _blank(frame[name])
    number = pd.to_numeric(frame[name].where(~blank), errors="coerce")
    bad = number.isna() & ~blank
    if bad.any():
        row = int(bad.to_numpy().argmax())
        value = str(frame[name].iloc[row])[:80]
        raise OutcomesError(f"row {row + 1}: column {name} has {value!r}; a score must be a number")
    return number


def _whole(column: pd.Series, name: str) -> pd.Series:
    number = pd.to_numeric(column, errors="coerce")
    if number.isna().any() or (number < 0).any() or (number % 1 != 0).any():
        raise OutcomesError(f"{name}: column {column.name} must hold whole numbers >= 0")
    return number.astype("int64")
