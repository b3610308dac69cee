"""`read`: what a path may be, how a format is recognised, what is said when nothing fits."""

from __future__ import annotations

import io
import json
import os
import pickle
import zipfile
from pathlib import Path

import pandas as pd
import pytest

import ferrite_nb as fnb
from ferrite_nb.outcomes.declare import pandas_of
from ferrite_nb.readers._files import BAR_FROM
from ferrite_nb.readers.read import READERS, readers
from ferrite_nb.readers.recognise import Head, head_of, separator_of, top_keys
from tests.engines import ENGINES, on_engine

TABLE = "case_id,mode,attack_success\na,Off,yes\nb,Off,no\na,On,no\nb,On,no\n"


def put(folder: Path, name: str, content: str | bytes = TABLE) -> Path:
    """A file with this content."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# What a path may be.
def test_a_file_a_folder_a_glob_and_a_list_give_the_same_rows(tmp_path):
    off, on = (TABLE.splitlines(keepends=True)[i] for i in (1, 3))
    head = TABLE.splitlines(keepends=True)[0]
    one, two = put(tmp_path, "1.csv", head + off), put(tmp_path, "2.csv", head + on)
    wanted = pd.concat([fnb.read(one).frame, fnb.read(two).frame], ignore_index=True)
    for what in (
        tmp_path,
        str(tmp_path),
        str(tmp_path / "*.csv"),
        tmp_path / "?.csv",
        [one, two],
        (str(one), two),
    ):
        pd.testing.assert_frame_equal(fnb.read(what).frame, wanted)


def test_a_name_with_brackets_is_a_file_before_it_is_a_pattern(tmp_path):
    path = put(tmp_path, "run[1].csv")
    assert len(fnb.read(path).frame) == 4


@pytest.mark.parametrize("name", ["gone.csv", "*.nothing", "x" * 5000, "zero\x00byte"])
def test_what_is_not_there_is_said(tmp_path, name):
    with pytest.raises(fnb.OutcomesError, match=r"no file or folder|no file matches|is no path"):
        fnb.read(str(tmp_path / name))


def test_a_bad_call_is_a_plain_error(tmp_path):
    with pytest.raises(ValueError, match=r"the list of files is empty"):
        fnb.read([])
    with pytest.raises(ValueError, match=r"name at least one file"):
        fnb.read({})
    with pytest.raises(TypeError, match=r"a list given to fnb.read holds paths"):
        fnb.read([pd.DataFrame()])
    with pytest.raises(
        TypeError, match=r"a frame of pandas, Polars, PyArrow, DuckDB or Spark is needed, got int"
    ):
        fnb.read(3)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_frame_passes_through(engine):
    frame = pd.read_csv(io.StringIO(TABLE), dtype=str)
    runs = fnb.read(on_engine(engine, frame))
    assert runs.lazy == (engine in ("polars lazy", "duckdb")) and runs.source == "table"


def test_declarations_reach_every_file(tmp_path):
    text = TABLE.replace("case_id,mode,attack_success", "id,defence,hit")
    put(tmp_path, "1.csv", text)
    runs = fnb.read(tmp_path, case_id="id", mode="defence", attack_success="hit", keep="last")
    assert runs.frame["attack_success"].tolist() == [True, False, False, False]


# Names as modes.
def test_names_become_the_modes(tmp_path):
    text = "case_id,attack_success\na,yes\nb,no\n"
    runs = fnb.read({"before": put(tmp_path, "1.csv", text), "after": put(tmp_path, "2.csv", text)})
    assert runs.modes == ("before", "after")
    assert runs.frame[["case_id", "mode"]].apply(tuple, axis=1).tolist() == [
        ("a", "before"),
        ("b", "before"),
        ("a", "after"),
        ("b", "after"),
    ]
    assert runs.source == "1.csv, 2.csv"


def test_a_file_of_one_mode_gets_its_name_and_one_of_several_keeps_them_apart(tmp_path):
    one = put(tmp_path, "1.csv", "case_id,mode,attack_success\na,x,yes\n")
    runs = fnb.read({"before": one, "after": put(tmp_path, "2.csv")})
    assert runs.modes == ("before", "after/Off", "after/On")
    assert "before: the mode 'x' is called 'before', as asked" in runs.notes
    assert "after: several modes in one file: they are called after/<mode>" in runs.notes


@pytest.mark.parametrize("engine", ENGINES)
def test_named_frames_need_no_mode(engine):
    frame = on_engine(engine, pd.DataFrame({"case_id": ["a"], "attack_success": ["yes"]}))
    runs = fnb.read({"before": frame, "after": frame})
    assert runs.lazy == (engine == "duckdb")
    assert sorted(pandas_of(runs.table)["mode"]) == ["after", "before"]


def test_tables_of_two_connections_are_refused_with_what_to_do():
    frame = pd.DataFrame({"case_id": ["a"], "attack_success": ["yes"]})
    with pytest.raises(fnb.OutcomesError, match="live on different engines or connections"):
        fnb.read({"before": on_engine("duckdb", frame), "after": on_engine("duckdb", frame)})


def test_notes_of_all_files_are_said_once(tmp_path):
    text = "case_id,attack_success\na,yes\n"
    runs = fnb.read({name: put(tmp_path, f"{name}.csv", text) for name in "xyz"})
    assert sum("no column kind" in note for note in runs.notes) == 1


def test_a_table_of_counts_and_one_of_cases_are_not_mixed(tmp_path):
    counts = put(tmp_path, "counts.csv", "k,n\n1,2\n")
    with pytest.raises(
        fnb.OutcomesError, match=r"table of counts and a table of cases cannot be read as one"
    ):
        fnb.read({"a": counts, "b": put(tmp_path, "cases.csv")})


# Recognising.
def test_every_reader_says_its_name_and_the_plain_table_is_last():
    assert READERS[-1] == "table" and len(set(READERS)) == len(READERS)
    assert all(reader.NAME for reader in readers())


@pytest.mark.parametrize("name", ["results", "results.txt", "results.json", "results.csv.bak"])
def test_a_format_is_recognised_by_its_content(tmp_path, name):
    assert len(fnb.read(put(tmp_path, name)).frame) == 4
    objects = "".join(
        json.dumps(one) + "\n" for one in pd.read_csv(io.StringIO(TABLE)).to_dict("records")
    )
    assert len(fnb.read(put(tmp_path, name, objects)).frame) == 4


def workbook() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "a.csv is empty: it holds no results"),
        ("a.csv", b" \r\n\n", "a.csv is empty"),
        ("a.csv", b"\xef\xbb\xbf\n", "a.csv is empty"),
        ("a.xlsx", workbook(), "a.xlsx (?:is a workbook; install its reader|cannot be read)"),
        ("a.csv", workbook(), "a.csv (?:is a workbook; install its reader|cannot be read)"),
        (
            "a.xls",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600,
            "a.xls is a spreadsheet; save it as CSV",
        ),
        ("a.csv", pickle.dumps({"a": 1}), "a.csv is a Python pickle, .* never read"),
        ("a.pkl", pickle.dumps({"a": 1}, protocol=0), "a.pkl is a Python pickle"),
        ("a.csv", bytes(range(256)) * 20, "a.csv is a binary file"),
        ("a.csv", b"\x7fELF\x02\x01\x01\x00" + b"\x00" * 90, "a.csv is a binary file"),
        ("a.7z", b"7z\xbc\xaf\x27\x1c" + b"\x01" * 90, "a.7z is packed"),
        ("a.pdf", b"%PDF-1.7 ...", "a.pdf is a PDF"),
        (
            "a.txt",
            b"only one word\n",
            "no known results format. It looks like text that starts with 'only one word",
        ),
        ("a.zip", b"PK\x05\x06" + b"\x00" * 18, "no known results format"),
    ],
)
def test_what_is_never_read_is_refused_with_one_sentence(tmp_path, name, content, message):
    path = put(tmp_path, name, content)
    with pytest.raises(fnb.OutcomesError, match=message):
        fnb.read(path)


def test_a_pickle_is_not_opened(tmp_path):
    class Trap:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "ran",))

    with pytest.raises(fnb.OutcomesError, match=r"never read"):
        fnb.read(put(tmp_path, "a.pkl", pickle.dumps(Trap())))
    assert not (tmp_path / "ran").exists()


def test_a_foreign_database_is_refused(tmp_path):
    import sqlite3

    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("CREATE TABLE other (x)")
    connection.close()
    with pytest.raises(
        fnb.OutcomesError,
        match=r"a.db: no known results format. It looks like a file of kind sqlite",
    ):
        fnb.read(tmp_path / "a.db")


def test_a_zip_of_unknown_members_names_them(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("notes.txt", "x")
    with pytest.raises(
        fnb.OutcomesError, match=r"a zip archive with the members notes.txt. What can be read: "
    ):
        fnb.read(tmp_path / "a.zip")


# Folders.
def test_an_empty_folder_and_one_without_results_are_refused(tmp_path):
    with pytest.raises(
        fnb.OutcomesError, match=r"holds no results that can be read; it holds nothing"
    ):
        fnb.read(tmp_path)
    put(tmp_path, "README.md", "a, b\n")
    put(tmp_path, "figure.png", b"\x89PNG\x00")
    with pytest.raises(
        fnb.OutcomesError, match=r"it holds README.md, figure.png. What can be read"
    ):
        fnb.read(tmp_path)


def test_other_files_of_a_folder_are_counted(tmp_path):
    put(tmp_path, "a.csv")
    put(tmp_path, "README.md", "text")
    put(tmp_path, "sub/figure.png", b"\x89PNG\x00")
    runs = fnb.read(tmp_path)
    assert (
        "files in the folder that hold no known results and were not read: 2 (first: README.md)"
        in runs.notes
    )


RUN = {
    "schema": 1,
    "case_id": "a",
    "mode": "off",
    "kind": "attack",
    "outcome": {"attack_executed": True},
}


def test_a_plain_table_beside_results_of_a_harness_is_noted_not_read(tmp_path):
    put(tmp_path, "runs.jsonl", json.dumps(RUN | {"run_key": "a|off"}) + "\n")
    put(tmp_path, "summary.csv", "mode,rate\noff,0.5\n")
    runs = fnb.read(tmp_path)
    assert len(runs.frame) == 1
    assert any(
        "files in the folder that were not read" in note and "summary.csv" in note
        for note in runs.notes
    )


def test_a_folder_of_several_formats_is_refused(tmp_path):
    put(tmp_path, "runs.jsonl", json.dumps(RUN | {"run_key": "a|off"}) + "\n")
    put(
        tmp_path,
        "eval.csv",
        "case_id,corpus,tier,defense_mode,final_outcome\na,Attack,T,On,Executed\n",
    )
    with pytest.raises(
        fnb.OutcomesError, match=r"holds results of several formats .*; name the files to read"
    ):
        fnb.read(tmp_path)


def test_ten_thousand_files_are_read(tmp_path):
    for number in range(10_000):
        line = RUN | {
            "case_id": f"c{number}",
            "run_key": f"c{number}|off",
            "ground_truth": "deviation",
        }
        (tmp_path / f"{number}.jsonl").write_text(json.dumps(line) + "\n")
    runs = fnb.read(tmp_path)
    assert len(runs.frame) == 10_000 and runs.frame["case_id"].nunique() == 10_000


def test_many_files_show_a_text_bar(tmp_path, capsys):
    for number in range(BAR_FROM):
        (tmp_path / f"{number}.csv").write_text(
            f"case_id,mode,attack_success\nc{number},On,{number % 2}\n"
        )
    runs = fnb.read(tmp_path)
    assert runs.frame["attack_success"].sum() == BAR_FROM / 2
    assert "looking" in capsys.readouterr().err


# The head of a file.
def test_keys_are_found_in_a_text_cut_anywhere():
    whole = json.dumps({"a": {"x": ['}"', "{"]}, 'b"c': [{"d": 1}], "e": "f:g", "h": 1})
    keys = top_keys(whole)
    assert keys == ["a", 'b\\"c', "e", "h"]
    for cut in range(len(whole)):
        assert keys[: len(top_keys(whole[:cut]))] == top_keys(whole[:cut])


@pytest.mark.parametrize(
    ("line", "separator"),
    [
        ("a,b", ","),
        ("a;b", ";"),
        ("a\tb", "\t"),
        ("a|b", "|"),
        ('"a,b,c";d', ";"),
        ("one", ","),
        ("a,b;c,d", ","),
    ],
)
def test_the_separator_is_the_one_that_stands_most_often(line, separator):
    assert separator_of(line) == separator


def test_the_head_of_a_wide_text_is_read(tmp_path):
    head = head_of(put(tmp_path, "a.txt", TABLE.encode("utf-16")))
    assert head.kind == "text" and head.columns == ("case_id", "mode", "attack_success")


def test_a_comment_line_is_no_header():
    head = Head(Path("a.csv"), b"# dataset_version=1.0,,,\na,b\n1,2\n")
    assert head.comment == "# dataset_version=1.0,,," and head.columns == ("a", "b")


# Round trips.
SAMPLES = Path(__file__).parent / "files"


@pytest.mark.parametrize(
    "name",
    [
        "ferrite/eval_report.csv",
        "ferrite/corpus.db",
        "ferrite/executions.jsonl",
        "ferrite/report.csv",
        "ferrite/ollama--small_1b--main_1b.jsonl",
        "agentdyn_gpt4o_four_modes.csv.gz",
        "asb_two_runs.csv.gz",
    ],
)
def test_what_a_reader_gives_survives_parquet(tmp_path, name):
    runs = fnb.read(SAMPLES / name)
    runs.frame.to_parquet(tmp_path / "runs.parquet")
    again = fnb.read(tmp_path / "runs.parquet")
    shared = [column for column in again.columns if column in runs.columns]
    # A table of counts has no places; the plain table makes its own.
    assert set(runs.columns) == set(shared) and set(again.columns) - set(shared) <= {"source"}
    pd.testing.assert_frame_equal(again.frame[shared], runs.frame[shared])
    assert again.modes == runs.modes


def test_reading_leaves_the_files_unchanged(tmp_path):
    path = put(tmp_path, "a.csv")
    before = path.stat().st_mtime_ns, path.read_bytes()
    fnb.read(path)
    assert (path.stat().st_mtime_ns, path.read_bytes()) == before and list(tmp_path.iterdir()) == [
        path
    ]


def test_a_pipe_is_refused_before_it_is_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "results.csv")
    with pytest.raises(
        fnb.OutcomesError, match=r"results.csv is a pipe or a device.*save it as a file first"
    ):
        fnb.read(tmp_path / "results.csv")
