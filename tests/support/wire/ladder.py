"""Streams, and users who may read parts of them."""

from typing import Any

from streamops.model.streams import Snapshot
from tests.support.servers import RunningServer

STREAMS = ("orders", "payments")
NO_SCRIPTS = ("-eval", "-evalsha", "-eval_ro", "-evalsha_ro")


def add_two_streams_three_groups(server: RunningServer) -> None:
    """Two streams, each with groups before, amid and at the end of its entries."""
    for stream in STREAMS:
        for number in range(1, 7):
            server.command("XADD", stream, "*", "n", number)
        for group, entries in (("before", 0), ("amid", 3), ("end", 6)):
            server.command("XGROUP", "CREATE", stream, group, "0")
            if entries:
                server.command(
                    *("XREADGROUP", "GROUP", group, "worker", "COUNT", entries, "STREAMS", stream, ">")
                )


def essence(snapshot: Snapshot) -> list[Any]:
    """All that does not change while nobody does anything."""
    return [
        (
            *(stream.name, stream.length, stream.first_id, stream.last_id, stream.last_generated_id),
            *(stream.entries_added, stream.max_deleted_id, stream.entry_bytes),
            [
                (
                    *(group.name, group.consumers, group.pending, group.last_delivered_id),
                    *(group.entries_read, group.reported_lag, group.lag.entries),
                    group.time_lag.age is None,
                    group.oldest_pending and (group.oldest_pending.id, group.oldest_pending.consumer),
                    group.oldest_pending_age is None,
                    [(one.name, one.pending) for one in group.members or ()],
                    group.profile and group.profile.delivery_buckets,
                )
                for group in stream.groups
            ],
        )
        for stream in snapshot.streams
    ]


def is_old(server: RunningServer) -> bool:
    """Before Redis 7.0 there are no read-only scripts, no %R and no denied subcommands."""
    return server.label == "redis-6.2"
