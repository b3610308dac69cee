"""Error rates of the paired methods: coverage of both intervals, and how often tests of no effect
reject.

Run `python tests/benchmarks/coverage_pairs.py [RUNS]` (4,000 by default, about a minute); it prints
Markdown tables and ends with exit code 1 when a row misses its goal. Coverage of pairs is computed
    twice: exactly, over all tables with
their multinomial weights, and by simulation, whose standard error at .95 is .0035. NaN counts as a
miss.

Triples are P(both), P(only A), P(only B). Four modes without an effect share a Beta rate per case,
so that their outcomes on a case agree more often than by chance. Clustered modes have their own
Beta rate per template and mode, with the stated ICC: no effect on average, but templates that move
    together.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from scipy.stats import multinomial

from ferrite_nb.stats import cluster_mean, holm, mcnemar, paired_difference, sign_flip

Ends = tuple[float, float]


@dataclass(frozen=True)
class Row:
    """One line: what was reached, and the goal as (at least, or at most, this value) and a guide of
    width.
    """

    scenario: str
    exact: float | None
    reached: float
    width: float | None
    goal: float
    at_least: bool
    widest: float | None = None

    @property
    def passed(self) -> bool:
        good = self.reached >= self.goal if self.at_least else self.reached <= self.goal
        return good and (self.widest is None or (self.width or 0) <= 1.05 * self.widest)


@cache
def ends(method: str, both: int, b: int, c: int, neither: int) -> Ends:
    """Limits of one table; tables repeat in a simulation."""
    if method == "wald":  # what many peers print
        n, diff = both + b + c + neither, (b - c) / (both + b + c + neither)
        half = 1.959963984540054 * np.sqrt(max(b + c - (b - c) ** 2 / n, 0)) / n
        return diff - half, diff + half
    result = paired_difference(both, b, c, neither, method=method)
    return result.low, result.high


def pairs(
    n: int,
    triple: tuple[float, float, float],
    method: str,
    runs: int,
    goal: tuple[float, float | None],
) -> Row:
    """Coverage of the paired difference, exact and simulated."""
    chances, truth = (*triple, 1 - sum(triple)), triple[1] - triple[2]

    def hit(table: tuple[int, ...]) -> bool:
        low, high = ends(method, *table)
        return bool(low <= truth + 1e-12 and truth - 1e-12 <= high)

    only_b = range(n + 1) if triple[2] else range(1)
    tables = [
        (both, b, c, n - both - b - c)
        for c in only_b
        for b in range(n + 1 - c)
        for both in range(n + 1 - b - c)
    ]
    weights = multinomial.pmf(np.array(tables), n, chances)
    exact = sum(w for w, table in zip(weights, tables, strict=True) if w > 1e-12 and hit(table))
    drawn = [tuple(map(int, row)) for row in np.random.default_rng(0).multinomial(n, chances, runs)]
    width = float(np.mean([np.subtract(*ends(method, *table)[::-1]) for table in drawn]))
    coverage = float(np.mean([hit(table) for table in drawn]))
    name = f"n = {n}, {triple}, {method}"
    return Row(name, float(exact), coverage, width, goal[0], True, goal[1])


def four_modes(n: int, rate: float, icc: float, runs: int) -> Row:
    """Family-wise error of six Holm pairs when no mode differs."""
    random, weight = np.random.default_rng(0), 1 / icc - 1
    case_rates = random.beta(rate * weight, (1 - rate) * weight, (runs, n, 1))
    outcomes = random.random((runs, n, 4)) < case_rates
    p = cache(lambda b, c: mcnemar(b, c).p)
    rejected = 0
    for run in outcomes:
        family = [
            p(int((run[:, i] & ~run[:, j]).sum()), int((run[:, j] & ~run[:, i]).sum()))
            for i, j in combinations(range(4), 2)
        ]
        rejected += bool(holm(family).reject.any())
    name = f"family-wise error, six Holm pairs of four modes, n = {n}, rate {rate}"
    return Row(name, None, rejected / runs, None, 0.05, False)


def templates(
    clusters: int, size: int, rate: float, icc: float, runs: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Outcomes of two modes that do not differ on average, as arrays of clusters × size."""
    random, weight = np.random.default_rng(0), 1 / icc - 1
    rates = random.beta(rate * weight, (1 - rate) * weight, (runs, 2, clusters, 1))
    yield from random.random((runs, 2, clusters, size)) < rates


def clustered(clusters: int, size: int, rate: float, icc: float, runs: int) -> Iterator[Row]:
    """The clustered comparison against plain McNemar, and the coverage of its interval."""
    label = np.repeat(np.arange(clusters), size)
    flipped = plain = inside = 0
    widths = []
    for a, b in templates(clusters, size, rate, icc, runs):
        difference = a.astype(int) - b.astype(int)
        flipped += sign_flip(difference.sum(axis=1)).p <= 0.05
        plain += mcnemar(int((difference > 0).sum()), int((difference < 0).sum())).p <= 0.05
        interval = cluster_mean(difference.ravel(), label)
        inside += interval.low <= 0 <= interval.high
        widths.append(interval.high - interval.low)
    name = f"{clusters} templates of {size}, rate {rate}, ICC {icc}"
    yield Row(
        f"error, {name}: plain McNemar (to show the fault)", None, plain / runs, None, 1.0, False
    )
    yield Row(f"error, {name}: sign flips of templates", None, flipped / runs, None, 0.06, False)
    yield Row(
        f"coverage, {name}: mean over templates",
        None,
        inside / runs,
        float(np.nanmean(widths)),
        0.94,
        True,
    )


def rows(runs: int) -> Iterator[Row]:
    """All scenarios."""
    none = (0.0, None)
    for n, triple, goals in (
        (22, (0.30, 0.20, 0.05), {"wald": none, "newcombe": (0.94, None), "tango": (0.94, None)}),
        (100, (0.05, 0.05, 0.0), {"wald": none, "newcombe": (0.97, None), "tango": (0.95, None)}),
        (300, (0.20, 0.14, 0.0), {"wald": none, "newcombe": (0.94, 0.080), "tango": (0.94, 0.080)}),
    ):
        for method, goal in goals.items():
            yield pairs(n, triple, method, runs, goal)
    yield four_modes(29, 0.3, 0.4, runs)
    yield four_modes(200, 0.2, 0.3, runs)
    yield from clustered(12, 9, 0.3, 0.5, runs)


def main(runs: int = 4000) -> int:
    """Print the table; 1 when a row misses its goal."""
    print("| scenario | exact | simulated | mean width | goal | |")
    print("|---|---|---|---|---|---|")
    missed = 0
    for row in rows(runs):
        missed += not row.passed
        exact = "" if row.exact is None else f"{row.exact:.4f}"
        width = "" if row.width is None else f"{row.width:.4f}"
        goal = f"{'>=' if row.at_least else '<='} {row.goal:.3f}" if row.goal % 1 else "none"
        goal += f" / {row.widest:.3f}" if row.widest else ""
        verdict = "ok" if row.passed else "MISSED"
        print(
            f"| {row.scenario} | {exact} | {row.reached:.4f} | {width} | {goal} | {verdict} |",
            flush=True,
        )
    print("\nWald is what many tools print for a paired difference. Nominal 95 %, tests at 5 %.")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
