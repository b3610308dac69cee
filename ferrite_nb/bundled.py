"""Where the bundled data sets and notebooks are: in a checkout or inside a wheel."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """The folder `data` or `notebooks` that belongs to this installation.

    A wheel carries both inside the package; an editable installation uses those of its checkout.
    """
    inside = PACKAGE / "_bundled" / name
    return inside if inside.is_dir() else PACKAGE.parent / name


def names() -> list[str]:
    """The names that `data` knows, in order."""
    root = folder("data")
    files = (path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    return sorted(
        name for name in files if not name.startswith(".") and Path(name).name != "README.md"
    )


def data(name: str) -> Path:
    """The path of a bundled data set, from a notebook or from anywhere.

    Each file is described in `data/README.md`: what is real, reconstructed or synthetic, and its
    source.

    Parameters
    ----------
    name : str
        The name of a file in `data/`, for example "ferrite_run_a.csv".

    Returns
    -------
    pathlib.Path
        An absolute path that exists.

    Raises
    ------
    ValueError
        When there is no such file; the message lists the names.

    Example
    -------
    >>> import ferrite_nb as fnb
    >>> fnb.data("ferrite_run_a.csv").name
    'ferrite_run_a.csv'
    """
    known = names()
    if name not in known:
        close = get_close_matches(str(name), known, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        listed = ", ".join(known) or "none"
        raise ValueError(f"no bundled data set is called {name!r}; {hint}there are: {listed}")
    return folder("data") / name
