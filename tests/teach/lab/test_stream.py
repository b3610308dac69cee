"""Lab S: the five printed lines, the paired counts, and the traps of porting them."""

from __future__ import annotations

import random

import pytest
from scipy.stats import binom

import ferrite_nb as fnb
from ferrite_nb.teach.lab import (
    coverage,
    lines,
    paired_sample,
    resampled,
    same_margins,
    seed_counts,
)

LINES = """\
successes=3/20 rate=0.150 wilson95=[0.052, 0.360]
successes=30/200 rate=0.150 wilson95=[0.107, 0.206]
successes=300/2000 rate=0.150 wilson95=[0.135, 0.166]
per-seed rates: 0.110 0.130 0.135 0.105 0.145 mean=0.125 sd=0.017
baseline_asr=0.350 defended_asr=0.190 reduction_ci95=[0.120, 0.203]
"""


def test_the_five_lines_byte_for_byte() -> None:
    assert "\n".join([*lines(), ""]).encode() == LINES.encode()


def test_paired_counts() -> None:
    sample = paired_sample()
    assert sample.cells == (57, 48, 0, 195)
    assert (sum(sample.baseline), sum(sample.defended), len(sample.baseline)) == (105, 57, 300)


def test_resampled_bounds_as_counts() -> None:
    sample = paired_sample()
    assert resampled(sample) == (36, 61)
    assert resampled(sample) == (36, 61)  # the sample's generator is not moved
    found = fnb.stats.bootstrap_pairs(*sample.cells)
    assert (found.low * 300, found.high * 300) == pytest.approx((36, 61), abs=2)
    ends = fnb.stats.bootstrap_proportion(48, 300)
    assert (round(ends.low * 300), round(ends.high * 300)) == (36, 61)


def test_a_second_draw_for_every_case_is_another_sample() -> None:
    stream = random.Random(42)
    baseline = [stream.random() < 0.30 for _ in range(300)]
    second = [stream.random() < 0.6 for _ in range(300)]
    defended = [a and b for a, b in zip(baseline, second, strict=True)]
    assert (sum(baseline), sum(defended)) == (105, 61)  # and not 57


def test_floats_of_the_differences_must_not_be_compared() -> None:
    """One count, several floats: each resample subtracts other rates."""
    floats = {(57 + before) / 300 - (21 + before) / 300 for before in range(100)}
    assert len(floats) > 1


def test_five_seeds() -> None:
    assert seed_counts() == [22, 26, 27, 21, 29]
    found = fnb.stats.seed_spread(seed_counts(), [200] * 5)
    assert found.sd == pytest.approx(0.0170, abs=5e-5)
    assert found.p == pytest.approx(0.72, abs=5e-3)


def test_exact_coverage_of_the_bootstrap_without_reversals() -> None:
    """Cells of the lesson: n 20, .02: 33 %; n 50, .02: 64 %; n 300, .02: 93 %; n 300, .12: 95.7
    %.
    """
    for n, rate, value in (
        (20, 0.02, 0.33),
        (50, 0.02, 0.64),
        (300, 0.02, 0.93),
        (300, 0.12, 0.957),
    ):
        assert coverage(1, n=n, rate=rate, kept=0.0).exact == pytest.approx(value, abs=6e-3)


def test_coverage_over_2000_seeds() -> None:
    found = coverage(2000)
    assert (found.inside, found.at_least) == (1921, 43)
    # both within four standard errors of their exact values
    assert abs(found.inside / 2000 - found.exact) < 4 * (0.957 * 0.043 / 2000) ** 0.5
    assert abs(found.at_least / 2000 - found.exact_at_least) < 4 * (0.024 * 0.976 / 2000) ** 0.5
    assert (
        found.exact_at_least
        == pytest.approx(binom.sf(47, 300, 0.12))
        == pytest.approx(0.024, abs=5e-4)
    )
    assert binom.sf(104, 300, 0.30) == pytest.approx(0.035, abs=5e-4)


@pytest.mark.parametrize(
    ("c", "cells", "newcombe", "p"),
    [
        (0, (57, 48, 0, 195), (0.1181, 0.2024), 7.1e-15),
        (2, (55, 50, 2, 193), (0.1160, 0.2042), 6.1e-13),
        (5, (52, 53, 5, 190), (0.1131, 0.2069), 3.5e-11),
        (10, (47, 58, 10, 185), (0.1086, 0.2109), 2.4e-09),
        (20, (37, 68, 20, 175), (0.1006, 0.2183), 2.8e-07),
        (57, (0, 105, 57, 138), (0.0777, 0.2394), 2.0e-04),
    ],
)
def test_the_same_margins_with_another_pairing(c, cells, newcombe, p) -> None:
    row = fnb.compare(fnb.outcomes(same_margins(c)), "ASR").iloc[0]
    assert tuple(row[["both", "b", "c", "neither"]]) == cells
    assert (row["low"], row["high"]) == pytest.approx(newcombe, abs=5e-5)
    assert row["p"] == pytest.approx(p, rel=0.02)
    assert (row["rate_a"] * 300, row["rate_b"] * 300, row["h"]) == pytest.approx(
        (105, 57, 0.3641), abs=5e-5
    )


def test_margins_allow_no_more_than_57() -> None:
    for c in (-1, 58):
        with pytest.raises(ValueError, match="0 to 57"):
            same_margins(c)
