"""`plan`: how many cases, how small a difference, how many labels, each with its assumption."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..count.cube import modes_of
from ..estimate import digits
from ..outcomes.table import Outcomes
from ..schema import Table, made
from ..stats._check import fraction, level_of
from ..stats.found import detectable, labels_by_flag
from ..stats.judge_pairs import labels_needed
from ..stats.planning import largest_k, mcnemar_power, n_for_half_width, smallest_k
from ..stats.programme import n_for_gate
from .compare import compare
from .components import components
from .unit import unit_of

MOST = 10**6
Row = dict[str, Any]


def plan(
    runs: Outcomes | None = None,
    metric: str = "ASR",
    *,
    rate: float | None = None,
    width: float | None = None,
    at_most: float | None = None,
    at_least: float | None = None,
    true: float | None = None,
    power: float = 0.8,
    difference: float | None = None,
    discordant: float | None = None,
    labels: float | None = None,
    se: float | Sequence[float] | None = None,
    sp: float | Sequence[float] | None = None,
    n: int | None = None,
    facets: str | Iterable[str] | None = None,
    cluster: str | Iterable[str] | None = None,
    level: float = 0.95,
) -> Table:
    """Answer what has to be known before a run: one row for each question that the call asks.

    Parameters
    ----------
    runs, metric, cluster: the smallest difference that these cases can show, for each pair with the
        baseline; with `facets` also what more of each facet would bring (`fnb.components`).
    width, rate: cases for an interval of at most this half width, at an expected rate.
    at_most or at_least, true, power: cases for a gate that a system of this true rate passes with
        this chance, and the count that it then accepts.
    difference, discordant, power: cases to find a difference between two modes on the same cases,
        of which this share differs between them.
    labels, se, sp, rate, n: people's labels for a rate that is corrected for the judge, of this
        half width, from n outputs; with a pair of `se` and `sp` (one for each mode) and
        `discordant`, labels in each mode for a corrected difference.
    level: confidence level; tests are at 1 - level.

    Returns
    -------
    Table with `question` ("width", "gate", "pair", "these cases", "facet", "labels"), `value` (the
    number asked for or found, a proportion), `n` (cases or labels), `accept` (the count that a gate
    accepts, or the labels among the flagged outputs), `state`, `why`, `answer`, `assumption`,
    `level`, `method`, `unit`.

    Not computable when
    -------------------
    no number of cases or labels suffices, or the runs have one mode: `state` "none" and `why`.

    Raises
    ------
    ValueError, TypeError: nothing asked, a question without its other half, a wrong number.

    Example
    -------
    >>> import ferrite_nb as fnb
    >>> fnb.plan(rate=0.02, width=0.02, difference=0.05, discordant=0.1)["n"].tolist()
    [223, 337]
    >>> fnb.plan(at_most=0.02, power=0.8, true=0.005)[["n", "accept"]].values.tolist()
    [[437, 3]]
    """
    level = level_of(level)
    asked = {
        "width": (width, rate),
        "at_most": (at_most, true),
        "at_least": (at_least, true),
        "difference": (difference, discordant),
        "labels": (labels, rate, se, sp, n),
    }
    needs = {"width": "rate", "difference": "discordant", "labels": "rate, se, sp and n"}
    wanted = [name for name, given in asked.items() if given[0] is not None]
    for name in wanted:
        if any(value is None for value in asked[name]):
            raise ValueError(f"plan({name}=...) also needs {needs.get(name, 'true')}")
    if not wanted and runs is None:
        raise ValueError("plan answers a question: give runs, width, at_most, difference or labels")
    rows = list(these_cases(runs, metric, cluster, facets, level)) if runs is not None else []
    if width is not None and rate is not None:
        rows.append(width_row(rate, width, level))
    if true is not None:
        for end, upper in ((at_most, True), (at_least, False)):
            rows += [gate_row(end, true, power, level, upper)] if end is not None else []
    if difference is not None and discordant is not None:
        rows.append(pair_row(difference, discordant, power, level))
    if labels is not None:
        pair = isinstance(se, Sequence)
        row = pair_labels if pair else rate_labels
        rows.append(row(labels, n, rate, se, sp, discordant, level))
    return made("plan", rows, level=level)


def none(question: str, why: str, **more: Any) -> Row:
    """A question that has no answer, and why."""
    return {"question": question, "state": "none", "why": why, "answer": "", **more}


def width_row(rate: float, width: float, level: float) -> Row:
    """Cases for an interval of a half width."""
    cases = n_for_half_width(rate, width, level=level)
    return {
        **{"question": "width", "value": width, "n": cases, "state": "ok", "unit": "case"},
        "answer": f"{cases:,} cases for an interval of {digits(width)} points to either side",
        "assumption": f"a rate of {digits(rate)} %, independent cases",
        "method": "wilson",
    }


def gate_row(limit: float, true: float, power: float, level: float, upper: bool) -> Row:
    """Cases for a gate, and the count that it accepts."""
    direction, find, sign = (
        ("at most", largest_k, "<=") if upper else ("at least", smallest_k, ">=")
    )
    size = n_for_gate(limit, true, power, direction=direction, level=level)
    accept, lasting = find(size.first, limit, level=level), size.lasting
    always = "" if lasting == size.first else f"; from {lasting:,} on every number of cases does"
    return {
        **{"question": "gate", "value": limit, "n": size.first, "accept": accept, "state": "ok"},
        "answer": f"{size.first:,} cases, passed with k {sign} {accept}{always}",
        "assumption": f"a true rate of {digits(true)} % that is to pass {direction} "
        f"{digits(limit)} % in {digits(power)} % of runs, independent cases",
        **{"method": "wilson", "unit": "case"},
    }


def pair_row(difference: float, discordant: float, power: float, level: float) -> Row:
    """Cases that find a paired difference by the exact test."""
    delta = fraction(difference, "difference", open_ends=True)
    share, power = fraction(discordant, "discordant"), fraction(power, "power", open_ends=True)
    if delta > share:
        raise ValueError(f"difference must be at most discordant, got {delta} of {share}")
    ends, alpha = ((share + delta) / 2, (share - delta) / 2), 1 - level
    cases = next(
        size for size in _sizes(4) if detectable(size, share, power=power, alpha=alpha) <= delta
    )
    found = next((n for n in _sizes(cases) if mcnemar_power(n, *ends, alpha=alpha) >= power), None)
    row: Row = {"value": delta, "unit": "case", "method": "mcnemar"}
    if found is None:
        return none("pair", f"more than {MOST:,} cases are needed", **row)
    return {
        **row,
        **{"question": "pair", "n": found, "state": "ok"},
        "answer": f"{found:,} cases in both modes find a difference of {digits(delta)} points in "
        f"{digits(power)} % of runs",
        "assumption": f"{digits(share)} % of the cases differ between the modes; independent cases "
        "that run once",
    }


def _sizes(start: int) -> Iterator[int]:
    """Numbers of cases from `start`, in steps of at most half a percent."""
    while start <= MOST:
        yield start
        start += max(1, start // 200)


def these_cases(
    runs: Outcomes, metric: str, cluster: Any, facets: Any, level: float
) -> Iterator[Row]:
    """The smallest difference that these cases can show, and what more of each facet brings."""
    unit = unit_of(runs, cluster).name
    if len(modes_of(runs)) < 2:
        yield none("these cases", "one mode: there is no difference to show", unit=unit)
    else:
        options = {"baseline": modes_of(runs)[0], "level": level, "cluster": cluster}
        for row in compare(runs, metric, **options).to_dict("records"):
            pair = f'"{row["mode_a"]}" and "{row["mode_b"]}"'
            value, worth = row["detectable"], row["unit"]
            shared: Row = {"n": row["n_pairs"], "unit": worth, "method": row["method"]}
            if row["state"] != "ok" or math.isnan(value):
                why = row["why"] or "these cases find no difference"
                yield none("these cases", f"{pair}: {why}", **shared)
                continue
            yield {
                **shared,
                **{"question": "these cases", "value": value, "state": "ok"},
                "answer": f"{pair}: differences from {digits(value)} points on would be found in "
                f"80 % of runs with these {row['n_pairs']:,} cases",
                "assumption": f"as many cases differ as here, the unit is the {worth}",
            }
    for row in [] if facets is None else components(runs, metric, facets).to_dict("records"):
        what = f'"{row["mode"]}", twice the {row["facet"]}s'
        shared = {"value": row["doubled"], "n": row["levels"], "unit": row["facet"]}
        shared |= {"method": row["method"], "question": "facet"}
        if row["state"] != "ok" or math.isnan(row["doubled"]):
            why = row["why"] or "no cell was repeated, so its part is not known"
            yield shared | {
                "state": row["state"] if row["why"] else "none",
                "why": f"{what}: {why}",
            }
            continue
        yield shared | {
            "state": "ok",
            "answer": f"{what}: about {row['doubled']:.0%} narrower",
            "assumption": "new ones vary as those that are here",
        }


def rate_labels(
    half: float, n: Any, rate: Any, se: Any, sp: Any, discordant: Any, level: float
) -> Row:
    """Labels among the outputs of a run for its corrected rate, and how to split them."""
    found = labels_by_flag(half, n, rate, se, sp, level=level)
    row: Row = {"value": half, "unit": "output", "method": "double sample"}
    if found.note:
        why = f"{found.note} (best half width {digits(found.best_half)} points)"
        return none("labels", why, **row)
    total = int(found.flagged + found.unflagged)
    return {
        **row,
        **{"question": "labels", "n": total, "accept": int(found.flagged), "state": "ok"},
        "answer": f"{total:,} labels: {found.flagged:,} of outputs that the judge flags and "
        f"{found.unflagged:,} of the others; {found.proportional:,} when drawn from all alike",
        "assumption": f"a true rate of {digits(rate)} %, sensitivity {se:.2f}, specificity "
        f"{sp:.2f}, {n:,} outputs; labels are a random part of each flag",
    }


def pair_labels(
    half: float, n: Any, rate: Any, se: Any, sp: Any, discordant: Any, level: float
) -> Row:
    """Labels in each of two modes of one rate for their corrected difference."""
    if discordant is None or not isinstance(sp, Sequence) or not 0 <= discordant <= 2 * rate:
        raise ValueError(
            "plan(labels=...) of two modes also needs a pair of sp and discordant, at most 2 * rate"
        )
    cells = [rate - discordant / 2, discordant / 2, discordant / 2, 1 - rate - discordant / 2]
    found = labels_needed(half, n, cells, se, sp, level=level)
    row: Row = {"value": half, "unit": "output", "method": "own labels"}
    if found.note:
        why = f"{found.note} (best half width {digits(found.best_half)} points)"
        return none("labels", why, **row)
    return {
        **row,
        **{"question": "labels", "n": int(found.labels), "state": "ok"},
        "answer": f"{int(found.labels):,} labels in each mode, half of them of true events",
        "assumption": f"a true rate of {digits(rate)} % in both modes, {digits(discordant)} % of "
        f"{n:,} cases differ, labels from outside the run",
    }
