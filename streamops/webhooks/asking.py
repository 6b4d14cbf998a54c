"""What a request to the intake says: when a message is due, whether it is what it says, and who must not ask.

Importing this imports aiohttp.
"""

from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

import msgspec
from aiohttp import web

from streamops.errors import SettingsError
from streamops.model.measures import parse_duration
from streamops.service.addresses import as_address
from streamops.webhooks.answers import HttpError, shown
from streamops.webhooks.messages import JSON_TYPE

QUERY: Final = frozenset({"id", "delay", "at"})


def refuse_pages(request: web.Request) -> None:
    """Without tokens anybody on this machine may ask, but no page of some site in a browser that runs on it.

    Raises:
        Problem: It is one.
    """
    try:
        host = urlsplit(f"//{request.host}").hostname or ""
    except ValueError:
        host = ""
    local = host == "localhost" or ((address := as_address(host)) is not None and address.is_loopback)
    if not local or "Origin" in request.headers or "Sec-Fetch-Site" in request.headers:
        raise HttpError(
            403, "pages in browsers are not let in without a token", "State token_file under [intake]."
        )


def due_of(request: web.Request) -> datetime | timedelta | None:
    """When a message is due by the query; an instant wins over the topic's delay, and excludes another one.

    Raises:
        Problem: It cannot be understood.
    """
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
        raise HttpError(400, "at is no instant", hint) from None
    if moment.tzinfo is None:
        raise HttpError(400, "at names no zone", hint)
    return instant


def check_content(content_type: str, body: bytes) -> None:
    """Refuse a content type that is none, and what says that it is JSON and is not; raises ``HttpError``."""
    kind = content_type.partition(";")[0].strip().lower()
    if len(content_type) > 200 or not content_type.isprintable() or not content_type.isascii():  # noqa: PLR2004 - long for a type
        raise HttpError(400, "the content type is none", "Send Content-Type: application/json.")
    if kind != JSON_TYPE:
        return
    try:
        msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise HttpError(
            400, "the message says that it is JSON, and is not", "Send JSON, or another Content-Type."
        ) from None
