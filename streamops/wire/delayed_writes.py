"""Writing delayed messages: schedule, cancel, move to their destination now."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final, NamedTuple

from msgspec import Struct

from streamops.model.delayed import DelayedBody, DelayedMessage
from streamops.model.entries import EntryId
from streamops.wire.delayed import decode_message, encode_body, instant_of_score, milliseconds
from streamops.wire.faults import Fault, FaultKind, fault, required
from streamops.wire.gathering import Gatherer
from streamops.wire.keys import bodies_key, delayed_key
from streamops.wire.node import Argument
from streamops.wire.replies import decode_name
from streamops.wire.script_calls import Call, run_script, write_script
from streamops.wire.scripts import load_script
from streamops.wire.server import Server

MOST: Final = 250
MOST_BYTES: Final = 1 << 18
"""Messages and bytes of bodies, about, in one script call: under two milliseconds of the server's time."""

AT_ONCE: Final = 8
"""Script calls on their way together: the server works on one while the next is being read."""

ANY_BODY: Final = "*"
SCRIPT: Final = "delayed_schedule"


class MessageToDelay(NamedTuple):
    """A message to be delayed.

    Attributes:
        id: Its ID, any text; it names one message of its queue.
        body: What it becomes.
        due: When, or how long from now by the server's clock.
    """

    id: str
    body: DelayedBody
    due: datetime | timedelta


async def schedule_many(
    server: Server, stream: str, messages: Sequence[MessageToDelay], queue: str = ""
) -> list[datetime | Fault | None]:
    """Add delayed messages; for each when it is due, or None if its ID is taken, or why it was refused.

    They wait in the queue beside the stream, unless another one is named.

    Each is added whole or not at all. If the server does not answer, it is not known which were added;
    to repeat the call is harmless, and those that were are then taken.

    Raises:
        ServerError: The server did not answer.
    """
    answers: list[datetime | Fault | None] = []
    batches = _batches(messages)
    while some := list(islice(batches, AT_ONCE)):
        answers += await _send(server, queue or delayed_key(stream), some)
    return answers


async def delayed_get(server: Server, stream: str, ident: str, queue: str = "") -> DelayedMessage | None:
    """A delayed message by its ID, both halves read at one instant; None if there is none of it.

    Raises:
        ServerError: The server did not answer.
    """
    key = queue or delayed_key(stream)
    call = Call(key, (ident,), lambda halves: decode_message(ident, *halves), (bodies_key(key),))
    message = await write_script(server, "delayed_get", call, key)
    return message if message.exists else None


async def delayed_cancel(server: Server, stream: str, ident: str, queue: str = "") -> bool:
    """Remove a delayed message by its ID, whatever it is by now; whether there was one. Foreign members stay.

    Raises:
        ServerError: The server did not answer. Calling again is harmless.
    """
    key = queue or delayed_key(stream)
    call = Call(key, (ident, ANY_BODY), lambda words: words == [b"cancelled"], (bodies_key(key),))
    return await write_script(server, "delayed_cancel", call, key)


class _Batch:
    """The arguments of one script call while they are gathered."""

    def __init__(self) -> None:
        self.arguments: list[Argument] = []
        self.messages = 0
        self.bytes = 0

    @property
    def full(self) -> bool:
        return self.messages >= MOST or self.bytes >= MOST_BYTES

    def add(self, message: MessageToDelay) -> None:
        body = encode_body(message.body)
        self.arguments += (message.id, body, _when(message.due))
        self.messages += 1
        self.bytes += len(body)


def _batches(messages: Sequence[MessageToDelay]) -> Iterator[_Batch]:
    batch = _Batch()
    for message in messages:
        batch.add(message)
        if batch.full:
            yield batch
            batch = _Batch()
    if batch.messages:
        yield batch


async def _send(server: Server, queue: str, batches: Sequence[_Batch]) -> list[datetime | Fault | None]:
    keys = (bodies_key(queue),)
    calls = [Call(queue, tuple(batch.arguments), _dues, keys) for batch in batches]
    answers = await run_script(server, SCRIPT, calls, read_only=False)
    dues: list[datetime | Fault | None] = []
    for batch, reply in zip(batches, answers.replies, strict=True):
        if answers.failures and isinstance(reply, Exception):
            raise server.error(reply)
        dues += [fault(reply)] * batch.messages if isinstance(reply, Exception) else reply
    return dues


