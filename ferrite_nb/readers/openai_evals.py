"""Event logs of OpenAI evals, `*.jsonl`: match and metrics events by sample, final report
ignored.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from ..outcomes.contract import Note, OutcomesError
from ._files import Tally, json_lines
from .recognise import Head
from .run import Asked, Run, run_names
from .values import inside, listed, number, text

NAME = "OpenAI evals log"

EVENT = frozenset({"run_id", "event_id", "sample_id", "type", "data"})
QUIET = (
    "sampling",
    "raw_sample",
    "embedding",
    "cond_logp",
    "pick_option",
    "function_call",
    "extra",
)


MATCH = ("type", "expected", "picked", "sampled", "options")


@dataclass
class Log:
    """One log: what the spec says, the verdicts and errors by sample."""

    spec: Mapping[str, Any] = field(default_factory=dict)
    stated: float | None = None
    verdicts: list[tuple[str, int, dict[str, Any]]] = field(default_factory=list)
    latest: dict[str, dict[str, Any]] = field(default_factory=dict)
    errors: dict[str, tuple[int, str]] = field(default_factory=dict)
    sampled: dict[str, int] = field(default_factory=dict)

    @cached_property
    def silent(self) -> dict[str, int]:
        """The samples without a verdict, each with its first line."""
        judged = {sample for sample, _, _ in self.verdicts}
        return {sample: line for sample, line in self.sampled.items() if sample not in judged}


def sniff(head: Head) -> bool:
    """Whether the file is an event log of OpenAI evals."""
    spec = inside(head.first, "spec")
    return head.keys >= EVENT or (
        head.keys == {"spec"} and ("completion_fns" in spec or "eval_name" in spec)
    )


def parse(paths: Sequence[Path], asked: Asked) -> list[Run]:
    """Event logs: one row per sample, the mode is the completion function, the suite the eval.

    Match events have the score `correct`, metrics events scores of their own names. A sample with
    an error event, or without any verdict, has no outcome (evals itself leaves it out). A sample
    runs once in a log: a second verdict on it is the same attempt, run again.
    """
    runs = []
    for path in paths:
        tally = Tally()
        log = log_of(path, tally)
        scores = scores_of(log)
        runs.append(
            Run(
                path,
                frame_of(path, log),
                {name: values + [None] * len(log.silent) for name, values in scores.items()},
                task=task_of(log),
                identity=text(log.spec.get("run_id")),
                notes=[*summary(log), *tally.notes()],
            )
        )
    return runs


def task_of(log: Log) -> str | None:
    """The eval, unless its samples name it as the harness's own ids do ("demo.test.7" of the eval
    demo.test.v0).
    """
    task = text(log.spec.get("eval_name") or log.spec.get("base_eval"))
    if not task or all(sample.startswith(task.split(".")[0] + ".") for sample in log.sampled):
        return None
    return task


def log_of(path: Path, tally: Tally) -> Log:
    """One pass over the events."""
    log = Log()
    for line, entry in json_lines(path, tally):
        if "spec" in entry:
            log.spec = inside(entry, "spec")
        elif "final_report" in entry:
            log.stated = number(inside(entry, "final_report").get("accuracy"))
        elif entry.get("sample_id") is None or "type" not in entry:
            tally.add("lines that are no event of a sample, left out", f"{path.name}:{line}")
        else:
            event(log, line, entry, tally, path.name)
    if not log.sampled:
        raise OutcomesError(f"{path.name} has no event of a sample: there is nothing to count")
    return log


def event(log: Log, line: int, entry: Mapping[str, Any], tally: Tally, name: str) -> None:
    """One event of a sample."""
    sample, kind, data = (
        text(entry.get("sample_id")) or "",
        entry.get("type"),
        inside(entry, "data"),
    )
    log.sampled.setdefault(sample, line)
    if kind in ("match", "metrics"):
        verdict = {(text(key) or ""): value for key, value in data.items()} | {"type": {kind}}
        last = log.latest.get(sample)
        if last is None or kind in last["type"]:
            log.verdicts.append((sample, line, verdict))
            log.latest[sample] = verdict
        else:  # match and metrics of one sample are one verdict
            last |= verdict | {"type": last["type"] | {kind}}
    elif kind == "error":
        said = text(data.get("message") or data.get("type") or data.get("error")) or "error"
        log.errors[sample] = (line, said.split("\n")[0][:500] or "error")
    elif kind not in QUIET:
        tally.add(
            "events of an unknown type left out",
            f"{name}:{line}, {(text(kind) or 'nothing')[:60]!r}",
        )


def scores_of(log: Log) -> dict[str, list[Any]]:
    """What verdicts say: `correct` of match events, and every plain value of metrics events."""
    names: dict[str, None] = {}
    for _, _, data in log.verdicts:
        if data["type"] == {"match"}:
            names["correct"] = None
        else:
            names |= {
                key: None
                for key, value in data.items()
                if key not in MATCH and not isinstance(value, dict | list)
            }
    return {name: [data.get(name) for _, _, data in log.verdicts] for name in names}


def frame_of(path: Path, log: Log) -> pd.DataFrame:
    """One row per verdict, and one for each sample without any."""
    places = [(sample, line) for sample, line, _ in log.verdicts] + list(log.silent.items())
    errors = [log.errors.get(sample, (0, None)) for sample, _ in places]
    # An error behind the verdict beats it; a verdict behind the error is the retry of the sample.
    late = [
        error if at > line or sample in log.silent else None
        for (sample, line), (at, error) in zip(places, errors, strict=True)
    ]
    functions = "+".join(text(one) or "" for one in listed(log.spec.get("completion_fns")))
    return pd.DataFrame(
        {
            "case_id": [sample for sample, _ in places],
            "mode": functions or run_names([path])[0],
            "suite": text(log.spec.get("eval_name") or log.spec.get("base_eval")),
            "source": [f"{path.name}:{line}" for _, line in places],
            "error": late,
        },
        index=range(len(places)),
        dtype="str",
    )


def summary(log: Log) -> list[str]:
    """What was read, and whether the recount is what the final report states."""
    judged = {sample for sample, _, _ in log.verdicts}
    notes = [
        f"OpenAI evals: {len(log.verdicts):,} verdicts on {len(judged):,} samples; the final report"
        " is not used"
    ]
    again = sum(log.errors.get(sample, (line,))[0] < line for sample, line, _ in log.verdicts)
    if len(log.errors) > again:
        lost = len(log.errors) - again
        notes.append(f"samples with an error event, whose outcome is missing: {lost:,}")
    if again:
        notes.append(
            Note(
                f"samples with an error that were run again: {again:,}; the retry counts",
                "retry",
                again,
            )
        )
    silent = sum(sample not in log.errors for sample in log.silent)
    if silent:
        notes.append(
            f"samples without a verdict and without an error: {silent:,}; their outcome is missing"
        )
    last = [verdict.get("correct") for verdict in log.latest.values()]
    correct = [one for one in last if isinstance(one, bool)]
    if log.stated is not None and correct:
        same = math.isclose(sum(correct) / len(correct), log.stated, abs_tol=1e-9)
        said = "equals" if same else f"({sum(correct)}/{len(correct)}) differs from"
        notes.append(f"recount {said} the accuracy of the final report ({log.stated:.6g})")
    return notes
