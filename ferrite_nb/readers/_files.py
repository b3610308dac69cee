"""Safe access to results files: bounded lines, JSON with bare NaN, byte order marks, folders whose
links lead out.

Results files carry attack payloads and come from strangers. Nothing here evaluates or unpickles;
every broken line is counted with its place, and every refusal is an `OutcomesError` in one
sentence.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any, TypeVar

import orjson
import pandas as pd
from tqdm import tqdm

from ..outcomes.contract import OutcomesError

LINE_LIMIT = 512 * 2**20
DOCUMENT_LIMIT = 2 * 2**30
UNPACKED_LIMIT = 8 * 2**30
START = 64 * 2**10
PIECE = 2**20
BAR_FROM = 200
DEEP = " (nested too deeply)"
GZIP = b"\x1f\x8b"
BOM = b"\xef\xbb\xbf"
LONG = re.compile(rb"[0-9]{19}")
# What can go wrong inside a damaged gzip stream.
BROKEN = (EOFError, OSError, zlib.error)

Thing = TypeVar("Thing")


class Tally:
    """Counts what a reader skipped or replaced, each with its first place, and turns them into
    notes.
    """

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, str]] = {}

    def add(self, what: str, place: str = "", times: int = 1) -> None:
        """Count `times` more of `what`; the first `place` is kept."""
        count, first = self._found.get(what, (0, place))
        self._found[what] = (count + times, first)

    def count(self, what: str) -> int:
        """How often `what` was counted."""
        return self._found.get(what, (0, ""))[0]

    def notes(self) -> list[str]:
        """One line for each thing counted: "lines that cannot be read: 2 (first: run.jsonl:12)"."""
        return [
            f"{what}: {count:,}" + (f" (first: {place})" if place else "")
            for what, (count, place) in self._found.items()
        ]


def start_of(path: Path, size: int = START) -> bytes:
    """The first bytes of a file, unpacked if it is gzip."""
    with open_file(path) as stream:
        return stream.read(size)


@contextmanager
def open_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a plain or gzip file for reading; what goes wrong becomes an `OutcomesError` that names
    the file.
    """
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == GZIP
            raw.seek(0)
            if packed:
                with gzip.GzipFile(fileobj=raw) as stream:
                    yield stream  # type: ignore[misc]
            else:
                yield raw
    except BROKEN as problem:
        reason = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
        raise OutcomesError(f"{path.name} cannot be read: {reason}") from problem


def within(stream: Any, limit: int) -> bytes | None:
    """All bytes of a stream, or None where there are more than the limit.

    Read in pieces: `read(limit)` sets the whole limit aside before it knows how little there is.
    """
    pieces, total = [], 0
    while piece := stream.read(PIECE):
        pieces.append(piece)
        total += len(piece)
        if total > limit:
            return None
    return b"".join(pieces)


def whole_file(path: Path | str, limit: int | None = None) -> bytes:
    """All bytes of a file, unpacked if it is gzip; a file above the limit is refused."""
    limit = DOCUMENT_LIMIT if limit is None else limit
    with open_file(Path(path)) as stream:
        data = within(stream, limit)
    if data is None:
        raise OutcomesError(
            f"{Path(path).name} has more than {limit:,} bytes, which is more than is read from one"
            " document"
        )
    return data


def lines_of(
    path: Path, tally: Tally, lines: IO[bytes] | None = None
) -> Iterator[tuple[int, bytes, bool]]:
    """The lines of a file as (number, line, whether its end is there); blank lines and a byte order
    mark are skipped.

    A line above the limit is skipped and counted, so that one damaged line does not fill the
    memory.
    """
    number = total = 0
    with nullcontext(lines) if lines else open_file(path) as stream:
        while line := stream.readline(LINE_LIMIT):
            number += 1
            total += len(line)
            ended = line.endswith(b"\n")
            if not ended and len(line) == LINE_LIMIT:
                tally.add("lines that are too long and were skipped", f"{path.name}:{number}")
                while (more := stream.readline(LINE_LIMIT)) and not more.endswith(b"\n"):
                    total += len(more)
                continue
            if total > UNPACKED_LIMIT and isinstance(stream, gzip.GzipFile):
                raise OutcomesError(
                    f"{path.name} unpacks to more than {UNPACKED_LIMIT:,} bytes; unpack it first"
                )
            if number == 1:
                line = line.removeprefix(BOM)
            line = line.strip()
            if line:
                yield number, line, ended


