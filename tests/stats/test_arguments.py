"""What holds for the arguments and results of every routine: errors name the argument, defaults,
frozen results.
"""

import dataclasses
import importlib
import inspect
import math
import pkgutil
import re

import pytest

from ferrite_nb import stats

NAN = math.nan

# One call of each routine that works; every argument is in it, so that each can be replaced by a
# bad one.
PAIR = {"both": 5, "b": 3, "c": 2, "neither": 4}
LABELS = {"tp": 18, "fn": 2, "tn": 14, "fp": 1}
DRAWN = {"level": 0.95, "resamples": 10, "seed": 0}
GATE = {"method": "wilson", "sides": "two", "level": 0.95}
CLUSTERS = {"clusters": 3, "size": 4, "rate": 0.2, "icc": 0.3}
LIMIT = {"threshold": 0.2, "direction": "at most", "level": 0.95}
CASE_RATES = {"a": [1, 0, 1, 1], "b": [0, 0, 1, 0]}
CASES = {"labels": [0, 0, 1, 1]}
CALLS = {
    "anytime_clusters": {"k": [1, 0, 2], "n": [4, 4, 4], "most": 5, "level": 0.95},
    "anytime_interval": {"k": 1, "n": 5, "level": 0.95},
    "anytime_pairs": {"both": 3, "b": 4, "c": 1, "neither": 9, "level": 0.95},
    "components": {
        "outcome": [0, 1, 1, 0, 1, 0, 0, 1],
        "facets": {"template": list("aabbccdd")},
        "level": 0.95,
    },
    "forecast": {
        "hits_by_half": 29,
        "hits": 43,
        "cases": 250,
        "attempts": 25,
        "within": 50,
        "level": 0.95,
    },
    "labels_by_flag": {"half": 0.1, "n": 300, "rate": 0.2, "se": 0.9, "sp": 0.95, "level": 0.95},
    "worst": {"k": [1, 2], "n": [9, 9], "level": 0.95},
    "alerts": {"tpr": 0.9, "fpr": 0.1, "base_rate": 0.01, "per_day": 10},
    "at_least_once": {"probability": 0.1, "times": 2},
    "auc": {**CASES, "scores": [1, 2, 2, 3], "level": 0.95},
    "auc_difference": {**CASES, "scores_a": [1, 2, 2, 3], "scores_b": [2, 1, 3, 3], "level": 0.95},
    "bootstrap_mean": {"values": [1, 2, 3], "cluster": ["a", "b", "b"], **DRAWN},
    "bootstrap_pairs": {**PAIR, **DRAWN},
    "bootstrap_proportion": {"k": 1, "n": 5, "method": "exact", **DRAWN},
    "cluster_effect": {**CLUSTERS, "level": 0.95},
    "cluster_mean": {"values": [1, 2, 3], "cluster": ["a", "b", "b"], "level": 0.95},
    "clustered_counts": CLUSTERS,
    "clustered_interval": {"k": [1, 2], "n": [4, 4], "level": 0.95},
    "clustered_pass": {**CLUSTERS, "k": 1, "direction": "at most"},
    "cmh": {"tables": [[[3, 7], [1, 9]]]},
    "cochrans_q": {"table": [[1, 0], [1, 1]]},
    "cohens_h": {"p1": 0.1, "p2": 0.2},
    "crossed_interval": {
        "k": [1, 0, 2],
        "n": [4, 4, 4],
        "first": list("aab"),
        "second": [1, 2, 1],
        "level": 0.95,
    },
    "design_effect": {"k": [1, 2], "n": [4, 4]},
    "difference": {"k1": 1, "n1": 5, "k2": 2, "n2": 6, "level": 0.95},
    "double_sample": {"k": 30, "n": 90, **LABELS, **DRAWN},
    "exact_test": {"k": 1, "n": 5, "rate": 0.1},
    "garak_interval": {
        "k": 1,
        "n": 50,
        "mode": "backoff",
        "se": 0.9,
        "sp": 0.9,
        "level": 0.95,
        "min_n": 30,
    },
    "gates_together": {"passes": [0.9, 0.8]},
    "holm": {"p": [0.01, 0.04], "family": "all", "alpha": 0.05},
    "interval": {"k": 1, "n": 5, "method": "wilson", "level": 0.95, "z": 1.96},
    "judge_validation": {**LABELS, "level": 0.95},
    "kappa": {"table": [[4, 1], [1, 4]], "level": 0.95},
    "largest_k": {"n": 50, "threshold": 0.2, **GATE, "z": 1.96},
    "limit": {"k": 1, "n": 5, "side": "upper", "method": "wilson", "level": 0.95},
    "mcnemar": {"b": 1, "c": 2},
    "mcnemar_power": {"n": 9, "p_b": 0.3, "p_c": 0.1, "alpha": 0.05},
    "missing_bounds": {"k": 1, "n": 5, "missing": 2},
    "n_for_gate": {
        "threshold": 0.2,
        "rate": 0.05,
        "power": 0.8,
        "direction": "at most",
        **GATE,
        "step": 1,
    },
    "n_for_h": {"h": 0.5, "power": 0.8, "alpha": 0.05},
    "n_for_half_width": {"p": 0.5, "half_width": 0.1, "level": 0.95},
    "n_for_zero_events": {"max_rate": 0.1, "level": 0.95},
    "nested_gates": {"n": 9, "k": 2, "rate": 0.1, "inner_k": 1, "inner_rate": 0.2},
    "operating_curve": {"n": 9, "k": 2, "rates": [0.1], "direction": "at most"},
    "paired_difference": {**PAIR, "method": "bootstrap", **DRAWN},
    "paired_quantile": {"differences": [1, 2, 3], "q": 0.5, "level": 0.95},
    "possible_counts": {"rate": 0.5, "n": 4},
    "power_h": {"h": 0.5, "n": 9, "n2": 8, "alpha": 0.05},
    "repeated_looks": {"sizes": [5], "limits": [1], "rate": 0.1, "direction": "at most"},
    "repeated_tests": {"sizes": [5, 9], "alpha": 0.05, "share": 0.5},
    "rogan_gladen": {"k": 4, "n": 9, **LABELS, "method": "bootstrap", **DRAWN},
    "seed_spread": {"k": [1, 2], "n": [4, 4]},
    "sign_flip": {"sums": [1, 2], "resamples": 10, "seed": 0},
    "smallest_discordant": {"family": 6, "alpha": 0.05},
    "smallest_k": {"n": 50, "threshold": 0.2, **GATE, "z": 1.96},
    "tpr_at_fpr": {
        **CASES,
        "scores": [1, 2, 2, 3],
        "max_fpr": 0.5,
        "interval": "bootstrap",
        **DRAWN,
    },
    "trend": {"k": [1, 2], "n": [4, 4], "scores": [1, 2]},
    "auc_limits": {"theta": 0.9, "n_pos": 5, "n_neg": 6, "level": 0.95},
    "clustered_gate": {"k": [1, 2], "n": [4, 4], **LIMIT},
    "clusters_needed": LIMIT,
    "corrected_difference": {
        **PAIR,
        "labels_a": [18, 2, 14, 1],
        "labels_b": [17, 3, 14, 1],
        "level": 0.95,
    },
    "detectable": {"n": 100, "discordant": 0.2, "power": 0.8, "alpha": 0.05},
    "drift": {"new_k": [1, 0], "new_n": [1, 1], "old_k": [0, 1], "old_n": [2, 2]},
    "homogeneity": {"k": [1, 2], "n": [4, 4], "n_eff": [2.0, 3.0]},
    "kappa_limits": {"yy": 4, "yn": 1, "ny": 1, "nn": 4, "level": 0.95},
    "labels_needed": {
        "half": 0.2,
        "n": 300,
        "cells": [0.1, 0.1, 0.1, 0.7],
        "se": [0.9, 0.8],
        "sp": [0.9, 0.9],
        "positives": 0.5,
        "level": 0.95,
    },
    "macro": {"k": [1, 2], "n": [4, 4], "level": 0.95},
    "missing_state": {
        "a": [1, 0, None],
        "b": [0, 0, 1],
        "unit": list("aab"),
        "others": [0.1],
        "level": 0.95,
    },
    "paired_crossed": {
        **CASE_RATES,
        "first": list("aabb"),
        "second": list("cdcd"),
        "strata": [1, 1, 1, 1],
        "level": 0.95,
    },
    "paired_units": {**CASE_RATES, "unit": list("aabb"), "runs": 4, "level": 0.95},
    "quantile_units": {
        "values": [1, 2, 3],
        "weights": [1, 1, 1],
        "unit": list("abc"),
        "q": 0.5,
        "level": 0.95,
    },
    "within": {
        "first": [1, 2, math.inf],
        "followed": [1, 2, 3],
        "K": 3,
        "cluster": list("abc"),
        "level": 0.95,
    },
    "within_attempts": {"rate": 0.1, "attempts": 3, "icc": 0.1},
}
SWITCHES = {
    ("components", "repeat"),
    ("cmh", "correction"),
    ("smallest_discordant", "mid_p"),
}  # any value is true or false
FIXED = {
    ("rogan_gladen", "se"),
    ("rogan_gladen", "sp"),
}  # in place of the labels: a test of their own below


