"""Whoever reaches an HTTP port: pages of strangers in a browser, clients that never end, paths that lead out."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import bcrypt
import pytest
from aiohttp import web

from streamops.runtime.metrics import WorkerCollector, serving
from streamops.service import listening as of_exporter
from streamops.service.authentication import Authentication, require_authentication
from tests.support.security.web import SHORT, asked, dripped

Serving = Callable[[], AbstractAsyncContextManager[int]]


async def _well(_: web.Request) -> web.Response:
    return web.Response(text="well")


def application() -> web.Application:
    app = web.Application()
    app.router.add_get("/", _well)
    return app


@asynccontextmanager
async def exporter(web_config: Path | None = None) -> AsyncIterator[int]:
    """As the exporter, KEDA's HTTP face and workers' metrics are served."""
    authentication = Authentication(web_config)
    app = application()
    require_authentication(app, authentication)
    async with of_exporter.listening(app, "127.0.0.1", 0, authentication) as port:
        yield port


@asynccontextmanager
async def intake() -> AsyncIterator[int]:
    """As the intake is served."""
    listener = of_exporter.bind("127.0.0.1", 0)
    bounds = {"idle": of_exporter.IDLE_SECONDS, "grace": of_exporter.GRACE_SECONDS}
    async with of_exporter.serving(application(), listener, Authentication(None), most=10, **bounds) as port:
        yield port


@asynccontextmanager
async def workers() -> AsyncIterator[int]:
    """As the metrics of worker processes are served."""
    async with serving(
        "127.0.0.1", 0, WorkerCollector(tuple), healthy=lambda: True, ready=lambda: True
    ) as port:
        yield port


@pytest.mark.parametrize("serve", [exporter, intake])
@pytest.mark.parametrize(
    "begin",
    [b"", b"GET / HTTP/1.1\r\nX-Slow: ", b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nX-Slow: "],
    ids=["silent", "first", "second"],
)
async def test_who_never_comes_to_an_end_loses_the_connection(
    serve: Serving, begin: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_exporter, "IDLE_SECONDS", SHORT)
    async with serve() as port:
        said = await dripped(port, begin)
        assert said.count(b"200 OK") == begin.count(b"\r\n\r\n")
        assert b"well" in await asked(port, b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")


async def test_further_connections_than_there_may_be_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_exporter, "MOST_CONNECTIONS", 5)
    async with exporter() as port:
        held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(5)]
        await asyncio.sleep(0)
        assert await asked(port, b"") == b""
        for _, writer in held:
            writer.close()


@pytest.mark.parametrize("host", ["localhost:9641", "a", "[::1]:9641", "shop.localhost"])
async def test_hosts_by_names_that_no_stranger_has_are_answered(host: str) -> None:
    async with exporter() as port:
        assert b"200 OK" in await asked(
            port, f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()
        )


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example:9641", "localhost.evil.example", "[x"]
)
async def test_a_page_whose_name_leads_here_reads_nothing(host: str) -> None:
    async with exporter() as port:
        told = await asked(port, f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    assert b"200 OK" not in told
    assert b"well" not in told


async def test_a_password_is_asked_for_instead_where_there_is_one(tmp_path: Path) -> None:
    path = tmp_path / "web.yml"
    path.write_text(f'basic_auth_users: {{a: "{bcrypt.hashpw(b"p", bcrypt.gensalt(4)).decode()}"}}\n')
    async with exporter(path) as port:
        told = await asked(port, b"GET / HTTP/1.1\r\nHost: metrics.example.net\r\nConnection: close\r\n\r\n")
    assert b"401" in told.splitlines()[0]


async def test_workers_metrics_keep_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_exporter, "IDLE_SECONDS", SHORT)
    async with workers() as port:
        assert await dripped(port, b"GET /-/healthy HTTP/1.1\r\nX-Slow: ") == b""
        told = await asked(port, b"GET /-/healthy HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        assert (b"200 OK" in told, b"Python" in told, b"aiohttp" in told) == (True, False, False)
        rebound = b"GET /metrics HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
        assert b"403" in (await asked(port, rebound)).splitlines()[0]


@pytest.mark.parametrize("serve", [exporter, intake])
@pytest.mark.parametrize("path", ["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd"])
async def test_no_path_leads_to_a_file(serve: Serving, path: str) -> None:
    async with serve() as port:
        told = await asked(port, f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
    assert b"404" in told.splitlines()[0]
    assert b"root:" not in told