def _when(due: datetime | timedelta) -> str:
    if isinstance(due, timedelta):
        return f"+{max(0, due // timedelta(milliseconds=1))}"
    return str(milliseconds(due))


def _dues(reply: list[bytes]) -> list[datetime | None]:
    return [None if due == b"0" else instant_of_score(due) for due in reply]


async def schedule_one(
    gatherer: Gatherer, server: Server, stream: str, message: MessageToDelay, queue: str = ""
) -> datetime | Fault | None:
    """Add a delayed message, and say when it is due; None if there is one of that ID already.

    Args:
        gatherer: Sends it, together with what others send.
        server: The same server, for when its scripts were flushed.
        stream: The stream in whose queue it waits.
        message: The message.
        queue: That queue, if it is not the one beside the stream.

    Raises:
        ServerError: The server did not answer; whether it was added is not known.
    """
    key = queue or delayed_key(stream)
    arguments = (message.id, encode_body(message.body), _when(message.due))
    call = Call(key, arguments, _dues, (bodies_key(key),))
    reply = await gatherer.send(call.request("EVALSHA", load_script(SCRIPT).sha))
    if not isinstance(reply, Exception):
        due: datetime | None = reply[0]
        return due
    problem = fault(reply)
    if problem.kind is not FaultKind.NO_SCRIPT:
        return problem
    (again,) = await schedule_many(server, stream, [message], queue)
    return again


GONE: Final = "no longer delayed"
CHANGED: Final = "changed since the plan"
FOREIGN: Final = "no delayed message of streamops"


class DelayedMove(Struct, frozen=True):
    """What became of one message that was to be moved.

    Attributes:
        entry_id: The entry that it became; None if it became none.
        skipped: Why it was left alone; empty if it was not.
        error: Why it could not be moved; empty if it could.
    """

    entry_id: EntryId | None = None
    skipped: str = ""
    error: str = ""


async def schedule(
    server: Server,
    stream: str,
    ident: str,
    body: DelayedBody,
    due: datetime | timedelta,
    *,
    queue: str = "",
) -> datetime | None:
    """Add a delayed message, and say when it is due; None if there is one of that ID already.

    Args:
        server: Where.
        stream: The stream in whose queue it waits.
        ident: Its ID.
        body: What it becomes.
        due: When, or how long from now by the server's clock.
        queue: That queue, if it is not the one beside the stream.
    """
    (answer,) = await schedule_many(server, stream, [MessageToDelay(ident, body, due)], queue)
    return required(answer, queue)


async def move_now(
    server: Server, queue: str, destination: str, messages: Sequence[DelayedMessage]
) -> list[DelayedMove]:
    """Move messages of one destination there, due or not; fewer results where the server ran out of memory.

    Args:
        server: Where.
        queue: The queue in which they wait.
        destination: Where they go; in the same slot.
        messages: Messages with a body, together about a megabyte at most.
    """
    arguments: list[Argument] = []
    for message in messages:
        fields = message.body.entry_fields if message.body else ()
        parts = [part for pair in fields for part in pair]
        arguments += [message.id, message.digest, len(parts), *parts]
    call = Call(queue, tuple(arguments), _moved, (bodies_key(queue), destination))
    return await write_script(server, "delayed_run", call, queue)


async def cancel(server: Server, queue: str, messages: Sequence[DelayedMessage]) -> list[str]:
    """Remove messages that are still what was read; for each why not, empty if it was removed.

    Members and bodies of other programs are never removed.
    """
    arguments = tuple(part for message in messages for part in (message.id, message.digest))
    call = Call(queue, arguments, _cancelled, (bodies_key(queue),))
    return await write_script(server, "delayed_cancel", call, queue)


_WORDS: Final = {b"cancelled": "", b"gone": GONE, b"foreign": FOREIGN, b"changed": CHANGED}


def _moved(reply: list[Any]) -> list[DelayedMove]:
    return [_moved_row(row) for row in reply]


def _moved_row(row: bytes | list[bytes]) -> DelayedMove:
    if isinstance(row, bytes):
        return DelayedMove(EntryId.parse(row))
    if row[0] == b"failed":
        return DelayedMove(error=decode_name(row[1]))
    return DelayedMove(skipped=_WORDS[row[0]])


def _cancelled(reply: list[bytes]) -> list[str]:
    return [_WORDS[word] for word in reply]
