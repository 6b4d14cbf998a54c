"""What ``doctor --acl runtime`` prints is enough for a worker that does everything; with less it does not begin."""

import pytest

from streamops.errors import ExitCode
from tests.support.runtime.everything import STREAM, WORDS, add_leftovers, play
from tests.support.runtime.permissions import CONNECTION, OPTIONAL, PRODUCERS, Users, refusal
from tests.support.runtime.working import keys
from tests.support.servers import RunningServer


@pytest.mark.parametrize("command", sorted(OPTIONAL - {"exec", "multi"}))
async def test_what_is_optional_may_be_missing(server: RunningServer, command: str) -> None:
    add_leftovers(server)
    assert set(await play(server, Users(server).without(command))) == {*WORDS, "after"}


async def test_whoever_lacks_one_command_is_refused_before_anything_is_consumed(
    server: RunningServer, users: Users
) -> None:
    needed = [one for one in users.commands if one not in OPTIONAL | PRODUCERS | CONNECTION]
    server.command("XADD", STREAM, "*", "n", "1")
    for command in needed:
        error = await refusal(users.without(command))
        assert error.exit_code is ExitCode.REFUSED
        assert "no permission for" in error.message
        assert command.upper().replace("|", " ") in error.message
        assert "\n" not in error.message
        assert keys(server) == {STREAM}, f"without {command}"


async def test_whoever_may_use_no_channel_works_all_the_same(server: RunningServer, users: Users) -> None:
    add_leftovers(server)
    assert set(await play(server, users.limited("resetchannels"))) == {*WORDS, "after"}
