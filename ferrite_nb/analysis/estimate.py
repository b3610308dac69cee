"""`estimate`: one proportion, printed as it must be."""

from __future__ import annotations

import math

from ..show.text import Estimate
from ..stats._check import count, level_of
from ..stats.intervals import interval
from .cells import FEW


def estimate(
    k: int, n: int, *, method: str = "wilson", level: float = 0.95, z: float | None = None
) -> Estimate:
    """One proportion with its interval; `str()` of it is the only way a percentage is printed.

    Parameters
    ----------
    k, n: the number of events and of cases; whole numbers with 0 <= k <= n.
    method, level, z: as in `fnb.stats.interval`.

    Not computable when
    -------------------
    n is 0: the rate and bounds are NaN and the note says so. With fewer than five cases the numbers
        are kept and
    the text says "insufficient data".

    Example
    -------
    >>> import ferrite_nb as fnb
    >>> print(fnb.estimate(30, 200))
    30/200 = 15.0% [10.7, 20.6]
    >>> print(fnb.estimate(0, 22))
    0/22, upper limit 14.9% [0.0, 14.9]
    """
    k, n = count(k, "k"), count(n, "n")
    found = interval(k, n, method=method, level=level, z=z)
    note = (
        "not computable: no case" if n == 0 else f"insufficient data (n<{FEW})" if n < FEW else ""
    )
    rate = k / n if n else math.nan
    return Estimate(k, n, rate, float(found.low), float(found.high), level_of(level), method, note)
