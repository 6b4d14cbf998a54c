"""Running grpc-js, which shares no code with grpcio: it is written in JavaScript from HTTP/2 up."""

import asyncio
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest
from msgspec import Struct

from tests.support.autoscaling.keda.serving import PROTO

REQUIRE_NODE: Final = "STREAMOPS_REQUIRE_NODE"
INSTALL_SECONDS: Final = 90.0
ANSWER_SECONDS: Final = 30.0
SOURCE: Final = Path(__file__).parent / "node"
FILES: Final = ("package.json", "package-lock.json", "client.mjs")


def missing(reason: str) -> NoReturn:
    """Skip the test, unless the environment requires it."""
    if os.environ.get(REQUIRE_NODE) == "1":
        pytest.fail(f"{reason}, and {REQUIRE_NODE} asks for it")
    pytest.skip(reason)


def install(cache: Path) -> Path:
    """The client with what it needs, in a directory that serves until one of its files changes."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            missing(f"{program} is not installed")
    contents = b"\0".join((SOURCE / name).read_bytes() for name in FILES)
    place = cache / hashlib.sha256(contents).hexdigest()[:16]
    if not place.exists():
        _install(cache, place)
    return place


def _install(cache: Path, place: Path) -> None:
    with tempfile.TemporaryDirectory(dir=cache) as directory:
        new = Path(directory) / "new"
        new.mkdir()
        for name in FILES:
            shutil.copy(SOURCE / name, new)
        command = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier")
        done = subprocess.run(
            command, cwd=new, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
        )
        if done.returncode != 0:
            missing(f"npm cannot install the client: {done.stderr.strip()[-500:]}")
        # Another process may have been faster: theirs is the same.
        with suppress(OSError):
            new.rename(place)


class Node(Struct, frozen=True):
    """A call of the client's under way.

    Attributes:
        process: The program.
    """

    process: asyncio.subprocess.Process

    async def line(self) -> dict[str, Any]:
        """What comes next."""
        assert self.process.stdout is not None
        async with asyncio.timeout(ANSWER_SECONDS):
            text = await self.process.stdout.readline()
        assert text, "the client ended without a word"
        told: dict[str, Any] = json.loads(text)
        return told


@asynccontextmanager
async def calling(
    client: Path, port: int, method: str, request: Mapping[str, Any], tls: Mapping[str, str] | None = None
) -> AsyncIterator[Node]:
    """Call a method; the client is ended with the block."""
    asked = {
        "address": f"localhost:{port}",
        "proto": str(PROTO),
        "method": method,
        "request": request,
        "tls": tls,
    }
    process = await asyncio.create_subprocess_exec(
        "node", client / "client.mjs", json.dumps(asked), stdout=asyncio.subprocess.PIPE
    )
    try:
        yield Node(process)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
