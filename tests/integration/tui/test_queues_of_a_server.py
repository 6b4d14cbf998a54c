"""Dead letters, delayed messages, topics and workers of real servers, through the real engine."""

from datetime import timedelta
from pathlib import Path

import pytest

from streamops.model.acting import Confirmation
from streamops.operations.console import Console
from streamops.operations.publish.intent import PublishIntent
from streamops.operations.topics.intent import AddTopicIntent
from streamops.wire.consuming.heartbeats import WORKER_PREFIX
from tests.support.monitor.dead_letters import QUEUE, STREAM, add_letter, make_group
from tests.support.monitor.workers import beat
from tests.support.servers import RunningServer
from tests.support.streams import entries_of
from tests.support.tui.driving import NARROW, list_of, names, press, running, screen_text, shown, until
from tests.support.tui.servers import console_on

HOUR = timedelta(hours=1)
OWN = [(b"order", b"A-1"), (b"blob", b"\xff\x00"), (b"note", b"a\nb")]


@pytest.fixture(autouse=True)
def _own_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)


async def do(server: RunningServer, intent: PublishIntent | AddTopicIntent) -> None:
    async with await Console.open(server.options) as console:
        await console.apply(await console.prepare(intent), Confirmation(yes=True))


async def test_a_letter_is_edited_and_replayed_on_every_server(server: RunningServer) -> None:
    make_group(server)
    kept = add_letter(server, OWN, reason="timeout")
    add_letter(server, OWN, reason="rejected")
    app = console_on(server)
    async with running(app, NARROW):
        await until(app, lambda: "orders/billing" in names(app))
        await press(app, "4")
        await shown(app, QUEUE)
        await press(app, "enter")
        await until(app, lambda: len(list_of(app).rows) == 2)
        await press(app, "E")
        await shown(app, "Fields of 1 dead letter")
        await press(app, "end", "0", "down", "end", "!", "enter")
        await shown(app, "Edited in every entry: order, note.")
        await press(app, "tab", "enter")
        await shown(app, "1 of 1")
        ((_, fields),) = entries_of(server, STREAM)
        assert fields[:6] == [b"order", b"A-10", b"blob", b"\xff\x00", b"note", b"a\nb!"]
        await press(app, "escape")
        await until(app, lambda: names(app) == [kept])


async def test_marked_letters_are_deleted_and_kept_in_a_file(server: RunningServer, tmp_path: Path) -> None:
    make_group(server)
    for _ in range(5):
        add_letter(server, OWN)
    app = console_on(server)
    async with running(app):
        await press(app, "4")
        await shown(app, QUEUE)
        await press(app, "enter")
        await until(app, lambda: len(list_of(app).rows) == 5)
        await press(app, "space", "space", "D", "enter")
        await shown(app, "2 dead letters")
        await press(app, "tab", *"yes", "enter")
        await shown(app, "2 of 2")
        await press(app, "escape")
        await until(app, lambda: len(list_of(app).rows) == 3)
    (backup,) = (tmp_path / "state").rglob("*.jsonl")
    assert len(backup.read_text().splitlines()) >= 2


async def test_dead_letters_of_one_reason_are_replayed_to_their_group_with_four_keys(
    server: RunningServer,
) -> None:
    make_group(server)
    make_group(server, group="audit")
    server.command("XGROUP", "CREATECONSUMER", STREAM, "billing", f"{WORKER_PREFIX}host-1-ab12")
    for reason in ("timeout", "timeout", "rejected"):
        add_letter(server, OWN, reason=reason)
    app = console_on(server)
    async with running(app, NARROW):
        await press(app, "4")
        await shown(app, QUEUE)
        await press(app, "R")
        await shown(app, "Space chooses: timeout 2, rejected 1")
        await press(app, "space", "enter")
        await shown(app, "2 dead letters")
        await press(app, "tab", "enter")
        await shown(app, "2 of 2")
    assert server.command("XLEN", f"{{{STREAM}}}:retry:billing") == 2
    assert server.command("XLEN", QUEUE) == 1


async def test_a_replay_to_several_groups_asks_for_its_mode_in_the_form(server: RunningServer) -> None:
    make_group(server)
    make_group(server, group="audit")
    add_letter(server, OWN, reason="timeout")
    app = console_on(server)
    async with running(app, NARROW):
        await press(app, "4")
        await shown(app, QUEUE)
        await press(app, "R")
        await shown(app, "Space chooses: timeout")
        await press(app, "space", "enter")
        await shown(app, f"mode is needed: {STREAM} has 2 groups")
        await press(app, "space")
        await until(app, lambda: "mode is needed" not in screen_text(app))
        await press(app, "enter")
        await shown(app, "1 dead letter")
        await press(app, "tab", "enter")
        await shown(app, "1 of 1")
    assert server.command("XLEN", STREAM) == 1


