"""Reading delayed messages: how many a stream has, and what they are."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from typing import Any, Final, NamedTuple

from streamops.model.delayed import DelayedMessage, DelayedQueue
from streamops.model.ids import EPOCH
from streamops.wire.delayed_bodies import decode_body
from streamops.wire.faults import Fault, fault
from streamops.wire.keys import delayed_jobs_key, delayed_key
from streamops.wire.replies import decode_name
from streamops.wire.server import Request, Server

FIRST_BODIES: Final = 16
MOST_BODIES: Final = 500
PAGE_BYTES: Final = 1 << 20
"""Bodies are read in pages of about so many bytes: the first page tells how many that are."""

STRAYS_LOOKED_AT: Final = 100_000
NO_BODY: Final = "it has no body"
NOT_QUEUED: Final = "the queue does not name it, so it never comes due"


class Due(NamedTuple):
    """A member of a queue: a message's ID and when it is due."""

    id: str
    at: datetime


async def read_queues(server: Server, streams: Sequence[str]) -> list[DelayedQueue | Fault]:
    """The queues of many streams, counted, in two round trips; empty ones too."""
    requests = [request for stream in streams for request in _counting(stream)]
    replies = (await server.batch(requests)).replies
    rows = [replies[at : at + 4] for at in range(0, len(replies), 4)]
    counts = [
        Request(key, ("ZCOUNT", key, "-inf", _clock_ms(row[3])))
        for key, row in zip(map(delayed_key, streams), rows, strict=True)
    ]
    due = (await server.batch(counts)).replies
    return [_queue(stream, *row[:3], *rest) for stream, row, *rest in zip(streams, rows, due, strict=True)]


async def count_due(server: Server, stream: str, until: datetime | None) -> int | Fault:
    """How many messages are due until an instant; none for all."""
    key = delayed_key(stream)
    reply = await server.single(key, "ZCOUNT", key, "-inf", _bound(until))
    return fault(reply) if isinstance(reply, Exception) else int(reply)


async def read_due(
    server: Server, stream: str, *, until: datetime | None = None, skip: int = 0, limit: int
) -> list[Due] | Fault:
    """Members of a queue, the first due first: those due until an instant, or all."""
    key = delayed_key(stream)
    reply = await server.single(
        key, "ZRANGE", key, "-inf", _bound(until), "BYSCORE", "LIMIT", skip, limit, "WITHSCORES"
    )
    if isinstance(reply, Exception):
        return fault(reply)
    return [
        Due(decode_name(name), moment(score)) for name, score in zip(reply[::2], reply[1::2], strict=True)
    ]


async def read_messages(
    server: Server, stream: str, ids: Sequence[str]
) -> AsyncIterator[list[DelayedMessage]]:
    """Messages by their IDs, in pages of bounded size; those of which there is nothing too.

    Raises:
        StreamopsError: They could not be read.
    """
    at, size = 0, FIRST_BODIES
    while at < len(ids):
        page = ids[at : at + size]
        at += len(page)
        messages, weight = await _read_page(server, stream, page)
        yield messages
        size = max(1, min(MOST_BODIES, PAGE_BYTES * len(page) // max(1, weight), 4 * size))


async def read_strays(server: Server, stream: str, limit: int) -> list[DelayedMessage]:
    """Bodies that the queue does not name, at most ``limit`` of them, from a bounded look at all.

    Raises:
        StreamopsError: They could not be read.
    """
    key = delayed_jobs_key(stream)
    strays: list[DelayedMessage] = []
    cursor, looked_at = 0, 0
    while True:
        reply = await server.single(key, "HSCAN", key, cursor, "COUNT", MOST_BODIES)
        if isinstance(reply, Exception):
            raise fault(reply).error(key)
        cursor, flat = int(reply[0]), reply[1]
        ids = [decode_name(name) for name in flat[::2]]
        looked_at += len(ids)
        if ids:
            scores = await _scores(server, stream, ids)
            strays += [
                _message(one, None, body)
                for one, score, body in zip(ids, scores, flat[1::2], strict=True)
                if score is None
            ]
        if not cursor or len(strays) >= limit or looked_at >= STRAYS_LOOKED_AT:
            # A scan may come by an ID twice.
            return list({message.id: message for message in strays}.values())[:limit]


def moment(score: bytes) -> datetime:
    """The instant of a score; the calendar's first or last where it is beyond that."""
    ms = float(score)
    try:
        return EPOCH + timedelta(milliseconds=ms)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC) if ms > 0 else datetime.min.replace(tzinfo=UTC)


def milliseconds(at: datetime) -> int:
    """An instant as a score."""
    return (at - EPOCH) // timedelta(milliseconds=1)


async def _read_page(server: Server, stream: str, ids: Sequence[str]) -> tuple[list[DelayedMessage], int]:
    key = delayed_jobs_key(stream)
    scores = await _scores(server, stream, ids)
    bodies = await server.single(key, "HMGET", key, *ids)
    if isinstance(bodies, Exception):
        raise fault(bodies).error(key)
    messages = [_message(*parts) for parts in zip(ids, scores, bodies, strict=True)]
    return messages, sum(len(body) for body in bodies if body is not None)


async def _scores(server: Server, stream: str, ids: Sequence[str]) -> list[bytes | None]:
    key = delayed_key(stream)
    scores: Any = await server.single(key, "ZMSCORE", key, *ids)
    if isinstance(scores, Exception):
        raise fault(scores).error(key)
    return list(scores)


def _message(ident: str, score: bytes | None, raw: bytes | None) -> DelayedMessage:
    due_at = None if score is None else moment(score)
    if raw is None:
        return DelayedMessage(ident, due_at, None, problem=NO_BODY if due_at else "there is no such message")
    digest = sha1(raw, usedforsecurity=False).hexdigest()
    try:
        body = decode_body(raw)
    except ValueError as error:
        return DelayedMessage(ident, due_at, None, digest, f"its body cannot be read: {error}", raw)
    return DelayedMessage(ident, due_at, body, digest, "" if due_at else NOT_QUEUED)


def _counting(stream: str) -> tuple[Request, ...]:
    queue, bodies = delayed_key(stream), delayed_jobs_key(stream)
    return (
        Request(queue, ("ZCARD", queue)),
        Request(bodies, ("HLEN", bodies)),
        Request(queue, ("ZRANGE", queue, 0, 0, "WITHSCORES")),
        Request(queue, ("TIME",)),
    )


def _queue(stream: str, members: Any, bodies: Any, first: Any, due: Any) -> DelayedQueue | Fault:  # noqa: ANN401 - raw replies
    for reply in (members, bodies, first, due):
        if isinstance(reply, Exception):
            return fault(reply)
    return DelayedQueue(stream, members, due, moment(first[1]) if first else None, bodies)


def _bound(until: datetime | None) -> str:
    return "+inf" if until is None else str(milliseconds(until))


def _clock_ms(reply: Any) -> int:  # noqa: ANN401 - a raw reply
    return 0 if isinstance(reply, Exception) else int(reply[0]) * 1000 + int(reply[1]) // 1000
