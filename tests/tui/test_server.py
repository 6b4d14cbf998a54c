"""The console on real servers, through the real ``Console``: what is invented elsewhere is what they say."""

from datetime import timedelta

import pytest

from streamops.operate.console import Console
from streamops.present.rows import GroupRow
from streamops.tui.app import StreamopsApp
from streamops.tui.source import ContextInfo, TuiSettings
from tests.servers import RunningServer
from tests.tui.driving import bar, list_of, names, press, running, screen_text, shown, until


def console_on(server: RunningServer) -> StreamopsApp:
    context = ContextInfo("test", "development", server.options.label, server.unix_url)
    return StreamopsApp(
        TuiSettings(context, (context,), lambda _: Console.open(server.options), timedelta(milliseconds=100))
    )


def prepare(server: RunningServer) -> list[str]:
    """A stream of five entries, a group that was given three of them and acknowledged one."""
    ids = [server.command("XADD", "orders", "*", "n", str(number)).decode() for number in range(5)]
    server.command("XGROUP", "CREATE", "orders", "billing", "0")
    server.command("XREADGROUP", "GROUP", "billing", "worker-1", "COUNT", "3", "STREAMS", "orders", ">")
    server.command("XACK", "orders", "billing", ids[0])
    return ids


def lag(app: StreamopsApp) -> int | None:
    """The lag in the first row."""
    row = list_of(app).rows[0]
    assert isinstance(row, GroupRow)
    return None if row.group is None else row.group.group.lag.entries


async def test_the_way_from_streams_to_an_entry_on_every_server(server: RunningServer) -> None:
    ids = prepare(server)
    app = console_on(server)
    async with running(app):
        await until(app, lambda: names(app) == ["orders/billing"])
        await until(app, lambda: "still scanning" not in bar(app, "status"))
        await press(app, "enter")
        await until(app, lambda: names(app) == ["worker-1"])
        await press(app, "enter")
        await until(app, lambda: names(app) == [ids[1], ids[2]])
        await press(app, "down", "enter")
        await shown(app, f" {ids[2]}")
        await shown(app, "▸n  2  text · 1 B")
        assert screen_text(app).count("billing") == 1


async def test_what_happens_on_the_server_shows_by_itself(any_server: RunningServer) -> None:
    prepare(any_server)
    app = console_on(any_server)
    async with running(app):
        await until(app, lambda: names(app) == ["orders/billing"])
        await until(app, lambda: lag(app) == 2)
        any_server.command("XADD", "orders", "*", "n", "6")
        await until(app, lambda: lag(app) == 3)
        any_server.command("XGROUP", "DESTROY", "orders", "billing")
        await until(app, lambda: names(app) == ["orders/-"])


async def test_the_tail_follows_a_real_stream(any_server: RunningServer) -> None:
    prepare(any_server)
    app = console_on(any_server)
    async with running(app):
        await until(app, lambda: names(app) == ["orders/billing"])
        await press(app, "t")
        await until(app, lambda: len(list_of(app).rows) == 5)
        any_server.command("XADD", "orders", "*", "n", "six")
        await until(app, lambda: len(list_of(app).rows) == 6)
        await shown(app, "n=six")


async def test_a_server_that_stops_answering_is_a_banner_until_it_answers_again(
    any_server: RunningServer,
) -> None:
    prepare(any_server)
    app = console_on(any_server)
    async with running(app):
        await until(app, lambda: names(app) == ["orders/billing"])
        any_server.pause()
        try:
            await until(app, lambda: "✗" in bar(app, "banner"))
            assert names(app) == ["orders/billing"]
        finally:
            any_server.resume()
        await press(app, "r")
        await until(app, lambda: not app.frame.query_one("#banner").display)


@pytest.mark.parametrize("name", [b"\xff\xfe", b"[@click=app.bell]x[/]", b"a\x1b]52;c;eA==\x07", b""])
async def test_any_name_leads_to_its_stream(any_server: RunningServer, name: bytes) -> None:
    any_server.command("XADD", name, "*", name, name)
    any_server.command("XGROUP", "CREATE", name, name, "0")
    any_server.command("XREADGROUP", "GROUP", name, name, "STREAMS", name, ">")
    app = console_on(any_server)
    async with running(app):
        await until(app, lambda: len(list_of(app).rows) == 1)
        await press(app, "enter")
        await until(app, lambda: bar(app, "crumbs").count("▸") == 2 and len(list_of(app).rows) == 1)
        await press(app, "enter")
        await until(app, lambda: bar(app, "crumbs").count("▸") == 3 and len(list_of(app).rows) == 1)
        await press(app, "enter", "escape", "escape", "t")
        await until(app, lambda: "following" in bar(app, "status") and len(list_of(app).rows) == 1)
