"""`judges` and `disagreements`: published tables of judges against people, blanks, third states,
several raters.
"""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ferrite_nb as fnb
from ferrite_nb.analysis.judges import disagreements
from ferrite_nb.schema import FACTS, WORDS

CELLS = ["tp", "fn", "tn", "fp"]


@pytest.fixture(scope="module")
def purseclab() -> pd.DataFrame:
    return pd.read_csv(fnb.data("purseclab_judges.csv"))


def labels(human: list[object], judge: list[object], **more: object) -> pd.DataFrame:
    return pd.DataFrame(
        {"human": pd.Series(human, dtype=object), "judge": pd.Series(judge, dtype=object)}
    ).assign(**more)


NAMES = {
    "sensitivity": "se",
    "specificity": "sp",
    "agreement": "agreement",
    "prevalence": "people",
    "flagged": "observed",
    "corrected, Se and Sp known": "fixed",
    "corrected": "corrected",
}


def wide(table: pd.DataFrame) -> pd.DataFrame:
    """One row a judge and condition, with the counts that the long table holds as k of n."""
    rows = []
    keys = list(table.columns[: table.columns.get_loc("quantity")])
    for key, part in table.groupby(keys, sort=False):
        of = part.set_index("quantity")
        row = (
            dict(zip(keys, key, strict=True))
            | of.iloc[0][["human_missing", "judge_missing"]].to_dict()
        )
        row |= of.iloc[0][["other", "people_differ", "ties", "note"]].to_dict()
        for quantity, name in NAMES.items():
            if quantity in of.index:
                row |= {f"{name}{end}": of.loc[quantity, c] for end, c in ENDS}
        k, n = of["k"], of["n"]
        row |= {"tp": k["sensitivity"], "fn": n["sensitivity"] - k["sensitivity"]}
        row |= {"tn": k["specificity"], "fp": n["specificity"] - k["specificity"]}
        row |= {"n": n["agreement"], "flagged": k["flagged"], "judged": n["flagged"]}
        row["constant_judge"] = of["rate"].get("constant judge")
        row |= {f"kappa{end}": of.loc["kappa", c] for end, c in (("", "value"), *ENDS[1:])}
        if "corrected" in of.index:
            row |= (
                of.loc["corrected", ["method", "note"]].rename({"note": "corrected_note"}).to_dict()
            )
            row["raw"] = of.loc["corrected, Se and Sp known", "value"]
        rows.append(
            row
            | {
                "notes": list(of["note"]),
                "states": of["state"].to_dict(),
                "whys": of["why"].to_dict(),
            }
        )
    return pd.DataFrame(rows)


ENDS = (("", "rate"), ("_low", "low"), ("_high", "high"))


def one(frame: pd.DataFrame, **options: object) -> pd.Series:
    table = fnb.judges(frame, **{"human": "human", "judges": "judge", **options})
    (row,) = wide(table).to_dict("records")
    return pd.Series(row)


def test_published_judges_have_their_kappa_sensitivity_and_specificity(purseclab):
    # purseclab/jailbreak-evaluation, manual_data.csv: kappa with n, Se and Sp of three judges
    table = wide(fnb.judges(purseclab, human="human", judges=["zou", "huang", "chao"])).set_index(
        "judge"
    )
    expected = {
        "zou": (0.459, 300, 0.730, 0.730),
        "huang": (0.307, 300, 0.426, 0.874),
        "chao": (0.656, 250, 0.707, 0.973),
    }
    for judge, values in expected.items():
        assert table.loc[judge, ["kappa", "n", "se", "sp"]].tolist() == pytest.approx(
            values, abs=5e-4
        )


def test_a_blank_verdict_is_missing_and_not_a_hit(purseclab):
    # read as truth values, the 50 blanks of chao would all be hits: 152 of 300 instead of 102 of
    # 250
    row = wide(fnb.judges(purseclab, human="human", judges="chao")).iloc[0]
    assert row[["flagged", "judged", "judge_missing"]].tolist() == [102, 250, 50]
    assert row["observed"] == pytest.approx(0.408)
    assert "50 items without a verdict are not in n" in row["note"]


@pytest.mark.parametrize("blank", [None, math.nan, "", " ", "n/a", "error", "TIMEOUT", pd.NA])
def test_every_unparsed_verdict_is_missing(blank):
    row = one(labels(["yes", "no", "yes", "no"], ["1", "0.0", blank, blank]))
    assert row[[*CELLS, "n", "judge_missing", "flagged", "judged"]].tolist() == [
        1,
        0,
        1,
        0,
        2,
        2,
        1,
        2,
    ]


