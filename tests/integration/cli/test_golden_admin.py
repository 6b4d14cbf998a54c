"""Exit codes and JSON of administering groups and consumers, and restoring, on a real server.

``STREAMOPS_WRITE_GOLDEN=1`` writes the transcripts anew; read the difference before it is committed.
"""

from pathlib import Path

import pytest

from streamops.model.entries import EntryId, StreamEntry
from streamops.operations.backups import BackupWriter
from tests.support.cli.golden import MASKS, compare, told
from tests.support.cli.running import Cli, Place
from tests.support.servers import RunningServer

GOLDEN = Path(__file__).with_name("golden_admin")
CONFIG = 'default_context = "local"\n[contexts.local]\nurl = "{url}"\nenvironment = "{environment}"\n'

CREATING = [
    ["groups", "create", "orders", "new", "--at", "0", "--dry-run", "-o", "json"],
    ["groups", "create", "orders", "new", "--at", "4-1"],
    ["groups", "create", "orders", "new", "--at", "4-1", "--yes", "--reason", "a new consumer"],
    ["groups", "create", "orders", "new", "--at", "4-1"],
    ["groups", "create", "orders", "new", "--at", "$"],
    ["groups", "create", "orders", "late", "--yes", "-o", "json"],
    ["groups", "create", "orders", "odd", "--at", "first"],
    ["groups", "create", "none", "new"],
    ["groups", "create", "none", "new", "--mkstream", "--yes"],
    ["groups", "create", "string", "new"],
    ["groups", "create", "orders"],
    ["--read-only", "groups", "create", "orders", "other"],
]
REWINDING = [
    ["groups", "rewind", "orders", "billing", "--to-start", "--dry-run", "-o", "json"],
    ["groups", "rewind", "orders", "billing"],
    ["groups", "rewind", "orders", "billing", "--to-start", "--to-end"],
    ["groups", "rewind", "orders", "billing", "--to-id", "99-1"],
    ["groups", "rewind", "orders", "billing", "--to-id", "x"],
    ["groups", "rewind", "orders", "billing", "--back", "-1"],
    ["groups", "rewind", "orders", "billing", "--back", "0", "-o", "json"],
    ["groups", "rewind", "orders", "billing", "--to-time", "soon"],
    ["groups", "rewind", "orders", "none", "--to-end"],
    ["groups", "rewind", "none", "billing", "--to-end"],
    ["groups", "rewind", "orders", "billing", "--back", "2", "--expect", "3"],
    ["groups", "rewind", "orders", "billing", "--back", "2", "--max", "1"],
    ["groups", "rewind", "orders", "billing", "--back", "2"],
    ["groups", "rewind", "orders", "billing", "--back", "2", "--confirm", "3"],
    ["groups", "rewind", "orders", "billing", "--back", "2", "--confirm", "2"],
    ["groups", "rewind", "orders", "billing", "--to-end", "--yes", "-o", "json"],
]
DESTROYING = [
    ["groups", "rm", "orders", "billing", "--backup", "b.jsonl", "--dry-run", "-o", "json"],
    ["groups", "rm", "orders", "billing", "--backup", "b.jsonl", "--yes"],
    ["groups", "rm", "orders", "billing", "--backup", "b.jsonl", "--confirm", "billing"],
    ["groups", "rm", "orders", "billing", "--backup", "b.jsonl", "--confirm", "orders/billing"],
    ["groups", "rm", "orders", "billing", "--backup", "b.jsonl"],
    ["groups", "rm", "orders", "mail", "--backup", "b.jsonl"],
    ["groups", "rm", "orders", "mail", "--dry-run", "-o", "json"],
    ["restore", "b.jsonl", "--dry-run", "-o", "json"],
]
CONSUMERS = [
    ["consumers", "rm", "orders", "billing", "worker-1", "--to", "worker-2", "--dry-run", "-o", "json"],
    ["consumers", "rm", "orders", "billing", "worker-1"],
    ["consumers", "rm", "orders", "billing", "worker-1", "--to", "worker-1"],
    ["consumers", "rm", "orders", "billing", "none", "--to", "worker-2"],
    ["consumers", "rm", "orders", "none", "worker-1", "--to", "worker-2"],
    ["consumers", "rm", "orders", "billing"],
    ["consumers", "rm", "orders", "billing", "worker-1", "--to", "worker-2"],
    ["consumers", "rm", "orders", "billing", "worker-1", "--to", "worker-2", "--yes"],
    ["consumers", "rm", "orders", "billing", "waiting", "--yes", "-o", "json"],
    ["consumers", "prune", "orders", "billing", "--dry-run", "-o", "json"],
    ["consumers", "prune", "orders", "billing", "--idle", "0"],
    ["consumers", "prune", "orders", "billing", "--idle", "soon"],
    ["consumers", "prune", "orders", "none"],
    ["consumers", "prune", "orders", "mail", "--idle", "1ms"],
]
RESTORING = [
    ["restore", "lost.jsonl", "--to", "copy", "--dry-run", "-o", "json"],
    ["restore", "lost.jsonl"],
    ["restore", "lost.jsonl", "--to", "copy"],
    ["restore", "lost.jsonl", "--to", "copy", "--yes"],
    ["restore", "lost.jsonl", "--to", "copy", "--yes"],
    ["restore", "lost.jsonl", "--to", "copy", "--again"],
    ["restore", "lost.jsonl", "--new-ids", "--yes", "-o", "json"],
    ["restore", "lost.jsonl", "--to", "string"],
    ["restore", "bad.jsonl"],
    ["restore", "none.jsonl"],
    ["restore", "."],
    ["restore"],
]


