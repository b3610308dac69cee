"""Read the house's short docstring lines, `name: what it is`, as the NumPy style of the reference page."""

from __future__ import annotations

import re
from typing import Any

import griffe

SECTION = re.compile(
    r"^(Parameters|Returns|Raises|Attributes)\n-+\n(.*?)(?=^\w[^\n]*\n-{3,}\n|\Z)", re.MULTILINE | re.DOTALL
)
LINE = re.compile(r"^([*\w][\w*., /|]*?)\s?:\s(?=\S)(.+)$", re.MULTILINE)
TYPE = re.compile(r"(?:[\w.]+(?:\[[^\]]*\])?)(?:(?:,| \||,? or) (?:[\w.]+(?:\[[^\]]*\])?|optional|default.*))*")


class ShortLines(griffe.Extension):
    """Put what follows the colon under the name, unless it is a type."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring:
            text = re.sub(r"^Example\n-------$", "Examples\n--------", obj.docstring.value, flags=re.MULTILINE)
            obj.docstring.value = SECTION.sub(section, text)


def section(found: re.Match[str]) -> str:
    """One section with every entry in two lines."""
    name, body = found.groups()
    return f"{name}\n{'-' * len(name)}\n{LINE.sub(entry, body)}"


def entry(found: re.Match[str]) -> str:
    """`name: words` becomes the name and, below it, the words; `name : type` stays."""
    name, rest = found.groups()
    return found.group() if TYPE.fullmatch(rest) else f"{name}\n    {rest}"