def test_counts_and_rows_give_the_same_table(purseclab):
    counts = pd.read_csv(fnb.data("field_judges.csv"))
    from_counts = fnb.judges(counts[counts["dataset"] == "purseclab"])
    from_rows = fnb.judges(purseclab, human="human", judges=["zou", "huang", "chao"])
    pd.testing.assert_frame_equal(from_counts, from_rows)


def test_table_is_a_plain_cross_table_and_kappa_its_exact_fraction(purseclab):
    known = purseclab.dropna(subset=["chao"]).astype({"human": bool, "chao": bool})
    cross = pd.crosstab(known["human"], known["chao"])
    row = wide(fnb.judges(purseclab, human="human", judges="chao")).iloc[0]
    tp, fn, tn, fp = (
        cross.loc[True, True],
        cross.loc[True, False],
        cross.loc[False, False],
        cross.loc[False, True],
    )
    assert row[CELLS].tolist() == [tp, fn, tn, fp]
    n = len(known)
    agreed = Fraction(int(tp + tn), n)
    chance = Fraction(int((tp + fn) * (tp + fp) + (tn + fp) * (tn + fn)), n * n)
    assert row["kappa"] == pytest.approx(float((agreed - chance) / (1 - chance)), abs=1e-12)


def test_agreement_may_be_equal_where_sensitivity_is_not():
    frame = pd.read_csv(fnb.data("judge_bias.csv"))
    table = wide(fnb.judges(frame, human="human", judges="judge", by="condition")).set_index(
        "condition"
    )
    assert table["agreement"].tolist() == pytest.approx([70 / 75, 70 / 75])
    assert table["se"].tolist() == pytest.approx([24 / 26, 9 / 14])
    assert table["kappa"].tolist() == pytest.approx([0.854, 0.745], abs=5e-4)
    seen, true = (
        table.loc["base", name] - table.loc["defended", name] for name in ("observed", "people")
    )
    assert (seen, true, seen - true) == pytest.approx((0.24, 0.16, 0.08))


def test_low_sensitivity_corrects_an_observed_tenth_to_about_36_percent():
    # PyRIT 1.1.0, objective_achieved_metrics.jsonl, row 1: precision .94 looks good, recall is .25
    given = {"tp": 47, "fn": 140, "tn": 186, "fp": 3, "flagged": 100, "judged": 1000}
    row = wide(fnb.judges(pd.DataFrame([given]))).iloc[0]
    assert (row["se"], row["sp"]) == pytest.approx((0.2513, 0.9841), abs=5e-5)
    assert row["corrected"] == pytest.approx(0.357, abs=5e-4) and row["method"] == "delta"
    assert row["corrected_low"] < row["fixed_low"] < row["fixed_high"] < row["corrected_high"]


def test_corrected_below_zero_is_cut_and_says_so():
    row = wide(
        fnb.judges(
            pd.DataFrame([{"tp": 93, "fn": 7, "tn": 99, "fp": 1, "flagged": 3, "judged": 600}])
        )
    ).iloc[0]
    assert row["raw"] == pytest.approx(-0.0054, abs=5e-5) and row["corrected"] == 0
    assert "below the judge's false-positive floor" in row["corrected_note"]


def test_a_judge_no_better_than_chance_has_no_corrected_rate():
    row = wide(fnb.judges(pd.DataFrame([dict(zip(CELLS, (50, 50, 50, 50), strict=True))]))).iloc[0]
    assert row[["fixed", "corrected", "corrected_low", "raw"]].isna().all()
    assert "no better than chance" in row["corrected_note"]
    assert row["se"] == 0.5  # what is known stays


def test_condition_without_positives_says_that_sensitivity_is_unknown():
    row = one(labels(["no"] * 6, ["no"] * 5 + ["yes"]))
    assert math.isnan(row["se"]) and row["sp"] == pytest.approx(5 / 6)
    assert row["states"]["sensitivity"] == "none"
    assert row["whys"]["sensitivity"] == "no human-labelled positives: sensitivity is unknown"


def test_all_labels_equal_leave_kappa_undefined_and_agreement_with_its_interval():
    # scikit-learn#9624: five times the same label; kappa is 0/0
    row = one(labels(["1"] * 5, ["1"] * 5))
    assert math.isnan(row["kappa"]) and row["states"]["kappa"] == "none"
    assert row[["agreement", "agreement_low", "agreement_high"]].tolist() == pytest.approx(
        [1, 0.5655, 1], abs=5e-5
    )


