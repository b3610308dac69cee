"""Plain tables: everything as text, every separator, large files left on the engine."""

from __future__ import annotations

import json

import duckdb
import pandas as pd
import pytest

import ferrite_nb as fnb
from ferrite_nb.outcomes.declare import pandas_of
from ferrite_nb.readers import table
from ferrite_nb.readers._text import flat

from .test_read import TABLE, put


def records(runs):
    """Rows as tuples of case, mode and outcome."""
    frame = pandas_of(runs.table).sort_values(["case_id", "mode"])
    outcome = [None if pd.isna(value) else bool(value) for value in frame["attack_success"]]
    return list(zip(frame["case_id"], frame["mode"], outcome, strict=True))


WANTED = [("a", "Off", True), ("a", "On", False), ("b", "Off", False), ("b", "On", False)]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_every_separator_line_end_and_mark(tmp_path, separator, end, mark):
    text = mark + TABLE.replace(",", separator).replace("\n", end)
    runs = fnb.read(put(tmp_path, "a.csv", text))
    assert records(runs) == WANTED and runs.columns[0] == "case_id"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings(tmp_path, encoding):
    runs = fnb.read(put(tmp_path, "a.csv", TABLE.replace("a,", "é,").encode(encoding)))
    assert runs.frame["case_id"].tolist() == ["é", "b", "é", "b"]


def test_bytes_of_another_encoding_are_refused_until_it_is_named(tmp_path):
    path = put(tmp_path, "a.csv", TABLE.replace("a,", "é,").encode("cp1252"))
    with pytest.raises(fnb.OutcomesError, match=r'a.csv, line 2: the byte 0xe9.*"cp1252"') as told:
        fnb.read(path)
    assert (told.value.fix, told.value.row) == ("encoding", 2)
    assert fnb.read(path, encoding="cp1252").frame["case_id"].tolist() == ["é", "b", "é", "b"]
    with pytest.raises(ValueError, match="knows no encoding 'cp9'"):
        fnb.read(path, encoding="cp9")


def test_quoted_line_breaks_separators_and_quotes(tmp_path):
    text = 'case_id,mode,attack_success,said\n"a\nb","O,n",yes,"say ""x"""\n'
    row = fnb.read(put(tmp_path, "a.csv", text)).frame.iloc[0]
    assert row[["case_id", "mode", "said"]].tolist() == ["a\nb", "O,n", 'say "x"']


def test_keys_stay_as_they_are_written(tmp_path):
    names = ["001", "1E5", "None", "NA", "null", "nan", "1.0", "True", "<NA>", "-inf"]
    text = "case_id,mode,attack_success\n" + "".join(f"{name},NA,yes\n" for name in names)
    frame = fnb.read(put(tmp_path, "a.csv", text)).frame
    assert frame["case_id"].tolist() == names and set(frame["mode"]) == {"NA"}


def test_decimal_commas_become_points_in_number_columns_of_semicolon_files_only(tmp_path):
    text = "case_id;mode;attack_success;latency_ms;template\na;On;yes;1,25;1,25\nb;On;no;;2\n"
    frame = fnb.read(put(tmp_path, "a.csv", text)).frame
    assert frame["latency_ms"].tolist()[0] == 1.25 and pd.isna(frame["latency_ms"][1])
    assert frame["template"].tolist() == ["1,25", "2"]
    quoted = 'case_id,mode,attack_success,latency_ms\na,On,yes,"1,25"\n'
    with pytest.raises(
        fnb.OutcomesError, match=r"b.csv, row 1: column latency_ms has '1,25'; it must be a number"
    ):
        fnb.read(put(tmp_path, "b.csv", quoted))


def test_the_place_of_each_row_is_kept(tmp_path):
    frame = fnb.read(put(tmp_path, "a.csv")).frame
    assert frame["source"].tolist() == [f"a.csv, row {row}" for row in range(1, 5)]


def test_a_column_source_of_the_file_is_kept_apart(tmp_path):
    text = "case_id,mode,attack_success,source\na,On,yes,web\nb,On,maybe,mail\n"
    with pytest.raises(
        fnb.OutcomesError, match=r"^a.csv, row 2: column attack_success has 'maybe'"
    ):
        fnb.read(put(tmp_path, "a.csv", text))
    runs = fnb.read(put(tmp_path, "a.csv", text.replace("maybe", "no")))
    assert runs.frame["file_source"].tolist() == ["web", "mail"]
    assert any("file_source" in note for note in runs.notes)


