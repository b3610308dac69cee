"""The values of a table by the kind of their column: keys and strata, kinds, flags, errors, amounts
and numbers.

Each step takes a frame and gives a frame and what to note; none keeps anything for the next one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import pandas as pd

from .contract import (
    AMOUNTS,
    CANONICAL,
    EVENTS,
    FLAGS,
    KEYS,
    MISSING,
    NO_ERROR,
    NUMBERS,
    TAKEN,
    Declaration,
    Note,
    OutcomesError,
    Words,
    allowed,
    columns_of,
    flag_meaning,
    spelled,
)
from .frames import (
    LARGEST,
    Frame,
    distinct,
    how_many,
    names_of,
    numbered,
    pandas_of,
    plural,
    raise_places,
    some,
)

MOST_WORDS = 2_000
SECOND = "the second outcome"
NEVER = "\x00 no such word"
NUMBER = r"^[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$"
# Columns in which programs write that a run failed, beside the canonical `error`: any text in the
# first, a word or a status of HTTP in the second.
FAILURES = re.compile(r"(.*[_. ])?(errors?|exceptions?|traceback|error[_. ]?(message|msg|type))")
STATES = re.compile(
    r"(.*[_. ])?(status([_. ]code)?|state|(stop|finish)[_. ]?reason|error[_. ]?code)"
)
FAILED = (
    r"error|exception|time.?out|timed.out|crash|abort|cancel|rate.?limit|overload|unavailable|"
    r"(?:^|[^0-9])[45][0-9][0-9](?:[^0-9]|$)"
)


@dataclass(frozen=True)
class Plan:
    """What was declared of one table: where it is from (for messages), the caller's own words by
    column, whether attack_success comes from resisted attacks, and the file's second outcome.
    """

    what: str
    declared: Mapping[str, Declaration]
    own: Mapping[str, Words]
    turned: bool
    second: str

    def error(self, message: str, column: str | None = None, fix: str | None = None) -> Exception:
        """An error about this table."""
        place = f"{self.what}, " if self.what else ""
        return OutcomesError(place + message, column=column, fix=fix, file=self.what or None)


Step = tuple[Frame, list[Note]]


def text_names(plan: Plan) -> set[str]:
    """The columns that are read as text."""
    others = {*FLAGS, *AMOUNTS, *NUMBERS, "error", "attack_resisted"}
    return {*CANONICAL, *plan.declared} - others


def written(frame: Frame, names: set[str]) -> Frame:
    """Mixed columns of pandas as text: where a text and a number look alike, the text is in quotes,
    so that `1` and `"1"` stay two values.
    """
    rows = frame.to_native()
    mixed = [name for name, kind in frame.collect_schema().items() if kind == nw.Object]
    if not isinstance(rows, pd.DataFrame) or not names & set(mixed):
        return frame
    made = {}
    for name in names & set(mixed):
        values = rows[name]
        if not values.map(lambda value: pd.api.types.is_scalar(value)).all():
            continue
        text, quoted = values.map(str, na_action="ignore"), values.map(lambda v: isinstance(v, str))
        alike = text.isin(set(text[quoted]) & set(text[~quoted & values.notna()]))
        made[name] = text.where(~(quoted & alike), '"' + text + '"').astype("str")
    return nw.from_native(rows.assign(**made))


def texts(frame: Frame, plan: Plan) -> Step:
    """Keys, known and declared strata as text, exactly as written; declared words replace the
    file's.
    """
    wanted = text_names(plan)
    frame = written(frame, wanted)
    schema = frame.collect_schema()
    for name in KEYS:
        if name in schema and schema[name].is_float():
            rule = "a number that large is not exact here; keep the column as text"
            raise_places(frame, nw.col(name).abs() >= LARGEST, name, name, rule, plan.what)
    plain = [name for name in schema.names() if name in wanted and schema[name] != nw.String]
    if plain:
        frame = frame.with_columns(*(nw.col(name).cast(nw.String) for name in plain))
    for name, own in plan.own.items():
        if name in FLAGS or name == "kind":
            continue
        known = distinct(frame, nw.col(name), MOST_WORDS)
        unknown = [word for word in known if spelled(word) not in own.meaning]
        if unknown:
            bad, rule = nw.col(name).is_in(unknown), allowed(name, own.meaning)
            raise_places(frame, bad, own.column, name, rule, plan.what, "words")
        means = {word: own.meaning[spelled(word)] for word in known}
        said = {
            word: str(value).lower() if value in (True, False) else value
            for word, value in means.items()
        }
        frame = frame.with_columns(chosen(nw.col(name), said).alias(name))
    return frame, []


def kinds(frame: Frame, plan: Plan) -> Step:
    """`kind` becomes attack or benign; with declared words, rows with other words are left out
    with a note.
    """
    own = plan.own.get("kind")
    meaning = own.meaning if own else {"attack": "attack", "benign": "benign"}
    words, text = distinct(frame, nw.col("kind"), MOST_WORDS), nw.col("kind").cast(nw.String)
    known = {word: meaning[spelled(word)] for word in words if spelled(word) in meaning}
    wrong, notes = [word for word in words if word not in known], []
    if wrong and not own:
        rule = "kind must be attack or benign; declare other words with fnb.words"
        raise_places(frame, text.is_in(wrong), "kind", "kind", rule, plan.what, "words")
    if wrong:
        others = frame.filter(text.is_in(wrong)).select(text.alias("kind")).group_by("kind")
        lost = pandas_of(others.agg(nw.len().alias("rows"))).sort_values("kind")
        notes = [
            Note(
                f"{plural(n)} left out: kind is {word[:60]!r}, neither attack nor benign",
                "left out",
                n,
            )
            for word, n in zip(lost["kind"].astype(str), lost["rows"].astype(int), strict=True)
        ]
        if not known:
            raise plan.error(
                f"no row is left: kind is {some(words, 5)}, and none of it is declared",
                "kind",
                "words",
            )
        frame = numbered(frame) if isinstance(frame, nw.DataFrame) else frame
        frame = frame.filter(~text.is_in(wrong) | nw.col("kind").is_null())
    if any(word != means for word, means in known.items()):
        frame = frame.with_columns(chosen(text, known).alias("kind"))
    return frame, notes


def flags(frame: Frame, plan: Plan) -> Step:
    """Flags become true, false or missing; an error, in its own column or as a word, beats every
    event.
    """
    schema = frame.collect_schema()
    errors, made = [], []
    if "error" in schema:
        text = nw.col("error").cast(nw.String)
        # A column of booleans says that there was an error, not which.
        says = nw.lit("error") if schema["error"] == nw.Boolean else text
        errors.append(nw.when(~blank(text, NO_ERROR)).then(says))
    for name in [name for name in FLAGS if name in schema]:
        turned, own = plan.turned and name == "attack_success", plan.own.get(name)
        if schema[name] == nw.Boolean and not own:
            made += [~nw.col(name)] if turned else []
            continue
        # As text a decimal 1 would be 1.00.
        decimal = schema[name] == nw.Decimal
        text = nw.col(name).cast(nw.Float64 if decimal else schema[name]).cast(nw.String)
        # "blocked" and the like are words of attack_success only: of a resisted attack they could
        # mean either.
        said, meaning = "attack_resisted" if turned else name, own.meaning if own else None
        known = {
            word: flag_meaning(said, word, meaning) for word in distinct(frame, text, MOST_WORDS)
        }
        unknown = [word for word, means in known.items() if means == "?"]
        if unknown:
            rule = allowed(said, meaning) + "; declare other words with fnb.words"
            column = own.column if own else said
            column = column if column in schema else name
            raise_places(frame, text.is_in(unknown), column, said, rule, plan.what, "words")
        failed = [word for word, means in known.items() if means == "error"]
        errors += [nw.when(text.is_in(failed)).then(text)] if failed else []
        told = {word: means != turned for word, means in known.items() if isinstance(means, bool)}
        made.append(chosen(text, told).alias(name))
    made += [nw.coalesce(*errors).alias("error")] if errors else []
    frame = frame.with_columns(*made) if made else frame
    if errors:
        fine, lost = nw.col("error").is_null(), [n for n in (*EVENTS, *NUMBERS) if n in schema]
        frame = frame.with_columns(*(nw.when(fine).then(nw.col(name)).alias(name) for name in lost))
    return frame, []


def contradictions(frame: Frame, plan: Plan) -> Step:
    """Of attack_success and attack_resisted in one file an attack does one; a benign row may do
    neither.
    """
    if not plan.second:
        return frame, []
    text, success = nw.col(SECOND).cast(nw.String), nw.col("attack_success")
    told = {word: flag_meaning(plan.second, word) for word in distinct(frame, text, MOST_WORDS)}
    same = plan.second == "attack_success"
    clash = [
        (success == nw.lit(value))
        & text.is_in([word for word, means in told.items() if means is (value != same)] or [NEVER])
        for value in (True, False)
    ]
    bad = (clash[0] | clash[1]) & (nw.col("kind") == "attack")
    if "attempted" in names_of(frame):
        bad = bad & (nw.col("attempted").is_null() | (nw.col("attempted") == nw.lit(True)))
    count = int(pandas_of(frame.select(how_many(bad).alias("rows")))["rows"].fillna(0).iloc[0])
    notes = []
    if count and {"attack_success", "attack_resisted"} & set(plan.declared):
        other = f"rows whose other outcome ({plan.second}) contradicts the declared outcome"
        notes = [Note(f"{other}: {count}", "contradiction", count)]
    elif count:
        rule = (
            f"attack_success says the opposite ({count} rows contradict): an attack succeeds or is "
            "resisted. Correct the rows, or say which column counts: "
            'attack_success="attack_success" or attack_resisted="attack_resisted"'
        )
        raise_places(frame, bad, plan.second, plan.second, rule, plan.what, "attack_success")
    return frame.drop(SECOND), notes


def failures(frame: Frame, plan: Plan) -> Step:
    """Rows that look like a failed run in a column that nobody declared: said, for their outcomes
    count like those of any other row.
    """
    schema = frame.collect_schema()
    used = {*CANONICAL, *plan.declared}.union(*map(columns_of, plan.declared.values()))
    fine = nw.col("error").is_null() if "error" in schema else ~nw.col("mode").is_null()
    wrong: dict[str, nw.Expr] = {}
    for name in [name for name in schema.names() if name not in used]:
        if isinstance(schema[name], nw.List | nw.Array | nw.Struct):
            continue
        text = nw.col(name).cast(nw.String).str.to_lowercase()
        if FAILURES.fullmatch(name.lower()):
            wrong[name] = ~text.is_null() & ~blank(text, NO_ERROR) & fine
        elif STATES.fullmatch(name.lower()):
            wrong[name] = text.str.contains(FAILED) & fine
    if not wrong:
        return frame, []
    told = []
    for place, (name, bad) in enumerate(wrong.items()):
        text = nw.col(name).cast(nw.String)
        told += [how_many(bad).alias(f"n{place}"), nw.when(bad).then(text).min().alias(f"t{place}")]
    found = pandas_of(frame.select(*told, nw.len().alias("rows"))).iloc[0]
    return frame, [
        Note(
            f"{int(found[f'n{place}']):,} of {plural(int(found['rows']))} look like a failed run "
            f"in column {name} ({str(found[f't{place}'])[:60]!r}), and their outcomes count; if "
            f'the run failed there, declare error="{name}" or error=fnb.words("{name}", ...)',
            "error",
            int(found[f"n{place}"]),
        )
        for place, name in enumerate(wrong)
        if found[f"n{place}"] > 0
    ]


def numbers(frame: Frame, plan: Plan) -> Step:
    """Numbers and amounts from text where needed; amounts are whole numbers, never below 0."""
    schema = frame.collect_schema()
    for name in [name for name in (*NUMBERS, *AMOUNTS) if name in schema]:
        if not schema[name].is_numeric():
            text = nw.col(name).cast(nw.String).str.strip_chars()
            text = nw.when(~blank(text, MISSING)).then(text)
            bad = ~text.str.contains(NUMBER) & ~text.is_null()
            raise_places(frame, bad, name, name, "it must be a number", plan.what, name)
            frame = frame.with_columns(text.cast(nw.Float64).alias(name))
        elif schema[name].is_float():
            # Polars and Arrow keep NaN apart from a missing value; here both are missing.
            known = nw.when(~nw.col(name).is_nan()).then(nw.col(name))
            frame = frame.with_columns(known.alias(name))
        number = nw.col(name).cast(nw.Float64)
        broken, rule = number < 0, "it must be a number >= 0; leave an unknown one empty"
        if name in AMOUNTS:
            broken, rule = broken | (number % 1 > 0), "it must be a whole number >= 0"
        # A missing number is neither below 0 nor broken, on every engine; a weight that is missing
        # loses its row.
        broken = broken | number.is_null() if name == "rows" else broken
        endless = "it must be a finite number, at most 2**53"
        raise_places(frame, number.abs() > LARGEST, name, name, endless, plan.what, name)
        raise_places(frame, broken, name, name, rule, plan.what, name)
    return frame, []


def keys(frame: Frame, plan: Plan) -> Step:
    """A key may be any text, but it must be there."""
    for name in [name for name in (*KEYS, "kind") if name in names_of(frame)]:
        bad = nw.col(name).is_null()
        if isinstance(frame, nw.LazyFrame):
            # An engine knows from the statistics of a file how many keys there are; a condition
            # would read them all.
            gone = pandas_of(frame.select((nw.len() - nw.col(name).count()).alias("gone")))
            if not gone["gone"].iloc[0]:
                continue
        elif name != "mode":
            # Blank keys are looked for in memory only: on an engine it would be a pass over all
            # texts. A mode may be called "" (a harness that names no defence), a case may not.
            bad = bad | (nw.col(name).str.strip_chars() == "")
        rule = "a key must not be missing in any row"
        raise_places(frame, bad, name, name, rule, plan.what, name)
    return frame, []


def free_names(frame: Frame, plan: Plan) -> Step:
    """Columns with a name that tables of results need get an underscore, and a note says so."""
    have = set(names_of(frame))
    renamed: dict[str, str] = {}
    for name in [name for name in names_of(frame) if TAKEN.fullmatch(name)]:
        longer = (f"{name}{'_' * more}" for more in range(1, len(have) + 2))
        renamed[name] = next(other for other in longer if other not in have)
        have.add(renamed[name])
    if not renamed:
        return frame, []
    said = some([f"{name} is {other}" for name, other in renamed.items()], 20)
    note = f"columns renamed, because tables of results have columns of that name: {said}"
    return frame.rename(renamed), [Note(note)]


def blank(text: nw.Expr, words: frozenset[str]) -> nw.Expr:
    """Whether a text is one of the words that say nothing, in any case."""
    return text.str.strip_chars().str.to_lowercase().is_in(sorted(words))


def chosen(text: nw.Expr, meaning: Mapping[str, Any]) -> nw.Expr:
    """Replace words by their meanings; words without one become missing."""
    by_value: dict[Any, list[str]] = {}
    for word, means in meaning.items():
        if means is not None:
            by_value.setdefault(means, []).append(word)
    # The innermost `when` has no `otherwise`: a typed missing literal would become False on pandas.
    made: Any = None
    for value, spellings in (by_value or {True: [NEVER]}).items():
        then = nw.when(text.is_in(spellings)).then(nw.lit(value))
        made = then if made is None else then.otherwise(made)
    return made
