"""What a call of the program imports: start-up stays light, and no command pays for another's needs."""

from pathlib import Path

import pytest

from tests.support.house.imports import imported, top_level
from tests.support.servers import RunningServer

HEAVY = {
    "redis",
    "rich",
    "textual",
    "asyncio",
    "msgspec",
    "jmespath",
    "aiohttp",
    "prometheus_client",
    "hiredis",
    "json",
    "ssl",
}
NEVER_IN_ONE_SHOTS = {"textual", "aiohttp", "prometheus_client", "structlog", "uvloop"}


@pytest.mark.parametrize(
    "args",
    [
        ("--help",),
        ("--version",),
        ("streams", "--help"),
        ("help", "streams"),
        ("options",),
        ("version",),
        ("nonsense",),
    ],
    ids=" ".join,
)
def test_help_and_version_import_nothing_of_weight(args: tuple[str, ...]) -> None:
    _, modules = imported(*args)
    assert not top_level(modules) & (HEAVY - {"json"})
    # The registry says what there is; it imports none of it.
    assert not {
        module
        for module in modules - {"streamops.operations", "streamops.operations.registry"}
        if module.startswith(("streamops.wire", "streamops.operations", "streamops.tui"))
    }


@pytest.mark.parametrize(
    "args",
    [
        ("status", "-o", "table"),
        ("ack", "orders", "billing", "--ids", "1-1", "-o", "json"),
        ("streams", "search", "orders", "--where", "fields.a == 'b'", "-o", "jsonl"),
        ("webhooks", "ls", "-o", "jsonl"),
        ("groups", "ls", "-o", "yaml"),
    ],
    ids=" ".join,
)
def test_one_shot_commands_import_no_other_face(args: tuple[str, ...], server: RunningServer) -> None:
    server.client.xgroup_create("orders", "billing", "0", mkstream=True)
    server.client.xadd("orders", {"a": "b"})
    code, modules = imported(*args, "--url", server.unix_url)
    assert code in (0, 10)
    assert not top_level(modules) & NEVER_IN_ONE_SHOTS
    assert not {module for module in modules if module.startswith(("streamops.tui", "streamops.demo"))}
    if "table" not in args:
        assert "rich" not in top_level(modules)
    assert ("yaml" in top_level(modules)) == ("yaml" in args)
    if "--where" not in args:
        assert "jmespath" not in top_level(modules)


@pytest.mark.parametrize("args", [("completion", "bash"), ("ctx", "ls", "-o", "plain")], ids=" ".join)
def test_commands_without_a_server_import_no_client(
    args: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    code, modules = imported(*args)
    assert code == 0
    assert not top_level(modules) & {"redis", "rich", "textual", "asyncio"}


@pytest.mark.parametrize("args", [("ack",), ("exporter",), ("drill",)], ids=" ".join)
def test_help_imports_neither_engine_nor_client_nor_server(args: tuple[str, ...]) -> None:
    code, modules = imported(*args, "--help")
    assert code == 0
    assert not top_level(modules) & {"redis", "aiohttp", "prometheus_client", "textual", "yaml", "uvloop"}
    assert "streamops.operations.engine" not in modules
    assert not {module for module in modules if module.startswith("streamops.runtime")}
