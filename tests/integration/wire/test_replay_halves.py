"""The script that moves letters does nothing by halves: an entry is handed on and its letter taken out, or neither."""

import pytest

from streamops.errors import Refused, ServerError
from tests.support.servers import RunningServer, StartServer
from tests.support.wire.fixtures import SetUser
from tests.support.wire.replay_halves import DEAD_LETTER, QUEUE, STREAM, begin, move

LAST_ID = "18446744073709551615-18446744073709551615"


async def test_a_letter_is_not_taken_out_where_its_entry_cannot_be_added(server: RunningServer) -> None:
    """The stream has given out its very last ID."""
    begin(server)
    server.command("XADD", STREAM, LAST_ID, "f", "v")
    moved = await move(server.options)
    assert moved.moved == 0
    assert [failed for failed, _ in moved.failed] == [str(DEAD_LETTER)]
    assert server.command("XLEN", QUEUE) == 1


async def test_without_memory_no_letter_is_touched(start_server: StartServer) -> None:
    running = start_server()
    begin(running)
    running.command("CONFIG", "SET", "maxmemory", "65536")
    with pytest.raises(ServerError, match="out of memory"):
        await move(running.options)
    assert (running.command("XLEN", QUEUE), running.command("XLEN", STREAM)) == (1, 0)


async def test_an_entry_is_not_added_where_its_letter_may_not_be_taken_out(
    server: RunningServer, as_user: SetUser
) -> None:
    begin(server)
    with pytest.raises(Refused):
        await move(as_user("~*", "&*", "+@all", "-xdel"))
    assert (server.command("XLEN", QUEUE), server.command("XLEN", STREAM)) == (1, 0)
