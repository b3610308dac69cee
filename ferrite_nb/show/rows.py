"""Rows: a small table, row by row, for words and marks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

__all__ = ["Row", "rows_of"]


class Row(dict[str, Any]):
    """The cells of one row of a table; `name` is its label in the index, as that of a pandas
    row.
    """

    def __init__(self, name: Any, cells: Mapping[str, Any]) -> None:
        super().__init__(cells)
        self.name = name


def rows_of(table: pd.DataFrame) -> list[Row]:
    """The rows of a small table. Pandas' own rows cost more than all that is done with them
    here.
    """
    return [
        Row(name, cells) for name, cells in zip(table.index, table.to_dict("records"), strict=True)
    ]
