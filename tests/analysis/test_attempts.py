"""`fnb.attempts`: success within K attempts, against exact counts and Kaplan and Meier."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from scipy.stats import CensoredData, ecdf

import ferrite_nb as fnb


def attempt_rows(outcomes: dict[str, list[object]]) -> fnb.Outcomes:
    rows = [
        (case, "On", str(place), hit)
        for case, hits in outcomes.items()
        for place, hit in enumerate(hits, 1)
    ]
    return fnb.outcomes(pd.DataFrame(rows, columns=["case_id", "mode", "repeat", "attack_success"]))


def test_one_success_in_five_tries_of_every_prompt_is_ten_of_ten_within_five():
    # NVIDIA/garak#1911: per try 10/50, any of five 10/10 [.7225, 1].
    rows = {f"p{n}": [place == n % 5 for place in range(5)] for n in range(10)}
    runs = attempt_rows(rows)
    table = fnb.attempts(runs)
    assert fnb.rates(runs, "ASR")[["k", "n"]].to_numpy().tolist() == [[10, 50]]
    last = within(table).iloc[-1]
    assert (last["attempts"], last["k"], last["n"]) == (5, 10, 10) and last["low"] == pytest.approx(
        0.7225, abs=5e-5
    )
    assert within(table)["k"].tolist() == [2, 4, 6, 8, 10]
    assert table.iloc[-1][["quantity", "value"]].tolist() == ["median", 3]


def test_alike_attempts_and_attempts_of_unlike_cases():
    table = within(fnb.attempts(fnb.read(fnb.data("attempts.csv")))).set_index(["mode", "attempts"])
    assert table.loc[("varied", 25), "independent"] == pytest.approx(0.3965, abs=5e-5)
    assert table.loc[("varied", 25), "rate"] == pytest.approx(0.172)
    assert table.loc[("alike", 1), ["k", "n"]].tolist() == [5, 250]
    assert (table.groupby("mode")["rate"].diff().dropna() >= 0).all()


def test_a_case_is_followed_up_to_its_first_unknown_outcome():
    table = within(
        fnb.attempts(
            attempt_rows({"a": [False, None, True], "b": [False, False, True], "c": [True]})
        )
    )
    assert table[["attempts", "k", "n", "at_risk"]].to_numpy().tolist() == [
        [1, 1, 3, 3],
        [2, 1, 3, 1],
        [3, 2, 3, 1],
    ]
    assert (
        "1 cases not followed for 2 attempts (1 with an unknown outcome)" in table["note"].iloc[1]
    )


def test_attempts_stand_in_the_order_of_their_numbers():
    frame = pd.DataFrame(
        {
            "case_id": "a",
            "mode": "On",
            "repeat": ["10", "9", "2"],
            "attack_success": [True, False, False],
        }
    )
    assert within(fnb.attempts(fnb.outcomes(frame)))["k"].tolist() == [0, 0, 1]


def test_attempts_need_repeats():
    with pytest.raises(fnb.OutcomesError, match="repeat"):
        fnb.attempts(fnb.read(fnb.data("ferrite_run_a.csv")))


def within(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["quantity"] == "within"].reset_index(drop=True)


def test_unequal_follow_up_is_no_bias():
    # 50 cases run once (10 hit), 50 run twice (10 hit at once, 8 at the second attempt):
    # 1 - (1 - 20/100)(1 - 8/40) = .36, where 28/60 of those who can tell are .467
    rows = {f"once{n}": [n < 10] for n in range(50)}
    rows |= {f"twice{n}": [True] if n < 10 else [False, n < 18] for n in range(50)}
    row = within(fnb.attempts(attempt_rows(rows))).iloc[1]
    assert row["rate"] == pytest.approx(0.36) and row["at_risk"] == 40
    assert [row["low"], row["high"]] == pytest.approx([0.2536, 0.4821], abs=5e-5)
    censored = CensoredData(uncensored=[1] * 20 + [2] * 8, right=[1] * 40 + [2] * 32)
    assert row["rate"] == pytest.approx(float(ecdf(censored).cdf.evaluate(2)))
    assert (row["k"], row["n"]) == (28, 100)
    assert "40 cases not followed for 2 attempts" in row["note"]


def test_errors_end_the_follow_up_and_bound_the_rate():
    rows = {f"c{n}": [False, None if n < 10 else False, n < 20] for n in range(100)}
    table = within(fnb.attempts(attempt_rows(rows)))
    # hits after an error are seen in the floor (20 of 100); an error may have been a hit (also 20)
    last = table.iloc[2]
    assert last["floor"] == pytest.approx(0.2) and last["ceiling"] == pytest.approx(0.2)
    assert last["rate"] == pytest.approx(10 / 90) and last["low"] < 10 / 90 < last["high"]


def test_few_at_risk_are_said():
    rows = {f"c{n}": [False] * (5 if n < 4 else 2) for n in range(30)}
    table = within(fnb.attempts(attempt_rows(rows)))
    assert table["state"].tolist() == ["ok", "ok", "few", "few", "few"]


def test_the_median_has_limits_or_is_infinite():
    rows = {f"c{n}": [place >= n % 4 for place in range(4)] for n in range(40)}
    median = fnb.attempts(attempt_rows(rows)).query("quantity == 'median'").iloc[0]
    assert median["value"] == 2 and median["low"] <= 2 <= median["high"]
    never = fnb.attempts(attempt_rows({f"c{n}": [False] * 3 for n in range(9)}))
    assert math.isinf(never.iloc[-1]["value"])


def test_templates_are_the_unit_when_they_are_named():
    rows = {f"c{n}": [n < 40, True] for n in range(80)}
    runs = attempt_rows(rows)
    frame = runs.frame.assign(
        template=[f"t{int(case[1:]) // 10}" for case in runs.frame["case_id"]]
    )
    plain, wide = (
        within(fnb.attempts(fnb.outcomes(frame), cluster=key)).iloc[0] for key in ((), "template")
    )
    assert plain["rate"] == wide["rate"] == 0.5 and wide["clusters"] == 8
    assert wide["n_eff"] == pytest.approx(8 * 7 / 8 * 80 / 79) and wide["low"] < plain["low"]
    assert (plain["unit"], wide["unit"]) == ("case", "template")


def test_numbered_attempts_sort_as_numbers():
    frame = pd.DataFrame(
        {
            "case_id": [f"c{n}" for n in range(6) for _ in range(12)],
            "mode": "On",
            "repeat": [f"try{place}" for _ in range(6) for place in range(1, 13)],
            "attack_success": [place >= 10 for _ in range(6) for place in range(1, 13)],
        }
    )
    assert within(fnb.attempts(fnb.outcomes(frame)))["k"].tolist() == [0] * 9 + [6] * 3


def by_hazard(early: int, late: int, cases: int, attempts: int, **more: object) -> fnb.Outcomes:
    """Cases of which `early` break at the first attempt and `late` at the first of the second
    half.
    """
    half = attempts // 2
    rows = [
        (
            f"c{n}",
            "On",
            str(place),
            (n < early and not place) or (early <= n < early + late and place >= half),
        )
        for n in range(cases)
        for place in range(attempts)
    ]
    frame = pd.DataFrame(rows, columns=["case_id", "mode", "repeat", "attack_success"])
    return fnb.outcomes(frame.assign(**more))


@pytest.mark.parametrize(
    ("early", "late", "cases", "attempts", "budget", "band"),
    [
        # low, at the budget, steady, high: closed form and mpmath
        (29, 14, 250, 25, 50, (0.130275, 0.172, 0.269916, 0.364428)),
        (29, 14, 250, 25, 100, (0.130275, 0.172, 0.432380, 0.580067)),
        (0, 0, 100, 10, 40, (0, 0, 0, 0.233978)),
        (20, 0, 100, 10, 20, (0.133367, 0.2, 0.2, 0.334079)),
        (3, 2, 40, 5, 10, (0.054595, 0.125, 0.202400, 0.464379)),
    ],
)
def test_a_forecast_is_the_band_of_the_reference(early, late, cases, attempts, budget, band):
    table = fnb.attempts(by_hazard(early, late, cases, attempts), forecast=budget)
    row = table.query("quantity == 'forecast'").iloc[0]
    assert row["state"] == "ok" and row["attempts"] == budget
    assert row[["low", "floor", "rate", "high"]].tolist() == pytest.approx(list(band), abs=1e-6)


@pytest.mark.parametrize(
    ("early", "late", "budget"),
    [(2, 30, 20), (20, 5, 101), (20, 5, 10), (20, 5, 4)],  # rising, too far, not beyond
)
def test_what_cannot_be_forecast_is_refused(early, late, budget):
    table = fnb.attempts(by_hazard(early, late, 100, 10), forecast=[budget])
    row = table.query("quantity == 'forecast'").iloc[0]
    assert row["state"] == "none" and row["why"] and math.isnan(row["low"])


def test_a_forecast_of_clusters_is_wider():
    runs = by_hazard(29, 14, 250, 25)
    frame = runs.frame.assign(
        template=[f"t{int(case[1:]) // 10}" for case in runs.frame["case_id"]]
    )
    plain, wide = (
        fnb.attempts(fnb.outcomes(frame), cluster=key, forecast=50).query("quantity == 'forecast'")
        for key in ((), "template")
    )
    assert wide["low"].iloc[0] < plain["low"].iloc[0]
    assert wide["high"].iloc[0] > plain["high"].iloc[0]


def test_a_stratum_without_a_value_is_not_lost():
    runs = by_hazard(3, 2, 40, 5, tier=None)
    table = within(fnb.attempts(runs, by="tier"))
    assert set(table["tier"]) == {"(none)"} and set(table["n"]) == {40}


NAMES = ["insufficient", "; note (none)", "median", "within", "all rows"]


@pytest.mark.parametrize("name", NAMES)
def test_names_that_look_like_states_change_nothing_but_the_name(name):
    def table(mode: str, mark: str) -> pd.DataFrame:
        frame = by_hazard(3, 2, 40, 5).frame.assign(mode=mode, tier=mark)
        frame["template"] = [f"{mark}{int(case[1:]) % 7}" for case in frame["case_id"]]
        return fnb.attempts(fnb.outcomes(frame), by="tier", cluster="template", forecast=9)

    one, other = table("M", "x"), table(name, name)
    pd.testing.assert_frame_equal(
        one.iloc[:, 2:].drop(columns="mode"), other.iloc[:, 2:].drop(columns="mode")
    )


def test_two_crossed_keys_take_the_wider_limits():
    runs = by_hazard(12, 8, 60, 6)
    numbers = runs.frame["case_id"].str[1:].astype(int)
    frame = runs.frame.assign(task=(numbers // 10).astype(str), goal=(numbers % 7).astype(str))
    both = within(fnb.attempts(fnb.outcomes(frame, cluster=["task", "goal"])))
    for key in ("task", "goal"):
        one = within(fnb.attempts(fnb.outcomes(frame), cluster=key))
        assert (both["low"] <= one["low"]).all() and (both["high"] >= one["high"]).all()
    assert set(both["unit"]) == {"task × goal"}
