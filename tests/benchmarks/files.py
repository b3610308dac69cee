"""Reading what harnesses write, beside parsing the same bytes: a garak report, AgentDojo runs, an
Inspect log.

All three are invented, in the layout and with the sizes of real ones.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from . import bench_agentdojo, bench_garak, bench_inspect
from .measure import Program, Row, Timing, clocks, number, ratio_row, side_by_side
from .peers import pythons, version_of

READY = """
import pandas, narwhals, orjson, ferrite_nb as fnb
from ferrite_nb.readers.read import readers
readers(), narwhals.from_native(pandas.DataFrame())  # imports are not counted, here as there
import ferrite_nb.stats
path = {path!r}
"""


def files(quick: bool, rounds: int) -> list[Row]:
    """One row per format."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return [
            garak(folder, 5 if quick else 200, rounds),
            agentdojo(folder, 400 if quick else 20_000, rounds),
            inspect(folder, 40 if quick else 2000, rounds),
        ]


def garak(folder: Path, megabytes: int, rounds: int) -> Row:
    """A report beside orjson on its lines."""
    path = folder / "bench.report.jsonl"
    bench_garak.write_report(path, megabytes)
    once = {"warm": False, "times": 1}
    ready = READY.format(path=str(path))
    parse, read = side_by_side(
        [
            Program("orjson", ready, bench_garak.PARSE, **once),  # type: ignore[arg-type]
            Program("ferrite_nb", ready, bench_garak.READ, **once),
        ],
        rounds,  # type: ignore[arg-type]
    )
    return ratio_row(
        f"garak report, {megabytes} MB", read, parse, "orjson on its lines", 2, peak=400
    )


def agentdojo(folder: Path, count: int, rounds: int) -> Row:
    """A tree beside opening and parsing its files."""
    folder = folder / "tree"
    bench_agentdojo.tree(folder, count)
    ready = READY.format(path=str(folder)) + bench_agentdojo.READY
    parse, read = side_by_side(
        [
            Program("orjson", ready, bench_agentdojo.PARSE, times=3),
            Program("ferrite_nb", ready, "return [len(fnb.read(path).frame)]", times=3),
        ],
        rounds,
    )
    return ratio_row(
        f"AgentDojo tree, {count:,} files", read, parse, "opening and parsing them", 1.5
    )


def inspect(folder: Path, samples: int, rounds: int) -> Row:
    """A log beside Inspect's own data frame, where Inspect is installed."""
    what, goal = f"Inspect log, {samples:,} samples", "≥ 5 times faster, in no more memory"
    python = pythons().get("inspect_ai")
    if python is None:
        return Row(what, "", "`samples_df`: inspect_ai is missing", "", goal, "not measured")
    made = subprocess.run(
        [python, "-c", bench_inspect.WRITE, str(folder), str(samples)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        return Row(
            what,
            "",
            f"inspect_ai: {made.stderr.strip().splitlines()[-1][:80]}",
            "",
            goal,
            "not measured",
        )
    log = next(folder.glob("*.eval"))
    peer, ours = side_by_side(
        [
            Program(
                "inspect_ai",
                bench_inspect.READY.format(path=str(log)),
                bench_inspect.PEER,
                python,
                times=3,
            ),
            Program("ferrite_nb", READY.format(path=str(log)), bench_inspect.READ, times=3),
        ],
        rounds,
    )
    beside = f"`samples_df` of inspect_ai {version_of('inspect_ai')}: {clocks(peer)}"
    if peer.gap or ours.gap:
        return Row(what, clocks(ours), beside, "", goal, "not measured")
    return inspect_row(what, ours, peer, beside, goal)


def inspect_row(what: str, ours: Timing, peer: Timing, beside: str, goal: str) -> Row:
    """How many times faster, by both clocks, and the memory of both."""
    cpu, wall = min(peer.cpu) / min(ours.cpu), min(peer.wall) / min(ours.wall)
    by = {
        (True, True): "yes",
        (True, False): "by CPU time",
        (False, True): "by wall time",
        (False, False): "**no**",
    }
    held = by[cpu >= 5, wall >= 5] if ours.peak <= peer.peak else "**no** (memory)"
    result = (
        f"{number(wall)} times faster (CPU {number(cpu)}), {ours.peak:,.0f} MB beside"
        f" {peer.peak:,.0f} MB"
    )
    return Row(what, clocks(ours), beside, result, goal, held)
