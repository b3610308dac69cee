"""Counting: one cube of small cells for rates, one table of distinct vectors for pairs: elementary
group-bys on any engine, of which only small tables come back, as pandas.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from ..metrics import Metric
from ..order import NO_VALUE as NO_VALUE
from ..order import mode_key, ordered_modes
from ..outcomes.choose import check_columns as columns_named
from ..outcomes.contract import FLAGS, OutcomesError
from ..outcomes.describe import row_masks as row_masks
from ..outcomes.frames import LARGEST, Frame, distinct, pandas_of, some
from ..outcomes.table import Outcomes

BITS = 20  # per case and mode: three counts are packed into one integer of 60 bits


def need_outcomes(runs: Any) -> None:
    """Raise where a verb got a plain frame or anything else in place of outcomes."""
    if not isinstance(runs, Outcomes):
        kind = type(runs).__name__
        raise TypeError(f"outcomes are needed, got {kind}; make them with fnb.read or fnb.outcomes")


def need_events(runs: Outcomes, metric: Metric) -> list[str]:
    """The columns of outcomes that have cases with an event of this metric; raises for others."""
    need_outcomes(runs)
    have = runs.columns
    if "case_id" not in have:
        message = "a table of counts has no case_id: modes can only be compared on the same cases"
        raise OutcomesError(message, column="case_id")
    if metric.counted != "rows":
        raise ValueError(
            f"{metric.symbol} is not an event of a case, so it has no pairs; see fnb.rates or "
            "fnb.overhead"
        )
    lacking = [column for column in metric.columns if column not in have]
    if lacking:
        raise ValueError(
            f"{metric.symbol} is not computable: {metric.gap} (no column {', '.join(lacking)})"
        )
    return have


def check_columns(runs: Outcomes, names: Iterable[str], what: str) -> list[str]:
    """The named columns, or an error that lists what there is."""
    return columns_named(runs.columns, names, what)


def labels(runs: Outcomes, names: Sequence[str]) -> list[nw.Expr]:
    """Strata as text; a missing label is shown as such and is a stratum of its own."""
    schema = runs.table.collect_schema()
    made = []
    for name in names:
        if schema[name] in (nw.List, nw.Array):  # no engine makes a text of it
            raise ValueError(
                f"the column {name!r} holds lists, which are no strata; make a column of texts "
                "of it"
            )
        text = nw.col(name) if schema[name] == nw.String else nw.col(name).cast(nw.String)
        made.append(text.alias(name))
    return made


def filled(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Labels of a small table as plain text, with a word for the missing one."""
    for name in names:
        text = frame[name].astype(object)
        blank = text.isna() | (text == "")  # an empty text names no stratum
        frame[name] = text.where(~blank, NO_VALUE).astype(str)
    return frame


def cube(runs: Outcomes, strata: Sequence[str], flags: Sequence[str]) -> pd.DataFrame:
    """Count rows once, in every cell of strata, kind, flags and suite version.

    Parameters
    ----------
    strata: columns whose values are kept apart (with the mode and the cluster, if they are wanted).
    flags: flags whose three values are kept apart; those the table lacks are left out.

    Returns
    -------
    A pandas table with the strata as text, `kind`, the flags as nullable booleans, `suite_version`
    (text, where the table has it) and `rows`, the number of rows in the cell.
    """
    have = runs.columns
    strata = check_columns(runs, strata, "strata")
    flags = [name for name in FLAGS if name in have and name in {*flags, "measurable"}]
    both = [name for name in strata if name in flags]
    if both:
        raise ValueError(
            f"{both[0]} is counted here, so it cannot be a stratum too: choose rows with "
            f"runs.where({both[0]}=...), or copy it to a column of another name"
        )
    version = ["suite_version"] if "suite_version" in have and "suite_version" not in strata else []
    kind = [] if "kind" in strata else ["kind"]
    keys = [*strata, *kind, *flags, *version]
    weight = nw.col("rows").sum() if "rows" in have else nw.len()
    table = runs.table.select(
        *labels(runs, [*strata, *kind, *version]),
        *(nw.col(name) for name in flags),
        *(
            [nw.col("rows"), nw.col("rows").cast(nw.Float64).alias("_rows")]
            if "rows" in have
            else []
        ),
    )
    sums = [weight.alias("rows")]
    if "rows" in have:  # whole numbers of 64 bits start again below zero
        sums.append(nw.col("_rows").sum())
    cells = pandas_of(by_keys(table, keys).agg(*sums))
    if "rows" in have:
        exact(cells.pop("_rows").sum(), "rows")
    cells = filled(cells, [*strata, *kind, *version])
    for name in flags:
        cells[name] = cells[name].astype("boolean")
    cells["rows"] = cells["rows"].astype("int64")
    return cells.sort_values([*strata, *kind, *version, *flags], ignore_index=True)


