"""`detector`: is an alarm useful? Detection at a fixed false-alarm rate, AUC, and precision at the
real base rate.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..outcomes.contract import MISSING, spelled
from ..outcomes.declare import some
from ..stats._check import fraction, level_of
from ..stats.detection import TprAtFpr, alerts, auc, tpr_at_fpr
from ..stats.intervals import interval
from .labels import table_of

COLUMNS = [
    "part",
    "max_fpr",
    "threshold",
    "tp",
    "n_pos",
    "tpr",
    "tpr_low",
    "tpr_high",
    "fp",
    "n_neg",
    "fpr",
    "fpr_low",
    "fpr_high",
    "resolvable",
    "auc",
    "auc_low",
    "auc_high",
    "base_rate",
    "precision",
    "precision_low",
    "precision_high",
    "per_day",
    "true_alerts",
    "true_alerts_low",
    "true_alerts_high",
    "false_alerts",
    "false_alerts_low",
    "false_alerts_high",
    "missed",
    "level",
    "method",
    "note",
]
BASE_RATES = tuple(float(rate) for rate in np.geomspace(1e-5, 0.5, 48))
PER_DAY = 10_000
NAN = math.nan


def detector(
    scores: Any,
    *,
    score: str,
    label: str,
    positive: Any,
    higher: bool = True,
    max_fpr: float | Sequence[float] = (0.01, 0.001),
    base_rate: float | Sequence[float] | None = None,
    per_day: float | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """A detector's operating points, its ROC as observed points, its AUC, and what an alarm is
    worth.

    Parameters
    ----------
    scores: a frame (or the path of a file) with one row per case.
    score, label: the columns of the scores and of the true labels.
    positive: the label, or the labels, of the cases to detect; every other label must be one and
        the same.
    higher: whether a high score means positive. `False` for scores such as a loss, where low is
        suspect: a member of the training set in membership inference.
    max_fpr: allowed false-positive rates, each an operating point.
    base_rate: share of positives where the detector will work, one or more; not that of this table.
    per_day: cases a day (10,000 if it is not given).
    level: confidence level of all intervals.

    Returns
    -------
    DataFrame whose `part` says what a row is:

    - "operating point": one per `max_fpr` and base rate, with `threshold` (flag at or beyond it),
      `tp` of `n_pos` and `tpr` with `_low`, `_high`; `fp` of `n_neg` and `fpr` with bounds;
      `resolvable` (False: 1/n_neg is above the limit); with a `base_rate` also `precision`,
      `true_alerts`, `false_alerts` with bounds and `missed`, of `per_day`;
    - "auc": `auc` with DeLong's bounds;
    - "curve": an observed point per distinct score, from the strictest threshold on, ties kept
      together: `threshold`, `tp`, `n_pos`, `tpr`, `fp`, `n_neg`, `fpr`;
    - "precision": `precision` with bounds over a grid of base rates, per operating point
        (`max_fpr`).

    All with `level`, `method` and `note`; what a part does not have is NaN.

    Not computable when
    -------------------
    There is no positive or no negative: rates are NaN and `note` says which is missing. Precision
        without any alarm.

    Raises
    ------
    ValueError: no such column, more than one label beside the positive ones, a score that is no
        number.

    Notes
    -----
    Nothing is interpolated: a point is the best threshold whose realised false-positive rate keeps
        to the limit. Bounds
    of the TPR find the threshold anew in each resample; bounds of the FPR are Clopper-Pearson,
    whose upper one is exact for a threshold set by an order statistic. Bounds of precision take
    both rates at their worse and at their better bound: they cover at least as often as they say,
        and are wide when few negatives were flagged.
    Rows without a score or a label are left out and counted in `note`.

    Source
    ------
    DeLong et al. 1988 (AUC); Carlini et al. 2022, arXiv:2112.03570 (detection at low FPR, log-log
    ROC).

    Example
    -------
    >>> import ferrite_nb as fnb
    >>> table = fnb.detector(fnb.data("detector_scores.csv"), score="score", label="label", positive="fake")
    >>> table.loc[table["part"] == "operating point", ["max_fpr", "tp", "n_pos", "fp", "n_neg"]].values.tolist()
    [[0.01, 354, 400, 50, 5000], [0.001, 260, 400, 5, 5000]]
    """
    level = level_of(level)
    limits = [fraction(limit, "max_fpr") for limit in _several(max_fpr)]
    bases = [fraction(rate, "base_rate") for rate in _several(base_rate)]
    if isinstance(scores, str | os.PathLike):
        from ..readers.scores import read_scores

        scores = read_scores(os.fspath(scores), score=score, label=label)
    cases = _cases(table_of(scores), score, label, positive, higher)
    points = [tpr_at_fpr(cases.labels, cases.scores, limit, level=level) for limit in limits]
    rows: list[dict[str, Any]] = []
    for limit, point in zip(limits, points, strict=True):
        found = _point(limit, point, higher, level)
        rows += [found | _worth(found, rate, per_day) for rate in bases] or [found]
    rows.append(_area(cases, level))
    rows += _curve(cases, higher)
    for limit, point in zip(limits, points, strict=True):
        found = _point(limit, point, higher, level)
        rows += [_grid(found, rate) for rate in BASE_RATES]
    table = pd.DataFrame(rows, columns=COLUMNS)
    table["level"] = level
    table["note"] = [
        "; ".join(filter(None, [note, cases.note])) for note in table["note"].fillna("")
    ]
    whole: dict[str, str] = dict.fromkeys(("tp", "n_pos", "fp", "n_neg"), "Int64")
    return table.astype(whole | {"resolvable": "boolean"})


def _several(values: Any) -> list[Any]:
    """One number or many."""
    if values is None:
        return []
    return (
        list(values)
        if isinstance(values, Iterable) and not isinstance(values, str | bytes)
        else [values]
    )


@dataclass(frozen=True)
class _Cases:
    """Labels (1 positive) and scores (higher = more suspect) of the cases that have both, and what
    was left out.
    """

    labels: NDArray[np.int64]
    scores: NDArray[np.float64]
    note: str


def _cases(frame: pd.DataFrame, score: str, label: str, positive: Any, higher: bool) -> _Cases:
    """Read labels by their spelling (1, 1.0 and "1" are one label) and scores as numbers."""
    for name in (score, label):
        if name not in frame:
            raise ValueError(
                f"there is no column {name!r} of scores; the columns are {some(map(str, frame.columns))}"
            )
    wanted = {
        _spelled(one)
        for one in (positive if isinstance(positive, list | tuple | set) else [positive])
    }
    words = frame[label].map(_spelled)
    there = sorted(set(words) - MISSING)
    others = [word for word in there if word not in wanted]
    if len(others) > 1:
        raise ValueError(
            f"{label!r} has several labels beside {positive!r}: {some(others)}. Name all positives as a list, and "
            "leave out the rows that are neither"
        )
    values = _numbers(frame[score], score)
    known = ~words.isin(MISSING).to_numpy() & ~np.isnan(values)
    left_out = int((~known).sum())
    notes = [f"{left_out} rows without a score or a label are left out"] if left_out else []
    if not wanted & set(there):
        notes.append(f"no case has the label {positive!r}; labels are {some(there) or 'missing'}")
    flags = words.isin(wanted).to_numpy()[known].astype(np.int64)
    return _Cases(flags, values[known] if higher else -values[known], "; ".join(notes))


def _spelled(value: Any) -> str:
    """A label as it is compared: a whole number is the same label with and without its .0."""
    text = "" if value is pd.NA else spelled(value)
    return text.removesuffix(".0") if text.removesuffix(".0").lstrip("-").isdigit() else text


def _numbers(column: pd.Series, name: str) -> NDArray[np.float64]:
    """Scores as numbers; blanks are missing, any other text raises with its row."""
    plain = column.map(lambda value: NAN if spelled(value) in MISSING else value)
    values = pd.to_numeric(plain, errors="coerce").to_numpy(dtype="float64")
    bad = np.isnan(values) & plain.notna().to_numpy()
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(
            f"row {row + 1} (the header not counted): score {name} has {column.iloc[row]!r}, not a number"
        )
    return values


def _point(limit: float, point: TprAtFpr, higher: bool, level: float) -> dict[str, Any]:
    """One operating point; its FPR with Clopper-Pearson bounds."""
    ends = interval(point.fp, point.n_neg, method="clopper-pearson", level=level)
    low, high = (float(ends.low), float(ends.high)) if not math.isnan(point.fpr) else (NAN, NAN)
    threshold = point.threshold if higher else -point.threshold
    note = point.note
    if math.isnan(point.tpr):
        note = f"not computable: {note}"
    return {
        "part": "operating point",
        "max_fpr": limit,
        "threshold": threshold,
        "tp": point.tp,
        "n_pos": point.n_pos,
        "tpr": point.tpr,
        "tpr_low": point.low,
        "tpr_high": point.high,
        "fp": point.fp,
        "n_neg": point.n_neg,
        "fpr": point.fpr,
        "fpr_low": low,
        "fpr_high": high,
        "resolvable": point.resolvable,
        "method": "bootstrap",
        "note": note,
    }


def _precision(point: dict[str, Any], base: float) -> dict[str, float]:
    """Precision at a base rate: at the point, at the worse and at the better bounds of both
    rates.
    """
    names = ("precision", "precision_low", "precision_high")
    if math.isnan(point["tpr"]):
        return dict.fromkeys(names, NAN)
    pairs = (("tpr", "fpr"), ("tpr_low", "fpr_high"), ("tpr_high", "fpr_low"))
    found = [alerts(point[tpr], point[fpr], base, 1).precision for tpr, fpr in pairs]
    return dict(zip(names, found, strict=True))


def _worth(point: dict[str, Any], base: float, per_day: float | None) -> dict[str, Any]:
    """What the alarms of a day are at a base rate."""
    row: dict[str, Any] = {
        "base_rate": base,
        "per_day": PER_DAY if per_day is None else float(per_day),
    }
    row |= _precision(point, base)
    if math.isnan(point["tpr"]):
        return row
    at = {
        end: alerts(point[f"tpr{end}"], point[f"fpr{end}"], base, row["per_day"])
        for end in ("", "_low", "_high")
    }
    for end, found in at.items():
        row |= {f"true_alerts{end}": found.true_alerts, f"false_alerts{end}": found.false_alerts}
    silent = (
        "no case is flagged, so an alarm has no precision" if math.isnan(row["precision"]) else ""
    )
    return row | {"missed": at[""].missed, "note": "; ".join(filter(None, [point["note"], silent]))}


def _grid(point: dict[str, Any], base: float) -> dict[str, Any]:
    kept = ("max_fpr", "threshold", "tp", "n_pos", "fp", "n_neg", "method")
    return (
        {name: point[name] for name in kept}
        | {"part": "precision", "base_rate": base}
        | _precision(point, base)
    )


def _area(cases: _Cases, level: float) -> dict[str, Any]:
    found = auc(cases.labels, cases.scores, level=level)
    positives = int(cases.labels.sum())
    note = f"not computable: {found.note}" if math.isnan(found.auc) else found.note
    if found.auc < 0.5:
        note = "; ".join(
            filter(None, [note, "AUC below one half: is `higher` the right way round?"])
        )
    return {
        "part": "auc",
        "n_pos": positives,
        "n_neg": cases.labels.size - positives,
        "auc": found.auc,
        "auc_low": found.low,
        "auc_high": found.high,
        "method": "DeLong",
        "note": note,
    }


def _curve(cases: _Cases, higher: bool) -> list[dict[str, Any]]:
    """One observed point per distinct score: how many positives and negatives are flagged at that
    threshold.
    """
    values, places = np.unique(
        -cases.scores, return_inverse=True
    )  # from the strictest threshold on
    tp = np.cumsum(np.bincount(places, weights=cases.labels, minlength=values.size)).astype(int)
    fp = np.cumsum(np.bincount(places, weights=1 - cases.labels, minlength=values.size)).astype(int)
    n_pos, n_neg = int(cases.labels.sum()), int((1 - cases.labels).sum())
    thresholds = -values if higher else values
    return [
        {
            "part": "curve",
            "threshold": float(threshold),
            "tp": int(hits),
            "n_pos": n_pos,
            "tpr": hits / n_pos if n_pos else NAN,
            "fp": int(alarms),
            "n_neg": n_neg,
            "fpr": alarms / n_neg if n_neg else NAN,
            "method": "counts",
        }
        for threshold, hits, alarms in zip(thresholds, tp, fp, strict=True)
    ]
