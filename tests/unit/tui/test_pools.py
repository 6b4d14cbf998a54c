"""Pools: how many workers each has and wants, why, and steering whoever decides."""

import asyncio

from msgspec import Struct
from msgspec.structs import replace

from streamops.errors import Unreachable
from streamops.model.pools import PoolSize
from streamops.operations.autoscale.intent import (
    LimitsIntent,
    OverrideIntent,
    PauseScalingIntent,
    ResumeScalingIntent,
)
from streamops.resources.pools import PoolRow
from streamops.tui.app import StreamopsApp
from tests.support.invented import NOW
from tests.support.tui import sample
from tests.support.tui.driving import NARROW, bar, list_of, names, press, running, screen_text, shown, until
from tests.support.tui.invented_pools import pools
from tests.support.tui.shop import shop_source
from tests.support.tui.source import InventedSource, app_for

NAMES = ["billing", "by hand", "mail", "night"]


async def opens(app: StreamopsApp, source: InventedSource, keys: str, intent: Struct) -> None:
    """A capital, what is typed into its form, and Enter make a plan of an intent; then back."""
    source.planned.clear()
    await press(app, *keys, "enter")
    await until(app, lambda: bool(source.planned))
    assert source.planned[-1][0] == intent
    await press(app, "escape", "escape")


async def to_pools(app: StreamopsApp) -> None:
    await press(app, "5", "5")
    await until(app, lambda: names(app) == NAMES)


async def test_five_leads_to_workers_and_from_there_to_pools_and_back() -> None:
    app = app_for(shop_source())
    async with running(app):
        await to_pools(app)
        assert app.frame.command_text() == "streamops -c prod pools ls"
        await press(app, "f")
        assert names(app) == ["mail", "night"]
        await press(app, "5")
        await until(app, lambda: len(list_of(app).rows) == 3)
        assert app.frame.command_text() == "streamops -c prod workers ls"
        # Each stood in the place of the other.
        await press(app, "escape")
        assert app.frame.command_text() == "streamops -c prod status"
        await press(app, "colon", *"pools", "enter")
        await until(app, lambda: names(app) == NAMES)


def test_decision_made_at_other_numbers_of_workers_says_how_old_it_is() -> None:
    for size, words in (
        (PoolSize(ordered=9, ready=6), "backlog: 1,240"),
        (PoolSize(ordered=9, ready=9), "backlog, 4.0s ago: 1,240"),
        (PoolSize(ordered=7), "backlog, 4.0s ago: 1,240"),
    ):
        assert PoolRow(pools()[0], size, now=NOW).why.startswith(words)


async def test_the_screen_shows_why_each_pool_has_the_workers_it_has() -> None:
    app = app_for(shop_source())
    async with running(app, (160, 50)):
        await to_pools(app)
        await shown(app, "backlog: 1,240 waiting, 19 s of wait ahead of 6 workers")
        await shown(app, "9 workers, 6 ready")
        await shown(app, "predicted 19s")
        await shown(app, "More from about 3,735 waiting")
        # What was decided before is read for the one under the cursor.
        await press(app, "r")
        await shown(app, "arrivals  4 → 6  failed")
        await press(app, "down")
        await shown(app, "set by ada@bastion-1: lunch")
        await press(app, "end")
        await shown(app, "controller: none; last")
        row = next(line for line in screen_text(app).splitlines() if line.startswith(" night"))
        assert "backlog" not in row
        assert "no controller scales it" in row


async def test_a_pool_leads_to_the_decisions_about_it() -> None:
    app = app_for(shop_source())
    async with running(app, NARROW):
        await to_pools(app)
        await press(app, "enter")
        await shown(app, "rate per worker 41.5/s, busy 97 %")
        assert bar(app, "crumbs").startswith("prod ▸ pools ▸ billing")
        assert app.frame.command_text() == "streamops -c prod pools explain billing"
        # Textual lets a text scroll once its bar is laid out.
        await until(app, lambda: app.frame.query_one("#main").show_vertical_scrollbar)
        await asyncio.sleep(0.05)
        await press(app, "end")
        await shown(app, "idle  6 → 4  done")
        await shown(app, "✗ deployment shop/billing: conflict")
        await press(app, "l")
        assert bar(app, "crumbs").startswith("prod ▸ orders ▸ billing")


async def test_pool_is_read_again_with_every_observation_and_stays_where_it_cannot_be() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await to_pools(app)
        await press(app, "enter")
        await shown(app, "6 → 9")
        source.beside.pools = (replace(source.beside.pools[0], lead=None), *source.beside.pools[1:])
        source.observation = replace(sample.shop())
        app.live.poller.poll_now()
        await shown(app, "no controller runs: `streamops autoscale run` starts one")
        source.beside.fails = Unreachable("cannot connect: refused", "look")
        await press(app, "r")
        await shown(app, "✗ cannot connect: refused")
        assert "6 → 9" in screen_text(app)
        source.beside.fails = None
        await press(app, "r")
        await until(app, lambda: "refused" not in screen_text(app))


async def test_capitals_open_plans_about_the_pool_under_the_cursor() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app, (160, 50)):
        await to_pools(app)
        await opens(app, source, "A", PauseScalingIntent(pool="billing"))
        await press(app, "L", "enter")
        await shown(app, "give minimum, maximum or reset")
        await press(app, "escape")
        await opens(app, source, "L4", LimitsIntent(pool="billing", minimum=4))
        await opens(app, source, "O8", OverrideIntent(pool="billing", workers=8))
        # Mail's controller was overruled: the same key takes that back.
        await press(app, "down", "down")
        await shown(app, "A resume scaling")
        await opens(app, source, "A", ResumeScalingIntent(pool="mail"))


async def test_without_pools_it_says_what_makes_one() -> None:
    source = shop_source()
    source.beside.pools = ()
    app = app_for(source)
    async with running(app):
        await press(app, "5", "5")
        await shown(app, "no pool has a controller")


async def test_pool_without_a_controller_says_what_is_one() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await to_pools(app)
        await press(app, "down", "enter")
        await shown(app, "no decisions yet: `streamops autoscale run` starts a controller")
        await shown(app, "2 workers, ready unknown")
