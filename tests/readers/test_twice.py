"""The same attempt written twice is no repeat, in every reader: copies count once, a retry replaces
an error, two outcomes raise and name both places, and `keep` decides when the caller says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ferrite_nb as fnb

# A row is (case, outcome): true, false, or None for an error.
Row = tuple[str, bool | None]
ROWS: list[Row] = [("a", True), ("b", False), ("c", True), ("d", False)]
Make = Callable[[Path, list[Row]], tuple[Path, dict[str, Any]]]


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def promptfoo(folder: Path, rows: list[Row]) -> tuple[Path, dict[str, Any]]:
    made = [
        {
            "promptIdx": 0,
            "testIdx": ord(case),
            "provider": {"id": "m"},
            "vars": {"case_id": case},
            "success": hit is False,
            "failureReason": {True: 1, False: 0, None: 2}[hit],
            "error": "503" if hit is None else None,
        }
        for case, hit in rows
    ]
    return lines(folder / "out.jsonl", made), {}


def evals(folder: Path, rows: list[Row]) -> tuple[Path, dict[str, Any]]:
    made: list[dict[str, Any]] = [{"spec": {"completion_fns": ["m"], "eval_name": "e"}}]
    for at, (case, hit) in enumerate(rows):
        event = {"run_id": "r", "event_id": at, "sample_id": case}
        error = {"type": "error", "data": {"message": "503"}}
        made.append(event | (error if hit is None else {"type": "match", "data": {"correct": hit}}))
    return lines(folder / "log.jsonl", made), {"attack_success": "correct"}


def lm_eval(folder: Path, rows: list[Row]) -> tuple[Path, dict[str, Any]]:
    made = [
        {
            "doc_id": case,
            "doc": {},
            "resps": [],
            "filtered_resps": [],
            "filter": "none",
            "metrics": ["acc"],
            "acc": float("nan") if hit is None else float(hit),
        }
        for case, hit in rows
    ]
    return lines(folder / "samples_t_2025-01-01T00.jsonl", made), {"attack_success": "acc"}


def plain(folder: Path, rows: list[Row]) -> tuple[Path, dict[str, Any]]:
    made = [
        {
            "case_id": case,
            "mode": "m",
            "attack_success": bool(hit),
            "error": "503" if hit is None else None,
        }
        for case, hit in rows
    ]
    return lines(folder / "rows.jsonl", made), {}


def scripted(folder: Path, rows: list[Row]) -> tuple[Path, dict[str, Any]]:
    words = {True: "Executed", False: "Stripped"}
    made = [
        {
            "case_id": case,
            "corpus": "Attack",
            "defense_mode": "On",
            "final_outcome": words[bool(hit)],
        }
        | ({"error": "503"} if hit is None else {})
        for case, hit in rows
    ]
    head = "case_id,corpus,defense_mode,final_outcome,error\n"
    path = folder / "eval_report.csv"
    path.write_text(
        head + "".join(f"{','.join(row.values())}{'' if 'error' in row else ','}\n" for row in made)
    )
    return path, {}


READERS: dict[str, Make] = {
    "promptfoo": promptfoo,
    "OpenAI evals": evals,
    "lm-eval": lm_eval,
    "plain table": plain,
    "Ferrite scripted": scripted,
}


def outcomes(
    made: tuple[Path, dict[str, Any]], **more: Any
) -> tuple[dict[str, bool], dict[str, Any]]:
    """The outcome of each case, and what the notes count."""
    path, declared = made
    runs = fnb.read(path, **declared, **more)
    assert runs.frame["case_id"].is_unique
    known = runs.frame.dropna(subset=["attack_success"])
    counts = {
        note.kind: note.rows
        for note in runs.notes
        if note.kind in ("duplicate", "retry", "replaced")
    }
    return dict(zip(known["case_id"], map(bool, known["attack_success"]), strict=True)), counts


@pytest.mark.parametrize("name", READERS)
def test_an_attempt_written_twice_is_no_repeat(tmp_path: Path, name: str) -> None:
    make = READERS[name]
    wanted = dict(ROWS)
    assert outcomes(make(tmp_path, [*ROWS, *ROWS])) == (wanted, {"duplicate": 4})
    assert outcomes(make(tmp_path, [("a", None), ("b", None), *ROWS])) == (wanted, {"retry": 2})
    clash = make(tmp_path, [*ROWS, ("a", False)])
    with pytest.raises(fnb.OutcomesError) as told:
        outcomes(clash)
    assert told.value.fix == "keep" and str(told.value).count(clash[0].name) >= 2
    for keep, first in (("first", True), ("last", False), ("known", True)):
        assert outcomes(clash, keep=keep)[0] == wanted | {"a": first}


@pytest.mark.parametrize("name", READERS)
def test_keep_says_what_an_error_is_worth(tmp_path: Path, name: str) -> None:
    retried = READERS[name](tmp_path, [("a", None), ("a", True)])
    assert outcomes(retried, keep="known")[0] == {"a": True} == outcomes(retried, keep="last")[0]
    if name != "OpenAI evals":  # its error is an event beside the verdict, no row of its own
        assert outcomes(retried, keep="first")[0] == {}
