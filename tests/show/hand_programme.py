"""Tables made by hand for the figures of a programme: gates, attempts, detectors, judges; bounds
from statsmodels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from . import hand

WILSON = "wilson"


def curve(n: int = 600, threshold: float = 0.02, accept: tuple[int, int] = (12, 5)) -> pd.DataFrame:
    """The chance to pass "at most the threshold" by the point rule and the bound rule, by scipy's
    binomial.
    """
    rates = np.unique([*np.linspace(0, 2 * threshold, 41), threshold])
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "rule": rule,
                    "n": n,
                    "accept": k,
                    "threshold": threshold,
                    "true_rate": rates,
                    "p_pass": binom.cdf(k, n, rates),
                }
            )
            for rule, k in zip(("point", "bound"), accept, strict=True)
        ],
        ignore_index=True,
    )


def release(
    name: str, k: int, n: int, version: str = "v1", note: str = "", **more: Any
) -> dict[str, Any]:
    """One row of `releases`."""
    more = {
        "judge_version": "judge 1",
        "threshold": 0.02,
        "rule": "upper bound",
        "verdict": "pass",
        **more,
    }
    row = hand.row(
        "tried",
        k,
        n,
        note,
        release=name,
        suite_version=version,
        requirement="tried at most 2.0%",
        **more,
    )
    return row | {"mode": "On", "quantity": "rate"}


def releases(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """A table of `releases`."""
    return hand.table_of("releases", rows)


def gate_tables() -> dict[str, pd.DataFrame]:
    """Every kind of table that the gate has to draw."""
    mixed = [
        release("1.0", 5, 600),
        release("1.1", 0, 600, verdict="cannot tell"),
        release("1.2", 9, 600, judge_version="judge 2", drift="yes"),
        release("1.3", 9, 600, "v2", judge_version="judge 2"),
        release("1.4", 3, 3, "v2"),
        release("1.5", 0, 0, "v2", "not computable: no attack ran in this mode"),
        release(
            "1.6",
            0,
            0,
            "v2",
            "refused: the requirement is for suite version v1, the results are of v2",
        ),
        release("1.7", 7, 600, ""),
        release("1.8", 600, 600, ""),
    ]
    forty = [
        release(f"a release with a name of forty letters {i:02d}", i, 600, f"suite {i // 10}")
        for i in range(40)
    ]
    hostile = [
        release(bad, i + 1, 600, hand.HOSTILE[-1 - i], bad, judge_version=bad, verdict=bad)
        for i, bad in enumerate(hand.HOSTILE)
    ]
    hostile = [
        row | {"requirement": hand.HOSTILE[0] + hand.HOSTILE[1] + hand.HOSTILE[5]}
        for row in hostile
    ]
    return {
        "one": releases([release("1.0", 5, 600)]),
        "two": releases([release("1.0", 5, 600), release("1.1", 9, 600)]),
        "mixed": releases(mixed),
        "lower": releases([release("1.0", 281, 300, rule="lower bound", threshold=0.9)]),
        "point": releases(
            [release("1.0", 2, 600, rule="point"), release("1.1", 12, 600, rule="point")]
        ),
        "forty": releases(forty),
        "hostile": releases(hostile),
        "insufficient": releases([release(str(n), 1, n) for n in (2, 3, 4)]),
        "zero": releases([release(str(n), 0, n) for n in (20, 600)]),
    }


def attempt(
    mode: str, at: int, k: int, n: int, p: float, note: str = "", **more: Any
) -> dict[str, Any]:
    """One row of `attempts`."""
    within = {"mode": mode, "quantity": "within", "attempts": at, "at_risk": n}
    return hand.row("ASR", k, n, note, independent=1 - (1 - p) ** at, **within, **more)


def series(mode: str, p: float, counts: list[tuple[int, int]], **more: Any) -> list[dict[str, Any]]:
    """The rows of one curve, K from 1 on."""
    return [attempt(mode, at, k, n, p, **more) for at, (k, n) in enumerate(counts, 1)]


def median(mode: str, value: float) -> dict[str, Any]:
    """The row of the median case of one curve."""
    row = attempt(mode, 0, 0, 0, 0.0, "x")
    empty = dict.fromkeys(("attempts", "k", "n", "independent", "at_risk"))
    words = {"state": "ok", "why": "", "note": ""}
    return row | empty | words | {"quantity": "median", "value": value, "low": 1.0, "high": 4.0}


def budget_tables() -> dict[str, pd.DataFrame]:
    """Every kind of table that the budget has to draw."""
    alike = [(round(250 * (1 - 0.98**at)), 250) for at in range(1, 26)]
    varied = [(round(250 * 0.172 * at / 25), 250) for at in range(1, 26)]
    falling = [(10, 20), (14, 20), (12, 15), (8, 9), (3, 4)]
    long = "an attack with a name of forty letters {:02d}"
    hostile = [
        attempt(bad, 1 + i, i + 1, 20, 0.1, bad, suite=bad) for i, bad in enumerate(hand.HOSTILE)
    ]
    return {
        "one": hand.table_of("attempts", [attempt("static", 1, 5, 250, 0.02)]),
        "two": hand.table_of("attempts", series("static", 0.02, [(5, 250), (9, 250)])),
        "lesson": hand.table_of(
            "attempts", [*series("static", 0.02, alike), *series("adaptive", 0.02, varied)]
        ),
        "falling": hand.table_of(
            "attempts",
            [
                *series("static", 0.5, falling),
                median("static", 2.0),
                *series("other", 0.1, [(0, 3), (1, 3)]),
            ],
        ),
        "eight": hand.table_of(
            "attempts",
            [one for i in range(8) for one in series(long.format(i), 0.1, [(i, 40), (i + 9, 40)])],
        ),
        "hostile": hand.table_of("attempts", hostile),
        "insufficient": hand.table_of("attempts", series("static", 0.1, [(0, 3), (1, 3), (2, 3)])),
        "zero": hand.table_of("attempts", series("static", 0.0, [(0, 50)] * 5)),
    }


def ends(k: int, n: int, method: str = WILSON) -> tuple[float, float]:
    """Bounds of a proportion by statsmodels."""
    low, high = proportion_confint(k, n, method=method)
    return (0.0 if k == 0 else float(low)), (1.0 if k == n else float(high))


def point(
    limit: float, tp: int, n_pos: int, fp: int, n_neg: int, base: float = hand.NAN, **more: Any
) -> list[dict[str, Any]]:
    """The rows of one operating point of `detector`; precision at its bounds by its definition."""
    same = {"score": "score", "max_fpr": limit, "threshold": 0.5}
    rows = []
    for name, k, n in (("TPR", tp, n_pos), ("FPR", fp, n_neg)):
        lost = f"no {'positive' if name == 'TPR' else 'negative'} case"
        row = hand.row("", k, n, "" if n else lost)
        bounds = ends(k, n, "beta") if n else (hand.NAN, hand.NAN)
        row |= dict(zip(("low", "high"), bounds, strict=True))
        rows.append(row | same | {"quantity": name, "method": "clopper-pearson"} | more)
    if base == base and n_pos and n_neg:
        tpr, fpr = rows
        found = {}
        for end, a, b in (
            ("rate", "rate", "rate"),
            ("low", "low", "high"),
            ("high", "high", "low"),
        ):
            right, wrong = tpr[a] * base, fpr[b] * (1 - base)
            found[end] = right / (right + wrong) if right + wrong else hand.NAN
        worth = {"k": None, "n": None, "base_rate": base, "quantity": "precision"} | found
        if found["rate"] != found["rate"]:
            worth |= {"state": "none", "why": "no case is flagged", "note": "not computable"}
        rows.append(tpr | worth)
        alerts = {"true alerts": tpr["rate"] * base, "false alerts": fpr["rate"] * (1 - base)}
        for name, share in alerts.items():
            value = {"quantity": name, "value": 10_000 * share, "per_day": 10_000.0}
            rows.append(tpr | worth | dict.fromkeys(("rate", "low", "high")) | value)
    return rows


def area(value: float, low: float, high: float) -> dict[str, Any]:
    """The row of the AUC."""
    found = {"quantity": "AUC", "rate": value, "low": low, "high": high, "method": "DeLong"}
    return hand.row("", 1, 9) | {"score": "score", "k": None, "n": None} | found


def roc_curve(tp: list[int], fp: list[int], n_pos: int, n_neg: int) -> pd.DataFrame:
    """The observed points of a curve, from the strictest threshold on."""
    rows = [
        {"curve": "ROC", "threshold": 1 - i / 100, "tp": a, "n_pos": n_pos, "tpr": a / n_pos}
        | {"fp": b, "n_neg": n_neg, "fpr": b / n_neg}
        for i, (a, b) in enumerate(zip(tp, fp, strict=True))
    ]
    for base in np.geomspace(1e-5, 0.5, 12):
        found = point(0.01, 95, n_pos, 10, n_neg, base)[2]
        row = {"curve": "precision", "max_fpr": 0.01, "base_rate": base, "precision": found["rate"]}
        rows.append(row | {"low": found["low"], "high": found["high"]})
    return pd.DataFrame(rows)


def roc_tables() -> dict[str, pd.DataFrame]:
    """Every kind of table that the ROC has to draw."""
    tenth = point(0.01, 95, 100, 10, 1000, 0.001)
    two = [*tenth, *point(0.001, 60, 100, 1, 1000, 0.001)]
    eight = [point(0.1 / (i + 1), 90 - 9 * i, 100, 100 - 12 * i, 1000, 0.01) for i in range(8)]
    hostile = [
        point(0.1 / (i + 1), 9 + i, 100, 9 + i, 1000, note=bad, suite=bad)
        for i, bad in enumerate(hand.HOSTILE)
    ]
    few = [*point(0.1, 2, 3, 0, 40), *point(0.5, 3, 3, 4, 40)]
    return {
        name: hand.table_of("detector", rows)
        for name, rows in {
            "one": tenth,
            "two": two,
            "lesson": [*two, *point(0.01, 95, 100, 10, 1000, 0.01)[2:], area(0.97, 0.95, 0.99)],
            "no alarm": point(0.001, 74, 100, 0, 100, 0.001),
            "no negative": point(0.01, 5, 9, 0, 0, 0.001),
            "eight": [row for rows in eight for row in rows],
            "hostile": [row for rows in hostile for row in rows],
            "insufficient": [row | {"state": "few", "why": "n<5"} for row in few],
            "zero": point(0.01, 0, 100, 0, 1000, 0.001),
        }.items()
    }


def labels(name: str, cells: tuple[int, int, int, int], **more: Any) -> list[dict[str, Any]]:
    """The rows of `judges` from tp, fp, fn, tn; the corrected rate by its formula."""
    tp, fp, fn, tn = cells
    n = tp + fp + fn + tn
    counts = {"sensitivity": (tp, tp + fn), "specificity": (tn, tn + fp), "agreement": (tp + tn, n)}
    counts |= {"prevalence": (tp + fn, n), "flagged": (tp + fp, n)}
    rows = []
    for quantity, (k, of) in counts.items():
        row = hand.row("", k, of, "" if of else "no such human label")
        rows.append(row | {"judge": name, "quantity": quantity} | more)
    most = max(tp + fn, tn + fp)
    constant = {"quantity": "constant judge", "k": most, "n": n, "rate": most / n, "method": ""}
    rows.append(rows[2] | constant | {"low": None, "high": None})
    gain = rows[0]["rate"] + rows[1]["rate"] - 1
    corrected: dict[str, Any] = {"quantity": "corrected", "method": "delta"}
    if gain > 0:
        ends_of = [(rows[4][end] + rows[1]["rate"] - 1) / gain for end in ("rate", "low", "high")]
        cut = [min(max(value, 0.0), 1.0) for value in ends_of]
        corrected |= dict(zip(("rate", "low", "high"), cut, strict=True))
    else:
        corrected |= dict.fromkeys(("rate", "low", "high"))
        corrected |= {"state": "none", "why": "the judge does no better than chance"}
    return [*rows, rows[4] | corrected]


def judge_tables() -> dict[str, pd.DataFrame]:
    """Every kind of table that the judge has to draw."""
    base, defended = (24, 3, 2, 46), (9, 0, 5, 61)
    hostile = [
        labels("judge", (20 + i, 3, 4, 40), condition=bad) for i, bad in enumerate(hand.HOSTILE[:5])
    ]
    return {
        name: hand.table_of("judges", [row for rows in blocks for row in rows])
        for name, blocks in {
            "one": [labels("judge", base)],
            "two": [
                labels("judge", base, condition="base"),
                labels("judge", defended, condition="defended"),
            ],
            "odd": [
                labels("chance", (30, 70, 70, 30)),
                labels("no positive", (0, 1, 0, 99)),
                labels("few positives", (2, 1, 1, 60)),
                labels("all", (30, 0, 0, 30)),
            ],
            "hostile": hostile,
            "zero": [labels("judge", (0, 0, 20, 40)), labels("other", (0, 0, 9, 40))],
        }.items()
    }
