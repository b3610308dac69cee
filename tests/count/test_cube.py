"""Counting against a plain recount row by row, and the same tables from every engine."""

from __future__ import annotations

import dataclasses
import itertools

import pandas as pd
import pytest

import ferrite_nb as fnb
from ferrite_nb.count.cube import (
    amount_counts,
    case_counts,
    check_columns,
    cube,
    find_mode,
    modes_of,
    name_of,
    need_outcomes,
    repeated,
    tally,
    trace_counts,
    vectors,
    versions,
)
from ferrite_nb.metrics import METRICS, metric
from tests.engines import ENGINES, MODES, on_engine, random_outcomes


def plain_rate(frame: pd.DataFrame, symbol: str, mode: str, tier: str) -> tuple[int, int, int]:
    """k, n, missing by going through the rows one by one, as the definition reads."""
    one = METRICS[symbol]
    k = n = missing = 0
    for row in frame.to_dict("records"):
        if row["mode"] != mode or row["tier"] != tier:
            continue
        if any(
            pd.isna(row[column]) or row[column] != value for column, value in one.population.items()
        ):
            continue
        values = [row[column] for column in one.event]
        if not pd.isna(row["error"]) or any(pd.isna(value) for value in values):
            missing += 1
            continue
        n += 1
        k += all(row[column] == value for column, value in one.event.items())
    return k, n, missing


@pytest.mark.parametrize("symbol", ["ASR", "CR", "FGR", "ADR", "task success", "robust accuracy"])
def test_tally_agrees_with_a_recount_row_by_row(symbol):
    frame = random_outcomes(1)
    runs = fnb.outcomes(frame)
    cells = cube(runs, ["tier", "mode"], list(METRICS[symbol].columns))
    found = tally(cells, METRICS[symbol], ["tier", "mode"]).set_index(["tier", "mode"])
    for tier, mode in itertools.product(["Tier1", "Tier2", "Tier3"], MODES):
        assert tuple(found.loc[(tier, mode), ["k", "n", "missing"]]) == plain_rate(
            frame, symbol, mode, tier
        )


def test_the_cube_holds_every_row_once_and_its_sums_do_not_depend_on_the_strata():
    frame = random_outcomes(2)
    runs = fnb.outcomes(frame)
    fine = cube(runs, ["mode", "tier", "scope", "template"], ["attack_success", "attempted"])
    coarse = cube(runs, ["mode"], ["attack_success"])
    assert fine["rows"].sum() == coarse["rows"].sum() == len(frame)
    pd.testing.assert_frame_equal(
        tally(fine, METRICS["ASR"], ["mode"])[["mode", "k", "n", "missing"]].sort_values(
            "mode", ignore_index=True
        ),
        tally(coarse, METRICS["ASR"], ["mode"])[["mode", "k", "n", "missing"]].sort_values(
            "mode", ignore_index=True
        ),
    )


def test_vectors_agree_with_pairing_case_by_case():
    frame = random_outcomes(3, repeats=2)
    found = vectors(fnb.outcomes(frame), metric("ASR"), MODES)
    fine = frame[frame["kind"] == "attack"]
    known = fine[fine["attack_success"].notna() & fine["error"].isna()]
    cases = fine["case_id"].unique()
    lost = fine[fine["attack_success"].isna() | fine["error"].notna()]
    expected: dict[tuple[int, ...], int] = {}
    for case in cases:
        vector = []
        for mode in MODES:
            mine = known[(known["case_id"] == case) & (known["mode"] == mode)]
            gone = ((lost["case_id"] == case) & (lost["mode"] == mode)).sum()
            vector += [int(mine["attack_success"].sum()), len(mine), int(gone)]
        expected[tuple(vector)] = expected.get(tuple(vector), 0) + 1
    names = [f"{what}{place}" for place in range(4) for what in "knm"]
    assert (
        dict(zip(map(tuple, found[names].to_numpy().tolist()), found["cases"], strict=True))
        == expected
    )


