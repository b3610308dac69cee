"""Plausible: what the data say of the correlation inside clusters, on average over all that fit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

NODES, WIDTH, ZOOMS, FLOOR = 48, 9.0, 6, 40.0


_LEGENDRE = np.polynomial.legendre.leggauss(NODES)


def plausible_icc(events: NDArray[np.int64], cases: NDArray[np.int64]) -> tuple[float, float]:
    """The posterior mean of the correlation inside clusters, and the value with 95 % of the weight
    below it, under the beta-binomial model.

    The mean is integrated out on 48 midpoints of its angle around the weighted rate, the
    correlation r = t² on 48 Gauss-Legendre nodes, zoomed to where the weight is.
    """
    likelihood = _likelihood(events, cases)
    shares, sizes = events / cases, cases.astype(np.float64)
    start, stop = 0.0, 1.0
    for zoom in range(ZOOMS + 1):
        nodes, weights = _LEGENDRE
        t = start + (stop - start) * (nodes + 1) / 2
        r = t**2
        worth = sizes / (1 + np.outer(r, sizes - 1))
        total = worth.sum(axis=1)
        middle = np.arcsin(np.sqrt(np.clip(worth @ shares / total, 0.0, 1.0)))
        reach = WIDTH / (2 * np.sqrt(total))
        low, high = np.maximum(middle - reach, 0.0), np.minimum(middle + reach, np.pi / 2)
        step = (high - low) / NODES
        angle = low[:, None] + step[:, None] * (np.arange(NODES) + 0.5)
        logs = likelihood(np.sin(angle) ** 2, r[:, None])
        top = logs.max(axis=1)
        inner = top + np.log(np.exp(logs - top[:, None]).sum(axis=1) * step)
        weight = inner + np.log(weights * t)
        near = np.flatnonzero(weight > weight.max() - FLOOR)
        first, last = max(near[0] - 1, 0), min(near[-1] + 1, NODES - 1)
        narrower = (t[last] if last < NODES - 1 else stop), (t[first] if first else start)
        if zoom == ZOOMS or (narrower[0] - narrower[1]) > 0.7 * (stop - start):
            break
        stop, start = narrower
    density = np.exp(weight - weight.max())
    share = np.cumsum(density) / density.sum()
    return float(density @ r / density.sum()), float(np.interp(0.95, share, r))


def _likelihood(
    events: NDArray[np.int64], cases: NDArray[np.int64]
) -> Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]:
    """The log-likelihood of a mean m and a correlation r, as a function of both."""
    pairs, often = np.unique(np.stack([events, cases]), axis=1, return_counts=True)
    most = int(cases.max())
    if most > 3 * pairs.shape[1]:

        def by_gamma(m: NDArray[np.float64], r: NDArray[np.float64]) -> NDArray[np.float64]:
            a, b = m * (1 - r) / r, (1 - m) * (1 - r) / r
            logs = np.zeros(np.broadcast(m, r).shape)
            for k, n, times in zip(*pairs, often, strict=True):
                logs += times * (betaln(a + k, b + n - k) - betaln(a, b))
            return logs

        return by_gamma
    steps = np.arange(most)
    parts = [
        (steps[above > 0].astype(np.float64), above[above > 0].astype(np.float64))
        for above in (
            (counts[:, None] > steps).sum(axis=0) for counts in (events, cases - events, cases)
        )
    ]

    def by_products(m: NDArray[np.float64], r: NDArray[np.float64]) -> NDArray[np.float64]:
        rest = 1 - r
        logs = np.zeros(np.broadcast(m, r).shape)
        for (j, times), base, sign in zip(
            parts, (m * rest, (1 - m) * rest, rest), (1, 1, -1), strict=True
        ):
            for place in range(len(j)):
                logs += sign * times[place] * np.log(base + j[place] * r)
        return logs

    return by_products
