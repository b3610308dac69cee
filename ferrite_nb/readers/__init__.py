"""Readers: one file per results format, each a function paths -> Outcomes. `read` recognises the format."""

from __future__ import annotations

from .read import read

__all__ = ["read"]
