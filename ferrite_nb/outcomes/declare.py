"""Bring a declared frame of any engine to the canonical columns, or say which value in which place
is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import pandas as pd
from pandas.api.types import pandas_dtype

from .contract import (
    AMOUNTS,
    BOTH,
    CANONICAL,
    EVENTS,
    FALSE,
    FLAGS,
    KEYS,
    MISSING,
    NUMBERS,
    TAKEN,
    Const,
    Declaration,
    Note,
    OutcomesError,
    Words,
    allowed,
    flag_meaning,
    spelled,
)
from .from_counts import rate_hint

Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]
MOST_WORDS = 2_000
LARGEST = 2.0**53
SECOND = "the second outcome"
CONTRADICTING = "rows whose other outcome"
NEVER = "\x00 no such word"
NUMBER = r"^[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$"


def pandas_of(frame: Frame) -> pd.DataFrame:
    """A small result as pandas: engines are asked for pandas by name, eager frames are
    converted.
    """
    if isinstance(frame, nw.LazyFrame):
        return frame.collect("pandas").to_native()
    return frame.to_pandas()


def how_many(condition: nw.Expr) -> nw.Expr:
    """The number of rows that meet a condition; Spark sums no booleans, so they are made numbers
    first.
    """
    return nw.when(condition).then(nw.lit(1)).otherwise(nw.lit(0)).sum()


def distinct(frame: Frame, name: str, most: int = 100_000) -> list[str]:
    """The distinct values of a column as text, the missing one left out.

    On an engine a group-by, because `unique` there keeps a whole row of each value and is many
    times slower.
    """
    text = frame.select(nw.col(name).cast(nw.String).alias(name))
    if isinstance(text, nw.DataFrame):
        return [
            str(value)
            for value in text[name].unique(maintain_order=True).drop_nulls().to_list()[:most]
        ]
    found = text.group_by(name).agg(nw.len().alias("_rows"))
    return [str(value) for value in pandas_of(found.head(most))[name].dropna()]


def raise_places(
    frame: Frame, bad: nw.Expr, column: str, name: str, rule: str, what: str = ""
) -> None:
    """Raise OutcomesError that names file, row, column and value of the first bad rows."""
    if isinstance(frame, nw.LazyFrame):
        found = pandas_of(frame.filter(bad).select(column).head(1))
        if found.empty:
            return
        row = "a row"
    else:
        index = "row of the file"
        while index in frame.columns:
            index += "_"
        if not frame.select(bad.any().alias(column))[column][0]:
            return
        rows = frame.with_row_index(index).filter(bad)
        found = pandas_of(rows.head(1))
        more = len(rows) - 1
        place = (
            str(found["source"].iloc[0])
            if "source" in found and pd.notna(found["source"].iloc[0])
            else ""
        )
        row = place or f"row {int(found[index].iloc[0]) + 1} (the header not counted)"
        row += f" and {more} more" if more else ""
        # The place of a row names its file already.
        what = "" if place.startswith(what.removesuffix(", ")) else what
    value = found[column].iloc[0]
    shown = "nothing" if pd.isna(value) else repr(str(value)[:80])
    hint = rate_hint(value, found.get("n"))
    label = column if column == name else f"{column} (declared as {name})"
    raise OutcomesError(f"{what}{row}: column {label} has {shown}; {rule}{hint}")


class Normaliser:
    """One pass over a frame: declarations in, canonical frame and notes out. Used by `outcomes`
    only.
    """

    def __init__(self, frame: Frame, what: str) -> None:
        self.frame = frame
        self.what = f"{what}, " if what else ""
        self.notes: list[str] = []
        self.resisted = False
        self.second = ""

    def run(self, declared: Mapping[str, Declaration]) -> Frame:
        """Apply the declarations, then read every canonical column by its kind."""
        own = self.declare(declared)
        have = set(self.columns())
        for name in ("case_id", "mode"):
            if name not in have and not (name == "case_id" and "rows" in have):
                raise OutcomesError(
                    f"{self.what}no column {name}; the columns are {some(self.shown())}. Declare it: "
                    f'{name}="<column>"'
                    + (', or mode=fnb.const("On") for one mode' if name == "mode" else "")
                )
        if "kind" not in have:
            self.frame = self.frame.with_columns(nw.lit("attack").alias("kind"))
            self.notes.append(Note("no column kind: every row is taken as an attack", "assumed"))
        self.texts(own, declared)
        self.kind(own.get("kind"))
        self.flags(own)
        self.contradictions(declared)
        self.numbers()
        self.keys()
        self.free_names()
        return self.frame

    def free_names(self) -> None:
        """Columns with a name that tables of results need get an underscore, and a note says so."""
        have = self.columns()
        renamed: dict[str, str] = {}
        for name in have:
            other = name
            while TAKEN.fullmatch(other) or (other != name and other in {*have, *renamed.values()}):
                other += "_"
            if other != name:
                renamed[name] = other
        if renamed:
            self.frame = self.frame.rename(renamed)
            said = ", ".join(f"{name} is {other}" for name, other in renamed.items())
            self.notes.append(
                f"columns renamed, because tables of results have columns of that name: {said}"
            )

    def columns(self) -> list[str]:
        """Column names without touching the rows."""
        return (
            self.frame.columns
            if isinstance(self.frame, nw.DataFrame)
            else self.frame.collect_schema().names()
        )

    def shown(self) -> list[str]:
        """The columns a caller can declare; `source` is made by the readers."""
        return [name for name in self.columns() if name != "source"]

    def declare(self, declared: Mapping[str, Declaration]) -> dict[str, Words]:
        """Make the declared columns; returns the caller's own words by column."""
        have, made, own = set(self.columns()), {}, {}
        for name, what in declared.items():
            if isinstance(what, Const):
                made[name] = nw.lit(what.value)
                continue
            parts = (
                [what.column]
                if isinstance(what, Words)
                else [what]
                if isinstance(what, str)
                else list(what)
            )
            for part in parts:
                if part not in have:
                    raise OutcomesError(
                        f"{self.what}there is no column {part!r} to take {name} from; "
                        f"the columns are {some(self.shown())}"
                    )
            if isinstance(what, Words):
                own[name] = what
            texts = [nw.col(part).cast(nw.String) for part in parts]
            made[name] = (
                nw.col(parts[0]) if len(parts) == 1 else nw.concat_str(texts, separator="/")
            )
        if "attack_resisted" in declared or (
            "attack_resisted" in have and "attack_success" not in {*have, *declared}
        ):
            if "attack_success" in declared:
                raise OutcomesError(
                    f"{self.what}declare attack_success or attack_resisted, not both"
                )
            made["attack_success"] = made.pop("attack_resisted", nw.col("attack_resisted"))
            self.resisted = True
            if "attack_resisted" in own:
                own["attack_success"] = own.pop("attack_resisted")
        hidden = sorted(
            name
            for name in set(made) & have
            if name in declared
            and name not in (declared[name], getattr(declared[name], "column", None))
        )
        used = declared.get("attack_resisted" if self.resisted else "attack_success")
        second = "attack_success" if self.resisted else "attack_resisted"
        if second in have and second != getattr(used, "column", used):
            self.second, made[SECOND] = second, nw.col(second)
            hidden += [second] if self.resisted else []
        if hidden:
            self.notes.append(
                f"the file's own columns {', '.join(hidden)} are replaced by the declared ones"
            )
        if made:
            self.frame = self.frame.with_columns(*(expr.alias(name) for name, expr in made.items()))
        return own

    def texts(self, own: Mapping[str, Words], declared: Mapping[str, Declaration]) -> None:
        """Keys, known and declared strata as text, exactly as written; declared words replace the
        file's.
        """
        schema = self.frame.collect_schema()
        wanted = {*CANONICAL, *declared} - {*FLAGS, *AMOUNTS, *NUMBERS, "error", "attack_resisted"}
        plain = [
            nw.col(name).cast(nw.String)
            for name in schema.names()
            if name in wanted and schema[name] != nw.String
        ]
        if plain:
            self.frame = self.frame.with_columns(*plain)
        for name, what in own.items():
            if name in FLAGS or name == "kind":
                continue
            known = self.distinct(name)
            unknown = [word for word in known if spelled(word) not in what.meaning]
            if unknown:
                bad, rule = nw.col(name).is_in(unknown), allowed(name, what.meaning)
                raise_places(self.frame, bad, what.column, name, rule, self.what)
            self.frame = self.frame.with_columns(
                chosen(nw.col(name), [(w, what.meaning[spelled(w)]) for w in known]).alias(name)
            )

    def distinct(self, name: str) -> list[str]:
        """The distinct values of a column as text; a column with far too many is no flag."""
        return distinct(self.frame, name, MOST_WORDS)

    def kind(self, own: Words | None) -> None:
        """`kind` becomes attack or benign; with declared words, rows with other words are left out
        with a note.
        """
        words = self.distinct("kind")
        rule = "kind must be attack or benign; declare other words with fnb.words"
        meaning = {
            word: (own.meaning if own else {"attack": "attack", "benign": "benign"}).get(
                spelled(word)
            )
            for word in words
        }
        wrong = {
            word: means for word, means in meaning.items() if means not in ("attack", "benign")
        }
        if own and any(means is not None for means in wrong.values()):
            raise ValueError(
                f"words for kind mean attack or benign, got {sorted(map(str, set(wrong.values())))}"
            )
        text = nw.col("kind").cast(nw.String)
        if wrong and not own:
            raise_places(self.frame, text.is_in(list(wrong)), "kind", "kind", rule, self.what)
        if wrong:
            left_out = pandas_of(
                self.frame.filter(text.is_in(list(wrong)))
                .select(text.alias("kind"))
                .group_by("kind")
                .agg(nw.len().alias("rows"))
            )
            for word, rows in sorted(zip(left_out["kind"], left_out["rows"], strict=True)):
                self.notes.append(
                    f"{int(rows)} rows left out: kind is {str(word)[:60]!r}, neither attack nor benign"
                )
            self.frame = self.frame.filter(~text.is_in(list(wrong)) | nw.col("kind").is_null())
        if wrong and len(wrong) == len(words):
            raise OutcomesError(
                f"{self.what}no row is left: kind is {some(words, 5)}, and none of it is declared"
            )
        if any(word != means for word, means in meaning.items()):
            known = [(word, means) for word, means in meaning.items() if word not in wrong]
            self.frame = self.frame.with_columns(chosen(text, known).alias("kind"))

    def flags(self, own: Mapping[str, Words]) -> None:
        """Flags become true, false or missing; an error, in its own column or as a word, beats
        every event.
        """
        schema = self.frame.collect_schema()
        decimals = [
            nw.col(name).cast(nw.Float64) for name in FLAGS if schema.get(name) == nw.Decimal
        ]
        self.frame = (
            self.frame.with_columns(*decimals) if decimals else self.frame
        )  # as text, 1 would be 1.00
        schema = self.frame.collect_schema() if decimals else schema
        have = [name for name in FLAGS if name in schema]
        errors: list[nw.Expr] = []
        made: list[nw.Expr] = []
        for name in have:
            turned = self.resisted and name == "attack_success"
            if schema[name] == nw.Boolean and name not in own:
                if turned:
                    made.append(~nw.col(name))
                continue
            meaning = own[name].meaning if name in own else None
            # "blocked" and the like are words of attack_success only: of a resisted attack they
            # could mean either.
            said = "attack_resisted" if turned else name
            known = {word: flag_meaning(said, word, meaning) for word in self.distinct(name)}
            text = nw.col(name).cast(nw.String)
            unknown = [word for word, means in known.items() if means == "?"]
            if unknown:
                column = own[name].column if name in own else said
                column = column if column in schema else name
                raise_places(
                    self.frame,
                    text.is_in(unknown),
                    column,
                    said,
                    allowed(said, meaning) + "; declare other words with fnb.words",
                    self.what,
                )
            failed = [word for word, means in known.items() if means == "error"]
            if failed:
                errors.append(nw.when(text.is_in(failed)).then(text))
            made.append(
                chosen(
                    text, [(w, m != turned) for w, m in known.items() if isinstance(m, bool)]
                ).alias(name)
            )
        if "error" in schema:
            text = nw.col("error").cast(nw.String)
            if schema["error"] == nw.Boolean:
                errors.insert(0, nw.when(nw.col("error")).then(nw.lit("error")))
            else:
                blank = text.str.strip_chars().str.to_lowercase().is_in(sorted(MISSING | FALSE))
                errors.insert(0, nw.when(~blank).then(text))
        if made or errors:
            self.frame = self.frame.with_columns(
                *made, *([nw.coalesce(*errors).alias("error")] if errors else [])
            )
        if errors:
            fine = nw.col("error").is_null()
            lost = [name for name in (*EVENTS, *NUMBERS) if name in schema]
            self.frame = self.frame.with_columns(
                *(nw.when(fine).then(nw.col(name)).alias(name) for name in lost)
            )

    def contradictions(self, declared: Mapping[str, Declaration]) -> None:
        """Of attack_success and attack_resisted in one file an attack does one; a benign row may do
        neither.
        """
        if not self.second:
            return
        text, success = nw.col(SECOND).cast(nw.String), nw.col("attack_success")
        told = {word: flag_meaning(self.second, word) for word in self.distinct(SECOND)}
        yes, no = (
            [word for word, means in told.items() if means is one] or [NEVER]
            for one in (True, False)
        )
        hits, misses = (yes, no) if self.second == "attack_success" else (no, yes)
        bad = (success == nw.lit(True)) & text.is_in(misses) | (
            success == nw.lit(False)
        ) & text.is_in(hits)
        bad = bad & (nw.col("kind") == "attack")
        if "attempted" in self.columns():
            bad = bad & (nw.col("attempted").is_null() | (nw.col("attempted") == nw.lit(True)))
        count = int(
            pandas_of(self.frame.select(how_many(bad).alias("rows")))["rows"].fillna(0).iloc[0]
        )
        if count and {"attack_success", "attack_resisted"} & set(declared):
            self.notes.append(
                f"{CONTRADICTING} ({self.second}) contradicts the declared outcome: {count}"
            )
        elif count:
            raise_places(self.frame, bad, self.second, self.second, BOTH.format(count), self.what)
        self.frame = self.frame.drop(SECOND)

    def numbers(self) -> None:
        """Numbers and amounts from text where needed; amounts are whole numbers, never below 0."""
        schema = self.frame.collect_schema()
        for name in (*NUMBERS, *AMOUNTS):
            if name not in schema:
                continue
            if not schema[name].is_numeric():
                text = nw.col(name).cast(nw.String).str.strip_chars()
                text = nw.when(~text.str.to_lowercase().is_in(sorted(MISSING))).then(text)
                bad = ~text.str.contains(NUMBER) & ~text.is_null()
                raise_places(self.frame, bad, name, name, "it must be a number", self.what)
                self.frame = self.frame.with_columns(text.cast(nw.Float64).alias(name))
            elif schema[name].is_float():
                # Polars and Arrow keep NaN apart from a missing value; here both are missing.
                self.frame = self.frame.with_columns(
                    nw.when(~nw.col(name).is_nan()).then(nw.col(name)).alias(name)
                )
            number = nw.col(name).cast(nw.Float64)
            rules: list[tuple[nw.Expr, str]] = []
            if schema[name].is_float() or not schema[name].is_numeric():
                rules.append((number.abs() > LARGEST, "it must be a finite number"))
            # A missing number is neither below 0 nor broken, on every engine; a weight that is
            # missing loses its row.
            wrong, rule = number < 0, "it must be a number >= 0; leave an unknown one empty"
            if name in AMOUNTS:
                wrong, rule = wrong | (number % 1 > 0), "it must be a whole number >= 0"
            rules.append((wrong | number.is_null() if name == "rows" else wrong, rule))
            if self.any_row(*(broken for broken, _ in rules)):
                for broken, rule in rules:
                    raise_places(self.frame, broken, name, name, rule, self.what)

    def any_row(self, *bad: nw.Expr) -> bool:
        """Whether a row meets one of the conditions, in one pass in memory; on an engine they are
        looked at apart.
        """
        if isinstance(self.frame, nw.LazyFrame):
            return True
        found = self.frame.select(*(one.any().alias(str(place)) for place, one in enumerate(bad)))
        return any(found.row(0))

    def keys(self) -> None:
        """A key may be any text, but it must be there."""
        have = self.columns()
        missing = [name for name in (*KEYS, "kind") if name in have]
        absent = {name: nw.col(name).is_null() for name in missing}
        if isinstance(self.frame, nw.DataFrame):
            # Blank keys are looked for in memory only: on an engine it would be a pass over all
            # texts. A mode may be called "" (a harness that names no defence), a case may not.
            blank = {
                name: nw.col(name).str.strip_chars() == "" for name in missing if name != "mode"
            }
            absent |= {name: absent[name] | there for name, there in blank.items()}
            if not self.any_row(*absent.values()):
                return
            gone = {name: how_many(there) for name, there in absent.items()}
        else:
            # An engine knows from the statistics of a file how many keys there are; a condition
            # would read them all.
            gone = {name: nw.len() - nw.col(name).count() for name in missing}
        counts = pandas_of(
            self.frame.select(*(number.alias(name) for name, number in gone.items()))
        )
        for name in missing:
            count = counts[name].fillna(0).iloc[0]
            if int(count):
                rule = f"a key must not be missing in any row ({int(count)} rows)"
                raise_places(self.frame, absent[name], name, name, rule, self.what)


