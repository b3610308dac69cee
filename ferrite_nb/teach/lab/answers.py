"""Answers of the predictions: a number, and how it is printed; computed when a guess was made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import stats
from ...analysis.rates import rates
from ...bundled import data
from ...estimate import Estimate, estimate
from ...readers import read
from . import references, stream

__all__ = ["ANSWERS", "answer"]


def _run_b(metric: str, mode: str, **strata: str) -> Any:
    """A row of run B, attacks of one template together."""
    runs = read(data("ferrite_run_b.csv"), cluster="template").where(**strata)
    return rates(runs, metric).query("mode == @mode").iloc[0]


# Each gives a number, or an estimate with its counts.
ANSWERS: dict[str, Callable[[], float | Estimate]] = {
    "00": lambda: Estimate.from_row(_run_b("ASR", "On")),
    "01": lambda: estimate(2, 7),
    "02": lambda: references.ends(3, 20)[1],
    "03": lambda: sum(stream.paired_sample().cells[1:3]),
    "04": lambda: Estimate.from_row(_run_b("CR", "LoopOnly", scope="task_open")),
    "05": lambda: round(float(_run_b("ASR", "LoopOnly")["n_eff"]), 1),
    "06": lambda: 1 - 0.93,  # of a specificity of .93, when nothing succeeds
    "07": lambda: references.ex085(1000, 20_000)["precision"][0],
    "08": lambda: stats.operating_curve(600, stats.largest_k(600, 0.02) or 0, 0.01),
    "09": lambda: references.ends(8, 16)[1],
    "lab": lambda: estimate((found := stream.coverage(2000)).inside, found.seeds),
}


def answer(question: str) -> tuple[float, str]:
    """The number that was asked for, and its text."""
    value = ANSWERS[question]()
    if isinstance(value, Estimate):
        return float(value.rate), str(value)
    return float(value), f"{value:.4g}"