def test_every_argument_of_every_routine_is_in_the_calls():
    for name in stats.__all__:
        wanted = {
            (name, argument) for argument in inspect.signature(getattr(stats, name)).parameters
        }
        assert {(name, argument) for argument in CALLS[name]} == wanted - SWITCHES - FIXED


@pytest.mark.parametrize("name", stats.__all__)
def test_an_error_begins_with_the_name_of_the_argument(name):
    routine, good = getattr(stats, name), CALLS[name]
    routine(**good)
    for argument in good:
        with pytest.raises((TypeError, ValueError), match=rf"^{argument} must "):
            routine(**good | {argument: "x"})


LISTS = {
    "values",
    "cluster",
    "first",
    "second",
    "labels",
    "scores",
    "scores_a",
    "scores_b",
    "table",
    "tables",
    "p",
    "sums",
    "differences",
    "sizes",
    "limits",
    "passes",
    "k_a",
    "n_a",
    "k_b",
    "n_b",
}
WITH_RATE = {"n_for_half_width"}  # its p is one rate


@pytest.mark.parametrize("name", stats.__all__)
def test_one_number_in_place_of_a_list_is_refused_by_name(name):
    good = CALLS[name]
    for argument in LISTS & set(good) - {("p" if name in WITH_RATE else "")}:
        with pytest.raises((TypeError, ValueError), match=rf"\b{argument}\b.* must "):
            getattr(stats, name)(**good | {argument: 1})


