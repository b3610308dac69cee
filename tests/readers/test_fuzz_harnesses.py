"""Mutated files of the harness formats: valid outcomes with notes, or an OutcomesError; nothing
else, ever.
"""

from __future__ import annotations

import copy
import json
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ferrite_nb as fnb

FILES = Path(__file__).parent / "files"
BUDGET = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))

GARAK = [
    (FILES / "garak" / f"{name}.report.jsonl").read_bytes()
    for name in (
        "s01_v0.9.0.7_config",
        "s09_v0.14.0_fails_total_evaluated",
        "s14_v0.16.0_aggregate_same_uuid",
        "s16_v0.15.1_nan_score",
    )
]
SCORED = {"attack_success": fnb.words("match", true=["I"], false=["C"])}
EVALS = b"""{"spec":{"run_id":"r","completion_fns":["demo"],"eval_name":"demo.v0"}}
{"run_id":"r","event_id":1,"sample_id":"d.0","type":"match","data":{"correct":true},"created_by":"","created_at":""}
{"run_id":"r","event_id":2,"sample_id":"d.1","type":"match","data":{"correct":false}}
{"run_id":"r","event_id":3,"sample_id":"d.2","type":"error","data":{"message":"boom"}}
{"final_report":{"accuracy":0.5}}
"""
LM_EVAL = b"".join(
    b'{"doc_id":%d,"doc":{"kind":"attack"},"target":"A","resps":[["A"]],"filtered_resps":["A"],"filter":"none",'
    b'"metrics":["acc"],"doc_hash":"h%d","acc":%d.0}\n' % (i, i, i % 2)
    for i in range(4)
)
PROMPTFOO = b"".join(
    json.dumps(
        {
            "promptIdx": 0,
            "testIdx": i,
            "provider": {"id": "sim", "label": f"p{i % 2}"},
            "success": i % 3 == 0,
            "failureReason": i % 3,
            "vars": {"case_id": f"c{i}", "kind": "attack" if i % 2 else "benign"},
            "latencyMs": 5,
            "gradingResult": {"componentResults": [{"metadata": {"graderError": False}}]},
            "metadata": {"pluginId": "x"},
        }
    ).encode()
    + b"\n"
    for i in range(6)
)
# Format, name of the file, its valid bytes, what the caller declares.
CASES: dict[str, tuple[str, list[bytes], dict[str, Any]]] = {
    "garak": ("r.report.jsonl", GARAK, {}),
    "inspect": (
        "log.json",
        [
            (FILES / "inspect" / name).read_bytes()
            for name in (
                "log_formats.json",
                "2025-05-12T20-28-13-04-00_no-samples.json",
                "log_tool_call_error.json",
            )
        ],
        SCORED,
    ),
    "promptfoo": ("out.jsonl", [PROMPTFOO], {}),
    "promptfoo json": (
        "out.json",
        [
            json.dumps(
                {
                    "evalId": "e",
                    "results": {
                        "version": 3,
                        "results": [json.loads(line) for line in PROMPTFOO.splitlines()],
                        "stats": {"successes": 2, "failures": 2, "errors": 2},
                    },
                }
            ).encode()
        ],
        {},
    ),
    "promptfoo csv": (
        "out.csv",
        [
            b"case_id,kind,[a] {{q}},Status,Score,[b] {{q}},Status,Score\n"
            b'1,attack,"x\ny",PASS,1,z,FAIL,0\n2,benign,x,ERROR,0,y,PASS,1\n'
        ],
        {},
    ),
    "lm_eval": ("samples_demo.jsonl", [LM_EVAL], {"attack_success": "acc"}),
    "openai_evals": ("run.jsonl", [EVALS], {"attack_success": "correct"}),
}
HOSTILE = st.sampled_from(
    [
        None,
        True,
        False,
        0,
        -1,
        2,
        10**30,
        1e308,
        float("nan"),
        float("inf"),
        "",
        " ",
        "None",
        "NaN",
        "yes",
        "maybe",
        "N",
        "C",
        "\ud800",
        "\x00",
        "=cmd|' /C calc'!A0",
        "<script>alert(1)</script>",
        "x" * 3000,
        "../../etc/passwd",
        [],
        {},
        [[]],
        [None],
        {"a": {"b": []}},
        [1, "x", None],
        {"text": None},
        {"turns": 3},
        {"turns": [None, 3, {"content": 7}]},
    ]
)


def read_or_refuse(path: Path, declared: dict[str, Any]) -> None:
    """The one promise: outcomes that can be shown and counted, or an OutcomesError that can be
    read.
    """
    try:
        runs = fnb.read(path, **declared)
    except fnb.OutcomesError as error:
        assert str(error)
        return
    assert isinstance(runs, fnb.Outcomes) and runs.notes and len(runs.frame)
    assert not runs.frame.duplicated(
        ["case_id", "mode", *[name for name in ("repeat",) if name in runs.frame]]
    ).any()
    repr(runs), runs._repr_html_().encode()


