"""Delayed messages: their queues and bodies read, and the format of a body.

A body is msgpack ``[1, destination, group, attempt, origin_id, [field, value, ...]]``. Text and bytes alike are written as
msgpack's ``str``, which Lua's ``cmsgpack`` reads and writes for any bytes; its ``bin``, which other writers use, is read too.
"""

import math
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from typing import Final, NamedTuple

import msgspec
from msgspec import Raw

from streamops.model.delayed import DelayedBody, DelayedMessage, DelayedQueue
from streamops.model.entries import EPOCH
from streamops.model.observation import QueueCount
from streamops.model.text import name_bytes
from streamops.wire.batches import Request
from streamops.wire.faults import Fault, FaultKind, fault, required
from streamops.wire.keys import NO_CONFIGURATION, bodies_key, delayed_key
from streamops.wire.node import Reply
from streamops.wire.reads import read_clock
from streamops.wire.replies import decode_name
from streamops.wire.script_calls import Call, run_script
from streamops.wire.server import Server

FIRST_BODIES: Final = 16
MOST_BODIES: Final = 500
PAGE_BYTES: Final = 1 << 20
"""Bodies are read in pages of about this many bytes: the first page shows how many that are."""

STRAYS_LOOKED_AT: Final = 100_000
NO_BODY: Final = "it is no delayed message: it has no body"
REFUSED: Final = Fault(FaultKind.UNSUPPORTED, "not asked yet")
NOT_QUEUED: Final = "the queue does not name it, so it never comes due"


class Due(NamedTuple):
    """A member of a queue: a message's ID and when it is due."""

    id: str
    at: datetime


async def read_queues(
    server: Server, streams: Sequence[str], configured: Mapping[str, str] = NO_CONFIGURATION
) -> list[DelayedQueue | Fault]:
    """The queues of many streams, counted, in two round trips; empty ones too.

    Raises:
        ServerError: No node answers.
    """
    queues = [delayed_key(stream, configured) for stream in streams]
    sizes = (await server.batch([request for queue in queues for request in _sizes(queue)])).replies
    found: list[DelayedQueue | Fault] = [
        _empty(stream, *sizes[2 * at : 2 * at + 2]) for at, stream in enumerate(streams)
    ]
    filled = [at for at, one in enumerate(found) if isinstance(one, DelayedQueue) and one.messages]
    counts = await count_queues(server, [queues[at] for at in filled])
    for at, one in zip(filled, counts, strict=True):
        found[at] = (
            one
            if isinstance(one, Fault)
            else DelayedQueue(
                streams[at], one.messages, one.due or 0, one.next_due_at, one.bodies, one.foreign
            )
        )
    return found


async def count_queues(
    server: Server, queues: Sequence[str], now: datetime | None = None
) -> list[QueueCount | Fault]:
    """Queues by their keys, counted in one round trip; empty ones too.

    If no script may run, foreign members are counted like messages.

    Args:
        server: Where.
        queues: Their keys.
        now: The instant until which messages are due; the server's clock unless given.

    Raises:
        ServerError: No node answers.
    """
    clock = "" if now is None else str(milliseconds(now))
    calls = [Call(queue, (clock,), lambda reply: reply, (bodies_key(queue),)) for queue in queues]
    found: list[QueueCount | Fault] = [REFUSED] * len(queues)
    for read_only in (True, False):
        left = [at for at, one in enumerate(found) if isinstance(one, Fault) and _is_refused(one)]
        if left:
            answers = await run_script(
                server, "delayed_front", [calls[at] for at in left], read_only=read_only
            )
            for at, reply in zip(left, answers.replies, strict=True):
                found[at] = _count(queues[at], reply)
    left = [at for at, one in enumerate(found) if isinstance(one, Fault) and _is_refused(one)]
    for at, one in zip(left, await _count_plainly(server, [queues[at] for at in left], now), strict=True):
        found[at] = one
    return found


async def count_due(server: Server, queue: str, until: datetime | None) -> int:
    """How many messages are due until an instant; none for all."""
    return int(required(await server.single(queue, "ZCOUNT", queue, "-inf", _bound(until)), queue))


async def read_due(
    server: Server, queue: str, *, until: datetime | None = None, skip: int = 0, limit: int
) -> list[Due]:
    """Members of a queue, the first due first: those due until an instant, or all.

    They are asked for by their ranks: to skip members by their scores, the server walks over each of them.

    Args:
        server: Where the queue is.
        queue: Its key.
        until: The last instant that counts.
        skip: How many to leave out at the beginning.
        limit: How many to read at most.
    """
    if limit < 1:
        return []
    reply = required(await server.single(queue, "ZRANGE", queue, skip, skip + limit - 1, "WITHSCORES"), queue)
    latest = math.inf if until is None else milliseconds(until)
    return [
        Due(decode_name(name), instant_of_score(score))
        for name, score in zip(reply[::2], reply[1::2], strict=True)
        if float(score) <= latest
    ]


