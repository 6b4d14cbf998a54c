"""The server of a console in a browser: its page, who may ask for it, and the sockets."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from hmac import compare_digest
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final, NamedTuple

from aiohttp import WSCloseCode, WSMessageTypeError, WSMsgType, web
from msgspec import MsgspecError, Struct, convert

from streamops.errors import SettingsError, StreamopsError
from streamops.present.text import safe
from streamops.service.authentication import Authentication
from streamops.service.listening import listening
from streamops.tui.web.child import (
    LARGEST,
    BrokenPacket,
    Child,
    Size,
    environment_for,
    read_message,
    read_token,
)


class PageFile(NamedTuple):
    """One file of the page.

    Attributes:
        body: Its content.
        type: Its media type.
    """

    body: bytes
    type: str


NO_ICON: Final = PageFile(b"", "image/x-icon")
OWN: Final = {
    "/": ("page.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
}
TERMINAL: Final = {
    "/xterm.css": ("css/xterm.css", "text/css"),
    "/textual.js": ("js/textual.js", "text/javascript"),
    "/font.ttf": ("fonts/RobotoMono-VariableFont_wght.ttf", "font/ttf"),
}


def read_parts() -> dict[str, PageFile]:
    """All parts, by their paths.

    Raises:
        SettingsError: What the terminal comes with is not installed.
    """
    try:
        terminal = files("textual_serve") / "static"
        return {**_read(files(__package__), OWN), **_read(terminal, TERMINAL), "/favicon.ico": NO_ICON}
    except (ModuleNotFoundError, FileNotFoundError):
        raise SettingsError(
            "the console in a browser needs textual-serve, which is not installed",
            "pip install 'streamops[web]'; or open the console in a terminal: ssh -t HOST streamops tui",
        ) from None


def _read(place: Traversable, names: dict[str, tuple[str, str]]) -> dict[str, PageFile]:
    return {path: PageFile(place.joinpath(name).read_bytes(), kind) for path, (name, kind) in names.items()}


LOOPBACK: Final = re.compile(
    r"(?:127(?:\.\d{1,3}){3}|localhost|\[::1\])(?::\d{1,5})?", re.ASCII | re.IGNORECASE
)
"""Names of this machine, at any port: a tunnel may begin at another one."""

HEADERS: Final[Mapping[str, str]] = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def is_own_host(host: str | None) -> bool:
    """Whether a host header names this machine's loopback."""
    return host is not None and LOOPBACK.fullmatch(host) is not None


def is_own_origin(origin: str | None, host: str | None) -> bool:
    """Whether a request comes from the page that this server itself served."""
    return origin is not None and host is not None and origin.lower() == f"http://{host.lower()}"


def is_token(given: str, token: str) -> bool:
    """Whether it is the token; takes as long for one that is nearly right."""
    return compare_digest(given.encode("utf-8", "replace"), token.encode())


def headers_for(host: str) -> dict[str, str]:
    """What every answer carries: the page may load its own parts alone, and talk to this server alone."""
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        # The terminal makes its own style sheets, from numbers and the names of colours.
        f"script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self'; "
        f"connect-src 'self' ws://{host}"
    )
    return {**HEADERS, "Content-Security-Policy": policy}


TOKEN_SECONDS: Final = 5.0
"""How long a tab may take to show its token."""
HEARTBEAT_SECONDS: Final = 20.0
MOST_STRANGERS: Final = 16
"""Connections that have shown no token yet."""
WRONG_TOKEN: Final = 4401
TOO_MANY: Final = 4429

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class WebOptions(Struct, frozen=True, kw_only=True):
    """What to serve, and where.

    Attributes:
        host: Where to listen; a loopback address.
        port: At which port; the kernel chooses where it is zero.
        token: What a tab has to show.
        command: What runs the console of a tab.
        environment: Its environment.
        most: Consoles at the same time.
    """

    host: str
    port: int
    token: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    most: int = 8


@asynccontextmanager
async def serving(options: WebOptions) -> AsyncIterator[int]:
    """Serve; the port. On the way out all consoles are ended.

    Raises:
        SettingsError: The address cannot be listened at, or a part of the page is not installed.
    """
    tabs = Tabs(options)
    app = web.Application(middlewares=[_guarded], client_max_size=1024)
    for path, part in read_parts().items():
        app.router.add_get(path, _serving(part))
    app.router.add_get("/ws", tabs.serve)
    app.on_shutdown.append(tabs.close)
    async with listening(app, options.host, options.port, Authentication(None)) as port:
        yield port


