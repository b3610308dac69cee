"""How often judge-corrected and detector intervals contain the truth, and how wide they are.

Run `python tests/benchmarks/coverage_judges.py [RUNS]` (4,000 by default, about two minutes); it
prints Markdown tables and ends with exit code 1 when a row falls below its floor. A simulated
coverage of .95 from 4,000 runs has a standard error of .0035. NaN counts as a miss and as a case
"not computable".

Outputs have the event with the true rate and are flagged with Se and 1 - Sp. Labels are either a
simple random part of the same run ("part") or an outside calibration set ("outside"), with equal
classes unless a row says otherwise. Beside our method stand the two that other tools use: Se and Sp
    taken as known, and the flagged share taken as known.
Detector scores are N(0, 1) for negatives and N(2, 1) or N(3, 1) for positives; the truth is the
true-positive rate at the threshold of the population.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from ferrite_nb.stats import double_sample, rogan_gladen, tpr_at_fpr

DRAWS = 4000  # of each interval: its percentiles move coverage by less than the runs do


@dataclass(frozen=True)
class Scene:
    """A judge and a run: n outputs of which `labels` are labelled, as a part of the run or
    outside.
    """

    n: int
    labels: int
    rate: float
    se: float
    sp: float
    source: str
    floor: float
    widest: float | None = None
    positives: int | None = None

    @property
    def name(self) -> str:
        """The scene in words."""
        kind = (
            f"{self.labels} of {self.n}"
            if self.source == "part"
            else f"{self.labels} outside, n {self.n}"
        )
        kind += "" if self.positives is None else f" ({self.positives} positives expected)"
        return f"{kind}, rate {self.rate:.2f}, Se {self.se:.2f}, Sp {self.sp:.2f}"


def outputs(scene: Scene, random: np.random.Generator, runs: int) -> tuple[np.ndarray, np.ndarray]:
    """Per run the flagged outputs, and the labelled tp, fn, tn, fp."""
    rate, se, sp = scene.rate, scene.se, scene.sp
    cells = [rate * se, rate * (1 - se), (1 - rate) * sp, (1 - rate) * (1 - sp)]
    run = random.multinomial(scene.n, cells, runs)
    k = run[:, 0] + run[:, 3]
    if scene.source == "part":
        return k, np.array([random.multivariate_hypergeometric(row, scene.labels) for row in run])
    if scene.positives is None:
        positives = np.full(runs, scene.labels // 2)
    else:
        positives = random.binomial(scene.labels, scene.positives / scene.labels, runs)
    tp, tn = random.binomial(positives, se), random.binomial(scene.labels - positives, sp)
    return k, np.column_stack([tp, positives - tp, tn, scene.labels - positives - tn])


def share_taken_as_known(
    k: int, n: int, counts: list[int], random: np.random.Generator
) -> tuple[float, float]:
    """Only the labels are resampled, the flagged share is not: how some tools do it."""
    tp, fn, tn, fp = counts
    if not tp + fn or not tn + fp:
        return np.nan, np.nan
    se = random.binomial(tp + fn, tp / (tp + fn), 1000) / (tp + fn)
    sp = random.binomial(tn + fp, tn / (tn + fp), 1000) / (tn + fp)
    usable = se + sp > 1
    if not usable.any():
        return np.nan, np.nan
    rates = np.clip((k / n + sp[usable] - 1) / (se[usable] + sp[usable] - 1), 0, 1)
    low, high = np.quantile(rates, [0.025, 0.975])
    return float(low), float(high)


def judged(scene: Scene, runs: int) -> dict[str, np.ndarray]:
    """Limits of every method in every run."""
    random = np.random.default_rng(0)
    flagged, labels = outputs(scene, random, runs)
    found: dict[str, list[tuple[float, float]]] = {
        "ours": [],
        "Se, Sp known": [],
        "share known": [],
    }
    for seed, (k, counts) in enumerate(zip(flagged.tolist(), labels.tolist(), strict=True)):
        if scene.source == "part":
            ours = double_sample(k, scene.n, *counts, resamples=DRAWS, seed=seed)
        else:
            ours = rogan_gladen(k, scene.n, *counts)
        fixed = rogan_gladen(k, scene.n, *counts, method="fixed")
        found["ours"].append((ours.low, ours.high))
        found["Se, Sp known"].append((fixed.low, fixed.high))
        found["share known"].append(share_taken_as_known(k, scene.n, counts, random))
    return {name: np.array(ends) for name, ends in found.items()}


def summary(ends: np.ndarray, truth: float | np.ndarray) -> tuple[float, float, float]:
    """Coverage with NaN as a miss, mean width, and the share not computable."""
    inside = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    return (
        float(inside.mean()),
        float(np.nanmean(ends[:, 1] - ends[:, 0])),
        float(np.isnan(ends[:, 0]).mean()),
    )


def scenes() -> Iterator[Scene]:
    """The rows with stated floors, the same with labels from outside, and the added grid of
    judges.
    """
    rows = (
        (600, 150, 0.02, 0.90, 0.95, 0.945, 0.042),
        (600, 150, 0.10, 0.90, 0.95, 0.945, 0.073),
        (600, 150, 0.10, 0.70, 0.90, 0.935, 0.086),
        (6000, 150, 0.10, 0.90, 0.95, 0.94, 0.064),
        (600, 500, 0.10, 0.90, 0.95, 0.94, 0.050),
    )
    for n, labels, rate, se, sp, floor, widest in rows:
        yield Scene(n, labels, rate, se, sp, "part", floor, widest)
    for n, labels, rate, se, sp, _, _ in rows:
        yield Scene(n, labels, rate, se, sp, "outside", 0.94)
    yield Scene(600, 150, 0.02, 0.90, 0.95, "outside", 0.0, None, 3)
    for source in ("part", "outside"):
        for n in (600, 6000):
            for se, sp in ((0.93, 0.93), (0.75, 0.99)):
                for rate in (0.02, 0.10, 0.40):
                    yield Scene(n, 150, rate, se, sp, source, 0.93)


def detectors(runs: int) -> Iterator[tuple[str, float, float, float, float, float]]:
    """Name, Wilson coverage, our coverage and width, floor and guide of width."""
    for max_fpr, n_pos, n_neg, shift, floor, widest in (
        (0.01, 100, 1000, 2.0, 0.95, 0.27),
        (0.001, 200, 5000, 3.0, 0.93, 0.25),
    ):
        random = np.random.default_rng(0)
        labels = np.repeat([0, 1], [n_neg, n_pos])
        truth = float(norm.sf(norm.isf(max_fpr) - shift))
        plain, ours = [], []
        for seed in range(runs):
            scores = random.normal(np.where(labels, shift, 0.0))
            for interval, ends in (("wilson", plain), ("bootstrap", ours)):
                found = tpr_at_fpr(labels, scores, max_fpr, interval=interval, seed=seed)
                ends.append((found.low, found.high))
        coverage, width, _ = summary(np.array(ours), truth)
        name = f"TPR at FPR {max_fpr}, {n_pos} positives, {n_neg} negatives"
        yield name, summary(np.array(plain), truth)[0], coverage, width, floor, widest


def main(runs: int = 4000) -> int:
    """Print both tables; 1 when a row misses its floor."""
    missed = 0
    print(
        "| scene | method | coverage | width | not computable | Se, Sp known | share known |"
        " goal | |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for scene in scenes():
        ends = judged(scene, runs)
        coverage, width, nothing = summary(ends["ours"], scene.rate)
        good = coverage >= scene.floor and (scene.widest is None or width <= 1.05 * scene.widest)
        missed += not good
        others = [summary(ends[name], scene.rate) for name in ("Se, Sp known", "share known")]
        beside = " | ".join(f"{c:.3f} / {w:.3f}" for c, w, _ in others)
        goal = (f"{scene.floor:.3f}" if scene.floor else "none") + (
            f" / {scene.widest:.3f}" if scene.widest else ""
        )
        method = "double_sample" if scene.source == "part" else "delta"
        print(
            f"| {scene.name} | {method} | {coverage:.4f} | {width:.4f} | {nothing:.3f} | {beside} |"
            f" {goal} | {'ok' if good else 'MISSED'} |",
            flush=True,
        )
    print(
        "\n| detector | Wilson at the found threshold | bootstrap | width | goal |"
        " |\n|---|---|---|---|---|---|"
    )
    for name, plain, coverage, width, floor, widest in detectors(runs):
        good = coverage >= floor and width <= 1.05 * widest
        missed += not good
        goal = f"{floor:.3f} / {widest:.2f}"
        print(
            f"| {name} | {plain:.4f} | {coverage:.4f} | {width:.4f} | {goal} |"
            f" {'ok' if good else 'MISSED'} |"
        )
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
