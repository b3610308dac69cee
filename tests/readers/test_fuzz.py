"""Mutated files of every format: outcomes with notes or an `OutcomesError`, nothing else, ever."""

from __future__ import annotations

import gzip
import io
import json
import random
import shutil
import tempfile
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ferrite_nb as fnb
from ferrite_nb.outcomes.contract import FLAGS
from ferrite_nb.outcomes.declare import pandas_of
from ferrite_nb.readers import read_labels, read_scores

from .test_agentdojo import run
from .test_jailbreakbench import artifact
from .test_labels import metrics
from .test_read import TABLE

FILES = Path(__file__).parent / "files"


def unpacked(name: str, most: int = 60_000) -> bytes:
    """A sample, unpacked and cut to some whole lines."""
    data = (FILES / name).read_bytes()
    data = gzip.decompress(data) if name.endswith(".gz") else data
    return data if len(data) <= most else data[: data.rindex(b"\n", 0, most) + 1]


def parquet() -> bytes:
    stream = io.BytesIO()
    pd.read_csv(io.StringIO(TABLE), dtype=str).to_parquet(stream)
    return stream.getvalue()


def feather() -> bytes:
    stream = io.BytesIO()
    pd.read_csv(io.StringIO(TABLE), dtype=str).to_feather(stream)
    return stream.getvalue()


def archive() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as target:
        for number in range(3):
            name = f"runs/m/shop/user_task_0/direct/injection_task_{number}.json"
            target.writestr(name, json.dumps(run(f"injection_task_{number}", attack_type="direct")))
    return stream.getvalue()


OBJECTS = "".join(
    json.dumps(row) + "\n" for row in pd.read_csv(io.StringIO(TABLE)).to_dict("records")
)
# One valid file of each format; garak, Inspect, promptfoo, lm-eval and OpenAI evals are fuzzed
# beside their readers.
SAMPLES: dict[str, bytes] = {
    "table.csv": TABLE.encode(),
    "table.tsv": TABLE.replace(",", "\t").encode("utf-16"),
    "comma.csv": b"case_id;mode;attack_success;latency_ms\n1;On;yes;1,5\n2;On;no;2,5\n",
    "counts.csv": b"mode,k,n\nOff,3,20\nOn,0,20\n",
    "pairs.csv": b"mode_a,mode_b,both,b,c,neither\nOff,On,5,7,1,9\n",
    "rates.csv": b"mode,asr,n\nOff,45.2,500\nOn,0.8,500\n",
    "table.jsonl": OBJECTS.encode(),
    "table.json": ("[" + ",".join(OBJECTS.split("\n")[:4]) + "]").encode(),
    "table.parquet": parquet(),
    "table.arrow": feather(),
    "table.csv.gz": gzip.compress(TABLE.encode()),
    "eval_report.csv": unpacked("ferrite/eval_report.csv"),
    "corpus.db": unpacked("ferrite/corpus.db"),
    "executions.jsonl": unpacked("ferrite/executions.jsonl"),
    "cases.jsonl": unpacked("ferrite/cases.jsonl"),
    "case_file.json": unpacked("ferrite/case_file.json"),
    "live.jsonl": unpacked("ferrite/ollama--small_1b--main_1b.jsonl"),
    "report.csv": unpacked("ferrite/report.csv"),
    "run.json": json.dumps(run()).encode(),
    "runs.zip": archive(),
    "summary.csv": unpacked("agentdyn_gpt4o_four_modes.csv.gz", 20_000),
    "asb.csv": unpacked("asb_two_runs.csv.gz", 10_000),
    "artifact.json": artifact(stored=1).encode(),
    "labels.csv": b"item,human,judge\n1,true,false\n2,,refused\n",
    "judge.csv": b"judge,tp,fn,tn,fp\nJ,47,140,186,3\n",
    "metrics.jsonl": metrics().encode(),
    "pyrit.csv": b"# dataset_version=1.0,,\n" + unpacked("pyrit_hate_speech_3raters.csv", 500),
    "scores.csv": b"id,score,label\n1,0.9,attack\n2,0.2,benign\n",
}
# What strangers write where something else is expected.
ODD = [
    b"",
    b"null",
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"[]",
    b"{}",
    b'""',
    b"true",
    b"-1",
    b"9" * 400,
    b'"\\ud800"',
    b"\x00",
    b"\xff\xfe",
    b"\xc3",
    b'"',
    b",",
    b";",
    b"\n",
    b"\r",
    b"\t",
    b"{",
    b"}",
    b"[" * 1500,
    b'{"a":' * 1500,
    b"=1+1",
    b"0.5",
    b"yes",
    b"maybe",
    b"timeout",
    b"../../x",
    b"\xef\xbb\xbf",
    b"'",
    b"\\",
    b"%s",
    b"\x1b[2J",
    "é\u202e".encode(),
    b"1,5",
]


