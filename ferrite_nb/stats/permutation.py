"""The paired test for cases that share clusters: signs of cluster sums, flipped.

A cluster is a set of cases that may rise and fall together (a template, a task). McNemar's test
takes its cases for independent and rejects far too often when they are not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._check import count

EXACT_CLUSTERS = 20  # 2**20 sign patterns are a matter of milliseconds; beyond that they are drawn
WORD = 8  # bits of a random byte
BLOCK = 200_000  # numbers held at once while signs are drawn: what a processor keeps near, 1.6 MB


@dataclass(frozen=True)
class SignFlip:
    """Result of `sign_flip`: `clusters` counts all clusters given, also those without a
    difference.
    """

    p: float
    clusters: int
    method: str
    note: str


def sign_flip(sums: Any, *, resamples: int = 100_000, seed: int = 0) -> SignFlip:
    """Paired test for cases that share clusters: each cluster's sum may change its sign.

    Parameters
    ----------
    sums : one number per cluster, the sum of (A - B) over its cases.
    resamples : sign patterns drawn when there are more than 20 clusters with a difference.
    seed : of the generator used for them.

    Returns
    -------
    SignFlip
        `p`, `clusters`, `method` ("exact" or "monte carlo"), `note`.

    Notes
    -----
    p is the share of sign patterns whose |sum| reaches the observed one. With one case per cluster
    it is the exact McNemar test. The smallest p that G clusters can reach is 2/2**G: six can reach
    .03125, which is never enough for six comparisons under Holm. Drawn patterns count the observed
    one too: (count + 1)/(resamples + 1).

    Example
    -------
    >>> sign_flip([3, -1, 2, 0, 4, 1]).p
    0.1875
    """
    resamples, seed = count(resamples, "resamples"), count(seed, "seed")
    if resamples == 0:
        raise ValueError("resamples must be at least 1, got 0")
    values = _sums(sums)
    sizes, copies = np.unique(np.abs(values[values != 0]), return_counts=True)
    if not sizes.size:
        return SignFlip(1.0, values.size, "exact", "no cluster differs")
    reached = abs(math.fsum(values.tolist())) - 1e-9
    if copies.sum() <= EXACT_CLUSTERS:
        totals = np.zeros(1)
        for size in np.repeat(sizes, copies):
            totals = np.concatenate([totals + size, totals - size])
        return SignFlip(float(np.mean(np.abs(totals) >= reached)), values.size, "exact", "")
    hits = _drawn_patterns(sizes, copies, reached, resamples, seed)
    return SignFlip((hits + 1) / (resamples + 1), values.size, "monte carlo", "")


def _sums(sums: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Sums per cluster as floats, checked."""
    array = np.asarray(sums)
    if array.ndim != 1:
        raise ValueError(f"sums must be one number per cluster, got {array.ndim} dimensions")
    if array.size and array.dtype.kind not in "fiu":
        raise TypeError(f"sums must be numbers, got {array.dtype}")
    values = array.astype(float)
    if not np.isfinite(values).all():
        raise ValueError(f"sums must be finite numbers, got {values[~np.isfinite(values)][0]}")
    return values


def _drawn_patterns(
    sizes: np.ndarray[Any, Any],
    copies: np.ndarray[Any, Any],
    reached: float,
    resamples: int,
    seed: int,
) -> int:
    """How many of `resamples` seeded sign patterns reach the observed total.

    Of m clusters with the same size, Bin(m, 1/2) get a plus: that is the same draw, and far fewer
    numbers. Up to 8 of them are the bits of one random byte.
    """
    rng = np.random.default_rng(seed)
    bits, many = copies <= WORD, copies > WORD
    unused = (WORD - copies[bits]).astype(np.uint8)
    rows = max(1, BLOCK // sizes.size)
    hits, whole = 0, float(copies @ sizes)
    for start in range(0, resamples, rows):
        drawn = min(rows, resamples - start)
        plus = np.empty((drawn, sizes.size))
        words = rng.integers(0, 2**WORD, size=(drawn, unused.size), dtype=np.uint8)
        plus[:, bits] = np.bitwise_count(words >> unused)
        plus[:, many] = rng.binomial(copies[many], 0.5, size=(drawn, int(many.sum())))
        totals = 2 * (plus @ sizes) - whole
        hits += int(np.count_nonzero(np.abs(totals) >= reached))
    return hits
