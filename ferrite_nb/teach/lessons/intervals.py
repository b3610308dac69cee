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
from ..lab.stream import paired_sample

__all__ = ["METHODS", "coverage", "coverages", "crowd", "one_interval", "rain", "wald"]

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


def one_interval(k: int = 3, n: int = 20, level: float = 0.95, method: str = "wilson") -> Chart:
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
    alt = f"Two intervals of one proportion. {finding}"
    return _drawn(table, 1.3, _draw_intervals, alt, f"{finding} {caption}")


def _warning(refused: Interval) -> str:
    if refused.low == refused.high:
        return " Wald has no width here: it claims to be certain."
    return " Wald leaves the scale of 0 to 1." if refused.low < 0 or refused.high > 1 else ""


def coverages(n: int = 20, level: float = 0.95, *, rates: Sequence[float] = RATES) -> Chart:
    """How often Wald and Wilson hold the truth, over a range of true rates; exact.

    Example
    -------
    >>> print(coverages(600).caption)
    With n = 600 Wald holds a true rate of 0.02 in 0.945 of all samples, Wilson in 0.945; both
    promise 0.95...
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
        f"With n = {n} Wald holds a true rate of {rates[at]:g} in {found['wald'][at]:.3f} "
        f"of all samples, Wilson in {found['wilson'][at]:.3f}; both promise {level:g}."
    )
    low = {name: min(values) for name, values in found.items()}
    alt = (
        f"Coverage by true rate for n = {n}. {finding} "
        f"Lowest: Wald {low['wald']:.3f}, Wilson {low['wilson']:.3f}."
    )
    caption = (
        f"Exact share of samples of n = {n} whose interval holds the true rate. "
        f"Line: the promise, {level:g}. Marked: the rates of the table."
    )
    draw = partial(_draw_coverage, level=level, n=n)
    return _drawn(table, 2.4, draw, alt, f"{finding} {caption}")


def rain(
    truth: float = 0.15, n: int = 200, method: str = "wilson", alike: int = 1, *, seed: int = 0
) -> Chart:
    """A hundred samples from a known truth, each with its interval; those that miss are marked.

    Parameters
    ----------
    alike: cases of one template, which succeed or fail together; the interval does not know it.
    seed: of the samples.
    """
    draws = np.random.default_rng(seed)
    k = alike * draws.binomial(n // alike, truth, size=100)
    ends = ends_of(k, n // alike * alike, method, 0.95)
    low, high = (np.clip(end, 0, 1) for end in (ends.low, ends.high))
    missed = (low > truth) | (high < truth)
    table = pd.DataFrame({"sample": range(1, 101), "k": k, "n": n // alike * alike})
    table = table.assign(low=low.round(4), high=high.round(4), misses=missed)
    finding = f"{100 - missed.sum()} of 100 intervals contain the true rate {truth:g}."
    caption = (
        f"{method_text(method)}, level 0.95, n = {n}, {alike} alike. Red with a cross: misses."
    )
    draw = partial(_draw_rain, truth=truth)
    return _drawn(table, 2.6, draw, f"A hundred intervals. {finding}", f"{finding} {caption}")


def crowd(seed: int = 42, *, seeds: int = 2000) -> Chart:
    """The reductions of the lab over many seeds, with one seed marked in the crowd."""
    turned = pd.Series([paired_sample(one).cells[1] for one in range(seeds)])
    own = paired_sample(seed).cells[1]
    table = (
        turned.value_counts().sort_index().rename_axis("turned of 300").reset_index(name="seeds")
    )
    finding = (
        f"Seed {seed} turns {own} of 300; {int((turned >= own).sum())} of {seeds} seeds turn as "
        "many or more. On average 36 are turned."
    )
    caption = f"Cases that the defence turned, by seed 0 to {seeds - 1}. Hatched: the seed {seed}."
    draw = partial(_draw_crowd, own=own)
    return _drawn(table, 2.2, draw, finding, f"{finding} {caption}")


def _drawn(
    table: pd.DataFrame,
    height: float,
    draw: Callable[[Axes, pd.DataFrame], None],
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


def _draw_coverage(ax: Axes, table: pd.DataFrame, level: float, n: int) -> None:
    fine = np.linspace(0.001, 0.5, 400)
    ax.axhline(level, color=style.INK, lw=0.8, ls=(0, (4, 2)))
    for look, name in zip(style.SERIES, ("Wald", "Wilson"), strict=False):
        saw = [coverage(n, rate, method=name.lower(), level=level) for rate in fine]
        ax.plot(fine, saw, color=look.line, lw=0.8, label=name)
        dots: dict[str, Any] = {"color": look.face, "mec": style.INK, "mew": 0.6, "ms": 4, "ls": ""}
        ax.plot(table["true rate"], table[name], marker=look.marker, **dots)
    ax.set_ylim(0, 1.03)
    ax.set_xlabel("true rate")
    ax.set_ylabel("share of intervals that contain it")
    ax.legend(loc="lower right", frameon=False)


def _draw_rain(ax: Axes, table: pd.DataFrame, truth: float) -> None:
    for misses, color, marker in ((False, style.INK, ""), (True, "#b2182b", "x")):
        part = table[table["misses"] == misses]
        ax.vlines(part["sample"], part["low"], part["high"], color=color, lw=1.6 if misses else 0.8)
        ax.plot(part["sample"], part["k"] / part["n"], color=color, marker=marker, ms=5, ls="")
    ax.axhline(truth, color=style.INK, lw=0.8, ls=(0, (4, 2)))
    ax.set_xlabel("sample")
    ax.set_ylabel("rate")


def _draw_crowd(ax: Axes, table: pd.DataFrame, own: int) -> None:
    marked = table["turned of 300"] == own
    ax.bar(table["turned of 300"][~marked], table["seeds"][~marked], color=style.PALE, ec=style.INK)
    shown: dict[str, Any] = {"color": style.SERIES[0].face, "ec": style.INK, "hatch": "///"}
    ax.bar(table["turned of 300"][marked], table["seeds"][marked], **shown)
    ax.set_xlabel("cases that the defence turned, of 300")
    ax.set_ylabel("seeds")
