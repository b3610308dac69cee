"""Error rates of what is looked at often, forecast, taken apart or picked as the worst.

Run `python tests/benchmarks/coverage_ahead.py [RUNS [PART ...]]` (400 by default, some minutes;
at most 100 for pairs and clusters, 200 for components). It prints one Markdown table a part, with
the usual method beside ours, and ends with exit code 1 when a row of ours misses its goal by more
than two standard errors of the simulation.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ferrite_nb.stats import (
    anytime_clusters,
    anytime_interval,
    anytime_pairs,
    components,
    forecast,
    interval,
    largest_k,
    mcnemar,
    repeated_looks,
    worst,
)


@dataclass(frozen=True)
class Row:
    """One line: how often the usual method and ours were wrong, and the most that ours may be."""

    scenario: str
    usual: float
    ours: float
    goal: float

    def passed(self, runs: int) -> bool:
        return self.ours <= self.goal + 2 * (self.goal * (1 - self.goal) / runs) ** 0.5


def passes(_: int) -> Iterator[Row]:
    """A gate at 2 %, tried at every look until it passes, at a true rate of 2 %: exact."""
    for looks in (1, 12, 100):
        sizes = np.arange(1, looks + 1) * (50 if looks > 1 else 600)
        chances = []
        for method in ("wilson", "anytime"):
            limits = [largest_k(int(n), 0.02, method=method) for n in sizes]
            chances.append(repeated_looks(sizes, limits, 0.02).any_look)
        yield Row(f"false pass at any of {looks} looks, to n = {sizes[-1]:,}", *chances, 0.05)


def looks(runs: int) -> Iterator[Row]:
    """The truth outside the interval at some of 100 looks, every 10 cases."""
    n = np.arange(10, 1001, 10)
    for rate in (0.02, 0.1, 0.3, 0.5):
        steps = np.random.default_rng(0).binomial(10, rate, (runs, len(n)))
        k = steps.cumsum(axis=1)
        pairs, place = np.unique(
            np.stack([k.ravel(), np.tile(n, runs)]), axis=1, return_inverse=True
        )
        missed = []
        for method in (interval, anytime_interval):
            ends = method(*pairs)
            out = (ends.low > rate) | (ends.high < rate)
            missed.append(float(out[place.ravel()].reshape(k.shape).any(axis=1).mean()))
        yield Row(f"truth missed at any of 100 looks, rate {rate}", *missed, 0.05)


def paired(runs: int) -> Iterator[Row]:
    """A difference that is not there, found at some look after every 10 pairs, 50 looks."""
    runs = min(runs, 100)
    for discordant in (0.1, 0.3):
        shares = [discordant / 2, discordant / 2, 1 - discordant]
        draws = np.random.default_rng(1).multinomial(10, shares, (runs, 50)).cumsum(axis=1)
        tables = np.unique(draws.reshape(-1, 3), axis=0)
        small = {}
        for b, c, rest in tables.tolist():
            p = mcnemar(b, c).p, anytime_pairs(rest, b, c, 0).p
            small[b, c, rest] = [value <= 0.05 for value in p]
        found = np.array([[small[tuple(t)] for t in run] for run in draws.tolist()])
        rates = found.any(axis=1).mean(axis=0)
        yield Row(f"no difference, found at any of 50 looks, {discordant} differ", *rates, 0.05)


def clustered(runs: int) -> Iterator[Row]:
    """The truth missed at some look after every second of 40 clusters of 10 cases."""
    runs = min(runs, 100)
    for rate, icc in ((0.1, 0.3), (0.3, 0.3), (0.3, 0.8)):
        random, weight = np.random.default_rng(2), 1 / icc - 1
        p = random.beta(rate * weight, (1 - rate) * weight, (runs, 40))
        k = random.binomial(10, p)
        plain = ours = 0
        for run in k:
            at = np.arange(2, 41, 2)
            ends = anytime_interval(run.cumsum()[at - 1], at * 10)
            plain += bool(((ends.low > rate) | (ends.high < rate)).any())
            limits = [anytime_clusters(run[:g], [10] * g, most=10) for g in at]
            ours += any(end.low > rate or end.high < rate for end in limits)
        name = f"truth missed at any of 20 looks, clusters of 10, rate {rate}, ICC {icc}"
        yield Row(name, plain / runs, ours / runs, 0.05)


def forecasts(runs: int) -> Iterator[Row]:
    """The share broken within K outside the band; usual: 1 - (1 - p)^K with its own interval."""
    random = np.random.default_rng(3)
    truths = {
        "beta(.2, 2)": lambda size: random.beta(0.2, 2, size),
        "beta(.5, 8)": lambda size: random.beta(0.5, 8, size),
        "half never, half .05": lambda size: np.where(random.random(size) < 0.5, 0, 0.05),
        "all .02": lambda size: np.full(size, 0.02),
        "1 in 5 at .3, rest .002": lambda size: np.where(random.random(size) < 0.2, 0.3, 0.002),
    }
    for name, draw in truths.items():
        chance = draw(200_000)
        for m, times, n in ((10, 2, 250), (25, 2, 250), (10, 4, 600), (25, 4, 100)):
            truth = float((1 - (1 - chance) ** (m * times)).mean())
            usual = ours = told = 0
            for _ in range(runs):
                case = draw(n)
                first = random.geometric(np.maximum(case, 1e-12))
                half, hits = int((first <= m // 2).sum()), int((first <= m).sum())
                tries = random.binomial(m, case).sum()
                ends = interval(int(tries), n * m)
                low, high = (1 - (1 - end) ** (m * times) for end in (ends.low, ends.high))
                usual += not low <= truth <= high
                band = forecast(half, hits, n, m, m * times)
                told += band.note == ""
                ours += band.note == "" and not band.low <= truth <= band.high
            share = ours / max(told, 1)
            text = f"{name}, m = {m}, K = {m * times}, n = {n} (refused {1 - told / runs:.2f})"
            yield Row(text, usual / runs, share, 0.05)


def spread(runs: int) -> Iterator[Row]:
    """The mean outside ± 2 standard errors, and the gains of doubling outside their limits."""
    runs = min(runs, 200)
    for templates, cases, repeats, by_template, by_case in (
        (20, 20, 5, 0.15, 0.1),
        (10, 30, 3, 0.2, 0.1),
        (8, 8, 3, 0.1, 0.1),
    ):
        random, means, plain, own, out = np.random.default_rng(4), [], [], [], []
        facets = {
            "template": np.repeat(np.arange(templates), cases * repeats),
            "case": np.tile(np.repeat(np.arange(cases), repeats), templates),
        }
        size = templates * cases * repeats
        noise = 0.4
        parts = np.array([by_template**2 / templates, by_case**2 / cases, noise**2 / size])
        true = 1 - np.sqrt(
            1 - np.array([[1, 0, 1], [0, 1, 1], [0, 0, 1]]) @ parts / 2 / parts.sum()
        )
        for _ in range(runs):
            effect = random.normal(0, by_template, templates)[facets["template"]]
            effect += random.normal(0, by_case, cases)[facets["case"]]
            outcome = effect + random.normal(0, noise, size)
            result = components(outcome, facets)
            means.append(outcome.mean())
            plain.append(result.naive)
            own.append(result.se)
            names = ("template", "case", "repeat")
            ends = [(result.low[x], result.high[x]) for x in names]
            out.append([not low <= y <= high for (low, high), y in zip(ends, true, strict=True)])
        z = np.abs(means)
        name = f"{templates} templates × {cases} cases × {repeats}: "
        errors = f"SE {np.mean(plain):.4f}, {np.mean(own):.4f}; SD {np.std(means):.4f}"
        text = f"mean beyond 2 SE ({errors})"
        yield Row(
            name + text,
            float((z > 2 * np.array(plain)).mean()),
            float((z > 2 * np.array(own)).mean()),
            0.15,
        )
        for place, facet in enumerate(("template", "case", "repeat")):
            share = float(np.mean(out, axis=0)[place])
            yield Row(f"{name}gain of twice the {facet}s ({true[place]:.3f})", np.nan, share, 0.15)


def worst_of(runs: int) -> Iterator[Row]:
    """The stratum with the highest count: its own interval misses its rate; the set misses the
    worst.
    """
    for name, rates in (
        ("8 alike, rate .1", np.full(8, 0.1)),
        ("30 alike, rate .05", np.full(30, 0.05)),
        ("8 from .05 to .15", np.linspace(0.05, 0.15, 8)),
        ("30 at .05 and one at .5", np.append(np.full(30, 0.05), 0.5)),
    ):
        k = np.random.default_rng(5).binomial(20, rates, (runs, len(rates)))
        usual = ours = 0
        for run in k:
            top = int(np.argmax(run))
            ends = interval(int(run[top]), 20)
            usual += not ends.low <= rates[top] <= ends.high
            ours += not worst(run, [20] * len(rates)).possible[rates == rates.max()].all()
        yield Row(f"{name}, 20 cases each", usual / runs, ours / runs, 0.05)


PARTS = (passes, looks, paired, clustered, forecasts, spread, worst_of)


def main() -> int:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    chosen = [part for part in PARTS if len(sys.argv) < 3 or part.__name__ in sys.argv[2:]]
    failed = 0
    for part in chosen:
        print(f"\n## {(part.__doc__ or '').strip()}\n\n| scenario | usual | ours | at most |")
        print("|:--|--:|--:|--:|")
        for row in part(runs):
            good = row.passed(runs)
            failed += not good
            mark = "" if good else " (missed)"
            print(f"| {row.scenario} | {row.usual:.3f} | {row.ours:.4f}{mark} | {row.goal} |")
            sys.stdout.flush()
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
