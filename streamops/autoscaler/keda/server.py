"""The gRPC server. Importing this imports grpcio, which the extra ``keda`` brings."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as health_aio
from msgspec import Struct

from streamops.autoscaler.keda.certificates import TlsFiles, server_credentials
from streamops.autoscaler.keda.service import NAME, Scaler
from streamops.autoscaler.keda.source import Pools
from streamops.errors import SettingsError
from streamops.service.listening import bind

GRACE_SECONDS: Final = 5.0
"""How long answers under way may take when the server is told to stop."""

MOST_CALLS: Final = 4096
"""Calls and streams at once; further ones are refused as RESOURCE_EXHAUSTED."""

MOST_CONNECTIONS: Final = 200
LIMITS: Final[tuple[tuple[str, int], ...]] = (
    # Otherwise a second server at the same port would be handed every other connection.
    ("grpc.so_reuseport", 0),
    # Its own default drops what comes in bursts of more than 1000.
    ("grpc.server.max_pending_requests", MOST_CALLS),
    ("grpc.server.max_pending_requests_hard_limit", MOST_CALLS),
    ("grpc.max_allowed_incoming_connections", MOST_CONNECTIONS),
    ("grpc.max_receive_message_length", 1 << 16),
    ("grpc.server_handshake_timeout_ms", 10_000),
    # A client that is gone without a word is noticed within 40 s, and its streams end.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.http2.ping_timeout_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
)


class GrpcOptions(Struct, frozen=True, kw_only=True):
    """How KEDA is served.

    Attributes:
        host: Where to listen.
        port: At which port; the kernel chooses where it is zero.
        tls: Certificates; none for plain text.
    """

    host: str = "127.0.0.1"
    port: int = 9644
    tls: TlsFiles | None = None


@asynccontextmanager
async def serving(options: GrpcOptions, pools: Pools) -> AsyncIterator[int]:
    """Serve until the block ends, then end streams and let answers under way finish; gives the port.

    Args:
        options: How to serve.
        pools: What is served.

    Raises:
        SettingsError: A certificate cannot be used, or the address cannot be listened at.
    """
    credentials = server_credentials(options.tls) if options.tls else None
    _check_address(options)
    server = grpc.aio.server(options=LIMITS, maximum_concurrent_rpcs=MOST_CALLS)
    scaler, health = Scaler(pools), health_aio.HealthServicer()
    server.add_generic_rpc_handlers((scaler.handler(),))
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    await health.set(NAME, health_pb2.HealthCheckResponse.SERVING)
    port = _listen(server, options, credentials)
    await server.start()
    try:
        yield port
    finally:
        scaler.end_streams()
        await health.enter_graceful_shutdown()
        await server.stop(GRACE_SECONDS)


def _check_address(options: GrpcOptions) -> None:
    """Tell in words what gRPC would only write to standard error."""
    bind(options.host, options.port).close()


def _listen(server: grpc.aio.Server, options: GrpcOptions, credentials: grpc.ServerCredentials | None) -> int:
    host = f"[{options.host}]" if ":" in options.host else options.host
    address = f"{host}:{options.port}"
    try:
        if credentials is None:
            return server.add_insecure_port(address)
        return server.add_secure_port(address, credentials)
    except RuntimeError as error:
        raise SettingsError(
            f"cannot listen at {address}: {error}", "Choose another address with --listen HOST:PORT."
        ) from None