DELTA = {"method": "delta"}
MESSAGES = [
    ("smallest_discordant", {"family": 0}, "family must be at least 1, got 0"),
    *(
        (name, {"resamples": 0}, "resamples must be at least 1, got 0")
        for name in CALLS
        if "resamples" in CALLS[name]
    ),
    ("auc", {"labels": [[0], [1]]}, "labels must be one per case, got 2 dimensions"),
    ("auc", {"scores": [[0], [1]]}, "scores must be one per case, got 2 dimensions"),
    ("auc_difference", {"scores_b": ["a"] * 4}, "scores_b must be numbers, got <U1"),
    (
        "auc_difference",
        {"scores_a": [1, 2, 3]},
        "labels and scores_a need one entry per case, got 4 and 3",
    ),
    ("auc", {"labels": [0, 1, 2, 1]}, "labels must be 0 or 1, got 2"),
    ("auc", {"labels": [0, 1, -1, 1]}, "labels must be 0 or 1, got -1"),
    (
        "auc",
        {"scores": [1, 2, NAN, 3]},
        "scores must be numbers below infinity, got nan; leave unscored cases out",
    ),
    (
        "tpr_at_fpr",
        {"scores": [1, 2, math.inf, 3]},
        "scores must be numbers below infinity, got inf; leave unscored cases out",
    ),
    ("alerts", {"per_day": None}, "per_day must be a number >= 0, got None"),
    ("alerts", {"per_day": -1}, "per_day must be a number >= 0, got -1.0"),
    ("alerts", {"per_day": math.inf}, "per_day must be a number >= 0, got inf"),
    (
        "paired_quantile",
        {"differences": [[1, 2]]},
        "differences must be one number per pair, got 2 dimensions",
    ),
    ("paired_quantile", {"differences": ["1", "2"]}, "differences must be numbers, got <U1"),
    (
        "paired_quantile",
        {"differences": [1, NAN]},
        "differences must not hold NaN; leave out the pairs that were not measured",
    ),
    ("garak_interval", {"se": None}, "se and sp go together, got se = None and sp = 0.9"),
    ("garak_interval", {"sp": None}, "se and sp go together, got se = 0.9 and sp = None"),
    (
        "interval",
        {"method": "jeffreys"},
        "z works with wilson and agresti-coull only, got method = 'jeffreys'; give level",
    ),
    ("rogan_gladen", {"se": 0.9}, "give the label counts tp, fn, tn, fp or se and sp, not both"),
    (
        "rogan_gladen",
        {"fn": None, "tn": None, "fp": None, "se": 0.9, "sp": 0.9, "method": "fixed"},
        "give the label counts tp, fn, tn, fp or se and sp, not both",
    ),
    (
        "rogan_gladen",
        {"tp": None, "fn": None, "tn": None, "fp": None, "sp": 0.9},
        "se and sp go together, got se = None and sp = 0.9",
    ),
    (
        "rogan_gladen",
        {"tp": None, "fn": None, "tn": None, "fp": None, "se": 0.9, "sp": 0.9} | DELTA,
        "method 'delta' needs the counts tp, fn, tn, fp; se and sp go with 'fixed'",
    ),
    ("rogan_gladen", {"fp": None}, "give all of tp, fn, tn, fp, got 18, 2, 14, None"),
    (
        "double_sample",
        {"tp": 30},
        "the labels are not a part of this run: 31 labelled flags of 30, 16 labelled unflagged outputs of 60; "
        "use rogan_gladen for labels from elsewhere",
    ),
    (
        "double_sample",
        {"tn": 59},
        "the labels are not a part of this run: 19 labelled flags of 30, 61 labelled unflagged outputs of 60; "
        "use rogan_gladen for labels from elsewhere",
    ),
    (
        "repeated_looks",
        {"limits": [1, 2]},
        "sizes and limits must have one entry per look, got 1 and 2",
    ),
    (
        "repeated_tests",
        {"sizes": [5, 5]},
        "sizes must increase from look to look, starting above 0, got [5, 5]",
    ),
    (
        "repeated_tests",
        {"sizes": [0, 5]},
        "sizes must increase from look to look, starting above 0, got [0, 5]",
    ),
    ("holm", {"p": [[0.1]]}, "p must be a one-dimensional list of p-values, got 2 dimensions"),
    ("holm", {"p": ["0.1"]}, "p must be numbers (NaN for a comparison not tested), got <U3"),
    ("holm", {"p": [0.1, 1.5]}, "p must lie in [0, 1], got 1.5"),
    ("holm", {"p": [0.1, -0.5]}, "p must lie in [0, 1], got -0.5"),
    ("sign_flip", {"sums": [[1, 2]]}, "sums must be one number per cluster, got 2 dimensions"),
    ("sign_flip", {"sums": ["1"]}, "sums must be numbers, got <U1"),
    ("sign_flip", {"sums": [1, -math.inf]}, "sums must be finite numbers, got -inf"),
    ("mcnemar_power", {"p_b": 0.75, "p_c": 0.5}, "p_b + p_c must be at most 1, got 0.75 + 0.5"),
    ("n_for_h", {"h": 0}, "h must not be 0: no number of cases finds an effect that is not there"),
    ("n_for_h", {"power": 0.05}, "power must be above alpha = 0.05, got 0.05; any n reaches that"),
    ("n_for_h", {"h": 1e-200}, "h must be large enough for a finite number of cases, got 1e-200"),
    ("n_for_h", {"h": None}, "h must be a number, got None"),
    ("power_h", {"h": 3.5}, "h must lie in [-pi, pi], got 3.5; take it from cohens_h"),
    ("power_h", {"h": -3.5}, "h must lie in [-pi, pi], got -3.5; take it from cohens_h"),
    (
        "largest_k",
        {"sides": "one"},
        "z needs a two-sided interval, got sides = 'one', method = 'wilson'",
    ),
    (
        "smallest_k",
        {"method": "point"},
        "z needs a two-sided interval, got sides = 'two', method = 'point'",
    ),
    ("operating_curve", {"rates": ["0.5"]}, "rates must be numbers, got <U3"),
    ("operating_curve", {"rates": [0.5, 1.5]}, "rates must lie in [0, 1], got 1.5"),
    ("operating_curve", {"rates": [0.5, NAN]}, "rates must lie in [0, 1], got nan"),
    (
        "cochrans_q",
        {"table": [[1], [0]]},
        "table must have a row per case and two modes or more, got shape (2, 1)",
    ),
    (
        "cochrans_q",
        {"table": [1, 0]},
        "table must have a row per case and two modes or more, got shape (2,)",
    ),
    ("cochrans_q", {"table": [[1, 2]]}, "table must hold only 0 and 1, got 2"),
    (
        "cmh",
        {"tables": [[1, 2], [3, 4]]},
        "tables must be a list of 2 x 2 tables, got shape (2, 2)",
    ),
    (
        "cmh",
        {"tables": [[[1, 2, 3], [3, 4, 5]]]},
        "tables must be a list of 2 x 2 tables, got shape (1, 2, 3)",
    ),
    ("trend", {"scores": [1, 2, 3]}, "scores must have one entry per group, got 3 for 2 groups"),
    ("kappa", {"table": [[1, 2]]}, "table must be square, got shape (1, 2)"),
    ("kappa", {"table": []}, "table must be square, got shape (0,)"),
]


