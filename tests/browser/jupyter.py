"""A private JupyterLab, and a notebook in it as a reader sees it. Nothing here sleeps: it waits for
what is seen.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from playwright.sync_api import Locator, Page, expect

BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
)
FLAGS = [
    "--no-sandbox",  # where the user is root
    "--disable-dev-shm-usage",  # containers have a small one
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
]
SETTINGS: dict[str, dict[str, Any]] = {
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/docmanager-extension/plugin": {"autosave": False},
    "@jupyterlab/notebook-extension/tracker": {
        "windowingMode": "none"
    },  # cells off screen stay in the page
}

# Not the notebook's own indicator: it says idle before there is a kernel, and running cells then
# asks for one.
IDLE = """() => {
  const session = window.jupyterapp?.shell.currentWidget?.sessionContext;
  const kernel = session?.session?.kernel;
  return !!kernel && session.isReady && kernel.connectionStatus === 'connected' && kernel.status === 'idle';
}"""
ALL_RAN = """() => {
  const cells = window.jupyterapp.shell.currentWidget.content.widgets.filter(
    cell => cell.model.type === 'code' && cell.model.sharedModel.source.trim());
  const failed = cells.some(cell => cell.model.outputs.toJSON().some(output => output.output_type === 'error'));
  return failed || cells.every(cell => cell.model.executionCount && cell.model.executionState !== 'running');
}"""
NEW_IMAGE = """([css, old]) => {
  const images = document.querySelectorAll(css + ' img');
  return images.length === 1 && images[0].complete && images[0].src !== old;
}"""

# All that the outputs show, in words and pictures.
SHOWN = """() => [...document.querySelectorAll('.jp-NotebookPanel .jp-OutputArea')].map(
  area => area.innerText + [...area.querySelectorAll('img')].map(image => image.src).join()).join()"""


def chromium() -> str | None:
    """The installed browser: the one named by FERRITE_CHROMIUM, else the first that is found."""
    named = os.environ.get("FERRITE_CHROMIUM")
    return named or next(filter(None, map(shutil.which, BROWSERS)), None)


@dataclass
class Server:
    """A running JupyterLab: its address, its token and the folder that it serves."""

    base: str
    token: str
    root: Path

    def put(self, notebook: Path | nbformat.NotebookNode, name: str) -> str:
        """Copy a notebook into the served folder and return its name there."""
        target = self.root / name
        if isinstance(notebook, Path):
            shutil.copyfile(notebook, target)
        else:
            nbformat.write(notebook, target)
        return name

    def url(self, name: str) -> str:
        """The address of a notebook of this server, in a workspace of its own."""
        return f"{self.base}/lab/tree/{name}?reset&token={self.token}"

    def ask(self, path: str, method: str = "GET") -> Any:
        """One answer of the server's own interface."""
        header = {"Authorization": f"token {self.token}"}
        request = urllib.request.Request(f"{self.base}/api/{path}", headers=header, method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            body = answer.read()
        return json.loads(body) if body else None

    def end_kernels(self) -> None:
        """End every kernel, so that the next test starts with none."""
        for session in self.ask("sessions"):
            self.ask(f"sessions/{session['id']}", "DELETE")


def free_port() -> int:
    """A port of the loopback that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def environment(state: Path, token: str) -> dict[str, str]:
    """An environment in which nothing of the user's own Jupyter is read or written."""
    own = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
        "MPLCONFIGDIR": "matplotlib",
    }
    inherited = {name: value for name, value in os.environ.items() if name != "FERRITE_RESULTS"}
    return (
        inherited
        | {name: str(state / folder) for name, folder in own.items()}
        | {"JUPYTER_TOKEN": token}
    )


@contextlib.contextmanager
def jupyterlab(root: Path, state: Path) -> Iterator[Server]:
    """A JupyterLab that serves `root` on the loopback and keeps all it writes in `state`."""
    for plugin, values in SETTINGS.items():
        file = state / "settings" / f"{plugin}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values))
    server = Server(f"http://127.0.0.1:{free_port()}", secrets.token_hex(16), root)
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        "--no-browser",
        "--expose-app-in-browser",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={server.base.rpartition(':')[2]}",
        "--ServerApp.port_retries=0",
        f"--ServerApp.root_dir={root}",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        # Where the tests are killed, nobody is left to end it.
        "--ServerApp.shutdown_no_activity_timeout=900",
        "--MappingKernelManager.cull_idle_timeout=600",
    ]
    if os.geteuid() == 0:
        command.append("--allow-root")
    # A slow machine says in the first figure's cell that matplotlib builds its list of fonts: build
    # it beforehand.
    fonts = [sys.executable, "-c", "import matplotlib.font_manager"]
    subprocess.run(fonts, env=environment(state, server.token), check=True, capture_output=True)
    log = state / "jupyterlab.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env=environment(state, server.token),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        wait_for(server, process, log)
        yield server
    finally:
        end(process)


