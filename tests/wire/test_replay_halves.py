"""The script that moves letters does nothing by halves: an entry is handed on and its letter taken out, or neither."""

from streamops.model.ids import EntryId
from streamops.wire.faults import Fault, FaultKind
from streamops.wire.options import ConnectionOptions
from streamops.wire.server import Server
from streamops.wire.writes.replay import Moved, move_letters
from streamops.wire.writes.replay_words import Letters, Replayer, Told, Way
from tests.servers import RunningServer, StartServer
from tests.wire.conftest import SetUser

QUEUE, STREAM = "{orders}:dlq", "orders"
LETTER = EntryId(7, 7)
LAST_ID = "18446744073709551615-18446744073709551615"
REPLAYER = Replayer(
    queue=QUEUE,
    mode="republish",
    source=STREAM,
    anywhere=True,
    ways=(Way("", "", STREAM, STREAM, ""),),
    told=(Told(STREAM, ("g",)),),
    edits=(),
)


def begin(server: RunningServer) -> None:
    """A letter, and the stream that it goes back to, which has a group and no entry."""
    server.command("XADD", QUEUE, str(LETTER), "n", "1")
    server.command("XGROUP", "CREATE", STREAM, "g", "0", "MKSTREAM")


async def move(options: ConnectionOptions) -> Moved | Fault:
    connection = await Server.connect(options)
    try:
        return await move_letters(connection, REPLAYER, Letters(after=EntryId(0, 0), last=LETTER))
    finally:
        await connection.close()


async def test_an_entry_is_not_added_where_its_letter_may_not_be_taken_out(
    server: RunningServer, as_user: SetUser
) -> None:
    begin(server)
    moved = await move(as_user("~*", "&*", "+@all", "-xdel"))
    assert isinstance(moved, Fault)
    assert moved.kind is FaultKind.DENIED
    assert (server.command("XLEN", QUEUE), server.command("XLEN", STREAM)) == (1, 0)


async def test_a_letter_is_not_taken_out_where_its_entry_cannot_be_added(any_server: RunningServer) -> None:
    """The stream has given out its very last ID."""
    begin(any_server)
    any_server.command("XADD", STREAM, LAST_ID, "f", "v")
    moved = await move(any_server.options)
    assert isinstance(moved, Moved)
    assert moved.moved == 0
    assert [failed for failed, _ in moved.failed] == [str(LETTER)]
    assert any_server.command("XLEN", QUEUE) == 1


async def test_without_memory_no_letter_is_touched(start_server: StartServer) -> None:
    running = start_server()
    begin(running)
    running.command("CONFIG", "SET", "maxmemory", "65536")
    moved = await move(running.options)
    assert isinstance(moved, Fault)
    assert moved.kind is FaultKind.MEMORY
    assert (running.command("XLEN", QUEUE), running.command("XLEN", STREAM)) == (1, 0)
