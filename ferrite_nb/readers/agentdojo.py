"""AgentDojo and AgentDyn: trees of run files, also inside a zip archive, and their summaries as a
table.

In these runs `security: true` of an attack means that the attack succeeded. A run that failed is
    written with
`security: true` and an `error`: it is a missing outcome, not a success.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson
import pandas as pd

from ..outcomes.contract import OutcomesError
from ..outcomes.declare import some
from ..outcomes.table import Outcomes, outcomes
from . import table
from ._archives import member_bytes, members_of, open_zip
from ._files import Tally, json_value, names_in, progress, texts
from .recognise import Head, head_of, holds
from .run import Asked, outcomes_of

NAME = "AgentDojo or AgentDyn runs (folder, zip, run file or summary table)"
RUN = ("suite_name", "user_task_id", "injection_task_id")
SUMMARY = (*RUN, "utility", "security")
FIELDS = (
    *SUMMARY,
    "attack_type",
    "pipeline_name",
    "benchmark_version",
    "agentdojo_package_version",
    "duration",
    "total_tokens",
    "error",
)
LAYOUT = re.compile(
    r"(?:^|/)(?:user|injection)_task_[^/]+/[^/]+/(?:none|injection_task_[^/]+)\.json$"
)
OPPOSITE = re.compile(r'"evaluation"\s*:\s*\{[^{}]*"security"\s*:')
COLUMNS = (*FIELDS, "mode", "source")
NO_VERSION = "(empty)"
MOST_ERROR = 200
USUAL_RUN = 2**16
LARGEST_RUN = 2**30
# O_BINARY exists on Windows only, where a text file would lose its line ends.
FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0)


def sniff(head: Head) -> bool:
    """A run file, a zip archive of them, a summary table, or trajectories whose `security` has the
    opposite meaning.
    """
    if head.members:
        return any(LAYOUT.search(name) for name in head.members)
    return holds(head, SUMMARY if head.columns else RUN) or (
        head.json_start and bool(OPPOSITE.search(head.text))
    )


def sniff_folder(folder: Path, names: Sequence[str]) -> bool:
    """A tree whose paths end in task/attack/injection.json."""
    return any(LAYOUT.search(f"{folder.name}/{name}") for name in names)


def read(paths: Sequence[Path], *, named: str | None = None, **options: Any) -> Outcomes:
    """Outcomes of AgentDojo runs: one row per user task and injection task; the mode is the
    directory of the runs.

    Notes
    -----
    `case_id` is suite/user task/injection task (with several attacks also the attack); `user_task`
    and `injection_task` are the two crossed clusters. Runs of an injection task alone are left out.
    With declarations of `case_id` or of the outcome, a summary is read as a plain table.
    """
    own = {"case_id", "attack_success", "attack_resisted"} & set(options)
    heads = [None if path.is_dir() else head_of(path) for path in paths]
    if own and all(head is not None and not head.members for head in heads):
        rules = {name: options.pop(name, None) for name in ("keep", "check")}
        asked = Asked(options, named)
        return outcomes_of(table.parse(paths, asked), asked, **rules)
    tally = Tally()
    parts = [_part(path, head, tally) for path, head in zip(paths, heads, strict=True)]
    frame = pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)
    if frame.empty:
        seen = "; ".join(tally.notes()) or "no run file"
        raise OutcomesError(
            f"{some([path.name for path in paths], 4)} holds no run that can be read: {seen}"
        )
    frame = _canonical(frame, tally)
    return outcomes(
        frame, read_from=some([path.name for path in paths], 4), notes=tally.notes(), **options
    )


def _part(path: Path, head: Head | None, tally: Tally) -> pd.DataFrame:
    """The runs of one folder, archive, run file or summary, with the harness's own column names."""
    if head is not None and head.columns:
        return _summary(head, tally)
    if (
        head is not None
        and not head.members
        and OPPOSITE.search(head.text)
        and not holds(head, RUN)
    ):
        raise OutcomesError(
            f"{path.name}: `evaluation.security` says that the run stayed safe, not that the attack"
            ' succeeded. Say so: fnb.read(path, attack_resisted="evaluation.security",'
            ' case_id="<column>", mode="<column>")'
        )
    runs = [
        run for place, data in _documents(path, head, tally) if (run := _run(place, data, tally))
    ]
    columns = zip(*runs, strict=True) if runs else ((),) * len(COLUMNS)
    return pd.DataFrame(
        {name: _column(values) for name, values in zip(COLUMNS, columns, strict=True)}
    )


