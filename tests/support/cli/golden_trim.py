"""Streams to trim, on a server of production."""

import pytest

from tests.support.cli.running import Place
from tests.support.servers import RunningServer

CONFIG = """
default_context = "local"
[contexts.local]
url = "{url}"
environment = "production"
"""


@pytest.fixture
def shop(server: RunningServer, place: Place) -> RunningServer:
    """Forty entries of which ``billing`` holds one and ``audit`` has ten to read; other streams beside them."""
    place.configure(CONFIG.format(url=server.url))
    for number in range(1, 41):
        server.command("XADD", "orders", f"{number}-0", "n", number)
    for group, count in (("billing", 35), ("audit", 30)):
        server.command("XGROUP", "CREATE", "orders", group, "0")
        words = ("GROUP", group, "worker-3", "COUNT", count, "STREAMS", "orders", ">")
        server.command("XREADGROUP", *words)
    server.command("XACK", "orders", "billing", *(f"{n}-0" for n in range(1, 36) if n != 24))
    server.command("XACK", "orders", "audit", *(f"{n}-0" for n in range(1, 31)))
    server.command("XADD", "drained", "1-0", "n", 1)
    server.command("XGROUP", "CREATE", "drained", "g", "$")
    server.command("XADD", "lonely", "1-0", "n", 1)
    server.command("SET", "text", "x")
    return server
