"""Plain tables: CSV, TSV, JSON, JSON lines, workbooks, Parquet, Arrow; the caller declares columns.

Everything is read as text, exactly as written: `001`, `1E5` and `None` are names and stay what they
are. Large Parquet and CSV files stay on DuckDB, where they hold nothing that the parser for memory
would read in another way, and only counts come back.
"""

from __future__ import annotations

import codecs
import glob
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import duckdb
import orjson
import pandas as pd

from ..outcomes.contract import AMOUNTS, NUMBERS, OutcomesError, columns_of
from ..outcomes.frames import some
from ._combine import connection
from ._files import PIECE, Tally, open_file, progress, texts
from ._text import csv_frame, excel_frame, flat, header_of, json_frame
from .profile import BLANK, Proposal, proposal_of
from .recognise import Head, head_of
from .run import Asked, Run, places

NAME = "a plain table (CSV, TSV, Excel, JSON, JSON lines, Parquet, Arrow) with declared columns"
SPECIFIC = False
# Ferrite's generated cases: what a template says, all its cases share.
GENERATED = {"template", "family", "lookalike", "final_outcome"}
LAZY_BYTES = 200 * 2**20
LAZY_ROWS = 1_000_000
PLACE = r".*(, (row|object|entry|execution_records row) [0-9]+|:[0-9]+|\.json)"
COMMA = r"^[-+]?[0-9]*,[0-9]+$"
HIVE = re.compile(r"([A-Za-z_]\w*)=(.*)")
NULL = "__HIVE_DEFAULT_PARTITION__"
NESTED = re.compile(r"STRUCT|MAP|UNION|.*\[[0-9]*\]$", re.DOTALL)
# Plain types are counted on the engine as they are; others become text, as in memory.
TYPED = re.compile(r"BOOLEAN|VARCHAR|U?(TINY|SMALL|BIG)?INT(EGER)?|FLOAT|DOUBLE")


def sniff(head: Head) -> bool:
    """A table has columns: a header line, JSON objects, a workbook, or the column store of Parquet
    and Arrow.
    """
    return head.kind in {"parquet", "arrow", "excel"} or bool(head.columns) or head.json_start


def parse(paths: Sequence[Path], asked: Asked, *, encoding: str | None = None) -> list[Run]:
    """One or more files with the same columns as one table.

    Parameters
    ----------
    encoding: the encoding of files of text that are not UTF-8, such as "cp1252".

    Raises
    ------
    OutcomesError: a damaged file, a row with too many values, a column named twice, bytes that are
        not UTF-8.

    Notes
    -----
    `rows="results"` names the list of objects in a JSON document, where there are several. Folders
    called `mode=off` are a column `mode`.
    """
    tally = Tally()
    heads = [head_of(path) for path in paths]
    given = asked.declared.get("rows")
    records = given if isinstance(given, str) and all(head.json_start for head in heads) else None
    if records is not None and not any(
        records in head.keys and _is_weight(head, records) for head in heads
    ):
        asked = Asked({k: v for k, v in asked.declared.items() if k != "rows"}, asked.named)
    else:
        records = None
    frame: Any = _lazy(heads, encoding)
    if frame is None:
        labels = places(paths)
        frames = [
            text_frame(head, tally, asked, label=label, encoding=encoding, records=records)
            for head, label in zip(progress(heads, "reading"), labels, strict=True)
        ]
        frame = pd.concat(frames, ignore_index=True)
        _known(frame, paths, asked)
    return [
        Run(
            paths[0],
            frame,
            cluster=("template",) if set(frame.columns) >= GENERATED else (),
            name=some(places(paths), 4),
            notes=tally.notes(),
            declared=asked.declared,
        )
    ]


