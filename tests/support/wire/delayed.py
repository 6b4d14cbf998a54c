"""The delayed queue of a stream."""

from datetime import timedelta

from streamops.model.delayed import DelayedBody, DelayedMessage
from streamops.wire.delayed import read_messages
from streamops.wire.server import Server

QUEUE, BODIES = "{orders}:delayed", "{orders}:delayed:jobs"
ORDER = DelayedBody("orders", ((b"tag", b"a"), (b"tag", b"b\xff"), (b"", b"")))


HOUR = timedelta(hours=1)


async def messages_of(server: Server, *ids: str) -> list[DelayedMessage]:
    return [message async for page in read_messages(server, QUEUE, ids) for message in page]
