"""What all figures share before and after the ink: checks of the table, names of rows, caption, alt
text, Chart.

A figure function has five steps, all with the help of this module and of `_marks`:

1. `table = checked(table, "forest", RATE_COLUMNS, "rates")`; an empty table comes back empty:
return `nothing(…)`; 2. `check_rates(table)` (or `check_bounds` and `check_reasons` for other
columns); 3. inside `with style.settings():` make `style.figure(width, height)` and draw with
`_marks`; 4. `alt_text(…)` and `caption(…)`, made from the table;
5. `finish(figure, table, alt, caption)`, which lays the figure out and returns the Chart.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from ...escape import missing, plain
from ...estimate import Estimate, method_text, number
from ...metrics import METRICS, Metric
from .. import style
from ..chart import Chart
from ..rows import rows_of

FEW = 5  # fewer cases than this are hatched, never drawn as a point
RATE_COLUMNS = ("metric", "k", "n", "rate", "low", "high", "note")
_KNOWN = frozenset(  # columns that say nothing of what a row is of
    {
        *(
            "metric",
            "k",
            "n",
            "rate",
            "low",
            "high",
            "level",
            "method",
            "missing",
            "floor",
            "ceiling",
            "note",
        ),
        *("clusters", "n_eff", "trend_p", "observed", "observed_low", "observed_high"),
        *(
            "independent_low",
            "independent_high",
            "suite_version",
            "judge_version",
            "source",
            "date",
        ),
    }
)
_ALT_MARKS, _ALT_LENGTH = 12, 1500
_FACTS = (
    ("suite_version", "suite version"),
    ("source", "source"),
    ("date", "run of"),
    ("judge_version", "judge version"),
    ("seed", "seed"),
)


# Checks. Each error names the figure's row and values, or the column and the verb that makes it.


def checked(
    table: pd.DataFrame,
    figure: str,
    needed: Sequence[str],
    verb: str,
    *,
    versions: bool = False,
    curves: bool = False,
) -> pd.DataFrame:
    """A copy of the table with rows numbered from 0; empty tables pass, missing columns and 41 rows
    do not.

    `versions=True` is for figures that break their series where the suite version changes,
    `curves=True` for those whose rows are points of a curve: any number of them has room.
    """
    if not isinstance(table, pd.DataFrame):
        raise TypeError(
            f"figures.{figure} draws a table (a pandas DataFrame), got {type(table).__name__}"
        )
    if table.empty:
        return table.copy()
    for column in needed:
        if column not in table.columns:
            raise ValueError(
                f"figures.{figure} needs the column {column!r}; fnb.{verb} makes such a table"
            )
    if len(table) > style.MAX_ROWS and not curves:
        raise ValueError(
            f"figures.{figure} draws at most {style.MAX_ROWS} rows, got {len(table)}; facet with by=, or filter"
        )
    found = _values(table, "suite_version")
    if len(found) > 1 and not versions:
        listed = ", ".join(plain(version) for version in found)
        raise ValueError(
            f"figures.{figure} cannot mix suite versions ({listed}); draw one figure for each"
        )
    return table.reset_index(drop=True)


def check_rates(table: pd.DataFrame) -> None:
    """k <= n, nothing negative, low <= high, all inside 0 to 1, and a reason beside each missing
    rate.
    """
    counts: list[tuple[Any, Any]] = list(zip(table["k"], table["n"], strict=True))
    for place, (k, n) in enumerate(counts):
        if not (missing(k) or missing(n)) and not 0 <= k <= n:
            raise ValueError(f"row {place}: k must lie between 0 and n, got k = {k}, n = {n}")
    for column in ("rate", "low", "high"):
        check_inside(table, column, 0, 1)
    check_bounds(table, "low", "high")
    check_reasons(table, "rate")


def check_inside(table: pd.DataFrame, column: str, least: float, most: float) -> None:
    """Every value of a column lies between two values, or is missing."""
    for place, value in enumerate(table[column]):
        if not missing(value) and not least <= value <= most:
            hint = "; proportions go from 0 to 1, not to 100" if most == 1 else ""
            raise ValueError(
                f"row {place}: {column} must lie between {least} and {number(most)}, got {value}{hint}"
            )


def check_bounds(table: pd.DataFrame, low: str, high: str) -> None:
    """No lower bound lies above its upper bound."""
    for place, (least, most) in enumerate(zip(table[low], table[high], strict=True)):
        if not (missing(least) or missing(most)) and least > most:
            raise ValueError(f"row {place}: {low} must not be above {high}, got {least} and {most}")


def check_reasons(table: pd.DataFrame, column: str) -> None:
    """A missing value has a note that says why."""
    for place, (value, note) in enumerate(zip(table[column], table["note"], strict=True)):
        if missing(value) and missing(note):
            raise ValueError(
                f"row {place}: {column} is missing without a reason in the column 'note'"
            )


# Names.


def strata(table: pd.DataFrame) -> list[str]:
    """The columns that say what a row is of (mode, tier, …), in table order, without those that are
    all empty.
    """
    return [
        column
        for column in table.columns
        if column not in _KNOWN and not all(missing(value) for value in table[column])
    ]


def name_of(row: Any, columns: Iterable[str], limit: int = 40) -> str:
    """What a row is of, in one line: "Tier1, LoopOnly"; safe to draw."""
    parts = [style.drawable(row[column], limit) for column in columns if not missing(row[column])]
    return ", ".join(parts) or "all"


def stratum(value: Any) -> str:
    """The name of one stratum, safe to draw; a stratum without a name is "(none)"."""
    return style.drawable(value) or "(none)"


def definition(symbol: str) -> Metric | None:
    """The documented metric of this symbol; None for a metric of the reader's own."""
    return METRICS.get(symbol)


