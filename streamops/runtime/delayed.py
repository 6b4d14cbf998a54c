"""Delayed messages as their publisher handles them: added until they are due, looked up, and cancelled.

A payload is kept before its message is added, and dropped again where the message was refused: there may be a
payload for nothing until its time is over, but no message without its payload.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from secrets import token_hex
from typing import Final

from streamops.errors import Forbidden, PublishError, SettingsError, StreamopsError, Unreachable
from streamops.model.delayed import DelayedBody, DelayedMessage
from streamops.model.text import name_text
from streamops.runtime.retry import seconds
from streamops.wire import delayed_writes
from streamops.wire.consuming import payloads
from streamops.wire.consuming.publishing import OWN_CHOICE, Addition, unknown
from streamops.wire.faults import Fault
from streamops.wire.keys import delayed_key, payload_key, require_one_slot
from streamops.wire.reads import read_clock
from streamops.wire.server import Server

NO_DELAY: Final = timedelta(0)


class Scheduler:
    """The delayed messages of one publisher.

    Args:
        server: Where.
        queues: The queues of streams where these are not the ones beside them.
    """

    def __init__(self, server: Server, queues: Mapping[str, str]) -> None:
        self._server = server
        self._queues = queues

    async def schedule(
        self, stream: str, additions: Sequence[Addition], due: timedelta | datetime
    ) -> list[str | StreamopsError]:
        """Add messages, with random IDs where they have none; for each its ID, or why it was not added.

        Raises:
            Unreachable: The server did not answer; it is not known which were added.
            ServerError: The server refused the payloads; nothing was added.
        """
        queue = self._queue_of(stream)
        names = [token_hex(8) if one.entry_id == OWN_CHOICE else one.entry_id for one in additions]
        messages = [
            delayed_writes.MessageToDelay(name, DelayedBody(stream, _pairs(one.parts)), due)
            for name, one in zip(names, additions, strict=True)
        ]
        kept = [one.payload for one in additions if one.payload is not None]
        if kept:
            await self._keep_ahead(kept, due)
        try:
            dues = await delayed_writes.schedule_many(self._server, stream, messages, queue)
        except Unreachable as error:
            raise unknown(error, "all messages were added to the delayed ones of", stream) from None
        answers = [_scheduled(stream, queue, name, due) for name, due in zip(names, dues, strict=True)]
        for one, answer in zip(additions, answers, strict=True):
            if one.payload is not None and isinstance(answer, StreamopsError):
                await payloads.drop_payload(self._server, one.payload.key)
        return answers

    async def get(self, stream: str, ident: str) -> DelayedMessage | None:
        """A message that is not an entry yet; None if there is none of this ID.

        Raises:
            ServerError: The server did not answer, or refused.
        """
        return await delayed_writes.delayed_get(self._server, stream, ident, self._queue_of(stream))

    async def cancel(self, stream: str, ident: str) -> bool:
        """Remove a message, with its payload; whether there was one.

        Raises:
            Forbidden: The queue's member of this ID is another program's.
            ServerError: The server did not answer, or refused.
        """
        message = await self.get(stream, ident)
        queue = self._queue_of(stream)
        if message is not None and message.foreign:
            raise Forbidden(
                f"queue {queue}: member {ident} is no delayed message of streamops",
                "Remove it with the program that wrote it.",
            )
        answer = await delayed_writes.delayed_cancel(self._server, stream, ident, queue)
        if answer and message is not None and message.body is not None:
            for key in _payloads_of(stream, message.body):
                await payloads.drop_payload(self._server, key)
        return answer

    def _queue_of(self, stream: str) -> str:
        queue = delayed_key(stream, self._queues)
        require_one_slot(self._server.options.mode, stream, queue)
        return queue

    async def _keep_ahead(self, kept: Sequence[payloads.StoredPayload], due: timedelta | datetime) -> None:
        """Keep the payloads of messages: until they are due, and as long again as any payload is kept."""
        if isinstance(due, datetime):
            now = await read_clock(self._server, kept[0].key)
            wait = NO_DELAY if now is None else due - now
        else:
            wait = due
        for one in kept:
            longer = one._replace(ttl=one.ttl + max(wait, NO_DELAY))
            await payloads.keep_payload(self._server, longer)


def due_of(delay: timedelta | float | None, at: datetime | None) -> timedelta | datetime:
    """When a message is due: after a while, or at a time.

    Raises:
        PublishError: Both were given, or one that is no such thing.
    """
    if at is None:
        return _wait_of(delay)
    if delay is not None:
        raise PublishError("both `delay=` and `at=` were given", "Give one of them.")
    if _is_naive(at):
        raise PublishError(
            "`at=` is no time, or one without a time zone", "Give one, such as datetime(..., tzinfo=UTC)."
        )
    return at


def _wait_of(delay: timedelta | float | None) -> timedelta:
    try:
        wait = timedelta(seconds=seconds(delay or 0))
    except (SettingsError, OverflowError):
        raise PublishError(
            f"delay={delay!r} is no duration", "Give seconds, such as 30 or 0.5, or a timedelta."
        ) from None
    if wait < NO_DELAY:
        raise PublishError(
            f"the delay is negative: {delay}", "Give how long from now the entry is to be added."
        )
    return wait


def _is_naive(at: object) -> bool:
    return not isinstance(at, datetime) or at.tzinfo is None


def _pairs(parts: Sequence[bytes]) -> tuple[tuple[bytes, bytes], ...]:
    return tuple(zip(parts[::2], parts[1::2], strict=True))


def _payloads_of(stream: str, body: DelayedBody) -> Iterator[str]:
    """The keys of payloads of the stream's own that a message refers to."""
    for field, value in body.fields:
        key = name_text(value)
        if field == payloads.REFERENCE and key.startswith(payload_key(stream, "")):
            yield key


def _scheduled(stream: str, queue: str, ident: str, due: datetime | Fault | None) -> str | StreamopsError:
    if isinstance(due, Fault):
        return due.error(queue)
    if due is None:
        return PublishError(
            f"stream {stream} has a delayed message {ident} already",
            "Where the same message was published before, it is there.",
        )
    return ident
