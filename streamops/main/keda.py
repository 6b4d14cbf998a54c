"""``streamops autoscale keda``. The command line and the autoscaler do not know each other; this does."""

import asyncio
import signal
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from streamops.cli.options import command
from streamops.cli.params import FILE
from streamops.cli.session import Session
from streamops.errors import ExitCode, SettingsError
from streamops.main.controllers import (
    LEAN,
    ControllerFlags,
    options_of,
    require_writes,
    run,
    work_until,
)
from streamops.model.fields import option
from streamops.service.addresses import is_loopback, parse_listen

if TYPE_CHECKING:
    from streamops.autoscaling.controller import RoundReport
    from streamops.autoscaling.decisions import ControllerOptions
    from streamops.autoscaling.keda.http import HttpOptions
    from streamops.autoscaling.keda.server import GrpcOptions


@command(
    examples=[
        ("streamops autoscale keda", "gRPC at 127.0.0.1:9644, an external scaler for every pool"),
        (
            "streamops autoscale keda --listen 0.0.0.0:9644 --tls-cert tls.crt --tls-key tls.key",
            "with TLS, in a cluster",
        ),
        ("streamops autoscale keda --http 0.0.0.0:9643", "and the same numbers for KEDA's metrics-api"),
    ],
    exits={0: "stopped by a signal", 2: "usage or configuration; the address is taken"},
)
def keda(
    session: Session,
    *,
    flags: ControllerFlags,
    listen: Annotated[str, option("Serve gRPC here.", metavar="HOST:PORT")] = "127.0.0.1:9644",
    tls_cert: Annotated[
        Path | None, FILE, option("PEM file of the server's certificate.", metavar="FILE")
    ] = None,
    tls_key: Annotated[
        Path | None, FILE, option("PEM file of the server's private key.", metavar="FILE")
    ] = None,
    tls_client_ca: Annotated[
        Path | None, FILE, option("PEM file of the CA that signs client certificates.", metavar="FILE")
    ] = None,
    http: Annotated[str | None, option("Serve the same numbers as JSON here.", metavar="HOST:PORT")] = None,
    web_config: Annotated[
        Path | None,
        FILE,
        option(
            "TLS and passwords of --http, in the format of Prometheus's exporter-toolkit.", metavar="FILE"
        ),
    ] = None,
) -> int:
    """Decide the worker count of each pool and serve it to KEDA, which scales.

    A ScaledObject names a pool in its trigger's metadata; its target value is 1. While the lag is unknown or
    Redis is unreachable, the last count is served; before the first one the answer is UNAVAILABLE, and KEDA
    changes nothing. docs/keda.md has manifests.
    """
    _require_grpc()
    from streamops.autoscaling.keda.http import HttpOptions  # noqa: PLC0415
    from streamops.autoscaling.keda.server import (  # noqa: PLC0415 - as above
        GrpcOptions,
        TlsFiles,
    )

    require_writes(session)
    if (tls_cert is None) != (tls_key is None) or (tls_client_ca is not None and tls_cert is None):
        raise SettingsError("--tls-cert and --tls-key go together", "Give both; --tls-client-ca is optional.")
    if web_config is not None and http is None:
        raise SettingsError("--web-config is for --http", "Give --http HOST:PORT too.")
    tls = None
    if tls_cert is not None and tls_key is not None:
        tls = TlsFiles(certificate=tls_cert, key=tls_key, client_authorities=tls_client_ca)
    host, port = _address("--listen", listen)
    grpc_options = GrpcOptions(host=host, port=port, tls=tls)
    http_options = None
    if http is not None:
        http_host, http_port = _address("--http", http)
        http_options = HttpOptions(host=http_host, port=http_port, web_config=web_config)
    options = options_of(session, flags, advise=False)
    session.configure_logs(flags.log_format)
    if tls is None and not is_loopback(host):
        session.narrator.note(
            f"warning: anyone who reaches {host}:{port} can ask: give --tls-cert and --tls-client-ca"
        )
    run(_serve_keda(session, options, grpc_options, http_options))
    return ExitCode.DONE


async def _serve_keda(
    session: Session,
    options: "ControllerOptions",
    grpc_options: "GrpcOptions",
    http_options: "HttpOptions | None",
) -> None:
    from streamops.autoscaling.controller import Controller  # noqa: PLC0415
    from streamops.autoscaling.keda import http, server  # noqa: PLC0415
    from streamops.autoscaling.keda.answers import Board, ExternalScalerValue, GroupRead  # noqa: PLC0415
    from streamops.operations.console import Console  # noqa: PLC0415
    from streamops.service.signals import stopped_by_signals  # noqa: PLC0415
    from streamops.settings.load import actor_of  # noqa: PLC0415

    settings = session.settings
    board = Board({one.pool: GroupRead(one.stream, one.group) for one in options.assignments})

    def post(report: "RoundReport") -> None:
        board.post_round(report.newest)

    console = Console.patient(
        settings.connection, settings.tables.health, watch=LEAN, actor=actor_of(settings)
    )
    async with console, AsyncExitStack() as stack:
        for one in options.assignments:
            console.place.targets.use(one.pool, ExternalScalerValue(console.pools, one))
        port = await stack.enter_async_context(server.serving(grpc_options, board))
        session.narrator.note(f"KEDA's external scaler at {grpc_options.host}:{port}")
        if http_options is not None:
            port = await stack.enter_async_context(http.serving(http_options, board))
            session.narrator.note(f"the same as JSON at http://{http_options.host}:{port}/pools/NAME")
        with suppress(asyncio.CancelledError), stopped_by_signals(signal.SIGTERM, signal.SIGINT) as stop:
            await work_until(stop, Controller(console, options, post).run())


def _require_grpc() -> None:
    """What speaks gRPC comes with an extra; raises ``SettingsError`` where that is not installed."""
    try:
        import grpc  # noqa: F401, PLC0415
        import grpc_health.v1  # noqa: F401, PLC0415
    except ImportError:
        raise SettingsError(
            "KEDA's external scaler takes grpcio", "Install it: pip install 'streamops[keda]'"
        ) from None


def _address(flag: str, text: str) -> tuple[str, int]:
    try:
        return parse_listen(text)
    except SettingsError:
        raise SettingsError(
            f"{flag}: not HOST:PORT", "Write 127.0.0.1:9644, 0.0.0.0:9644 or [::1]:9644."
        ) from None
