"""`cases`: the rows behind a cell or a pair of modes: which cases got worse, which are unknown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import pandas as pd

from ..count.cube import check_columns, filled, find_mode, labels, modes_of, need_events, row_masks
from ..escape import plain
from ..metrics import metric as find_metric
from ..order import natural
from ..outcomes.contract import STRATA
from ..outcomes.declare import pandas_of
from ..outcomes.table import Outcomes
from ..schema import SHAPES, Table
from .unit import listed

ONLY = ("b", "c", "missing", "event")
ANSWERS = {1.0: "yes", 0.0: "no", -1.0: "unknown"}
LONGEST = 500  # signs of a text of the record that a table carries


def cases(
    runs: Outcomes,
    metric: str = "ASR",
    *,
    mode: str | Iterable[str] | None = None,
    pair: Sequence[str] | None = None,
    only: str | None = None,
    show: str | Iterable[str] = (),
) -> Table:
    """The cases behind a cell or a pair of modes: one row per case and repeat, a column a mode.

    Parameters
    ----------
    metric: an event of a case (ASR, CR, task success, ...).
    mode: one mode or several; None is all. For a cell with strata: `runs.where(tier="Tier1")`.
    pair: two modes A and B, in place of `mode`: only cases that ran in both.
    only: "b" (the event in A only), "c" (in B only; with repeats: oftener), as `fnb.compare` counts
        them; "event" (in at least one of the modes); "missing" (unknown in at least one of them).
    show: columns of the record to add, such as the prompt or the error. Their texts are cut at 500
        signs and may hold attack payloads; tables escape them.

    Returns
    -------
    Table with `case_id`, `repeat` (where there is one), the strata and clusters that the data have,
    one column a mode ("yes" for the event of the metric, "no", "unknown", empty where the case did
    not run), `source` (file and row of each mode), the columns of `show` (one a mode where modes
    differ) and `metric`. A mode whose name is that of another column is called `mode <name>`.

    Raises
    ------
    ValueError: an unknown metric, mode, column or word; `mode` and `pair` together; "b" or "c"
        without a pair. OutcomesError: a table of counts, which has no cases.

    Example
    -------
    >>> import ferrite_nb as fnb
    >>> runs = fnb.read(fnb.data("ferrite_run_a.csv"))
    >>> table = fnb.cases(runs, pair=("SanitizerOnly", "LoopOnly"), only="c")
    >>> table[["case_id", "SanitizerOnly", "LoopOnly"]].values.tolist()
    [['c24', 'no', 'yes']]
    """
    one = find_metric(metric)
    have, there = need_events(runs, one), modes_of(runs)
    if only is not None and only not in ONLY:
        raise ValueError(f"only is one of {', '.join(ONLY)} or None, got {only!r}")
    if mode is not None and pair is not None:
        raise ValueError("name mode or pair, not both")
    asked = listed(mode if pair is None else pair)
    modes = [find_mode(there, name) for name in asked] or there
    if len(set(modes)) != (len(modes) if pair is None else 2):
        raise ValueError(f"{'mode' if pair is None else 'pair'} names different modes, got {asked}")
    if only in ("b", "c") and len(modes) != 2:
        raise ValueError(f'only="{only}" is of two modes: name them with pair=(…, …)')
    texts = [name for name in check_columns(runs, listed(show), "show")]
    texts = [name for name in texts if name not in ("case_id", "repeat", "mode", "source")]
    strata = [name for name in dict.fromkeys([*runs.cluster, *STRATA]) if name in have]
    strata = [name for name in strata if name not in ("case_id", "repeat")]
    texts = [name for name in texts if name not in strata]
    keys = ["case_id", *(["repeat"] if "repeat" in have else [])]
    population, known, event = row_masks(one, have)
    answer = nw.when(~known).then(nw.lit(-1.0)).otherwise(nw.lit(0.0))
    answer = nw.when(known & event).then(nw.lit(1.0)).otherwise(answer)
    rows = runs.table.filter(population & nw.col("mode").is_in(modes))
    taken = [name for name in (*strata, "source", *texts) if name in have and name != "mode"]
    rows = rows.select(*keys, "mode", *labels(runs, taken), answer.alias("_answer"))
    found = pandas_of(rows.join(chosen(rows, modes, pair is not None, only), "case_id", how="semi"))
    return side_by_side(found, modes, keys, strata, texts, one.symbol)


def chosen(rows: Any, modes: Sequence[str], paired: bool, only: str | None) -> Any:
    """The cases to be shown (a frame of `case_id`), chosen where the data are."""
    counts = {"k": nw.col("_answer") == 1, "n": nw.col("_answer") >= 0, "m": nw.col("_answer") < 0}
    flags = {
        f"{name}{place}": test & (nw.col("mode") == mode)
        for place, mode in enumerate(modes)
        for name, test in counts.items()
    }
    ones = [
        nw.when(test).then(nw.lit(1)).otherwise(nw.lit(0)).alias(name)
        for name, test in flags.items()
    ]
    k, n, m = ([nw.col(f"{name}{place}") for place in range(len(modes))] for name in counts)
    tests = []
    if paired:
        tests += [(n[place] + m[place]) > 0 for place in (0, 1)]
    if only in ("b", "c"):
        a, b = (0, 1) if only == "b" else (1, 0)
        tests += [n[a] > 0, n[b] > 0, k[a] * n[b] > k[b] * n[a]]
    elif only is not None:
        tests.append(nw.sum_horizontal(*(k if only == "event" else m)) > 0)
    sums = [nw.col(name).sum() for name in flags]
    per_case = rows.select("case_id", *ones).group_by("case_id").agg(*sums)
    return (per_case.filter(*tests) if tests else per_case).select("case_id")


def side_by_side(
    found: pd.DataFrame,
    modes: Sequence[str],
    keys: list[str],
    strata: list[str],
    texts: list[str],
    metric: str,
) -> Table:
    """One row a case and repeat: the answer of each mode beside the others, and where it stands."""
    found = filled(found, strata).sort_values(keys, kind="stable")
    for name in texts:
        found[name] = [plain(text, LONGEST) for text in found[name]]
    found["source"] = found.get("source", "")
    sides = {mode: found[found["mode"] == mode].set_index(keys) for mode in modes}

    def beside(column: str) -> pd.DataFrame:
        return pd.concat({mode: side[column] for mode, side in sides.items()}, axis=1)

    taken = {*keys, *strata, *texts, *SHAPES["cases"].words, *SHAPES["cases"].facts}
    names = {mode: f"mode {mode}" if mode in taken else mode for mode in modes}
    first = found.drop_duplicates(keys).set_index(keys)
    parts = [first[strata], beside("_answer").replace(ANSWERS).astype(object).rename(columns=names)]
    places = beside("source").fillna("").to_numpy().tolist()
    parts.append(pd.Series(map(joined, places), parts[1].index, dtype="str", name="source"))
    for name in texts:
        alike = found.groupby(keys)[name].nunique().le(1).all()
        given = first[[name]] if alike else beside(name).add_prefix(f"{name}: ")
        parts.append(given)
    table = pd.concat(parts, axis=1).fillna("").reset_index().assign(metric=metric)
    marks = [tuple(map(natural, row)) for row in table[keys].astype(str).to_numpy().tolist()]
    order = sorted(range(len(table)), key=marks.__getitem__)
    return Table(table.iloc[order].reset_index(drop=True))


def joined(places: Sequence[str]) -> str:
    """The places of one case, each once."""
    return "; ".join(dict.fromkeys(filter(None, places)))
