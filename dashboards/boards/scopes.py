"""Which series a board means: matchers by the variables at its top."""

from typing import Final

from msgspec import Struct


class Scope(Struct, frozen=True):
    """Families that have the same labels, and the matchers that narrow them.

    Attributes:
        matchers: As they stand between the braces.
    """

    matchers: str

    def __call__(self, family: str, *more: str) -> str:
        """A selector: ``streamops_group_lag_entries{...}``; ``more`` are further matchers."""
        return f"streamops_{family}{{{', '.join((self.matchers, *more))}}}"

    def rate(self, family: str, *more: str) -> str:
        """How much a counter grows a second."""
        return f"rate({self(family, *more)}[$__rate_interval])"

    def increase(self, family: str, *more: str) -> str:
        """How much a counter grew in the time that the board shows."""
        return f"increase({self(family, *more)}[$__range])"

    def age(self, family: str, *more: str) -> str:
        """How long ago a timestamp was when the server was read, by its own clock."""
        return f"(streamops_snapshot_timestamp_seconds{{{_EXPORTER}}} - {OF_READING} {self(family, *more)})"


_EXPORTER: Final = 'job=~"$job", instance=~"$instance"'
OF_READING: Final = "on (job, instance) group_right ()"
OF_STREAM: Final = "on (job, instance, db, stream) group_left ()"

EXPORTER: Final = Scope(_EXPORTER)
"""The exporter and the servers that it watches."""

POOL: Final = Scope(f'{_EXPORTER}, pool=~"$pool"')
"""Pools of workers, by their heartbeats."""

QUEUE: Final = Scope(f'{_EXPORTER}, queue=~"$queue"')
"""Delayed queues."""


class Scopes(Struct, frozen=True):
    """The scopes of streams, on boards about any number of them or about one.

    Attributes:
        stream: Families of a stream.
        group: Families of a group, and of a consumer.
        letters: Families of a dead-letter queue, by the stream it is about.
        worker: Families of a worker's own endpoint.
    """

    stream: Scope
    group: Scope
    letters: Scope
    worker: Scope


def _scopes(matches: str) -> Scopes:
    worker = 'job=~"$worker_job", instance=~"$worker_instance"'
    return Scopes(
        stream=Scope(f'{_EXPORTER}, stream{matches}"$stream"'),
        group=Scope(f'{_EXPORTER}, stream{matches}"$stream", group=~"$group"'),
        letters=Scope(f'{_EXPORTER}, source{matches}"$stream"'),
        worker=Scope(f'{worker}, stream{matches}"$stream", group=~"$group"'),
    )


MANY: Final = _scopes("=~")
ONE: Final = _scopes("=")
"""A variable of one value is put in as it stands; ``=~`` would read a pattern in a stream's name."""

KEY: Final = "instance, db, stream, group"
"""What tells groups apart, whoever scrapes them."""
