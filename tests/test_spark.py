"""Spark: the same tables as pandas, and only small count tables cross to Python. Needs Java;
required in CI.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest

import ferrite_nb as fnb
from ferrite_nb.count import cube as counts
from ferrite_nb.count.cube import vectors
from ferrite_nb.metrics import metric
from ferrite_nb.outcomes.frames import pandas_of
from tests.engines import MODES, random_outcomes

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    # PySpark 4.3 calls pandas with a keyword that pandas 3 deprecates, and turns the warning into a
    # failure of its own.
    pytest.mark.filterwarnings("ignore:The copy keyword is deprecated"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """One local session; a machine without Java skips, unless the run requires it."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        if os.environ.get("FERRITE_REQUIRE_SPARK") == "1":
            pytest.fail("no Java was found; install a JRE (Debian: default-jre-headless)")
        pytest.skip("no Java was found, so Spark cannot start")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").appName("ferrite_nb tests")
    options = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        # a session of seconds gains nothing from the slow compiler
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    }
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def both(spark: Any) -> tuple[fnb.Outcomes, fnb.Outcomes]:
    """The same random outcomes in memory and on Spark."""
    frame = random_outcomes(4, cases=40)
    kinds = {"boolean": "boolean", "float64": "double", "int64": "long"}
    schema = ", ".join(f"{name} {kinds.get(str(frame[name].dtype), 'string')}" for name in frame)
    plain = frame.astype(object).where(frame.notna(), None)
    return fnb.outcomes(frame), fnb.outcomes(
        spark.createDataFrame(plain.to_numpy().tolist(), schema)
    )


@pytest.fixture
def crossed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of rows of each table that comes back from the engine."""
    sizes: list[int] = []

    def recorded(frame: Any) -> pd.DataFrame:
        found = pandas_of(frame)
        sizes.append(len(found))
        return found

    monkeypatch.setattr(counts, "pandas_of", recorded)
    return sizes


def same(ours: pd.DataFrame, theirs: pd.DataFrame) -> None:
    drop = [name for name in ("note",) if name in ours]
    pd.testing.assert_frame_equal(
        ours.drop(columns=drop), theirs.drop(columns=drop), check_dtype=False
    )


def test_rates_are_equal_and_only_cells_cross(both, crossed):
    ours, theirs = both
    table = fnb.rates(theirs, ["ASR", "FGR", "ADR"], by=["tier", "mode"])
    cells = sum(crossed)
    same(fnb.rates(ours, ["ASR", "FGR", "ADR"], by=["tier", "mode"]), table)
    assert theirs.lazy and not ours.lazy
    assert cells < len(ours.frame), "rows crossed instead of cells"
    assert table.loc[table["n"] > 0, "note"].str.contains("keys not checked").all()


def test_facts_of_cases_segments_and_traces_are_equal(both):
    ours, theirs = both
    for name in ("R", "FSR", "UP"):
        same(fnb.rates(ours, name), fnb.rates(theirs, name))


def test_comparisons_are_equal_and_only_vectors_cross(both, crossed):
    ours, theirs = both
    table = vectors(theirs, metric("ASR"), MODES)
    assert crossed == [len(table)] and len(table) < 40
    same(fnb.compare(ours), fnb.compare(theirs))


def test_clusters_and_overhead_are_equal(both):
    ours, theirs = both
    same(fnb.rates(ours, "ASR", cluster="template"), fnb.rates(theirs, "ASR", cluster="template"))
    same(fnb.overhead(ours), fnb.overhead(theirs))


def test_a_gradient_is_equal(both):
    ours, theirs = both
    same(fnb.gradient(ours, mode="On"), fnb.gradient(theirs, mode="On"))


def test_a_bad_word_on_spark_is_an_error_of_ours(spark):
    frame = spark.createDataFrame(
        [("a", "On", "maybe")], "case_id string, mode string, attack_success string"
    )
    with pytest.raises(fnb.OutcomesError, match="attack_success has 'maybe'"):
        fnb.outcomes(frame)


def test_support_baseline_and_failed_runs_are_equal(spark):
    frame = random_outcomes(4).assign(status="ok", error_message=None)
    frame.loc[:4, "status"], frame.loc[:2, "error_message"] = "HTTP 503", "no answer"
    ours, theirs = (
        fnb.outcomes(one, case_id=["tier", "case_id"])
        for one in (frame, spark.createDataFrame(frame))
    )
    assert theirs.supports == ours.supports and theirs.base == ours.base == ("Off", "known")
    kinds = [(note.kind, note.rows) for note in ours.notes]
    assert [(note.kind, note.rows) for note in theirs.notes] == kinds
    assert [kind for kind, _ in kinds].count("error") == 2
