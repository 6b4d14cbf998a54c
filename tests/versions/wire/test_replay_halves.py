"""The script that moves letters does nothing by halves: an entry is handed on and its letter taken out, or neither."""

import pytest

from streamops.wire.faults import Fault, FaultKind
from tests.support.servers import RunningServer
from tests.support.wire.fixtures import SetUser
from tests.support.wire.replay_halves import QUEUE, STREAM, begin, move

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


async def test_an_entry_is_not_added_where_its_letter_may_not_be_taken_out(
    server: RunningServer, as_user: SetUser
) -> None:
    begin(server)
    moved = await move(as_user("~*", "&*", "+@all", "-xdel"))
    assert isinstance(moved, Fault)
    assert moved.kind is FaultKind.DENIED
    assert (server.command("XLEN", QUEUE), server.command("XLEN", STREAM)) == (1, 0)
