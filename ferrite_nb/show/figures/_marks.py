"""Marks: how one row of a table becomes ink: brackets, arrow, hatch, blank, and the words beside
it.

Each artist carries a name (`gid`) with the row of `chart.table` that it draws, so that a test can
read the numbers back: `interval:<row>`, `marker:<row>`, `arrow:<row>`, `hatched:<row>`,
    `blank:<row>`, `missing:<row>`, `grey:<row>`,
`label:<row>`. Where a row has several intervals, `<row>` is followed by the name of the part:
`interval:3:se`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, Rectangle
from matplotlib.text import Text
from matplotlib.transforms import ScaledTranslation

from ...escape import missing
from ...estimate import FEW, Estimate, number, refusal
from .. import style

Along = Literal["x", "y"]
LINE, AIR = 0.125, 0.06  # inches: a line of text, the air between two entries of a list
Place = int | str
WHITE = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}  # behind words that lie on ink
_CAPS: dict[str, str] = {"x": "|", "y": "_"}


def rate(
    ax: Axes,
    row: Any,
    at: float,
    look: style.Series,
    *,
    along: Along = "x",
    size: float = 0.3,
    cap: float = 7.0,
    point: bool = True,
) -> str:
    """Draw one rate of a table along an axis of rates, `at` a place of the other axis; gives the
    estimate's kind.

    Plain and corrected rates are a marker between brackets, 0/n and n/n an arrow from their bound,
    insufficient data a hatched bar of half-width `size` over the full scale. What is not computable
    leaves its place empty.
    """
    estimate, place = Estimate.from_row(row), row.name
    if estimate.kind == "not computable":
        return estimate.kind
    if estimate.kind == "counts":  # a share without bounds: what a constant answer would reach
        diamond(ax, place, at, estimate.rate)
        return estimate.kind
    if estimate.kind == "insufficient":
        hatched(ax, place, at, along=along, size=size)
        return estimate.kind
    _missing_outcomes(ax, row, at, along)
    _grey_interval(ax, row, at, along, size)
    if estimate.rate in (0, 1):  # also a corrected rate that was cut there
        end, bound = (0.0, estimate.high) if estimate.rate == 0 else (1.0, estimate.low)
        interval(
            ax, place, at, (estimate.low, estimate.high), look, along=along, ends=(bound,), cap=cap
        )
        arrow(ax, place, at, bound, end, look, along=along)
    else:
        interval(ax, place, at, (estimate.low, estimate.high), look, along=along, cap=cap)
        if point:
            marker(ax, place, at, estimate.rate, look, along=along)
    return estimate.kind


def interval(
    ax: Axes,
    place: Place,
    at: float,
    bounds: tuple[float, float],
    look: style.Series,
    *,
    along: Along = "x",
    ends: tuple[float, ...] | None = None,
    cap: float = 7.0,
) -> Line2D:
    """A line from bound to bound with a bracket of `cap` points at each end (or at those in `ends`
    only).
    """
    line = _line(
        ax, along, bounds, at, color=look.line, marker=_CAPS[along], markersize=cap, mew=1.2, lw=1.2
    )
    line.set_markevery([i for i in (0, 1) if ends is None or bounds[i] in ends])
    line.set_gid(f"interval:{place}")
    return line


def marker(
    ax: Axes, place: Place, at: float, value: float, look: style.Series, *, along: Along = "x"
) -> Line2D:
    """The point of a rate: the series' own marker, filled with its colour and edged in black."""
    point = _line(
        ax,
        along,
        (value,),
        at,
        color=look.face,
        marker=look.marker,
        ms=4.5,
        mec=style.INK,
        mew=0.6,
        ls="",
    )
    point.set_gid(f"marker:{place}")
    point.set_zorder(4)
    return point


def diamond(ax: Axes, place: Place, at: float, value: float) -> None:
    """A share that has no interval, as a grey diamond."""
    look = {"marker": "d", "ms": 5, "color": style.PALE, "mec": style.GREY, "mew": 0.8, "ls": ""}
    _line(ax, "x", (value,), at, **look).set_gid(f"constant:{place}")


