"""The console under Pilot: where keys lead, and what stands on the screen."""

import asyncio
from datetime import timedelta
from typing import get_args

import pytest
from msgspec.structs import replace
from textual import events
from textual.widgets import Input

from streamops.errors import ExitCode, Refused, Unreachable
from streamops.model.streams import StreamRole
from streamops.tui import places
from streamops.tui.providers import ACTIONS
from streamops.tui.screens.entry import EntryScreen
from streamops.tui.screens.help import KEYS
from streamops.tui.screens.opening import SCREENS
from streamops.tui.theme import DARK_NAME, LIGHT_NAME
from tests.tui import sample
from tests.tui.driving import (
    NARROW,
    WIDE,
    bar,
    click,
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
from tests.tui.source import InventedSource, app_for

ALL = [
    "clicks/heatmap",
    "emails/mailer",
    "inventory/sync",
    "orders/billing",
    "orders/fulfilment",
    "orders/reports",
    "payments/ledger",
    "payments:dlq/-",
    "sensors/store",
]
FAULTY = ["emails/mailer", "orders/fulfilment", "payments/ledger", "payments:dlq/-"]
REFUSED = Unreachable("cannot connect: connection refused", "check that the server runs")


def shop_source() -> InventedSource:
    return InventedSource(sample.shop(), sample.entries(), sample.pending_rows())


# -- where keys lead ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "crumbs"),
    [
        ("", "prod"),
        ("enter", "prod ▸ clicks ▸ heatmap"),
        ("enter enter", "prod ▸ clicks ▸ heatmap ▸ heat-0"),
        ("enter l", "prod ▸ clicks ▸ heatmap ▸ pending"),
        ("enter l enter", "prod ▸ clicks ▸ heatmap ▸ pending ▸ 1773…-0"),
        ("enter l enter escape", "prod ▸ clicks ▸ heatmap ▸ pending"),
        ("enter l enter escape escape escape", "prod"),
        ("enter l enter escape escape escape escape escape", "prod"),
        ("end up enter", "prod ▸ payments:dlq"),
        ("j j j j enter", "prod ▸ orders ▸ fulfilment"),
        ("j j j k enter", "prod ▸ inventory ▸ sync"),
        ("t", "prod ▸ clicks ▸ tail"),
        ("t enter", "prod ▸ clicks ▸ tail ▸ 1773…-0"),
        ("enter t", "prod ▸ clicks ▸ tail"),
        ("2", "prod ▸ streams"),
        ("2 2", "prod ▸ streams"),
        ("2 down down down enter", "prod ▸ orders"),
        ("2 down down down enter enter", "prod ▸ orders ▸ billing"),
        ("2 enter 1", "prod"),
        ("2 t", "prod ▸ clicks ▸ tail"),
        ("colon o r d e r s enter", "prod ▸ orders"),
        ("colon c t x enter", "prod ▸ contexts"),
        ("colon s t r e a m s enter", "prod ▸ streams"),
        ("2 colon s t a t u s enter", "prod"),
        ("colon o r d escape", "prod"),
        ("colon enter", "prod"),
        ("question_mark", "prod"),
        ("question_mark question_mark escape", "prod"),
        ("f enter", "prod ▸ emails ▸ mailer"),
    ],
)
async def test_keys_lead_to_places_and_back(keys: str, crumbs: str) -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, *keys.split())
        await until(app, lambda: bar(app, "crumbs").split(" | ")[0] == crumbs)


async def test_every_place_has_its_screen() -> None:
    assert set(SCREENS) == set(get_args(places.Place))


async def test_a_drill_down_reads_what_it_shows_and_no_more() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, "j", "j", "j", "j", "enter", "end", "enter")
        await until(app, lambda: len(list_of(app).rows) == 12)
        assert source.asked == [
            ("discovery",),
            ("pending", "orders", "fulfilment", "worker-7", None),
        ]


async def test_help_explains_the_focused_row_its_numbers_and_findings() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, "f", "j", "j", "question_mark")
        await shown(app, "payments ▸ ledger")
        text = screen_text(app)
        assert "✗ stalled" in text
        assert "Nothing was delivered for 6 min while 1,204 entries wait." in text
        view = app.frame.query_one("#main")
        lines = "\n".join("".join(cell.text for cell in line) for line in view.lines)  # type: ignore[attr-defined]
        assert "Entries of the stream that the group has not been given yet." in lines
        assert "streamops -c prod status" in lines
        assert "not readable: stream secrets" in lines
        for key, _ in KEYS:
            assert key in lines


