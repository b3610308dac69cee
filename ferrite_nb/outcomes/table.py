"""`Outcomes`: the validated table of outcomes with its notes and its source. One row per (case,
mode, repeat).
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

import narwhals.stable.v2 as nw
import pandas as pd

from ..escape import plain
from ..metrics import METRICS, How, baseline_among, ordered_modes, supported
from .choose import held, listed_values, meets
from .contract import FLAGS, KEYS, Const, Declaration, Note, OutcomesError, Words, const, words
from .declare import Frame, Normaliser, distinct, pandas_of, some, tidy_pandas
from .from_counts import expand_counts

__all__ = ["Const", "Note", "Outcomes", "OutcomesError", "Words", "const", "outcomes", "words"]

UNCHECKED = "keys not checked for duplicates"


@dataclass(frozen=True, eq=False, repr=False)
class Outcomes:
    """A validated table of outcomes. Frozen: every operation returns a new one and leaves this one
    unchanged.

    `frame` is the native frame (pandas by default), `notes` lists all that was skipped or assumed,
    `source` says what was read, `modes` the modes in order, the baseline first (empty for a lazy
    frame), `checked` whether duplicate keys have been looked for, `pooled` whether a mix of suite versions was
    accepted, `tasks` the tasks of a harness whose cases are numbered from the start in each task
    (one task: its cases do not name it). `cluster` are the columns that say which cases belong
    together (two columns cross), `baseline` is the mode that the caller called the one without
    defence: every verb uses both unless its call names others.
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
        >>> runs.cluster, baseline_of(runs)
        (('template',), ('Off', 'known'))
        """
        keys, base = self.cluster, self.baseline
        if cluster is not None:
            keys = cluster_columns(self.columns, cluster)
        there = list(self.modes)
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
            values = listed_values(wanted)
            if not values:
                raise ValueError(f"choose at least one value of {column}")
            found = held(self.table, column, values)
            table = table.filter(meets(table, column, found))
            modes = tuple(mode for mode in modes if mode in found) if column == "mode" else modes
            said.append(f"{column} = {some(map(str, values), 6)}")
        return replace(
            self,
            frame=native(table),
            modes=modes,
            notes=(*self.notes, Note(f"chosen: {', '.join(said)}", "chosen")),
        )

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
        have = self.columns
        able = supported(have)
        live = "measurable" in have
        gaps = [one for one in METRICS.values() if one not in able and one.live in (None, live)]
        lines = [("read", self._counted())]
        lines.append(("supports", "  ".join(one.symbol for one in able) or "no documented metric"))
        strata = [
            name
            for name in (
                "tier",
                "scope",
                "suite",
                "category",
                "carrier",
                "attack",
                "model",
                "template",
            )
            if name in have
        ]
        if strata:
            lines.append(("strata", ", ".join(strata)))
        reasons: dict[str, list[str]] = {}
        for one in gaps:
            reasons.setdefault(one.gap, []).append(one.symbol)
        lines += [
            ("not computable", f"{', '.join(names)}: {reason}") for reason, names in reasons.items()
        ]
        lines += [("note", note) for note in self.notes]
        return [
            (name, plain(text, None)) for name, text in lines
        ]  # a name from a file is no command of a terminal

    def _counted(self) -> str:
        frame = self.table
        if isinstance(frame, nw.LazyFrame):
            return (
                f"{self.source}: rows stay on the engine; {UNCHECKED}"
                if not self.checked
                else self.source
            )
        weights = "rows" in self.columns
        total = int(frame["rows"].sum()) if weights else len(frame)
        cases = f" of {frame['case_id'].n_unique():,} cases" if "case_id" in self.columns else ""
        kinds = pandas_of(
            frame.group_by("kind").agg(nw.col("rows").sum() if weights else nw.len().alias("rows"))
        )
        split = ", ".join(
            f"{int(n):,} {kind}"
            for kind, n in sorted(zip(kinds["kind"], kinds["rows"], strict=True))
        )
        errors = int((~frame["error"].is_null()).sum()) if "error" in self.columns else 0
        modes = ", ".join(self.modes)
        return f"{self.source}: {total:,} rows{cases} ({split}; {errors:,} errors); modes: {modes}"

    def __repr__(self) -> str:
        width = max(len(name) for name, _ in self.describe()) + 2
        return "\n".join(f"{name:<{width}}{text}" for name, text in self.describe())

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><th scope="row" style="text-align:left;vertical-align:top">{name}</th>'
            f'<td style="text-align:left">{html.escape(text)}</td></tr>'
            for name, text in self.describe()
        )
        return f"<table><caption>What was read, and what it supports</caption><tbody>{rows}</tbody></table>"


def baseline_of(runs: Outcomes) -> tuple[str, How]:
    """The mode that the others are compared with, and how it is known: "declared", "known" by its
    name, or the "first" mode for want of both.
    """
    modes = runs.modes or ordered_modes(distinct(runs.table, "mode"))
    return baseline_among(modes, runs.baseline)


def cluster_columns(have: Sequence[str], named: str | Sequence[str]) -> tuple[str, ...]:
    """The columns of a declared cluster as the table has them."""
    wanted = [named] if isinstance(named, str) else list(named)
    # A column whose name the tables of results need has an underscore here.
    found = [f"{name}_" if name not in have and f"{name}_" in have else name for name in wanted]
    for name in found:
        if name not in have:
            raise OutcomesError(
                f"cluster: there is no column {name!r}; the columns are {some(have)}",
                column=str(name),
                fix="cluster",
            )
        if name in {"mode", "kind", "rows", *FLAGS}:
            raise OutcomesError(
                f"cluster: {name} does not say which cases belong together; name a column of "
                "templates, tasks or prompts",
                column=name,
                fix="cluster",
            )
    if len(set(found)) < len(found):
        raise OutcomesError(f"cluster: a column is named twice in {wanted}", fix="cluster")
    return tuple(found)


def native(table: Frame) -> Any:
    """The native frame behind narwhals; pandas with a fresh index."""
    frame = table.to_native()
    return frame.reset_index(drop=True) if isinstance(frame, pd.DataFrame) else frame


@contextmanager
def whole_letters() -> Iterator[None]:
    """Half of a letter (a lone surrogate, from broken JSON) is no text that an engine can hold."""
    try:
        yield
    except UnicodeEncodeError as problem:
        half = problem.object[problem.start : problem.end]
        raise OutcomesError(
            f"the table holds {half!a}, which is half of a letter and no text; replace it"
        ) from None


@whole_letters()
def outcomes(
    frame: Any,
    *,
    read_from: str = "table",
    notes: Sequence[str] = (),
    keep: Literal["first", "last"] | None = None,
    check: Literal["auto", "full"] = "auto",
    cluster: str | Sequence[str] | None = None,
    baseline: str | None = None,
    **declared: Declaration,
) -> Outcomes:
    """Declare the columns of any frame and get validated outcomes.

    Parameters
    ----------
    frame: pandas, Polars, PyArrow, DuckDB or Spark frame: one row per case, mode and repeat; or a
        table of counts with a weight column `rows`, or with columns `mode`, `k`, `n`.
    read_from: what to call the data in notes and messages.
    keep: which of several rows with one key stays; without it a duplicate raises.
    check: "full" looks for duplicate keys also in a lazy frame (it hashes every key).
    cluster, baseline: as in `Outcomes.declare`: what belongs together, and the mode without defence.
    declared: canonical name = column name, list of columns (joined with "/"), `fnb.const(value)` or
        `fnb.words(...)`. Columns that already have a canonical name need no declaration.
        `attack_resisted=` is turned round; where a frame has both columns they must not contradict
        each other, unless the one that counts is declared.

    Raises
    ------
    OutcomesError: a column or value that the contract does not allow; the message names row, column
        and value.
    ValueError, TypeError: a call that makes no sense.

    Example
    -------
    >>> import pandas as pd, ferrite_nb as fnb
    >>> frame = pd.DataFrame({"id": ["a", "b"], "defence": ["On", "On"], "jailbroken": ["no", "yes"]})
    >>> runs = fnb.outcomes(frame, case_id="id", mode="defence", attack_success="jailbroken")
    >>> runs.frame["attack_success"].tolist()
    [False, True]
    """
    if keep not in (None, "first", "last"):
        raise ValueError(f'keep must be "first" or "last", got {keep!r}')
    for name, what in declared.items():
        if not isinstance(what, str | Const | Words | list | tuple) or (
            isinstance(what, list | tuple) and not what
        ):
            raise TypeError(
                f"{name} takes a column name, a list of names, fnb.const or fnb.words, got {what!r}"
            )
    if hasattr(frame, "replace_schema_metadata"):
        # An Arrow table made by pandas keeps the old types in its metadata, and pandas would
        # believe them again.
        frame = frame.replace_schema_metadata(None)
    try:
        table = nw.from_native(
            frame.reset_index(drop=True) if isinstance(frame, pd.DataFrame) else frame
        )
    except TypeError:
        raise TypeError(
            f"a frame of pandas, Polars, PyArrow, DuckDB or Spark is needed, got {type(frame).__name__}; "
            "a file is read with fnb.read(path)"
        ) from None
    except nw.exceptions.DuplicateError:
        seen = some(getattr(frame, "column_names", frame.columns))
        raise OutcomesError(
            f"{read_from}: column names must be texts and differ, got {seen}"
        ) from None
    what = read_from if read_from != "table" else ""
    names = table.collect_schema().names()
    if len(set(names)) < len(names) or not all(isinstance(name, str) for name in names):
        raise OutcomesError(
            f"{what or 'the table'}: column names must be texts and differ, got {some(names)}"
        )
    table, from_counts = expand_counts(table, declared, what)
    normal = Normaliser(table, what)
    table = normal.run(declared)
    found = [*notes, *from_counts, *normal.notes]
    lazy = isinstance(table, nw.LazyFrame)
    if isinstance(table, nw.DataFrame) and not len(table):
        raise OutcomesError(
            f"{what or 'the table'} has no row of outcomes; nothing can be said from an empty file"
        )
    if not lazy or check == "full":
        table, more = unique_keys(table, keep, what)
        found += more
    elif keep:
        raise ValueError(
            "keep= needs an order of rows, which a lazy frame has not; drop the duplicates first"
        )
    modes = (
        () if lazy else tuple(ordered_modes(str(mode) for mode in table["mode"].unique().to_list()))
    )
    result = native(table)
    if isinstance(result, pd.DataFrame):
        result = tidy_pandas(result)
        for name in [
            name for name, kind in result.dtypes.items() if pd.api.types.is_object_dtype(kind)
        ]:
            result[name].astype(
                "str"
            )  # raises here what would else stop the first table by that column
    runs = Outcomes(
        result, tuple(map(Note, found)), read_from, modes, checked=not lazy or check == "full"
    )
    return runs.declare(cluster=cluster, baseline=baseline)


def unique_keys(table: Frame, keep: str | None, what: str) -> tuple[Frame, list[str]]:
    """Every (case, mode, repeat) once: a duplicate raises, or the first or last row stays and the
    conflict is noted.
    """
    names = table.collect_schema().names()
    keys = [name for name in KEYS if name in names]
    if "case_id" not in keys or "rows" in names:
        return table, []
    if isinstance(table, nw.DataFrame) and not table.select(*keys).is_duplicated().any():
        return table, []
    often = (
        table.select(*keys).group_by(*keys).agg(nw.len().alias("times")).filter(nw.col("times") > 1)
    )
    found = pandas_of(often.head(10_000) if isinstance(often, nw.LazyFrame) else often)
    if found.empty:
        return table, []
    found = found.sort_values(keys)
    shown = "; ".join(
        f"{' / '.join(str(row[key])[:60] for key in keys)} ({int(row['times'])} rows)"
        for _, row in found.head(3).iterrows()
    )
    if keep is None:
        raise OutcomesError(
            f"{what + ', ' if what else ''}{len(found)} keys ({', '.join(keys)}) stand in more than one row: {shown}"
            f"{_places(table, keys, found)}. "
            'If the rows are repeats, declare repeat="<column>"; if they replace each other, say keep="last" or '
            '"first"; if several attacks share a case, declare case_id=["attack", "case_id"]'
        )
    if isinstance(table, nw.LazyFrame):
        raise ValueError(
            "keep= needs an order of rows, which a lazy frame has not; drop the duplicates first"
        )
    kept = table.unique(subset=keys, keep=keep, maintain_order=True)  # type: ignore[arg-type]
    return kept, [
        f"{len(table) - len(kept)} rows replaced by another row of the same key (keep={keep!r}): {shown}"
    ]


def _places(table: Frame, keys: Sequence[str], found: pd.DataFrame) -> str:
    """Where the rows of the first duplicate key stand, if the rows say it."""
    if isinstance(table, nw.LazyFrame) or "source" not in table.columns:
        return ""
    first = found.iloc[0]
    rows = (
        table.filter(*(nw.col(key) == str(first[key]) for key in keys))["source"]
        .drop_nulls()
        .to_list()
    )
    return f" (the first in {some(rows, 3)})" if rows else ""