def arrow(
    ax: Axes,
    place: Place,
    at: float,
    start: float,
    end: float,
    look: style.Series,
    *,
    along: Along = "x",
) -> FancyArrowPatch:
    """An arrow from a bound to the end of the scale: a one-sided limit."""
    ends = [(start, at), (end, at)] if along == "x" else [(at, start), (at, end)]
    head = FancyArrowPatch(
        *ends,
        arrowstyle="-|>",
        mutation_scale=7,
        lw=1.2,
        color=look.line,
        shrinkA=0,
        shrinkB=0,
        clip_on=False,
    )
    head.set_gid(f"arrow:{place}")
    head.set_zorder(4)
    head.set_in_layout(False)
    ax.add_artist(head)  # add_patch would measure it for the limits of the axes, which are fixed
    return head


def hatched(
    ax: Axes,
    place: Place,
    at: float,
    *,
    along: Along = "x",
    size: float = 0.3,
    scale: tuple[float, float] = (0.0, 1.0),
) -> Rectangle:
    """A hatched bar over the full scale: insufficient data."""
    start, long = scale[0], scale[1] - scale[0]
    corner, wide, high = (
        ((start, at - size), long, 2 * size)
        if along == "x"
        else ((at - size, start), 2 * size, long)
    )
    bar = Rectangle(
        corner,
        wide,
        high,
        facecolor="white",
        edgecolor=style.PALE,
        hatch=style.HATCH,
        lw=0.8,
        clip_on=False,
    )
    bar.set_gid(f"hatched:{place}")
    ax.add_patch(bar)
    return bar


def _missing_outcomes(ax: Axes, row: Any, at: float, along: Along) -> None:
    """The span that unknown outcomes leave open, behind the interval."""
    if missing(row.get("missing")) or not row["missing"] or missing(row.get("floor")):
        return
    span = _line(
        ax, along, (row["floor"], row["ceiling"]), at, color=style.PALE, lw=4, solid_capstyle="butt"
    )
    span.set_gid(f"missing:{row.name}")
    span.set_zorder(1)


def _grey_interval(ax: Axes, row: Any, at: float, along: Along, size: float) -> None:
    """The interval that ignores the judge's errors, thinner and grey, beside the main one."""
    if missing(row.get("observed_low")):
        return
    look = {"color": style.GREY, "marker": _CAPS[along], "ms": 3, "mew": 0.8, "lw": 0.8}
    bounds = (row["observed_low"], row["observed_high"])
    _line(ax, along, bounds, at + 0.7 * size, **look).set_gid(f"grey:{row.name}")


def _line(ax: Axes, along: Along, values: tuple[float, ...], at: float, **look: Any) -> Line2D:
    places = [at] * len(values)
    line = Line2D(*((values, places) if along == "x" else (places, values)), clip_on=False, **look)
    line.set_in_layout(False)  # it lies on the scale: only words need room around the axes
    ax.add_line(line)
    return line


def missing_words(row: Any) -> str:
    """ "missing 3" when outcomes of a row are unknown, else ""."""
    count = row.get("missing")
    return "" if missing(count) or not count else f"missing {int(count)}"


def few(row: Any) -> str:
    """The words inside a hatched bar: "insufficient data (n = 3)"."""
    count = row["n"] if "n" in row else row["n_pairs"]
    if missing(count) or count < FEW:
        return f"insufficient data (n\u00a0=\u00a0{number(count)})"
    return style.drawable(refusal("few", str(row["why"])), 80)


def raw(row: Any) -> str:
    """ "raw −0.0054" where a corrected rate was cut to 0 or 1, else ""."""
    value = row.get("value")
    if missing(value) or 0 <= value <= 1:
        return ""
    return f"raw {value:.4f}".replace("-", "\u2212")


def why(row: Any) -> str:
    """The words in place of a mark, by the state of the row and its reason."""
    return style.drawable(refusal("none", "" if missing(row["why"]) else str(row["why"])), 160)


