"""Style: colours, sizes, fonts and the bytes of a rendering; nothing else in the package knows
them.

Okabe and Ito's palette, each series also with its own marker and hatch, so that a figure reads in
grey and for every kind of colour vision. No global state: settings hold inside `settings()` only,
and start from matplotlib's own defaults, so that a reader's matplotlibrc does not change a figure.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, SubFigure
from matplotlib.font_manager import FontProperties, findfont
from matplotlib.ft2font import FT2Font, LoadFlags
from PIL import Image

from ..escape import plain

Width = str | float  # "column", "text", or inches

WIDTHS: dict[str, float] = {"column": 3.3, "text": 7.0}  # inches, of a two-column paper
NARROWEST, WIDEST = 3.0, 14.0  # inches
SMALL, LARGE = 7.0, 8.0  # points; no text is smaller
INK, GREY, PALE = "#000000", "#6e6e6e", "#c8c8c8"
GREYS = (GREY, PALE)
OKABE_ITO = {
    "blue": "#0072B2",
    "vermillion": "#D55E00",
    "green": "#009E73",
    "purple": "#CC79A7",
    "black": "#000000",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "yellow": "#F0E442",
}
HATCH = "//////"  # of "insufficient data", and of nothing else
MAX_ROWS = 40
CSS_PER_INCH = 104  # on screen 7 pt come out at 10 px

_FAMILY = "DejaVu Sans"
_PAD = 0.03  # inches between the words at the edge and the edge
_RC: dict[str, Any] = {
    "font.family": [_FAMILY],
    "font.size": SMALL,
    "axes.titlesize": LARGE,
    "axes.labelsize": SMALL,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.fontsize": SMALL,
    "axes.linewidth": 0.8,
    "lines.linewidth": 1.2,
    "lines.markersize": 5.0,
    "hatch.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "savefig.facecolor": "white",
    "savefig.transparent": False,
    "text.parse_math": False,
    "text.usetex": False,
    "text.hinting": "none",  # letters stand where they are measured, and are drawn a quarter faster
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "ferrite_nb",
    "figure.dpi": 150,
    "figure.constrained_layout.h_pad": _PAD,
    "figure.constrained_layout.w_pad": _PAD,
}
_METADATA: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None},
    "svg": {"Date": None},
    "png": {"Software": None},
}


@dataclass(frozen=True)
class Series:
    """How one series looks: `face` fills its marks, `line` draws them (dark enough on white),
    marker and hatch.
    """

    face: str
    line: str
    marker: str
    hatch: str


_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p")
_HATCHES = ("", "....", "\\\\\\", "xxxx", "----", "ooo", "++++", "||||")
_PALE = ("orange", "sky", "yellow")  # too light for a thin line on white: their lines are black
SERIES = tuple(
    Series(colour, INK if name in _PALE else colour, marker, hatch)
    for (name, colour), marker, hatch in zip(OKABE_ITO.items(), _MARKERS, _HATCHES, strict=True)
)


BASELINE = Series(PALE, GREY, "o", "")  # grey in every figure
UNDEFENDED = "Off"  # how a mode is named that is drawn so, unless the caller names another


def series(names: Sequence[Any], baseline: str = "") -> dict[Any, Series]:
    """A look for each name, by its place among the names: the same in every figure.

    The baseline keeps its place and is grey. After the eighth name the colours come again with
    another marker and hatch, so that no two series share both.
    """
    looks = {}
    for place, name in enumerate(names):
        turn, look = divmod(place, len(SERIES))
        other = SERIES[(look + turn) % len(SERIES)]
        looks[name] = replace(SERIES[look], marker=other.marker, hatch=other.hatch)
        if is_baseline(name, baseline):
            looks[name] = BASELINE
    return looks


def is_baseline(name: Any, baseline: str) -> bool:
    """Whether a mode is the one drawn grey."""
    return bool(baseline) and str(name).strip().lower() == baseline.strip().lower()


def settings() -> AbstractContextManager[None]:
    """Matplotlib's defaults with this style on top, for the length of a `with` block."""
    chosen: Any = {**_defaults(), **_RC}
    return matplotlib.rc_context(chosen)


@cache
def _defaults() -> dict[str, Any]:
    keep = matplotlib.rcParamsDefault
    return {name: keep[name] for name in keep if "backend" not in name and name != "interactive"}


Shade = float | tuple[float, float, float]  # a grey from 0 (black) to 1 (white), or RGB


@cache
def heat() -> Any:
    """The colours of a heat map, light for 0 and dark for 1; in grey they keep their order."""
    import seaborn  # a heat map alone needs it, and it takes long to load

    return seaborn.color_palette("mako_r", as_cmap=True)


