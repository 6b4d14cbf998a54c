"""What is sent to a topic's receiver, and what its answer means: done, again, or never. Pure.

An entry of a topic's stream has the body in its field ``data``, the message's ID in ``id`` and, unless it is JSON, its type
in ``content_type``. An entry of another producer without ``data`` is sent as a JSON object of its fields.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Protocol

import msgspec
from msgspec import Struct

from streamops.errors import SettingsError
from streamops.model.expressions import Expression
from streamops.model.topics import ANSWER_ROOTS, CONTENT_TYPE, DATA, IDENT, JSON_TYPE, Topic

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


GONE: Final = 410
SUCCESS: Final = range(200, 300)
REDIRECTION: Final = range(300, 400)
TROUBLED: Final = frozenset({429, 502, 503, 504})
"""Statuses that speak of a host in trouble, rather than of one message."""


class Accepted(Struct, frozen=True):
    """The message was taken."""


class TryAgain(Struct, frozen=True):
    """The call failed, and the next one may not.

    Attributes:
        reason: Why, in words.
    """

    reason: str


class Rejected(Struct, frozen=True):
    """No further call can help.

    Attributes:
        reason: Why, in words.
    """

    reason: str


Verdict = Accepted | TryAgain | Rejected


class Answer(Struct, frozen=True):
    """What came back from a call.

    Attributes:
        status: Its status.
        headers: Names and values in their order; a name may repeat.
        body: Its body, as far as it was read.
        whole: Whether that is all of it: a body that is too long is not read to its end.
    """

    status: int
    headers: Sequence[tuple[str, str]] = ()
    body: bytes = b""
    whole: bool = True


def judge(topic: Topic, answer: Answer) -> Verdict:
    """What an answer means for the message that was sent.

    Success is a status of 200 to 299, with a body unless the topic does without, for which the retry condition does
    not hold. 410 says that the receiver is gone for good. Everything else is tried again. A condition that cannot be
    decided (it compares kinds that do not go together, or looks into a body that is no JSON) is no success either:
    the call is repeated, with the reason, until the message is a dead letter.
    """
    if answer.status == GONE:
        return Rejected("the receiver answered 410 Gone")
    if answer.status in REDIRECTION:
        return TryAgain(f"status {answer.status}: redirected to elsewhere, which is not followed")
    if answer.status not in SUCCESS:
        return TryAgain(f"status {answer.status}")
    if topic.retry_empty and not answer.body.strip():
        return TryAgain(f"status {answer.status} with an empty answer")
    if topic.retry_when and (why := _condition(topic.retry_when, answer)):
        return TryAgain(why)
    return Accepted()


def _condition(text: str, answer: Answer) -> str:
    """Why a retry condition asks for another call; empty if it does not."""
    condition = _expression(text)
    document: dict[str, Any] = {"status": answer.status, "headers": _joined(answer.headers), "body": None}
    if _looks_at_body(text):
        if not answer.whole:
            return "the answer is too long for the retry condition to look at"
        try:
            document["body"] = _decoded(answer.body, document["headers"])
        except ValueError as error:
            return f"the retry condition looks at the answer, and {error}"
    try:
        holds = condition.holds(document, "the answer")
    except SettingsError as error:
        return f"the retry condition cannot be decided: {error.message}"
    return f"the retry condition holds: status {answer.status}" if holds else ""


@lru_cache(maxsize=1024)
def _expression(text: str) -> Expression:
    return Expression(text, ANSWER_ROOTS)


def _looks_at_body(text: str) -> bool:
    # "@" and "*" hand on the whole document.
    return "body" in text or "@" in text or "*" in text


def _joined(headers: Sequence[tuple[str, str]]) -> Mapping[str, str]:
    """Headers by their names in lower case, repeated ones joined as HTTP has it."""
    joined: dict[str, str] = {}
    for name, value in headers:
        lower = name.lower()
        joined[lower] = f"{joined[lower]}, {value}" if lower in joined else value
    return joined


def _decoded(body: bytes, headers: Mapping[str, str]) -> Any:  # noqa: ANN401 - any JSON value
    """JSON decoded, or text of a text type as it is; raises ``ValueError`` for anything else."""
    if not body.strip():
        return None
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        if headers.get("content-type", "").startswith("text/"):
            return body.decode("utf-8", "replace")
    raise ValueError("it is no JSON")
