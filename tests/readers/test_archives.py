"""Zip archives from strangers: paths that lead out, bombs, encryption, zstandard members."""

from __future__ import annotations

import io
import os
import struct
import zipfile

import pytest

from ferrite_nb import OutcomesError
from ferrite_nb.readers._archives import member_bytes, members_of, open_zip


def made(path, **files):
    """A zip archive of these members."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/"), content)
    return path


def test_members_are_sorted_and_hidden_ones_left_out(tmp_path):
    made(tmp_path / "a.zip", b__2=b"two", a=b"one", **{".DS_Store": b"x"})
    with open_zip(tmp_path / "a.zip") as archive:
        members = members_of(archive)
        assert [member.filename for member in members] == ["a", "b/2"]
        assert [member_bytes(archive, member) for member in members] == [b"one", b"two"]


def test_an_archive_that_was_replaced_is_listed_anew(tmp_path):
    path = tmp_path / "a.zip"
    for turn, (name, content) in enumerate(
        [("one", b"first"), ("two", b"other"), ("one", b"third")]
    ):
        made(path, **{name: content})
        os.utime(path, (turn, turn))
        for _ in range(2):
            with open_zip(path) as archive:
                (member,) = members_of(archive)
                assert (member.filename, member_bytes(archive, member)) == (name, content)


def test_an_archive_is_closed_after_use_and_two_can_be_open(tmp_path):
    made(tmp_path / "a.zip", a=b"one")
    made(tmp_path / "b.zip", b=b"two")
    with open_zip(tmp_path / "a.zip") as first, open_zip(tmp_path / "b.zip") as second:
        assert member_bytes(first, members_of(first)[0]) == b"one"
        assert member_bytes(second, members_of(second)[0]) == b"two"
        stream = first.fp
        assert stream is not None
    assert stream.closed


@pytest.mark.parametrize(
    "name", ["../up", "a/../../up", "/etc/passwd", "..\\up", "C:/x", "\\\\host\\x"]
)
def test_a_path_outside_is_refused(tmp_path, name):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(zipfile.ZipInfo(name), b"x")
    with (
        open_zip(tmp_path / "a.zip") as archive,
        pytest.raises(OutcomesError, match=r"a.zip holds the member .* a path outside"),
    ):
        members_of(archive)


def test_a_member_above_the_limit_is_refused_by_what_it_unpacks_to(tmp_path):
    made(tmp_path / "a.zip", big=b"0" * 5_000_000)
    with (
        open_zip(tmp_path / "a.zip") as archive,
        pytest.raises(OutcomesError, match=r"a.zip, big unpacks to more than 1,000 bytes"),
    ):
        member_bytes(archive, members_of(archive)[0], limit=1000)


def test_an_archive_that_is_none_is_refused(tmp_path):
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04 and nothing else")
    with (
        pytest.raises(OutcomesError, match=r"a.zip cannot be read as a zip archive"),
        open_zip(tmp_path / "a.zip"),
    ):
        pass


def test_a_damaged_member_is_refused_with_its_name(tmp_path):
    path = made(tmp_path / "a.zip", one=bytes(range(256)) * 40)
    data = bytearray(path.read_bytes())
    data[60:80] = b"\xff" * 20
    path.write_bytes(bytes(data))
    with (
        open_zip(path) as archive,
        pytest.raises(OutcomesError, match=r"a.zip, one cannot be unpacked"),
    ):
        member_bytes(archive, members_of(archive)[0])


def test_an_encrypted_member_is_refused(tmp_path):
    path = made(tmp_path / "a.zip", one=b"x")
    data = bytearray(path.read_bytes())
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + at] |= 1
    path.write_bytes(bytes(data))
    with open_zip(path) as archive, pytest.raises(OutcomesError, match=r"a.zip, one is encrypted"):
        member_bytes(archive, members_of(archive)[0])


def zstandard_zip(content: bytes) -> bytes:
    """A zip archive with one member of method 93, which `zipfile` cannot write before Python
    3.14.
    """
    import zstandard

    stored = io.BytesIO()
    packed = zstandard.ZstdCompressor().compress(content)
    with zipfile.ZipFile(stored, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("one", packed)
    data = bytearray(stored.getvalue())
    for mark, at in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        struct.pack_into("<H", data, data.index(mark) + at, 93)
    return bytes(data)


def test_a_zstandard_member_is_read_and_bounded(tmp_path):
    pytest.importorskip("zstandard", reason="an optional package, of the extra `inspect`")
    (tmp_path / "a.zip").write_bytes(zstandard_zip(b"x" * 100_000))
    with open_zip(tmp_path / "a.zip") as archive:
        member = members_of(archive)[0]
        assert member_bytes(archive, member) == b"x" * 100_000
        with pytest.raises(OutcomesError, match=r"unpacks to more than 10 bytes"):
            member_bytes(archive, member, limit=10)


def test_without_zstandard_the_message_says_what_to_install(tmp_path, monkeypatch):
    pytest.importorskip("zstandard", reason="needed to write the archive of this test")
    (tmp_path / "a.zip").write_bytes(zstandard_zip(b"x"))
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    with (
        open_zip(tmp_path / "a.zip") as archive,
        pytest.raises(OutcomesError, match=r"pip install 'ferrite-nb\[inspect\]'"),
    ):
        member_bytes(archive, members_of(archive)[0])