def written(name: str, content: bytes, declared: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        read_or_refuse(path, declared)


def places(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Every (container, key) of a JSON value."""
    for key in (
        list(value)
        if isinstance(value, dict)
        else range(len(value))
        if isinstance(value, list)
        else []
    ):
        found.append((value, key))
        places(value[key], found)
    return found


def altered(draw: Callable[..., Any], documents: list[Any]) -> None:
    """Replace, remove or rename some values of JSON documents in place."""
    for _ in range(draw(st.integers(1, 4))):
        spots = places(documents, [])
        if not spots:
            return
        container, key = spots[draw(st.integers(0, len(spots) - 1))]
        how = draw(st.sampled_from(["replace", "replace", "remove", "rename"]))
        if how == "replace":
            container[key] = copy.deepcopy(draw(HOSTILE))  # the drawn lists are shared
        elif how == "rename" and isinstance(container, dict):
            container[str(draw(HOSTILE))] = container.pop(key)
        else:
            del container[key]


def documents_of(content: bytes) -> list[Any]:
    """A file as JSON documents: one, or one per line."""
    try:
        return [json.loads(content)]
    except ValueError:
        return [json.loads(line) for line in content.splitlines() if line.strip()]


@pytest.mark.parametrize("format", CASES)
@BUDGET
@given(data=st.data())
def test_damaged_bytes(format: str, data: st.DataObject) -> None:
    name, valid, declared = CASES[format]
    content = bytearray(data.draw(st.sampled_from(valid)))
    for _ in range(data.draw(st.integers(1, 5))):
        place = data.draw(st.integers(0, max(len(content) - 1, 0)))
        how = data.draw(st.sampled_from(["flip", "cut", "insert", "double"]))
        if how == "flip" and content:
            content[place] = data.draw(st.integers(0, 255))
        elif how == "cut":
            del content[place : place + data.draw(st.integers(1, 200))]
        elif how == "insert":
            content[place:place] = data.draw(
                st.sampled_from(
                    [
                        b"NaN",
                        b"\xff\xfe",
                        b"[" * 3000,
                        b'{"a":' * 2000,
                        b"\n",
                        b"\x00",
                        b'"',
                        b"1e999",
                        b"\\ud800",
                    ]
                )
            )
        else:
            content += content[place : place + 2000]
    written(name, bytes(content), declared)


@pytest.mark.parametrize("format", [name for name in CASES if name != "promptfoo csv"])
@BUDGET
@given(data=st.data())
def test_damaged_values(format: str, data: st.DataObject) -> None:
    name, valid, declared = CASES[format]
    content = data.draw(st.sampled_from(valid))
    documents = documents_of(content)
    one = len(documents) == 1
    altered(data.draw, documents)
    indent = data.draw(st.sampled_from([None, 2])) if one else None
    text = "\n".join(json.dumps(document, indent=indent) for document in documents)
    written(name, text.encode("utf-8", "replace"), declared)


ARCHIVE = FILES / "inspect" / "log_streaming.eval"


def members() -> dict[str, bytes]:
    with zipfile.ZipFile(ARCHIVE) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@BUDGET
@given(data=st.data())
def test_damaged_members_of_an_archive(data: st.DataObject) -> None:
    content = members()
    for name in data.draw(st.lists(st.sampled_from(sorted(content)), max_size=3, unique=True)):
        how = data.draw(st.sampled_from(["alter", "alter", "drop", "cut"]))
        if how == "drop":
            del content[name]
        elif how == "cut":
            content[name] = content[name][: data.draw(st.integers(0, len(content[name])))]
        else:
            documents = [json.loads(content[name])]
            altered(data.draw, documents)
            content[name] = json.dumps(documents[0] if documents else None).encode(
                "utf-8", "replace"
            )
    if data.draw(st.booleans()):
        content[
            data.draw(
                st.sampled_from(
                    ["../out.json", "/abs.json", "samples/", "samples/x.json", "summaries.json"]
                )
            )
        ] = b"[1]"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log.eval")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, member in content.items():
                archive.writestr(name, member)
        read_or_refuse(path, SCORED)


@pytest.mark.parametrize(
    "archive",
    [ARCHIVE, FILES / "inspect" / "injection_defence-off.eval"],
    ids=["deflate", "zstandard"],
)
@BUDGET
@given(data=st.data())
def test_damaged_archives(archive: Path, data: st.DataObject) -> None:
    content = bytearray(archive.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        # The directory stands at the end: half of the damage goes there.
        start = data.draw(st.sampled_from([0, max(len(content) - 3000, 0)]))
        place = data.draw(st.integers(start, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        content = content[: data.draw(st.integers(4, len(content)))]
    declared = SCORED if archive == ARCHIVE else {"attack_success": "outcome.attack_success"}
    written("log.eval", bytes(content), declared)
