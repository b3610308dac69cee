"""Missing: what the unknown outcomes of a comparison could change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _check, _groups
from .paired import unit_sums
from .pairs import holm, mcnemar
from .permutation import sign_flip

NAN = float("nan")


@dataclass(frozen=True)
class MissingState:
    """What the unknown outcomes could change: the difference and p at both ends, and `state`:
    "decides nothing", "could undo" or "could bring" a decision.
    """

    p: float
    floor: float
    ceiling: float
    p_floor: float
    p_ceiling: float
    state: str


def missing_state(
    a: Any, b: Any, *, unit: Any = None, others: Sequence[float] = (), level: float = 0.95
) -> MissingState:
    """What the unknown outcomes of cases that ran in both modes could change.

    Parameters
    ----------
    a, b : list
        The outcome of each case in either mode: 1, 0, or None where it is unknown.
    unit : array of labels, optional
        The cluster of each case; without one the cases are independent and the test is McNemar's.
    others : list of float
        The p-values of the other members of the family: the decision is Holm's.
    level : float
        1 - level is the error that Holm keeps to.

    Returns
    -------
    MissingState
        `floor`: unknown in A are 0 and in B are 1, `ceiling` the reverse; p at each.

    Notes
    -----
    Two ends are enough for McNemar's test and for sign flips: the one-sided p falls in every sum.

    Source
    ------
    Manski 2003 (worst cases); McNemar 1947; Holm 1979.

    Example
    -------
    >>> missing_state([1] * 6 + [0] * 4, [0] * 5 + [None] + [0] * 4).state
    'could bring'
    """
    for name, outcomes in (("a", a), ("b", b)):
        wrong = [x for x in _check.items(outcomes, name) if x not in (0, 1, None)]
        if wrong:
            raise ValueError(f"{name} must be 0, 1 or None, got {wrong[0]!r}")
    known = np.array([x is not None and y is not None for x, y in zip(a, b, strict=True)])
    labels = None if unit is None else _groups.codes(unit, "unit", len(known))[0]

    def tested(up: int | None) -> tuple[float, float]:
        rows = known if up is None else np.ones(len(known), dtype=bool)
        first = np.array([up if x is None else x for x in a], dtype=object)[rows].astype(float)
        second = [1 - (up or 0) if x is None else x for x in b]
        values = first - np.array(second, dtype=object)[rows].astype(float)
        if labels is None:
            p = mcnemar(int((values > 0).sum()), int((values < 0).sum())).p
        else:
            code, groups = _groups.codes(labels[rows], "unit", int(rows.sum()))
            p = sign_flip(unit_sums(values, code, groups)[1]).p
        return float(values.mean()) if len(values) else NAN, p

    rest = _check.floats(others, "others").tolist()
    row, floor, ceiling = tested(None), tested(0), tested(1)
    state = what_missing_decides(row, floor, ceiling, rest, 1 - _check.level_of(level))
    return MissingState(row[1], floor[0], ceiling[0], floor[1], ceiling[1], state)


def what_missing_decides(
    row: tuple[float, float],
    floor: tuple[float, float],
    ceiling: tuple[float, float],
    others: Sequence[float],
    alpha: float,
) -> str:
    """The state of a row by its difference and p, as it is and at both ends, each put into the
    family of the row in turn.
    """

    def decision(diff: float, p: float) -> int:
        adjusted = float(holm([p, *others], alpha=alpha).adjusted[0])
        return int(np.sign(diff)) if adjusted <= alpha else 0

    mine, *ends = (decision(*end) for end in (row, floor, ceiling))
    if all(end == mine for end in ends):
        return "decides nothing"
    return "could undo" if mine else "could bring"
