"""Which queues of delayed messages there are: beside streams, by their configured names, and left over from others."""

from typing import Final

from msgspec.structs import replace

from streamops.errors import ServerError
from streamops.model.snapshot import Gap
from streamops.operate.delayed import DelayedQueues, DelayedReader
from streamops.operate.discover import Discovery

SHARE: Final = 0.5
"""Share of the time that looking for queues may keep a node busy."""


async def find_queues(discovery: Discovery, reader: DelayedReader) -> DelayedQueues:
    """The queues that hold anything.

    Streams are looked for first, and then sorted sets by their names: a queue outlives its stream. Where all streams
    that are wanted have been named, nothing is looked for.

    Raises:
        ServerError: The keyspace cannot be scanned for streams, or no queue can be read.
    """
    await discovery.scan()
    gaps: tuple[Gap, ...] = ()
    if discovery.is_open:
        try:
            await discovery.find_queues(share=SHARE)
        except ServerError as error:
            gaps = (Gap(error.message, part="discovery"),)
    found = await reader.queues((*discovery.names, *sorted(discovery.queues)))
    complete = discovery.is_open and discovery.complete and not gaps
    return replace(found, gaps=(*gaps, *found.gaps), complete=complete)
