"""People's labels of some cases of a run: the verdicts, and the strata of the labels, are taken
from the run itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals.stable.v2 as nw
import pandas as pd

from ..count.cube import labels as as_text
from ..metrics import METRICS, mode_key
from ..outcomes.contract import KEYS, OutcomesError
from ..outcomes.declare import pandas_of, some
from ..outcomes.table import Outcomes
from .known_judge import Labels
from .labels import is_counts, name_of_column, table_of, texts

POPULATIONS = sorted({name for one in METRICS.values() for name in one.population})


def with_verdicts(judge: Any, runs: Outcomes, strata: Sequence[str]) -> Any:
    """Labels that name cases of the run (`case_id`, and `mode` and `repeat` where it has several)
    get their verdicts.

    Anything else (labels with a column of verdicts, counts, Se and Sp) comes back as it is.

    Raises
    ------
    ValueError: a labelled case stands in several rows of the run, so that the labels must name mode
        or repeat too.
    OutcomesError: no labelled case is in the run, or a case is labelled twice.
    """
    labels = judge if isinstance(judge, Labels) else Labels(judge)
    if isinstance(labels.known, Mapping | pd.Series):
        return judge
    frame = table_of(labels.known)
    have = runs.columns
    verdict = name_of_column(labels.judge)
    if (
        verdict in frame
        or is_counts(frame)
        or {"se", "sp"} & set(frame)
        or labels.event not in have
    ):
        return judge
    keys = [name for name in KEYS if name in frame and name in have]
    if "case_id" not in keys:
        return judge
    more = [
        name
        for name in dict.fromkeys([*strata, *POPULATIONS])
        if name in have and name not in frame
    ]
    frame = frame.assign(**{name: texts(frame[name]) for name in keys})
    if "mode" in keys:
        spelled = {mode_key(mode): mode for mode in runs.modes}
        frame["mode"] = [spelled.get(mode_key(mode), mode) for mode in frame["mode"]]
    if frame.duplicated(keys).any():
        twice = frame.loc[frame.duplicated(keys), "case_id"]
        raise OutcomesError(
            f"judge: {len(twice)} labels are of a case that is labelled before ({some(twice, 3)})"
        )
    rows = rows_of(runs, frame["case_id"], keys, [*more, labels.event])
    merged = frame.merge(
        rows.rename(columns={labels.event: verdict}), on=keys, how="inner", validate="1:1"
    )
    if merged.empty:
        raise OutcomesError(
            f"judge: no labelled case is in the run, such as {some(frame['case_id'], 3)}"
        )
    return replace(labels, known=merged, judge=verdict)


def rows_of(runs: Outcomes, cases: Any, keys: list[str], wanted: list[str]) -> pd.DataFrame:
    """The rows of these cases, as pandas: keys as text, the event, and what tells strata and
    populations.
    """
    wanted = [name for name in dict.fromkeys(wanted) if name not in keys]
    chosen = runs.table.filter(nw.col("case_id").cast(nw.String).is_in(list(dict.fromkeys(cases))))
    rows = pandas_of(chosen.select(*as_text(runs, keys), *(nw.col(name) for name in wanted)))
    if rows.duplicated(keys).any():
        case = rows.loc[rows.duplicated(keys), "case_id"].iloc[0]
        needed = ", ".join(name for name in KEYS if name in runs.columns and name not in keys)
        raise ValueError(
            f"judge: case {case!r} stands in several rows of the run; the labels must say which: add {needed}"
        )
    return rows
