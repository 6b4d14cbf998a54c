"""Heartbeats of workers, as they write them."""

from tests.support.servers import RunningServer

HEART = {
    "v": "1", "host": "web-3", "pid": "4711", "app": "shop:app", "pool": "billing",
    "consumers": '[["orders","billing","so-1"]]', "slots": "8", "busy": "3", "state": "running", "beat_ms": "5",
}  # fmt: skip


def beat(server: RunningServer, name: str, **changes: str) -> None:
    fields = HEART | changes
    server.command("HSET", f"streamops:worker:{name}", *(part for pair in fields.items() for part in pair))
