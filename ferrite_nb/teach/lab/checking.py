"""Checks: an answer in, one sentence out; offline, never an exception, never the answer itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .chapter import CHAPTER
from .further import FURTHER
from .parts import Exercise, Part, Verdict, numbers_of
from .sentence import Feedback, Sentence

__all__ = ["check", "expected", "progress"]

EXERCISES = CHAPTER | FURTHER
_answered: dict[
    str, Feedback
] = {}  # the last feedback of each exercise in this session, for `progress`


def check(exercise: str, answer: Any = None) -> Feedback:
    """Hold an answer against an exercise and say one sentence.

    Parameters
    ----------
    exercise: "EX085" to "EX087" or "X01" to "X11".
    answer: None while it is not answered. Otherwise a number, a text, a list, or a mapping from the
        names of the parts to their values; `expected` says which names and shapes an exercise has.

    Returns
    -------
    Feedback: shows as one sentence; `right` (or the truth value) says whether all that is required
        is right.

    Notes
    -----
    Nothing is raised whatever the answer is, no network is used, and no sentence holds the answer.

    Example
    -------
    >>> check("EX086", (0.1005, 0.1995))
    ✘ EX086: interval: that is the Wald interval, which is too narrow and symmetric here.
    >>> check("EX086")
    ○ EX086: not answered yet.
    """
    name = str(exercise).strip().upper()
    one = EXERCISES.get(name)
    if one is None:
        return Feedback(
            f"there is no such exercise; there are {', '.join(EXERCISES)}.",
            str(exercise)[:40],
            "shape",
        )
    try:
        found = _checked(name, one, answer)
    except Exception:  # an answer may be any object at all; the notebook runs on
        found = Feedback(f"this answer cannot be read; expected is {_shape(one)}.", name, "shape")
    _answered[name] = found
    return found


def expected(exercise: str) -> Sentence:
    """The names and shapes of the parts of an exercise, without their values."""
    one = EXERCISES.get(str(exercise).strip().upper())
    return Sentence(
        f"Expected is {_shape(one, all_parts=True)}."
        if one
        else f"There are {', '.join(EXERCISES)}."
    )


def progress(*names: str) -> Sentence:
    """Which of these exercises are right and which are open, as last checked in this session."""
    done = [name for name in names if name in _answered and _answered[name].right]
    rest = [
        f"{name} ({_answered[name].state if name in _answered else 'not checked'})"
        for name in names
    ]
    rest = [text for name, text in zip(names, rest, strict=True) if name not in done]
    return Sentence(
        f"{len(done)} of {len(names)} right"
        + (f"; still open: {', '.join(rest)}." if rest else ".")
    )


def _shape(one: Exercise, *, all_parts: bool = False) -> str:
    asked = [part for part in one.parts if all_parts or not part.optional]
    return "; ".join(
        f"{part.name}: {part.asks}{' (may be left out)' * part.optional}" for part in asked
    )


def _checked(name: str, one: Exercise, answer: Any) -> Feedback:
    if _nothing(answer):
        return Feedback("not answered yet.", name, "open")
    given = _assigned(name, one, answer)
    if isinstance(given, str):
        return Feedback(f"{given}; expected is {_shape(one)}.", name, "shape")
    found = {
        part.name: part.judge(name, given[part.name]) for part in one.parts if part.name in given
    }
    fine = all(verdict.state == "right" for verdict in found.values())
    if one.together and fine and (complaint := one.together(given)):
        return Feedback(f"{complaint}.", name, "wrong")
    return _summed_up(name, one, found)


def _summed_up(name: str, one: Exercise, found: dict[str, Verdict]) -> Feedback:
    """One sentence for all parts: the first fault first, then what is right and what is open."""
    many = len(one.parts) > 1
    right = [part for part, verdict in found.items() if verdict.state == "right"]
    for state in ("wrong", "shape"):
        for part, verdict in found.items():
            if verdict.state == state:
                return Feedback((f"{part}: " if many else "") + verdict.why + ".", name, state)
    needed = [part.name for part in one.parts if part.name not in found and not part.optional]
    extra = [part.name for part in one.parts if part.name not in found and part.optional]
    if needed:
        return Feedback(
            f"right so far: {', '.join(right)}; still open: {', '.join(needed)}.", name, "partly"
        )
    text = f"right: {', '.join(right)}; may be added: {', '.join(extra)}." if extra else "right."
    return Feedback(text, name, "right")


def _nothing(answer: Any) -> bool:
    """Whether there is no answer: None, empty text, or a list or mapping of nothing else."""
    if isinstance(answer, Mapping):
        return all(_nothing(value) for value in answer.values())
    if isinstance(answer, list | tuple):
        return all(_nothing(value) for value in answer)
    return answer is None or answer is Ellipsis or (isinstance(answer, str) and not answer.strip())


def _assigned(name: str, one: Exercise, answer: Any) -> dict[str, Any] | str:
    """The answer by part; a text says why it cannot be."""
    answer = answer.tolist() if hasattr(answer, "tolist") else answer
    if isinstance(answer, Mapping):
        return _by_name(one, answer)
    if isinstance(answer, str):
        texts = [part for part in one.parts if part.fits(answer)]
        free = [part for part in texts if getattr(part, "inside", False)]
        return {part.name: answer for part in free or texts[:1]} or "a text is not expected"
    flat = numbers_of(answer)
    if flat:
        return _by_size(name, one, flat) or "numbers are not expected"
    if any(part.fits(answer) for part in one.parts):
        return {next(part.name for part in one.parts if part.fits(answer)): answer}
    if isinstance(answer, list | tuple):
        return _in_order(one, list(answer))
    return f"{type(answer).__name__} is no answer"


def _by_name(one: Exercise, answer: Mapping[Any, Any]) -> dict[str, Any] | str:
    given: dict[str, Any] = {}
    for key, value in answer.items():
        word = str(key).strip().lower()
        named = [part.name for part in one.parts if part.name == word]
        named = named or [
            part.name
            for part in one.parts
            if word.startswith(part.name) or part.name.startswith(word)
        ]
        if len(named) != 1:
            return f"there is no part {str(key)[:40]!r}"
        if not _nothing(value):
            given[named[0]] = value
    return given


def _by_size(name: str, one: Exercise, flat: tuple[float, ...]) -> dict[str, Any]:
    """Plain numbers go to one part (the one they meet, miss in a named way, or fit in size), or to
    all in a row.
    """
    parts: list[Any] = [part for part in one.parts if part.fits(0.5)]
    sizes = [part.size() for part in parts]
    if len(flat) not in sizes and len(parts) > 1 and len(flat) == sum(sizes):
        ends = [sum(sizes[: place + 1]) for place in range(len(sizes))]
        return {
            part.name: flat[end - part.size() : end] for part, end in zip(parts, ends, strict=True)
        }

    def distance(part: Any) -> tuple[bool, bool, bool]:
        verdict = part.judge(name, flat)
        return verdict.state != "right", not verdict.named, part.size() != len(flat)

    return {part.name: flat for part in sorted(parts, key=distance)[:1]}


def _in_order(one: Exercise, items: list[Any]) -> dict[str, Any] | str:
    """A mixed list: each piece goes to the next part of its kind; numbers in a row are one
    piece.
    """
    pieces: list[Any] = []
    for item in items:
        if (
            numbers_of(item)
            and not hasattr(item, "__len__")
            and pieces
            and isinstance(pieces[-1], list)
        ):
            pieces[-1].append(item)
        else:
            pieces.append([item] if numbers_of(item) and not hasattr(item, "__len__") else item)
    given: dict[str, Any] = {}
    left: list[Part] = list(one.parts)
    for piece in pieces:
        place = next((part for part in left if part.fits(piece)), None)
        if place is None:
            if _nothing(piece):
                continue
            return "a piece of this answer belongs to no part"
        given[place.name] = piece
        left.remove(place)
    return given
