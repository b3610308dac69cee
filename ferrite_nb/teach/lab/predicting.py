"""Predict, then run: a guess beside the answer, and how far apart they are."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from ...stats import interval
from .sentence import Sentence

__all__ = ["predict"]


def predict(guess: Any, k: Any, n: Any = None, *, level: float = 0.95) -> Sentence:
    """Say how a guess compares with the answer; never stops a notebook.

    Parameters
    ----------
    guess: what the reader wrote down before running; None when nothing was.
    k, n: the answer as a count of cases, shown with its Wilson interval. Without n, `k` is the
        answer itself, a number.
    level: confidence level of the interval.

    Example
    -------
    >>> predict(0.10, 30, 200)
    You said 0.1, it is 30/200 = 0.150 [0.107, 0.206]: your guess lies just outside.
    >>> predict(None, 30, 200)
    No prediction recorded; it is 30/200 = 0.150 [0.107, 0.206].
    >>> predict(12, 5)
    You said 12, it is 5: your guess is 7 too high.
    """
    try:
        return Sentence(_compared(guess, k, n, level))
    except Exception as problem:  # a notebook runs on, whatever was guessed
        return Sentence(f"This prediction cannot be compared: {problem}.")


def _compared(guess: Any, k: Any, n: Any, level: float) -> str:
    if n is None:
        answer = f"it is {k:.6g}"
    else:
        ends = interval(k, n, level=level)
        answer = (
            f"it is {k}/{n} = {k / n:.3f} [{ends.low:.3f}, {ends.high:.3f}]"
            if n
            else "it is 0/0, not computable"
        )
    if guess is None:
        return f"No prediction recorded; {answer}."
    if isinstance(guess, bool) or not isinstance(guess, Real) or not math.isfinite(guess):
        return f"A prediction is one number, such as 0.1; {answer}."
    value = float(guess)
    said = f"You said {guess:.6g}, {answer}"
    if n is None:
        gap = value - k
        return f"{said}: your guess is " + (
            f"{abs(gap):.4g} too {'high' if gap > 0 else 'low'}." if gap else "exact."
        )
    if not n:
        return f"{said}."
    if not 0 <= value <= 1:
        return f"{said}: give a proportion between 0 and 1, not percent."
    out = max(ends.low - value, value - ends.high)
    if out <= 0:
        return f"{said}: your guess lies inside."
    return f"{said}: your guess lies {'just' if out <= (ends.high - ends.low) / 2 else 'well'} outside."
