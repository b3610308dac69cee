"""`Run`: what a reader found in a results file; and the one way from runs to `Outcomes`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import pandas as pd

from ..outcomes.contract import FLAGS, Const, Declaration, Note, OutcomesError, columns_of
from ..outcomes.frames import plural, some
from ..outcomes.table import Outcomes, outcomes
from .values import flag_text, number, score_column, text

ENDINGS = re.compile(r"(?:\.report)?(?:\.(?:jsonl?|eval|csv|tsv|txt))?(?:\.gz)?$", re.IGNORECASE)
ATTEMPT = "\u2063attempt"  # no column of a file has this name
# Scores with these words in their names are likely to be the outcome of an attack.
LIKELY = re.compile("secur|success|attack|jailbreak|harm|hijack|injection", re.IGNORECASE)
OUTCOME = "<the score that tells the outcome>"


@dataclass(frozen=True)
class Asked:
    """What the caller declared, and the name that was given to the files."""

    declared: Mapping[str, Declaration] = field(default_factory=dict)
    named: str | None = None

    @property
    def columns(self) -> set[str]:
        """The columns that the declarations refer to."""
        return {name for given in self.declared.values() for name in columns_of(given)}

    @property
    def outcomes(self) -> bool:
        """Whether the caller says which columns are a case and an outcome, as of a plain table."""
        return bool({"case_id", "attack_success", "attack_resisted"} & set(self.declared))


@dataclass
class Run:
    """One run as a reader found it.

    Attributes
    ----------
    path: the file, or the folder that is one result.
    frame: one row per attempt as texts, with canonical names where the format tells what a column
        is; `source` begins with the name of the file. A large table may stay on its engine.
    scores: name -> one value per row, of scores whose meaning the caller must declare; None where
        the format itself tells the outcome, or in a plain table.
    attempt: one text per row: rows of one case and mode with the same text are the same attempt,
        written again; other texts are its repeats. None where the frame has a column `repeat`, or a
        case runs once.
    only: flag -> kind ("attack" or "benign"): of the other kind the flag says nothing.
    task: the task whose cases are numbered from the start; cases of two tasks form no pair.
    identity: the id that the program gave to this run; a retry of the run has the same one.
    cluster: the columns that say which cases belong together, where the format tells.
    planned: how many attempts the run was to have.
    notes: what was skipped or assumed.
    name: what to call it in messages, where it is more than one file.
    declared: what is left of the caller's declarations, where the reader used some of them.
    """

    path: Path
    frame: Any
    scores: Mapping[str, Sequence[Any]] | None = None
    attempt: Sequence[str] | None = None
    only: Mapping[str, str] = field(default_factory=dict)
    task: str | None = None
    identity: str | None = None
    cluster: tuple[str, ...] = ()
    planned: int | None = None
    notes: Sequence[str] = ()
    name: str = ""
    declared: Mapping[str, Declaration] | None = None


def outcomes_of(
    runs: Sequence[Run], asked: Asked, *, threshold: float | None = None, **options: Any
) -> Outcomes:
    """All runs of one format as one table.

    An attempt that is written twice is no repeat; runs of the same cases in one mode are told apart
    by their files, unless they are one run and its retry; cases of several tasks name their task.

    Parameters
    ----------
    threshold: turns scores into outcomes: at or above it is true.
    options: `keep` and `check` of `fnb.outcomes`.

    Raises
    ------
    OutcomesError: the meaning of the scores is not declared; all that `outcomes` refuses.
    """
    declared: dict[str, Any] = dict(
        asked.declared if runs[0].declared is None else runs[0].declared
    )
    refuse_undeclared(runs, declared)
    labels = [
        run.name or label
        for run, label in zip(runs, places([run.path for run in runs]), strict=True)
    ]
    tasks = tuple(dict.fromkeys(run.task for run in runs if run.task))
    apart = len(tasks) > 1 and "case_id" not in declared
    frames, notes = [], []
    for run, label in zip(runs, labels, strict=True):
        frame = framed(run, label, asked, threshold)
        if apart and run.task and "case_id" in frame:
            frame["case_id"] = f"{run.task}/" + frame["case_id"]
        frames.append(frame)
        notes.append([*map(Note, run.notes), *counted(run, threshold)])
    if asked.named is None and "mode" not in declared and collide(runs, frames, declared):
        names = {
            run.identity or label: name
            for run, label, name in reversed(
                list(zip(runs, labels, run_names([run.path for run in runs]), strict=True))
            )
        }
        for run, label, frame, said in zip(runs, labels, frames, notes, strict=True):
            frame["mode"] = names[run.identity or label]
            said.append(
                Note(
                    "several files have the same cases in one mode: each file is a mode; choose"
                    " with mode=, or name them",
                    "assumed",
                )
            )
    frame = frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
    if asked.named is not None and "mode" not in declared and "mode" not in list(frame.columns):
        declared["mode"] = Const(asked.named)
    if ATTEMPT in list(frame.columns):
        frame = repeats(frame, declared)
    fixed = [name for name, given in declared.items() if isinstance(given, Const)]
    if isinstance(frame, pd.DataFrame):
        frame = frame.drop(columns=fixed, errors="ignore")
    clusters = {run.cluster for run in runs}
    made = outcomes(
        frame,
        read_from=some(labels, 4),
        notes=merged(notes, labels),
        cluster=clusters.pop() if len(clusters) == 1 else None,
        **options,
        **declared,
    )
    made = of_kind(made, {flag: kind for run in runs for flag, kind in run.only.items()}, declared)
    return made if "case_id" in declared else replace(made, tasks=tasks)


def framed(run: Run, label: str, asked: Asked, threshold: float | None) -> Any:
    """The frame of one run with its scores, its attempts, and places that name one file."""
    if not isinstance(run.frame, pd.DataFrame):
        return run.frame
    frame = run.frame.copy(deep=False)
    for name, values in (run.scores or {}).items():
        made = [flag_text(value, threshold) for value in values]
        frame[score_column(name, frame.columns, asked.columns)] = pd.array(made, dtype="str")
    if run.attempt is not None:
        frame[ATTEMPT] = pd.array(list(run.attempt), dtype="str")
    if not run.name and label != run.path.name and "source" in frame:
        source = frame["source"].str.removeprefix(run.path.name)
        frame["source"] = source.where(source == frame["source"], label + source)
    return frame


def counted(run: Run, threshold: float | None) -> list[Note]:
    """What the numbers of a run say of themselves: attempts that never ran, a threshold that
    decides nothing.
    """
    notes = []
    there = run.planned is not None and len(
        run.frame[
            [name for name in ("case_id", "mode", "repeat") if name in run.frame]
        ].drop_duplicates()
    )
    if run.planned is not None and there < run.planned:
        gone = run.planned - there
        notes.append(
            Note(
                f"{gone:,} of {plural(run.planned, 'planned attempt')} are not in the file: they"
                " did not run, and no rate knows them",
                "left out",
                gone,
            )
        )
    for name, values in (run.scores or {}).items():
        if threshold is None:
            break
        numbers = [made for value in values if (made := number(value)) is not None]
        side = {made >= threshold for made in numbers}
        if len(side) == 1 and len(set(numbers)) > 1:
            where = "at or above" if side.pop() else "below"
            notes.append(
                Note(
                    f"every score {name} ({min(numbers):g} to {max(numbers):g}) is {where} the"
                    f" threshold {threshold:g}",
                    "assumed",
                    len(numbers),
                )
            )
    return notes


def refuse_undeclared(runs: Sequence[Run], declared: Mapping[str, Any]) -> None:
    """Raise where nobody has said what a score means, with the scores and the line to type."""
    told = {*FLAGS, "attack_resisted"}
    if told & set(declared) or any(told & set(run.frame.columns) for run in runs):
        return
    if all(run.scores is None for run in runs):
        return
    name = some([run.path.name for run in runs], 3)
    scores: dict[str, list[Any]] = {}
    for run in runs:
        for score, values in (run.scores or {}).items():
            scores.setdefault(score, []).extend(values)
    if not scores:
        errors = pd.concat(
            [run.frame["error"] for run in runs if "error" in run.frame] or [pd.Series(dtype="str")]
        ).dropna()
        rows = sum(len(run.frame) for run in runs)
        why = ""
        if len(errors):
            ended = f"{len(errors)} of {plural(rows, 'sample')} ended with an error"
            why = f": {ended}: {errors.iloc[0][:200]}"
        raise OutcomesError(f"{name} holds no score, so there is no outcome in it{why}", file=name)
    likely = [score for score in scores if LIKELY.search(score)]
    first = likely[0] if len(likely) == 1 else next(iter(scores)) if len(scores) == 1 else OUTCOME
    listing = "; ".join(f"{score} ({seen(values)})" for score, values in list(scores.items())[:20])
    raise OutcomesError(
        f"{name}: the file does not tell what its scores mean. They are {listing}. Say it: "
        f'fnb.read("{name}", attack_success="{first}"), or attack_resisted="{first}" if 1 is a '
        "resisted attack",
        column="attack_success",
        fix=first,
        file=name,
    )


def seen(values: Iterable[Any]) -> str:
    """The values that a score takes, for a message."""
    found = sorted({text(value) or "missing" for value in values})
    return ", ".join(one[:20] for one in found[:6]) + (", ..." if len(found) > 6 else "")


def key_of(frame: pd.DataFrame, name: str, declared: Mapping[str, Any]) -> pd.Series | None:
    """A key as the declarations will make it; None where there is no such column."""
    given = declared.get(name, name)
    if isinstance(given, Const):
        return pd.Series(str(given.value), index=frame.index)
    parts = columns_of(given)
    if not set(parts) <= set(frame.columns):
        return None
    return pd.Series(list(map(tuple, frame[parts].astype(str).to_numpy())), index=frame.index)


def repeats(frame: pd.DataFrame, declared: Mapping[str, Any]) -> pd.DataFrame:
    """The frame with the attempts of each case and mode numbered as its repeats, in the order of
    the file. The same attempt, written again, gets the same number.
    """
    keys = [key_of(frame, name, declared) for name in ("case_id", "mode")]
    attempt, frame = frame[ATTEMPT], frame.drop(columns=ATTEMPT)
    if any(key is None for key in keys) or {"repeat"} & {*declared, *frame.columns}:
        return frame
    table = pd.DataFrame({"case": keys[0], "mode": keys[1], "attempt": attempt})
    each = table.drop_duplicates()
    order = (each.groupby(["case", "mode"], sort=False).cumcount() + 1).rename("repeat")
    group = table.groupby(["case", "mode", "attempt"], sort=False, dropna=False).ngroup()
    made = order.set_axis(group[each.index]).reindex(group).to_numpy()
    return frame.assign(repeat=pd.array(made.astype(str), dtype="str"))


def collide(
    runs: Sequence[Run], frames: Sequence[pd.DataFrame], declared: Mapping[str, Any]
) -> bool:
    """Whether two runs that are not one and its retry have a case of one mode in common."""
    if len({run.identity or place for place, run in enumerate(runs)}) < 2:
        return False
    found = []
    for place, (run, frame) in enumerate(zip(runs, frames, strict=True)):
        keys = [key_of(frame, name, declared) for name in ("case_id", "mode", "repeat")]
        if keys[0] is None or keys[1] is None:
            return False
        table = pd.DataFrame(
            {"case": keys[0], "mode": keys[1], "repeat": "1" if keys[2] is None else keys[2]}
        )
        found.append(table.drop_duplicates().assign(run=run.identity or str(place)))
    every = pd.concat(found).drop_duplicates()
    return bool(every.duplicated(["case", "mode", "repeat"]).any())


def run_names(paths: Sequence[Path]) -> list[str]:
    """A name for each file: its own without endings, or with its folder where two files have one
    name.
    """
    plain = [ENDINGS.sub("", path.name) or path.name for path in paths]
    if len(set(plain)) == len(plain):
        return plain
    longer = [
        f"{path.resolve().parent.name}/{name}" for path, name in zip(paths, plain, strict=True)
    ]
    return longer if len(set(longer)) == len(longer) else [path.as_posix() for path in paths]


def places(paths: Sequence[Path]) -> list[str]:
    """What to call each file: its name, or its path from the folder that all share where two files
    have one name.
    """
    names = [path.name for path in paths]
    if len(set(names)) == len(names):
        return names
    parents = [os.path.abspath(path.parent) for path in paths]
    root = os.path.commonpath(parents)
    return [os.path.relpath(path.absolute(), root).replace(os.sep, "/") for path in paths]


def merged(notes: Sequence[Sequence[Note]], labels: Sequence[str]) -> list[Note]:
    """The notes of all runs; one that stands in every run is said once, others with their file."""
    if len(notes) == 1:
        return list(notes[0])
    shared = set.intersection(*map(set, notes))
    said = [note for note in dict.fromkeys(notes[0]) if note in shared]
    for found, label in zip(notes, labels, strict=True):
        said += [note.of(label) for note in found if note not in shared]
    return said


def of_kind(made: Outcomes, only: Mapping[str, str], declared: Mapping[str, Any]) -> Outcomes:
    """The outcomes with each flag in the rows of its kind; a flag of a kind without a row goes."""
    frame = made.table
    for flag in [flag for flag in only if flag in made.columns and flag not in declared]:
        mine = nw.col("kind") == only[flag]
        frame = frame.with_columns(nw.when(mine).then(nw.col(flag)).alias(flag))
        if flag != "attack_success" and not frame.select(mine.any())["kind"][0]:
            frame = frame.drop(flag)
    return replace(made, frame=frame.to_native())
