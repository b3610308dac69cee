"""The lab of the chapter on measurement: checks of its exercises, predictions, and its own random
stream.

fnb.lab.check("EX086", (low, high))   # one sentence: right, a named mistake, or the shape that is
expected fnb.lab.predict(guess, 30, 200)       # the guess beside the answer
fnb.lab.lines()                       # the five printed lines of Lab S
"""

from .checking import check, expected, progress
from .predicting import predict
from .sentence import Feedback, Sentence
from .stream import coverage, lines, paired_sample, resampled, same_margins, seed_counts

__all__ = [
    "Feedback",
    "Sentence",
    "check",
    "coverage",
    "expected",
    "lines",
    "paired_sample",
    "predict",
    "progress",
    "resampled",
    "same_margins",
    "seed_counts",
]
