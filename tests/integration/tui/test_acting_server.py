"""Acting on real servers, through the real engine: what the console plans is what the server says, and what it applies is done."""

from pathlib import Path

import pytest

from streamops.model.acting import Environment
from tests.support.servers import RunningServer
from tests.support.streams import pending_count
from tests.support.tui.driving import NARROW, names, press, running, shown, typed_word, until
from tests.support.tui.servers import ENTRIES, PENDING, console_on, deliver_all, deliver_some, to_pending


async def test_cancelling_leaves_the_server_as_it_was(server: RunningServer) -> None:
    deliver_all(server)
    app = console_on(server, Environment.PRODUCTION)
    async with running(app):
        await to_pending(app)
        before = state(server)
        await press(app, "A", "enter")
        await shown(app, "Tab, then type 1")
        await press(app, "tab", *"7", "enter", "escape", "escape")
        await press(app, "A", "enter")
        await shown(app, "Tab, then type 1")
        await press(app, "enter")
        assert state(server) == before


def state(server: RunningServer) -> list[object]:
    keys = server.command("KEYS", "*")
    return [sorted(keys), server.command("XINFO", "GROUPS", "orders"), pending_count(server)]


async def test_destroying_in_production_wants_the_name_and_keeps_a_backup(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    deliver_all(server)
    app = console_on(server, Environment.PRODUCTION)
    async with running(app, NARROW):
        await until(app, lambda: names(app) == ["orders/billing"])
        await press(app, "X", "enter")
        await shown(app, "High: deletes what undo cannot restore")
        await press(app, "tab", *"nope", "enter")
        assert server.command("XINFO", "GROUPS", "orders")
        await press(app, *["backspace"] * 4, *typed_word(app), "enter")
        await until(app, lambda: server.command("XINFO", "GROUPS", "orders") == [])
        await shown(app, "✓ groups rm orders/billing: done")
        assert "worker-1" in backup_in(tmp_path)
        await press(app, "escape")
        await until(app, lambda: names(app) == ["orders/-"])


def backup_in(directory: Path) -> str:
    (backup,) = directory.rglob("groups-destroy-orders-billing-*.jsonl")
    return backup.read_text()


async def test_form_of_a_trim_says_how_many_entries_there_are_and_how_many_are_safe_to_drop(
    server: RunningServer,
) -> None:
    deliver_some(server)
    app = console_on(server)
    async with running(app, NARROW):
        await until(app, lambda: names(app) == ["orders/billing"])
        await press(app, "T")
        await shown(app, "1 of 5 entries were safe to drop: maxlen 0")


async def test_a_claim_in_development_needs_enter_alone(server: RunningServer) -> None:
    deliver_all(server)
    app = console_on(server)
    async with running(app):
        await until(app, lambda: names(app) == ["orders/billing"])
        await press(app, "C", *"worker-2", "down", "down", *"0s", "enter")
        await shown(app, "5 entries of worker-1 will be owned by worker-2")
        await press(app, "enter")
        await shown(app, "5 of 5")
        rows = server.command("XPENDING", "orders", "billing", "-", "+", "10")
        assert {row[1] for row in rows} == {b"worker-2"}


async def test_entry_that_changed_meanwhile_is_left_alone_and_told(server: RunningServer) -> None:
    ids = deliver_all(server)
    app = console_on(server, Environment.PRODUCTION)
    async with running(app):
        await to_pending(app)
        await press(app, "space", "space", "A", "enter")
        await shown(app, "Tab, then type 2")
        server.command("XACK", "orders", "billing", ids[0])
        await press(app, "tab", "2", "enter")
        await shown(app, "1 of 2")
        await shown(app, f"{ids[0]}: no longer pending")


async def test_drift_aborts_with_nothing_done(server: RunningServer) -> None:
    deliver_all(server)
    app = console_on(server, Environment.PRODUCTION)
    async with running(app):
        await to_pending(app)
        await press(app, "A", "enter")
        await shown(app, "Tab, then type 1")
        server.command("XGROUP", "DESTROY", "orders", "billing")
        server.command("XGROUP", "CREATE", "orders", "billing", "0")
        await press(app, "tab", "1", "enter")
        await shown(app, "→ Nothing was done")
        assert pending_count(server) == 0


async def test_read_only_is_refused_by_the_engine_too(server: RunningServer) -> None:
    deliver_all(server)
    app = console_on(server, read_only=True, hides=False)
    async with running(app):
        await to_pending(app)
        before = state(server)
        await press(app, "A", "enter")
        await shown(app, "Tab, then Enter applies")
        await press(app, "tab", "enter")
        await shown(app, "✗ read-only: nothing is changed here")
        assert state(server) == before


async def test_long_work_is_a_job_that_everybody_sees(server: RunningServer) -> None:
    count = 20_000
    server.client.eval(  # one script is quicker than so many commands
        "for i = 1, tonumber(ARGV[1]) do redis.call('XADD', KEYS[1], i .. '-0', 'n', i) end"
        " redis.call('XGROUP', 'CREATE', 'orders', 'billing', '0', 'MKSTREAM') return 1",
        1, "orders:dlq", str(count),
    )  # fmt: skip
    app = console_on(server)
    async with running(app):
        await until(app, lambda: "orders:dlq/-" in names(app))
        await press(app, "home", "R", *["down"] * 11, *"4000", "enter")
        await shown(app, "20,000 dead letters")
        await press(app, "tab", "enter")
        await shown(app, "of 20,000 dead letters")
        await press(app, "3", "4", "4")
        await shown(app, "▸ running")
        await press(app, "enter")
        await shown(app, "any console shows it")
        await press(app, "escape")
        await shown(app, "✗ interrupted")
        await press(app, "escape", "1", "4", "4")
        await shown(app, "▲ interrupted")
        await press(app, "R")
        await shown(app, "Tab, then Enter applies")
        await press(app, "tab", "enter")
        await shown(app, "any console shows it")
        await press(app, "escape")
        await shown(app, "✗ interrupted")


async def test_any_name_can_be_acted_on(server: RunningServer) -> None:
    name = b"\xff[@click=app.bell]x[/]\x1b]52;c;eA==\x07"
    deliver_all(server, name, name)
    app = console_on(server)
    async with running(app):
        await until(app, lambda: len(names(app)) == 1)
        await press(app, *PENDING)
        await until(app, lambda: len(names(app)) == ENTRIES)
        await press(app, "A", "enter")
        await shown(app, "Tab, then Enter applies")
        await press(app, "tab", "enter")
        await shown(app, "1 of 1")
        assert pending_count(server, name, name) == ENTRIES - 1
