"""`gate`: a verdict per requirement, with what the rule can tell apart; "cannot tell" is a
verdict.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from ..count.cube import need_outcomes
from ..estimate import digits, estimate_text
from ..outcomes.contract import OutcomesError
from ..outcomes.table import Outcomes
from ..stats.intervals import interval
from ..stats.planning import largest_k, operating_curve, smallest_k
from .passing import curves
from .rates import rates
from .requirements import Requirement
from .requirements import requirements as parse

COLUMNS = (
    "requirement",
    "k",
    "n",
    "rate",
    "low",
    "high",
    "threshold",
    "rule",
    "verdict",
    "note",
    "metric",
    "side",
    "mode",
    "level",
    "method",
    "missing",
    "accept",
    "p_pass",
    "suite_version",
    "owner",
    "schedule",
)
SLACK = 1e-12


def gate(runs: Outcomes, requirements: Any) -> pd.DataFrame:
    """Hold outcomes against requirements: pass, fail or cannot tell.

    Parameters
    ----------
    requirements: the path of a TOML file with `[[requirement]]` tables, one mapping, or a list of
        mappings. Fields: `metric`, `at_most` or `at_least` (a proportion), `where` (columns and
            values, among them the mode), `rule`
        ("bound", the default, or "point"), `level`, `cluster` (the unit of independence),
        `suite_version`, `owner`, `schedule`, `on_cannot_tell`, `power_at` (true rates for which the
        chance to pass is told), `name`.

    Returns
    -------
    DataFrame with `requirement` (in words), `k`, `n`, `rate`, `low`, `high`, `threshold`, `rule`,
    `verdict`, `note`; and `metric`, `side`, `mode`, `level`, `method`, `missing`, `accept` (the
    largest k, or the smallest for a lower threshold, that passes with this n), `p_pass` (the chance
    to pass when the true rate is the threshold), `suite_version`, `owner`, `schedule`. Its
    `attrs["curves"]` hold the chance to pass by true rate of each requirement.

    Not computable when
    -------------------
    the metric has no rate, fewer than five cases or clusters, or another suite version than the
    requirement names: the verdict is "cannot tell" and the note says why. Missing outcomes that
        could turn a pass make it "cannot tell".

    Raises
    ------
    ValueError, TypeError: a requirement that is no requirement; a mode that is not named although
        there are several.

    Notes
    -----
    Rule "bound", upper threshold: pass when the upper bound keeps to it, fail when even the lower
        bound is beyond it,
    otherwise cannot tell; the other way round for a lower threshold. Rule "point" compares k/n
    alone and never knows.

    Example
    -------
    >>> import ferrite_nb as fnb
    >>> runs = fnb.read(fnb.data("gate_pass.csv"))
    >>> fnb.gate(runs, fnb.data("requirements.toml"))["verdict"].tolist()
    ['pass', 'pass', 'pass', 'pass']
    """
    wanted = parse(requirements)
    rows = [one_verdict(runs, one) | {"_where": one.where.get("mode")} for one in wanted]
    paired = {str(row["_where"]).lower() for row in rows if row["side"] == "cost"}
    for row in rows:
        if row["side"] == "security" and str(row["_where"]).lower() not in paired:
            row["note"] = add(
                row["note"],
                "incomplete: no cost requirement stands beside this security requirement",
            )
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    table.attrs = {"curves": curves(rows, {in_words(one): one.upper for one in wanted})}
    return table


def one_verdict(runs: Outcomes, one: Requirement) -> dict[str, Any]:
    """The verdict of one requirement, as a row."""
    need_outcomes(runs)
    row: dict[str, Any] = {
        "requirement": in_words(one),
        "k": 0,
        "n": 0,
        "rate": math.nan,
        "low": math.nan,
        "high": math.nan,
        "threshold": one.threshold,
        "rule": one.rule_name,
        "verdict": "cannot tell",
        "note": "",
        "metric": one.metric.symbol,
        "side": one.metric.side,
        "mode": str(one.where.get("mode", "")),
        "level": one.level,
        "method": "",
        "missing": 0,
        "accept": pd.NA,
        "p_pass": math.nan,
        "suite_version": one.suite_version,
        "owner": one.owner,
        "schedule": one.schedule,
    }
    lacking = [name for name in one.where if name not in runs.columns]
    if lacking:
        raise ValueError(
            f"{row['requirement']}: there is no column {', '.join(lacking)} in the results"
        )
    try:
        chosen = runs.where(**one.where) if one.where else runs
        refused = version_refusal(chosen, one)
        table = (
            None
            if refused
            else rates(chosen, one.metric.symbol, level=one.level, cluster=one.cluster)
        )
    except OutcomesError as problem:
        table, refused = None, str(problem)
    except ValueError as problem:
        if not str(problem).startswith("no row has"):
            raise
        table, refused = None, str(problem)
    if table is not None and len(table) > 1:
        raise ValueError(
            f"{row['requirement']}: several modes ({', '.join(table['mode'])}); name one in where"
        )
    if table is None or table.empty:
        return row | {"note": add(refused or "no such case ran", one.on_cannot_tell)}
    found = table.iloc[0]
    row |= {
        name: found[name] for name in ("k", "n", "rate", "low", "high", "mode", "method", "missing")
    }
    row |= {"k": int(found["k"]), "n": int(found["n"]), "missing": int(found["missing"])}
    verdict, why = decide(one, found)
    told = "" if one.level == 0.95 or one.rule == "point" else f"bounds at level {one.level:.4g}"
    row |= {"verdict": verdict, "note": add(why, found["note"], told, power_note(one, row))}
    if verdict == "cannot tell":
        row["note"] = add(row["note"], one.on_cannot_tell)
    return row


def in_words(one: Requirement) -> str:
    """A requirement as a line: "ASR at most 2.0% (mode On)"."""
    where = ", ".join(f"{name} {value}" for name, value in one.where.items())
    text = f"{one.metric.symbol} {'at most' if one.upper else 'at least'} {digits(one.threshold)}%"
    return one.name or (f"{text} ({where})" if where else text)


def version_refusal(runs: Outcomes, one: Requirement) -> str:
    """Why results of another suite version cannot meet the requirement; empty when they can."""
    if not one.suite_version:
        return ""
    if "suite_version" not in runs.columns:
        return f"refused: the requirement is for suite version {one.suite_version}, the results name no version"
    from ..outcomes.declare import distinct

    found = sorted(distinct(runs.table, "suite_version"))
    if found == [one.suite_version]:
        return ""
    there = ", ".join(found) or "no version"
    return f"refused: the requirement is for suite version {one.suite_version}, the results are of {there}"


def decide(one: Requirement, found: Any) -> tuple[str, str]:
    """The verdict and what has to be said about it."""
    if math.isnan(found["rate"]):
        return "cannot tell", ""
    if "insufficient" in found["note"]:
        return "cannot tell", "too few to decide"
    k, n, missing = int(found["k"]), int(found["n"]), int(found["missing"])
    if one.rule == "point":
        good, bad = keeps(one, found["rate"]), not keeps(one, found["rate"])
        said = "the point rule compares k/n alone"
        worst = (k + missing if one.upper else k) / (n + missing)
    else:
        if math.isnan(found["low"]):
            return "cannot tell", "no interval"
        safe, unsafe = (found["high"], found["low"]) if one.upper else (found["low"], found["high"])
        good, bad, said = keeps(one, safe), not keeps(one, unsafe), ""
        ends = interval(k + missing if one.upper else k, n + missing, level=one.level)
        worst = max(found["high"], ends.high) if one.upper else min(found["low"], ends.low)
    if good and missing and not keeps(one, worst):
        return "cannot tell", add(said, f"{missing} missing outcomes could turn it")
    return ("pass" if good else "fail" if bad else "cannot tell"), said


def keeps(one: Requirement, value: float) -> bool:
    """Whether a value keeps to the threshold."""
    return value <= one.threshold + SLACK if one.upper else value >= one.threshold - SLACK


def power_note(one: Requirement, row: dict[str, Any]) -> str:
    """What the rule accepts with this n, and how often it passes at stated true rates; fills
    `accept` and `p_pass`.
    """
    n = row["n"]
    if not n:
        return ""
    method = "point" if one.rule == "point" else "wilson"
    find = largest_k if one.upper else smallest_k
    accept = find(n, one.threshold, method=method, level=one.level)
    row["accept"] = pd.NA if accept is None else accept
    if accept is None:
        row["p_pass"] = 0.0
        return f"no result of {n} cases can pass this rule"
    direction = "at most" if one.upper else "at least"
    row["p_pass"] = float(operating_curve(n, accept, one.threshold, direction=direction))
    rates_told = one.power_at or default_rates(one)
    passes = operating_curve(n, accept, list(rates_told), direction=direction)
    told = ", ".join(
        f"{chance:.4f} at {rate:.4g}" for chance, rate in zip(passes, rates_told, strict=True)
    )
    unit = " of independent cases" if one.cluster else ""
    return f"passes with k {'<=' if one.upper else '>='} {accept} of {n}; chance to pass by true rate{unit}: {told}"


def default_rates(one: Requirement) -> tuple[float, ...]:
    """True rates for which the chance to pass is told: half way to the good end, and the threshold
    itself.
    """
    t = one.threshold
    if one.upper and t == 0:
        return (0.001, 0.0)
    return tuple(dict.fromkeys((t / 2, t) if one.upper else ((1 + t) / 2, t)))


def add(*parts: str) -> str:
    """Notes as one text, without empty parts."""
    return "; ".join(part for part in parts if part)


def verdict_lines(table: pd.DataFrame) -> Sequence[str]:
    """One line per verdict: the verdict, the requirement, the estimate and the note."""
    return [
        f"{row['verdict']:<12} {row['requirement']}: {estimate_text(row)}"
        + (f"  ({row['note']})" if row["note"] else "")
        for _, row in table.iterrows()
    ]
