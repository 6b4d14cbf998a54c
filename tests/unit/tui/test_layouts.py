"""How it looks in the room there is."""

from msgspec.structs import replace
from textual.widgets import Input

from streamops.model.observation import Finding, FindingCode, Health, StreamView
from streamops.tui.theme import COLOUR_BLIND_NAME, DARK_NAME, LIGHT_NAME
from tests.support.tui import sample
from tests.support.tui.driving import (
    NARROW,
    WIDE,
    crumbs,
    list_of,
    names,
    press,
    resize,
    running,
    screen_text,
    settle,
    shown,
    until,
)
from tests.support.tui.shop import shop_source
from tests.support.tui.source import InventedSource, app_for


async def test_eighty_by_twenty_four_has_fifteen_rows_the_one_in_brief_and_one_line_of_each_bar() -> None:
    app = app_for(InventedSource(sample.many(100)))
    async with running(app, NARROW):
        await shown(app, "service-00000:events")
        lines = screen_text(app).split("\n")
        assert len(lines) == 24
        assert lines[0].startswith(" streamops  prod  production")
        assert lines[1].split()[0] == "prod"
        assert lines[2].split()[:4] == ["STREAM", "GROUP", "HEALTH", "REASON"]
        assert sum("service-" in line for line in lines) == 15
        assert lines[22].strip().startswith("refresh 30 s")
        assert lines[23].strip().startswith("Enter open  C claim  T trim")
        assert app.frame.query_one("#pane").size.height == 3


async def test_a_wide_terminal_has_a_pane_with_findings_and_advice() -> None:
    app = app_for(shop_source())
    async with running(app, WIDE):
        await press(app, "f")
        await shown(app, "→ See whether")
        await shown(app, "Last delivered")


async def test_resizing_keeps_the_place_and_the_cursor() -> None:
    app = app_for(shop_source())
    async with running(app, WIDE):
        await press(app, *"jj", "enter")
        await resize(app, *NARROW)
        await shown(app, "▲ dead consumer")
        assert crumbs(app) == "prod ▸ orders ▸ fulfilment"
        await resize(app, 30, 8)
        await settle(app)
        await resize(app, 200, 60)
        await press(app, "escape")
        await shown(app, "▲ dead consumer")
        assert names(app)[list_of(app).cursor] == "orders/fulfilment"
        assert "findings" in {column.key for column in list_of(app).shown_columns}


async def test_columns_leave_as_the_terminal_narrows_and_names_stay() -> None:
    app = app_for(shop_source())
    async with running(app, (60, 24)):
        assert [column.key for column in list_of(app).shown_columns] == [
            "stream",
            "group",
            "health",
            "findings",
            "lag",
            "pending",
        ]
        assert "fulfilment" in screen_text(app)
        await resize(app, 160, 24)
        await until(app, lambda: "trend" in {column.key for column in list_of(app).shown_columns})


async def test_ages_of_pending_entries_show_at_120_columns_and_the_reason_has_what_a_wide_terminal_leaves() -> (
    None
):
    app = app_for(shop_source())
    async with running(app, WIDE):
        shown_keys = [column.key for column in list_of(app).shown_columns]
        assert {"findings", "oldest_pending_age_seconds", "oldest_pending_idle_seconds"} <= set(shown_keys)
        await resize(app, 200, 60)
        await shown(app, "dead consumer: worker-7 has not asked for 41 min and ho")
        await press(app, "6")
        await resize(app, *NARROW)
        await shown(app, " dead consumer  orders ")


async def test_the_theme_is_chosen_and_toggled() -> None:
    app = app_for(shop_source(), theme="light")
    async with running(app):
        assert app.theme == LIGHT_NAME
        app.action_toggle_theme()
        assert app.theme == COLOUR_BLIND_NAME
        app.action_toggle_theme()
        assert app.theme == DARK_NAME


async def test_nothing_moves_by_itself_but_data() -> None:
    app = app_for(shop_source())
    async with running(app):
        assert app.animation_level == "none"
        await press(app, "slash")
        assert app.frame.query_one(Input).cursor_blink is False


async def test_a_narrow_list_with_room_under_it_tells_the_row_under_the_cursor_there() -> None:
    app = app_for(shop_source())
    async with running(app, NARROW):
        await shown(app, "Nothing was delivered for 6 min while 1,204 entries wait.")
        pane = app.frame.query_one("#pane")
        assert pane.region.y > list_of(app).region.bottom - 1
        await press(app, "j")
        await shown(app, "One entry was delivered 27 times")


async def test_a_narrow_list_longer_than_the_screen_tells_what_is_wrong_with_the_row_under_the_cursor() -> (
    None
):
    found = Finding(
        FindingCode.STOPPED, Health.CRITICAL, "Nothing was delivered for 6 min", "Start a consumer"
    )
    many = sample.many(100)
    first = many.streams[0]
    groups = (replace(first.groups[0], findings=(found,)), *first.groups[1:])
    ailing = replace(many, streams=(replace(first, groups=groups), *many.streams[1:]))
    app = app_for(InventedSource(ailing))
    async with running(app, NARROW):
        await shown(app, "stopped: Nothing was delivered for 6 min")
        await shown(app, "→ Start a consumer")


async def test_a_group_without_consumers_is_told_under_its_empty_list() -> None:
    shop = sample.shop()
    bare = replace(shop, streams=tuple(_without_consumers(stream) for stream in shop.streams))
    app = app_for(InventedSource(bare))
    async with running(app, NARROW):
        await press(app, "enter")
        await shown(app, "the group has no consumers")
        await shown(app, "✗ stalled")


def _without_consumers(stream: StreamView) -> StreamView:
    groups = (replace(view, group=replace(view.group, members=())) for view in stream.groups)
    return replace(stream, groups=tuple(groups))