async def test_all_that_an_expression_holds_of_is_replayed(server: RunningServer) -> None:
    make_group(server)
    for number in range(6):
        add_letter(server, OWN, reason=("timeout", "rejected")[number % 2])
    app = console_on(server)
    async with running(app):
        await press(app, "4")
        await shown(app, QUEUE)
        await press(app, "enter")
        await until(app, lambda: len(list_of(app).rows) == 6)
        await press(app, "equals_sign", *"reason == 'timeout'", "enter")
        await until(app, lambda: len(list_of(app).rows) == 3)
        await press(app, "asterisk", "asterisk", "R", "enter")
        await shown(app, "--where")
        await press(app, "tab", "enter")
        await shown(app, "3 of 3")
        assert len(entries_of(server, STREAM)) == 3
        assert len(entries_of(server, QUEUE)) == 3


async def test_a_letter_and_a_pending_entry_tell_their_traces(server: RunningServer) -> None:
    make_group(server)
    entry_id = server.command("XADD", STREAM, "*", "n", "1").decode()
    server.command("XREADGROUP", "GROUP", "billing", "worker-1", "STREAMS", STREAM, ">")
    add_letter(server, OWN, origin_id=entry_id, error="it broke")
    app = console_on(server)
    async with running(app):
        await until(app, lambda: "orders/billing" in names(app))
        await press(app, *"jjj", "enter", "l")
        await shown(app, "1 pending entry")
        await until(app, lambda: names(app) == [entry_id])
        await press(app, "a")
        await shown(app, "billing: pending with worker-1, delivered 1 time")
        await press(app, "3", "4")
        await shown(app, QUEUE)
        await press(app, "enter")
        await until(app, lambda: len(list_of(app).rows) == 1)
        await press(app, "enter")
        await shown(app, "billing dead-lettered it (max-deliveries)")


async def test_delayed_messages_are_run_now_and_cancelled(server: RunningServer) -> None:
    make_group(server)
    for name in ("first", "second", "third"):
        await do(
            server,
            PublishIntent(stream=STREAM, pairs=((b"n", name.encode()),), delay=HOUR, id=name),
        )
    app = console_on(server)
    async with running(app):
        await press(app, "colon", *"delayed", "enter")
        await until(app, lambda: names(app) == [STREAM])
        await press(app, "enter")
        await until(app, lambda: len(list_of(app).rows) == 3)
        await press(app, "R", "enter")
        await shown(app, "1 message")
        await press(app, "tab", "enter")
        await shown(app, "1 of 1")
        assert len(entries_of(server, STREAM)) == 1
        await press(app, "escape")
        await until(app, lambda: len(list_of(app).rows) == 2)
        await press(app, "asterisk", "asterisk", "D", "enter")
        await shown(app, "2 messages")
        await press(app, "tab", *"yes", "enter")
        await shown(app, "2 of 2")
        await press(app, "escape")
        await shown(app, "no delayed messages for the stream")


async def test_a_topic_is_switched_off_and_on(server: RunningServer) -> None:
    await do(server, AddTopicIntent(name="remind", callback="https://hooks.example.net/remind"))
    app = console_on(server)
    async with running(app):
        await press(app, "colon", *"topics", "enter")
        await until(app, lambda: names(app) == ["remind/-"])
        await shown(app, "✓ on")
        for state in ("▲ off", "✓ on"):
            await press(app, "P", "enter")
            await shown(app, "Enter applies")
            await press(app, "enter")
            await shown(app, "1 of 1")
            await press(app, "escape")
            await shown(app, state)


async def test_a_pool_is_paused_and_resumed(server: RunningServer) -> None:
    beat(server, "so-1")
    app = console_on(server)
    async with running(app):
        await press(app, "5")
        await until(app, lambda: names(app) == ["so-1"])
        await press(app, "P", "enter")
        await shown(app, "Enter applies")
        await press(app, "enter")
        await shown(app, "1 of 1")
        assert server.command("HGET", "streamops:pool:billing", "mode") == b"paused"
        await press(app, "escape")
        await shown(app, "‖ paused by ada@bastion-1")
        await press(app, "P", "enter")
        await shown(app, "resume reading")
