"""References: what each exercise and each prediction asks for, and its typical wrong answers,
computed from the package's own statistics; nothing here is written down as a result.

A function has the name of its exercise, takes the counts of the question, and gives numbers by
name. A list holds several right answers, or several values of one mistake.
"""

from __future__ import annotations

import random
from functools import cache
from statistics import stdev
from typing import Any

import numpy as np
import pandas as pd

from ... import stats
from ...bundled import data
from . import stream

CALLS = ((0.95, 0.05), (0.90, 0.01), (0.80, 0.001))  # TPR and FPR of the detector's thresholds
SUITES = (((4, 400), (40, 200)), ((1, 200), (72, 400)))  # easy and hard, before and after a change
PAIRS = ((18, 6), (40, 2), (44, 1), (25, 9), (30, 4), (7, 2))  # b and c of six pairs of modes


def ends(k: float, n: float, method: str = "wilson", level: float = 0.95) -> tuple[float, float]:
    """Both bounds of an interval."""
    found = stats.interval(k, n, method=method, level=level)
    return float(found.low), float(found.high)


def normal(rate: float, sd: float) -> tuple[float, float]:
    """The textbook (Wald) bounds that the package refuses: here only to be recognised."""
    return rate - 1.96 * sd, rate + 1.96 * sd


def bounds_of_rate(k: int, n: int) -> dict[str, Any]:
    """The interval of k of n, and other intervals that are taken for it."""
    rate = k / n
    return {
        "interval": ends(k, n),
        "wald": normal(rate, (rate * (1 - rate) / n) ** 0.5),
        "clopper-pearson": ends(k, n, "clopper-pearson"),
        "jeffreys": ends(k, n, "jeffreys"),
    }


def ex085(one_in: int, calls: int) -> dict[str, Any]:
    """The call centre."""
    days = [stats.alerts(tpr, fpr, 1 / one_in, calls) for tpr, fpr in CALLS]
    return {
        "precision": [day.precision for day in days],
        "wrong": [1 - day.precision for day in days],
        "at 50 %": [stats.alerts(tpr, fpr, 0.5, calls).precision for tpr, fpr in CALLS],
        "alerts": [day.false_alerts for day in days],
        "all alerts": [day.true_alerts + day.false_alerts for day in days],
        "tpr": [tpr for tpr, _ in CALLS],
        "left alone": [0.99],
        "never alerts": 1 - 1 / one_in,
        "base rate": 1 / one_in,
        "calls": calls,
        "genuine": calls * (1 - 1 / one_in),
    }


def ex086(k: int, n: int) -> dict[str, Any]:
    """The interval of k of n."""
    found = bounds_of_rate(k, n)
    return found | {
        "90 %": ends(k, n, level=0.90),
        "99 %": ends(k, n, level=0.99),
        "3/20": ends(3, 20),
        "300/2000": ends(300, 2000),
        "two decimals": tuple(round(end, 2) for end in found["interval"]),
        "plus minus": (k / n - 0.05, k / n + 0.05),
    }


def ex087(sample: int, one_in: int) -> dict[str, Any]:
    """A judge on a random sample."""
    k = round(sample / one_in)
    return {
        "positives": sample / one_in,
        "negatives": sample - sample / one_in,
        "in percent": 100 / one_in,
        "sample": sample,
        "all found": ends(k, k),
        "clopper-pearson": ends(k, k, "clopper-pearson"),
        "whole sample": ends(sample, sample),
        "constant": 1 - 1 / one_in,
        "base rate": 1 / one_in,
    }


def lab(seed: int) -> dict[str, Any]:
    """Lab S with any seed, and what ports of it give."""
    sample, draws = stream.paired_sample(seed), random.Random(seed)
    off, on = sum(sample.baseline), sum(sample.defended)
    hits = [draws.random() < 0.30 for _ in sample.baseline]
    exact = stats.bootstrap_proportion(off - on, 300)
    apart = 300 * sum(k / 300 * (1 - k / 300) for k in (off, on))
    return {
        "off": off,
        "on": on,
        "off of seed 0": sum(stream.paired_sample(0).baseline),
        "second for all": sum(draws.random() < 0.6 and hit for hit in hits),
        "turned": off - on,
        "ends": (round(exact.low * 300), round(exact.high * 300)),
        "apart": normal(off - on, apart**0.5),
        "as a share": (exact.low, exact.high),
    }


def x01(tpr: float, fpr: float, one_in: int) -> dict[str, Any]:
    """Precision by base rate; the detector's rates are in percent."""
    bases = (2, 100, 1000)
    at = {base: stats.alerts(tpr / 100, fpr / 100, 1 / base, 10_000) for base in (*bases, one_in)}
    return {
        "precision": at[one_in].precision,
        "tpr": tpr / 100,
        "accuracy": 1 - fpr / 100,
        "at 50 %": at[2].precision,
        "at 1 %": at[100].precision,
        "three": [tuple(at[base].precision for base in bases)],
        "false alerts": [tuple(at[base].false_alerts for base in bases)],
        "half": tpr / 100 / (one_in - 1),
    }


def x02(n: int) -> dict[str, Any]:
    """A system that does none of n tasks."""
    return {"none of n": ends(0, n)}


def x03(variants: int) -> dict[str, Any]:
    """Variants with a true rate of 3 % that are held to "at most 2 %" of 600 by the point rule."""
    one = float(stats.operating_curve(600, stats.largest_k(600, 0.02, method="point") or 0, 0.03))
    return {
        "some": stats.at_least_once(one, variants),
        "one": one,
        "tests at 5 %": stats.at_least_once(0.05, variants),
        "sum": variants * one,
        "one fails": 1 - one,
    }


