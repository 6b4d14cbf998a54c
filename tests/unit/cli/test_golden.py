"""What scripts rely on of every command (exit codes and JSON), fed with an invented observation.

``STREAMOPS_WRITE_GOLDEN=1`` writes the transcripts anew; read the difference before it is committed.
"""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.cli.golden import compare, told
from tests.support.cli.invented_console import InventedConsole
from tests.support.cli.running import Cli, Place
from tests.support.resources.observations import HOSTILE_NAME, NOTHING

GOLDEN = Path(__file__).with_name("golden")
CONFIG = """
default_context = "local"

[contexts.local]
url = "redis://127.0.0.1:6390/3"
environment = "development"
streams = ["orders:*"]

[contexts.production]
host = "redis.example.net"
read_only = true
username = "observer"

[health]
pending_age = "5m"
"""

MINE = """
default_context = "mine"
[contexts.mine]
host = "mine.example.net"
"""
CLONED = """
[health]
pending_age = "5m"
[contexts.theirs]
url = "redis://user:hunter2@theirs.example.net"
[exporter]
listen = "0.0.0.0:9641"
[callbacks]
hosts = ["127.0.0.1"]
"""
PROJECT_LINES = [
    ["ctx", "ls", "-o", "json"],
    ["ctx", "show", "-o", "json"],
    ["ctx", "show", "-c", "theirs"],
    ["config", "show", "-o", "json"],
    ["config", "trust", "--list", "-o", "json"],
    ["config", "trust"],
    ["config", "trust", "--list", "-o", "json"],
    ["ctx", "show", "-c", "theirs", "-o", "json"],
    ["config", "trust", "--revoke", "."],
    ["config", "trust", "--revoke", "."],
    ["config", "trust", "--list", "."],
    ["config", "trust", "elsewhere"],
    ["config", "validate"],
]

INVENTED = {
    "status": [
        ["status"],
        ["status", "-o", "json"],
        ["status", "--limit", "1", "-o", "json", "--quiet"],
        ["status", "--fields", "lga"],
        ["status", "-o", "json", "--fields", "lag"],
    ],
    "alerts": [
        ["alerts", "ls"],
        ["alerts", "ls", "-o", "json"],
    ],
    "check": [
        ["check"],
        ["check", "--lag", "1000"],
        ["check", "--lag", "1000", "-o", "json"],
        ["check", "--lag", "100000", "-o", "jsonl"],
        ["check", "--time-lag", "5m"],
        ["check", "--dlq", "2", "--format", "nagios"],
        [
            "check",
            "--lag",
            "1000",
            "--time-lag",
            "1m",
            "--pending-age",
            "1h",
            "--dlq",
            "0",
            "--format",
            "nagios",
        ],
        ["check", "-o", "csv"],
    ],
    "streams": [
        ["streams", "ls"],
        ["streams", "ls", "-o", "json"],
        ["streams", "show", "orders"],
        ["streams", "show", "orders", "-o", "json"],
        ["streams", "show", "orders:dlq", "-o", "json"],
        ["streams", "show", "missing"],
        ["streams", "show", "secret"],
    ],
    "tail": [
        ["streams", "tail", "orders", "-n", "2", "--limit", "2", "-o", "json"],
        ["streams", "tail", "orders", "--from", "0", "--limit", "1", "-o", "jsonl"],
        ["streams", "tail", "missing"],
        ["streams", "tail", "orders", "--from", "0", "-n", "1"],
    ],
    "search": [
        ["streams", "search", "orders"],
        ["streams", "search", "orders", "-o", "json"],
        ["streams", "search", "orders", "--where", "json.body.amount > `100`", "-o", "jsonl"],
        ["streams", "search", "orders", "--field", "tag=a", "--field", "tag=b", "-o", "jsonl"],
        ["streams", "search", "orders", "--field", "tag=c", "-o", "json"],
        ["streams", "search", "orders", "--since", "90s", "-o", "jsonl"],
        ["streams", "search", "orders", "--until", "2026-03-14T11:57:30Z", "-o", "jsonl"],
        ["streams", "search", "orders", "--newest-first", "--limit", "1", "-o", "jsonl"],
        ["streams", "search", "orders", "--max-scan", "2", "-o", "json"],
        ["streams", "search", "orders", "--from-id", "99999999999999", "-o", "json"],
        ["streams", "search", "orders", "--where", "fields.id > `1`"],
        ["streams", "search", "orders", "--where", "id =="],
        ["streams", "search", "missing"],
    ],
    "groups": [
        ["groups", "ls"],
        ["groups", "ls", "-o", "json"],
        ["groups", "show", "orders", "billing"],
        ["groups", "show", "orders", "billing", "-o", "json"],
        ["groups", "show", "orders", "audit", "-o", "json"],
        ["groups", "show", "orders", "missing"],
        ["groups", "show", "missing", "billing"],
    ],
    "consumers": [
        ["consumers", "ls", "orders"],
        ["consumers", "ls", "orders", "-o", "json"],
        ["consumers", "ls", "orders", "billing", "--limit", "1", "-o", "json"],
        ["consumers", "ls", "orders:dlq", "-o", "json"],
        ["consumers", "ls", "orders", "missing"],
        ["consumers", "ls", "missing"],
    ],
    "pending": [
        ["pending", "ls", "orders", "billing"],
        ["pending", "ls", "orders", "billing", "-o", "json"],
        ["pending", "ls", "orders", "billing", "--limit", "1", "-o", "json"],
        ["pending", "ls", "orders", "billing", "--consumer=-worker", "-o", "json"],
        ["pending", "ls", "orders", "billing", "--min-idle", "2m", "--min-deliveries", "2", "-o", "json"],
        ["pending", "ls", "orders", "billing", "--min-idle", "2h", "-o", "json"],
        ["pending", "ls", "orders", "missing"],
        ["pending", "summary", "orders", "billing"],
        ["pending", "summary", "orders", "billing", "-o", "json"],
        ["pending", "summary", "orders", "missing"],
    ],
}
LOCAL = {
    "contexts": [
        ["ctx", "ls"],
        ["ctx", "ls", "-o", "json"],
        ["ctx", "show"],
        ["ctx", "show", "-c", "production", "-o", "json"],
        ["ctx", "use", "production"],
        ["ctx", "ls", "-o", "json"],
        ["ctx", "use", "prodution"],
        ["ctx", "show", "-c", "missing"],
    ],
    "config": [
        ["config", "show"],
        ["config", "show", "-o", "json"],
        [
            "config",
            "show",
            "--url",
            "redis://user:hunter2@example.net/1",
            "--timeout",
            "5",
            "-o",
            "json",
        ],
        ["config", "validate"],
        ["config", "validate", "-o", "json"],
        ["config", "validate", "broken.toml"],
        ["config", "validate", "broken.toml", "-o", "json"],
        ["config", "validate", "missing.toml"],
    ],
    "acl": [
        *(["doctor", "--acl", role, "-o", "json"] for role in ("observer", "operator", "runtime")),
    ],
}