@pytest.mark.parametrize(("name", "changes", "message"), MESSAGES)
def test_an_error_is_one_whole_sentence(name, changes, message):
    with pytest.raises((TypeError, ValueError)) as found:
        getattr(stats, name)(**CALLS[name] | changes)
    assert str(found.value) == message


@pytest.mark.parametrize("argument", ["se", "sp"])
def test_known_rates_of_a_judge_are_named_too(argument):
    with pytest.raises(TypeError, match=rf"^{argument} must be a number, got 'x'$"):
        stats.rogan_gladen(4, 9, method="fixed", **{"se": 0.9, "sp": 0.9} | {argument: "x"})


@pytest.mark.parametrize("name", [name for name in CALLS if {"k", "k1", "k_a"} & set(CALLS[name])])
def test_more_events_than_cases_are_refused_by_name(name):
    """Every k that has an n of its own: k, k1, k_a ... with n, n1, n_a."""
    for k in [
        argument
        for argument in CALLS[name]
        if argument[0] == "k" and argument.replace("k", "n") in CALLS[name]
    ]:
        n = k.replace("k", "n")
        good = CALLS[name][n]
        more = [value + 1 for value in good] if isinstance(good, list) else good + 1
        text = rf"^{k} must be at most {n}, got {k} = (\d+) of {n} = (\d+)$"
        with pytest.raises(ValueError, match=text) as found:
            getattr(stats, name)(**CALLS[name] | {k: more})
        events, cases = map(int, re.match(text, str(found.value)).groups())
        assert events == cases + 1


