"""A long Inspect log: `fnb.read` beside `inspect_ai.analysis.samples_df` on the same file.

The log is invented and written by Inspect itself, in an environment of its own (it is no dependency
of this package): 2,000 samples, each with a transcript of about 100 kB. The goal is at least 5
times faster in no more memory.
"""

from __future__ import annotations

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
READY = """
import inspect_ai, pandas
from inspect_ai.analysis import samples_df
path = {path!r}
"""
PEER = "return [len(samples_df(path))]"
READ = """
runs = fnb.read(path, attack_success="outcome.attack_success")
assert any("equals the log's own results in 2 of 2" in note for note in runs.notes), runs.notes
return [len(runs.frame)]
"""
