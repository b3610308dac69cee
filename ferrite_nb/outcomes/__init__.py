"""The validated table of outcomes: its contract of columns, the declarations, and `Outcomes`."""

from __future__ import annotations

from .contract import Const, Note, OutcomesError, Words, const, words
from .table import Outcomes, outcomes

__all__ = ["Const", "Note", "Outcomes", "OutcomesError", "Words", "const", "outcomes", "words"]
