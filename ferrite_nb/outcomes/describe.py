"""What a table of outcomes supports, by its values, and the lines that say what was read."""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

import narwhals.stable.v2 as nw

from ..escape import plain
from ..metrics import METRICS, Metric, recorded
from .contract import STRATA
from .frames import Frame, how_many, pandas_of, plural

if TYPE_CHECKING:
    from .table import Outcomes

UNCHECKED = "keys not checked for duplicates"
HOW = {
    "declared": "",
    "known": " (known by its name)",
    "first": ' (the first of the modes; name another with baseline="<mode>")',
}


def row_masks(metric: Metric, have: list[str]) -> tuple[nw.Expr, nw.Expr, nw.Expr]:
    """Of a row: whether it is in the metric's population, whether its event is known, and true."""
    tests = [nw.col(column) == value for column, value in metric.population.items()]
    if metric.leaves_out_unmeasurable and "measurable" in have:
        tests.append(nw.coalesce(nw.col("measurable"), nw.lit(True)))
    # a filter takes no bare literal: a metric of all rows says so with a key, which is never
    # missing
    population = reduce(and_, tests or [~nw.col("mode").is_null()])
    known = reduce(and_, [~nw.col(column).is_null() for column in metric.event], nw.lit(True))
    event = reduce(
        and_, [nw.col(column) == value for column, value in metric.event.items()], nw.lit(True)
    )
    return population, known, event


def supported(table: Frame) -> tuple[Metric, ...]:
    """The metrics for which some row of the population holds all that is counted, in one pass; what
    is compared between modes must be there in two of them.
    """
    have = table.collect_schema().names()
    wanted, told = recorded(have), []
    for place, metric in enumerate(wanted):
        population, known, _ = row_masks(metric, have)
        there = reduce(
            and_, [~nw.col(name).is_null() for name in metric.measures], population & known
        )
        if metric.only:
            mode = nw.col("mode").str.to_lowercase().str.replace_all("_", "", literal=True)
            there = there & mode.is_in(list(metric.only))
        told.append(how_many(there).alias(f"n{place}"))
        if metric.counted in ("traces", "differences"):
            mode = nw.when(there).then(nw.col("mode"))
            told += [mode.min().alias(f"low{place}"), mode.max().alias(f"high{place}")]
    found = pandas_of(table.select(*told)).iloc[0] if told else {}
    return tuple(
        metric
        for place, metric in enumerate(wanted)
        if found[f"n{place}"] > 0
        and (f"low{place}" not in found or found[f"low{place}"] != found[f"high{place}"])
    )


def lines(runs: Outcomes) -> list[tuple[str, str]]:
    """What was read, what it supports, what is independent in it, what it tries to record and
    cannot know, and every note; what it does not try to record stands in one line.
    """
    have, able = runs.columns, {metric.symbol for metric in runs.supports}
    live = "measurable" in have
    gaps = [metric for metric in METRICS.values() if metric.live in (None, live)]
    gaps = [metric for metric in gaps if metric.symbol not in able]
    tried: dict[str, list[str]] = {}
    rest = []
    for metric in gaps:
        if metric.own & set(have):
            tried.setdefault(metric.gap, []).append(metric.symbol)
        else:
            rest.append(metric.symbol)
    strata = [name for name in (*STRATA, "template") if name in have]
    base, how = runs.base
    cluster = " × ".join(runs.cluster) or "none declared: each case is taken as independent"
    found = [
        ("read", read_line(runs)),
        (
            "supports",
            "  ".join(metric.symbol for metric in runs.supports) or "no documented metric",
        ),
        ("strata", ", ".join(strata)),
        ("cluster", cluster),
        ("baseline", f"{base}{HOW[how]}" if len(runs.modes) > 1 else ""),
        *(("not computable", f"{', '.join(names)}: {gap}") for gap, names in tried.items()),
        ("not recorded", f"what these need: {', '.join(rest)}" if rest else ""),
        *(("note", note) for note in runs.notes),
    ]
    # A name from a file is no command of a terminal.
    return [(name, plain(text, None)) for name, text in found if text]


def read_line(runs: Outcomes) -> str:
    """The source with its numbers: rows, cases, kinds, errors, and attacks without an outcome."""
    frame = runs.table
    if isinstance(frame, nw.LazyFrame):
        return (
            f"{runs.source}: rows stay on the engine; {UNCHECKED}"
            if not runs.checked
            else runs.source
        )
    have = runs.columns
    weight = nw.col("rows") if "rows" in have else nw.lit(1)
    failed = ~nw.col("error").is_null() if "error" in have else nw.col("mode").is_null()
    lost = (nw.col("kind") == "attack") & ~failed
    lost = lost & nw.col("attack_success").is_null() if "attack_success" in have else lost & failed
    counts = {"rows": ~nw.col("mode").is_null(), "errors": failed, "lost": lost}
    counts |= {kind: nw.col("kind") == kind for kind in ("attack", "benign")}
    sums = [
        nw.when(there).then(weight).otherwise(nw.lit(0)).sum().alias(name)
        for name, there in counts.items()
    ]
    n = pandas_of(frame.select(*sums)).iloc[0].astype(int)
    cases = f" of {plural(frame['case_id'].n_unique(), 'case')}" if "case_id" in have else ""
    kinds = [f"{n[kind]:,} {kind}" for kind in ("attack", "benign") if n[kind]]
    unknown = f"; {n['lost']:,} attack rows without an outcome" if n["lost"] else ""
    return (
        f"{runs.source}: {plural(n['rows'])}{cases} ({', '.join(kinds)}; "
        f"{plural(n['errors'], 'error')}{unknown}); modes: {', '.join(runs.modes)}"
    )
