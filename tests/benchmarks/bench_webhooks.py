"""HTTP ingest of webhooks beside a bare aiohttp handler that makes one call of redis-py.

    python -m tests.benchmarks.bench_webhooks [LABEL...]

Prints, for each server version, requests a second over loopback: 32 keep-alive clients in a process of their own post
bodies of 64 bytes to `streamops webhooks serve` with one and with two workers, and to the bare handler. A message
without a delay costs an XADD, one with a delay a ZADD and an HSET. All rows run in turn, `ROUNDS` times; medians.
The second figure is the CPU time that the serving processes spend on one request, Redis and clients excluded.
"""

import asyncio
import multiprocessing
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from aiohttp import web
from redis.asyncio import Redis

from streamops.service.processes import runner
from tests.benchmarks.output import say
from tests.support.programs import find_programs
from tests.support.project import PROJECT
from tests.support.servers import RunningServer

CLIENTS, BODY, SECONDS, ROUNDS = 32, b"x" * 64, 2.0, 5
TICKS = os.sysconf("SC_CLK_TCK")
CONFIG = """
default_context = "local"
[contexts.local]
url = "{url}"
[[topics]]
name = "now"
url = "http://hooks.example.net/now"
[[topics]]
name = "later"
url = "http://hooks.example.net/later"
delay = "1h"
[intake]
listen = "127.0.0.1:0"
anonymous = true
"""


class Row(NamedTuple):
    """A service under load: where it listens, and its processes."""

    name: str
    port: int
    pid: int


class Client(asyncio.Protocol):
    """Sends one request after another over one connection, and counts what was accepted."""

    def __init__(self, path: str, until: float) -> None:
        self.accepted = self.refused = 0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._until = until
        self._request = b"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n%s" % (
            path.encode(),
            len(BODY),
            BODY,
        )
        self._received = b""

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401 - uvloop's is no asyncio.Transport
        """Send the first."""
        self._transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        """Send the next once the answer is whole."""
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        if not end or length is None or len(body) < int(length[1]):
            return
        if head.startswith(b"HTTP/1.1 201"):
            self.accepted += 1
        else:
            self.refused += 1
        self._received = b""
        if time.perf_counter() < self._until:
            self._transport.write(self._request)
        else:
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """The end, of its own or not."""
        if not self.done.done():
            self.done.set_exception(exc) if exc else self.done.set_result(None)


async def load(port: int, path: str) -> float:
    """Post for a while; accepted requests a second."""
    loop = asyncio.get_running_loop()
    began = time.perf_counter()
    clients = [Client(path, began + SECONDS) for _ in range(CLIENTS)]
    for client in clients:
        await loop.create_connection(lambda client=client: client, "127.0.0.1", port)  # type: ignore[misc]
    async with asyncio.timeout(10 * SECONDS):
        await asyncio.gather(*(client.done for client in clients))
    if refused := sum(client.refused for client in clients):
        raise SystemExit(f"{refused} requests to {path} were refused")
    return sum(client.accepted for client in clients) / (time.perf_counter() - began)


def run(work: Coroutine[Any, Any, Any]) -> Any:  # noqa: ANN401 - as the work says
    """Run on the event loop that the service runs on."""
    return runner()(work)


def client_process(port: int, path: str, results: Any) -> None:  # noqa: ANN401 - a queue of whichever context
    """The clients, in a process of their own."""
    results.put(run(load(port, path)))


def serve_bare(redis_port: int, results: Any) -> None:  # noqa: ANN401 - as above
    """A handler without any promise."""

    async def serve() -> None:
        async with Redis(port=redis_port) as redis:

            async def now(request: web.Request) -> web.Response:
                await redis.xadd("bare:now", {"data": await request.read()})
                return web.Response(status=201)

            async def later(request: web.Request) -> web.Response:
                await redis.zadd("bare:later", {await request.read() + os.urandom(12): 4e12})
                return web.Response(status=201)

            app = web.Application()
            app.router.add_post("/topics/now/messages", now)
            app.router.add_post("/topics/later/messages", later)
            bare = web.AppRunner(app, access_log=None)
            await bare.setup()
            await web.TCPSite(bare, "127.0.0.1", 0).start()
            results.put(bare.addresses[0][1])
            await asyncio.Event().wait()

    run(serve())


@contextmanager
def bare(server: RunningServer) -> Iterator[Row]:
    """The bare handler in a process of its own."""
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    process = context.Process(target=serve_bare, args=(server.port, results), daemon=True)
    process.start()
    try:
        yield Row("bare aiohttp and redis-py", results.get(), process.pid or 0)
    finally:
        process.terminate()
        process.join()


@contextmanager
def serving(server: RunningServer, workers: int) -> Iterator[Row]:
    """`streamops webhooks serve` as an operator starts it; nothing is called back."""
    with tempfile.TemporaryDirectory() as home:
        config = Path(home, "streamops.toml")
        config.write_text(CONFIG.format(url=f"redis://127.0.0.1:{server.port}"))
        environ = os.environ | {"PYTHONPATH": str(PROJECT), "HOME": home, "STREAMOPS_CONFIG": str(config)}
        command = [sys.executable, "-m", "streamops", "webhooks", "serve", "--no-callbacks"]
        command += ["--workers", str(workers)] if workers else []
        with subprocess.Popen(command, cwd=home, env=environ, stderr=subprocess.PIPE, text=True) as process:
            try:
                assert process.stderr is not None
                port = next(
                    int(found[1])
                    for line in process.stderr
                    if (found := re.search(r"accepted at \S+:(\d+)", line))
                )
                yield Row(f"streamops, {workers} worker{'s' * (workers > 1)}", port, process.pid)
            finally:
                process.terminate()


def cpu_seconds(pid: int) -> float:
    """User and system time of a process and its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return (int(fields[11]) + int(fields[12])) / TICKS + sum(map(cpu_seconds, map(int, children)))


def measured(row: Row, path: str) -> tuple[float, float]:
    """Requests a second, and CPU microseconds of the service for each."""
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    before = cpu_seconds(row.pid)
    process = context.Process(target=client_process, args=(row.port, path, results))
    process.start()
    rate: float = results.get()
    process.join()
    return rate, (cpu_seconds(row.pid) - before) / (rate * SECONDS) * 1e6


def compare(server: RunningServer) -> Iterator[str]:
    """One line for each service and kind of message."""
    with ExitStack() as stack:
        rows = [stack.enter_context(bare(server)), *(stack.enter_context(serving(server, n)) for n in (1, 2))]
        paths = {"at once": "/topics/now/messages", "delayed": "/topics/later/messages"}
        taken: dict[tuple[str, str], list[tuple[float, float]]] = {}
        for _ in range(ROUNDS):
            for kind, path in paths.items():
                for row in rows:
                    taken.setdefault((kind, row.name), []).append(measured(row, path))
                    server.command("FLUSHALL")
        for (kind, name), results in taken.items():
            rates, costs = zip(*results, strict=True)
            yield (
                f"    {kind:8} {name:26} {statistics.median(rates):8,.0f}/s "
                f"({min(rates):,.0f} to {max(rates):,.0f})   {statistics.median(costs):5.0f} us CPU a request"
            )


def main() -> None:
    """Measure on every version found, or on those named."""
    wanted = sys.argv[1:]
    for program in find_programs():
        if not wanted or program.label in wanted:
            with RunningServer(program) as server:
                say(program.label)
                for line in compare(server):
                    say(line)


if __name__ == "__main__":
    main()