async def test_q_quits_on_the_first_screen_only() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, "enter", "q")
        await shown(app, "Esc goes back, Ctrl-Q quits")
        await press(app, "escape", "q")
        assert app.return_code == 0
        assert not app.is_running or app._exit


async def test_ctrl_q_quits_anywhere() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, "enter", "l", "ctrl+q")
        assert app._exit
    assert source.closed


# -- lists -------------------------------------------------------------------------------------------


async def test_the_first_screen_shows_every_stream_with_every_group() -> None:
    app = app_for(shop_source())
    async with running(app):
        assert names(app) == ALL
        await shown(app, "payments     ledger     ✗ crit         1,204       6m00s        5   6m12s ▂▃▄▅▆▆▇█")


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("f", FAULTY),
        ("f f", ALL),
        ("f escape", ALL),
        ("slash o r d enter", ["orders/billing", "orders/fulfilment", "orders/reports"]),
        ("slash o r d", ["orders/billing", "orders/fulfilment", "orders/reports"]),
        ("slash o r d enter escape", ALL),
        ("slash o r d escape", ALL),
        ("slash o r d enter f", ["orders/fulfilment"]),
        ("slash o r d enter slash backspace backspace backspace enter", ALL),
        ("slash p o i s o n enter", ["emails/mailer"]),
        ("slash c r i t enter", ["payments/ledger"]),
        ("slash z z z enter", []),
        ("i", ALL[::-1]),
        (
            "o o",
            [
                "payments:dlq/-",
                *(row for row in sorted(ALL, key=lambda row: row.split("/")[1]) if row[-1] != "-"),
            ],
        ),
    ],
)
async def test_lists_are_filtered_and_sorted(keys: str, expected: list[str]) -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, *keys.split())
        await until(app, lambda: names(app) == expected)


async def test_sorting_goes_through_the_visible_columns_and_back_to_none() -> None:
    app = app_for(shop_source())
    async with running(app):
        keys = [column.key for column in list_of(app).shown_columns]
        seen = []
        for _ in range(len(keys) + 1):
            await press(app, "o")
            seen.append(app.frame.wish.sort)  # type: ignore[attr-defined]
        assert seen == [*keys, None]
        assert names(app) == ALL


async def test_sorted_by_health_the_worst_is_on_top_and_the_column_is_marked() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, "o", "o", "o")
        await until(app, lambda: names(app)[0] == "payments/ledger")
        await shown(app, "HEALTH▾")
        await press(app, "i")
        await until(app, lambda: names(app)[-1] == "payments/ledger")
        await shown(app, "HEALTH▴")


async def test_a_click_on_a_title_sorts_and_a_double_click_on_a_row_opens() -> None:
    app = app_for(shop_source())
    async with running(app):
        await click(app, at=(27, 0))
        await until(app, lambda: app.frame.wish.sort == "health")  # type: ignore[attr-defined]
        await click(app, at=(27, 0))
        await until(app, lambda: not app.frame.wish.descending)  # type: ignore[attr-defined]
        await click(app, at=(5, 3))
        assert list_of(app).cursor == 2
        await click(app, times=2, at=(5, 3))
        await until(app, lambda: "▸" in bar(app, "crumbs"))


async def test_an_empty_selection_says_why() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, "slash", *"zzz", "enter")
        await shown(app, "none of 9 rows holds zzz; Esc shows all")
        await press(app, "escape", "slash", *"inventory", "enter")
    healthy = sample.observation(*(view for view in sample.shop().streams if view.stream.name == "inventory"))
    app = app_for(InventedSource(healthy))
    async with running(app):
        await press(app, "f")
        await shown(app, "no faults among 1 rows; f shows all")


