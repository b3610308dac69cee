"""What is said of bad data and bad calls: each message names what is wrong and what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import ferrite_nb as fnb
from ferrite_nb.outcomes.choose import NoRowError

ROW = {"case_id": "a", "mode": "On", "attack_success": True}
GATE = {"metric": "ASR", "at_most": 0.1, "where": {"mode": "On"}}


def table(*rows: dict[str, Any], **changed: Any) -> pd.DataFrame:
    """A frame of one good row, changed, or of the given rows."""
    return pd.DataFrame(rows or [ROW | changed])


def two(**changed: Any) -> fnb.Outcomes:
    """Twelve cases in two modes."""
    rows = [
        {"case_id": f"c{i}", "mode": mode, "attack_success": i < 6}
        for mode in ("Off", "On")
        for i in range(12)
    ]
    return fnb.outcomes(pd.DataFrame(rows).assign(**changed))


BAD_DATA = {
    "no case": (
        lambda: fnb.outcomes(table().drop(columns="case_id")),
        'no column case_id; .*case_id="<column>"',
    ),
    "no mode": (
        lambda: fnb.outcomes(table().drop(columns="mode")),
        r'no column mode; .*fnb.const\("On"\)',
    ),
    "no rows": (lambda: fnb.outcomes(table().head(0)), "has no row of outcomes"),
    "kind": (
        lambda: fnb.outcomes(table(kind=True)),
        "column kind has 'True'; kind must be attack or benign",
    ),
    "token": (
        lambda: fnb.outcomes(table(attack_success="maybe")),
        "row 1 .*attack_success has 'maybe'; true is",
    ),
    "score": (lambda: fnb.outcomes(table(attack_success="0.7")), "This looks like a rate"),
    "key": (
        lambda: fnb.outcomes(table(case_id=" ")),
        "column case_id has ' '; a key must not be missing",
    ),
    "number": (
        lambda: fnb.outcomes(table(latency_ms="fast")),
        "latency_ms has 'fast'; it must be a number",
    ),
    "endless": (lambda: fnb.outcomes(table(latency_ms=float("inf"))), "it must be a finite number"),
    "amount": (
        lambda: fnb.outcomes(table(segments=1.5)),
        "segments has '1.5'; it must be a whole number >= 0",
    ),
    "twice": (
        lambda: fnb.outcomes(table(ROW, ROW | {"attack_success": "no"})),
        '1 key .*a / On .2 rows.*keep="last"',
    ),
    "columns": (
        lambda: fnb.outcomes(table().set_axis(["case_id", "mode", "mode"], axis=1)),
        "names must be texts",
    ),
    "declared": (
        lambda: fnb.outcomes(table(), model="llm"),
        "no column 'llm' to take model from; the columns are",
    ),
    "both": (lambda: fnb.outcomes(table(x=1), attack_resisted="x", attack_success="x"), "not both"),
    "k > n": (
        lambda: fnb.outcomes(pd.DataFrame({"mode": ["On"], "k": [12], "n": [5]})),
        "must not be larger than n",
    ),
    "rate": (
        lambda: fnb.outcomes(pd.DataFrame({"mode": ["On"], "asr": [45.2], "n": [500]})),
        "226/500 if it is perc",
    ),
    "b, c": (
        lambda: fnb.outcomes(pd.DataFrame({"b": [1], "c": [2]})),
        r"call fnb.stats.mcnemar\(b, c\)",
    ),
    "weights": (lambda: fnb.outcomes(table(rows=2, repeat="1")), "rows above 1 beside a repeat"),
    "one mode": (
        lambda: fnb.compare(fnb.outcomes(table())),
        "one mode only .On.: there is nothing to compare",
    ),
    "versions": (
        lambda: fnb.rates(two(suite_version=["1", "2"] * 12), "ASR"),
        r"mix suite .*pool_versions\(\)",
    ),
    "pairs": (
        lambda: fnb.compare(two(suite_version=["1", "2"] * 12)),
        r"mixes suite .*runs.pool_versions\(\)",
    ),
    "counts": (
        lambda: fnb.compare(fnb.outcomes(pd.DataFrame({"mode": ["A", "B"], "k": 1, "n": 2}))),
        "no case_id",
    ),
    "attempts": (lambda: fnb.attempts(two()), 'declare repeat="<column>"'),
    "no file": (lambda: fnb.read("no such file.csv"), "there is no file or folder"),
}

BAD_CALLS = {
    "a frame": (
        lambda: fnb.rates(table()),
        TypeError,
        "outcomes are needed, got DataFrame; make them with fnb.read",
    ),
    "compare": (lambda: fnb.compare(table()), TypeError, "outcomes are needed, got DataFrame"),
    "gradient": (lambda: fnb.gradient(5), TypeError, "outcomes are needed, got int"),
    "overhead": (lambda: fnb.overhead(table()), TypeError, "outcomes are needed"),
    "limits": (lambda: fnb.limits(table()), TypeError, "outcomes are needed"),
    "attempt": (lambda: fnb.attempts(table()), TypeError, "outcomes are needed"),
    "gate": (lambda: fnb.gate(table(), GATE), TypeError, "outcomes are needed"),
    "releases": (lambda: fnb.releases({"1": 5}, GATE), TypeError, "outcomes are needed, got int"),
    "by": (lambda: fnb.rates(two(), by=5), TypeError, "a name or a list of names is needed, got 5"),
    "metric": (
        lambda: fnb.rates(two(), 5),
        TypeError,
        "a name or a list of names is needed, got 5",
    ),
    "unknown": (
        lambda: fnb.rates(two(), "asr2"),
        ValueError,
        "no metric 'asr2'; the metrics are ASR",
    ),
    "dL": (lambda: fnb.rates(two(), "dL"), ValueError, r"call fnb.overhead\(runs\)"),
    "column": (
        lambda: fnb.rates(two(), by="x"),
        ValueError,
        "by: there is no column 'x'; the columns are",
    ),
    "level": (lambda: fnb.rates(two(), level=95), ValueError, "write 0.95 for 95 %"),
    "mode": (
        lambda: fnb.compare(two(), modes=["Off", "x"]),
        ValueError,
        "no mode 'x'; the modes are Off, On",
    ),
    "where": (
        lambda: two().where(mode="x"),
        NoRowError,
        "no row has mode = 'x'; there are Off, On",
    ),
    "threshold": (
        lambda: fnb.gate(two(), GATE | {"at_most": "2%"}),
        TypeError,
        "at_most must be a number, got '2%'",
    ),
    "one end": (
        lambda: fnb.gate(two(), GATE | {"at_least": 0.1}),
        ValueError,
        "at_most or at_least, and only one",
    ),
    "several": (
        lambda: fnb.gate(two(), GATE | {"where": {}}),
        ValueError,
        r"several modes \(Off, On\); name one",
    ),
}


@pytest.mark.parametrize("name", BAD_DATA)
def test_bad_data_says_what_to_do(name: str) -> None:
    call, message = BAD_DATA[name]
    with pytest.raises(fnb.OutcomesError, match=message):
        call()


@pytest.mark.parametrize("name", BAD_CALLS)
def test_a_bad_call_says_what_is_allowed(name: str) -> None:
    call: Callable[[], Any]
    call, kind, message = BAD_CALLS[name]
    with pytest.raises(kind, match=message) as caught:
        call()
    assert type(caught.value) is kind


def test_one_number_is_as_good_as_a_list() -> None:
    runs = two(latency_ms=5.0)
    assert fnb.overhead(runs, quantiles=0.5)["value"].tolist() == [0.0]


def test_three_hundred_modes_are_compared_without_a_warning() -> None:
    rows = [
        {"case_id": f"c{i}", "mode": f"m{m}", "attack_success": m < i}
        for m in range(300)
        for i in range(2)
    ]
    assert "many comparisons" in set(fnb.limits(fnb.outcomes(pd.DataFrame(rows)))["limit"])
