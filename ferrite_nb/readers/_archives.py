"""Zip archives, member by member: a limit on each member's size, no path outside, zstandard members
where possible.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ..outcomes.contract import OutcomesError
from ._files import within

MEMBER_LIMIT = 1 * 2**30
ZSTANDARD = 93
INSTALL = (
    "its members are packed with zstandard; install it with: pip install 'ferrite-nb[inspect]'"
)


@contextmanager
def open_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive; a damaged one becomes an `OutcomesError` that names the file."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, zlib.error) as problem:
        raise OutcomesError(f"{path.name} cannot be read as a zip archive: {problem}") from problem


def members_of(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """The files of an archive in the order of their names; an absolute path or one with ".." is
    refused.
    """
    found = []
    for member in archive.infolist():
        parts = member.filename.replace("\\", "/").split("/")
        if ".." in parts or member.filename.startswith(("/", "\\")) or parts[0].endswith(":"):
            name = Path(archive.filename or "").name
            raise OutcomesError(
                f"{name} holds the member {member.filename[:80]!r}, a path outside of the archive"
            )
        if not member.is_dir() and not parts[-1].startswith("."):
            found.append(member)
    return sorted(found, key=lambda member: member.filename)


def member_bytes(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, limit: int | None = None
) -> bytes:
    """The bytes of one member, stored, deflated or packed with zstandard; above the limit it is
    refused.
    """
    limit = MEMBER_LIMIT if limit is None else limit
    place = f"{Path(archive.filename or '').name}, {member.filename[:120]}"
    if member.flag_bits & 0x1:
        raise OutcomesError(f"{place} is encrypted; unpack it first")
    try:
        if member.compress_type == ZSTANDARD:
            data = _zstandard(archive, member, limit, place)
        else:
            with archive.open(member) as stream:
                data = within(stream, limit)
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, zlib.error) as problem:
        raise OutcomesError(f"{place} cannot be unpacked: {problem}") from problem
    if data is None:
        raise OutcomesError(f"{place} unpacks to more than {limit:,} bytes")
    return data


def _zstandard(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, limit: int, place: str
) -> bytes | None:
    """Unpack method 93, which `zipfile` knows from Python 3.14 on only."""
    try:
        import zstandard
    except ImportError:
        raise OutcomesError(f"{place}: {INSTALL}") from None
    raw: IO[bytes] | Any = archive.fp
    raw.seek(member.header_offset)
    header = raw.read(30)
    if len(header) < 30 or header[:4] != b"PK\x03\x04":
        raise OutcomesError(f"{place} cannot be unpacked: no member starts at its place")
    skip = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
    raw.seek(member.header_offset + 30 + skip)
    packed = raw.read(member.compress_size)
    try:
        with zstandard.ZstdDecompressor().stream_reader(packed) as stream:
            return within(stream, limit)
    except zstandard.ZstdError as problem:
        raise OutcomesError(f"{place} cannot be unpacked: {problem}") from problem
