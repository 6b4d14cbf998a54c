"""What a webhook's refusals and silences mean, in words. Importing this imports aiohttp."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

import aiohttp

from streamops.errors import TargetError
from streamops.targets.telling import changed, decode_pause

CHANGED: Final = frozenset({HTTPStatus.CONFLICT, HTTPStatus.PRECONDITION_FAILED})
NOT_TRUSTED: Final = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
PASSING: Final = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS})
REDIRECTIONS: Final = range(300, 400)
SERVER_ERRORS: Final = range(500, 600)

_SENTENCES: Final = (
    (aiohttp.ClientConnectorCertificateError, "its certificate is not trusted"),
    (aiohttp.ClientConnectorDNSError, "its name cannot be resolved"),
    (aiohttp.ServerDisconnectedError, "it closed the connection without an answer"),
    (aiohttp.ClientPayloadError, "its answer broke off"),
    (aiohttp.ClientResponseError, "its answer is no HTTP"),
    (aiohttp.InvalidURL, "it cannot be called by that name"),
)


def refusal(label: str, status: int, headers: Mapping[str, str], said: str) -> TargetError:
    """An answer that is no success.

    Args:
        label: The target.
        status: The answer's status.
        headers: Its headers.
        said: What it says in words, fit to be shown; may be empty.
    """
    words = f"status {status}{': ' if said else ''}{said}"
    if status in CHANGED:
        return changed(label, f"it has another number of workers by now: {words}")
    if status in NOT_TRUSTED:
        return TargetError(
            f"{label}: refuses us: {words}", "Check the pool's secret and headers, and the receiver's clock."
        )
    if status in REDIRECTIONS:
        return TargetError(
            f"{label}: redirects to elsewhere, which is not followed: {words}",
            "State the URL that it redirects to, if that is meant.",
        )
    if status in PASSING or status in SERVER_ERRORS:
        pause = decode_pause(headers.get("Retry-After", ""))
        hint = "Look into the receiver's own log."
        if pause is not None:
            hint = f"It asks to be left alone for {pause.total_seconds():g} s."
        return TargetError(f"{label}: is in trouble: {words}", hint, retryable=True, retry_after=pause)
    return TargetError(f"{label}: refuses: {words}", "Look into the receiver's own log.")


def transport_words(error: BaseException) -> str:
    """A failure in words. aiohttp's own sentences may hold the URL, so that only known parts are told."""
    for kind, sentence in _SENTENCES:
        if isinstance(error, kind):
            return sentence
    inner: OSError | None = getattr(error, "os_error", None)
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"cannot connect: {(inner.strerror if inner else '') or 'no reason given'}".lower()
    plain = error.strerror if isinstance(error, OSError) else None
    return (plain or type(error).__name__).lower()
