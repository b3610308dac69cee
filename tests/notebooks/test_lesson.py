"""The measuring tape of the notebook tests itself: what counts as printed, and what does not."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from queue import Empty
from typing import Any

import nbclient
import nbformat
import pytest

from .lesson import Asking, AskingManager, Rows, holds, numbers, run


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("On ASR 63/787 = 8.0% [6.3, 10.1]", "On 63/787 6.3 10.1"),
        ("On 63 787 0.080051 0.063071 0.101121", "On 63/787 6.3 10.1"),
        ("P(pass) at 2 %: 0.57602", ".576"),
        ("needs 1660 tasks", "1,660"),
        ("3.4996e-11", "3.5e-11"),
        ("[52.4, 360.0]/1000", "52.4"),
    ],
)
def test_a_value_is_found_in_any_layout(line: str, expected: str) -> None:
    assert holds(line, expected)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("On 63/787 = 8.0% [6.3, 10.2]", "On 63/787 6.3 10.1"),
        ("On 163/787 [6.3, 10.1]", "63/787"),
        ("63/7870", "63/787"),
        ("0.5771", ".576"),
        ("1661", "1,660"),
        ("12.50", "12"),
        ("3.6e-11", "3.5e-11"),
        ("Off 63/787", "LoopOnly 63/787"),
    ],
)
def test_another_value_is_not(line: str, expected: str) -> None:
    assert not holds(line, expected)


def test_a_table_row_is_one_line_and_style_is_none() -> None:
    html = (
        "<style>td {width: 9%}</style><table><tr><th>On</th><td>63/787</td></tr><tr><td>x</td></tr>"
    )
    assert Rows.of(html) == ["On 63/787", "x"]


def test_numbers_are_read_with_commas_signs_and_without_a_leading_zero() -> None:
    assert numbers("1,660 tasks, .576, −4.3 and 2e-06.") == [1660.0, 0.576, -4.3, 2e-06]


class Deaf:
    """A socket whose waits miss the signal, as pyzmq's can: the message is seen only when a new
    wait begins.
    """

    def __init__(self, there: bool) -> None:
        self.there, self.waits = there, 0

    async def poll(self, timeout: float | None) -> int:
        self.waits += 1
        if self.there and self.waits > 1:
            return 1
        assert timeout is not None, "a wait without an end never ends"
        await asyncio.sleep(timeout / 1000)
        return 0


class DeafChannel(Asking):
    """A channel on such a socket."""

    def __init__(self, there: bool) -> None:
        self.socket: Any = Deaf(there)

    async def _recv(self, **_: Any) -> dict[str, Any]:
        return {"msg_type": "said"}


@pytest.mark.parametrize("patience", [None, 60.0])
def test_a_message_whose_signal_was_missed_is_found_at_the_next_look(
    patience: float | None,
) -> None:
    start = time.monotonic()
    assert asyncio.run(DeafChannel(there=True).get_msg(patience)) == {"msg_type": "said"}
    assert time.monotonic() - start < 30  # a second, and never the whole patience


def test_no_message_is_still_none() -> None:
    with pytest.raises(Empty):
        asyncio.run(DeafChannel(there=False).get_msg(0.05))


def test_the_kernel_of_a_run_is_asked_through_such_channels() -> None:
    client = AskingManager(kernel_name="python3").client()
    assert (client.shell_channel_class, client.iopub_channel_class) == (Asking, Asking)


def test_an_error_in_a_cell_fails_the_run(tmp_path: Path) -> None:
    path = tmp_path / "broken.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")]), path)
    with pytest.raises(nbclient.exceptions.CellExecutionError, match="ZeroDivisionError"):
        run(path)


def test_a_run_sees_prints_its_environment_and_the_files_left(tmp_path: Path) -> None:
    path = tmp_path / "fine.ipynb"
    code = "import os; print(os.environ['FERRITE_RESULTS']); open('left.txt', 'w').close()"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)]), path)
    seen = run(path, FERRITE_RESULTS="mine.csv")
    assert seen.lines() == ["mine.csv"]
    assert seen.left == {tmp_path / "left.txt"}
