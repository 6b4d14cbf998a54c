"""Lists: filtered, sorted, and with a cursor that stays with its row."""

import pytest
from msgspec.structs import replace

from streamops.model.observation import Finding, FindingCode, Health
from streamops.model.streams import StreamRole
from streamops.tui.screens.listing import ORDER_HOLD
from tests.support import invented
from tests.support.tui import sample
from tests.support.tui.driving import bar, click, list_of, names, press, running, shown, until
from tests.support.tui.shop import ALL, FAULTY, shop_source
from tests.support.tui.source import InventedSource, app_for


async def test_the_first_screen_shows_every_stream_with_every_group() -> None:
    app = app_for(shop_source())
    async with running(app):
        assert names(app) == ALL
        await shown(app, "ledger     ✗ crit")


BY_GROUP = ["payments:dlq/-", *(row for row in sorted(ALL, key=lambda row: row.split("/")[1]) if row[-1] != "-")]  # fmt: skip
ORDERS = ["orders/fulfilment", "orders/billing", "orders/reports"]


async def test_lists_are_filtered_by_faults_and_words() -> None:
    app = app_for(shop_source())
    async with running(app):
        for keys, expected in (
            ("f", FAULTY),
            ("f", ALL),
            ("f escape", ALL),
            ("slash o r d", ORDERS),
            ("escape", ALL),
            ("slash o r d enter", ORDERS),
            ("f", ["orders/fulfilment"]),
            ("f slash backspace backspace backspace enter", ALL),
            ("slash p o i s o n enter", ["emails/mailer"]),
            ("escape", ALL),
            ("slash c r i t enter escape slash z z z enter", []),
            ("escape i", ALL[::-1]),
            ("i o o", BY_GROUP),
        ):
            await press(app, *keys.split())
            await until(app, lambda expected=expected: names(app) == expected)  # type: ignore[misc]


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
        await shown(app, "none of 9 rows matches zzz; Esc shows all")
        await press(app, "escape", "slash", *"inventory", "enter")
    healthy = sample.observation(*(view for view in sample.shop().streams if view.stream.name == "inventory"))
    app = app_for(InventedSource(healthy))
    async with running(app):
        await press(app, "f")
        await shown(app, "no faults among 1 rows; f shows all")


@pytest.mark.parametrize(
    ("complete", "words"),
    [
        (True, "no streams in db 0; its keys were scanned"),
        (False, "no streams in db 0 so far; the scan of its keys is not finished"),
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
        await press(app, *"jj")
        assert names(app)[list_of(app).cursor] == "orders/fulfilment"
        await press(app, "i")
        await until(app, lambda: names(app)[list_of(app).cursor] == "orders/fulfilment")
        shop = sample.shop()
        source.observation = replace(shop, streams=shop.streams[2:])
        await press(app, "r")
        await until(app, lambda: len(names(app)) == 7)
        assert names(app)[list_of(app).cursor] == "orders/fulfilment"


async def test_rows_keep_their_order_just_after_the_cursor_moved_and_are_sorted_again_later() -> None:
    first, second = (sample.stream_view(name, sample.group_view(name, invented.group("g"))) for name in "ab")
    source = InventedSource(sample.observation(first, second))
    app = app_for(source)
    async with running(app):
        await press(app, "j")
        source.observation = sample.observation(second, first)
        await press(app, "r")
        await until(app, lambda: app.app_state.observation is source.observation)
        assert names(app) == ["a/g", "b/g"]
        list_of(app).moved_at -= ORDER_HOLD
        app.frame.show(app.app_state)
        assert names(app) == ["b/g", "a/g"]


async def test_matches_are_walked_around_the_ends() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, "slash", *"orders", "enter", "b")
        assert names(app)[list_of(app).cursor] == "orders/reports"
        await press(app, "n", "n")
        assert names(app)[list_of(app).cursor] == "orders/billing"


async def test_trends_of_a_list_have_one_scale_and_stand_beside_their_lags() -> None:
    quiet = sample.stream_view("quiet", sample.group_view("quiet", invented.group("g"), trend=(0, 8, 0, 1)))
    loud = sample.stream_view("loud", sample.group_view("loud", invented.group("g"), trend=(0, 250, 500)))
    source = InventedSource(sample.observation(quiet))
    app = app_for(source)
    async with running(app, (200, 30), drawn=True):
        await shown(app, "LAG  TREND")
        await shown(app, "▁▇▁▂")
        source.observation = sample.observation(quiet, loud)
        await press(app, "r")
        await shown(app, "▁▅█")
        await shown(app, "▁▂▁▂")
        source.observation = sample.observation(quiet)
        await press(app, "r")
        await shown(app, "▁▇▁▂")


async def test_the_header_counts_a_group_as_its_row_shows_it_with_what_its_retry_stream_has() -> None:
    stalled = Finding(FindingCode.STALLED, Health.CRITICAL, "Nothing was acknowledged for 6 min", "")
    observation = sample.observation(
        sample.stream_view("orders", sample.group_view("orders", invented.group("billing"))),
        sample.stream_view(
            "orders:retry:billing",
            sample.group_view("orders:retry:billing", invented.group("billing"), stalled),
            role=StreamRole.RETRY,
            source="orders",
        ),
    )
    app = app_for(InventedSource(observation))
    async with running(app):
        await shown(app, "billing")
        assert names(app) == ["orders/billing"]
        assert "✗ crit 1" in bar(app, "header")
        assert "ok" not in bar(app, "header")


async def test_a_stream_of_streamops_itself_is_shown_to_who_asks_for_it_alone() -> None:
    shop = sample.shop()
    audit = sample.stream_view("streamops:audit", length=3)
    app = app_for(InventedSource(replace(shop, streams=(*shop.streams, audit))))
    async with running(app):
        assert names(app) == ALL
        await press(app, "2")
        await until(app, lambda: "clicks" in names(app))
        assert "streamops:audit" not in names(app)
        await press(app, "colon", *"streamops:audit", "enter")
        await until(app, lambda: names(app) == ["streamops:audit/-"])
