"""Files for tests that restore, and what became of the stream."""

from pathlib import Path
from typing import Any

from streamops.model.entries import EntryId, StreamEntry
from streamops.operations.backups import BackupWriter
from tests.support.servers import RunningServer

STREAM = "orders"


def written(path: Path, count: int, first: int = 1, stream: str = STREAM) -> str:
    """A file of entries ``first``-1 and so on."""
    made = [StreamEntry(EntryId(first + n, 1), ((b"n", b"%d" % (first + n)),)) for n in range(count)]
    with BackupWriter(path) as file:
        file.write(stream, made)
    return str(path)


def content(server: RunningServer, stream: str = STREAM) -> list[list[Any]]:
    told: list[list[Any]] = server.command("XRANGE", stream, "-", "+")
    return told


def values(server: RunningServer, stream: str = STREAM) -> list[int]:
    return [int(fields[1]) for _, fields in content(server, stream)]


def markers(server: RunningServer) -> list[bytes]:
    found: list[bytes] = server.command("KEYS", "*:moved:*")
    return found


GOOD = b'{"stream":"orders","id":"1-1","fields":[["a","b"]]}'
