"""Text: the forms of an estimate, rounding against exact arithmetic, p-values, and text from
files.
"""

from __future__ import annotations

import html
import math
import sys
import xml.etree.ElementTree as ElementTree
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrite_nb.estimate import Estimate

text = sys.modules["ferrite_nb.estimate"]  # the function of the same name stands before the module

NAN = math.nan
HOSTILE = [
    "<script>a()</script>",
    "$\\frac{a}{b}$",
    "=cmd|' /C calc'!A0",
    "\u202egnp.exe",
    "a\nb\x00c\ud800",
]


@pytest.mark.parametrize(
    ("estimate", "expected"),
    [
        # the forms that the project promises; Wilson bounds of 0/22 and 22/22 as printed by Ferrite
        (Estimate(30, 200, 0.15, 0.106951, 0.206067), "30/200 = 15.0% [10.7, 20.6]"),
        (Estimate(0, 22, 0.0, 0.0, 0.148655), "0/22, upper limit 14.9% [0.0, 14.9]"),
        (Estimate(22, 22, 1.0, 0.851345, 1.0), "22/22, lower limit 85.1% [85.1, 100.0]"),
        (Estimate(3, 3, 1.0, 0.4385, 1.0), "3/3, insufficient data (n<5)"),
        (Estimate(0, 0, NAN, NAN, NAN), "0/0, not computable: no case"),
        (
            Estimate(NAN, NAN, NAN, NAN, NAN, state="none", why="no benign case ran in this mode"),
            "not computable: no benign case ran in this mode",
        ),
        (
            Estimate(0, 0, NAN, NAN, NAN, note="3 missing", state="none", why="all are errors"),
            "0/0, not computable: all are errors",
        ),
        (
            Estimate(12, 40, 0.3, 0.1, 0.6, note="not computable", state="few", why="4 clusters<5"),
            "12/40, insufficient data (4 clusters<5)",
        ),
        (
            Estimate(4, 20, 0.2, NAN, NAN, state="none", why="one cluster says nothing"),
            "4/20, not computable: one cluster says nothing",
        ),
        (
            Estimate(60, 600, 0.0977, 0.071, 0.125, method="delta"),
            "60/600 observed, corrected 9.8% [7.1, 12.5]",
        ),
        (
            Estimate(662, 2847, 0.342, 0.2, 0.4, method="macro"),
            "662/2847 observed, macro mean 34.2% [20.0, 40.0]",
        ),
        (Estimate(1, 20000, 1 / 20000, 8.8e-6, 0.00028), "1/20000 = 0.005% [0.0, 0.028]"),
    ],
)
def test_each_form_of_an_estimate(estimate: Estimate, expected: str) -> None:
    assert str(estimate) == repr(estimate) == expected


def test_bounds_round_outwards_at_the_ends_and_a_limit_is_never_printed_as_zero() -> None:
    assert text.bracket(0.00037, 0.0117) == "[0.0, 1.2]"  # 1 of 482, as published
    assert text.bracket(0.9883, 0.99963) == "[98.8, 100.0]"
    assert text.bracket(0.0, 0.00019) == "[0.0, 0.019]"
    assert text.bracket(0.99981, 1.0) == "[99.981, 100.0]"


def test_a_row_of_a_table_prints_like_its_estimate_whatever_the_type_of_the_row() -> None:
    frame = pd.DataFrame(
        {
            "k": [30.0, NAN],
            "n": [200.0, NAN],
            "rate": [0.15, NAN],
            "low": [0.106951, NAN],
            "high": [0.206067, NAN],
            "level": 0.95,
            "method": "wilson",
            "note": ["", "not computable: no case ran"],
            "state": ["ok", "none"],
            "why": ["", "no case ran"],
        }
    )
    for row in (frame.iloc[0], frame.iloc[0].to_dict(), next(frame.itertuples(index=False))):
        assert text.estimate_text(row) == "30/200 = 15.0% [10.7, 20.6]"
    assert text.estimate_text(frame.iloc[1]) == "not computable: no case ran"
    assert Estimate.from_row(frame.iloc[0]).k == 30
    assert isinstance(Estimate.from_row(frame.iloc[0]).k, int)


def test_an_estimate_read_aloud_has_no_slash_and_names_its_level() -> None:
    said = text.aloud(Estimate(30, 200, 0.15, 0.106951, 0.206067))
    assert said == "30 of 200, 15.0 %, 95 % interval 10.7 to 20.6"
    assert text.aloud(Estimate(3, 3, 1.0, 0.4, 1.0)) == "3 of 3, insufficient data (n<5)"


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_a_printed_rate_is_the_exact_rate_rounded_half_even(counts: tuple[int, int]) -> None:
    k, n = counts
    shown = text.digits(Fraction(k, n))
    exact = Decimal(100 * k) / Decimal(n)
    expected = exact.quantize(Decimal("0.1"), ROUND_HALF_EVEN)
    if expected in (0, 100) and exact != expected:
        assert shown not in ("0.0", "100.0")
        assert abs(Decimal(shown) - exact) < Decimal("0.006")
    else:
        assert Decimal(shown) == expected
        assert shown.count(".") == 1 and len(shown.split(".")[1]) == 1


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0.0"),
        (1, "100.0"),
        (-1, "-100.0"),
        (0.0004, "0.04"),
        (0.9996, "99.96"),
        (-0.00004, "-0.004"),
        (1e-18, "0.0"),
        (1 - 1e-16, "100.0"),
        (0.0005, "0.1"),
        (Fraction(1, 16), "6.2"),
        (-0.15, "-15.0"),
    ],
)
def test_a_value_that_is_not_zero_is_never_printed_as_zero(value: float, shown: str) -> None:
    assert text.digits(value) == shown


