"""The gRPC server, and the five methods that KEDA calls. Importing this imports grpcio, which the extra ``keda`` brings."""

import asyncio
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import grpc
import structlog
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as health_aio
from msgspec import Struct

from streamops.autoscaling.keda.answers import (
    LONGEST_NAME,
    TARGET,
    BadTrigger,
    Board,
    PoolView,
    metric_name,
    not_known,
    read_trigger,
    without_number,
)
from streamops.autoscaling.keda.proto import externalscaler_pb2 as pb
from streamops.errors import SettingsError
from streamops.model.text import safe
from streamops.service.listening import bind
from streamops.service.web_config import CertificateNames, load_authorities, load_certificate, marks_of

LOG: Final = structlog.get_logger("streamops.keda")

NAMED: Final = CertificateNames("--tls-cert, --tls-key", "--tls-cert", "--tls-key")
CLIENT_CA: Final = "--tls-client-ca"


class TlsFiles(Struct, frozen=True, kw_only=True):
    """PEM files.

    Attributes:
        certificate: The server's certificate with those that lead to its authority.
        key: Its key, not encrypted.
        client_authorities: Who signs clients' certificates; each client must have one, if this is given.
    """

    certificate: Path
    key: Path
    client_authorities: Path | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """All of them."""
        more = () if self.client_authorities is None else (self.client_authorities,)
        return (self.certificate, self.key, *more)


def server_credentials(files: TlsFiles) -> grpc.ServerCredentials:
    """What a server speaks TLS with; files that change are in force for the next connection.

    Raises:
        SettingsError: A file cannot be read or is none of its kind.
    """
    kept = _CurrentConfig(files)
    return grpc.dynamic_ssl_server_credentials(
        kept.configuration, kept.fetch, require_client_authentication=files.client_authorities is not None
    )


class _CurrentConfig:
    """The configuration in force. Connections are greeted by gRPC's own threads."""

    def __init__(self, files: TlsFiles) -> None:
        self._files = files
        self._lock = threading.Lock()
        self._marks = marks_of(files.paths)
        self.configuration = _read(files)

    def fetch(self) -> grpc.ServerCertificateConfiguration:
        """The configuration of the files as they are, or the last good one, which the log says once."""
        with self._lock:
            marks = marks_of(self._files.paths)
            if marks != self._marks:
                self._marks = marks
                self._renew()
            return self.configuration

    def _renew(self) -> None:
        try:
            self.configuration = _read(self._files)
        except SettingsError as error:
            LOG.error("certificate not taken, the one before stays in force", problem=error.message)  # noqa: TRY400 - for people
        else:
            LOG.info("certificate read again", file=str(self._files.certificate))


def _read(files: TlsFiles) -> grpc.ServerCertificateConfiguration:
    # gRPC reports a bad file only to clients that connect: OpenSSL checks them first.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    load_certificate(context, files.certificate, files.key, NAMED)
    if files.client_authorities is not None:
        load_authorities(context, files.client_authorities, CLIENT_CA)
    try:
        pair = (files.key.read_bytes(), files.certificate.read_bytes())
        authorities = None if files.client_authorities is None else files.client_authorities.read_bytes()
    except OSError as error:
        raise SettingsError(f"{NAMED.both}: {error}", "Check the names and their permissions.") from None
    return grpc.ssl_server_certificate_configuration([pair], authorities)


NAME: Final = "externalscaler.ExternalScaler"
BUG: Final = "a bug in streamops; its log says more"

Context = grpc.aio.ServicerContext[Any, Any]
Method = Callable[[Any, Context], Awaitable[Any]]


class Unavailable(Exception):
    """There is nothing to answer yet; the text says why, in one line."""


