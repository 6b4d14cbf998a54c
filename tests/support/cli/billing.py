"""The stream ``orders`` whose group ``billing`` holds entries, and command lines about it."""

import pytest

from tests.support.servers import RunningServer

STREAM, GROUP, LETTERS = "orders", "billing", "{orders}:dlq"
SESAME = "sesame"
CLAIM = ("claim", STREAM, GROUP, "--to", "worker-2", "--min-idle", "0", "--yes")
RECLAIM = (
    *("streams", "reclaim", STREAM, GROUP),
    *("--redeliver", "claim", "--to", "worker-2", "--min-idle", "1ms", "--yes"),
)
"""What is long, and a job: entries of ``worker-1`` go to ``worker-2``."""


def deliver_all_to_worker_1(server: RunningServer, count: int) -> None:
    """Add entries, and have ``worker-1`` take all of them."""
    pipe = server.client.pipeline(transaction=False)
    for number in range(1, count + 1):
        pipe.xadd(STREAM, {"n": str(number)}, id=f"{number}-1")
    pipe.execute()
    server.command("XGROUP", "CREATE", STREAM, GROUP, "0")
    server.command("XREADGROUP", "GROUP", GROUP, "worker-1", "COUNT", count, "STREAMS", STREAM, ">")
    server.command("XGROUP", "CREATECONSUMER", STREAM, GROUP, "worker-2")


def fill_stuck(server: RunningServer) -> None:
    """One entry that is stuck, and one that was delivered five times."""
    deliver_all_to_worker_1(server, 2)
    for number, deliveries in ((1, 1), (2, 5)):
        words = ("IDLE", 90_000, "RETRYCOUNT", deliveries, "JUSTID")
        server.command("XCLAIM", STREAM, GROUP, "w", 0, f"{number}-1", *words)


@pytest.fixture
def stocked(server: RunningServer) -> RunningServer:
    """Nine entries given to a group and not acknowledged."""
    deliver_all_to_worker_1(server, 9)
    return server


def owners(server: RunningServer) -> list[str]:
    return [name.decode() for name, _ in server.command("XPENDING", STREAM, GROUP)[3]]


def ack(server: RunningServer, *words: str) -> tuple[str, ...]:
    return ("ack", STREAM, GROUP, "--ids", "1-1,2-1", "--url", server.unix_url, *words)


@pytest.fixture
def secret_url(server: RunningServer) -> str:
    """The server's address with a password, which any user without one takes."""
    return server.url.replace("://", f"://default:{SESAME}@", 1)
