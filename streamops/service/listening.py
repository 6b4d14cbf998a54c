"""Taking connections, each by the rules of its moment: TLS can come, go and change certificates meanwhile."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from aiohttp import web

from streamops.errors import SettingsError
from streamops.service.authentication import Authentication
from streamops.service.requests import HTTP_LOG, refusing_malformed

IDLE_SECONDS: Final = 75.0
"""How long a connection may be open without a request on it; longer than the usual interval of those that ask again and again."""

GRACE_SECONDS: Final = 5.0
"""How long answers under way may take when the server is told to stop."""

HANDSHAKE_SECONDS: Final = 10.0
MOST_CONNECTIONS: Final = 200
BACKLOG: Final = 128
PAUSE_SECONDS: Final = 0.1


def new_runner(app: web.Application, *, idle: float, grace: float) -> web.AppRunner:
    """What every server of ours runs an application by: what a client gets wrong is answered 4xx, and fills no log.

    Args:
        app: What to serve.
        idle: Seconds that a connection may be open without a whole request on it.
        grace: Seconds that answers under way may take when the server is told to stop.
    """
    # The last is the innermost: those before it make the answer theirs.
    app.middlewares.append(refusing_malformed)
    return web.AppRunner(
        app,
        access_log=None,
        logger=HTTP_LOG,
        keepalive_timeout=idle,
        # Aiohttp waits for so long twice.
        shutdown_timeout=grace / 2,
        handle_signals=False,
        # Who wants a body decodes it, to a bound and to its end.
        auto_decompress=False,
    )


@asynccontextmanager
async def listening(
    app: web.Application, host: str, port: int, authentication: Authentication, *, flag: str = "--listen"
) -> AsyncIterator[int]:
    """Serve an application; the port, which the kernel chooses where it is zero.

    Args:
        app: What to serve.
        host: Where to listen.
        port: At which port.
        authentication: Whether to speak TLS, and how.
        flag: The flag that tells where to listen, for errors.

    Raises:
        SettingsError: The address cannot be listened at.
    """
    runner = new_runner(app, idle=IDLE_SECONDS, grace=GRACE_SECONDS)
    await runner.setup()
    try:
        listener = bind(host, port, flag)
        taking = asyncio.create_task(_Taking(runner, authentication).run(listener))
        try:
            yield listener.getsockname()[1]
        finally:
            taking.cancel()
            with suppress(asyncio.CancelledError):
                await taking
            listener.close()
    finally:
        await runner.cleanup()


def bind(host: str, port: int, flag: str = "--listen") -> socket.socket:
    """A listening socket; raises ``SettingsError`` where there can be none."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.create_server(
            address[:2],
            family=family,
            backlog=BACKLOG,
            dualstack_ipv6=host == "::",
        )
    except (OSError, ValueError) as error:
        # It says the address once more.
        problem = (getattr(error, "strerror", None) or str(error)).partition(" (while attempting")[0]
        raise SettingsError(
            f"cannot listen at {host}:{port}: {problem}", f"Choose another address with {flag} HOST:PORT."
        ) from None
    listener.settimeout(0)
    return listener


class _Taking:
    """Takes connections and hands them to aiohttp."""

    def __init__(self, runner: web.AppRunner, authentication: Authentication) -> None:
        self._runner = runner
        self._authentication = authentication
        self._greeting: set[asyncio.Task[None]] = set()

    async def run(self, listener: socket.socket) -> None:
        """Take connections until cancelled."""
        loop = asyncio.get_running_loop()
        try:
            while True:
                try:
                    connection, _ = await loop.sock_accept(listener)
                except OSError:
                    # The client left already, or there are no descriptors left, which takes a moment to change.
                    await asyncio.sleep(PAUSE_SECONDS)
                    continue
                self._greet(connection)
        finally:
            for task in self._greeting:
                task.cancel()

    def _greet(self, connection: socket.socket) -> None:
        server = self._runner.server
        if server is None or len(server.connections) + len(self._greeting) >= MOST_CONNECTIONS:
            connection.close()
            return
        task = asyncio.create_task(self._shake_hands(connection, server))
        self._greeting.add(task)
        task.add_done_callback(self._greeting.discard)

    async def _shake_hands(self, connection: socket.socket, server: web.Server) -> None:
        tls = self._authentication.rules().tls
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                server, connection, ssl=tls, ssl_handshake_timeout=HANDSHAKE_SECONDS if tls else None
            )
        except (OSError, ssl.SSLError, TimeoutError):
            # A stranger who speaks no TLS, or has no certificate; nothing that anybody must be told of.
            connection.close()
        except BaseException:
            connection.close()
            raise
