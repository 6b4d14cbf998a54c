"""A folder full of traps: a module of every name that Python or a library may be asked for, which tells that it ran."""

import asyncio
import os
import re
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.support.project import PROJECT

PATIENCE: Final = 60.0
OURS: Final = {"streamops", "uvloop", "hiredis", "lightkube", "apprise", "grpc", "textual_serve"}
"""Trapped whether they are installed or not."""
NOT_TRAPPED: Final = {"tests", "docs", "dashboards"}

TRAP: Final = """
with open({marker!r}, "a") as marker:
    marker.write(__name__ + "\\n")
raise ImportError("a trap")
"""
PROGRAM: Final = "from streamops.main import main\n\nif __name__ == '__main__':\n    main()\n"
"""As an installed script begins: its own directory is searched for modules, the current one is not."""


class Trapped(NamedTuple):
    """A folder of traps.

    Attributes:
        folder: Where commands are called.
        program: What calls them, as an installed script does.
        marker: Where traps say that they ran.
    """

    folder: Path
    program: Path
    marker: Path

    @property
    def sprung(self) -> set[str]:
        """The traps that ran."""
        return set(self.marker.read_text().split()) if self.marker.exists() else set()

    async def start(self, *words: str) -> Process:
        """Call a command in the folder."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.program.parent),
            "PYTHONPATH": str(PROJECT),
        }
        return await asyncio.create_subprocess_exec(
            *(sys.executable, str(self.program), *words),
            cwd=self.folder,
            env=environment,
            stdout=PIPE,
            stderr=PIPE,
        )

    @asynccontextmanager
    async def running(self, *words: str, until: str) -> AsyncIterator[tuple[Process, re.Match[str]]]:
        """The same, once it has said what is waited for; it is ended on the way out, and its children with it."""
        process = await self.start(*words)
        try:
            async with asyncio.timeout(PATIENCE):
                found = await _said(process, re.compile(until))
            yield process, found
        finally:
            if process.returncode is None:
                process.terminate()
            async with asyncio.timeout(PATIENCE):
                await process.communicate()


def lay_traps(directory: Path) -> Trapped:
    """Fill a folder with them."""
    folder, home = directory / "trapped", directory / "safe"
    folder.mkdir()
    home.mkdir()
    program, marker = home / "streamops-program", directory / "marker"
    program.write_text(PROGRAM)
    trap = TRAP.format(marker=str(marker))
    names = OURS | sys.stdlib_module_names | set(packages_distributions())
    for name in names - NOT_TRAPPED:
        if name.isidentifier():
            (folder / f"{name}.py").write_text(trap)
    return Trapped(folder, program, marker)


async def _said(process: Process, words: re.Pattern[str]) -> re.Match[str]:
    """What was found on either output."""
    told = ""
    streams = [stream for stream in (process.stdout, process.stderr) if stream is not None]
    reading = {asyncio.create_task(stream.readline()): stream for stream in streams}
    try:
        while reading:
            done, _ = await asyncio.wait(reading, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                stream, line = reading.pop(task), task.result()
                told += line.decode()
                if found := words.search(told):
                    return found
                if line:
                    reading[asyncio.create_task(stream.readline())] = stream
    finally:
        for task in reading:
            task.cancel()
    raise AssertionError(told)


@pytest.fixture
def trapped(tmp_path: Path) -> Trapped:
    return lay_traps(tmp_path)
