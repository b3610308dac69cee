"""`gate`: a verdict per requirement, by the unit of its row; "cannot tell" is a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pandas as pd

from ..count.cube import need_outcomes
from ..escape import markdown_text
from ..estimate import difference_text, digits, estimate_text
from ..metrics import METRICS
from ..outcomes.choose import NoRowError
from ..outcomes.contract import OutcomesError
from ..outcomes.frames import distinct
from ..outcomes.table import Outcomes
from ..schema import Table, made
from ..stats._check import z_of
from ..stats.anytime import anytime_pairs
from ..stats.intervals import interval, score_limits
from ..stats.planning import operating_curve
from .compare import compare
from .passing import acceptance
from .rates import rates
from .requirements import Requirement
from .requirements import requirements as parse
from .unit import plain_bounds, unit_of

WORDS = ("state", "why", "method", "unit", "suite_version", "source", "seed", "note")
OUTER = ("outer_low", "outer_high")
NUMBERS = ("k", "n", "rate", "low", "high", "missing", *OUTER, "clusters", "n_eff")
MOST_MORE = 10**4  # times the cases that there are: beyond it, "more cases" is no answer
IDLE = 0.1  # of the normal tasks: a mode that does fewer is switched off


def gate(runs: Outcomes, requirements: Any) -> Table:
    """Hold outcomes against requirements: pass, fail or cannot tell.

    Parameters
    ----------
    requirements: the path of a TOML file with `[[requirement]]` tables, one mapping, or a list of
        mappings. Fields: `metric`; `at_most` or `at_least` (a proportion), or `against` (a mode)
        with `drop_at_most` or `rise_at_most` (a difference on the same cases); `where` (columns and
        values, among them the mode), `rule` ("bound", the default, "point", or "anytime" for
        results that are looked at again and again while they grow), `level`, `cluster` (the unit of
        independence), `judge`, `suite_version`, `owner`, `schedule`,
        `on_cannot_tell`, `name`.

    Returns
    -------
    Table with `requirement` (in words), `metric`, `mode`, `quantity` ("rate" or "difference"), `k`,
    `n`, `rate`, `low`, `high`, `value` (a difference, mode minus the other), `missing`,
    `outer_low`, `outer_high`, `clusters`, `n_eff`, `threshold`, `accept` (the largest k, or the
    smallest for a lower threshold, that passes with these n and missing outcomes, where the unit is
    the case), `p_pass` (the chance to pass when the true rate is the threshold), `more` (cases like
    these that would decide), `verdict`, `state`, `why`, `note`, `rule`, and the facts.

    Not computable when
    -------------------
    the metric has no rate, fewer than five cases, or another suite version than the requirement
    names: the verdict is "cannot tell" and `why` says so. Missing outcomes that could turn a pass
    make it "cannot tell".

    Raises
    ------
    ValueError, TypeError: a requirement that is no requirement, or that anything would meet; a mode
        that is not named although there are several.

    Notes
    -----
    Rule "bound", upper threshold: pass when the upper bound keeps to it (also with the missing
    outcomes as events), fail when even the lower bound is beyond it, otherwise cannot tell; the
    other way round for a lower threshold. With clusters a pass also needs as many clusters as a
    result without any event would: 189 for 2 %. Rule "point" compares k/n alone. Rule "anytime"
    takes bounds that stay true at all looks together, and the note says how much wider they are.

    Example
    -------
    >>> import ferrite_nb as fnb
    >>> runs = fnb.read(fnb.data("gate_pass.csv"))
    >>> fnb.gate(runs, fnb.data("requirements.toml"))["verdict"].tolist()
    ['pass', 'pass', 'pass', 'pass']
    """
    wanted = parse(requirements)
    rows = [verdict_row(runs, one) for one in wanted]
    costs = {_mode(one) for one in wanted if one.metric.side == "cost"}
    for row, one in zip(rows, wanted, strict=True):
        if one.metric.side == "security" and _mode(one) not in costs:
            words = "incomplete: no cost requirement stands beside this security requirement"
            row["note"] = joined(row["note"], words)
    return made("gate", rows)


def _mode(one: Requirement) -> str:
    return str(one.where.get("mode")).lower()


def verdict_row(runs: Outcomes, one: Requirement) -> dict[str, Any]:
    """The verdict of one requirement, as a row."""
    need_outcomes(runs)
    row: dict[str, Any] = {
        "requirement": str(one),
        "metric": one.metric.symbol,
        "mode": str(one.where.get("mode", "")),
        "quantity": "difference" if one.against else "rate",
        **{"k": 0, "n": 0, "missing": 0, "threshold": one.threshold, "rule": one.rule_name},
        **{"verdict": "cannot tell", "state": "none", "level": one.level, "note": ""},
        **{"side": one.metric.side, "owner": one.owner, "schedule": one.schedule},
        "suite_version": one.suite_version,
    }
    lacking = [name for name in one.where if name not in runs.columns]
    if lacking:
        raise ValueError(f"{one}: there is no column {', '.join(lacking)} in the results")
    try:
        rest = {name: value for name, value in one.where.items() if name != "mode"}
        chosen = runs.where(**(rest if one.against else one.where)) if one.where else runs
        why = version_refusal(chosen, one)
        row |= {} if why else measured(chosen, one)
    except (OutcomesError, NoRowError) as problem:
        why = str(problem)
    if why:
        return row | {"why": why, "note": joined(f"not computable: {why}", one.on_cannot_tell)}
    verdict, words = decide(one, row)
    row["verdict"] = verdict
    level = "" if one.level == 0.95 or one.rule == "point" else f"bounds at level {one.level:.4g}"
    row["note"] = joined(words, row["note"], level, one_look(one, row), accepted(one, row))
    if verdict == "pass" and one.metric.side == "security":
        row["note"] = joined(idle(runs, one), row["note"])
    if verdict == "cannot tell":
        row["note"] = joined(row["note"], one.on_cannot_tell)
    return row


def measured(runs: Outcomes, one: Requirement) -> dict[str, Any]:
    """The rate or the difference of a requirement as its verb gives it."""
    options = {"level": one.level, "cluster": one.cluster, "judge": one.judge}
    if one.against:
        return change_measured(runs, one, options)
    method = "anytime" if one.rule == "anytime" else "wilson"
    table = rates(runs, one.metric.symbol, method=method, **options)
    if len(table) > 1:
        modes = ", ".join(table["mode"])
        raise ValueError(f"{one}: several modes ({modes}); name one in where")
    found = table.to_dict("records")[0]
    if one.judge is not None and not found["missing"]:
        found |= {"outer_low": found["low"], "outer_high": found["high"]}
    return {name: found[name] for name in ("mode", *NUMBERS, *WORDS)}


def change_measured(runs: Outcomes, one: Requirement, options: Mapping[str, Any]) -> dict[str, Any]:
    """The difference, mode minus the other, with its bounds and those with the missing outcomes at
    their worst.
    """
    modes = [one.against, str(one.where["mode"])]
    found = compare(runs, one.metric.symbol, modes=modes, **options).to_dict("records")[0]
    row = {name: found[name] for name in WORDS} | {"n": found["n_pairs"]}
    ends = {name: found[name] for name in ("diff", "low", "high")}
    missing = found.get("missing", pd.NA)
    row["missing"] = 0 if pd.isna(missing) else int(missing)
    outer = [found[name] if row["missing"] else ends[name[6:]] for name in OUTER]
    if one.rule == "anytime" and row["state"] == "ok":
        if unit_of(runs, one.cluster).keys or row["missing"]:
            why = "looked at often, a difference needs independent cases that ran once, all known"
            row |= {"state": "none", "why": why, "note": f"not computable: {why}"}
        else:
            cells = (int(found[name]) for name in ("both", "b", "c", "neither"))
            result = anytime_pairs(*cells, level=one.level)
            ends |= {"low": result.low, "high": result.high}
            outer, row["method"] = [result.low, result.high], "anytime pairs"
    turn = found["mode_a"].lower() == one.against.lower()  # then A - B is the other minus the mode
    low, high, lowest, highest = ends["low"], ends["high"], *outer
    row["value"] = -ends["diff"] if turn else ends["diff"]
    row["low"], row["high"] = (-high, -low) if turn else (low, high)
    row["outer_low"], row["outer_high"] = (-highest, -lowest) if turn else (lowest, highest)
    row["mode"] = found["mode_b"] if turn else found["mode_a"]
    return row


def version_refusal(runs: Outcomes, one: Requirement) -> str:
    """Why results of another suite version cannot meet the requirement; empty when they can."""
    if not one.suite_version:
        return ""
    known = "suite_version" in runs.columns
    there = sorted(distinct(runs.table, "suite_version")) if known else []
    if there == [one.suite_version]:
        return ""
    named = f"are of {', '.join(there)}" if there else "name no version"
    return f"refused: the requirement is for suite version {one.suite_version}, the results {named}"


def decide(one: Requirement, row: Mapping[str, Any]) -> tuple[str, str]:
    """The verdict by the numbers of the row, and what has to be said about it."""
    if row["state"] != "ok":
        return "cannot tell", "too few to decide" if row["state"] == "few" else ""
    if one.rule == "point":
        k, n, missing = row["k"], row["n"], row["missing"]
        good = one.keeps(row["rate"])
        worst = (k + missing if one.upper else k) / (n + missing)
        words = "the point rule compares k/n alone"
        if good and not one.keeps(worst):
            return "cannot tell", joined(words, f"{missing} missing outcomes could turn it")
        return ("pass" if good else "fail"), words
    safe, unsafe = (row["high"], row["low"]) if one.upper else (row["low"], row["high"])
    if not one.keeps(safe):
        return ("cannot tell" if one.keeps(unsafe) else "fail"), ""
    if not one.keeps(row["outer_high"] if one.upper else row["outer_low"]):
        return "cannot tell", f"{row['missing']} missing outcomes could turn it"
    few = too_few_clusters(one, row)
    return ("cannot tell", few) if few else ("pass", "")


def too_few_clusters(one: Requirement, row: Mapping[str, Any]) -> str:
    """Why no result of so few clusters can pass: even the best one, without a single bad case, has
    a bound beyond the threshold.
    """
    clusters = row.get("clusters")
    if clusters is None or pd.isna(clusters) or one.rule != "bound":
        return ""
    groups = int(clusters)
    room = one.threshold if one.upper else 1 - one.threshold
    ends = interval(0, groups, level=one.level)
    if float(ends.high) <= room + 1e-12:
        return ""
    if room <= 0:
        return f"no result of {groups} clusters can pass"
    needed = groups
    while float(interval(0, needed, level=one.level).high) > room + 1e-12:
        needed += max(1, needed // 1000)
    side = "at most" if one.upper else "at least"
    limit = digits(one.threshold)
    return f"no result of {groups} clusters can pass {side} {limit} %: {needed} are needed"


def accepted(one: Requirement, row: dict[str, Any]) -> str:
    """What the rule accepts with this n and these missing outcomes; fills `accept`, `p_pass` and
    `more`.
    """
    n, missing, few = row["n"], row["missing"], too_few_clusters(one, row)
    if one.against or not n or few:
        return few
    if row["verdict"] == "cannot tell" and not missing:
        row["more"] = more_cases(one, row)
    more = f"about {row['more']} more cases like these would decide" if row.get("more") else ""
    clustered = row["clusters"] is not None and not pd.isna(row["clusters"])
    if (clustered and one.rule != "point") or one.judge is not None:
        by = "the labels" if one.judge is not None else "how the events lie in the clusters"
        return joined(f"no acceptance number: whether a count passes depends on {by}", more)
    accept = acceptance(one.rule, n, missing, one.threshold, upper=one.upper, level=one.level)
    row["accept"] = accept
    if accept is None:
        row["p_pass"] = 0.0
        return joined(
            f"no result of {n} cases can pass this rule" + (" with these missing" * bool(missing)),
            more,
        )
    direction = "at most" if one.upper else "at least"
    row["p_pass"] = float(operating_curve(n, accept, one.threshold, direction=direction))
    return joined(f"passes with k {'<=' if one.upper else '>='} {accept} of {n}", more)


def more_cases(one: Requirement, row: Mapping[str, Any]) -> int | None:
    """How many more cases like these would bring a verdict; None where none would soon."""
    n, rate, worth = row["n"], row["rate"], row["n_eff"]
    clusters = None if pd.isna(row["clusters"]) else row["clusters"]
    if one.judge is not None or one.rule == "point" or (one.rule != "bound" and clusters):
        return None
    times = 1.0
    while times <= MOST_MORE:
        times = (math.ceil(n * times * 1.02) + 1) / n
        if one.rule == "anytime":
            k, size = (np.array([round(value * n * times)]) for value in (rate, 1))
            (ends,) = plain_bounds(k, size, 0 * k, level=one.level, method=one.rule)
            low, high = ends.low, ends.high
        else:
            low, high = map(float, score_limits(rate, worth * times, z_of(one.level)))
        safe, unsafe = (high, low) if one.upper else (low, high)
        more = {**row, "clusters": clusters and int(clusters * times)}
        if not one.keeps(unsafe) or (one.keeps(safe) and not too_few_clusters(one, more)):
            return round(n * (times - 1))
    return None


def one_look(one: Requirement, row: Mapping[str, Any]) -> str:
    """What bounds that hold at every look cost against those of a single one."""
    if one.rule != "anytime" or row["state"] != "ok":
        return ""
    words = "these bounds stay true however often one looks"
    if one.against or pd.notna(row["clusters"]):
        return words
    single = interval(row["k"], row["n"], level=one.level)
    times = (row["high"] - row["low"]) / float(single.high - single.low)
    return f"{words}; they are {times:.1f} times as wide as those of one look"


def idle(runs: Outcomes, one: Requirement) -> str:
    """Say that a mode which does hardly any normal task passes as a switched-off system would."""
    mode = one.where.get("mode")
    chosen = runs.where(mode=mode) if mode is not None else runs
    for symbol in ("task success", "final answer (benign)"):
        if METRICS[symbol] in chosen.supports:
            done = rates(chosen, symbol, by=None).to_dict("records")
            slack = [row for row in done if row["state"] == "ok" and row["high"] < IDLE]
            return (
                f"the mode does hardly any normal task: {estimate_text(slack[0])}" if slack else ""
            )
    return ""


def joined(*parts: str) -> str:
    """Notes as one text, without empty parts."""
    return "; ".join(part for part in parts if part)


def measured_text(row: Mapping[str, Any]) -> str:
    """The estimate of a row, or its difference in points."""
    if row["quantity"] != "difference":
        return estimate_text(row)
    text = difference_text(row["value"], row["low"], row["high"], why=row["why"])
    return f"{text} on {row['n']} cases"


def verdict_lines(table: pd.DataFrame) -> list[str]:
    """One short line per verdict: the verdict, the requirement with its threshold, the number."""
    lines = []
    for row in table.to_dict("records"):
        more = "" if pd.isna(row["more"]) else f"; about {row['more']:,} more would decide"
        lines.append(f"{row['verdict']:<12} {row['requirement']}: {measured_text(row)}{more}")
    return lines


def markdown_summary(table: pd.DataFrame) -> str:
    """The verdicts as a Markdown table with their notes, for the summary page of a pipeline."""
    lines = ["| verdict | requirement | measured | note |", "|:--|:--|:--|:--|"]
    for row in table.to_dict("records"):
        cells = (row["verdict"], row["requirement"], measured_text(row), row["note"])
        lines.append("| " + " | ".join(markdown_text(str(cell)) for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def junit(table: pd.DataFrame) -> str:
    """The verdicts as JUnit XML: a fail is a failure, "cannot tell" an error."""
    cases = []
    rows = table.to_dict("records")
    for row in rows:
        text = f"{measured_text(row)}; {row['note']}" if row["note"] else measured_text(row)
        tag = {"fail": "failure", "cannot tell": "error"}.get(row["verdict"])
        body = f"<{tag} message={_attribute(row['verdict'])}>{escape(text)}</{tag}>" if tag else ""
        cases.append(f"<testcase name={_attribute(row['requirement'])}>{body}</testcase>")
    counts = {name: _count(rows, name) for name in ("fail", "cannot tell")}
    head = f'tests="{len(rows)}" failures="{counts["fail"]}" errors="{counts["cannot tell"]}"'
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuite name="gate" {head}>\n' + "\n".join(cases) + "\n</testsuite>\n"
    )


def _attribute(text: str) -> str:
    return quoteattr("".join(sign for sign in text if sign.isprintable()))


def _count(rows: Iterable[Mapping[str, Any]], verdict: str) -> int:
    return sum(row["verdict"] == verdict for row in rows)
