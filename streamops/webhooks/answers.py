"""What the intake answers: JSON, and errors as ``{"error", "hint"}``. Importing this imports aiohttp."""

import logging
from datetime import datetime
from typing import Any, Final

import msgspec
from aiohttp import web

from streamops.errors import Forbidden, ServerError, StreamopsError, Unreachable

LOG: Final = logging.getLogger("streamops.intake")
AWAY_SECONDS: Final = 2
"""When to come again where a server does not answer."""

FULL_SECONDS: Final = 30
"""The same where it is out of memory."""


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


def of_ours(error: StreamopsError) -> HttpError:
    """A failure of the server; its address goes to the log, not to the client."""
    if isinstance(error, Unreachable):
        return HttpError(503, "the server of this topic does not answer", "Come again.", AWAY_SECONDS)
    if isinstance(error, Forbidden):
        return HttpError(409, error.message, error.hint)
    LOG.error("%s", error.message)
    if isinstance(error, ServerError) and "out of memory" in error.message:
        return HttpError(503, "the server of this topic is out of memory", "Come again later.", FULL_SECONDS)
    return HttpError(500, "the server of this topic refused", "The intake's log has the reason.")


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
        content_type="application/json",
        headers={**named, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"},
    )


def rfc3339(moment: datetime | None) -> str | None:
    """An instant in UTC, to the millisecond; none for none."""
    return None if moment is None else moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def shown(text: str) -> str:
    """What came from outside, short and printable."""
    return "".join(one if one.isprintable() else "?" for one in text[:100])
