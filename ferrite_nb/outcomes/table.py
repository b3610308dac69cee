"""`Outcomes`: the validated table of outcomes with its notes and its source. One row per (case,
mode, repeat).
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import narwhals.stable.v2 as nw
import pandas as pd

from ..metrics import Metric
from ..order import How, baseline_among, ordered_modes
from .choose import check_columns, held, meets
from .contract import FLAGS, Const, Declaration, Note, OutcomesError, Words, const, words
from .declare import COUNTING, canonical, tidy_pandas
from .describe import UNCHECKED, lines, supported
from .frames import ROW, Frame, distinct, native, some
from .from_counts import expand_counts
from .identity import Keep, number_repeats, one_row_each

__all__ = [
    "UNCHECKED",
    "Const",
    "Note",
    "Outcomes",
    "OutcomesError",
    "Words",
    "baseline_of",
    "const",
    "outcomes",
    "words",
]


@dataclass(frozen=True, eq=False, repr=False)
class Outcomes:
    """A validated table of outcomes. Frozen: every operation returns a new one and leaves this one
    unchanged.

    `frame` is the native frame (pandas by default), `notes` lists all that was skipped or assumed,
    `source` says what was read, `modes` the modes in order, the baseline first (empty for a lazy
    frame), `checked` whether duplicate keys have been looked for, `pooled` whether a mix of suite
    versions was accepted, `tasks` the tasks of a harness whose cases are numbered from the start in
    each task (one task: its cases do not name it). `cluster` are the columns that say which cases
    belong together (two columns cross), `baseline` is the mode that the caller called the one
    without defence: every verb uses both unless its call names others.
    """

    frame: Any
    notes: tuple[Note, ...] = ()
    source: str = "table"
    modes: tuple[str, ...] = ()
    checked: bool = True
    pooled: bool = False
    tasks: tuple[str, ...] = ()
    cluster: tuple[str, ...] = ()
    baseline: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "notes", tuple(map(Note, self.notes)))

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.table.collect_schema().names())

    @property
    def table(self) -> Frame:
        """The frame as narwhals sees it: the one door for counting."""
        return nw.from_native(self.frame)

    @property
    def lazy(self) -> bool:
        """Whether the rows stay on an engine (DuckDB, Spark, a lazy Polars frame)."""
        return isinstance(self.table, nw.LazyFrame)

    @cached_property
    def supports(self) -> tuple[Metric, ...]:
        """The metrics that the values support: some row of the population has a known event."""
        return supported(self.table)

    @cached_property
    def base(self) -> tuple[str, How]:
        """The mode that others are compared with, and how it is known: "declared", "known" by its
        name, or the "first" mode for want of both.
        """
        modes = self.modes or ordered_modes(distinct(self.table, "mode"))
        return baseline_among(modes, self.baseline)

    def declare(
        self,
        *,
        cluster: str | Sequence[str] | None = None,
        baseline: str | None = None,
        modes: Sequence[str] = (),
    ) -> Outcomes:
        """The same rows with their clusters, their baseline and the order of their modes declared;
        what is not named stays.

        Parameters
        ----------
        cluster: the column whose values say which cases belong together, or two columns, whose
            labels cross; `()` for cases that are independent.
        baseline: the mode without defence, in any case of letters; it comes first in every table.
        modes: the order of the modes after it; modes that are not named follow.

        Raises
        ------
        OutcomesError: no such column, one that cannot say what belongs together (the mode, a
            flag), or no such mode.

        Example
        -------
        >>> import ferrite_nb as fnb
        >>> runs = fnb.read(fnb.data("ferrite_run_b.csv")).declare(cluster="template")
        >>> runs.cluster, runs.base
        (('template',), ('Off', 'known'))
        """
        keys = self.cluster if cluster is None else _cluster_columns(self.columns, cluster)
        base, there = self.baseline, list(self.modes)
        if baseline is not None:
            there = there or distinct(self.table, "mode")
            base, how = baseline_among(there, baseline)
            if how != "declared":
                raise OutcomesError(
                    f"baseline: there is no mode {baseline!r}; the modes are {some(there)}",
                    column="mode",
                    fix="baseline",
                )
        order = tuple(ordered_modes(self.modes, modes or there, base))
        return replace(self, cluster=keys, baseline=base, modes=order)

    def where(self, /, **conditions: Any) -> Outcomes:
        """Rows that meet every condition: a column with one value or a list of values; None is a
        missing value.

        Raises
        ------
        ValueError: no such column; a value that does not occur (the message lists those that do).

        Example
        -------
        >>> import ferrite_nb as fnb
        >>> runs = fnb.read(fnb.data("ferrite_run_a.csv"))
        >>> len(runs.where(tier="Tier1", mode=["Off", "On"]).frame)
        29
        """
        table, modes, said = self.table, self.modes, []
        for column, wanted in conditions.items():
            if column not in self.columns:
                raise ValueError(
                    f"there is no column {column!r}; the columns are {some(self.columns)}"
                )
            found = held(self.table, column, wanted)
            table = table.filter(meets(table, column, found))
            modes = tuple(mode for mode in modes if mode in found) if column == "mode" else modes
            said.append(f"{column} = {some(found, 6)}")
        note = Note(f"chosen: {', '.join(said)}", "chosen")
        return replace(self, frame=native(table), modes=modes, notes=(*self.notes, note))

    def pool_versions(self) -> Outcomes:
        """Accept a mix of suite versions: rates and comparisons then pool them, and every table
        says so.
        """
        note = Note("suite versions are pooled on request", "version")
        return replace(self, pooled=True, notes=(*self.notes, note))

    def describe(self) -> list[tuple[str, str]]:
        """What was read, what it supports, what is not computable and why: the lines that are
        displayed.
        """
        return lines(self)

    def __repr__(self) -> str:
        told = self.describe()
        width = max(len(name) for name, _ in told) + 2
        return "\n".join(f"{name:<{width}}{text}" for name, text in told)

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><th scope="row" style="text-align:left;vertical-align:top">{name}</th>'
            f'<td style="text-align:left">{html.escape(text)}</td></tr>'
            for name, text in self.describe()
        )
        caption = "<caption>What was read, and what it supports</caption>"
        return f"<table>{caption}<tbody>{rows}</tbody></table>"


def baseline_of(runs: Outcomes) -> tuple[str, How]:
    """The mode that the others are compared with, and how it is known; see `Outcomes.base`."""
    return runs.base


def _cluster_columns(have: Sequence[str], named: str | Sequence[str]) -> tuple[str, ...]:
    """The columns of a declared cluster as the table has them."""
    wanted = [named] if isinstance(named, str) else list(named)
    # A column whose name the tables of results need has an underscore here.
    found = [f"{name}_" if name not in have and f"{name}_" in have else name for name in wanted]
    try:
        check_columns(have, found, "cluster")
    except ValueError as problem:
        raise OutcomesError(f"{problem}", fix="cluster") from None
    for name in {"mode", "kind", "rows", *FLAGS} & set(found):
        raise OutcomesError(
            f"cluster: {name} does not say which cases belong together; name a column of "
            "templates, tasks or prompts",
            column=name,
            fix="cluster",
        )
    return tuple(found)


def outcomes(
    frame: Any,
    *,
    read_from: str = "table",
    notes: Sequence[str] = (),
    keep: Keep | None = None,
    check: Literal["auto", "full"] = "auto",
    cluster: str | Sequence[str] | None = None,
    baseline: str | None = None,
    **declarations: Declaration,
) -> Outcomes:
    """Declare the columns of any frame and get validated outcomes.

    Parameters
    ----------
    frame: pandas, Polars, PyArrow, DuckDB or Spark frame: one row per case, mode and repeat; or a
        table of counts with a weight column `rows`, or with columns `mode`, `k`, `n`.
    read_from: what to call the data in notes and messages.
    keep: which of several rows with one key stays: "first", "last", or the first "known" outcome.
        Without it copies count once, a row with an error gives way to one with an outcome, and two
        different outcomes raise.
    check: "full" looks for duplicate keys also in a lazy frame (it hashes every key).
    cluster, baseline: as in `Outcomes.declare`: what belongs together, the mode without defence.
    declarations: canonical name = column name, list of columns (joined with "/"),
        `fnb.const(value)` or `fnb.words(...)`. Columns that
        already have a canonical name need no declaration.
        `attack_resisted=` is turned round; where a frame has both columns they must not contradict
        each other, unless the one that counts is declared. `repeat="count"` numbers the rows of one
        case and mode in their order.

    Raises
    ------
    OutcomesError: a column or value that the contract does not allow; the message names row, column
        and value.
    ValueError, TypeError: a call that makes no sense.

    Example
    -------
    >>> import pandas as pd, ferrite_nb as fnb
    >>> frame = pd.DataFrame({"id": ["a", "b"], "defence": ["On", "On"], "hit": ["no", "yes"]})
    >>> runs = fnb.outcomes(frame, case_id="id", mode="defence", attack_success="hit")
    >>> runs.frame["attack_success"].tolist()
    [False, True]
    """
    if keep not in (None, "first", "last", "known"):
        raise ValueError(f'keep must be "first", "last" or "known", got {keep!r}')
    for name, given in declarations.items():
        if not isinstance(given, str | Const | Words | list | tuple) or given in ([], ()):
            raise TypeError(
                f"{name} takes a column name, a list of names, fnb.const or fnb.words, "
                f"got {given!r}"
            )
    what = read_from if read_from != "table" else ""
    try:
        table, declared, counted = expand_counts(_table(frame, what), declarations, what)
        table, found = canonical(table, declared, what)
        found = [*map(Note, notes), *counted, *found]
        lazy = isinstance(table, nw.LazyFrame)
        if isinstance(table, nw.DataFrame) and not len(table):
            raise OutcomesError(
                f"{what or 'the table'} has no row of outcomes; nothing can be said from an empty "
                "file",
                file=what or None,
            )
        if declared.get("repeat") == COUNTING:
            table, more = number_repeats(table)
            found += more
        if not lazy or check == "full" or keep:
            table, more = one_row_each(table, keep, what)
            found += more
        table = table.drop(ROW, strict=False)
        modes = [] if lazy else [str(mode) for mode in table["mode"].unique().to_list()]
        result = native(table)
        if isinstance(result, pd.DataFrame):
            result = tidy_pandas(result)
            for name, kind in result.dtypes.items():
                if pd.api.types.is_object_dtype(kind):
                    result[name].astype("str")  # raises here what would stop a later table
    except UnicodeEncodeError as problem:
        # A lone surrogate, from broken JSON, is no text that an engine can hold.
        half = problem.object[problem.start : problem.end]
        raise OutcomesError(
            f"the table holds {half!a}, which is half of a letter and no text; replace it",
            file=what or None,
        ) from None
    runs = Outcomes(
        result,
        tuple(found),
        read_from,
        tuple(ordered_modes(modes)),
        checked=not lazy or check == "full",
    )
    return runs.declare(cluster=cluster, baseline=baseline)


def _table(frame: Any, what: str) -> Frame:
    """The frame as narwhals sees it, if its columns have names that are texts and differ."""
    if hasattr(frame, "replace_schema_metadata"):
        # An Arrow table made by pandas keeps the old types in its metadata, and pandas would
        # believe them again.
        frame = frame.replace_schema_metadata(None)
    try:
        table: Frame = nw.from_native(
            frame.reset_index(drop=True) if isinstance(frame, pd.DataFrame) else frame
        )
        names = table.collect_schema().names()
    except TypeError:
        raise TypeError(
            "a frame of pandas, Polars, PyArrow, DuckDB or Spark is needed, got "
            f"{type(frame).__name__}; a file is read with fnb.read(path)"
        ) from None
    except nw.exceptions.DuplicateError:
        names = [*getattr(frame, "column_names", frame.columns)] * 2
    if len(set(names)) < len(names) or not all(isinstance(name, str) for name in names):
        raise OutcomesError(
            f"{what or 'the table'}: column names must be texts and differ, got "
            f"{some(dict.fromkeys(names))}",
            file=what or None,
        )
    return table
