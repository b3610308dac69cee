"""Readers: one file per results format, each a function path -> Outcomes."""
