"""Plain tables: CSV, TSV, semicolons with decimal commas, JSON lines, Parquet, Arrow; the caller
declares columns.

Everything is read as text, exactly as written: `001`, `1E5` and `None` are names and stay what they
    are. Large files
are not read at all: they stay on DuckDB, and only counts come back.
"""

from __future__ import annotations

import csv
import glob
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd

from ..outcomes.contract import AMOUNTS, NUMBERS, Const, OutcomesError, const
from ..outcomes.declare import some
from ..outcomes.table import Outcomes, outcomes
from ._combine import connection
from ._files import START, Tally, json_lines, json_value, progress, text_of, whole_file
from .recognise import Head, head_of, separator_of

NAME = "a plain table (CSV, TSV, JSON lines, Parquet, Arrow) with declared columns"
SPECIFIC = False
LAZY_BYTES = 200 * 2**20
LAZY_ROWS = 1_000_000
DEPTH = 4
PLACE = r".*(, (row|object|entry|execution_records row) [0-9]+|:[0-9]+|\.json)"
# pandas leaves out the space at the start of a line and opens a quote behind it; the csv module
# does not.
QUOTED_LATE = re.compile(r'^\s+"', re.MULTILINE)
COMMA = r"^[-+]?[0-9]*,[0-9]+$"


def sniff(head: Head) -> bool:
    """A table has columns: a header line, JSON objects, or the column store of Parquet and
    Arrow.
    """
    return head.kind in {"parquet", "arrow"} or bool(head.columns) or head.json_start


def read(paths: Sequence[Path], *, named: str | None = None, **options: Any) -> Outcomes:
    """Outcomes of one or more files with the same columns; `options` are declarations, `keep` and
    `check`.

    Raises
    ------
    OutcomesError: a damaged file, a row with too many values, a column named twice, and all that
        `outcomes` refuses.
    """
    tally = Tally()
    heads = [head_of(path) for path in paths]
    frame: Any = _lazy(heads)
    if frame is None:
        frame = pd.concat(list(_frames(heads, tally, options)), ignore_index=True)
    if named and "mode" not in options and "mode" not in frame.columns:
        options["mode"] = const(named)
    return outcomes(
        frame, read_from=some([path.name for path in paths], 4), notes=tally.notes(), **options
    )


def _frames(
    heads: Sequence[Head], tally: Tally, options: Mapping[str, Any]
) -> Iterator[pd.DataFrame]:
    """The files as frames of texts; small simple ones with the same columns are parsed as one.

    A call of pandas takes a millisecond, which would be nearly all the time in a folder of
    thousands of files.
    """
    simple = ((head, _simple_lines(head)) for head in progress(heads, "reading"))
    for header, found in groupby(simple, lambda one: one[1][:1]):
        group = list(found)
        lines = [line for _, rows in group for line in rows[1:]]
        if len(group) == 1 or not header or not lines:
            yield from (text_frame(head, tally, options) for head, _ in group)
            continue
        first, separator = group[0][0], separator_of(header[0])
        frame = _parsed("\n".join(lines), separator).set_axis(list(first.columns), axis=1)
        if separator == ";":
            frame = _points(frame, options)
        frame["source"] = [
            f"{head.path.name}, row {row}" for head, rows in group for row in range(1, len(rows))
        ]
        yield frame


def _simple_lines(head: Head) -> list[str]:
    """The lines of a small table that needs no care: in each a value for every column, no line
    break in a value.
    """
    names, separator = head.columns, separator_of(head.header)
    if (
        not names
        or head.comment
        or len(head.start) >= START
        or len({*names, "", "source"}) < len(names) + 2
    ):
        return []
    try:
        text = head.start.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return []
    lines = text.removesuffix("\n").split("\n")
    if (
        "\r" in text
        or lines[0] != head.header
        or (QUOTED_LATE.search(text) if '"' in text else None)
    ):
        return []
    try:
        rows = list(csv.reader(lines, delimiter=separator, strict=True))
    except csv.Error:
        return []
    return lines if len(rows) == len(lines) and all(len(row) == len(names) for row in rows) else []


def text_frame(head: Head, tally: Tally, options: Mapping[str, Any] | None = None) -> pd.DataFrame:
    """One file as a frame of texts, with the place of each row in `source`."""
    if head.kind in {"parquet", "arrow"}:
        frame, places = _from_engine(_relation(head)), None
    elif head.json_start:
        frame, places = _from_json(head.path, tally)
    else:
        frame, places = _from_csv(head, tally), None
        if separator_of(head.header) == ";":
            frame = _points(frame, options or {})
    if (
        "source" in frame
        and not _is_place(frame["source"])
        and "source" not in columns_of(options or {})
    ):
        tally.add("tables whose own column source is called file_source", head.path.name)
        frame = frame.rename(columns={"source": "file_source"})
    if "source" not in frame:
        name = head.path.name
        frame["source"] = places or [f"{name}, row {row}" for row in range(1, len(frame) + 1)]
    return frame


