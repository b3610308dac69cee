"""The mode pairs of runs A and C, and the derived ones of run B."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

import ferrite_nb as fnb

CELLS = pd.read_csv(fnb.data("published_counts.csv"), dtype=str, keep_default_na=False)
DERIVED = pd.read_csv(
    Path(__file__).with_name("derived_counts.csv"), dtype=str, keep_default_na=False
)
PAIRS_A = CELLS[(CELLS["run"] == "A") & (CELLS["table"] == "mode pairs")]
PAIRS_B = DERIVED[DERIVED["table"] == "mode pairs"]
# Successes in both modes of each pair of run A, over the shared cases.
SHARED_A = {
    "Off vs SanitizerOnly": (19, 7, 19),
    "Off vs LoopOnly": (19, 1, 19),
    "Off vs On": (22, 0, 22),
    "SanitizerOnly vs LoopOnly": (7, 1, 19),
    "SanitizerOnly vs On": (7, 0, 19),
    "LoopOnly vs On": (1, 0, 19),
}


def p_shown(p: float) -> str:
    """Four decimals; the published page writes <0.0001 for what would round to 0.0000."""
    return "<0.0001" if p < 0.00005 else f"{p:.4f}"


def pair(table: pd.DataFrame, name: str) -> pd.Series:
    """The row of `compare` for a pair such as "Off vs On"."""
    first, second = name.split(" vs ")
    found = table[(table["mode_a"] == first) & (table["mode_b"] == second)]
    assert len(found) == 1
    return found.iloc[0]


@pytest.mark.parametrize("name", list(PAIRS_A["mode_or_pair"]))
def test_run_a_from_rows(name: str, run_a: fnb.Outcomes) -> None:
    want = PAIRS_A[PAIRS_A["mode_or_pair"] == name].iloc[0]
    found = pair(fnb.compare(run_a, metric="ASR"), name)
    assert [found[column] for column in ("n_pairs", "b", "c")] == [
        int(want[column]) for column in ("n", "b", "c")
    ]
    assert p_shown(found["p"]) == want["printed_p"]
    assert p_shown(found["p_holm"]) == want["printed_p_holm"]
    assert f"{found['h']:.3f}" == want["printed_h"]
    k_a, k_b, n = SHARED_A[name]
    assert found["n_pairs"] == n
    assert (found["rate_a"], found["rate_b"]) == pytest.approx((k_a / n, k_b / n))
    assert found["both"] + found["b"] + found["c"] + found["neither"] == n
    # The third tier ran in Off and On only: its 3 cases are known in one mode of a pair, in both or
    # in neither.
    assert found["unpaired"] == (0 if name in ("Off vs On", "SanitizerOnly vs LoopOnly") else 3)


def test_run_a_from_counts() -> None:
    raw = [fnb.stats.mcnemar(int(row["b"]), int(row["c"])).p for _, row in PAIRS_A.iterrows()]
    assert [p_shown(p) for p in raw] == list(PAIRS_A["printed_p"])
    assert [p_shown(p) for p in fnb.stats.holm(raw).adjusted] == list(PAIRS_A["printed_p_holm"])
    for _, row in PAIRS_A.iterrows():
        k_a, k_b, n = SHARED_A[row["mode_or_pair"]]
        assert f"{fnb.stats.cohens_h(k_a / n, k_b / n):.3f}" == row["printed_h"]
        assert int(row["b"]) - int(row["c"]) == k_a - k_b


def test_the_smallest_printed_holm_value_of_the_pair_called_not_significant() -> None:
    # The prose of the page calls SanitizerOnly against On not significant; its table prints 0.0469.
    row = PAIRS_A[PAIRS_A["mode_or_pair"] == "SanitizerOnly vs On"].iloc[0]
    assert row["printed_p_holm"] == "0.0469"


def test_run_c_from_counts() -> None:
    row = CELLS[(CELLS["run"] == "C") & (CELLS["table"] == "paired")].iloc[0]
    test = fnb.stats.mcnemar(int(row["b"]), int(row["c"]))
    assert test.p == pytest.approx(2 * 0.5**25, rel=1e-12)  # 5.960464477539063e-08
    assert f"{test.p:.4f}" == row["printed_p"]
    h = fnb.stats.cohens_h(31 / 1542, 6 / 1542)
    assert f"{h:.2f}" == row["printed_h"]
    assert h == pytest.approx(0.1597, abs=5e-5)


@pytest.mark.parametrize("name", list(PAIRS_B["mode_or_pair"]))
def test_run_b_from_rows_has_the_derived_pairs(name: str, run_b: fnb.Outcomes) -> None:
    want = PAIRS_B[PAIRS_B["mode_or_pair"] == name].iloc[0]
    found = pair(fnb.compare(run_b, metric="ASR", cluster=()), name)
    assert [found[column] for column in ("n_pairs", "b", "c")] == [
        int(want[column]) for column in ("n", "b", "c")
    ]
    assert found["p"] == pytest.approx(float(want["p"]), rel=1e-5)
    assert found["log10_p"] == pytest.approx(float(want["log10_p"]), abs=5e-5)
    assert found["h"] == pytest.approx(float(want["h"]), abs=5e-5)


def test_only_one_pair_of_run_b_is_not_far_from_chance(run_b: fnb.Outcomes) -> None:
    table = fnb.compare(run_b, metric="ASR", cluster=())
    close = table[table["p"] > 1e-15]
    assert list(zip(close["mode_a"], close["mode_b"], strict=True)) == [
        ("SanitizerOnly", "LoopOnly")
    ]
    assert not math.isnan(close.iloc[0]["h"])
