"""What the notebooks draw: each a function with plain arguments, and one shell that puts controls
above any of them.

fnb.lessons.pairing(c=20)                                # a chart
fnb.lessons.choose(fnb.lessons.pairing, c=range(0, 58))  # the same chart under a slider
"""

from .controls import choose
from .intervals import METHODS, coverage, coverages, crowd, one_interval, rain, wald
from .pairs import pairing, pairings
from .paper import FIGURES, paper_figure, published, published_counts
from .results import COUNTINGS, clustered, denominator, first_look, over_strata

__all__ = [
    "COUNTINGS",
    "FIGURES",
    "METHODS",
    "choose",
    "clustered",
    "coverage",
    "coverages",
    "crowd",
    "denominator",
    "first_look",
    "one_interval",
    "over_strata",
    "pairing",
    "pairings",
    "paper_figure",
    "published",
    "published_counts",
    "rain",
    "wald",
]
