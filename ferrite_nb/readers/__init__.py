"""Readers: one file per results format, each a function path -> Outcomes. `read` recognises the format."""

from __future__ import annotations
