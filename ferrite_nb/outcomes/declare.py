"""Bring a declared frame of any engine to the canonical columns, or say which value in which place
is wrong.

Each step takes a frame and gives a frame and what to note; none keeps anything for the next one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import pandas as pd
from pandas.api.types import pandas_dtype

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
    Const,
    Declaration,
    Note,
    OutcomesError,
    Words,
    allowed,
    flag_meaning,
    spelled,
)
from .frames import (
    LARGEST,
    ROW,
    Frame,
    distinct,
    how_many,
    numbered,
    pandas_of,
    plural,
    raise_places,
    some,
)

__all__ = ["LARGEST", "Frame", "canonical", "distinct", "how_many", "pandas_of", "some"]

MOST_WORDS = 2_000
SECOND = "the second outcome"
NEVER = "\x00 no such word"
NUMBER = r"^[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$"
COUNTING = "count"  # repeat="count": equal keys are numbered in the order of the rows
# Columns in which programs write that a run failed, beside the canonical `error`: any text in the
# first, a word or a status of HTTP in the second.
FAILURES = re.compile(r"(.*[_. ])?(errors?|exceptions?|traceback|error[_. ]?(message|msg|type))")
STATES = re.compile(
    r"(.*[_. ])?(status([_. ]code)?|state|(stop|finish)[_. ]?reason|error[_. ]?code)"
)
FAILED = (
    r"error|exception|time.?out|timed.out|crash|abort|cancel|rate.?limit|overload|unavailable|"
    r"(^|[^0-9])[45][0-9][0-9]([^0-9]|$)"
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


def names_of(frame: Frame) -> list[str]:
    """Column names without touching the rows."""
    return list(frame.collect_schema().names())


def shown(names: Sequence[str]) -> str:
    """The columns that a caller can declare; `source` is made by the readers."""
    return some(name for name in names if name not in ("source", ROW))


def columns_of(given: Declaration) -> list[str]:
    """The columns that a declaration takes its values from."""
    given = getattr(given, "column", given)
    return [] if isinstance(given, Const) else [given] if isinstance(given, str) else list(given)


def columns_made(frame: Frame, plan: Plan) -> Step:
    """The declared columns beside those of the file."""
    have, made = names_of(frame), {}
    for name, given in plan.declared.items():
        if (name, given) == ("repeat", COUNTING):
            continue
        parts = columns_of(given)
        for part in parts:
            if part not in have:
                message = f"there is no column {part!r} to take {name} from; the columns are "
                raise plan.error(message + shown(have), name, name)
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


def text_names(plan: Plan) -> set[str]:
    """The columns that are read as text."""
    others = {*FLAGS, *AMOUNTS, *NUMBERS, "error", "attack_resisted"}
    return {*CANONICAL, *plan.declared} - others


def joined(parts: Sequence[str]) -> nw.Expr:
    """Several columns as one text with "/" between, two different rows never as the same text: a
    "/" inside a part that is not the last has a backslash before it.
    """
    texts = [nw.col(part).cast(nw.String) for part in parts]
    for sign in ("\\", "/"):
        texts[:-1] = [text.str.replace_all(sign, f"\\{sign}", literal=True) for text in texts[:-1]]
    return nw.concat_str(texts, separator="/")


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


def needed(frame: Frame, plan: Plan) -> Step:
    """The keys must be there; without `kind` every row is an attack."""
    have = names_of(frame)
    for name in ("case_id", "mode"):
        if name not in have and not (name == "case_id" and "rows" in have):
            one = ', or mode=fnb.const("On") for one mode' if name == "mode" else ""
            message = f'no column {name}; the columns are {shown(have)}. Declare it: {name}="<column>"{one}'
            raise plan.error(message, name, name)
    if "kind" in have:
        return frame, []
    frame = frame.with_columns(nw.lit("attack").alias("kind"))
    return frame, [Note("no column kind: every row is taken as an attack", "assumed")]


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
        known = distinct(frame, name, MOST_WORDS)
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
    words, text = distinct(frame, "kind", MOST_WORDS), nw.col("kind").cast(nw.String)
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
            message = f"no row is left: kind is {some(words, 5)}, and none of it is declared"
            raise plan.error(message, "kind", "words")
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
    decimals = [nw.col(name).cast(nw.Float64) for name in FLAGS if schema.get(name) == nw.Decimal]
    if decimals:  # as text, 1 would be 1.00
        frame = frame.with_columns(*decimals)
    errors, made = [], []
    for name in [name for name in FLAGS if name in schema]:
        turned = plan.turned and name == "attack_success"
        own, text = plan.own.get(name), nw.col(name).cast(nw.String)
        if schema[name] == nw.Boolean and not own:
            made += [~nw.col(name)] if turned else []
            continue
        # "blocked" and the like are words of attack_success only: of a resisted attack they could
        # mean either.
        said, meaning = "attack_resisted" if turned else name, own and own.meaning
        known = {w: flag_meaning(said, w, meaning) for w in distinct(frame, name, MOST_WORDS)}
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
    if "error" in schema:
        text = nw.col("error").cast(nw.String)
        # A declared column of booleans says that there was an error, not which.
        wrong = nw.col("error") if schema["error"] == nw.Boolean else ~blank(text, NO_ERROR)
        says = nw.lit("error") if schema["error"] == nw.Boolean else text
        errors.insert(0, nw.when(wrong).then(says))
    if errors:
        made.append(nw.coalesce(*errors).alias("error"))
    frame = frame.with_columns(*made) if made else frame
    if errors:
        fine = nw.col("error").is_null()
        lost = [name for name in (*EVENTS, *NUMBERS) if name in schema]
        frame = frame.with_columns(*(nw.when(fine).then(nw.col(name)).alias(name) for name in lost))
    return frame, []


def contradictions(frame: Frame, plan: Plan) -> Step:
    """Of attack_success and attack_resisted in one file an attack does one; a benign row may do
    neither.
    """
    if not plan.second:
        return frame, []
    text, success = nw.col(SECOND).cast(nw.String), nw.col("attack_success")
    told = {word: flag_meaning(plan.second, word) for word in distinct(frame, SECOND, MOST_WORDS)}
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
            'resisted. Correct the rows, or say which column counts: attack_success="attack_success" '
            'or attack_resisted="attack_resisted"'
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
            wrong[name] = ~blank(text, NO_ERROR) & fine
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
            f"{int(found[f'n{place}']):,} of {plural(int(found['rows']))} look like a failed run in "
            f"column {name} ({str(found[f't{place}'])[:60]!r}), and their outcomes count; if the "
            f'run failed there, declare error="{name}" or error=fnb.words("{name}", ...)',
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
        # A missing number is neither below 0 nor broken, on every engine; a weight that is missing
        # loses its row.
        wrong, rule = number < 0, "it must be a number >= 0; leave an unknown one empty"
        if name in AMOUNTS:
            wrong, rule = wrong | (number % 1 > 0), "it must be a whole number >= 0"
        rules = [
            (number.abs() > LARGEST, "it must be a finite number, at most 2**53"),
            (wrong | number.is_null() if name == "rows" else wrong, rule),
        ]
        if any_row(frame, *(broken for broken, _ in rules)):
            for broken, rule in rules:
                raise_places(frame, broken, name, name, rule, plan.what, name)
    return frame, []


def keys(frame: Frame, plan: Plan) -> Step:
    """A key may be any text, but it must be there."""
    there = [name for name in (*KEYS, "kind") if name in names_of(frame)]
    absent = {name: nw.col(name).is_null() for name in there}
    if isinstance(frame, nw.DataFrame):
        # Blank keys are looked for in memory only: on an engine it would be a pass over all texts.
        # A mode may be called "" (a harness that names no defence), a case may not.
        empty = {name: nw.col(name).str.strip_chars() == "" for name in there if name != "mode"}
        absent |= {name: absent[name] | bad for name, bad in empty.items()}
        gone = {name: how_many(bad) for name, bad in absent.items()}
    else:
        # An engine knows from the statistics of a file how many keys there are; a condition would
        # read them all.
        gone = {name: nw.len() - nw.col(name).count() for name in there}
    if any_row(frame, *absent.values()):
        counts = pandas_of(frame.select(*(number.alias(name) for name, number in gone.items())))
        for name, count in counts.iloc[0].fillna(0).astype(int).items():
            if count:
                rule = f"a key must not be missing in any row ({count} rows)"
                raise_places(frame, absent[name], name, name, rule, plan.what, name)
    return frame, []


def free_names(frame: Frame, plan: Plan) -> Step:
    """Columns with a name that tables of results need get an underscore, and a note says so."""
    have = set(names_of(frame))
    renamed: dict[str, str] = {}
    for name in [name for name in names_of(frame) if TAKEN.fullmatch(name)]:
        other = name + "_"
        while TAKEN.fullmatch(other) or other in have:
            other += "_"
        renamed[name] = other
        have.add(other)
    if not renamed:
        return frame, []
    said = some([f"{name} is {other}" for name, other in renamed.items()], 20)
    note = f"columns renamed, because tables of results have columns of that name: {said}"
    return frame.rename(renamed), [Note(note)]


def any_row(frame: Frame, *bad: nw.Expr) -> bool:
    """Whether a row meets one of the conditions, in one pass in memory; on an engine they are
    looked at apart.
    """
    if isinstance(frame, nw.LazyFrame):
        return True
    found = frame.select(*(one.any().alias(str(place)) for place, one in enumerate(bad)))
    return any(found.row(0))


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
