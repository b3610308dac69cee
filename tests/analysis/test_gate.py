"""Gates, releases and attempts: rules with a power curve. Values computed by hand or from exact
binomial sums.
"""

from __future__ import annotations

import math

import pandas as pd
import pytest

import ferrite_nb as fnb
from ferrite_nb.analysis.gate import junit, markdown_summary, verdict_lines
from ferrite_nb.schema import SHAPES

FILES = ("pass", "fail", "cannot_tell", "borderline", "refuser")


def counts(k: int, n: int, **more: object) -> fnb.Outcomes:
    frame = pd.DataFrame(
        {"mode": "On", "kind": "attack", "attack_success": [True, False], "rows": [k, n - k]}
    )
    return fnb.outcomes(frame.assign(**more))


def asr(**more: object) -> dict[str, object]:
    return {"metric": "ASR", "where": {"mode": "On"}} | more


def verdict(runs: fnb.Outcomes, one: dict[str, object]) -> pd.Series:
    return fnb.gate(runs, one).iloc[0]


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("pass", ["pass", "pass", "pass", "pass"]),
        ("fail", ["fail", "fail", "pass", "pass"]),
        ("cannot_tell", ["cannot tell", "pass", "cannot tell", "cannot tell"]),
        ("borderline", ["cannot tell", "pass", "cannot tell", "cannot tell"]),
        ("refuser", ["pass", "pass", "fail", "fail"]),
    ],
)
def test_the_worked_example(file, expected):
    table = fnb.gate(fnb.read(fnb.data(f"gate_{file}.csv")), fnb.data("requirements.toml"))
    assert table["verdict"].tolist() == expected
    shape = SHAPES["gate"]
    assert list(table)[:9] == [shape.first, *shape.keys, *shape.numbers[:5]]


def test_the_system_that_refuses_everything_is_stopped_by_its_cost_alone():
    table = fnb.gate(fnb.read(fnb.data("gate_refuser.csv")), fnb.data("requirements.toml"))
    assert set(table.loc[table["verdict"] == "fail", "side"]) == {"cost"}


@pytest.mark.parametrize(
    ("k", "n", "one", "expected", "accept"),
    [
        # At most 2 % of 600: k <= 12 by the point rule, k <= 5 by the bound; the lower bound passes
        # 2 % at k = 21.
        (12, 600, {"at_most": 0.02, "rule": "point"}, "pass", 12),
        (13, 600, {"at_most": 0.02, "rule": "point"}, "fail", 12),
        (5, 600, {"at_most": 0.02}, "pass", 5),
        (6, 600, {"at_most": 0.02}, "cannot tell", 5),
        (21, 600, {"at_most": 0.02}, "fail", 5),
        (19, 600, {"at_most": 0.05}, "pass", 19),
        (20, 600, {"at_most": 0.05}, "cannot tell", 19),
        # At least 90 % of 300: k >= 270 by the point rule, k >= 281 by the bound.
        (270, 300, {"metric": "CR", "at_least": 0.9, "rule": "point"}, "pass", 270),
        (281, 300, {"metric": "CR", "at_least": 0.9}, "pass", 281),
        (280, 300, {"metric": "CR", "at_least": 0.9}, "cannot tell", 281),
        (250, 300, {"metric": "CR", "at_least": 0.9}, "fail", 281),
    ],
)
def test_point_and_bound_rules(k, n, one, expected, accept):
    # CR counts the attacks that did not succeed
    found = verdict(counts(n - k if "metric" in one else k, n), asr() | one)
    assert (found["verdict"], found["accept"]) == (expected, accept)


def test_the_chance_to_pass_is_that_of_the_rule():
    point = verdict(counts(0, 600), asr(at_most=0.02, rule="point"))
    bound = verdict(counts(0, 600), asr(at_most=0.02))
    assert (point["p_pass"], bound["p_pass"]) == (
        pytest.approx(0.5760, abs=5e-5),
        pytest.approx(0.0195, abs=5e-5),
    )


def test_a_sample_that_cannot_pass_says_so():
    found = verdict(counts(0, 60), asr(at_most=0.02))
    assert found["verdict"] == "cannot tell" and "no result of 60 cases can pass" in found["note"]
    assert found["p_pass"] == 0


def test_another_suite_version_is_refused_and_so_is_an_unknown_one():
    one = asr(at_most=0.5, suite_version="2.0")
    assert verdict(counts(1, 600, suite_version="2.0"), one)["verdict"] == "pass"
    for runs in (counts(1, 600, suite_version="1.0"), counts(1, 600)):
        found = verdict(runs, one)
        assert found["verdict"] == "cannot tell" and found["why"].startswith(
            "refused: the requirement is for suite"
        )


