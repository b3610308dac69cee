"""How often the intervals of units contain the truth: rates in clusters, paired differences with
one and two keys, attempts, quantiles, areas, kappa, macro means and judged differences.

Run `python -m tests.benchmarks.coverage_units [--runs N] [--design WORD]`: all designs whose name
holds the word, 2,000 runs each (standard error at .95: .005). It prints a Markdown table and ends
with exit code 1 when a design misses its floor of coverage or its ceiling of the error of the test.
NaN counts as a miss. Pytest does not run it.

Generators: rates of clusters are Beta with the stated mean and ICC, then binomial. Pairs: a case is
of a kind (both, only A, only B, none) with Dirichlet shares of its cluster. Two keys: a probit with
normal effects of standard deviation .4 of either key on the difference, noise of 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from ferrite_nb import stats

Random = np.random.Generator
# low, high, the truth, and p (NaN where there is no test)
Draw = Callable[[Random], tuple[float, float, float, float]]


@dataclass(frozen=True)
class Design:
    """One design: a draw, the least coverage, and the greatest share of p <= .05 (nulls only)."""

    name: str
    draw: Draw
    floor: float | None
    ceiling: float | None = None


def beta(random: Random, mean: float, icc: float, size: int) -> np.ndarray:
    weight = 1 / icc - 1
    return random.beta(mean * weight, (1 - mean) * weight, size)


def rate(sizes: list[int], mean: float, icc: float) -> Draw:
    def draw(random: Random) -> tuple[float, float, float, float]:
        k = random.binomial(sizes, beta(random, mean, icc, len(sizes)))
        result = stats.clustered_interval(k, sizes)
        return result.low, result.high, mean, np.nan

    return draw


def all_or_nothing(clusters: int, size: int, mean: float) -> Draw:
    def draw(random: Random) -> tuple[float, float, float, float]:
        k = size * random.binomial(1, mean, clusters)
        result = stats.clustered_interval(k, [size] * clusters)
        return result.low, result.high, mean, np.nan

    return draw


def gate(clusters: int, size: int, threshold: float, icc: float) -> Draw:
    """A system exactly at its threshold: passing is the miss."""

    def draw(random: Random) -> tuple[float, float, float, float]:
        k = random.binomial(size, beta(random, threshold, icc, clusters))
        passed = stats.clustered_gate(k, [size] * clusters, threshold).passes
        return (1.0, 2.0, 0.0, 0.0) if passed else (0.0, 0.0, 0.0, 1.0)

    return draw


def pairs(sizes: list[int], cells: tuple[float, float, float], icc: float) -> Draw:
    shares = np.array([*cells, 1 - sum(cells)])
    unit = np.repeat(np.arange(len(sizes)), sizes)

    def draw(random: Random) -> tuple[float, float, float, float]:
        used = shares > 0
        mixed = np.zeros((len(sizes), 4))
        mixed[:, used] = random.dirichlet(
            np.maximum(shares[used] * (1 / icc - 1), 1e-6), len(sizes)
        )
        kind = (random.random(len(unit))[:, None] > np.cumsum(mixed, axis=1)[unit]).sum(axis=1)
        result = stats.paired_units((kind == 0) | (kind == 1), (kind == 0) | (kind == 2), unit)
        return result.low, result.high, cells[1] - cells[2], result.p

    return draw


def crossed(firsts: int, seconds: int, rate_a: float, rate_b: float) -> Draw:
    first, second = (label.ravel() for label in np.indices((firsts, seconds)))

    def side(random: Random, mean: float) -> np.ndarray:
        effect = random.normal(0, 0.4, firsts)[first] + random.normal(0, 0.4, seconds)[second]
        return effect + random.normal(size=len(first)) < norm.ppf(mean) * np.sqrt(1.32)

    def draw(random: Random) -> tuple[float, float, float, float]:
        result = stats.paired_crossed(side(random, rate_a), side(random, rate_b), first, second)
        return result.low, result.high, rate_a - rate_b, result.p

    return draw


def repeats(cases: int, runs: int, always: bool) -> Draw:
    """The same mean: Off breaks each case with .1, On breaks a tenth of the cases always."""

    def draw(random: Random) -> tuple[float, float, float, float]:
        a = random.binomial(runs, 0.1, cases) / runs
        on = random.random(cases) < 0.1 if always else np.full(cases, 0.1)
        b = random.binomial(runs, on.astype(float)) / runs
        result = stats.paired_units(a, b, np.arange(cases), runs=runs * cases)
        return result.low, result.high, 0.0, result.p

    return draw


def attempts(cases: int, budget: int, hit: float, error: float) -> Draw:
    def draw(random: Random) -> tuple[float, float, float, float]:
        first = random.geometric(hit, cases).astype(float)
        followed = np.minimum(random.geometric(error, cases) - 1, budget)
        first[first > followed] = np.inf
        result = stats.within(first, followed, budget)
        return result.low, result.high, 1 - (1 - hit) ** budget, np.nan

    return draw


def quantile(cases: int, runs: int, q: float) -> Draw:
    """Log-normal values with half of the variance of their logarithm between cases."""
    truth = float(np.exp(norm.ppf(q)))
    unit = np.repeat(np.arange(cases), runs)

    def draw(random: Random) -> tuple[float, float, float, float]:
        logs = (random.normal(size=cases)[unit] + random.normal(size=len(unit))) / np.sqrt(2)
        result = stats.quantile_units(np.exp(logs), np.ones(len(unit)), unit, q)
        return result.low, result.high, truth, np.nan

    return draw


def area(truth: float, positives: int, negatives: int) -> Draw:
    labels = np.repeat([1, 0], [positives, negatives])
    shift = np.sqrt(2) * norm.ppf(truth)

    def draw(random: Random) -> tuple[float, float, float, float]:
        found = stats.auc(labels, random.normal(size=len(labels)) + shift * labels).auc
        result = stats.auc_limits(found, positives, negatives)
        return result.low, result.high, truth, np.nan

    return draw


def raters(n: int, yes: float, kappa: float) -> Draw:
    spread = yes * (1 - yes)
    shares = [yes**2 + spread * kappa, spread * (1 - kappa), spread * (1 - kappa)]

    def draw(random: Random) -> tuple[float, float, float, float]:
        result = stats.kappa_limits(*map(int, random.multinomial(n, [*shares, 1 - sum(shares)])))
        return result.low, result.high, kappa, np.nan

    return draw


def macro(groups: int, size: int, mean: float) -> Draw:
    def draw(random: Random) -> tuple[float, float, float, float]:
        result = stats.macro(random.binomial(size, mean, groups), [size] * groups)
        return result.low, result.high, mean, np.nan

    return draw


def judged(n: int, true: float, se: tuple[float, float], labels: int) -> Draw:
    """Two modes with the same true outcomes, Sp .97, labels of each mode's own from outside."""

    def draw(random: Random) -> tuple[float, float, float, float]:
        event = random.random(n) < true
        flags = [random.random(n) < np.where(event, sens, 0.03) for sens in se]
        cells = [int((x & y).sum()) for x in (flags[0], ~flags[0]) for y in (flags[1], ~flags[1])]
        half, sets = labels // 2, []
        for sens in se:
            tp, tn = random.binomial(half, sens), random.binomial(half, 0.97)
            sets.append([int(tp), half - int(tp), int(tn), half - int(tn)])
        result = stats.corrected_difference(*cells, *sets)
        return result.low, result.high, 0.0, np.nan

    return draw


