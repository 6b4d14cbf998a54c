"""Keys of every kind that asking for permissions leaves as they are."""

from typing import Any

from streamops.wire.permissions import KNOWN
from tests.support.servers import RunningServer

# No server here has these.
COMMANDS = tuple(command for command in KNOWN if command != "XDELEX")


KEYS = ("stream", "hash", "zset", "string", "none")


def add_a_key_of_each_type(server: RunningServer) -> dict[str, Any]:
    server.command("XADD", "stream", "1-0", "f", "v")
    server.command("XGROUP", "CREATE", "stream", "g", "0")
    server.command("XREADGROUP", "GROUP", "g", "c", "STREAMS", "stream", ">")
    server.command("HSET", "hash", "f", "v", "", "empty")
    server.command("ZADD", "zset", 1, "m", 2, "")
    server.command("SET", "string", "v", "EX", 1_000)
    return state(server)


def state(server: RunningServer) -> dict[str, Any]:
    return {key: (server.command("DUMP", key), server.command("TTL", key) > 0) for key in KEYS}
