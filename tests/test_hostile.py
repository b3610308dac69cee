"""Hostile tables: columns named like those of the answers, odd values in conditions, weights,
versions, negatives.
"""

from __future__ import annotations

import os
import re

import numpy as np
import pandas as pd
import pytest

import ferrite_nb as fnb
from ferrite_nb.metrics import METRICS
from ferrite_nb.show.sentence import sentence

from .engines import ENGINES, on_engine

NAMES = [
    "k",
    "n",
    "rate",
    "metric",
    "note",
    "level",
    "method",
    "mode_a",
    "cases",
    "b",
    "p",
    "low",
    "missing",
    "clusters",
    "k0",
    "n0",
    "_state",
    "_mode0",
    "not_attempted",
    "trend_p",
]


def runs_of(cases: int = 24, **columns: object) -> pd.DataFrame:
    """Two modes on the same cases; in Off the first half of the attacks succeed, in On every
    sixth.
    """
    number = np.tile(np.arange(cases), 2)
    off = np.repeat([True, False], cases)
    frame = pd.DataFrame(
        {"case_id": [f"c{i}" for i in number], "mode": np.where(off, "Off", "On"), "kind": "attack"}
    )
    return frame.assign(
        attack_success=np.where(off, number < cases // 2, number % 6 == 0), **columns
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_stratum_named_like_a_column_of_the_answer_gives_the_same_numbers(name):
    stratum = [f"v{i % 3}" for i in range(24)] * 2
    plain, clash = (fnb.outcomes(runs_of().assign(**{one: stratum})) for one in ("zz", name))
    assert any(f"{name} is {name}_" in note for note in clash.notes)
    for verb, by in ((fnb.rates, "by"), (fnb.compare, "by"), (fnb.gradient, "by")):
        wanted, found = verb(plain, **{by: "zz"}), verb(clash, **{by: f"{name}_"})
        pd.testing.assert_frame_equal(
            found, wanted.rename(columns={"zz": f"{name}_"}), obj=verb.__name__
        )
        assert found.columns.is_unique
    clustered = fnb.rates(clash, "ASR", cluster=f"{name}_")
    wanted = fnb.rates(plain, "ASR", cluster="zz")
    assert set(clustered["unit"]) == {f"{name}_"}
    words = ["note", "unit"]
    pd.testing.assert_frame_equal(clustered.drop(columns=words), wanted.drop(columns=words))
    assert len(fnb.limits(clash)) == len(fnb.limits(plain))
    with pytest.raises(
        ValueError, match=f"no column '{name}' .the file's column is called {name}_ here."
    ):
        fnb.rates(clash, by=name)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_condition_on_a_flag_goes_by_its_meaning(engine):
    runs = fnb.outcomes(on_engine(engine, runs_of()))  # 12 of 24 and 4 of 24 succeed
    for value, rows in (
        (True, 16),
        ("no", 32),
        ("false", 32),
        (0, 32),
        (np.bool_(True), 16),
        ([True, False], 48),
    ):
        assert fnb.rates(runs.where(attack_success=value), "ASR")["n"].sum() == rows, value
    with pytest.raises(
        ValueError, match=r"attack_success is true, false or missing \(None\), got 'maybe'"
    ):
        runs.where(attack_success="maybe")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_condition_takes_numbers_and_missing_values(engine):
    frame = runs_of(turn=[i % 4 for i in range(24)] * 2, label=[None, "x", "y"] * 16)
    runs = fnb.outcomes(on_engine(engine, frame))
    for conditions, rows in (
        ({"turn": np.int64(2)}, 12),
        ({"turn": 2.0}, 12),
        ({"turn": "2"}, 12),
        ({"label": None}, 16),
        ({"label": ["x", None]}, 32),
        ({"label": "y"}, 16),
    ):
        assert fnb.rates(runs.where(**conditions), "ASR")["n"].sum() == rows, conditions
    with pytest.raises(ValueError, match="no row has turn = '9'; there are 0, 1, 2, 3"):
        runs.where(turn=9)
    with pytest.raises(ValueError, match="turn holds numbers, got Timestamp"):
        runs.where(turn=pd.Timestamp("2026-01-01"))


def test_modes_that_differ_by_case_only_stay_apart():
    frame = runs_of()
    runs = fnb.outcomes(frame.assign(mode=frame["mode"].replace("Off", "on")))
    assert runs.where(mode="On").modes == ("On",) and runs.where(mode="on").modes == ("on",)
    table = fnb.rates(runs.where(mode="on"), "ASR")
    assert table[["mode", "k", "n"]].to_numpy().tolist() == [["on", 12, 24]]


def test_a_case_is_found_among_more_than_a_hundred_thousand():
    frame = pd.DataFrame(
        {"case_id": [f"c{i}" for i in range(120_000)], "mode": "On", "attack_success": True}
    )
    assert len(fnb.outcomes(frame).where(case_id="c119999").frame) == 1


def test_weights_of_cases_are_repeats_of_them():
    """Case a succeeds in 3 of 3 tries in Off and in 0 of 3 in On, case b in 0 of 5; a weight of 0
    is no case.
    """
    rows = [
        ("a", "Off", True, 3),
        ("a", "On", False, 3),
        ("b", "Off", False, 5),
        ("b", "On", False, 5),
        ("c", "Off", True, 0),
        ("c", "On", True, 0),
    ]
    runs = fnb.outcomes(pd.DataFrame(rows, columns=["case_id", "mode", "attack_success", "rows"]))
    table = fnb.rates(runs, "ASR")
    assert table[["k", "n", "clusters"]].to_numpy().tolist() == [[3, 8, 2], [0, 8, 2]]
    one = fnb.compare(runs).iloc[0]
    assert (one["n_pairs"], one["b"], one["c"], one["rate_a"], one["rate_b"]) == (2, 1, 0, 0.5, 0.0)


def test_a_missing_weight_or_a_negative_number_raises_with_its_place():
    frame = pd.DataFrame({"mode": "On", "attack_success": [True, False], "rows": [None, 3]})
    with pytest.raises(
        fnb.OutcomesError, match=r"row 1 .*column rows has nothing; it must be a whole number >= 0"
    ):
        fnb.outcomes(frame)
    for column in ("latency_ms", "tokens"):
        with pytest.raises(
            fnb.OutcomesError, match=f"row 2 .*column {column} has '-1.*it must be a number >= 0"
        ):
            fnb.outcomes(runs_of(cases=1, **{column: [5, -1]}))


def test_missing_outcomes_of_a_table_of_counts_are_kept():
    """10 attacks: 2 of 7 known succeed, 3 unknown: between 2/10 and 5/10."""
    table = fnb.rates(
        fnb.outcomes(pd.DataFrame({"mode": ["On"], "k": [2], "n": [7], "missing": [3]})), "ASR"
    )
    assert table[["k", "n", "missing", "floor", "ceiling"]].to_numpy().tolist() == [
        [2, 7, 3, 0.2, 0.5]
    ]


def test_nothing_is_compared_over_suite_versions_unless_asked_for():
    frame = runs_of(latency_ms=5.0, trace="open", suite_version=["1"] * 24 + ["2"] * 24).assign(
        kind="benign"
    )
    runs = fnb.outcomes(frame)
    for table in (fnb.overhead(runs), fnb.rates(runs, "UP").query("mode == 'On'")):
        assert table["why"].str.startswith("suite versions differ").all()
        assert set(table["state"]) == {"none"}
    pooled = runs.pool_versions()
    assert fnb.overhead(pooled)["n_pairs"].tolist() == [24, 24]
    assert fnb.rates(pooled, "UP")[["k", "n"]].to_numpy().tolist() == [[0, 0], [24, 24]]
    attacks = fnb.outcomes(frame.assign(kind="attack"))
    assert "runs.pool_versions() accepts them" in fnb.compare(attacks)["note"].iloc[0]
    assert hasattr(attacks, "pool_versions")


@pytest.mark.parametrize("versions", [None, "1"])
@pytest.mark.parametrize(
    "symbol", [s for s, one in METRICS.items() if one.counted != "differences"]
)
def test_a_metric_that_the_record_lacks_is_answered_with_the_reason(symbol, versions):
    """Also beside a suite version, which is looked up in the population of the metric."""
    modes = ["Off", "Off", "SanitizerOnly", "SanitizerOnly", "On", "On"]
    frame = pd.DataFrame({"case_id": ["a", "b"] * 3, "mode": modes, "kind": "benign", "tier": "T1"})
    runs = fnb.outcomes(frame if versions is None else frame.assign(suite_version=versions))
    end = "at_most" if METRICS[symbol].better == "lower" else "at_least"
    requirement = {"metric": symbol, end: 0.5, "where": {"mode": "On"}}
    if symbol in ("residual share", "FSR-proxy"):
        requirement["where"] = {"mode": "Off" if symbol == "residual share" else "SanitizerOnly"}
    for table in (
        fnb.rates(runs, symbol),
        fnb.gradient(runs, symbol, by="tier"),
        fnb.gate(runs, requirement),
    ):
        assert len(table) and not table["n"].any()
        assert table["note"].str.contains("not computable: ").all(), table["note"].tolist()
    assert fnb.gate(runs, requirement)["verdict"].tolist() == ["cannot tell"]


def test_counts_too_large_to_be_exact_raise_and_are_never_wrapped_round():
    """2049 times 2**53 is 2**53 again in whole numbers of 64 bits, and 2048 times is 0."""
    largest = 2**53
    for rows in (2, 2048, 2049):
        weights = pd.DataFrame(
            {"mode": "On", "attack_success": [True] * rows, "rows": [largest] * rows}
        )
        counts = pd.DataFrame({"mode": ["On"] * rows, "k": [largest] * rows, "n": [largest] * rows})
        for frame in (weights, counts):
            with pytest.raises(fnb.OutcomesError, match="exact up to"):
                fnb.rates(fnb.outcomes(frame), "ASR")
        parts = {
            "case_id": [str(n) for n in range(rows)],
            "mode": "On",
            "kind": "benign",
            "segments": [largest] * rows,
        }
        with pytest.raises(fnb.OutcomesError, match="exact up to"):
            fnb.rates(fnb.outcomes(pd.DataFrame(parts).assign(segments_excised=1)), "FSR")
    table = fnb.rates(
        fnb.outcomes(pd.DataFrame({"mode": ["On"], "k": [largest - 1], "n": [largest]})), "ASR"
    )
    assert table[["k", "n"]].to_numpy().tolist() == [[largest - 1, largest]]


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_counted_is_no_stratum(engine):
    frame = runs_of(attempted=True, measurable=True, blocked=[True, False] * 24)
    runs = fnb.outcomes(on_engine(engine, frame))
    for name in ("attack_success", "attempted", "measurable"):
        with pytest.raises(
            ValueError, match=f"{name} is counted here, so it cannot be a stratum too"
        ):
            fnb.rates(runs, "ASR", by=name)
    for verb in (fnb.compare, fnb.gradient):
        with pytest.raises(ValueError, match="attack_success is counted here"):
            verb(runs, "ASR", by="attack_success")
    with pytest.raises(ValueError, match="never the mode"):
        fnb.compare(runs, "ASR", cluster="mode")
    with pytest.raises(ValueError, match="named twice"):
        fnb.compare(runs, "ASR", cluster=["case_id", "case_id"])
    assert fnb.rates(runs, "ASR", by="blocked")["n"].sum() == 48


def test_a_column_of_lists_is_no_stratum():
    polars = pytest.importorskip("polars")
    runs = fnb.outcomes(
        polars.from_pandas(runs_of()).with_columns(polars.concat_list("case_id").alias("parts"))
    )
    assert len(fnb.limits(runs))
    for call in (
        lambda: fnb.rates(runs, by="parts"),
        lambda: fnb.compare(runs, by="parts"),
        lambda: fnb.rates(runs, cluster="parts"),
    ):
        with pytest.raises(ValueError, match="'parts' holds lists, which are no strata"):
            call()


def test_cases_without_a_cluster_are_told_of_in_rates_and_in_pairs():
    runs = fnb.outcomes(runs_of(template=["x", None, "y", None, "z", "w"] * 8))
    assert (
        fnb.rates(runs, "ASR", cluster="template")["note"]
        .str.contains("rows without template count as one")
        .all()
    )
    assert (
        "cases without template count as one cluster"
        in fnb.compare(runs, cluster="template")["note"].iloc[0]
    )


@pytest.mark.parametrize(
    "name", ["insufficient data", "not computable: x", "macro", "the insufficient one"]
)
def test_a_column_named_like_a_reason_hides_no_number(name):
    """The name stands in the note; the state alone decides whether a number is shown."""
    runs = fnb.outcomes(runs_of(cases=60, **{name: [f"v{n % 20}" for n in range(60)] * 2}))
    table = fnb.rates(runs, "ASR", cluster=name)
    assert set(table["unit"]) == {name} and set(table["state"]) == {"ok"}
    shown = [str(fnb.Estimate.from_row(row)) for _, row in table.iterrows()]
    assert [text.split(" [")[0] for text in shown] == ["30/60 = 50.0%", "10/60 = 16.7%"]
    assert all(f" {text} " in fnb.tables.markdown(table) for text in shown) or all(
        f" {text}<" in fnb.tables.markdown(table) for text in shown
    )
    assert "points [" in fnb.tables.markdown(fnb.compare(runs, "ASR", cluster=name))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rate", 5.0),
        ("rate", np.inf),
        ("rate", -0.1),
        ("low", -np.inf),
        ("high", 1.2),
        ("k", -1),
        ("k", 99),
    ],
)
def test_what_is_no_proportion_is_never_printed_as_one(name, value):
    """Block rate of 2.4: attempts over attacks (a published mistake)."""
    table = fnb.rates(fnb.outcomes(runs_of()), "ASR").assign(**{name: value})
    for show in (fnb.tables.html, fnb.tables.latex, fnb.tables.markdown, fnb.figures.forest):
        with pytest.raises(ValueError, match=r"must lie|is a proportion|is a count"):
            show(table)


