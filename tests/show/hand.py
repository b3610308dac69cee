"""Tables made by hand, as the verbs return them: small and large, hostile, insufficient, not
computable, limits.

Bounds come from statsmodels' own Wilson interval, so that no number of the package stands behind a
drawn one.
"""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
from scipy.stats import binomtest
from statsmodels.stats.proportion import proportion_confint

from ferrite_nb.schema import KINDS, SHAPES, made

NAN = math.nan
MODES = ("Off", "SanitizerOnly", "LoopOnly", "On")
NOT_RUN = "not computable: no benign case ran in this mode"
HOSTILE = (
    "<script>alert(1)</script>",
    "$\\frac{a}{b}$ & 100% \\x",
    "=cmd|' /C calc'!A0",
    "\u202egnp.exe \u2066rtl\u2069",
    "line\nbreak\x00\x1b[31m",
    "x" * 200,
    "\u4e2d\u6587 \U0001f600 \u05e9\u05dc",
    "-2+3",
)


def row(metric: str, k: float, n: float, note: str = "", **more: Any) -> dict[str, Any]:
    """One row of `rates`: Wilson bounds, insufficient below five cases, not computable without
    one (then the note is the reason).
    """
    rate = low = high = NAN
    state, why = "ok", ""
    if n:
        rate = k / n
        low, high = (float(bound) for bound in proportion_confint(k, n, method="wilson"))
        low, high = (0.0 if k == 0 else low), (1.0 if k == n else high)
        state, why = ("few", "n<5") if n < 5 else (state, why)
    else:
        state, why = "none", note.removeprefix("not computable: ")
        note = f"not computable: {why}"
    numbers = {"k": k, "n": n, "rate": rate, "low": low, "high": high}
    rest = {"missing": 0, "floor": rate, "ceiling": rate, "outer_low": low, "outer_high": high}
    rest |= {"clusters": pd.NA, "n_eff": n or NAN, "state": state, "why": why, "note": note}
    facts = {"level": 0.95, "method": "wilson", "unit": "case", "source": "hand.csv"}
    return {"metric": metric} | numbers | rest | facts | more


def table_of(name: str, rows: list[dict[str, Any]]) -> pd.DataFrame:
    """A table of a verb from rows; the keys that its shape does not declare are strata."""
    shape = SHAPES[name]
    known = {shape.first, *shape.keys, *shape.numbers, *shape.more, *shape.words, *shape.facts}
    strata = dict.fromkeys(key for row in rows for key in row if key not in known | {*KINDS})
    return made(name, rows, list(strata))


