"""`compare` and `overhead`: the same cases, or no comparison. Values from published tables and
exact arithmetic.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ferrite_nb as fnb
from ferrite_nb.schema import FACTS, SHAPES, WORDS
from tests.engines import ENGINES, on_engine, random_outcomes

FIXTURES = Path(__file__).parents[1] / "fixtures"


def two_modes(both: int, b: int, c: int, neither: int, **more: object) -> pd.DataFrame:
    """Rows of two modes, A = Off and B = On, with the four cells."""
    off = [True] * (both + b) + [False] * (c + neither)
    on = [True] * both + [False] * b + [True] * c + [False] * neither
    case = [f"c{number}" for number in range(len(off))]
    frame = pd.DataFrame({"case_id": case * 2, "mode": ["Off"] * len(off) + ["On"] * len(on)})
    return frame.assign(attack_success=off + on, **more)


def only(table: pd.DataFrame) -> pd.Series:
    assert len(table) == 1
    return table.iloc[0]


def test_the_columns_are_the_contract():
    shape = SHAPES["compare"]
    expected = ["metric", *shape.keys, *shape.numbers, *WORDS, *FACTS]
    assert list(fnb.compare(fnb.outcomes(two_modes(1, 2, 3, 4)))) == expected


def test_six_pairs_of_run_a_as_published():
    table = fnb.compare(fnb.read(fnb.data("ferrite_run_a.csv")))
    found = table[["mode_a", "mode_b", "n_pairs", "b", "c", "unpaired"]].to_numpy().tolist()
    assert found == [
        ["Off", "SanitizerOnly", 19, 12, 0, 3],
        ["Off", "LoopOnly", 19, 18, 0, 3],
        ["Off", "On", 22, 22, 0, 0],
        ["SanitizerOnly", "LoopOnly", 19, 7, 1, 0],
        ["SanitizerOnly", "On", 19, 7, 0, 3],
        ["LoopOnly", "On", 19, 1, 0, 3],
    ]
    assert table["p"].tolist() == pytest.approx(
        [2 * 0.5**12, 2 * 0.5**18, 2 * 0.5**22, 0.0703125, 0.015625, 1.0]
    )
    assert [f"{p:.4f}" for p in table["p_holm"]] == [
        "0.0020",
        "0.0000",
        "0.0000",
        "0.1406",
        "0.0469",
        "1.0000",
    ]
    assert [f"{h:.3f}" for h in table["h"]] == [
        "1.837",
        "2.679",
        "3.142",
        "0.842",
        "1.305",
        "0.463",
    ]


def test_the_lab_table_with_its_paired_and_its_unpaired_interval():
    found = only(fnb.compare(fnb.outcomes(two_modes(57, 48, 0, 195))))
    assert found[["both", "b", "c", "neither"]].tolist() == [57, 48, 0, 195]
    assert found["p"] == pytest.approx(2 * 0.5**48)
    assert found[["diff", "low", "high"]].tolist() == pytest.approx(
        [0.16, 0.118120, 0.202377], abs=1e-6
    )
    assert found[["independent_low", "independent_high"]].tolist() == pytest.approx(
        [0.089, 0.229], abs=5e-4
    )
    assert found["h"] == pytest.approx(0.364050, abs=1e-6)


def test_pairing_is_by_key_and_never_by_row():
    frame = two_modes(20, 12, 2, 16)
    before = fnb.compare(fnb.outcomes(frame))
    for seed in range(3):
        pd.testing.assert_frame_equal(
            before, fnb.compare(fnb.outcomes(frame.sample(frac=1, random_state=seed)))
        )


def test_turning_the_modes_round_turns_signs_and_b_and_c():
    frame = two_modes(20, 12, 2, 16)
    there = only(fnb.compare(fnb.outcomes(frame)))
    swapped = frame.assign(mode=frame["mode"].map({"Off": "On", "On": "Off"}))
    back = only(fnb.compare(fnb.outcomes(swapped)))
    assert (back["b"], back["c"]) == (there["c"], there["b"])
    for name in ("diff", "h"):
        assert back[name] == pytest.approx(-there[name])
    assert (back["low"], back["high"]) == pytest.approx((-there["high"], -there["low"]))
    assert back["p"] == there["p"]


def test_containment_is_the_mirror_of_attack_success():
    runs = fnb.outcomes(two_modes(20, 12, 2, 16))
    asr, cr = only(fnb.compare(runs, "ASR")), only(fnb.compare(runs, "CR"))
    assert (asr["both"], asr["b"], asr["c"], asr["neither"]) == (
        cr["neither"],
        cr["c"],
        cr["b"],
        cr["both"],
    )
    assert asr["p"] == cr["p"] and asr["diff"] == pytest.approx(-cr["diff"])


def test_few_discordant_pairs_cannot_reach_a_decision_and_it_is_said():
    # starslingdev/hpc-sandbox-benchmarks#145: an untestable comparison shown as a tie.
    five, six = (only(fnb.compare(fnb.outcomes(two_modes(10, b, 0, 10)))) for b in (5, 6))
    assert (
        five["p"] == five["p_least"] == 0.0625
        and "5 discordant pairs: p cannot be below 0.0625" in five["note"]
    )
    assert six["p"] == six["p_least"] == 0.03125 and "cannot be below" not in six["note"]


def test_no_discordant_pair_gives_p_one_and_an_interval_with_a_width():
    found = only(fnb.compare(fnb.outcomes(two_modes(10, 0, 0, 12))))
    assert found["p"] == 1 and "no discordant pairs" in found["note"]
    assert found[["low", "high"]].tolist() == pytest.approx([-0.083305, 0.083305], abs=1e-6)


def test_a_huge_discordance_keeps_its_logarithm():
    found = only(fnb.compare(fnb.outcomes(two_modes(0, 2000, 0, 0))))
    assert found["log10_p"] == pytest.approx(-601.7589613, abs=1e-6)


def test_unpaired_cases_are_counted_described_and_left_out():
    frame = two_modes(10, 6, 2, 4, tier="Tier1")
    more = pd.DataFrame(
        {"case_id": ["x", "y"], "mode": "Off", "attack_success": [True, False], "tier": "Tier3"}
    )
    found = only(fnb.compare(fnb.outcomes(pd.concat([frame, more]))))
    assert (found["n_pairs"], found["unpaired"]) == (22, 2)
    assert (
        '2 cases known in "Off" only (tier Tier3 2): the event in 1/2 of them, in 16/22 of the kept'
        in found["note"]
    )


def test_repeats_of_a_case_are_averaged_and_never_more_cases():
    # fixture C39: 3 seeds in one mode, 1 in the other.
    found = only(fnb.compare(fnb.read(FIXTURES / "C39_seeds_unbalanced.csv", repeat="seed")))
    assert found[["n_pairs", "both", "b", "c", "neither"]].tolist() == [10, 2, 4, 0, 4]
    assert (found["p"], found["diff"]) == (0.125, pytest.approx(0.4))
    assert "the unit is the case" in found["note"]


def test_with_one_case_per_cluster_the_sign_flip_is_the_exact_mcnemar_test():
    frame = two_modes(3, 9, 1, 3)
    runs = fnb.outcomes(frame.assign(template=frame["case_id"]))
    found = only(fnb.compare(runs, cluster="template"))
    assert found["p"] == pytest.approx(0.021484375)


def test_clusters_that_move_together_count_once():
    # 6 templates of 8 cases, each wholly contained by On: six sign flips can reach 2/2^6.
    frame = two_modes(0, 48, 0, 12)
    frame["template"] = [f"t{min(number // 8, 6)}" for number in list(range(60)) * 2]
    found = only(fnb.compare(fnb.outcomes(frame), cluster="template"))
    assert found["p"] == pytest.approx(2 / 2**6)
    assert found["p_least"] == 2 / 2**6 and found["unit"] == "template"


def test_two_crossed_keys_are_never_narrower_than_one():
    frame = random_outcomes(5, cases=120)
    frame.loc[frame["mode"] == "On", "attack_success"] &= frame["template"] > "t5"
    runs = fnb.outcomes(frame)
    options = {"modes": ["Off", "On"]}
    crossed = only(fnb.compare(runs, cluster=["template", "goal"], **options))
    one = {key: only(fnb.compare(runs, cluster=key, **options)) for key in ("template", "goal")}
    assert crossed["p"] >= max(found["p"] for found in one.values())
    for found in one.values():
        assert crossed["low"] <= found["low"] <= found["high"] <= crossed["high"]
    assert crossed["unit"] == "template × goal"


def test_errors_in_one_mode_that_could_turn_the_sign_are_said_to_decide():
    frame = two_modes(10, 6, 0, 24)
    frame["error"] = ["" if number < 40 + 20 else "timeout" for number in range(80)]
    found = only(fnb.compare(fnb.outcomes(frame)))
    assert '20 of "On") could undo this' in found["note"]


def test_errors_that_cannot_change_the_conclusion_are_said_not_to():
    frame = two_modes(10, 30, 0, 24)
    frame["error"] = ["" if number != 127 else "timeout" for number in range(128)]
    assert "decide nothing" in only(fnb.compare(fnb.outcomes(frame)))["note"]


def test_pairs_that_cannot_be_compared_keep_their_place_in_the_family():
    other = pd.DataFrame({"case_id": ["z"], "mode": "guard", "attack_success": True})
    frame = pd.concat([two_modes(5, 9, 0, 6), other])
    table = fnb.compare(fnb.outcomes(frame))
    assert table["p"].isna().tolist() == [False, True, True]
    assert table["p_holm"].iloc[0] == pytest.approx(3 * 2 * 0.5**9)
    assert table["note"].iloc[1].startswith("not computable: the two modes share no case")
    apart = fnb.compare(fnb.outcomes(frame), correction=None)
    assert apart["p_holm"].isna().all() and apart["p"].equals(table["p"])


def test_a_mode_without_any_known_outcome_is_a_not_computable_row():
    frame = two_modes(5, 9, 0, 6)
    frame["error"] = ["" if mode == "Off" else "refused connection" for mode in frame["mode"]]
    found = only(fnb.compare(fnb.outcomes(frame)))
    assert math.isnan(found["p"]) and found["note"].startswith(
        'not computable: no case of "On" has a known outcome'
    )


def test_a_layer_that_does_not_run_gives_its_reason():
    table = fnb.compare(fnb.read(fnb.data("ferrite_run_a.csv")), "ADR", modes=["Off", "On"])
    assert only(table)["note"].startswith('not computable: the loop does not run in "Off"')


def test_modes_of_different_suite_versions_are_not_compared_unless_pooled():
    frame = two_modes(5, 9, 0, 6)
    runs = fnb.outcomes(frame.assign(suite_version=frame["mode"].map({"Off": "v1", "On": "v2"})))
    found = only(fnb.compare(runs))
    assert math.isnan(found["p"]) and 'suite versions differ ("Off" v1, "On" v2)' in found["note"]
    assert only(fnb.compare(runs.pool_versions()))["b"] == 9
    mixed = fnb.outcomes(frame.assign(suite_version=["v1", "v2"] * 20))
    with pytest.raises(fnb.OutcomesError, match="mixes suite versions"):
        fnb.compare(mixed)


def test_strata_are_compared_within_and_each_is_a_family_of_its_own():
    frame = pd.concat(
        [
            two_modes(5, 9, 0, 6, tier="T2"),
            two_modes(5, 1, 0, 6, tier="T1").assign(case_id=lambda f: "other " + f["case_id"]),
        ]
    )
    table = fnb.compare(fnb.outcomes(frame), by="tier")
    strata = table[table["quantity"] == "difference"]
    assert strata["tier"].tolist() == ["T1", "T2"] and strata["b"].tolist() == [1, 9]
    assert strata["p_holm"].tolist() == strata["p"].tolist()


def test_whether_strata_agree_is_a_row_of_its_own():
    # the same 9 of 20 in both strata agree; 12 of 20 against 0 of 20 do not
    def frame(b: int, c: int) -> pd.DataFrame:
        first = two_modes(5, 9, 0, 6, tier="T1")
        second = two_modes(5, b, c, 6 + 9 - b - c, tier="T2")
        return pd.concat([first, second.assign(case_id=lambda f: "other " + f["case_id"])])

    same, apart = (fnb.compare(fnb.outcomes(frame(*bc)), by="tier") for bc in ((9, 0), (0, 9)))
    same, apart = (only(one[one["quantity"] == "interaction"]) for one in (same, apart))
    assert same["p"] == pytest.approx(1.0) and apart["p"] < 1e-4
    assert same["n_pairs"] == 40 and same["state"] == "ok"


def test_adding_unrelated_strata_and_other_modes_changes_no_pair():
    frame = two_modes(20, 12, 2, 16)
    alone = only(fnb.compare(fnb.outcomes(frame)))
    other = frame[frame["mode"] == "Off"].assign(mode="LoopOnly")
    table = fnb.compare(fnb.outcomes(pd.concat([frame, other]).assign(tier="T")))
    together = only(table[(table["mode_a"] == "Off") & (table["mode_b"] == "On")])
    assert together.drop(["p_holm"]).equals(alone.drop(["p_holm"]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "R"}, "not an event of a case"),
        ({"metric": "FSR"}, "not an event of a case"),
        ({"metric": "ASX"}, "no metric"),
        ({"metric": "SDR"}, "SDR is not computable"),
        ({"modes": ["Off", "guard"]}, "no mode 'guard'"),
        ({"modes": ["Off"]}, "one mode only"),
        ({"by": "nothing"}, "no column 'nothing'"),
        ({"by": "mode"}, "the modes are what is compared"),
        ({"cluster": "nothing"}, "no column 'nothing'"),
        ({"level": 95}, "level"),
        ({"correction": "bonferroni"}, "holm"),
    ],
)
def test_a_bad_call_says_what_is_allowed(options, message):
    with pytest.raises(ValueError, match=message):
        fnb.compare(fnb.outcomes(two_modes(5, 9, 0, 6)), **options)


def test_one_mode_or_counts_without_cases_cannot_be_compared():
    with pytest.raises(fnb.OutcomesError, match="one mode only"):
        fnb.compare(
            fnb.outcomes(pd.DataFrame({"case_id": ["a"], "mode": "On", "attack_success": True}))
        )
    with pytest.raises(fnb.OutcomesError, match="no case_id"):
        fnb.compare(fnb.outcomes(pd.DataFrame({"mode": ["Off", "On"], "k": [1, 2], "n": [9, 9]})))


@given(st.integers(0, 10_000))
@settings(max_examples=10, deadline=None)
def test_the_four_cells_add_up_and_the_difference_is_theirs(seed):
    table = fnb.compare(fnb.outcomes(random_outcomes(seed, cases=25)), "ASR")
    known = table[table["n_pairs"] > 0]
    assert (known[["both", "b", "c", "neither"]].sum(axis=1) == known["n_pairs"]).all()
    assert np.allclose((known["b"] - known["c"]) / known["n_pairs"], known["diff"])
    assert (known["low"] <= known["diff"] + 1e-12).all() and (
        known["diff"] <= known["high"] + 1e-12
    ).all()
    assert (known["p_holm"] >= known["p"]).all()


@pytest.mark.parametrize("engine", ENGINES[1:])
@pytest.mark.parametrize("repeats", [1, 2])
def test_every_engine_gives_the_same_comparison(engine, repeats):
    frame = random_outcomes(9, repeats=repeats)
    ours, theirs = fnb.outcomes(frame), fnb.outcomes(on_engine(engine, frame))
    for options in ({}, {"by": "tier"}, {"cluster": "template"}):
        a, b = fnb.compare(ours, **options), fnb.compare(theirs, **options)
        pd.testing.assert_frame_equal(a.drop(columns="note"), b.drop(columns="note"))
    pd.testing.assert_frame_equal(
        fnb.overhead(ours).drop(columns="note"), fnb.overhead(theirs).drop(columns="note")
    )


def latencies(off: list[float], on: list[float], **more: object) -> fnb.Outcomes:
    cases = [str(number) for number in range(len(off))]
    frame = pd.DataFrame(
        {
            "case_id": cases * 2,
            "mode": ["Off"] * len(off) + ["On"] * len(on),
            "latency_ms": off + on,
        }
    )
    return fnb.outcomes(frame.assign(**more))


def test_overhead_takes_the_element_at_the_documented_index():
    table = fnb.overhead(latencies([0, 0, 0, 0, 0], [1, 2, 3, 4, 5]))
    assert table["value"].tolist() == [3, 5] and table["n_pairs"].tolist() == [5, 5]
    assert table.loc[0, ["low", "high"]].tolist() == [-math.inf, math.inf]
    assert "no upper limit from 5 pairs" in table.loc[0, "note"]


def test_overhead_of_one_pair_and_of_none():
    assert fnb.overhead(latencies([100], [250]))["value"].tolist() == [150, 150]
    none = fnb.overhead(latencies([math.nan], [250]))
    assert none["value"].isna().all() and none["unpaired"].tolist() == [1, 1]
    assert (none["note"] == "not computable: no case has a latency in both modes").all()


def test_failed_calls_do_not_enter_latency():
    error = ["", "", "timeout"] + [""] * 3
    table = fnb.overhead(latencies([10, 10, 0], [20, 20, 9000], error=error))
    assert (
        table["value"].tolist() == [10, 10]
        and table["n_pairs"].tolist() == [2, 2]
        and table["unpaired"][0] == 1
    )


def test_a_case_that_failed_in_both_modes_is_told_of():
    """It is neither a pair nor unpaired, so without a note it would be in no number of the
    table.
    """
    table = fnb.overhead(latencies([10, 10, 0, 5], [20, 20, 9000, 5], error=["", "", "x", ""] * 2))
    assert table[["value", "n_pairs", "unpaired"]].to_numpy().tolist() == [[10, 3, 0], [10, 3, 0]]
    assert table["note"].str.endswith("1 case has no latency_ms in either mode").all()


def test_cached_answers_make_the_overhead_meaningless():
    table = fnb.overhead(latencies([10, 10], [20, 20], cache_hits=[0, 0, 1, 0]))
    assert table["value"].isna().all() and table["note"].str.contains("cached answers").all()


def test_overhead_bad_calls():
    runs = latencies([1], [2])
    with pytest.raises(ValueError, match="no mode 'guard'"):
        fnb.overhead(runs, mode="guard")
    with pytest.raises(ValueError, match="name two modes"):
        fnb.overhead(runs, mode="off")
    with pytest.raises(ValueError, match="no column 'seconds'"):
        fnb.overhead(runs, column="seconds")
    assert (
        fnb.overhead(runs, column="tokens")["note"]
        .str.startswith("not computable: no token counts")
        .all()
    )


def test_what_was_drawn_says_its_seed_and_how_often() -> None:
    rows = [
        {
            "case_id": f"{i}",
            "mode": mode,
            "template": f"t{i // 2}",
            "attack_success": i % 3 < successes,
        }
        for mode, successes in (("Off", 2), ("On", 1))
        for i in range(90)
    ]
    runs = fnb.outcomes(pd.DataFrame(rows))
    drawn, exact = fnb.compare(runs, cluster="template"), fnb.compare(runs)
    assert set(drawn["seed"]) == {"0 (100,000 draws)"} and set(exact["seed"]) == {""}
    assert "seed 0 (100,000 draws)" in str(fnb.tables.html(drawn)) and "seed" not in str(
        fnb.tables.html(exact)
    )
    assert "Seed 0 (100,000 draws)" in fnb.figures.pairs(drawn).caption
