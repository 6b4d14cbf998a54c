"""What is retried or dead-lettered."""

from datetime import timedelta

from streamops.model.deliveries import DeadLetterDraft, ScheduledRetry, Settled, Start
from streamops.wire.consuming.settling import dead_letter_all, mark_starts, retry_all
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.server import Server
from tests.support.wire.consuming.shop import Flat

MILLISECOND = timedelta(milliseconds=1)
MINUTE, WEEK = timedelta(minutes=1), timedelta(days=7)
BINARY = [b"n", b"1", b"", b"\x00\xff", b"n", b"2"]
PAIRS = tuple(zip(BINARY[::2], BINARY[1::2], strict=True))


def letter_of(one: bytes, **changes: str | int | None) -> DeadLetterDraft:
    words: dict[str, str | int | None] = {"reason": "rejected", "error": "no", "deliveries": 2, "attempt": 3}
    return DeadLetterDraft(one, **(words | changes))  # type: ignore[arg-type]


def about(fields: Flat, own: int) -> dict[bytes, bytes]:
    """What a letter says about itself, after so many own fields and values."""
    return dict(zip(fields[own::2], fields[own + 1 :: 2], strict=True))


OOM = "65536"


async def mark_start(
    server: Server, sub: Subscription, *, retries: bool, entry_id: bytes, marks: int, ttl: timedelta
) -> int | Settled:
    """Mark a start of an entry; how many marks it has now, or why it was not marked.

    Args:
        server: Where.
        sub: Whose.
        retries: Of an entry of the retry stream.
        entry_id: The entry.
        marks: How many marks of it the caller knows of, by which a repeated call marks nothing twice.
        ttl: How long marks of this group are kept from now on.

    Raises:
        ServerError: The server did not answer, or is out of memory.
    """
    return (await mark_starts(server, sub, retries=retries, rows=[Start(entry_id, marks)], ttl=ttl))[0]


async def retry_later(
    server: Server,
    sub: Subscription,
    *,
    retries: bool,
    entry_id: bytes,
    delay: timedelta,
    attempt: int,
    origin_id: str = "",
    payload_key: str | None = None,
) -> Settled:
    """Move an entry into the delayed queue, from where it comes back for this group alone.

    Args:
        server: Where.
        sub: Whose.
        retries: An entry of the retry stream.
        entry_id: The entry.
        delay: How long it waits, on the server's clock.
        attempt: Which attempt it will be.
        origin_id: The ID that it was born with, where that is another one.
        payload_key: The key of the payload that it refers to, which from now on stays.

    Raises:
        ServerError: The server did not answer, or is out of memory.
    """
    row = ScheduledRetry(entry_id, delay // MILLISECOND, attempt, origin_id, payload_key)
    return (await retry_all(server, sub, retries=retries, rows=[row]))[0]


async def bury(server: Server, sub: Subscription, *, retries: bool, letter: DeadLetterDraft) -> Settled:
    """Give an entry up, into the dead-letter queue.

    Its guard is freed where it is still this entry's, and its payload stays from now on.

    Raises:
        ServerError: The server did not answer, or is out of memory.
    """
    return (await dead_letter_all(server, sub, retries=retries, rows=[letter]))[0]