def contrast(first: Shade, second: Shade) -> float:
    """The contrast of two shades as WCAG measures it, from 1 to 21."""
    light, dark = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(shade: Shade) -> float:
    parts = shade if isinstance(shade, tuple) else (shade, shade, shade)
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(w * part for w, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def on(shade: Shade) -> str:
    """Black or white, whichever is read better on a shade."""
    return INK if contrast(shade, 0.0) >= contrast(shade, 1.0) else "#ffffff"


def width_of(width: Width) -> float:
    """The inches of a width: "column", "text", or a number of inches; another raises."""
    inches = WIDTHS.get(width) if isinstance(width, str) else width
    if isinstance(inches, bool) or inches is None or not NARROWEST <= inches <= WIDEST:
        raise ValueError(
            f"width must be one of {', '.join(WIDTHS)}, or inches from {NARROWEST:g} to "
            f"{WIDEST:g}, got {width!r}"
        )
    return float(inches)


def is_wide(width: Width) -> bool:
    """Whether there is room for words beside the axes."""
    return width_of(width) > 5


def figure(width: Width, height: float) -> Figure:
    """An empty white figure of a width, `height` inches high; never made by pyplot."""
    made = Figure(figsize=(width_of(width), height), layout="constrained", facecolor="white")
    FigureCanvasAgg(
        made
    )  # what measures the words for the layout then draws them, and knows their sizes
    return made


def placed(drawn: Figure, *, left: float, right: float, bottom: float, top: float) -> Axes:
    """Axes with so many inches around them: for a figure that knows its words, nothing has to be
    measured.
    """
    drawn.set_layout_engine(None)
    wide, high = drawn.get_size_inches()
    return drawn.add_axes(
        (left / wide, bottom / high, 1 - (left + right) / wide, 1 - (bottom + top) / high)
    )


def parts(drawn: Figure, *, across: int = 1, heights: Sequence[float] = (1.0,)) -> list[SubFigure]:
    """The parts of a figure, beside or above each other, each laid out for itself."""
    made: Any = drawn.subfigures(len(heights), across, squeeze=False, height_ratios=heights)
    return list(made.flat)


def freeze(drawn: Figure) -> Figure:
    """Lay the figure out once and keep that layout, so that each rendering puts everything at the
    same place.
    """
    if drawn.get_layout_engine() is None:  # placed by the figure itself
        return drawn
    if len(drawn.axes) == 1 and not drawn.subfigs:
        drawn.set_layout_engine(
            "tight", pad=_PAD * 72 / SMALL, rect=None
        )  # measures once, "constrained" twice
    engine = drawn.get_layout_engine()
    if engine is not None and drawn.axes:
        engine.execute(drawn)
    drawn.set_layout_engine(
        None
    )  # "none" leaves a placeholder, for which each rendering draws everything twice
    return drawn


def render(drawn: Figure, kind: str, dpi: int) -> bytes:
    """The bytes of a figure as "pdf", "svg" or "png"; the same figure gives the same bytes."""
    buffer = io.BytesIO()
    with settings():
        drawn.savefig(buffer, format=kind, dpi=dpi, metadata=_METADATA[kind], facecolor="white")
    return buffer.getvalue()


def screen(drawn: Figure) -> bytes:
    """The PNG of a figure for a page: at its own resolution, without a transparency that it never
    uses.
    """
    buffer = io.BytesIO()
    canvas: Any = (
        drawn.canvas if isinstance(drawn.canvas, FigureCanvasAgg) else FigureCanvasAgg(drawn)
    )
    with settings():
        canvas.draw()
    pixels = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    pixels.save(buffer, "png", compress_level=3)
    return buffer.getvalue()


# Text is drawn as it is (`text.parse_math` is off), in one font that comes with matplotlib. A
# letter that the font lacks would draw as an empty box with a warning; the sign U+FFFD says the
# same without the warning.


@cache
def _font() -> tuple[FT2Font, frozenset[int]]:
    font = FT2Font(findfont(FontProperties(family=_FAMILY)))
    return font, frozenset(font.get_charmap())


def drawable(text: Any, limit: int | None = 40) -> str:
    """Text from a file as it is drawn: made plain, cut, letters that the font lacks as U+FFFD."""
    known = _font()[1]
    return "".join(letter if ord(letter) in known else "\ufffd" for letter in plain(text, limit))


@cache
def _advance(letter: str) -> float:
    """How far one letter moves the pen, in points at a size of one point."""
    font = _font()[0]
    font.set_size(100, 72)
    return font.load_char(ord(letter), flags=LoadFlags.NO_HINTING).linearHoriAdvance / 65536 / 100


def text_width(text: str, size: float = SMALL, *, bold: bool = False) -> float:
    """The width of the widest line of a text, in inches; a little more than needed, never less."""
    widest = max(sum(map(_advance, line)) for line in text.split("\n"))
    return widest * size / 72 * (1.14 if bold else 1.03) + 0.01


def wrap(text: str, width: float, size: float = SMALL) -> str:
    """A text broken into lines no wider than `width` inches; a word that is too long is broken
    where parts meet.
    """
    lines, line = [], ""
    for word in re.findall(r"[^ \n]+", text):
        trial = f"{line} {word}".strip()
        if line and text_width(trial, size) > width:
            lines.append(line)
            trial = word
        while len(trial) > 1 and text_width(trial, size) > width:
            cut = _cut(trial, width, size)
            lines.append(trial[:cut])
            trial = trial[cut:]
        line = trial
    return "\n".join([*lines, line])


def _cut(word: str, width: float, size: float) -> int:
    """Where to break a word: at a joint in its second half, else after the last letter that
    fits.
    """
    most = next((i for i in range(len(word) - 1, 0, -1) if text_width(word[:i], size) <= width), 1)
    joints = [
        found.start()
        for found in re.finditer(r"(?<=[a-z])(?=[A-Z])|(?<=[_./-])", word)
        if found.start() <= most
    ]
    return joints[-1] if joints and joints[-1] >= most / 2 else most


def fit(text: str, width: float, *, size: float = SMALL, bold: bool = False) -> str:
    """A text cut in the middle with "…" until it is no wider than `width` inches."""
    shown, limit = text, len(text)
    while limit > 3 and text_width(shown, size, bold=bold) > width:
        limit -= 1
        shown = plain(text, limit)
    return shown


def wrap_label(label: str, width: float) -> str:
    """A label "k/n [low, high]" in one line, or its parts in several; a bracket is never broken."""
    if text_width(label) <= width:
        return label
    kept = re.sub(r", (?=[^\[]*\])", ",\u00a0", label)
    return wrap(kept, width).replace("\u00a0", " ")
