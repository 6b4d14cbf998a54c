"""Shared by the tests of lines to go on."""

from tests.support.servers import RunningServer

SESAME = "sesame"


def fill(server: RunningServer, count: int) -> None:
    pipe = server.client.pipeline(transaction=False)
    for number in range(1, count + 1):
        pipe.xadd("orders", {"n": str(number)}, id=f"{number}-1")
    pipe.execute()
    server.command("XGROUP", "CREATE", "orders", "billing", "0")
    server.command("XREADGROUP", "GROUP", "billing", "worker-1", "COUNT", count, "STREAMS", "orders", ">")


def owners(server: RunningServer) -> list[str]:
    return [name.decode() for name, _ in server.command("XPENDING", "orders", "billing")[3]]


CLAIM = ("claim", "orders", "billing", "--to", "worker-2", "--min-idle", "0", "--yes")
