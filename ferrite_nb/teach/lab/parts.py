"""Parts: what an exercise asks for (numbers, a choice, claims, sealed counts), and how an answer is
held against it.

Reference numbers are computed when a check is made; choices, claims and counts are compared by
salted hash. So no answer stands here, or in the exercises, in clear text.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

__all__ = [
    "Choice",
    "Claims",
    "Exercise",
    "Numbers",
    "Part",
    "Sealed",
    "Verdict",
    "near",
    "plainly",
    "seal",
    "seals",
]

Values = tuple[float, ...]
SALT = "ferrite_nb lab 29"


@dataclass(frozen=True)
class Verdict:
    """How one part fared: "right", "wrong" or "shape", why when it is not right, and whether the
    mistake has a name.
    """

    state: str
    why: str = ""
    named: bool = False


def seal(exercise: str, part: str, text: str) -> str:
    """The salted hash of an answer: `seal("EX085", "primary", "accuracy")` gives what an exercise
    stores.
    """
    return hashlib.sha256(f"{SALT}|{exercise}|{part}|{text}".encode()).hexdigest()[:16]


def seals(listed: str) -> tuple[str, ...]:
    """Sealed answers, written one after the other."""
    return tuple(listed.split())


def plainly(text: str) -> str:
    """A choice as it is compared: lower case, words joined with "_"."""
    return "_".join(re.findall(r"[a-z0-9%]+", text.lower()))


def numbers_of(answer: Any) -> Values | None:
    """An answer as finite numbers, flat; None when it is something else (text, truth values, nested
    lists).
    """
    answer = answer.tolist() if hasattr(answer, "tolist") else answer
    items = list(answer) if isinstance(answer, list | tuple | range) else [answer]
    items = [item.item() if hasattr(item, "item") else item for item in items]
    if any(
        isinstance(item, bool) or not isinstance(item, Real) or not math.isfinite(item)
        for item in items
    ):
        return None
    return tuple(float(item) for item in items) or None


@dataclass(frozen=True)
class Part:
    """What every kind of part has: its name, the shape it expects in words, and whether it may be
    left out.
    """

    name: str
    asks: str
    optional: bool = False

    def fits(self, answer: Any) -> bool:
        """Whether the answer is of this part's kind, right or wrong."""
        raise NotImplementedError

    def judge(self, exercise: str, answer: Any) -> Verdict:
        """Hold the answer against the reference."""
        raise NotImplementedError


Mistake = tuple[Callable[[Values, Values, float], float], str]


def near(value: Callable[[], Any]) -> Callable[[Values, Values, float], float]:
    """A named wrong answer: the distance to it in tolerances. One number is looked for in each
    wrong place.
    """

    def distance(given: Values, right: Values, tolerance: float) -> float:
        wrong = numbers_of(value()) or ()
        if len(wrong) == len(given):
            return max(abs(a - b) for a, b in zip(given, wrong, strict=True)) / tolerance
        if len(wrong) == 1 and len(given) == len(right):
            places = [a for a, b in zip(given, right, strict=True) if abs(a - b) > tolerance]
            return min((abs(a - wrong[0]) / tolerance for a in places), default=math.inf)
        return math.inf

    return distance


@dataclass(frozen=True)
class Numbers(Part):
    """One number or several; `value` computes the reference, or a list of references of which any
    one is right.
    """

    value: Callable[[], Any] = lambda: ()
    tolerance: float = 0.0005
    mistakes: tuple[Mistake, ...] = ()
    hint: str = ""
    proportion: bool = True

    def references(self) -> list[Values]:
        """All right answers."""
        found = self.value()
        alternatives = found if isinstance(found, list) else [found]
        return [values for one in alternatives if (values := numbers_of(one))]

    def size(self) -> int:
        """How many numbers are asked for."""
        return len(self.references()[0])

    def fits(self, answer: Any) -> bool:
        return numbers_of(answer) is not None

    def judge(self, exercise: str, answer: Any) -> Verdict:
        given = numbers_of(answer)
        if given is None:
            return Verdict("shape", f"expected is {self.asks}")
        rights = self.references()
        if any(self._close(given, right) for right in rights):
            return Verdict("right")
        # A bound that is right to the digits of the tolerance may lie next to a named mistake: the
        # nearest is named.
        scored = [
            (min(test(given, right, self.tolerance) for right in rights), why)
            for test, why in self.mistakes
        ]
        nearest, why = min(scored, default=(math.inf, ""), key=lambda pair: pair[0])
        if nearest <= 1 + 1e-9:
            return Verdict("wrong", why, named=True)
        percent = self.proportion and max(given) > 1
        if percent and any(self._close([x / 100 for x in given], right) for right in rights):
            return Verdict("shape", "that is percent; give proportions between 0 and 1", named=True)
        if len(given) != len(rights[0]):
            return Verdict(
                "shape", f"expected is {self.asks}, not {len(given)} number{'s' * (len(given) > 1)}"
            )
        if len(given) == 2 and any(self._close(given[::-1], right) for right in rights):
            return Verdict("wrong", "the two numbers stand in the other order")
        return Verdict("wrong", self.hint or f"expected is {self.asks}")

    def _close(self, given: Sequence[float], right: Values) -> bool:
        slack = self.tolerance + 1e-12
        return len(given) == len(right) and all(
            abs(a - b) <= slack for a, b in zip(given, right, strict=True)
        )


