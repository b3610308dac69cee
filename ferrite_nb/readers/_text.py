"""Tables in files of text and in workbooks, by one parser: everything as text, exactly as written,
with the place of each row.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import chain, islice
from typing import Any

import orjson
import pandas as pd

from ..outcomes.contract import CANONICAL, KEYS, OutcomesError, columns_of
from ..outcomes.frames import some
from ._files import Tally, json_lines, json_value, texts, whole_file
from .recognise import Head, separator_of
from .run import Asked

DEPTH = 4
CHUNK = 50_000
NOT_UTF8 = "characters that are not UTF-8, which were replaced"
INSTALL = (
    "is a workbook; install its reader with: pip install 'ferrite-nb[excel]', or save it as CSV"
)

# The columns that the caller names: a nested one of them keeps its value as text.
Wanted = Set[str]


def decoded(data: bytes, name: str, encoding: str | None = None) -> str:
    """Bytes as text: UTF-8 with or without a mark, UTF-16 with one, or what the caller says.

    Raises
    ------
    OutcomesError: the bytes are something else; the message says what to declare.
    """
    wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    try:
        return data.decode(encoding or ("utf-16" if wide else "utf-8-sig"))
    except LookupError:
        raise ValueError(f"encoding: Python knows no encoding {encoding!r}") from None
    except UnicodeDecodeError as problem:
        line = data[: problem.start].count(b"\n") + 1
        raise OutcomesError(
            f"{name}, line {line}: the byte {data[problem.start]:#04x} is no {encoding or 'UTF-8'};"
            ' if an older program or Excel wrote the file, say encoding="cp1252"',
            fix="encoding",
            file=name,
            row=line,
        ) from None


def csv_frame(head: Head, tally: Tally, encoding: str | None = None) -> pd.DataFrame:
    """A table with separators. Rows with too many values raise; short ones are filled and
    counted.
    """
    name = head.path.name
    text = decoded(whole_file(head.path), name, encoding)
    header, separator = header_of(text)
    usual = csv.field_size_limit(2**31 - 1)  # a reply of a model may be longer than the usual limit
    try:
        lines = io.StringIO(text, newline="")
        lines.seek(header)
        reader = csv.reader(lines, delimiter=separator, strict=True)
        before = text.count("\n", 0, header)
        rows = ((before + reader.line_num, row) for row in reader)
        return table_of(rows, name, tally, ended=text.endswith(("\n", "\r")))
    except csv.Error as problem:
        reason = "EOF inside string" if "end of data" in str(problem) else str(problem)
        raise OutcomesError(f"{name} is not a whole table: {reason}", file=name) from None
    finally:
        csv.field_size_limit(usual)


def header_of(text: str) -> tuple[int, str]:
    """Where the line with the names of columns starts, and the separator: behind comments, blank
    lines and the `sep=;` that Excel reads.
    """
    start, separator = 0, ""
    while start < len(text):
        end = text.find("\n", start)
        line = text[start : len(text) if end < 0 else end].strip("\r\ufeff ")
        if found := re.fullmatch(r"sep=(.|\t)", line, re.IGNORECASE):
            separator = found.group(1)
        elif line and not line.startswith("#"):
            return start, separator or separator_of(line)
        if end < 0:
            break
        start = end + 1
    return start, separator or ","


def table_of(
    rows: Iterable[tuple[int, list[str]]], name: str, tally: Tally, *, ended: bool = True
) -> pd.DataFrame:
    """Rows of values, each with its line, as a frame; the first one has the names."""
    filled = ((line, row) for line, row in rows if any(map(str.strip, row)))
    names = [value.strip() for value in next(filled, (0, []))[1]]
    width, count, short = len(names), 0, []
    parts: list[pd.DataFrame] = []
    while chunk := list(islice(filled, CHUNK)):
        for line, row in chunk:
            count += 1
            if len(row) > width:
                raise OutcomesError(
                    f"{name} is not a whole table: Expected {width} fields in line {line}, saw "
                    f"{len(row)}",
                    file=name,
                    row=count,
                )
            if len(row) < width:
                short.append(count)
                row += [""] * (width - len(row))
        columns = zip(*(row for _, row in chunk), strict=True)
        parts.append(pd.DataFrame(dict(enumerate(columns)), dtype="str"))
    frame = (
        pd.concat(parts, ignore_index=True)
        if parts
        else pd.DataFrame(columns=range(width), dtype="str")
    )
    if short and short[-1] == count and not ended:
        tally.add("half-written last lines", f"{name}, row {short.pop()}")
        frame = frame.iloc[:-1]
    if short:
        tally.add("rows with fewer values than columns", f"{name}, row {short[0]}", len(short))
    spare = [place for place, one in enumerate(names) if not one and (frame[place] == "").all()]
    frame = frame.drop(columns=spare)
    names = [one for place, one in enumerate(names) if place not in spare]
    twice = sorted({one for one in names if names.count(one) > 1})
    if twice or "" in names:
        what = f"the columns {some(twice)} stand twice" if twice else "a column has no name"
        raise OutcomesError(
            f"{name}: {what} in the first line; every column needs its own name", file=name
        )
    return frame.set_axis(names, axis=1)


def excel_frame(head: Head, tally: Tally) -> pd.DataFrame:
    """The first sheet of a workbook."""
    try:
        import python_calamine  # noqa: F401
    except ImportError:
        raise OutcomesError(f"{head.path.name} {INSTALL}", file=head.path.name) from None
    try:
        data = pd.read_excel(head.path, engine="calamine", header=None, dtype=str, na_filter=False)
    except Exception as problem:  # the library has no class of its own for a damaged workbook
        raise OutcomesError(
            f"{head.path.name} cannot be read: {str(problem)[:300]}", file=head.path.name
        ) from problem
    rows = (list(row) for row in data.astype(str).itertuples(index=False))
    return table_of(enumerate(rows, start=1), head.path.name, tally)


def json_frame(
    head: Head, tally: Tally, encoding: str | None, records: str | None, asked: Asked
) -> tuple[pd.DataFrame, list[str]]:
    """JSON lines, a JSON list of objects, one object, or the list of objects under a key; and the
    place of each row. Nested objects become columns like `outcome.hit`.
    """
    name, wanted = head.path.name, asked.columns
    found: Iterator[tuple[str, Any]] = iter(())
    document: Any = None
    if records is None and is_lines(head):
        found = lines_in(head, tally, encoding)
        first = list(islice(found, 2))
        found = chain(first, found)
        document = first[0][1] if len(first) == 1 else None
    else:
        document = whole(head, encoding)
    if document is None:
        pass
    elif isinstance(document, list):
        found = ((f"{name}, object {place}", one) for place, one in enumerate(document, start=1))
    else:
        found = records_in(document, name, tally, records, wanted)
    parts, places = [], []
    while chunk := list(islice(found, CHUNK)):
        rows = []
        for place, value in chunk:
            if isinstance(value, dict):
                rows.append(flat(value, wanted))
                places.append(place)
            else:
                tally.add("entries that are no JSON object", place.replace(", object ", ", entry "))
        columns = dict.fromkeys(chain.from_iterable(rows))
        parts.append(
            pd.DataFrame({one: [row.get(one) for row in rows] for one in columns}, dtype="object")
        )
    if not places:
        seen = "; ".join(tally.notes()) or "it is empty"
        raise OutcomesError(f"{name} holds no JSON object; {seen}", file=name)
    frame = pd.concat(parts, ignore_index=True)
    keys = {one for key in KEYS for one in columns_of(asked.declared.get(key, key))}
    return (
        pd.DataFrame(
            {one: keyed(frame[one]) if one in keys else texts(frame[one]) for one in frame}
        ),
        places,
    )


def is_lines(head: Head) -> bool:
    """Whether the first line is an object of its own."""
    lines = [line for line in head.text.split("\n") if line.strip()]
    if head.text.lstrip()[:1] == "[":
        return False
    try:
        return isinstance(orjson.loads(lines[0]), dict)
    except orjson.JSONDecodeError:
        # A line may be damaged, longer than what was looked at, or hold NaN; a document that is
        # laid out has its first key in the second line.
        return lines[0].strip() != "{" and not (len(lines) > 1 and lines[1][:1] in " \t}")


def whole(head: Head, encoding: str | None) -> Any:
    """The JSON document in a file."""
    text = decoded(whole_file(head.path), head.path.name, encoding)
    return json_value(text.encode(), head.path.name, Tally(), exact=True)


def lines_in(head: Head, tally: Tally, encoding: str | None) -> Iterator[tuple[str, Any]]:
    """The objects of a file with one object per line."""
    odd = encoding or head.start[:2] in (b"\xff\xfe", b"\xfe\xff")
    lines = (
        io.BytesIO(decoded(whole_file(head.path), head.path.name, encoding).encode())
        if odd
        else None
    )
    for line, value in json_lines(head.path, tally, exact=True, lines=lines):
        if tally.count(NOT_UTF8):
            decoded(whole_file(head.path), head.path.name)  # raises, with the line
        yield f"{head.path.name}:{line}", value


def records_in(
    document: Any, name: str, tally: Tally, records: str | None, wanted: Wanted
) -> Iterator[tuple[str, Any]]:
    """The objects in a document: the list under the key that the caller names, or the only list of
    objects in it, each with the plain fields of the objects around it; else the document itself.
    """
    if not isinstance(document, dict):
        return
    lists = dict(lists_in(document))
    if records is not None and records not in lists:
        raise OutcomesError(
            f"{name}: there is no list of objects under {records!r}; there "
            f"{'are ' + some(lists, 8) if lists else 'is none'}",
            fix="rows",
            file=name,
        )
    itself = {"case_id", "attack_success", "attack_resisted", *wanted} & set(flat(document, wanted))
    if records is None and (itself or not lists):
        yield name, document
        return
    if records is None and len(lists) > 1:
        raise OutcomesError(
            f"{name} holds several lists of objects ({some(lists, 8)}); say which one has the"
            " rows: "
            f'rows="{next(iter(lists))}"',
            fix="rows",
            file=name,
        )
    key = records or next(iter(lists))
    tally.add(f"rows under {key!r}", name, len(lists[key]))
    around = {
        field: value
        for field, value in flat(document, wanted).items()
        if not field.startswith(key) and not isinstance(value, list) and field not in lists
    }
    for place, one in enumerate(lists[key], start=1):
        yield f"{name}, object {place}", around | one if isinstance(one, dict) else one


def lists_in(
    value: Mapping[str, Any], before: str = "", depth: int = 1
) -> Iterator[tuple[str, list[Any]]]:
    """The lists of objects in a document, by the names of their keys."""
    for name, one in value.items():
        if isinstance(one, dict) and depth < DEPTH:
            yield from lists_in(one, f"{before}{name}.", depth + 1)
        elif isinstance(one, list) and one and isinstance(one[0], dict):
            yield f"{before}{name}", one


def flat(
    value: Mapping[str, Any], wanted: Wanted = frozenset(), before: str = "", depth: int = 1
) -> dict[str, Any]:
    """An object by name; the names of nested objects are joined with points. A nested value of the
    contract's own names, or of one that the caller names, stays what it is.

    >>> flat({"id": 7, "outcome": {"hit": True}, "stack": ["a", "b"]})
    {'id': 7, 'outcome.hit': True, 'stack': ['a', 'b']}
    """
    found: dict[str, Any] = {}
    for name, one in value.items():
        full = f"{before}{name}"
        if isinstance(one, dict) and (full in CANONICAL or full in wanted):
            found[full] = one if any(leaves(one)) else None
        if isinstance(one, dict) and one and depth < DEPTH:
            found |= flat(one, wanted, f"{full}.", depth + 1)
        elif full not in found:
            found[full] = one
    return found


def leaves(value: Any) -> Iterator[bool]:
    """Whether each plain value in an object says anything."""
    for one in value.values() if isinstance(value, dict) else value:
        if isinstance(one, dict | list):
            yield from leaves(one)
        else:
            yield one is not None and one is not False and one != ""


def keyed(values: pd.Series) -> pd.Series:
    """A column of names as texts. Where it holds numbers and texts that look alike, the texts are
    in quotes: 1 and "1" stay two names.
    """
    made = texts(values)
    quoted = values.map(lambda one: isinstance(one, str))
    alike = made.isin(set(made[quoted]) & set(made[~quoted].dropna())) & quoted
    return made.where(~alike, '"' + made + '"')
