"""What acting never does, and what is offered and loaded only where it fits."""

import pytest

from streamops.tui.rows.selection import KEYS
from tests.support.tui import acts
from tests.support.tui.driving import NARROW, bar, press, running, settle, shown, until
from tests.support.tui.shop import shop_source
from tests.support.tui.source import app_for


@pytest.mark.parametrize("way", [[], ["enter", "l"]], ids=" ".join)
async def test_single_key_changes_nothing_on_the_server(way: list[str]) -> None:
    source = shop_source(jobs=(acts.JOB,), actions=(acts.action(1, acts.CLAIM, acts.DONE),))
    app = app_for(source)
    async with running(app, NARROW):
        await press(app, *way)
        place, view = app.frame.place, app.focused
        for key in [*KEYS, *"EPSZzs", "space", "delete"]:
            await press(app, key)
            if app.frame.place != place or app.screen is not app.frame or app.focused is not view:
                await press(app, "escape")
                app.go(place)
                await settle(app)
        assert not source.applied
        assert not source.cancelled


async def test_read_only_has_no_capitals_and_says_so() -> None:
    source = shop_source(jobs=(acts.JOB,), actions=(acts.action(1, acts.CLAIM, acts.DONE),))
    app = app_for(source, read_only=True)
    async with running(app):
        assert "read-only" in bar(app, "header")
        assert " plan" not in bar(app, "keys")
        for way in ("", "enter", "enter l", "4", "4 enter", "5", "5 5"):
            await press(app, "3", *way.split())
            assert not any(app.check_action("act", (key,)) for key in KEYS)
        await press(app, "3", *KEYS, "s", "4", "4", *"XRzz", "at", *"zz")
        assert not source.planned
        assert not source.cancelled
        await shown(app, "read-only: nothing is changed here")


async def test_the_palette_offers_what_fits_the_row() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, "ctrl+p")
        await press(app, *"groups create")
        await shown(app, "Plan: groups create")
        await press(app, "enter")
        await until(app, lambda: bar(app, "crumbs").endswith("groups create"))
        await shown(app, "payments")
