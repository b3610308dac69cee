"""Paper: published cells, and their counts as outcomes of each case in its three runs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ...outcomes.table import Outcomes, outcomes
from ..lab import references

__all__ = ["published", "published_counts"]

MODEL = "gpt-4o-2024-08-06"
SOURCE = "arXiv:2510.05244v1, tables 10 to 12, CC BY 4.0"
COLUMNS = {"ASR": ("attack_success", "attack"), "BU": ("task_success", "benign")}


def published() -> pd.DataFrame:
    """The 336 published cells: rate and SD as printed, in percent, and the counts that were solved
    back from them.
    """
    return references.published().copy()


def published_counts(model: str = MODEL, *, metrics: tuple[str, ...] = ("ASR",)) -> Outcomes:
    """The published counts of one model as outcomes of each case in its three runs, with its
    defences as modes and the suite as a stratum.

    Which cases succeeded in which run is not published. Here the runs of a case agree as much as
    their counts allow: the rates are those of the paper, and the interval, with the case as the
    unit, is the widest that fits them.

    Parameters
    ----------
    metrics: tables of the paper, "ASR" and "BU" (benign utility, here task success).

    Example
    -------
    >>> import ferrite_nb as fnb
    >>> table = fnb.rates(published_counts(), "ASR")
    >>> table[table["mode"] == "none"][["k", "n"]].values.tolist()
    [[662, 2847]]
    """
    cells = references.published()
    if model not in set(cells["model"]):
        known = ", ".join(cells["model"].unique())
        raise ValueError(f"there is no model {model!r}; the models are {known}")
    frames = []
    for cell in cells[(cells["model"] == model) & cells["table"].isin(metrics)].itertuples():
        hits = references.nested_runs(cell.run_counts, cell.n_cases)
        run, case = (place.ravel() for place in np.indices(hits.shape))
        flag, kind = COLUMNS[cell.table]
        rows = {"case_id": [f"{cell.table} {cell.suite} {one:03d}" for one in case], "repeat": run}
        rows |= {"mode": cell.defence, "suite": cell.suite, "kind": kind, flag: hits.ravel()}
        frames.append(pd.DataFrame(rows))
    frame = pd.concat(frames, ignore_index=True)
    return outcomes(frame, read_from=f"{SOURCE}; three runs of each case", baseline="none")
