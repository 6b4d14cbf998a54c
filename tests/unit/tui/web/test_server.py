"""The server of the console's tabs, without a browser: whom it turns away."""

import re

import aiohttp
import pytest

from streamops.errors import SettingsError
from streamops.tui.web import server
from tests.support.security.web import asked
from tests.support.tui.web.server import TOKEN, new_server, served

PAGE = (
    "/",
    "/page/page.js",
    "/page/page.css",
    "/page/icon.svg",
    "/static/css/xterm.css",
    "/static/js/textual.js",
)
FONT = "/static/fonts/RobotoMono-VariableFont_wght.ttf"


async def test_every_answer_says_what_the_page_may_do() -> None:
    async with served() as client:
        for path, status in {**dict.fromkeys((*PAGE, FONT), 200), "/nothing": 404, "/ws": 403}.items():
            async with client.session.get(client.origin + path) as answer:
                assert answer.status == status
                policy = answer.headers["Content-Security-Policy"]
                assert "default-src 'none'" in policy
                assert "frame-ancestors 'none'" in policy
                assert policy.endswith(f"connect-src 'self' ws://127.0.0.1:{client.port}")
                assert "http:" not in policy
                assert "*" not in policy
                assert answer.headers["X-Content-Type-Options"] == "nosniff"
                assert answer.headers["Referrer-Policy"] == "no-referrer"
                assert answer.headers["Cache-Control"] == "no-store"


async def test_the_pages_own_parts_name_nobody_else() -> None:
    async with served() as client:
        for path in PAGE:
            async with client.session.get(client.origin + path) as answer:
                text = await answer.text()
            # A licence and the specification that a comment points at are no requests.
            assert not re.search(r"(src|href|url\()\W*['\"]?https?://", text), path


@pytest.mark.parametrize(
    ("host", "status"),
    [
        *((host, b"200") for host in ("127.0.0.1:9642", "127.0.0.1", "127.8.9.1:1", "LOCALHOST:1", "[::1]:9642")),
        *((host, b"421") for host in ("", "evil.example:9642", "127.0.0.1.evil.example", "10.0.0.1:9642")),
        *((host, b"421") for host in ("localhost.evil.example:9642", "evil@127.0.0.1", "0.0.0.0:9642", "[::]:9642")),
        *((host, b"421") for host in ("127.0.0.1:", "x127.0.0.1", "localhost:1:2")),
    ],
)  # fmt: skip
async def test_only_names_of_this_machine_are_answered(host: str, status: bytes) -> None:
    async with served() as client:
        for path in ("/", "/page/page.js", "/nothing") if status == b"421" else ("/",):
            request = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
            assert (await asked(client.port, request.encode())).split(b" ", 2)[1] == status
        unnamed = await asked(client.port, b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
        assert unnamed.split(b" ", 2)[1] in {b"400", b"421"}


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://127.0.0.1:1", "http://127.0.0.1", "https://127.0.0.1:{port}", "http://localhost:{port}"],
)  # fmt: skip
async def test_a_foreign_origin_is_turned_away_before_it_can_say_anything(origin: str) -> None:
    async with served() as client:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await client.session.ws_connect(
                f"{client.origin}/ws", headers={"Origin": origin.format(port=client.port)}
            )
        assert refused.value.status == 403


async def test_without_an_origin_nothing_is_opened() -> None:
    async with served() as client:
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await client.session.ws_connect(f"{client.origin}/ws")


@pytest.mark.parametrize("token", ["", TOKEN[:-1], f"{TOKEN} ", TOKEN.upper(), '["token"]', "\u20ac"])
async def test_a_wrong_token_starts_nothing(token: str) -> None:
    # A command that cannot be started would be told by another code.
    async with served(("/nonexistent",)) as client:
        socket = await client.open(token)
        await socket.receive()
        assert socket.close_code == 4401


async def test_who_begins_with_bytes_is_a_stranger() -> None:
    async with served() as client:
        socket = await client.session.ws_connect(f"{client.origin}/ws", headers={"Origin": client.origin})
        await socket.send_bytes(TOKEN.encode())
        await socket.receive()
        assert socket.close_code == 4401


async def test_strangers_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MOST_STRANGERS", 1)
    async with served() as client:
        first = await client.session.ws_connect(f"{client.origin}/ws", headers={"Origin": client.origin})
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await client.open()
        assert refused.value.status == 503
        await first.send_str("wrong")
        await first.receive()
        second = await client.open("wrong")
        await second.receive()
        assert second.close_code == 4401


async def test_who_says_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "TOKEN_SECONDS", 0.05)
    async with served() as client:
        socket = await client.session.ws_connect(f"{client.origin}/ws", headers={"Origin": client.origin})
        await socket.receive()
        assert socket.close_code == 4401


async def test_an_address_that_is_taken_is_told() -> None:
    async with served() as client:
        with pytest.raises(SettingsError, match="cannot listen"):
            async with new_server(port=client.port).serving():
                pass


async def test_no_files_are_handed_out() -> None:
    async with served() as client:
        assert await client.status("/download/k") == 404
