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
    return {
        key: value
        for key, value in row.items()
        if key not in ("floor", "ceiling", "n_eff", "clusters")
    }


def releases(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """A table of `releases` that carries its curve."""
    table = pd.DataFrame(rows)
    table.attrs = {"curves": {str(row["requirement"]): curve().to_dict("list") for row in rows}}
    return table


def gate_tables() -> dict[str, pd.DataFrame]:
    """Every kind of table that the gate has to draw."""
    mixed = [
        release("1.0", 5, 600),
        release("1.1", 0, 600, verdict="cannot tell"),
        release("1.2", 9, 600, judge_version="judge 2", drift=True),
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
        "lower": pd.DataFrame([release("1.0", 281, 300, rule="lower bound", threshold=0.9)]),
        "point": pd.DataFrame(
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
    row = hand.row("ASR", k, n, note, mode=mode, attempts=at, independent=1 - (1 - p) ** at, **more)
    return {
        key: value
        for key, value in row.items()
        if key not in ("floor", "ceiling", "n_eff", "missing")
    }


def series(mode: str, p: float, counts: list[tuple[int, int]], **more: Any) -> list[dict[str, Any]]:
    """The rows of one curve, K from 1 on."""
    return [attempt(mode, at, k, n, p, **more) for at, (k, n) in enumerate(counts, 1)]


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
        "one": pd.DataFrame([attempt("static", 1, 5, 250, 0.02)]),
        "two": pd.DataFrame(series("static", 0.02, [(5, 250), (9, 250)])),
        "lesson": pd.DataFrame([*series("static", 0.02, alike), *series("adaptive", 0.02, varied)]),
        "falling": pd.DataFrame(
            [*series("static", 0.5, falling, median=2.0), *series("other", 0.1, [(0, 3), (1, 3)])]
        ),
        "eight": pd.DataFrame(
            [one for i in range(8) for one in series(long.format(i), 0.1, [(i, 40), (i + 9, 40)])]
        ),
        "hostile": pd.DataFrame(hostile),
        "insufficient": pd.DataFrame(series("static", 0.1, [(0, 3), (1, 3), (2, 3)])),
        "zero": pd.DataFrame(series("static", 0.0, [(0, 50)] * 5)),
    }


def ends(k: int, n: int, method: str = WILSON) -> tuple[float, float]:
    """Bounds of a proportion by statsmodels."""
    low, high = proportion_confint(k, n, method=method)
    return (0.0 if k == 0 else float(low)), (1.0 if k == n else float(high))


def point(
    limit: float, tp: int, n_pos: int, fp: int, n_neg: int, base: float = hand.NAN, **more: Any
) -> dict[str, Any]:
    """One operating point of `detector`; precision at its bounds by its definition."""
    row: dict[str, Any] = {
        "part": "operating point",
        "max_fpr": limit,
        "threshold": 0.5,
        "tp": tp,
        "n_pos": n_pos,
        "fp": fp,
        "n_neg": n_neg,
        "note": "",
        "level": 0.95,
        "method": "bootstrap",
    }
    for name, k, n in (("tpr", tp, n_pos), ("fpr", fp, n_neg)):
        bounds = ends(k, n, "beta") if n else (hand.NAN, hand.NAN)
        row |= dict(
            zip(
                (name, f"{name}_low", f"{name}_high"),
                (k / n if n else hand.NAN, *bounds),
                strict=True,
            )
        )
        if not n:
            row["note"] = f"not computable: no {'positive' if name == 'tpr' else 'negative'} case"
    row |= {
        "resolvable": bool(n_neg) and limit >= 1 / n_neg,
        "base_rate": base,
        "per_day": 10_000.0,
    }
    if base == base and n_pos and n_neg:
        for end, tpr, fpr in (
            ("", "tpr", "fpr"),
            ("_low", "tpr_low", "fpr_high"),
            ("_high", "tpr_high", "fpr_low"),
        ):
            right, wrong = row[tpr] * base, row[fpr] * (1 - base)
            row[f"precision{end}"] = right / (right + wrong) if right + wrong else hand.NAN
        row |= {
            "true_alerts": 10_000 * row["tpr"] * base,
            "false_alerts": 10_000 * row["fpr"] * (1 - base),
        }
    return row | more


def steps(tp: list[int], fp: list[int], n_pos: int, n_neg: int) -> list[dict[str, Any]]:
    """The observed points of a curve, from the strictest threshold on."""
    return [
        {
            "part": "curve",
            "threshold": 1 - i / 100,
            "tp": a,
            "n_pos": n_pos,
            "tpr": a / n_pos,
            "fp": b,
            "n_neg": n_neg,
            "fpr": b / n_neg,
            "note": "",
            "level": 0.95,
            "method": "counts",
        }
        for i, (a, b) in enumerate(zip(tp, fp, strict=True))
    ]


def grid(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The curve of precision over base rates of an operating point."""
    bases = np.geomspace(1e-5, 0.5, 12)
    kept = ("max_fpr", "threshold", "tp", "n_pos", "fp", "n_neg")
    rows = [
        point(found["max_fpr"], found["tp"], found["n_pos"], found["fp"], found["n_neg"], base)
        for base in bases
    ]
    names = ("precision", "precision_low", "precision_high", "base_rate")
    same = {"part": "precision", "note": "", "level": 0.95, "method": "bootstrap"} | {
        one: found[one] for one in kept
    }
    return [same | {name: row[name] for name in names} for row in rows]


def roc_tables() -> dict[str, pd.DataFrame]:
    """Every kind of table that the ROC has to draw."""
    tenth = point(0.01, 95, 100, 10, 1000, 0.001)
    curve = steps([0, 40, 60, 95, 99, 100], [0, 0, 1, 10, 300, 1000], 100, 1000)
    area = {
        "part": "auc",
        "n_pos": 100,
        "n_neg": 1000,
        "auc": 0.97,
        "auc_low": 0.95,
        "auc_high": 0.99,
        "note": "",
        "level": 0.95,
        "method": "DeLong",
    }
    two = [tenth, point(0.001, 60, 100, 1, 1000, 0.001)]
    eight = [point(0.1 / (i + 1), 90 - 9 * i, 100, 100 - 12 * i, 1000, 0.01) for i in range(8)]
    hostile = [
        point(0.1 / (i + 1), 9 + i, 100, 9 + i, 1000, note=bad, suite=bad)
        for i, bad in enumerate(hand.HOSTILE)
    ]
    return {
        "one": pd.DataFrame([tenth]),
        "two": pd.DataFrame([*two, *curve]),
        "lesson": pd.DataFrame(
            [
                *two,
                tenth | point(0.01, 95, 100, 10, 1000, 0.01),
                area,
                *curve,
                *grid(two[0]),
                *grid(two[1]),
            ]
        ),
        "no alarm": pd.DataFrame(
            [point(0.001, 74, 100, 0, 100, 0.001), *steps([74, 100], [0, 100], 100, 100)]
        ),
        "no negative": pd.DataFrame([point(0.01, 5, 9, 0, 0, 0.001)]),
        "eight": pd.DataFrame([*eight, *curve]),
        "hostile": pd.DataFrame(hostile),
        "insufficient": pd.DataFrame([point(0.1, 2, 3, 0, 40), point(0.5, 3, 3, 4, 40)]),
        "zero": pd.DataFrame([point(0.01, 0, 100, 0, 1000, 0.001)]),
    }


def labels(
    name: str, cells: tuple[int, int, int, int], run: tuple[int, int] | None = None, **more: Any
) -> dict[str, Any]:
    """One row of `judges` from tp, fp, fn, tn, and flagged of judged outputs; the corrected rate by
    its formula.
    """
    tp, fp, fn, tn = cells
    n = tp + fp + fn + tn
    flagged, judged = run or (tp + fp, n)
    row: dict[str, Any] = {
        "judge": name,
        "tp": tp,
        "fn": fn,
        "tn": tn,
        "fp": fp,
        "n": n,
        "flagged": flagged,
        "judged": judged,
        "note": "",
        "corrected_note": "",
        "level": 0.95,
        "method": "delta",
    }
    rates = {
        "se": (tp, tp + fn),
        "sp": (tn, tn + fp),
        "agreement": (tp + tn, n),
        "observed": (flagged, judged),
        "people": (tp + fn, n),
    }
    for part, (k, of) in rates.items():
        bounds = ends(k, of) if of else (hand.NAN, hand.NAN)
        row |= dict(
            zip(
                (part, f"{part}_low", f"{part}_high"),
                (k / of if of else hand.NAN, *bounds),
                strict=True,
            )
        )
    row |= {"constant_judge": max(tp + fn, tn + fp) / n, "raw": hand.NAN}
    gain = row["se"] + row["sp"] - 1
    row["note"] = "" if gain == gain else "no human-labelled positives: sensitivity is unknown"
    if not gain > 0:
        lost = [f"{part}{end}" for part in ("fixed", "corrected") for end in ("", "_low", "_high")]
        row |= dict.fromkeys(lost, hand.NAN)
        why = "the judge does no better than chance" if gain <= 0 else row["note"]
        return row | {"corrected_note": why} | more
    raw = [
        (value + row["sp"] - 1) / gain
        for value in (row["observed"], row["observed_low"], row["observed_high"])
    ]
    cut = [min(max(value, 0.0), 1.0) for value in raw]
    row |= {
        "raw": raw[0],
        "fixed": cut[0],
        "fixed_low": cut[1],
        "fixed_high": cut[2],
        "corrected": cut[0],
    }
    row |= {"corrected_low": max(cut[1] - 0.01, 0.0), "corrected_high": min(cut[2] + 0.02, 1.0)}
    return row | more


def judge_tables() -> dict[str, pd.DataFrame]:
    """Every kind of table that the judge has to draw."""
    base, defended = (24, 3, 2, 46), (9, 0, 5, 61)
    odd = [
        labels("below zero", (93, 1, 7, 99), (3, 600)),
        labels("chance", (30, 70, 70, 30)),
        labels("no positive", (0, 1, 0, 99)),
        labels("few positives", (2, 1, 1, 60)),
        labels("all", (30, 0, 0, 30)),
    ]
    hostile = [
        labels(bad, (20 + i, 3, 4, 40), condition=bad, suite=hand.HOSTILE[-1 - i])
        for i, bad in enumerate(hand.HOSTILE)
    ]
    return {
        "one": pd.DataFrame([labels("judge", base)]),
        "two": pd.DataFrame(
            [
                labels("judge", base, condition="base"),
                labels("judge", defended, condition="defended"),
            ]
        ),
        "odd": pd.DataFrame(odd),
        "twelve": pd.DataFrame(
            [labels(f"a judge with a long name {i}", (20 + i, 3, 4, 40)) for i in range(12)]
        ),
        "hostile": pd.DataFrame(hostile),
        "insufficient": pd.DataFrame(
            [labels("judge", (1, 1, 2, 2)), labels("other", (2, 0, 1, 3))]
        ),
        "zero": pd.DataFrame([labels("judge", (0, 0, 20, 40)), labels("other", (0, 0, 9, 40))]),
    }
