"""Moving delayed messages to their destinations once they are due."""

from collections.abc import Iterable
from datetime import timedelta
from math import ceil, isinf
from typing import Any, Final

from msgspec import Struct

from streamops.model.authority import tag_of
from streamops.wire.keys import (
    bodies_key,
    dead_letter_key,
    delayed_key,
    require_one_slot,
)
from streamops.wire.node import Argument
from streamops.wire.numbers import span
from streamops.wire.replies import decode_name
from streamops.wire.script_calls import Call, write_script
from streamops.wire.server import Server

LIMIT: Final = 500
MOST_BYTES: Final = 1 << 18
"""Messages and bytes of bodies, about, that one call moves: a few milliseconds of the server's time."""


class Refusal(Struct, frozen=True):
    """Why messages wait another minute: a key that could not be written to, or a queue that a later version wrote.

    Attributes:
        key: The destination, the dead-letter queue, or the queue itself.
        error: What the server said, or what is wrong with their bodies.
        messages: How many.
    """

    key: str
    error: str
    messages: int


class Passed(Struct, frozen=True):
    """Members at the front of a queue that stay where they are: other programs', or of a later version.

    Attributes:
        count: How many.
        last: The last of them; the script starts over where it is not at its rank any more.
    """

    count: int = 0
    last: str = ""


NOTHING_PASSED: Final = Passed()


class Promotion(Struct, frozen=True):
    """What one call came to.

    Attributes:
        moved: How many messages became entries.
        next_due_ms: When the first of those left is due; none where there is none that ever will be.
        now_ms: The server's clock.
        unknown: Retry streams of due messages that were not declared: call again with them.
        buried: Messages that can never become entries and went to the dead letters: ID and reason.
        refused: Keys that could not be written to.
        strays: Bodies beyond the messages that the queue names; they never come due.
        foreign: Due members that are no delayed messages, and stay untouched.
        passed: Give it to the next call, which then goes on behind these.
    """

    moved: int
    next_due_ms: int | None
    now_ms: int
    unknown: tuple[str, ...] = ()
    buried: tuple[tuple[str, str], ...] = ()
    refused: tuple[Refusal, ...] = ()
    strays: int = 0
    foreign: int = 0
    passed: Passed = NOTHING_PASSED

    @property
    def wait(self) -> timedelta | None:
        """How long until the next message is due, by the server's clock; none where there is no next one."""
        if self.next_due_ms is None:
            return None
        return span(max(0, self.next_due_ms - self.now_ms))


async def promote_due(
    server: Server,
    stream: str,
    destinations: Iterable[str] = (),
    limit: int = LIMIT,
    *,
    queue: str = "",
    dead_letters: str = "",
    passed: Passed = NOTHING_PASSED,
) -> Promotion:
    """Move due messages of one queue, the first due first, by the server's clock.

    One script moves each: who calls it twice, or beside others, moves nothing twice. Where the server refuses
    as a whole (out of memory, read-only, no permission) nothing was moved.

    Args:
        server: Where.
        stream: The stream in whose queue they wait; always a destination.
        destinations: Retry streams of its groups: ``unknown`` of an earlier call. Messages that name anything else
            are buried.
        limit: The most messages to move.
        queue: That queue, where it is not the one beside the stream.
        dead_letters: The stream's dead-letter queue, where it is not the one beside it.
        passed: What the call before has passed.

    Raises:
        Forbidden: On a cluster, the keys beside the stream are in other slots than it.
        ServerError: The server did not answer. Calling again is harmless.
    """
    queue = queue or delayed_key(stream)
    dead_letters = dead_letters or dead_letter_key(stream)
    require_one_slot(server.options.mode, stream, queue, dead_letters)
    keys = (bodies_key(queue), dead_letters, *dict.fromkeys((stream, *destinations)))
    arguments: tuple[Argument, ...] = (limit, MOST_BYTES, stream, tag_of(stream), passed.count, passed.last)
    call = Call(queue, arguments, _promoted, keys)
    return await write_script(server, "promote_due", call, f"delayed messages of {stream}")


def _promoted(reply: list[Any]) -> Promotion:
    moved, first, now, unknown, buried, refused, strays, foreign, passed, last = reply
    return Promotion(
        moved,
        _instant(first),
        int(now),
        tuple(map(decode_name, unknown)),
        tuple(zip(map(decode_name, buried[::2]), map(decode_name, buried[1::2]), strict=True)),
        tuple(
            Refusal(decode_name(key), decode_name(error), messages)
            for key, error, messages in zip(refused[::3], refused[1::3], refused[2::3], strict=True)
        ),
        max(0, strays),
        foreign,
        Passed(passed, decode_name(last)),
    )


def _instant(score: bytes) -> int | None:
    """A score as milliseconds, none for what never comes; what is beyond all numbers is long overdue."""
    if not score or score == b"inf":
        return None
    value = float(score)
    return 0 if isinf(value) else ceil(value)
