"""Every printed proportion of runs A, B and C again from its counts, to the printed digit (z =
1.96).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import ferrite_nb as fnb

CELLS = pd.read_csv(fnb.data("published_counts.csv"), dtype=str, keep_default_na=False)
PROPORTIONS = CELLS[(CELLS["k"] != "") & (CELLS["n"] != "")]
BOUNDED = PROPORTIONS[PROPORTIONS["printed_low"] != ""]


def named(cells: pd.DataFrame) -> list[Any]:
    """One parameter per cell, with a readable name."""
    columns = ["run", "mode_or_pair", "stratum", "metric"]
    return [
        pytest.param(row, id="-".join(row[columns]).replace(" ", "_"))
        for _, row in cells.iterrows()
    ]


def test_the_file_holds_all_the_printed_cells() -> None:
    assert len(CELLS) == 192
    assert PROPORTIONS.groupby("run").size().to_dict() == {
        "A": 31,
        "A-live-predictor": 3,
        "B": 11,
        "B-guard": 11,
        "C": 90,
    }
    assert len(BOUNDED) == 124
    assert (
        PROPORTIONS["printed_rate"] == ""
    ).sum() == 2  # the consent sweep prints two counts without a rate


@pytest.mark.parametrize("row", named(PROPORTIONS))
def test_estimate_gives_the_printed_rate_and_bounds(
    row: pd.Series, printed: Callable[[Any], Any]
) -> None:
    shown = printed(fnb.estimate(int(row["k"]), int(row["n"]), z=1.96))
    wanted = (row["printed_rate"], row["printed_low"], row["printed_high"])
    assert [found for found, want in zip(shown, wanted, strict=True) if want] == [
        want for want in wanted if want
    ]


@pytest.mark.parametrize("row", named(BOUNDED))
def test_interval_gives_the_printed_bounds(row: pd.Series) -> None:
    bounds = fnb.stats.interval(int(row["k"]), int(row["n"]), z=1.96)
    assert (f"{100 * bounds.low:.1f}", f"{100 * bounds.high:.1f}") == (
        row["printed_low"],
        row["printed_high"],
    )


def test_all_bounds_in_one_call_are_the_same_bounds() -> None:
    k, n = (BOUNDED[column].astype(int).to_numpy() for column in ("k", "n"))
    bounds = fnb.stats.interval(k, n, z=1.96)
    assert [f"{100 * low:.1f}" for low in bounds.low] == list(BOUNDED["printed_low"])
    assert [f"{100 * high:.1f}" for high in bounds.high] == list(BOUNDED["printed_high"])


def test_the_exact_quantile_changes_the_last_digit_of_few_cells_only() -> None:
    differing = set()
    for _, row in BOUNDED.iterrows():
        k, n = int(row["k"]), int(row["n"])
        bounds = fnb.stats.interval(k, n)
        if (f"{100 * bounds.low:.1f}", f"{100 * bounds.high:.1f}") != (
            row["printed_low"],
            row["printed_high"],
        ):
            differing.add((k, n))
    assert differing == {(12, 12), (0, 12), (3, 3), (0, 3)}


@pytest.mark.parametrize("row", named(CELLS[CELLS["n"].eq("0")]))
def test_a_cell_without_a_case_is_not_computable(row: pd.Series) -> None:
    assert row["printed_value"] == "n/a"
    cell = fnb.estimate(0, int(row["n"]), z=1.96)
    assert math.isnan(cell.rate) and math.isnan(cell.low) and math.isnan(cell.high)
    assert "not computable" in str(cell)
