"""Rows that scripts keep beside a stream: nothing of them is left once the audit log has them."""

from tests.operate.operations.doing import done, open_console
from tests.operate.operations.test_claim import claim, fill
from tests.servers import RunningServer


async def test_what_is_on_record_is_not_kept_beside_the_stream_any_more(any_server: RunningServer) -> None:
    fill(any_server, a=3)
    async with await open_console(any_server) as console:
        assert (await done(console, claim())).applied == 3
    assert any_server.command("KEYS", "*:undo:*") == []
