"""An audit of the 336 published cells: whole counts behind every mean, and what the printed SD
is.
"""

from __future__ import annotations

from statistics import mean, stdev
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ferrite_nb as fnb

TABLE = pd.read_csv(fnb.data("agentdojo_tables_2510.05244.csv"), dtype={"run_counts": str})


def named() -> list[Any]:
    """One parameter per cell."""
    columns = ["table", "model", "defence", "suite"]
    return [
        pytest.param(row, id="-".join(row[columns]).replace(" ", "_"))
        for _, row in TABLE.iterrows()
    ]


def test_the_matrix_is_complete() -> None:
    columns = ["table", "model", "defence", "suite"]
    assert len(TABLE) == 336 == 3 * 4 * 7 * 4
    assert not TABLE.duplicated(columns).any()
    assert [TABLE[column].nunique() for column in columns] == [3, 4, 7, 4]
    cases = TABLE.groupby(["table", "suite"])["n_cases"].unique().map(list).to_dict()
    attacks = {"banking": 144, "slack": 105, "travel": 140, "workspace": 560}
    tasks = {"banking": 16, "slack": 21, "travel": 20, "workspace": 40}
    for suite in tasks:
        assert cases["BU", suite] == [tasks[suite]]
        assert cases["ASR", suite] == cases["UA", suite] == [attacks[suite]]


@pytest.mark.parametrize("row", named())
def test_mean_and_sd_of_a_cell_are_those_of_three_whole_counts(row: pd.Series) -> None:
    n = row["n_cases"]
    assert row["n_pooled"] == 3 * n
    assert f"{100 * row['k_pooled'] / row['n_pooled']:.2f}" == f"{row['published_rate']:.2f}"
    for way in row["run_counts"].split(" or "):
        runs = [int(count) for count in way.split("/")]
        assert len(runs) == 3 and sum(runs) == row["k_pooled"]
        rates = [100 * count / n for count in runs]
        assert mean(rates) == pytest.approx(row["published_rate"], abs=0.0051)
        assert stdev(rates) == pytest.approx(
            row["published_sd"], abs=0.0051
        )  # divisor 2: the SD of a sample


@pytest.mark.parametrize("row", named())
def test_honest_intervals_of_a_cell(row: pd.Series) -> None:
    pooled = fnb.stats.interval(int(row["k_pooled"]), int(row["n_pooled"]), z=1.96)
    assert (100 * pooled.low, 100 * pooled.high) == pytest.approx(
        (row["wilson_pooled_lo"], row["wilson_pooled_hi"]), abs=0.0051
    )
    # The unit is the case: the interval of one run is the wider one, at the same rate.
    assert (
        row["wilson_cases_hi"] - row["wilson_cases_lo"]
        > row["wilson_pooled_hi"] - row["wilson_pooled_lo"]
    )


def test_a_printed_sd_of_zero_says_nothing_about_the_cases() -> None:
    still = TABLE[TABLE["published_sd"] == 0]
    inside = still[still["published_rate"].between(0, 100, inclusive="neither")]
    assert (len(still), len(inside)) == (59, 38)
    widest = inside.loc[(inside["wilson_cases_hi"] - inside["wilson_cases_lo"]).idxmax()]
    assert (widest["published_rate"], widest["n_cases"]) == (50.0, 16)
    bounds = fnb.stats.interval(8, 16, z=1.96)
    assert (f"{100 * bounds.low:.1f}", f"{100 * bounds.high:.1f}") == ("28.0", "72.0")


def test_sd_over_runs_is_smaller_than_the_sampling_error_of_the_cases() -> None:
    p = TABLE["published_rate"] / 100
    binomial = 100 * np.sqrt(p * (1 - p) / TABLE["n_cases"])
    ratio = (TABLE["published_sd"] / binomial)[binomial > 0]
    assert len(ratio) == 315
    assert (ratio < 1).mean() == pytest.approx(0.965, abs=0.005)
    assert ratio.median() == pytest.approx(0.32, abs=0.005)


def test_macro_and_micro_mean_of_the_undefended_model_differ() -> None:
    chosen = (
        (TABLE["model"] == "gpt-4o-2024-08-06")
        & (TABLE["defence"] == "none")
        & (TABLE["table"] == "ASR")
    )
    cells = TABLE[chosen]
    assert f"{cells['published_rate'].mean():.1f}" == "34.2"
    k, n = int(cells["k_pooled"].sum()), int(cells["n_pooled"].sum())
    assert (k, n) == (662, 2847)
    bounds = fnb.stats.interval(k, n, z=1.96)
    assert (f"{100 * bounds.low:.1f}", f"{100 * bounds.high:.1f}") == ("21.7", "24.8")
