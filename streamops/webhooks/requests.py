"""What requests to HTTP ingest say, and what it answers: JSON, and errors as ``{"error", "hint"}``.

Importing this imports aiohttp.
"""

import logging
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from aiohttp import web

from streamops.errors import Forbidden, ServerError, SettingsError, StreamopsError, Unreachable
from streamops.model.measures import parse_duration
from streamops.model.topics import JSON_TYPE
from streamops.service.addresses import as_address

LOG: Final = logging.getLogger("streamops.webhooks")
AWAY_SECONDS: Final = 2
"""``Retry-After`` if a Redis does not answer."""

FULL_SECONDS: Final = 30
"""The same if it is out of memory."""


class HttpError(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, error: str, hint: str = "", retry_after: int | None = None) -> None:
        super().__init__(error)
        self.status = status
        self.error = error
        self.hint = hint
        self.retry_after = retry_after


def of_http(error: web.HTTPException) -> HttpError:
    """An error of aiohttp's own as ours."""
    hints = {
        404: "Paths are /topics/TOPIC/messages and /topics/TOPIC/messages/ID.",
        413: "Send a smaller message.",
    }
    return HttpError(error.status, (error.reason or "error").lower(), hints.get(error.status, ""))


def of_ours(error: StreamopsError, context: str) -> HttpError:
    """A failure of a Redis, by its context's name; its address goes to the log, not to the client."""
    name = _redis(context)
    if isinstance(error, Unreachable):
        return away(context)
    if isinstance(error, Forbidden):
        return HttpError(409, error.message, error.hint)
    LOG.error("%s", error.message)
    if isinstance(error, ServerError) and "out of memory" in error.message:
        return HttpError(503, f"{name} is out of memory", "Try again later.", FULL_SECONDS)
    return HttpError(500, f"{name} refused", "The log of `webhooks serve` says why.")


def away(context: str) -> HttpError:
    """That a Redis does not answer."""
    return HttpError(503, f"{_redis(context)} does not answer", "Try again.", AWAY_SECONDS)


def _redis(context: str) -> str:
    return f"the Redis of context {context}" if context else "the Redis of this topic"


def error_answer(problem: HttpError, **headers: str) -> web.Response:
    """A problem as it is answered."""
    if problem.retry_after is not None:
        headers["Retry-After"] = str(problem.retry_after)
    if problem.status == 401:  # noqa: PLR2004 - not authenticated
        headers["WWW-Authenticate"] = 'Bearer realm="streamops"'
    return json_answer(problem.status, {"error": problem.error, "hint": problem.hint or None}, **headers)


def json_answer(status: int, document: dict[str, Any], /, **headers: str) -> web.Response:
    """A document as it is answered; headers without a value are left out."""
    named = {name.replace("_", "-"): value for name, value in headers.items() if value}
    return web.Response(
        status=status,
        body=msgspec.json.encode(document) + b"\n",
        headers={**named, **ALWAYS},
    )


def rfc3339(moment: datetime | None) -> str | None:
    """An instant in UTC, to the millisecond; none for none."""
    return None if moment is None else moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def shown(text: str) -> str:
    """What came from outside, short and printable."""
    return "".join(one if one.isprintable() else "?" for one in text[:100])


ALWAYS: Final = {
    "Content-Type": JSON_TYPE,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}
QUERY: Final = frozenset({"id", "delay", "at"})


def refuse_pages(request: web.Request) -> None:
    """Refuse pages in browsers: without tokens, programs of this machine alone may add messages.

    Raises:
        HttpError: A page asks, or another machine.
    """
    if not _is_local(request.host) or "Origin" in request.headers or "Sec-Fetch-Site" in request.headers:
        raise HttpError(
            403, "pages in browsers are not let in without a token", "State token_file under [intake]."
        )


@lru_cache(maxsize=64)
def _is_local(host: str) -> bool:
    """Whether a ``Host`` header names this machine."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    return name == "localhost" or ((address := as_address(name)) is not None and address.is_loopback)


def due_of(request: web.Request) -> datetime | timedelta | None:
    """When a message is due by the query: an instant or a delay; none for the topic's own delay.

    Raises:
        HttpError: The query cannot be understood.
    """
    if not request.query_string:
        return None
    if unknown := sorted(request.query.keys() - QUERY):
        raise HttpError(400, f"unknown parameter {shown(unknown[0])}", "Known are id, delay and at.")
    delay, at = request.query.get("delay"), request.query.get("at")
    if delay is not None and at is not None:
        raise HttpError(400, "delay and at exclude each other", "Send one of them.")
    if at is not None:
        return _instant(at)
    if delay is None:
        return None
    try:
        return parse_duration(delay)
    except SettingsError as error:
        raise HttpError(400, f"delay: {error.message}", "Send delay=30m, or a number of seconds.") from None


def _instant(text: str) -> datetime:
    hint = "Send at=2026-03-01T14:00:00Z."
    try:
        # A plus in a query is a space unless it was encoded.
        moment = datetime.fromisoformat(text.replace(" ", "+"))
        # The calendar's first and last hours have no time in UTC.
        instant = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise HttpError(400, "at is not a timestamp", hint) from None
    if moment.tzinfo is None:
        raise HttpError(400, "at has no time zone", hint)
    return instant


def check_content(content_type: str, body: bytes) -> None:
    """Refuse a content type that is none, and what says that it is JSON and is not; raises ``HttpError``."""
    kind = content_type.partition(";")[0].strip().lower()
    if len(content_type) > 200 or not content_type.isprintable() or not content_type.isascii():  # noqa: PLR2004 - long for a type
        raise HttpError(400, "the content type is not valid", "Send Content-Type: application/json.")
    if kind != JSON_TYPE:
        return
    try:
        msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise HttpError(
            400, "the content type is JSON, but the message is not", "Send JSON, or another Content-Type."
        ) from None
