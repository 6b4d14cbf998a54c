"""Files of entries: byte for byte, private, never overwritten."""

import json
import resource
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.errors import SettingsError
from streamops.model.entries import MAX_PART, EntryId, StreamEntry
from streamops.operations.backups import BackupWriter, entry_line, forbid_existing, parse_line, part_of
from tests.support.operations.backups import read_backup
from tests.support.tables import table

PLAIN = StreamEntry(EntryId(1, 0), ((b"kind", b"paid"), (b"tag", b"a"), (b"tag", b"b")))
BINARY = StreamEntry(EntryId(2, 7), ((b"\xff", b"\x00\xfe"), (b"empty", b""), (b"", b"line\nend")))

entries = st.builds(
    StreamEntry,
    st.builds(EntryId, st.integers(0, MAX_PART), st.integers(0, MAX_PART)),
    st.lists(st.tuples(st.binary(), st.binary()), max_size=5).map(tuple),
)
names = st.binary(min_size=1).map(lambda raw: raw.decode("utf-8", "surrogateescape"))


@given(names, entries)
def test_every_byte_comes_back(stream: str, entry: StreamEntry) -> None:
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


@table(
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
    path = tmp_path / "streamops" / "backups" / "b.jsonl"
    with BackupWriter(path) as backup:
        backup.write("orders", [PLAIN])
        backup.write("orders", [])
        backup.write("orders", [BINARY])
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert backup.written == 2
    assert list(read_backup(path)) == [("orders", PLAIN), ("orders", BINARY)]


def test_no_directory_is_created_but_the_one_of_backups(tmp_path: Path) -> None:
    path = tmp_path / "mistyped" / "b.jsonl"
    with pytest.raises(SettingsError, match=r"no such directory: .*mistyped"), BackupWriter(path):
        pass
    with pytest.raises(SettingsError, match=r"no such directory: .*mistyped"):
        forbid_existing(path)
    forbid_existing(tmp_path / "streamops" / "backups" / "b.jsonl")
    assert list(tmp_path.iterdir()) == []


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


def test_what_was_not_deleted_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "b.jsonl"
    with BackupWriter(path) as backup:
        backup.write("orders", [PLAIN, BINARY])
        backup.take_back([])
        backup.take_back([PLAIN.id])
    assert backup.written == 2
    assert list(read_backup(path)) == [("orders", BINARY)]
    assert json.loads(path.read_bytes().splitlines()[2]) == {"not_deleted": ["1-0"]}


@pytest.mark.parametrize("cut", [1, 20, 40])
def test_a_last_line_that_was_cut_off_is_left_out(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "b.jsonl"
    whole = entry_line("orders", PLAIN)
    path.write_bytes(whole + entry_line("orders", BINARY)[:cut])
    assert list(read_backup(path)) == [("orders", PLAIN)]
    path.write_bytes(whole[:cut])
    with pytest.raises(SettingsError, match="line 1 is no entry"):
        list(read_backup(path))


def test_a_full_disk_leaves_whole_lines(tmp_path: Path) -> None:
    path, line = tmp_path / "b.jsonl", entry_line("orders", PLAIN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with BackupWriter(path) as backup:
        backup.write("orders", [PLAIN])
        backup.kept = True
        resource.setrlimit(resource.RLIMIT_FSIZE, (2 * len(line) + 5, limits[1]))
        try:
            with pytest.raises(SettingsError, match="cannot be written"):
                backup.write("orders", [PLAIN, BINARY])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert path.read_bytes() == line
        backup.write("orders", [BINARY])
    assert path.read_bytes() == line + entry_line("orders", BINARY)


def test_a_file_gets_its_name_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "b.jsonl"
    Path(part_of(path)).write_text("left by somebody who was stopped")
    with pytest.raises(SettingsError, match="exists already"), BackupWriter(part_of(path)):
        pass
    with BackupWriter(part_of(path), anew=True) as backup:
        backup.write("orders", [PLAIN])
        assert not path.exists()
        backup.rename(path)
    assert list(tmp_path.iterdir()) == [path]
    assert list(read_backup(path)) == [("orders", PLAIN)]
    with BackupWriter(part_of(path)) as backup, pytest.raises(SettingsError, match="exists already"):
        backup.rename(path)
