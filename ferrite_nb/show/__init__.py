"""Showing: text, tables, figures. Nothing here computes a statistic."""
