"""Judge: a forest of what a judge does against people's labels, by quantity, before and after
correction.
"""

from __future__ import annotations

import pandas as pd

from ...escape import missing
from .. import style
from ..chart import Chart
from ..grid import measured
from ..rows import rows_of
from . import _common
from .forest import forest


def judge(table: pd.DataFrame, *, width: style.Width = "column") -> Chart:
    """May I trust the labels: sensitivity, specificity and agreement between brackets, and the rate
    as judged, as people see it, and corrected.

    Parameters
    ----------
    table : a table of `fnb.judges`
    width : "column" (3.3 in), "text" (7 in), or a number of inches

    Returns
    -------
    Chart. A row per condition and quantity; the grey diamond is a judge that always gives the
    commoner answer. What is no rate (kappa) stands in the caption.

    Raises
    ------
    ValueError : what `forest` refuses.
    """
    table = _common.checked(table, "judge", (*_common.RATE_COLUMNS, "quantity"), "judges")
    if table.empty:
        return _common.nothing("judge", "judges", table, width)
    rate = [
        missing(v) or not missing(r) for v, r in zip(table["value"], table["rate"], strict=True)
    ]
    chart = forest(table[rate], width=width)
    columns = ["judge", *_common.strata(table)]
    other = [
        f"{_common.name_of(row, columns)} {measured(row).text}"
        for row in rows_of(table[[not r for r in rate]])
    ]
    constant = "constant judge" in set(table["quantity"])
    extra = [
        "grey diamond: a judge that always gives the commoner answer" if constant else "",
        "; ".join(other),
    ]
    what = "Judges against people's labels, and the rate before and after correction"
    return Chart(chart.figure, chart.table, chart.alt, _common.caption(chart.table, what, *extra))