def _column(values: Sequence[Any]) -> pd.Series:
    """Texts; booleans and numbers stay what they are where all values are."""
    kinds = set(map(type, values)) - {type(None)}
    if kinds == {bool}:
        return pd.Series(values, dtype="boolean")
    if kinds == {float}:
        return pd.Series(values, dtype="float64")
    return pd.Series(values, dtype="str") if kinds <= {str} else texts(values)


def _documents(path: Path, head: Head | None, tally: Tally) -> Iterator[tuple[str, bytes]]:
    """The bytes of all run files behind a path, each with its place in the tree."""
    if head is None:
        found = [name.replace(os.sep, "/") for name in names_in(path.absolute(), tally)]
        runs = [name for name in found if LAYOUT.search(name)]
        if len(found) > len(runs):
            tally.add("other files in the folder, not read", times=len(found) - len(runs))
        for name in progress(runs, "reading"):
            yield name, _bytes(name)
    elif head.members:
        with open_zip(path) as archive:
            for member in progress(members_of(archive), "reading"):
                if LAYOUT.search(member.filename):
                    yield member.filename, member_bytes(archive, member)
    else:
        yield path.absolute().as_posix(), _bytes(str(path))


def _bytes(name: str) -> bytes:
    """A whole run file in three system calls; a buffered stream needs twice as many, which shows in
    20,000 files.
    """
    try:
        handle = os.open(name, FLAGS)
        try:
            data = os.read(handle, USUAL_RUN)
            if len(data) < USUAL_RUN:
                return data
            size = os.fstat(handle).st_size
            if size > LARGEST_RUN:
                raise OutcomesError(
                    f"{Path(name).name} has more than {LARGEST_RUN:,} bytes; it is no run file"
                )
            return data + os.read(handle, size)
        finally:
            os.close(handle)
    except OSError as problem:
        raise OutcomesError(f"{Path(name).name} cannot be read: {problem.strerror}") from problem


def _run(place: str, data: bytes, tally: Tally) -> tuple[Any, ...] | None:
    """One run file as a row of COLUMNS; a damaged or foreign file is counted."""
    parts = place.rsplit("/", 5)[-5:]
    name = "/".join(parts)
    try:
        run = orjson.loads(data)
    except orjson.JSONDecodeError:
        try:
            run = json_value(data, name, tally)
        except OutcomesError:
            tally.add("run files that cannot be read", name)
            return None
    suite, task = (
        (run.get("suite_name"), run.get("user_task_id")) if isinstance(run, dict) else (None, None)
    )
    if not (isinstance(suite, str) and isinstance(task, str)):
        tally.add("files of another layout, not read", name)
        return None
    in_tree = len(parts) == 5 and parts[1:3] == [suite, task]
    return (*map(run.get, FIELDS), parts[0] if in_tree else run.get("pipeline_name"), name)


def _summary(head: Head, tally: Tally) -> pd.DataFrame:
    """A table with one row per run. With several models the mode names the model too."""
    frame = table.text_frame(head, tally)
    defence = next(
        (name for name in ("mode", "defense", "defence", "pipeline_name") if name in frame), None
    )
    if defence is None:
        raise OutcomesError(
            f"{head.path.name}: no column mode, defense or pipeline_name; declare mode=... and the"
            " outcome"
        )
    frame["mode"] = frame[defence]
    return frame.mask(frame == "")


