"""The column contract: names, kinds, spellings of true, false and missing, and how a caller
declares a column.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ..escape import plain

KEYS = ("case_id", "mode", "repeat")
EVENTS = (
    "attack_success",
    "attempted",
    "blocked",
    "deviation_caught",
    "finding_caught",
    "gated",
    "task_success",
    "final_answer",
)
FACTS = (
    "delivered",
    "measurable",
    "is_deviation",
    "has_expected_finding",
    "within_fingerprint",
    "prediction_degraded",
    "prediction_empty",
    "prediction_covers",
    "prediction_over_admits",
)
FLAGS = EVENTS + FACTS
AMOUNTS = ("segments", "segments_excised", "predicted", "predicted_ideal", "ideal", "rows")
NUMBERS = ("latency_ms", "tokens")
STRATA = ("tier", "scope", "suite", "category", "carrier", "attack", "model")
TEXTS = ("trace", *STRATA, "suite_version", "source")
CANONICAL = (*KEYS, "kind", *FLAGS, *AMOUNTS, *NUMBERS, *TEXTS, "error")
# Tables of results, and the counting behind them, have columns of these names: a file's own column
# gets another one.
TAKEN = re.compile(
    "metric|k|n|rate|low|high|level|method|missing|floor|ceiling|clusters|n_eff|note|"
    "observed(_low|_high)?|trend_p|not_attempted|unmeasurable|mode_[ab]|n_pairs|both|b|c|neither|"
    "rate_[ab]|diff|h|p|log10_p|p_holm|unpaired|independent(_low|_high)?|cases|attempts|median|"
    "[knm][0-9]+|_(mode[0-9]+|state|event|order|place|hit|gap|rows|groups|label|with|without|trace)"
)

TRUE = frozenset({"true", "yes", "y", "1", "1.0"})
FALSE = frozenset({"false", "no", "n", "0", "0.0"})
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "<na>"})
ERRORS = frozenset({"error", "timeout"})
# In the column `error` these say that there was none.
NO_ERROR = MISSING | FALSE | {"ok", "okay", "-", "[]", "{}", "no error"}
# In `attack_success` only: elsewhere these words can mean the opposite.
ATTACK_TRUE = frozenset({"success", "succeeded", "executed"})
ATTACK_FALSE = frozenset(
    {"fail", "failed", "failure", "blocked", "refused", "contained", "stripped"}
)


class OutcomesError(ValueError):
    """Bad data: the message says what is wrong, where, what is allowed and what to do.

    For a program the same as data: `column` (the canonical name it is about), `fix` (the
    declaration that would help: the name of a column, "words", "keep", "cluster", "baseline", ...),
    `file` and `row` (the place, rows counted from 1); None where there is no such thing.
    """

    def __init__(
        self,
        message: str,
        *,
        column: str | None = None,
        fix: str | None = None,
        file: str | None = None,
        row: int | None = None,
    ) -> None:
        # Texts of a file stand in the message: none of them is a command of a terminal.
        super().__init__("\n".join(plain(line, None) for line in message.split("\n")))
        self.column, self.fix, self.file, self.row = column, fix, file, row


Kind = Literal[
    "note",
    "chosen",
    "assumed",
    "left out",
    "replaced",
    "duplicate",
    "error",
    "retry",
    "recount",
    "version",
    "count",
    "contradiction",
]


class Note(str):
    """A sentence about what was read, with what a program needs of it: its `kind`, and the number
    of `rows` it is about (None where it counts none).

    >>> Note("3 rows left out", "left out", 3).kind
    'left out'
    """

    kind: Kind
    rows: int | None

    def __new__(cls, text: str, kind: Kind = "note", rows: int | None = None) -> Note:
        """The note; one that is a `Note` already keeps what it has."""
        made = super().__new__(cls, text)
        made.kind, made.rows = getattr(text, "kind", kind), getattr(text, "rows", rows)
        return made

    def of(self, name: str) -> Note:
        """The same note, said of one of several files."""
        return Note(f"{name}: {self}", self.kind, self.rows)


@dataclass(frozen=True)
class Const:
    """One value for all rows; made by `const`."""

    value: Any


@dataclass(frozen=True)
class Words:
    """A column with the file's own words; made by `words`."""

    column: str
    meaning: Mapping[str, Any] = field(default_factory=dict)


