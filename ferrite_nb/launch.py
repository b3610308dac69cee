"""Open JupyterLab at the start notebook: the notebooks of a checkout, or a copy in the user's own
folder.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import sys
from pathlib import Path

from .bundled import PACKAGE, folder

START = "00_start_here.ipynb"
RESULTS_VARIABLE = "FERRITE_RESULTS"
COPY = "ferrite_notebooks"


def notebooks(target: Path | None = None) -> tuple[Path, list[str]]:
    """The folder of notebooks to work in, and the names of those the user had changed, which were
    kept.

    In a checkout it is the checkout's own folder, unless `target` is given. Elsewhere the notebooks
    are copied to `target` (by default `ferrite_notebooks` in the current folder); a copy that is
    there already stays as it is.
    """
    shipped = folder("notebooks")
    if target is None and shipped.parent == PACKAGE.parent:
        return shipped, []
    target = (target or Path.cwd() / COPY).resolve()
    kept = []
    for source in sorted(path for path in shipped.rglob("[!.]*") if path.is_file()):
        copy = target / source.relative_to(shipped)
        if not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)
        elif not filecmp.cmp(source, copy, shallow=False):
            kept.append(copy.relative_to(target).as_posix())
    return target, kept


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
    results: Path | None, *, target: Path | None = None, port: int = 8888, browser: bool = True
) -> None:
    """Start JupyterLab and stay until it ends; the start notebook reads `results`, if given.

    Raises
    ------
    ValueError
        When `results` does not exist, or the notebooks are not there.
    """
    if results is not None:
        if not results.exists():
            raise ValueError(f"there is no file or folder {str(results)!r}")
        os.environ[RESULTS_VARIABLE] = str(results.resolve())
    where, kept = notebooks(target)
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
