"""redis-py, configured here and nowhere else.

Every connection speaks RESP2, so that replies have one shape on every server from 6.2 on; never repeats
a command by itself, since a repeated XADD writes twice; and has no timeout of its own, since the callers
bound whole batches.
"""

from pathlib import Path
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.connection import (
    AbstractConnection,
    Connection,
    SSLConnection,
)
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import SentinelManagedConnection, SentinelManagedSSLConnection
from redis.backoff import NoBackoff
from redis.exceptions import ResponseError

from streamops.errors import SettingsError
from streamops.model.streams import Mode
from streamops.wire.node import Node
from streamops.wire.options import ConnectionOptions, Secret, Tls
from streamops.wire.primary import PrimaryTracker, SentinelClient, SentinelPool, SentinelPrimary, Single
from streamops.wire.redis_internals import (
    PARSER,
    ClosingPool,
    NamedSentinelSSLConnection,
    NamedSSLConnection,
    SocketConnection,
)

READ_SIZE = 1 << 16
MAX_CONNECTIONS = 16


def connection_kwargs(options: ConnectionOptions) -> dict[str, Any]:
    """What every connection to these servers is made with, apart from where it goes."""

    async def greet(connection: AbstractConnection) -> None:
        await connection.on_connect()
        try:
            await connection.send_command("CLIENT", "SETNAME", options.client_name)
            await connection.read_response()
        except ResponseError as error:
            # A user may do without CLIENT SETNAME; the name is a courtesy to other operators. But a server
            # in protected mode denies whatever is asked first, and then hangs up.
            if str(error).startswith("DENIED"):
                raise

    return {
        "protocol": 2,
        "legacy_responses": False,
        "retry": Retry(NoBackoff(), 0),
        "socket_timeout": None,
        "socket_connect_timeout": options.timeout.total_seconds(),
        "socket_read_size": READ_SIZE,
        "parser_class": PARSER,
        "driver_info": None,
        "redis_connect_func": greet,
        "db": options.database,
        **_credentials(options.username, options.password),
    }


def connection_pool(
    options: ConnectionOptions,
    address: tuple[str, int] | None = None,
    tracker: PrimaryTracker | None = None,
) -> ClosingPool:
    """A pool of connections to one server: ``address``, the socket, the first address, or Sentinel's choice.

    Args:
        options: How it is reached.
        address: Which one; as the options say unless given.
        tracker: The last known primary, shared with other clients of the same Sentinels; a new one by default.

    Raises:
        SettingsError: A file that TLS needs cannot be read.
    """
    kwargs = connection_kwargs(options) | {"max_connections": MAX_CONNECTIONS}
    if options.socket_path is not None:
        return ClosingPool(connection_class=SocketConnection, path=options.socket_path, **kwargs)
    if options.mode is Mode.SENTINEL:
        return _sentinel_pool(options, kwargs, tracker or PrimaryTracker())
    host, port = address or options.addresses[0]
    kwargs |= {"host": host, "port": port, "socket_keepalive": True, **transport_kwargs(options.tls)}
    return ClosingPool(**kwargs)


def transport_kwargs(tls: Tls | None) -> dict[str, Any]:
    """The connection class for plain TCP or TLS, and what it takes."""
    if tls is None:
        return {"connection_class": Connection}
    if tls.server_name is None:
        return {"connection_class": SSLConnection, **_tls_kwargs(tls)}
    return {"connection_class": NamedSSLConnection, "server_name": tls.server_name, **_tls_kwargs(tls)}


def connect_client(options: ConnectionOptions) -> Redis:
    """A plain redis-py client on one server, for workers; replies are bytes in their unified shapes."""
    return Redis.from_pool(connection_pool(options))


def _sentinel_pool(
    options: ConnectionOptions, kwargs: dict[str, Any], tracker: PrimaryTracker
) -> SentinelPool:
    transport: dict[str, Any] = {}
    watcher: dict[str, Any] = {"connection_class": Connection}
    if options.tls is None:
        transport["connection_class"] = SentinelManagedConnection
    else:
        transport = {"connection_class": SentinelManagedSSLConnection, **_tls_kwargs(options.tls)}
        watcher = {"connection_class": SSLConnection, **_tls_kwargs(options.tls)}
        if options.tls.server_name is not None:
            transport |= {
                "connection_class": NamedSentinelSSLConnection,
                "server_name": options.tls.server_name,
            }
    # The Sentinels are asked in turn: all of them may hang, and one answer must still come in time.
    patience = options.timeout.total_seconds() / (len(options.addresses) + 1)
    watcher |= {
        "protocol": 2,
        "legacy_responses": False,
        "retry": Retry(NoBackoff(), 0),
        "socket_timeout": None,
        "socket_connect_timeout": patience,
        "parser_class": PARSER,
        **_credentials(options.sentinel_username, options.sentinel_password),
    }
    pools = [ClosingPool(host=host, port=port, **watcher) for host, port in options.addresses]
    watchers = SentinelClient(pools, patience, tracker)
    return SentinelPool(options.sentinel_service, watchers, **transport, **kwargs)  # type: ignore[no-untyped-call] # redis-py has no types here


def _credentials(username: str | None, password: Secret | None) -> dict[str, Any]:
    return {"username": username, "password": None if password is None else password.reveal()}


def _tls_kwargs(tls: Tls) -> dict[str, Any]:
    for path in filter(None, (tls.ca_file, tls.certificate_file, tls.key_file)):
        _check_readable(path)
    return {
        "ssl_ca_certs": tls.ca_file,
        "ssl_certfile": tls.certificate_file,
        "ssl_keyfile": tls.key_file,
        "ssl_cert_reqs": "required" if tls.verify else "none",
        "ssl_check_hostname": tls.verify,
    }


def _check_readable(path: str) -> None:
    """Say which file it is that cannot be read; deep inside TLS its name would be lost."""
    problem = None
    try:
        Path(path).open("rb").close()
    except OSError as error:
        problem = error.strerror
    if problem is not None:
        raise SettingsError(f"the TLS file {path} cannot be read: {problem}", "Check `ca`, `cert` and `key`.")


def single_server(options: ConnectionOptions, tracker: PrimaryTracker) -> Single:
    """The server of these options, or of their Sentinels, and of what others have heard of them."""
    pool = connection_pool(options, tracker=tracker)
    node = Node(pool, options.label, options.timeout.total_seconds())
    return SentinelPrimary(node, pool, tracker) if isinstance(pool, SentinelPool) else Single(node)
