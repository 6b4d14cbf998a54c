"""Dead letters for tests, and what became of them."""

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from streamops.model.acting import Confirmation, Outcome
from streamops.operations.console import Console
from tests.support.deployments import RunningCluster
from tests.support.servers import RunningServer
from tests.support.streams import entries_of

QUEUE = "{orders}:dlq"
STREAM = "orders"
GROUP = "billing"
Fields = Iterable[tuple[bytes | str, bytes | str]]


def flat(fields: Fields) -> list[bytes | str]:
    return [part for pair in fields for part in pair]


def add_pairs(server: RunningServer, stream: str, fields: Fields, entry_id: str = "*") -> str:
    return str(server.command("XADD", stream, entry_id, *flat(fields)).decode())


def add_letter(
    server: RunningServer,
    own: Fields,
    *,
    queue: str = QUEUE,
    entry_id: str = "*",
    **about: str,
) -> str:
    """A letter as streamops writes them."""
    return add_pairs(server, queue, [*own, *_reserved(**about)], entry_id)


def add_letters(server: RunningServer, numbers: Iterable[int]) -> None:
    """Letters of such numbers."""
    server.commands(("XADD", QUEUE, "*", *flat([("n", str(number)), *_reserved()])) for number in numbers)


def _reserved(**about: str) -> Fields:
    """What streamops adds to an entry in its letter."""
    told = {"origin": STREAM, "group": GROUP, "reason": "max-deliveries", "deliveries": "5"} | about
    return [(f"_so_{name}", value) for name, value in told.items() if value]


def payloads(server: RunningServer, stream: str) -> list[list[bytes]]:
    """The fields of a stream's entries up to what replaying added."""
    return [own_fields(fields) for _, fields in entries_of(server, stream)]


def own_fields(fields: list[bytes]) -> list[bytes]:
    pairs = list(zip(fields[::2], fields[1::2], strict=True))
    return [part for name, value in pairs if not name.startswith(b"_so_") for part in (name, value)]


def make_group(server: RunningServer, stream: str = STREAM, group: str = GROUP, position: str = "$") -> None:
    server.command("XGROUP", "CREATE", stream, group, position, "MKSTREAM")


async def do(console: Console, intent: Struct, **apply: Any) -> Outcome:
    """Plan and apply, agreed to."""
    prepared = await console.prepare(intent)
    return await console.apply(prepared, Confirmation(yes=True, typed=prepared.plan.confirm), **apply)


def node_of(place: RunningServer | RunningCluster, key: str) -> RunningServer:
    return place.node_of(key) if isinstance(place, RunningCluster) else place
