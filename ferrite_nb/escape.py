"""Escape: text from results files, made harmless for a figure, HTML, LaTeX, Markdown and CSV.

Results files of security evaluations carry attack payloads; nothing that comes out of one is shown
in any other way.
"""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Any

__all__ = ["csv_text", "html_text", "latex_text", "markdown_text", "missing", "plain"]

_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_FORMULA = re.compile(r"^\s*[=+\-@|%\t\r\n\uff1d\uff0b\uff0d\uff20]")
# Letters up to U+017F that LaTeX's T1 encoding lacks: one of them would stop the paper.
_NO_T1 = "\u0126\u0127\u0138\u013f\u0140\u0149\u0166\u0167\u017f"
_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    "[": "{[}",
    '"': r"\textquotedbl{}",
    "*": "{*}",
    "\u2026": r"\ldots{}",
    "\u2212": "$-$",
    "\u2013": "--",
    "\u2014": "---",
}


def plain(text: Any, limit: int | None = 40) -> str:
    """Text from a file, made safe to show: no control or direction marks, cut in the middle with
    "…".

    Control characters (line ends too), lone surrogates and code points that XML forbids become the
    sign U+FFFD; marks that turn the reading direction are removed. `limit=None` does not cut.
    """
    shown = "" if missing(text) else str(text)
    shown = "".join(_visible(letter) for letter in _BIDI.sub("", shown))
    if limit is None or len(shown) <= limit:
        return shown
    head = limit // 2
    return f"{shown[:head]}\u2026{shown[len(shown) - (limit - 1 - head) :]}"


def missing(value: Any) -> bool:
    """Whether a cell of a table holds nothing: None, NaN, pandas' NA and NaT, or empty text."""
    if isinstance(value, str):
        return not value
    return value is None or str(value) in ("nan", "<NA>", "NaT")


def _visible(letter: str) -> str:
    if unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") or ord(letter) & 0xFFFE == 0xFFFE:
        return "\ufffd"
    return letter


def html_text(text: Any, limit: int | None = None) -> str:
    """Text from a file for HTML: no tag and no attribute can come out of it."""
    return html.escape(plain(text, limit), quote=True)


def latex_text(text: Any, limit: int | None = None) -> str:
    """Text from a file for LaTeX: every special sign as itself; letters outside Latin as
    [U+4E2D].
    """
    special = rf"([-',])(?=\1)|[^-\w\s]|[^\x00-\u017f]|[{_NO_T1}]"
    return re.sub(special, _latex_letter, plain(text, limit)).replace("_", r"\_")


def _latex_letter(found: re.Match[str]) -> str:
    letter = found[0]
    if found[1]:
        return f"{letter}{{}}"  # two hyphens, quotes or commas in a row would print as another sign
    return _LATEX.get(
        letter,
        letter if letter <= "\u017f" and letter not in _NO_T1 else f"{{[}}U+{ord(letter):04X}]",
    )


def markdown_text(text: Any, limit: int | None = None) -> str:
    """Text from a file for a Markdown table: no markup, no tag, no column break, no formula."""
    shown = re.sub(r"([\\`*_{}\[\]#|~$!])", r"\\\1", plain(text, limit))
    return shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def csv_text(text: Any) -> str:
    """Text from a file for CSV: a cell that a spreadsheet would run gets a leading apostrophe."""
    shown = plain(text, None)
    return f"'{shown}" if _FORMULA.match(str(text)) else shown