def test_of_two_columns_with_one_name_none_is_lost():
    for names in (["a", "a"], ["a", 5], [("a", "b"), "c"]):
        table = pd.DataFrame([["x", "y"]])
        table.columns = pd.Index(names, dtype=object)
        for show in (fnb.tables.html, fnb.tables.latex, fnb.tables.markdown, fnb.tables.csv):
            with pytest.raises(ValueError, match="must be texts and differ"):
                show(table)
    alike = pd.DataFrame(
        [["x", "y"]], columns=["a\u202e", "a"]
    )  # one name once the direction mark is gone
    assert fnb.tables.csv(alike) == "a,a\nx,y\n"
    labels = pd.DataFrame([[1, 1, 0]] * 9, columns=["human", "judge", "judge"])
    with pytest.raises(fnb.OutcomesError, match="two columns of labels are called 'judge'"):
        fnb.judges(labels, human="human", judges="judge")


def test_attempts_and_quantiles_that_make_no_sense_say_so():
    runs = fnb.outcomes(runs_of(repeat="1", latency_ms=1.0))
    for name in ("case_id", "repeat", "attack_success"):
        with pytest.raises(ValueError, match=f"by: {name} tells the attempts of a case apart"):
            fnb.attempts(runs, by=name)
    with pytest.raises(TypeError, match="quantiles are numbers"):
        fnb.overhead(runs, quantiles=None)
    with pytest.raises(ValueError, match="at least one quantile"):
        fnb.overhead(runs, quantiles=[])


