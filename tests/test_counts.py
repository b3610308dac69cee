"""Counting against a plain recount row by row, and the same tables from every engine."""

from __future__ import annotations

import itertools

import pandas as pd
import pytest

import ferrite_nb as fnb
from ferrite_nb.counts import (
    amount_counts,
    case_counts,
    cube,
    differences,
    find_mode,
    modes_of,
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
        if any(pd.isna(row[column]) or row[column] != value for column, value in one.population.items()):
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
        assert tuple(found.loc[(tier, mode), ["k", "n", "missing"]]) == plain_rate(frame, symbol, mode, tier)


def test_the_cube_holds_every_row_once_and_its_sums_do_not_depend_on_the_strata():
    frame = random_outcomes(2)
    runs = fnb.outcomes(frame)
    fine = cube(runs, ["mode", "tier", "scope", "template"], ["attack_success", "attempted"])
    coarse = cube(runs, ["mode"], ["attack_success"])
    assert fine["rows"].sum() == coarse["rows"].sum() == len(frame)
    pd.testing.assert_frame_equal(
        tally(fine, METRICS["ASR"], ["mode"])[["mode", "k", "n", "missing"]].sort_values("mode", ignore_index=True),
        tally(coarse, METRICS["ASR"], ["mode"])[["mode", "k", "n", "missing"]].sort_values("mode", ignore_index=True),
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
    assert dict(zip(map(tuple, found[names].to_numpy().tolist()), found["cases"], strict=True)) == expected


def every_count(runs: fnb.Outcomes) -> dict[str, pd.DataFrame]:
    """All that counts.py gives, as tables."""
    values, unpaired = differences(runs, "latency_ms", "Off", "On")
    return {
        "cube": cube(runs, ["tier", "mode"], ["attack_success", "gated", "attempted"]),
        "vectors": vectors(runs, metric("ASR"), MODES),
        "clustered vectors": vectors(runs, metric("ADR"), MODES, ["template"]),
        "cases": case_counts(runs, metric("R"), ["tier"]).sort_values("tier", ignore_index=True),
        "segments": amount_counts(runs, metric("FSR"), ["mode"]).sort_values("mode", ignore_index=True),
        "traces": trace_counts(runs, metric("UP"), ["mode"], "Off").sort_values("mode", ignore_index=True),
        "differences": pd.DataFrame({"value": values, "unpaired": unpaired}),
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
    long = pd.DataFrame({"case_id": list("abcde"), "mode": "On", "attack_success": [True, True, False, False, False]})
    short = pd.DataFrame({"mode": ["On", "On"], "attack_success": [True, False], "rows": [2, 3]})
    for runs in (fnb.outcomes(long), fnb.outcomes(short)):
        assert fnb.rates(runs, "ASR")[["k", "n"]].to_numpy().tolist() == [[2, 5]]


def test_a_missing_label_is_a_stratum_of_its_own():
    frame = pd.DataFrame({"case_id": ["a", "b"], "mode": "On", "tier": ["T", None], "attack_success": [True, False]})
    assert fnb.rates(fnb.outcomes(frame), "ASR", by="tier")["tier"].tolist() == ["(missing)", "T"]


def test_versions_are_told_per_stratum_of_the_population():
    frame = pd.DataFrame({"case_id": list("abc"), "mode": ["On", "On", "Off"], "attack_success": True,
                          "suite_version": ["v2", "v1", ""], "kind": "attack"})
    cells = cube(fnb.outcomes(frame), ["mode"], ["attack_success"])
    assert versions(cells, METRICS["ASR"], ["mode"]) == {("On",): ["v1", "v2"], ("Off",): [""]}


def test_modes_are_found_in_any_case_and_an_unknown_one_lists_them():
    runs = fnb.outcomes(random_outcomes(5))
    assert modes_of(runs) == list(MODES)
    assert find_mode(MODES, "sanitizeronly") == "SanitizerOnly"
    with pytest.raises(ValueError, match=r"no mode 'guard'; the modes are Off"):
        find_mode(MODES, "guard")


def test_repeats_are_seen_only_where_there_are_several():
    assert not repeated(fnb.outcomes(random_outcomes(6)))
    assert repeated(fnb.outcomes(random_outcomes(6, repeats=2)))
