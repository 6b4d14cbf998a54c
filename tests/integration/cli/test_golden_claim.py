"""Exit codes and JSON of claiming, giving back and undoing, on a real server.

``STREAMOPS_WRITE_GOLDEN=1`` writes the transcripts anew; read the difference before it is committed.
"""

import io
from pathlib import Path

import pytest

from tests.support.cli.golden import MASKS, compare, told
from tests.support.cli.running import Cli, Place
from tests.support.servers import RunningServer
from tests.support.streams import pending_owners

GOLDEN = Path(__file__).with_name("golden_claim")
CONFIG = 'default_context = "local"\n[contexts.local]\nurl = "{url}"\nenvironment = "production"\n'
CLAIM = ["claim", "orders", "billing"]
NACK = ["nack", "orders", "billing"]

CLAIMING = [
    [*CLAIM, "--to", "worker-2", "--dry-run", "-o", "json"],
    [*CLAIM, "--to", "rescue", "--from", "worker-1", "--min-idle", "0", "--dry-run", "-o", "json"],
    [*CLAIM, "--to", "rescue", "--ids", "1-1,2-1,9-1", "--dry-run", "-o", "json"],
    [*CLAIM, "--to", "rescue", "--count", "1", "--dry-run", "-o", "json"],
    [*CLAIM, "--to", "rescue", "--min-idle", "1h", "-o", "json"],
    CLAIM,
    [*CLAIM, "--to", "worker-1", "--from", "worker-1"],
    [*CLAIM, "--to", "rescue", "--from", "nobody"],
    [*CLAIM, "--to", "rescue", "--ids", "x"],
    [*CLAIM, "--to", "rescue", "--min-idle", "soon"],
    [*CLAIM, "--to", "rescue", "--count", "-1"],
    [*CLAIM, "--to", "rescue", "--expect", "7", "--yes"],
    [*CLAIM, "--to", "rescue", "--max", "1", "--yes"],
    [*CLAIM, "--to", "rescue"],
    ["--read-only", *CLAIM, "--to", "rescue", "--yes"],
    ["claim", "orders", "none", "--to", "rescue"],
    ["claim", "none", "billing", "--to", "rescue"],
    ["claim", "string", "billing", "--to", "rescue"],
    [*CLAIM, "--to", "rescue", "--yes", "--reason", "worker-1 is gone"],
    [*CLAIM, "--to", "rescue", "--yes", "-o", "json"],
]
GIVING_BACK = [
    [*NACK, "--ids", "1-1,2-1,9-1", "--dry-run", "-o", "json"],
    [*NACK, "--ids", "1-1,5-1", "--from", "worker-1", "--dry-run", "-o", "json"],
    [*NACK, "--ids", "9-1"],
    [*NACK, "--ids", "1-1", "--from", "nobody"],
    NACK,
    [*NACK, "--ids", "1-1"],
    [*NACK, "--ids", "1-1", "--confirm", "1"],
    [*NACK, "--ids", "2-1", "--yes", "-o", "json"],
]
REFUSED = [
    ["undo"],
    ["undo", "x"],
    ["undo", "5-5"],
]


@pytest.fixture
def stocked(server: RunningServer, place: Place) -> RunningServer:
    """Six orders, four with one worker for 20 minutes and two with another; in production."""
    place.configure(CONFIG.format(url=server.url))
    server.command("SET", "string", "x")
    for number in range(1, 7):
        server.command("XADD", "orders", f"{number}-1", "n", number)
    server.command("XGROUP", "CREATE", "orders", "billing", "0")
    for worker, count, first in (("worker-1", 4, 1), ("worker-2", 2, 5)):
        words = ("GROUP", "billing", worker, "COUNT", count, "STREAMS", "orders", ">")
        server.command("XREADGROUP", *words)
        ids = [f"{number}-1" for number in range(first, first + count)]
        # In the middle of a minute, so that no second more or less is seen.
        server.command(
            "XCLAIM", "orders", "billing", worker, 0, *ids, "IDLE", 1_230_000, "RETRYCOUNT", 2, "JUSTID"
        )
    server.command("XDEL", "orders", "3-1")
    return server


def keeps_rows_of_deleted_entries(server: RunningServer) -> bool:
    """Redis 6.2 lets them be claimed; later servers remove them on the way."""
    return server.label == "redis-6.2"


def newest_action(server: RunningServer) -> str:
    for entry_id, flat in server.command("XREVRANGE", "streamops:audit", "+", "-", "COUNT", 20):
        if flat[flat.index(b"phase") + 1] == b"begun":
            action: str = entry_id.decode()
            return action
    raise AssertionError("nothing was done")


def test_claiming_prints_what_is_recorded(cli: Cli, stocked: RunningServer, place: Place) -> None:
    compare("claim", told(cli, CLAIMING, place, MASKS), GOLDEN)
    assert pending_owners(stocked, "orders", "billing") == ["rescue"] * (
        5 + keeps_rows_of_deleted_entries(stocked)
    )


def test_giving_entries_back_prints_what_is_recorded(cli: Cli, stocked: RunningServer, place: Place) -> None:
    compare("nack", told(cli, GIVING_BACK, place, MASKS), GOLDEN)
    idles = [row[2] for row in stocked.command("XPENDING", "orders", "billing", "-", "+", 10)]
    assert sum(idle > 86_400_000 for idle in idles) == 2


def test_undoing_a_claim_prints_what_is_recorded(cli: Cli, stocked: RunningServer, place: Place) -> None:
    assert cli(*CLAIM, "--to", "rescue", "--from", "worker-1", "--yes").code == 0
    action = newest_action(stocked)
    stocked.command("XACK", "orders", "billing", "1-1")
    lines = [
        ["undo", action, "--dry-run", "-o", "json"],
        ["undo", action],
        ["undo", action, "--yes"],
        ["undo", action, "--yes"],
        *REFUSED,
    ]
    compare("undo", told(cli, lines, place, MASKS), GOLDEN)
    assert (
        pending_owners(stocked, "orders", "billing")
        == ["worker-1"] * (2 + keeps_rows_of_deleted_entries(stocked)) + ["worker-2"] * 2
    )


def test_no_ids_on_stdin_claim_nothing(
    cli: Cli, stocked: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert cli(*CLAIM, "--to", "rescue", "--ids", "-", "--yes").code == 0
    assert "rescue" not in pending_owners(stocked, "orders", "billing")
