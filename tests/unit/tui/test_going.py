"""Where keys lead: from place to place, by key, by palette and by what is typed."""

from importlib import import_module

import pytest
from textual.widgets import Input

from streamops.model.entries import EntryId, StreamEntry
from streamops.resources.actions import ACTIONS, KEYS
from streamops.tui import routes
from streamops.tui.screens.frame import Frame
from streamops.tui.screens.listing import Listing
from streamops.tui.widgets.line_view import LineView
from tests.support.tui.driving import (
    WIDE,
    bar,
    crumbs,
    list_of,
    names,
    places,
    press,
    running,
    screen_text,
    shown,
    until,
)
from tests.support.tui.shop import FAULTY, shop_source
from tests.support.tui.source import app_for

WALKS: dict[str, list[tuple[str, str]]] = {
    "down and back": [
        ("", "prod"),
        ("j j j j enter", "prod ▸ clicks ▸ heatmap"),
        ("enter", "prod ▸ clicks ▸ heatmap ▸ heat-0"),
        ("escape l", "prod ▸ clicks ▸ heatmap ▸ pending"),
        ("enter", "prod ▸ clicks ▸ heatmap ▸ pending ▸ 1773…-0"),
        ("escape", "prod ▸ clicks ▸ heatmap ▸ pending"),
        ("escape escape", "prod"),
        ("escape escape", "prod"),
        ("j j k enter", "prod ▸ inventory ▸ sync"),
        ("escape home j j j enter", "prod ▸ dead letters ▸ payments:dlq"),
    ],
    "tails": [
        ("j j j j t", "prod ▸ clicks ▸ tail"),
        ("enter", "prod ▸ clicks ▸ tail ▸ 1773…-0"),
        ("escape escape enter t", "prod ▸ clicks ▸ tail"),
        ("escape escape 2 t", "prod ▸ clicks ▸ tail"),
    ],
    "numbers": [
        ("2", "prod ▸ streams"),
        ("2", "prod ▸ streams"),
        ("down down down enter", "prod ▸ orders"),
        ("enter", "prod ▸ orders ▸ billing"),
        ("3", "prod"),
        ("1", "prod ▸ overview"),
        ("escape", "prod"),
        ("enter 6", "prod ▸ alerts"),
        ("7", "prod ▸ audit"),
    ],
    "names": [
        ("colon o r d escape", "prod"),
        ("colon enter", "prod"),
        ("colon o r d e r s enter", "prod ▸ orders"),
        ("colon c t x enter", "prod ▸ contexts"),
        ("colon s t a t u s enter", "prod"),
        ("question_mark", "prod"),
        ("question_mark question_mark escape", "prod"),
        ("f enter", "prod ▸ payments ▸ ledger"),
    ],
}


@pytest.mark.parametrize("name", WALKS)
async def test_keys_lead_to_places_and_back(name: str) -> None:
    app = app_for(shop_source())
    async with running(app):
        for keys, crumbs in WALKS[name]:
            await press(app, *keys.split())
            await until(app, lambda crumbs=crumbs: bar(app, "crumbs").split(" | ")[0] == crumbs)  # type: ignore[misc]


async def test_every_place_has_its_screen() -> None:
    for place in places():
        module, name = place.screen.split(":")
        found = getattr(import_module(f"streamops.tui.screens.{module}"), name)
        assert isinstance(found, Listing) or issubclass(found, Frame)


async def test_a_drill_down_reads_what_it_shows_and_no_more() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, "j", "j", "enter", "end", "enter")
        await until(app, lambda: len(list_of(app).rows) == 12)
        assert source.asked == [
            ("discovery",),
            ("pending", "orders", "fulfilment", "worker-7", None),
        ]


async def test_help_explains_the_focused_row_its_numbers_and_findings() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, "f", "question_mark", "enter")
        await shown(app, "payments ▸ ledger")
        text = screen_text(app)
        assert "✗ stalled" in text
        assert "Nothing was delivered for 6 min while 1,204 entries wait." in text
        view = app.frame.query_one("#main")
        lines = "\n".join("".join(cell.text for cell in line) for line in view.lines)  # type: ignore[attr-defined]
        assert "Entries of the stream not yet delivered to the group." in lines
        assert "streamops -c prod status" in lines
        assert "not readable: stream secrets" in lines
        assert [row.help for row in KEYS.values() if row.help not in lines] == []


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
        await press(app, "enter", "ctrl+q")
        assert app._exit
    assert source.closed


