"""Delayed messages as their publisher handles them: many at once, and single ones by their IDs."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Final, NamedTuple

from streamops.model.delayed import DelayedBody, DelayedMessage
from streamops.wire.delayed import decode_message, instant_of_score, milliseconds
from streamops.wire.delayed_bodies import encode_body
from streamops.wire.faults import Fault, FaultKind, fault
from streamops.wire.gathering import Gatherer
from streamops.wire.keys import bodies_key, delayed_key
from streamops.wire.node import Argument, Reply
from streamops.wire.script_calls import Call, run_script, write_script
from streamops.wire.scripts import load_script
from streamops.wire.server import Server

MOST: Final = 250
MOST_BYTES: Final = 1 << 18
"""Messages and bytes of bodies, about, in one script call: under two milliseconds of the server's time."""

AT_ONCE: Final = 8
"""Script calls on their way together: the server works on one while the next is being read."""

ANY_BODY: Final = "*"


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
    """Add delayed messages; for each when it is due, or none where its ID is taken, or why it was refused.

    They wait in the queue beside the stream, unless another one is named.

    Each is added whole or not at all. Where the server does not answer, it is not known which were added;
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
    """A delayed message by its ID, both halves read at one instant; none where there is none of it.

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
    answers = await run_script(server, "delayed_schedule", calls, read_only=False)
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


SCRIPT: Final = "delayed_schedule"


async def schedule_one(
    gatherer: Gatherer, server: Server, stream: str, message: MessageToDelay, queue: str = ""
) -> datetime | Fault | None:
    """Add a delayed message, and say when it is due; none where there is one of that ID already.

    Args:
        gatherer: Sends it, together with what others send.
        server: The same server, for when its scripts were flushed.
        stream: The stream in whose queue it waits.
        message: The message.
        queue: That queue, where it is not the one beside the stream.

    Raises:
        ServerError: The server did not answer; whether it was added is not known.
    """
    key, due = queue or delayed_key(stream), message.due
    when = f"+{due // timedelta(milliseconds=1)}" if isinstance(due, timedelta) else str(milliseconds(due))
    call = Call(key, (message.id, encode_body(message.body), when), _due, (bodies_key(key),))
    reply = await gatherer.send(call.request("EVALSHA", load_script(SCRIPT).sha))
    if not isinstance(reply, Exception):
        answer: datetime | None = reply
        return answer
    problem = fault(reply)
    if problem.kind is not FaultKind.NO_SCRIPT:
        return problem
    (again,) = await schedule_many(server, stream, [message], queue)
    return again


def _due(reply: Reply) -> datetime | None:
    (due,) = reply
    return instant_of_score(due) if due != b"0" else None