def _known(frame: pd.DataFrame, paths: Sequence[Path], asked: Asked) -> None:
    """Raise for a table of which nobody has said what its columns are, with the line to type."""
    keys = {"case_id", "mode", "rows"} & {*frame.columns, *asked.declared}
    counts = any(pair <= set(frame.columns) for pair in ({"k", "n"}, {"b", "c"}))
    if keys or asked.named or counts or asked.declared:
        return
    found = proposal_of(frame.drop(columns="source"))
    if BLANK not in found.declared or not isinstance(found.declared.get("case_id"), str):
        return
    name = str(paths[0]) if len(paths) == 1 else f"{len(paths)} files"
    raise OutcomesError(
        f"{some(places(paths), 4)}: no column case_id; the columns are {some(frame.columns[:-1])}. "
        f"Say what they are: {found.python(name)}; {found.question}",
        column="case_id",
        fix="case_id",
        file=paths[0].name,
    )


def _is_weight(head: Head, name: str) -> bool:
    """Whether a key of the first object holds a number, so that `rows=` is a weight."""
    return isinstance(head.first, dict) and not isinstance(head.first.get(name), list)


def text_frame(
    head: Head,
    tally: Tally,
    asked: Asked | None = None,
    *,
    label: str | None = None,
    encoding: str | None = None,
    records: str | None = None,
) -> pd.DataFrame:
    """One file as a frame of texts, with the place of each row in `source`."""
    asked, name = asked or Asked(), head.path.name
    found: list[str] | None = None
    if head.kind in {"parquet", "arrow"}:
        frame = _from_engine(_relation(head), asked)
    elif head.kind == "excel":
        frame = excel_frame(head, tally)
    elif head.json_start:
        frame, found = json_frame(head, tally, encoding, records, asked)
    else:
        frame = csv_frame(head, tally, encoding)
        if header_of(head.text)[1] == ";":
            frame = _points(frame, asked.declared)
    for key, value in hive(head.path).items():
        if key not in frame:
            frame[key] = pd.array([value] * len(frame), dtype="str")
    own = "source" in frame
    if (
        own
        and not frame["source"].str.fullmatch(PLACE, na=True).all()
        and "source" not in asked.columns
    ):
        tally.add("tables whose own column source is called file_source", name)
        frame, own = frame.rename(columns={"source": "file_source"}), False
    if not own:
        found = found or [f"{name}, row {row}" for row in range(1, len(frame) + 1)]
        frame["source"] = pd.array(
            [(label or name) + one.removeprefix(name) for one in found], dtype="str"
        )
    return frame


def propose(path: str | Path) -> Proposal:
    """The profile of a file with a table, and the line that would read it.

    Raises
    ------
    OutcomesError: the file is no table, or damaged.
    """
    head = head_of(Path(path))
    head.refuse()
    return proposal_of(text_frame(head, Tally()).drop(columns="source"))


def hive(path: Path) -> dict[str, str | None]:
    """The columns that the names of folders tell: `mode=off/part.parquet`."""
    found = filter(None, map(HIVE.fullmatch, path.parts[:-1]))
    return {one.group(1): None if one.group(2) == NULL else unquote(one.group(2)) for one in found}


def _lazy(heads: Sequence[Head], encoding: str | None) -> Any:
    """A lazy table of large files that the engine reads as the parser for memory does, else
    None.
    """
    size = sum(head.path.stat().st_size for head in heads)
    if all(head.kind == "parquet" for head in heads):
        parts = [_relation(head) for head in heads]
        rows = [part.aggregate("count(*)").fetchall()[0][0] for part in parts]
        if sum(rows) < LAZY_ROWS and size < LAZY_BYTES:
            return None
        query = (
            "FROM read_parquet(?, union_by_name=true, hive_partitioning=?,"
            " hive_types_autocast=false)"
        )
        folders = any(hive(head.path) for head in heads)
        files = [glob.escape(str(head.path)) for head in heads]
        found = connection().sql(query, params=[files, folders])
        return found.project(", ".join(map(_typed, found.columns, found.types)))
    first = heads[0]
    plain = encoding is None and all(
        head.columns
        and head.columns == first.columns
        and head.kind == "text"
        and not hive(head.path)
        and header_of(head.text) == (0, ",")
        for head in heads
    )
    names = first.columns
    if size < LAZY_BYTES or not plain or len({*names, "", "source"}) < len(names) + 2:
        return None
    if not all(_as_on_engine(head.path) for head in heads):
        return None
    try:
        found = connection().from_csv_auto(
            [glob.escape(str(head.path)) for head in heads],
            header=True,
            sep=",",
            quotechar='"',
            escapechar='"',
            auto_detect=False,
            strict_mode=True,
            columns=dict.fromkeys(names, "VARCHAR"),
            force_not_null=list(names),
        )
        # One pass over all values: a row that is short, long or half-written is found here.
        found.aggregate(", ".join(f"count({_quoted(name)})" for name in names)).fetchall()
    except duckdb.Error:
        return None
    return found


