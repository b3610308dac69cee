"""Every result that has no number: all of its fields, as the section "Not computable when" of its
routine says them.
"""

import dataclasses
import math

import pytest

from ferrite_nb import stats
from ferrite_nb.stats import ordered

NAN = math.nan
NONE = "no case"
ONE_CLUSTER = "one cluster: its spread cannot be estimated"
NO_JUDGED = "no output was judged"
NO_POSITIVES = "no human-labelled positives: sensitivity is unknown"
NO_NEGATIVES = "no human-labelled negatives: specificity is unknown"
FEW_LABELS = "too few labels: with one more of each kind Se + Sp would not be above 1"
FLAT = "no stratum has two groups with different outcomes"
CHANCE = "the judge is no better than chance: Se 0.500 + Sp 0.500 is not above 1"

# name of the routine, its arguments, the fields in order
CASES = [
    # one proportion
    ("interval", {"k": 0, "n": 0}, (NAN, NAN)),
    ("limit", {"k": 0, "n": 0, "side": "upper"}, NAN),
    ("limit", {"k": 0, "n": 0, "side": "lower", "level": 0.3}, NAN),
    ("exact_test", {"k": 0, "n": 0, "rate": 0.1}, (NAN, NAN, NAN)),
    ("missing_bounds", {"k": 0, "n": 0, "missing": 0}, (NAN, NAN)),
    # bootstrap
    ("bootstrap_proportion", {"k": 0, "n": 0}, (NAN, NAN, False, NONE)),
    (
        "bootstrap_proportion",
        {"k": 0, "n": 22},
        (0.0, 0.0, True, "the bootstrap of 0 of 22 has no width; use wilson"),
    ),
    (
        "bootstrap_proportion",
        {"k": 22, "n": 22},
        (1.0, 1.0, True, "the bootstrap of 22 of 22 has no width; use wilson"),
    ),
    ("bootstrap_pairs", {"both": 0, "b": 0, "c": 0, "neither": 0}, (NAN, NAN, NAN, NONE)),
    (
        "bootstrap_pairs",
        {"both": 3, "b": 0, "c": 0, "neither": 4},
        (0.0, NAN, NAN, "no case differs: the bootstrap has no width; use newcombe or tango"),
    ),
    *(
        (
            "bootstrap_pairs",
            {"both": 0, "b": b, "c": c, "neither": 0},
            (
                diff,
                NAN,
                NAN,
                (
                    "every case differs in the same direction: the bootstrap has no width; use"
                    " newcombe or tango"
                ),
            ),
        )
        for b, c, diff in ((9, 0, 1.0), (0, 9, -1.0))
    ),
    ("bootstrap_mean", {"values": []}, (NAN, NAN, NAN, "no value")),
    (
        "bootstrap_mean",
        {"values": [2.5]},
        (2.5, NAN, NAN, "one value: its spread cannot be estimated"),
    ),
    (
        "bootstrap_mean",
        {"values": [1, 2, 6], "cluster": ["a", "a", "a"]},
        (3.0, NAN, NAN, ONE_CLUSTER),
    ),
    (
        "bootstrap_mean",
        {"values": [4, 4, 4]},
        (4.0, NAN, NAN, "all values are equal: the bootstrap has no width"),
    ),
    (
        "bootstrap_mean",
        {"values": [1, 3, 1, 3], "cluster": ["a", "a", "b", "b"]},
        (2.0, NAN, NAN, "all cluster means are equal: the bootstrap has no width"),
    ),
    # clusters
    ("design_effect", {"k": [], "n": []}, (NAN, NAN, NAN, NAN, NAN, 0)),
    ("design_effect", {"k": [1, 0], "n": [4, 0]}, (0.25, NAN, NAN, NAN, NAN, 1)),
    ("design_effect", {"k": [0, 0], "n": [4, 6]}, (0.0, 0.0, NAN, NAN, 2.0, 2)),
    ("design_effect", {"k": [4, 6, 2], "n": [4, 6, 2]}, (1.0, 0.0, NAN, NAN, 3.0, 3)),
    ("clustered_interval", {"k": [], "n": []}, (NAN,) * 8 + (0, NONE, NAN)),
    (
        "clustered_interval",
        {"k": [1], "n": [4]},
        (0.25,) + (NAN,) * 6 + (1.0, 1, ONE_CLUSTER, NAN),
    ),
    (
        "crossed_interval",
        {"k": [], "n": [], "first": [], "second": []},
        (NAN, NAN, NAN, NAN, NAN, 0, (0, 0), NONE),
    ),
    (
        "crossed_interval",
        {"k": [1, 2], "n": [4, 4], "first": ["a", "a"], "second": [1, 2]},
        (0.375, NAN, NAN, NAN, NAN, 0, (1, 2), ONE_CLUSTER),
    ),
    (
        "cluster_mean",
        {"values": [], "cluster": []},
        (NAN, NAN, NAN, NAN, 0, 0, NAN, NAN, "no value"),
    ),
    (
        "cluster_mean",
        {"values": [1, 4], "cluster": ["a", "a"]},
        (2.5, NAN, NAN, NAN, 0, 1, NAN, NAN, ONE_CLUSTER),
    ),
    (
        "cluster_mean",
        {"values": [3] * 5, "cluster": list("abcde")},
        (3.0, 0.0, NAN, NAN, 4, 5, NAN, NAN, "all values are equal: no interval"),
    ),
    # all five means are 2, ten rows: between 0, within 10, so that the intraclass correlation is -1
    # and deff 0
    (
        "cluster_mean",
        {"values": [1, 3] * 5, "cluster": list("aabbccddee")},
        (2.0, 0.0, -1.0, 0.0, 4, 5, NAN, NAN, "all cluster means are equal: no interval"),
    ),
    ("cluster_effect", {"clusters": 0, "size": 4, "rate": 0.1, "icc": 0.1}, (NAN, NAN, NAN)),
    ("cluster_effect", {"clusters": 4, "size": 0, "rate": 0.1, "icc": 0.1}, (NAN, NAN, NAN)),
    # pairs
    ("mcnemar", {"b": 0, "c": 0}, (1.0, 1.0, 0.0, 0, "no discordant pairs")),
    ("sign_flip", {"sums": []}, (1.0, 0, "exact", "no cluster differs")),
    ("sign_flip", {"sums": [0, 0, 0]}, (1.0, 3, "exact", "no cluster differs")),
    ("paired_difference", {"both": 0, "b": 0, "c": 0, "neither": 0}, (NAN, NAN, NAN, NONE)),
    ("difference", {"k1": 0, "n1": 0, "k2": 1, "n2": 3}, (NAN, NAN, NAN, NAN)),
    ("difference", {"k1": 1, "n1": 3, "k2": 0, "n2": 0}, (NAN, NAN, NAN, NAN)),
    (
        "paired_quantile",
        {"differences": [], "q": 0.5},
        (NAN, NAN, NAN, NAN, NAN, NAN, 0, "no pair"),
    ),
    ("paired_units", {"a": [], "b": [], "unit": []}, (NAN,) * 6 + (0, 0, 0, False, False, NONE)),
    (
        "paired_units",
        {"a": [1, 1], "b": [0, 1], "unit": ["t", "t"]},
        (0.5, NAN, NAN, 1.0, 1.0, NAN, 1, 1, 0, False, False, "one unit"),
    ),
    (
        "paired_crossed",
        {"a": [], "b": [], "first": [], "second": []},
        (NAN,) * 7 + ((0, 0), False, False, NONE),
    ),
    (
        "paired_crossed",
        {"a": [1, 1], "b": [0, 1], "first": ["u", "u"], "second": [1, 2]},
        (0.5, NAN, NAN, 1.0, 1.0, NAN, NAN, (1, 2), False, False, "one unit of a key"),
    ),
    (
        "within",
        {"first": [], "followed": [], "K": 3},
        (NAN, NAN, NAN, NAN, 0, 0, "nobody was followed so far"),
    ),
    (
        "within",
        {"first": [math.inf, math.inf], "followed": [1, 2], "K": 3},
        (NAN, NAN, NAN, NAN, 0, 0, "nobody was followed so far"),
    ),
    (
        "drift",
        {"new_k": [0, 1], "new_n": [1, 1], "old_k": [0, 2], "old_n": [2, 2]},
        (1.0, 0, "no case can move"),
    ),
    (
        "quantile_units",
        {"values": [], "weights": [], "unit": [], "q": 0.5},
        (NAN, NAN, NAN, NAN, 0, 0, "no value"),
    ),
    (
        "quantile_units",
        {"values": [4, 5], "weights": [1, 1], "unit": ["t", "t"], "q": 0.5},
        (4.0, NAN, NAN, NAN, 0, 0, "one unit"),
    ),
    ("macro", {"k": [], "n": []}, (NAN,) * 5),
    ("macro", {"k": [0], "n": [0]}, (NAN,) * 5),
    ("homogeneity", {"k": [1], "n": [4]}, NAN),
    ("homogeneity", {"k": [0, 0], "n": [4, 4]}, NAN),
    ("auc_limits", {"theta": 1.0, "n_pos": 0, "n_neg": 4}, (NAN, NAN)),
    (
        "kappa_limits",
        {"yy": 0, "yn": 0, "ny": 0, "nn": 9},
        (NAN, NAN, "both raters give one answer only"),
    ),
    (
        "corrected_difference",
        {"both": 0, "b": 0, "c": 0, "neither": 0, "labels_a": [9, 1, 9, 1]},
        (NAN,) * 4 + (NONE,),
    ),
    (
        "corrected_difference",
        {"both": 1, "b": 1, "c": 1, "neither": 1, "labels_a": [1, 0, 1, 3]},
        (NAN,) * 4 + ("too few labels, or Se + Sp <= 1",),
    ),
    # several modes, strata, groups, seeds
    (
        "cochrans_q",
        {"table": [[1, 1, 1], [0, 0, 0]]},
        (NAN, 2, NAN, "every case has the same outcome in all modes"),
    ),
    ("cmh", {"tables": []}, (NAN,) * 7 + (0, 0, "no stratum has information")),
    (
        "cmh",
        {"tables": [[[1, 0], [2, 0]], [[0, 0], [1, 2]]]},
        (NAN,) * 7 + (0, 2, "no stratum has information"),
    ),
    ("trend", {"k": [], "n": []}, (NAN, NAN, NAN, NONE)),
    ("trend", {"k": [0, 0], "n": [0, 0]}, (NAN, NAN, NAN, NONE)),
    *(
        ("trend", {"k": k, "n": [3, 4]}, (NAN, NAN, NAN, "all outcomes are the same"))
        for k in ([0, 0], [3, 4])
    ),
    (
        "trend",
        {"k": [1, 2, 0], "n": [3, 4, 0], "scores": [2, 2, 5]},
        (NAN, NAN, NAN, "one group: a trend needs two"),
    ),
    ("seed_spread", {"k": [], "n": []}, (NAN, NAN, NAN, NAN, 0, NAN, NONE)),
    (
        "seed_spread",
        {"k": [1, 0], "n": [4, 0]},
        (0.25, NAN, math.sqrt(3) / 8, NAN, 0, NAN, "one seed: its spread cannot be estimated"),
    ),
    *(
        (
            "seed_spread",
            {"k": k, "n": [4, 4]},
            (rate, 0.0, 0.0, NAN, 1, NAN, "all outcomes are the same"),
        )
        for k, rate in (([0, 0], 0.0), ([4, 4], 1.0))
    ),
    # judges
    (
        "rogan_gladen",
        {"k": 0, "n": 0, "tp": 9, "fn": 1, "tn": 8, "fp": 2},
        (NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0.9, 0.8, "", NO_JUDGED),
    ),
    (
        "rogan_gladen",
        {"k": 1, "n": 4, "tp": 0, "fn": 0, "tn": 8, "fp": 2},
        (0.25, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0.8, "", NO_POSITIVES),
    ),
    (
        "rogan_gladen",
        {"k": 1, "n": 4, "tp": 0, "fn": 0, "tn": 0, "fp": 0},
        (0.25, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, "", f"{NO_POSITIVES}; {NO_NEGATIVES}"),
    ),
    (
        "rogan_gladen",
        {"k": 1, "n": 4, "tp": 1, "fn": 1, "tn": 1, "fp": 1},
        (0.25, NAN, NAN, NAN, NAN, NAN, NAN, 0.5, 0.5, "", CHANCE),
    ),
    (
        "rogan_gladen",
        {"k": 1, "n": 4, "se": 0.5, "sp": 0.5, "method": "fixed"},
        (0.25, NAN, NAN, NAN, NAN, NAN, NAN, 0.5, 0.5, "", CHANCE),
    ),
    *(  # pseudo-counts would turn the sign of Youden's J, or make it 0
        (
            "rogan_gladen",
            {"k": 10, "n": 20, "tp": 1, "fn": 0, "tn": 1, "fp": fp},
            (0.5, NAN, NAN, NAN, NAN, NAN, NAN, 1.0, 1 / (1 + fp), "", FEW_LABELS),
        )
        for fp in (3, 5)
    ),
    (
        "double_sample",
        {"k": 0, "n": 0, "tp": 0, "fn": 0, "tn": 0, "fp": 0},
        (NAN, NAN, NAN, NAN, NAN, NO_JUDGED),
    ),
    (
        "garak_interval",
        {"k": 1, "n": 40, "mode": "none"},
        (NAN, NAN, "none", "no interval asked for"),
    ),
    ("garak_interval", {"k": 0, "n": 0, "mode": "none"}, (NAN, NAN, "none", "no attempt")),
    ("garak_interval", {"k": 0, "n": 0, "mode": "simple"}, (NAN, NAN, "none", "no attempt")),
    (
        "garak_interval",
        {"k": 1, "n": 29, "mode": "bootstrap"},
        (NAN, NAN, "none", "29 attempts are fewer than 30"),
    ),
    ("garak_interval", {"k": 1, "n": 40, "se": 0.5, "sp": 0.5}, (NAN, NAN, "none", CHANCE)),
    *(  # as garak prints it, with the reason not to
        (
            "garak_interval",
            {"k": k, "n": 40, "mode": "bootstrap"},
            (end, end, "bootstrap", f"the bootstrap of {k} of 40 has no width; use wilson"),
        )
        for k, end in ((0, 0.0), (40, 1.0))
    ),
    (
        "judge_validation",
        {"tp": 0, "fn": 0, "tn": 0, "fp": 0},
        (NAN,) * 12
        + ("undefined", NAN, NAN, 0, f"{NO_POSITIVES}; {NO_NEGATIVES}; kappa undefined: no label"),
    ),
    ("kappa", {"table": [[0, 0], [0, 0]]}, (NAN, NAN, NAN, NAN, "undefined", "no label")),
    (
        "kappa",
        {"table": [[0, 0], [0, 7]]},
        (NAN, NAN, NAN, NAN, "undefined", "all labels are in one cell"),
    ),
    *(
        (
            "kappa",
            {"table": table},
            (NAN, NAN, NAN, NAN, "undefined", "one rater gives the same answer always"),
        )
        for table in ([[3, 4], [0, 0]], [[3, 0], [4, 0]])
    ),
    (
        "kappa",
        {"table": [[3, 0], [0, 4]]},
        (1.0, 0.0, NAN, NAN, "no interval", "the standard error is 0"),
    ),
    # detectors
    (
        "tpr_at_fpr",
        {"labels": [0, 0, 0], "scores": [1, 2, 3], "max_fpr": 0.5},
        (NAN, NAN, NAN, 0, 0, 0, 3, NAN, NAN, False, "no positive case"),
    ),
    (
        "tpr_at_fpr",
        {"labels": [1, 1], "scores": [1, 2], "max_fpr": 0.5},
        (NAN, NAN, NAN, 0, 2, 0, 0, NAN, NAN, False, "no negative case"),
    ),
    ("auc", {"labels": [0, 0], "scores": [1, 2]}, (NAN, NAN, NAN, NAN, "no positive case")),
    ("auc", {"labels": [1, 1], "scores": [1, 2]}, (NAN, NAN, NAN, NAN, "no negative case")),
    (
        "auc",
        {"labels": [1, 0, 0], "scores": [2, 1, 3]},
        (0.5, NAN, NAN, NAN, "one positive case: no interval"),
    ),
    (
        "auc",
        {"labels": [0, 1, 1], "scores": [2, 1, 3]},
        (0.5, NAN, NAN, NAN, "one negative case: no interval"),
    ),
    (
        "auc",
        {"labels": [0, 0, 1, 1], "scores": [1, 2, 3, 4]},
        (1.0, NAN, NAN, NAN, "no variance at an AUC of 1: no interval"),
    ),
    *(
        ("auc_difference", {"labels": labels, "scores_a": [1, 2], "scores_b": [2, 1]}, (NAN,) * 5)
        for labels in ([0, 0], [1, 1])
    ),
    *(
        (
            "auc_difference",
            {"labels": labels, "scores_a": [1, 2, 3], "scores_b": [3, 1, 2]},
            (diff, NAN, NAN, NAN, NAN),
        )
        for labels, diff in (([0, 0, 1], 0.5), ([0, 1, 1], 1.0))
    ),
    ("alerts", {"tpr": 0.0, "fpr": 0.0, "base_rate": 0.25, "per_day": 8}, (NAN, 0.0, 0.0, 2.0)),
    # planning
    ("power_h", {"h": 0.5, "n": 0}, NAN),
    ("power_h", {"h": 0.5, "n": 5, "n2": 0}, NAN),
    ("operating_curve", {"n": 0, "k": 0, "rates": 0.1}, NAN),
]


