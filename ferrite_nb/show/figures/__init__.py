"""Figures: a tidy table in, a `Chart` out; one file per figure, none computes a statistic."""

from __future__ import annotations

from .forest import forest
from .gradient import gradient
from .heatmap import heatmap
from .pairs import pairs
from .plane import plane

__all__ = ["forest", "gradient", "heatmap", "pairs", "plane"]
