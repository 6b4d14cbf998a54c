"""Commands of many callers, sent together.

Whoever calls while nothing is under way is sent at once, and alone. Whoever calls meanwhile waits for that reply, and
then goes out together with everybody else who waits: the busier the callers, the larger the pipelines, and no timer
delays anybody.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from streamops.errors import ServerError
from streamops.wire.batches import Request
from streamops.wire.node import Command, Node, Reply, encoded
from streamops.wire.server import Server

MOST: Final = 500
MOST_BYTES: Final = 1 << 20
"""Commands and bytes that go out together, at most; a larger command goes alone."""

MOST_WAITING: Final = 10_000
MOST_WAITING_BYTES: Final = 16 << 20
"""Commands and bytes that wait for one node; who comes then waits until there is room."""


class _Waiting(NamedTuple):
    key: str
    command: Command
    size: int
    reply: asyncio.Future[Reply]


class _Lane:
    """What waits for one node, while something is under way to it.

    Attributes:
        busy: Whether something is.
        task: The task that sends waiting commands; None while there is none.
    """

    def __init__(self) -> None:
        self.busy = False
        self.task: asyncio.Task[None] | None = None
        self.waiting: deque[_Waiting] = deque()
        self.bytes = 0
        self.room: asyncio.Event | None = None

    @property
    def full(self) -> bool:
        return len(self.waiting) >= MOST_WAITING or self.bytes >= MOST_WAITING_BYTES

    async def wait_for_room(self) -> None:
        """Wait until some of them went out."""
        self.room = self.room or asyncio.Event()
        await self.room.wait()

    def rest(self) -> None:
        """Nothing is under way, and nothing waits, any more."""
        self.busy, self.task, self.bytes = False, None, 0
        self.make_room()

    def make_room(self) -> None:
        """Tell those who wait for it."""
        if self.room is not None:
            self.room.set()
            self.room = None

    def add(self, request: Request) -> asyncio.Future[Reply]:
        # Encoded here: a command that cannot be encoded must fail its caller, not the whole pipeline.
        command = encoded(request.command)
        size = sum(len(part) for part in command if isinstance(part, bytes))
        reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self.waiting.append(_Waiting(request.key, command, size, reply))
        self.bytes += size
        return reply

    def take(self) -> list[_Waiting]:
        """The next of them, as many as go out together; those whose callers were cancelled are dropped."""
        taken: list[_Waiting] = []
        left = MOST_BYTES
        while self.waiting and len(taken) < MOST and left > 0:
            one = self.waiting.popleft()
            self.bytes -= one.size
            left -= one.size
            if not one.reply.done():
                taken.append(one)
        self.make_room()
        return taken


class Gatherer:
    """Sends the commands of many callers to one server, in order for each node.

    A cancelled caller does not affect others. If a pipeline fails, all its callers get the error: whether the
    command was run is then not known, unless the error says that it was not sent.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._lanes: dict[Node | None, _Lane] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def send(self, request: Request) -> Any:  # noqa: ANN401 - as the decoder says
        """Send a command; its decoded reply, or the error that the server answered.

        Raises:
            ServerError: The server failed.
        """
        node = self._server.node_of(request.key)
        lane = self._lanes.get(node) or self._lanes.setdefault(node, _Lane())
        while lane.busy and lane.full:
            await lane.wait_for_room()
        reply = await (lane.add(request) if lane.busy else self._send_one(lane, request))
        return reply if request.decode is None or isinstance(reply, Exception) else request.decode(reply)

    async def close(self) -> None:
        """Wait until everything that was asked for is answered."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _send_one(self, lane: _Lane, request: Request) -> Reply:
        lane.busy = True
        try:
            return await self._server.single(request.key, *request.command)
        finally:
            if lane.waiting:
                lane.task = asyncio.create_task(self._send_waiting(lane))
                self._tasks.add(lane.task)
                # A task that is cancelled before it began does not even run its `finally`.
                lane.task.add_done_callback(partial(self._clear, lane))
            else:
                lane.rest()

    async def _send_waiting(self, lane: _Lane) -> None:
        while lane.waiting:
            await self._send_some(lane.take())
            # Those who were answered just now may have more.
            await asyncio.sleep(0)
        # At once: the next caller must not wait for a task that is done.
        lane.rest()

    async def _send_some(self, taken: list[_Waiting]) -> None:
        try:
            replies = await self._ask([Request(one.key, one.command) for one in taken])
        except Exception as error:  # noqa: BLE001 - each is told
            # What is not expected is no cancellation either: those would end their callers without a word.
            for one in taken:
                if not one.reply.done():
                    one.reply.set_exception(error)
            return
        except BaseException:
            for one in taken:
                one.reply.cancel()
            raise
        for one, reply in zip(taken, replies, strict=True):
            if one.reply.done():
                continue
            if isinstance(reply, ServerError):
                one.reply.set_exception(reply)
            else:
                one.reply.set_result(reply)

    async def _ask(self, requests: Sequence[Request]) -> Sequence[Reply | ServerError]:
        """The reply to each; an error of its own where the server failed."""
        try:
            answers = await self._server.batch(requests)
        except ServerError as error:
            return [error.copy() for _ in requests]
        if not answers.failures:
            return answers.replies
        failures = set(map(id, answers.failures.values()))
        return [self._server.error(reply) if id(reply) in failures else reply for reply in answers.replies]

    def _clear(self, lane: _Lane, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if lane.task is task:
            # It did not come to its end.
            for one in lane.waiting:
                one.reply.cancel()
            lane.waiting.clear()
            lane.rest()
