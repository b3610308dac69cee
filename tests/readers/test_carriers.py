"""One table, one answer: as CSV, JSON lines, JSON, Parquet, Arrow, in one file, in two, in a folder,
in memory and on the engine.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import ferrite_nb as fnb
from ferrite_nb.outcomes.frames import pandas_of
from ferrite_nb.readers import table

Rows = list[dict[str, Any]]
BASE: Rows = [
    {"case_id": f"c{case}", "mode": mode, "attack_success": hit}
    for case, hits in enumerate(("yn", "nn", "yy", "ny"))
    for mode, hit in zip(("off", "on"), hits, strict=True)
]


def having(**columns: Any) -> Rows:
    """The base table with more columns, or others; a list has one value per row."""
    return [
        row
        | {
            name: one[at % len(one)] if isinstance(one, list) else one
            for name, one in columns.items()
        }
        for at, row in enumerate(BASE)
    ]


# Each table with what it gives: (case, mode, outcome) of the rows, or the name of what is refused.
TABLES: dict[str, Rows] = {
    "plain": BASE,
    "quotes": having(said='say "x"'),
    "quote late": having(said=[""] * 7 + ['"']),
    "mode with quotes": having(mode=['"off"', '"on"']),
    "space before a quote": having(said=' "a"'),
    "comma": having(said="a, b"),
    "semicolons": having(said="a;b;c;d;e"),
    "line break": having(said="a\nb"),
    "carriage return": having(said="a\r\nb"),
    "apostrophes": having(said="it's"),
    "separators of lines": having(said="a\u2028b\u2029c\x0bd\x85e"),
    "hash": having(said="# no comment"),
    "letters": having(case_id=[f"é{at // 2}" for at in range(8)]),
    "emoji": having(case_id=[f"\U0001f600{at // 2}" for at in range(8)]),
    "leading zeros": having(case_id=[f"00{at // 2}" for at in range(8)]),
    "exponents": having(case_id=[f"1E{at // 2}" for at in range(8)]),
    "words for missing as names": having(
        case_id=[("None", "NA", "null", "nan")[at // 2] for at in range(8)]
    ),
    "spaces around a name": having(mode=[" off", "off "]),
    "big whole numbers as text": having(case_id=[str(2**64 + at // 2) for at in range(8)]),
    "long digits": having(case_id=["9" * 30 + str(at // 2) for at in range(8)]),
    "upper case": having(attack_success=["YES", "No"]),
    "numbers": having(attack_success=["1", "0"]),
    "decimals": having(attack_success=["1.0", "0.0"]),
    "words": having(attack_success=["succeeded", "blocked"]),
    "errors": having(error=["", "timeout"]),
    "no errors": having(error=["", "none"]),
    "an error as an outcome": having(attack_success=["yes", "error"]),
    "missing": having(attack_success=["yes", ""]),
    "kinds": having(kind=["attack", "attack", "benign", "benign"]),
    "latency": having(latency_ms=["1.25", "30"]),
    "strata": having(tier=["T1", "T2"], suite="s"),
    "repeats": having(case_id="c", repeat=[str(at) for at in range(8)]),
    "unknown word": having(attack_success=["yes", "maybe"]),
    "no number": having(latency_ms=["1.25", "fast"]),
    "no case": having(case_id=["", "a"]),
    "no column of the mode": [{k: v for k, v in row.items() if k != "mode"} for row in BASE],
    "copies": BASE + BASE[:3],
    "retry": having(error=["503", "503"]) + having(error=["", ""]),
    "conflict": [*BASE, BASE[0] | {"attack_success": "n"}],
    "wide": having(**{f"column {at}": str(at) for at in range(40)}),
}


def as_csv(rows: Rows) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def written(folder: Path, name: str, rows: Rows) -> Path:
    """The rows as a file; the ending says which."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    frame = pd.DataFrame(rows, dtype="str")
    ending = name.rpartition(".")[2]
    if ending == "csv":
        path.write_bytes(as_csv(rows))
    elif ending == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif ending == "json":
        path.write_text(json.dumps({"made by": "x", "results": rows}, indent=1))
    elif ending == "parquet":
        duckdb.from_df(frame).write_parquet(str(path))
    else:
        frame.to_feather(path)
    return path


def hive(folder: Path, rows: Rows) -> Any:
    if "mode" not in rows[0] or '"' in rows[0]["mode"] or " " in rows[0]["mode"]:
        return written(folder, "a.parquet", rows)
    for mode in ("off", "on"):
        part = [
            {k: v for k, v in row.items() if k != "mode"} for row in rows if row["mode"] == mode
        ]
        written(folder, f"runs/mode={mode}/part.parquet", part)
    return folder / "runs"


def two(ending: str) -> Callable[[Path, Rows], Any]:
    def made(folder: Path, rows: Rows) -> Any:
        return [
            written(folder, f"{at}.{ending}", part) for at, part in enumerate((rows[:4], rows[4:]))
        ]

    return made


CARRIERS: dict[str, Callable[[Path, Rows], Any]] = {
    **{
        ending: lambda folder, rows, ending=ending: written(folder, f"a.{ending}", rows)
        for ending in ("csv", "jsonl", "json", "parquet", "arrow")
    },
    **{f"two {ending}": two(ending) for ending in ("csv", "parquet")},
    "hive folder": hive,
    "memory": lambda folder, rows: pd.DataFrame(rows, dtype="str"),
}


SHOWN = ("case_id", "mode", "repeat", "kind", "attack_success", "error", "latency_ms")


def answer(given: Any, **options: Any) -> Any:
    """What a table gives: its rows with the notes that count, or what is refused."""
    try:
        runs = fnb.read(given, **options)
    except fnb.OutcomesError as problem:
        return problem.column, problem.fix
    frame = pandas_of(runs.table).astype("str")
    keys = [name for name in SHOWN if name in frame]
    rows = sorted(map(tuple, frame[keys].fillna("").to_numpy().tolist()))
    counted = sorted(
        (note.kind, note.rows) for note in runs.notes if note.kind in ("duplicate", "retry")
    )
    return rows, counted


@pytest.mark.parametrize("name", TABLES)
def test_one_table_gives_one_answer(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = TABLES[name]
    wanted = answer(CARRIERS["csv"](tmp_path / "csv", rows))
    for carrier, make in CARRIERS.items():
        assert answer(make(tmp_path / carrier, rows)) == wanted, carrier
    # On the engine keys are checked on request, and rows have no order.
    monkeypatch.setattr(table, "LAZY_BYTES", 1)
    monkeypatch.setattr(table, "LAZY_ROWS", 1)
    twice = name in ("copies", "retry", "conflict", "no case")
    for carrier in ("csv", "two parquet", "hive folder"):
        found = answer(CARRIERS[carrier](tmp_path / f"lazy {carrier}", rows), check="full")
        assert found == (("repeat", "repeat") if twice else wanted), f"lazy {carrier}"
