"""Tables made by hand, as the verbs return them: small and large, hostile, insufficient, not computable, limits.

Bounds come from statsmodels' own Wilson interval, so that no number of the package stands behind a drawn one.
"""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
from statsmodels.stats.proportion import proportion_confint

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
    """One row of `rates`: Wilson bounds, insufficient below five cases, not computable without one."""
    rate = low = high = NAN
    if n:
        rate = k / n
        low, high = (float(bound) for bound in proportion_confint(k, n, method="wilson"))
        low, high = (0.0 if k == 0 else low), (1.0 if k == n else high)
        note = "; ".join(filter(None, ["insufficient data (n<5)" if n < 5 else "", note]))
    numbers = {"k": k, "n": n, "rate": rate, "low": low, "high": high, "level": 0.95, "method": "wilson"}
    rest = {"missing": 0, "floor": rate, "ceiling": rate, "clusters": pd.NA, "n_eff": n or NAN, "note": note}
    strata = {name: value for name, value in more.items() if name not in rest and name not in numbers}
    return {"metric": metric, **strata, **numbers, **rest, **{key: more[key] for key in more if key not in strata}}


def rates(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """A table of `rates` from rows."""
    table = pd.DataFrame(rows)
    return table.astype({"clusters": "Int64"}) if rows else table


def run_b() -> pd.DataFrame:
    """ASR and FGR of the generated cases by mode: limits at both ends, and modes without a benign case."""
    asr = zip(MODES, (787, 128, 121, 63), strict=True)
    fgr = [row("FGR", 0, 0, NOT_RUN, mode=mode) for mode in MODES[:3]]
    return rates([row("ASR", k, 787, mode=mode) for mode, k in asr] + [*fgr, row("FGR", 0, 122, mode="On")])


def run_a() -> pd.DataFrame:
    """ASR by tier and mode, twelve rows, as published: three cases in the third tier, two modes not run there."""
    counts = {"Tier1": (12, 5, 1, 0, 12), "Tier2": (7, 2, 0, 0, 7), "Tier3AgentDojo": (3, None, None, 0, 3)}
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
    rows = [row("ASR", i + 1, 20, bad, mode=bad, suite=HOSTILE[-1 - i]) for i, bad in enumerate(HOSTILE)]
    rows.append(row("ASR", 0, 0, "not computable: <b>$x$ " + "y" * 300, mode=HOSTILE[0], suite="last"))
    return rates(rows)


def clustered() -> pd.DataFrame:
    """Intervals of clusters, and a row with too few of them."""
    table = rates([row("ASR", k, 787, mode=mode) for mode, k in zip(MODES, (787, 128, 121, 63), strict=True)])
    table["method"], table["clusters"], table["n_eff"] = "clustered wilson", 176, 61.5
    table["independent_low"], table["independent_high"] = table["low"], table["high"]
    table.loc[2, ["low", "high"]] = [0.084, 0.265]
    table.loc[3, "note"] = "insufficient data (fewer than 5 clusters); 4 clusters of template"
    return table


def all_insufficient() -> pd.DataFrame:
    """Three cells of one to four cases."""
    return rates([row("ASR", 1, n, mode=mode) for n, mode in zip((1, 3, 4), MODES, strict=False)])


def all_zero() -> pd.DataFrame:
    """Nothing succeeded anywhere."""
    return rates([row("ASR", 0, n, mode=mode) for n, mode in zip((22, 19, 19, 22), MODES, strict=True)])


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
    }