def rates(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """A table of `rates` from rows."""
    return table_of("rates", rows)


def run_b() -> pd.DataFrame:
    """ASR and FGR of the generated cases by mode: limits at both ends, and modes without a benign
    case.
    """
    asr = zip(MODES, (787, 128, 121, 63), strict=True)
    fgr = [row("FGR", 0, 0, NOT_RUN, mode=mode) for mode in MODES[:3]]
    return rates(
        [row("ASR", k, 787, mode=mode) for mode, k in asr] + [*fgr, row("FGR", 0, 122, mode="On")]
    )


def run_a() -> pd.DataFrame:
    """ASR by tier and mode, twelve rows, as published: three cases in the third tier, two modes not
    run there.
    """
    counts = {
        "Tier1": (12, 5, 1, 0, 12),
        "Tier2": (7, 2, 0, 0, 7),
        "Tier3AgentDojo": (3, None, None, 0, 3),
    }
    rows = []
    for tier, (*successes, n) in counts.items():
        for mode, k in zip(MODES, successes, strict=True):
            why = "not computable: no attack ran in this mode" if k is None else ""
            rows.append(row("ASR", k or 0, 0 if k is None else n, why, tier=tier, mode=mode))
    rows[1] |= {"missing": 3, "floor": 5 / 15, "ceiling": 8 / 15}
    return rates(rows)


def many(count: int) -> pd.DataFrame:
    """As many rows as asked for, with names of sixty letters and counts from 0/n to n/n."""
    name = "a model with a name of sixty letters that goes on and on {:02d}"
    return rates([row("ASR", i % 41, 40, mode="On", model=name.format(i)) for i in range(count)])


def hostile() -> pd.DataFrame:
    """Payloads as modes, strata and notes."""
    rows = [
        row("ASR", i + 1, 20, bad, mode=bad, suite=HOSTILE[-1 - i]) for i, bad in enumerate(HOSTILE)
    ]
    rows.append(
        row("ASR", 0, 0, "not computable: <b>$x$ " + "y" * 300, mode=HOSTILE[0], suite="last")
    )
    return rates(rows)


def clustered() -> pd.DataFrame:
    """Intervals of clusters, and a row with too few of them."""
    table = rates(
        [row("ASR", k, 787, mode=mode) for mode, k in zip(MODES, (787, 128, 121, 63), strict=True)]
    )
    table["method"], table["n_eff"], table["unit"] = "clustered wilson", 61.5, "template"
    table["clusters"] = pd.array([176, 176, 176, 4], dtype="Int64")
    table.loc[2, ["low", "high"]] = [0.084, 0.265]
    table.loc[3, ["state", "why"]] = ["few", "fewer than 5 clusters"]
    return table


def all_insufficient() -> pd.DataFrame:
    """Three cells of one to four cases."""
    return rates([row("ASR", 1, n, mode=mode) for n, mode in zip((1, 3, 4), MODES, strict=False)])


def all_zero() -> pd.DataFrame:
    """Nothing succeeded anywhere."""
    return rates(
        [row("ASR", 0, n, mode=mode) for n, mode in zip((22, 19, 19, 22), MODES, strict=True)]
    )


def without_cost() -> pd.DataFrame:
    """A panel of rates beside one in which nothing is computable."""
    return rates(
        [row("ASR", k, 787, mode=mode) for mode, k in zip(MODES, (787, 128, 121, 63), strict=True)]
        + [
            row("FGR", 0, 0, NOT_RUN + ", and so nothing is known of its cost", mode=mode)
            for mode in MODES
        ]
    )


def forest_tables() -> dict[str, pd.DataFrame]:
    """Every kind of table that the forest has to draw."""
    return {
        "one": run_b().iloc[[1]],
        "two": run_b().iloc[[0, 1]],
        "run a": run_a(),
        "run b": run_b(),
        "forty": many(40),
        "hostile": hostile(),
        "clustered": clustered(),
        "insufficient": all_insufficient(),
        "zero": all_zero(),
        "without cost": without_cost(),
    }


def pair(
    a: str, b: str, cells: tuple[int, int, int, int], note: str = "", **more: Any
) -> dict[str, Any]:
    """One row of `compare` from its four cells: exact binomial p; bounds of the difference made up,
    but in order.
    """
    both, first, second, neither = cells
    n, discordant = sum(cells), first + second
    row = {
        "metric": "ASR",
        "mode_a": a,
        "mode_b": b,
        "n_pairs": n,
        "both": both,
        "b": first,
        "c": second,
    }
    numbers = dict.fromkeys(("diff", "low", "high", "h", "p", "log10_p", "p_holm"), NAN)
    apart = {"independent_low": NAN, "independent_high": NAN}
    if n:
        p = binomtest(first, discordant).pvalue if discordant else 1.0
        diff = (first - second) / n
        reach = 1 / math.sqrt(n)
        numbers = {
            "diff": diff,
            "low": max(-1.0, diff - 0.6 * reach),
            "high": min(1.0, diff + 0.5 * reach),
        }
        numbers |= {
            "h": 2.5 * diff,
            "p": p,
            "log10_p": math.log10(p) if p else -601.76,
            "p_holm": min(1.0, 6 * p),
        }
        apart = {
            "independent_low": max(-1.0, diff - reach),
            "independent_high": min(1.0, diff + reach),
        }
    state = "none" if not n else "few" if n < 5 else "ok"
    why = note.removeprefix("not computable: ") if not n else "n<5 pairs" if n < 5 else ""
    rest = {"unpaired": 0, **apart, "state": state, "why": why, "note": note}
    facts = {"level": 0.95, "method": "mcnemar, newcombe", "unit": "case", "source": "hand.csv"}
    both_rates = {"quantity": "difference", "neither": neither}
    return row | both_rates | numbers | rest | facts | more


def lab() -> dict[str, Any]:
    """The lab's table of two modes: 300 cases, 48 succeed in A only; bounds of Newcombe's paired
    interval.
    """
    return pair("Off", "On", (12, 48, 0, 240)) | {
        "diff": 0.16,
        "low": 0.1181,
        "high": 0.2024,
        "independent_low": 0.089,
        "independent_high": 0.229,
    }


def pairs_tables() -> dict[str, pd.DataFrame]:
    """Every kind of table that the pairs figure has to draw."""
    none = "not computable: the two modes share no case"
    mixed = [
        lab(),
        pair("Off", "Guard", (1, 1, 0, 1), unpaired=4),
        pair("Guard", "On", (0, 0, 0, 0), none, unpaired=9),
        pair(
            "Off", "Loop", (20, 0, 0, 40), "no discordant pairs: the data cannot separate the modes"
        ),
        pair("Loop", "On", (20, 1, 4, 40), "5 discordant pairs cannot reach 0.05: n too small"),
        pair("Loop", "Guard", (0, 2000, 0, 0)),
    ]
    hostile = [
        pair(bad, HOSTILE[i - 1], (i, 9, i, 9), bad, suite=bad) for i, bad in enumerate(HOSTILE)
    ]
    hostile.append(
        pair("A", "B", (0, 0, 0, 0), "not computable: " + HOSTILE[0] + "y" * 300, suite="last")
    )
    forty = [
        pair(
            f"a defence with a name of thirty letters {i}",
            f"another defence with a long name {i}",
            (9, i, 3, 50),
        )
        for i in range(40)
    ]
    return {
        "one": table_of("compare", [lab()]),
        "two": table_of("compare", [lab(), pair("Loop", "On", (20, 12, 4, 40))]),
        "mixed": table_of("compare", mixed),
        "forty": table_of("compare", forty),
        "hostile": table_of("compare", hostile),
        "insufficient": table_of(
            "compare", [pair("Off", "On", (1, 1, 0, 1)), pair("Off", "Loop", (1, 1, 0, 2))]
        ),
        "zero": table_of("compare", [pair(a, "On", (0, 0, 0, 30)) for a in MODES[:3]]),
    }


SCOPES = ("exact", "domain_suffix", "task_open")


def gradient(counts: dict[str, tuple[int, ...]], trend: float = NAN) -> pd.DataFrame:
    """A table of `gradient` over the scopes: k and n per scope for each mode; n = 0 is a stratum
    without a case.
    """
    rows = []
    for mode, numbers in counts.items():
        for scope, k, n in zip(SCOPES, numbers[::2], numbers[1::2], strict=True):
            rows.append(
                row(
                    "CR",
                    k,
                    n,
                    "" if n else "not computable: no case in this stratum",
                    scope=scope,
                    mode=mode,
                )
            )
    same = {"trend_p": trend, "order": "scope", "test": "Cochran-Armitage"}
    return rates([row | same for row in rows])


def totals() -> pd.DataFrame:
    """A gradient with its two totals: micro has the summed counts, macro a mean that is not k/n."""
    table = gradient({"LoopOnly": (661, 777, 5, 5, 0, 5)}, trend=0.00001)
    both = rates(
        [
            row("CR", 666, 787, "", scope="micro: all cases", mode="LoopOnly"),
            row(
                "CR",
                666,
                787,
                "mean of 3 of 3 strata, whatever their size",
                scope="macro: mean of strata",
                mode="LoopOnly",
            ),
        ]
    )
    both.loc[1, ["rate", "low", "high", "method"]] = [
        0.617,
        0.472,
        0.762,
        "macro mean, limits of wilson combined",
    ]
    same = {"trend_p": 0.00001, "order": "scope", "test": "Cochran-Armitage"}
    both = both.assign(**same)[list(table.columns)]
    return pd.concat([table, both], ignore_index=True)


def gradient_tables() -> dict[str, pd.DataFrame]:
    """Every kind of table that the gradient has to draw."""
    eight = [
        row("CR", 5 * i + j, 40, tier=f"level {i}", mode=f"defence {j}")
        for j in range(8)
        for i in range(5)
    ]
    forty = [row("CR", i, 40, tier=f"a level with a long name {i}", mode="On") for i in range(40)]
    strange = [
        row("ASR", i + 1, 20, bad, suite=bad, mode=HOSTILE[i % 2]) for i, bad in enumerate(HOSTILE)
    ]
    return {
        "one": gradient({"LoopOnly": (661, 777, 5, 5, 0, 5)}).iloc[[0]],
        "two": gradient({"LoopOnly": (661, 777, 50, 55, 0, 5)}).iloc[[0, 1]],
        "scope": gradient(
            {
                "Off": (0, 777, 0, 5, 0, 5),
                "LoopOnly": (661, 777, 5, 5, 0, 5),
                "On": (719, 777, 0, 0, 2, 3),
            }
        ),
        "totals": totals(),
        "eight modes": rates(eight),
        "forty": rates(forty),
        "hostile": rates(strange),
        "insufficient": gradient({"On": (1, 2, 1, 3, 0, 4)}),
        "zero": gradient({"On": (0, 20, 0, 30, 0, 5)}),
    }


def plane_tables() -> dict[str, pd.DataFrame]:
    """Every kind of table that the plane has to draw."""
    both = ("ASR", "task success")

    def table(modes: dict[str, tuple[int, int, int, int]]) -> pd.DataFrame:
        return rates(
            [
                row(
                    metric,
                    *modes[mode][2 * i : 2 * i + 2],
                    "" if modes[mode][2 * i + 1] else NOT_RUN,
                    mode=mode,
                )
                for i, metric in enumerate(both)
                for mode in modes
            ]
        )

    mixed = {
        "off": (60, 100, 50, 50),
        "A": (0, 100, 20, 50),
        "B": (20, 100, 44, 50),
        "C": (3, 4, 44, 50),
        "D": (30, 100, 2, 3),
        "E": (25, 100, 0, 0),
        "F": (2, 3, 1, 2),
        "G": (0, 0, 30, 50),
    }
    return {
        "one": table({"On": (20, 100, 44, 50)}),
        "two": table({"off": (60, 100, 49, 50), "On": (20, 100, 44, 50)}).iloc[[0, 2, 1, 3]],
        "mixed": table(mixed),
        "run b": run_b(),
        "eight modes": table(
            {
                f"a defence with a name of forty letters {i:02d}": (5 * i, 80, 30 + i, 50)
                for i in range(8)
            }
        ),
        "hostile": table({bad: (i, 20, 20 - i, 20) for i, bad in enumerate(HOSTILE)}),
        "insufficient": table({"A": (1, 2, 2, 3), "B": (1, 3, 0, 4)}),
        "zero": table({"A": (0, 20, 0, 30), "B": (0, 25, 0, 30)}),
    }


def heatmap_tables() -> dict[str, pd.DataFrame]:
    """Every kind of table that the heatmap has to draw."""
    mixed = [
        ("banking", "Off", 3, 3),
        ("banking", "On", 0, 20),
        ("slack", "Off", 0, 0),
        ("slack", "On", 17, 20),
        ("travel", "On", 4, 9),
        ("micro: all cases", "Off", 3, 3),
        ("micro: all cases", "On", 21, 49),
    ]
    forty = [
        row("ASR", 5 * i + j, 40, suite=f"a suite with a long name {i}", mode=f"defence {j}")
        for i in range(8)
        for j in range(5)
    ]
    return {
        "one": rates([row("ASR", 9, 40, suite="banking", mode="On")]),
        "two": rates([row("ASR", 9, 40, suite=suite, mode="On") for suite in ("banking", "slack")]),
        "mixed": rates(
            [
                row("ASR", k, n, "" if n else NOT_RUN, suite=suite, mode=mode)
                for suite, mode, k, n in mixed
            ]
        ),
        "forty": rates(forty),
        "hostile": rates(
            [
                row("ASR", i + 1, 20, bad, suite=bad, mode=HOSTILE[i % 2])
                for i, bad in enumerate(HOSTILE)
            ]
        ),
        "insufficient": rates([row("ASR", 1, n, suite=f"s{n}", mode="On") for n in (2, 3, 4)]),
        "zero": rates(
            [
                row("ASR", 0, 20, suite=suite, mode=mode)
                for suite in ("a", "b")
                for mode in ("Off", "On")
            ]
        ),
    }
