"""What earlier versions wrote, put back into a server key by key."""

from base64 import b64decode
from pathlib import Path

import msgspec
from msgspec import Struct

from tests.support.servers import RunningServer

WRITTEN = Path(__file__).parent / "written"
VERSIONS = tuple(sorted(path.stem for path in WRITTEN.glob("*.jsonl")))


class Key(Struct, frozen=True):
    """One key as ``record.py`` wrote it down."""

    key: str
    type: str
    dump: str


def keys_of(version: str) -> list[Key]:
    """The keys that a version left behind."""
    lines = (WRITTEN / f"{version}.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Key) for line in lines]


def restore(server: RunningServer, version: str) -> set[str]:
    """Put all of them into a server; their names."""
    keys = keys_of(version)
    for one in keys:
        server.command("RESTORE", one.key, 0, b64decode(one.dump))
    return {one.key for one in keys}