INSIDE = {"level", "alpha", "power", "max_rate", "half_width", "probability", "threshold", "q"}
CLOSED = {("at_least_once", "probability"), ("largest_k", "threshold"), ("smallest_k", "threshold")}
RATES = {
    "tpr",
    "fpr",
    "base_rate",
    "rate",
    "icc",
    "p1",
    "p2",
    "se",
    "sp",
    "inner_rate",
    "share",
    "max_fpr",
}


@pytest.mark.parametrize("name", stats.__all__)
def test_proportions_include_their_ends_or_not_as_documented(name):
    routine, good = getattr(stats, name), CALLS[name]
    for argument in set(good) & (INSIDE | RATES):
        if isinstance(good[argument], list):  # one rate for each mode
            continue
        for end in (0, 1):
            if argument in INSIDE and (name, argument) not in CLOSED:
                with pytest.raises(
                    ValueError, match=rf"^{argument} must lie in \(0, 1\), got {end}$"
                ):
                    routine(**good | {argument: end})
            elif (name, argument, end) != (
                "n_for_gate",
                "rate",
                1,
            ):  # on the wrong side of its threshold
                routine(**good | {argument: end})
        for beyond in (-0.01, 1.01):
            with pytest.raises(
                ValueError, match=rf"^{argument} must lie in [\[(]0, 1[\])], got {beyond}"
            ):
                routine(**good | {argument: beyond})