@pytest.mark.parametrize("engine", ENGINES)
def test_words_of_which_none_is_there_leave_no_row_and_say_so(engine):
    with pytest.raises(
        fnb.OutcomesError, match="no row is left: kind is attack, and none of it is declared"
    ):
        fnb.outcomes(on_engine(engine, runs_of()), kind=fnb.words("kind", benign=["user"]))


def test_a_flag_of_exact_decimals_is_read_by_its_value():
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    frame = runs_of().assign(attack_success=lambda table: table["attack_success"].astype(int))
    wanted = fnb.rates(fnb.outcomes(frame), "ASR")
    exact = polars.from_pandas(frame).with_columns(
        polars.col("attack_success").cast(polars.Decimal(10, 2))
    )
    arrow = pyarrow.table(exact.to_arrow())
    for table in (exact, exact.lazy(), arrow):
        found = fnb.rates(fnb.outcomes(table), "ASR").drop(columns="note")
        pd.testing.assert_frame_equal(found, wanted.drop(columns="note"))
    with pytest.raises(fnb.OutcomesError, match=r"attack_success has .0\.5."):
        fnb.outcomes(
            exact.with_columns((polars.col("attack_success") / 2).cast(polars.Decimal(10, 2)))
        )


def test_half_a_letter_in_a_column_that_nobody_declared_is_told_of_too():
    frame = pd.DataFrame({"case_id": ["a", "b"], "mode": "On", "attack_success": [True, False]})
    frame["model"], frame["remark"] = ["x", "y"], pd.Series(["x\ud800", 7], dtype=object)
    with pytest.raises(
        fnb.OutcomesError, match=r"the table holds '.ud800', which is half of a letter"
    ):
        fnb.outcomes(frame)