def test_p_values_are_never_printed_as_zero() -> None:
    assert text.p_text(0.046875) == "0.0469"
    assert text.p_text(1) == "1.0000"
    assert text.p_text(5.960464477539063e-08) == "<0.0001"
    assert text.p_text(3.469446951953614e-18, full=True) == "3.5e-18"
    # b = 2000, c = 0: the p-value has underflowed, its logarithm has not
    assert text.p_text(0.0, -601.7589613) == "< 1e-300"
    assert text.p_text(0.0) == text.p_text(1e-305) == "< 1e-300"
    assert text.p_text(NAN) == "not computable"


def test_a_difference_has_its_sign_and_bounds_or_a_reason() -> None:
    assert text.difference_text(0.16, 0.1181, 0.2024) == "+16.0 points [11.8, 20.2]"
    assert text.difference_text(-0.0441, -0.1, 0.02) == "-4.4 points [-10.0, 2.0]"
    assert text.difference_text(NAN, why="no shared cases") == "not computable: no shared cases"
    assert "%" not in text.difference_text(0.16, 0.1181, 0.2024)


def test_plain_numbers_are_written_out() -> None:
    assert [text.number(v) for v in (150, 123456.0, 0.0, 1.23456, 12.5, NAN, None)] == [
        "150",
        "123456",
        "0",
        "1.235",
        "12.5",
        "",
        "",
    ]


def test_plain_text_shows_control_marks_and_removes_direction_marks() -> None:
    assert text.plain("a\nb\u202ec\x00\ud800\ufffe") == "a\ufffdbc\ufffd\ufffd\ufffd"
    assert text.plain(None) == text.plain(NAN) == text.plain(pd.NA) == ""
    assert text.plain("nan") == "nan"


@given(st.text(max_size=300), st.integers(3, 60))
def test_plain_text_keeps_its_limit_and_both_ends(word: str, limit: int) -> None:
    shown = text.plain(word, limit)
    assert len(shown) <= limit
    whole = text.plain(word, None)
    assert shown == whole or ("\u2026" in shown and whole.startswith(shown[: limit // 2]))


@given(st.text(max_size=60))
def test_html_text_cannot_open_a_tag_or_leave_an_attribute(word: str) -> None:
    shown = text.html_text(word)
    assert html.unescape(shown) == text.plain(word, None)
    element = ElementTree.fromstring(f'<p title="{shown}">{shown}</p>')
    assert len(element) == 0 and list(element.attrib) == ["title"]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("100%_a & #b", r"100\%\_a \& \#b"),
        ("$\\x{y}$", r"\$\textbackslash{}x\{y\}\$"),
        ("a--b", "a-{}-b"),
        ("[0.1]", "{[}0.1]"),
        ("中 é ü", "{[}U+4E2D] é ü"),
        (
            "~^<>|",
            r"\textasciitilde{}\textasciicircum{}"
            r"\textless{}\textgreater{}\textbar{}",
        ),
        ("*a", "{*}a"),
        ("''a''", "'{}'a'{}'"),
        (",,a, b", ",{},a, b"),
        ("\u0127\u017f\u0142", "{[}U+0127]{[}U+017F]\u0142"),
    ],
)
def test_latex_text_prints_each_sign_as_itself(word: str, expected: str) -> None:
    """A star after the end of a row would be eaten by it; pairs of signs print as one; T1 has no
    \u0127 and stops.
    """
    assert text.latex_text(word) == expected


def test_markdown_text_has_no_markup_left() -> None:
    assert text.markdown_text("a|b <b> *x* [l](u) `c` $y$") == (
        r"a\|b &lt;b&gt; \*x\* \[l\](u) \`c\` \$y\$"
    )


@pytest.mark.parametrize(
    "word", ["=1+1", "+1", "-1", "@x", " =1", "\t=1", "|x", "%0A=1", "\uff1d1"]
)
def test_a_formula_is_guarded_in_csv(word: str) -> None:
    assert text.csv_text(word).startswith("'")
    assert text.csv_text("tool=off") == "tool=off"


@pytest.mark.parametrize("word", HOSTILE)
def test_hostile_text_comes_out_harmless_everywhere(word: str) -> None:
    assert "<" not in text.html_text(word) and "<" not in text.markdown_text(word)
    assert not any(sign in text.plain(word) for sign in "\n\x00\u202e\ud800")
    assert "$" not in text.latex_text(word).replace(r"\$", "")


def test_everything_in_all_is_there() -> None:
    assert all(hasattr(text, name) for name in text.__all__)