def test_a_judge_that_always_says_no_is_named_as_the_comparison():
    row = one(labels(["yes"] * 2 + ["no"] * 98, ["no"] * 100))
    assert row["constant_judge"] == row["agreement"] == 0.98
    assert "agreement 98/100 is no better than a judge that always says no (98/100)" in row["notes"]


def test_a_third_state_stays_a_state():
    # Future-House/BixBench#46: refused was folded into incorrect
    frame = labels(
        ["right", "right", "wrong", "refused", "right"],
        ["right", "wrong", "wrong", "wrong", "refused"],
    )
    words = {
        name: fnb.words(name, true=["right"], false=["wrong"], refused=["refused"])
        for name in ("human", "judge")
    }
    row = one(frame, human=words["human"], judges=words["judge"])
    assert row[[*CELLS, "n", "other"]].tolist() == [1, 1, 1, 0, 3, 2]
    assert (
        "2 items with a third state are not in n (people: 1 refused; judge: 1 refused)"
        in row["note"]
    )


def test_an_unknown_word_names_row_column_and_what_to_do():
    with pytest.raises(
        fnb.OutcomesError, match=r"row 2 .*column judge has 'maybe'.*fnb\.words\('judge'"
    ):
        one(labels(["yes", "no"], ["yes", "maybe"]))


def test_a_score_is_not_made_a_label_by_us():
    with pytest.raises(fnb.OutcomesError, match="threshold that you choose"):
        one(labels([0.25, 1], ["yes", "no"]))


def test_several_people_decide_by_majority_and_a_tie_is_missing():
    frame = pd.DataFrame(
        {
            "a": ["yes", "yes", "no", "yes"],
            "b": ["yes", "no", "no", ""],
            "c": ["no", "", "no", ""],
            "judge": ["yes", "yes", "no", "no"],
        }
    )
    row = one(frame, human=["a", "b", "c"])
    assert row[[*CELLS, "n", "human_missing", "people_differ"]].tolist() == [1, 1, 1, 0, 3, 1, 2]
    assert "1 items on which people are tied are not in n" in row["note"]


def test_items_without_a_label_are_judged_all_the_same():
    # 28, 3, 113, 6 labelled of 600 judged, 130 flagged: Tenenbein's rate
    human = ["1"] * 31 + ["0"] * 119 + [""] * 450
    judge = ["1"] * 28 + ["0"] * 3 + ["0"] * 113 + ["1"] * 6 + ["1"] * 96 + ["0"] * 354
    row = one(labels(human, judge))
    assert row[["flagged", "judged", "n", "human_missing"]].tolist() == [130, 600, 150, 450]
    assert row[["corrected", "corrected_low", "corrected_high"]].tolist() == pytest.approx(
        [0.19869, 0.1566, 0.2465], abs=1e-3
    )
    assert "150 labelled of 600 judged items are taken as a random part" in row["corrected_note"]


def test_level_reaches_every_interval():
    frame = labels(["1"] * 30 + ["0"] * 70, ["1"] * 25 + ["0"] * 70 + ["1"] * 5)
    wide, narrow = one(frame), one(frame, level=0.8)
    for name in ("se", "sp", "agreement", "kappa", "observed", "people", "fixed", "corrected"):
        assert (
            wide[f"{name}_low"]
            < narrow[f"{name}_low"]
            < narrow[f"{name}_high"]
            < wide[f"{name}_high"]
        )


def test_disagreements_are_a_list_for_a_person_to_decide(tmp_path):
    frame = labels(
        ["yes", "yes", "no", "", "no", "yes"],
        ["yes", "no", "yes", "yes", "", "declined"],
        item=["=cmd", *"bcdef"],
    )
    judge = fnb.words("judge", true=["yes"], false=["no"], refused=["declined"])
    found = disagreements(frame, human="human", judge=judge)
    assert found["row"].tolist() == [2, 3, 6] and found["item"].tolist() == ["b", "c", "f"]
    assert found["disagreement"].tolist() == [
        "missed by the judge",
        "false alarm of the judge",
        "a third state",
    ]
    assert found["decision"].tolist() == ["", "", ""]
    fnb.tables.csv(found, tmp_path / "decide.csv")
    again = pd.read_csv(tmp_path / "decide.csv", keep_default_na=False)
    assert again["item"].tolist() == ["b", "c", "f"]


