"""Shared by the tests of flow."""

from tests.support.servers import RunningServer


def fill(server: RunningServer, count: int) -> None:
    pipe = server.client.pipeline(transaction=False)
    for number in range(1, count + 1):
        pipe.xadd("orders", {"n": str(number)}, id=f"{number}-1")
    pipe.execute()
    server.command("XGROUP", "CREATE", "orders", "billing", "0")
    server.command("XREADGROUP", "GROUP", "billing", "worker-1", "COUNT", count, "STREAMS", "orders", ">")


def pending(server: RunningServer) -> int:
    return int(server.command("XPENDING", "orders", "billing")[0])


def ack(server: RunningServer, *words: str) -> tuple[str, ...]:
    return ("ack", "orders", "billing", "--ids", "1-1,2-1", "--url", server.unix_url, *words)
