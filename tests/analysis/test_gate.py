"""Gates, releases and attempts: rules with a power curve. Values computed by hand or from exact
binomial sums.
"""

from __future__ import annotations

import math

import pandas as pd
import pytest

import ferrite_nb as fnb

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
    assert list(table)[:10] == [
        "requirement",
        "k",
        "n",
        "rate",
        "low",
        "high",
        "threshold",
        "rule",
        "verdict",
        "note",
    ]


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
        (270, 300, {"at_least": 0.9, "rule": "point"}, "pass", 270),
        (281, 300, {"at_least": 0.9}, "pass", 281),
        (280, 300, {"at_least": 0.9}, "cannot tell", 281),
        (250, 300, {"at_least": 0.9}, "fail", 281),
    ],
)
def test_point_and_bound_rules(k, n, one, expected, accept):
    found = verdict(counts(k, n), asr(**one))
    assert (found["verdict"], found["accept"]) == (expected, accept)


def test_the_chance_to_pass_is_that_of_the_rule():
    point = verdict(counts(0, 600), asr(at_most=0.02, rule="point"))
    bound = verdict(counts(0, 600), asr(at_most=0.02, power_at=[0.01, 0.02]))
    assert (point["p_pass"], bound["p_pass"]) == (
        pytest.approx(0.5760, abs=5e-5),
        pytest.approx(0.0195, abs=5e-5),
    )
    assert "0.4449 at 0.01, 0.0195 at 0.02" in bound["note"]


def test_a_sample_that_cannot_pass_says_so():
    found = verdict(counts(0, 60), asr(at_most=0.02))
    assert found["verdict"] == "cannot tell" and "no result of 60 cases can pass" in found["note"]
    assert found["p_pass"] == 0


def test_another_suite_version_is_refused_and_so_is_an_unknown_one():
    one = asr(at_most=0.5, suite_version="2.0")
    assert verdict(counts(1, 600, suite_version="2.0"), one)["verdict"] == "pass"
    for runs in (counts(1, 600, suite_version="1.0"), counts(1, 600)):
        found = verdict(runs, one)
        assert found["verdict"] == "cannot tell" and found["note"].startswith(
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
    flagged = history[history["drift"]]
    assert flagged["release"].tolist() == ["1.8"]
    assert "false flags in at most 5 of 100" in flagged["note"].iloc[0]


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
    runs, two = counts(30, 200), [asr(at_most=0.2, name="a"), asr(at_least=0.1, name="a")]
    with pytest.raises(ValueError, match="two requirements are called 'a'"):
        fnb.gate(runs, two)
    with pytest.raises(
        ValueError, match=r"requirement 'ASR at most 20\.0% .mode On.' is there twice"
    ):
        fnb.releases({"1": runs}, [asr(at_most=0.2), asr(at_most=0.2, level=0.9)])
    with pytest.raises(ValueError, match="release '1' is there twice"):
        fnb.releases({"1": runs, 1: runs}, asr(at_most=0.2))