@pytest.mark.parametrize(
    ("complete", "words"),
    [
        (True, "no streams in db 0 that match what is watched, when its keys were last scanned"),
        (False, "no streams in db 0 so far; the scan of its keys is not through yet"),
    ],
)
async def test_an_empty_server_says_so(*, complete: bool, words: str) -> None:
    app = app_for(InventedSource(sample.observation(complete=complete)))
    async with running(app):
        await shown(app, words)
        await press(app, "2")
        await shown(app, words)


async def test_the_cursor_stays_with_its_row() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *"jjjj")
        assert names(app)[list_of(app).cursor] == "orders/fulfilment"
        await press(app, "i")
        await until(app, lambda: names(app)[list_of(app).cursor] == "orders/fulfilment")
        shop = sample.shop()
        source.observation = replace(shop, streams=shop.streams[2:])
        await press(app, "r")
        await until(app, lambda: len(names(app)) == 7)
        assert names(app)[list_of(app).cursor] == "orders/fulfilment"


async def test_matches_are_walked_around_the_ends() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, "slash", *"orders", "enter", "b")
        assert names(app)[list_of(app).cursor] == "orders/reports"
        await press(app, "n", "n")
        assert names(app)[list_of(app).cursor] == "orders/fulfilment"


# -- layouts -----------------------------------------------------------------------------------------


async def test_eighty_by_twenty_four_has_twenty_rows_and_one_line_of_each_bar() -> None:
    app = app_for(InventedSource(sample.many(100)))
    async with running(app, NARROW):
        await shown(app, "service-00000:events")
        lines = screen_text(app).split("\n")
        assert len(lines) == 24
        assert lines[0].startswith(" streamops  prod  production")
        assert lines[1].strip() == "prod"
        assert lines[2].split()[:4] == ["STREAM", "GROUP", "HEALTH", "LAG"]
        assert sum("service-" in line for line in lines) == 19
        assert lines[22].strip().startswith("every 30s")
        assert lines[23].strip().startswith("enter open  C T W X plan")
        assert app.frame.query_one("#pane").display is False


async def test_a_wide_terminal_has_a_pane_with_findings_and_advice() -> None:
    app = app_for(shop_source())
    async with running(app, WIDE):
        await press(app, "f", "j", "j")
        await shown(app, "→ See whether")
        await shown(app, "Last delivered")


async def test_resizing_keeps_the_place_and_the_cursor() -> None:
    app = app_for(shop_source())
    async with running(app, WIDE):
        await press(app, *"jjjj", "enter")
        await resize(app, *NARROW)
        await shown(app, "▲ dead consumer")
        assert bar(app, "crumbs") == "prod ▸ orders ▸ fulfilment"
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
            "lag",
            "pending",
        ]
        assert "fulfilment" in screen_text(app)
        await resize(app, 160, 24)
        await until(app, lambda: "trend" in {column.key for column in list_of(app).shown_columns})


# -- freshness ---------------------------------------------------------------------------------------


async def test_a_new_observation_is_shown() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        source.observation = sample.observation(sample.stream_view("fresh"))
        await press(app, "r")
        await until(app, lambda: names(app) == ["fresh/-"])


async def test_freezing_keeps_the_screen_and_going_on_shows_the_newest() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, "p")
        await shown(app, "‖ frozen, 0s old (p)")
        source.observation = sample.observation(sample.stream_view("fresh"))
        polls = source.polls
        await press(app, "r")
        await until(app, lambda: source.polls > polls)
        await settle(app)
        assert names(app) == ALL
        await press(app, "p")
        await until(app, lambda: names(app) == ["fresh/-"])
        assert "frozen" not in bar(app, "status")


async def test_the_refresh_rate_is_chosen_by_plus_and_minus() -> None:
    app = app_for(shop_source(), every=timedelta(seconds=2))
    async with running(app):
        seen = []
        for key in ["plus", "plus", "plus", "plus", "plus", *["minus"] * 6]:
            await press(app, key)
            seen.append(bar(app, "status").split(" ·")[0])
        assert seen == [
            "every 5s", "every 10s", "every 30s", "refresh off, 0s old (r)", "refresh off, 0s old (r)",
            "every 30s", "every 10s", "every 5s", "every 2s", "every 1s", "every 1s",
        ]  # fmt: skip