def exact(total: float, what: str) -> None:
    """Raise where a sum of counts is larger than what every number here holds exactly."""
    if total > LARGEST:
        raise OutcomesError(f"the sum of {what} is {total:.4g}; counts are exact up to 2**53 only")


def by_keys(table: Frame, keys: Sequence[str]) -> Any:
    """The groups of some columns. One without a name stands last: narwhals takes an empty first key
    for none.
    """
    return table.group_by(*sorted(keys, key=lambda name: not name))


Mask = np.ndarray[Any, np.dtype[np.bool_]]


def masks(cells: pd.DataFrame, metric: Metric) -> tuple[Mask, Mask, Mask]:
    """Over the cells: in the population, its event known, its event true."""
    population = in_population(cells, metric)
    known, event = population.copy(), population.copy()
    for column, value in metric.event.items():
        known &= _is(cells, column, True) | _is(cells, column, False)
        event &= _is(cells, column, value)
    return population, known, event & known


def in_population(cells: pd.DataFrame, metric: Metric) -> Mask:
    """The cells of a metric's population; a fact that the table does not record is known of no
    cell.
    """
    population = np.ones(len(cells), dtype=bool)
    for column, value in metric.population.items():
        population &= _is(cells, column, value)
    if metric.only and "mode" in cells:
        population &= np.array(
            [mode_key(mode) in metric.only for mode in cells["mode"]], dtype=bool
        )
    if metric.leaves_out_unmeasurable:
        population &= ~_is(cells, "measurable", False)
    return population


def _is(cells: pd.DataFrame, column: str, value: str | bool) -> Mask:
    """Cells with this value; a missing value, and one of a column that is not there, is never
    equal.
    """
    if column not in cells:
        return np.zeros(len(cells), dtype=bool)
    if isinstance(value, str):
        return (cells[column] == value).to_numpy(dtype=bool)
    return cells[column].to_numpy(dtype="int8", na_value=-1) == int(value)


def tally(cells: pd.DataFrame, metric: Metric, strata: Sequence[str]) -> pd.DataFrame:
    """k, n and missing of one metric per stratum, summed from the cube; `not_attempted` (in n) and
    `unmeasurable` (left out) beside them.
    """
    population, known, event = masks(cells, metric)
    lost = _is(cells, "kind", "attack") & _is(cells, "measurable", False)
    parts = {
        "k": event,
        "n": known,
        "missing": population & ~known,
        "not_attempted": known & _is(cells, "attempted", False),
        "unmeasurable": lost & metric.leaves_out_unmeasurable,
    }
    groups, first = grouped(cells, strata)
    rows = cells["rows"].to_numpy()
    table = {name: cells[name].take(first).to_numpy(dtype=object) for name in strata}
    for name, mask in parts.items():
        sums = np.zeros(len(first), dtype="int64")
        np.add.at(sums, groups[mask], rows[mask])
        table[name] = sums
    return pd.DataFrame(table)


