"""Pairs: the same two rates, paired in other ways: what the margins of a table do not say."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from ...analysis.compare import compare
from ...estimate import bracket, digits, p_text
from ...outcomes.table import outcomes
from ...show.chart import Chart
from ...show.figures import pairs
from ...stats import mcnemar, paired_difference
from ..lab.stream import same_margins
from .controls import with_finding

__all__ = ["exact_bootstrap", "pairing", "pairings"]

CASES, BEFORE, AFTER = 300, 105, 57  # Lab S: successes without and with the defence


def pairing(c: int = 0) -> Chart:
    """The lab's 300 cases with 105 and 57 successes, paired so that `c` cases succeed only with the
    defence.

    Raises
    ------
    ValueError: c is not in 0 to 57: no table has these margins.

    Example
    -------
    >>> print(pairing(20).caption)
    105/300 before and 57/300 after, whatever c: with c = 20 the difference is 48/300 = +16.0 points
    [10.1, 21.8], McNemar's p 2.8e-07...
    """
    rows = same_margins(c)
    table = compare(outcomes(rows, read_from="Lab S, synthetic"))
    one = table.iloc[0]
    p = p_text(one["p"], one["log10_p"], full=True)
    difference = f"+{digits(one['diff'])} points {bracket(one['low'], one['high'])}"
    return with_finding(
        pairs(table, width="text"),
        f"{BEFORE}/{CASES} before and {AFTER}/{CASES} after, whatever c: "
        f"with c = {c} the difference is "
        f"{BEFORE - AFTER}/{CASES} = {difference}, McNemar's p {p}.",
    )


def pairings(cs: Iterable[int] = (0, 2, 5, 10, 20, 57)) -> pd.DataFrame:
    """The same as a table: one row for each c, with two intervals of the difference and McNemar's
    p.

    Returns
    -------
    DataFrame with `both`, `b`, `c`, `neither`, `bootstrap` and `newcombe` (bounds in percent as
    text) and `p`.
    """
    rows = []
    for c in cs:
        cells = (AFTER - c, BEFORE - AFTER + c, c, CASES - BEFORE - c)
        closed = paired_difference(*cells)
        row = dict(zip(("both", "b", "c", "neither"), cells, strict=True))
        p = mcnemar(row["b"], c)
        ends = {
            "bootstrap": bracket(*exact_bootstrap(*cells)),
            "newcombe": bracket(closed.low, closed.high),
        }
        rows.append(row | ends | {"p": p_text(p.p, p.log10_p, full=True)})
    return pd.DataFrame(rows)


def exact_bootstrap(
    both: int, b: int, c: int, neither: int, *, level: float = 0.95
) -> tuple[float, float]:
    """The percentile bootstrap of a paired difference without any draw: the limit of ever more
    resamples.

    A resampled case adds 1, 0 or -1 to the difference, so the sum over n cases is an n-fold
    convolution.

    Example
    -------
    >>> [round(300 * end) for end in exact_bootstrap(57, 48, 0, 195)]
    [36, 61]
    """
    n = both + b + c + neither
    step = np.array([c, both + neither, b]) / n
    chances = np.ones(1)
    for _ in range(n):
        chances = np.convolve(chances, step)
    below = np.cumsum(chances)
    low, high = (
        int(np.searchsorted(below, tail)) - n for tail in ((1 - level) / 2, (1 + level) / 2)
    )
    return low / n, high / n
