"""Parts: what an exercise asks for, and how an answer is held against it.

Exercises are declared in `exercises.toml`. Reference numbers are computed when a check is made;
words, claims and exact counts are compared by salted hash. So no answer stands in clear text.
"""

from __future__ import annotations

import hashlib
import math
import random
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from numbers import Real
from typing import Any

from . import references

__all__ = ["Exercise", "Part", "Verdict", "declared", "exercises", "numbers_of", "seal", "truths"]

Values = tuple[float, ...]
SALT = "ferrite_nb lab 29"
FILLERS = {"a", "an", "the", "fixed", "given", "real", "low"}
TRUTHS = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}


@dataclass(frozen=True)
class Verdict:
    """How a part fared: "right", "wrong" or "shape"; why; and which of several right answers."""

    state: str
    why: str = ""
    place: int = 0


@dataclass(frozen=True)
class Part:
    """One part of an exercise, as it is declared; `facts` are the numbers of its exercise."""

    exercise: str
    name: str
    asks: str
    facts: dict[str, Any]
    kind: str = "numbers"
    optional: bool = False
    free: bool = False
    value: str = ""
    tolerance: float = 0.0005
    proportion: bool = True
    hint: str = ""
    mistakes: tuple[tuple[Any, str], ...] = ()
    sealed: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    size: int = 1

    def judge(self, answer: Any) -> Verdict:
        """Hold the answer against the reference."""
        judges = {"numbers": _numbers, "words": _words, "claims": _claims, "exact": _exact}
        return judges[self.kind](self, answer)

    def alternatives(self, written: Any) -> list[Values]:
        """A reference or a mistake as it is written: each value that it may have."""
        found = self.facts.get(written, ()) if isinstance(written, str) else tuple_of(written)
        several = found if isinstance(found, list) else [found]
        return [values for one in several if (values := numbers_of(one))]

    def length(self) -> int:
        """How many numbers are asked for."""
        return len(self.alternatives(self.value)[0]) if self.kind == "numbers" else self.size

    def sealed_as(self, text: str) -> bool:
        """Whether this text is a right answer."""
        return seal(self.exercise, self.name, text) in self.sealed


@dataclass(frozen=True)
class Exercise:
    """An exercise with the counts of its question."""

    name: str
    parts: tuple[Part, ...]
    counts: dict[str, int] = field(default_factory=dict)
    same: tuple[str, ...] = ()
    together: str = ""


def seal(exercise: str, part: str, text: str) -> str:
    """The salted hash of an answer, as `exercises.toml` holds it."""
    return hashlib.sha256(f"{SALT}|{exercise}|{part}|{text}".encode()).hexdigest()[:16]


def tuple_of(written: Any) -> Any:
    """A list of a TOML file is one answer of several numbers."""
    return tuple(written) if isinstance(written, list) else written


@cache
def declared(file: str = "exercises.toml") -> dict[str, dict[str, Any]]:
    """A data file of this room."""
    return tomllib.loads(resources.files(__package__).joinpath(file).read_text("utf-8"))


@cache
def exercises(name: str, learner: str = "") -> Exercise | None:
    """An exercise by its name, with the counts of the chapter or those of a learner."""
    if name not in declared():
        return None
    written = declared()[name]
    draws = random.Random(f"{name}|{learner.strip().lower()}")
    own = {count: draws.randint(*ends) for count, ends in written.get("vary", {}).items()}
    counts = written.get("question", {}) | (own if learner.strip() else {})
    facts = getattr(references, name.lower())(*counts.values())
    parts = (
        Part(name, part, facts=facts, **{key: tuple_of(value) for key, value in told.items()})
        for part, told in written.items()
        if isinstance(told, dict) and part not in ("question", "vary")
    )
    same, together = tuple(written.get("same", ())), written.get("together", "")
    return Exercise(name, tuple(parts), counts, same, together)


def numbers_of(answer: Any) -> Values | None:
    """An answer as finite numbers, flat; None when it is something else."""
    answer = answer.tolist() if hasattr(answer, "tolist") else answer
    items = list(answer) if isinstance(answer, list | tuple | range) else [answer]
    items = [item.item() if hasattr(item, "item") else item for item in items]
    if all(isinstance(one, Real) and not isinstance(one, bool) for one in items):
        return tuple(float(one) for one in items if math.isfinite(one)) or None
    return None


def truths(answer: Any) -> list[bool] | None:
    """An answer as truth values, written in any of the usual ways; None when it is none."""
    answer = answer.tolist() if hasattr(answer, "tolist") else answer
    if not isinstance(answer, list | tuple):
        return None
    found = [TRUTHS.get(str(one).strip().lower()) for one in answer]
    return [one for one in found if one is not None] if found and None not in found else None


