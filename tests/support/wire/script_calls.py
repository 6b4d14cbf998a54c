"""Scripts to call."""

from streamops.wire.script_calls import Call
from tests.support.servers import RunningServer


def counting(key: str) -> Call[tuple[str, int]]:
    return Call(key, ("0-0", "+", 10, 1000, 10), lambda reply: ("counted", reply[0]))


def read_only(server: RunningServer) -> bool:
    return server.label != "redis-6.2"
