"""The sentence: lowest and highest rate, one rate, a gradient, and why nothing can be read."""

from __future__ import annotations

import pandas as pd
import pytest

import ferrite_nb as fnb
from ferrite_nb.show.sentence import sentence


def runs(counts: dict[tuple[str, str], tuple[int, int]]) -> fnb.Outcomes:
    rows = [
        {"mode": mode, "scope": scope, "attack_success": at < k}
        for (mode, scope), (k, n) in counts.items()
        for at in range(n)
    ]
    return fnb.outcomes(pd.DataFrame(rows).assign(case_id=lambda f: f.index.astype(str)))


THREE = {
    ("Off", "exact"): (9, 10),
    ("Off", "domain_suffix"): (5, 10),
    ("Off", "task_open"): (1, 10),
}


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        (
            {("Off", "exact"): (9, 10), ("On", "exact"): (0, 10)},
            "ASR (lower is better) is lowest in On: 0/10, upper limit 27.8% [0.0, "
            "27.8], highest in Off: 9/10 = 90.0% "
            "[59.6, 98.2].",
        ),
        ({("Off", "exact"): (9, 10)}, "ASR (lower is better) in Off is 9/10 = 90.0% [59.6, 98.2]."),
        (
            {("Off", "exact"): (9, 10), ("On", "exact"): (1, 3)},
            "ASR (lower is better) in Off is 9/10 = 90.0% [59.6, 98.2].",
        ),
        (
            {("Off", "exact"): (2, 3)},
            "No rate of ASR in Off can be read: 2/3, insufficient data (n<5)",
        ),
        (
            {("Off", "exact"): (5, 10), ("On", "exact"): (5, 10)},
            "ASR (lower is better) is the same in all 2 rates that can be read, such "
            "as Off: 5/10 = 50.0% [23.7, 76.3].",
        ),
    ],
)
def test_sentence_of_rates(counts: dict[tuple[str, str], tuple[int, int]], expected: str) -> None:
    assert sentence(fnb.rates(runs(counts), "ASR")).startswith(expected)


def test_sentence_of_a_gradient_names_its_ends_and_the_trend() -> None:
    said = sentence(fnb.gradient(runs(THREE), "ASR"))
    assert said.startswith(
        "ASR (lower is better) in Off goes from exact: 9/10 = 90.0% [59.6, 98.2] to task_open: 1/10"
    )
    assert said.endswith("; p of the trend 0.0003.")
    assert "micro" not in said and "macro" not in said


def test_sentence_of_nothing() -> None:
    assert sentence(fnb.rates(runs(THREE), "ASR").head(0)) == "There is no row in this choice."
