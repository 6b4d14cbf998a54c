import os
import signal
import stat
from pathlib import Path

import pytest

from streamops.tui.pager import NoPager, find_pager, page, paged_bytes
from tests.tui.driving import press, running, shown
from tests.tui.paging_console import VALUE, PagingApp
from tests.tui.shop import shop_source
from tests.tui.source import settings_for
from tests.tui.terminal import on_a_terminal

F2, F3, CTRL_Q = b"\x1bOQ", b"\x1bOR", b"\x11"


def script(folder: Path, text: str) -> str:
    path = folder / "pager"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return str(path)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def test_the_persons_own_pager_wins() -> None:
    assert find_pager({"PAGER": "less -R '+/x y'"}, which=lambda name: f"/bin/{name}") == (
        "less",
        "-R",
        "+/x y",
    )
    assert find_pager({"PAGER": "  "}, which=lambda name: f"/bin/{name}") == ("/bin/less",)
    assert find_pager({}, which={"more": "/bin/more"}.get) == ("/bin/more",)


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({}, "there is no pager"),
        ({"PAGER": "nowhere -x"}, "nowhere is not there"),
        ({"PAGER": "'"}, "is no command"),
    ],
)
def test_without_a_pager_it_says_what_to_do(environment: dict[str, str], words: str) -> None:
    with pytest.raises(NoPager, match=words) as refused:
        find_pager(environment, which=lambda _: None)
    assert "PAGER" in refused.value.hint or "program" in refused.value.hint


def test_a_pager_is_given_nothing_that_a_terminal_obeys() -> None:
    shown = paged_bytes(VALUE, raw=False).decode()
    assert shown.startswith("first line\nesc ")
    assert all(line.isprintable() for line in shown.split("\n"))
    assert paged_bytes(b"a\r\nb\xff\n", raw=False).count(b"\n") == 2
    assert paged_bytes(VALUE, raw=True) == VALUE


def test_the_file_is_private_and_goes(tmp_path: Path, temporary: Path) -> None:
    kept = tmp_path / "kept"
    pager = script(tmp_path, f'stat -c %a "$1" > {kept}; echo "$LESSSECURE" >> {kept}; cat "$1" >> {kept}')
    page(b"value\n", {"PAGER": pager, "PATH": os.environ["PATH"]})
    assert kept.read_text() == "600\n1\nvalue\n"
    assert list(temporary.iterdir()) == []
    assert stat.S_IMODE(kept.stat().st_mode) != 0


def test_a_pager_that_fails_is_told_and_leaves_nothing(tmp_path: Path, temporary: Path) -> None:
    with pytest.raises(NoPager, match="ended with code 3"):
        page(b"value", {"PAGER": script(tmp_path, "exit 3"), "PATH": os.environ["PATH"]})
    assert list(temporary.iterdir()) == []


async def test_where_nothing_can_be_suspended_it_says_so() -> None:
    app = PagingApp(settings_for(shop_source()))
    async with running(app):
        await press(app, "f2")
        await shown(app, "a value: a browser has no pager")


def test_on_a_terminal_the_console_steps_aside_and_comes_back(tmp_path: Path) -> None:
    environment = {"PAGER": script(tmp_path, 'head -c 60 "$1"; echo; echo READY; read key; echo "BYE $key"')}
    with on_a_terminal("tests.tui.paging_console", environment=environment) as terminal:
        terminal.wait_for(b"fulfilment")
        terminal.press(F2)
        terminal.wait_for(rb"\x1b\[\?1049l")
        terminal.wait_for(b"READY")
        drawn = len(terminal.output)
        # A poll, a tick: nothing of it is drawn over the pager.
        terminal.drain(1.2)
        assert len(terminal.output) == drawn
        terminal.press(b"x\n")
        terminal.wait_for(b"BYE x")
        terminal.wait_for(b"fulfilment")
        terminal.press(CTRL_Q)
        assert terminal.wait() == 0
    paged = bytes(terminal.output)
    assert b"\x1b]52" not in paged


def test_ctrl_c_is_the_pagers(tmp_path: Path) -> None:
    pager = script(tmp_path, 'trap "echo CAUGHT; exit 0" INT; echo READY; while :; do sleep 0.05; done')
    with on_a_terminal("tests.tui.paging_console", environment={"PAGER": pager}) as terminal:
        terminal.wait_for(b"fulfilment")
        terminal.press(F3)
        terminal.wait_for(b"READY")
        # What a terminal does where it is the controlling one: everybody on it is told.
        os.killpg(terminal.process.pid, signal.SIGINT)
        terminal.wait_for(b"CAUGHT")
        terminal.wait_for(b"fulfilment")
        terminal.press(CTRL_Q)
        assert terminal.wait() == 0
