"""Callbacks speak TLS with whoever can prove to be the host of the URL, and with nobody else."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trustme

from streamops.model.topics import Topic
from streamops.webhooks.calling import Caller, CallError
from streamops.webhooks.messages import WebhookMessage
from streamops.webhooks.reach import Reach

MESSAGE = WebhookMessage("m-1", "1700000000000-0", 1, b"{}", "application/json")
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"


@asynccontextmanager
async def answering(authority: trustme.CA, name: str) -> AsyncIterator[int]:
    """A receiver at loopback that shows a certificate for a name."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(ANSWER)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context) as server:
        yield server.sockets[0].getsockname()[1]


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> trustme.CA:
    """An authority that this process trusts from its first call on."""
    made = trustme.CA()
    made.cert_pem.write_to_path(tmp_path / "ca.pem")
    context = ssl.create_default_context(cafile=tmp_path / "ca.pem")
    monkeypatch.setattr("aiohttp.connector._SSL_CONTEXT_VERIFIED", context)
    return made


async def called(port: int) -> str:
    """What comes of a call: the status, or why there is none."""
    async with Caller(Reach(["127.0.0.1"])) as caller:
        try:
            return str((await caller.call(Topic(name="t", url=f"https://127.0.0.1:{port}/"), MESSAGE)).status)
        except CallError as error:
            return error.reason


async def test_who_is_trusted_is_called(authority: trustme.CA) -> None:
    async with answering(authority, "127.0.0.1") as port:
        assert await called(port) == "200"


@pytest.mark.parametrize("name", ["127.0.0.1", "hooks.example.net"])
async def test_a_stranger_is_not(authority: trustme.CA, name: str) -> None:
    """Neither one whose authority nobody knows, nor one whose certificate is for another name."""
    signer = authority if name == "hooks.example.net" else trustme.CA()
    async with answering(signer, name) as port:
        assert "its certificate is not trusted" in await called(port)