def _is_place(column: pd.Series) -> bool:
    """Whether a column tells places, as the ones that were written from outcomes do."""
    return bool(column.str.fullmatch(PLACE, na=True).all())


def columns_of(options: Mapping[str, Any]) -> set[str]:
    """The names of columns that the caller's declarations refer to."""
    names: set[str] = set()
    for what in options.values():
        what = getattr(what, "column", what)
        names |= (
            {what}
            if isinstance(what, str)
            else set(what)
            if isinstance(what, list | tuple)
            else set()
        )
    return names


def _lazy(heads: Sequence[Head]) -> Any:
    """A lazy table of large files, or of many Parquet files; None where the rows fit into
    memory.
    """
    columnar = all(head.kind == "parquet" for head in heads)
    size = sum(head.path.stat().st_size for head in heads)
    if not columnar and size < LAZY_BYTES:
        return None
    if columnar and len(heads) == 1 and size < LAZY_BYTES:
        rows = _relation(heads[0]).aggregate("count(*)").fetchall()[0][0]
        if rows < LAZY_ROWS:
            return None
    kinds = {
        ("json" if head.json_start else "csv") if head.kind == "text" else head.kind
        for head in heads
    }
    if len(kinds) > 1 or not kinds <= {"parquet", "csv", "json"}:
        raise OutcomesError(
            f"{some([head.path.name for head in heads], 4)}: too large to be read as one; save it as Parquet"
        )
    return _relation(heads[0], [head.path for head in heads])


def _relation(head: Head, paths: Sequence[Path] = ()) -> Any:
    """The file or files as a relation of DuckDB."""
    import duckdb

    con = connection()
    # DuckDB takes names as patterns; a name with a bracket in it must not become one.
    names = [glob.escape(str(path)) for path in paths or (head.path,)]
    try:
        if head.kind == "parquet":
            return con.read_parquet(names, union_by_name=True)
        if head.kind in {"arrow"}:
            return con.from_arrow(_arrow(head.path))
        if head.json_start:
            return con.read_json(names, format="newline_delimited")
        return con.read_csv(names, all_varchar=True, header=True, sep=separator_of(head.header))
    except duckdb.Error as problem:
        raise OutcomesError(
            f"{head.path.name} cannot be read: {str(problem).splitlines()[0][:300]}"
        ) from problem


def _arrow(path: Path) -> Any:
    """An Arrow or Feather file as a table of pyarrow, which is needed for it."""
    try:
        import pyarrow as pa
    except ImportError:
        raise OutcomesError(
            f"{path.name} is an Arrow file; install pyarrow to read it, or save it as Parquet"
        ) from None
    try:
        with pa.OSFile(str(path)) as stream:
            found = pa.ipc.open_file(stream).read_all()
        # Offsets that lead out of their buffer would be followed otherwise.
        found.validate(full=True)
        return found
    except (pa.ArrowException, OSError, ValueError) as problem:
        raise OutcomesError(f"{path.name} cannot be read: {str(problem)[:300]}") from problem


def _from_engine(relation: Any) -> pd.DataFrame:
    """All columns as texts: integers with gaps would become decimals in pandas, and 7 would turn
    into 7.0.
    """
    import duckdb

    texts = []
    for name, kind in zip(relation.columns, relation.types, strict=True):
        quoted = '"' + name.replace('"', '""') + '"'
        joined = f"array_to_string({quoted}, '+')" if str(kind).endswith("[]") else quoted
        texts.append(f"CAST({joined} AS VARCHAR) AS {quoted}")
    try:
        return relation.project(", ".join(texts)).df()
    except duckdb.Error as problem:
        raise OutcomesError(
            f"the table cannot be read: {str(problem).splitlines()[0][:300]}"
        ) from problem


