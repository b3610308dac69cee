"""Schema: every table that a verb returns, declared once, and `Table`, the class of all of them.

The order of columns is part of the shape: keys (the first key, the strata, the modes or the
quantity), numbers, `state`, `why`, `note`, and then the facts of each row. Nothing about a table is
kept beside it: two tables that are joined carry all that a reader of them needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import pandas as pd

__all__ = ["KINDS", "NAMES", "SHAPES", "Shape", "Table", "made", "shape_of", "strata_of"]

Kind = Literal["key", "count", "rate", "bound", "p", "value", "state", "text", "fact"]

_NAMES: Mapping[Kind, str] = {
    "key": (
        "metric requirement limit question release quantity judge score facet mode mode_a mode_b"
    ),
    "count": (
        "k n missing clusters n_pairs both b c neither unpaired hits at_risk attempts accept"
        " levels human_missing judge_missing other people_differ ties more series"
    ),
    "rate": (
        "rate floor ceiling independent observed rate_a rate_b diff threshold share doubled"
        " detectable"
    ),
    "bound": (
        "low high outer_low outer_high observed_low observed_high independent_low independent_high"
    ),
    "p": "p p_holm p_least p_any_pass change_p change_holm trend_p differ_p p_pass",
    "value": "max_fpr base_rate per_day n_eff h value quantile log10_p largest_share forecast",
    "state": "state verdict severity drift",
    "text": "why note evidence consequence rule answer assumption",
    "fact": (
        "level method unit source suite_version judge_version seed baseline owner schedule"
        " columns cells side order test"
    ),
}
KINDS: Mapping[str, Kind] = {name: kind for kind, names in _NAMES.items() for name in names.split()}
NAMES = frozenset(KINDS)  # a column of a file that is called so gets another name
WORDS = ("state", "why", "note")
FACTS = ("level", "method", "unit", "source", "suite_version", "seed")


@dataclass(frozen=True)
class Shape:
    """One table: its first key, the keys after the strata, its numbers, words and facts.

    `needs` are the columns by which a table of this shape is known; `more` are numbers that only
    some calls fill.
    """

    first: str
    keys: tuple[str, ...]
    numbers: tuple[str, ...]
    more: tuple[str, ...] = ()
    words: tuple[str, ...] = WORDS
    facts: tuple[str, ...] = FACTS

    @property
    def needs(self) -> frozenset[str]:
        """The columns that a table must have to be read as one of this shape."""
        return frozenset((self.first, *self.numbers, *self.words[:1]))


_RATE = ("k", "n", "rate", "low", "high")
_COUNTED = (*_RATE, "missing", "floor", "ceiling", "outer_low", "outer_high", "clusters", "n_eff")

SHAPES: Mapping[str, Shape] = {
    "compare": Shape(
        "metric",
        ("mode_a", "mode_b", "quantity"),
        (
            *("n_pairs", "both", "b", "c", "neither", "rate_a", "rate_b", "diff", "low", "high"),
            *("h", "p", "log10_p", "p_holm", "p_least", "detectable", "unpaired"),
            *("independent_low", "independent_high"),
        ),
        more=("missing", "outer_low", "outer_high"),
    ),
    "overhead": Shape(
        "metric",
        ("mode_a", "mode_b", "quantity"),
        ("quantile", "value", "low", "high", "n_pairs", "unpaired"),
    ),
    "gate": Shape(
        "requirement",
        ("metric", "mode", "quantity"),
        (
            *_RATE,
            "value",
            "missing",
            "outer_low",
            "outer_high",
            "clusters",
            "n_eff",
            "threshold",
            "accept",
            "p_pass",
            "more",
        ),
        words=("verdict", "state", "why", "note", "rule"),
        facts=(*FACTS, "side", "owner", "schedule"),
    ),
    "releases": Shape(
        "release",
        ("requirement", "metric", "mode", "quantity"),
        (
            "series",
            *_RATE,
            "value",
            "missing",
            "clusters",
            "n_eff",
            "threshold",
            "accept",
            "p_pass",
            "p_any_pass",
            "change_p",
            "change_holm",
        ),
        words=("verdict", "drift", "state", "why", "note", "rule"),
        facts=(*FACTS, "judge_version", "side", "owner", "schedule"),
    ),
    "attempts": Shape(
        "metric",
        ("mode", "quantity"),
        (
            "attempts",
            *_RATE,
            "value",
            "at_risk",
            "independent",
            "floor",
            "ceiling",
            "clusters",
            "n_eff",
        ),
    ),
    "judges": Shape(
        "judge",
        ("quantity",),
        (
            *_RATE,
            "value",
            "human_missing",
            "judge_missing",
            "other",
            "people_differ",
            "ties",
            "clusters",
            "n_eff",
        ),
    ),
    "detector": Shape(
        "score",
        ("quantity",),
        ("max_fpr", "base_rate", "threshold", *_RATE, "value", "per_day", "clusters", "n_eff"),
    ),
    "components": Shape("facet", ("metric", "mode"), ("levels", "share", "doubled", "low", "high")),
    "plan": Shape(
        "question",
        (),
        ("value", "n", "accept"),
        words=("state", "why", "answer", "assumption"),
        facts=("level", "method", "unit"),
    ),
    "limits": Shape(
        "limit",
        (),
        (),
        words=("severity", "evidence", "consequence"),
        facts=("columns", "cells"),
    ),
    # between the strata and `source` stands one column a mode
    "cases": Shape("case_id", ("repeat",), (), words=("source",), facts=("metric",)),
    "rates": Shape(
        "metric",
        ("mode",),
        _COUNTED,
        more=("observed", "observed_low", "observed_high", "trend_p", "differ_p"),
        facts=(*FACTS, "baseline", "order", "test"),
    ),
}


class Table(pd.DataFrame):  # type: ignore[misc]
    """The table of a verb: an ordinary frame, shown by a notebook as `fnb.tables.html` shows it."""

    @property
    def _constructor(self) -> type[Table]:
        return Table

    def _repr_html_(self) -> str:
        # the room that shows tables stands above this one: it is called, not built upon
        return str(import_module("ferrite_nb.show.tables").html(self))


def made(
    name: str,
    rows: Iterable[Mapping[str, Any]],
    strata: Sequence[str] = (),
    **facts: Any,
) -> Table:
    """The table `name` of `SHAPES` from its rows, columns in order and of one type each.

    Parameters
    ----------
    rows: mappings; a column that a row lacks is empty (a missing count, NaN, or "").
    strata: names of the columns between the first key and the modes (or with the mode among them).
    facts: values that are the same in all rows.
    """
    shape = SHAPES[name]
    rows = [{**facts, **row} for row in rows]
    filled = {column for row in rows for column in row}
    keys = [shape.first, *strata, *(key for key in shape.keys if key not in strata)]
    numbers = [*shape.numbers, *(column for column in shape.more if column in filled)]
    optional = shape.facts[len(FACTS) :] if shape.facts[: len(FACTS)] == FACTS else ()
    tail = [fact for fact in shape.facts if fact not in optional or fact in filled]
    columns = [*keys, *numbers, *shape.words, *(fact for fact in tail if fact not in keys)]
    return Table({column: _column(column, [row.get(column) for row in rows]) for column in columns})


def _column(name: str, values: list[Any]) -> Any:
    """The values of one column as its kind asks for."""
    kind = KINDS.get(name, "key")
    empty = [value is None or value is pd.NA for value in values]
    if kind == "count":
        counts = pd.array([pd.NA if e else int(v) for v, e in zip(values, empty, strict=True)])
        return counts.astype("Int64" if any(empty) else "int64")
    if kind in ("rate", "bound", "p", "value") or name == "level":
        floats = [float("nan") if e else float(v) for v, e in zip(values, empty, strict=True)]
        return pd.array(floats, dtype="float64").to_numpy()
    if name in ("columns", "cells"):
        return pd.Series(values, dtype=object)
    return pd.Series(["" if e else str(v) for v, e in zip(values, empty, strict=True)], dtype="str")


def shape_of(table: pd.DataFrame) -> Shape | None:
    """The shape that a table has, by its columns; None for any other table."""
    have = set(table.columns)
    return next((shape for shape in SHAPES.values() if shape.needs <= have), None)


def strata_of(table: pd.DataFrame) -> list[str]:
    """The columns between the first key and the first number of a table, the modes among them.

    By position, so that it stays true after `concat`, `assign`, a filter, or CSV and back.
    """
    shape = shape_of(table)
    if shape is None:
        return []
    names = list(table.columns)
    numbers = {*shape.numbers, *shape.words}
    stop = next(place for place, name in enumerate(names) if name in numbers)
    return names[names.index(shape.first) + 1 : stop]
