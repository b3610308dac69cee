"""What a file is, from its first bytes and its layout: the `Head` that every reader's `sniff` looks
at.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ..outcomes.contract import OutcomesError
from ..outcomes.declare import some
from ._archives import members_of, open_zip
from ._files import BOM, LINE_LIMIT, START, Tally, json_file, json_value, open_file, start_of

MAGIC = (
    (b"PAR1", "parquet"),
    (b"ARROW1", "arrow"),
    (b"FEA1", "feather"),
    (b"SQLite format 3\x00", "sqlite"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"\xd0\xcf\x11\xe0", "spreadsheet"),
    (b"%PDF", "pdf"),
    (b"BZh", "packed"),
    (b"\xfd7zXZ", "packed"),
    (b"7z\xbc\xaf", "packed"),
    (b"\x28\xb5\x2f\xfd", "packed"),
)
REFUSED = {
    "spreadsheet": "is a spreadsheet; save it as CSV and read that",
    "pickle": (
        "is a Python pickle, which can run code when it is opened; it is never read. Save the table"
        " as CSV"
    ),
    "packed": "is packed in a way that is not read here; unpack it first",
    "feather": (
        "is a Feather file of the first version, which cannot be read safely; save the table as"
        " Parquet"
    ),
    "pdf": "is a PDF document, not a results file",
    "binary": "is a binary file of no known results format",
    "empty": "is empty: it holds no results",
}
TEXTUAL = b"\t\n\r\f\x1b" + bytes(range(32, 256))
SEPARATORS = (",", ";", "\t", "|")
TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|[{}\[\]:"]', re.DOTALL)


@dataclass(frozen=True)
class Head:
    """The beginning of one file: enough to recognise its format without reading it whole.

    `path` is the file, `start` its first 64 KiB (unpacked if it is gzip), `members` the names in a
    zip archive, `whole` the first JSON value, where it had to be read behind the start.
    """

    path: Path
    start: bytes
    members: tuple[str, ...] = ()
    whole: Any = None

    @cached_property
    def kind(self) -> str:
        """text, parquet, arrow, feather, sqlite, zip, or one of the kinds that are refused."""
        if not self.start.removeprefix(BOM).strip():
            return "empty"
        if any(name.startswith("xl/") for name in self.members):
            return "excel"
        for magic, kind in MAGIC:
            if self.start.startswith(magic):
                return kind
        if self.start[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return "text"
        pickled = self.start[:1] == b"\x80" and self.start[1:2] in b"\x02\x03\x04\x05"
        if pickled or self.path.suffix.lower() in {".pkl", ".pickle", ".joblib"}:
            return "pickle"
        odd = len(self.start[:4096].translate(None, TEXTUAL))
        return "binary" if b"\x00" in self.start or odd > len(self.start[:4096]) / 20 else "text"

    @cached_property
    def text(self) -> str:
        """The start as text, without a byte order mark; empty for a file that is no text."""
        if self.kind != "text":
            return ""
        wide = self.start[:2] in (b"\xff\xfe", b"\xfe\xff")
        return self.start.decode("utf-16" if wide else "utf-8-sig", "replace")

    @cached_property
    def comment(self) -> str:
        """The first line, where it is a comment that starts with "#"."""
        line = self.text.split("\n", 1)[0]
        return line.strip() if line.startswith("#") else ""

    @cached_property
    def header(self) -> str:
        """The line that would hold the names of columns."""
        lines = (line.strip("\r") for line in self.text.split("\n"))
        told = (line for line in lines if line.strip() and not line.startswith("#"))
        return next((line for line in told if not re.fullmatch("sep=.", line)), "")

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of columns, where the file looks like a table with a separator; else empty."""
        if self.json_start or not self.header:
            return ()
        try:
            rows = list(csv.reader(io.StringIO(self.header), delimiter=separator_of(self.header)))
        except csv.Error:
            return ()
        names = tuple(name.strip() for name in rows[0]) if rows else ()
        return names if len(names) > 1 else ()

    @cached_property
    def json_start(self) -> bool:
        """Whether the text begins like JSON."""
        return self.text.lstrip()[:1] in ("{", "[")

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of the first JSON object, as far as its beginning shows them."""
        if isinstance(self.whole, dict):
            return frozenset(self.whole)
        return frozenset(top_keys(self.text)) if self.text.lstrip()[:1] == "{" else frozenset()

    @cached_property
    def first(self) -> Any:
        """The first JSON value, where it ends within the start; else None."""
        if self.whole is not None:
            return self.whole
        try:
            return json.JSONDecoder().raw_decode(self.text.lstrip())[0] if self.json_start else None
        except (ValueError, RecursionError):
            return None

    @property
    def cut(self) -> bool:
        """Whether the first JSON object goes on behind the start, so that keys may follow."""
        return self.json_start and len(self.start) >= START and self.first is None

    def longer(self) -> Head:
        """The head with the first JSON value read whole: the first line, or the document."""
        try:
            with open_file(self.path) as stream:
                line = stream.readline(LINE_LIMIT)
            return replace(self, whole=json_value(line, self.path.name, Tally()))
        except OutcomesError:
            try:
                return replace(self, whole=json_file(self.path, Tally()))
            except OutcomesError:
                return self

    def refuse(self) -> None:
        """Raise for the kinds of file that are never read, each with what to do instead."""
        if self.kind in REFUSED:
            raise OutcomesError(f"{self.path.name} {REFUSED[self.kind]}")

    def described(self) -> str:
        """What the file looks like, in words."""
        if self.keys:
            return f"JSON with the keys {some(sorted(self.keys), 12)}"
        if self.columns:
            return f"a table with the columns {some(self.columns, 12)}"
        if self.members:
            return f"a zip archive with the members {some(self.members, 5)}"
        return (
            f"text that starts with {self.text[:40]!r}"
            if self.kind == "text"
            else f"a file of kind {self.kind}"
        )


def head_of(path: Path) -> Head:
    """The head of a file. Raises `OutcomesError` if the file cannot be opened or its archive is
    damaged.
    """
    start = start_of(path, START)
    if not start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return Head(path, start)
    with open_zip(path) as archive:
        return Head(path, start, tuple(member.filename for member in members_of(archive)))


def top_keys(text: str) -> list[str]:
    """The keys of the first object in a text that may be cut anywhere.

    >>> top_keys('{"a": {"b": 1}, "c": [{"d": 2}], "e": "cut he')
    ['a', 'c', 'e']
    """
    depth, keys, last = 0, [], None
    for found in TOKEN.finditer(text):
        token = found.group()
        if token == '"':
            break
        if token in ("{", "["):
            depth += 1
        elif token in ("}", "]"):
            depth -= 1
            if depth <= 0:
                break
        elif token == ":":
            if depth == 1 and last is not None:
                keys.append(last)
        else:
            last = found.group(1)
    return keys


def separator_of(line: str) -> str:
    """The separator that stands most often in a header line, outside of quotes."""
    bare = re.sub(r'"[^"]*"', "", line)
    return max(SEPARATORS, key=bare.count)


def holds(head: Head, names: Sequence[str]) -> bool:
    """Whether the head's columns or keys include all these names."""
    return set(names) <= (set(head.columns) | head.keys)
