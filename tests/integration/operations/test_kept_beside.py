"""Rows that scripts keep beside a stream: nothing of them is left once the audit log has them."""

from tests.support.operations.claim import add_pending_for, claim
from tests.support.operations.doing import done, open_console
from tests.support.servers import RunningServer


async def test_what_is_on_record_is_not_kept_beside_the_stream_any_more(server: RunningServer) -> None:
    add_pending_for(server, a=3)
    async with await open_console(server) as console:
        assert (await done(console, claim())).applied == 3
    assert server.command("KEYS", "*:undo:*") == []
