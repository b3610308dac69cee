"""The lab of the chapter on measurement: checks of its exercises, predictions, and its own random
stream.

fnb.lab.check("EX086", (low, high))   # one sentence: right, a named mistake, or the expected shape
fnb.lab.predict("07")                 # a box for a guess; the answer comes after the guess
fnb.lab.lines()                       # the five printed lines of Lab S
"""

from .checking import check, collect, counts, expected, progress
from .predicting import guesses, predict
from .sentence import Feedback, Sentence
from .stream import coverage, lines, paired_sample, resampled, same_margins, seed_counts

__all__ = [
    "Feedback",
    "Sentence",
    "check",
    "collect",
    "counts",
    "coverage",
    "expected",
    "guesses",
    "lines",
    "paired_sample",
    "predict",
    "progress",
    "resampled",
    "same_margins",
    "seed_counts",
]
