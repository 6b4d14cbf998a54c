"""Files of entries: byte for byte, private, never overwritten."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.errors import SettingsError
from streamops.model.entries import Entry
from streamops.model.ids import MAX_PART, EntryId
from streamops.operate.backups import BackupWriter, entry_line, forbid_existing, parse_line, read_backup

PLAIN = Entry(EntryId(1, 0), ((b"kind", b"paid"), (b"tag", b"a"), (b"tag", b"b")))
BINARY = Entry(EntryId(2, 7), ((b"\xff", b"\x00\xfe"), (b"empty", b""), (b"", b"line\nend")))

entries = st.builds(
    Entry,
    st.builds(EntryId, st.integers(0, MAX_PART), st.integers(0, MAX_PART)),
    st.lists(st.tuples(st.binary(), st.binary()), max_size=5).map(tuple),
)
names = st.binary(min_size=1).map(lambda raw: raw.decode("utf-8", "surrogateescape"))


@given(names, entries)
def test_every_byte_comes_back(stream: str, entry: Entry) -> None:
    line = entry_line(stream, entry)
    assert line.count(b"\n") == 1
    assert parse_line(line) == (stream, entry)


def test_a_line_reads_as_documented() -> None:
    assert json.loads(entry_line("orders", PLAIN)) == {
        "stream": "orders",
        "id": "1-0",
        "fields": [["kind", "paid"], ["tag", "a"], ["tag", "b"]],
    }
    assert json.loads(entry_line("caf\udce9", BINARY))["stream"] == {"base64": "Y2Fm6Q=="}


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b"[]",
        b'{"stream": "s", "id": "x", "fields": []}',
        b'{"stream": "s", "id": "1-0", "fields": [["a"]]}',
        b'{"stream": "s", "id": "1-0", "fields": [["a", {"base64": "???"}]]}',
        b'{"stream": "s", "id": "1-0", "fields": [["a", 1]]}',
    ],
)
def test_what_is_no_entry_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - msgspec's and our own have no common text
        parse_line(line)


def test_a_file_is_private_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "state" / "backups" / "b.jsonl"
    with BackupWriter(path) as backup:
        backup.write("orders", [PLAIN])
        backup.write("orders", [])
        backup.write("orders", [BINARY])
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert backup.written == 2
    assert list(read_backup(path)) == [("orders", PLAIN), ("orders", BINARY)]


def test_no_file_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "b.jsonl"
    path.write_text("precious")
    with pytest.raises(SettingsError, match="exists already"), BackupWriter(path):
        pass
    with pytest.raises(SettingsError, match="exists already"):
        forbid_existing(path)
    assert path.read_text() == "precious"


@pytest.mark.parametrize("kept", [False, True])
def test_a_file_stays_after_a_failure_only_where_it_is_needed(tmp_path: Path, *, kept: bool) -> None:
    path = tmp_path / "b.jsonl"
    backup = BackupWriter(path)

    def fail() -> None:
        with backup:
            backup.write("orders", [PLAIN])
            backup.kept = kept
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.exists() == kept


def test_where_it_cannot_be_written_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match="cannot be written"), BackupWriter(tmp_path / "file" / "b.jsonl"):
        pass


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "b.jsonl"
    path.write_bytes(entry_line("orders", PLAIN) + b"\n" + b"nonsense\n")
    found = read_backup(path)
    assert next(found) == ("orders", PLAIN)
    with pytest.raises(SettingsError, match="line 3 is no entry"):
        next(found)
    with pytest.raises(SettingsError, match="cannot be read"):
        next(read_backup(tmp_path / "none"))
