"""Read the house's short docstring lines, `name: what it is`, as the NumPy style of the reference
page.
"""

from __future__ import annotations

import re
import textwrap
from typing import Any

import griffe

SECTION = re.compile(
    r"^(Parameters|Returns|Raises|Attributes)\n-+\n(.*?)(?=^\w[^\n]*\n-{3,}\n|\Z)",
    re.MULTILINE | re.DOTALL,
)
LINE = re.compile(r"^([*\w][\w*., /|]*?)\s?:\s(?=\S)(.+)$", re.MULTILINE)
TYPE = re.compile(
    r"(?:[\w.]+(?:\[[^\]]*\])?)(?:(?:,| \||,? or) (?:[\w.]+(?:\[[^\]]*\])?|optional|default.*))*"
)


class ShortLines(griffe.Extension):
    """Put what follows the colon under the name, unless it is a type."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring:
            text = re.sub(
                r"^Example\n-------$", "Examples\n--------", obj.docstring.value, flags=re.MULTILINE
            )
            returns = str(getattr(obj, "returns", None) or "value")
            obj.docstring.value = SECTION.sub(lambda found: section(found, returns), text)


def section(found: re.Match[str], returns: str) -> str:
    """One section with every entry in two lines; what is returned, said in prose, is one entry
    under its type.
    """
    name, body = found.groups()
    body = LINE.sub(entry, body)
    if name == "Returns" and not TYPE.fullmatch(body.partition("\n")[0].strip()):
        words = body.removeprefix(f"{returns}. ")
        body = f"{returns}\n{textwrap.indent(words, '    ')}"
    return f"{name}\n{'-' * len(name)}\n{body}"


def entry(found: re.Match[str]) -> str:
    """`name: words` becomes the name and, below it, the words; `name : type` stays."""
    name, rest = found.groups()
    return found.group() if TYPE.fullmatch(rest) else f"{name}\n    {rest}"
