"""Files: written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(files: Mapping[Path, bytes]) -> None:
    """Write each file beside its target, then move all into place; a failure leaves the old files
    as they were.

    Raises
    ------
    FileNotFoundError : the folder is not there.
    PermissionError : the folder or an older file is read-only.
    """
    for path in files:
        if not path.parent.is_dir():
            raise FileNotFoundError(f"no folder {path.parent}; make it first")
        for place in (path.parent, path):
            # the mode is read, not `os.access`: an administrator may write anywhere, a read-only
            # mark is still meant
            if place.exists() and not place.stat().st_mode & 0o222:
                raise PermissionError(f"{place} is read-only; nothing was written")
    waiting = {path: path.with_name(f".{path.name}.{os.getpid()}.new") for path in files}
    try:
        for path, content in files.items():
            waiting[path].write_bytes(content)
        for path, name in waiting.items():
            os.replace(name, path)
    finally:
        for name in waiting.values():
            name.unlink(missing_ok=True)