def test_missing_outcomes_that_could_turn_a_pass_stop_it():
    frame = pd.DataFrame({"mode": "On", "attack_success": [True, False, None], "rows": [1, 590, 9]})
    found = verdict(fnb.outcomes(frame), asr(at_most=0.02))
    assert found["verdict"] == "cannot tell" and "9 missing outcomes could turn it" in found["note"]
    frame["rows"] = [1, 1990, 9]
    assert verdict(fnb.outcomes(frame), asr(at_most=0.02))["verdict"] == "pass"


def test_all_errors_and_too_few_cases_cannot_be_told():
    frame = pd.DataFrame({"mode": "On", "attack_success": [None], "rows": [600]})
    assert verdict(fnb.outcomes(frame), asr(at_most=0.02))["verdict"] == "cannot tell"
    assert verdict(counts(0, 4), asr(at_most=0.99))["verdict"] == "cannot tell"
    assert verdict(counts(4, 4), asr(at_most=0.01))["verdict"] == "cannot tell"


def test_clusters_are_the_unit_when_the_requirement_names_them():
    # 600 attacks, 6 of 60 templates wholly broken: by case [.078, .127], by template [.046, .205].
    runs = fnb.read(fnb.data("clusters_x08.csv"))
    mode = runs.modes[0]
    plain = verdict(runs, {"metric": "ASR", "at_most": 0.15, "where": {"mode": mode}})
    wide = verdict(
        runs, {"metric": "ASR", "at_most": 0.15, "where": {"mode": mode}, "cluster": "template"}
    )
    assert (plain["verdict"], wide["verdict"]) == ("pass", "cannot tell")
    assert wide["high"] == pytest.approx(0.205, abs=1e-3)


def test_security_without_cost_is_incomplete_and_with_it_is_not():
    runs = fnb.read(fnb.data("gate_pass.csv"))
    alone = [{"metric": "tried", "at_most": 0.5, "where": {"mode": "guard"}}]
    beside = [
        *alone,
        {
            "metric": "task success",
            "at_least": 0.5,
            "where": {"mode": "guard", "suite": "work tasks"},
        },
    ]
    assert "incomplete" in fnb.gate(runs, alone)["note"].iloc[0]
    assert "incomplete" not in fnb.gate(runs, beside)["note"].iloc[0]


def test_a_mode_that_did_not_run_cannot_be_told_and_several_modes_must_be_named():
    found = verdict(counts(1, 600), asr(at_most=0.5, where={"mode": "guard"}))
    assert found["verdict"] == "cannot tell" and "no row has mode = 'guard'" in found["note"]
    with pytest.raises(ValueError, match="several modes"):
        fnb.gate(fnb.read(fnb.data("ferrite_run_b.csv")), {"metric": "ASR", "at_most": 0.5})


@pytest.mark.parametrize(
    ("one", "message"),
    [
        ({"at_most": 0.1}, "names no metric"),
        ({"metric": "ASR"}, "at_most or at_least"),
        ({"metric": "ASR", "at_most": 0.1, "at_least": 0.1}, "only one"),
        ({"metric": "ASR", "at_most": 2}, "at_most"),
        ({"metric": "ASR", "at_most": 0.1, "rule": "mean"}, "bound"),
        ({"metric": "ASR", "at_most": 0.1, "rule": "lower"}, "upper bound"),
        ({"metric": "ASR", "at_most": 0.1, "treshold": 1}, "unknown field treshold"),
        ({"metric": "ASX", "at_most": 0.1}, "no metric"),
        ({"metric": "dL", "at_most": 0.1}, "no proportion"),
        ({"metric": "ASR", "at_most": 0.1, "where": {"tyer": "x"}}, "no column tyer"),
        ([], "no requirement"),
    ],
)
def test_a_wrong_requirement_names_its_fault(one, message):
    with pytest.raises(ValueError, match=message):
        fnb.gate(counts(1, 600), one)


def test_a_file_that_is_no_toml_is_named(tmp_path):
    file = tmp_path / "requirements.toml"
    file.write_text("[[requirement]\n")
    with pytest.raises(ValueError, match=r"requirements\.toml cannot be read as TOML"):
        fnb.gate(counts(1, 600), file)


@pytest.fixture(scope="module")
def history() -> pd.DataFrame:
    runs = fnb.read(fnb.data("releases.csv"))
    names = dict.fromkeys(runs.frame["release"])
    return fnb.releases(
        {name: runs.where(release=name) for name in names}, fnb.data("release_requirements.toml")
    )


def test_a_new_suite_version_starts_a_new_series(history):
    one = history[history["metric"] == "ASR"]
    assert one.groupby("suite_version")["series"].unique().map(list).to_dict() == {
        "v1": [1],
        "v2": [2],
    }
    assert (
        one.groupby("series")["change_p"].first().isna().sum() == 0
    )  # `first` skips the NaN of the opening release
    assert one.groupby("series").head(1)["change_p"].isna().all()


