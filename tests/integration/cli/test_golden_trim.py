"""Exit codes and JSON of ``trim`` and ``entries rm``, on a real server.

``STREAMOPS_WRITE_GOLDEN=1`` writes the transcripts anew; read the difference before it is committed.
"""

import io
import json
from pathlib import Path

import pytest

from tests.support.cli.golden import MASKS, compare, told
from tests.support.cli.running import Cli, Place
from tests.support.operations.backups import read_backup
from tests.support.servers import RunningServer

GOLDEN = Path(__file__).with_name("golden_trim")
POLICIES = """
[[retention]]
streams = ["orders"]
maxlen = 20
exact = true

[[retention]]
streams = ["*"]
maxlen = 1000
max_age = "7d"

[[retention]]
streams = ["missing"]
maxlen = 1
"""

PLANNING = [
    ["trim", "orders", "--maxlen", "20", "--exact", "--dry-run", "-o", "json"],
    ["trim", "orders", "--maxlen", "20", "--dry-run", "-o", "json"],
    ["trim", "orders", "--minid", "20-0", "--dry-run", "-o", "json"],
    ["trim", "orders", "--before", "7d", "--exact", "--dry-run", "-o", "json"],
    ["trim", "drained", "--maxlen", "0", "--exact", "--dry-run", "-o", "json"],
    ["trim", "orders", "--maxlen", "99999999999999999999999"],
    ["trim", "orders", "--maxlen", "10", "--unsafe", "--dry-run", "-o", "json", "--backup", "lost.jsonl"],
]
REFUSING = [
    ["trim"],
    ["trim", "orders"],
    ["trim", "orders", "--maxlen", "-1"],
    ["trim", "orders", "--maxlen", "many"],
    ["trim", "orders", "--minid", "none"],
    ["trim", "orders", "--maxlen", "1", "--before", "7d"],
    ["trim", "orders", "--maxlen", "1", "--backup", "lost.jsonl"],
    ["trim", "missing", "--maxlen", "1"],
    ["trim", "text", "--maxlen", "1"],
    ["trim", "lonely", "--maxlen", "0"],
    ["trim", "orders", "--maxlen", "20"],
    ["trim", "orders", "--maxlen", "20", "--yes", "--expect", "3"],
    ["trim", "orders", "--maxlen", "20", "--yes", "--read-only"],
    ["trim", "orders", "--maxlen", "10", "--unsafe", "--yes"],
    ["trim", "orders", "--maxlen", "20", "--every", "1s"],
    ["trim", "orders", "--policies"],
    ["trim", "--policies"],
]
ACTING = [
    ["trim", "orders", "--maxlen", "20", "--exact", "--yes"],
    ["trim", "orders", "--maxlen", "15", "--exact", "--yes", "-o", "json"],
    [
        *("trim", "orders", "--maxlen", "10", "--unsafe", "--exact"),
        *("--backup", "lost.jsonl", "--confirm", "orders"),
    ],
    ["trim", "orders", "--maxlen", "5", "--unsafe", "--backup", "lost.jsonl", "--confirm", "orders"],
]
BY_POLICIES = [
    ["trim", "--policies", "--dry-run", "-o", "json"],
    ["trim", "--policies", "--dry-run", "--exact"],
    ["trim", "--policies", "--unsafe"],
    ["trim", "--policies", "--every", "1m"],
    ["trim", "--policies", "--expect", "3", "--yes"],
    ["trim", "--policies"],
    ["trim", "--policies", "--yes", "--read-only"],
    ["trim", "--policies", "--yes"],
    ["trim", "--policies", "--yes", "--limit", "1"],
]
DELETING = [
    ["entries", "rm", "orders", "--ids", "1-0,24-0,40-0,77-0", "--dry-run", "-o", "json"],
    ["entries", "rm", "orders"],
    ["entries", "rm", "orders", "--ids", "none"],
    ["entries", "rm", "missing", "--ids", "1-0"],
    ["entries", "rm", "orders", "--ids", "1-0"],
    ["entries", "rm", "orders", "--ids", "1-0", "--yes"],
    ["entries", "rm", "orders", "--ids", "1-0", "--confirm", "order"],
    ["entries", "rm", "orders", "--ids", "1-0,24-0", "--confirm", "orders"],
    ["entries", "rm", "orders", "--ids", "1-0", "--confirm", "orders"],
    ["entries", "rm", "orders", "--ids", "2-0", "--backup", "one.jsonl", "--confirm", "orders", "-o", "json"],
    ["entries", "rm", "orders", "--ids", "3-0", "--backup", "one.jsonl", "--confirm", "orders"],
]  # fmt: skip


