"""Removing consumers from a group."""

from datetime import timedelta
from typing import Annotated

from msgspec import Struct

from streamops.model.acting import Identity
from streamops.model.entries import PendingEntry
from streamops.model.fields import argument, option, require_name
from streamops.model.streams import Consumer


class RemoveConsumerIntent(Struct, frozen=True, kw_only=True):
    """Remove a consumer, after handing its pending entries to another one.

    ``ValueError`` where that one is itself, or has no name that can be read.
    """

    stream: Annotated[str, argument("The stream.", completes="streams")]
    group: Annotated[str, argument("Its group.", completes="groups")]
    consumer: Annotated[str, argument("The consumer to remove.", completes="consumers")]
    to: Annotated[
        str | None,
        option(
            "Who gets its pending entries; needed where it has some.",
            metavar="CONSUMER",
            completes="consumers",
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.to is not None:
            require_name("--to", self.to)
        if self.to == self.consumer:
            raise ValueError(f"--to {self.to} is the consumer that is removed: name another one")


class RemoveConsumerEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about it.

    Attributes:
        identity: Which stream and group this is.
        consumer: The consumer.
        sample: The first of its pending rows.
        to_exists: Whether the one who gets them exists.
        polls_are_seen: Whether the server counts a consumer that asks in vain as active (from Redis 7.2 on).
    """

    identity: Identity
    consumer: Consumer
    sample: tuple[PendingEntry, ...]
    to_exists: bool
    polls_are_seen: bool


class PruneConsumersIntent(Struct, frozen=True, kw_only=True):
    """Remove consumers that have been idle for long and have nothing pending."""

    stream: Annotated[str, argument("The stream.", completes="streams")]
    group: Annotated[str, argument("Its group.", completes="groups")]
    idle: Annotated[timedelta, option("Only those that were idle for so long.")] = timedelta(hours=1)


class PruneConsumersEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about them.

    Attributes:
        identity: Which stream and group this is.
        idle: Those that were idle for long enough and have nothing pending, longest idle first.
        kept: Those that were idle for long enough, but have pending entries.
        active: How many are not idle for long enough.
        replica: Whether the server is a replica, which does not learn of polls.
        polls_are_seen: Whether the server counts a consumer that asks in vain as active (from Redis 7.2 on).
    """

    identity: Identity
    idle: tuple[Consumer, ...]
    kept: tuple[Consumer, ...]
    active: int
    replica: bool
    polls_are_seen: bool
