"""Consumers: rows, columns and JSON."""

from typing import Final

from msgspec import Struct

from streamops.model.json_text import Json, text_json
from streamops.model.observation import GroupView
from streamops.model.streams import Consumer
from streamops.resources.kinds import NAME_WIDTH, of_rows, seconds
from streamops.resources.table import Cell, Column, Resource, Tone


class ConsumerRow(Struct, frozen=True):
    """A consumer with the names of its stream and group."""

    stream: str
    group: str
    consumer: Consumer


def consumer_rows(group: GroupView) -> tuple[ConsumerRow, ...]:
    """One row a consumer; None if the consumers were not read."""
    return tuple(ConsumerRow(group.stream, group.group.name, member) for member in group.group.members or ())


HEARTBEATS: Final = {
    True: Cell("✓ beats", Tone.OK),
    False: Cell("✗ stopped", Tone.CRITICAL),
    None: Cell("none", Tone.DIM),
}


WORDS: Final = {True: "beats", False: "stopped", None: None}


CONSUMER = of_rows(ConsumerRow)


CONSUMER_COLUMNS: Final[tuple[Column[ConsumerRow], ...]] = (
    CONSUMER.text("stream", "STREAM", NAME_WIDTH, lambda row: row.stream, flexible=True, priority=3).means(
        "The stream's key.", "SCAN TYPE stream, or the names in the configuration"
    ),
    CONSUMER.text("group", "GROUP", 14, lambda row: row.group, flexible=True, priority=2).means(
        "The consumer group.", "XINFO GROUPS name"
    ),
    CONSUMER.text(
        "consumer", "CONSUMER", NAME_WIDTH, lambda row: row.consumer.name, flexible=True, priority=0
    ).means("The consumer's name.", "XINFO CONSUMERS name"),
    CONSUMER.count("pending", "PENDING", 8, lambda row: row.consumer.pending, priority=0).means(
        "Entries delivered to the consumer and not acknowledged yet.", "XINFO CONSUMERS pending"
    ),
    CONSUMER.age("idle_seconds", "IDLE", 7, lambda row: row.consumer.idle, priority=0).means(
        "Time since the consumer last polled (Redis 7.2 and later) or last got an entry (before). "
        "It grows while XREADGROUP blocks; XACK does not reset it.",
        "XINFO CONSUMERS idle",
    ),
    CONSUMER.age(
        "inactive_seconds", "INACTIVE", 8, lambda row: row.consumer.inactive, absent=True, priority=1
    ).means(
        "Time since the consumer last got an entry (Redis 7.2 and later); a dash if it never did or the server is older.",
        "XINFO CONSUMERS inactive (Redis 7.2 and later)",
    ),
    CONSUMER.column(
        "heartbeat",
        "HEARTBEAT",
        9,
        lambda row: WORDS[row.consumer.alive],
        lambda row: HEARTBEATS[row.consumer.alive],
        priority=0,
        sparse=True,
    ).means(
        "For a silent consumer: whether it is a streamops worker that sends heartbeats; empty for "
        "others, and for other clients, which send none.",
        "the heartbeat, streamops:worker:ID",
    ),
)


def consumer_json(consumer: Consumer) -> Json:
    """One consumer."""
    return {
        "consumer": text_json(consumer.name),
        "pending": consumer.pending,
        "idle_seconds": seconds(consumer.idle),
        "inactive_seconds": seconds(consumer.inactive),
        **({} if consumer.alive is None else {"alive": consumer.alive}),
    }


CONSUMERS: Final = Resource[ConsumerRow](
    key=lambda row: (row.stream, row.group, row.consumer.name),
    columns=CONSUMER_COLUMNS,
    fault=lambda row: row.consumer.pending > 0,
    rows=lambda seen: [row for view in seen.streams for group in view.groups for row in consumer_rows(group)],
)