def test_planning_a_trim_prints_what_is_recorded_and_removes_nothing(
    cli: Cli, shop: RunningServer, place: Place
) -> None:
    compare("planning", told(cli, PLANNING, place, MASKS), GOLDEN)
    assert shop.command("XLEN", "orders") == 40
    assert not (place.cwd / "lost.jsonl").exists()


def test_a_refused_trim_prints_what_is_recorded_and_removes_nothing(
    cli: Cli, shop: RunningServer, place: Place
) -> None:
    compare("refusing", told(cli, REFUSING, place, MASKS), GOLDEN)
    assert shop.command("XLEN", "orders") == 40
    assert shop.command("EXISTS", "streamops:audit") == 0


def test_commands_that_trim_print_what_they_did(cli: Cli, shop: RunningServer, place: Place) -> None:
    compare("acting", told(cli, ACTING, place, MASKS), GOLDEN)
    assert shop.command("XLEN", "orders") == 10
    assert len(list(read_backup(place.cwd / "lost.jsonl"))) == 7


def test_a_trim_by_policies_prints_what_is_recorded(cli: Cli, shop: RunningServer, place: Place) -> None:
    with (place.cwd / "streamops.toml").open("a") as file:
        file.write(POLICIES)
    compare("policies", told(cli, BY_POLICIES, place, MASKS), GOLDEN)
    assert shop.command("XLEN", "orders") == 20


@pytest.mark.parametrize(
    "asked", [("20\n", 0, 20), ("yes\n", 4, 40), ("", 4, 40)], ids=["count", "word", "none"]
)
def test_somebody_is_asked_once_for_all_streams(
    cli: Cli, shop: RunningServer, place: Place, monkeypatch: pytest.MonkeyPatch, asked: tuple[str, int, int]
) -> None:
    answer, code, length = asked
    with (place.cwd / "streamops.toml").open("a") as file:
        file.write('[[retention]]\nstreams = ["orders"]\nmaxlen = 20\nexact = true\n')
    monkeypatch.setattr("streamops.cli.commands.trim.can_ask", lambda _: True)
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    result = cli("trim", "--policies")
    assert result.code == code
    assert result.err.startswith("orders --maxlen 20 --exact: at most 20 entries go\nType 20 to apply: ")
    assert shop.command("XLEN", "orders") == length


def test_deleting_entries_prints_what_is_recorded_and_keeps_them_in_a_file(
    cli: Cli, shop: RunningServer, place: Place
) -> None:
    compare("deleting", told(cli, DELETING, place, MASKS), GOLDEN)
    assert shop.command("XLEN", "orders") == 37
    (file,) = (place.home / ".local/state/streamops/backups").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert [str(entry.id) for _, entry in read_backup(file)] == ["1-0", "24-0"]


def test_ids_come_from_stdin(
    cli: Cli, shop: RunningServer, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "\n".join(json.dumps({"id": f"{number}-0"}) for number in (5, 6))
    ids = place.cwd / "ids"
    ids.write_text(lines)
    with ids.open() as file:
        monkeypatch.setattr("sys.stdin", file)
        result = cli("entries", "rm", "orders", "--ids", "-", "--confirm", "orders")
    assert result.code == 0
    assert shop.command("XLEN", "orders") == 38
