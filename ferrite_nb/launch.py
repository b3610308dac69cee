"""Open JupyterLab at the start notebook of the user's own copy of the notebooks, which is kept and
never overwritten.
"""

from __future__ import annotations

import filecmp
import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .bundled import PACKAGE, data, folder

if TYPE_CHECKING:
    from .outcomes.table import Outcomes

START = "00_start_here.ipynb"
RESULTS_VARIABLE = "FERRITE_RESULTS"  # one path
ARGUMENTS_VARIABLE = "FERRITE_ARGUMENTS"  # a folder and the arguments of `lab` there, as JSON
COPY = "ferrite_notebooks"


def notebooks(target: Path | None = None, *, solutions: bool = False) -> tuple[Path, list[str]]:
    """The folder of notebooks to work in, and the names of those the user had changed, which were
    kept.

    The notebooks are copied to `target` (by default `ferrite_notebooks` in the current folder); a
    copy that is there already stays as it is. The shipped ones are never worked in. The solved ones
    of the teacher come with `solutions`.

    Raises
    ------
    ValueError: `target` is the folder of the shipped notebooks, or lies in it.
    """
    shipped = folder("notebooks").resolve()
    target = (target or Path.cwd() / COPY).resolve()
    if target.is_relative_to(shipped):
        raise ValueError(
            f"{target} holds the notebooks that are shipped; name another --folder for your copy"
        )
    kept = []
    for source in sorted(path for path in shipped.rglob("[!.]*") if path.is_file()):
        copy = target / source.relative_to(shipped)
        if source.stem.endswith("_solutions") and not solutions:
            continue
        if not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)
        elif not filecmp.cmp(source, copy, shallow=False):
            kept.append(copy.relative_to(target).as_posix())
    return target, kept


def results(default: str = "ferrite_run_b.csv") -> Outcomes:
    """The outcomes that `ferrite-nb lab` was started with, declarations and all; else bundled ones.

    Parameters
    ----------
    default: the bundled data set to read where no results were named.

    Example
    -------
    >>> from ferrite_nb.launch import results
    >>> results("ferrite_run_a.csv").modes
    ('Off', 'SanitizerOnly', 'LoopOnly', 'On')
    """
    from .arguments import files, parsers
    from .cli import COMMANDS, read_results

    where, *given = json.loads(os.environ.get(ARGUMENTS_VARIABLE) or '["."]')
    given = given or [os.environ.get(RESULTS_VARIABLE) or str(data(default))]
    args = parsers(COMMANDS)[1]["lab"].parse_intermixed_args(files(given))
    # the notebooks run in another folder than the one in which the files were named
    args.results = [os.path.join(where, name) for name in args.results]
    args.name = [(mode, os.path.join(where, name)) for mode, name in args.name]
    return read_results(args)


def has_display() -> bool:
    """Whether a browser can be shown to the user here."""
    if sys.platform in {"darwin", "win32"} or "BROWSER" in os.environ:
        return True
    return "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ


def server_arguments(root: Path, notebook: Path, *, port: int, browser: bool) -> list[str]:
    """The arguments that start JupyterLab in `root` at `notebook`: loopback only, with a token,
    quiet.
    """
    arguments = [
        f"--ServerApp.root_dir={root}",
        f"--LabApp.default_url=/lab/tree/{notebook.relative_to(root).as_posix()}",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={port}",
        "--ServerApp.log_level=ERROR",
        "--LabApp.log_level=ERROR",
        "--ServerApp.answer_yes=True",  # one Ctrl-C ends it
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    if not browser:
        arguments.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--allow-root")  # as in a container
    return arguments


def launch(
    first: Path | None,
    given: Sequence[str] = (),
    *,
    target: Path | None = None,
    port: int = 8888,
    browser: bool = True,
    solutions: bool = False,
) -> None:
    """Start JupyterLab and stay until it ends; the start notebook reads the file `first`, or all
    that the arguments `given` name and declare.

    Raises
    ------
    ValueError
        When the notebooks are not there, or `target` is the folder of the shipped ones.
    """
    if first is not None:
        os.environ[RESULTS_VARIABLE] = str(first.resolve())
        os.environ[ARGUMENTS_VARIABLE] = json.dumps([str(Path.cwd()), *given])
    where, kept = notebooks(target, solutions=solutions)
    if not (where / START).is_file():
        raise ValueError(
            f"{START} is not in {where}; install the package again, or name another --folder"
        )
    if kept:
        print(f"kept as you left them in {where}: {', '.join(kept)}")
        print("(rename one to get the shipped one beside it)")
    # What a class should not be asked is off: whether JupyterLab may fetch its news.
    configured = (str(PACKAGE / "jupyter"), os.environ.get("JUPYTER_CONFIG_PATH", ""))
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, configured))
    print(f"starting JupyterLab with {where / START}; stop it with Ctrl-C", flush=True)
    from jupyterlab.labapp import LabApp

    arguments = server_arguments(
        where.parent, where / START, port=port, browser=browser and has_display()
    )
    LabApp.launch_instance(arguments)
