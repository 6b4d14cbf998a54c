"""What ``doctor --acl runtime`` prints is enough for a worker that does everything; with less it does not begin."""

import pytest

from tests.support.runtime.everything import WORDS, fill, play
from tests.support.runtime.permissions import OPTIONAL, Users
from tests.support.servers import RunningServer


@pytest.mark.parametrize("command", sorted(OPTIONAL - {"exec", "multi"}))
async def test_what_is_optional_may_be_missing(server: RunningServer, command: str) -> None:
    fill(server)
    assert set(await play(server, Users(server).without(command))) == {*WORDS, "after"}