async def test_out_of_focus_it_slows_down_and_back_in_focus_it_polls_at_once() -> None:
    source = shop_source()
    app = app_for(source, every=timedelta(seconds=2))
    async with running(app):
        app.post_message(events.AppBlur())
        await until(app, lambda: bar(app, "status").startswith("every 10s (out of focus)"))
        polls = source.polls
        app.post_message(events.AppFocus())
        await until(app, lambda: bar(app, "status").startswith("every 2s ·"))
        await until(app, lambda: source.polls > polls)


async def test_a_lost_connection_keeps_the_data_and_says_so() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        source.observation = REFUSED
        await press(app, "r")
        await shown(app, "✗ data 0s old · next try in 1s · cannot connect: connection refused")
        assert "check that the server runs" in bar(app, "banner")
        assert "· stale" in bar(app, "status")
        assert names(app) == ALL
        await press(app, "enter")
        await shown(app, "· cannot connect: connection refused")
        source.observation = sample.shop()
        await press(app, "r")
        await until(app, lambda: not app.frame.query_one("#banner").display)
        assert "stale" not in bar(app, "status")


async def test_the_countdown_moves_by_itself() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        source.observation = REFUSED
        for _ in range(3):
            await press(app, "r")
            await asyncio.sleep(0.02)
        await until(app, lambda: "next try in 4s" in bar(app, "banner"))
        await asyncio.sleep(1.1)
        await until(app, lambda: "next try in 3s" in bar(app, "banner"))


async def test_without_a_first_connection_it_leaves_with_the_reason() -> None:
    app = app_for(InventedSource(Refused("wrong password", "check STREAMOPS_URL")))
    async with app.run_test():
        await until(app, lambda: app._exit)
    assert app.error is not None
    assert (app.error.message, app.return_code) == ("wrong password", ExitCode.REFUSED)


async def test_an_unforeseen_failure_is_a_banner_and_r_tries_again() -> None:
    source = shop_source()
    app = app_for(source)

    def fail() -> None:
        raise ZeroDivisionError("by zero")

    async with running(app):
        source.before_answer = fail
        await press(app, "r")
        await shown(app, "internal error: ZeroDivisionError: by zero")
        assert names(app) == ALL
        source.before_answer = lambda: None
        await press(app, "r")
        await until(app, lambda: not app.frame.query_one("#banner").display)


# -- pages on demand ---------------------------------------------------------------------------------


async def test_pending_entries_are_read_page_by_page_as_the_cursor_goes() -> None:
    source = InventedSource(sample.shop(), pending=sample.pending_rows(250))
    app = app_for(source)
    async with running(app):
        await press(app, *"jjjj", "enter", "l")
        await until(app, lambda: len(list_of(app).rows) == 100)
        assert "and more" in bar(app, "status")
        await press(app, "end")
        await until(app, lambda: len(list_of(app).rows) == 200)
        await press(app, "end")
        await until(app, lambda: len(list_of(app).rows) == 250)
        assert "and more" not in bar(app, "status")
        await press(app, "home", "r")
        await until(app, lambda: len(list_of(app).rows) == 100)


async def test_a_refused_read_is_told_on_its_own_screen_only() -> None:
    source = shop_source()
    source.fails = None
    app = app_for(source)
    async with running(app):
        await press(app, "enter")
        source.fails = Refused("NOPERM: this user has no permission to run 'xpending'")
        await press(app, "l")
        await shown(app, "NOPERM: this user has no permission to run 'xpending'")
        assert not app.frame.query_one("#banner").display
        source.fails = None
        await press(app, "r")
        await until(app, lambda: len(list_of(app).rows) == 14)


async def test_a_trimmed_entry_says_that_it_is_gone() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, *"jjjj", "enter", "l", "enter")
        await shown(app, "1773487080000-0 is no longer in the stream: it was trimmed or deleted")


async def test_an_entry_is_searched_and_shown_raw() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app, NARROW):
        await press(app, "t")
        await until(app, lambda: len(list_of(app).rows) == 40)
        await press(app, "enter")
        await shown(app, '"customer": "c-273"')
        await press(app, "v")
        await shown(app, '{"customer": "c-273", "total": "39.90", "lines": [1, 2]}')
        await press(app, "slash", *"paid", "enter")
        await until(app, lambda: "/paid  0 lines" in bar(app, "crumbs"))
        await press(app, "slash", *["backspace"] * 4, *"c-273", "enter")
        await until(app, lambda: "/c-273  1 lines" in bar(app, "crumbs"))
        await press(app, "n", "b", "escape")
        assert "/c-273" not in bar(app, "crumbs")
        assert isinstance(app.frame, EntryScreen)


