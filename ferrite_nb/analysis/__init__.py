"""Verbs: each joins counts with statistics into one tidy table."""
