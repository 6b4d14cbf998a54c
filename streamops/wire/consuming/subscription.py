"""A subscription: a stream, the group that reads it and a consumer's name, with the keys that its scripts use."""

from datetime import timedelta
from functools import cached_property
from typing import Any, Final

from streamops.model.authority import StreamPart, is_part_of
from streamops.wire.faults import Fault, FaultKind, fault
from streamops.wire.keys import (
    attempts_key,
    bodies_key,
    dead_letter_key,
    delayed_key,
    done_prefix,
    replayed_key,
    retry_key,
    unhandled_key,
)
from streamops.wire.node import Reply
from streamops.wire.script_calls import Call, try_script
from streamops.wire.server import Server

LONGEST: Final = timedelta(days=3650)


class Subscription:
    """A stream, the group that reads it, the consumer's name, and the keys derived from them.

    Attributes:
        stream: The stream.
        group: The consumer group, of the stream and of its retry stream alike.
        consumer: The consumer's name.
        dead_letters: The dead-letter queue.
        delayed: The stream's queue of delayed messages.
        guarded: How long the business keys of its entries are remembered; nothing if they have none, ``None`` forever.
        noack: Whether the server takes entries for acknowledged as it delivers them.
    """

    def __init__(
        self,
        stream: str,
        group: str,
        consumer: str,
        *,
        dead_letters: str = "",
        delayed: str = "",
        guarded: timedelta | None = timedelta(),
        noack: bool = False,
    ) -> None:
        self.stream = stream
        self.group = group
        self.consumer = consumer
        self.dead_letters = dead_letters or dead_letter_key(stream)
        self.delayed = delayed or delayed_key(stream)
        self.guarded = guarded
        self.noack = noack

    @property
    def owners_kept_ms(self) -> int:
        """Milliseconds for which the present IDs of owners of business keys are kept."""
        return (LONGEST if self.guarded is None else self.guarded) // timedelta(milliseconds=1)

    @cached_property
    def retries(self) -> str:
        """The retry stream: entries that are due again for this group alone."""
        return retry_key(self.stream, self.group)

    @cached_property
    def attempts(self) -> str:
        """The hash of marked starts."""
        return attempts_key(self.stream, self.group)

    @cached_property
    def guards(self) -> str:
        """The prefix of idempotency keys."""
        return done_prefix(self.stream, self.group)

    @cached_property
    def unhandled(self) -> str:
        """The sorted set of entries that were deleted while they were pending, and that were not handled."""
        return unhandled_key(self.stream, self.group)

    @cached_property
    def replayed(self) -> str:
        """The sorted set of entries that a replay added again."""
        return replayed_key(self.stream)

    @cached_property
    def bodies(self) -> str:
        """The hash of their bodies."""
        return bodies_key(self.delayed)


async def run_for_group(server: Server, sub: Subscription, name: str, call: Call[Any]) -> Any:  # noqa: ANN401 - as the decoder says
    """Run a script; its decoded reply, or None if there is no such group or stream.

    Raises:
        ServerError: The server did not answer, or refused. In the first case the script may have run all the same.
    """
    return answered(await try_script(server, name, call), sub, call.key)


def answered(reply: Reply | Fault, sub: Subscription, key: str) -> Any:  # noqa: ANN401 - as the decoder says
    """A reply; None if there is no such group or stream. Raises ``ServerError`` if it is another fault."""
    problem = fault(reply) if isinstance(reply, Exception) else reply
    if not isinstance(problem, Fault):
        return reply
    if problem.kind is FaultKind.MISSING:
        return None
    raise problem.error(f"group {sub.group} of stream {key}")


def key_of(sub: Subscription, *, retries: bool) -> str:
    """The stream, or the retry stream."""
    return sub.retries if retries else sub.stream


def mark_prefix(*, retries: bool) -> str:
    """What the field of an entry's marks begins with, before its ID."""
    return "retry:" if retries else ""


def is_own_payload(sub: Subscription, payload: str | None) -> bool:
    """Whether a key is that of a payload beside this very stream."""
    return payload is not None and is_part_of(payload, sub.stream, StreamPart.PAYLOADS)