async def read_messages(
    server: Server, queue: str, ids: Sequence[str]
) -> AsyncIterator[list[DelayedMessage]]:
    """Messages of a queue by their IDs, in pages of bounded size; those of which there is nothing too.

    Raises:
        StreamopsError: They could not be read.
    """
    at, size = 0, FIRST_BODIES
    while at < len(ids):
        page = ids[at : at + size]
        at += len(page)
        messages, weight = await _read_page(server, queue, page)
        yield messages
        size = max(1, min(MOST_BODIES, PAGE_BYTES * len(page) // max(1, weight), 4 * size))


async def read_strays(server: Server, queue: str, limit: int) -> list[DelayedMessage]:
    """Bodies that the queue does not name, at most ``limit`` of them, from a bounded look at all.

    Raises:
        StreamopsError: They could not be read.
    """
    key = bodies_key(queue)
    strays: list[DelayedMessage] = []
    cursor, looked_at = 0, 0
    while True:
        reply = required(await server.single(key, "HSCAN", key, cursor, "COUNT", MOST_BODIES), key)
        cursor, flat = int(reply[0]), reply[1]
        ids = [decode_name(name) for name in flat[::2]]
        looked_at += len(ids)
        if ids:
            scores = await _scores(server, queue, ids)
            strays += [
                decode_message(one, None, body)
                for one, score, body in zip(ids, scores, flat[1::2], strict=True)
                if score is None
            ]
        if not cursor or len(strays) >= limit or looked_at >= STRAYS_LOOKED_AT:
            # A scan may come by an ID twice.
            return list({message.id: message for message in strays}.values())[:limit]


def instant_of_score(score: bytes) -> datetime:
    """The instant of a score; the calendar's first or last if it is beyond that."""
    ms = float(score)
    try:
        return EPOCH + timedelta(milliseconds=ms)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC) if ms > 0 else datetime.min.replace(tzinfo=UTC)


def milliseconds(at: datetime) -> int:
    """An instant as a score."""
    return (at - EPOCH) // timedelta(milliseconds=1)


async def _read_page(server: Server, queue: str, ids: Sequence[str]) -> tuple[list[DelayedMessage], int]:
    key = bodies_key(queue)
    scores = await _scores(server, queue, ids)
    bodies = required(await server.single(key, "HMGET", key, *ids), key)
    messages = [decode_message(*parts) for parts in zip(ids, scores, bodies, strict=True)]
    return messages, sum(len(body) for body in bodies if body is not None)


async def _scores(server: Server, queue: str, ids: Sequence[str]) -> list[bytes | None]:
    scores = required(await server.single(queue, "ZMSCORE", queue, *ids), queue)
    return list(scores)


def decode_message(ident: str, score: bytes | None, raw: bytes | None) -> DelayedMessage:
    """A message by its two halves: its score and its body as they are stored."""
    due_at = None if score is None else instant_of_score(score)
    if raw is None:
        if due_at is None:
            return DelayedMessage(ident, None, None, problem="there is no such message")
        return DelayedMessage(ident, due_at, None, problem=NO_BODY, foreign=True)
    digest = sha1(raw, usedforsecurity=False).hexdigest()
    try:
        body = decode_body(raw)
    except ForeignBodyError as error:
        problem = f"it is no delayed message: {error}"
        return DelayedMessage(ident, due_at, None, digest, problem, raw, foreign=True)
    except ValueError as error:
        return DelayedMessage(ident, due_at, None, digest, f"its body cannot be read: {error}", raw)
    return DelayedMessage(ident, due_at, body, digest, "" if due_at else NOT_QUEUED)


def _sizes(queue: str) -> tuple[Request, Request]:
    bodies = bodies_key(queue)
    return Request(queue, ("ZCARD", queue)), Request(bodies, ("HLEN", bodies))


def _empty(stream: str, members: Reply, bodies: Reply) -> DelayedQueue | Fault:
    for reply in (members, bodies):
        if isinstance(reply, Exception):
            return fault(reply)
    return DelayedQueue(stream, members, 0, None, bodies)


def _is_refused(problem: Fault) -> bool:
    """Whether another way of asking may be permitted: Redis 7.0 brought the read-only form of scripts."""
    return problem.kind in (FaultKind.UNSUPPORTED, FaultKind.DENIED)


def _count(queue: str, reply: Reply) -> QueueCount | Fault:
    if isinstance(reply, Exception):
        return fault(reply)
    members, bodies, due, first, foreign = reply
    return QueueCount(queue, members, due, instant_of_score(first) if first else None, bodies, foreign)


async def _count_plainly(
    server: Server, queues: Sequence[str], now: datetime | None
) -> list[QueueCount | Fault]:
    asked = now or (await read_clock(server, queues[0]) if queues else None)
    # Without a clock nothing is known to be due.
    until = "-inf" if asked is None else milliseconds(asked)
    requests = [
        request
        for queue in queues
        for request in (
            *_sizes(queue),
            Request(queue, ("ZCOUNT", queue, "-inf", until)),
            Request(queue, ("ZRANGE", queue, 0, 0, "WITHSCORES")),
        )
    ]
    replies = (await server.batch(requests)).replies
    found: list[QueueCount | Fault] = []
    for at, queue in enumerate(queues):
        members, bodies, due, first = row = replies[4 * at : 4 * at + 4]
        problem = next((reply for reply in row if isinstance(reply, Exception)), None)
        if problem is not None:
            found.append(fault(problem))
        else:
            found.append(
                QueueCount(
                    queue,
                    members,
                    None if asked is None else due,
                    instant_of_score(first[1]) if first else None,
                    bodies,
                )
            )
    return found


def _bound(until: datetime | None) -> str:
    return "+inf" if until is None else str(milliseconds(until))


VERSION: Final = 1


class ForeignBodyError(ValueError):
    """What another program wrote: no body of any version."""


_Body = tuple[int, Raw, Raw, int | None, Raw, list[Raw]]
_DECODER: Final = msgspec.msgpack.Decoder(_Body)
_ANY: Final = msgspec.msgpack.Decoder(list[Raw])
_LATEST: Final = 255
"""A greater number at the beginning is no version of anything."""

_FIX_STR: Final = range(0xA0, 0xC0)
_NIL: Final = 0xC0
_HEADS: Final = {0xC4: 2, 0xC5: 3, 0xC6: 5, 0xD9: 2, 0xDA: 3, 0xDB: 5}
"""Bytes before the text, by the first of them: ``bin`` and ``str`` with lengths of 8, 16 and 32 bits."""


def encode_body(body: DelayedBody) -> bytes:
    """A body as it is stored."""
    return msgspec.msgpack.encode(
        [
            VERSION,
            _text(name_bytes(body.destination)),
            _text(name_bytes(body.group)),
            body.attempt,
            _text(name_bytes(body.origin_id)),
            [_text(part) for pair in body.fields for part in pair],
        ]
    )


def decode_body(raw: bytes) -> DelayedBody:
    """A body that was stored.

    Raises:
        ForeignBodyError: It is another program's.
        ValueError: It is a message's, and can never become an entry; or a later version's. With the reason.
    """
    try:
        version, destination, group, attempt, origin_id, parts = _DECODER.decode(raw)
        target, group_name, origin, *flat = map(_plain, (destination, group, origin_id, *parts))
    except (RecursionError, ValueError) as error:
        if later := _later_version(raw):
            raise ValueError(f"written in version {later} of the format") from None
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ForeignBodyError(reason) from None
    if version != VERSION:
        raise ValueError(f"written in version {version} of the format")
    if not target:
        raise ValueError("it names no destination")
    if not flat or len(flat) % 2:
        raise ValueError("its fields are no pairs")
    return DelayedBody(
        decode_name(target),
        tuple(zip(flat[::2], flat[1::2], strict=True)),
        decode_name(group_name),
        attempt or 0,
        decode_name(origin),
    )


def _later_version(raw: bytes) -> int:
    """The version that an array of another shape begins with; zero if it tells none."""
    try:
        first = _ANY.decode(raw)[:1]
        version = msgspec.msgpack.decode(first[0], type=int) if first else 0
    except (msgspec.DecodeError, RecursionError):
        return 0
    return version if VERSION < version <= _LATEST else 0


def _text(value: bytes) -> Raw:
    length = len(value)
    if length < len(_FIX_STR):
        head = bytes([_FIX_STR[length]])
    elif length < 1 << 8:
        head = bytes([0xD9, length])
    elif length < 1 << 16:
        head = b"\xda" + length.to_bytes(2, "big")
    else:
        head = b"\xdb" + length.to_bytes(4, "big")
    return Raw(head + value)


def _plain(part: Raw) -> bytes:
    raw = bytes(part)
    if raw[0] == _NIL:
        return b""
    if raw[0] in _FIX_STR:
        return raw[1:]
    if raw[0] not in _HEADS:
        raise ValueError("a part of it is no text")
    return raw[_HEADS[raw[0]] :]
