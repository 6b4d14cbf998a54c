from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from streamops.errors import SettingsError
from streamops.operations.backups import BackupWriter, forbid_existing, part_of

WRITERS = 8


def test_rename_onto_a_link_to_nothing_keeps_the_link(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    path.symlink_to(tmp_path / "not mounted")
    with pytest.raises(SettingsError, match="exists already"), BackupWriter(part_of(path)) as backup:
        backup.rename(path)
    assert path.is_symlink()
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_to_nothing_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    path.symlink_to(tmp_path / "not mounted")
    with pytest.raises(SettingsError, match="exists already"):
        forbid_existing(path)


def test_backups_renamed_at_once_to_one_name_leave_one_and_refuse_the_others(tmp_path: Path) -> None:
    together = Barrier(WRITERS)

    def write(number: int, path: Path) -> bytes | None:
        line = b'{"writer":%d}\n' % number
        try:
            with BackupWriter(f"{path}.{number}.part") as backup:
                backup.write_lines([line])
                together.wait(timeout=10)
                backup.rename(path)
        except SettingsError:
            return None
        return line

    with ThreadPoolExecutor(WRITERS) as pool:
        for attempt in range(20):
            path = tmp_path / f"{attempt}.jsonl"
            written = [line for line in pool.map(write, range(WRITERS), [path] * WRITERS) if line]
            assert written == [path.read_bytes()]
    assert not list(tmp_path.glob("*.part"))