def metric_title(symbol: str) -> str:
    """A metric spelled out with its better direction: "ASR: attack success rate (lower is
    better)".
    """
    known = definition(symbol)
    if known is None:
        return style.drawable(symbol)
    name = "" if known.name.lower() == symbol.lower() else f": {known.name}"
    return f"{symbol}{name} ({known.better} is better)"


def one_side(table: pd.DataFrame) -> str:
    """A sentence when security is shown without cost; "" otherwise."""
    sides = {known.side for symbol in table["metric"].unique() if (known := definition(symbol))}
    return "No cost metric is shown here: read it beside one" if sides == {"security"} else ""


# Words that travel with the figure.


def caption(table: pd.DataFrame, what: str, *extra: str) -> str:
    """What the figure shows, then method, level, unit, clusters, cases, version, source, from
    columns or attrs.
    """
    parts = [what, *_method(table), *_unit(table), *_cases(table)]
    facts = [(word, _fact(table, name)) for name, word in _FACTS]
    parts += [f"{word} {plain(fact)}" for word, fact in facts if fact]
    if not _fact(table, "suite_version"):
        parts.append("suite version not recorded")
    kinds = (
        [Estimate.from_row(row).kind for row in rows_of(table)] if "rate" in table.columns else []
    )
    if kinds and set(kinds) == {"insufficient"}:
        parts.append("every cell has insufficient data")
    return ". ".join(part[:1].upper() + part[1:] for part in (*parts, *extra) if part) + "."


def _method(table: pd.DataFrame) -> list[str]:
    methods = _values(table, "method")
    levels = [number(level) for level in _values(table, "level")]
    said = f"intervals: {', '.join(map(method_text, methods))}" if methods else ""
    return [f"{said or 'intervals'}, level {' and '.join(levels)}"] if levels else [said]


def _unit(table: pd.DataFrame) -> list[str]:
    clusters = [number(value) for value in sorted(_values(table, "clusters"))]
    name = _fact(table, "cluster")
    if not clusters and not name:
        return ["unit of independence: the case"]
    return [
        f"unit of independence: {plain(name or 'cluster')}"
        + (f" ({_span(clusters)} clusters)" if clusters else "")
    ]


def _cases(table: pd.DataFrame) -> list[str]:
    column = next((name for name in ("n", "n_pairs") if name in table.columns), None)
    counts = [number(value) for value in sorted(_values(table, column))] if column else []
    return [f"cases: {column} = {_span(counts)}"] if counts else []


def _span(counts: list[str]) -> str:
    return counts[0] if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _fact(table: pd.DataFrame, name: str) -> str:
    values = _values(table, name)
    return (
        ", ".join(str(value) for value in values)
        if values
        else str(table.attrs.get(name) or "").strip(", ")
    )


def _values(table: pd.DataFrame, column: str) -> list[Any]:
    if column not in table.columns:
        return []
    return list(dict.fromkeys(value for value in table[column] if not missing(value)))


def alt_text(what: str, finding: str, marks: Sequence[str], extra: Sequence[str] = ()) -> str:
    """Alt text: what it shows, the finding, every mark up to twelve; above twelve their count.

    `finding` holds the extremes in numbers; each of `marks` reads "name k/n [low, high]" or gives
    its reason.
    """
    if len(marks) <= _ALT_MARKS:
        listed = "; ".join(marks) + "." if marks else ""
    else:
        listed = f"{len(marks)} marks; the table holds all."
    said = " ".join(part for part in (f"{what}.", finding, listed, *extra) if part)
    return (
        plain(said, None)
        if len(said) <= _ALT_LENGTH
        else plain(said[: _ALT_LENGTH - 1], None) + "\u2026"
    )


def extremes(names: Sequence[str], estimates: Sequence[Estimate]) -> str:
    """The lowest and the highest of the estimates that may be read, each with its counts."""
    read = [
        (one.rate, name, one)
        for name, one in zip(names, estimates, strict=True)
        if one.kind not in ("insufficient", "not computable")
    ]
    if not read:
        return "No rate may be read: all data are insufficient or not computable."
    low, high = min(read, key=lambda item: item[0]), max(read, key=lambda item: item[0])
    if len(read) == 1 or math.isclose(low[0], high[0]):
        return f"{low[1]} has {low[2].label()}" + (
            "." if len(read) == 1 else f", and all {len(read)} rates are equal."
        )
    return f"Lowest: {low[1]} {low[2].label()}. Highest: {high[1]} {high[2].label()}."


def finish(figure: Figure, table: pd.DataFrame, alt: str, caption: str) -> Chart:
    """Lay the figure out once and return it with its table, alt text and caption."""
    return Chart(style.freeze(figure), table, alt, caption)


def nothing(figure: str, verb: str, table: pd.DataFrame, width: str) -> Chart:
    """The chart of an empty table: a message, and the same as alt text."""
    words = f"nothing to draw: the table has no row; fnb.{verb} makes one with rows for figures.{figure}"
    with style.settings():
        drawn = style.figure(width, 0.8)
        drawn.text(
            0.5,
            0.5,
            style.wrap(words, style.width_of(width) - 0.4),
            ha="center",
            va="center",
            color=style.GREY,
        )
        return finish(drawn, table.copy(), words, words[0].upper() + words[1:] + ".")
