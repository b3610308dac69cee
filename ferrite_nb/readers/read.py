"""`read`: any results file, folder, glob or list becomes `Outcomes`; the format is recognised by
its content.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from inspect import Parameter, signature
from itertools import islice
from pathlib import Path
from typing import Any, Literal, Protocol, cast

import narwhals.stable.v2 as nw

from ..outcomes.contract import Declaration, Note, OutcomesError
from ..outcomes.declare import some
from ..outcomes.identity import Keep
from ..outcomes.table import Outcomes, const, outcomes
from ._combine import combined
from ._files import Tally, names_in, progress, walk
from .recognise import Head, head_of
from .run import Asked, Run, outcomes_of

# One line per reader, in the order in which they are asked. The plain table takes what no other one
# knows.
READERS = (
    "garak",
    "inspect",
    "promptfoo",
    "lm_eval",
    "openai_evals",
    "ferrite_live",
    "ferrite_scripted",
    "agentdojo",
    "asb",
    "jailbreakbench",
    "labels",
    "scores",
    "table",
)
RULES = ("keep", "check")
PEEK = 2_000
TABLES = {".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".arrow", ".feather", ".ipc"}
NOT_RESULTS = {
    ".md",
    ".html",
    ".htm",
    ".png",
    ".svg",
    ".pdf",
    ".py",
    ".ipynb",
    ".toml",
    ".yaml",
    ".yml",
    ".tex",
    ".log",
}


class Reader(Protocol):
    """What a reader module has. `sniff_folder(folder, names)` is optional: a folder that is one
    result as a whole.
    """

    NAME: str

    def sniff(self, head: Head) -> bool:
        """Whether this reader knows the file."""

    def parse(self, paths: Sequence[Path], asked: Asked, **options: Any) -> list[Run]:
        """The runs in one or more files, or in one folder. The keyword arguments of a reader's own
        `parse` are the options of its format.
        """


@cache
def readers() -> tuple[Reader, ...]:
    """The reader modules in the order in which they are asked."""
    return tuple(cast(Reader, import_module(f".{name}", __package__)) for name in READERS)


def read(
    path: Any,
    *,
    keep: Keep | None = None,
    check: Literal["auto", "full"] = "auto",
    cluster: str | Sequence[str] | None = None,
    baseline: str | None = None,
    **declared: Declaration | Any,
) -> Outcomes:
    """Read results of any known format, or declare the columns of a plain table.

    Parameters
    ----------
    path: a file, a folder, a glob pattern or a list of them; a dict {"before": path, "after":
        path}, whose names become the modes (cases pair by name, within one task of a harness); or a
        frame of pandas, Polars, PyArrow, DuckDB or Spark.
    keep: which of several rows of one attempt stays: "first", "last", or the first "known" outcome.
        Without it copies count once, a retry replaces an error, and two outcomes raise.
    check: "full" looks for duplicate keys also in a file so large that its rows stay on the engine.
    cluster, baseline: what belongs together, and the mode without defence; see `Outcomes.declare`.
        A reader that knows its clusters declares them.
    declared: which column is which, as in `fnb.outcomes`; and the options of a format, such as
        `threshold=` and `detector=` of a garak report.

    Raises
    ------
    OutcomesError: no such file; a format that is not known (the message says what was seen and what
        can be read); a value that the contract does not allow, with file, row, column and value.

    Example
    -------
    >>> import ferrite_nb as fnb
    >>> runs = fnb.read(fnb.data("ferrite_run_a.csv"))
    >>> runs.modes
    ('Off', 'SanitizerOnly', 'LoopOnly', 'On')
    """
    options = {"keep": keep, "check": check, **declared}
    if isinstance(path, Mapping):
        if not path:
            raise ValueError("name at least one file: fnb.read({'before': path, 'after': path})")
        parts = {str(name): _read(what, str(name), options) for name, what in path.items()}
        made = combined(list(parts.values()), names=list(parts), keep=keep, check=check)
    else:
        made = _read(path, None, options)
    return made.declare(cluster=cluster, baseline=baseline)


def _read(what: Any, named: str | None, options: Mapping[str, Any]) -> Outcomes:
    """One file, folder, glob, list or frame."""
    if isinstance(what, str | os.PathLike):
        what = [what]
    if not isinstance(what, list | tuple):
        extra = _missing_mode(what, named, options)
        return outcomes(what, read_from=named or "table", **{**options, **extra})
    if not what:
        raise ValueError("the list of files is empty")
    if not all(isinstance(one, str | os.PathLike) for one in what):
        raise TypeError(
            "a list given to fnb.read holds paths; several frames are read as a dict with names"
        )
    tally = Tally()
    groups: dict[Reader, list[Path]] = {}
    for one in what:
        for reader, paths in recognised(expand(one), tally).items():
            groups.setdefault(reader, []).extend(paths)
    parts = []
    for reader, paths in groups.items():
        try:
            part = _made(reader, paths, named, options)
        except UnicodeEncodeError:
            odd = next(
                (ascii(path.name) for path in paths if not _utf8(path.name)),
                some(path.name for path in paths),
            )
            raise OutcomesError(
                f"{odd}: the name of the file or a text in it is no Unicode; rename it"
            ) from None
        parts.append(replace(part, notes=(Note(f"read as: {reader.NAME}"), *part.notes)))
    result = combined(parts, keep=options["keep"], check=options["check"])
    return replace(result, notes=(*result.notes, *map(Note, tally.notes())))


def _made(
    reader: Reader, paths: Sequence[Path], named: str | None, options: Mapping[str, Any]
) -> Outcomes:
    """The outcomes of the files of one format: what is no option of the format is a declaration."""
    if not hasattr(reader, "parse"):
        return reader.read(paths, named=named, **options)  # type: ignore[attr-defined]
    mine, known = options_of(reader), {"threshold"}.union(*(options_of(one) for one in readers()))
    given = {name: value for name, value in options.items() if name in known}
    declared = {name: value for name, value in options.items() if name not in {*known, *RULES}}
    wrong = sorted(set(given) - mine - {"threshold"})
    if wrong:
        raise ValueError(f"{some(wrong)}: {reader.NAME} has no such option")
    asked = Asked(declared, named)
    runs = reader.parse(paths, asked, **{name: given[name] for name in mine & set(given)})
    rest = {name: given[name] for name in {"threshold"} & set(given) - mine}
    return outcomes_of(runs, asked, keep=options["keep"], check=options["check"], **rest)


def options_of(reader: Reader) -> frozenset[str]:
    """The options of a format: the keyword arguments of its `parse`."""
    if not hasattr(reader, "parse"):
        return frozenset()
    found = signature(reader.parse).parameters.values()
    return frozenset(one.name for one in found if one.kind is Parameter.KEYWORD_ONLY)


def _utf8(name: str) -> bool:
    """Whether a name of a file can be written down as text."""
    return not any("\ud800" <= sign <= "\udfff" for sign in name)


def _missing_mode(frame: Any, named: str | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """A named frame without a mode gets its name as the mode."""
    if named is None or "mode" in options:
        return {}
    try:
        names = nw.from_native(frame).collect_schema().names()
    except (TypeError, nw.exceptions.DuplicateError):
        return {}  # `outcomes` says what is wrong with it
    return {} if "mode" in names else {"mode": const(named)}


def expand(item: str | os.PathLike[str]) -> list[Path]:
    """The paths behind one path or glob pattern."""
    path = Path(item)
    try:
        path = path.expanduser()
        there, readable = path.exists(), path.is_file() or path.is_dir()
    except (OSError, ValueError, RuntimeError) as problem:
        # A name that no file system takes (too long, or with a zero byte), or the home of nobody.
        raise OutcomesError(
            f"{str(item)[:60]!r} is no path: {problem.__class__.__name__}"
        ) from problem
    if there and not readable:
        raise OutcomesError(
            f"{path.name} is a pipe or a device, neither a file nor a folder; save it as a file"
            " first"
        )
    if there:
        return [path]
    pattern = str(path)
    found = (
        sorted(Path(name) for name in glob.glob(pattern, recursive=True))
        if glob.has_magic(pattern)
        else []
    )
    if not found:
        what = "no file matches" if glob.has_magic(pattern) else "there is no file or folder"
        raise OutcomesError(f"{what} {pattern!r} (seen from the folder {Path.cwd().name!r})")
    return found


def recognised(paths: Sequence[Path], tally: Tally) -> dict[Reader, list[Path]]:
    """Which reader takes which of the paths. Raises for a file or folder of no known format."""
    groups: dict[Reader, list[Path]] = {}
    for path in progress(paths, "looking"):
        if path.is_dir():
            for reader, found in _folder(path, tally).items():
                groups.setdefault(reader, []).extend(found)
            continue
        head = head_of(path)
        head.refuse()
        known = _reader_of(head)
        if known is None:
            raise OutcomesError(
                f"{path.name}: no known results format. It looks like {head.described()}."
                f" {can_read()}"
            )
        groups.setdefault(known, []).append(path)
    return groups


def _reader_of(head: Head) -> Reader | None:
    """The reader that knows a file. Where only a plain table would take it, and its first object
    goes on behind the part that was looked at, the object is read whole: a long run is no table.
    """
    known = next((reader for reader in readers() if reader.sniff(head)), None)
    if head.cut and (known is None or not getattr(known, "SPECIFIC", True)):
        longer = head.longer()
        return next((reader for reader in readers() if reader.sniff(longer)), None)
    return known


def _taker(folder: Path, names: Sequence[str]) -> Reader | None:
    """The reader that takes a folder as one result."""
    start = len(str(folder)) + 1
    inside = [name[start:].replace(os.sep, "/") for name in names]
    for reader in readers():
        whole = getattr(reader, "sniff_folder", None)
        if whole is not None and whole(folder, inside):
            return reader
    return None


def _folder(folder: Path, tally: Tally) -> dict[Reader, list[Path]]:
    """The results in a folder: one result as a whole, or files of one format; other files are
    counted.
    """
    # The first names show what a large tree is, and its reader lists it once.
    taker = _taker(folder, list(islice(walk(folder, Tally()), PEEK)))
    found = [] if taker else names_in(folder, tally)
    taker = taker or _taker(folder, found)
    if taker:
        return {taker: [folder]}
    files = [Path(name) for name in found]
    groups: dict[Reader, list[Path]] = {}
    for path in progress(files, "looking"):
        known = _sniffed(path, tally)
        if known is not None:
            groups.setdefault(known, []).append(path)
        else:
            tally.add("files in the folder that hold no known results and were not read", path.name)
    plain = [reader for reader in groups if not getattr(reader, "SPECIFIC", True)]
    if len(groups) > len(plain):
        for reader in plain:
            tally.add(
                f"files in the folder that were not read ({reader.NAME})",
                groups[reader][0].name,
                len(groups[reader]),
            )
            del groups[reader]
    if not groups:
        seen = some([path.name for path in files], 8) if files else "nothing"
        raise OutcomesError(
            f"the folder {folder.name or folder} holds no results that can be read; it holds"
            f" {seen}. {can_read()}"
        )
    if len(groups) > 1:
        listed = "; ".join(
            f"{reader.NAME}: {some([path.name for path in found], 3)}"
            for reader, found in groups.items()
        )
        raise OutcomesError(
            f"the folder {folder.name} holds results of several formats ({listed}); name the files"
            " to read"
        )
    return groups


def _sniffed(path: Path, tally: Tally) -> Reader | None:
    """The reader of one file in a folder; a damaged or foreign file is none."""
    if path.suffix.lower() in NOT_RESULTS:
        return None
    try:
        head = head_of(path)
        head.refuse()
    except OutcomesError:
        return None
    known = _reader_of(head)
    if known is not None and not getattr(known, "SPECIFIC", True):
        suffixes = [suffix.lower() for suffix in path.suffixes]
        return known if TABLES & set(suffixes[-2:]) else None
    return known


def can_read() -> str:
    """What can be read, in one sentence."""
    return "What can be read: " + "; ".join(reader.NAME for reader in readers())
