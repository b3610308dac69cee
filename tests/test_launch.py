"""`ferrite-nb lab`: the user's copies are safe, the server is private, and Ctrl-C ends it
cleanly.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import nbformat
import pytest

import ferrite_nb as fnb
from ferrite_nb import cli, launch


@pytest.fixture
def wheel_like(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation without a checkout: two shipped notebooks, and the user in an empty
    folder.
    """
    package = tmp_path / "site-packages" / "ferrite_nb"
    shipped = package / "_bundled" / "notebooks"
    shipped.mkdir(parents=True)
    (shipped / launch.START).write_text("shipped start")
    (shipped / "01_next.ipynb").write_text("shipped next")
    monkeypatch.setattr("ferrite_nb.bundled.PACKAGE", package)
    monkeypatch.setattr("ferrite_nb.launch.PACKAGE", package)
    user = tmp_path / "user"
    user.mkdir()
    monkeypatch.chdir(user)
    return user


SHIPPED = Path(fnb.__file__).parent.parent / "notebooks"


def test_a_checkout_is_worked_on_in_a_copy_without_the_solutions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    where, kept = launch.notebooks()
    assert (where, kept) == (tmp_path / launch.COPY, [])
    all_shipped = {path.name for path in SHIPPED.glob("*.ipynb")}
    there = {path.name for path in where.glob("*.ipynb")}
    assert all_shipped - there == {"lab_chapter_29_solutions.ipynb"}
    again, _ = launch.notebooks(solutions=True)
    assert {path.name for path in again.glob("*.ipynb")} == all_shipped


@pytest.mark.parametrize("inside", [".", "mine"])
def test_the_tracked_notebooks_are_never_worked_in(inside: str) -> None:
    with pytest.raises(ValueError, match="name another --folder"):
        launch.notebooks(SHIPPED / inside)


def test_the_start_notebook_reads_with_the_declarations_of_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyterlab.labapp.LabApp.launch_instance", lambda _: None)
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "")
    monkeypatch.setenv(launch.RESULTS_VARIABLE, "")
    monkeypatch.setenv(launch.ARGUMENTS_VARIABLE, "")
    monkeypatch.chdir(tmp_path)
    Path("own.csv").write_text("id,defence,out\n1,off,yes\n1,on,no\n2,off,no\n2,on,no\n")
    columns = ("case_id=id", "mode=defence", "attack_success=out")
    given = [part for column in columns for part in ("--column", column)]
    assert cli.main(["lab", "own.csv", *given, "--const", "kind=attack", "--baseline", "off"]) == 0
    monkeypatch.chdir(launch.COPY)
    runs = launch.results()
    assert (runs.modes, runs.base) == (("off", "on"), ("off", "declared"))
    assert fnb.rates(runs, "ASR")["k"].tolist() == [1, 0]


def test_without_a_checkout_the_user_gets_a_copy(wheel_like: Path) -> None:
    where, kept = launch.notebooks()
    assert where == wheel_like / "ferrite_notebooks"
    assert sorted(path.name for path in where.iterdir()) == [launch.START, "01_next.ipynb"]
    assert kept == []


def test_an_edited_notebook_is_kept_and_named(wheel_like: Path) -> None:
    where, _ = launch.notebooks()
    (where / launch.START).write_text("my notes")
    (where / "01_next.ipynb").unlink()
    again, kept = launch.notebooks()
    assert again == where
    assert kept == [launch.START]
    assert (where / launch.START).read_text() == "my notes"
    assert (where / "01_next.ipynb").read_text() == "shipped next"


def test_a_missing_results_file_is_said_before_anything_starts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["lab", "no/such/file.csv"]) == 2
    assert "no/such/file.csv" in capsys.readouterr().err


@pytest.mark.parametrize(("user", "allowed"), [(0, True), (1000, False)])
def test_root_is_allowed_only_when_the_user_is_root(
    user: int, allowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user, raising=False)
    root = Path("somewhere")
    arguments = launch.server_arguments(
        root, root / "notebooks" / launch.START, port=8888, browser=True
    )
    assert ("--allow-root" in arguments) is allowed
    assert "--ServerApp.ip=127.0.0.1" in arguments
    assert f"--LabApp.default_url=/lab/tree/notebooks/{launch.START}" in arguments
    assert not [
        argument
        for argument in arguments
        if "token" in argument.lower() or "password" in argument.lower()
    ]


@pytest.mark.skipif(
    sys.platform in {"darwin", "win32"}, reason="there a browser can always be shown"
)
def test_no_browser_without_a_display(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    assert not launch.has_display()
    monkeypatch.setenv("DISPLAY", ":0")
    assert launch.has_display()


def address(log: Path, process: subprocess.Popen[bytes]) -> str:
    """The address that `lab` prints, once it is there."""
    for _ in range(1200):
        assert process.poll() is None, log.read_text()
        for word in log.read_text().split():
            if word.startswith("http://127.0.0.1") and "token=" in word:
                return word
        time.sleep(0.1)
    raise AssertionError(f"no address after two minutes:\n{log.read_text()}")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for a child")
def test_lab_prints_the_address_asks_the_token_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    nbformat.write(nbformat.v4.new_notebook(), folder / launch.START)
    log = tmp_path / "log.txt"
    environment = os.environ | {
        f"JUPYTER_{kind}_DIR": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "RUNTIME")
    }
    command = [
        Path(sys.executable).parent / "ferrite-nb",
        "lab",
        "--folder",
        folder,
        "--no-browser",
        "--port",
        "18888",
    ]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        url = address(log, process)
        assert f"/lab/tree/mine/{launch.START}?token=" in url
        with urllib.request.urlopen(url, timeout=10) as page:
            assert page.status == 200
            config = re.search(
                r'id="jupyter-config-data"[^>]*>(.*?)</script>',
                page.read().decode(),
                flags=re.DOTALL,
            )
        assert config is not None
        # Nobody in a class is asked whether JupyterLab may fetch news.
        assert (
            "@jupyterlab/apputils-extension:announcements"
            in json.loads(config.group(1))["disabledExtensions"]
        )
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(url.split("/lab/")[0] + "/api/contents", timeout=10)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert "Traceback" not in log.read_text()