def small() -> pd.DataFrame:
    """Ten rows that can be counted by eye: two modes, five cases, missing values of every kind."""
    text = """
    case mode kind   tier attack attempted measurable inside segments cut trace  ms
    a    Off  attack T1   yes    yes       yes        yes    4        0   r      10
    a    On   attack T1   no     yes       yes        yes    4        1   rw     30
    b    Off  attack T1   yes    no        yes        no     5        -   r      20
    b    On   attack T1   -      -         -          no     -        2   r      -
    c    Off  attack T2   yes    yes       no         -      6        3   r      40
    c    On   attack T2   yes    yes       no         -      6        3   r      35
    d    Off  benign -    -      -         -          -      7        0   r      5
    d    On   benign -    -      -         -          -      7        2   r      9
    e    Off  benign T2   -      -         -          -      8        1   rw     6
    e    On   benign T2   -      -         -          -      9        4   -      7
    """
    head, *lines = [line.split() for line in text.strip().splitlines()]
    frame = pd.DataFrame(
        [[None if cell == "-" else cell for cell in line] for line in lines], columns=head
    )
    for name in ("attack", "attempted", "measurable", "inside"):
        frame[name] = frame[name].map({"yes": True, "no": False}).astype("boolean")
    for name in ("segments", "cut", "ms"):
        frame[name] = frame[name].astype("float64")
    names = {
        "case": "case_id",
        "attack": "attack_success",
        "inside": "within_fingerprint",
        "cut": "segments_excised",
        "ms": "latency_ms",
    }
    return frame.rename(columns=names)


def as_rows(table: pd.DataFrame, *names: str) -> list[tuple[object, ...]]:
    return sorted(table[list(names)].itertuples(index=False, name=None), key=str)


def test_rows_by_eye_with_those_not_attempted_and_not_measurable():
    cells = cube(fnb.outcomes(small()), ["mode"], ["attack_success", "attempted"])
    found = tally(cells, METRICS["ASR"], ["mode"])
    assert found.columns.tolist() == ["mode", "k", "n", "missing", "not_attempted", "unmeasurable"]
    # Off: a and b of the measurable a, b, with b not attempted; On: a without success, b unknown; c
    # is out in both
    assert as_rows(found, *found.columns) == [("Off", 2, 2, 0, 1, 1), ("On", 0, 1, 1, 0, 1)]
    assert tally(cells, METRICS["CR"], [])[["k", "n", "missing"]].to_numpy().tolist() == [[1, 3, 1]]
    without = cube(
        fnb.outcomes(small().drop(columns=["measurable", "attempted"])),
        ["mode"],
        ["attack_success"],
    )
    again = tally(without, METRICS["ASR"], ["mode"])
    assert as_rows(again, *again.columns) == [("Off", 3, 3, 0, 0, 0), ("On", 1, 2, 1, 0, 0)]


def test_a_metric_of_one_mode_counts_no_row_of_another():
    cells = cube(fnb.outcomes(small()), ["mode"], ["within_fingerprint"])
    found = tally(cells, METRICS["residual share"], ["mode"])
    assert as_rows(found, "mode", "k", "n", "missing") == [("Off", 1, 2, 0), ("On", 0, 0, 0)]


def test_the_cube_without_strata_keeps_kind_and_measurable_apart():
    cells = cube(fnb.outcomes(small()), [], [])
    assert cells.columns.tolist() == ["kind", "measurable", "rows"]
    rows = [
        (kind, None if pd.isna(flag) else flag, rows)
        for kind, flag, rows in cells.itertuples(index=False)
    ]
    assert len(rows) == 4
    assert {*rows} == {
        ("attack", False, 2),
        ("attack", True, 3),
        ("attack", None, 1),
        ("benign", None, 4),
    }


