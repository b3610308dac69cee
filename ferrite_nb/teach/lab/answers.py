"""Answers of the predictions: a number, and how it is printed; computed when a guess was made."""

from __future__ import annotations

from typing import Any

from ... import stats
from ...analysis.rates import rates
from ...bundled import data
from ...estimate import Estimate, estimate
from ...readers import read
from . import references, stream

Answer = tuple[float, str]


def _exact(value: float) -> Answer:
    return float(value), f"{value:.4g}"


def _run_b(metric: str, mode: str, **strata: str) -> Any:
    runs = read(data("ferrite_run_b.csv")).where(**strata)
    return rates(runs, metric, cluster="template").query("mode == @mode").iloc[0]


def _rate(row: Any) -> Answer:
    return float(row["rate"]), str(Estimate.from_row(row))


def share_in_on() -> Answer:
    """Attack success of run B in On, attacks of one template together."""
    return _rate(_run_b("ASR", "On"))


def known_share() -> Answer:
    """Two successes of seven known outcomes."""
    return 2 / 7, str(estimate(2, 7))


def upper_of_three() -> Answer:
    """The upper bound of 3/20."""
    return _exact(references.ends(3, 20)[1])


def cases_that_differ() -> Answer:
    """The discordant cases of Lab S."""
    _, b, c, _ = stream.paired_sample().cells
    return float(b + c), f"{b + c}"


def contained_when_open() -> Answer:
    """Containment of LoopOnly in the open scope."""
    row = _run_b("CR", "LoopOnly", scope="task_open")
    return float(row["rate"]), f"{row['k']} of {row['n']}, all of one design"


def worth_in_loop() -> Answer:
    """The effective number of attacks in LoopOnly."""
    return _exact(round(float(_run_b("ASR", "LoopOnly")["n_eff"]), 1))


def share_on_a_perfect_system() -> Answer:
    """What a judge with a specificity of .93 reports when nothing succeeds."""
    return _exact(1 - 0.93)


def precision_at_the_call_centre() -> Answer:
    """Precision at TPR .95, FPR .05 and 1 in 1,000."""
    return _exact(references.ex085(1000, 20_000)["precision"][0])


def chance_to_pass() -> Answer:
    """The chance that a system at .01 keeps to .02 with its whole interval, on 600 cases."""
    return _exact(stats.operating_curve(600, stats.largest_k(600, 0.02) or 0, 0.01))


def upper_of_eight() -> Answer:
    """The upper bound of 8/16."""
    return _exact(references.ends(8, 16)[1])


def share_that_contains() -> Answer:
    """Intervals of 2,000 seeds of the lab that contain the true reduction."""
    found = stream.coverage(2000)
    return found.inside / found.seeds, str(estimate(found.inside, found.seeds))
