"""What every HTTP request passes first, whatever its path: the client certificate and password that a web-config file asks for."""

import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import structlog
from aiohttp import web
from msgspec import Struct

from streamops.errors import SettingsError
from streamops.service.addresses import as_address
from streamops.service.passwords import Passwords
from streamops.service.tls import server_context, tls_files
from streamops.service.web_config import Mark, WebConfig, marks_of, read_web_config

LOG: Final = structlog.get_logger("streamops.web")


class Rules(Struct, frozen=True):
    """What is in force.

    Attributes:
        tls: What to speak TLS with; none for plain HTTP.
        passwords: Who is let in.
    """

    tls: ssl.SSLContext | None
    passwords: Passwords


class Door:
    """Knows the rules that are in force.

    Args:
        path: The web-config file; none asks nothing of anybody.

    Raises:
        SettingsError: The file, or one that it names, cannot be read or understood.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._marks: dict[Path, Mark | None] = {}
        self._rules = self._read() if path else _rules(WebConfig(), None)

    def rules(self) -> Rules:
        """The rules now: those of the files as they are, or the last good ones, which the log says once."""
        if self._path is not None and self._marks != marks_of(self._marks):
            try:
                self._rules = self._read()
            except SettingsError as error:
                LOG.error("web-config not taken, the one before stays in force", problem=error.message)  # noqa: TRY400 - for people
            else:
                LOG.info("web-config read again", file=str(self._path))
        return self._rules

    def _read(self) -> Rules:
        path = self._path or Path()
        # Looked at before they are read: what changes meanwhile is then seen the next time. Those that a file names
        # stay watched where the file itself cannot be understood.
        self._marks = marks_of([path, *self._marks])
        config = read_web_config(path)
        named = tls_files(config.tls_server_config, path.parent) if config.tls_server_config else ()
        self._marks = {path: self._marks[path], **marks_of(named)}
        return _rules(config, path)


def _rules(config: WebConfig, path: Path | None) -> Rules:
    tls = config.tls_server_config
    return Rules(
        server_context(tls, path.parent, str(path)) if tls and path else None, Passwords(config.users)
    )


Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

SAFE_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


MISLED: Final = (
    "Forbidden: by names with a dot nobody is let in at loopback without a password\n"
    "Ask for 127.0.0.1 or localhost, or state basic_auth_users in a web-config file.\n"
)


def admit_by(app: web.Application, door: Door) -> None:
    """Have an application ask a door about every request."""
    app.middlewares.append(_admission(door))

    async def add_headers(_: web.Request, response: web.StreamResponse) -> None:
        for name, value in SAFE_HEADERS.items():
            response.headers.setdefault(name, value)
        # What this is made of is nobody's business.
        response.headers["Server"] = "streamops"

    app.on_response_prepare.append(add_headers)


def _admission(door: Door) -> Any:  # noqa: ANN401 - aiohttp's own type of middlewares
    @web.middleware
    async def admit(request: web.Request, handler: Handler) -> web.StreamResponse:
        rules = door.rules()
        if _is_too_weak(request, rules):
            return _ending(request)
        if _is_misled(request, rules):
            return web.Response(text=MISLED, status=403)
        if not await rules.passwords.let_in(request.headers.get("Authorization"), lambda: _waits(request)):
            return web.Response(
                text="Unauthorized\n", status=401, headers={"WWW-Authenticate": 'Basic realm="streamops"'}
            )
        response = await handler(request)
        if _spoken(request) is not rules.tls:
            # It shows a certificate that has been exchanged: the next request comes by a new connection.
            response.force_close()
        return response

    return admit


def _is_misled(request: web.Request, rules: Rules) -> bool:
    """Whether a browser may be asking for a page of somebody's, whose name leads to this machine's loopback.

    Nobody else reaches loopback, so that nobody is asked for a password there; but every page in a browser on this machine
    does, under a name that its owner has in the domain name system. Such names have a dot in them.
    """
    name = request.transport.get_extra_info("sockname") if request.transport else None
    own = as_address(name[0]) if isinstance(name, tuple) else None
    if own is None or not own.is_loopback or rules.passwords.asked:
        return False
    try:
        host = (urlsplit(f"//{request.host}").hostname or "").rstrip(".")
    except ValueError:
        return True
    return "." in host and as_address(host) is None and not host.endswith(".localhost")


def _waits(request: web.Request) -> bool:
    """Whether the client is still there."""
    return request.transport is not None and not request.transport.is_closing()


def _is_too_weak(request: web.Request, rules: Rules) -> bool:
    """Whether a connection that was kept open from before would be refused now: plain, or without a certificate."""
    if rules.tls is None:
        return False
    wants = rules.tls.verify_mode is ssl.CERT_REQUIRED
    return _spoken(request) is None or (wants and not _certificate(request))


def _ending(request: web.Request) -> web.Response:
    """End the connection without an answer, as if it had been closed for being idle: clients then make a new one."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=421)


def _spoken(request: web.Request) -> ssl.SSLContext | None:
    found: ssl.SSLContext | None = (
        request.transport.get_extra_info("sslcontext") if request.transport else None
    )
    return found


def _certificate(request: web.Request) -> dict[str, Any] | None:
    found: dict[str, Any] | None = request.transport.get_extra_info("peercert") if request.transport else None
    return found
