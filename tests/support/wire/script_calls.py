"""Scripts to call."""

from streamops.wire.script_calls import Call
from streamops.wire.scripts import load_script
from tests.support.servers import RunningServer


def counting(key: str) -> Call[tuple[str, int]]:
    return Call(key, ("0-0", "+", 10, 1000, 10), lambda reply: ("counted", reply[0]))


def read_only(server: RunningServer) -> bool:
    return server.label != "redis-6.2"


def arguments_of(name: str, request: bytes) -> bytes:
    """What a request gives a script, called by its source or its digest; nothing if it does not call it."""
    script = load_script(name)
    return request.partition(script.source.encode())[2] or request.partition(script.sha.encode())[2]
