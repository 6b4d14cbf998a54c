"""Delayed messages: schedule, move to their destination, cancel."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec import Struct

from streamops.model.delayed import DelayedBody, DelayedMessage
from streamops.model.entries import EntryId
from streamops.wire.delaying import MessageToDelay, schedule_many
from streamops.wire.faults import required
from streamops.wire.keys import bodies_key
from streamops.wire.node import Argument
from streamops.wire.replies import decode_name
from streamops.wire.script_calls import Call, write_script
from streamops.wire.server import Server

MOST_PARTS: Final = 7_800
"""Field names and values that a script can hand to XADD: Lua unpacks about 8,000."""

GONE: Final = "no longer delayed"
CHANGED: Final = "changed since the plan"
FOREIGN: Final = "no delayed message of streamops"


class DelayedMove(Struct, frozen=True):
    """What became of one message that was to be moved.

    Attributes:
        entry_id: The entry that it became; none where it became none.
        skipped: Why it was left alone; empty where it was not.
        error: Why it could not be moved; empty where it could.
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
    """Add a delayed message, and say when it is due; none where there is one of that ID already.

    Args:
        server: Where.
        stream: The stream in whose queue it waits.
        ident: Its ID.
        body: What it becomes.
        due: When, or how long from now by the server's clock.
        queue: That queue, where it is not the one beside the stream.
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
    """Remove messages that are still what was read; for each why not, empty where it was removed.

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
