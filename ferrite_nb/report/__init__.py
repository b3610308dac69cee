"""The report: one self-contained HTML page, with its tables as CSV and LaTeX and its figures as PDF
and SVG.
"""

from __future__ import annotations

from .periodic import write_periodic
from .single import write

__all__ = ["write", "write_periodic"]