@pytest.mark.parametrize("name", INVENTED)
def test_each_command_prints_what_is_recorded(
    name: str, cli: Cli, invented: InventedConsole, place: Place
) -> None:
    assert invented.observation.streams
    compare(name, told(cli, INVENTED[name], place), GOLDEN)


def test_what_commands_print_where_there_is_nothing(
    cli: Cli, invented: InventedConsole, place: Place
) -> None:
    invented.observation = NOTHING
    lines = [
        ["status", "-o", "json"],
        ["status", "orders:*", "payments", "-o", "json"],
        ["streams", "ls", "-o", "json"],
        ["groups", "ls", "-o", "jsonl"],
        ["check"],
    ]
    compare("nothing", told(cli, lines, place), GOLDEN)


@pytest.mark.parametrize("name", LOCAL)
def test_what_commands_without_a_server_print(name: str, cli: Cli, place: Place) -> None:
    place.configure(CONFIG)
    (place.cwd / "broken.toml").write_text(
        '[contexts.a]\nurl = "redis://h"\nprot = 1\n[health]\nlag = true\n'
    )
    compare(name, told(cli, LOCAL[name], place), GOLDEN)


def test_what_commands_print_in_a_project(cli: Cli, place: Place) -> None:
    user = place.home / ".config" / "streamops"
    user.mkdir(parents=True)
    (user / "config.toml").write_text(MINE)
    (place.cwd / "streamops.toml").write_text(CLONED)
    compare("project", told(cli, PROJECT_LINES, place), GOLDEN)


def test_a_hostile_name_reaches_no_terminal(cli: Cli, invented: InventedConsole) -> None:
    assert invented.observation.streams
    for output in ("table", "plain", "json", "jsonl", "csv"):
        for command in (["status"], ["streams", "ls"], ["streams", "show", HOSTILE_NAME]):
            result = cli(*command, "-o", output)
            assert result.code == 0
            assert "\x1b" not in result.out + result.err
            assert "\u202e" not in result.out + result.err


def test_a_table_of_one_reading_has_the_worst_first_and_no_rates(cli: Cli, invented: InventedConsole) -> None:
    streams = invented.observation.streams
    invented.observation = replace(invented.observation, streams=streams[::-1])
    for command in ("status", "groups ls"):
        titles, *rows = cli(*command.split(), "--limit", "1").out.splitlines()
        assert rows[0].split()[:2] == ["orders", "billing"]
        assert "HEALTH" in titles
        assert "ADDED" not in titles
    # Other formats keep the order of the streams, and scripts their columns.
    first = cli("status", "-o", "jsonl").out.splitlines()[0]
    assert json.loads(first)["stream"] == streams[-1].stream.name
    assert "added_per_second" in first
    assert "ADDED" in cli("status", "--fields", "stream,added_per_second").out
