"""An application on a stage: its worker at work on a server of its own.

>>> async def test_an_order_is_shipped():
...     async with staged(app) as stage:
...         await stage.publish("orders:events", Order("o-1"))
...         await stage.idle()
...         assert shipped == ["o-1"]
...         assert await stage.dead_letters("orders:events") == []
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from streamops.demo.server import embedded_server
from streamops.model.pools import WorkerState
from streamops.runtime import Publisher, Streamops, Worker, WorkerOptions
from streamops.wire.consuming.entries import hasten
from streamops.wire.keys import dead_letter_key
from streamops.wire.options import ConnectionOptions
from streamops.wire.server import Server

OPTIONS: Final = WorkerOptions(beat=timedelta(seconds=0.5), grace=timedelta(seconds=5))
PATIENCE: Final = 10.0
GLANCE: Final = 0.01


class StagedDeadLetter(Struct, frozen=True):
    """A dead letter, as far as a test wants to know.

    Attributes:
        id: Its ID in the dead-letter queue.
        fields: The entry's own fields; of a repeated name the last.
        reason: Why it was given up, in one word.
        error: The last error.
        attempt: How often it had been tried.
    """

    id: str
    fields: dict[str, bytes]
    reason: str
    error: str
    attempt: int


class Stage:
    """A worker at work, and what a test does with it.

    Attributes:
        worker: The worker.
        connection: How its server is reached.
    """

    def __init__(self, app: Streamops, worker: Worker, server: Server, publisher: Publisher) -> None:
        self.worker = worker
        self.connection = server.options
        self._app = app
        self._server = server
        self._publisher = publisher

    async def publish(self, stream: str, body: Any, **options: Any) -> str:  # noqa: ANN401 - as Publisher.publish
        """Publish, with the options of ``Publisher.publish``; the entry's ID, or the delayed message's."""
        return await self._publisher.publish(stream, body, **options)

    async def idle(self, *, delayed: bool = True, seconds: float = PATIENCE) -> None:
        """Wait until nothing is left to do: nothing unread, pending or due again.

        Args:
            delayed: Whether messages that wait for their time count as something to do.
            seconds: How long to wait at most.

        Raises:
            TimeoutError: There still was something; it says what.
        """
        left = "nothing was looked at yet"
        try:
            async with asyncio.timeout(seconds):
                while left := await self.worker.remaining_work(delayed=delayed):  # noqa: ASYNC110 - a server has no event for it
                    await asyncio.sleep(GLANCE)
        except TimeoutError:
            raise TimeoutError(f"not idle after {seconds:g} s: {left}") from None

    async def hasten(self) -> None:
        """Let the time of all delayed messages have come, retries included."""
        for sub in self.worker.subscriptions:
            await hasten(self._server, sub)
            self.worker.wake_promoter(sub.stream)

    async def dead_letters(self, stream: str) -> list[StagedDeadLetter]:
        """The dead letters of a stream, oldest first."""
        queue = dead_letter_key(stream, self._app.names.dead_letters)
        rows = await self._server.single(queue, "XRANGE", queue, "-", "+")
        return [_staged(raw_id, raw) for raw_id, raw in rows]


@contextmanager
def embedded_redis() -> Iterator[ConnectionOptions]:
    """A real server on a unix socket, empty, gone at the end; a session's fixture may share one among its tests.

    Raises:
        SettingsError: There is no server to run: install ``streamops[embedded]``, Valkey or Redis.
    """
    with embedded_server() as options:
        yield options


@asynccontextmanager
async def staged(
    app: Streamops, connection: ConnectionOptions | None = None, *, options: WorkerOptions = OPTIONS
) -> AsyncIterator[Stage]:
    """Run an application's worker in this process.

    Args:
        app: The application; while it is on stage it has the stage's server instead of its own.
        connection: The server; a new empty one unless given. One that is given is emptied of nothing.
        options: How the worker lives.
    """
    if connection is None:
        with embedded_server() as own:
            async with staged(app, own, options=options) as stage:
                yield stage
        return
    usual, app.connection = app.connection, connection
    try:
        worker = app.worker(replace(options, app=options.app or app.name))
        async with app.publisher() as publisher:
            server = await Server.connect(connection)
            try:
                async with _at_work(worker):
                    yield Stage(app, worker, server, publisher)
            finally:
                await server.close()
    finally:
        app.connection = usual


@asynccontextmanager
async def _at_work(worker: Worker) -> AsyncIterator[None]:
    work = asyncio.create_task(worker.run())
    try:
        while worker.state is WorkerState.STARTING and not work.done():  # noqa: ASYNC110 - either ends it
            await asyncio.sleep(GLANCE)
        if work.done():
            await work
        yield
    finally:
        worker.stop()
        await work


def _staged(raw_id: bytes, raw: list[bytes]) -> StagedDeadLetter:
    told = {name.decode(errors="replace"): value for name, value in zip(raw[::2], raw[1::2], strict=True)}
    return StagedDeadLetter(
        raw_id.decode(),
        {name: value for name, value in told.items() if not name.startswith("_so_")},
        told.get("_so_reason", b"").decode(),
        told.get("_so_error", b"").decode(errors="replace"),
        int(told.get("_so_attempt", b"0")),
    )