@pytest.fixture
def stocked(server: RunningServer, place: Place) -> RunningServer:
    """Ten orders, six of them given to billing, four of those pending; in production."""
    text = CONFIG.format(url=server.url, environment="production")
    place.configure(text)
    for number in range(1, 11):
        server.command("XADD", "orders", f"{number}-1", "n", number)
    server.command("SET", "string", "x")
    for group in ("billing", "mail"):
        server.command("XGROUP", "CREATE", "orders", group, "0")
    for consumer, count in (("worker-1", 4), ("worker-2", 2)):
        words = ("GROUP", "billing", consumer, "COUNT", count, "STREAMS", "orders", ">")
        server.command("XREADGROUP", *words)
    server.command("XGROUP", "CREATECONSUMER", "orders", "billing", "waiting")
    server.command("XACK", "orders", "billing", "1-1", "2-1")
    return server


def test_creating_a_group_prints_what_is_recorded(cli: Cli, stocked: RunningServer, place: Place) -> None:
    compare("groups_create", told(cli, CREATING, place, MASKS), GOLDEN)
    names = [flat[1] for flat in stocked.command("XINFO", "GROUPS", "orders")]
    assert names == [b"billing", b"late", b"mail", b"new"]


def test_rewinding_a_group_prints_what_is_recorded(cli: Cli, stocked: RunningServer, place: Place) -> None:
    compare("groups_rewind", told(cli, REWINDING, place, MASKS), GOLDEN)
    assert stocked.command("XINFO", "GROUPS", "orders")[0][7] == b"10-1"


def test_destroying_prints_what_is_recorded(cli: Cli, stocked: RunningServer, place: Place) -> None:
    compare("groups_destroy", told(cli, DESTROYING, place, MASKS), GOLDEN)
    assert [flat[1] for flat in stocked.command("XINFO", "GROUPS", "orders")] == [b"mail"]


def test_removing_consumers_prints_what_is_recorded(cli: Cli, stocked: RunningServer, place: Place) -> None:
    compare("consumers_rm", told(cli, CONSUMERS, place, MASKS), GOLDEN)
    assert [flat[1] for flat in stocked.command("XINFO", "CONSUMERS", "orders", "billing")] == [b"worker-2"]


def test_restoring_entries_prints_what_is_recorded(cli: Cli, stocked: RunningServer, place: Place) -> None:
    lost = [StreamEntry(EntryId(n, 1), ((b"n", b"%d" % n), (b"raw", b"\xff\x1b"))) for n in (1, 2, 3)]
    with BackupWriter("lost.jsonl") as file:
        file.write("orders", lost)
    Path("bad.jsonl").write_text('{"stream": "orders"}\nnothing\n', encoding="utf-8")
    compare("restore", told(cli, RESTORING, place, MASKS), GOLDEN)
    assert stocked.command("XLEN", "orders") == 13
    assert stocked.command("XLEN", "copy") == 3


def test_without_a_name_the_backup_goes_to_the_state_directory(
    cli: Cli, stocked: RunningServer, place: Place
) -> None:
    assert cli("groups", "rm", "orders", "billing", "--confirm", "orders/billing").code == 0
    (backup,) = (place.home / ".local/state/streamops/backups").iterdir()
    assert backup.name.startswith("groups-destroy-orders-billing-")
    assert backup.stat().st_mode & 0o777 == 0o600
    refused = cli("restore", str(backup), "--yes")
    assert (refused.code, "holds a group, and no entries" in refused.err) == (2, True)
    assert "streamops groups create STREAM GROUP --at ID" in refused.err
    assert [flat[1] for flat in stocked.command("XINFO", "GROUPS", "orders")] == [b"mail"]