async def test_the_tail_follows_until_the_cursor_leaves_the_end() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, "t")
        await until(app, lambda: len(list_of(app).rows) == 40)
        await until(app, lambda: ("tail", "clicks", sample.entries()[-1].id) in source.asked)
        assert "following" in bar(app, "status")
        for entry in sample.entries(45)[40:43]:
            source.arriving.put_nowait(replace(entry, id=entry.id._replace(seq=1)))
        await until(app, lambda: len(list_of(app).rows) == 43)
        assert list_of(app).cursor == 42
        await press(app, "up")
        source.arriving.put_nowait(
            replace(sample.entries(45)[44], id=sample.entries()[-1].id._replace(seq=9))
        )
        await until(app, lambda: len(list_of(app).rows) == 44)
        assert list_of(app).cursor == 41
        await until(app, lambda: "t follows" in bar(app, "status"))
        await press(app, "t")
        assert list_of(app).cursor == 43


async def test_a_frozen_tail_holds_still_and_catches_up() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, "t")
        await until(app, lambda: ("tail", "clicks", sample.entries()[-1].id) in source.asked)
        await press(app, "p")
        source.arriving.put_nowait(replace(sample.entries()[-1], id=sample.entries()[-1].id._replace(seq=1)))
        await until(app, source.arriving.empty)
        await asyncio.sleep(0.1)
        assert len(list_of(app).rows) == 40
        await press(app, "p")
        await until(app, lambda: len(list_of(app).rows) == 41)


async def test_older_entries_are_read_at_the_top() -> None:
    source = InventedSource(sample.shop(), sample.entries(250))
    app = app_for(source)
    async with running(app):
        await press(app, "t")
        await until(app, lambda: len(list_of(app).rows) == 100)
        await press(app, "home")
        await until(app, lambda: len(list_of(app).rows) == 200)
        assert list_of(app).cursor == 100
        assert [row.entry for row in list_of(app).rows] == list(sample.entries(250)[50:])  # type: ignore[attr-defined]


async def test_a_tail_that_breaks_off_says_so_and_recovers() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, "t")
        await until(app, lambda: ("tail", "clicks", sample.entries()[-1].id) in source.asked)
        source.arriving.put_nowait(REFUSED)
        await shown(app, "tail broke off: cannot connect: connection refused")
        source.arriving.put_nowait(replace(sample.entries()[-1], id=sample.entries()[-1].id._replace(seq=1)))
        await until(app, lambda: len(list_of(app).rows) == 41)
        await until(app, lambda: "broke off" not in bar(app, "status"))


async def test_leaving_a_tail_ends_it() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, "t")
        await until(app, lambda: ("tail", "clicks", sample.entries()[-1].id) in source.asked)
        await press(app, "escape")
        await asyncio.sleep(0.05)
        source.arriving.put_nowait(sample.entries()[0])
        await asyncio.sleep(0.05)
        assert source.arriving.qsize() == 1


async def test_a_stream_that_vanishes_says_so_where_it_was_open() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, "2", "down", "down", "down", "enter", "enter")
        source.observation = sample.observation(sample.stream_view("other"))
        await press(app, "r")
        await shown(app, "group billing is not there (any more)")
        await press(app, "escape")
        await shown(app, "stream orders is not there (any more)")


async def test_unreadable_consumers_say_why() -> None:
    shop = sample.shop()
    stream = next(view for view in shop.streams if view.stream.name == "inventory")
    group = replace(stream.groups[0], group=replace(stream.groups[0].group, members=None))
    gap = replace(shop.snapshot.gaps[0], stream="inventory", group="sync", part="consumers")
    app = app_for(InventedSource(sample.observation(replace(stream, groups=(group,)), gaps=(gap,))))
    async with running(app):
        await press(app, "enter")
        await shown(app, "not readable: NOPERM")


# -- contexts, clipboard, palette --------------------------------------------------------------------