@dataclass(frozen=True)
class Choice(Part):
    """One of several words; in free text (`inside`) any mention of a right one counts."""

    sealed: tuple[str, ...] = ()
    mistakes: tuple[tuple[str, str], ...] = ()
    inside: bool = False
    hint: str = ""

    def fits(self, answer: Any) -> bool:
        return isinstance(answer, str) and bool(answer.strip())

    def judge(self, exercise: str, answer: Any) -> Verdict:
        if not self.fits(answer):
            return Verdict("shape", f"expected is {self.asks}")
        word = plainly(answer)
        words = word.split("_")
        spans = {word}
        if self.inside:
            spans |= {
                "_".join(words[i:j])
                for i in range(len(words))
                for j in range(i + 1, min(i + 4, len(words) + 1))
            }
        if any(seal(exercise, self.name, span) in self.sealed for span in spans):
            return Verdict("right")
        for wrong, why in self.mistakes:
            if wrong in spans:
                return Verdict("wrong", why)
        return Verdict("wrong", self.hint or f"expected is {self.asks}")


@dataclass(frozen=True)
class Claims(Part):
    """Several true or false claims, each compared by hash; only the number of right ones is
    told.
    """

    sealed: tuple[str, ...] = ()

    def fits(self, answer: Any) -> bool:
        answer = answer.tolist() if hasattr(answer, "tolist") else answer
        return (
            isinstance(answer, list | tuple)
            and bool(answer)
            and all(isinstance(one, bool) for one in answer)
        )

    def judge(self, exercise: str, answer: Any) -> Verdict:
        if not self.fits(answer) or len(answer) != len(self.sealed):
            return Verdict("shape", f"expected is {self.asks}")
        given = [bool(one) for one in answer]
        seals = [seal(exercise, self.name, f"{place}:{one}") for place, one in enumerate(given, 1)]
        right = sum(a == b for a, b in zip(seals, self.sealed, strict=True))
        if right == len(given):
            return Verdict("right")
        if len(set(given)) == 1:
            all_of_them = "accepted" if given[0] else "refused"
            return Verdict("wrong", f"you {all_of_them} every claim; the interval tells them apart")
        return Verdict("wrong", f"{right} of {len(given)} claims are judged right")


@dataclass(frozen=True)
class Sealed(Part):
    """Whole counts that must be exact, compared by hash."""

    sealed: str = ""
    size_of: int = 1
    mistakes: tuple[Mistake, ...] = ()
    hint: str = ""

    def size(self) -> int:
        """How many counts are asked for."""
        return self.size_of

    def fits(self, answer: Any) -> bool:
        return numbers_of(answer) is not None

    def judge(self, exercise: str, answer: Any) -> Verdict:
        given = numbers_of(answer)
        if given is None or len(given) != self.size_of:
            return Verdict("shape", f"expected is {self.asks}")
        listed = ",".join(f"{value:.12g}" for value in given)
        if seal(exercise, self.name, listed) == self.sealed:
            return Verdict("right")
        for test, why in self.mistakes:
            if test(given, (math.inf,) * len(given), 1e-9) <= 1:
                return Verdict("wrong", why, named=True)
        return Verdict("wrong", self.hint or f"expected is {self.asks}")


@dataclass(frozen=True)
class Exercise:
    """The parts of an exercise; `together` complains when parts that are right alone do not belong
    together.
    """

    parts: tuple[Part, ...]
    together: Callable[[dict[str, Any]], str] | None = None
