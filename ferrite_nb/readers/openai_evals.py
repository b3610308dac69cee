"""Event logs of OpenAI evals, `*.jsonl`: match and metrics events by sample, final report
ignored.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from ..outcomes.table import Outcomes, OutcomesError, outcomes
from ._files import Tally, json_lines
from ._harness import (
    columns_named,
    flag_text,
    listed,
    number,
    refuse_undeclared,
    run_names,
    score_column,
    text,
    together,
    without_constants,
)
from ._harness import named as inside
from .recognise import Head

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


@dataclass
class Run:
    """One log: what the spec says, the verdicts and errors by sample."""

    spec: Mapping[str, Any] = field(default_factory=dict)
    stated: float | None = None
    verdicts: list[tuple[str, int, dict[str, Any]]] = field(default_factory=list)
    errors: dict[str, tuple[int, str]] = field(default_factory=dict)
    sampled: dict[str, int] = field(default_factory=dict)


def sniff(head: Head) -> bool:
    """Whether the file is an event log of OpenAI evals."""
    spec = inside(head.first, "spec")
    return head.keys >= EVENT or (
        head.keys == {"spec"} and ("completion_fns" in spec or "eval_name" in spec)
    )


def read(
    paths: Sequence[Path],
    *,
    named: str | None = None,
    threshold: float | None = None,
    **declared: Any,
) -> Outcomes:
    """The outcomes of event logs: one row per verdict of a sample.

    Parameters
    ----------
    threshold: turns a number in a metrics event into an outcome: at or above it is true.
    declared: the meaning of a verdict: `attack_success="correct"` or `attack_resisted="correct"`
        for match events; metrics events have columns of their own names. The mode is the completion
        function.

    Returns
    -------
    Outcomes with `case_id` (sample id, after the eval where several are read whose ids do not name
    it), `repeat` (order of the verdicts of a sample), `mode`, the flags declared, `error`, `suite`
    (the eval).

    Not computable when
    -------------------
    A sample with an error event, or without any verdict, has a missing outcome: evals itself leaves
        it out.

    Raises
    ------
    OutcomesError: no polarity declared (the message lists the verdicts and the line to type); no
        event.
    """
    tallies = [Tally() for _ in paths]
    logs = [run_of(path, tally) for path, tally in zip(paths, tallies, strict=True)]
    tasks = [task for log in logs if (task := task_of(log)) is not None]
    parts = []
    for path, run, tally in zip(paths, logs, tallies, strict=True):
        scores = scores_of(run)
        refuse_undeclared(path.name, scores, declared)
        frame = frame_of(path, run, scores, threshold, columns_named(declared))
        if len(set(tasks)) > 1 and (task := task_of(run)) is not None:
            frame["case_id"] = f"{task}/" + frame["case_id"]
        notes = [*summary(run, scores), *tally.notes()]
        parts.append(
            outcomes(
                without_constants(frame, declared), read_from=path.name, notes=notes, **declared
            )
        )
    return together(parts, paths, named, declared, tasks)


def task_of(run: Run) -> str | None:
    """The eval, unless its samples name it as the harness's own ids do ("demo.test.7" of the eval
    demo.test.v0).
    """
    task = text(run.spec.get("eval_name") or run.spec.get("base_eval"))
    if not task or all(sample.startswith(task.split(".")[0] + ".") for sample in run.sampled):
        return None
    return task


def run_of(path: Path, tally: Tally) -> Run:
    """One pass over the events."""
    run = Run()
    for line, entry in json_lines(path, tally):
        if "spec" in entry:
            run.spec = inside(entry, "spec")
        elif "final_report" in entry:
            run.stated = number(inside(entry, "final_report").get("accuracy"))
        elif entry.get("sample_id") is None or "type" not in entry:
            tally.add("lines that are no event of a sample, left out", f"{path.name}:{line}")
        else:
            event(run, line, entry, tally, path.name)
    if not run.sampled:
        raise OutcomesError(f"{path.name} has no event of a sample: there is nothing to count")
    return run


def event(run: Run, line: int, entry: Mapping[str, Any], tally: Tally, name: str) -> None:
    """One event of a sample."""
    sample, kind, data = (
        text(entry.get("sample_id")) or "",
        entry.get("type"),
        inside(entry, "data"),
    )
    run.sampled.setdefault(sample, line)
    if kind in ("match", "metrics"):
        run.verdicts.append(
            (
                sample,
                line,
                {(text(key) or ""): value for key, value in data.items()} | {"type": kind},
            )
        )
    elif kind == "error":
        said = text(data.get("message") or data.get("type") or data.get("error")) or "error"
        run.errors.setdefault(sample, (line, said.split("\n")[0][:500] or "error"))
    elif kind not in QUIET:
        tally.add(
            "events of an unknown type left out",
            f"{name}:{line}, {(text(kind) or 'nothing')[:60]!r}",
        )


def scores_of(run: Run) -> dict[str, list[Any]]:
    """What verdicts say: `correct` of match events, and every plain value of metrics events."""
    names: dict[str, None] = {}
    for _, _, data in run.verdicts:
        if data["type"] == "match":
            names["correct"] = None
        else:
            names |= {
                key: None
                for key, value in data.items()
                if key != "type" and not isinstance(value, dict | list)
            }
    return {name: [data.get(name) for _, _, data in run.verdicts] for name in names}


def frame_of(
    path: Path, run: Run, scores: Mapping[str, list[Any]], threshold: float | None, wanted: set[str]
) -> pd.DataFrame:
    """One row per verdict, and one for each sample without any."""
    judged = {sample for sample, _, _ in run.verdicts}
    unjudged = {sample: line for sample, line in run.sampled.items() if sample not in judged}
    without = [(sample, run.errors.get(sample, (line, ""))[0]) for sample, line in unjudged.items()]
    samples = [sample for sample, _, _ in run.verdicts] + [sample for sample, _ in without]
    lines = [line for _, line, _ in run.verdicts] + [line for _, line in without]
    functions = "+".join(text(one) or "" for one in listed(run.spec.get("completion_fns")))
    frame = pd.DataFrame(
        {
            "case_id": pd.array(samples, dtype="str"),
            "mode": functions or run_names([path])[0],
            "suite": pd.array(
                [text(run.spec.get("eval_name") or run.spec.get("base_eval"))] * len(samples),
                dtype="str",
            ),
            "source": [f"{path.name}:{line}" for line in lines],
            "error": pd.array(
                [run.errors[one][1] if one in run.errors else None for one in samples], dtype="str"
            ),
        }
    )
    frame["repeat"] = (frame.groupby("case_id", sort=False).cumcount() + 1).astype(str)
    for name, values in scores.items():
        made = [flag_text(value, threshold) for value in values] + [None] * len(without)
        frame[score_column(name, frame.columns, wanted)] = pd.array(made, dtype="str")
    return frame


def summary(run: Run, scores: Mapping[str, list[Any]]) -> list[str]:
    """What was read, and whether the recount is what the final report states."""
    judged = {sample for sample, _, _ in run.verdicts}
    notes = [
        f"OpenAI evals: {len(run.verdicts):,} verdicts on {len(judged):,} samples; the final report is not used"
    ]
    if run.errors:
        notes.append(f"samples with an error event, whose outcome is missing: {len(run.errors):,}")
    silent = sum(sample not in judged and sample not in run.errors for sample in run.sampled)
    if silent:
        notes.append(
            f"samples without a verdict and without an error: {silent:,}; their outcome is missing"
        )
    correct = [one for one in scores.get("correct", []) if isinstance(one, bool)]
    if run.stated is not None and correct:
        same = math.isclose(sum(correct) / len(correct), run.stated, abs_tol=1e-9)
        said = "equals" if same else f"({sum(correct)}/{len(correct)}) differs from"
        notes.append(f"recount {said} the accuracy of the final report ({run.stated:.6g})")
    return notes