@pytest.mark.parametrize("engine", ENGINES)
def test_a_population_of_nobody_is_counted_as_zero_on_every_engine(engine):
    """An engine sums no row to a missing value, to 0 or to 0.0."""
    runs = fnb.outcomes(
        on_engine(engine, small().assign(kind="attack", repeat="0", within_fingerprint=True))
    )
    nobody = dataclasses.replace(metric("R"), population={"kind": "benign"})
    for found in (
        amount_counts(runs, metric("FSR"), []),
        case_counts(runs, nobody, []),
        trace_counts(runs, metric("UP"), [], "Off"),
    ):
        assert found[["k", "n", "missing"]].to_numpy().tolist() == [[0, 0, 0]]


def test_a_flag_that_is_counted_is_no_stratum_and_the_error_says_what_to_do():
    words = r"^attack_success is counted here, .*runs\.where\(attack_success=\.\.\.\)"
    with pytest.raises(ValueError, match=words):
        cube(fnb.outcomes(small()), ["mode", "attack_success"], ["attack_success"])


def test_no_cell_at_all_gives_no_row():
    cells = cube(
        fnb.outcomes(small()), ["mode"], ["attack_success", "within_fingerprint", "gated"]
    )[:0]
    for symbol in ("ASR", "residual share", "R"):
        for strata in ([], ["mode"]):
            found = tally(cells, METRICS[symbol], strata)
            assert found.columns.tolist() == [
                *strata,
                "k",
                "n",
                "missing",
                "not_attempted",
                "unmeasurable",
            ]
            assert found.empty


