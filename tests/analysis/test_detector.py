"""`detector`: operating points by counts, ties, unresolvable rates, AUC, and alarms at the base
rate.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, mannwhitneyu, norm

import ferrite_nb as fnb
from ferrite_nb.schema import FACTS, WORDS

POINT = "operating point"


def scored(positives: list[float], negatives: list[float]) -> pd.DataFrame:
    labels = ["attack"] * len(positives) + ["benign"] * len(negatives)
    return pd.DataFrame({"score": [*positives, *negatives], "label": labels})


def found(frame: object, **options: object) -> pd.DataFrame:
    return fnb.detector(
        frame, **{"score": "score", "label": "label", "positive": "attack", **options}
    )


def curve_of(frame: object, name: str = "ROC", **options: object) -> pd.DataFrame:
    options = {"score": "score", "label": "label", "positive": "attack", **options}
    table = fnb.roc_curve(frame, **options)
    return table[table["curve"] == name].reset_index(drop=True)


VALUES = {"true alerts": "true_alerts", "false alerts": "false_alerts", "missed": "missed"}


def part(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """The long table as one row an operating point and base rate, or the row of the AUC."""
    if name == "auc":
        area = table[table["quantity"] == "AUC"]
        ends = {"rate": "auc", "low": "auc_low", "high": "auc_high"}
        return area.rename(columns=ends).reset_index(drop=True)
    rows = []
    rates = table[table["quantity"].isin(["TPR", "FPR"])]
    for limit, mine in rates.groupby("max_fpr", sort=False):
        tpr, fpr = (mine[mine["quantity"] == name].iloc[0] for name in ("TPR", "FPR"))
        row = {"max_fpr": limit, "threshold": tpr["threshold"], "resolvable": tpr["state"] == "ok"}
        row |= {"tp": tpr["k"], "n_pos": tpr["n"], "fp": fpr["k"], "n_neg": fpr["n"]}
        for name, side in (("tpr", tpr), ("fpr", fpr)):
            row |= {name: side["rate"], f"{name}_low": side["low"], f"{name}_high": side["high"]}
        row |= {"note": tpr["note"], "why": tpr["why"], "state": tpr["state"]}
        worth = table[(table["max_fpr"] == limit) & table["base_rate"].notna()]
        for base, several in worth.groupby("base_rate", sort=False):
            more = {"base_rate": base}
            for one in several.to_dict("records"):
                name = VALUES.get(one["quantity"], "precision")
                value = one["rate"] if name == "precision" else one["value"]
                more |= {name: value, f"{name}_low": one["low"], f"{name}_high": one["high"]}
                more["per_day"] = one["per_day"]
            rows.append(row | more)
        rows += [] if len(worth) else [row]
    return pd.DataFrame(rows)


def by_counts(tp: int, n_pos: int, fp: int, n_neg: int) -> pd.DataFrame:
    """Scores 1 and 0 only, so that one threshold has these counts."""
    return scored([1.0] * tp + [0.0] * (n_pos - tp), [1.0] * fp + [0.0] * (n_neg - fp))


@pytest.fixture(scope="module")
def calls() -> pd.DataFrame:
    options = {"score": "score", "label": "label", "positive": "fake"}
    return fnb.detector(fnb.data("detector_scores.csv"), **options, base_rate=0.001, per_day=20_000)


# --- operating points


def test_bundled_detector_has_the_stated_points(calls):
    # data/README.md: the sample detects .885 at 1 % and .650 at 0.1 % false alarms
    points = part(calls, POINT)
    assert points[["tp", "n_pos", "fp", "n_neg"]].values.tolist() == [
        [354, 400, 50, 5000],
        [260, 400, 5, 5000],
    ]
    assert points["tpr"].tolist() == [0.885, 0.65] and points["resolvable"].all()


def test_points_are_those_of_a_plain_search():
    frame = pd.read_csv(fnb.data("detector_scores.csv"))
    fake = frame["label"] == "fake"
    points = part(found(frame, positive="fake", max_fpr=[0.05, 0.01, 0.002]), POINT)
    for _, point in points.iterrows():
        allowed = [
            t
            for t in frame["score"].unique()
            if (~fake & (frame["score"] >= t)).sum() <= math.floor(point["max_fpr"] * 5000)
        ]
        assert point["threshold"] == min(allowed)
        assert point["tp"] == (fake & (frame["score"] >= point["threshold"])).sum()


def test_brackets_of_the_false_positive_rate_are_clopper_pearson(calls):
    points = part(calls, POINT)
    assert points["fpr_low"].tolist() == pytest.approx(
        [beta.ppf(0.025, k, 5000 - k + 1) for k in (50, 5)]
    )
    assert points["fpr_high"].tolist() == pytest.approx(
        [beta.ppf(0.975, k + 1, 5000 - k) for k in (50, 5)]
    )
    assert ((points["tpr_low"] < points["tpr"]) & (points["tpr"] < points["tpr_high"])).all()


def test_a_rate_below_one_negative_is_said_to_be_unresolvable():
    point = part(found(scored([0.9, 0.8, 0.4], [0.1] * 100), max_fpr=0.001), POINT).iloc[0]
    assert not point["resolvable"] and (point["tp"], point["fp"]) == (3, 0)
    assert "1/100 is above the limit" in point["why"]


def test_ties_share_a_threshold_and_nothing_is_interpolated():
    frame = scored([0.9, 0.5, 0.5], [0.5, 0.5, 0.1, 0.1])
    table = found(frame, max_fpr=0.25)
    assert curve_of(frame)[["threshold", "tp", "fp"]].values.tolist() == [
        [0.9, 1, 0],
        [0.5, 3, 2],
        [0.1, 3, 4],
    ]
    assert part(table, POINT)[["tp", "fp", "threshold"]].values.tolist() == [[1, 0, 0.9]]


def test_a_score_where_low_is_suspect_is_turned_round():
    # membership inference: members have a low loss
    frame = pd.read_csv(fnb.data("detector_scores.csv"))
    high = found(frame, positive="fake")
    low = found(frame.assign(score=-frame["score"]), positive="fake", higher=False)
    pd.testing.assert_frame_equal(low.drop(columns="threshold"), high.drop(columns="threshold"))
    assert low["threshold"].dropna().tolist() == (-high["threshold"].dropna()).tolist()
    wrong = part(found(frame, positive="fake", higher=False), "auc").iloc[0]
    assert wrong["auc"] < 0.5 and "the right way round" in wrong["note"]


# --- area


def test_auc_is_mann_whitney_and_agrees_with_delong_of_another_program():
    frame = pd.read_csv(fnb.data("detector_scores.csv"))
    fake, genuine = (frame.loc[frame["label"] == name, "score"] for name in ("fake", "genuine"))
    area = part(found(frame, positive="fake"), "auc").iloc[0]
    assert area["auc"] == pytest.approx(
        mannwhitneyu(fake, genuine).statistic / (400 * 5000), abs=1e-12
    )
    # DeLong's variance written down again, by all pairs
    wins = (fake.to_numpy()[:, None] > genuine.to_numpy()) + 0.5 * (
        fake.to_numpy()[:, None] == genuine.to_numpy()
    )
    se = math.sqrt(wins.mean(1).var(ddof=1) / 400 + wins.mean(0).var(ddof=1) / 5000)
    assert area["auc_high"] - area["auc_low"] == pytest.approx(
        2 * 1.959963984540054 * se, abs=1e-12
    )


# --- base rates


@pytest.mark.parametrize(("base", "precision"), [(0.5, 0.9896), (0.01, 0.4897), (0.001, 0.0868)])
def test_precision_depends_on_the_base_rate(base, precision):
    # TPR .95 and FPR .01 by counts
    row = part(found(by_counts(95, 100, 10, 1000), base_rate=base), POINT).iloc[0]
    assert (row["tpr"], row["fpr"]) == (0.95, 0.01)
    assert row["precision"] == pytest.approx(precision, abs=5e-5)
    assert row["precision_low"] < row["precision"] < row["precision_high"]


@pytest.mark.parametrize(
    ("tpr", "fpr", "right", "wrong", "precision"),
    [
        (0.95, 0.05, 19, 999, 0.0187),
        (0.9, 0.01, 18, 199.8, 0.0826),
        (0.8, 0.001, 16, 19.98, 0.4447),
    ],
)
def test_alarms_of_a_call_centre(tpr, fpr, right, wrong, precision):
    # 20,000 calls a day, 1 in 1,000 fake
    frame = by_counts(round(100 * tpr), 100, round(1000 * fpr), 1000)
    row = part(found(frame, max_fpr=fpr, base_rate=0.001, per_day=20_000), POINT).iloc[0]
    assert row[["true_alerts", "false_alerts", "missed"]].tolist() == pytest.approx(
        [right, wrong, 20 - right]
    )
    assert row["precision"] == pytest.approx(precision, abs=5e-5)
    assert row["false_alerts_low"] < wrong < row["false_alerts_high"]
    assert row["true_alerts_low"] < right < row["true_alerts_high"]


def test_no_false_alarm_in_the_sample_bounds_the_precision_from_below_only():
    row = part(found(by_counts(80, 100, 0, 1000), base_rate=0.001), POINT).iloc[0]
    assert (row["precision"], row["precision_high"]) == (1, 1)
    worst = beta.ppf(0.975, 1, 1000)  # Clopper-Pearson of 0/1000
    assert row["precision_low"] == pytest.approx(
        row["tpr_low"] * 0.001 / (row["tpr_low"] * 0.001 + worst * 0.999)
    )
    assert row["precision_low"] < 0.25


def test_one_row_per_limit_and_base_rate_and_ten_thousand_cases_if_none_are_named(calls):
    points = part(found(by_counts(80, 100, 1, 1000), base_rate=[0.01, 0.001]), POINT)
    assert points["max_fpr"].tolist() == [0.01, 0.01, 0.001, 0.001]
    assert points["base_rate"].tolist() == [0.01, 0.001] * 2
    assert set(points["per_day"]) == {10_000}
    assert points["true_alerts"].tolist() == pytest.approx([80, 8, 80, 8])
    assert part(calls, POINT)["per_day"].tolist() == [20_000, 20_000]


def test_grid_of_base_rates_goes_through_the_operating_points(calls):
    grid = curve_of(fnb.data("detector_scores.csv"), "precision", positive="fake")
    for limit, rows in grid.groupby("max_fpr"):
        point = part(calls, POINT).set_index("max_fpr").loc[limit]
        assert (rows["precision"].diff().dropna() > 0).all() and (
            rows["low"] <= rows["precision"]
        ).all()
        near = np.interp(np.log(0.001), np.log(rows["base_rate"]), rows["precision"])
        assert near == pytest.approx(point["precision"], abs=5e-3)


def test_precision_bounds_hold_the_truth_as_often_as_they_say():
    # 150 samples of normal scores to one decimal, threshold found anew in each; truth at the found
    # threshold
    random, runs, inside = np.random.default_rng(5), 150, 0
    for _ in range(runs):
        scores = (
            random.normal(2, 1, 100).round(1).tolist(),
            random.normal(0, 1, 1000).round(1).tolist(),
        )
        row = part(found(scored(*scores), max_fpr=0.01, base_rate=0.01), POINT).iloc[0]
        tpr, fpr = (norm.sf(row["threshold"] - 0.05 - mean) for mean in (2, 0))
        inside += (
            row["precision_low"] <= 0.01 * tpr / (0.01 * tpr + 0.99 * fpr) <= row["precision_high"]
        )
    assert inside / runs >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / runs)


# --- what the table is, and what cannot be computed


def test_parts_and_columns(calls):
    assert calls["quantity"].tolist() == [
        *["TPR", "FPR", "precision", "true alerts", "false alerts", "missed"] * 2,
        "AUC",
    ]
    scores = pd.read_csv(fnb.data("detector_scores.csv"))["score"]
    curve = curve_of(fnb.data("detector_scores.csv"), positive="fake")
    assert len(curve) == scores.nunique()
    assert curve["threshold"].is_monotonic_decreasing
    assert curve["fpr"].iloc[-1] == curve["tpr"].iloc[-1] == 1
    named = set(calls) - {*FACTS, *WORDS, "clusters", "n_eff"}
    assert [name for name in named if f"`{name}`" not in fnb.detector.__doc__] == []


@pytest.mark.parametrize(
    ("positives", "negatives", "word"), [([0.5], [], "negative"), ([], [0.5, 0.6], "positive")]
)
def test_without_a_class_nothing_is_computable_and_the_note_says_so(positives, negatives, word):
    table = found(scored(positives, negatives), base_rate=0.01)
    for name in (POINT, "auc"):
        assert part(table, name)["note"].str.contains(f"not computable: no {word} case").all()
    assert table[["rate", "low", "high"]].isna().all(axis=None)
    assert set(table["state"]) == {"none"}


def test_rows_without_score_or_label_are_left_out_and_counted():
    frame = scored([0.9, 0.8], [0.1, 0.2])
    more = pd.DataFrame({"score": [None, 0.5, ""], "label": ["attack", None, "benign"]})
    table = found(pd.concat([frame.astype(object), more]))
    assert table["note"].str.contains("3 rows without a score or a label are left out").all()
    assert part(table, POINT)[["tp", "n_pos", "n_neg"]].values.tolist() == [[2, 2, 2], [2, 2, 2]]


@pytest.mark.parametrize("positive", [1, "1", 1.0, [1]])
def test_numeric_labels_are_one_label_with_and_without_point_zero(positive):
    frame = pd.DataFrame({"score": [0.9, 0.1, 0.8], "label": ["1.0", "0", "1"]})
    assert part(found(frame, positive=positive), POINT)["n_pos"].tolist() == [2, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"positive": "fraud"}, "several labels beside 'fraud': attack, benign"),
        ({"score": "nobody"}, "no column 'nobody'"),
        ({"max_fpr": 1}, None),
        ({"max_fpr": 5}, "max_fpr"),
        ({"base_rate": 10}, "base_rate"),
        ({"base_rate": 0.1, "per_day": -1}, "per_day"),
        ({"level": 95}, "level"),
    ],
)
def test_a_bad_call_says_what_is_allowed(options, message):
    frame = scored([0.9], [0.1, 0.2])
    if message is None:
        assert part(found(frame, **options), POINT)["tpr"].tolist() == [1]
        return
    with pytest.raises(ValueError, match=message):
        found(frame, **options)


def test_a_score_that_is_no_number_names_its_row():
    with pytest.raises(ValueError, match=r"row 2 .*score has 'high'"):
        found(pd.DataFrame({"score": ["0.1", "high"], "label": ["attack", "benign"]}))


def test_input_is_unchanged_and_the_same_call_gives_the_same_table():
    frame = scored([0.9, 0.4], [0.1, 0.5, 0.2])
    before = frame.copy()
    pd.testing.assert_frame_equal(found(frame), found(frame))
    pd.testing.assert_frame_equal(frame, before)


SCORES = st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.5000001, 0.9]), min_size=1, max_size=25)


@settings(max_examples=30, deadline=None)
@given(SCORES, SCORES, st.floats(0, 1))
def test_the_realised_false_positive_rate_keeps_to_the_limit_and_the_curve_never_falls(
    positives, negatives, limit
):
    table = found(scored(positives, negatives), max_fpr=limit)
    point, curve = part(table, POINT).iloc[0], curve_of(scored(positives, negatives))
    assert point["fp"] <= limit * len(negatives) + 1e-9
    assert curve["tp"].is_monotonic_increasing and curve["fp"].is_monotonic_increasing
    better = curve[curve["fp"] <= limit * len(negatives) + 1e-9]
    assert point["tp"] == max(better["tp"], default=0)
