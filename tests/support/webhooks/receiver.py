"""A real receiver of callbacks, which answers as its path asks for, also as no receiver should."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from aiohttp import web
from msgspec import Struct

from streamops.model.topics import Topic

DRIP = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"


class Seen(Struct):
    """One call as the receiver saw it."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Receiver:
    """Where callbacks go in a test.

    Attributes:
        url: Its address.
        seen: The calls so far.
        status: What ``/answer`` answers with.
        answer: What it says.
        gate: While it is closed, ``/wait`` does not answer.
        peers: Addresses of the connections that calls came by.
    """

    def __init__(self) -> None:
        self.url = ""
        self.seen: list[Seen] = []
        self.status = 200
        self.answer: str | bytes = '{"code": 200}'
        self.headers: dict[str, str] = {}
        self.gate = asyncio.Event()
        self.peers: set[Any] = set()
        self.at_once = 0
        self.most_at_once = 0

    def topic(self, path: str = "/answer", **attributes: Any) -> Topic:
        """A topic that calls it."""
        return Topic(**{"name": "remind", "url": self.url + path, "retry_empty": False, **attributes})

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one call."""
        body = await request.read()
        self.seen.append(Seen(request.method, request.path, dict(request.headers), body))
        self.peers.add(request.transport.get_extra_info("peername") if request.transport else None)
        match request.path.strip("/").split("/"):
            case ["wait"]:
                self.at_once += 1
                self.most_at_once = max(self.at_once, self.most_at_once)
                await self.gate.wait()
                self.at_once -= 1
            case ["redirect", status]:
                return web.Response(status=int(status), headers={"Location": self.headers["to"]})
            case ["huge"]:
                return await self._stream(request, b"x" * 65536, 4000)
            case ["reset"]:
                assert request.transport is not None
                request.transport.abort()
        return web.Response(
            status=self.status, body=self.answer, headers=self.headers, content_type="application/json"
        )

    async def _stream(self, request: web.Request, part: bytes, times: int) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        with suppress(ConnectionError):
            for _ in range(times):
                await response.write(part)
        return response


@asynccontextmanager
async def running_receiver() -> AsyncIterator[Receiver]:
    """A receiver on a loopback port that the kernel chose."""
    receiver = Receiver()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", receiver.handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    receiver.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield receiver
    finally:
        receiver.gate.set()
        await runner.cleanup()


@asynccontextmanager
async def running_raw(answer: bytes, *, drip: float | None = None) -> AsyncIterator[str]:
    """A server that speaks no HTTP of its own: it says ``answer``, then drips bytes, or hangs up."""

    serving: set[asyncio.Task[Any]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if (task := asyncio.current_task()) is not None:
            serving.add(task)
        try:
            await reader.read(65536)
            writer.write(answer)
            while drip is not None:
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(drip)
        except (ConnectionError, asyncio.CancelledError):
            # The caller hung up, or the test is over.
            pass
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    finally:
        server.close()
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