def wait_for(
    server: Server, process: subprocess.Popen[bytes], log: Path, seconds: float = 60
) -> None:
    """Return when the server answers; raise with its log when it ends or stays silent."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        if process.poll() is not None:
            raise RuntimeError(f"JupyterLab ended:\n{log.read_text()}")
        with contextlib.suppress(urllib.error.URLError, ConnectionError, TimeoutError):
            server.ask("status")
            return
        time.sleep(0.1)
    raise TimeoutError(f"JupyterLab did not answer in {seconds:.0f} s:\n{log.read_text()}")


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started: they share its group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)


@dataclass
class Notebook:
    """One notebook in the browser: open it, run it, use its controls, read what it shows."""

    page: Page
    server: Server
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("pageerror", lambda error: self.errors.append(f"page: {error}"))
        self.page.on(
            "console",
            lambda said: (
                self.errors.append(f"console: {said.text}") if said.type == "error" else None
            ),
        )

    @property
    def panel(self) -> Locator:
        """The part of the page that shows the notebook."""
        return self.page.locator(".jp-NotebookPanel:visible")

    def open(self, name: str, *, dark: bool = False) -> None:
        """Open a notebook of the server and wait until its kernel is there and idle."""
        self.page.goto(self.server.url(name), wait_until="domcontentloaded")
        self.page.wait_for_selector("#jupyterlab-splash", state="detached", timeout=60_000)
        self.idle(60_000)
        theme = "JupyterLab Dark" if dark else "JupyterLab Light"
        self.page.evaluate(
            "theme => jupyterapp.commands.execute('apputils:change-theme', { theme })", theme
        )
        self.page.wait_for_selector(
            f"body[data-jp-theme-light='{str(not dark).lower()}']", state="attached"
        )

    def run_all(self, seconds: float = 60) -> None:
        """Run > Run All Cells, as a person does it, and wait until the last cell has run."""
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.locator('.lm-Menu-item[data-command="runmenu:run-all"]').click()
        self.page.wait_for_function(ALL_RAN, timeout=seconds * 1000)
        self.idle(30_000)
        failed = self.tracebacks()
        assert not failed, "\n".join(failed)

    def idle(self, milliseconds: float = 30_000) -> None:
        """Wait until the kernel has nothing left to do."""
        self.page.wait_for_function(IDLE, timeout=milliseconds)

    def part(self, role: str) -> Locator:
        """The part of the page with the class `ferrite-<role>`."""
        return self.panel.locator(f".ferrite-{role}")

    def picture(self, role: str) -> str:
        """A fingerprint of the one picture in a part of the page."""
        return hashlib.sha256(self.source(role).encode()).hexdigest()

    def source(self, role: str) -> str:
        """The picture itself, as the page carries it."""
        image = self.part(role).locator("img")
        expect(image).to_have_count(1)
        return image.get_attribute("src") or ""

    def alt(self, role: str) -> str:
        """What a reader who does not see the picture is told."""
        return self.part(role).locator("img").get_attribute("alt") or ""

    def words(self, role: str) -> str:
        """The text of a part of the page."""
        return self.part(role).inner_text()

    def rows(self, role: str) -> list[list[str]]:
        """The table in a part of the page, cell by cell."""
        rows = self.part(role).locator("table tr")
        return [row.locator("th, td").all_inner_texts() for row in rows.all()]

    def choose(self, role: str, option: str, *, shown: str, seconds: float = 20) -> None:
        """Choose an option of a dropdown and wait until one new picture is there."""
        old = self.source(shown)
        self.part(role).locator("select").select_option(option)
        self.redrawn(shown, old, seconds)

    def redrawn(self, shown: str, old: str, seconds: float = 20) -> None:
        """Wait until the picture in a part of the page is another one than `old`, whole, and the
        only one.
        """
        self.page.wait_for_function(
            NEW_IMAGE, arg=[f".ferrite-{shown}", old], timeout=seconds * 1000
        )
        self.idle()

    def shown(self) -> str:
        """All that the outputs show, in words and pictures."""
        text: str = self.page.evaluate(SHOWN)
        return text

    def move(self, control: Locator) -> None:
        """Give a dropdown, a slider or a box another value, and wait until the reader sees
        something else.
        """
        before = self.shown()
        control.scroll_into_view_if_needed()
        if control.locator("select").count():
            chooser = control.locator("select")
            chosen: int = chooser.evaluate("chooser => chooser.selectedIndex")
            chooser.select_option(index=0 if chosen else 1)
        elif control.locator(".noUi-handle").count():
            handle = control.locator(".noUi-handle").first
            at_end = handle.get_attribute("aria-valuenow") == handle.get_attribute("aria-valuemax")
            handle.press("ArrowLeft" if at_end else "ArrowRight")
        else:
            control.locator("input").first.click()
        self.page.wait_for_function(f"before => ({SHOWN})() !== before", arg=before, timeout=20_000)
        self.idle()

    def tracebacks(self) -> list[str]:
        """The errors that cells and controls show; JupyterLab shows them as if written to
        stderr.
        """
        return [text for text in self.stderr() if "Traceback (most recent call last)" in text]

    def stderr(self) -> list[str]:
        """What cells wrote to stderr, and their tracebacks."""
        return self.panel.locator(
            "[data-mime-type='application/vnd.jupyter.stderr']"
        ).all_inner_texts()