def same(found, wanted):
    """Equal, of the same kind (no None for NaN, no True for 1), and NaN where NaN is wanted."""
    if isinstance(wanted, float):
        return isinstance(found, float) and found == pytest.approx(wanted, abs=1e-12, nan_ok=True)
    return type(found) is type(wanted) and found == wanted


@pytest.mark.parametrize(("name", "arguments", "wanted"), CASES)
def test_every_field_of_a_result_without_a_number(name, arguments, wanted):
    result = getattr(stats, name)(**arguments)
    found = dataclasses.astuple(result) if dataclasses.is_dataclass(result) else (result,)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    assert len(found) == len(wanted)
    for field, (one, other) in enumerate(zip(found, wanted, strict=True)):
        assert same(one, other), f"field {field}: {one!r} is not {other!r}"


@pytest.mark.parametrize(
    ("arguments", "name", "note"),
    [
        (([0, 0], [0, 0], [1, 2]), "Cochran-Armitage", "no case"),
        (([0, 0], [4, 4], [1, 2]), "Cochran-Armitage", "all outcomes are the same"),
        (([1, 2], [4, 4], [1, 2], ["a", "b"]), "Mantel, within strata", FLAT),
        (([4, 4, 0, 0], [4, 4, 3, 3], [1, 2, 1, 2], list("aabb")), "Mantel, within strata", FLAT),
    ],
)
@pytest.mark.parametrize("cluster", [None, "one each"])
def test_a_trend_that_is_not_computable_says_why_with_and_without_clusters(
    arguments, name, note, cluster
):
    k, n, scores, *stratum = arguments
    found = ordered.ordered_trend(
        k,
        n,
        scores,
        stratum=stratum[0] if stratum else None,
        cluster=None if cluster is None else list(range(len(k))),
    )
    assert (
        math.isnan(found.z) and math.isnan(found.p) and (found.method, found.note) == (name, note)
    )


def test_the_mean_of_no_stratum_is_not_computable():
    assert all(map(math.isnan, dataclasses.astuple(ordered.equal_weight([], [], []))))