def grouped(
    cells: pd.DataFrame, strata: Sequence[str]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The group of each cell, and the first cell of each group; without strata all cells are one
    group.
    """
    codes = np.zeros(len(cells), dtype="int64")
    for name in strata:
        found, values = pd.factorize(cells[name])
        codes = pd.factorize(codes * max(len(values), 1) + found)[0]
    first = np.unique(codes, return_index=True)[1] if len(cells) else np.zeros(0, dtype="int64")
    return codes, first


def versions(
    cells: pd.DataFrame, metric: Metric, strata: Sequence[str]
) -> dict[tuple[str, ...], list[str]]:
    """The suite versions that stand in each stratum of the metric's population."""
    if "suite_version" not in cells:
        return {}
    population = in_population(cells, metric)
    found: dict[tuple[str, ...], set[str]] = {}
    names = [cells[name].to_numpy(dtype=object)[population] for name in (*strata, "suite_version")]
    for *labels, version in zip(*names, strict=True):
        found.setdefault(tuple(labels), set()).add(version)
    return {labels: sorted(several) for labels, several in found.items()}


def vectors(
    runs: Outcomes, metric: Metric, modes: Sequence[str], keep: Sequence[str] = ()
) -> pd.DataFrame:
    """One row per distinct vector of per-mode (k, n, missing) over the cases, with the number of
    cases: it serves all pairs of modes, and with the cluster or strata in `keep` those of each.
    Columns: those of `keep`, `k0`, `n0`, `m0`, `k1`, ... (in the order of `modes`) and `cases`.
    """
    have = need_events(runs, metric)
    keep = check_columns(runs, keep, "strata")
    population, known, event = row_masks(metric, have)
    k, n, m = 1, 2**BITS, 4**BITS
    state = nw.when(event).then(nw.lit(n + k)).otherwise(nw.lit(n))
    state = nw.when(~known).then(nw.lit(m)).otherwise(state)
    rows = runs.table.filter(population & nw.col("mode").is_in(list(modes))).select(
        "case_id",
        "mode",
        *labels(runs, [name for name in keep if name != "case_id"]),
        state.cast(nw.Int64).alias("_state"),
    )
    packed = [f"_mode{place}" for place in range(len(modes))]
    spread = rows.with_columns(
        *(
            nw.when(nw.col("mode") == mode).then(nw.col("_state")).otherwise(nw.lit(0)).alias(name)
            for mode, name in zip(modes, packed, strict=True)
        )
    )
    sums = [*(nw.col(name).sum().alias(name) for name in packed), nw.len().alias("_rows")]
    # pandas calls the columns of more than a hundred modes fragmented
    with warnings.catch_warnings(category=pd.errors.PerformanceWarning, action="ignore"):
        cases = spread.group_by(*dict.fromkeys(["case_id", *keep])).agg(*sums)
        groups = by_keys(cases, [*keep, *packed])
        found = pandas_of(groups.agg(nw.len().alias("cases"), nw.col("_rows").max()))
    if found["_rows"].max() >= n:
        raise OutcomesError(f"a case has more than {n - 1:,} rows; fewer can be compared exactly")
    numbers = {
        f"{name}{place}": found[column].astype("int64") // size % 2**BITS
        for place, column in enumerate(packed)
        for name, size in (("k", k), ("n", n), ("m", m))
    }
    columns = {name: filled(found, keep)[name] for name in keep} | numbers
    made = pd.DataFrame(columns | {"cases": found["cases"].astype("int64")})
    return made.sort_values([*keep, *numbers], ignore_index=True)


def case_counts(runs: Outcomes, metric: Metric, strata: Sequence[str]) -> pd.DataFrame:
    """k, n and missing of a metric whose unit is the case, not the run: each case counts once per
    stratum.
    """
    have = runs.columns
    population, _, _ = row_masks(metric, have)
    names = list(metric.amounts) or list(metric.event)
    rows = runs.table.filter(population).select(
        "case_id", *labels(runs, strata), *(_number(runs, name).alias(name) for name in names)
    )
    per_case = rows.group_by("case_id", *strata).agg(
        *(nw.col(name).max().alias(name) for name in names)
    )
    value = [nw.col(name) for name in names]
    known = ~value[0].is_null()
    if metric.amounts:
        return _summed(per_case, value[0], value[1], known & ~value[1].is_null(), strata)
    event = value[0] == float(next(iter(metric.event.values())))
    k = nw.when(event).then(nw.lit(1.0)).otherwise(nw.lit(0.0))
    return _summed(per_case, k, nw.lit(1.0), known, strata)


def _number(runs: Outcomes, name: str) -> nw.Expr:
    """A flag as 1.0, 0.0 or missing; an amount as it is."""
    if runs.table.collect_schema()[name] != nw.Boolean:
        return nw.col(name).cast(nw.Float64)
    return (
        nw.when(nw.col(name)).then(nw.lit(1.0)).otherwise(nw.when(~nw.col(name)).then(nw.lit(0.0)))
    )


def amount_counts(runs: Outcomes, metric: Metric, strata: Sequence[str]) -> pd.DataFrame:
    """Sums of a metric whose numerator and denominator are amounts in each row (text segments)."""
    population, _, _ = row_masks(metric, runs.columns)
    first, second = (nw.col(name).cast(nw.Float64) for name in metric.amounts)
    return _summed(
        runs.table.filter(population).select(
            *labels(runs, strata), first.alias(metric.amounts[0]), second.alias(metric.amounts[1])
        ),
        nw.col(metric.amounts[0]),
        nw.col(metric.amounts[1]),
        ~(nw.col(metric.amounts[0]).is_null() | nw.col(metric.amounts[1]).is_null()),
        strata,
    )


def trace_counts(
    runs: Outcomes, metric: Metric, strata: Sequence[str], baseline: str
) -> pd.DataFrame:
    """Benign cases whose trace equals that of the same case (and repeat) in the baseline mode."""
    population, _, _ = row_masks(metric, runs.columns)
    on: list[str] = [name for name in ("case_id", "repeat") if name in runs.columns]
    rows: Any = runs.table.filter(population)
    base = rows.filter(nw.col("mode") == baseline).select(*on, nw.col("trace").alias("_trace"))
    kept = [name for name in strata if name not in on]
    joined = rows.select(*on, *labels(runs, kept), "trace").join(base, on=on, how="left")
    known = ~(nw.col("trace").is_null() | nw.col("_trace").is_null())
    same = nw.when(nw.col("trace") == nw.col("_trace")).then(nw.lit(1.0)).otherwise(nw.lit(0.0))
    return _summed(joined, same, nw.lit(1.0), known, strata)


def _summed(
    table: Frame, k: nw.Expr, n: nw.Expr, known: nw.Expr, strata: Sequence[str]
) -> pd.DataFrame:
    """Sum k and n over the rows where they are known, and count the rest."""
    zero = nw.lit(0.0)
    parts = table.select(
        *strata,
        nw.when(known).then(k).otherwise(zero).alias("k"),
        nw.when(known).then(n).otherwise(zero).alias("n"),
        nw.when(known).then(zero).otherwise(nw.lit(1.0)).alias("missing"),
    )
    sums = [nw.col(name).sum().alias(name) for name in ("k", "n", "missing")]
    found = pandas_of(by_keys(parts, strata).agg(*sums) if strata else parts.select(*sums))
    for name in ("k", "n", "missing"):
        exact(found[name].sum(), name)
        found[name] = found[name].fillna(0).astype("int64")
    for _, row in found[found["k"] > found["n"]].head(1).iterrows():
        raise OutcomesError(
            f"more counted than there is: {row['k']} of {row['n']} in {dict(row[list(strata)])}"
        )
    return filled(found, strata)


def modes_of(runs: Outcomes) -> list[str]:
    """The modes in the documented order."""
    need_outcomes(runs)
    return ordered_modes(runs.modes or distinct(runs.table, "mode"), runs.modes, runs.baseline)


def find_mode(modes: Sequence[str], wanted: str, what: str = "mode") -> str:
    """A mode by its name in any case; an unknown one raises and lists the modes."""
    if wanted in modes:
        return wanted
    for mode in modes:
        if mode_key(mode) == mode_key(str(wanted)):
            return mode
    raise ValueError(f"{what}: there is no mode {wanted!r}; the modes are {some(modes)}")


def repeated(runs: Outcomes) -> bool:
    """Whether some case has several repeats in a mode."""
    if not {"repeat", "case_id"} <= set(runs.columns):
        return False
    low, high = nw.col("repeat").min().alias("low"), nw.col("repeat").max().alias("high")
    return len(set(pandas_of(runs.table.select(low, high)).iloc[0])) > 1


def name_of(keys: Sequence[str], values: Mapping[str, Any] | Sequence[Any]) -> str:
    """A cell in words: "tier Tier1, mode On"."""
    found = [values[key] for key in keys] if isinstance(values, Mapping) else list(values)
    return ", ".join(f"{key} {value}" for key, value in zip(keys, found, strict=True)) or "all rows"