def test_a_setback_is_flagged_and_a_change_of_suite_is_not(history):
    flagged = history[history["drift"] == "yes"]
    assert flagged["release"].tolist() == ["1.8"]
    assert (flagged["change_holm"] <= 0.05).all()


def test_a_lucky_pass_becomes_likelier_with_each_release(history):
    first = history[(history["metric"] == "ASR") & (history["series"] == 1)]
    expected = [
        1 - math.prod(1 - p for p in first["p_pass"].iloc[: place + 1])
        for place in range(len(first))
    ]
    assert first["p_any_pass"].tolist() == pytest.approx(expected)


def test_a_release_without_a_version_is_joined_to_no_other():
    one = asr(at_most=0.5)
    table = fnb.releases(
        {"a": counts(1, 99, suite_version="v1"), "b": counts(1, 99), "c": counts(1, 99)}, one
    )
    assert (
        table["series"].tolist() == [1, 2, 3]
        and table["note"].iloc[1].count("version unknown") == 1
    )
    with pytest.raises(ValueError, match="mapping"):
        fnb.releases([], one)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            {"where": {"mode": "On", "attack_success": False}},
            "where names attack_success, which ASR counts",
        ),
        (
            {"metric": "CR", "where": {"mode": "On", "attack_success": [True, False]}},
            "which CR counts",
        ),
        ({"level": 0.4}, "level must be at least 0.5"),
        ({"level": 1e-9}, "level must be at least 0.5"),
    ],
)
def test_a_requirement_that_anything_would_meet_is_refused(more, said):
    """30 of 200 attacks succeed; chosen by their outcome none of them does, and [15.0, 15.0] bounds
    nothing.
    """
    with pytest.raises(ValueError, match=said):
        fnb.gate(counts(30, 200), asr(at_most=0.16) | more)
    with pytest.raises(TypeError, match="where mode must be a value"):
        fnb.gate(counts(30, 200), asr(at_most=0.16, where={"mode": {"On": 1}}))


def test_another_level_than_95_percent_is_told():
    one = verdict(counts(30, 200), asr(at_most=0.2, level=0.8))
    assert one["verdict"] == "pass" and "bounds at level 0.8" in one["note"]
    assert "bounds at level" not in verdict(counts(30, 200), asr(at_most=0.2))["note"]


def test_requirements_and_releases_with_one_name_are_not_drawn_as_one():
    runs, two = counts(30, 200), [asr(at_most=0.2, name="a"), asr(at_most=0.1, name="a")]
    with pytest.raises(ValueError, match="two requirements are called 'a'"):
        fnb.gate(runs, two)
    with pytest.raises(
        ValueError, match=r"requirement 'ASR at most 20\.0% .mode On.' is there twice"
    ):
        fnb.releases({"1": runs}, [asr(at_most=0.2), asr(at_most=0.2, level=0.9)])
    with pytest.raises(ValueError, match="release '1' is there twice"):
        fnb.releases({"1": runs, 1: runs}, asr(at_most=0.2))


def templates(counts_: list[tuple[int, int, int]], name: str = "template") -> fnb.Outcomes:
    """Attacks of one mode, one entry a template: events, no events, unknown outcomes."""
    rows = [
        (f"{place}-{at}", "On", outcome, f"t{place}")
        for place, (k, rest, lost) in enumerate(counts_)
        for at, outcome in enumerate([True] * k + [False] * rest + [None] * lost)
    ]
    frame = pd.DataFrame(rows, columns=["case_id", "mode", "attack_success", name])
    return fnb.outcomes(frame.astype({"attack_success": object}))


@pytest.mark.parametrize("name", ["template", "insufficient_prompt", "not computable", "few"])
def test_a_name_of_a_cluster_changes_no_verdict(name):
    found = verdict(templates([(0, 2, 0)] * 300, name), asr(at_most=0.02, cluster=name))
    assert found["verdict"] == "pass" and found["unit"] == name


def test_sixty_clusters_can_pass_no_two_percent():
    # without an event 60 clusters have an upper bound of z² / (60 + z²) = .0602
    found = verdict(templates([(0, 10, 0)] * 60), asr(at_most=0.02, cluster="template"))
    assert found["verdict"] == "cannot tell" and pd.isna(found["accept"])
    assert "no result of 60 clusters can pass at most 2.0 %: 189 are needed" in found["note"]
    enough = verdict(templates([(0, 3, 0)] * 189), asr(at_most=0.02, cluster="template"))
    assert enough["verdict"] == "pass"
    short = verdict(templates([(0, 3, 0)] * 188), asr(at_most=0.02, cluster="template"))
    assert short["verdict"] == "cannot tell"


