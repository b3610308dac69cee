"""A gate on a rate whose cases come in clusters: what passes, and how many clusters it takes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from . import _check
from .clusters import clustered_interval
from .intervals import interval

SLACK = 1e-12  # a bound that equals its threshold passes, whatever the last digit of either


@dataclass(frozen=True)
class ClusteredGate:
    """Whether these clusters pass: `bound` is the end of their interval that the gate looks at,
    `best` that of a result without a single bad case, `clusters` how many there are, and `needed`
    how many it takes for any result to pass.
    """

    passes: bool
    bound: float
    best: float
    clusters: int
    needed: int
    note: str = ""


def clusters_needed(threshold: float, *, direction: str = "at most", level: float = 0.95) -> int:
    """The number of clusters from which on a result without a bad case passes the gate.

    Parameters
    ----------
    threshold : the requirement, inside (0, 1); `direction`: "at most" or "at least".
    level : confidence level of the interval that the gate looks at.

    Notes
    -----
    Without a bad case each cluster counts once, so the bound is z²/(G + z²).

    Example
    -------
    >>> [clusters_needed(limit) for limit in (0.02, 0.05, 0.1)]
    [189, 73, 35]
    """
    direction = _check.choice(direction, "direction", ("at most", "at least"))
    room = _check.fraction(threshold, "threshold", open_ends=True)
    room = room if direction == "at most" else 1 - room
    return max(2, math.ceil(_check.z_of(level) ** 2 * (1 - room) / room * (1 - SLACK)))


def clustered_gate(
    k: Any, n: Any, threshold: float, *, direction: str = "at most", level: float = 0.95
) -> ClusteredGate:
    """Whether the events of clusters keep to a threshold, by the rule that holds for any layout.

    Parameters
    ----------
    k, n : array of int
        Events and cases of each cluster.
    threshold : the requirement, inside (0, 1); `direction`: "at most" or "at least".
    level : confidence level of the interval.

    Returns
    -------
    ClusteredGate
        `passes` when the bound keeps to the threshold and so does that of the best result possible:
        the first event lowers the upper limit, so without the second rule a worse result could
        pass where a better one does not. No number of events decides: it depends on how they lie.

    Not computable when
    -------------------
    there is one cluster or no case: `bound` is NaN and the gate is not passed.

    Example
    -------
    >>> result = clustered_gate([1] + [0] * 59, [10] * 60, 0.05)
    >>> result.passes, round(result.bound, 4), round(result.best, 4), result.needed
    (False, 0.0315, 0.0602, 73)
    """
    needed = clusters_needed(threshold, direction=direction, level=level)
    found = clustered_interval(k, n, level=level)
    upper = direction == "at most"
    ends = interval(0, found.clusters, level=level)
    bound, best = (found.high, ends.high) if upper else (found.low, 1 - ends.high)
    sign = 1 if upper else -1
    passes = all(sign * end <= sign * threshold + SLACK for end in (bound, best))
    few = found.clusters < needed
    note = f"no result of {found.clusters} clusters can pass: {needed} are needed" if few else ""
    return ClusteredGate(passes, bound, best, found.clusters, needed, note)
