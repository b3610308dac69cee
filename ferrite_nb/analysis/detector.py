"""`detector`: is an alarm useful? Detection at a fixed false-alarm rate, AUC, and the worth of an
alarm at the real base rate.
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
from ..schema import Table, made
from ..stats._check import fraction, level_of
from ..stats.detection import TprAtFpr, alerts, auc, tpr_at_fpr
from ..stats.intervals import interval
from .labels import table_of, texts
from .unit import Sample, bounds

BASE_RATES = tuple(float(rate) for rate in np.geomspace(1e-5, 0.5, 48))
PER_DAY = 10_000
NAN = math.nan
SEED = "0 (2,000 resamples)"


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
    item: str | None = None,
    cluster: str | None = None,
    level: float = 0.95,
) -> Table:
    """A detector's operating points, its AUC, and what an alarm is worth: one row a quantity.

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
    item: the column that names the cases; one that stands twice with other values is refused.
    cluster: a column whose cases may be alike (a template).
    level: confidence level of all intervals.

    Returns
    -------
    Table with `score`, `quantity`, `max_fpr`, `base_rate`, `threshold` (flag at or beyond it), `k`,
    `n`, `rate`, `low`, `high`, `value`, `per_day`. The quantities of each `max_fpr`: "TPR" (of the
    positives) and "FPR" (of the negatives); with a `base_rate` also "precision", and "true alerts",
    "false alerts", "missed" of `per_day` cases, which are no rates and stand in `value`. Once:
    "AUC". The points of the ROC are `fnb.roc_curve`, a table of its own.

    Not computable when
    -------------------
    there is no positive or no negative, or no alarm at all (precision): `state` is "none". Too few
    negatives to resolve a limit: `state` is "few".

    Raises
    ------
    ValueError: no such column, more than one label beside the positive ones, a score that is no
        number.

    Notes
    -----
    Nothing is interpolated: a point is the best threshold whose realised false-positive rate keeps
    to the limit. Bounds of the TPR find the threshold anew in each resample; bounds of the FPR are
    Clopper-Pearson, whose upper one is exact for a threshold set by an order statistic. Bounds of
    precision take both rates at their worse and at their better bound: they cover at least as often
    as they say, and are wide when few negatives were flagged. With clusters the bounds of TPR and
    FPR are also those of the clustered interval at the threshold found, the wider ones. Rows
    without a score or a label are left out and counted in `note`.

    Source
    ------
    Newcombe 2006 (AUC); Carlini et al. 2022, arXiv:2112.03570 (detection at low FPR).

    Example
    -------
    >>> import ferrite_nb as fnb
    >>> scores = fnb.data("detector_scores.csv")
    >>> table = fnb.detector(scores, score="score", label="label", positive="fake")
    >>> table.loc[table["quantity"] == "TPR", ["max_fpr", "k", "n"]].values.tolist()
    [[0.01, 354, 400], [0.001, 260, 400]]
    """
    level = level_of(level)
    limits = [fraction(limit, "max_fpr") for limit in _several(max_fpr)]
    bases = [fraction(rate, "base_rate") for rate in _several(base_rate)]
    cases = _cases(scores, score, label, positive, higher, item, cluster)
    day = PER_DAY if per_day is None else float(per_day)
    rows: list[dict[str, Any]] = []
    for limit in limits:
        point = tpr_at_fpr(cases.labels, cases.scores, limit, level=level)
        tpr, fpr = _point(limit, point, cases, higher, level)
        rows += [tpr, fpr]
        for base in bases:
            rows += _worth(tpr, fpr, base, day)
    rows.append(_area(cases, level))
    for row in rows:
        words = f"not computable: {row['why']}" if row["state"] == "none" else row.get("note", "")
        row["note"] = "; ".join(filter(None, [words, cases.note]))
    return made("detector", rows, score=score, level=level, unit=cluster or "case")


def roc_curve(
    scores: Any,
    *,
    score: str,
    label: str,
    positive: Any,
    higher: bool = True,
    level: float = 0.95,
    max_fpr: float | Sequence[float] = (0.01, 0.001),
) -> pd.DataFrame:
    """The observed points of a ROC, and the precision of each operating point by base rate.

    Parameters
    ----------
    As in `fnb.detector`.

    Returns
    -------
    DataFrame with `curve` ("ROC" or "precision"), `threshold`, `tp`, `n_pos`, `tpr`, `fp`, `n_neg`,
    `fpr` (one point a distinct score, from the strictest threshold on, ties kept together), and
    `max_fpr`, `base_rate`, `precision`, `low`, `high` over a grid of base rates.

    Example
    -------
    >>> import ferrite_nb as fnb
    >>> scores = fnb.data("detector_scores.csv")
    >>> table = fnb.roc_curve(scores, score="score", label="label", positive="fake")
    >>> table["curve"].unique().tolist()
    ['ROC', 'precision']
    """
    cases = _cases(scores, score, label, positive, higher)
    # from the strictest threshold on
    values, places = np.unique(-cases.scores, return_inverse=True)
    sums = [
        np.cumsum(np.bincount(places, weights=weights, minlength=values.size)).astype(int)
        for weights in (cases.labels, 1 - cases.labels)
    ]
    n_pos, n_neg = int(cases.labels.sum()), int((1 - cases.labels).sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        points = {
            "curve": "ROC",
            "threshold": -values if higher else values,
            "tp": sums[0],
            "n_pos": n_pos,
            "tpr": sums[0] / np.float64(n_pos or NAN),
            "fp": sums[1],
            "n_neg": n_neg,
            "fpr": sums[1] / np.float64(n_neg or NAN),
        }
    grid = []
    for limit in (fraction(one, "max_fpr") for one in _several(max_fpr)):
        point = tpr_at_fpr(cases.labels, cases.scores, limit, level=level)
        tpr, fpr = _point(limit, point, cases, higher, level)
        for base in BASE_RATES:
            names = ("precision", "low", "high")
            precision = dict(zip(names, _precision(tpr, fpr, base), strict=True))
            grid.append({"curve": "precision", "max_fpr": limit, "base_rate": base} | precision)
    return pd.concat([pd.DataFrame(points), pd.DataFrame(grid)], ignore_index=True)


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
    """Labels (1 positive) and scores (higher = more suspect) of the cases that have both, their
    clusters, and what was left out.
    """

    labels: NDArray[np.int64]
    scores: NDArray[np.float64]
    marks: dict[str, NDArray[Any]]
    note: str


def _cases(
    scores: Any,
    score: str,
    label: str,
    positive: Any,
    higher: bool,
    item: str | None = None,
    cluster: str | None = None,
) -> _Cases:
    """Read labels by their spelling (1, 1.0 and "1" are one label) and scores as numbers."""
    if isinstance(scores, str | os.PathLike):
        from ..readers.scores import read_scores

        scores = read_scores(os.fspath(scores), score=score, label=label)
    frame = table_of(scores, item)
    for name in [score, label, *([cluster] if cluster else [])]:
        if name not in frame:
            raise ValueError(
                f"there is no column {name!r} of scores; the columns are "
                f"{some(map(str, frame.columns))}"
            )
    named = positive if isinstance(positive, list | tuple | set) else [positive]
    wanted = {_spelled(value) for value in named}
    words = frame[label].map(_spelled)
    there = sorted(set(words) - MISSING)
    others = [word for word in there if word not in wanted]
    if len(others) > 1:
        raise ValueError(
            f"{label!r} has several labels beside {positive!r}: {some(others)}. Name all positives "
            "as a list, and leave out the rows that are neither"
        )
    values = _numbers(frame[score], score)
    known = ~words.isin(MISSING).to_numpy() & ~np.isnan(values)
    left_out = int((~known).sum())
    notes = [f"{left_out} rows without a score or a label are left out"] if left_out else []
    if not wanted & set(there):
        notes.append(f"no case has the label {positive!r}; labels are {some(there) or 'missing'}")
    flags = words.isin(wanted).to_numpy()[known].astype(np.int64)
    marks = {cluster: texts(frame[cluster])[known]} if cluster else {}
    return _Cases(flags, values[known] * (1 if higher else -1), marks, "; ".join(notes))


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
            f"row {row + 1} (the header not counted): score {name} has {column.iloc[row]!r}, "
            "not a number"
        )
    return values


def _point(
    limit: float, point: TprAtFpr, cases: _Cases, higher: bool, level: float
) -> list[dict[str, Any]]:
    """The TPR and the FPR of one operating point; the FPR with Clopper-Pearson bounds."""
    ends = interval(point.fp, point.n_neg, method="clopper-pearson", level=level)
    lost = math.isnan(point.tpr)
    state = "none" if lost else "ok" if point.resolvable else "few"
    words = {"state": state, "why": "" if state == "ok" else point.note}
    words["note"] = point.note if state == "ok" else ""
    threshold = point.threshold if higher else -point.threshold
    shared: dict[str, Any] = {"max_fpr": limit, "threshold": threshold, **words}
    tpr: dict[str, Any] = {"k": point.tp, "n": point.n_pos, "rate": point.tpr, "low": point.low}
    tpr |= {"high": point.high, "method": "bootstrap", "seed": SEED}
    fpr: dict[str, Any] = {
        "k": point.fp,
        "n": point.n_neg,
        "rate": point.fpr,
        "method": "clopper-pearson",
    }
    fpr |= {"low": NAN if lost else float(ends.low), "high": NAN if lost else float(ends.high)}
    rows: list[dict[str, Any]] = [
        {"quantity": "TPR", **shared, **tpr},
        {"quantity": "FPR", **shared, **fpr},
    ]
    if cases.marks and not lost:
        flagged = (cases.scores >= point.threshold).astype("int64")
        for row, mine in zip(rows, (cases.labels, 1 - cases.labels), strict=True):
            zeros = np.zeros(len(mine), dtype="int64")
            limits = bounds(Sample(flagged * mine, mine, zeros, cases.marks), level=level)
            row |= {"low": min(row["low"], limits.low), "high": max(row["high"], limits.high)}
            row |= {"clusters": limits.clusters, "n_eff": limits.n_eff}
            row["method"] = f"{row['method']} and {limits.method}"
            row["note"] = "; ".join(filter(None, [row["note"], *limits.notes]))
    return rows


def _pairs(tpr: dict[str, Any], fpr: dict[str, Any]) -> tuple[tuple[float, float], ...]:
    """Both rates at the point, at their worse and at their better bounds."""
    return (
        (tpr["rate"], fpr["rate"]),
        (tpr["low"], fpr["high"]),
        (tpr["high"], fpr["low"]),
    )


def _precision(tpr: dict[str, Any], fpr: dict[str, Any], base: float) -> list[float]:
    """Precision at a base rate: at the point, at the worse and at the better bounds."""
    if tpr["state"] == "none":
        return [NAN] * 3
    return [alerts(*pair, base, 1).precision for pair in _pairs(tpr, fpr)]


def _worth(
    tpr: dict[str, Any], fpr: dict[str, Any], base: float, per_day: float
) -> list[dict[str, Any]]:
    """What the alarms of a day are at a base rate."""
    words = {name: tpr[name] for name in ("state", "why", "note")}
    shared: dict[str, Any] = {
        "max_fpr": tpr["max_fpr"],
        "threshold": tpr["threshold"],
        "base_rate": base,
    }
    shared |= {"method": "worse and better bounds of both rates"}
    precision, low, high = _precision(tpr, fpr, base)
    first = shared | words | {"rate": precision, "low": low, "high": high}
    if math.isnan(precision) and tpr["state"] != "none":
        first |= {"state": "none", "why": "no case is flagged, so an alarm has no precision"}
    rows = [first | {"quantity": "precision"}]
    if tpr["state"] == "none":
        return rows
    found = [alerts(*pair, base, per_day) for pair in _pairs(tpr, fpr)]
    for name in ("true_alerts", "false_alerts", "missed"):
        values = [getattr(result, name) for result in found]
        row = {"value": values[0], "low": min(values), "high": max(values), "per_day": per_day}
        rows.append(shared | words | row | {"quantity": name.replace("_", " ")})
    return rows


def _area(cases: _Cases, level: float) -> dict[str, Any]:
    """The area under the ROC."""
    found = auc(cases.labels, cases.scores, level=level)
    lost = math.isnan(found.auc)
    turned = "AUC below one half: is `higher` the right way round?" if found.auc < 0.5 else ""
    notes = [found.note, turned, "clusters are not in this interval" if cases.marks else ""]
    return {
        "quantity": "AUC",
        "rate": found.auc,
        "low": found.low,
        "high": found.high,
        "method": "DeLong",
        "state": "none" if lost else "ok",
        "why": found.note if lost else "",
        "note": "; ".join(filter(None, notes)),
    }