def _distance(given: Values, wrong: Values, right: Values, tolerance: float) -> float:
    """How far a named wrong answer is, in tolerances; one number is looked for in each wrong
    place.
    """
    if len(wrong) == len(given):
        return max(abs(a - b) for a, b in zip(given, wrong, strict=True)) / tolerance
    if len(wrong) == 1 and len(given) == len(right):
        places = [a for a, b in zip(given, right, strict=True) if abs(a - b) > tolerance]
        return min((abs(a - wrong[0]) / tolerance for a in places), default=math.inf)
    return math.inf


RULES: dict[str, Callable[[Values, Values], bool]] = {
    "above one": lambda given, right: len(given) == len(right) and max(given) > 1,
    "rounded": lambda given, right: _near(given, right, 5e-5),
}


def _near(given: Values, right: Values, tolerance: float) -> bool:
    return _distance(given, right, right, tolerance) <= 1 + 1e-9 and len(given) == len(right)


def _named(part: Part, given: Values, rights: list[Values]) -> str:
    """What is said of the named mistake that is nearest, if one is near."""
    found: list[tuple[float, str]] = []
    for written, why in part.mistakes:
        rule = RULES.get(written) if isinstance(written, str) else None
        if rule and any(rule(given, right) for right in rights):
            found.append((0.5, why))
        for wrong in part.alternatives(written):
            found += [(_distance(given, wrong, right, part.tolerance), why) for right in rights]
    nearest, why = min(found, default=(math.inf, ""), key=lambda pair: pair[0])
    return why if nearest <= 1 + 1e-9 else ""


def _numbers(part: Part, answer: Any) -> Verdict:
    given, rights = numbers_of(answer), part.alternatives(part.value)
    asked = f"expected is {part.asks}"
    if given is None:
        return Verdict("shape", asked)
    near = [place for place, right in enumerate(rights) if _near(given, right, part.tolerance)]
    if near:
        return Verdict("right", place=near[0])
    if why := _named(part, given, rights):
        return Verdict("wrong", why)
    hundredth = tuple(one / 100 for one in given)
    if part.proportion and any(_near(hundredth, right, part.tolerance) for right in rights):
        return Verdict("shape", "that is percent; give proportions between 0 and 1")
    if len(given) != len(rights[0]):
        return Verdict("shape", f"{asked}, not {len(given)} number{'s' * (len(given) > 1)}")
    if len(given) == 2 and any(_near(given[::-1], right, part.tolerance) for right in rights):
        return Verdict("shape", "the two numbers stand in the other order")
    return Verdict("wrong", part.hint or asked)


def _words(part: Part, answer: Any) -> Verdict:
    """Any mention of a right word counts, unless "not" stands before it."""
    if not isinstance(answer, str) or not answer.strip():
        return Verdict("shape", f"expected is {part.asks}")
    words = [word for word in re.findall(r"[a-z0-9]+", answer.lower()) if word not in FILLERS]
    starts = [i for i in range(len(words)) if not i or words[i - 1] != "not"]
    spans = {"_".join(words[i:j]) for i in starts for j in range(i + 1, min(i + 5, len(words) + 1))}
    spans |= {span.removesuffix("s") for span in spans}
    named = [why for wrong, why in part.mistakes if wrong in spans]
    if any(part.sealed_as(span) for span in spans):
        return Verdict("right")
    if named or part.hint:
        return Verdict("wrong", (named or [part.hint])[0])
    return Verdict("shape", f"expected is {part.asks}")


def _claims(part: Part, answer: Any) -> Verdict:
    """Only how many claims are judged right is said, and what kind the others are of."""
    given = truths(answer)
    if given is None or len(given) != len(part.sealed):
        return Verdict("shape", f"expected is {part.asks}")
    right = [
        seal(part.exercise, part.name, f"{place}:{one}") == part.sealed[place - 1]
        for place, one in enumerate(given, 1)
    ]
    if all(right):
        return Verdict("right")
    if len(set(given)) == 1:
        all_of_them = "accepted" if given[0] else "refused"
        return Verdict("wrong", f"you {all_of_them} every claim; the interval tells them apart")
    kinds = dict.fromkeys(kind for kind, ok in zip(part.kinds, right, strict=True) if not ok)
    return Verdict(
        "wrong",
        f"{sum(right)} of {len(given)} claims are judged right; think again about "
        + " and about ".join(kinds),
    )


def _exact(part: Part, answer: Any) -> Verdict:
    given = numbers_of(answer)
    if given is None or len(given) != part.size:
        return Verdict("shape", f"expected is {part.asks}")
    if part.sealed_as(",".join(f"{value:.12g}" for value in given)):
        return Verdict("right")
    return Verdict("wrong", _named(part, given, [given]) or part.hint)
