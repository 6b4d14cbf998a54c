import asyncio
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from streamops.tui.terminal import clipboard
from streamops.tui.terminal.clipboard import LONGEST_OSC52, CannotCopy, Clipboard, find_tool, ways
from tests.support.tui.driving import press, running, shown
from tests.support.tui.shop import shop_source
from tests.support.tui.source import app_for

HERE: dict[str, str] = {}
SSH = {"SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22"}
LONG = LONGEST_OSC52 + 1


def test_the_way_follows_from_where_one_is() -> None:
    for setting, environment, in_browser, length, expected in [
        ("auto", HERE, False, 10, ("tool", "osc52", "file")),
        ("auto", HERE, False, LONG, ("tool", "file")),
        ("auto", SSH, False, 10, ("osc52", "file")),
        ("auto", SSH | {"DISPLAY": ":10"}, False, 10, ("osc52", "file")),
        ("auto", SSH, False, LONG, ("file",)),
        ("auto", HERE, True, LONG, ("osc52",)),
        ("tool", SSH, False, 10, ("tool",)),
        ("osc52", HERE, False, LONG, ("osc52",)),
        ("file", HERE, False, 10, ("file",)),
    ]:
        assert ways(setting, environment, in_browser=in_browser, length=length) == expected


def test_a_tool_is_taken_where_it_has_something_to_copy_to() -> None:
    everything: Callable[[str], str | None] = lambda name: f"/bin/{name}"  # noqa: E731 - it is passed on
    for environment, expected in (
        ({"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}, "/bin/wl-copy"),
        ({"DISPLAY": ":0"}, "/bin/xclip"),
        ({}, "/bin/pbcopy"),
    ):
        found = find_tool(environment, everything)
        assert found is not None
        assert found[0] == expected
    assert find_tool({"DISPLAY": ":0"}, {"xsel": "/bin/xsel"}.get) == ("/bin/xsel", "--clipboard", "--input")
    assert find_tool({"DISPLAY": ":0"}, lambda _: None) is None


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Puts a script in the place of the tools; gives the file that it may write."""

    def make(text: str, name: str = "pbcopy") -> Path:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o700)
        monkeypatch.setattr(clipboard, "find_tool", lambda _: (str(path),))
        return tmp_path / "copied"

    return make


async def copied(setting: str, text: str, environment: dict[str, str]) -> tuple[str, list[str]]:
    taken: list[str] = []
    return await Clipboard(setting, environment, taken.append).copy(text), taken


async def test_a_tool_gets_the_text_and_is_named(tool: Callable[[str], Path], tmp_path: Path) -> None:
    tool(f"cat > {tmp_path}/copied")
    said, taken = await copied("auto", "é\udcff -rf $(x)\n", HERE)
    assert said == "copied by pbcopy"
    assert taken == []
    assert (await asyncio.to_thread((tmp_path / "copied").read_bytes)).startswith("é".encode())


async def test_windows_own_gets_utf_16(tool: Callable[[str, str], Path], tmp_path: Path) -> None:
    tool(f"cat > {tmp_path}/copied", "clip.exe")
    await copied("tool", "é", HERE)
    assert (await asyncio.to_thread((tmp_path / "copied").read_bytes)).decode("utf-16") == "é"


async def test_a_tool_that_fails_makes_room_for_the_terminal(tool: Callable[[str], Path]) -> None:
    tool("exit 1")
    assert await copied("auto", "x", HERE) == ("copied by the terminal (OSC 52)", ["x"])
    with pytest.raises(CannotCopy, match="not copied: pbcopy failed with code 1"):
        await copied("tool", "x", HERE)


async def test_a_tool_that_hangs_is_ended(
    tool: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clipboard, "PATIENCE", 0.05)
    tool("exec sleep 60")
    with pytest.raises(CannotCopy, match="pbcopy took longer"):
        await copied("tool", "x", HERE)


async def test_a_tool_that_reads_nothing_is_told_as_it_ends(tool: Callable[[str], Path]) -> None:
    tool("exec 0<&-; exit 0")
    assert (await copied("tool", "x" * 1_000_000, HERE))[0] == "copied by pbcopy"


async def test_text_too_long_for_a_terminal_goes_into_a_private_file(tmp_path: Path) -> None:
    environment = SSH | {"XDG_STATE_HOME": str(tmp_path)}
    for text in ("x" * LONG, "y" * LONG):
        said, taken = await copied("auto", text, environment)
        path = tmp_path / "streamops" / "copied.txt"
        assert said == f"written to {path}, 73.2 KiB"
        assert taken == []
        assert path.read_text() == text
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_where_no_file_can_be_written_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "streamops").write_text("in the way")
    with pytest.raises(CannotCopy, match=r"Not a directory|File exists"):
        await copied("file", "x", {"XDG_STATE_HOME": str(tmp_path)})
    with pytest.raises(CannotCopy, match="no home"):
        await copied("file", "x", {})


async def test_the_console_says_which_way_it_went(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_TTY", "/dev/pts/1")
    app = app_for(shop_source())
    async with running(app):
        await press(app, "3", "c")
        await shown(app, "copied by the terminal (OSC 52): streamops -c prod status")
        assert app.clipboard == "streamops -c prod status"
