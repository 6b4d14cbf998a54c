"""The server of a console in a browser: textual-serve's, open to whoever has the token alone."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from hmac import compare_digest
from pathlib import Path
from typing import Final
from weakref import WeakSet

from aiohttp import WSCloseCode, WSMessageTypeError, web
from aiohttp.typedefs import Handler
from textual_serve.server import Server, to_int

from streamops.service.authentication import Authentication
from streamops.service.listening import listening
from streamops.tui.web.console import TabConsole

PAGE: Final = Path(__file__).parent / "page"

LOOPBACK: Final = re.compile(r"(127(\.\d{1,3}){3}|localhost|\[::1])(:\d{1,5})?", re.ASCII | re.IGNORECASE)
"""Names of this machine, at any port: a tunnel may begin at another one."""

HEADERS: Final = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
POLICY: Final = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    # The terminal makes its own style sheets, from numbers and the names of colours.
    "script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self'; connect-src 'self' ws://"
)
"""The page may load its own parts alone, and talk to the host alone whose name follows."""

TOKEN_SECONDS: Final = 5.0
"""How long a tab may take to show its token."""
LARGEST: Final = 1 << 20
"""Bytes of a message of a tab: what somebody pastes."""
MOST_STRANGERS: Final = 16
"""Connections that have shown no token yet."""
MOST_CONSOLES: Final = 8
"""At the same time."""
WRONG_TOKEN: Final = 4401
TOO_MANY: Final = 4429


class ConsoleServer(Server):
    """Serves a page, and a console to each of its tabs that shows the token.

    Args:
        command: What runs the console of a tab, as a shell would read it.
        host: Where to listen; a loopback address.
        port: At which port; the kernel chooses if it is zero.
        token: What a tab has to show.
        environment: What a console's environment has beside, or instead of, this process's.
    """

    def __init__(
        self, command: str, host: str, port: int, *, token: str, environment: Mapping[str, str]
    ) -> None:
        super().__init__(command, host, port, templates_path=PAGE)
        self._token = token.encode()
        self._environment = environment
        self._strangers = asyncio.Semaphore(MOST_STRANGERS)
        self._consoles = asyncio.Semaphore(MOST_CONSOLES)
        self._tabs: WeakSet[web.WebSocketResponse] = WeakSet()

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[int]:
        """Serve; the port. On the way out all consoles are ended.

        Raises:
            SettingsError: The address cannot be listened at.
        """
        app = await self._make_app()
        app.router.add_static("/page", PAGE)
        app.middlewares.append(_by_own_name)
        app.on_response_prepare.append(_restrict)
        async with listening(app, self.host, self.port, Authentication(None)) as port:
            yield port

    async def on_startup(self, app: web.Application) -> None:
        """Say nothing: the address without its token is of no use."""

    async def on_shutdown(self, app: web.Application) -> None:
        """Close all tabs; their consoles end with them."""
        del app
        closings = [tab.close(code=WSCloseCode.GOING_AWAY) for tab in self._tabs]
        await asyncio.gather(*closings, return_exceptions=True)

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Give a tab a console for as long as it is open."""
        if request.headers.get("Origin", "").lower() != f"http://{request.host.lower()}":
            raise web.HTTPForbidden(text="The page of this server alone may connect.\n")
        if self._strangers.locked():
            raise web.HTTPServiceUnavailable(text="Too many connections.\n")
        tab = web.WebSocketResponse(heartbeat=20, max_msg_size=LARGEST, compress=False, timeout=1)
        async with self._strangers:
            await tab.prepare(request)
            self._tabs.add(tab)
            is_known = await self._shows_token(tab)
        if not is_known:
            await tab.close(code=WRONG_TOKEN)
        elif self._consoles.locked():
            await tab.close(code=TOO_MANY)
        else:
            async with self._consoles:
                await self._run_console(tab, request.query)
        return tab

    async def _shows_token(self, tab: web.WebSocketResponse) -> bool:
        try:
            shown = await tab.receive_str(timeout=TOKEN_SECONDS)
        except (TimeoutError, WSMessageTypeError):
            return False
        return compare_digest(shown.encode(), self._token)

    async def _run_console(self, tab: web.WebSocketResponse, size: Mapping[str, str]) -> None:
        console = TabConsole(self.command, self._environment, tab)
        await console.start(to_int(size.get("width", ""), 80), to_int(size.get("height", ""), 24))
        try:
            await self._process_messages(tab, console)
        except Exception:  # noqa: BLE001 - textual-serve checks nothing of a message: any error may come of one
            await tab.close(code=WSCloseCode.POLICY_VIOLATION)
        finally:
            await console.stop()


@web.middleware
async def _by_own_name(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn away who calls this machine by a name that is not its own."""
    if LOOPBACK.fullmatch(request.headers.get("Host", "")) is None:
        raise web.HTTPMisdirectedRequest(text="Open it by the address that was printed.\n")
    return await handler(request)


async def _restrict(request: web.Request, answer: web.StreamResponse) -> None:
    """Say what a page may do."""
    answer.headers.update(HEADERS | {"Content-Security-Policy": POLICY + request.host})
