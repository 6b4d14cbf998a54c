"""Reads the log of webhooks, and which of its messages a Redis holds."""

from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

import msgspec
from msgspec import Struct

from streamops.errors import SettingsError
from streamops.model.entries import LAST_ID, ZERO_ID
from streamops.model.fields import Instant
from streamops.model.request_log import ACCEPTED, RequestLine
from streamops.model.topics import IDENT, message_fields
from streamops.monitor.context import ServerContext
from streamops.operations.recover.intent import RecoverIntent
from streamops.operations.recover.plan import LostMessage, RecoverEvidence
from streamops.wire.delayed import ForeignBodyError, decode_body
from streamops.wire.faults import required
from streamops.wire.keys import bodies_key, dead_letter_key, delayed_key, retry_key
from streamops.wire.reads import read_clock, read_page
from streamops.wire.server import Server

PAGE: Final = 500
_LINE: Final = msgspec.json.Decoder(RequestLine)
_HINT: Final = (
    "`streamops webhooks serve --log-level info --log-format json --log-bodies 64kb` writes such a log."
)

MessageKey = tuple[str, str]


class LogScan:
    """What a log says of messages, after all of its lines. Bodies of messages that came to an end are dropped.

    Attributes:
        open: The lines of acceptance, by topic and ID, of messages whose end the log does not have.
        accepted: How many messages were accepted.
        delivered: How many of these receivers accepted, whenever that was.
        ended: How many were given up or cancelled.
        contexts: The contexts of the accepted ones.
        unreadable: Lines that are no JSON.
        readable: Lines that are.
    """

    def __init__(self, since: datetime | None, lost: str | None) -> None:
        self._since = since
        self._lost = lost
        self._delivered = set[MessageKey]()
        self._ended = set[MessageKey]()
        self.open: dict[MessageKey, RequestLine] = {}
        self.accepted = self.delivered = self.ended = 0
        self.contexts: set[str] = set()
        self.unreadable = self.readable = 0

    def add(self, raw: bytes) -> None:
        """Take one line."""
        try:
            line = _LINE.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError):
            self.unreadable += bool(raw.strip())
            return
        self.readable += 1
        key = line.topic, line.id
        if line.delivered:
            self._delivered.add(key)
            self.delivered += self.open.pop(key, None) is not None
        elif line.ended:
            self._ended.add(key)
            self.ended += self.open.pop(key, None) is not None
        elif line.event == ACCEPTED and line.stream and line.id:
            self._accept(key, line)

    def _accept(self, key: MessageKey, line: RequestLine) -> None:
        if line.timestamp is None or (self._since is not None and line.timestamp < self._since):
            return
        self.contexts.add(line.context)
        if self._lost not in (None, line.context):
            return
        self.accepted += 1
        # Another process may log a result before the line of acceptance is written.
        self.delivered += key in self._delivered
        self.ended += key in self._ended and key not in self._delivered
        if key not in self._delivered and key not in self._ended:
            self.open[key] = line


class _Stream(Struct, frozen=True):
    """Where a topic's messages may be."""

    stream: str
    group: str


async def survey_recover(place: ServerContext, intent: RecoverIntent) -> RecoverEvidence:
    """Read the log, then everything that Redis holds of the topics in it."""
    since = await _instant(place.server, intent.since)
    scan = LogScan(since, intent.lost)
    _read(intent.file, scan)
    left = scan.open
    held: set[MessageKey] = set()
    for at in {_Stream(line.stream, line.group) for line in left.values()}:
        there = await _ids_of(place, at)
        held |= {key for key, line in left.items() if line.stream == at.stream and line.id.encode() in there}
    missing, incomplete = [], 0
    for key, line in left.items():
        content = line.content
        if key in held:
            continue
        if content is None or line.timestamp is None:
            incomplete += 1
            continue
        missing.append(
            LostMessage(
                topic=line.topic,
                id=line.id,
                stream=line.stream,
                queue=delayed_key(line.stream, place.delayed),
                due=line.due_at or line.timestamp,
                fields=message_fields(line.id, content, line.content_type),
            )
        )
    missing.sort(key=lambda one: (one.stream, one.due, one.id))
    return RecoverEvidence(
        digest=sha256("\n".join(f"{one.topic} {one.id}" for one in missing).encode()).hexdigest(),
        missing=tuple(missing),
        accepted=scan.accepted,
        delivered=scan.delivered,
        ended=scan.ended,
        held=len(held),
        incomplete=incomplete,
        contexts=tuple(sorted(scan.contexts)),
        unreadable=scan.unreadable,
    )


def _read(path: str, scan: LogScan) -> None:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - a path as it was typed
            for line in file:
                scan.add(line)
    except OSError as error:
        problem = error.strerror or str(error)
    else:
        if scan.readable:
            return
        problem = "holds no log line in JSON"
    raise SettingsError(f"{path}: {problem}", _HINT)


async def _instant(server: Server, since: Instant | None) -> datetime | None:
    if not isinstance(since, timedelta):
        return since
    now = await read_clock(server, "")
    if now is None:
        raise SettingsError(
            "how long ago is unknown: this user may not run TIME",
            "Write a timestamp: --since 2026-03-01T14:00:00Z.",
        )
    return now - since


async def _ids_of(place: ServerContext, at: _Stream) -> set[bytes]:
    """The IDs of all messages that wait, are pending, were called of late, or are dead letters."""
    server, found = place.server, set[bytes]()
    key, cursor = bodies_key(delayed_key(at.stream, place.delayed)), -1
    while cursor:
        reply = required(await server.single(key, "HSCAN", key, max(0, cursor), "COUNT", PAGE), key)
        cursor = int(reply[0])
        for name, body in zip(reply[1][::2], reply[1][1::2], strict=True):
            found |= {name, _ident(body)}
    for stream in (at.stream, retry_key(at.stream, at.group), dead_letter_key(at.stream, place.dead_letters)):
        first = ZERO_ID
        while page := await read_page(server, stream, first, LAST_ID, PAGE):
            found.update(dict(reversed(entry.fields)).get(IDENT, b"") for entry in page)
            first = page[-1].id.next()
    return found


def _ident(body: bytes) -> bytes:
    """The ID that a delayed body carries: a retry waits under another one. Empty for another program's."""
    try:
        return dict(reversed(decode_body(body).fields)).get(IDENT, b"")
    except (ForeignBodyError, ValueError):
        return b""
