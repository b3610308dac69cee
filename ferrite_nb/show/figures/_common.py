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
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from ...escape import missing, plain
from ...estimate import Estimate, number
from ...metrics import METRICS, Metric
from ...schema import shape_of, strata_of
from .. import style
from ..chart import Chart
from ..facts import facts, values

FEW = 5  # fewer cases than this are hatched, never drawn as a point
RATE_COLUMNS = ("k", "n", "rate", "low", "high", "state", "why", "note")
_ALT_MARKS, _ALT_LENGTH = 12, 1500

# Checks. Each error names the figure's row and values, or the column and the verb that makes it.


def checked(
    table: pd.DataFrame,
    figure: str,
    needed: Sequence[str],
    verb: str,
    *,
    versions: bool = False,
    curves: bool = False,
    labels: Mapping[Any, str] | None = None,
) -> pd.DataFrame:
    """A copy of the table with rows numbered from 0; empty tables pass, missing columns and 41 rows
    do not.

    `versions=True` is for figures that break their series where the suite version changes,
    `curves=True` for those whose rows are points of a curve: any number of them has room. `labels`
    are the caller's own names of modes and strata; two of them may not be the same.
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
            f"figures.{figure} draws at most {style.MAX_ROWS} rows, got {len(table)}; "
            "facet with by=, or filter"
        )
    found = values(table, "suite_version")
    if len(found) > 1 and not versions:
        listed = ", ".join(plain(version) for version in found)
        raise ValueError(
            f"figures.{figure} cannot mix suite versions ({listed}); draw one figure for each"
        )
    table = table.reset_index(drop=True)
    if not labels:
        return table
    for column in strata(table):
        own = table[column].map(lambda value: labels.get(value, value))
        if own.nunique() < table[column].nunique():
            raise ValueError(f"labels must not give two values of {column} the same name")
        table[column] = own
    return table


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
                f"row {place}: {column} must lie between {least} and {number(most)}, "
                f"got {value}{hint}"
            )


def check_bounds(table: pd.DataFrame, low: str, high: str) -> None:
    """No lower bound lies above its upper bound."""
    for place, (least, most) in enumerate(zip(table[low], table[high], strict=True)):
        if not (missing(least) or missing(most)) and least > most:
            raise ValueError(f"row {place}: {low} must not be above {high}, got {least} and {most}")


def check_reasons(table: pd.DataFrame, column: str) -> None:
    """A missing value has a state and a reason."""
    for place, (value, why) in enumerate(zip(table[column], table["why"], strict=True)):
        if missing(value) and missing(why):
            raise ValueError(
                f"row {place}: {column} is missing without a reason in the column 'why'"
            )


# Names.


def strata(table: pd.DataFrame) -> list[str]:
    """The columns that say what a row is of (mode, tier, …), in table order, without those that are
    all empty and those of which the first key already speaks.
    """
    shape = shape_of(table)
    said = {"metric"} | ({"mode", "quantity"} if shape and "verdict" in shape.words else set())
    return [name for name in strata_of(table) if name not in said and values(table, name)]


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


def title_of(symbol: str, title: str | Mapping[str, str] | None) -> str:
    """The title of a panel: the caller's, else the metric spelled out."""
    own = title.get(symbol) if isinstance(title, Mapping) else title
    return metric_title(symbol) if own is None else style.drawable(own, 200)


def undefended(table: pd.DataFrame, baseline: str) -> str:
    """What grey means, where the undefended mode is drawn; "" elsewhere."""
    modes = [mode for mode in values(table, "mode") if style.is_baseline(mode, baseline)]
    return f"grey: {style.drawable(modes[0])}, the undefended mode" if modes else ""


def one_side(table: pd.DataFrame) -> str:
    """A sentence when security is shown without cost; "" otherwise."""
    sides = {known.side for symbol in values(table, "metric") if (known := definition(symbol))}
    return "No cost metric is shown here: read it beside one" if sides == {"security"} else ""


# Words that travel with the figure.


def caption(table: pd.DataFrame, what: str, *extra: str) -> str:
    """What the figure shows, then the facts of its rows: method, level, unit, cases, versions."""
    parts = [what, *facts(table)]
    if values(table, "state") == ["few"]:
        parts.append("every cell has insufficient data")
    return ". ".join(part[:1].upper() + part[1:] for part in (*parts, *extra) if part) + "."


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


def nothing(figure: str, verb: str, table: pd.DataFrame, width: style.Width) -> Chart:
    """The chart of an empty table: a message, and the same as alt text."""
    words = (
        f"nothing to draw: the table has no row; fnb.{verb} makes one with rows "
        f"for figures.{figure}"
    )
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