def test_half_a_letter_is_told_of_and_not_shown_as_a_fault_of_another_program():
    frame = runs_of().astype(object)
    for name in ("case_id", "mode"):
        table = frame.copy()
        table.loc[0, name] = "x\ud800"
        with pytest.raises(
            fnb.OutcomesError, match=r"the table holds '.ud800', which is half of a letter"
        ):
            fnb.outcomes(table)


def test_odd_paths_end_in_one_sentence(tmp_path, monkeypatch):
    for path in ("~nobody_of_that_name/a.csv", "a" * 300, "a\0b", str(tmp_path / "none")):
        with pytest.raises(fnb.OutcomesError, match=r"is no path|no file or folder"):
            fnb.read(path)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    runs_of().to_csv(tmp_path / "own.csv", index=False)
    assert len(fnb.read(tmp_path).frame) == 48 and any(
        "not followed: 1" in note for note in fnb.read(tmp_path).notes
    )
    (tmp_path / "own.csv").rename(tmp_path / os.fsdecode(b"\xff\xfe.csv"))
    with pytest.raises(fnb.OutcomesError, match=r"'.udcff.udcfe.csv': the name of the file"):
        fnb.read(tmp_path)
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    with pytest.raises(fnb.OutcomesError, match=r"the folder \. holds no results"):
        fnb.read(".")


