"""One group's reading of one stream, under one consumer's name."""

from datetime import timedelta
from functools import cached_property
from typing import Final

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

LONGEST: Final = timedelta(days=3650)


class Subscription:
    """A stream, the group that reads it, the consumer's name, and the keys beside the stream.

    Attributes:
        stream: The stream.
        group: The consumer group, of the stream and of its retry stream alike.
        consumer: The consumer's name.
        dead_letters: The dead-letter queue.
        delayed: The stream's queue of delayed messages.
        guarded: How long the business keys of its entries are remembered; nothing where they have none, ``None`` for ever.
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
    ) -> None:
        self.stream = stream
        self.group = group
        self.consumer = consumer
        self.dead_letters = dead_letters or dead_letter_key(stream)
        self.delayed = delayed or delayed_key(stream)
        self.guarded = guarded

    @property
    def owners_kept_ms(self) -> int:
        """For how many milliseconds is kept what became of the owners of its business keys."""
        return (LONGEST if self.guarded is None else self.guarded) // timedelta(milliseconds=1)

    @cached_property
    def retries(self) -> str:
        """The stream of entries that are due again for this group alone."""
        return retry_key(self.stream, self.group)

    @cached_property
    def attempts(self) -> str:
        """The hash of starts of entries that were delivered before."""
        return attempts_key(self.stream, self.group)

    @cached_property
    def guards(self) -> str:
        """What the guards of business keys begin with."""
        return done_prefix(self.stream, self.group)

    @cached_property
    def unhandled(self) -> str:
        """The sorted set of entries that were deleted while they were pending, and that were not handled."""
        return unhandled_key(self.stream, self.group)

    @cached_property
    def replayed(self) -> str:
        """The sorted set of entries that a replay added anew."""
        return replayed_key(self.stream)

    @cached_property
    def bodies(self) -> str:
        """The hash of their bodies."""
        return bodies_key(self.delayed)

    def attempt_field(self, key: str, entry_id: str) -> str:
        """The field of ``attempts`` for an entry of the stream, or of its retry stream."""
        return f"retry:{entry_id}" if key == self.retries else entry_id
