"""The engines that every count must agree on, and small random outcomes with every difficulty."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pandas as pd

CONNECTIONS: list[
    duckdb.DuckDBPyConnection
] = []  # before DuckDB 2 a relation does not keep its connection open
ENGINES = ("pandas", "polars", "polars lazy", "pyarrow", "duckdb")
MODES = ("Off", "SanitizerOnly", "LoopOnly", "On")


def on_engine(name: str, frame: pd.DataFrame) -> Any:
    """The frame on an engine, with typed missing values."""
    if name == "pandas":
        return frame
    import pyarrow as pa

    table = pa.Table.from_pandas(frame, preserve_index=False)
    if name == "pyarrow":
        return table
    if name == "duckdb":
        connection = duckdb.connect()
        CONNECTIONS.append(connection)
        connection.register("frame", table)
        return connection.sql("select * from frame")
    import polars as pl

    return pl.from_arrow(table) if name == "polars" else pl.from_arrow(table).lazy()


def random_outcomes(seed: int, cases: int = 60, repeats: int = 1) -> pd.DataFrame:
    """Outcomes with missing cells, errors, unmeasurable attacks, unpaired cases, traces and
    segments; rows shuffled.
    """
    rng = np.random.default_rng(seed)
    size = cases * len(MODES) * repeats
    case = np.repeat(np.arange(cases), len(MODES) * repeats)
    frame = pd.DataFrame(
        {
            "case_id": [f"{number:03d}" for number in case],
            "mode": np.tile(np.repeat(MODES, repeats), cases),
            "repeat": np.tile([str(one) for one in range(repeats)], cases * len(MODES)),
            "kind": np.where(case % 4 == 0, "benign", "attack"),
            "tier": np.array(["Tier1", "Tier2", "Tier3"])[case % 3],
            "scope": np.array(["task_open", "exact", "domain_suffix"])[case // 2 % 3],
            "template": [f"t{number}" for number in case // 5],
            "goal": [f"g{number}" for number in case % 7],
            "trace": np.array(["read", "read write"])[rng.integers(0, 2, size)],
            "segments": rng.integers(3, 9, size),
            "segments_excised": rng.integers(0, 3, size),
            "latency_ms": rng.integers(10, 500, size).astype(float),
            "error": np.where(rng.random(size) < 0.05, "timeout", None),
        }
    )
    for name, share in (
        ("attack_success", 0.3),
        ("attempted", 0.9),
        ("gated", 0.1),
        ("task_success", 0.8),
    ):
        frame[name] = pd.array(rng.random(size) < share, dtype="boolean")
        frame.loc[rng.random(size) < 0.04, name] = pd.NA
    for name, share in (("is_deviation", 0.7), ("within_fingerprint", 0.1)):
        frame[name] = pd.array(
            np.repeat(rng.random(cases) < share, len(MODES) * repeats), dtype="boolean"
        )
    frame["deviation_caught"] = pd.array(rng.random(size) < 0.8, dtype="boolean")
    frame.loc[frame["mode"].isin(["Off", "SanitizerOnly"]), "deviation_caught"] = pd.NA
    return frame[rng.random(size) > 0.08].sample(frac=1, random_state=seed).reset_index(drop=True)
