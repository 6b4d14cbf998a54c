"""Copying text: by the terminal, by a tool of the desktop, or into a file; whoever copies is told which way it went.

The terminal's way (OSC 52) reaches the machine that a person sits at, through SSH too, but nobody learns whether the terminal
did it. A tool says whether it did, but copies on the machine that the console runs on. So over SSH, and in a browser, the
terminal copies; elsewhere a tool does, if there is one.
"""

import asyncio
import os
import shutil
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from streamops.errors import StreamopsError
from streamops.resources.units import size
from streamops.settings.state import state_directory

AUTO, OSC52, TOOL, FILE = "auto", "osc52", "tool", "file"
PATIENCE: Final = 3.0
"""Seconds that a tool may take."""
LONGEST_OSC52: Final = 74_994
"""Bytes that are sure to pass: terminals that have a bound have one of 100,000 characters of base64."""
PRIVATE: Final = 0o600
UTF_16: Final = frozenset({"clip.exe"})


class Tool(NamedTuple):
    """A program that puts its input into the clipboard.

    Attributes:
        command: How it is called.
        needs: A variable without which it has nothing to copy to; empty if it needs none.
    """

    command: tuple[str, ...]
    needs: str = ""


TOOLS: Final = (
    Tool(("wl-copy", "--type", "text/plain;charset=utf-8"), "WAYLAND_DISPLAY"),
    Tool(("xclip", "-selection", "clipboard", "-in"), "DISPLAY"),
    Tool(("xsel", "--clipboard", "--input"), "DISPLAY"),
    Tool(("pbcopy",)),
    Tool(("clip.exe",)),
)


class CannotCopy(StreamopsError):
    """Nothing was copied."""


def find_tool(
    environment: Mapping[str, str], which: Callable[[str], str | None] = shutil.which
) -> tuple[str, ...] | None:
    """The command of the first tool that is there and has a display to copy to; None if there is none."""
    for tool in TOOLS:
        if (not tool.needs or environment.get(tool.needs)) and (path := which(tool.command[0])):
            return (path, *tool.command[1:])
    return None


def ways(setting: str, environment: Mapping[str, str], *, in_browser: bool, length: int) -> tuple[str, ...]:
    """Which ways to try, in this order.

    Args:
        setting: What the configuration says: ``auto``, or one of the ways.
        environment: The environment.
        in_browser: Whether the terminal is a browser's: tools and files of this machine are not its own.
        length: Bytes to be copied.
    """
    if setting != AUTO:
        return (setting,)
    if in_browser:
        return (OSC52,)
    far = any(environment.get(name) for name in ("SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"))
    fits = (OSC52,) if length <= LONGEST_OSC52 else ()
    # A tool over SSH, for all that a display is forwarded, is a matter of `copy = "tool"`.
    return (*fits, FILE) if far else (TOOL, *fits, FILE)


class Clipboard:
    """Copies text.

    Args:
        setting: ``auto``, ``osc52``, ``tool`` or ``file``.
        environment: The environment.
        osc52: Has the terminal copy.
        in_browser: Whether that is a browser's.
    """

    def __init__(
        self,
        setting: str,
        environment: Mapping[str, str],
        osc52: Callable[[str], None],
        *,
        in_browser: bool = False,
    ) -> None:
        self._setting = setting
        self._environment = environment
        self._osc52 = osc52
        self._in_browser = in_browser

    async def copy(self, text: str) -> str:
        """Copy, and say which way that was: ``copied by wl-copy``.

        Raises:
            CannotCopy: There is no way, or all failed.
        """
        # Bytes of a name that are not UTF-8 go through no clipboard.
        plain = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
        length = len(plain.encode())
        problems = []
        for way in ways(self._setting, self._environment, in_browser=self._in_browser, length=length):
            try:
                return await self._copy(way, plain, length)
            except CannotCopy as error:
                problems.append(error.message)
        raise CannotCopy(f"not copied: {'; '.join(problems)}")

    async def _copy(self, way: str, text: str, length: int) -> str:
        if way == TOOL:
            return f"copied by {await self._by_tool(text)}"
        if way == FILE:
            return f"written to {await asyncio.to_thread(_to_file, text, self._environment)}, {size(length)}"
        self._osc52(text)
        return "copied by the terminal (OSC 52)"

    async def _by_tool(self, text: str) -> str:
        command = find_tool(self._environment)
        if command is None:
            raise CannotCopy(f"none of {', '.join(tool.command[0] for tool in TOOLS)} is there")
        name = Path(command[0]).name
        # Windows' own takes UTF-8 for whatever the code page says.
        await _feed(command, text.encode("utf-16" if name in UTF_16 else "utf-8"), name)
        return name


async def _feed(command: Sequence[str], data: bytes, name: str) -> None:
    """Run a tool on some data. What stays behind to own the selection keeps no pipe of ours."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True
        )
    except OSError as error:
        raise CannotCopy(f"{name}: {error.strerror}") from None
    try:
        async with asyncio.timeout(PATIENCE):
            await process.communicate(data)
    except TimeoutError:
        process.kill()
        await process.wait()
        raise CannotCopy(f"{name} took longer than {PATIENCE:g} s") from None
    if process.returncode:
        raise CannotCopy(f"{name} failed with code {process.returncode}")


def _to_file(text: str, environment: Mapping[str, str]) -> Path:
    """Write a file that only its owner may read, again each time, under a name that is easy to type."""
    directory = state_directory(environment)
    if directory is None:
        raise CannotCopy("there is no home directory for a file")
    path = directory / "copied.txt"
    draft = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(
            os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, PRIVATE), "wb"
        ) as file:
            file.write(text.encode())
        draft.replace(path)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise CannotCopy(f"{path}: {error.strerror}") from None
    return path