def json_lines(
    path: Path, tally: Tally, *, exact: bool = False, lines: IO[bytes] | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects of a file (or of `lines`) with one object per line, each with its line
    number.

    A line that is no JSON is counted; a last line without its end is counted as half-written. A
    bare NaN or Infinity is read. Text that is not UTF-8 is replaced and counted. `exact` keeps
    whole numbers that no 64 bits hold.
    """
    for number, line, ended in lines_of(path, tally, lines):
        place = f"{path.name}:{number}"
        try:
            long = exact and LONG.search(line)
            value = _lenient(line, place, tally) if long else orjson.loads(line)
        except ValueError:
            try:
                value = _lenient(line, place, tally)
            except ValueError as problem:
                what = (
                    f"lines that cannot be read{DEEP}"
                    if DEEP in str(problem)
                    else "lines that cannot be read"
                )
                tally.add(what if ended else "half-written last lines", place)
                continue
        if isinstance(value, dict):
            yield number, value
        else:
            tally.add("lines that hold no JSON object", place)


def json_value(data: bytes, place: str, tally: Tally, *, exact: bool = False) -> Any:
    """One JSON document from bytes. Raises `OutcomesError` with the place if it is damaged or
    nested too deeply.
    """
    data = data.removeprefix(BOM)
    try:
        long = exact and LONG.search(data)
        return _lenient(data, place, tally) if long else orjson.loads(data)
    except ValueError:
        try:
            return _lenient(data, place, tally)
        except ValueError as problem:
            raise OutcomesError(f"{place} is not whole JSON: {problem}") from None


def _lenient(data: bytes, place: str, tally: Tally) -> Any:
    """What strict JSON forbids and real logs hold: bare NaN and Infinity, bytes that are not
    UTF-8.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
        tally.add("texts with bytes that are not UTF-8, which were replaced", place)
    try:
        return _paired(json.loads(text))
    except RecursionError:
        raise ValueError(f"it is damaged{DEEP}") from None


def _paired(value: Any) -> Any:
    """The value with halves of surrogate pairs replaced in its texts: no engine can store them."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_paired(one) for one in value]
    if isinstance(value, dict):
        return {_paired(name): _paired(one) for name, one in value.items()}
    return value


def json_file(path: Path, tally: Tally) -> Any:
    """The JSON document in a file."""
    return json_value(whole_file(path), path.name, tally)


def names_in(folder: Path, tally: Tally) -> list[str]:
    """The names of all files under a folder, with the folder, in sorted order. See `walk`."""
    return sorted(walk(folder, tally))


def walk(folder: Path, tally: Tally) -> Iterator[str]:
    """The names of all files under a folder, with the folder.

    Links that lead out of it, links to folders, and hidden files are left out. Names are texts:
        20,000 paths as
    objects would cost as much as reading the files.
    """
    root = folder.resolve()
    waiting = [str(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                inside = [entry for entry in entries if not entry.name.startswith(".")]
        except OSError as problem:
            raise OutcomesError(
                f"the folder {folder.name} cannot be read: {problem.strerror}"
            ) from problem
        for entry in inside:
            if entry.is_symlink():
                target = Path(os.path.realpath(entry.path))  # which takes a link to itself too
                if target.is_relative_to(root) and target.is_file():
                    yield entry.path
                else:
                    tally.add(
                        "links to folders or out of the folder, which were not followed", entry.name
                    )
            elif entry.is_dir():
                waiting.append(entry.path)
            elif entry.is_file():
                yield entry.path


def progress(items: Sequence[Thing], what: str) -> Iterable[Thing]:
    """The items, with a text bar when there are many."""
    return tqdm(items, desc=what, unit=" files", leave=False) if len(items) >= BAR_FROM else items


def text_of(value: Any) -> str | None:
    """A JSON value as the text of a key or stratum: `true`, `7`, lists joined with "+"; null is
    missing.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    try:
        if isinstance(value, list):
            return "+".join(text_of(one) or "" for one in value)
        if isinstance(value, dict):
            return json.dumps(value, ensure_ascii=False, sort_keys=True)
        return str(value)
    except (RecursionError, ValueError):
        # Nested too deeply for Python, or a number with more digits than it prints.
        return "(too large to show)"


def part_of(value: Any, name: str) -> dict[str, Any]:
    """The object under a key, or an empty one where there is none: a stranger's file may hold
    anything there.
    """
    part = value.get(name) if isinstance(value, dict) else None
    return part if isinstance(part, dict) else {}


def frame_of(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as a frame of texts, each column in the order of its first appearance; a missing value
    stays missing.
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pd.DataFrame({name: texts([row.get(name) for row in rows]) for name in names})


def texts(values: Iterable[Any]) -> pd.Series:
    """A column of texts; a missing value stays missing."""
    made = [
        one if one.__class__ is str or one is None else None if one != one else text_of(one)
        for one in values
    ]
    return pd.Series(made, dtype="str")
