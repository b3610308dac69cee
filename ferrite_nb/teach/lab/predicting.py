"""Predict, then run: a box for a guess with a button; the answer comes after the guess, never
before.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from .parts import declared
from .sentence import Sentence

__all__ = ["GUESSES", "guesses", "predict"]

GUESSES: dict[str, dict[str, Any]] = {}  # the last guess of each question in this session


def predict(question: str, guess: Any = None, give_or_take: Any = 0.0) -> Any:
    """Ask for a guess, and answer it; never stops a notebook.

    Parameters
    ----------
    question: the number of a lesson, "00" to "09", or "lab".
    guess: one number; without it a box and a button are shown, and no answer.
    give_or_take: how far off you would still not be surprised: your own range.

    Returns
    -------
    A widget, or one sentence when a guess is given.

    Example
    -------
    >>> predict("07", 0.9, 0.05)
    You said 0.9 (0.85 to 0.95), it is 0.01866: outside your own range, 0.8813 too high.
    >>> predict("07", "many")
    A prediction is one number, such as 0.1. The answer comes after the guess.
    """
    asked = declared("predictions.toml").get(str(question))
    if asked is None:
        return Sentence(f"There are {', '.join(declared('predictions.toml'))}.")
    return (
        _box(question, asked) if guess is None else _answered(question, asked, guess, give_or_take)
    )


def guesses() -> Sentence:
    """All guesses of this session with their answers, and how many lay inside their own range."""
    inside = sum(one["inside"] for one in GUESSES.values())
    listed = "; ".join(
        f"{name}: {one['guess']:.6g} for {one['answer']}" for name, one in GUESSES.items()
    )
    if not GUESSES:
        return Sentence("No guess was made in this session.")
    return Sentence(f"{inside} of {len(GUESSES)} inside your own range. {listed}.")


def _answered(question: str, asked: dict[str, Any], guess: Any, give_or_take: Any) -> Sentence:
    if not all(_number(one) for one in (guess, give_or_take)):
        return Sentence(
            "A prediction is one number, such as 0.1. The answer comes after the guess."
        )
    if asked.get("proportion", True) and not 0 <= guess <= 1:
        return Sentence("Give a proportion between 0 and 1, not percent. Then comes the answer.")
    from .answers import answer

    value, text = answer(question)
    gap, slack = float(guess) - value, abs(give_or_take)
    inside = abs(gap) <= slack + 1e-12
    GUESSES[question] = {
        "question": question,
        "guess": float(guess),
        "give_or_take": float(slack),
        "answer": text,
        "inside": inside,
    }
    reach = f" ({guess - slack:.4g} to {guess + slack:.4g})" if slack else ""
    off = f"{abs(gap):.4g} too {'high' if gap > 0 else 'low'}" if abs(gap) > 1e-12 else "exact"
    place = "inside" if inside else "outside"
    return Sentence(f"You said {guess:.6g}{reach}, it is {text}: {place} your own range, {off}.")


def _number(guess: Any) -> bool:
    return isinstance(guess, Real) and not isinstance(guess, bool) and math.isfinite(guess)


def _box(question: str, asked: dict[str, Any]) -> Any:
    """Two number boxes and a button; the answer appears under them when it is pressed."""
    import ipywidgets
    from IPython.display import display

    style, layout = {"description_width": "initial"}, {"width": "16rem"}
    boxes = [
        ipywidgets.Text(description=label, style=style, layout=layout, placeholder=hint)
        for label, hint in (("Your guess", asked["example"]), ("Give or take", "0"))
    ]
    button = ipywidgets.Button(description="Show the answer")
    place = ipywidgets.Output()

    def show(_: Any) -> None:
        place.clear_output(wait=True)
        written = [box.value.strip().replace(",", ".") for box in boxes]
        try:
            guess, slack = float(written[0]), float(written[1] or 0)
        except ValueError:
            guess, slack = math.nan, 0.0
        with place:
            display(_answered(question, asked, guess, slack))  # type: ignore[no-untyped-call]

    button.on_click(show)
    asks = ipywidgets.Label(asked["asks"])
    row = ipywidgets.Box([*boxes, button], layout={"flex_flow": "row wrap"})
    return ipywidgets.VBox([asks, row, place]).add_class("ferrite-predict")