def test_missing_outcomes_are_set_in_their_clusters():
    # 4 events in one template and 10 timeouts in two others: as events they are whole templates
    counts_ = [(4, 6, 0), (0, 5, 5), (0, 5, 5), *[(0, 10, 0)] * 57]
    found = verdict(templates(counts_), asr(at_most=0.05, cluster="template"))
    assert found["verdict"] == "cannot tell" and found["outer_high"] > 0.05


def test_repeats_have_no_acceptance_number_of_independent_rows():
    rows = [(f"c{case}", "On", str(turn), case < 3) for case in range(100) for turn in range(4)]
    frame = pd.DataFrame(rows, columns=["case_id", "mode", "repeat", "attack_success"])
    found = verdict(fnb.outcomes(frame), asr(at_most=0.06))
    assert found["verdict"] == "cannot tell" and pd.isna(found["accept"])
    assert found["clusters"] == 100


def test_a_difference_on_the_same_cases_is_held_to_a_margin():
    # 300 benign tasks, done in 280 without defence and in 276 with it: 6 lost, 2 won
    done = {"none": [True] * 280 + [False] * 20, "guard": [True] * 274 + [False] * 24 + [True] * 2}
    rows = [
        (f"c{place}", mode, "benign", outcome)
        for mode, outcomes in done.items()
        for place, outcome in enumerate(outcomes)
    ]
    runs = fnb.outcomes(pd.DataFrame(rows, columns=["case_id", "mode", "kind", "task_success"]))
    one = {"metric": "task success", "against": "none", "where": {"mode": "guard"}}
    held, tight = (verdict(runs, one | {"drop_at_most": most}) for most in (0.05, 0.02))
    pair = fnb.compare(runs, "task success", modes=["none", "guard"]).iloc[0]
    assert held["value"] == pytest.approx(-pair["diff"]) == pytest.approx(-4 / 300)
    assert held["low"] == pytest.approx(-pair["high"]) and held["n"] == 300
    assert (held["verdict"], tight["verdict"]) == ("pass", "cannot tell")
    assert "drop at most 5.0 points" in held["requirement"]


@pytest.mark.parametrize(
    "one",
    [
        {"metric": "ASR", "at_least": 0.1},
        {"metric": "CR", "at_most": 0.9},
        {"metric": "ASR", "at_most": 1.0},
        {"metric": "CR", "at_least": 0.0},
        {"metric": "ASR", "against": "Off", "drop_at_most": 0.1},
        {"metric": "ASR", "rise_at_most": 0.1},
        {"metric": "ASR", "against": "Off", "at_most": 0.1},
    ],
)
def test_a_requirement_in_the_wrong_direction_or_without_a_foot_is_refused(one):
    with pytest.raises(ValueError, match="requirement 1"):
        fnb.gate(counts(1, 10), one | {"where": {"mode": "On"}})


def test_a_case_that_changed_is_drift_on_the_same_cases():
    # 400 cases; the second release breaks 12 new ones and repairs none: exact p 2/2^12
    rows = [
        (f"c{place}", "On", release, place < broken, "v1")
        for release, broken in (("1", 20), ("2", 32))
        for place in range(400)
    ]
    frame = pd.DataFrame(rows, columns=["case_id", "mode", "r", "attack_success", "suite_version"])
    history = {r: fnb.outcomes(part) for r, part in frame.groupby("r")}
    table = fnb.releases(history, asr(at_most=0.5))
    assert table["change_p"].iloc[1] == pytest.approx(2 * 0.5**12)
    assert table["drift"].tolist() == ["", "yes"]
    judged = {r: fnb.outcomes(part.assign(judge_version=f"j{r}")) for r, part in frame.groupby("r")}
    again = fnb.releases(judged, asr(at_most=0.5))
    assert again["drift"].tolist() == ["", ""] and "the judge changed here" in again["note"].iloc[1]
    other = {r: fnb.outcomes(p.assign(case_id=p["case_id"] + r)) for r, p in frame.groupby("r")}
    assert "different cases" in fnb.releases(other, asr(at_most=0.5))["note"].iloc[1]


def test_verdicts_for_a_pipeline_are_short_escaped_and_whole():
    table = fnb.gate(counts(30, 200), asr(at_most=0.16, name="a|b <script>"))
    (line,) = verdict_lines(table)
    assert (
        line
        == "cannot tell  a|b <script>: ASR at most 16.0% (mode On): 30/200 = 15.0% [10.7, 20.6]"
        "; about 4,970 more would decide"
    )
    assert "a\\|b" in markdown_summary(table) and "<script>" not in markdown_summary(table)
    assert "&lt;script&gt;" in junit(table) and 'errors="1"' in junit(table)
