"""Figures: a tidy table in, a `Chart` out; one file per figure, none computes a statistic."""

from __future__ import annotations

from .budget import budget
from .forest import forest
from .gate import gate
from .gradient import gradient
from .heatmap import heatmap
from .judge import judge
from .pairs import pairs
from .plane import plane
from .roc import roc

__all__ = ["budget", "forest", "gate", "gradient", "heatmap", "judge", "pairs", "plane", "roc"]
