"""Dead letters as streamops writes them: the entry's own fields, then reserved ones."""

from datetime import datetime

from msgspec import Struct

from streamops.demo.payloads import Fields, encode
from streamops.model.entries import EntryId


class DemoFailure(Struct, frozen=True):
    """Why a group gave an entry up.

    Attributes:
        stream: The stream the entry came from.
        entry_id: Its ID there.
        group: The group that could not handle it.
        consumer: The consumer that tried last.
        reason: ``max-deliveries``, ``rejected``, ``undecodable``, ``payload-missing`` or ``timeout``.
        error: The last error in words.
        deliveries: How often the entry had been delivered.
        failed_at: When it was given up.
    """

    stream: str
    entry_id: EntryId
    group: str
    consumer: str
    reason: str
    error: str
    deliveries: int
    failed_at: datetime


def dead_letter_stream(stream: str) -> str:
    """The dead-letter queue of a stream without a hash tag, in the stream's own slot."""
    return f"{{{stream}}}:dlq"


def dead_letter(fields: Fields, failure: DemoFailure) -> Fields:
    """The fields of a dead letter."""
    return fields | encode(
        _so_origin=failure.stream,
        _so_origin_id=str(failure.entry_id),
        _so_group=failure.group,
        _so_consumer=failure.consumer,
        _so_reason=failure.reason,
        _so_error=failure.error,
        _so_deliveries=str(failure.deliveries),
        _so_failed_at=failure.failed_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    )
