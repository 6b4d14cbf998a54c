"""``exporter`` as a process, and a client of it."""

import asyncio
import os
import re
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import aiohttp

from tests.support.exporter.serving import Answer
from tests.support.project import PROJECT
from tests.support.settings.place import named_config

ANYWHERE = ("--listen", "127.0.0.1:0")


class Started(NamedTuple):
    """A process, and a client of it."""

    process: Process
    session: aiohttp.ClientSession
    told: str

    async def get(self, path: str, **headers: str) -> Answer:
        async with self.session.get(path, headers=headers) as response:
            return Answer(response.status, await response.text(), response.headers)


async def spawn(directory: Path, *options: str) -> Process:
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(directory),
        "PYTHONPATH": str(PROJECT),
        **named_config(directory),
    }
    words = (sys.executable, "-m", "streamops", "exporter", *options)
    return await asyncio.create_subprocess_exec(*words, cwd=directory, env=environ, stdout=PIPE, stderr=PIPE)


@asynccontextmanager
async def running(directory: Path, *options: str) -> AsyncIterator[Started]:
    process = await spawn(directory, *options, *ANYWHERE)
    assert process.stderr is not None
    try:
        told = ""
        while (port := re.search(r"127\.0\.0\.1:(\d+)/metrics", told)) is None:
            async with asyncio.timeout(30):
                line = (await process.stderr.readline()).decode()
            assert line, told
            told += line
        timeout = aiohttp.ClientTimeout(total=30)
        async with aiohttp.ClientSession(f"http://127.0.0.1:{port[1]}", timeout=timeout) as session:
            yield Started(process, session, told)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def ended(directory: Path, *options: str) -> tuple[int, str]:
    """Run a command line that comes to its end; its exit code and what it says."""
    process = await spawn(directory, *options)
    async with asyncio.timeout(30):
        output, told = await process.communicate()
    assert not output
    assert process.returncode is not None
    assert b"Traceback" not in told
    return process.returncode, told.decode()


def assert_told(code: int, out: str, err: str, problem: str, hint: str) -> None:
    """Two lines: what is wrong, and what to do."""
    assert (code, out) == (2, "")
    lines = err.splitlines()
    assert lines[0].startswith("error: ")
    assert problem in lines[0]
    assert not lines[1:] or lines[1].startswith("hint: ")
    assert hint in "".join(lines[1:])
    assert len(lines) <= 2
