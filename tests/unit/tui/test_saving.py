"""A value in a file: private, whole, and never over another one unasked."""

import os
import stat
from pathlib import Path

import pytest

from streamops.model.deliveries import KeptPayload
from streamops.model.entries import EntryId, StreamEntry
from streamops.tui.app import StreamopsApp
from streamops.tui.terminal.output import DRIVER, DRIVER_VARIABLE
from streamops.tui.terminal.saving import CannotSave, FileThere, save, suggested_name
from tests.support.tui import sample
from tests.support.tui.driving import NARROW, press, running, shown, until
from tests.support.tui.source import InventedSource, app_for

BODY = bytes(range(256))
ENTRY = StreamEntry(EntryId(1773489599999, 0), ((b"body/..\x1b", BODY),))
NAME = "1773489599999-0-body_.._x1b"


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("typed", ["out", "~/out", "sub/../out"])
def test_a_value_is_written_as_it_is_and_for_its_owner_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "sub").mkdir()
    before = os.umask(0)
    try:
        written = save(BODY, typed)
    finally:
        os.umask(before)
    assert written.is_absolute()
    assert (tmp_path / "out").read_bytes() == BODY
    assert mode_of(tmp_path / "out") == 0o600


def test_a_file_is_overwritten_only_when_asked_and_is_private_then(tmp_path: Path) -> None:
    there, link = tmp_path / "there", tmp_path / "link"
    there.write_bytes(b"mine")
    there.chmod(0o644)
    link.symlink_to(there)
    for path in (there, link):
        with pytest.raises(FileThere, match="exists"):
            save(BODY, str(path))
    assert there.read_bytes() == b"mine"
    save(BODY, str(link), overwrite=True)
    assert there.read_bytes() == b"mine"
    save(BODY, str(there), overwrite=True)
    assert {path: (path.read_bytes(), mode_of(path)) for path in tmp_path.iterdir()} == {
        there: (BODY, 0o600),
        link: (BODY, 0o600),
    }


def test_what_cannot_be_written_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for typed, overwrite, words in [
        (tmp_path, False, "is no regular file"),
        (tmp_path, True, "is no regular file"),
        (tmp_path / "pipe", True, "is no regular file"),
        (tmp_path / "nowhere" / "out", False, "No such file"),
        (tmp_path / "gone", True, "No such file"),
        ("~nobody-of-this-name/out", False, "home"),
        ("a\0b", False, "null"),
    ]:
        with pytest.raises(CannotSave, match=words):
            save(BODY, str(typed), overwrite=overwrite)
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_a_name_is_suggested_that_is_a_name_everywhere() -> None:
    assert suggested_name(ENTRY.id, "../~a b\x1b日") == "1773489599999-0-.._a_b_"
    assert len(suggested_name(ENTRY.id, "x" * 5_000)) < 255


async def opened(app: StreamopsApp) -> None:
    await press(app, *"jjjj", "t")
    await shown(app, "following")
    await press(app, "enter")
    await shown(app, "body")


@pytest.mark.usefixtures("own_directories")
async def test_f_saves_the_field_and_asks_before_it_overwrites(tmp_path: Path) -> None:
    app = app_for(InventedSource(sample.shop(), (ENTRY,)), read_only=True)
    path = tmp_path / NAME
    async with running(app, size=NARROW):
        await opened(app)
        await press(app, "f")
        await shown(app, f"save to {NAME}")
        await press(app, "enter")
        await shown(app, "256 B saved to")
        assert path.read_bytes() == BODY
        path.write_bytes(b"mine")
        await press(app, "f", "enter")
        await shown(app, "type yes to overwrite; Esc leaves it: /")
        await press(app, "enter", "escape")
        assert path.read_bytes() == b"mine"
        await press(app, "f", "enter")
        await shown(app, "type yes")
        await press(app, *"yes", "enter")
        await until(app, lambda: path.read_bytes() == BODY)


@pytest.mark.usefixtures("own_directories")
async def test_nothing_is_saved_by_a_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    app = app_for(InventedSource(sample.shop(), (ENTRY,)))
    saved: list[object] = []
    monkeypatch.setattr("streamops.tui.screens.entry.save", lambda *asked, **_: saved.append(asked))
    async with running(app):
        await opened(app)
        monkeypatch.setenv(DRIVER_VARIABLE, DRIVER)
        await press(app, "f", "enter")
        await shown(app, "the file would be on the server")
        assert saved == []


@pytest.mark.usefixtures("own_directories")
async def test_half_a_payload_is_not_saved() -> None:
    key = "{clicks}:payload:ab"
    entry = StreamEntry(ENTRY.id, ((b"_so_payload", key.encode()),))
    app = app_for(InventedSource(sample.shop(), (entry,)))
    async with running(app):
        await press(app, *"jjjj", "t")
        await shown(app, "following")
        await press(app, "enter")
        await shown(app, "its payload")
        screen = app.frame
        screen._payloads[key] = KeptPayload(key=key, head=b"half", size=8, ttl=None)  # type: ignore[attr-defined]
        await press(app, "f")
        await shown(app, "4 B of 8 B are read")
