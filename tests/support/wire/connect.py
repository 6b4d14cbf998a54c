"""TLS options and markers, to see who connected where."""

from streamops.model.entries import LAST_ID, ZERO_ID
from streamops.wire.options import ConnectionOptions, Tls
from streamops.wire.reads import read_page
from streamops.wire.server import Server
from tests.support.servers import RunningServer


async def read_marker(options: ConnectionOptions) -> bytes:
    """The value of the one entry of the stream ``marker``, read as the console reads entries."""
    server = await Server.connect(options)
    try:
        page = await read_page(server, "marker", ZERO_ID, LAST_ID, 10)
    finally:
        await server.close()
    return page[0].fields[0][1]


def mark(server: RunningServer, value: str = "here") -> None:
    server.command("XADD", "marker", "*", "is", value)


def tls_options(server: RunningServer, tls: Tls | None, host: str = "127.0.0.1") -> ConnectionOptions:
    return ConnectionOptions(addresses=((host, server.port),), tls=tls, label=f"rediss://{host}/0")