@pytest.mark.parametrize("repeats", [1, 2])
def test_distinct_cases_count_once_in_each_stratum(repeats):
    frame = pd.concat([small()] * repeats, ignore_index=True)
    frame["repeat"] = [str(place // 10) for place in range(len(frame))]
    found = case_counts(fnb.outcomes(frame), metric("R"), ["tier"])
    assert as_rows(found, "tier", "k", "n", "missing") == [("T1", 1, 2, 0), ("T2", 0, 0, 1)]
    assert case_counts(fnb.outcomes(frame), metric("R"), [])[
        ["k", "n", "missing"]
    ].to_numpy().tolist() == [[1, 2, 1]]


def test_amounts_of_cases_are_summed_over_cases_and_not_over_rows():
    ideal, predicted = [2, 2, 3, 3, 1, 1, None, None, 0, 0], [4, 4, 3, 3, None, None, 2, 2, 5, 5]
    frame = small().assign(predicted=predicted, predicted_ideal=ideal)
    found = case_counts(fnb.outcomes(frame), metric("prediction precision"), [])
    assert found[["k", "n", "missing"]].to_numpy().tolist() == [[2 + 3 + 0, 4 + 3 + 5, 2]]
    by_kind = case_counts(fnb.outcomes(frame), metric("prediction precision"), ["kind"])
    assert as_rows(by_kind, "kind", "k", "n", "missing") == [
        ("attack", 5, 7, 1),
        ("benign", 0, 5, 1),
    ]


def test_amounts_are_summed_over_rows_in_which_both_are_known():
    found = amount_counts(fnb.outcomes(small()), metric("FSR"), ["mode"])
    assert as_rows(found, "mode", "k", "n", "missing") == [("Off", 1, 15, 0), ("On", 6, 16, 0)]
    half = small().assign(kind="benign")
    found = amount_counts(fnb.outcomes(half), metric("FSR"), ["mode"])
    assert as_rows(found, "mode", "k", "n", "missing") == [("Off", 4, 25, 1), ("On", 10, 26, 1)]
    assert amount_counts(fnb.outcomes(half), metric("FSR"), [])[
        ["k", "n", "missing"]
    ].to_numpy().tolist() == [[14, 51, 2]]


def test_more_cut_than_there_is_is_refused_with_its_stratum():
    frame = small().assign(kind="benign")
    frame.loc[1, "segments_excised"] = 40
    with pytest.raises(
        fnb.OutcomesError, match=r"^more counted than there is: 49 of 26 in \{'mode': 'On'\}$"
    ):
        amount_counts(fnb.outcomes(frame), metric("FSR"), ["mode"])


def test_traces_are_compared_with_the_same_case_and_repeat_of_the_baseline():
    runs = fnb.outcomes(small())
    found = trace_counts(runs, metric("UP"), ["mode"], "Off")
    assert as_rows(found, "mode", "k", "n", "missing") == [("Off", 2, 2, 0), ("On", 1, 1, 1)]
    turned = trace_counts(runs, metric("UP"), ["mode"], "On")
    assert as_rows(turned, "mode", "k", "n", "missing") == [("Off", 1, 1, 1), ("On", 1, 1, 1)]
    by_case = trace_counts(runs, metric("UP"), ["case_id", "mode"], "Off")
    assert ("e", "On", 0, 0, 1) in as_rows(by_case, "case_id", "mode", "k", "n", "missing")
    again = small().assign(repeat="0"), small().assign(repeat="1", trace=["rw", "r"] * 5)
    found = trace_counts(
        fnb.outcomes(pd.concat(again, ignore_index=True)), metric("UP"), ["mode"], "Off"
    )
    assert as_rows(found, "mode", "k", "n", "missing") == [("Off", 4, 4, 0), ("On", 1, 3, 1)]


def test_vectors_by_eye_with_measurable_and_kept_columns():
    found = vectors(fnb.outcomes(small()), metric("ASR"), ["Off", "On"], ["tier"])
    assert found.columns.tolist() == ["tier", "k0", "n0", "m0", "k1", "n1", "m1", "cases"]
    assert as_rows(found, *found.columns) == [
        ("T1", 1, 1, 0, 0, 0, 1, 1),
        ("T1", 1, 1, 0, 0, 1, 0, 1),
    ]
    one = vectors(fnb.outcomes(small()), metric("ASR"), ["On"], ["case_id"])
    assert as_rows(one, *one.columns) == [("a", 0, 1, 0, 1), ("b", 0, 0, 1, 1)]


def test_vectors_say_what_they_cannot_pair():
    runs = fnb.outcomes(small())
    with pytest.raises(
        ValueError, match=r"^R is not an event of a case, so it has no pairs; see fnb"
    ):
        vectors(runs, metric("R"), ["Off"])
    with pytest.raises(
        ValueError,
        match=r"^task success is not computable: no task outcome in the record \(no column "
        r"task_success\)$",
    ):
        vectors(runs, metric("task success"), ["Off"])
    short = fnb.outcomes(pd.DataFrame({"mode": ["On"], "attack_success": [True], "rows": [2]}))
    with pytest.raises(
        fnb.OutcomesError, match=r"^a table of counts has no case_id: modes can only be compared on"
    ):
        vectors(short, metric("ASR"), ["On"])


def test_columns_are_checked_by_name_and_once():
    runs = fnb.outcomes(small())
    assert check_columns(runs, ["tier", "mode"], "by") == ["tier", "mode"]
    for names, error, words in (
        (["tier", 3], TypeError, r"^by takes column names, got 3$"),
        (["teir"], ValueError, r"^by: there is no column 'teir'; the columns are "),
        (
            ["tier", "mode", "tier"],
            ValueError,
            r"^by: a column is named twice in \['tier', 'mode', 'tier'\]$",
        ),
    ):
        with pytest.raises(error, match=words):
            check_columns(runs, names, "by")


def test_what_is_not_outcomes_says_how_to_make_them():
    words = r"^outcomes are needed, got {}; make them with fnb\.read or fnb\.outcomes$"
    with pytest.raises(TypeError, match=words.format("DataFrame")):
        need_outcomes(small())
    with pytest.raises(TypeError, match=words.format("NoneType")):
        modes_of(None)


def test_the_cube_names_its_columns_sorts_its_cells_and_sums_weights():
    frame = pd.DataFrame(
        {
            "mode": ["On", "Off", "On", "Off"],
            "attack_success": [True, False, None, False],
            "suite_version": ["2", None, "1", "1"],
            "size": [2.5, 10, 2.5, None],
            "rows": [3, 4, 5, 6],
            "kind": "attack",
        }
    )
    found = cube(fnb.outcomes(frame), ["mode", "size"], ["attack_success", "gated"])
    assert found.columns.tolist() == [
        "mode",
        "size",
        "kind",
        "attack_success",
        "suite_version",
        "rows",
    ]
    assert found.drop(columns=["attack_success", "suite_version"]).to_numpy().tolist() == [
        ["Off", "(none)", "attack", 6],
        ["Off", "10.0", "attack", 4],
        ["On", "2.5", "attack", 5],
        ["On", "2.5", "attack", 3],
    ]
    assert found["suite_version"].tolist() == ["1", "(none)", "1", "2"]
    assert [None if pd.isna(flag) else flag for flag in found["attack_success"]] == [
        False,
        False,
        None,
        True,
    ]
    assert (found.dtypes["rows"], found.dtypes["attack_success"]) == ("int64", "boolean")
    by_version = cube(fnb.outcomes(frame), ["suite_version", "kind"], [])
    assert by_version.columns.tolist() == ["suite_version", "kind", "rows"]
    assert by_version["rows"].tolist() == [4, 11, 3]
    total = tally(found, METRICS["ASR"], [])
    assert total[["k", "n", "missing"]].to_numpy().tolist() == [[3, 13, 5]]
    assert versions(found.drop(columns="suite_version"), METRICS["ASR"], ["mode"]) == {}


def test_many_repeats_of_a_case_do_not_run_into_each_other():
    """Three counts share one integer: 3,000 events of 4,000 known repeats, and 2,000 unknown
    ones.
    """
    outcome = [True] * 3000 + [False] * 1000 + [None] * 2000
    frame = pd.DataFrame(
        {
            "case_id": "a",
            "mode": "On",
            "kind": "attack",
            "repeat": [str(x) for x in range(6000)],
            "attack_success": pd.array(outcome, dtype="boolean"),
        }
    )
    found = vectors(fnb.outcomes(frame), metric("ASR"), ["On", "Off"])
    assert found.to_numpy().tolist() == [[3000, 4000, 2000, 0, 0, 0, 1]]


def test_a_mode_is_its_own_name_first_and_then_one_in_any_spelling():
    assert find_mode(["on", "On"], "On") == "On" and find_mode(["on", "On"], "ON") == "on"
    assert find_mode(["dry_run"], "DryRun") == "dry_run"
    with pytest.raises(ValueError, match=r"^baseline: there is no mode 'x'; the modes are On$"):
        find_mode(["On"], "x", "baseline")
    with pytest.raises(ValueError, match=r"^mode: there is no mode 3; the modes are On$"):
        find_mode(["On"], 3)


def test_repeats_need_a_column_for_them_and_a_case():
    assert not repeated(fnb.outcomes(small())) and not repeated(
        fnb.outcomes(small().assign(repeat="7"))
    )
    weights = pd.DataFrame(
        {"mode": ["On", "On"], "attack_success": [True, False], "rows": 1, "repeat": ["0", "1"]}
    )
    assert not repeated(fnb.outcomes(weights))


def test_a_cell_in_words():
    assert name_of(["tier", "mode"], {"mode": "On", "tier": "T1"}) == "tier T1, mode On"
    assert name_of(["tier", "mode"], ("T1", "On")) == "tier T1, mode On"
    assert name_of([], ()) == name_of([], {}) == "all rows"


def every_count(runs: fnb.Outcomes) -> dict[str, pd.DataFrame]:
    """All that counts.py gives, as tables."""
    return {
        "cube": cube(runs, ["tier", "mode"], ["attack_success", "gated", "attempted"]),
        "vectors": vectors(runs, metric("ASR"), MODES),
        "clustered vectors": vectors(runs, metric("ADR"), MODES, ["template"]),
        "cases": case_counts(runs, metric("R"), ["tier"]).sort_values("tier", ignore_index=True),
        "segments": amount_counts(runs, metric("FSR"), ["mode"]).sort_values(
            "mode", ignore_index=True
        ),
        "traces": trace_counts(runs, metric("UP"), ["mode"], "Off").sort_values(
            "mode", ignore_index=True
        ),
    }


@pytest.mark.parametrize("engine", ENGINES[1:])
@pytest.mark.parametrize("repeats", [1, 3])
def test_every_engine_counts_the_same_cell_by_cell(engine, repeats):
    frame = random_outcomes(4, repeats=repeats)
    ours = every_count(fnb.outcomes(frame))
    theirs = every_count(fnb.outcomes(on_engine(engine, frame)))
    for name, table in ours.items():
        pd.testing.assert_frame_equal(table, theirs[name], check_dtype=False, obj=name)


def test_weights_count_like_rows():
    long = pd.DataFrame(
        {
            "case_id": list("abcde"),
            "mode": "On",
            "attack_success": [True, True, False, False, False],
        }
    )
    short = pd.DataFrame({"mode": ["On", "On"], "attack_success": [True, False], "rows": [2, 3]})
    for runs in (fnb.outcomes(long), fnb.outcomes(short)):
        assert fnb.rates(runs, "ASR")[["k", "n"]].to_numpy().tolist() == [[2, 5]]


def test_a_missing_label_is_a_stratum_of_its_own():
    frame = pd.DataFrame(
        {"case_id": ["a", "b"], "mode": "On", "tier": ["T", None], "attack_success": [True, False]}
    )
    assert fnb.rates(fnb.outcomes(frame), "ASR", by="tier")["tier"].tolist() == ["T", "(none)"]


def test_versions_are_told_per_stratum_of_the_population():
    frame = pd.DataFrame(
        {
            "case_id": list("abc"),
            "mode": ["On", "On", "Off"],
            "attack_success": True,
            "suite_version": ["v2", "v1", ""],
            "kind": "attack",
        }
    )
    cells = cube(fnb.outcomes(frame), ["mode"], ["attack_success"])
    assert versions(cells, METRICS["ASR"], ["mode"]) == {
        ("On",): ["v1", "v2"],
        ("Off",): ["(none)"],
    }


def test_modes_are_found_in_any_case_and_an_unknown_one_lists_them():
    runs = fnb.outcomes(random_outcomes(5))
    assert modes_of(runs) == list(MODES)
    assert find_mode(MODES, "sanitizeronly") == "SanitizerOnly"
    with pytest.raises(ValueError, match=r"no mode 'guard'; the modes are Off"):
        find_mode(MODES, "guard")


def test_repeats_are_seen_only_where_there_are_several():
    assert not repeated(fnb.outcomes(random_outcomes(6)))
    assert repeated(fnb.outcomes(random_outcomes(6, repeats=2)))


# A case may have so many rows in a mode that their counts would run into each other.
@pytest.mark.parametrize("rows", [2**20 - 2, 2**20 - 1, 2**20 + 5])
def test_a_case_with_a_million_repeats_is_counted_or_refused(rows):
    frame = pd.DataFrame(
        {"case_id": ["a"], "mode": ["Off"], "attack_success": [True], "rows": [rows]}
    )
    other = frame.assign(mode="On", rows=1)
    runs = fnb.outcomes(pd.concat([frame, other], ignore_index=True))
    if rows < 2**20 - 1:
        found = vectors(runs, metric("ASR"), ["Off", "On"])
        assert as_rows(found, "k0", "n0", "m0", "k1") == [(rows, rows, 0, 1)]
    else:
        with pytest.raises(fnb.OutcomesError, match="a case has more than 1,048,575 rows"):
            vectors(runs, metric("ASR"), ["Off", "On"])