class Tabs:
    """The tabs that are open.

    Args:
        options: What to serve.
    """

    def __init__(self, options: WebOptions) -> None:
        self._options = options
        self._sockets: set[web.WebSocketResponse] = set()
        self._strangers = 0
        self._consoles = 0

    async def close(self, app: web.Application) -> None:
        """Close all tabs; their consoles end with them."""
        del app
        closings = [socket.close(code=WSCloseCode.GOING_AWAY) for socket in self._sockets]
        await asyncio.gather(*closings, return_exceptions=True)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Give a tab a console for as long as it is open."""
        if not is_own_origin(request.headers.get("Origin"), request.headers.get("Host")):
            return web.Response(status=403, text="The page of this server alone may connect.\n")
        if self._strangers >= MOST_STRANGERS:
            return web.Response(status=503, text="Too many connections.\n")
        socket = web.WebSocketResponse(
            heartbeat=HEARTBEAT_SECONDS, max_msg_size=LARGEST, compress=False, timeout=1.0
        )
        await socket.prepare(request)
        self._sockets.add(socket)
        try:
            await self._talk(socket, _size(request))
        finally:
            self._sockets.discard(socket)
            await socket.close()
        return socket

    async def _talk(self, socket: web.WebSocketResponse, size: Size) -> None:
        self._strangers += 1
        try:
            known = await self._shows_token(socket)
        finally:
            self._strangers -= 1
        if not known:
            await socket.close(code=WRONG_TOKEN)
        elif self._consoles >= self._options.most:
            await socket.close(code=TOO_MANY)
        else:
            self._consoles += 1
            try:
                await self._run_console(socket, size)
            finally:
                self._consoles -= 1

    async def _shows_token(self, socket: web.WebSocketResponse) -> bool:
        try:
            shown = await socket.receive_str(timeout=TOKEN_SECONDS)
            return is_token(read_token(shown), self._options.token)
        except (TimeoutError, TypeError, BrokenPacket, WSMessageTypeError):
            return False

    async def _run_console(self, socket: web.WebSocketResponse, size: Size) -> None:
        child = await Child.start(self._options.command, environment_for(self._options.environment, size))
        passing = asyncio.create_task(_pass_on(child, socket))
        words = ""
        try:
            await _take_in(child, socket, passing)
        finally:
            words = await child.stop()
            passing.cancel()
            with suppress(asyncio.CancelledError, ConnectionError, StreamopsError):
                await passing
        if words and not socket.closed:
            await socket.send_bytes(_last_words(words))


async def _take_in(child: Child, socket: web.WebSocketResponse, passing: asyncio.Task[None]) -> None:
    """Pass on what the tab sends, until the tab or the console ends."""
    while not passing.done():
        receiving = asyncio.create_task(socket.receive())
        await asyncio.wait({receiving, passing}, return_when=asyncio.FIRST_COMPLETED)
        if not receiving.done():
            receiving.cancel()
            with suppress(asyncio.CancelledError):
                await receiving
            return
        message = receiving.result()
        if message.type is not WSMsgType.TEXT:
            return
        try:
            await child.send(read_message(message.data))
        except BrokenPacket:
            await socket.close(code=WSCloseCode.POLICY_VIOLATION)
            return


async def _pass_on(child: Child, socket: web.WebSocketResponse) -> None:
    """Pass on what the console draws, until it ends."""
    async for data in child.output():
        await socket.send_bytes(data)


def _last_words(words: str) -> bytes:
    """Why the console ended, for the terminal: the plain screen, and lines that are only shown."""
    lines = "\r\n".join(safe(line) for line in words.splitlines())
    return f"\x1b[?1049l\x1b[2J\x1b[H\x1b[?25h{lines}\r\n".encode()


def _size(request: web.Request) -> Size:
    try:
        return convert(dict(request.query), Size, strict=False)
    except MsgspecError:
        return Size()


def _serving(part: PageFile) -> Handler:
    async def serve(request: web.Request) -> web.Response:
        del request
        return web.Response(body=part.body, content_type=part.type, charset=_charset(part))

    return serve


def _charset(part: PageFile) -> str | None:
    return "utf-8" if part.type.startswith("text/") else None


@web.middleware
async def _guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn away who calls this machine by a name that is not its own; say what the page may do."""
    host = request.headers.get("Host")
    if not is_own_host(host):
        return web.Response(status=421, text="Open it by the address that was printed.\n")
    try:
        answer = await handler(request)
    except web.HTTPException as refusal:
        refusal.headers.update(headers_for(host or ""))
        raise
    if not answer.prepared:
        answer.headers.update(headers_for(host or ""))
    return answer
