"""The server of the console's tabs, without a browser: whom it turns away."""

import re

import aiohttp
import pytest

from streamops.errors import SettingsError
from streamops.tui.web import server
from streamops.tui.web.server import WebOptions, serving
from tests.support.tui.web.server import COMMAND, TOKEN, served


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


@pytest.mark.parametrize("origin", ["http://evil.example", "null"])
async def test_a_foreign_origin_is_turned_away_before_it_can_say_anything(origin: str) -> None:
    async with served() as client:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await client.session.ws_connect(f"{client.origin}/ws", headers={"Origin": origin})
        assert refused.value.status == 403


async def test_without_an_origin_nothing_is_opened() -> None:
    async with served() as client:
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await client.session.ws_connect(f"{client.origin}/ws")


@pytest.mark.parametrize("token", ["", "t" * 42])
async def test_a_wrong_token_starts_nothing(token: str) -> None:
    # A command that cannot be started would be told by another code.
    async with served(command=("/nonexistent",)) as client:
        socket = await client.open(token)
        await socket.receive()
        assert socket.close_code == 4401


@pytest.mark.parametrize("first", ["x", '["stdin", "q"]'])
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


async def test_an_address_that_is_taken_is_told() -> None:
    async with served() as client:
        options = WebOptions(host="127.0.0.1", port=client.port, token=TOKEN, command=COMMAND, environment={})
        with pytest.raises(SettingsError, match="cannot listen"):
            async with serving(options):
                pass
