"""Inspect logs, `.json` and `.eval`: samples read without their transcripts, with the polarity the
caller declares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NoReturn

import pandas as pd

from ..outcomes.contract import FLAGS, Words
from ..outcomes.table import Outcomes, OutcomesError, outcomes
from ._files import Tally, start_of
from ._harness import columns_named, together, without_constants
from ._inspect_check import check_results
from ._inspect_log import Log, is_log_archive, read_log
from .recognise import Head
from .run import seen
from .values import flag_text, inside, listed, loose_columns, number, score_column, text

NAME = "Inspect log"
LETTERS = ("C", "I", "P")

# Arguments of a task whose value is taken as the mode when the caller names none.
DEFENCES = ("defence", "defense", "mode", "mitigation", "guard", "guardrail")


def sniff(head: Head) -> bool:
    """Whether the file is an Inspect log."""
    return is_log_archive(head.members) or {"status", "eval"} <= head.keys


def read(
    paths: Sequence[Path],
    *,
    named: str | None = None,
    threshold: float | None = None,
    empty: Literal["keep", "missing"] = "keep",
    **declared: Any,
) -> Outcomes:
    """The outcomes of Inspect logs: one row per sample and epoch.

    Parameters
    ----------
    threshold: turns scores that are numbers into outcomes: at or above it is true. Without it a
        score must be 0 or 1.
    empty: what to do with a score on an empty answer without model usage and without an error,
        which can hide a swallowed failure: "keep" the score, or make it "missing", so that rates
            show the bounds.
    declared: the meaning of the scores, which a log does not tell. A score is named `scorer`, or
        `scorer.key` where its value is a table: `attack_success="outcome.attack_success"`.
            Inspect's letters need words:
        `attack_success=fnb.words("judge", true=["I"], false=["C"])`, where C (correct) means that
        the attack was resisted. `gated=` and `task_success=` take scores in the same way. Sample
        metadata are columns of their own name (`kind`, `tier`, `scope` need no declaration; or
        `kind="metadata.kind"`). `mode="defence"` takes an argument of the task as the mode,
        `mode="model"`, `mode="task"` or `mode="file"` what they say; without it the argument
        `defence` is used (or a like word), else the model.

    Returns
    -------
    Outcomes with `case_id` (sample id, after the task when several tasks are read), `repeat`
    (epoch), `mode`, the flags declared, `error`, `latency_ms` (total time), `tokens` (all models),
    `model`, `suite` (task), `suite_version` (task version), every score, and short metadata.

    Not computable when
    -------------------
    A NaN score, N (no answer) and a sample with an error are missing outcomes. Inspect itself
    counts N as 0.

    Raises
    ------
    OutcomesError: no polarity declared (the message lists the scores and the line to type); a log
        without samples whose results cannot be turned into counts; a damaged log; zstandard needed
        and not installed.

    Example
    -------
    `fnb.read("run.eval", attack_success="outcome.attack_success", gated="outcome.refused")`
    """
    if empty not in ("keep", "missing"):
        raise ValueError(f'empty must be "keep" or "missing", got {empty!r}')
    if threshold is not None and number(threshold) is None:
        raise ValueError(f"threshold must be a number, got {threshold!r}")
    wanted = columns_named(declared)
    tallies = [Tally() for _ in paths]
    logs = [
        read_log(path, start_of(path, 2) == b"PK", wanted, tally)
        for path, tally in zip(paths, tallies, strict=True)
    ]
    several = len({log.task for log in logs}) > 1
    parts = []
    for log, tally in zip(logs, tallies, strict=True):
        scores = score_columns(log)
        refuse_unclear(log, scores, declared)
        hidden = swallowed(log)
        for row in hidden if empty == "missing" else []:
            for values in scores.values():
                values[row] = None
        frame, notes = frame_of(log, scores, declared, threshold, several)
        notes += swallowed_note(log, hidden, empty)
        notes = [*summary(log), *notes, *check_results(log), *tally.notes()]
        frame = without_constants(frame, declared)
        parts.append(outcomes(frame, read_from=log.path.name, notes=notes, **declared))
    return together(parts, paths, named, declared, [log.task for log in logs])


def score_columns(log: Log) -> dict[str, list[Any]]:
    """Every score as a column: `scorer`, or `scorer.key` where the value is a table."""
    columns: dict[str, list[Any]] = {}
    empty = [None] * len(log.samples)
    for row, sample in enumerate(log.samples):
        for name, value in sample.scores.items():
            parts = value.items() if isinstance(value, dict) else ((None, value),)
            for key, one in parts:
                column = name if key is None else f"{name}.{text(key)}"
                if column not in columns:
                    columns[column] = empty.copy()
                columns[column][row] = one
    return columns


def refuse_unclear(log: Log, scores: Mapping[str, list[Any]], declared: Mapping[str, Any]) -> None:
    """Raise where the caller has not said what the scores mean, with the line to type."""
    name = log.path.name
    if not log.samples:
        refuse_empty(log)
    if not scores:
        raise OutcomesError(
            f"{name}: its {len(log.samples):,} samples have no score, so it holds no outcome"
        )
    letters = {
        column
        for column, values in scores.items()
        if any(one in LETTERS for one in values if type(one) is str)
    }
    flags = {
        key: what for key, what in declared.items() if key in FLAGS or key == "attack_resisted"
    }
    if not flags:
        first = next((one for one in scores if "success" in one), next(iter(scores)))
        raise OutcomesError(
            f"{name}: a log does not tell what its scores mean. The scores are {listing(scores)}."
            " Say it: " + typed(name, first, letters)
        )
    for key, what in flags.items():
        column = what.column if isinstance(what, Words) else what
        if isinstance(what, str) and what in letters:
            raise OutcomesError(
                f"{name}: {key}={what!r} takes a score with Inspect's letters"
                f" ({seen(scores[what])}); C (correct) can mean a success or a resisted attack. Say"
                f" it: {typed(name, what, letters, key)}"
            )
        if (
            isinstance(column, str)
            and column not in scores
            and any(one.startswith(f"{column}.") for one in scores)
        ):
            raise OutcomesError(
                f"{name}: the score {column!r} is a table; name one of its keys: {listing(scores)}"
            )


def listing(scores: Mapping[str, list[Any]]) -> str:
    """The scores and the values that they take."""
    return "; ".join(f"{column} ({seen(values)})" for column, values in list(scores.items())[:20])


def refuse_empty(log: Log) -> NoReturn:
    """Raise for a log without samples: its results are rates without counts."""
    quoted = []
    for one in listed(log.results.get("scores")) or listed(log.results.get("scorers")):
        for metric, stated in inside(one, "metrics").items():
            value = text(inside(stated, None).get("value"))
            quoted.append(f"{text(inside(one, None).get('name'))} {text(metric)} = {value}")
    said = (
        f", only quoted results ({'; '.join(quoted[:5])}), which cannot be recounted"
        if quoted
        else ""
    )
    raise OutcomesError(
        f"{log.path.name} has no samples{said}; ask for the log with its samples, or for counts (a"
        " table with the columns mode, k, n)"
    )


def typed(name: str, column: str, letters: set[str], key: str = "attack_success") -> str:
    """The line to type for one score."""
    if column in letters:
        return (
            f'fnb.read("{name}", {key}=fnb.words("{column}", true=["I"], false=["C"])) (or the'
            " other way round)"
        )
    return f'fnb.read("{name}", {key}="{column}")'


def outcome_text(value: Any, threshold: float | None, own: frozenset[str]) -> str | None:
    """A score as the spelling of a flag. N (no answer) is missing, unless the caller has a word for
    it.
    """
    if value.__class__ is int and 0 <= value <= 1 and threshold is None and not own:
        return "1" if value else "0"  # nearly all scores are these
    if isinstance(value, str) and value.strip() == "N" and "n" not in own:
        return None
    if {"c", "i"} & own and number(value) in (0, 1):
        # The reductions of a log hold 1 and 0 for C and I.
        return "C" if value else "I"
    return flag_text(value, threshold)


def frame_of(
    log: Log,
    scores: Mapping[str, list[Any]],
    declared: Mapping[str, Any],
    threshold: float | None,
    several: bool,
) -> tuple[pd.DataFrame, list[str]]:
    """One row per sample and epoch, and what has to be said about its columns."""
    wanted = columns_named(declared)
    arguments = inside(log.run, "task_args")
    mode, note = default_mode(log, arguments)
    samples = log.samples
    columns: dict[str, Any] = {
        "case_id": [f"{log.task}/{one.case}" if several else one.case for one in samples],
        "mode": mode,
        "repeat": [one.epoch for one in samples],
        "error": [one.error for one in samples],
        "latency_ms": [one.seconds * 1000 if one.seconds is not None else None for one in samples],
        "tokens": [one.tokens for one in samples],
        "model": text(log.run.get("model")),
        "suite": log.task,
        "suite_version": text(log.run.get("task_version")),
        "source": [one.place for one in samples],
    }
    columns["limit"] = [one.limit for one in samples]
    for name in ("error", "latency_ms", "tokens", "limit"):
        # What no sample has is no column.
        if name not in wanted and all(one is None for one in columns[name]):
            del columns[name]
    own = {
        what.column: frozenset(what.meaning)
        for what in declared.values()
        if isinstance(what, Words)
    }
    flags = {
        what
        for key, what in declared.items()
        if isinstance(what, str) and (key in FLAGS or "resisted" in key)
    }
    for name, values in scores.items():
        column, known = score_column(name, columns, wanted), own.get(name, frozenset())
        made = [outcome_text(value, threshold, known) for value in values]
        columns[column] = typed_flag(made) if column in flags else made
    for name in wanted - set(columns):
        if name in arguments or name in ("task", "file"):
            extra = {"task": log.task, "file": log.path.name}
            columns[name] = text(arguments[name]) if name in arguments else extra[name]
    loose, left = loose_columns([one.metadata for one in samples], "metadata", columns, wanted)
    notes = [note] if "mode" not in declared else []
    if left:
        notes.append(
            "metadata left out (long texts, lists or tables; name one to have it):"
            f" {', '.join(left[:10])}"
        )
    return (
        pd.DataFrame(
            {name: typed_column(name, one, len(samples)) for name, one in (columns | loose).items()}
        ),
        notes,
    )


def typed_column(name: str, values: Any, size: int) -> Any:
    """A column of its own type from the start, because pandas guesses slowly; one text stands in
    every row.
    """
    if isinstance(values, list):
        return pd.array(values, dtype="float64" if name in ("latency_ms", "tokens") else "str")
    return pd.array([values] * size, dtype="str") if isinstance(values, str | None) else values


def typed_flag(texts: list[str | None]) -> Any:
    """The texts of a flag as true and false where they are nothing else: that spares reading them
    again.
    """
    if set(texts) <= {"1", "0", "true", "false", None}:
        return pd.array(
            [None if one is None else one in ("1", "true") for one in texts], dtype="boolean"
        )
    return texts


def default_mode(log: Log, arguments: Mapping[str, Any]) -> tuple[str, str]:
    """The mode where the caller names none, and what to say about it."""
    said = [
        key for key in arguments if key.lower() in DEFENCES and not isinstance(arguments[key], dict)
    ]
    if len(said) == 1:
        return (
            text(arguments[said[0]]) or "none",
            f"the mode is the task's argument {said[0]} (another: mode=...)",
        )
    model = text(log.run.get("model")) or log.path.name
    return model, "the mode is the model (an argument of the task, or the file: mode=...)"


def swallowed(log: Log) -> list[int]:
    """Rows with a score on an empty answer without model usage and without an error."""
    return [
        row
        for row, one in enumerate(log.samples)
        if one.empty and one.scores and not one.tokens and not one.error
    ]


def swallowed_note(log: Log, rows: Sequence[int], empty: str) -> list[str]:
    """What to say about scores on empty answers."""
    if not rows:
        return []
    shown = ", ".join(f"{log.samples[row].case} epoch {log.samples[row].epoch}" for row in rows[:3])
    note = (
        "samples with a score on an empty answer, without model usage and without error:"
        f" {len(rows):,} ({shown}); "
    )
    if empty == "missing":
        return [note + "their outcomes are missing, as asked"]
    return [
        note
        + 'a failure may be hidden in them; empty="missing" makes them missing, and rates show the'
        " bounds"
    ]


def summary(log: Log) -> list[str]:
    """What was read, and what the log says about its own state."""
    made = text(inside(log.run, "packages").get("inspect_ai")) or "unknown"
    cases = len({sample.case for sample in log.samples})
    notes = [
        f"Inspect log of task {log.task} (inspect_ai {made}): {len(log.samples):,} samples of"
        f" {cases:,} cases"
    ]
    status = text(log.header.get("status"))
    if log.unfinished:
        notes.append(
            "the log is unfinished: it has no header; read from its journal and the samples that"
            " are there"
        )
    elif status not in ("success", None):
        notes.append(f"the status of the log is {status!r}: not all samples need have run")
    if log.reduced:
        notes.append(
            "the log has no samples: rows are made from its reductions, one value per sample (1"
            " stands for C, 0 for I); errors, metadata and times are not known"
        )
    errors = sum(sample.error is not None for sample in log.samples)
    if errors:
        notes.append(f"samples with an error, whose outcome is missing: {errors:,}")
    unscored = sum(not sample.scores and sample.error is None for sample in log.samples)
    if unscored:
        notes.append(
            f"samples without a score and without an error: {unscored:,}; their outcome is missing"
        )
    limits = Counter(sample.limit for sample in log.samples if sample.limit)
    if limits:
        notes.append(
            "samples that ended at a limit, their scores stand: "
            + ", ".join(f"{kind[:40]} {n:,}" for kind, n in limits.most_common(5))
        )
    return notes
