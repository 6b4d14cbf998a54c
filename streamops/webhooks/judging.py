"""What an answer to a callback means: done, again, or never. Pure."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec
from msgspec import Struct

from streamops.errors import SettingsError
from streamops.model.expressions import Expression
from streamops.model.topics import ANSWER_ROOTS, Topic

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
