"""Intervals on trial: the textbook interval that the package refuses, and how often each method
holds a known truth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy.stats import binom, norm

from ...estimate import method_text
from ...show import style
from ...show.chart import Chart
from ...stats import interval
from ...stats.intervals import Interval
from .told import Told, told

__all__ = ["METHODS", "coverage", "coverages", "one_interval", "wald"]

METHODS = ("wilson", "clopper-pearson", "jeffreys", "agresti-coull")
RATES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)


def wald(k: Any, n: Any, *, level: float = 0.95) -> Interval:
    """The normal (Wald) interval of a proportion, to be looked at and not to be used: it may leave
    0 to 1.

    Example
    -------
    >>> ends = wald(3, 20)
    >>> round(float(ends.low), 4), round(float(ends.high), 4)
    (-0.0065, 0.3065)
    """
    rate = np.asarray(k) / np.asarray(n)
    half = norm.ppf((1 + level) / 2) * np.sqrt(rate * (1 - rate) / n)
    return Interval(rate - half, rate + half)


def ends_of(k: Any, n: Any, method: str, level: float) -> Interval:
    """Both ends by any method, the refused one included."""
    return (
        wald(k, n, level=level) if method == "wald" else interval(k, n, method=method, level=level)
    )


def coverage(n: int, rate: float, *, method: str = "wilson", level: float = 0.95) -> float:
    """How often the interval of n cases holds the true rate: the exact chance, summed over every
    possible count.

    Example
    -------
    >>> [round(coverage(20, 0.02, method=name), 3) for name in ("wald", "wilson")]
    [0.332, 0.94]
    """
    k = np.arange(n + 1)
    ends = ends_of(k, n, method, level)
    inside = (ends.low <= rate) & (rate <= ends.high)
    return float(binom.pmf(k, n, rate)[inside].sum())


def one_interval(k: int = 3, n: int = 20, level: float = 0.95, method: str = "wilson") -> Told:
    """The interval of k of n by one method, and under it the Wald interval, on a scale that ends at
    0 and 1.

    Raises
    ------
    ValueError: k is above n, or the method or the level is unknown.
    """
    used = interval(
        k, n, method=method, level=level
    )  # says what is wrong with k, n, level or method
    refused = wald(k, n, level=level)
    named = {method_text(method): used, "Wald": refused}
    rows = [(name, k, n, k / n, float(ends.low), float(ends.high)) for name, ends in named.items()]
    table = pd.DataFrame(rows, columns=["interval", "k", "n", "rate", "rate_low", "rate_high"])
    shown = [
        f"{row.interval} [{row.rate_low:.3f}, {row.rate_high:.3f}]" for row in table.itertuples()
    ]
    finding = f"{k}/{n} = {k / n:.3f}, level {level:g}: {', '.join(shown)}.{_warning(refused)}"
    caption = f"Intervals of {k}/{n}, level {level:g}. Grey: outside 0 to 1, where no rate can be."
    chart = _drawn(
        table,
        1.3,
        _draw_intervals,
        alt=f"Two intervals of one proportion. {finding}",
        caption=caption,
    )
    return told(chart, finding)


def _warning(refused: Interval) -> str:
    if refused.low == refused.high:
        return " Wald has no width here: it claims to be certain."
    return " Wald leaves the scale of 0 to 1." if refused.low < 0 or refused.high > 1 else ""


def coverages(n: int = 20, level: float = 0.95, *, rates: Sequence[float] = RATES) -> Told:
    """How often Wald and Wilson hold the truth, over a range of true rates; exact.

    Example
    -------
    >>> print(coverages(600).finding)
    With n = 600 Wald holds a true rate of 0.02 in 0.945 of all samples, Wilson in 0.945; both
    promise 0.95.
    """
    found = {
        name: [coverage(n, rate, method=name, level=level) for rate in rates]
        for name in ("wald", "wilson")
    }
    table = pd.DataFrame(
        {"true rate": rates, "Wald": found["wald"], "Wilson": found["wilson"]}
    ).round(4)
    at = list(rates).index(0.02) if 0.02 in rates else 0
    finding = (
        f"With n = {n} Wald holds a true rate of {rates[at]:g} in {found['wald'][at]:.3f} of all samples, "
        f"Wilson in {found['wilson'][at]:.3f}; both promise {level:g}."
    )
    low = {name: min(values) for name, values in found.items()}
    alt = f"Coverage by true rate for n = {n}. {finding} Lowest: Wald {low['wald']:.3f}, Wilson {low['wilson']:.3f}."
    caption = f"Exact share of samples of n = {n} whose interval holds the true rate. Line: the promise, {level:g}."
    return told(
        _drawn(table, 2.4, partial(_draw_coverage, level=level), alt=alt, caption=caption), finding
    )


def _drawn(
    table: pd.DataFrame,
    height: float,
    draw: Callable[[Axes, pd.DataFrame], None],
    *,
    alt: str,
    caption: str,
) -> Chart:
    with style.settings():
        figure = style.figure("text", height)
        draw(figure.subplots(), table)
        return Chart(style.freeze(figure), table, alt, caption)


def _draw_intervals(ax: Axes, table: pd.DataFrame) -> None:
    ax.set_xlim(
        min(-0.05, table["rate_low"].min() - 0.02), max(1.05, table["rate_high"].max() + 0.02)
    )
    ax.set_ylim(len(table) - 0.5, -0.5)
    for ends in ((ax.get_xlim()[0], 0), (1, ax.get_xlim()[1])):
        ax.axvspan(*ends, color=style.PALE, lw=0)
    for place, row in enumerate(table.itertuples()):
        look = style.SERIES[place]
        ax.plot(
            [row.rate_low, row.rate_high], [place] * 2, color=look.line, marker="|", ms=9, mew=1.2
        )
        ax.plot(row.rate, place, color=look.face, marker=look.marker, ms=5, mec=style.INK, mew=0.6)
    ax.set_yticks(range(len(table)), list(table["interval"]))
    ax.set_xlabel("rate")


def _draw_coverage(ax: Axes, table: pd.DataFrame, level: float) -> None:
    places = range(len(table))
    ax.axhline(level, color=style.INK, lw=0.8, ls=(0, (4, 2)))
    for look, name in zip(style.SERIES, ("Wald", "Wilson"), strict=False):
        ax.plot(
            places,
            table[name],
            color=look.line,
            marker=look.marker,
            mfc=look.face,
            mec=style.INK,
            mew=0.6,
            ms=5,
            lw=0.8,
            ls=":",
            label=name,
        )
    ax.set_xticks(list(places), [f"{rate:g}" for rate in table["true rate"]])
    ax.set_ylim(0, 1.03)
    ax.set_xlabel("true rate")
    ax.set_ylabel("share that holds it")
    ax.legend(loc="lower right", frameon=False)
