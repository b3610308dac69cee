"""Where the variance of a mean comes from: templates, cases, judges, repeats."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from . import _check, _groups

Floats = NDArray[np.float64]
FEW_LEVELS = 5
MEAN, REPEAT = "mean", "repeat"
MOST_BLOCKS = 20  # of levels left out together, where a facet has more levels
SINGULAR, SLACK = 1e-10, 1e-6


@dataclass(frozen=True)
class Components:
    """Variance components by the name of their facet; `se` is that of the mean of all rows."""

    component: dict[str, float]
    share: dict[str, float]
    doubled: dict[str, float]
    low: dict[str, float]
    high: dict[str, float]
    levels: dict[str, int]
    few: dict[str, bool]
    se: float
    naive: float
    note: str = ""


class Confounded(ValueError):
    """Facets that these rows cannot tell apart."""


def components(
    outcome: Any, facets: Mapping[str, Any], *, repeat: bool = True, level: float = 0.95
) -> Components:
    """How much each facet of an evaluation varies, and what more of it would bring.

    Parameters
    ----------
    outcome : array of float
        One value a row: 0 or 1, or a score.
    facets : mapping of name to labels
        What the rows differ in, crossed or nested: one label a row. Labels of a nested facet are
        its own (case "a/1", not "1" in every template). Two crossed facets with repeats get their
        interaction, "template x case", by themselves; others are given as a facet of pairs.
    repeat : bool
        Whether single rows vary by themselves; False where a facet has a level for every row.

    Returns
    -------
    Components
        By facet: `component` (as estimated, negative too), `share` of the variance of the mean
        (a negative component counts as 0), `doubled` (how much narrower the interval gets with
        twice its levels: 0.23 is 23 %), its limits `low` and `high` (about), `levels`, and `few`:
        fewer than five levels, insufficient for a statement. `se` beside `naive`, the standard
        error of independent rows. `doubled` of repeats is NaN where no cell was repeated.

    Not computable when
    -------------------
    nothing varies, or no component is above 0: shares and gains are NaN.

    Raises
    ------
    Confounded
        A ValueError: facets are confounded (also a facet of one level): the message names them.

    Notes
    -----
    Rows of the mean have equal weight. Doubling a facet doubles what is nested in it. The limits
    leave out one level at a time of the facet with the largest share; in simulation they hold the
    truth in .85 to 1.0.

    Source
    ------
    Henderson 1953, Biometrics 9:226, method 1.

    Example
    -------
    >>> outcome = [0, 0, 0, 1, 1, 1, 0, 1, 0, 0, 0, 1]
    >>> facets = {"template": [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2], "case": [0, 0, 1, 1] * 3}
    >>> result = components(outcome, facets)
    >>> {name: round(value, 3) for name, value in result.share.items()}
    {'template': 0.0, 'case': 0.0, 'template x case': 0.25, 'repeat': 0.75}
    """
    values, level = _check.numbers(outcome, "outcome"), _check.level_of(level)
    if not isinstance(facets, Mapping):
        raise TypeError(f"facets must be a mapping of names to labels, got {facets!r}")
    rows, together = len(values), " x ".join(facets)
    code = {name: _groups.codes(labels, name, rows)[0] for name, labels in facets.items()}
    if not code or {MEAN, REPEAT} & set(code):
        raise ValueError(f"facets need names other than {MEAN} and {REPEAT}, got {list(code)}")
    cells = np.unique(np.stack(list(code.values())), axis=1, return_inverse=True)[1].ravel()
    if len(code) == 2 and max(map(_levels, code.values())) < _levels(cells) < rows:
        code[together] = cells
    if repeat:
        code[REPEAT] = np.arange(rows)
    levels = {name: _levels(each) for name, each in code.items()}
    few = {name: size < FEW_LEVELS for name, size in levels.items()}
    if not rows:
        nothing = dict.fromkeys(code, math.nan)
        return Components(
            nothing, nothing, nothing, nothing, nothing, levels, few, math.nan, math.nan, "no row"
        )
    component, part, gain, lost = _fit(values, code)
    if lost:
        raise Confounded(
            f"facets {', '.join(lost)} are confounded: these rows cannot tell them apart "
            f"({MEAN}: a facet of one level; {REPEAT}: a level for every row); leave one out"
        )
    # nobody buys pairs; where no cell was repeated, what repeats would bring is not known
    unknown = {together} if len(facets) == 2 else set()
    unknown |= {REPEAT} if _levels(cells) == rows else set()
    bought = np.where([name in unknown for name in code], math.nan, 1.0)
    limits = _limits(values, code, part[: len(facets)], gain, level)
    arrays = (component, part / (part.sum() or math.nan), *(bought * x for x in (gain, *limits)))
    tables = [dict(zip(code, map(float, each), strict=True)) for each in arrays]
    below = ", ".join(name for name, value in tables[0].items() if value < 0)
    note = f"negative, counted as 0: {below}" if below else ""
    naive = math.sqrt(values.var(ddof=1) / rows)
    component_of, shares, gains, lows, highs = tables
    return Components(
        component_of, shares, gains, lows, highs, levels, few, math.sqrt(part.sum()), naive, note
    )


def _levels(code: Any) -> int:
    return int(code.max(initial=-1)) + 1


def _fit(values: Floats, code: dict[str, Any]) -> tuple[Floats, Floats, Floats, list[str]]:
    """Components, their parts of the variance of the mean, gains by doubling, and what is
    confounded: Henderson's equations T_f = N mean² + sum over g of component_g sum of n_ab²/n_a.
    """
    from scipy.sparse import csr_array

    rows, names = len(values), (MEAN, *code)
    groups = (np.zeros(rows, dtype=np.intp), *code.values())
    designs = [csr_array((np.ones(rows), (np.arange(rows), each))) for each in groups]
    joint = [[one.T @ other for other in designs] for one in designs]
    sizes = [np.bincount(each) for each in groups]
    lines = zip(joint, sizes, strict=True)
    matrix = np.array([[((x**2).sum(axis=1) / n).sum() / rows for x in row] for row, n in lines])
    _, scale, vectors = np.linalg.svd(matrix)
    lost = np.abs(vectors[scale < SINGULAR * scale[0]]).max(axis=0, initial=0) > SLACK
    if lost.any():
        nothing = np.full(len(code), math.nan)
        return nothing, nothing, nothing, [names[at] for at in np.flatnonzero(lost)]
    # from the first value on: the same components, and exactly 0 where nothing varies
    sums = [one.T @ (values - values[0]) for one in designs]
    squares = [float((s**2 / n).sum()) / rows for s, n in zip(sums, sizes, strict=True)]
    component = np.linalg.solve(matrix, squares)[1:]
    part = np.maximum(component, 0) * matrix[0, 1:]
    # twice the levels of f halve what varies from one of them to the next: all that is nested in f
    nested = np.array([[each.nnz == each.shape[1] for each in line[1:]] for line in joint[1:]])
    return component, part, 1 - np.sqrt(1 - nested @ part / (2 * part.sum() or math.nan)), []


def _limits(
    values: Floats, code: dict[str, Any], part: Floats, gain: Floats, level: float
) -> tuple[Floats, Floats]:
    """Limits of the gains, leaving out levels of the facet with the largest part."""
    chosen, gains = list(code.values())[int(np.argmax(part))], []
    blocks = max(min(_levels(chosen), MOST_BLOCKS), 2)
    for block in range(blocks):
        kept = chosen % blocks != block
        inside = {name: _groups.compact(each[kept])[0] for name, each in code.items()}
        gains.append(_fit(values[kept], inside)[2])
    reach = -stdtrit(blocks - 1, (1 - level) / 2) * np.std(gains, axis=0) * math.sqrt(blocks - 1)
    return np.maximum(gain - reach, 0), np.minimum(gain + reach, 1 - math.sqrt(0.5))