def beside(
    ax: Axes, words: str, at: float, shift: float, *, side: float = 0, lift: float = 0, **look: Any
) -> Text:
    """Words on the line `at` of an axis, `shift` points from its left end (`side` 0) or right end
    (`side` 1).
    """
    chosen: dict[str, Any] = {"va": "center", "ha": "left", "linespacing": 1.05, **look}
    return ax.annotate(
        words,
        (side, at),
        (shift, lift),
        xycoords=ax.get_yaxis_transform(),
        annotation_clip=False,
        textcoords="offset points",
        **chosen,
    )


def inside(ax: Axes, words: str, at: float, *, middle: float = 0.5) -> Text:
    """Words in the middle of a hatched bar."""
    return ax.text(middle, at, words, ha="center", va="center", linespacing=1.05, bbox=WHITE)


def keep_free(ax: Axes, inches: float) -> None:
    """Room at the right of the axes that the layout must leave, whatever is drawn there."""
    axes: Any = ax.transAxes
    place = ax.figure.dpi_scale_trans + ScaledTranslation(1, 0.5, axes)
    room = Rectangle(
        (0, 0),
        inches,
        0.01,
        facecolor="none",
        edgecolor="none",
        lw=0,
        transform=place,
        clip_on=False,
    )
    ax.add_artist(room)


def tall(entries: Iterable[str]) -> float:
    """The inches that a list of entries takes."""
    return sum(LINE * (words.count("\n") + 1) + AIR for words in entries)


def listed(
    ax: Axes, entries: Iterable[tuple[style.Series, str]], *, beside: bool, under: float = 36.0
) -> None:
    """A list of marker and words, beside the axes or under them (`under` points below, where tick
    labels end).
    """
    corner, shift, down = ((1.0, 1.0), 22.0, 0.0) if beside else ((0.0, 0.0), -26.0, -under)
    for look, words in entries:
        ax.annotate(
            words,
            corner,
            (shift, down),
            xycoords="axes fraction",
            textcoords="offset points",
            va="top",
            linespacing=1.05,
            annotation_clip=False,
        )
        key = Line2D(
            [corner[0]],
            [corner[1]],
            marker=look.marker,
            ms=4.5,
            color=look.face,
            ls="",
            clip_on=False,
        )
        key.set(mec=style.INK, mew=0.6)
        move = ScaledTranslation((shift - 8) / 72, (down - 3.7) / 72, ax.figure.dpi_scale_trans)
        key.set_transform(ax.transAxes + move)
        key.set_gid("key:" + words.partition("\n")[0])
        ax.add_line(key)
        down -= 72 * (LINE * (words.count("\n") + 1) + AIR)


def rate_axis(ax: Axes, along: Along = "x", *, ticks: int = 5) -> None:
    """A scale of rates: from 0 to 1, ticks in percent."""
    marks = [i / (ticks - 1) for i in range(ticks)]
    words = [f"{100 * mark:g}" + (" %" if mark in (0, 1) else "") for mark in marks]
    if along == "x":
        ax.set_xlim(0, 1)
        ax.set_xticks(marks, words)
    else:
        ax.set_ylim(0, 1)
        ax.set_yticks(marks, words)
    ax.grid(axis=along, color=style.PALE, lw=0.8, alpha=0.5)
    ax.set_axisbelow(True)


def log_scale(ax: Axes, along: str, low: float, label: str, *, end: float = 1.0) -> None:
    """A log scale of rates from `low` to `end`, ticks at powers of ten."""
    power = int(np.ceil(np.log10(low) - 1e-9))
    marks = [10.0**i for i in range(power, 1) if 10.0**i <= end]
    step = 1 if len(marks) <= 5 else 2
    shown = marks[::-1][::step][::-1]
    if len(marks) == 2:
        shown = [marks[0], 2 * marks[0], 5 * marks[0], marks[1]]
    scale, limit, ticks = (
        (ax.set_xscale, ax.set_xlim, ax.set_xticks)
        if along == "x"
        else (ax.set_yscale, ax.set_ylim, ax.set_yticks)
    )
    scale("log", nonpositive="clip")
    limit(low, end)
    ticks(shown, [number(mark) for mark in shown])
    ticks([], minor=True)
    (ax.set_xlabel if along == "x" else ax.set_ylabel)(label)
    ax.grid(color=style.PALE, lw=0.8, alpha=0.5)
    ax.set_axisbelow(True)
