"""The interval of a garak report: what garak prints, in closed form, and what it should have
refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ._check import choice, count, counts_of, fraction, level_of
from .bootstrap import bootstrap_proportion
from .intervals import interval
from .validation import no_better_than_chance

NAN = math.nan


@dataclass(frozen=True)
class GarakInterval:
    """Result of `garak_interval`: `used` is "none", "simple" or "bootstrap"."""

    low: float
    high: float
    used: str
    note: str


def garak_interval(
    k: int,
    n: int,
    *,
    mode: str = "backoff",
    se: float | None = None,
    sp: float | None = None,
    level: float = 0.95,
    min_n: int = 30,
) -> GarakInterval:
    """Interval as garak reports define it, to read and check them: Se and Sp are taken as known.

    Parameters
    ----------
    k, n : hits of all attempts.
    mode : "none", "simple" (Wilson, uncorrected), "bootstrap" (fixed Se and Sp, 1 and 1 when
        absent), "backoff" (bootstrap when Se and Sp are known and n >= min_n, else simple).
    se, sp : the detector's sensitivity and specificity, both or neither.
    min_n : smallest n that is resampled.

    Returns
    -------
    GarakInterval
        `low`, `high`, `used`, `note`.

    Not computable when
    -------------------
    Mode "none"; "bootstrap" below `min_n`; Se + Sp <= 1 where they would be used (garak prints
    [100, 100] or [0, 0] there); n = 0.

    Notes
    -----
    Resampling is not simulated: its limits are the quantiles of Bin(n, k/n), independent of n.

    Example
    -------
    >>> r = garak_interval(102, 256, mode="bootstrap")
    >>> round(r.low, 6), round(r.high, 6), r.used
    (0.339844, 0.457031, 'bootstrap')
    """
    mode = choice(mode, "mode", ("none", "simple", "bootstrap", "backoff"))
    level, min_n = level_of(level), count(min_n, "min_n")
    k, n = (int(x) for x in counts_of(count(k, "k"), count(n, "n")))
    if (se is None) != (sp is None):
        raise ValueError(f"se and sp go together, got se = {se} and sp = {sp}")
    known = se is not None
    se, sp = (1.0, 1.0) if se is None or sp is None else (fraction(se, "se"), fraction(sp, "sp"))
    if mode == "none" or n == 0:
        return GarakInterval(NAN, NAN, "none", "no interval asked for" if n else "no attempt")
    if mode == "backoff":
        mode = "bootstrap" if known and n >= min_n else "simple"
    if mode == "simple":
        ends = interval(k, n, level=level)
        return GarakInterval(float(ends.low), float(ends.high), "simple", "")
    if n < min_n:
        return GarakInterval(NAN, NAN, "none", f"{n} attempts are fewer than {min_n}")
    if se + sp <= 1 + 1e-12:
        return GarakInterval(NAN, NAN, "none", no_better_than_chance(se, sp))
    drawn = bootstrap_proportion(k, n, level=level)
    low, high = (
        min(max((float(p) + sp - 1) / (se + sp - 1), 0.0), 1.0) for p in (drawn.low, drawn.high)
    )
    return GarakInterval(low, high, "bootstrap", drawn.note)
