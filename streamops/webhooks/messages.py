"""Messages of topics as entries of streams: what is sent to the receiver, and under which name.

An entry of a topic's stream has the body in its field ``data``, the message's ID in ``id`` and, unless it is JSON, its type
in ``content_type``. An entry of another producer without ``data`` is sent as a JSON object of its fields.
"""

from base64 import b64encode
from collections.abc import Sequence
from typing import Final, Protocol

import msgspec
from msgspec import Struct

from streamops.model.topics import CONTENT_TYPE, DATA, IDENT, JSON_TYPE, Topic

RESERVED: Final = b"_so_"
LONGEST_NAME: Final = 200


class Delivered(Protocol):
    """The part of an entry that a callback reads."""

    @property
    def origin_id(self) -> str:
        """The ID that it was born with, before any retry or replay."""

    @property
    def fields(self) -> Sequence[tuple[bytes, bytes]]:
        """Field and value pairs in their order."""

    @property
    def attempt(self) -> int:
        """Which start of the handler this is, from 1 on."""

    @property
    def payload(self) -> bytes | None:
        """The payload kept beside the stream, if there is one."""


class WebhookMessage(Struct, frozen=True):
    """One message on its way to the receiver.

    Attributes:
        id: Its ID: what its publisher called it, else its entry's first ID.
        origin_id: The ID that its entry was born with.
        attempt: Which call this is, from 1 on.
        body: What is sent.
        content_type: What that is.
    """

    id: str
    origin_id: str
    attempt: int
    body: bytes
    content_type: str


def message_of(entry: Delivered, topic: Topic) -> WebhookMessage:
    """The message that an entry holds."""
    fields = [pair for pair in entry.fields if not pair[0].startswith(RESERVED)]
    first = dict(reversed(fields))
    body = entry.payload if entry.payload is not None else first.get(DATA)
    stated = _printable(first.get(CONTENT_TYPE, b"")) if body is not None else JSON_TYPE
    return WebhookMessage(
        id=_printable(first.get(IDENT, b"")) or entry.origin_id,
        origin_id=entry.origin_id,
        attempt=entry.attempt,
        body=_as_json(fields) if body is None else body,
        content_type=stated or topic.content_type,
    )


def _printable(value: bytes) -> str:
    """A value that may stand in a header; empty for any other."""
    text = value.decode("ascii", "replace")
    return text if text.isascii() and text.isprintable() and len(text) <= LONGEST_NAME else ""


def _as_json(fields: Sequence[tuple[bytes, bytes]]) -> bytes:
    """Fields as a JSON object; of a repeated name the last value counts, values that are no UTF-8 are base64."""
    return msgspec.json.encode({name.decode("utf-8", "replace"): _value(value) for name, value in fields})


def _value(value: bytes) -> str | dict[str, str]:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": b64encode(value).decode()}
