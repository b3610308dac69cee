"""Access to files from strangers: long and torn lines, odd bytes, deep nesting, links, folders of
many files.
"""

from __future__ import annotations

import gzip
import json
import os

import pytest

from ferrite_nb import OutcomesError
from ferrite_nb.readers import _files
from ferrite_nb.readers._files import (
    Tally,
    frame_of,
    json_file,
    json_lines,
    names_in,
    part_of,
    text_of,
    whole_file,
)


def lines(path, content):
    """The objects in a file of these bytes, and what was counted."""
    path.write_bytes(content)
    tally = Tally()
    return list(json_lines(path, tally)), tally.notes()


def test_blank_lines_a_byte_order_mark_and_windows_ends_are_skipped(tmp_path):
    found, notes = lines(tmp_path / "a.jsonl", b'\xef\xbb\xbf{"a": 1}\r\n\r\n  \n{"a": 2}\r\n')
    assert found == [(1, {"a": 1}), (4, {"a": 2})] and notes == []


def test_a_torn_last_line_is_counted_as_half_written(tmp_path):
    found, notes = lines(tmp_path / "a.jsonl", b'{"a": 1}\n{"a": 2')
    assert found == [(1, {"a": 1})] and notes == ["half-written last lines: 1 (first: a.jsonl:2)"]


def test_a_whole_last_line_without_its_end_is_read(tmp_path):
    assert lines(tmp_path / "a.jsonl", b'{"a": 1}\n{"a": 2}')[0] == [(1, {"a": 1}), (2, {"a": 2})]


def test_unreadable_lines_are_counted_with_the_first_place(tmp_path):
    found, notes = lines(tmp_path / "a.jsonl", b'{"a": 1}\n{oops}\n[1]\n{"a": 2}\n{{\n')
    assert [value for _, value in found] == [{"a": 1}, {"a": 2}]
    assert notes == [
        "lines that cannot be read: 2 (first: a.jsonl:2)",
        "lines that hold no JSON object: 1 (first: a.jsonl:3)",
    ]


def test_bare_nan_and_infinity_are_read(tmp_path):
    found, notes = lines(tmp_path / "a.jsonl", b'{"a": NaN, "b": -Infinity}\n')
    assert str(found[0][1]) == "{'a': nan, 'b': -inf}" and notes == []


def test_bytes_that_are_not_utf8_are_replaced_and_counted(tmp_path):
    found, notes = lines(tmp_path / "a.jsonl", b'{"a": "caf\xe9"}\n')
    assert found[0][1] == {"a": "caf\ufffd"}
    assert notes == [
        "texts with bytes that are not UTF-8, which were replaced: 1 (first: a.jsonl:1)"
    ]


def test_half_a_surrogate_pair_is_replaced(tmp_path):
    found, _ = lines(tmp_path / "a.jsonl", b'{"a\\udc00": ["x\\ud800", {"b": "\\ud83d\\ude00"}]}\n')
    assert json.dumps(found[0][1]).encode().decode() and found[0][1]["a\ufffd"][1] == {
        "b": "\U0001f600"
    }


def test_a_line_that_is_nested_too_deeply_is_counted(tmp_path):
    deep = b'{"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}\n"
    found, notes = lines(tmp_path / "a.jsonl", deep + b'{"a": 1}\n')
    assert found == [(2, {"a": 1})]
    assert notes == ["lines that cannot be read (nested too deeply): 1 (first: a.jsonl:1)"]


def test_a_document_that_is_nested_too_deeply_is_refused(tmp_path):
    (tmp_path / "a.json").write_bytes(b"[" * 200_000)
    with pytest.raises(
        OutcomesError, match=r"a.json is not whole JSON: it is damaged \(nested too deeply\)"
    ):
        json_file(tmp_path / "a.json", Tally())


def test_a_number_with_too_many_digits_is_counted(tmp_path):
    found, notes = lines(tmp_path / "a.jsonl", b'{"a": ' + b"9" * 10_000 + b"}\n")
    assert len(found) + len(notes) == 1
    for _, record in found:
        assert isinstance(text_of(record["a"]), str)


def test_a_line_of_fifty_megabytes_is_read(tmp_path):
    text = "x" * (50 * 2**20)
    found, notes = lines(tmp_path / "a.jsonl", json.dumps({"a": text}).encode() + b'\n{"a": 1}\n')
    assert found[0][1]["a"] == text and found[1] == (2, {"a": 1}) and notes == []


