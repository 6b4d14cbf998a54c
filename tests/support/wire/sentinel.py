"""Sentinels as streamops reaches them."""

from streamops.model.streams import Mode
from streamops.operations.console import Console
from streamops.wire.options import ConnectionOptions
from tests.support.servers import RunningServer


def behind(*ports: int, service: str = "orders") -> ConnectionOptions:
    return ConnectionOptions(
        mode=Mode.SENTINEL,
        addresses=tuple(("127.0.0.1", port) for port in ports),
        sentinel_service=service,
        label=f"redis+sentinel://127.0.0.1:{ports[0]}/{service}",
    )


async def names(options: ConnectionOptions) -> list[str]:
    async with await Console.open(options) as console:
        await console.discover()
        return [stream.name for stream in (await console.collect()).streams]


def has_good_replica(sentinel: RunningServer) -> bool:
    """Whether the Sentinel has heard enough of a replica to promote it."""
    replicas = [
        dict(zip(flat[::2], flat[1::2], strict=True))
        for flat in sentinel.command("SENTINEL", "REPLICAS", "orders")
    ]
    return any(
        replica[b"flags"] == b"slave" and int(replica[b"slave-repl-offset"]) > 0 for replica in replicas
    )
