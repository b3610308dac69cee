"""Tables of counts become weighted rows (k of n) or cases (both, b, c, neither); rates without
counts are refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import narwhals.stable.v2 as nw
import pandas as pd

from ..metrics import METRICS
from .contract import Declaration, OutcomesError

Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]
# Of two metrics with one population only one can be read: the rows of the other would look like
# missing outcomes.
COUNTED = ("ASR", "FGR", "false refusal", "task success")
PAIRS = ("both", "b", "c", "neither")
RATES = ("rate", "asr", "percent", "percentage", "success_rate", "attack_success_rate", "pct")
MOST_CASES = 5_000_000


def expand_counts(
    table: Frame, declared: Mapping[str, Declaration], what: str
) -> tuple[Frame, list[str]]:
    """A table of counts as a table of rows, and what to note; any other table as it is.

    With `k` and `n`, each row becomes one weighted row of events and one of the rest. With
    `mode_a`, `mode_b`, `both`, `b`, `c` and `neither`, each pair becomes a case in both modes. A
    rate without counts is refused.
    """
    names = set(table.collect_schema().names()) | set(declared)
    place = f"{what}, " if what else ""
    if names & {"attack_success", "attack_resisted", "rows"}:
        return _repeats(table, declared, place) if {"rows", "case_id"} <= names else (table, [])
    if {"b", "c"} <= names and "case_id" not in names:
        return nw.from_native(_cases(small(table), place)), [
            "counts of pairs: each pair is read as one case"
        ]
    if {"k", "n"} <= names:
        frame, notes = _weighted(small(table), place)
        return nw.from_native(frame), [
            *notes,
            "counts only (k of n): no pairs and no clusters in this table",
        ]
    rates = [name for name in table.collect_schema().names() if name.lower() in RATES]
    if rates and "case_id" not in names:
        _refuse_rates(small(table), rates[0], place)
    return table, []


def _repeats(
    table: Frame, declared: Mapping[str, Declaration], place: str
) -> tuple[Frame, list[str]]:
    """Rows of a case that carry a weight: each is that many repeats of the case, for the unit is
    the case.
    """
    said = declared.get("rows", "rows")
    if (
        not isinstance(said, str)
        or said not in table.collect_schema().names()
        or "repeat" in declared
    ):
        raise OutcomesError(
            f"{place}weights of cases (rows and case_id) need a column rows, and no repeat beside it"
        )
    frame = small(table)
    weight = _whole(frame, (said,), place)[said].to_numpy()
    if weight.sum() > MOST_CASES:
        raise OutcomesError(
            f"{place}more than {MOST_CASES:,} repeats; leave case_id out to read a table of counts"
        )
    once = bool((weight == 1).all())
    if not once and "repeat" in frame:
        raise OutcomesError(
            f"{place}rows above 1 beside a repeat: one row is one repeat, so leave one of the two out"
        )
    frame = frame.drop(columns=said).loc[frame.index.repeat(weight)].reset_index(drop=True)
    if once:
        return nw.from_native(frame), []
    keys = [
        frame[name].astype(str)
        for what in ("case_id", "mode")
        for name in _columns_of(declared.get(what, what))
        if name in frame
    ]
    frame["repeat"] = (frame.groupby(keys, sort=False).cumcount() + 1).astype(str)
    return nw.from_native(frame), [
        f"rows beside case_id: {int(weight.sum())} repeats of cases, one for each"
    ]


def _columns_of(what: Declaration) -> list[str]:
    """The columns that a declaration names."""
    what = getattr(what, "column", what)
    return [what] if isinstance(what, str) else list(what) if isinstance(what, list | tuple) else []


def small(table: Frame) -> pd.DataFrame:
    """A table of counts in pandas."""
    if isinstance(table, nw.LazyFrame):
        return table.collect("pandas").to_native()
    return table.to_pandas().reset_index(drop=True)


def _whole(frame: pd.DataFrame, columns: tuple[str, ...], place: str) -> pd.DataFrame:
    """Columns of counts as whole numbers; the message names row, column and value."""
    made = {}
    for name in columns:
        number = pd.to_numeric(frame[name], errors="coerce")
        bad = ~((number >= 0) & (number % 1 == 0) & (number <= 2.0**53))
        if bad.any():
            row = int(bad.to_numpy().argmax())
            raise OutcomesError(
                f"{place}{_row(frame, row)}: column {name} has {str(frame[name].iloc[row])[:80]!r}; it must be a whole "
                f"number >= 0{rate_hint(frame[name].iloc[row], frame.get('n'), row)}"
            )
        made[name] = number.astype("int64")
    return pd.DataFrame(made)


def _row(frame: pd.DataFrame, row: int) -> str:
    """The place of a row, where the file has told it."""
    source = frame["source"].iloc[row] if "source" in frame else None
    return (
        str(source)
        if isinstance(source, str) and source
        else f"row {row + 1} (the header not counted)"
    )


def _weighted(frame: pd.DataFrame, place: str) -> tuple[pd.DataFrame, list[str]]:
    """Rows of events and of the rest, with weights; other metrics than those that can be counted
    are left out.
    """
    frame, notes = _of_metrics(frame, place)
    if frame.empty:
        raise OutcomesError(f"{place}the table of counts has no row")
    counts = _whole(frame, ("k", "n"), place)
    if "missing" in frame:
        counts["missing"] = _whole(frame.fillna({"missing": 0}), ("missing",), place)
    bad = counts["k"] > counts["n"]
    if bad.any():
        row = int(bad.to_numpy().argmax())
        k, n = counts[["k", "n"]].iloc[row]
        raise OutcomesError(
            f"{place}{_row(frame, row)}: k = {k} and n = {n}; k must not be larger than n"
        )
    rest = frame.drop(columns=["k", "n", "missing", "metric"], errors="ignore")
    parts = []
    for symbol, part in counts.groupby(
        frame["metric"] if "metric" in frame else pd.Series("ASR", index=frame.index)
    ):
        one = METRICS[str(symbol)]
        rows = rest.loc[part.index].assign(kind=one.population["kind"])
        event = next(iter(one.event))
        parts.append(rows.assign(**{event: True}, rows=part["k"]))
        parts.append(rows.assign(**{event: False}, rows=part["n"] - part["k"]))
        if "missing" in part and part["missing"].any():
            parts.append(rows.assign(**{event: None}, rows=part["missing"]))
    return pd.concat(parts, ignore_index=True), notes


def _of_metrics(frame: pd.DataFrame, place: str) -> tuple[pd.DataFrame, list[str]]:
    """The rows of the metrics that can be read as counts, one metric per kind of case."""
    if "metric" not in frame:
        if (
            "kind" in frame
            and (frame["kind"].astype(str).str.strip().str.lower() != "attack").any()
        ):
            raise OutcomesError(
                f"{place}counts of benign rows need a column metric (FGR or task success)"
            )
        return frame, []
    names = {symbol.lower(): symbol for symbol in COUNTED}
    symbols = frame["metric"].astype(str).str.strip().str.lower().map(names)
    chosen: dict[str, str] = {}
    for symbol in symbols.dropna():
        chosen.setdefault(str(METRICS[symbol].population["kind"]), symbol)
    kept = symbols.isin(list(chosen.values()))
    if not kept.any():
        raise OutcomesError(f"{place}the column metric names none of {', '.join(COUNTED)}")
    left = sorted(set(frame["metric"][~kept].astype(str)))
    notes = (
        [f"{int((~kept).sum())} rows of counts left out (metric {', '.join(left)[:120]})"]
        if left
        else []
    )
    return frame[kept].assign(metric=symbols[kept]).reset_index(drop=True), notes


def _cases(frame: pd.DataFrame, place: str) -> pd.DataFrame:
    """One case per pair, in both modes. Without `both` and `neither` there is a test and no
    rate.
    """
    if not {"mode_a", "mode_b", "both", "neither"} <= set(frame):
        raise OutcomesError(
            f"{place}b and c alone give a test and no rate: call fnb.stats.mcnemar(b, c), "
            "or give mode_a, mode_b, both, b, c and neither"
        )
    often = pd.concat([frame["mode_a"], frame["mode_b"]]).value_counts()
    if len(often) and often.iloc[0] > 1:
        raise OutcomesError(
            f"{place}the mode {str(often.index[0])[:60]!r} stands in {often.iloc[0]} pairs, whose cases are the same; "
            "choose one pair, or call fnb.stats.mcnemar(b, c) on each"
        )
    counts = _whole(frame, PAIRS, place)
    if counts.to_numpy().sum() > MOST_CASES:
        raise OutcomesError(f"{place}more than {MOST_CASES:,} pairs: call fnb.stats.mcnemar(b, c)")
    return pd.DataFrame(_pair_rows(frame, counts))


def _pair_rows(frame: pd.DataFrame, counts: pd.DataFrame) -> Iterator[dict[str, Any]]:
    events = {
        "both": (True, True),
        "b": (True, False),
        "c": (False, True),
        "neither": (False, False),
    }
    extra = [name for name in frame if name not in {"mode_a", "mode_b", "metric", *PAIRS}]
    for row in range(len(frame)):
        line = frame.iloc[row]
        facts = {name: line[name] for name in extra}
        cells = [event for name in PAIRS for event in [events[name]] * counts[name].iloc[row]]
        for number, event in enumerate(cells, start=1):
            case = {"case_id": f"pair {row + 1}.{number}"}
            for mode, success in zip((line["mode_a"], line["mode_b"]), event, strict=True):
                yield case | facts | {"mode": mode, "attack_success": success}


def _refuse_rates(frame: pd.DataFrame, column: str, place: str) -> None:
    """A table of bare rates: the message names the counts that each may stand for."""
    if frame.empty:
        return
    hints = [
        rate_hint(value, frame.get("n"), row) for row, value in enumerate(frame[column].head(3))
    ]
    hint = next((hint for hint in hints if hint), "")
    if hint:
        values = ", ".join(str(value)[:20] for value in frame[column].head(3))
        raise OutcomesError(f"{place}column {column} holds rates ({values}){hint}")


def rate_hint(value: Any, n: pd.Series | None, row: int = 0) -> str:
    """What to say when an outcome looks like a rate: the counts it may stand for; nothing where it
    is no rate.
    """
    text = str(value).strip().replace(",", ".")
    percent = text.endswith("%")
    try:
        number = float(text.rstrip("% "))
    except ValueError:
        return ""
    if not 0 <= number <= 100 or (number in (0, 1) and not percent):
        return ""
    said = ". This looks like a rate; a rate cannot be checked, so give whole counts in columns k and n"
    total = (
        pd.to_numeric(n, errors="coerce").iloc[row] if n is not None and len(n) > row else math.nan
    )
    if not total >= 1:
        return said
    digits = len(text.rstrip("% ").partition(".")[2])
    ways = [("percent", counts_of(number, int(total), 100, digits))]
    if number < 1 and not percent:
        ways.append(("a fraction", counts_of(number, int(total), 1, digits)))
    found = [
        f"{' or '.join(f'{k}/{int(total)}' for k in ks)} if it is {word}" for word, ks in ways if ks
    ]
    return said + (
        f" ({', '.join(found)})" if found else f" (no whole count of {int(total)} gives it)"
    )


def counts_of(rate: float, n: int, scale: int, digits: int) -> list[int]:
    """The counts k of n next to a printed rate: the one that gives it exactly, else those that
    round to it.

    >>> counts_of(93, 150, 100, 0), counts_of(45.2, 500, 100, 1)
    ([139, 140], [226])
    """
    exact = rate / scale * n
    if abs(exact - round(exact)) < 1e-9 * max(n, 1):
        return [round(exact)]
    near = (math.floor(exact), math.ceil(exact))
    return [k for k in near if abs(scale * k / n - rate) <= 0.5 * 10.0**-digits + 1e-12]
