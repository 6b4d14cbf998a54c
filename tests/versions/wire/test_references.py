"""Deleting entries together with their pending rows, as Redis 8.2 can.

No server that can was there to be tried. What the scripts send is tested by the words alone, and by running them
with XDELEX and XTRIM's DELREF made of older commands inside the script, as Redis's documentation describes them.
"""

from typing import Any

import pytest

from streamops.model.ids import EntryId
from streamops.wire.faults import Fault
from streamops.wire.node import Argument
from streamops.wire.scripts import load_script
from streamops.wire.server import Server
from streamops.wire.writes.delete import delete, delete_words, has_xdelex
from streamops.wire.writes.trim import Floor, How, floor_words, trim_to
from tests.support.servers import RunningServer
from tests.support.wire.references import IDS, POSITIONS

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


KEY = "orders"
AS_DOCUMENTED = """
local server = redis
local redis = setmetatable({}, {__index = server})
local function without_references(key, id)
  for _, group in ipairs(server.call('XINFO', 'GROUPS', key)) do server.call('XACK', key, group[2], id) end
end
function redis.call(command, key, ...)
  local words = {...}
  if command == 'XDELEX' then
    if words[1] ~= 'DELREF' or words[2] ~= 'IDS' or words[3] ~= 1 or #words ~= 4 then error('syntax error') end
    without_references(key, words[4])
    return {server.call('XDEL', key, words[4]) == 1 and 1 or -1}
  elseif command == 'XTRIM' then
    if words[#words] ~= 'DELREF' then error('syntax error') end
    words[#words] = nil
    local before = server.call('XRANGE', key, '-', '+')
    local removed = server.call('XTRIM', key, unpack(words))
    for at = 1, removed do without_references(key, before[at][1]) end
    return removed
  end
  return server.call(command, key, ...)
end
"""


def fill(server: RunningServer) -> None:
    for number in range(1, 7):
        server.command("XADD", KEY, f"{number}-0", "n", number)
    for group, many in (("billing", 4), ("mail", 6)):
        server.command("XGROUP", "CREATE", KEY, group, "0")
        server.command("XREADGROUP", "GROUP", group, "w", "COUNT", many, "STREAMS", KEY, ">")


def pending(server: RunningServer, group: str) -> list[str]:
    return [row[0].decode() for row in server.command("XPENDING", KEY, group, "-", "+", 100)]


def entries(server: RunningServer) -> list[str]:
    return [entry.decode() for entry, _ in server.command("XRANGE", KEY, "-", "+")]


def run(server: RunningServer, script: str, words: tuple[Argument, ...]) -> list[Any]:
    told: list[Any] = server.command("EVAL", AS_DOCUMENTED + load_script(script).source, 1, KEY, *words)
    return told


def test_deleting_takes_the_rows_of_every_group_along(server: RunningServer) -> None:
    fill(server)
    told = run(server, "delete", delete_words(IDS, POSITIONS, references=True))
    assert told == [b"2-0", b"3-0"]
    assert entries(server) == ["1-0", "4-0", "5-0", "6-0"]
    assert pending(server, "billing") == ["1-0", "4-0"]
    assert pending(server, "mail") == ["1-0", "4-0", "5-0", "6-0"]


@pytest.mark.parametrize("exact", [True, False])
def test_so_does_trimming(server: RunningServer, *, exact: bool) -> None:
    server.command("CONFIG", "SET", "stream-node-max-entries", 2)
    try:
        fill(server)
    finally:
        server.command("CONFIG", "SET", "stream-node-max-entries", 100)
    floor = Floor(EntryId(5, 0), 0, POSITIONS)
    removed, length, _, _ = run(server, "trim_to", floor_words(floor, How(100, exact=exact, delref=True)))
    assert (removed, length) == (4, 2)
    assert (pending(server, "billing"), pending(server, "mail")) == ([], ["5-0", "6-0"])


async def test_a_server_that_cannot_is_not_asked_to_and_refuses_untouched(
    server: RunningServer, connected: Server
) -> None:
    if server.label == "redis-8.2":
        pytest.skip("this server has XDELEX")
    fill(server)
    assert not await has_xdelex(connected, KEY)
    refused = await delete(connected, KEY, IDS, positions=POSITIONS, references=True)
    assert isinstance(refused, Fault)
    how = How(100, exact=True, delref=True)
    assert isinstance(await trim_to(connected, KEY, Floor(EntryId(5, 0), 0, POSITIONS), how), Fault)
    assert len(entries(server)) == 6
