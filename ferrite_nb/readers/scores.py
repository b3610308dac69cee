"""Detector scores: tables with a score and a label per item, for `fnb.detector`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from ..outcomes.contract import MISSING, OutcomesError, spelled
from ..outcomes.declare import some
from . import table
from ._files import Tally
from .recognise import Head, head_of
from .run import Asked, Run

NAME = "detector scores (a table with score and label; see ferrite_nb.readers.read_scores)"
SPECIFIC = False


def sniff(head: Head) -> bool:
    """A score and a label, and neither a case nor a mode."""
    names = {name.lower() for name in (head.columns or head.keys)}
    return names >= {"score", "label"} and not {"case_id", "mode"} & names


def parse(paths: Sequence[Path], asked: Asked, *, encoding: str | None = None) -> list[Run]:
    """A plain table if the caller declares one; else an explanation: a score is no outcome until
    there is a threshold.
    """
    if asked.outcomes:
        return table.parse(paths, asked, encoding=encoding)
    name = paths[0].name
    labels = some(sorted(read_scores(paths[0])["label"].dropna().unique()), 6)
    raise OutcomesError(
        f"{name} holds scores of a detector, not outcomes (labels: {labels}). "
        f"Read it with scores = ferrite_nb.readers.read_scores({name!r}) and call "
        'fnb.detector(scores, score="score", label="label", positive="<the label of an attack>")',
        file=name,
    )


def read_scores(path: str | Path, *, score: str = "score", label: str = "label") -> pd.DataFrame:
    """A table of detector scores: `score` as a number, `label` and all else as text, exactly as
    written.

    Parameters
    ----------
    path: a CSV, TSV, JSON lines or Parquet file.
    score, label: the columns with the score and the label; they keep their names.

    Raises
    ------
    OutcomesError: no such column; a score that is no number (the message names the row).

    Example
    -------
    >>> import ferrite_nb as fnb
    >>> from ferrite_nb.readers import read_scores
    >>> read_scores(fnb.data("detector_scores.csv")).columns.tolist()
    ['id', 'score', 'label']
    """
    path = Path(path)
    head = head_of(path)
    head.refuse()
    frame = table.text_frame(head, Tally())
    if {"id", "item"} & set(frame):  # a copy of a row is no second item
        frame = frame.drop_duplicates(frame.columns.difference(["source"]), ignore_index=True)
    names = {name.lower(): name for name in frame.columns}
    for wanted in (score, label):
        if wanted not in frame:
            if wanted.lower() not in names:
                raise OutcomesError(
                    f"{path.name}: no column {wanted!r}; the columns are {some(frame.columns)}"
                )
            frame = frame.rename(columns={names[wanted.lower()]: wanted})
    blank = frame[score].map(spelled).isin(MISSING)
    number = pd.to_numeric(frame[score].where(~blank), errors="coerce")
    bad = number.isna() & ~blank
    if bad.any():
        place, value = frame.loc[bad, ["source", score]].iloc[0]
        raise OutcomesError(
            f"{place}: column {score} has {str(value)[:80]!r}; a score must be a number"
        )
    frame[score] = number
    return frame.drop(columns="source")