GEOMETRIC = [2, 3, 5, 8, 13, 20, 32, 51, 81, 128]
ZIPF = [max(1, round(300 / place)) for place in range(1, 31)]
DESIGNS = [
    Design("rate 20x10 .10 ICC .2", rate([10] * 20, 0.1, 0.2), 0.955),
    Design("rate 60x10 .10 ICC .2", rate([10] * 60, 0.1, 0.2), 0.94),
    Design("rate 20x10 .02 ICC .2", rate([10] * 20, 0.02, 0.2), 0.95),
    Design("rate 60x10 .01 ICC .5", rate([10] * 60, 0.01, 0.5), 0.945),
    Design("rate 20x10 .03 ICC .5", rate([10] * 20, 0.03, 0.5), 0.96),
    Design("rate 20x5 .05 ICC .9", rate([5] * 20, 0.05, 0.9), 0.96),
    Design("rate 6x4 .27 ICC .3", rate([4] * 6, 0.27, 0.3), 0.96),
    Design("rate 2x100 + 18x5 .2", rate([100] * 2 + [5] * 18, 0.2, 0.2), 0.96),
    Design("rate 1x100 + 19x5 .2", rate([100] + [5] * 19, 0.2, 0.2), 0.96),
    Design("rate geometric 2..128 .2", rate(GEOMETRIC, 0.2, 0.2), 0.96),
    Design("rate 3x80 + 40x2 .1", rate([80] * 3 + [2] * 40, 0.1, 0.2), 0.96),
    Design("rate Zipf 30 .2", rate(ZIPF, 0.2, 0.2), 0.96),
    Design("rate four suites .2 ICC .05", rate([560, 140, 144, 105], 0.2, 0.05), 0.96),
    Design("rate 3x20 .3 ICC .2", rate([20] * 3, 0.3, 0.2), 0.96),
    Design("rate 4x30 .2 ICC .4", rate([30] * 4, 0.2, 0.4), 0.96),
    Design("rate 5x40 .1 ICC .6", rate([40] * 5, 0.1, 0.6), 0.96),
    Design("rate 6x50 .15 ICC .3", rate([50] * 6, 0.15, 0.3), 0.96),
    Design("rate all or nothing 20x10 .1", all_or_nothing(20, 10, 0.1), 0.94),
    Design("rate all or nothing 60x10 .05", all_or_nothing(60, 10, 0.05), 0.955),
    Design("gate 200x5 at .02 ICC .3", gate(200, 5, 0.02, 0.3), 0.97, 0.03),
    Design("gate 80x10 at .05 ICC .2", gate(80, 10, 0.05, 0.2), 0.97, 0.03),
    Design("gate 40x10 at .10 ICC .5", gate(40, 10, 0.1, 0.5), 0.97, 0.03),
    Design("pairs 20x10 null", pairs([10] * 20, (0.1, 0.15, 0.15), 0.2), 0.94, 0.05),
    Design("pairs 60x10 rare", pairs([10] * 60, (0, 0.01, 0), 0.5), 0.94),
    Design("pairs 11x2 .97/.03", pairs([2] * 11, (0.02, 0.95, 0.01), 0.3), 0.94),
    Design("pairs 1x100 + 19x5 null", pairs([100] + [5] * 19, (0.1, 0.2, 0.2), 0.2), 0.94, 0.05),
    Design("pairs 2x100 + 18x5", pairs([100] * 2 + [5] * 18, (0.1, 0.3, 0.1), 0.2), 0.94),
    Design("pairs 3x80 + 40x2", pairs([80] * 3 + [2] * 40, (0, 0.1, 0), 0.2), 0.94),
    Design("pairs geometric 2..128", pairs(GEOMETRIC, (0.1, 0.3, 0.1), 0.2), 0.94),
    Design("pairs Zipf 30 null", pairs(ZIPF, (0.1, 0.2, 0.2), 0.2), 0.94, 0.05),
    Design("crossed 20x20 null", crossed(20, 20, 0.25, 0.25), 0.94, 0.055),
    Design("crossed 97x27 null", crossed(97, 27, 0.15, 0.15), 0.94, 0.055),
    Design("crossed 40x14 effect", crossed(40, 14, 0.3, 0.2), 0.94),
    Design("repeats 200x5 same mean", repeats(200, 5, True), 0.94, 0.05),
    Design("repeats 60x3 same rates", repeats(60, 3, False), 0.94, 0.05),
    Design("attempts 250, K 25, .02, 2 % errors", attempts(250, 25, 0.02, 0.02), 0.94),
    Design("attempts 250, K 25, .02, 5 % errors", attempts(250, 25, 0.02, 0.05), 0.94),
    Design("attempts 20, K 10, .01, 3 % errors", attempts(20, 10, 0.01, 0.03), 0.94),
    Design("quantile 200x10 p50", quantile(200, 10, 0.5), 0.93),
    Design("quantile 30x3 p90", quantile(30, 3, 0.9), 0.93),
    Design("area .92, 20 and 20", area(0.92, 20, 20), 0.94),
    Design("area .983, 20 and 20", area(0.983, 20, 20), 0.94),
    Design("area .998, 50 and 200", area(0.998, 50, 200), 0.94),
    Design("kappa .86, n 50", raters(50, 0.5, 0.86), 0.92),
    Design("kappa .79, n 50, prevalence .1", raters(50, 0.1, 0.79), 0.92),
    Design("macro 10x20 .02", macro(10, 20, 0.02), 0.92),
    Design("macro 20x10 .05", macro(20, 10, 0.05), 0.92),
    Design("judged Se .95 and .70, 100 labels", judged(300, 0.2, (0.95, 0.7), 100), 0.95),
]