def _as_on_engine(path: Path) -> bool:
    """Whether a large file of text is UTF-8 without what the two parsers take in different ways: a
    quote behind a space, zero bytes.
    """
    decoder, before = codecs.getincrementaldecoder("utf-8")(), b""
    with open_file(path) as stream:
        while piece := stream.read(8 * PIECE):
            if b' "' in before + piece or b"\0" in piece:
                return False
            try:
                decoder.decode(piece)
            except UnicodeDecodeError:
                return False
            before = piece[-1:]
    return True


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _typed(name: str, kind: Any) -> str:
    """A column of a lazy table: plain types as they are, others as the text of them."""
    quoted, kind = _quoted(name), str(kind)
    if kind.endswith("[]") and not kind.startswith(("STRUCT", "MAP")):
        return f"array_to_string({quoted}, '+') AS {quoted}"
    return quoted if TYPED.fullmatch(kind) else f"CAST({quoted} AS VARCHAR) AS {quoted}"


def _relation(head: Head) -> Any:
    """A Parquet or Arrow file as a relation of DuckDB."""
    try:
        if head.kind == "arrow":
            return connection().from_arrow(_arrow(head.path))
        # DuckDB takes names as patterns; a name with a bracket in it must not become one.
        return connection().read_parquet(glob.escape(str(head.path)), hive_partitioning=False)
    except duckdb.Error as problem:
        raise _unreadable(head.path, problem) from problem


def _unreadable(path: Path, problem: Exception) -> OutcomesError:
    reason = str(problem).split("\n")[0][:300]
    return OutcomesError(f"{path.name} cannot be read: {reason}", file=path.name)


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
        raise _unreadable(path, problem) from problem


def _from_engine(relation: Any, asked: Asked) -> pd.DataFrame:
    """All columns as texts: integers with gaps would become decimals in pandas, and 7 would turn
    into 7.0. Nested values are read as those of JSON.
    """
    nested = [
        name
        for name, kind in zip(relation.columns, relation.types, strict=True)
        if NESTED.match(str(kind))
    ]
    columns = [
        f"CAST({f'to_json({_quoted(name)})' if name in nested else _quoted(name)} AS VARCHAR) AS"
        f" {_quoted(name)}"
        for name in relation.columns
    ]
    try:
        frame = relation.project(", ".join(columns)).df()
    except duckdb.Error as problem:
        message = f"the table cannot be read: {str(problem).split(chr(10))[0][:300]}"
        raise OutcomesError(message) from problem
    for name in nested:
        rows = [
            flat({name: orjson.loads(one) if isinstance(one, str) else None}, asked.columns)
            for one in frame[name]
        ]
        made = {
            key: texts([row.get(key) for row in rows])
            for key in dict.fromkeys(key for row in rows for key in row)
        }
        frame = frame.drop(columns=name).assign(**made)
    return frame


def _points(frame: pd.DataFrame, declared: Mapping[str, Any]) -> pd.DataFrame:
    """Decimal commas of the number columns become points; other columns stay as they are
    written.
    """
    for name in (*NUMBERS, *AMOUNTS):
        for column in set(columns_of(declared.get(name, name))) & set(frame.columns):
            comma = frame[column].str.strip().str.fullmatch(COMMA, na=False)
            points = frame[column].str.replace(",", ".", regex=False)
            frame[column] = frame[column].where(~comma, points)
    return frame
