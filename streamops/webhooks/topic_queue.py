"""Messages of topics on one server: added, looked up, cancelled.

A message that waits is in the delayed queue of its topic's stream, under its own ID; one that does not wait is added
to the stream at once. What was called and failed waits there too, as the retry of an entry.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from streamops.errors import Forbidden
from streamops.model.delayed import DelayedBody, DelayedMessage, DelayedQueue
from streamops.model.topics import IDENT, Topic, message_fields
from streamops.wire.consuming.publishing import Addition, add
from streamops.wire.delayed import read_messages, read_queues
from streamops.wire.delayed_writes import MessageToDelay, cancel, schedule_one
from streamops.wire.faults import Fault, fault
from streamops.wire.gathering import Gatherer
from streamops.wire.keys import bodies_key, delayed_key, encoded_part, require_one_slot, retry_key
from streamops.wire.replies import decode_name
from streamops.wire.server import Server

AT_ONCE: Final = 12
"""Requests on their way to one server; its connections are no more than some."""

LOOKED_AT: Final = 5_000
PAGE: Final = 500
"""Retries that are looked through for a message's ID, and how many at a time."""


class Added(Struct, frozen=True):
    """What became of a message that was added.

    Attributes:
        id: Its ID.
        due_at: When it is due; none for at once.
    """

    id: str
    due_at: datetime | None


class TopicQueue:
    """One server, as the intake uses it.

    Args:
        server: The server.
        queues: Queues of delayed messages by their streams, for those that a context names.
    """

    def __init__(self, server: Server, queues: Mapping[str, str]) -> None:
        self._server = server
        self._queues = queues
        self._gatherer = Gatherer(server)
        self._free = asyncio.Semaphore(AT_ONCE)

    async def add(
        self,
        topic: Topic,
        body: bytes,
        *,
        ident: str,
        content_type: str = "",
        due: datetime | timedelta | None = None,
    ) -> Added | None:
        """Add a message; none if its ID is taken.

        Args:
            topic: Its topic.
            body: Its body.
            content_type: The type of the body; JSON if empty.
            ident: Its ID.
            due: When it is due, or how long from now; the topic's own delay unless given.

        Raises:
            StreamopsError: It could not be written. If the server did not answer, it may have been added.
        """
        due = topic.delay if due is None else due
        stream, fields = topic.key, message_fields(ident, body, content_type)
        queue = self._queue_of(topic)
        require_one_slot(self._server.options.mode, stream, queue)
        if due == timedelta():
            parts = [part for pair in fields for part in pair]
            await add(self._gatherer, stream, Addition(parts), None)
            return Added(ident, None)
        message = MessageToDelay(ident, DelayedBody(stream, fields), due)
        answer = await schedule_one(self._gatherer, self._server, stream, message, queue)
        if isinstance(answer, Fault):
            raise answer.error(queue)
        return None if answer is None else Added(ident, answer)

    async def find(self, topic: Topic, ident: str) -> DelayedMessage | None:
        """The message that waits under an ID, for its first call or for another; none if none does.

        Raises:
            StreamopsError: It could not be read.
        """
        member = await self._find_member(topic, ident)
        return None if member is None or member.foreign else member

    async def cancel(self, topic: Topic, ident: str) -> bool:
        """Remove a message that waits; whether there was one.

        Raises:
            Forbidden: It changed while it was looked at, again and again; or what has that ID is another program's.
            StreamopsError: It could not be removed.
        """
        queue = self._queue_of(topic)
        for _ in range(3):
            message = await self._find_member(topic, ident)
            if message is None:
                return False
            if message.foreign:
                raise Forbidden(
                    f"queue {queue}: member {ident} is no delayed message of streamops",
                    "Remove it with the program that wrote it.",
                )
            async with self._room():
                words = await cancel(self._server, queue, [message])
            if not words[0]:
                return True
        raise Forbidden(
            f"message {ident} of {topic.name} changes again and again while it is cancelled",
            "It is called and waits again in turn: try again in a moment.",
        )

    async def count(self, topic: Topic) -> DelayedQueue:
        """How many messages wait; raises ``StreamopsError``."""
        async with self._room():
            (queue,) = await read_queues(self._server, [topic.key], self._queues)
        if isinstance(queue, Fault):
            raise queue.error(self._queue_of(topic))
        return queue

    async def _find_member(self, topic: Topic, ident: str) -> DelayedMessage | None:
        """What waits under an ID for this topic; another program's member too, for whatever that waits."""
        async with self._room():
            async for (message,) in read_messages(self._server, self._queue_of(topic), [ident]):
                if message.due_at is not None and _may_be_of(topic, message):
                    return message
            return await self._find_retry(topic, ident)

    async def _find_retry(self, topic: Topic, ident: str) -> DelayedMessage | None:
        """A failed message by the ID that it carries: retries wait under IDs of their entries."""
        queue, wanted = self._queue_of(topic), ident.encode()
        key, cursor, looked_at = bodies_key(queue), 0, 0
        pattern = f"{encoded_part(topic.group)}:*".replace("[", "\\[").replace("?", "\\?")
        while looked_at < LOOKED_AT:
            reply = await self._server.single(key, "HSCAN", key, cursor, "MATCH", pattern, "COUNT", PAGE)
            if isinstance(reply, Exception):
                raise fault(reply).error(key)
            cursor, flat = int(reply[0]), reply[1]
            # The body is not decoded to tell whether the ID is in it.
            near = [
                decode_name(name) for name, body in zip(flat[::2], flat[1::2], strict=True) if wanted in body
            ]
            async for page in read_messages(self._server, queue, near):
                for message in page:
                    fields = dict(reversed(message.body.fields)) if message.body else {}
                    is_wanted = fields.get(IDENT) == wanted and message.due_at is not None
                    if is_wanted and _may_be_of(topic, message):
                        return message
            looked_at += PAGE
            if not cursor:
                break
        return None

    def _queue_of(self, topic: Topic) -> str:
        return delayed_key(topic.key, self._queues)

    @asynccontextmanager
    async def _room(self) -> AsyncIterator[None]:
        async with self._free:
            yield


def _may_be_of(topic: Topic, message: DelayedMessage) -> bool:
    """Whether a message may be a topic's: several streams may share one queue. One that cannot be read may be."""
    places = (topic.key, retry_key(topic.key, topic.group))
    return message.body is None or message.body.destination in places
