"""Style: colours that every reader can tell apart, in colour and in grey, and text that is measured
rightly.
"""

from __future__ import annotations

from itertools import combinations

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from ferrite_nb.show import style

# Machado, Oliveira, Fernandes 2009, severity 1.0: what a dichromat sees, in linear RGB.
SEEN = {
    "normal": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.3039],
    ],
}


def linear(colour: str) -> np.ndarray:
    """Linear RGB of a colour."""
    rgb = np.array(to_rgb(colour))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast(colour: str) -> float:
    """WCAG contrast of a colour on white."""
    return 1.05 / (linear(colour) @ [0.2126, 0.7152, 0.0722] + 0.05)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIE L*a*b* of linear RGB, D65."""
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    xyz = to_xyz @ np.clip(rgb, 0, 1) / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("sight", SEEN)
def test_every_two_series_can_be_told_apart(sight: str) -> None:
    seen = [lab(np.array(SEEN[sight]) @ linear(look.face)) for look in style.SERIES]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 10


def test_series_differ_without_colour_by_marker_and_hatch() -> None:
    assert (
        len({look.marker for look in style.SERIES})
        == len({look.hatch for look in style.SERIES})
        == 8
    )
    assert style.HATCH not in {look.hatch for look in style.SERIES}


def test_lines_and_text_stand_out_from_white() -> None:
    assert all(contrast(look.line) >= 3 for look in style.SERIES)
    assert contrast(style.GREY) >= 4.5 and contrast(style.INK) >= 4.5


def test_no_two_of_sixty_four_series_share_colour_and_marker_or_colour_and_hatch() -> None:
    looks = style.series(range(64)).values()
    assert len({(look.face, look.marker) for look in looks}) == 64
    assert len({(look.face, look.hatch) for look in looks}) == 64


def test_a_baseline_is_grey_and_moves_no_other_look() -> None:
    plain, grey = style.series(["On", "Off", "Half"]), style.series(["On", "Off", "Half"], "off")
    assert grey["Off"] == style.BASELINE
    assert plain["On"] == grey["On"] and plain["Half"] == grey["Half"]


@pytest.mark.parametrize("shade", np.linspace(0, 1, 21))
def test_text_can_be_read_on_every_shade(shade: float) -> None:
    ink = {"#000000": 0.0, "#ffffff": 1.0}[style.on(shade)]
    assert style.contrast(shade, ink) >= 4.5


@pytest.mark.parametrize(
    "text", ["787/787 [99.5, 100.0]", "SanitizerOnly", "insufficient data", "Wä_gjpq [0.0]", "0"]
)
@pytest.mark.parametrize("bold", [False, True])
def test_measured_widths_are_never_less_than_drawn_ones(text: str, bold: bool) -> None:
    with style.settings():
        figure = Figure(dpi=600)
        drawn = figure.text(0, 0, text, fontsize=7, fontweight="bold" if bold else "normal")
        inches = drawn.get_window_extent().width / 600
    assert inches <= style.text_width(text, 7, bold=bold) <= 1.2 * inches + 0.02


def test_wrapped_and_fitted_text_keeps_its_width_and_its_letters() -> None:
    text = "a sentence with averyveryveryveryverylongwordthatisbroken in it"
    for width in (0.3, 0.8, 2.0):
        lines = style.wrap(text, width).split("\n")
        assert all(style.text_width(line) <= width for line in lines)
        assert "".join(lines).replace(" ", "") == text.replace(" ", "")
        assert style.text_width(style.fit(text, width)) <= width


def test_settings_do_not_depend_on_the_readers_and_do_not_stay() -> None:
    before = dict(matplotlib.rcParams)
    with matplotlib.rc_context(
        {"axes.facecolor": "black", "text.usetex": True, "svg.hashsalt": None}
    ):
        with style.settings():
            assert (
                matplotlib.rcParams["axes.facecolor"] == "white"
                and not matplotlib.rcParams["text.usetex"]
            )
            assert matplotlib.rcParams["pdf.fonttype"] == 42
        assert matplotlib.rcParams["axes.facecolor"] == "black"
    assert dict(matplotlib.rcParams) == before


def test_letters_that_the_font_lacks_are_shown_as_a_sign() -> None:
    assert style.drawable("a\u4e2d\u0e01") == "a\ufffd\ufffd"
