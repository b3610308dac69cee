"""Readers: one file per results format, each a function paths -> Outcomes. `read` recognises the
format.
"""

from __future__ import annotations

from .labels import read_labels
from .read import read
from .scores import read_scores

__all__ = ["read", "read_labels", "read_scores"]