def _from_csv(head: Head, tally: Tally) -> pd.DataFrame:
    """A table with separators as texts. Rows with too many values raise; short ones are filled and
    counted.
    """
    name = head.path.name
    text = decoded(whole_file(head.path), name, tally)
    if head.comment:
        text = text.split("\n", 1)[1] if "\n" in text else ""
    try:
        # Without a header for pandas: it would rename repeated names and take a longer row for an
        # index.
        frame = _parsed(text, separator_of(head.header))
    except (pd.errors.ParserError, pd.errors.EmptyDataError, csv.Error) as problem:
        reason = str(problem).removeprefix("Error tokenizing data. C error: ").strip()
        raise OutcomesError(f"{name} is not a whole table: {reason}") from None
    names = [str(value).strip() if pd.notna(value) else "" for value in frame.iloc[0]]
    frame = frame.iloc[1:].reset_index(drop=True)
    short = _short_rows(text, separator_of(head.header), len(names))
    if short and short[-1] == len(frame) and not text.endswith(("\n", "\r")):
        tally.add("half-written last lines", f"{name}, row {short.pop()}")
        frame = frame.iloc[:-1]
    if short:
        tally.add("rows with fewer values than columns", f"{name}, row {short[0]}", len(short))
    spare = [
        place
        for place, one in enumerate(names)
        if not one and (frame.iloc[:, place].isin(["", None])).all()
    ]
    frame, names = (
        frame.drop(columns=spare),
        [one for place, one in enumerate(names) if place not in spare],
    )
    twice = sorted({one for one in names if names.count(one) > 1})
    if twice or "" in names:
        what = f"the columns {some(twice)} stand twice" if twice else "a column has no name"
        raise OutcomesError(f"{name}: {what} in the first line; every column needs its own name")
    return frame.set_axis(names, axis=1)


def _parsed(text: str, separator: str) -> pd.DataFrame:
    """The values of a table with separators, as written."""
    return pd.read_csv(
        io.StringIO(text), sep=separator, header=None, dtype=str, keep_default_na=False
    )


def _short_rows(text: str, separator: str, width: int) -> list[int]:
    """The numbers of the rows with fewer values than columns, which pandas fills without a word."""
    lines = text.count("\n") + (not text.endswith("\n"))
    if (
        '"' not in text
        and "\r" not in text.replace("\r\n", "\n")
        and text.count(separator) == lines * (width - 1)
    ):
        return []
    found, row = [], -1
    try:
        for values in csv.reader(io.StringIO(text), delimiter=separator):
            row += bool(values)
            if values and len(values) < width:
                found.append(row)
    except csv.Error:
        # One value is longer than the csv module takes; pandas has read the table.
        pass
    return [one for one in found if one > 0]


def decoded(data: bytes, name: str, tally: Tally) -> str:
    """Bytes as text: UTF-8 with or without a mark, UTF-16 with one; other bytes are replaced and
    counted.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("utf-8-sig", "replace")
        tally.add("characters that are not UTF-8, which were replaced", name, text.count("\ufffd"))
        return text


def _points(frame: pd.DataFrame, options: Mapping[str, Any]) -> pd.DataFrame:
    """Decimal commas of the number columns become points; other columns stay as they are
    written.
    """
    declared = {
        name: getattr(what, "column", what)
        for name, what in options.items()
        if not isinstance(what, Const)
    }
    for name in (*NUMBERS, *AMOUNTS):
        column = declared.get(name, name)
        if isinstance(column, str) and column in frame:
            comma = frame[column].str.strip().str.fullmatch(COMMA, na=False)
            frame[column] = frame[column].where(
                ~comma, frame[column].str.replace(",", ".", regex=False)
            )
    return frame


def _from_json(path: Path, tally: Tally) -> tuple[pd.DataFrame, list[str]]:
    """JSON lines, a JSON list of objects, or one object, as texts; nested objects become columns
    like `outcome.hit`.
    """
    records: list[dict[str, str | None]] = []
    places: list[str] = []
    head = head_of(path)
    if head.text.lstrip()[:1] == "[":
        values = json_value(whole_file(path), path.name, tally)
        for place, value in enumerate(values if isinstance(values, list) else [], start=1):
            if isinstance(value, dict):
                records.append(flat(value))
                places.append(f"{path.name}, object {place}")
            else:
                tally.add("entries that are no JSON object", f"{path.name}, entry {place}")
    else:
        for line, value in json_lines(path, tally):
            records.append(flat(value))
            places.append(f"{path.name}:{line}")
        if not records:
            value = json_value(whole_file(path), path.name, Tally())
            records, places = [flat(value)] if isinstance(value, dict) else [], [path.name]
    if not records:
        raise OutcomesError(
            f"{path.name} holds no JSON object; {'; '.join(tally.notes()) or 'it is empty'}"
        )
    columns = list(dict.fromkeys(name for record in records for name in record))
    return pd.DataFrame(
        {name: [one.get(name) for one in records] for name in columns}, dtype="str"
    ), places


def flat(value: Mapping[str, Any], before: str = "", depth: int = 1) -> dict[str, str | None]:
    """An object as texts by name; the names of nested objects are joined with points.

    >>> flat({"id": 7, "outcome": {"hit": True}, "stack": ["a", "b"]})
    {'id': '7', 'outcome.hit': 'true', 'stack': 'a+b'}
    """
    found: dict[str, str | None] = {}
    for name, one in value.items():
        if isinstance(one, dict) and one and depth < DEPTH:
            found |= flat(one, f"{before}{name}.", depth + 1)
        else:
            found[f"{before}{name}"] = text_of(one)
    return found
