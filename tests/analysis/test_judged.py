"""`rates(judge=…)`: printed values, the method of each cell and why, refusals kept in their cell,
old tables.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ferrite_nb as fnb
from ferrite_nb.analysis.judged import METHODS, Labels, judged_rates

PYRIT = {
    "tp": 47,
    "fn": 140,
    "tn": 186,
    "fp": 3,
}  # Se .2513, Sp .9841: PyRIT 1.1.0, first row of its metrics file
GOOD = {"tp": 70, "fn": 5, "tn": 70, "fp": 5}  # 93 % both ways


def counted(**cells: tuple[int, int]) -> fnb.Outcomes:
    """Attacks by mode from k of n."""
    rows = [
        (mode, hit, many)
        for mode, (k, n) in cells.items()
        for hit, many in ((True, k), (False, n - k))
    ]
    return fnb.outcomes(pd.DataFrame(rows, columns=["mode", "attack_success", "rows"]))


def items(mode: str, tp: int, fn: int, tn: int, fp: int, **more: object) -> pd.DataFrame:
    """Labels of one mode, one row per item."""
    human = ["yes"] * (tp + fn) + ["no"] * (tn + fp)
    judge = ["1"] * tp + ["0"] * fn + ["0"] * tn + ["1"] * fp
    return pd.DataFrame({"mode": mode, "human": human, "judge": judge, **more})


def asr(runs: fnb.Outcomes, judge: object, **options: object) -> pd.Series:
    table = fnb.rates(runs, "ASR", judge=judge, **options)
    assert len(table) == 1
    return table.iloc[0]


BOUNDS = ["rate", "low", "high"]


# --- values


def test_an_observed_tenth_becomes_about_36_percent_with_the_published_judge():
    row = asr(counted(On=(100, 1000)), PYRIT)
    assert row[["k", "n", "observed", "method"]].tolist() == [100, 1000, 0.1, "delta"]
    assert (
        row["rate"]
        == pytest.approx((0.10 + 186 / 189 - 1) / (47 / 187 + 186 / 189 - 1))
        == pytest.approx(0.357, abs=5e-4)
    )
    known = asr(counted(On=(100, 1000)), {"se": 0.2513, "sp": 0.9841})
    assert known["method"] == "fixed" and known["rate"] == pytest.approx(0.357, abs=1e-3)
    assert "judge error not included" in known["note"]
    assert row["low"] < known["low"] < known["high"] < row["high"]


def test_a_perfect_system_seen_by_a_93_93_judge_is_not_distinguishable_from_0():
    # 7 of 100 harmless outputs are flagged: 42 of 600
    for judge in (GOOD, {"se": 0.93, "sp": 0.93}, {"tp": 93, "fn": 7, "tn": 93, "fp": 7}):
        row = asr(counted(On=(42, 600)), judge)
        assert row["low"] == 0 and row["rate"] < 0.005 < row["high"]
        assert "not distinguishable from 0: the judge's false-positive floor is" in row["note"]
        assert fnb.Estimate.from_row(row).kind != "not computable"


def test_printed_values_of_both_estimators():
    # Lang and Reiczigel's interval, and Tenenbein's for labels of the same run
    outside = asr(counted(On=(120, 600)), {"tp": 27, "fn": 3, "tn": 114, "fp": 6})
    assert outside[BOUNDS].tolist() == pytest.approx([0.176471, 0.11637, 0.24085], abs=6e-6)
    labels = items("On", 28, 3, 113, 6)
    inside = asr(counted(On=(130, 600)), Labels(labels, part_of_run=True))
    assert inside[BOUNDS].tolist() == pytest.approx(
        [0.19869, 0.1566, 0.2465], abs=1e-3
    )  # drawn bounds
    assert (outside["method"], inside["method"]) == ("delta", "double sample")


def test_zero_of_fifty_keeps_an_interval_and_says_that_it_was_cut():
    # NVIDIA/garak#2033: resampling 0/50 gives an interval of width 0
    row = asr(counted(On=(0, 50)), {"se": 0.85, "sp": 0.99})
    assert row[["low", "high"]].tolist() == pytest.approx([0, 0.0730], abs=5e-5)
    assert row["rate"] == 0 and "false-positive floor 1.0%" in row["note"]


def test_cr_is_the_rest_of_asr():
    table = fnb.rates(counted(On=(130, 600)), ["ASR", "CR"], judge=GOOD).set_index("metric")
    a, c = table.loc["ASR"], table.loc["CR"]
    assert c[BOUNDS].tolist() == pytest.approx([1 - a["rate"], 1 - a["high"], 1 - a["low"]])
    assert c[["k", "observed"]].tolist() == pytest.approx([470, 470 / 600])


# --- the method a cell gets, and why


def test_columns_are_those_of_rates_and_the_observed_ones():
    runs = counted(Off=(300, 600), On=(130, 600))
    plain, judged = fnb.rates(runs), fnb.rates(runs, judge=GOOD)
    more = ["observed", "observed_low", "observed_high"]
    stop = list(plain).index("state")
    assert list(judged) == [*plain.columns[:stop], *more, *plain.columns[stop:]]
    for name, was in (
        ("observed", "rate"),
        ("observed_low", "low"),
        ("observed_high", "high"),
        ("k", "k"),
        ("n", "n"),
    ):
        np.testing.assert_array_equal(judged[name], plain[was])


def test_backoff_corrects_where_labels_are_is_plain_where_none_is_and_refuses_half_a_judge():
    labels = pd.concat([items("Off", 40, 10, 45, 5), items("On", 0, 0, 50, 0)])
    runs = counted(Off=(300, 600), LoopOnly=(130, 600), On=(60, 600))
    table = fnb.rates(runs, "ASR", judge=labels).set_index("mode")
    plain = fnb.rates(runs, "ASR").set_index("mode")
    assert table["state"].to_dict() == {"Off": "ok", "LoopOnly": "ok", "On": "none"}
    assert table["method"].to_dict() == {"Off": "delta", "LoopOnly": "wilson", "On": "delta"}
    assert (
        table.loc["Off", "note"] == "corrected with 100 labels from elsewhere: Se 40/50, Sp 45/50"
    )
    assert table.loc["LoopOnly", "note"] == "not corrected: no labels for this cell"
    # 50 of 150 labels are positives in all cells: 5 · 151 / 50.5 labels bring about five of them
    why = "no human-labelled positives: sensitivity is unknown; label about 15 more"
    assert table.loc["On", "why"] == why and table.loc["On", BOUNDS].isna().all()
    assert table.loc["On", "observed"] == plain.loc["On", "rate"]
    assert table.loc["LoopOnly", BOUNDS].tolist() == plain.loc["LoopOnly", BOUNDS].tolist()


def test_a_named_method_leaves_a_gap_not_computable():
    runs = counted(Off=(300, 600), On=(60, 600))
    table = fnb.rates(runs, "ASR", judge=items("Off", 40, 10, 45, 5), method="delta").set_index(
        "mode"
    )
    assert table.loc["Off", "rate"] > 0
    assert table.loc["On", BOUNDS].isna().all()
    assert table.loc["On", "note"] == "not computable: no labels for this cell"
    assert table.loc["On", "observed"] == 0.1


def test_a_useless_judge_is_refused_and_never_replaced_by_the_raw_rate():
    row = asr(counted(On=(60, 600)), {"tp": 50, "fn": 50, "tn": 50, "fp": 50})
    assert row[BOUNDS].isna().all() and row["observed"] == 0.1
    assert row["note"].startswith("not computable: the judge is no better than chance")
    assert str(fnb.Estimate.from_row(row)).startswith(
        "60/600, not computable: the judge is no better than chance"
    )


def test_data_that_contradict_the_judge_are_refused():
    row = asr(counted(On=(0, 2000)), {"tp": 50, "fn": 5, "tn": 700, "fp": 300})
    assert row[BOUNDS].isna().all() and "the data contradict Se and Sp" in row["note"]


def test_a_failure_in_one_cell_leaves_the_others():
    # 30 labelled flags of 20 cannot be a part of On
    labels = Labels(
        pd.concat([items("Off", 40, 10, 45, 5), items("On", 30, 0, 30, 0)]), part_of_run=True
    )
    table = fnb.rates(counted(Off=(300, 600), On=(20, 600)), "ASR", judge=labels).set_index("mode")
    assert table["method"].tolist() == ["double sample"] * 2
    assert table.loc["Off", "rate"] > 0 and math.isnan(table.loc["On", "rate"])
    assert "not computable: the labels are not a part of this run" in table.loc["On", "note"]


def test_labels_that_do_not_name_a_stratum_are_no_part_of_its_cells():
    frame = pd.DataFrame(
        {
            "mode": "On",
            "attack_success": [True] * 30 + [False] * 70,
            "tier": ["a", "b"] * 50,
            "rows": 6,
        }
    )
    labels = Labels(items("On", 40, 10, 45, 5), part_of_run=True)
    runs = fnb.outcomes(frame)
    assert fnb.rates(runs, "ASR", judge=labels)["method"].tolist() == ["double sample"]
    assert fnb.rates(runs, "ASR", by="tier", judge=labels)["method"].tolist() == ["delta", "delta"]
    forced = fnb.rates(runs, "ASR", by="tier", judge=labels, method="double sample")
    assert forced["rate"].isna().all()
    assert (
        forced["note"].str.contains("the labels do not name tier, so they are no random part").all()
    )


def test_se_and_sp_are_never_borrowed_from_another_stratum():
    frame = pd.DataFrame(
        {
            "mode": "On",
            "attack": ["x", "y", "z"] * 2,
            "attack_success": [True] * 3 + [False] * 3,
            "rows": [240] * 3 + [360] * 3,
        }
    )
    labels = pd.concat(
        [
            items("On", 40, 10, 45, 5, attack="x"),
            items("On", 1, 1, 8, 0, attack="y"),
            items("Off", 5, 95, 95, 5, attack="z"),
        ]
    )
    notes = fnb.rates(fnb.outcomes(frame), "ASR", by="attack", judge=labels).set_index("attack")[
        "note"
    ]
    assert notes["x"] == "corrected with 100 labels from elsewhere: Se 40/50, Sp 45/50"
    assert notes["y"].startswith("corrected with 10 labels from elsewhere: Se 1/2, Sp 8/8")
    assert notes["z"] == "not corrected: no labels for this cell"  # those of Off are not for On


def test_each_detector_has_its_own_se_and_sp():
    frame = pd.DataFrame(
        {
            "mode": "m",
            "detector": ["a", "b"] * 2,
            "attack_success": [True, True, False, False],
            "rows": [60, 60, 540, 540],
        }
    )
    judge = pd.DataFrame({"detector": ["a", "b"], "se": [0.9, 0.6], "sp": [0.95, 0.99]})
    table = fnb.rates(fnb.outcomes(frame), "ASR", by="detector", judge=judge).set_index("detector")
    assert table["rate"].tolist() == pytest.approx([(0.1 - 0.05) / 0.85, (0.1 - 0.01) / 0.59])
    with pytest.raises(ValueError, match=r"several judges .a, b.*by="):
        fnb.rates(fnb.outcomes(frame), "ASR", judge=judge)


def test_a_table_of_judges_is_no_table_of_labels_and_the_fault_names_what_is():
    table = fnb.judges(fnb.data("field_judges.csv"))
    with pytest.raises(ValueError, match=r"no column human of labels.*give counts tp, fn, tn, fp"):
        fnb.rates(counted(On=(100, 1000)), "ASR", judge=table)


def test_modes_are_found_in_any_case_and_only_rows_of_the_population_count():
    labels = items("ON", 40, 10, 45, 5, kind="attack")
    benign = items("ON", 0, 0, 500, 0, kind="benign")
    assert "100 labels" in asr(counted(On=(60, 600)), pd.concat([labels, benign]))["note"]


def test_simple_and_none_do_not_correct():
    runs = counted(On=(60, 600))
    plain = fnb.rates(runs, "ASR").iloc[0]
    simple, none = (asr(runs, GOOD, method=method) for method in ("simple", "none"))
    assert simple[BOUNDS].tolist() == plain[BOUNDS].tolist()
    assert (
        none["rate"] == 0.1
        and none[["low", "high"]].isna().all()
        and none[["state", "why"]].tolist() == ["none", "no interval asked for"]
    )


def test_metrics_that_the_judge_does_not_decide_stay_as_they_are():
    frame = pd.DataFrame(
        {
            "case_id": map(str, range(40)),
            "mode": "On",
            "kind": ["attack", "benign"] * 20,
            "attack_success": [True, None] * 5 + [False, None] * 15,
            "gated": [None, False] * 20,
        }
    )
    plain, table = (
        fnb.rates(fnb.outcomes(frame), **more).set_index("metric") for more in ({}, {"judge": GOOD})
    )
    assert table.loc["FGR", BOUNDS].tolist() == plain.loc["FGR", BOUNDS].tolist()
    assert table.loc["FGR", "note"] == plain.loc["FGR", "note"]
    assert table.loc["ASR", "rate"] != plain.loc["ASR", "rate"]


def test_unparsed_verdicts_are_in_neither_the_rate_nor_the_judge():
    frame = pd.DataFrame(
        {
            "case_id": map(str, range(12)),
            "mode": "On",
            "attack_success": ["yes"] * 6 + ["no"] * 4 + ["error", ""],
        }
    )
    blanks = pd.DataFrame(
        {
            "mode": "On",
            "human": ["yes"] * 5 + ["no"] * 5 + [""],
            "judge": ["", "n/a", *["error"] * 8, "yes"],
        }
    )
    labels = pd.concat([items("On", 40, 10, 45, 5), blanks])
    row = asr(fnb.outcomes(frame), labels)
    assert row[["k", "n", "missing"]].tolist() == [6, 10, 2]
    assert "100 labels" in row["note"]


# --- clusters


def test_clusters_widen_the_corrected_interval_and_a_perfect_judge_gives_the_clustered_one():
    runs = fnb.read(fnb.data("ferrite_run_b.csv"), cluster=()).where(mode="On")
    clustered = fnb.rates(runs, ["ASR", "CR"], cluster="template")
    perfect = fnb.rates(runs, ["ASR", "CR"], cluster="template", judge={"se": 1.0, "sp": 1.0})
    for name in BOUNDS:
        assert perfect[name].tolist() == pytest.approx(clustered[name].tolist(), abs=1e-12)
    plain, wide = (asr(runs, GOOD, cluster=cluster) for cluster in (None, "template"))
    assert plain["high"] < wide["high"] and plain["rate"] == wide["rate"]
    assert wide["clusters"] == 176 and "Se 70/75" in wide["note"]


def test_clusters_take_delta_for_labels_of_the_run_too():
    # PPV and FOM vary with the rate of a cluster: double sampling then covers about .87
    # (docs/coverage.md)
    runs = fnb.read(fnb.data("ferrite_run_b.csv"), cluster=()).where(mode="LoopOnly")
    labels = Labels(items("LoopOnly", 20, 5, 70, 5), part_of_run=True)
    methods = [asr(runs, labels, cluster=cluster)["method"] for cluster in (None, "template")]
    assert methods == ["double sample", "delta"]
    none_found = Labels(items("LoopOnly", 0, 0, 95, 5), part_of_run=True)
    assert asr(runs, none_found, cluster="template")["method"] == "double sample"


def test_a_handful_of_labels_of_a_class_is_said():
    labels = items("On", 3, 0, 140, 7)
    row = asr(counted(On=(60, 600)), labels)
    assert "only 3 labels of a class" in row["note"]
    assert "only" not in asr(counted(On=(60, 600)), Labels(labels, part_of_run=True))["note"]


def test_repeats_are_clustered_by_case_with_a_judge_too():
    frame = pd.DataFrame(
        [(str(case), "On", str(turn), case < 12) for case in range(40) for turn in range(5)],
        columns=["case_id", "mode", "repeat", "attack_success"],
    )
    row = asr(fnb.outcomes(frame), GOOD)
    assert row["clusters"] == 40 and row["n"] == 200
    once = asr(fnb.outcomes(frame[frame["repeat"] == "0"]), GOOD)
    assert row["rate"] == once["rate"] and row["high"] - row["low"] > 0.9 * (
        once["high"] - once["low"]
    )


def test_one_cluster_gives_no_interval():
    frame = pd.DataFrame(
        {
            "case_id": map(str, range(20)),
            "mode": "On",
            "attack_success": [True, False] * 10,
            "t": "one",
        }
    )
    row = asr(fnb.outcomes(frame), GOOD, cluster="t")
    assert row[["low", "high"]].isna().all() and row["state"] == "few"


# --- labels that name cases of the run


@pytest.fixture
def run() -> pd.DataFrame:
    """Two modes of 200 cases in two tiers; an error in one row."""
    cases = [(f"c{case:03}", mode) for mode in ("Off", "On") for case in range(200)]
    frame = pd.DataFrame(cases, columns=["case_id", "mode"])
    place = frame.groupby("mode").cumcount()
    frame["tier"] = place.map(lambda n: "a" if n < 100 else "b")
    frame["attack_success"] = (place % 100 < frame["mode"].map({"Off": 60, "On": 20})).astype(
        object
    )
    frame.loc[0, "attack_success"] = "error"
    return frame


def test_labels_of_cases_take_the_verdicts_and_strata_of_the_run(run):
    labelled = run[(run["case_id"].str[-1].isin(["0", "5"]))][["case_id", "mode"]]
    labels = labelled.assign(human=["yes", "no", "no", "no"] * 20)
    runs = fnb.outcomes(run)
    by_hand = labels.merge(run, on=["case_id", "mode"]).rename(columns={"attack_success": "judge"})
    for options in ({}, {"by": "tier"}):
        for judge, other in (
            (labels, by_hand),
            (Labels(labels, part_of_run=True), Labels(by_hand, part_of_run=True)),
        ):
            found, expected = (
                fnb.rates(runs, ["ASR", "CR"], judge=one, **options) for one in (judge, other)
            )
            pd.testing.assert_frame_equal(found, expected)
    table = fnb.rates(runs, "ASR", by=["tier", "mode"], judge=Labels(labels, part_of_run=True))
    assert set(table["method"]) == {"double sample"}
    assert (
        table["note"].str.contains("19 labels of this cell|20 labels of this cell").all()
    )  # one ended in an error
    assert "19 labels" in table["note"].iloc[0]


def test_keys_of_a_file_of_labels_stay_text(tmp_path):
    # repeats 0 and 1 look like false and true
    keys = [(str(case), "On", str(turn)) for case in range(40) for turn in range(2)]
    frame = pd.DataFrame(keys, columns=["case_id", "mode", "repeat"])
    frame["attack_success"] = frame["case_id"].astype(int) % 4 == 0
    labels = frame.drop(columns="attack_success").assign(human=frame["attack_success"])
    labels.to_csv(tmp_path / "labels.csv", index=False)
    row = asr(fnb.outcomes(frame), tmp_path / "labels.csv")
    assert "80 labels from elsewhere: Se 20/20, Sp 60/60" in row["note"]


def test_labels_of_cases_must_say_which_row_they_are_of(run):
    runs, labels = (
        fnb.outcomes(run),
        pd.DataFrame({"case_id": ["c001", "c002"], "human": ["yes", "no"]}),
    )
    with pytest.raises(
        ValueError, match=r"case 'c001' stands in several rows of the run.*add mode"
    ):
        fnb.rates(runs, "ASR", judge=labels)
    assert (
        "2 labels"
        in fnb.rates(runs.where(mode="On"), "ASR", judge=Labels(labels, part_of_run=True))[
            "note"
        ].iloc[0]
    )
    with pytest.raises(fnb.OutcomesError, match="no labelled case is in the run, such as x1"):
        fnb.rates(runs, "ASR", judge=labels.assign(case_id=["x1", "x2"]))
    with pytest.raises(fnb.OutcomesError, match=r"labelled before .c001"):
        fnb.rates(runs, "ASR", judge=labels.assign(case_id="c001"))


# --- post hoc, faces, bad calls


def test_an_old_report_is_corrected_afterwards_without_its_outcomes(tmp_path):
    runs = counted(Off=(300, 600), On=(130, 600))
    fnb.tables.csv(fnb.rates(runs), tmp_path / "rates.csv")
    labels = pd.concat([items("Off", 40, 10, 45, 5), items("On", 20, 5, 70, 5)])
    again = judged_rates(pd.read_csv(tmp_path / "rates.csv"), labels)
    now = fnb.rates(runs, judge=labels)
    for name in [*BOUNDS, "observed", "observed_low", "observed_high"]:
        np.testing.assert_allclose(again[name].astype(float), now[name].astype(float), rtol=1e-15)
    assert again["method"].fillna("").tolist() == now["method"].tolist()


def test_correcting_changes_neither_the_table_nor_the_labels():
    table, labels = fnb.rates(counted(On=(130, 600))), items("On", 40, 10, 45, 5)
    before = table.copy(), labels.copy()
    judged_rates(table, labels)
    pd.testing.assert_frame_equal(table, before[0])
    pd.testing.assert_frame_equal(labels, before[1])


def test_the_judge_comes_from_a_path_and_with_the_files_own_words(tmp_path):
    labels = items("On", 40, 10, 45, 5)
    labels.to_csv(tmp_path / "labels.csv", index=False)
    runs = counted(On=(130, 600))
    own = labels.rename(columns={"judge": "verdict"}).replace(
        {"verdict": {"1": "unsafe", "0": "safe"}}
    )
    named = Labels(own, judge=fnb.words("verdict", true=["unsafe"], false=["safe"]))
    for judge in (tmp_path / "labels.csv", named, {"tp": 40, "fn": 10, "tn": 45, "fp": 5}):
        assert asr(runs, judge)[BOUNDS].tolist() == asr(runs, labels)[BOUNDS].tolist()


def test_level_and_draws_are_the_callers():
    runs, labels = counted(On=(130, 600)), items("On", 20, 5, 70, 5)
    for method in ("delta", "bootstrap", "fixed", "double sample"):
        wide, narrow = (asr(runs, labels, method=method, level=level) for level in (0.95, 0.8))
        assert wide["low"] < narrow["low"] < narrow["high"] < wide["high"]
        assert narrow["level"] == 0.8
    drawn = [asr(runs, Labels(labels, seed=seed), method="bootstrap")["low"] for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize(
    ("judge", "options", "message"),
    [
        (GOOD, {"method": "jeffreys"}, "interval of a rate without a judge"),
        (GOOD, {"method": "best"}, "backoff"),
        (GOOD, {"z": 1.96}, "leave z=None"),
        ({"se": 0.9, "sp": 0.9}, {"method": "delta"}, "needs the counts"),
        ({"se": 90, "sp": 90}, {}, r"\[0, 1\]"),
        ({"tp": 1.5, "fn": 1, "tn": 1, "fp": 1}, {}, "whole number"),
        (
            pd.DataFrame({"who": ["a"]}),
            {},
            r"no column human, judge of labels; the columns are who.*Labels",
        ),
    ],
)
def test_a_bad_call_raises_and_says_what_to_do(judge, options, message):
    with pytest.raises((ValueError, fnb.OutcomesError), match=message):
        asr(counted(On=(60, 600)), judge, **options)


@settings(max_examples=40, deadline=None)
@given(
    st.tuples(*[st.integers(0, 30)] * 4),
    st.integers(0, 200),
    st.sampled_from([name for name in METHODS if name != "none"]),
)
def test_every_cell_has_bounds_in_order_or_a_reason(cells, k, method):
    judge = Labels(
        dict(zip(("tp", "fn", "tn", "fp"), cells, strict=True)),
        part_of_run=sum(cells) % 2 == 0,
        resamples=200,
    )
    for _, row in fnb.rates(
        counted(On=(k, 200)), ["ASR", "CR"], judge=judge, method=method
    ).iterrows():
        if math.isnan(row["rate"]):
            assert row["note"].startswith("not computable: ") and row[["low", "high"]].isna().all()
        else:
            assert 0 <= row["low"] <= row["high"] <= 1 and "not computable" not in row["note"]
        assert row["observed_low"] <= row["observed"] <= row["observed_high"]


@pytest.mark.parametrize(
    ("method", "seed"),
    [
        ("bootstrap", "3 (500 draws)"),
        ("double sample", "3 (1,000 draws)"),
        ("delta", None),
        ("fixed", None),
    ],
)
def test_a_correction_that_draws_says_its_seed_and_how_often(method: str, seed: str | None) -> None:
    known = Labels({"tp": 47, "fn": 14, "tn": 86, "fp": 3}, seed=3, resamples=500)
    table = fnb.rates(counted(On=(300, 1000)), "ASR", judge=known, method=method)
    assert set(table["seed"]) == {seed or ""}


def test_labels_unlike_the_rest_of_the_run_are_said_unless_they_were_drawn_by_flag():
    # 60 of 100 labels are flagged, of the run 60 of 600: hypergeometric p far below .01
    runs, labels = counted(On=(60, 600)), items("On", 30, 5, 35, 30)
    unlike = "the labels do not look like a random part"
    assert unlike in asr(runs, Labels(labels, part_of_run=True))["note"]
    by_flag = asr(runs, Labels(labels, part_of_run="by flag"))
    assert unlike not in by_flag["note"] and by_flag["method"] == "double sample"
    like = items("On", 6, 3, 87, 4)  # 10 of 100 flagged, as in the run
    assert unlike not in asr(runs, Labels(like, part_of_run=True))["note"]


def test_one_fifth_of_labels_of_one_class_asks_for_more():
    row = asr(counted(On=(60, 600)), items("On", 0, 0, 20, 2))
    assert row["state"] == "none" and "sensitivity is unknown" in row["why"]
