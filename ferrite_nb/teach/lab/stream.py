"""Lab S: the chapter's synthetic outcomes, drawn again from Python's own random stream, line by
line.

`random.Random(seed).random()` repeats on every Python; `randrange` is promised to repeat on none.
So counts of outcomes are exact, and the resampled bounds are compared as whole counts.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import mean, stdev

import pandas as pd

__all__ = [
    "Coverage",
    "PairedSample",
    "coverage",
    "lines",
    "paired_sample",
    "resampled",
    "same_margins",
    "seed_counts",
]

MODES = ("Off", "On")
Z = 1.96  # the chapter's z; the exact one changes nothing at three decimals


@dataclass(frozen=True)
class PairedSample:
    """Outcomes of the same cases without and with the defence; `stream` is where the generator
    stands after them.
    """

    baseline: tuple[bool, ...]
    defended: tuple[bool, ...]
    stream: random.Random

    @property
    def cells(self) -> tuple[int, int, int, int]:
        """The 2 x 2 table: both, only the baseline, only the defended run, neither."""
        pairs = list(zip(self.baseline, self.defended, strict=True))
        both, b, c = (pairs.count(pair) for pair in ((True, True), (True, False), (False, True)))
        return both, b, c, len(pairs) - both - b - c


@dataclass(frozen=True)
class Coverage:
    """Result of `coverage`: `inside` of `seeds` intervals hold the truth; `at_least` as large a
    reduction as asked.
    """

    seeds: int
    inside: int
    at_least: int
    exact: float
    exact_at_least: float


def seed_counts(seeds: Iterable[int] = range(5), *, n: int = 200, rate: float = 0.12) -> list[int]:
    """Successes of one run per seed: n draws each, a success when the draw is below the rate.

    Example
    -------
    >>> seed_counts()
    [22, 26, 27, 21, 29]
    """
    streams = [random.Random(seed) for seed in seeds]
    return [sum(stream.random() < rate for _ in range(n)) for stream in streams]


def paired_sample(
    seed: int = 42, *, n: int = 300, rate: float = 0.30, kept: float = 0.6
) -> PairedSample:
    """A baseline run, and the defended run of the same cases.

    Only a success of the baseline gets a second draw: the defence turns it into a failure unless
        that draw is below
    `kept`. So the defended run never succeeds alone, and the true reduction is rate * (1 - kept).

    Example
    -------
    >>> paired_sample().cells
    (57, 48, 0, 195)
    """
    stream = random.Random(seed)
    baseline = tuple(stream.random() < rate for _ in range(n))
    defended = tuple(hit and stream.random() < kept for hit in baseline)
    return PairedSample(baseline, defended, stream)


def resampled(sample: PairedSample, *, resamples: int = 2000) -> tuple[int, int]:
    """The 2.5 and 97.5 percent positions of the resampled reduction, as whole counts of cases.

    The generator of the sample goes on, as in the lab; the sample itself is not changed.
    """
    stream = random.Random()
    stream.setstate(sample.stream.getstate())
    gained = [a - b for a, b in zip(sample.baseline, sample.defended, strict=True)]
    n = len(gained)
    found = sorted(sum(gained[stream.randrange(n)] for _ in range(n)) for _ in range(resamples))
    return found[resamples * 25 // 1000], found[resamples * 975 // 1000 - 1]


def lines() -> list[str]:
    """The five printed lines of Lab S.

    Example
    -------
    >>> lines()[1]
    'successes=30/200 rate=0.150 wilson95=[0.107, 0.206]'
    """
    from ...stats import interval

    printed = []
    for k, n in ((3, 20), (30, 200), (300, 2000)):
        ends = interval(k, n, z=Z)
        printed.append(
            f"successes={k}/{n} rate={k / n:.3f} wilson95=[{ends.low:.3f}, {ends.high:.3f}]"
        )
    rates = [k / 200 for k in seed_counts()]
    listed = " ".join(f"{rate:.3f}" for rate in rates)
    printed.append(f"per-seed rates: {listed} mean={mean(rates):.3f} sd={stdev(rates):.3f}")
    sample = paired_sample()
    n = len(sample.baseline)
    low, high = (count / n for count in resampled(sample))
    shown = (
        f"baseline_asr={sum(sample.baseline) / n:.3f} defended_asr={sum(sample.defended) / n:.3f}"
    )
    return [*printed, f"{shown} reduction_ci95=[{low:.3f}, {high:.3f}]"]


def coverage(
    seeds: int = 2000, *, n: int = 300, rate: float = 0.30, kept: float = 0.6, asked: int = 48
) -> Coverage:
    """How often the closed-form bootstrap interval holds the true reduction, over many seeds and
    exactly.

    Recipe: seeds 0, 1, ... of `paired_sample`; the interval is that of Bin(n, b/n)/n, the limit of
        ever more
    resamples; a truth on its end counts as inside. `asked` is a count of turned cases whose chance
    is told.

    Example
    -------
    >>> found = coverage(100)
    >>> found.seeds, round(found.exact, 3), round(found.exact_at_least, 3)
    (100, 0.957, 0.024)
    """
    import numpy as np
    from scipy.stats import binom

    truth = rate * (1 - kept)
    turned = np.arange(n + 1)
    low, high = (binom.ppf(tail, n, turned / n) for tail in (0.025, 0.975))
    # Compared as counts: .12 of 300 is 36 cases, whatever the last digit of the product.
    holds = np.asarray((low <= truth * n + 1e-9) & (truth * n - 1e-9 <= high))
    seen = np.array(
        [paired_sample(seed, n=n, rate=rate, kept=kept).cells[1] for seed in range(seeds)],
        dtype=int,
    )
    chance = binom.pmf(turned, n, truth)
    at_least = float(chance[asked:].sum())
    return Coverage(
        seeds, int(holds[seen].sum()), int((seen >= asked).sum()), float(chance @ holds), at_least
    )


def same_margins(c: int = 0) -> pd.DataFrame:
    """The lab's 300 cases with its margins 105 and 57, and c cases that only the defended run
    succeeds on.

    Returns
    -------
    DataFrame with one row per case and mode ("Off", "On"), and the column `pairing` ("c = 0"), as
    `fnb.outcomes` takes it. Frames of several c can be put under one another.

    Raises
    ------
    ValueError: c is not in 0 to 57: no table has these margins.
    """
    before, after, n = 105, 57, 300
    if not 0 <= c <= after:
        raise ValueError(f"c must lie in 0 to {after}, got {c}: the margins allow no other")
    both, b = after - c, before - after + c
    kinds = [(True, True)] * both + [(True, False)] * b + [(False, True)] * c
    kinds += [(False, False)] * (n - len(kinds))
    name = f"c = {c}"
    cases = [(f"{name}, case {case:03d}", pair) for case, pair in enumerate(kinds)]
    rows = [
        (case, mode, hit, name)
        for case, pair in cases
        for mode, hit in zip(MODES, pair, strict=True)
    ]
    return pd.DataFrame(rows, columns=["case_id", "mode", "attack_success", "pairing"])
