"""Tables of counts: k of n, pairs, and bare rates, which are refused."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ferrite_nb as fnb
from ferrite_nb.outcomes.frames import counts_of, rate_hint

from ..engines import ENGINES, on_engine


@pytest.mark.parametrize("engine", ENGINES)
def test_k_of_n_supports_rates_on_every_engine(engine):
    frame = pd.DataFrame({"mode": ["Off", "On"], "tier": ["T1", "T1"], "k": [20, 0], "n": [22, 22]})
    runs = fnb.outcomes(on_engine(engine, frame))
    table = fnb.rates(runs, "ASR").set_index("mode")
    assert table.loc["Off", ["k", "n"]].tolist() == [20, 22] and table.loc[
        "On", ["k", "n"]
    ].tolist() == [0, 22]
    assert any("counts only (k of n)" in note for note in runs.notes)


@pytest.mark.parametrize(
    ("k", "n", "message"),
    [
        ("3", "2", "row 2 .*: k = 3 and n = 2; k must not be larger than n"),
        ("-1", "2", "row 2 .*column k has '-1'; it must be a whole number"),
        ("0.5", "2", "row 2 .*column k has '0.5'; it must be a whole number"),
        ("", "2", "row 2 .*column k has ''"),
        ("1", "many", "row 2 .*column n has 'many'"),
        ("inf", "inf", "row 2 .*column k has 'inf'"),
    ],
)
def test_counts_that_are_none_raise_with_their_place(k, n, message):
    frame = pd.DataFrame({"mode": ["Off", "On"], "k": ["1", k], "n": ["2", n]})
    with pytest.raises(fnb.OutcomesError, match=message):
        fnb.outcomes(frame)


def test_a_percentage_in_k_names_the_counts_it_may_stand_for():
    frame = pd.DataFrame({"mode": ["On"], "k": ["93%"], "n": ["150"]})
    with pytest.raises(fnb.OutcomesError, match="139/150 or 140/150 if it is percent"):
        fnb.outcomes(frame)


def test_metrics_of_two_kinds_are_read_and_the_others_left_out_with_a_note():
    frame = pd.DataFrame(
        {
            "mode": ["On"] * 4,
            "metric": ["ASR", "CR", "FGR", "task success"],
            "k": [2, 20, 1, 9],
            "n": [22, 22, 7, 10],
        }
    )
    runs = fnb.outcomes(frame)
    table = fnb.rates(runs, ["ASR", "FGR"]).set_index("metric")
    assert table.loc["ASR", ["k", "n", "missing"]].tolist() == [2, 22, 0]
    assert table.loc["FGR", ["k", "n", "missing"]].tolist() == [1, 7, 0]
    assert any("2 rows of counts left out (metric CR, task success)" in note for note in runs.notes)


def test_counts_of_benign_rows_need_their_metric():
    frame = pd.DataFrame({"mode": ["On"], "kind": ["benign"], "k": [1], "n": [7]})
    with pytest.raises(fnb.OutcomesError, match="need a column metric"):
        fnb.outcomes(frame)
    with pytest.raises(fnb.OutcomesError, match="names none of ASR, FGR"):
        fnb.outcomes(frame.assign(metric="speed"))


@settings(deadline=None)
@given(st.tuples(*[st.integers(0, 30)] * 4).filter(lambda cells: sum(cells) > 0))
def test_pairs_become_cases_with_the_same_table(cells):
    both, b, c, neither = cells
    row = {"mode_a": "Off", "mode_b": "On", "both": both, "b": b, "c": c, "neither": neither}
    frame = fnb.outcomes(pd.DataFrame([row])).frame
    wide = frame.pivot(index="case_id", columns="mode", values="attack_success").astype(bool)
    assert len(wide) == sum(cells)
    off, on = wide["Off"], wide["On"]
    assert ((off & on).sum(), (off & ~on).sum(), (~off & on).sum(), (~off & ~on).sum()) == cells


def test_pairs_are_compared_like_cases():
    row = {"mode_a": "Off", "mode_b": "On", "both": 5, "b": 17, "c": 1, "neither": 3}
    pair = fnb.compare(fnb.outcomes(pd.DataFrame([row]))).iloc[0]
    assert pair[["both", "b", "c", "neither", "n_pairs"]].tolist() == [5, 17, 1, 3, 26]


def test_pairs_without_both_and_neither_give_no_rate():
    frame = pd.DataFrame({"mode_a": ["Off"], "mode_b": ["On"], "b": [3], "c": [0]})
    with pytest.raises(
        fnb.OutcomesError, match=r"give a test and no rate: call fnb.stats.mcnemar\(b, c\)"
    ):
        fnb.outcomes(frame)


def test_a_mode_in_two_pairs_is_refused():
    row = {"mode_a": "Off", "both": 1, "b": 1, "c": 1, "neither": 1}
    frame = pd.DataFrame([row | {"mode_b": "On"}, row | {"mode_b": "LoopOnly"}])
    with pytest.raises(fnb.OutcomesError, match="the mode 'Off' stands in 2 pairs"):
        fnb.outcomes(frame)


# The counts behind a printed rate: 93% of 150 is 139 (92.7%) or 140 (93.3%).
def test_the_counts_behind_a_printed_rate():
    assert counts_of(93, 150, 100, 0) == [139, 140]
    assert counts_of(45.2, 500, 100, 1) == [226]
    assert counts_of(0.8, 500, 100, 1) == [4]
    assert counts_of(0.8, 500, 1, 1) == [400]
    assert counts_of(50, 3, 100, 0) == []


# One decimal of a percentage separates the counts of up to 400 cases.
@settings(deadline=None)
@given(st.integers(1, 400), st.data())
def test_the_true_count_is_always_among_them(n, data):
    k = data.draw(st.integers(0, n))
    assert k in counts_of(float(f"{100 * k / n:.1f}"), n, 100, 1)


def test_no_hint_where_there_is_no_rate():
    for value in ("maybe", "", None, "101", "-3", "0", "1", "nan"):
        assert rate_hint(value, None) == ""
    assert "looks like a rate" in rate_hint("45.2", None)
    assert "no whole count of 3 gives it" in rate_hint("50%", pd.Series(["3"]))
