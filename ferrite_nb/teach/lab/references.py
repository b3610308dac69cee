"""References: the numbers that the exercises ask for, computed from the package's own statistics.

Nothing here is written down as a result: each function computes one when a check is made.
"""

from __future__ import annotations

from statistics import stdev
from typing import Any

from ... import stats
from .stream import seed_counts

CALLS = (
    (0.95, 0.05),
    (0.90, 0.01),
    (0.80, 0.001),
)  # the detector's operating points; 20,000 calls, 1 in 1,000 fake
LABELS = {
    "base": (24, 3, 2, 46),
    "defended": (9, 0, 5, 61),
}  # TP, FP, FN, TN of a judge, people as the reference
SUITES = {
    "easy": ((4, 400), (1, 200)),
    "hard": ((40, 200), (72, 400)),
}  # before and after a change of the suite
PAIRS = (
    (18, 6),
    (40, 2),
    (44, 1),
    (25, 9),
    (30, 4),
    (7, 2),
)  # discordant cases of six pairs of modes
UNDEFENDED = (
    (163, 432),
    (191, 315),
    (113, 420),
    (195, 1680),
)  # attack success by suite, arXiv:2510.05244v1, table 11


def ends(k: int, n: int, **options: Any) -> tuple[float, float]:
    """Both bounds of an interval."""
    found = stats.interval(k, n, **options)
    return float(found.low), float(found.high)


def wald(k: int, n: int) -> tuple[float, float]:
    """The textbook interval that the package refuses: here only to be recognised."""
    rate = k / n
    half = 1.96 * (rate * (1 - rate) / n) ** 0.5
    return rate - half, rate + half


def call_centre() -> list[Any]:
    """What each operating point of the detector gives in a day."""
    return [stats.alerts(tpr, fpr, 0.001, 20_000) for tpr, fpr in CALLS]


def call_precision() -> list[float]:
    """Precision at each operating point."""
    return [day.precision for day in call_centre()]


def call_alerts() -> list[float]:
    """Alerts a day at each operating point: the false ones, or all of them."""
    return [day.false_alerts for day in call_centre()] + [
        day.true_alerts + day.false_alerts for day in call_centre()
    ]


def precision_at(base_rate: float) -> float:
    """Precision of a detector with TPR .95 and FPR .01."""
    return stats.alerts(0.95, 0.01, base_rate, 10_000).precision


def fpr_for_half() -> float:
    """The false-positive rate at which half of the alerts are right, for TPR .95 at 1 in 1,000."""
    return 0.95 * 0.001 / 0.999


def variant_passes() -> float:
    """Chance that one variant with a true rate of 3 % passes "at most 2 %" by the point rule on 600
    cases.
    """
    limit = stats.largest_k(600, 0.02, method="point")
    return float(stats.operating_curve(600, limit or 0, 0.03))


def some_variant_passes() -> float:
    """Chance that at least one of twenty such variants does."""
    return stats.at_least_once(variant_passes(), 20)


def within_25() -> tuple[float, float]:
    """Success within 25 attempts of 2 %: cases alike; cases with their own rates from Beta(.1,
    4.9).
    """
    return stats.within_attempts(0.02, 25), stats.within_attempts(0.02, 25, icc=1 / (0.1 + 4.9 + 1))


def reductions() -> tuple[float, float]:
    """The reduction from base to defended that the judge sees, and the one that people see."""
    rates = {name: ((tp + fp) / 75, (tp + fn) / 75) for name, (tp, fp, fn, _) in LABELS.items()}
    judge, people = (a - b for a, b in zip(rates["base"], rates["defended"], strict=True))
    return judge, people


def agreement() -> tuple[float, float]:
    """Share of items on which judge and people agree, by condition."""
    base, defended = ((cells[0] + cells[3]) / sum(cells) for cells in LABELS.values())
    return base, defended


def suite_rates() -> tuple[float, float, float, float]:
    """Attack success on v1 easy, v1 hard, v2 easy, v2 hard."""
    (e1, e2), (h1, h2) = SUITES["easy"], SUITES["hard"]
    return e1[0] / e1[1], h1[0] / h1[1], e2[0] / e2[1], h2[0] / h2[1]


def pooled_over_difficulty() -> tuple[float, float]:
    """Attack success per version with easy and hard attacks in one pot."""
    v1, v2 = (
        sum(SUITES[d][v][0] for d in SUITES) / sum(SUITES[d][v][1] for d in SUITES) for v in (0, 1)
    )
    return v1, v2


def pooled_over_versions() -> float:
    """Everything in one pot."""
    cells = [cell for pair in SUITES.values() for cell in pair]
    return sum(k for k, _ in cells) / sum(n for _, n in cells)


def six_p() -> tuple[float, ...]:
    """Exact McNemar p of the six pairs."""
    return tuple(stats.mcnemar(b, c).p for b, c in PAIRS)


def six_holm() -> tuple[float, ...]:
    """The same with Holm's correction."""
    return tuple(float(p) for p in stats.holm(six_p()).adjusted)


def template_bounds() -> list[tuple[float, float]]:
    """Six of sixty templates broken: Wilson on the templates, or the clustered Wilson interval of
    the cases.
    """
    found = stats.clustered_interval([10] * 6 + [0] * 54, [10] * 60)
    return [ends(6, 60), (found.low, found.high)]


def peeking() -> float:
    """Chance that a sign test without effect reaches 5 % at any of ten looks."""
    return stats.repeated_tests(range(10, 101, 10)).any_look


def spreads() -> tuple[float, float]:
    """Standard deviation over the lab's five seeds, and the binomial one of a run of 200 at the
    true rate.
    """
    return stdev(k / 200 for k in seed_counts()), (0.12 * 0.88 / 200) ** 0.5


def micro() -> tuple[int, int]:
    """Undefended successes and cases over the four suites."""
    return sum(k for k, _ in UNDEFENDED), sum(n for _, n in UNDEFENDED)


def macro() -> float:
    """The plain mean of the four suites' rates."""
    return sum(k / n for k, n in UNDEFENDED) / len(UNDEFENDED)
