"""A server that cannot be reached, or turns us away, is told of in one line, in time and without secrets."""

import pytest
from msgspec.structs import replace

from streamops.errors import Refused, UnexpectedReply
from tests.support.servers import RunningServer
from tests.support.wire.refusals import refusal, with_password

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


@pytest.mark.parametrize("user", [None, "operator"])
async def test_wrong_password(server: RunningServer, user: str | None) -> None:
    server.command("ACL", "SETUSER", "operator", "on", ">the-right-one", "~*", "+@all")
    server.command("ACL", "SETUSER", "default", "resetpass", ">the-right-one")
    try:
        for options in (server.options, server.tcp_options):
            error = await refusal(with_password(options, user))
            assert isinstance(error, Refused)
            assert "refused the password of" in error.message
            assert (user or "the default user") in error.message
    finally:
        # This connection was there before the password, and so needs none.
        server.command("ACL", "SETUSER", "default", "nopass")


async def test_database_that_does_not_exist(server: RunningServer) -> None:
    error = await refusal(replace(server.options, database=4711))
    assert isinstance(error, UnexpectedReply)
    assert "DB index" in error.message
    assert "database" in error.hint
