"""A script reaches every key, whatever its server has seen of it before."""

from streamops.wire.script_calls import run_script
from streamops.wire.server import Server
from tests.support.servers import RunningServer
from tests.support.wire.fixtures import SetUser
from tests.support.wire.script_calls import counting, read_only


async def test_first_key_is_denied(server: RunningServer, as_user: SetUser) -> None:
    """The call that brings the source is refused before the server has looked at it."""
    server.command("SCRIPT", "FLUSH")
    server.command("XADD", "mine", "*", "f", "v")
    connection = await Server.connect(as_user("~mine", "+@all"))
    calls = [counting(key) for key in ("denied", "mine", "mine")]
    replies = (await run_script(connection, "count_range", calls, read_only=read_only(server))).replies
    await connection.close()
    assert isinstance(replies[0], Exception)
    assert replies[1:] == [("counted", 1)] * 2
