"""A safe trim loses nothing that a group needs, in any history, on every server; and its script cannot be changed unnoticed."""

import asyncio
import os

import pytest

from streamops.errors import ServerError
from streamops.operate.operations import trim
from streamops.wire.scripts import Script, load_script
from tests.operate.trim_truth import NODE_ENTRIES, play
from tests.programs import ServerProgram
from tests.servers import RunningServer, StartServer

# Random histories: the lines they run are run by other tests too, and measuring them doubles what they cost.
pytestmark = pytest.mark.no_cover

HISTORIES = int(os.environ.get("STREAMOPS_HISTORIES", "20"))
MOST_HISTORIES = 400
"""A changed script has to be caught within so many."""

MUTATIONS = {
    "the threshold itself goes too": (
        "if not less(entries[at][1], cut)",
        "if less(cut, entries[at][1])",
    ),
    "the position is off by one": (
        "local needed = row[at_position]",
        "local needed = string.gsub(row[at_position], '%d+$', function(seq) return seq + 1 end)",
    ),
    "the next entry is given up": (
        "local needed = row[at_position]",
        """local needed = row[at_position]
        local after = redis.call('XRANGE', key, '(' .. needed, '+', 'COUNT', 2)[2]
        if after then needed = after[1] end""",
    ),
    "what is pending does not matter": ("if row[at_pending] > 0 then", "if false then"),
    "one group is forgotten": (
        "local cut, holder",
        "local cut, holder if #rows > 1 then rows[#rows] = nil end",
    ),
    "the group that needs least decides": ("less(needed, cut)", "less(cut, needed)"),
    "the asked ID does not matter": ("if bound == 'minid' and", "if false and"),
    "the asked length does not matter": ("if bound == 'maxlen' then", "if false then"),
    "exact where it should be approximate": ("'~', cut, 'LIMIT', most", "'=', cut"),
    "slices without a limit": ("'LIMIT', most", "'LIMIT', 0"),
    "one entry too many": ("redis.call('XLEN', key) - below", "redis.call('XLEN', key) - below - 1"),
    "IDs compared as plain text": ("if #a ~= #b then return #a < #b end", ""),
    "IDs compared as numbers": ("return a < b", "return tonumber(a) < tonumber(b)"),
}


@pytest.fixture(autouse=True)
def _small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many slices, so that others come between."""
    monkeypatch.setattr(trim, "SMALLEST", NODE_ENTRIES + 1)
    monkeypatch.setattr(trim, "FIRST", 12)
    monkeypatch.setattr(trim, "LARGEST", 24)


@pytest.fixture
def short_nodes(start_server: StartServer) -> RunningServer:
    return start_server("--stream-node-max-entries", str(NODE_ENTRIES))


@pytest.mark.timeout(900)
def test_nothing_that_is_needed_is_lost(program: ServerProgram, start_server: StartServer) -> None:
    running = start_server("--stream-node-max-entries", str(NODE_ENTRIES), program=program)
    removed = sum(asyncio.run(play(running, seed)) for seed in range(HISTORIES))
    assert removed > HISTORIES, "the histories trimmed next to nothing"


@pytest.mark.parametrize("change", MUTATIONS.values(), ids=MUTATIONS)
def test_a_changed_script_is_caught(
    change: tuple[str, str], short_nodes: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = change
    script = load_script("trim")
    assert script.source.count(before) == 1
    changed = Script(script.source.replace(before, after), "")

    def load(name: str) -> Script:
        return changed if name == "trim" else load_script(name)

    monkeypatch.setattr("streamops.wire.script_calls.load_script", load)
    assert any(_is_caught(short_nodes, seed) for seed in range(MOST_HISTORIES))


def _is_caught(running: RunningServer, seed: int) -> bool:
    try:
        asyncio.run(play(running, seed))
    except AssertionError:
        return True
    except ServerError:
        return False
    return False