async def test_another_context_is_connected_to_and_nothing_of_the_first_stays() -> None:
    first, second = shop_source(), InventedSource(sample.observation(sample.stream_view("elsewhere")))
    app = app_for(first, second)
    async with running(app):
        await press(app, "f", "colon", *"ctx", "enter")
        await shown(app, "▸  prod     production")
        await press(app, "down", "enter")
        await until(app, lambda: bar(app, "header").startswith("streamops  staging  staging"))
        await press(app, "f")
        await until(app, lambda: names(app) == ["elsewhere/-"])
        assert first.closed
        assert not second.closed
        await press(app, "colon", *"ctx prod", "enter")
        await until(app, lambda: names(app) == ALL)


async def test_an_unknown_context_is_refused_in_words() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, "colon", *"ctx moon", "enter")
        await shown(app, "no context is named moon")
        assert names(app) == ALL


async def test_a_context_that_cannot_be_reached_is_a_banner_not_the_end() -> None:
    app = app_for(shop_source(), InventedSource(REFUSED))
    async with running(app):
        await press(app, "colon", *"ctx staging", "enter")
        await shown(app, "✗ next try in 1s · cannot connect: connection refused")
        await shown(app, "no connection yet")
        assert not app._exit


@pytest.mark.parametrize(
    ("keys", "copied"),
    [
        ("y", "heatmap"),
        ("end up y", "payments:dlq"),
        ("enter y", "heat-0"),
        ("j j j j enter l y", "1773487080000-0"),
        ("t y", "1773489599000-0"),
        ("t enter y", "1773489599000-0"),
        ("2 y", "clicks"),
        ("c", "streamops -c prod status"),
        ("enter c", "streamops -c prod groups info clicks heatmap"),
        ("enter enter c", "streamops -c prod pending ls --consumer=heat-0 clicks heatmap"),
        ("t c", "streamops -c prod streams tail -n 100 clicks"),
    ],
)
async def test_ids_names_and_commands_are_copied(keys: str, copied: str) -> None:
    app = app_for(shop_source())
    async with running(app):
        for key in keys.split():
            await press(app, key)
            await asyncio.sleep(0.05)
        await until(app, lambda: app.clipboard == copied)
        await shown(app, f"copied {copied}"[:60])


async def test_the_palette_runs_actions_and_finds_names() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, "ctrl+p", *"faults only")
        await until(app, lambda: "and everything again" in screen_text(app))
        await press(app, "enter")
        await until(app, lambda: names(app) == FAULTY)
        await press(app, "ctrl+p", *"ledger")
        await until(
            app,
            lambda: (
                "payments ▸ ledger" in screen_text(app).split("PENDING")[0] or app.screen is not app.frame
            ),
        )
        await asyncio.sleep(0.4)
        await press(app, "enter")
        await until(app, lambda: bar(app, "crumbs") == "prod ▸ payments ▸ ledger")


async def test_every_action_of_the_palette_exists() -> None:
    app = app_for(shop_source())
    async with running(app):
        for _, action, _ in ACTIONS:
            where, _, verb = action.partition(".")
            assert hasattr(app if where == "app" else app.frame, f"action_{verb}"), action


async def test_names_complete_in_the_go_to_line() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, "colon", *"inv")
        await until(app, lambda: app.frame.query_one(Input)._suggestion == "inventory")
        await press(app, "right", "enter")
        await until(app, lambda: bar(app, "crumbs") == "prod ▸ inventory")


async def test_the_theme_is_chosen_and_toggled() -> None:
    app = app_for(shop_source(), theme="light")
    async with running(app):
        assert app.theme == LIGHT_NAME
        app.action_toggle_theme()
        assert app.theme == DARK_NAME


async def test_nothing_moves_by_itself_but_data() -> None:
    app = app_for(shop_source())
    async with running(app):
        assert app.animation_level == "none"
        await press(app, "slash")
        assert app.frame.query_one(Input).cursor_blink is False


async def test_dead_letters_show_as_such() -> None:
    app = app_for(shop_source())
    async with running(app, (200, 50)):
        await press(app, "2", "slash", *"dead_letters", "enter")
        await until(app, lambda: names(app) == ["payments:dlq"])
        await shown(app, StreamRole.DEAD_LETTERS)