def test_what_is_shown_of_outcomes_is_no_command_of_a_terminal():
    frame = runs_of()
    frame["mode"] = frame["mode"].replace({"Off": "\x1b[2J", "On": "a\nnote  all attacks fail"})
    runs = fnb.outcomes(frame, read_from="x\x1b]0;y\x07\u202e", notes=["\r\x9b"])
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", repr(runs))
    assert len(repr(runs).splitlines()) == len(runs.describe())
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", runs._repr_html_())


def test_a_stratum_called_like_a_total_is_a_stratum():
    """Office macros and microservices are kinds of attack; only the two totals of a gradient stand
    apart.
    """
    names = ["macro: Office", "micro: services", "macros", "overall risk"]
    runs = fnb.outcomes(runs_of(cases=80, kinds=[names[n % 4] for n in range(80)] * 2))
    table = fnb.gradient(runs, "CR", by="kinds", mode="On")
    assert table["kinds"].tolist() == [*sorted(names), "micro: all cases", "macro: mean of strata"]
    assert min(names) in sentence(table)
    chart = fnb.figures.gradient(table)
    assert all(name in chart.alt for name in names)
    split = fnb.rates(runs, "ASR", by=["kinds", "mode"])
    assert len(fnb.figures.forest(split).table) == len(fnb.figures.heatmap(split).table) == 8
    row = split.iloc[0].copy()
    row["rate"] = 0.6  # corrected for a judge
    assert "observed, corrected 60.0% [" in str(fnb.Estimate.from_row(row))
