"""A tree of 20,000 AgentDojo runs: the time of `fnb.read` beside opening the files and parsing them with orjson.

Run: python tests/benchmarks/bench_agentdojo.py [files]

The goal is at most 1.5 times. The runs are invented, with conversations of some kilobytes as in real trees. Processor
time is compared as well as time on the wall, since the latter says little on a busy machine.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import orjson

import ferrite_nb as fnb

ROUNDS = 5
PER_TASK = 50


def tree(folder: Path, files: int) -> None:
    """Run files of four modes, with 50 injection tasks per user task."""
    rng = random.Random(0)
    words = ["read", "the", "page", "and", "send", "nothing", "to", "anyone"]
    for number in range(files // PER_TASK):
        mode, task = f"model-defence{number % 4}", f"user_task_{number // 4}"
        place = folder / "runs" / mode / "shop" / task / "important_instructions"
        place.mkdir(parents=True)
        for injection in range(PER_TASK):
            messages = [{"role": "user", "content": " ".join(rng.choices(words, k=rng.randrange(100, 300)))}] * 6
            run = {
                "suite_name": "shop", "pipeline_name": "local", "user_task_id": task,
                "injection_task_id": f"injection_task_{injection}", "attack_type": "important_instructions",
                "injections": {}, "messages": messages, "error": None, "benchmark_version": "v1.2.2",
                "utility": rng.random() < 0.5, "security": rng.random() < 0.1, "duration": rng.random() * 20,
            }  # fmt: skip
            (place / f"injection_task_{injection}.json").write_text(json.dumps(run))


def parse(folder: Path) -> None:
    """Open and parse every file, nothing else."""
    for here, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(here, name), "rb") as stream:
                orjson.loads(stream.read())


def seconds(work: Callable[[Path], object], folder: Path) -> tuple[float, float]:
    """Time on the wall and of the processor."""
    wall, processor = time.perf_counter(), time.process_time()
    work(folder)
    return time.perf_counter() - wall, time.process_time() - processor


def main(files: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tree(folder, files)
        fnb.read(folder / "runs/model-defence0/shop/user_task_0")  # imports are not counted
        pairs = [(seconds(parse, folder), seconds(fnb.read, folder)) for _ in range(ROUNDS)]
    for place, what in enumerate(("wall", "processor")):
        alone, ours = (statistics.median(pair[side][place] for pair in pairs) for side in (0, 1))
        print(f"{files:,} files, {what}: parsing {alone:.2f} s, read {ours:.2f} s, ratio {ours / alone:.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
