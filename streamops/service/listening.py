"""Listening: a bounded number of connections, over TLS if the web-config file says so."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from aiohttp import web

from streamops.errors import SettingsError, StreamopsError
from streamops.service.authentication import Authentication
from streamops.service.requests import HTTP_LOG, refusing_malformed

IDLE_SECONDS: Final = 75.0
"""How long a connection may be open without a request on it; longer than the usual interval of those that ask again and again."""

GRACE_SECONDS: Final = 5.0
"""How long answers under way may take when the server is asked to stop."""

HANDSHAKE_SECONDS: Final = 10.0
MOST_CONNECTIONS: Final = 200
BACKLOG: Final = 128
LOOK_SECONDS: Final = 0.02


def new_runner(app: web.Application, *, idle: float, grace: float) -> web.AppRunner:
    """What every server of ours runs an application by: what a client gets wrong is answered 4xx, and fills no log.

    Args:
        app: What to serve.
        idle: Seconds that a connection may be open without a whole request on it.
        grace: Seconds that answers under way may take when the server is asked to stop.
    """
    # The last is the innermost: those before it make the answer theirs.
    app.middlewares.append(refusing_malformed)
    return web.AppRunner(
        app,
        access_log=None,
        logger=HTTP_LOG,
        keepalive_timeout=idle,
        # Aiohttp waits this long twice.
        shutdown_timeout=grace / 2,
        handle_signals=False,
        # Handlers decode bodies themselves, to a bound and to the end.
        auto_decompress=False,
    )


@asynccontextmanager
async def listening(
    app: web.Application, host: str, port: int, authentication: Authentication, *, flag: str = "--listen"
) -> AsyncIterator[int]:
    """Serve an application; the port, which the kernel chooses if it is zero.

    Args:
        app: What to serve.
        host: Where to listen.
        port: At which port.
        authentication: Whether to speak TLS, and how.
        flag: The flag that says where to listen, for errors.

    Raises:
        SettingsError: The address cannot be listened at.
    """
    bounds = {"idle": IDLE_SECONDS, "grace": GRACE_SECONDS}
    async with serving(
        app, bind(host, port, flag), authentication, most=MOST_CONNECTIONS, **bounds
    ) as chosen:
        yield chosen


@asynccontextmanager
async def serving(
    app: web.Application,
    listener: socket.socket,
    authentication: Authentication,
    *,
    most: int,
    idle: float,
    grace: float,
    linger: float = 0.0,
) -> AsyncIterator[int]:
    """Serve an application at a listening socket, and close that in the end; the port.

    Args:
        app: What to serve.
        listener: Where; other processes may take connections from the same one.
        authentication: Whether to speak TLS, and how.
        most: Connections at once; further ones are closed.
        idle: Seconds that a connection may be open without a whole request on it.
        grace: Seconds that answers under way may take in the end.
        linger: Seconds before that in which clients may still ask over the connections that they have, so that an
            application can answer them that it closes.
    """
    with listener:
        runner = new_runner(app, idle=idle, grace=grace)
        await runner.setup()
        server, tls = runner.server, authentication.tls()
        if server is None:
            raise StreamopsError("the HTTP server is not set up")
        accepting = await asyncio.get_running_loop().create_server(
            lambda: server() if len(server.connections) < most else _Refused(),
            sock=listener,
            backlog=BACKLOG,
            ssl=tls,
            ssl_handshake_timeout=HANDSHAKE_SECONDS if tls else None,
        )
        try:
            yield listener.getsockname()[1]
        finally:
            accepting.close()
            with suppress(TimeoutError):
                async with asyncio.timeout(linger):
                    while server.connections:  # noqa: ASYNC110 - aiohttp says no more
                        await asyncio.sleep(LOOK_SECONDS)
            await runner.cleanup()


def bind(host: str, port: int, flag: str = "--listen", *, reuse_port: bool = False) -> socket.socket:
    """A listening socket; raises ``SettingsError`` if there can be none.

    Args:
        host: Where to listen.
        port: The port; zero for one that the kernel chooses.
        flag: The flag that says where to listen, for errors.
        reuse_port: Whether further sockets may listen there, among which the kernel spreads connections.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.create_server(
            address[:2],
            family=family,
            backlog=BACKLOG,
            reuse_port=reuse_port,
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


class _Refused(asyncio.Protocol):
    """Closes a connection beyond the limit."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Close it."""
        transport.close()