def test_what_people_cannot_agree_on_is_in_the_list():
    frame = pd.DataFrame({"a": ["yes", "yes"], "b": ["no", "yes"], "judge": ["yes", "yes"]})
    assert disagreements(frame, human=["a", "b"], judge="judge")["disagreement"].tolist() == [
        "people are tied"
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"human": "nobody"}, "no column 'nobody'"),
        ({"judges": "nobody"}, "no column 'nobody'"),
        ({"by": "nobody"}, "no column 'nobody'"),
        ({"human": None}, "human="),
        ({"level": 95}, "level"),
    ],
)
def test_a_bad_call_says_what_there_is(options, message):
    with pytest.raises(ValueError, match=message):
        one(labels(["yes"], ["no"]), **options)


def test_labels_come_from_a_path_or_any_frame(purseclab, tmp_path):
    polars = pytest.importorskip("polars", reason="an engine of the test extra")
    purseclab.to_csv(tmp_path / "labels.csv", index=False)
    expected = fnb.judges(purseclab, human="human", judges="chao")
    for given_ in (
        tmp_path / "labels.csv",
        str(tmp_path / "labels.csv"),
        polars.from_pandas(purseclab),
    ):
        pd.testing.assert_frame_equal(fnb.judges(given_, human="human", judges="chao"), expected)
    with pytest.raises(TypeError, match="data frame or the path of a file"):
        fnb.judges(3, human="human", judges="chao")


def test_input_is_unchanged(purseclab):
    before = purseclab.copy()
    fnb.judges(purseclab, human="human", judges=["zou"])
    disagreements(purseclab, human="human", judge="zou")
    pd.testing.assert_frame_equal(purseclab, before)


ANSWER = st.sampled_from(["yes", "no", "", "error"])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(ANSWER, ANSWER), min_size=1, max_size=40))
def test_every_item_is_counted_once_whatever_the_order(pairs):
    human, judge = map(list, zip(*pairs, strict=True))
    row, turned = one(labels(human, judge)), one(labels(human[::-1], judge[::-1]))
    either = sum(
        ("yes" not in (a, b) and "no" not in (a, b)) or {a, b} & {"", "error"} != set()
        for a, b in pairs
    )
    assert sum(row[CELLS]) == row["n"] == len(pairs) - either
    assert (
        row[[*CELLS, "flagged", "judged"]].tolist()
        == turned[[*CELLS, "flagged", "judged"]].tolist()
    )
    assert row["flagged"] <= row["judged"] == sum(b in ("yes", "no") for b in judge)


def test_docs_name_every_column():
    table = fnb.judges(
        Path(fnb.data("judge_bias.csv")), human="human", judges="judge", by="condition"
    )
    text = fnb.judges.__doc__
    stems = {name.removesuffix("_low").removesuffix("_high") for name in table} - {"condition"}
    stems -= {*FACTS, *WORDS}
    assert [name for name in stems if f"`{name}`" not in text] == []


def test_items_of_one_cluster_count_as_their_cluster():
    # 20 templates of 10 items each, the judge right in all items of 16 templates, wrong in 4:
    # with clusters each template is worth one item, so the interval is that of about 16 of 20
    human = ["yes"] * 200
    judge = ["yes"] * 160 + ["no"] * 40
    frame = labels(human, judge, template=[f"t{place // 10}" for place in range(200)])
    plain = fnb.judges(frame, human="human", judges="judge").iloc[0]
    wide_ = fnb.judges(frame, human="human", judges="judge", cluster="template").iloc[0]
    assert plain[["k", "n"]].tolist() == wide_[["k", "n"]].tolist() == [160, 200]
    assert wide_["clusters"] == 20 and wide_["n_eff"] < 25
    assert wide_["low"] < plain["low"] < plain["high"] < wide_["high"]
    assert plain["unit"] == "item" and wide_["unit"] == "template"


def test_an_item_twice_is_one_item_if_it_is_a_copy_and_else_refused():
    frame = labels(["yes", "no", "no"], ["yes", "no", "no"], item=["a", "b", "b"])
    assert fnb.judges(frame, human="human", judges="judge", item="item")["n"].iloc[2] == 2
    frame.loc[2, "judge"] = "yes"
    with pytest.raises(fnb.OutcomesError, match="rows 2 and 3") as caught:
        fnb.judges(frame, human="human", judges="judge", item="item")
    assert caught.value.column == "item"
