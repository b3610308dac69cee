"""How often the bounds contain the truth that `rates(judge=…, cluster=…)` and `detector` add to the
statistics.

Run `python tests/benchmarks/coverage_judged.py [RUNS]` (2,000 by default, two minutes); it prints
Markdown tables and ends with exit code 1 when a row falls below its floor. NaN counts as a miss.
Pytest does not run it.

Clusters: templates with Beta rates (mean p, intraclass correlation ICC), outputs flagged with Se
    and 1 - Sp, labels
from outside with equal classes, or a simple random part of the run. Ours is "delta" with the
clustered bounds of k/n; beside it stands double sampling with the same bounds, which treats labels
as independent. Precision: scores N(0, 1) and N(2, 1) or N(3, 1), the threshold found anew in each
    sample, the truth that of the population at the threshold found.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
from scipy.stats import norm

from ferrite_nb.analysis.detector import _point, _precision
from ferrite_nb.analysis.judged import Judge, Labels, unclipped, widened
from ferrite_nb.stats import clustered_interval, interval, tpr_at_fpr

Ends = tuple[float, float]


def judged(
    source: str, clusters: int, size: int, rate: float, icc: float, runs: int
) -> Iterator[list[Ends]]:
    """Per run the bounds that ignore clusters, ours, and double sampling; Se .90, Sp .95, 150
    labels.
    """
    random, weight, n = np.random.default_rng(0), 1 / icc - 1, clusters * size
    for _ in range(runs):
        truth = random.random((clusters, size)) < random.beta(
            rate * weight, (1 - rate) * weight, (clusters, 1)
        )
        flags = random.random(truth.shape) < np.where(truth, 0.90, 0.05)
        k, cells = int(flags.sum()), labelled(source, truth, flags, random)
        found = clustered_interval(flags.sum(axis=1), np.full(clusters, size))
        plain = unclipped(k, n, Judge(cells), "delta", Labels({}), 0.95)
        ours = widened(plain, k / n, interval(k, n), (found.low, found.high))
        ends = [(plain.low, plain.high), (ours.low, ours.high)]
        if source == "part":
            double = unclipped(
                k, n, Judge(cells, part=True), "double sample", Labels({}, resamples=1000), 0.95
            )
            double = widened(double, k / n, interval(k, n), (found.low, found.high))
            ends.append((double.low, double.high))
        yield ends


def labelled(
    source: str, truth: np.ndarray, flags: np.ndarray, random: np.random.Generator
) -> tuple[int, ...]:
    """tp, fn, tn, fp of 150 labels."""
    if source != "part":
        tp, tn = int(random.binomial(75, 0.90)), int(random.binomial(75, 0.95))
        return tp, 75 - tp, tn, 75 - tn
    rows = random.choice(truth.size, 150, replace=False)
    t, f = truth.ravel()[rows], flags.ravel()[rows]
    return int((t & f).sum()), int((t & ~f).sum()), int((~t & ~f).sum()), int((~t & f).sum())


def precision(
    max_fpr: float, n_pos: int, n_neg: int, shift: float, base: float, runs: int
) -> float:
    """Share of runs whose bounds of the precision hold that of the population at the threshold
    found.
    """
    random, inside = np.random.default_rng(0), 0
    labels = np.repeat([0, 1], [n_neg, n_pos])
    for seed in range(runs):
        scores = random.normal(np.where(labels, shift, 0.0))
        point = _point(max_fpr, tpr_at_fpr(labels, scores, max_fpr, seed=seed), True, 0.95)
        found = _precision(point, base)
        tpr, fpr = (
            norm.sf(point["threshold"] - shift) * base,
            norm.sf(point["threshold"]) * (1 - base),
        )
        inside += found["precision_low"] <= tpr / (tpr + fpr) <= found["precision_high"]
    return inside / runs


def main(runs: int = 2000) -> int:
    """Print both tables; 1 when a row misses its floor."""
    missed = 0
    print("| clusters behind a judge | clusters ignored | ours | width | double sample | goal | |")
    print("|---|---|---|---|---|---|---|")
    for source, clusters, size, rate, icc in (
        ("outside", 20, 10, 0.10, 0.2),
        ("outside", 60, 10, 0.10, 0.2),
        ("outside", 60, 10, 0.30, 0.5),
        ("part", 20, 10, 0.10, 0.2),
        ("part", 60, 10, 0.10, 0.2),
        ("part", 60, 10, 0.30, 0.5),
        ("part", 60, 100, 0.10, 0.2),
    ):
        ends = np.array(list(judged(source, clusters, size, rate, icc, runs)))
        inside = ((ends[:, :, 0] <= rate) & (rate <= ends[:, :, 1])).mean(axis=0)
        width = float(np.nanmean(np.clip(ends[:, 1, 1], 0, 1) - np.clip(ends[:, 1, 0], 0, 1)))
        missed += inside[1] < 0.93
        double, verdict = (
            f"{inside[2]:.3f}" if source == "part" else "",
            "ok" if inside[1] >= 0.93 else "MISSED",
        )
        name = f"{clusters} × {size}, rate {rate:.2f}, ICC {icc}, labels {source}"
        print(
            f"| {name} | {inside[0]:.3f} | {inside[1]:.3f} | {width:.3f} | {double} | .930 |"
            f" {verdict} |",
            flush=True,
        )
    print("\n| precision at the base rate | coverage | goal | |\n|---|---|---|---|")
    for max_fpr, n_pos, n_neg, shift, base in (
        (0.01, 100, 1000, 2.0, 0.01),
        (0.001, 200, 5000, 3.0, 0.001),
    ):
        coverage = precision(max_fpr, n_pos, n_neg, shift, base, runs)
        missed += coverage < 0.95
        name = f"FPR at most {max_fpr}, {n_pos} positives, {n_neg} negatives, base rate {base}"
        print(
            f"| {name} | {coverage:.3f} | 0.950 | {'ok' if coverage >= 0.95 else 'MISSED'} |",
            flush=True,
        )
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
