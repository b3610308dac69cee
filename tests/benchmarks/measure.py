"""Measuring: each program in a process of its own, sides in turn, every time kept; and the rows
that are reported.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 120  # a program that takes longer is reported so
GIGABYTES = 6  # address space of a peer: some ask for all resamples at once

# The peak is VmHWM after a reset: `getrusage` also remembers the process that started this one.
# Elsewhere it has to do.
CHILD = """
import json, resource, sys, time
def resident(name):
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith(name)) / 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 2**20)
{limit}
{setup}
def work():
{work}
def timed():
    wall, cpu = time.perf_counter(), time.process_time()
    value = work()
    return time.perf_counter() - wall, time.process_time() - cpu, value
start = resident("VmRSS")
try:
    with open("/proc/self/clear_refs", "w") as clear:
        clear.write("5")
except OSError:
    pass
started, found = time.perf_counter(), [timed()]
if {warm} and found[0][0] < 5:  # a long first call needs no warming
    found = []
while len(found) < {times} and (not found or time.perf_counter() - started < 5):
    found.append(timed())
peak = resident("VmHWM")
try:
    value = [float(one) for one in found[-1][2]]
except TypeError:
    value = []
print(json.dumps({{"wall": [one[0] for one in found], "cpu": [one[1] for one in found], "peak": peak,
                  "added": max(peak - start, 0.0), "value": value}}))
"""


@dataclass(frozen=True)
class Program:
    """What is timed (`work`, the body of a function) after what is not (`setup`), in which
    Python.
    """

    name: str
    setup: str
    work: str
    python: str = sys.executable
    version: str = ""
    warm: bool = True
    times: int = 5
    limited: bool = False


@dataclass
class Timing:
    """All times of a program in seconds, the largest memory in MB, the last value, or why there is
    none.
    """

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    peak: float = 0.0
    added: float = 0.0
    value: list[float] = field(default_factory=list)
    gap: str = ""


def run(program: Program) -> Timing:
    """One process."""
    limit = (
        f"resource.setrlimit(resource.RLIMIT_AS, ({GIGABYTES} * 2**30,) * 2)"
        if program.limited
        else ""
    )
    code = CHILD.format(
        limit=limit,
        setup=textwrap.dedent(program.setup),
        work=textwrap.indent(textwrap.dedent(program.work), "    "),
        warm=program.warm,
        times=program.times,
    )
    command = [program.python, "-W", "ignore", "-c", code]
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return Timing(gap=f"over {SECONDS} s")
    if done.returncode:
        said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        memory = "MemoryError" in said or "Unable to allocate" in said or done.returncode < 0
        return Timing(gap=f"out of memory ({GIGABYTES} GB)" if memory else said[:80])
    return Timing(**json.loads(done.stdout.strip().splitlines()[-1]))


def side_by_side(programs: Sequence[Program], rounds: int) -> list[Timing]:
    """The programs in turn, round after round; one that takes long has fewer rounds."""
    found = [Timing() for _ in programs]
    for turn in range(rounds):
        for program, sum_of in zip(programs, found, strict=True):
            if sum_of.gap or (turn and program.limited and sum(sum_of.wall) > 4):
                continue
            one = run(program)
            sum_of.wall += one.wall
            sum_of.cpu += one.cpu
            sum_of.peak, sum_of.added = max(sum_of.peak, one.peak), max(sum_of.added, one.added)
            sum_of.value, sum_of.gap = one.value, one.gap
    return found


def seconds(times: Sequence[float]) -> str:
    """Median and ends of some times in words."""
    if not times:
        return ""
    middle, *ends = statistics.median(times), min(times), max(times)
    unit, factor = ("s", 1.0) if middle >= 1 else ("ms", 1e3) if middle >= 1e-3 else ("µs", 1e6)
    return (
        f"{number(middle * factor)} {unit} [{number(ends[0] * factor)}, {number(ends[1] * factor)}]"
    )


def number(value: float) -> str:
    """Three digits that matter."""
    return (
        f"{value:,.0f}"
        if abs(value) >= 100
        else f"{value:.1f}"
        if abs(value) >= 10
        else f"{value:.2f}"
    )


@dataclass(frozen=True)
class Row:
    """One line of the table of goals."""

    what: str
    ours: str
    beside: str
    result: str
    goal: str
    held: str


def verdict(holds: Callable[[list[float]], bool], cpu: list[float], wall: list[float]) -> str:
    """Whether a goal holds by both clocks, by the processor's only (a busy machine), or not."""
    by = holds(cpu), holds(wall)
    return "yes" if all(by) else "by CPU time" if by[0] else "by wall time" if by[1] else "**no**"


def clocks(timing: Timing) -> str:
    """Both clocks of a program."""
    return timing.gap or f"{seconds(timing.wall)}, CPU {seconds(timing.cpu)}"


def ratio_row(
    what: str,
    ours: Timing,
    theirs: Timing,
    beside: str,
    most: float,
    *,
    spare: float = 0.0,
    best: bool = False,
    peak: float | None = None,
) -> Row:
    """Ours in terms of another program's time: at most `most` times, plus `spare` seconds; memory
    below `peak` MB.
    """
    if ours.gap or theirs.gap:
        return Row(
            what, clocks(ours), f"{beside}: {clocks(theirs)}", "", f"≤ {most:g} ×", "not measured"
        )
    middle = min if best else statistics.median
    pairs = [(middle(getattr(ours, one)), middle(getattr(theirs, one))) for one in ("cpu", "wall")]
    cpu, wall = ([mine, other] for mine, other in pairs)
    held = verdict(lambda pair: pair[0] <= most * pair[1] + spare, cpu, wall)
    goal = (
        f"≤ {most:g} ×"
        + (f" + {spare * 1e3:.0f} ms" if spare else "")
        + (f", < {peak:,.0f} MB" if peak else "")
    )
    held = "**no** (memory)" if peak and ours.peak >= peak else held
    result = f"{wall[0] / wall[1]:.2f} × (CPU {cpu[0] / cpu[1]:.2f} ×), {ours.peak:,.0f} MB"
    return Row(what, clocks(ours), f"{beside}: {clocks(theirs)}", result, goal, held)


def limit_row(what: str, ours: Timing, most: float) -> Row:
    """Ours in milliseconds."""
    cpu, wall = [statistics.median(ours.cpu)], [statistics.median(ours.wall)]
    held = verdict(lambda one: one[0] < most, cpu, wall)
    return Row(what, clocks(ours), "", f"{ours.peak:,.0f} MB", f"< {most * 1e3:g} ms", held)


def markdown(rows: Sequence[Sequence[str]], head: Sequence[str]) -> str:
    """A table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines
    )
