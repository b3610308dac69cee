"""A long Inspect log: the time and memory of `fnb.read` beside `inspect_ai.analysis.samples_df` on the same file.

Run: python tests/benchmarks/bench_inspect.py PYTHON [SAMPLES]

PYTHON is the interpreter of an environment with inspect_ai and pandas (they are no dependency of this package, and
their import is not counted). The log is invented: 2,000 samples, each with a transcript of about 100 kB. The goal is
at least 5 times faster in no more memory.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

WRITE = """
import sys, random
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelUsage
from inspect_ai.scorer import Score, mean, scorer
from inspect_ai.solver import solver

draw = random.Random(0)
words = ["alpha", "beta", "gamma", "delta", "say", "the", "word", "again", "please", "now", "ignore"]

@solver
def talk():
    async def solve(state, generate):
        for turn in range(12):
            said = " ".join(draw.choices(words, k=700))
            kind = ChatMessageUser if turn % 2 else ChatMessageAssistant
            state.messages.append(kind(content=said))
        state.output.completion = "done"
        return state
    return solve

@scorer(metrics={"attack_success": [mean()], "refused": [mean()]})
def outcome():
    async def score(state, target):
        hit = draw.random() < 0.3
        return Score(value={"attack_success": int(hit), "refused": int(not hit)}, answer="done")
    return score

samples = [Sample(id=f"c{i:04}", input=f"case {i}", target="refuse",
                  metadata={"kind": "attack", "template": f"t{i % 20}"}) for i in range(int(sys.argv[2]))]
eval(Task(dataset=samples, solver=talk(), scorer=outcome()), model="mockllm/model", log_dir=sys.argv[1],
     log_format="eval", display="none")
"""
PEER = """
import sys, time
import inspect_ai, pandas
from inspect_ai.analysis import samples_df
started = time.perf_counter()
frame = samples_df(sys.argv[1])
assert len(frame) == int(sys.argv[2])
"""
READ = """
import sys, time
import pandas, narwhals, ferrite_nb as fnb
from ferrite_nb.readers.read import readers
readers(), narwhals.from_native(pandas.DataFrame())  # imports are not counted, here as there
started = time.perf_counter()
runs = fnb.read(sys.argv[1], attack_success="outcome.attack_success")
assert len(runs.frame) == int(sys.argv[2])
assert any("equals the log's own results in 2 of 2" in note for note in runs.notes), runs.notes
"""
REPORT = """
print(time.perf_counter() - started)
with open("/proc/self/status") as status:
    print(next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024)
"""


def measured(python: str, code: str, log: Path, samples: int) -> tuple[float, float]:
    """Seconds and megabytes of a program in a process of its own; the best time of three."""
    runs = []
    for _ in range(3):
        command = [python, "-c", code + REPORT, str(log), str(samples)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        runs.append([float(line) for line in done.stdout.split()[-2:]])
    return min(run[0] for run in runs), max(run[1] for run in runs)


def main(python: str, samples: int = 2000) -> None:
    """Write the log with Inspect, measure both, print the ratios."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, "-c", WRITE, folder, str(samples)], check=True, cwd=folder, capture_output=True)
        log = next(Path(folder).glob("*.eval"))
        peer, peer_memory = measured(python, PEER, log, samples)
        ours, our_memory = measured(sys.executable, READ, log, samples)
        print(f"{log.stat().st_size / 1e6:.0f} MB, {samples:,} samples: samples_df {peer:.3f} s, {peer_memory:.0f} MB; "
              f"fnb.read {ours:.3f} s, {our_memory:.0f} MB; {peer / ours:.1f} times faster")  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1], *(int(argument) for argument in sys.argv[2:3]))
