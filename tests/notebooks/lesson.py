"""A lesson as the tests see it: its source, and what a reader sees after Run All in a fresh
kernel.
"""

from __future__ import annotations

import functools
import os
import re
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from queue import Empty
from typing import Any
from unittest import mock

import nbclient
import nbformat
from jupyter_client.asynchronous import AsyncKernelClient
from jupyter_client.channels import AsyncZMQSocketChannel
from jupyter_client.manager import AsyncKernelManager
from nbclient.exceptions import CellExecutionError
from traitlets import Type
from traitlets.config import Config

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
OFFLINE = {
    name: "http://127.0.0.1:9"
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
}


class Asking(AsyncZMQSocketChannel):
    """A channel that looks every second whether a message is there.

    A wait on a ZeroMQ socket in asyncio can miss the one signal that a message came, and then
    stands still until its timeout although the message is there (pyzmq issue 1558). A cell of a
    second then takes two minutes.
    """

    async def get_msg(self, timeout: float | None = None) -> dict[str, Any]:
        """The next message; raises Empty after `timeout` seconds without one."""
        end = float("inf") if timeout is None else time.monotonic() + timeout
        while True:
            wait = min(1.0, max(0.0, end - time.monotonic()))
            try:
                return await super().get_msg(wait)
            except Empty:
                if time.monotonic() >= end:
                    raise


class AskingClient(AsyncKernelClient):
    """A client whose answers and outputs come through such channels."""

    shell_channel_class = Type(Asking)
    iopub_channel_class = Type(Asking)


class AskingManager(AsyncKernelManager):
    """A kernel with such a client."""

    client_factory = Type(AskingClient)


@dataclass(frozen=True)
class Run:
    """An executed notebook: its cells with outputs, and the files it left behind."""

    notebook: Any
    left: frozenset[Path]

    def outputs(self) -> list[tuple[int, Any]]:
        """Every output with the number of its cell."""
        cells = enumerate(self.notebook.cells)
        return [(number, output) for number, cell in cells for output in cell.get("outputs", [])]

    def lines(self) -> list[str]:
        """What a reader reads: printed lines, and one line for each row of a table."""
        return [line for _, output in self.outputs() for line in lines_of(output)]


def run(path: Path, **environment: str) -> Run:
    """Execute a notebook from the top in a fresh kernel, without network; an error in a cell
    raises.
    """
    notebook = nbformat.read(path, as_version=4)
    before = files(path.parent)
    clean = {name: value for name, value in os.environ.items() if name != "FERRITE_RESULTS"}
    with (
        tempfile.TemporaryDirectory() as sockets,
        mock.patch.dict(os.environ, clean | OFFLINE | environment, clear=True),
    ):
        client = nbclient.NotebookClient(
            notebook,
            timeout=120,
            kernel_name="python3",
            kernel_manager_class=AskingManager,
            resources={"metadata": {"path": str(path.parent)}},
            allow_errors=False,
            # ipykernel warns of unencrypted TCP. A local socket needs no encryption; its place must
            # be an absolute path, because kernel and client work in different folders.
            config=Config({"KernelManager": {"transport": "ipc", "ip": f"{sockets}/kernel"}}),
        )
        client.execute()
    return Run(notebook, frozenset(files(path.parent) - before))


@functools.cache
def _once(path: Path) -> Run | CellExecutionError:
    try:
        return run(path)
    except CellExecutionError as problem:
        return problem


def executed(path: Path) -> Run:
    """The same, once per session, whether it ends well or not."""
    seen = _once(path)
    if isinstance(seen, CellExecutionError):
        raise seen
    return seen


def files(folder: Path) -> set[Path]:
    """The files of a folder, without Jupyter's own checkpoints."""
    return {
        path
        for path in folder.rglob("*")
        if path.is_file() and ".ipynb_checkpoints" not in path.parts
    }


def text_of(value: Any) -> str:
    """A notebook keeps text as one string or as a list of lines."""
    return value if isinstance(value, str) else "".join(value or "")


def lines_of(output: Any) -> Iterator[str]:
    """The lines of one output; of several forms of it the one that JupyterLab shows."""
    if output["output_type"] == "stream":
        yield from text_of(output["text"]).splitlines()
        return
    data = output.get("data", {})
    if "text/html" in data:
        yield from Rows.of(text_of(data["text/html"]))
    elif "image/png" not in data:
        yield from text_of(data.get("text/markdown") or data.get("text/plain")).splitlines()


class Rows(HTMLParser):
    """The text of HTML, one line for each table row or block."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.parts: list[str] = []
        self.hidden = 0

    @classmethod
    def of(cls, html: str) -> list[str]:
        """The lines of a piece of HTML."""
        parser = cls()
        parser.feed(html)
        parser.close()
        parser.end()
        return parser.lines

    def end(self) -> None:
        """Close the line that is being read."""
        line = " ".join(part for part in (" ".join(self.parts)).split() if part)
        if line:
            self.lines.append(line)
        self.parts = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.hidden += tag in {"style", "script"}
        if tag in {
            "tr",
            "p",
            "div",
            "li",
            "br",
            "caption",
            "h1",
            "h2",
            "h3",
            "h4",
            "table",
            "figcaption",
        }:
            self.end()

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in {"style", "script"}
        if tag in {
            "tr",
            "p",
            "div",
            "li",
            "caption",
            "h1",
            "h2",
            "h3",
            "h4",
            "table",
            "figcaption",
        }:
            self.end()

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.parts.append(data)


NUMBER = re.compile(r"(?<![\w.])[-−]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
FRACTION = re.compile(r"\d[\d,]*/\d[\d,]*")


def numbers(line: str) -> list[float]:
    """All numbers of a line, "1,660" and ".576" too."""
    return [
        float(hit.replace(",", "").replace("−", "-").rstrip(".")) for hit in NUMBER.findall(line)
    ]


def holds(line: str, expected: str) -> bool:
    """Whether one line holds every token of `expected`: words, counts k/n, numbers to the digits
    written.

    A number may be printed as a proportion or in percent; a count k/n also as two numbers.
    """
    found = numbers(line)
    return all(_token(line, found, token) for token in expected.split())


def _token(line: str, found: list[float], token: str) -> bool:
    if FRACTION.fullmatch(token):
        exact = re.search(rf"(?<![\d,.]){re.escape(token)}(?![\d,.]*\d)", line.replace(" / ", "/"))
        return bool(exact) or all(
            float(part.replace(",", "")) in found for part in token.split("/")
        )
    if not NUMBER.fullmatch(token):
        return token.lower() in line.lower()
    digits = token.replace(",", "").lower()
    value = float(digits)
    mantissa, _, exponent = digits.partition("e")
    places = len(mantissa.partition(".")[2]) - int(exponent or 0)
    whole = digits.lstrip("-−").isdigit()  # a count is exact
    half = 1e-9 if whole else 0.5000001 * 10.0**-places
    scales = (1.0,) if whole or exponent else (1.0, 0.01, 100.0)
    return any(abs(have / scale - value) <= half for have in found for scale in scales)