Declaration = str | Sequence[str] | Const | Words


def columns_of(given: Declaration) -> list[str]:
    """The columns that a declaration takes its values from."""
    named = given.column if isinstance(given, Words) else given
    if isinstance(named, Const):
        return []
    return [named] if isinstance(named, str) else list(named)


def const(value: Any) -> Const:
    """Declare one value for all rows.

    >>> import pandas as pd, ferrite_nb as fnb
    >>> frame = pd.DataFrame({"id": ["a", "b"], "hit": ["yes", "no"]})
    >>> runs = fnb.outcomes(frame, case_id="id", mode=fnb.const("On"), attack_success="hit")
    >>> sorted(set(runs.frame["mode"]))
    ['On']
    """
    return Const(value)


def words(column: str, /, **meaning: Sequence[Any]) -> Words:
    """Declare the words that a file uses in a column: `words("verdict", true=["jailbroken"],
    false=["safe"])`.

    Parameters
    ----------
    column: the column in the file.
    meaning: for a flag `true=[...]`, `false=[...]`, `missing=[...]` (no outcome) and `error=[...]`
        (the run failed); for `kind` `attack=[...]` and `benign=[...]`; for any other text column
        the new words, each with the list of old ones. Words are compared without regard to case
        and outer space. In `kind`, rows with other words are left out with a note; elsewhere other
        words raise.

    >>> import ferrite_nb as fnb
    >>> fnb.words("case_kind", attack=["attack"], benign=["benign_user_task"]).column
    'case_kind'
    """
    if not meaning:
        raise ValueError(
            f"words({column!r}) needs at least one meaning, such as true=['hit'], false=['miss']"
        )
    table: dict[str, Any] = {}
    for name, spellings in meaning.items():
        if isinstance(spellings, str) or not isinstance(spellings, Sequence):
            raise TypeError(
                f"words({column!r}, {name}=...) takes a list of words, got {spellings!r}"
            )
        for spelling in spellings:
            if spelled(spelling) in table:
                raise ValueError(f"words({column!r}): {spelling!r} is given two meanings")
            table[spelled(spelling)] = {"true": True, "false": False, "missing": None}.get(
                name, name
            )
    return Words(column, table)


def spelled(value: Any) -> str:
    """A value as a spelling is compared: lower case, no outer space; a missing value is empty."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return repr(value) if isinstance(value, bytes) else str(value).strip().lower()


def _spellings(name: str, own: Mapping[str, Any] | None) -> dict[str, Any]:
    """What the words of a flag mean; the caller's own words come before all others."""
    attack = name == "attack_success"
    yes = [*sorted(TRUE), *(sorted(ATTACK_TRUE) if attack else [])]
    no = [*sorted(FALSE), *(sorted(ATTACK_FALSE) if attack else [])]
    known = dict.fromkeys(MISSING) | dict.fromkeys(ERRORS, "error")
    return known | dict(own or dict.fromkeys(yes, True) | dict.fromkeys(no, False))


def flag_meaning(name: str, value: Any, own: Mapping[str, Any] | None = None) -> bool | str | None:
    """What one spelling means in the flag `name`: True, False, None (missing), "error", or "?" for
    an unknown word.
    """
    means: bool | str | None = _spellings(name, own).get(spelled(value), "?")
    return means if means in (True, False, None, "error") else "?"


def allowed(name: str, own: Mapping[str, Any] | None = None) -> str:
    """The spellings that a flag takes, in words, for an error message."""
    if own:
        said = {None: "missing"}
        return "the declared words are " + ", ".join(
            f"{word} ({said.get(means, str(means).lower())})" for word, means in own.items()
        )
    known = _spellings(name, None)
    yes, no = ([word for word, means in known.items() if means is one] for one in (True, False))
    return (
        f"true is {' '.join(yes)}; false is {' '.join(no)}; missing is empty, n/a, nan, null, none"
    )
