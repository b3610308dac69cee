"""The reconstructed runs, read once, and rates of a cell as the published tables print them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import ferrite_nb as fnb

# the constant of the published report; the exact quantile changes the last digit of four cells
Z = 1.96


@pytest.fixture(scope="session")
def run_a() -> fnb.Outcomes:
    """Run A: 29 hand-written cases."""
    return fnb.read(fnb.data("ferrite_run_a.csv"))


@pytest.fixture(scope="session")
def run_b_generated() -> fnb.Outcomes:
    """The 909 generated cases of run B alone."""
    return fnb.read(fnb.data("ferrite_run_b.csv")).declare(cluster=())


@pytest.fixture(scope="session")
def run_b() -> fnb.Outcomes:
    """Run B as published: the generated cases together with the hand-written ones of run A."""
    return (
        fnb.read([fnb.data("ferrite_run_a.csv"), fnb.data("ferrite_run_b.csv")])
        .declare(cluster=())
        .pool_versions()
    )


@pytest.fixture(scope="session")
def printed() -> Callable[[Any], tuple[str, str, str]]:
    """Rate and bounds with one decimal, in percent: the form of the published tables."""

    def form(row: Any) -> tuple[str, str, str]:
        values = (row.rate, row.low, row.high)
        # type: ignore[return-value]
        return tuple("" if math.isnan(value) else f"{100 * value:.1f}" for value in values)

    return form


@pytest.fixture(scope="session")
def cell() -> Callable[..., pd.Series]:
    """One row of `rates`: the cell of a metric in a mode (empty for R) and in one value of a
    stratum.
    """
    tables: dict[tuple[int, str | None], pd.DataFrame] = {}

    def look(runs: fnb.Outcomes, metric: str, mode: str, stratum: str = "all") -> pd.Series:
        column, _, value = ("", "", "") if stratum == "all" else stratum.partition("=")
        key = (id(runs), column)
        if key not in tables:
            tables[key] = fnb.rates(runs, by=["mode", column] if column else "mode", z=Z)
        table = tables[key]
        found = table[table["metric"] == metric]
        if metric != "R":  # the residual is a fact of the suite and has no mode
            found = found[found["mode"] == mode]
        if column:
            found = found[found[column] == value]
        assert len(found) == 1, f"{metric} in {mode}, {stratum}: {len(found)} rows"
        return found.iloc[0]

    return look
