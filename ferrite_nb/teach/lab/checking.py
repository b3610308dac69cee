"""Checks: an answer in, one sentence out; offline, never an exception, never the answer itself."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .parts import Exercise, Part, declared, exercises, numbers_of, truths
from .predicting import GUESSES
from .sentence import Feedback, Sentence

__all__ = ["check", "collect", "counts", "expected", "progress"]

_answered: dict[str, tuple[Feedback, str]] = {}  # the last of each exercise in this session
STATES = {
    "partly": "partly right",
    "wrong": "not right yet",
    "shape": "in another form",
    "open": "not answered",
}


def check(exercise: str, answer: Any = None, *, name: str = "") -> Feedback:
    """Hold an answer against an exercise and say one sentence.

    Parameters
    ----------
    exercise: "EX085" to "EX087", "LAB", or "X01" to "X11".
    answer: None while it is not answered. Otherwise a number, a text, a list, or a mapping from the
        names of the parts to their values; `expected` says which names and shapes an exercise has.
    name: the learner's name; the check is then about their own counts (`counts`).

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
    try:
        one = exercises(str(exercise).strip().upper(), str(name))
        if one is None:
            there = f"there is no such exercise; there are {', '.join(declared())}."
            return Feedback(there, str(exercise)[:40], "shape")
        result = _checked(one, answer)
        _answered[one.name] = result, repr(answer)[:2000]
    except Exception:  # an answer may be any object at all; the notebook runs on
        return Feedback("this answer cannot be read.", str(exercise)[:40], "shape")
    return result


def counts(exercise: str, name: str = "") -> dict[str, int]:
    """The counts of a question: those of the chapter, or a learner's own.

    Example
    -------
    >>> counts("EX086")
    {'k': 30, 'n': 200}
    >>> sorted(counts("EX086", "Ada"))
    ['k', 'n']
    """
    one = exercises(str(exercise).strip().upper(), name)
    return dict(one.counts) if one else {}


def expected(exercise: str) -> Sentence:
    """The names and shapes of the parts of an exercise, without their values."""
    one = exercises(str(exercise).strip().upper())
    return Sentence(
        f"Expected is {_shape(one.parts)}." if one else f"There are {', '.join(declared())}."
    )


def progress(*names: str) -> Sentence:
    """Which of these exercises are right and which are open, as last checked in this session."""
    states = {name: _answered[name][0].state if name in _answered else "open" for name in names}
    rest = [f"{name} ({STATES[state]})" for name, state in states.items() if state != "right"]
    right = f"{len(names) - len(rest)} of {len(names)} right"
    return Sentence(right + (f"; still open: {', '.join(rest)}." if rest else "."))


def collect(
    path: str | os.PathLike[str] = "answers.json", *, name: str = "", **words: str
) -> Sentence:
    """Write the session's answers, their states and its guesses to one file for the teacher.

    Parameters
    ----------
    path: where to write; nothing is sent anywhere.
    name: the learner's name, from which their own counts were drawn.
    words: their texts, by exercise, which a person grades.
    """
    answers = {
        exercise: {"state": feedback.state, "said": str(feedback), "answer": answer}
        for exercise, (feedback, answer) in _answered.items()
    }
    record = {"name": name, "answers": answers, "texts": words, "guesses": list(GUESSES.values())}
    Path(path).write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return Sentence(f"{len(answers)} answers and {len(GUESSES)} guesses are in {Path(path).name}.")


def _shape(parts: tuple[Part, ...]) -> str:
    return "; ".join(
        f"{part.name}: {part.asks}{' (may be left out)' * part.optional}" for part in parts
    )


def _checked(one: Exercise, answer: Any) -> Feedback:
    """One sentence for all parts: the first fault first, then what is right and what is open."""
    answer = answer.tolist() if hasattr(answer, "tolist") else answer
    if _nothing(answer):
        return Feedback("not answered yet.", one.name, "open")
    given = _by_name(one, answer) if isinstance(answer, Mapping) else _by_kind(one, answer)
    if isinstance(given, str) or not given:
        asked = _shape(tuple(part for part in one.parts if not part.optional))
        return Feedback(f"{given or 'this is no answer'}; expected is {asked}.", one.name, "shape")
    parts = {part.name: part for part in one.parts}
    verdicts = {name: parts[name].judge(value) for name, value in given.items()}
    for state in ("wrong", "shape"):
        for name, verdict in verdicts.items():
            if verdict.state == state:
                told = f"{name}: " * (len(parts) > 1) + verdict.why
                return Feedback(f"{told}.", one.name, state)
    if len({verdicts[name].place for name in one.same if name in verdicts}) > 1:
        return Feedback(f"{one.together}.", one.name, "wrong")
    left = [part for part in one.parts if part.name not in verdicts]
    right = ", ".join(verdicts)
    if needed := ", ".join(part.name for part in left if not part.optional):
        return Feedback(f"right so far: {right}; still open: {needed}.", one.name, "partly")
    extra = ", ".join(part.name for part in left)
    return Feedback(
        f"right: {right}; may be added: {extra}." if extra else "right.", one.name, "right"
    )


def _nothing(answer: Any) -> bool:
    """Whether there is no answer: None, empty text, or a list or mapping of nothing else."""
    if isinstance(answer, Mapping | list | tuple):
        items = answer.values() if isinstance(answer, Mapping) else answer
        return all(_nothing(value) for value in items)
    return answer is None or answer is Ellipsis or (isinstance(answer, str) and not answer.strip())


def _by_name(one: Exercise, answer: Mapping[Any, Any]) -> dict[str, Any] | str:
    """The parts as the learner named them; a text says which name there is not."""
    given: dict[str, Any] = {}
    for key, value in answer.items():
        word, names = str(key).strip().lower(), [part.name for part in one.parts]
        named = [name for name in names if name == word]
        named = named or [name for name in names if word.startswith(name) or name.startswith(word)]
        if len(named) != 1:
            return f"there is no part {str(key)[:40]!r}"
        if not _nothing(value):
            given[named[0]] = value
    return given


def _by_kind(one: Exercise, answer: Any) -> dict[str, Any] | str:
    """An answer without names: its texts, truth values and numbers go to the parts that take
    them.
    """
    items = answer if isinstance(answer, list | tuple | range) else [answer]
    given: dict[str, Any] = {}
    flat: list[float] = []
    for item in items:
        if isinstance(item, str):
            words = [part for part in one.parts if part.kind == "words" and part.name not in given]
            free = [part for part in words if part.free] or words[:1]
            given |= {part.name: item for part in free}
        elif numbers := numbers_of(item):
            flat += numbers
        elif truths(item) is not None:
            given |= {part.name: item for part in one.parts if part.kind == "claims"}
        elif not _nothing(item):
            return f"{type(item).__name__[:40]} is no answer"
    parts = [part for part in one.parts if part.kind in ("numbers", "exact")]
    lengths = [part.length() for part in parts]
    if flat and len(flat) not in lengths and len(flat) == sum(lengths):
        ends = [sum(lengths[: place + 1]) for place in range(len(lengths))]
        cut = zip(parts, ends, lengths, strict=True)
        return given | {part.name: flat[end - length : end] for part, end, length in cut}
    if flat and parts:
        order = sorted(parts, key=lambda part: (part.judge(flat).state != "right", part.optional))
        given[order[0].name] = flat
    return given
