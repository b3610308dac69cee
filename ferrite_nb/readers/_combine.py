"""Several outcomes as one table: names become modes, notes are merged, keys are checked over all of
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Literal

import narwhals.stable.v2 as nw
import pandas as pd

from ..outcomes.contract import Note, OutcomesError
from ..outcomes.declare import pandas_of, some
from ..outcomes.identity import Keep
from ..outcomes.table import Outcomes, outcomes


@cache
def connection() -> Any:
    """The DuckDB connection of this package, for files whose rows stay on the engine. Results are
    fetched whole.
    """
    import duckdb

    return duckdb.connect()


def combined(
    parts: Sequence[Outcomes],
    *,
    names: Sequence[str] = (),
    keep: Keep | None = None,
    check: Literal["auto", "full"] = "auto",
) -> Outcomes:
    """One table of several. With `names`, a part of one mode gets its name as the mode, one of
    several "name/mode".
    """
    parts, tasks = _apart(parts)
    if names:
        parts = [_renamed(part, name) for part, name in zip(parts, names, strict=True)]
    if len(parts) == 1:
        return parts[0]
    counts = ["rows" in part.columns for part in parts]
    if any(counts) and not all(counts):
        raise OutcomesError(
            "a table of counts and a table of cases cannot be read as one; read them apart"
        )
    if any(_stays(part) for part in parts):
        frame = _on_engine(parts)
    else:
        frame = pd.concat([pandas_of(part.table) for part in parts], ignore_index=True)
    source = ", ".join(dict.fromkeys(part.source for part in parts))
    notes = _merged(parts, names)
    both = {"attack_success", "attack_resisted"} <= {
        name for part in parts for name in part.columns
    }
    # Which of two columns of the outcome counts has been settled, and said, in each part.
    settled = {"attack_success": "attack_success"} if both else {}
    made = outcomes(frame, read_from=source, notes=notes, keep=keep, check=check, **settled)
    said = [
        note for note in made.notes[len(notes) :] if not (both and note.kind == "contradiction")
    ]
    # Files that were named keep the order in which they were named.
    given = [mode for part in parts for mode in part.modes] if names else []
    clusters = {part.cluster for part in parts}
    made = replace(made, notes=(*notes, *said), tasks=tasks)
    return made.declare(modes=given, cluster=clusters.pop() if len(clusters) == 1 else None)


def _apart(parts: Sequence[Outcomes]) -> tuple[Sequence[Outcomes], tuple[str, ...]]:
    """The parts with the task before the case where their tasks differ: sample 1 of one is not
    sample 1 of another.
    """
    tasks = tuple(dict.fromkeys(task for part in parts for task in part.tasks))
    if len(tasks) < 2:
        return parts, tasks
    note = Note(
        f"different tasks ({some(tasks, 6)}): the case names its task, and cases of two tasks form"
        " no pair"
    )
    made = []
    for part in parts:
        frame, notes = part.frame, (*part.notes, note) if part.tasks else part.notes
        if len(part.tasks) == 1:
            case = nw.concat_str([nw.lit(f"{part.tasks[0]}/"), nw.col("case_id")])
            frame = part.table.with_columns(case.alias("case_id")).to_native()
        made.append(replace(part, frame=frame, notes=notes))
    return made, tasks


def _renamed(part: Outcomes, name: str) -> Outcomes:
    """The part with its name in the modes."""
    modes = part.modes or tuple(pandas_of(part.table.select("mode").unique())["mode"].astype(str))
    renamed: tuple[str, ...] = (name,)
    if len(modes) == 1:
        changed, notes = nw.lit(name), part.notes
        if modes[0] != name:
            notes = (*notes, Note(f"the mode {modes[0]!r} is called {name!r}, as asked"))
    else:
        changed, notes = nw.concat_str([nw.lit(name), nw.col("mode")], separator="/"), part.notes
        renamed = tuple(f"{name}/{mode}" for mode in modes)
        notes = (*notes, Note(f"several modes in one file: they are called {name}/<mode>"))
    frame = part.table.with_columns(changed.cast(nw.String).alias("mode")).to_native()
    return replace(part, frame=frame, modes=renamed if part.modes else (), notes=notes)


def _stays(part: Outcomes) -> bool:
    """Whether the rows stay where they are: a lazy Polars frame is in memory anyway and is
    collected.
    """
    return part.lazy and not part.table.implementation.is_polars()


def _on_engine(parts: Sequence[Outcomes]) -> Any:
    """The parts as one lazy table; those in memory are lent to this package's DuckDB connection."""
    import duckdb

    tables: list[Any] = [
        part.table if _stays(part) else nw.from_native(connection().from_df(pandas_of(part.table)))
        for part in parts
    ]
    try:
        return nw.concat(tables, how="diagonal").to_native()
    except (duckdb.Error, TypeError, nw.exceptions.NarwhalsError) as problem:
        raise OutcomesError(
            "these tables live on different engines or connections and cannot be read as one; join"
            " them on one engine with a column mode, and read that"
        ) from problem


def _merged(parts: Sequence[Outcomes], names: Sequence[str]) -> list[Note]:
    """The notes of all parts; one that stands in every part is said once, others with the name of
    their part.
    """
    shared = set.intersection(*(set(part.notes) for part in parts))
    notes = [note for note in dict.fromkeys(parts[0].notes) if note in shared]
    labels = names or [part.source for part in parts]
    for part, label in zip(parts, labels, strict=True):
        notes += [note.of(label) for note in part.notes if note not in shared]
    return notes