def reached(design: Design, runs: int) -> tuple[float, float, float]:
    """Coverage, mean width, and the share of p <= .05."""
    random = np.random.default_rng(0)
    low, high, truth, p = np.array([design.draw(random) for _ in range(runs)]).T
    inside = (low <= truth + 1e-12) & (truth <= high + 1e-12)
    width = float(np.nanmean(high - low)) if np.isfinite(high - low).any() else np.nan
    return float(inside.mean()), width, float((p <= 0.05).mean())


def main() -> int:
    """Print the table; 1 when a design misses."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--design", default="", help="part of the name of the designs to run")
    asked = parser.parse_args()
    print("| design | coverage | mean width | p <= .05 | floor, ceiling | |\n" + 6 * "|---" + "|")
    missed = 0
    for design in DESIGNS:
        if asked.design.lower() not in design.name.lower():
            continue
        coverage, width, rejected = reached(design, asked.runs)
        good = design.floor is None or coverage >= design.floor
        good &= design.ceiling is None or rejected <= design.ceiling
        missed += not good
        goal = f"{design.floor}, {'' if design.ceiling is None else design.ceiling}"
        row = f"| {design.name} | {coverage:.3f} | {width:.3f} | {rejected:.3f} | {goal} |"
        print(row, "ok |" if good else "MISSED |", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
