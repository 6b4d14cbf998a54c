"""Authentication of every HTTP request: the client certificate and password that a web-config file asks for."""

import asyncio
import hmac
import secrets
import ssl
from base64 import b64decode
from binascii import Error as BadBase64
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, Self
from urllib.parse import urlsplit

import bcrypt
import structlog
from aiohttp import web
from msgspec import Struct

from streamops.errors import SettingsError
from streamops.service.addresses import as_address
from streamops.service.web_config import WebConfig, marks_of, read_web_config, server_context, tls_files

LOG: Final = structlog.get_logger("streamops.web")

AT_ONCE: Final = 1
"""Hashes computed at once: who guesses passwords gets no more of the machine than this."""

KEPT: Final = 100
"""Passwords that are remembered, of those that are right and of those that are wrong."""

BCRYPT_BYTES: Final = 72
"""What bcrypt looks at; other programs drop the rest silently, and hashes are made by them."""


class Credentials(NamedTuple):
    """What a client says it is."""

    user: str
    password: bytes


class Passwords:
    """Checks passwords.

    Args:
        users: bcrypt hashes by user name; without any, every request is let in.
    """

    def __init__(self, users: Mapping[str, str]) -> None:
        self._users = dict(users)
        # An unknown user costs as much time as a known one, so that the time does not show which names exist.
        self._unknown = next((f"{written[:7]}{'.' * 53}" for written in users.values()), "")
        self._secret = secrets.token_bytes(32)
        # Apart, so that no number of guesses makes those who know theirs wait for their turn.
        self._right: OrderedDict[bytes, None] = OrderedDict()
        self._wrong: OrderedDict[bytes, None] = OrderedDict()
        self._turns = asyncio.Semaphore(AT_ONCE)

    @property
    def asked(self) -> bool:
        """Whether a password is asked for."""
        return bool(self._users)

    async def let_in(self, authorization: str | None, waits: Callable[[], bool] = lambda: True) -> bool:
        """Whether an ``Authorization`` header is good enough.

        Args:
            authorization: The header; None if there is none.
            waits: Whether the client still waits when its turn comes; else nothing is computed.
        """
        if not self._users:
            return True
        given = decode_basic(authorization)
        if given is None:
            return False
        # What is kept is no password, and is of no use without the key.
        key = hmac.digest(self._secret, given.user.encode() + b"\0" + given.password, "sha256")
        verdict = self._known(key)
        if verdict is None:
            async with self._turns:
                verdict = self._known(key)
                if verdict is None:
                    if not waits():
                        return False
                    verdict = await asyncio.to_thread(self._check, given)
                    _keep(self._right if verdict else self._wrong, key)
        return verdict

    def _known(self, key: bytes) -> bool | None:
        return True if key in self._right else False if key in self._wrong else None

    def _check(self, given: Credentials) -> bool:
        written = self._users.get(given.user)
        try:
            same = bcrypt.checkpw(given.password[:BCRYPT_BYTES], (written or self._unknown).encode())
        except ValueError:
            return False
        return same and written is not None


def _keep(keys: OrderedDict[bytes, None], key: bytes) -> None:
    keys[key] = None
    if len(keys) > KEPT:
        keys.popitem(last=False)