# What stands in the text of the package and of its documentation; a default that moves would move
# printed numbers.
DEFAULTS = {
    "level": 0.95,
    "alpha": 0.05,
    "seed": 0,
    "sides": "two",
    "direction": "at most",
    "family": 6,
    "share": 0.5,
    "min_n": 30,
    "mode": "backoff",
    "step": 1,
    "icc": 0.0,
    "correction": False,
    "mid_p": False,
    "interval": "bootstrap",
    "method": "wilson",
    "resamples": 10_000,
    "positives": 0.5,
    "power": 0.8,
    "others": (),
    "repeat": True,
}
OWN = {
    ("holm", "family"): "all",
    ("bootstrap_proportion", "method"): "exact",
    ("paired_difference", "method"): "newcombe",
    ("rogan_gladen", "method"): "delta",
    ("double_sample", "resamples"): 20_000,
    ("sign_flip", "resamples"): 100_000,
    ("tpr_at_fpr", "resamples"): 2_000,
}


def test_defaults_are_the_documented_ones_and_the_same_everywhere():
    for name in stats.__all__:
        for argument, parameter in inspect.signature(getattr(stats, name)).parameters.items():
            if parameter.default not in (inspect.Parameter.empty, None):
                assert parameter.default == OWN.get((name, argument), DEFAULTS[argument]), (
                    name,
                    argument,
                )