def mutated(content: bytes, seed: int) -> bytes:
    """The content after one to four small accidents."""
    rng = random.Random(seed)
    data = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.choice([0, 1, 1, 4, 40, 400]))
        what = rng.randrange(6)
        if what == 0:
            data = data[:start]
        elif what == 1:
            data[start:end] = b""
        elif what == 2:
            data[start:end] = rng.choice(ODD)
        elif what == 3:
            data[start:start] = data[start:end] * rng.choice([1, 1, 30])
        elif what == 4 and data:
            data[start % len(data)] = rng.randrange(256)
        else:
            swap_value(data, rng)
    return bytes(data)


def swap_value(data: bytearray, rng: random.Random) -> None:
    """Put something odd in the place of one value, between two marks of the format."""
    marks = [place for place, byte in enumerate(data) if byte in b",:;\n\t"]
    if len(marks) > 1:
        first = rng.randrange(len(marks) - 1)
        data[marks[first] + 1 : marks[first + 1]] = rng.choice(ODD)


def valid(runs: fnb.Outcomes) -> None:
    """Outcomes keep the contract, whatever they were read from, and can be shown."""
    frame = pandas_of(runs.table)
    assert len(frame) and set(frame["kind"]) <= {"attack", "benign"}
    assert frame["mode"].notna().all()
    for name in FLAGS:
        if name in frame:
            assert set(frame[name].dropna()) <= {True, False}
    if "attack_success" in frame and "error" in frame:
        assert frame.loc[frame["error"].notna(), "attack_success"].isna().all()
    assert all(isinstance(note, str) for note in runs.notes)
    repr(runs).encode()
    runs._repr_html_().encode()


def survives(folder: Path, name: str, content: bytes) -> None:
    path = folder / name
    path.write_bytes(content)
    for reads in (
        (fnb.read, read_labels, read_scores)
        if name.startswith(("labels", "judge", "metrics", "pyrit", "sc"))
        else (fnb.read,)
    ):
        try:
            found = reads(path)
        except fnb.OutcomesError as problem:
            assert str(problem) and len(str(problem)) < 4000
            str(problem).encode()
            continue
        if isinstance(found, fnb.Outcomes):
            valid(found)


@pytest.mark.parametrize("name", SAMPLES)
def test_the_sample_itself_is_read_or_explained(tmp_path, name):
    survives(tmp_path, name, SAMPLES[name])


@pytest.mark.parametrize("name", SAMPLES)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**32))
def test_a_mutated_file_is_read_or_refused(name, seed):
    folder = Path(tempfile.mkdtemp())
    try:
        survives(folder, name, mutated(SAMPLES[name], seed))
    finally:
        shutil.rmtree(folder)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**32))
def test_a_folder_with_mutated_files_is_read_or_refused(seed):
    folder = Path(tempfile.mkdtemp())
    try:
        for name in ("eval_report.csv", "corpus.db", "executions.jsonl", "cases.jsonl"):
            (folder / name).write_bytes(mutated(SAMPLES[name], seed))
        try:
            valid(fnb.read(folder))
        except fnb.OutcomesError as problem:
            assert str(problem)
    finally:
        shutil.rmtree(folder)