# Damaged tables.
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            TABLE + "c,On,yes,extra\n",
            "a.csv is not a whole table: Expected 3 fields in line 6, saw 4",
        ),
        (TABLE + 'c,On,"yes\n', "a.csv is not a whole table: EOF inside string"),
        ("case_id,mode,mode\na,On,On\n", "a.csv: the columns mode stand twice in the first line"),
        ("case_id,,mode\na,x,On\n", "a.csv: a column has no name in the first line"),
        ("case_id,mode,attack_success\n", "a.csv has no row of outcomes"),
        (TABLE + "c,On,perhaps\n", "^a.csv, row 5: column attack_success has 'perhaps'"),
        (TABLE + ",On,yes\n", "^a.csv, row 5: column case_id has ''; a key must not be missing"),
        (
            TABLE + "a,On,yes\n",
            r"1 key \(case_id, mode\) .*the first in a.csv, row 3, a.csv, row 5",
        ),
    ],
)
def test_a_damaged_table_names_the_place(tmp_path, text, message):
    with pytest.raises(fnb.OutcomesError, match=message):
        fnb.read(put(tmp_path, "a.csv", text))


def test_a_half_written_last_line_is_counted(tmp_path):
    runs = fnb.read(put(tmp_path, "a.csv", TABLE + "c,O"))
    assert (
        records(runs) == WANTED and "half-written last lines: 1 (first: a.csv, row 5)" in runs.notes
    )


def test_rows_with_too_few_values_are_filled_and_counted(tmp_path):
    runs = fnb.read(put(tmp_path, "a.csv", TABLE + "c,On\n"))
    assert ("c", "On", None) in records(runs)
    assert "rows with fewer values than columns: 1 (first: a.csv, row 5)" in runs.notes


def test_an_empty_trailing_column_is_no_column(tmp_path):
    text = "\n".join(line + "," for line in TABLE.splitlines()) + "\n"
    assert records(fnb.read(put(tmp_path, "a.csv", text))) == WANTED


