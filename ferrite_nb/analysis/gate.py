"""`gate`: a verdict per requirement, by the unit of its row; "cannot tell" is a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import pandas as pd

from ..count.cube import need_outcomes
from ..escape import markdown_text
from ..estimate import difference_text, digits, estimate_text
from ..outcomes.choose import NoRowError
from ..outcomes.contract import OutcomesError
from ..outcomes.frames import distinct
from ..outcomes.table import Outcomes
from ..schema import Table, made
from ..stats.intervals import interval
from ..stats.planning import largest_k, operating_curve, smallest_k
from .compare import compare
from .rates import rates
from .requirements import Requirement
from .requirements import requirements as parse

CARRIED = ("k", "n", "rate", "low", "high", "missing", "outer_low", "outer_high", "clusters")
CARRIED += ("n_eff", "mode", "state", "why", "method", "unit", "suite_version", "source", "seed")
MOST_MORE = 10**7


def gate(runs: Outcomes, requirements: Any) -> Table:
    """Hold outcomes against requirements: pass, fail or cannot tell.

    Parameters
    ----------
    requirements: the path of a TOML file with `[[requirement]]` tables, one mapping, or a list of
        mappings. Fields: `metric`; `at_most` or `at_least` (a proportion), or `against` (a mode)
        with `drop_at_most` or `rise_at_most` (a difference on the same cases); `where` (columns and
        values, among them the mode), `rule` ("bound", the default, or "point"), `level`, `cluster`
        (the unit of independence), `judge`, `suite_version`, `owner`, `schedule`,
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
    result without any event would: 189 for 2 %. Rule "point" compares k/n alone.

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
        found = None if why else measured(chosen, one)
    except (OutcomesError, NoRowError) as problem:
        why, found = str(problem), None
    if found is None:
        row |= {"why": why or "no such case ran"}
        return row | {"note": joined(f"not computable: {row['why']}", one.on_cannot_tell)}
    row |= found
    verdict, words = decide(one, row)
    row["verdict"] = verdict
    level = "" if one.level == 0.95 or one.rule == "point" else f"bounds at level {one.level:.4g}"
    row["note"] = joined(words, row["note"], level, accepted(one, row))
    if verdict == "cannot tell":
        row["note"] = joined(row["note"], one.on_cannot_tell)
    return row


def measured(runs: Outcomes, one: Requirement) -> dict[str, Any] | None:
    """The rate or the difference of a requirement as its verb gives it; None without a row."""
    if not one.against:
        options = {"level": one.level, "cluster": one.cluster, "judge": one.judge}
        table = rates(runs, one.metric.symbol, **options)
        if len(table) > 1:
            modes = ", ".join(table["mode"])
            raise ValueError(f"{one}: several modes ({modes}); name one in where")
        found = table.to_dict("records")[0]
        return {name: found[name] for name in CARRIED} | {"note": found["note"]}
    modes = [one.against, str(one.where["mode"])]
    options = {"level": one.level, "cluster": one.cluster, "judge": one.judge}
    found = compare(runs, one.metric.symbol, modes=modes, **options).to_dict("records")[0]
    turn = found["mode_a"].lower() == one.against.lower()  # then A - B is the other minus the mode
    ends = (found["diff"], found["low"], found["high"])
    value, low, high = (-ends[0], -ends[2], -ends[1]) if turn else ends
    names = ("state", "why", "method", "unit", "suite_version", "source", "seed", "note")
    words = {name: found[name] for name in names}
    mode = found["mode_b"] if turn else found["mode_a"]
    return words | {"n": found["n_pairs"], "value": value, "low": low, "high": high, "mode": mode}


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
    if one.against:
        return "pass", ""
    if not one.keeps(row["outer_high"] if one.upper else row["outer_low"]):
        return "cannot tell", f"{row['missing']} missing outcomes could turn it"
    few = too_few_clusters(one, row)
    return ("cannot tell", few) if few else ("pass", "")


def too_few_clusters(one: Requirement, row: Mapping[str, Any]) -> str:
    """Why no result of so few clusters can pass: even the best one, without a single bad case, has
    a bound beyond the threshold.
    """
    clusters = row.get("clusters")
    if clusters is None or pd.isna(clusters) or int(clusters) == row["n"]:
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
    n, missing = row["n"], row["missing"]
    if one.against or not n:
        return ""
    clusters = row.get("clusters")
    clustered = clusters is not None and not pd.isna(clusters) and int(clusters) != n
    if (clustered and one.rule != "point") or one.judge is not None:
        few = too_few_clusters(one, row)
        by = "how the events lie in the clusters" if clustered else "the labels"
        return few or f"no acceptance number: whether a count passes depends on {by}"
    accept = acceptance(one, n, missing)
    row["accept"] = accept
    if accept is None:
        row["p_pass"] = 0.0
        return f"no result of {n} cases can pass this rule" + (
            " with these missing" if missing else ""
        )
    row["p_pass"] = float(
        operating_curve(n, accept, one.threshold, direction="at most" if one.upper else "at least")
    )
    if row["verdict"] == "cannot tell" and one.rule == "bound" and not missing:
        row["more"] = more_cases(one, row)
    said = f"passes with k {'<=' if one.upper else '>='} {accept} of {n}"
    return said + (
        f"; about {row['more']} more cases like these would decide" if row.get("more") else ""
    )


def acceptance(one: Requirement, n: int, missing: int) -> int | None:
    """The largest k (the smallest for a lower threshold) that passes; None when none does."""
    method = "point" if one.rule == "point" else "wilson"
    find = largest_k if one.upper else smallest_k
    accept = find(n, one.threshold, method=method, level=one.level)
    if accept is None or not missing:
        return accept
    # the missing outcomes at their worst are events of the larger sample (no events for a lower
    # threshold), and both samples have to keep to the threshold
    whole = find(n + missing, one.threshold, method=method, level=one.level)
    if whole is None:
        return None
    if one.upper:
        return min(accept, whole - missing) if whole >= missing else None
    return max(accept, whole) if whole <= n else None


def more_cases(one: Requirement, row: Mapping[str, Any]) -> int | None:
    """How many more cases with this rate would bring a verdict; None where none would soon."""
    n, rate = row["n"], row["rate"]
    size = n
    while size <= MOST_MORE:
        size = math.ceil(size * 1.02) + 1
        ends = interval(round(rate * size), size, level=one.level)
        low, high = float(ends.low), float(ends.high)
        safe, unsafe = (high, low) if one.upper else (low, high)
        if one.keeps(safe) or not one.keeps(unsafe):
            return size - n
    return None


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
    return [
        f"{row['verdict']:<12} {row['requirement']}: {measured_text(row)}"
        for row in table.to_dict("records")
    ]


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
