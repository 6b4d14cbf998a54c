"""Streams with a group that was given some of their entries."""

from tests.support.servers import RunningServer


def add_stream(server: RunningServer, name: str, *, entries: int = 4, read: int = 0, size: int = 10) -> None:
    """A stream with one group that was given its first ``read`` entries, and acknowledged none."""
    words: list[tuple[str | int, ...]] = [("XADD", name, "*", "f", "x" * size)] * entries
    words.append(("XGROUP", "CREATE", name, "billing", "0"))
    if read:
        words.append(("XREADGROUP", "GROUP", "billing", "worker", "COUNT", read, "STREAMS", name, ">"))
    server.commands(words)