def _canonical(frame: pd.DataFrame, tally: Tally) -> pd.DataFrame:
    """The harness's columns in canonical ones."""
    frame = _with_models(frame, tally)
    alone = frame["injection_task_id"].isna() & ~frame["user_task_id"].str.startswith(
        "user_task", na=False
    )
    if alone.any():
        tally.add(
            "runs left out: an injection task alone, neither attack nor benign",
            times=int(alone.sum()),
        )
        frame = frame[~alone].reset_index(drop=True)
    if frame.empty:
        raise OutcomesError(
            "every run is an injection task alone; there is no attack and no benign task among them"
        )
    attack = frame["injection_task_id"].notna()
    suite, user, injection = (frame[name] for name in RUN)
    case = (suite + "/" + user + "/" + injection).where(attack, suite + "/" + user)
    types = frame["attack_type"].where(attack).dropna().unique() if "attack_type" in frame else []
    if len(types) > 1:
        case = (case + "/" + frame["attack_type"].fillna("no attack named")).where(attack, case)
        tally.add(
            f"attack types, each part of the case and a stratum ({some(sorted(types), 6)})",
            times=len(types),
        )
    made = frame.drop(columns=["case_id", "kind"], errors="ignore").assign(
        case_id=case,
        kind=attack.map({True: "attack", False: "benign"}),
        attack_success=frame["security"].where(attack),
        task_success=frame["utility"],
        user_task=suite + "/" + user,
        injection_task=(suite + "/" + injection).where(attack),
    )
    made = made.rename(
        columns={"suite_name": "suite", "attack_type": "attack", "total_tokens": "tokens"}
    )
    if "benchmark_version" in made:
        made["suite_version"] = made["benchmark_version"].fillna(NO_VERSION)
    if "error" in made:
        made["error"] = made["error"].str.slice(0, MOST_ERROR)
    if "duration" in made:
        made["latency_ms"] = pd.to_numeric(made["duration"], errors="coerce") * 1000
    _say(made, attack, tally)
    made = made.drop(
        columns=[
            name for name in ("latency_ms", "tokens") if name in made and made[name].isna().all()
        ]
    )
    return made.drop(
        columns=["security", "utility", "duration", "benchmark_version", "case_kind"],
        errors="ignore",
    )


def _with_models(frame: pd.DataFrame, tally: Tally) -> pd.DataFrame:
    """In a summary of several models, two modes must not share a name."""
    if "model" in frame and frame["model"].nunique() > 1:
        tally.add("models in one table: the mode is model/defence", times=frame["model"].nunique())
        frame["mode"] = frame["model"].fillna("no model") + "/" + frame["mode"]
    return frame


def _say(made: pd.DataFrame, attack: pd.Series, tally: Tally) -> None:
    """What a reader of the numbers must know about these runs."""
    outcome = made["security"].where(attack, made["utility"])
    error = made["error"].notna() if "error" in made else pd.Series(False, index=made.index)
    for rows, what in (
        (outcome.isna() & ~error, "runs without an outcome, which is missing"),
        (error, "runs with an error: the outcome is missing, whatever the file says"),
    ):
        if rows.any():
            tally.add(what, str(made["source"][rows].iloc[0]), int(rows.sum()))
    if "pipeline_name" in made:
        shared = made.groupby("pipeline_name")["mode"].nunique()
        for pipeline, modes in shared[shared > 1].items():
            tally.add(
                f"modes with the one pipeline name {str(pipeline)[:60]}; the folder names the mode",
                times=int(modes),
            )
    if "suite_version" in made and made["suite_version"].nunique() > 1:
        tally.add(
            f"benchmark versions ({some(sorted(made['suite_version'].unique()), 6)}), never pooled"
            " or compared",
            times=made["suite_version"].nunique(),
        )
