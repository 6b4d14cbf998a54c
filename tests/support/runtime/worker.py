"""An application with short times, and entries for it."""

from streamops.runtime import Streamops
from tests.support.servers import RunningServer
from tests.support.streams import pending_rows


def add_fields(server: RunningServer, stream: str = "s", **fields: str | bytes) -> str:
    return str(
        server.command("XADD", stream, "*", *(part for pair in fields.items() for part in pair)).decode()
    )


def letters(server: RunningServer, stream: str = "s") -> list[dict[str, str]]:
    rows = server.command("XRANGE", f"{{{stream}}}:dlq", "-", "+")
    return [{n.decode(): v.decode() for n, v in zip(raw[::2], raw[1::2], strict=True)} for _, raw in rows]


def app_on(server: RunningServer) -> Streamops:
    return Streamops(server.options)


def add_order(server: RunningServer, *parts: str, stream: str = "s") -> str:
    return str(server.command("XADD", stream, "*", "order", "7", *parts).decode())


def only_idle_ms(server: RunningServer) -> int:
    """How long the one pending entry has been idle."""
    ((_, _, idle, _),) = pending_rows(server, "s", "g")
    return idle
