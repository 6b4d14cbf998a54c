"""Each web face as it is served for real: who drips, whose name leads here, who asks for what is above it, who comes from elsewhere."""

import shlex
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final, NamedTuple

import pytest

from streamops.autoscaling.keda.http import HttpOptions
from streamops.autoscaling.keda.http import serving as serving_keda
from streamops.runtime.metrics import WorkerCollector
from streamops.runtime.metrics import serving as serving_workers
from streamops.service import listening
from streamops.tui.web.server import ConsoleServer
from tests.support.autoscaling.keda.serving import new_board
from tests.support.security.web import SHORT, asked, dripped

TOKEN: Final = "t" * 43


class Face(NamedTuple):
    """A face, and a path of it that answers.

    Attributes:
        serve: Serves it, at a port.
        well: The path.
    """

    serve: Callable[[], AbstractAsyncContextManager[int]]
    well: str


@asynccontextmanager
async def console() -> AsyncIterator[int]:
    command = shlex.join([sys.executable, "-c", "raise SystemExit('no tab was to be opened')"])
    async with ConsoleServer(command, "127.0.0.1", 0, token=TOKEN, environment={}).serving() as port:
        yield port


@asynccontextmanager
async def keda() -> AsyncIterator[int]:
    async with serving_keda(HttpOptions(port=0, web_config=None), new_board()) as port:
        yield port


@asynccontextmanager
async def workers() -> AsyncIterator[int]:
    async with serving_workers(
        "127.0.0.1", 0, WorkerCollector(tuple), healthy=lambda: True, ready=lambda: True
    ) as port:
        yield port


FACES = {
    "console": Face(console, "/"),
    "keda": Face(keda, "/-/healthy"),
    "workers": Face(workers, "/-/healthy"),
}

pytestmark = pytest.mark.parametrize("face", FACES.values(), ids=FACES)


def get(path: str, host: str = "127.0.0.1", *more: str) -> bytes:
    lines = [f"GET {path} HTTP/1.1", f"Host: {host}", *more, "Connection: close", "", ""]
    return "\r\n".join(lines).encode()


def status(answer: bytes) -> bytes:
    return answer.split(b" ", 2)[1] if answer else b""


@pytest.mark.parametrize("begin", [b"", b"GET / HTTP/1.1\r\nX-Slow: "], ids=["silent", "midway"])
async def test_who_drips_loses_the_connection_and_holds_nobody_up(
    face: Face, begin: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "IDLE_SECONDS", SHORT)
    async with face.serve() as port:
        assert await dripped(port, begin) == b""
        assert status(await asked(port, get(face.well))) == b"200"


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example:80"])
async def test_a_page_whose_name_leads_here_is_turned_away(face: Face, host: str) -> None:
    async with face.serve() as port:
        assert status(await asked(port, get(face.well, host))) in {b"403", b"421"}


@pytest.mark.parametrize(
    "path",
    [
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/page/../server.py",
        "/static/../server.py",
    ],
)
async def test_no_file_above_the_served_directory_is_served(face: Face, path: str) -> None:
    async with face.serve() as port:
        answer = await asked(port, get(path))
    assert status(answer) in {b"400", b"404"}
    assert b"root:" not in answer
    assert b"import" not in answer


async def test_no_other_page_may_read_or_frame_it(face: Face) -> None:
    async with face.serve() as port:
        answer = await asked(port, get(face.well, "127.0.0.1", "Origin: http://evil.example"))
    assert b"access-control-allow" not in answer.lower()
    assert b"x-content-type-options: nosniff" in answer.lower()
