"""Gates by rule and unit: the accepted count against brute force, looks on every day, differences
with missing outcomes, judges, and modes that do nothing.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

import ferrite_nb as fnb
from ferrite_nb.analysis.passing import acceptance, curve


def outcomes(k: int, n: int, missing: int = 0) -> fnb.Outcomes:
    rows = [k, n - k, missing]
    frame = pd.DataFrame({"mode": "On", "attack_success": [True, False, None], "rows": rows})
    return fnb.outcomes(frame[frame["rows"] > 0])


def verdict(runs: fnb.Outcomes, **one: object) -> pd.Series:
    return fnb.gate(runs, {"metric": "ASR", "where": {"mode": "On"}} | one).iloc[0]


def brute(rule: str, n: int, missing: int, limit: float, upper: bool) -> int | None:
    """The accepted count by trying every k with statsmodels' interval, and all that the missing
    outcomes could be.
    """
    k, lost = np.arange(n + 1)[:, None], np.arange(missing + 1)[None]
    events, cases = np.hstack([k, k + lost]), np.hstack([0 * k + n, 0 * (k + lost) + n + missing])
    low, high = (
        (events / cases, events / cases)
        if rule == "point"
        else proportion_confint(events, cases, method="wilson")
    )
    good = (high <= limit + 1e-12 if upper else low >= limit - 1e-12).all(axis=1)
    passing = np.flatnonzero(good)
    return None if not passing.size else int(passing.max() if upper else passing.min())


def test_the_accepted_count_is_that_of_brute_force_in_a_thousand_gates():
    random = np.random.default_rng(3)
    for _ in range(1000):
        n, missing = int(random.integers(5, 300)), int(random.integers(0, 9))
        rule, upper = str(random.choice(["point", "bound"])), bool(random.integers(2))
        limit = float(random.choice([0.01, 0.02, 0.05, 0.1, 0.3, 0.5, 0.9]))
        found = acceptance(rule, n, missing, limit, upper=upper, level=0.95)
        assert found == brute(rule, n, missing, limit, upper), (rule, n, missing, limit, upper)


@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("rule", ["bound", "point", "anytime"])
def test_the_next_count_does_not_pass_by_the_verdict_of_the_same_call(rule, upper):
    for n, missing, limit in ((400, 0, 0.05), (300, 3, 0.1), (30, 0, 0.4), (90, 40, 0.3)):
        end = {"at_most": limit} if upper else {"metric": "CR", "at_least": 1 - limit}

        def held(k: int, n: int = n, missing: int = missing, end: dict[str, object] = end):
            # CR counts the attacks that did not succeed
            return verdict(outcomes(k if upper else n - k, n, missing), rule=rule, **end)

        accept = held(0 if upper else n)["accept"]
        if pd.isna(accept):
            assert held(0 if upper else n)["verdict"] != "pass"
            continue
        assert held(int(accept))["verdict"] == "pass"
        assert held(int(accept) + (1 if upper else -1))["verdict"] != "pass"


def test_a_gate_for_every_day_accepts_less_and_says_what_it_costs():
    # by the sequence at most 2 % accepts 1, 3, 7, 21 where one look accepts 2, 5, 11, 27
    found = {n: verdict(outcomes(0, n), at_most=0.02, rule="anytime") for n in (400, 600, 1000)}
    assert [row["accept"] for row in found.values()] == [1, 3, 7]
    row = verdict(outcomes(3, 600), at_most=0.02, rule="anytime")
    assert row["verdict"] == "pass" and row["rule"] == "anytime upper bound"
    assert row["high"] == pytest.approx(0.019570735056567708, abs=1e-9)
    single = proportion_confint(3, 600, method="wilson")
    times = (row["high"] - row["low"]) / (single[1] - single[0])
    assert f"{times:.1f} times as wide as those of one look" in row["note"]
    drawn = curve(row)
    assert drawn.groupby("rule")["accept"].first().to_dict() == {
        "anytime": 3,
        "bound": 5,
        "point": 12,
    }


def clustered(k: list[int], n: list[int], name: str = "template") -> fnb.Outcomes:
    rows = [
        (f"{at}-{place}", "On", place < events, f"t{at}")
        for at, (events, cases) in enumerate(zip(k, n, strict=True))
        for place in range(cases)
    ]
    return fnb.outcomes(pd.DataFrame(rows, columns=["case_id", "mode", "attack_success", name]))


def test_looks_after_every_cluster_take_the_cluster_as_one_bet():
    runs = clustered([3, 0, 1, 6], [5, 10, 4, 8])
    row = verdict(runs, at_most=0.9, rule="anytime", cluster="template")
    assert (row["low"], row["high"]) == pytest.approx((0.03167288128, 0.87632308251), abs=1e-7)
    assert row["verdict"] == "pass" and pd.isna(row["accept"]) and row["clusters"] == 4
    crossed = fnb.outcomes(runs.frame.assign(task=[f"u{x % 3}" for x in range(27)]))
    refused = verdict(crossed, at_most=0.9, rule="anytime", cluster=["template", "task"])
    assert (refused["verdict"], refused["state"]) == ("cannot tell", "none")


def test_no_accepted_count_where_events_lie_in_clusters():
    random = np.random.default_rng(5)
    for _ in range(12):
        sizes = random.integers(1, 8, size=int(random.integers(5, 40)))
        k = random.binomial(sizes, random.uniform(0, 0.3))
        row = verdict(clustered(k.tolist(), sizes.tolist()), at_most=0.3, cluster="template")
        assert pd.isna(row["accept"]) and pd.isna(row["p_pass"]) and curve(row).empty
        assert "passes with k" not in row["note"]


def test_more_cases_are_those_that_decide():
    row = verdict(outcomes(6, 600), at_most=0.02)
    assert row["verdict"] == "cannot tell"
    size = 600 + int(row["more"])
    assert proportion_confint(0.01 * size, size, method="wilson")[1] <= 0.02
    assert proportion_confint(0.01 * size * 0.95, size * 0.95, method="wilson")[1] > 0.02
    few = verdict(clustered([0] * 60, [10] * 60), at_most=0.02, cluster="template")
    assert "189 are needed" in few["note"]


def tasks(off: list[object], on: list[object]) -> fnb.Outcomes:
    rows = [
        (f"c{at}", mode, "benign", done)
        for mode, values in (("none", off), ("guard", on))
        for at, done in enumerate(values)
    ]
    frame = pd.DataFrame(rows, columns=["case_id", "mode", "kind", "task_success"])
    return fnb.outcomes(frame.astype({"task_success": object}))


LOSS = {"metric": "task success", "against": "none", "where": {"mode": "guard"}}


def test_missing_outcomes_that_could_turn_a_difference_stop_it():
    known, lost = [True] * 280 + [False] * 20, [True] * 268 + [None] * 12 + [False] * 20
    whole = fnb.gate(tasks(known, known), LOSS | {"drop_at_most": 0.05}).iloc[0]
    part = fnb.gate(tasks(known, lost), LOSS | {"drop_at_most": 0.05}).iloc[0]
    assert whole["verdict"] == "pass"
    assert part["verdict"] == "cannot tell" and part["missing"] == 12
    # all twelve as failures: 12 lost, none won, of 300
    worst = fnb.compare(tasks(known, [True] * 268 + [False] * 32), "task success").iloc[0]
    assert part["outer_low"] == pytest.approx(-worst["high"])
    assert fnb.gate(tasks(known, lost), LOSS | {"drop_at_most": 0.2})["verdict"].item() == "pass"


def test_a_difference_looked_at_every_day_uses_the_sequence_or_refuses():
    off, on = [True] * 32 + [False] * 18, [True] * 20 + [False] * 12 + [True] * 2 + [False] * 16
    row = fnb.gate(tasks(off, on), LOSS | {"drop_at_most": 0.5, "rule": "anytime"}).iloc[0]
    assert (row["low"], row["high"]) == pytest.approx((-0.435813937, 0.017751255), abs=1e-6)
    assert row["verdict"] == "pass"
    lost = fnb.gate(tasks([None, *off[1:]], on), LOSS | {"drop_at_most": 0.5, "rule": "anytime"})
    assert (lost["verdict"].item(), lost["state"].item()) == ("cannot tell", "none")


def test_a_judge_enters_the_bounds_or_is_refused():
    plain = verdict(outcomes(12, 600), at_most=0.05)
    judged = verdict(outcomes(12, 600), at_most=0.05, judge={"se": 0.5, "sp": 1.0})
    assert plain["verdict"] == "pass"
    assert judged["rate"] == pytest.approx(0.04) and judged["verdict"] == "cannot tell"
    assert pd.isna(judged["accept"]) and curve(judged).empty
    easy = verdict(outcomes(12, 600), at_most=0.2, judge={"se": 0.5, "sp": 1.0})
    assert easy["verdict"] == "pass"
    with pytest.raises(ValueError, match="anytime know nothing of a judge"):
        verdict(outcomes(1, 60), at_most=0.2, rule="anytime", judge={"se": 0.5, "sp": 1.0})


def test_a_mode_that_does_no_task_passes_with_a_word():
    attacks = pd.DataFrame(
        {"case_id": [f"a{x}" for x in range(200)], "kind": "attack", "attack_success": False}
    )
    for done, said in ((0, True), (90, False)):
        normal = pd.DataFrame(
            {
                "case_id": [f"b{x}" for x in range(100)],
                "kind": "benign",
                "task_success": [x < done for x in range(100)],
            }
        )
        frame = pd.concat([attacks, normal]).assign(mode="On")
        row = verdict(fnb.outcomes(frame), at_most=0.05)
        assert row["verdict"] == "pass"
        assert ("hardly any normal task: 0/100" in row["note"]) is said


@pytest.mark.parametrize("name", ["insufficient", "cannot tell", "not computable", "fail", "none"])
def test_a_mode_called_like_a_state_changes_no_verdict(name):
    frame = outcomes(0, 600).frame.assign(mode=name)
    row = verdict(fnb.outcomes(frame), at_most=0.02, where={"mode": name})
    assert (row["verdict"], row["state"], row["mode"]) == ("pass", "ok", name)


def test_an_error_that_nobody_foresaw_is_not_a_verdict(monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise ValueError("no row has this reason")

    monkeypatch.setattr("ferrite_nb.analysis.gate.rates", broken)
    with pytest.raises(ValueError, match="no row has this reason"):
        verdict(outcomes(0, 600), at_most=0.02)


def history(changes: list[dict[str, bool]], **columns: list[str]) -> dict[str, fnb.Outcomes]:
    """Releases of the same cases, each a mapping of case to outcome."""
    made = {}
    for at, outcome in enumerate(changes):
        frame = pd.DataFrame({"case_id": list(outcome), "attack_success": list(outcome.values())})
        more = {name: values[at] for name, values in columns.items()}
        frame["template"] = [case.split("-")[0] for case in outcome]
        made[f"r{at}"] = fnb.outcomes(frame.assign(mode="On", suite_version="v1", **more))
    return made


ONE = {"metric": "ASR", "at_most": 0.5, "where": {"mode": "On"}}


def test_clusters_that_were_declared_are_the_unit_of_a_change():
    # 8 templates of 10 cases; in two of them all cases change: 2 of 8 units move, p 2/4 at least
    first = {f"t{t}-{x}": False for t in range(8) for x in range(10)}
    second = {case: case[:2] in ("t0", "t1") for case in first}
    runs = history([first, second])
    plain = fnb.releases(runs, ONE)
    units = fnb.releases(
        {name: part.declare(cluster="template") for name, part in runs.items()}, ONE
    )
    assert plain["change_p"].iloc[1] == pytest.approx(2 * 0.5**20)
    assert units["change_p"].iloc[1] == pytest.approx(0.5)
    assert (plain["drift"].iloc[1], units["drift"].iloc[1]) == ("yes", "")


def test_only_releases_of_one_judge_are_compared():
    first = {f"a-{x}": x < 20 for x in range(400)}
    worse = {f"a-{x}": x < 32 for x in range(400)}
    runs = history([first, worse, worse, first], judge_version=["j1", "j2", "j2", "j1"])
    table = fnb.releases(runs, ONE)
    assert table["drift"].tolist() == [""] * 4
    assert np.isnan(table["change_p"].iloc[1]) and table["change_p"].iloc[2:].tolist() == [1, 1]


def test_alpha_of_drift_follows_the_level():
    first = {f"a-{x}": False for x in range(100)}
    worse = {case: place < 6 for place, case in enumerate(first)}  # p = 2/2^6 = .03125
    runs = history([first, worse])
    flags = [fnb.releases(runs, ONE | {"level": level})["drift"].iloc[1] for level in (0.95, 0.99)]
    assert flags == ["yes", ""]
    assert math.isclose(fnb.releases(runs, ONE)["change_p"].iloc[1], 2 * 0.5**6)
