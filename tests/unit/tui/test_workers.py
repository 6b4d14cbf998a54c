"""Workers and pools: who beats, what a pool was told, what a worker reads, and pausing and resuming."""

from typing import Any

from msgspec.structs import replace

from streamops.model.pools import WorkerState
from streamops.monitor.pools import ServerWorkers
from streamops.operations.pools.intent import PauseIntent, ResumeIntent
from tests.support.invented import NOW
from tests.support.tui import sample
from tests.support.tui.acting_shop import planned
from tests.support.tui.driving import bar, list_of, names, press, running, screen_text, shown, until
from tests.support.tui.invented_beside import heart
from tests.support.tui.shop import shop_source
from tests.support.tui.source import app_for


async def to_workers(app: Any) -> None:  # noqa: ANN401 - the console
    await press(app, "5")
    await until(app, lambda: len(list_of(app).rows) == 3)


async def test_list_of_workers_tells_their_pools_and_which_do_anything_but_run() -> None:
    app = app_for(shop_source())
    async with running(app):
        await to_workers(app)
        assert names(app) == ["so-billing-1", "so-billing-2", "so-mail-1"]
        await shown(app, "billing  ✓ running  2 workers, worker count 4  busy 11/16 69 %")
        await shown(app, "mail     ‖ paused by ada@bastion-1 12m00s ago  1 worker  busy 0/8 0 %")
        await shown(app, "night    ‖ paused by ada@bastion-1 5h00m ago  no workers")
        await shown(app, "✗ stalled")
        assert app.frame.command_text() == "streamops -c prod workers ls"
        await press(app, "f")
        assert names(app) == ["so-billing-2", "so-mail-1"]


async def test_the_pool_of_the_worker_under_the_cursor_is_paused_or_resumed() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await to_workers(app)
        await press(app, "P", "enter")
        await until(app, lambda: bool(source.planned))
        assert planned(source) == PauseIntent(pool="billing")
        await press(app, "escape", "escape", "end", "P", "enter")
        await until(app, lambda: len(source.planned) == 2)
        assert planned(source) == ResumeIntent(pool="mail")


async def test_a_worker_leads_to_what_it_holds_in_each_group() -> None:
    app = app_for(shop_source())
    async with running(app):
        await to_workers(app)
        await press(app, "end", "enter")
        await until(app, lambda: names(app) == ["emails/mailer", "orders/reports"])
        await shown(app, "INC-311")
        assert app.frame.command_text() == "streamops -c prod workers ls --pool=mail"
        await press(app, "enter")
        assert bar(app, "crumbs").startswith("prod ▸ emails ▸ mailer ▸ mail-1")


async def test_known_workers_are_read_again_without_going_through_all_keys() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await to_workers(app)
        await press(app, "r")
        await until(app, lambda: len(source.beside.asked) == 2)
        frame = app.frame
        frame._due_at = 0.0  # type: ignore[attr-defined]
        source.observation = sample.shop()
        app.live.poller.poll_now()
        await until(app, lambda: len(source.beside.asked) == 3)
        kinds = [what[0] for what in source.beside.asked]
        assert kinds == ["all workers", "all workers", "workers again"]


async def test_a_worker_that_ended_says_so_and_keeps_what_was_known() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await to_workers(app)
        await press(app, "enter")
        await until(app, lambda: names(app) == ["orders/billing"])
        source.beside.crowd = ServerWorkers((), NOW, ())
        await press(app, "r")
        await shown(app, "its heartbeat is gone")
        assert names(app) == ["orders/billing"]


async def test_without_workers_it_says_where_others_are() -> None:
    source = shop_source()
    source.beside.crowd = ServerWorkers((), NOW, ())
    app = app_for(source)
    async with running(app):
        await press(app, "5")
        await shown(app, "no streamops workers here")
        await shown(app, "no pool has been paused or scaled")


async def test_many_pools_are_counted() -> None:
    source = shop_source()
    pools = source.beside.crowd.pools
    many = tuple(replace(pools[0], name=f"pool-{number}") for number in range(9))
    source.beside.crowd = ServerWorkers((heart("a", "pool-0", WorkerState.RUNNING, 1),), NOW, many)
    app = app_for(source)
    async with running(app):
        await press(app, "5")
        await shown(app, "5 more pools")
        assert "pool-7" not in screen_text(app)