WIDER = {  # data with a width at any level
    "auc": {},
    "auc_difference": {"scores_b": [2, 1, 3, 2]},
    "bootstrap_mean": {"values": [1, 2, 3, 5, 8], "cluster": None, "resamples": 500},
    "bootstrap_pairs": {"resamples": 500, "both": 50},
    "bootstrap_proportion": {"n": 50, "k": 20},
    "cluster_mean": {},
    "clustered_interval": {},
    "crossed_interval": {},
    "difference": {},
    "double_sample": {"resamples": 500},
    "garak_interval": {"k": 20},
    "interval": {"z": None},
    "judge_validation": {},
    "kappa": {},
    "paired_difference": {"resamples": 500, "both": 50},
    "paired_quantile": {"differences": list(range(30))},
    "auc_limits": {},
    "corrected_difference": {"labels_a": [180, 20, 140, 10], "labels_b": [170, 30, 140, 10]},
    "kappa_limits": {},
    "macro": {},
    "paired_crossed": {
        "a": [1, 0, 1, 1, 0, 1, 0, 0, 1],
        "b": [0, 0, 1, 0, 0, 1, 1, 0, 1],
        "first": list("aaabbbccc"),
        "second": list("xyz") * 3,
        "strata": None,
    },
    "paired_units": {"a": [1, 0, 1, 1] * 3, "b": [0, 0, 1, 0] * 3, "unit": list(range(12))},
    "quantile_units": {
        "values": list(range(90)),
        "weights": [1] * 90,
        "unit": [place // 2 for place in range(90)],
    },
    "within": {},
    "rogan_gladen": {"resamples": 500, "n": 40, "k": 20},
    "tpr_at_fpr": {"labels": [0, 1] * 20, "scores": list(range(40)), "resamples": 500},
}
WAYS = [
    *((name, {}) for name in WIDER),
    *(("bootstrap_proportion", {"method": method}) for method in ("exact", "draws")),
    *(("garak_interval", {"mode": mode}) for mode in ("simple", "bootstrap", "backoff")),
    ("garak_interval", {"se": None, "sp": None}),
    *(
        ("interval", {"method": method})
        for method in ("wilson", "clopper-pearson", "jeffreys", "agresti-coull")
    ),
    *(("paired_difference", {"method": method}) for method in ("newcombe", "tango", "bootstrap")),
    *(("rogan_gladen", {"method": method}) for method in ("delta", "bootstrap", "fixed")),
    *(("tpr_at_fpr", {"interval": method}) for method in ("wilson", "bootstrap")),
]


def test_every_routine_with_limits_is_among_the_ways():
    with_level = {name for name in CALLS if "level" in CALLS[name]}
    plans = {
        "largest_k",
        "smallest_k",
        "n_for_gate",
        "n_for_half_width",
        "n_for_zero_events",
        "limit",
        "clustered_gate",
        "clusters_needed",
        "labels_needed",
        "missing_state",
        *("components", "forecast", "labels_by_flag", "worst"),  # have tests of their own
        *("anytime_clusters", "anytime_interval", "anytime_pairs"),
    }
    assert set(WIDER) == with_level - plans - {"cluster_effect"}


@pytest.mark.parametrize(("name", "options"), WAYS)
def test_limits_move_outwards_with_the_level(name, options):
    routine, call = getattr(stats, name), {**CALLS[name], **WIDER[name], **options}
    narrow, usual, wide = (routine(**call | {"level": level}) for level in (0.5, 0.95, 0.999))
    ends = [field.name for field in dataclasses.fields(usual) if field.name.endswith("low")]
    for low in ends:
        high = low.replace("low", "high")
        lows, highs = (
            [getattr(result, end) for result in (narrow, usual, wide)] for end in (low, high)
        )
        assert lows[0] > lows[1] >= lows[2] and highs[0] < highs[1] <= highs[2], (low, lows, highs)
    del call["level"]
    assert routine(**call) == usual


SEEDED = [
    *((name, {}) for name in CALLS if "seed" in CALLS[name]),
    ("bootstrap_proportion", {"method": "draws", "n": 997, "k": 400}),
]


@pytest.mark.parametrize(("name", "options"), SEEDED)
def test_seed_and_number_of_resamples_reach_the_draws(name, options):
    big = {
        "bootstrap_pairs": {"both": 400, "b": 300},
        "paired_difference": {"both": 400, "b": 300},
        "bootstrap_mean": {"values": [x**1.5 for x in range(20)], "cluster": None},
        "sign_flip": {"sums": [x + 0.5 for x in range(-10, 13)]},
        "rogan_gladen": {"n": 900, "k": 400, "tp": 180},
        "tpr_at_fpr": {"labels": [0, 1] * 50, "scores": [x * 37 % 100 for x in range(100)]},
    }
    routine, call = (
        getattr(stats, name),
        {**CALLS[name], **big.get(name, {}), **options, "resamples": 40},
    )
    first = routine(**call)
    assert routine(**call) == first
    if name == "bootstrap_proportion" and not options:  # the exact limits need no draw
        assert routine(**call | {"seed": 1}) == routine(**call | {"resamples": 41}) == first
    else:
        assert (
            routine(**call | {"seed": 1}) != first and routine(**call | {"resamples": 41}) != first
        )


@pytest.mark.parametrize("name", [name for name in CALLS if "resamples" in CALLS[name]])
def test_one_resample_is_enough_to_be_allowed(name):
    getattr(stats, name)(**CALLS[name] | {"resamples": 1})


def results():
    """The classes of all results."""
    for module in pkgutil.iter_modules(stats.__path__):
        for name, found in vars(importlib.import_module(f"ferrite_nb.stats.{module.name}")).items():
            if dataclasses.is_dataclass(found):
                yield name, found


def test_every_result_is_frozen_and_has_no_note_unless_one_is_given():
    assert len(dict(results())) > 30
    for name, found in results():
        assert found.__dataclass_params__.frozen, name
        for field in dataclasses.fields(found):
            plain = field.default in (dataclasses.MISSING, "", False)
            assert plain or math.isnan(field.default), f"{name}.{field.name}"
