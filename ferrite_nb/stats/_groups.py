"""Rows in groups: labels as codes, and the spread between groups without taking rounding for
spread.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray


def codes(labels: Any, name: str, rows: int) -> tuple[NDArray[np.intp], int]:
    """The labels of all rows as codes 0 … groups - 1, and the number of groups; a missing label
    raises.
    """
    if isinstance(labels, str | bytes) or not hasattr(labels, "__len__"):
        raise TypeError(f"{name} must be a list of labels, one per entry, got {labels!r}")
    if np.ndim(labels) > 1 and isinstance(labels, np.ndarray):
        raise ValueError(
            f"{name} must have one label per entry, got an array of shape {labels.shape}"
        )
    if len(labels) != rows:
        raise ValueError(
            f"{name} must have one label per entry, got {len(labels)} labels for {rows} entries"
        )
    seen: dict[Any, int] = {}
    items = labels.tolist() if isinstance(labels, np.ndarray) else labels
    code = np.fromiter((seen.setdefault(label, len(seen)) for label in items), np.intp, count=rows)
    for label in seen:
        if not _known(label):
            raise ValueError(
                f"{name} must not be missing, got {label!r}; leave such rows out or name a group"
            )
    return code, len(seen)


def compact(code: NDArray[np.intp]) -> tuple[NDArray[np.intp], int]:
    """The same grouping with the codes 0 … groups - 1, after rows were dropped or two codes
    joined.
    """
    found, dense = np.unique(code, return_inverse=True)
    return dense.astype(np.intp), len(found)


def _known(label: Any) -> bool:
    """Whether a label is one: not None, and equal to itself (NaN and the like are not)."""
    same = label == label
    return label is not None and isinstance(same, bool | np.bool_) and bool(same)


def deviations(
    values: NDArray[np.float64], code: NDArray[np.intp], groups: int
) -> tuple[float, NDArray[np.float64]]:
    """The mean of all values, and for each group the sum of the deviations from it.

    Sums that are nothing but rounding errors are exactly 0: otherwise equal groups would seem to
        differ by
    1e-17 and get an interval of that width.
    """
    if values.min() == values.max():
        return float(values[0]), np.zeros(groups)
    mean = float(values.mean())
    sums = np.bincount(code, weights=values - mean, minlength=groups)
    rounding = 4 * np.finfo(float).eps * np.abs(values).max() * np.bincount(code, minlength=groups)
    if (np.abs(sums) <= rounding).all():
        return mean, np.zeros(groups)
    return mean, sums.astype(np.float64)


def residuals(events: NDArray[np.int64], cases: NDArray[np.int64]) -> NDArray[np.object_]:
    """k - n·p of each cluster times N: whole numbers, so that equal clusters give exactly 0."""
    exact: NDArray[np.object_] = events.astype(object) * int(cases.sum())
    exact -= cases.astype(object) * int(events.sum())
    return exact


def group_sums(
    residuals: NDArray[np.object_], code: NDArray[np.intp], groups: int
) -> NDArray[np.object_]:
    """Sums of whole numbers over groups, without rounding."""
    sums = np.zeros(groups, dtype=object)
    np.add.at(sums, code, residuals)
    return sums


def variance(sums: NDArray[np.object_], total_n: int) -> float:
    """The variance of the rate between clusters, G/(G-1) · Σ e²/N²: whole numbers, rounded once."""
    groups = len(sums)
    return float(groups * int(sums @ sums) / ((groups - 1) * total_n**4))


def deff(sums: NDArray[np.object_], total_k: int, total_n: int) -> float:
    """That variance over p(1-p)/(N-1) of a simple sample: exactly 1 with one case per cluster."""
    groups = len(sums)
    simple = total_n**2 * total_k * (total_n - total_k)
    return float(groups * (total_n - 1) * int(sums @ sums) / ((groups - 1) * simple))


def n_eff(total_n: int, deff: float) -> float:
    """The number of independent cases worth as much; never more than there are."""
    return total_n / deff if deff > 1 else float(total_n)


def icc(between: float, within: float, sizes: NDArray[np.int64]) -> float:
    """The intraclass correlation by analysis of variance, from the sums of squares; may be
    negative.
    """
    groups, rows = len(sizes), int(sizes.sum())
    if rows == groups:
        return math.nan
    size = (rows - float((sizes.astype(np.float64) ** 2).sum()) / rows) / (groups - 1)
    mean_between, mean_within = between / (groups - 1), within / (rows - groups)
    total = mean_between + (size - 1) * mean_within
    return (mean_between - mean_within) / total if total > 0 else math.nan
