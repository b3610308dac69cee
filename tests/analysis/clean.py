"""Clean simulated outcomes: independent cases, no cluster, nothing fixed, errors at random, cost
measured.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

import ferrite_nb as fnb

RATES = {"Off": 0.6, "Guard": 0.35, "Full": 0.2}


def clean(seed: int, attacks: int = 150, benign: int = 60) -> fnb.Outcomes:
    """One clean data set: three modes on the same cases; labels of all kinds that have nothing to
    do with outcomes.
    """
    rng = np.random.default_rng(seed)
    cases = attacks + benign
    facts = pd.DataFrame(
        {
            "case_id": [f"case {place}" for place in range(cases)],
            "kind": ["attack"] * attacks + ["benign"] * benign,
            "tier": rng.choice(["Tier1", "Tier2", "Tier3"], cases, p=[0.5, 0.3, 0.2]),
            "category": rng.choice(["exfiltration", "redirection", "abuse", "action"], cases),
            "carrier": rng.choice(["web", "tool"], cases),
            "template": [f"template {place}" for place in rng.integers(0, 40, cases)],
            "task": [f"task {place}" for place in rng.integers(0, 14, cases)],
            "is_deviation": rng.random(cases) < 0.8,
            "suite_version": "7",
        }
    )
    frames = []
    for mode, rate in RATES.items():
        frame = facts.assign(mode=mode, delivered=True, tokens=rng.integers(200, 900, cases))
        frame["latency_ms"] = rng.gamma(4, 100, cases) + 1
        frame["attack_success"] = pd.array(rng.random(cases) < rate, dtype="boolean")
        frame.loc[frame["kind"] == "benign", "attack_success"] = pd.NA
        frame["gated"] = pd.array(rng.random(cases) < 0.05, dtype="boolean")
        frame["task_success"] = pd.array(rng.random(cases) < 0.8, dtype="boolean")
        frame["error"] = np.where(rng.random(cases) < 0.02, "timeout", "")
        frames.append(frame)
    return fnb.outcomes(pd.concat(frames, ignore_index=True))
