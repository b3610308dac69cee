"""The open cube: every choice gives what the verb gives on the chosen rows, and nothing is read
twice.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ferrite_nb as fnb
from ferrite_nb.analysis.choice import Choice, OpenCube, answer, cost_of, open_cube
from ferrite_nb.count import cube as counts


@pytest.fixture(scope="module")
def runs() -> fnb.Outcomes:
    return fnb.read(fnb.data("ferrite_run_b.csv")).declare(cluster=())


@pytest.fixture(scope="module")
def cube(runs: fnb.Outcomes) -> OpenCube:
    return open_cube(runs)


def test_all_strata_are_there_with_their_rows(cube: OpenCube) -> None:
    assert cube.modes == ("Off", "SanitizerOnly", "LoopOnly", "On")
    assert {"tier", "scope", "category", "carrier", "template"} <= set(cube.strata)
    assert cube.values("scope") == {"exact": 3300, "domain_suffix": 46, "task_open": 46}
    assert cube.clusters[0] == ("template",)
    assert cube.notes == ()
    assert "final_outcome" not in cube.strata  # it is not the same in all modes of a case


@pytest.mark.parametrize("metric", ["ASR", "CR", "ADR", "SDR", "FGR", "FSR-proxy", "R"])
def test_without_a_choice_it_is_the_verb(runs: fnb.Outcomes, cube: OpenCube, metric: str) -> None:
    for by in ("mode", "tier", "scope"):
        expected = fnb.rates(runs, metric, by, method="jeffreys", level=0.9, cluster=())
        found = answer(cube, Choice(metric, cube.modes, show=by, method="jeffreys", level=0.9))
        pd.testing.assert_frame_equal(found, expected)


@pytest.mark.parametrize("cluster", [(), ("template",)])
def test_a_gradient_is_the_verb(
    runs: fnb.Outcomes, cube: OpenCube, cluster: tuple[str, ...]
) -> None:
    found = answer(cube, Choice("CR", cube.modes, show="gradient:scope", cluster=cluster))
    pd.testing.assert_frame_equal(found, fnb.gradient(runs, cluster=cluster))


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_choice_is_the_verb_on_the_chosen_rows(
    runs: fnb.Outcomes, cube: OpenCube, data: st.DataObject
) -> None:
    some = {
        name: data.draw(
            st.lists(st.sampled_from(list(cube.values(name))), min_size=1, unique=True), label=name
        )
        for name in ("tier", "scope", "carrier")
    }
    modes = tuple(
        data.draw(st.lists(st.sampled_from(cube.modes), min_size=1, unique=True), label="modes")
    )
    metric = data.draw(st.sampled_from(["ASR", "FGR", "R"]), label="metric")
    cluster = data.draw(st.sampled_from([(), ("template",)]), label="cluster")
    found = answer(
        cube,
        Choice(
            metric, modes, {name: tuple(values) for name, values in some.items()}, cluster=cluster
        ),
    )
    try:
        chosen = runs.where(mode=list(modes), **some)
        expected = fnb.rates(chosen, metric, cluster=cluster)
    except (ValueError, fnb.OutcomesError):
        assert not found["n"].sum()
        return
    columns = ["k", "n", "low", "high"]
    pd.testing.assert_frame_equal(
        found[found["n"] > 0][columns].reset_index(drop=True),
        expected[expected["n"] > 0][columns].reset_index(drop=True),
    )


def test_a_choice_reads_no_row(cube: OpenCube, monkeypatch: pytest.MonkeyPatch) -> None:
    """The frame is taken away: only the counts are left."""
    blind = fnb.outcomes(cube.runs.frame.head(1))
    object.__setattr__(blind, "frame", cube.runs.frame.head(0))
    alone = replace(cube, runs=blind)
    for metric in ("ASR", "R", "FGR"):
        found, expected = (answer(each, Choice(metric, cube.modes)) for each in (alone, cube))
        assert found["n"].tolist() == expected["n"].tolist()
    assert answer(alone, Choice("ASR", cube.modes, show="gradient:scope"))["n"].sum() > 0


def test_empty_choices_say_what_to_do(cube: OpenCube) -> None:
    with pytest.raises(ValueError, match="choose at least one mode"):
        answer(cube, Choice("ASR", ()))
    with pytest.raises(ValueError, match="choose at least one tier"):
        answer(cube, Choice("ASR", cube.modes, {"tier": ()}))


def test_a_cube_that_grows_too_large_drops_the_widest_column_and_says_so(
    runs: fnb.Outcomes,
) -> None:
    small = open_cube(runs, most=1000)
    assert small.cells <= 1000
    assert "template" not in small.strata
    assert any(
        note.startswith("template (195 values) cannot be chosen here") for note in small.notes
    )
    assert answer(small, Choice("ASR", small.modes))["k"].tolist() == [787, 128, 121, 63]


def test_a_hundred_thousand_names_do_not_make_a_large_cube() -> None:
    number = np.arange(120_000)
    frame = pd.DataFrame(
        {"case_id": number.astype(str), "mode": "On", "tier": np.where(number % 3, "a", "b")}
    )
    frame = frame.assign(prompt=(number // 2).astype(str), attack_success=number % 7 == 0)
    twice = pd.concat([frame, frame.assign(mode="Off")])
    found = open_cube(fnb.outcomes(twice))
    assert found.cells < 200_000
    assert "tier" in found.strata and "prompt" not in found.strata
    assert "60,000 values" in found.notes[0]


def test_an_engine_is_asked_how_large_the_cube_is_before_it_is_fetched(
    runs: fnb.Outcomes, monkeypatch: pytest.MonkeyPatch
) -> None:
    import duckdb

    from ferrite_nb.analysis import choice as module

    fetched = []
    monkeypatch.setattr(
        module, "cube", lambda *given: fetched.append(counted := counts.cube(*given)) or counted
    )
    lazy = fnb.outcomes(duckdb.connect().from_df(runs.frame))
    small = open_cube(lazy, most=1000)
    assert [len(cells) <= 1000 for cells in fetched] == [True]
    assert small.strata == open_cube(runs, most=1000).strata
    assert small.notes[:1] == open_cube(runs, most=1000).notes[:1]


def test_cost_stands_beside_security_in_the_same_strata(cube: OpenCube) -> None:
    cost = cost_of(cube, Choice("ASR", cube.modes, show="tier"))
    assert cost is not None and cost["metric"].unique().tolist() == ["FGR"]
    assert set(cost["tier"]) == {"Tier1", "Tier2"}
    assert cost_of(cube, Choice("FGR", cube.modes)) is None
    gradient = cost_of(cube, Choice("ASR", cube.modes, show="gradient:scope"))
    assert gradient is not None and "trend_p" not in gradient


def test_repeats_are_clustered_by_their_case() -> None:
    rng = np.random.default_rng(0)
    case = np.repeat(np.arange(40), 3)
    frame = pd.DataFrame(
        {
            "case_id": case.astype(str),
            "repeat": np.tile(list("123"), 40),
            "mode": "On",
            "attack_success": rng.random(40)[case] < 0.4,
        }
    )
    runs = fnb.outcomes(frame)
    found = open_cube(runs)
    assert found.clusters == (("case_id",),)
    pd.testing.assert_frame_equal(
        answer(found, Choice("ASR", ("On",), cluster=("case_id",))), fnb.rates(runs, "ASR")
    )


def test_crossed_clusters_are_offered_and_nested_ones_are_not(cube: OpenCube) -> None:
    assert ("template", "task") not in cube.clusters  # every template has one task
    user, injection = np.divmod(np.arange(30 * 14), 14)
    frame = pd.DataFrame(
        {"user": [f"u{i}" for i in user], "injection": [f"i{i}" for i in injection], "mode": "On"}
    )
    hit = (user % 3 == 0) ^ (injection % 5 == 0)
    runs = fnb.outcomes(
        frame.assign(case_id=frame["user"] + frame["injection"], attack_success=hit)
    )
    found = open_cube(runs)
    assert found.clusters == (("user",), ("injection",), ("user", "injection"))
    both = answer(found, Choice("ASR", ("On",), cluster=("user", "injection")))
    pd.testing.assert_frame_equal(both, fnb.rates(runs, "ASR", cluster=["user", "injection"]))


def test_mixed_versions_raise_and_can_be_chosen() -> None:
    frame = pd.DataFrame(
        {
            "case_id": list("abcdefghij"),
            "mode": "On",
            "attack_success": [1, 0] * 5,
            "suite_version": ["1"] * 5 + ["2"] * 5,
        }
    )
    found = open_cube(fnb.outcomes(frame))
    with pytest.raises(fnb.OutcomesError, match="would mix suite versions"):
        answer(found, Choice("ASR", ("On",)))
    assert answer(found, Choice("ASR", ("On",), {"suite_version": ("1",)}))["n"].tolist() == [5]


def test_amounts_and_traces_are_summed_too() -> None:
    frame = pd.DataFrame(
        [
            (f"c{i}", mode, "benign", 10, i % 3 if mode == "On" else 0, "a b" if i % 4 else mode)
            for i in range(20)
            for mode in ("Off", "On")
        ],
        columns=["case_id", "mode", "kind", "segments", "segments_excised", "trace"],
    )
    runs = fnb.outcomes(frame.assign(tier=["Tier1"] * 20 + ["Tier2"] * 20))
    found = open_cube(runs)
    for metric in ("FSR", "UP"):
        some = Choice(metric, found.modes, {"tier": ("Tier2",)})
        expected = fnb.rates(runs.where(tier="Tier2"), metric)[["k", "n", "low", "high"]]
        pd.testing.assert_frame_equal(answer(found, some)[["k", "n", "low", "high"]], expected)


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_engines_give_the_same_cube(runs: fnb.Outcomes, cube: OpenCube, engine: str) -> None:
    if engine == "duckdb":
        import duckdb

        other = open_cube(fnb.outcomes(duckdb.connect().from_df(runs.frame)))
    else:
        import polars

        plain = runs.frame.astype(object).where(runs.frame.notna(), None)
        other = open_cube(
            fnb.outcomes(polars.DataFrame({name: plain[name].tolist() for name in plain}))
        )
    assert other.strata == cube.strata and other.cells == cube.cells
    choice = Choice("ASR", cube.modes, {"tier": ("Tier1",)}, cluster=("template",))
    one, two = (answer(each, choice) for each in (other, cube))
    assert one[["k", "n", "low", "high"]].equals(two[["k", "n", "low", "high"]])
