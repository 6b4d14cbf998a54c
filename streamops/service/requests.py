"""Requests: bodies decoded, those refused that are no HTTP or not what they say, and what a client reads where none can be answered."""

import logging
import time
import zlib
from http import HTTPStatus
from typing import Final

import structlog
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from streamops.errors import NotFound, StreamopsError, Unreachable
from streamops.service.authentication import Handler

ENCODINGS: Final = frozenset({"", "identity", "gzip", "deflate"})
"""What a body may be encoded as."""

GZIP: Final = zlib.MAX_WBITS | 16


class MalformedBody(Exception):
    """A body is not encoded as it says, or was cut off."""


class LargeBody(Exception):
    """A body is larger than it may be once it is decoded."""


def encoding_of(header: str | None) -> str:
    """The name of the encoding in a header; empty for none."""
    return (header or "").strip().lower()


def decoded(body: bytes, encoding: str, most: int) -> bytes:
    """Return a body decoded, up to a number of bytes.

    Raises:
        MalformedBody: It is not encoded like that, or not to its end.
        LargeBody: It is larger.
    """
    if encoding in {"", "identity"}:
        return body
    # Some send deflate without the header that zlib puts before it.
    deflate = zlib.MAX_WBITS if body[:1] and body[0] & 0x0F == zlib.DEFLATED else -zlib.MAX_WBITS
    inflating = zlib.decompressobj(GZIP if encoding == "gzip" else deflate)
    try:
        plain = inflating.decompress(body, most + 1)
    except zlib.error:
        raise MalformedBody from None
    if len(plain) > most:
        raise LargeBody
    if not inflating.eof or inflating.unused_data:
        raise MalformedBody
    return plain


LOG: Final = structlog.get_logger("streamops.web")
HTTP_LOG: Final = logging.getLogger("streamops.web")

EVERY_SECONDS: Final = 60.0
"""The shortest time between two log lines about such requests: clients send them as fast as they like."""

LONGEST_REASON: Final = 200
FAULTS: Final = (HttpProcessingError, web.RequestPayloadError)


class _Refusals(logging.Filter):
    """Counts requests that a client got wrong, in place of aiohttp's traceback of each."""

    def __init__(self) -> None:
        super().__init__()
        self._told_at: float | None = None
        self._untold = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether something is wrong here, and not with a request."""
        fault = record.exc_info[1] if record.exc_info else None
        if not isinstance(fault, FAULTS):
            return True
        self.count(fault)
        return False

    def count(self, fault: BaseException) -> None:
        """Count one, and log all since the last line if that was long enough ago."""
        now = time.monotonic()
        self._untold += 1
        if self._told_at is not None and now - self._told_at < EVERY_SECONDS:
            return
        # Aiohttp's reasons hold what was sent.
        reason = " ".join(str(fault).split())[:LONGEST_REASON]
        HTTP_LOG.info("malformed requests refused: %d, the last: %s", self._untold, reason)
        self._told_at, self._untold = now, 0

    def reset(self) -> None:
        """Forget what was counted."""
        self._told_at, self._untold = None, 0


REFUSALS: Final = _Refusals()
HTTP_LOG.addFilter(REFUSALS)


@web.middleware
async def refusing_malformed(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer 415 to an encoding that is not known, and 400 to a body that ends in the midst of itself."""
    if encoding_of(request.headers.get("Content-Encoding")) not in ENCODINGS:
        text = "Send gzip, deflate, or no encoding.\n"
        raise web.HTTPUnsupportedMediaType(reason="Unknown content encoding", text=text)
    try:
        return await handler(request)
    except FAULTS as fault:
        REFUSALS.count(fault)
        raise web.HTTPBadRequest(reason="Malformed body") from None


@web.middleware
async def answering_failures(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer a failure with what is wrong and what to do; a bug is logged with its traceback."""
    try:
        return await handler(request)
    except StreamopsError as error:
        return web.Response(text=f"{error.message}\n{error.hint}".rstrip() + "\n", status=status_of(error))
    except web.HTTPException:
        raise
    except Exception as error:
        LOG.error("a bug in streamops", problem=f"{type(error).__name__}: {error}")  # noqa: TRY400 - for people
        LOG.debug("its traceback", exc_info=True)
        return web.Response(text="a bug in streamops; its log says more\n", status=500)


def status_of(error: StreamopsError) -> HTTPStatus:
    """The status that says as much as the error."""
    if isinstance(error, NotFound):
        return HTTPStatus.NOT_FOUND
    if isinstance(error, Unreachable):
        return HTTPStatus.SERVICE_UNAVAILABLE
    return HTTPStatus.INTERNAL_SERVER_ERROR
