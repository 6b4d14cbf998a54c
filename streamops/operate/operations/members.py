"""The consumers of a group, for operations that are about them."""

from streamops.errors import NotFound
from streamops.model.streams import Consumer
from streamops.wire.faults import Fault
from streamops.wire.reads import read_consumers
from streamops.wire.server import Server


async def read_members(
    server: Server, stream: str, group: str, needed: str | None = None
) -> tuple[Consumer, ...]:
    """A group's consumers; raises ``NotFound`` where the one that is needed is not among them."""
    consumers = (await read_consumers(server, [(stream, group)]))[0]
    if isinstance(consumers, Fault):
        raise consumers.error(f"group {stream}/{group}")
    names = [one.name for one in consumers]
    if needed is not None and needed not in names:
        raise NotFound(
            f"group {stream}/{group} has no consumer {needed}",
            f"Its consumers: {', '.join(names) or 'none'}.",
        )
    return consumers.consumers