def test_a_line_above_the_limit_is_skipped_and_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(_files, "LINE_LIMIT", 64)
    content = b'{"a": 1}\n{"a": "' + b"x" * 500 + b'"}\n{"a": 3}\n'
    found, notes = lines(tmp_path / "a.jsonl", content)
    assert found == [(1, {"a": 1}), (3, {"a": 3})]
    assert notes == ["lines that are too long and were skipped: 1 (first: a.jsonl:2)"]


def test_gzip_is_unpacked_by_content_and_a_bomb_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"
    assert lines(path, gzip.compress(b'{"a": 1}\n'))[0] == [(1, {"a": 1})]
    monkeypatch.setattr(_files, "UNPACKED_LIMIT", 1000)
    with pytest.raises(OutcomesError, match=r"unpacks to more than 1,000 bytes"):
        lines(path, gzip.compress(b'{"a": 1}\n' * 1000))


def test_a_damaged_gzip_file_is_refused_with_its_name(tmp_path):
    packed = gzip.compress(os.urandom(5000))
    for damaged in (packed[:100], packed[:50] + b"\x00" * 50 + packed[100:]):
        with pytest.raises(OutcomesError, match=r"a.jsonl cannot be read"):
            lines(tmp_path / "a.jsonl", damaged)


def test_a_document_above_the_limit_is_refused(tmp_path):
    (tmp_path / "a.json").write_bytes(b"[" + b"1," * 1000 + b"1]")
    with pytest.raises(OutcomesError, match=r"a.json has more than 100 bytes"):
        whole_file(tmp_path / "a.json", limit=100)
    assert len(whole_file(tmp_path / "a.json")) == 2003


def test_a_missing_or_locked_file_is_refused_with_its_name(tmp_path):
    with pytest.raises(OutcomesError, match=r"gone.json cannot be read: No such file"):
        whole_file(tmp_path / "gone.json")
    with pytest.raises(OutcomesError, match=r"cannot be read: Is a directory"):
        whole_file(tmp_path)


def test_links_out_of_the_folder_are_not_followed(tmp_path):
    folder, outside = tmp_path / "runs", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (outside / "secret.json").write_text("{}")
    (folder / "a.json").write_text("{}")
    (folder / ".hidden").write_text("{}")
    (folder / "file.json").symlink_to(outside / "secret.json")
    (folder / "folder").symlink_to(outside)
    (folder / "broken.json").symlink_to(folder / "gone.json")
    (folder / "loop").symlink_to(folder)
    (folder / "same.json").symlink_to(folder / "a.json")
    tally = Tally()
    assert [os.path.basename(name) for name in names_in(folder, tally)] == ["a.json", "same.json"]
    assert tally.notes()[0].startswith(
        "links to folders or out of the folder, which were not followed: 4"
    )


def test_names_are_sorted_through_folders(tmp_path):
    for name in ("b/2.json", "a/1.json", "c.json", "b/10.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    found = [os.path.relpath(name, tmp_path) for name in names_in(tmp_path, Tally())]
    assert found == ["a/1.json", "b/10.json", "b/2.json", "c.json"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        ("", ""),
        ("x", "x"),
        (True, "true"),
        (False, "false"),
        (7, "7"),
        (1.0, "1.0"),
        (["a", 1, None], "a+1+"),
        ({"b": 1, "a": "é"}, '{"a": "é", "b": 1}'),
    ],
)
def test_json_values_as_texts(value, text):
    assert text_of(value) == text


def test_a_deep_value_is_no_crash():
    deep: list = []
    for _ in range(5_000):
        deep = [deep]
    assert isinstance(text_of(deep), str)
    assert text_of(10**5000) == "(too large to show)"


def test_a_part_that_is_no_object_is_empty():
    for value in (None, 3, "x", [], {"outcome": None}, {"outcome": [1]}, {}):
        assert part_of(value, "outcome") == {}
    assert part_of({"outcome": {"a": 1}}, "outcome") == {"a": 1}


def test_rows_with_different_keys_make_one_frame():
    frame = frame_of([{"a": 1}, {"b": "x", "a": None}])
    assert frame.columns.tolist() == ["a", "b"]
    assert frame["a"].isna().tolist() == [False, True] and frame["b"].isna().tolist() == [
        True,
        False,
    ]
