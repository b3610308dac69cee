"""Sentence: what a check or a prediction answers; one line of text, the same in a notebook and in a
terminal.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...estimate import html_text

__all__ = ["Feedback", "Sentence"]

SIGNS = {"right": "✔", "partly": "◐", "wrong": "✘", "shape": "✎", "open": "○"}


@dataclass(frozen=True, repr=False)
class Sentence:
    """One sentence for a reader."""

    text: str

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f'<p class="ferrite-lab">{html_text(str(self))}</p>'


@dataclass(frozen=True, repr=False)
class Feedback(Sentence):
    """What `check` found: the exercise, its state and the sentence.

    `state` is "right", "partly" (what is there is right, something is missing), "wrong", "shape"
    (the answer has another form than expected) or "open" (not answered yet).
    """

    exercise: str
    state: str

    @property
    def right(self) -> bool:
        """Whether all that is required is right."""
        return self.state == "right"

    def __bool__(self) -> bool:
        return self.right

    def __str__(self) -> str:
        return f"{SIGNS[self.state]} {self.exercise}: {self.text}"
