"""A dead letter, and moving it back."""

from streamops.model.entries import EntryId
from streamops.wire.options import ConnectionOptions
from streamops.wire.server import Server
from streamops.wire.writes.replay import (
    DeadLetterBatch,
    Replayer,
    ReplayReply,
    ScriptRoute,
    TargetGroups,
    move_dead_letters,
)
from tests.support.servers import RunningServer

QUEUE, STREAM = "{orders}:dlq", "orders"
DEAD_LETTER = EntryId(7, 7)
REPLAYER = Replayer(
    queue=QUEUE,
    mode="republish",
    source=STREAM,
    anywhere=True,
    ways=(ScriptRoute("", "", STREAM, STREAM, ""),),
    told=(TargetGroups(STREAM, ("g",)),),
    edits=(),
)


def begin(server: RunningServer) -> None:
    """A letter, and the stream that it goes back to, which has a group and no entry."""
    server.command("XADD", QUEUE, str(DEAD_LETTER), "n", "1")
    server.command("XGROUP", "CREATE", STREAM, "g", "0", "MKSTREAM")


async def move(options: ConnectionOptions) -> ReplayReply:
    connection = await Server.connect(options)
    try:
        return await move_dead_letters(
            connection, REPLAYER, DeadLetterBatch(after=EntryId(0, 0), last=DEAD_LETTER)
        )
    finally:
        await connection.close()