# JSON.
def test_json_lines_with_missing_keys_lists_and_nested_objects(tmp_path):
    lines = [
        {"case_id": 1, "mode": ["filter", "guard"], "outcome": {"hit": True}, "latency_ms": 1.5},
        {"case_id": "001", "mode": [], "outcome": {"hit": None}},
        {"case_id": 1.0, "mode": "none", "outcome": {}, "error": {"class": "x"}},
    ]
    lines[1]["mode"] = ["guard"]
    path = put(tmp_path, "a.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    frame = fnb.read(path, attack_success="outcome.hit", error="error.class").frame
    assert frame["case_id"].tolist() == ["1", "001", "1.0"]
    assert frame["mode"].tolist() == ["filter+guard", "guard", "none"]
    assert frame["attack_success"].isna().tolist() == [False, True, True]
    assert frame["error"].isna().tolist() == [True, True, False]
    assert frame["source"].tolist() == ["a.jsonl:1", "a.jsonl:2", "a.jsonl:3"]


def test_a_list_of_objects_is_a_table_too(tmp_path):
    objects = pd.DataFrame(
        [line.split(",") for line in TABLE.split()[1:]], columns=TABLE.split()[0].split(",")
    )
    path = put(tmp_path, "a.json", json.dumps([*objects.to_dict("records"), 7], indent=1))
    runs = fnb.read(path)
    assert records(runs) == WANTED and runs.frame["source"][0] == "a.json, object 1"
    assert "entries that are no JSON object: 1 (first: a.json, entry 5)" in runs.notes


@pytest.mark.parametrize(
    "text", ["[]", "[1, 2]", "[[]]", '{"a": 1', "{", "[", "{}{}", '[{"a": 1}, ']
)
def test_json_without_a_table_is_refused(tmp_path, text):
    with pytest.raises(fnb.OutcomesError):
        fnb.read(put(tmp_path, "a.json", text))


def test_nested_names_stop_at_a_depth():
    assert flat({"a": {"b": {"c": {"d": {"e": 1}}}}}) == {"a.b.c.d": {"e": 1}}
    assert flat({"a": {}}) == {"a": {}}


# Columnar files.
def frame_of_types():
    return pd.DataFrame(
        {
            "case_id": ["001", "1E5", "c"],
            "mode": ["Off", "Off", "On"],
            "attack_success": pd.array([True, None, False], dtype="boolean"),
            "group": pd.array([7, None, 3], dtype="Int64"),
            "latency_ms": [0.1, 1e-300, 12345678.9],
        }
    )


@pytest.mark.parametrize("write", ["parquet", "feather"])
def test_columnar_files_are_read_as_text(tmp_path, write):
    frame = frame_of_types()
    path = tmp_path / "data"
    frame.to_parquet(path) if write == "parquet" else frame.to_feather(path)
    runs = fnb.read(path)
    assert not runs.lazy
    assert runs.frame["attack_success"].tolist() == [True, pd.NA, False]
    assert runs.frame["group"].tolist()[0] == "7" and runs.frame["latency_ms"].tolist() == [
        0.1,
        1e-300,
        12345678.9,
    ]


def test_a_parquet_file_with_lists_joins_them(tmp_path):
    duckdb.sql("select 'a' case_id, ['x', 'y'] mode, true attack_success").write_parquet(
        str(tmp_path / "a.parquet")
    )
    assert fnb.read(tmp_path / "a.parquet").modes == ("x+y",)


@pytest.mark.parametrize("magic", [b"PAR1", b"ARROW1\x00\x00", b"FEA1"])
def test_a_damaged_columnar_file_is_refused_with_its_name(tmp_path, magic):
    with pytest.raises(
        fnb.OutcomesError, match=r"a.bin (cannot be read|is a Feather file of the first version)"
    ):
        fnb.read(put(tmp_path, "a.bin", magic + b"\x00" * 200 + magic))


# Large files stay on the engine.
@pytest.mark.parametrize("kind", ["csv", "parquet", "glob"])
def test_large_files_stay_on_the_engine(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(table, "LAZY_BYTES", 10)
    path = put(tmp_path, "a.csv")
    if kind == "parquet":
        path = tmp_path / "a.parquet"
        duckdb.read_csv(str(tmp_path / "a.csv")).write_parquet(str(path))
    elif kind == "glob":
        monkeypatch.setattr(table, "LAZY_ROWS", 4)
        for mode in ("Off", "On"):
            relation = duckdb.read_csv(str(tmp_path / "a.csv"), all_varchar=True).filter(
                f"mode = '{mode}'"
            )
            relation.write_parquet(str(tmp_path / f"[{mode}].parquet"))
        path = str(tmp_path / "*.parquet")
    runs = fnb.read(path)
    assert runs.lazy and not runs.checked and "keys not checked for duplicates" in repr(runs)
    assert records(runs) == WANTED
    assert fnb.rates(runs, "ASR")["k"].tolist() == [1, 0]
    assert fnb.read(path, check="full").checked


def test_a_parquet_file_of_many_rows_stays_on_the_engine(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "LAZY_ROWS", 3)
    frame_of_types().to_parquet(tmp_path / "a.parquet")
    assert fnb.read(tmp_path / "a.parquet").lazy


def test_a_large_and_a_small_file_are_named_together(tmp_path, monkeypatch):
    small, large = (
        put(tmp_path, "small.csv"),
        put(tmp_path, "large.csv", TABLE * 1 + "c,Off,yes\n" * 1),
    )
    monkeypatch.setattr(table, "LAZY_BYTES", small.stat().st_size + 1)
    runs = fnb.read({"before": small, "after": large})
    assert runs.lazy
    modes = set(pandas_of(runs.table)["mode"])
    assert modes == {"before/Off", "before/On", "after/Off", "after/On"}


def test_rows_of_many_small_files_name_their_own_file(tmp_path):
    for place in range(300):
        put(
            tmp_path,
            f"{place:03}.csv",
            f"case_id,mode,attack_success\na{place},On,yes\nb{place},On,no\n",
        )
    runs = fnb.read(tmp_path)
    assert len(runs.frame) == 600 and runs.frame["source"].iloc[[0, 1, -1]].tolist() == [
        "000.csv, row 1",
        "000.csv, row 2",
        "299.csv, row 2",
    ]
    put(tmp_path, "150.csv", "case_id,mode,attack_success\na150,On,yes\nb150,On,perhaps\n")
    with pytest.raises(
        fnb.OutcomesError, match=r" 150\.csv, row 2: column attack_success has 'perhaps'"
    ):
        fnb.read(tmp_path)


def test_a_file_whose_two_outcomes_contradict_each_other_is_named_with_its_row(tmp_path):
    head = "case_id,mode,attack_success,attack_resisted\n"
    put(tmp_path, "a.csv", head + "a,On,yes,no\nb,On,no,yes\nc,On,,yes\n")
    assert fnb.read(tmp_path / "a.csv").frame["attack_success"].tolist() == [True, False, pd.NA]
    put(tmp_path, "b.csv", head + "d,On,yes,no\ne,On,no,no\nf,On,yes,yes\n")
    for path in (tmp_path / "b.csv", tmp_path):
        with pytest.raises(
            fnb.OutcomesError, match=r"b\.csv, row 2 and 1 more: column attack_resisted has 'no'"
        ):
            fnb.read(path)
    runs = fnb.read(tmp_path / "b.csv", attack_resisted="attack_resisted")
    assert runs.frame["attack_success"].tolist() == [True, True, False]
    assert (
        "rows whose other outcome (attack_success) contradicts the declared outcome: 2"
        in runs.notes
    )
