"""The server of the console's tabs, without a browser."""

import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import aiohttp
import pytest

from streamops.errors import SettingsError
from streamops.tui.web import child, server
from streamops.tui.web.server import WebOptions, serving
from tests.support.tui.web.server import PATIENCE, ended, is_running, read_until

TOKEN: Final = "t" * 43
COMMAND: Final = (sys.executable, "-m", "tests.support.tui.web.shop_console")


class Client:
    """Talks to the server as a page would.

    Attributes:
        port: The server's.
        origin: Where it comes from.
    """

    def __init__(self, session: aiohttp.ClientSession, port: int) -> None:
        self.session = session
        self.port = port
        self.origin = f"http://127.0.0.1:{port}"

    async def status(self, path: str = "/", **headers: str) -> int:
        async with self.session.get(f"{self.origin}{path}", headers=headers) as answer:
            await answer.read()
            return answer.status

    async def open(
        self, token: str = TOKEN, size: str = "?width=200&height=40"
    ) -> aiohttp.ClientWebSocketResponse:
        socket = await self.session.ws_connect(f"{self.origin}/ws{size}", headers={"Origin": self.origin})
        await socket.send_json(["token", token])
        return socket


@asynccontextmanager
async def served(*, command: tuple[str, ...] = COMMAND, most: int = 4) -> AsyncIterator[Client]:
    options = WebOptions(
        host="127.0.0.1", port=0, token=TOKEN, command=command, environment=os.environ, most=most
    )
    async with serving(options) as port, aiohttp.ClientSession() as session:
        yield Client(session, port)


async def pid_of(socket: aiohttp.ClientWebSocketResponse) -> int:
    return int((await read_until(socket, rb"pid-(\d+)"))[1])


async def test_every_answer_says_what_the_page_may_do() -> None:
    async with served() as client:
        for path in ("/", "/page.js", "/page.css", "/textual.js", "/xterm.css", "/font.ttf", "/nothing"):
            async with client.session.get(client.origin + path) as answer:
                assert answer.status == (404 if path == "/nothing" else 200)
                assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
                assert answer.headers["X-Content-Type-Options"] == "nosniff"
                assert answer.headers["Referrer-Policy"] == "no-referrer"
                assert answer.headers["Cache-Control"] == "no-store"


async def test_the_pages_own_parts_name_nobody_else() -> None:
    async with served() as client:
        for path in ("/", "/page.js", "/page.css", "/xterm.css", "/textual.js"):
            async with client.session.get(client.origin + path) as answer:
                text = await answer.text()
            # A licence and the specification that a comment points at are no requests.
            assert not re.search(r"(src|href|url\()\W*['\"]?https?://", text), path


async def test_a_foreign_host_is_turned_away() -> None:
    async with served() as client:
        assert await client.status(Host="evil.example") == 421
        assert await client.status("/ws", Host=f"evil.example:{client.port}") == 421
        assert await client.status(Host=f"localhost:{client.port}") == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost:1", ""])
async def test_a_foreign_origin_is_turned_away_before_it_can_say_anything(origin: str) -> None:
    async with served() as client:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await client.session.ws_connect(f"{client.origin}/ws", headers={"Origin": origin})
        assert refused.value.status == 403


async def test_without_an_origin_nothing_is_opened() -> None:
    async with served() as client:
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await client.session.ws_connect(f"{client.origin}/ws")


@pytest.mark.parametrize("token", ["", "t" * 42, "wrong"])
async def test_a_wrong_token_starts_nothing(token: str) -> None:
    # A command that cannot be started would be told by another code.
    async with served(command=("/nonexistent",)) as client:
        socket = await client.open(token)
        await socket.receive()
        assert socket.close_code == 4401


@pytest.mark.parametrize("first", ["x", "[]", '["stdin", "q"]'])
async def test_who_begins_with_anything_else_is_a_stranger(first: str) -> None:
    async with served() as client:
        socket = await client.session.ws_connect(f"{client.origin}/ws", headers={"Origin": client.origin})
        await socket.send_str(first)
        await socket.receive()
        assert socket.close_code == 4401


async def test_who_says_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "TOKEN_SECONDS", 0.05)
    async with served() as client:
        socket = await client.session.ws_connect(f"{client.origin}/ws", headers={"Origin": client.origin})
        await socket.receive()
        assert socket.close_code == 4401


async def test_a_tab_gets_a_console_of_its_size_and_it_ends_with_the_tab() -> None:
    async with served() as client:
        socket = await client.open()
        pid = await pid_of(socket)
        await socket.send_json(["stdin", "/"])
        await read_until(socket, rb"lag>")
        await socket.send_json(["stdin", "ledger"])
        await read_until(socket, rb"ledger")
        await socket.close()
        await ended(pid)


async def test_a_console_that_answers_nothing_is_ended_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "PATIENCE", 0.1)
    async with served() as client:
        socket = await client.open()
        pid = await pid_of(socket)
        os.kill(pid, signal.SIGSTOP)
        await socket.close()
        await ended(pid)


async def test_a_console_that_quits_closes_its_tab() -> None:
    async with served() as client:
        socket = await client.open()
        pid = await pid_of(socket)
        await socket.send_json(["stdin", "\x11"])
        while not socket.closed:
            await socket.receive(timeout=PATIENCE)
        assert socket.close_code == 1000
        await ended(pid)


async def test_a_message_that_no_page_sends_closes_the_tab() -> None:
    async with served() as client:
        socket = await client.open()
        pid = await pid_of(socket)
        await socket.send_json(["meta", {"type": "exit"}])
        while not socket.closed:
            await socket.receive(timeout=PATIENCE)
        assert socket.close_code == 1008
        await ended(pid)


async def test_consoles_are_counted() -> None:
    async with served(most=1) as client:
        first = await client.open()
        pid = await pid_of(first)
        second = await client.open()
        await second.receive()
        assert second.close_code == 4429
        await first.close()
        await ended(pid)
        third = await client.open()
        assert await pid_of(third) != pid
        await third.close()


async def test_all_consoles_end_with_the_server() -> None:
    async with served() as client:
        sockets = [await client.open() for _ in range(2)]
        pids = [await pid_of(socket) for socket in sockets]
        assert len(set(pids)) == 2
    for pid in pids:
        assert not is_running(pid)


async def test_why_a_console_failed_is_shown_and_only_shown() -> None:
    async with served(command=(*COMMAND, "fails")) as client:
        socket = await client.open()
        found = await read_until(socket, rb"error: (.*) nothing answers")
        assert b"\x1b" not in found[1]
        assert b"\x07" not in found[1]


async def test_an_address_that_is_taken_is_told() -> None:
    async with served() as client:
        options = WebOptions(host="127.0.0.1", port=client.port, token=TOKEN, command=COMMAND, environment={})
        with pytest.raises(SettingsError, match="cannot listen"):
            async with serving(options):
                pass