def chosen(text: nw.Expr, meaning: Sequence[tuple[str, Any]]) -> nw.Expr:
    """Replace words by their meanings; words without one become missing."""
    by_value: dict[Any, list[str]] = {}
    for word, means in meaning:
        by_value.setdefault(means, []).append(word)
    # The innermost `when` has no `otherwise`: a typed missing literal would become False on pandas.
    made: nw.Expr | None = None
    for value, spellings in (by_value or {True: [NEVER]}).items():
        then = nw.when(text.is_in(spellings)).then(nw.lit(value))
        made = then if made is None else then.otherwise(made)
    return made if made is not None else text


def some(names: Iterable[str], most: int = 30) -> str:
    """The first names of a list, for a message."""
    names = [str(name)[:60] for name in names]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def tidy_pandas(frame: pd.DataFrame) -> pd.DataFrame:
    """Pandas types that keep three values apart: nullable booleans for flags, text for text."""
    types: dict[str, str] = {name: "boolean" for name in FLAGS if name in frame}
    types |= {
        name: "str"
        for name in CANONICAL
        if name in frame and name not in {*FLAGS, *AMOUNTS, *NUMBERS}
    }
    types |= {name: "Int64" for name in AMOUNTS if name in frame}
    types |= {name: "float64" for name in NUMBERS if name in frame}
    return frame.astype(
        {name: kind for name, kind in types.items() if frame[name].dtype != pandas_dtype(kind)}
    )