def decode_basic(authorization: str | None) -> Credentials | None:
    """User and password of a header; None if it holds none."""
    scheme, _, coded = (authorization or "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        user, colon, password = b64decode(coded.strip(), validate=True).partition(b":")
        return Credentials(user.decode(), password) if colon else None
    except (BadBase64, ValueError):
        return None


class Rules(Struct, frozen=True):
    """What is in force.

    Attributes:
        tls: What to speak TLS with; none for plain HTTP.
        passwords: Checks passwords.
    """

    tls: ssl.SSLContext | None
    passwords: Passwords


class Authentication:
    """Knows the rules that are in force.

    Args:
        path: The web-config file; without one, every request is let in, over plain HTTP.

    Raises:
        SettingsError: The file, or one that it names, cannot be read or understood.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._marks: dict[Path, tuple[int, ...] | None] = {}
        self._rules = self._read() if path else _rules(WebConfig(), None)

    def rules(self) -> Rules:
        """The rules now: those of the files as they are, or the last good ones, which the log says once."""
        if self._path is not None and self._marks != marks_of(self._marks):
            try:
                self._rules = self._read_again()
            except SettingsError as error:
                LOG.error("web-config not taken, the one before stays in force", problem=error.message)  # noqa: TRY400 - for people
            else:
                LOG.info("web-config read again", file=str(self._path))
        return self._rules

    def tls(self) -> ssl.SSLContext | None:
        """What a server speaks TLS with, by the files of the moment of each handshake; none for plain HTTP."""
        return None if self._rules.tls is None else _ReloadedContext(self)

    def _read_again(self) -> Rules:
        found = self._read()
        if (found.tls is None) is not (self._rules.tls is None):
            raise SettingsError(f"{self._path}: adding or removing tls_server_config needs a restart")
        return found

    def _read(self) -> Rules:
        path = self._path or Path()
        # Looked at before they are read: a change during the reading is then seen the next time. Those that a file names
        # stay watched where the file itself cannot be understood.
        self._marks = marks_of([path, *self._marks])
        config = read_web_config(path)
        named = tls_files(config.tls_server_config, path.parent) if config.tls_server_config else ()
        self._marks = {path: self._marks[path], **marks_of(named)}
        return _rules(config, path)


def _rules(config: WebConfig, path: Path | None) -> Rules:
    tls = config.tls_server_config
    return Rules(
        server_context(tls, path.parent, str(path)) if tls and path else None,
        Passwords(config.basic_auth_users or {}),
    )


class _ReloadedContext(ssl.SSLContext):
    """Makes each connection by the certificates and client CA that are in force at its handshake."""

    _authentication: Authentication

    def __new__(cls, authentication: Authentication) -> Self:
        context = super().__new__(cls, ssl.PROTOCOL_TLS_SERVER)
        context._authentication = authentication
        return context

    def wrap_bio(self, *args: Any, **given: Any) -> ssl.SSLObject:
        """Start a connection; event loops make all of theirs by this."""
        return (self._authentication.rules().tls or self).wrap_bio(*args, **given)


Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

SAFE_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


MISLED: Final = (
    "Forbidden: a host name with a dot is not let in at loopback without a password\n"
    "Ask for 127.0.0.1 or localhost, or state basic_auth_users in a web-config file.\n"
)


def require_authentication(app: web.Application, authentication: Authentication) -> None:
    """Authenticate every request of an application."""
    app.middlewares.append(_middleware(authentication))

    async def add_headers(_: web.Request, response: web.StreamResponse) -> None:
        for name, value in SAFE_HEADERS.items():
            response.headers.setdefault(name, value)
        # Which libraries answer is not said.
        response.headers["Server"] = "streamops"

    app.on_response_prepare.append(add_headers)


def _middleware(authentication: Authentication) -> Any:  # noqa: ANN401 - aiohttp's own type of middlewares
    @web.middleware
    async def admit(request: web.Request, handler: Handler) -> web.StreamResponse:
        rules = authentication.rules()
        if _tls_of(request) is not rules.tls:
            # It was opened by certificates, or a client CA, that are no longer in force.
            return _ending(request)
        if _is_misled(request, rules):
            return web.Response(text=MISLED, status=403)
        if not await rules.passwords.let_in(request.headers.get("Authorization"), lambda: _waits(request)):
            return web.Response(
                text="Unauthorized\n", status=401, headers={"WWW-Authenticate": 'Basic realm="streamops"'}
            )
        return await handler(request)

    return admit


def _is_misled(request: web.Request, rules: Rules) -> bool:
    """Whether a browser may be asking on behalf of a foreign page whose host name resolves to this machine's loopback.

    Only this machine reaches loopback, so that no password is needed there; but a page in a browser on this machine
    does too, under a name of its owner's domain (DNS rebinding). Such names have a dot in them.
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


def _ending(request: web.Request) -> web.Response:
    """End the connection without an answer, as if it had been closed for being idle: clients then make a new one."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=421)


def _tls_of(request: web.Request) -> ssl.SSLContext | None:
    """The context that a connection was made by; none for plain HTTP."""
    found: ssl.SSLObject | None = (
        request.transport.get_extra_info("ssl_object") if request.transport else None
    )
    return found.context if found else None
