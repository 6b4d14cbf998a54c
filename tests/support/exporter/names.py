"""Streams, groups and consumers of awkward names."""

from tests.support.servers import RunningServer

NAMES = (
    b'quo"ted',
    b"new\nline",
    b"back\\slash",
    b"back\\nslash",
    b"not \xff\xfe UTF-8",
    b"{braces},comma=x",
    "été \u2028".encode(),
    b" ",
    b"# HELP",
)


def add_a_stream_of_every_name(server: RunningServer) -> None:
    """A stream of every name, with a group, a consumer, dead letters and delayed messages."""
    for name in NAMES:
        server.client.xadd(name, {"a": "1"})
        server.client.xgroup_create(name, name, id="0")
        server.command("XREADGROUP", "GROUP", name, name, "STREAMS", name, ">")
        server.client.xadd(b"{%s}:dlq" % name, {"a": "1"})
        server.client.zadd(b"{%s}:delayed" % name, {"id": 1})