async def test_the_palette_runs_actions_and_finds_names() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, "ctrl+p", *"faults only")
        await until(app, lambda: "again: all rows" in screen_text(app))
        await press(app, "enter")
        await until(app, lambda: names(app) == FAULTY)
        await press(app, "ctrl+p", *"ledger")
        await until(
            app,
            lambda: (
                "payments ▸ ledger" in screen_text(app).split("PENDING")[0] or app.screen is not app.frame
            ),
        )
        await press(app, "enter")
        await until(app, lambda: crumbs(app) == "prod ▸ payments ▸ ledger")


async def test_every_action_of_the_palette_exists() -> None:
    app = app_for(shop_source())
    async with running(app):
        for action in ACTIONS:
            if action.title:
                runs = (action.runs or action.name).removeprefix("app.").partition("(")[0]
                assert hasattr(app, f"action_{runs}") or hasattr(app.frame, f"action_{runs}"), action


async def test_names_complete_in_the_go_to_line() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, "colon", *"inv")
        await until(app, lambda: app.frame.query_one(Input)._suggestion == "inventory")
        await press(app, "right", "enter")
        await until(app, lambda: crumbs(app) == "prod ▸ inventory")


COPIES = [
    [("j j j j y", "heatmap"), ("c", "streamops -c prod status"), ("home j j j y", "payments:dlq"), ("2 home y", "clicks")],
    [
        ("j j j j enter c", "streamops -c prod groups show clicks heatmap"),
        ("y", "heat-0"),
        ("enter c", "streamops -c prod pending ls --consumer=heat-0 clicks heatmap"),
        ("3 home j j enter l y", "1773487080000-0"),
    ],
    [("j j j j t c", "streamops -c prod streams tail -n 100 clicks"), ("y", "1773489599000-0"), ("enter y", "1773489599000-0")],
]  # fmt: skip


@pytest.mark.parametrize("walk", COPIES, ids=["lists", "a group", "a tail"])
async def test_ids_names_and_commands_are_copied(walk: list[tuple[str, str]]) -> None:
    app = app_for(shop_source())
    async with running(app):
        for keys, copied in walk:
            for key in keys.split():
                # A list that is read on demand is about all of it until its rows are there.
                if key == "y" and app.frame.query(LineView):
                    await until(app, lambda: bool(list_of(app).rows))
                await press(app, key)
            await until(app, lambda copied=copied: app.clipboard == copied)  # type: ignore[misc]
            await shown(app, f"copied by the terminal (OSC 52): {copied}"[:60])


async def test_a_click_presses_the_key_at_the_bottom_and_goes_back_to_a_crumb() -> None:
    app = app_for(shop_source())
    async with app.run_test(size=WIDE) as pilot:
        await press(app, "enter", "enter")
        await until(app, lambda: bar(app, "crumbs").startswith("prod ▸ payments ▸ ledger ▸ "))
        await pilot.click("#crumbs", offset=(bar(app, "crumbs").index("payments") + 2, 0))
        await until(app, lambda: crumbs(app) == "prod ▸ payments")
        await press(app, "escape", "enter", "enter")
        await pilot.click("#crumbs", offset=(bar(app, "crumbs").index("ledger") + 2, 0))
        await until(app, lambda: crumbs(app) == "prod ▸ payments ▸ ledger")
        await pilot.click("#crumbs", offset=(2, 0))
        await until(app, lambda: crumbs(app) == "prod")
        await pilot.click("#keys", offset=(bar(app, "keys").index("claim"), 0))
        await shown(app, "Claim pending entries for another consumer.")


async def test_an_id_alone_is_found_in_the_stream_that_has_it() -> None:
    source = shop_source()
    there = source.entries[0].id
    holds = source.read_entry

    async def only_of_emails(stream: str, entry_id: EntryId) -> StreamEntry | None:
        return await holds(stream, entry_id) if stream == "emails" else None

    source.read_entry = only_of_emails  # type: ignore[method-assign]
    app = app_for(source)
    async with running(app):
        await press(app, "colon", *str(there), "enter")
        await until(app, lambda: app.frame.place == routes.EntryRoute("emails", there))
        await press(app, "escape", "colon", *f"{there.ms}-77", "enter")
        await shown(app, f"{there.ms}-77 is in none of ")
