"""A large garak report: `fnb.read` beside what orjson needs to parse the lines alone.

The goal is at most 2 times orjson's time, in less than 400 MB of memory. The report is invented: 8
probes, prompts and outputs of some hundred characters, 3 outputs per prompt, in the layout of garak
0.15.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

PARSE = """
with open(path, "rb") as lines:
    for line in lines:
        orjson.loads(line)
return []
"""
READ = """
runs = fnb.read(path)
assert any("equals the report's own eval rows in 8 of 8" in note for note in runs.notes), runs.notes
return [len(runs.frame)]
"""


def write_report(path: Path, megabytes: int, seed: int = 0) -> None:
    """An invented report of about this size."""
    draw = random.Random(seed)
    words = [
        "alpha",
        "beta",
        "gamma",
        "delta",
        "say",
        "the",
        "word",
        "again",
        "please",
        "now",
        '"quoted"',
        "déjà",
    ]

    def text(size: int) -> str:
        return " ".join(draw.choices(words, k=size))

    def message(said: str) -> dict[str, object]:
        return {
            "text": said,
            "lang": "en",
            "data_path": None,
            "data_type": None,
            "data_checksum": None,
            "notes": {},
        }

    def turn(role: str, said: str) -> dict[str, object]:
        return {"role": role, "content": message(said)}

    with path.open("w", encoding="utf-8") as out:

        def put(row: dict[str, object]) -> int:
            return out.write(json.dumps(row, ensure_ascii=False) + "\n")

        put(
            {
                "entry_type": "start_run setup",
                "_config.version": "0.15.1",
                "plugins.target_type": "rest",
                "plugins.target_name": "demo",
            }
        )
        put(
            {
                "entry_type": "init",
                "garak_version": "0.15.1",
                "start_time": "2026-01-02T10:00:00",
                "run": "r1",
            }
        )
        for number in range(8):
            probe, detector, seq, written, hits = (
                f"demo.Probe{number}",
                f"demo.Detector{number}",
                0,
                0,
                0,
            )
            put(
                {
                    "entry_type": "plugin_cache",
                    "plugin_cache": {"probes": {f"probes.{probe}": {"primary_detector": detector}}},
                }
            )
            judged = []
            while written < megabytes * 1_000_000 / 16:
                prompt, outputs = text(40), [text(60) for _ in range(3)]
                scores = [float(draw.random() < 0.2) for _ in outputs]
                hits += int(sum(scores))
                row: dict[str, object] = {
                    "entry_type": "attempt",
                    "uuid": f"{number}-{seq}",
                    "seq": seq,
                    "status": 1,
                    "probe_classname": probe,
                    "probe_params": {},
                    "targets": [],
                    "prompt": {"turns": [turn("user", prompt)], "notes": None},
                    "outputs": [message(said) for said in outputs],
                    "detector_results": {},
                    "notes": {},
                    "goal": "echo",
                    "conversations": [
                        {"turns": [turn("user", prompt), turn("assistant", said)], "notes": None}
                        for said in outputs
                    ],
                }
                written += put(row)
                judged.append(
                    json.dumps(
                        row | {"status": 2, "detector_results": {detector: scores}},
                        ensure_ascii=False,
                    )
                )
                seq += 1
            out.write("\n".join(judged) + "\n")
            put(
                {
                    "entry_type": "eval",
                    "probe": probe,
                    "detector": detector,
                    "passed": 3 * seq - hits,
                    "fails": hits,
                    "nones": 0,
                    "total_evaluated": 3 * seq,
                    "total_processed": 3 * seq,
                }
            )
        put({"entry_type": "completion", "end_time": "2026-01-02T11:00:00", "run": "r1"})