class Scaler:
    """Answers KEDA.

    Args:
        board: What is known of the pools.
    """

    def __init__(self, board: Board) -> None:
        self._board = board
        self._ending = asyncio.Event()

    def end_streams(self) -> None:
        """End all streams as if they had come to their ends, so that KEDA opens new ones soon."""
        self._ending.set()

    def handler(self) -> grpc.GenericRpcHandler:
        """The service, as a server takes it."""
        reference = pb.ScaledObjectRef.FromString
        active = pb.IsActiveResponse.SerializeToString
        spec = pb.GetMetricSpecResponse.SerializeToString
        unary, streaming = grpc.unary_unary_rpc_method_handler, grpc.unary_stream_rpc_method_handler
        return grpc.method_handlers_generic_handler(
            NAME,
            {
                "IsActive": unary(_reporting(self.is_active), reference, active),
                "StreamIsActive": streaming(_reporting(self.stream_is_active), reference, active),
                "GetMetricSpec": unary(_reporting(self.get_metric_spec), reference, spec),
                "GetMetrics": unary(
                    _reporting(self.get_metrics),
                    pb.GetMetricsRequest.FromString,
                    pb.GetMetricsResponse.SerializeToString,
                ),
                "StreamMetricSpec": streaming(_reporting(self.stream_metric_spec), reference, spec),
            },
        )

    async def is_active(self, request: pb.ScaledObjectRef, _: Context) -> pb.IsActiveResponse:
        """Whether there is work."""
        pool, view = self._read(request)
        if view.active is None:
            raise Unavailable(not_known(pool, view))
        return pb.IsActiveResponse(result=view.active)

    async def stream_is_active(self, request: pb.ScaledObjectRef, context: Context) -> None:
        """Whether there is work: once it is known, and whenever it changes."""
        pool, now = self._read(request)
        # The client is to know that it was heard, though there may be nothing to tell for long.
        await context.send_initial_metadata(())
        view: PoolView | None = now
        sent: bool | None = None
        while view is not None:
            if view.active is not None and view.active is not sent:
                await context.write(pb.IsActiveResponse(result=view.active))
                sent = view.active
            view = await self._unless_ending(self._board.after(pool, view))

    async def get_metric_spec(self, request: pb.ScaledObjectRef, _: Context) -> pb.GetMetricSpecResponse:
        """The metric and its target, which rest on nothing that would have to be read."""
        return _spec(self._read(request)[0])

    async def stream_metric_spec(self, request: pb.ScaledObjectRef, context: Context) -> None:
        """The metric and its target: once, because they do not change."""
        await context.write(_spec(self._read(request)[0]))
        await self._ending.wait()

    async def get_metrics(self, request: pb.GetMetricsRequest, _: Context) -> pb.GetMetricsResponse:
        """How many workers the pool should have."""
        pool, view = self._read(request.scaledObjectRef)
        name = metric_name(pool)
        if request.metricName and without_number(request.metricName) != name:
            other = safe(request.metricName[:LONGEST_NAME])
            raise BadTrigger(f"pool {safe(pool)} has the metric {name}, and not {other}")
        if view.desired is None:
            raise Unavailable(not_known(pool, view))
        # KEDA reads the integer where the float is 0.
        value = pb.MetricValue(metricName=name, metricValue=view.desired, metricValueFloat=view.desired)
        return pb.GetMetricsResponse(metricValues=[value])

    def _read(self, request: pb.ScaledObjectRef) -> tuple[str, PoolView]:
        return read_trigger(request.scalerMetadata, self._board)

    async def _unless_ending(self, what: Coroutine[Any, Any, PoolView]) -> PoolView | None:
        """What something comes to; None if the server is stopped before."""
        waiting, ending = asyncio.ensure_future(what), asyncio.ensure_future(self._ending.wait())
        try:
            await asyncio.wait((waiting, ending), return_when=asyncio.FIRST_COMPLETED)
            return waiting.result() if waiting.done() and not ending.done() else None
        finally:
            waiting.cancel()
            ending.cancel()


def _reporting(method: Method) -> Method:
    """A method whose failures are told in one line, with the status that says as much."""

    async def reporting(request: Any, context: Context) -> Any:  # noqa: ANN401 - any message
        try:
            return await method(request, context)
        except BadTrigger as error:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
        except Unavailable as error:
            await context.abort(grpc.StatusCode.UNAVAILABLE, str(error))
        except grpc.aio.BaseError:
            # The client has left while it was written to, which is its own affair.
            return None
        except Exception as error:
            LOG.error("a bug in streamops", problem=f"{type(error).__name__}: {error}")  # noqa: TRY400 - for people
            LOG.debug("its traceback", exc_info=True)
            await context.abort(grpc.StatusCode.INTERNAL, BUG)

    return reporting


def _spec(pool: str) -> pb.GetMetricSpecResponse:
    spec = pb.MetricSpec(metricName=metric_name(pool), targetSize=TARGET, targetSizeFloat=TARGET)
    return pb.GetMetricSpecResponse(metricSpecs=[spec])


GRACE_SECONDS: Final = 5.0
"""How long answers under way may take when the server is asked to stop."""

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
        port: At which port; the kernel chooses if it is zero.
        tls: Certificates; none for plain text.
    """

    host: str = "127.0.0.1"
    port: int = 9644
    tls: TlsFiles | None = None


@asynccontextmanager
async def serving(options: GrpcOptions, board: Board) -> AsyncIterator[int]:
    """Serve until the block ends, then end streams and let answers under way finish; gives the port.

    Args:
        options: How to serve.
        board: What is served.

    Raises:
        SettingsError: A certificate cannot be used, or the address cannot be listened at.
    """
    credentials = server_credentials(options.tls) if options.tls else None
    check_address(options)
    server = grpc.aio.server(options=LIMITS, maximum_concurrent_rpcs=MOST_CALLS)
    scaler, health = Scaler(board), health_aio.HealthServicer()
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


def check_address(options: GrpcOptions) -> None:
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
