"""A tree of 20,000 AgentDojo runs: the time of `fnb.read` beside opening the files and parsing them
with orjson.

The goal is at most 1.5 times. The runs are invented, with conversations of some kilobytes as in
real trees.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

PER_TASK = 50
READY = "import os"
PARSE = """
for here, _, names in os.walk(path):
    for name in names:
        with open(os.path.join(here, name), "rb") as stream:
            orjson.loads(stream.read())
return []
"""


def tree(folder: Path, files: int) -> None:
    """Run files of four modes, with 50 injection tasks per user task."""
    rng = random.Random(0)
    words = ["read", "the", "page", "and", "send", "nothing", "to", "anyone"]
    for number in range(files // PER_TASK):
        mode, task = f"model-defence{number % 4}", f"user_task_{number // 4}"
        place = folder / "runs" / mode / "shop" / task / "important_instructions"
        place.mkdir(parents=True)
        for injection in range(PER_TASK):
            messages = [
                {"role": "user", "content": " ".join(rng.choices(words, k=rng.randrange(100, 300)))}
            ] * 6
            run = {
                "suite_name": "shop",
                "pipeline_name": "local",
                "user_task_id": task,
                "injection_task_id": f"injection_task_{injection}",
                "attack_type": "important_instructions",
                "injections": {},
                "messages": messages,
                "error": None,
                "benchmark_version": "v1.2.2",
                "utility": rng.random() < 0.5,
                "security": rng.random() < 0.1,
                "duration": rng.random() * 20,
            }
            (place / f"injection_task_{injection}.json").write_text(json.dumps(run))
