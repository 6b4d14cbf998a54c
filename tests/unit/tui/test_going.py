"""Where keys lead: from place to place, by key, by palette and by what is typed."""

import asyncio
from importlib import import_module
from typing import get_args

import pytest
from textual.widgets import Input

from streamops.tui import places
from streamops.tui.providers import ACTIONS
from streamops.tui.screens.frame import Frame
from streamops.tui.screens.help import ACTING, FINDING, LOOKING, MOVING
from streamops.tui.screens.opening import SCREENS
from tests.support.tui.driving import bar, list_of, names, press, running, screen_text, shown, until
from tests.support.tui.shop import FAULTY, shop_source
from tests.support.tui.source import app_for


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
        ("end up enter", "prod ▸ dead letters ▸ payments:dlq"),
        ("j j j j enter", "prod ▸ orders ▸ fulfilment"),
        ("j j j k enter", "prod ▸ inventory ▸ sync"),
        ("t", "prod ▸ clicks ▸ tail"),
        ("t enter", "prod ▸ clicks ▸ tail ▸ 1773…-0"),
        ("enter t", "prod ▸ clicks ▸ tail"),
        ("2", "prod ▸ streams"),
        ("2 2", "prod ▸ streams"),
        ("2 down down down enter", "prod ▸ orders"),
        ("2 down down down enter enter", "prod ▸ orders ▸ billing"),
        ("2 enter 3", "prod"),
        ("1", "prod ▸ pulse"),
        ("2 enter 1 escape", "prod"),
        ("enter 6", "prod ▸ alerts"),
        ("7", "prod ▸ audit"),
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
    for target in SCREENS.values():
        module, name = target.split(":")
        assert issubclass(getattr(import_module(module), name), Frame)


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
        for key, _ in (*MOVING, *FINDING, *LOOKING, *ACTING):
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
        await shown(app, f"copied by the terminal (OSC 52): {copied}"[:60])
