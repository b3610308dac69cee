"""How often the intervals of rates contain the truth: exact for one rate, simulated for crossed
labels; clusters stand in `coverage_units.py`.

Run `python tests/benchmarks/coverage_rates.py [RUNS]` (4,000 by default, about a minute); it prints
a Markdown table and ends with exit code 1 when a row falls below its floor. A simulated coverage of
.95 from 4,000 runs has a standard error of .0035. NaN counts as a miss. Pytest does not run it.

Generator: crossed cells hold one row each, a probit with normal effects of standard deviation .4 on
either label and noise of standard deviation 1.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom, norm

from ferrite_nb.stats import crossed_interval, interval

Ends = tuple[float, float]


@dataclass(frozen=True)
class Row:
    """One scenario: what was reached, and the floor of coverage and guide of width to reach."""

    scenario: str
    plain: float
    coverage: float
    width: float
    floor: float
    widest: float | None = None

    @property
    def passed(self) -> bool:
        return self.coverage >= self.floor and (
            self.widest is None or self.width <= 1.05 * self.widest
        )


def one_rate(n: int, rate: float, method: str, floor: float) -> Row:
    """Exact coverage: the probability of all counts whose interval contains the rate."""
    counts = np.arange(n + 1)
    weight = binom.pmf(counts, n, rate)
    ends = interval(counts, n, method=method)
    inside = (ends.low <= rate) & (rate <= ends.high)
    p = counts / n
    wald = norm.ppf(0.975) * np.sqrt(p * (1 - p) / n)
    plain = float(weight[(p - wald <= rate) & (rate <= p + wald)].sum())
    width = float((weight * (ends.high - ends.low)).sum())
    return Row(
        f"one rate, n = {n}, true {rate:.0%}, {method}",
        plain,
        float(weight[inside].sum()),
        width,
        floor,
    )


def simulated(
    scenario: str,
    truth: float,
    ends: Iterator[tuple[Ends, Ends]],
    floor: float,
    widest: float | None,
) -> Row:
    """Coverage over runs of (plain interval, our interval)."""
    runs = np.array(list(ends))  # shape (runs, 2, 2); comparisons with NaN are False: a miss
    inside = (runs[:, :, 0] <= truth) & (truth <= runs[:, :, 1])
    width = float(np.nanmean(runs[:, 1, 1] - runs[:, 1, 0]))
    return Row(
        scenario, float(inside[:, 0].mean()), float(inside[:, 1].mean()), width, floor, widest
    )


def crossed(
    firsts: int, seconds: int, rate: float, runs: int, spread: float = 0.4
) -> Callable[[np.random.Generator], Iterator[tuple[Ends, Ends]]]:
    """Runs of a full grid of two labels, one row in each cell."""

    def draw(random: np.random.Generator) -> Iterator[tuple[Ends, Ends]]:
        first, second = (label.ravel() for label in np.indices((firsts, seconds)))
        threshold = norm.ppf(rate) * np.sqrt(1 + 2 * spread**2)
        ones = np.ones(firsts * seconds, dtype=int)
        for _ in range(runs):
            effect = (
                random.normal(0, spread, firsts)[first] + random.normal(0, spread, seconds)[second]
            )
            k = (effect + random.normal(size=len(first)) < threshold).astype(int)
            plain, ours = interval(int(k.sum()), len(k)), crossed_interval(k, ones, first, second)
            yield (plain.low, plain.high), (ours.low, ours.high)

    return draw


def rows(runs: int) -> Iterator[Row]:
    """All scenarios: exact ones, then crossed labels."""
    for rate, floor in ((0.01, 0.980), (0.02, 0.929), (0.05, 0.978)):
        yield one_rate(22, rate, "wilson", floor - 0.0005)  # the floors are printed to three digits
    yield one_rate(100, 0.01, "wilson", 0.92)
    yield one_rate(100, 0.01, "clopper-pearson", 0.98)
    random = np.random.default_rng(0)
    for firsts, seconds, rate, floor, widest in (
        (20, 10, 0.25, 0.94, 0.22),
        (97, 27, 0.15, 0.935, 0.079),
    ):
        name = f"crossed {firsts} × {seconds}, rate {rate:.2f}"
        yield simulated(name, rate, crossed(firsts, seconds, rate, runs)(random), floor, widest)


def main(runs: int = 4000) -> int:
    """Print the table; 1 when a row misses its floor."""
    print("| scenario | plain interval | coverage | mean width | must reach | |")
    print("|---|---|---|---|---|---|")
    missed = 0
    for row in rows(runs):
        missed += not row.passed
        goal = f"{row.floor:.3f}" + (f" / {row.widest:.3f}" if row.widest else "")
        verdict = "ok" if row.passed else "MISSED"
        print(
            f"| {row.scenario} | {row.plain:.3f} | {row.coverage:.4f} | {row.width:.4f} | {goal} |"
            f" {verdict} |"
        )
    print(
        "\nPlain: the normal interval for one rate, Wilson without clusters elsewhere. Nominal"
        " 95 %."
    )
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
