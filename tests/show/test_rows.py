"""Rows of a table: the same cells and the same place as a pandas row, whatever the types of its
columns.
"""

from __future__ import annotations

import pandas as pd

from ferrite_nb.estimate import Estimate
from ferrite_nb.show.rows import rows_of


def test_rows_have_the_cells_and_the_label_of_pandas_rows() -> None:
    k = pd.array([3, pd.NA], dtype="Int64")
    table = pd.DataFrame(
        {"mode": ["Off", None], "k": k, "rate": [0.5, float("nan")], "note": ["", "x"]},
        index=[7, 2],
    )
    first, second = rows_of(table)
    assert (first.name, second.name) == (7, 2)
    assert dict(first) == {"mode": "Off", "k": 3, "rate": 0.5, "note": ""}
    assert pd.isna(second["k"]) and pd.isna(second["rate"]) and pd.isna(second["mode"])
    assert rows_of(table.iloc[:0]) == []


def test_an_estimate_of_a_row_is_that_of_the_pandas_row() -> None:
    cells = {
        "k": 3,
        "n": 20,
        "rate": 0.15,
        "low": 0.05,
        "high": 0.36,
        "level": 0.95,
        "method": "wilson",
        "note": "",
    }
    table = pd.DataFrame([cells])
    assert Estimate.from_row(rows_of(table)[0]) == Estimate.from_row(table.iloc[0])
    assert rows_of(table)[0] == cells