def x04() -> dict[str, Any]:
    """Success within 25 attempts of 2 %: cases alike, or with rates from Beta(.1, 4.9)."""
    alike, varied = stats.within_attempts(0.02, 25), stats.within_attempts(0.02, 25, icc=1 / 6)
    return {"within": [(alike, varied)], "never": 1 - alike}


def x05(*cells: int) -> dict[str, Any]:
    """TP, FP, FN, TN of a judge without the defence, then with it."""
    (judge_0, people_0, agree_0), (judge_1, people_1, agree_1) = (
        ((tp + fp) / n, (tp + fn) / n, (tp + tn) / n)
        for tp, fp, fn, tn in (cells[:4], cells[4:])
        for n in (tp + fp + fn + tn,)
    )
    judge, people = judge_0 - judge_1, people_0 - people_1
    return {
        "reductions": [(judge, people)],
        "agreement": [(agree_0, agree_1)],
        "agreement of one": agree_0,
        "bias": judge - people,
    }


def x06() -> dict[str, Any]:
    """Attack success on v1 easy, v1 hard, v2 easy, v2 hard."""

    def pooled(cells: Any) -> float:
        return sum(k for k, _ in cells) / sum(n for _, n in cells)

    every = [cell for version in SUITES for cell in version]
    return {
        "rates": [tuple(k / n for k, n in every)],
        "over difficulty": [tuple(pooled(version) for version in SUITES)],
        "over versions": pooled(every),
    }


def x07() -> dict[str, Any]:
    """Exact McNemar p of six pairs, and corrections."""
    tests = [stats.mcnemar(b, c) for b, c in PAIRS]
    p = [test.p for test in tests]
    return {
        "p": tuple(p),
        "one-sided": tuple(one / 2 for one in p),
        "mid-p": tuple(test.mid_p for test in tests),
        "holm": tuple(float(one) for one in stats.holm(p).adjusted),
        "bonferroni": tuple(min(1.0, 6 * one) for one in p),
        "first bonferroni": 6 * p[0],
    }


def x08(broken: int, templates: int, size: int) -> dict[str, Any]:
    """Wholly broken templates: Wilson on the templates, or the clustered interval of the cases."""
    k = [size] * broken + [0] * (templates - broken)
    cases = stats.clustered_interval(k, [size] * templates)
    again = stats.bootstrap_proportion(broken, templates)
    found = bounds_of_rate(broken, templates)
    return found | {
        "interval": [found["interval"], (cases.low, cases.high)],
        "naive": ends(broken * size, templates * size),
        "bootstrap": (again.low, again.high),
        "templates": templates,
    }


def x09() -> dict[str, Any]:
    """A sign test without effect on 100 pairs."""
    return {
        "any look": stats.repeated_tests(range(10, 101, 10)).any_look,
        "one look": stats.repeated_tests([100]).any_look,
        "independent": stats.at_least_once(0.05, 10),
    }


def x10(k: int, n: int) -> dict[str, Any]:
    """One of three equal runs of the same cases."""
    spread = stdev(one / 200 for one in stream.seed_counts())
    return bounds_of_rate(k, n) | {
        "twice": (k / n, k / n),
        "three runs": ends(3 * k, 3 * n),
        "spreads": (spread, (0.12 * 0.88 / 200) ** 0.5),
    }


@cache
def published() -> pd.DataFrame:
    """The published cells of arXiv:2510.05244v1."""
    return pd.read_csv(data("agentdojo_tables_2510.05244.csv"), dtype={"run_counts": str})


def nested_runs(run_counts: str, n: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Outcomes of n cases (columns) in their runs (rows), when the runs agree as much as their
    counts allow.

    A sorted triple such as 14/15/15 says nothing about the order of the runs, nor about which cases
    they are. Runs that agree carry the least information, so an interval that is made from them is
    the widest that the counts allow.

    Example
    -------
    >>> nested_runs("1/2/2", 4).sum(axis=0)
    array([3, 2, 0, 0])
    """
    runs = [int(count) for count in run_counts.split(" or ")[0].split("/")]
    return np.arange(n) < np.array(runs)[:, None]


def x11(model: int) -> dict[str, Any]:
    """Attack success of a model without a defence, over four suites and three runs of each case."""
    cells = published()[published()["table"] == "ASR"].query("defence == 'none'")
    cells = cells[cells["model"] == cells["model"].unique()[model]]
    k, n = cells["k_pooled"].sum(), cells["n_pooled"].sum()
    runs = [nested_runs(row.run_counts, row.n_cases) for row in cells.itertuples()]
    case = np.concatenate(runs, axis=1).sum(axis=0)
    known = stats.clustered_interval(case, [3] * len(case))
    rates = (cells["k_pooled"] / cells["n_pooled"]).to_numpy()
    sd = float((rates * (1 - rates) / cells["n_pooled"]).sum()) ** 0.5 / len(cells)
    return {
        "interval": [(known.low, known.high), score(k / n, len(case))],
        "pooled": ends(int(k), int(n)),
        "micro": k / n,
        "macro": rates.mean(),
        "macro interval": normal(float(rates.mean()), sd),
    }


def score(rate: float, n: float) -> tuple[float, float]:
    """Wilson's bounds of a rate that is no whole count of n."""
    middle, z2 = rate + 1.96**2 / (2 * n), 1.96**2 / n
    half = 1.96 * (rate * (1 - rate) / n + z2 / (4 * n)) ** 0.5
    return (middle - half) / (1 + z2), (middle + half) / (1 + z2)
