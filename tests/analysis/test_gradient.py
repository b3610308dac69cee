"""`gradient`: run B's published picture, orders, empty places, totals, trends against other
programs, and Simpson.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.contingency_tables import Table

import ferrite_nb as fnb
from ferrite_nb.analysis.gradient import MACRO, MICRO
from ferrite_nb.stats.ordered import equal_weight, ordered_trend


@pytest.fixture(scope="module")
def run_b() -> fnb.Outcomes:
    text = pd.read_csv(fnb.data("ferrite_run_b.csv"), dtype=str, keep_default_na=False)
    return fnb.outcomes(text, read_from="ferrite_run_b.csv")


def made(counts: dict[tuple[str, ...], tuple[int, int]], names: tuple[str, ...]) -> fnb.Outcomes:
    """One row per case from (labels) -> (k, n) of attack success; a case has one row."""
    rows = []
    for labels, (k, n) in counts.items():
        for place in range(n):
            rows.append(dict(zip(names, labels, strict=True)) | {"attack_success": place < k})
    frame = pd.DataFrame(rows)
    return fnb.outcomes(frame.assign(case_id=[f"c{at}" for at in range(len(frame))]))


def row(table: pd.DataFrame, **where: str) -> pd.Series:
    found = table
    for name, value in where.items():
        found = found[found[name] == value]
    assert len(found) == 1
    return found.iloc[0]


# Run B by scope: the counts are those that the published run fixes (LoopOnly 121 of 787 attacks).


def test_run_b_loop_only_by_scope(run_b: fnb.Outcomes) -> None:
    table = fnb.gradient(run_b, "CR", "scope", mode="looponly")
    assert table["scope"].tolist() == ["exact", "domain_suffix", "task_open", MICRO, MACRO]
    assert table[["k", "n"]].values.tolist() == [[661, 777], [5, 5], [0, 5], [666, 787], [666, 787]]
    assert row(table, scope=MICRO)["rate"] == pytest.approx(666 / 787)
    assert row(table, scope=MACRO)["rate"] == pytest.approx((661 / 777 + 1 + 0) / 3)
    assert set(table["mode"]) == {"LoopOnly"}


def test_columns_are_those_of_rates_and_the_trend(run_b: fnb.Outcomes) -> None:
    plain = fnb.rates(run_b, "CR", "scope").columns.tolist()
    at = plain.index("state")
    table = fnb.gradient(run_b)
    assert table.columns.tolist() == [*plain[:at], "trend_p", *plain[at:], "order", "test"]
    assert table.dtypes["k"] == table.dtypes["n"] == "int64"
    assert set(table["order"]) == {"scope"} and not table.attrs


def test_strata_without_an_order_are_tested_for_any_difference(run_b: fnb.Outcomes) -> None:
    table = fnb.gradient(run_b, "ASR", "category", mode="LoopOnly")
    strata = table[~table["category"].isin([MICRO, MACRO])]
    strata = strata[strata["n"] > 0]
    counts = np.array([strata["k"], strata["n"] - strata["k"]])
    expected = scipy_stats.chi2_contingency(counts, correction=False).pvalue
    assert table["differ_p"].iloc[0] == pytest.approx(expected)
    assert "trend_p" not in table and set(table["order"]) == {""}


def test_trend_is_one_value_per_mode_and_that_of_the_counts(run_b: fnb.Outcomes) -> None:
    table = fnb.gradient(run_b)
    assert table.groupby("mode")["trend_p"].nunique(dropna=False).eq(1).all()
    # R: prop.trend.test(c(661, 5, 0), c(777, 5, 5)) is this chi-square: z squared, on 1 degree of
    # freedom.
    k, n, s = np.array([661, 5, 0]), np.array([777, 5, 5]), np.array([1, 2, 3])
    p, middle = k.sum() / n.sum(), (n * s).sum() / n.sum()
    chi2 = ((k - n * p) @ (s - middle)) ** 2 / (p * (1 - p) * (n @ (s - middle) ** 2))
    assert row(table, mode="LoopOnly", scope="exact")["trend_p"] == pytest.approx(
        scipy_stats.chi2.sf(chi2, 1)
    )


def test_a_mode_without_variation_has_no_trend_and_says_why(run_b: fnb.Outcomes) -> None:
    off = fnb.gradient(run_b, mode="Off")
    assert off["trend_p"].isna().all()
    assert "no trend: all outcomes are the same" in row(off, scope=MICRO)["note"]


def test_notes_of_rows_with_a_rate_never_say_not_computable(run_b: fnb.Outcomes) -> None:
    """Such words would be printed in place of the number."""
    for by in ("scope", "tier", "carrier", "category"):
        table = fnb.gradient(run_b, by=by)
        there = table[table["rate"].notna() & table["low"].notna()]
        assert not there["note"].str.contains("not computable").any()
        assert [str(fnb.Estimate.from_row(one)) for _, one in there.iterrows() if one["n"] >= 5]


def test_macro_is_printed_as_a_macro_mean(run_b: fnb.Outcomes) -> None:
    table = fnb.gradient(run_b, "ASR", mode="LoopOnly")
    said = str(fnb.Estimate.from_row(row(table, scope=MACRO)))
    assert said.startswith("121/787 observed, macro mean 38.3% [")


def test_clusters_widen_the_strata_and_the_trend(run_b: fnb.Outcomes) -> None:
    plain = fnb.gradient(run_b, mode="LoopOnly")
    known = fnb.gradient(run_b, mode="LoopOnly", cluster="template")
    assert row(known, scope=MICRO)["n_eff"] == pytest.approx(19.41, abs=0.01)
    assert row(known, scope="exact")["low"] < row(plain, scope="exact")["low"]
    assert row(known, scope=MACRO)["low"] < row(plain, scope=MACRO)["low"]
    assert known["trend_p"].iloc[0] > 100 * plain["trend_p"].iloc[0]
    assert "clusters span strata" in row(known, scope=MACRO)["note"]
    assert "sign-flipped scores of clusters" in row(known, scope=MICRO)["note"]


# Order.


def test_given_order_and_an_empty_place_are_kept(run_b: fnb.Outcomes) -> None:
    table = fnb.gradient(run_b, by={"tier": ["Tier2", "Tier3", "Tier1"]}, mode="On")
    assert table["tier"].tolist() == ["Tier2", "Tier3", "Tier1", MICRO, MACRO]
    empty = row(table, tier="Tier3")
    assert (
        empty["n"] == 0
        and math.isnan(empty["rate"])
        and empty["note"].startswith("not computable: no case")
    )
    assert "mean of 2 of 3 strata" in row(table, tier=MACRO)["note"]
    assert "fewer than three strata with cases" in row(table, tier=MICRO)["note"]


def test_reversed_order_turns_the_sign_and_keeps_p(run_b: fnb.Outcomes) -> None:
    one = fnb.gradient(run_b, mode="LoopOnly")
    other = fnb.gradient(
        run_b, by={"scope": ["task_open", "domain_suffix", "exact"]}, mode="LoopOnly"
    )
    assert one["trend_p"].iloc[0] == pytest.approx(other["trend_p"].iloc[0])
    assert (
        "falling" in row(one, scope=MICRO)["note"] and "rising" in row(other, scope=MICRO)["note"]
    )


def test_an_absent_scope_keeps_its_place() -> None:
    runs = made({("On", "exact"): (3, 10), ("On", "task_open"): (6, 10)}, ("mode", "scope"))
    assert fnb.gradient(runs)["scope"].tolist()[:3] == ["exact", "domain_suffix", "task_open"]


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ({"scope": ["exact"]}, "lacks 'domain_suffix', 'task_open'"),
        ("mode", "never the mode"),
        ({"scope": ["exact", "exact", "domain_suffix", "task_open"]}, "twice"),
        ("colour", "no column 'colour'"),
    ],
)
def test_wrong_orders_raise(run_b: fnb.Outcomes, by: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        fnb.gradient(run_b, by=by)  # type: ignore[arg-type]


def test_unknown_mode_raises(run_b: fnb.Outcomes) -> None:
    with pytest.raises(ValueError, match="no mode 'Guard'"):
        fnb.gradient(run_b, mode="Guard")


def test_rows_and_the_input_are_not_changed(run_b: fnb.Outcomes) -> None:
    before = run_b.frame.copy()
    shuffled = fnb.outcomes(before.sample(frac=1, random_state=1))
    found, again = (fnb.gradient(one).drop(columns="source") for one in (run_b, shuffled))
    pd.testing.assert_frame_equal(found, again)
    pd.testing.assert_frame_equal(run_b.frame, before)


# Trend tests against other programs.


def test_stratified_trend_is_the_sum_of_statsmodels_tables() -> None:
    """Mantel's extension: scores and variances of each table, from
    `Table.test_ordinal_association`, add up.
    """
    first, second = np.array([[2, 38], [5, 35], [9, 31]]), np.array([[12, 8], [6, 4], [20, 2]])
    excess = variance = 0.0
    for table in (first, second):
        one = Table(table, shift_zeros=False).test_ordinal_association(
            np.array([1.0, 2, 3]), np.array([1.0, 0])
        )
        excess, variance = excess + one.statistic - one.null_mean, variance + one.null_sd**2
    found = ordered_trend(
        [*first[:, 0], *second[:, 0]],
        [*first.sum(axis=1), *second.sum(axis=1)],
        [1, 2, 3] * 2,
        stratum=["a"] * 3 + ["b"] * 3,
    )
    assert found.z == pytest.approx(excess / math.sqrt(variance), rel=1e-10)
    assert found.p == pytest.approx(2 * scipy_stats.norm.sf(abs(found.z)), rel=1e-10)


def test_clustered_trend_is_the_share_of_all_sign_patterns() -> None:
    """Enumerated here in plain loops over the eight clusters."""
    rng = np.random.default_rng(3)
    cluster = np.repeat(np.arange(8), 3)
    score, n = np.tile([1.0, 2.0, 3.0], 8), rng.integers(1, 9, 24)
    k = rng.binomial(n, 0.2 + 0.2 * score)
    rate, middle = k.sum() / n.sum(), (n * score).sum() / n.sum()
    parts = [
        sum((k[i] - n[i] * rate) * (score[i] - middle) for i in range(24) if cluster[i] == g)
        for g in range(8)
    ]
    signs = itertools.product((1, -1), repeat=8)
    patterns = [abs(sum(s * u for s, u in zip(pattern, parts, strict=True))) for pattern in signs]
    expected = np.mean([value >= abs(sum(parts)) - 1e-9 for value in patterns])
    assert ordered_trend(k, n, score, cluster=cluster).p == pytest.approx(expected)


def test_plain_trend_is_the_published_one() -> None:
    """Alcohol and malformation (Graubard, Korn 1987): chi-square 6.57 with scores 0, .5, 1.5, 4,
    7.
    """
    found = ordered_trend([48, 38, 5, 1, 1], [17114, 14502, 793, 127, 38], [0, 0.5, 1.5, 4, 7])
    assert found.z**2 == pytest.approx(6.57, abs=0.005)


@pytest.mark.parametrize("k", [(8, 11, 13, 17), (12, 13, 11, 14), (30, 26, 24, 20)])
def test_clustered_trend_with_one_case_per_cluster_is_close_to_cochran_armitage(
    k: tuple[int, ...],
) -> None:
    score = np.repeat([1.0, 2, 3, 4], 40)
    hit = np.concatenate([np.arange(40) < value for value in k]).astype(int)
    ones = np.ones(160, int)
    plain, flipped = (
        ordered_trend(hit, ones, score),
        ordered_trend(hit, ones, score, cluster=np.arange(160)),
    )
    assert flipped.p == pytest.approx(plain.p, rel=0.15, abs=0.01)
    assert flipped.z == plain.z


def test_clustered_trend_keeps_its_level_where_the_plain_one_does_not() -> None:
    """Clusters differ, the strata do not: 400 data sets, 5 % nominal; Monte-Carlo error 1.1
    points.
    """
    rng = np.random.default_rng(11)
    wrong = {"plain": 0, "clusters": 0}
    for _ in range(400):
        rate = np.clip(rng.beta(0.6, 1.4, 18), 0.01, 0.99)
        score = np.repeat([1.0, 2, 3], 6)
        n = np.full(18, 10)
        k = rng.binomial(n, rate)
        wrong["plain"] += ordered_trend(k, n, score).p < 0.05
        wrong["clusters"] += ordered_trend(k, n, score, cluster=np.arange(18)).p < 0.05
    assert wrong["plain"] / 400 > 0.2
    assert wrong["clusters"] / 400 < 0.05 + 3 * 0.011


def test_few_clusters_say_what_p_they_can_reach() -> None:
    found = ordered_trend([0, 3, 5, 5], [5] * 4, [1, 2, 3, 4], cluster=["a", "b", "c", "d"])
    assert "p cannot fall below 0.125" in found.note


def test_equal_weight_of_two_rates_is_newcombes_square_and_add() -> None:
    """For a difference Newcombe's method 10 has the same half-widths; half of it here: 56/70 and
    48/80, his example.
    """
    rates = fnb.stats.interval([56, 80 - 48], [70, 80])
    found = equal_weight([56 / 70, 32 / 80], rates.low, rates.high)
    # mean of p1 and 1 - p2 is (p1 - p2 + 1) / 2, and Newcombe 1998c, p. 876, gives .0524 to .3339
    # for p1 - p2
    assert 2 * found.low - 1 == pytest.approx(0.0524, abs=5e-5)
    assert 2 * found.high - 1 == pytest.approx(0.3339, abs=5e-5)


def test_equal_weight_keeps_a_width_where_every_stratum_is_all_or_none() -> None:
    found = equal_weight([1.0, 0.0], [0.57, 0.0], [1.0, 0.43])
    assert found.low < 0.4 and found.high > 0.6
    assert equal_weight([], [], []).rate != equal_weight([], [], []).rate


# Simpson.

# Bickel, Hammel, O'Connell 1975, the six largest departments: admitted of applied. Pooled, men
# stand above women; the departments do not agree with that.
BERKELEY = {
    ("men", "A"): (512, 825),
    ("men", "B"): (353, 560),
    ("men", "C"): (120, 325),
    ("men", "D"): (138, 417),
    ("men", "E"): (53, 191),
    ("men", "F"): (22, 373),
    ("women", "A"): (89, 108),
    ("women", "B"): (17, 25),
    ("women", "C"): (202, 593),
    ("women", "D"): (131, 375),
    ("women", "E"): (94, 393),
    ("women", "F"): (24, 341),
}


def test_order_of_two_modes_that_turns_round_in_every_stratum_is_told() -> None:
    """Kidney stones (Charig et al. 1986): 273/350 and 289/350 pooled; by size 81/87, 192/263 and
    234/270, 55/80.
    """
    counts = {
        ("open", "small"): (81, 87),
        ("open", "large"): (192, 263),
        ("pcnl", "small"): (234, 270),
        ("pcnl", "large"): (55, 80),
    }
    table = fnb.gradient(made(counts, ("mode", "suite")), "ASR", by="suite")
    note = row(table, mode="open", suite=MICRO)["note"]
    assert "Simpson: over all cases pcnl is above open, but in no suite" in note
    assert "different mixes" in note
    assert (
        "micro and macro put this mode and pcnl in different orders"
        in row(table, mode="open", suite=MACRO)["note"]
    )


def test_trend_that_turns_round_within_another_stratum_is_told() -> None:
    counts = {
        ("On", "exact", "Tier1"): (72, 80),
        ("On", "domain_suffix", "Tier1"): (42, 50),
        ("On", "task_open", "Tier1"): (14, 20),
        ("On", "exact", "Tier2"): (6, 20),
        ("On", "domain_suffix", "Tier2"): (10, 50),
        ("On", "task_open", "Tier2"): (8, 80),
    }
    falling = fnb.gradient(made(counts, ("mode", "scope", "tier")), "ASR")
    assert not falling["note"].str.contains("Simpson").any()
    turned = {
        ("On", scope, tier): (k, n)
        for (scope, tier), (k, n) in {
            ("exact", "Tier1"): (16, 80),
            ("domain_suffix", "Tier1"): (8, 50),
            ("task_open", "Tier1"): (2, 20),
            ("exact", "Tier2"): (20, 20),
            ("domain_suffix", "Tier2"): (46, 50),
            ("task_open", "Tier2"): (68, 80),
        }.items()
    }
    table = fnb.gradient(made(turned, ("mode", "scope", "tier")), "ASR")
    assert "rises along scope, within tier it falls" in row(table, scope=MICRO)["note"]
    within = fnb.gradient(made(turned, ("mode", "scope", "tier")), "ASR", by=["scope", "tier"])
    assert "Mantel, within strata" in row(within, scope=MICRO, tier="Tier1")["note"]
    assert within["trend_p"].nunique() == 1


def test_berkeley_pools_the_other_way_but_not_in_every_department() -> None:
    """Four of six departments turn round: that is no reversal in every stratum, so nothing is
    claimed.
    """
    table = fnb.gradient(made(BERKELEY, ("mode", "suite")), "ASR", by="suite")
    assert not table["note"].str.contains("Simpson").any()


# Edges.


def test_repeats_are_clusters_of_the_case() -> None:
    frame = pd.DataFrame(
        {
            "case_id": np.repeat([f"c{i}" for i in range(30)], 4),
            "repeat": np.tile(list("1234"), 30),
            "mode": "On",
            "scope": np.repeat(["exact", "domain_suffix", "task_open"], 40),
            "attack_success": np.repeat(np.random.default_rng(0).integers(0, 2, 30), 4),
        }
    )
    table = fnb.gradient(fnb.outcomes(frame), "ASR")
    assert row(table, scope="exact")["clusters"] == 10
    assert row(table, scope=MICRO)["n_eff"] == pytest.approx(27, abs=1)
    assert "sign-flipped" in row(table, scope=MICRO)["note"]


def test_two_crossed_clusters_take_the_larger_p() -> None:
    frame = pd.DataFrame(
        [
            (f"{u}-{i}", u, i, ["exact", "domain_suffix", "task_open"][u % 3], (u + i) % 4 == 0)
            for u in range(12)
            for i in range(8)
        ],
        columns=["case_id", "task", "injection", "scope", "attack_success"],
    )
    runs = fnb.outcomes(frame.assign(mode="On"))
    both = fnb.gradient(runs, "ASR", cluster=["task", "injection"])["trend_p"].iloc[0]
    each = [
        fnb.gradient(runs, "ASR", cluster=key)["trend_p"].iloc[0] for key in ("task", "injection")
    ]
    assert both == max(each)


def test_few_cases_in_a_stratum_do_not_hide_the_macro_mean() -> None:
    counts = {
        ("On", "exact"): (3, 10),
        ("On", "domain_suffix"): (1, 3),
        ("On", "task_open"): (6, 10),
    }
    runs = made(counts, ("mode", "scope"))
    table = fnb.gradient(runs, "ASR")
    assert row(table, scope="domain_suffix")["state"] == "few"
    assert "domain_suffix has n = 3" in row(table, scope=MACRO)["note"]
    assert "macro mean 41.1%" in str(fnb.Estimate.from_row(row(table, scope=MACRO)))


def test_hostile_strata_keep_their_text() -> None:
    names = [
        "<script>alert(1)</script>",
        "$\\input{x}$",
        "=cmd|' /C calc'!A0",
        "\u202eevil",
        "x" * 300,
        "",
    ]
    runs = made({("On", name): (1, 6) for name in names}, ("mode", "suite"))
    shown = {name or "(none)" for name in names}  # an empty text names no stratum
    assert set(fnb.gradient(runs, "ASR", by="suite")["suite"]) == {*shown, MICRO, MACRO}


@pytest.mark.parametrize("name", [MICRO, MACRO])
def test_a_stratum_with_the_name_of_a_total_is_refused(name: str) -> None:
    runs = made({("On", name): (1, 9), ("On", "b"): (2, 9), ("On", "c"): (3, 9)}, ("mode", "tier"))
    with pytest.raises(ValueError, match=f"tier has the stratum '{name}', the name of a total"):
        fnb.gradient(runs, "ASR", "tier")


def test_a_drawn_trend_says_its_seed_and_how_often(run_b: fnb.Outcomes) -> None:
    drawn = fnb.gradient(run_b, "ASR", cluster="template", by="scope")  # 176 clusters
    assert set(drawn["seed"]) == {"", "0 (10,000 draws)"}  # Off has no trend
    assert set(fnb.gradient(run_b, "ASR")["seed"]) == {""}
    few = fnb.gradient(run_b, "ASR", cluster="category")  # five clusters: all sign patterns
    assert set(few["seed"]) == {""}
