"""Bring a declared frame of any engine to the canonical columns, or say which value in which place
is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import narwhals.stable.v2 as nw
import pandas as pd
from pandas.api.types import pandas_dtype

from .contract import (
    AMOUNTS,
    CANONICAL,
    FLAGS,
    NUMBERS,
    Const,
    Declaration,
    Note,
    Words,
    columns_of,
)
from .frames import LARGEST, ROW, Frame, distinct, how_many, names_of, pandas_of, some
from .values import (
    SECOND,
    Plan,
    Step,
    contradictions,
    failures,
    flags,
    free_names,
    keys,
    kinds,
    numbers,
    text_names,
    texts,
    written,
)

__all__ = ["LARGEST", "Frame", "canonical", "distinct", "how_many", "pandas_of", "some"]

COUNTING = "count"  # repeat="count": equal keys are numbered in the order of the rows


def canonical(frame: Frame, declared: Mapping[str, Declaration], what: str) -> Step:
    """Apply the declarations, then read every canonical column by its kind."""
    plan = planned(frame, declared, what)
    steps: tuple[Callable[[Frame, Plan], Step], ...] = (
        columns_made,
        needed,
        texts,
        kinds,
        flags,
        contradictions,
        failures,
        numbers,
        keys,
        free_names,
    )
    notes: list[Note] = []
    for step in steps:
        frame, more = step(frame, plan)
        notes += more
    return frame, notes


def planned(frame: Frame, declared: Mapping[str, Declaration], what: str) -> Plan:
    """What the declarations mean for this table."""
    have = set(names_of(frame))
    turned = "attack_resisted" in declared or (
        "attack_resisted" in have and "attack_success" not in {*have, *declared}
    )
    used = declared.get("attack_resisted" if turned else "attack_success")
    second = "attack_success" if turned else "attack_resisted"
    own = {
        "attack_success" if name == "attack_resisted" else name: given
        for name, given in declared.items()
        if isinstance(given, Words)
    }
    for name, given in own.items():
        flag, meanings = name in FLAGS, set(given.meaning.values())
        known = {True, False, None, "error"} if flag else {"attack", "benign"}
        if (flag or name == "kind") and not meanings <= known:
            raise ValueError(
                f"words for {name} mean "
                f"{'true, false, missing or error' if flag else 'attack or benign'}, "
                f"got {sorted(map(str, meanings - known))}"
            )
    there = second in have and second != getattr(used, "column", used)
    return Plan(what, declared, own, turned, second if there else "")


def shown(names: Sequence[str]) -> str:
    """The columns that a caller can declare; `source` is made by the readers."""
    return some(name for name in names if name not in ("source", ROW))


def columns_made(frame: Frame, plan: Plan) -> Step:
    """The declared columns beside those of the file."""
    have, made = names_of(frame), {}
    for name, given in plan.declared.items():
        if (name, given) == ("repeat", COUNTING):
            continue
        parts = columns_of(given)
        for part in parts:
            if part not in have:
                raise plan.error(
                    f"there is no column {part!r} to take {name} from; the columns are "
                    f"{shown(have)}",
                    name,
                    name,
                )
        made[name] = (
            nw.lit(given.value)
            if isinstance(given, Const)
            else nw.col(parts[0])
            if len(parts) == 1
            else joined(parts)
        )
    if {"attack_success", "attack_resisted"} <= set(made):
        raise plan.error("declare attack_success or attack_resisted, not both", "attack_success")
    if plan.turned:
        made["attack_success"] = made.pop("attack_resisted", nw.col("attack_resisted"))
    hidden = [
        name
        for name in made
        if name in have and name in plan.declared and columns_of(plan.declared[name]) != [name]
    ]
    if plan.second:
        made[SECOND] = nw.col(plan.second)
        hidden += [plan.second] if plan.turned else []
    note = f"the file's own columns {', '.join(sorted(hidden))} are replaced by the declared ones"
    named = {part for name in text_names(plan) for part in columns_of(plan.declared.get(name, ()))}
    frame = written(frame, named)
    frame = (
        frame.with_columns(*(expr.alias(name) for name, expr in made.items())) if made else frame
    )
    return frame, [Note(note, "replaced")] if hidden else []


def needed(frame: Frame, plan: Plan) -> Step:
    """The keys must be there; without `kind` every row is an attack."""
    have = names_of(frame)
    for name in ("case_id", "mode"):
        if name not in have and not (name == "case_id" and "rows" in have):
            one = ', or mode=fnb.const("On") for one mode' if name == "mode" else ""
            raise plan.error(
                f"no column {name}; the columns are {shown(have)}. Declare it: "
                f'{name}="<column>"{one}',
                name,
                name,
            )
    if "kind" in have:
        return frame, []
    frame = frame.with_columns(nw.lit("attack").alias("kind"))
    return frame, [Note("no column kind: every row is taken as an attack", "assumed")]


def joined(parts: Sequence[str]) -> nw.Expr:
    """Several columns as one text with "/" between, two different rows never as the same text: a
    "/" inside a part that is not the last has a backslash before it.
    """
    texts = [nw.col(part).cast(nw.String) for part in parts]
    for sign in ("\\", "/"):
        texts[:-1] = [text.str.replace_all(sign, f"\\{sign}", literal=True) for text in texts[:-1]]
    return nw.concat_str(texts, separator="/")


def tidy_pandas(frame: pd.DataFrame) -> pd.DataFrame:
    """Pandas types that keep three values apart: nullable booleans for flags, text for text."""
    types = dict.fromkeys(CANONICAL, "str") | dict.fromkeys(FLAGS, "boolean")
    types |= dict.fromkeys(AMOUNTS, "Int64") | dict.fromkeys(NUMBERS, "float64")
    return frame.astype(
        {
            name: kind
            for name, kind in types.items()
            if name in frame and frame[name].dtype != pandas_dtype(kind)
        }
    )
