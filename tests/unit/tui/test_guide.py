"""The guided first minute: each step stands until it was done."""

from msgspec.structs import replace

from streamops.tui import routes
from streamops.tui.app import StreamopsApp
from streamops.tui.lines.guide import STEPS
from streamops.tui.widgets.bars import Bar
from tests.support.tui.acting_shop import CLAIM_PLAN
from tests.support.tui.driving import NARROW, press, running, shown, until
from tests.support.tui.shop import shop_source
from tests.support.tui.source import app_for, settings_for


def said(app: StreamopsApp) -> str:
    return app.frame.query_one("#guide", Bar).text.strip()


async def test_guide_goes_on_with_what_is_done_fits_a_narrow_terminal_and_can_be_skipped() -> None:
    app = StreamopsApp(replace(settings_for(shop_source()), guided=True))
    async with running(app, NARROW):
        await until(app, lambda: said(app).startswith("1 of 5"))
        await press(app, "question_mark")
        assert said(app).startswith("1 of 5")
        await press(app, "question_mark")
        await until(app, lambda: said(app).startswith("2 of 5"))
        await press(app, "escape")
        app.go(routes.GroupRoute("orders", "billing"))
        await until(app, lambda: said(app).startswith("2 of 5"))
        app.go(routes.GroupRoute("payments:events", "ledger"))
        await until(app, lambda: said(app).startswith("3 of 5"))
        app.go(routes.AuditRoute())
        await until(app, lambda: said(app).startswith("3 of 5"))
        await press(app, "escape", "escape", *CLAIM_PLAN)
        await shown(app, "[ Cancel ]")
        await press(app, "tab", "enter")
        await until(app, lambda: said(app).startswith("4 of 5"))
        await press(app, "escape", "7")
        assert said(app).startswith("4 of 5")
        await press(app, "escape", "z")
        await until(app, lambda: said(app).startswith("5 of 5"))
        await press(app, "ctrl+g")
        await until(app, lambda: not said(app))
    assert max(len(f" 5 of 5: {step.text} · ^g skips") for step in STEPS) <= NARROW[0]


async def test_guide_leaves_out_what_was_tried_before_its_turn() -> None:
    app = StreamopsApp(replace(settings_for(shop_source()), guided=True))
    async with running(app, NARROW):
        app.go(routes.GroupRoute("payments:events", "ledger"))
        await until(app, lambda: said(app).startswith("1 of 5"))
        await press(app, "question_mark", "question_mark")
        await until(app, lambda: said(app).startswith("3 of 5"))


async def test_console_of_a_server_is_not_guided() -> None:
    app = app_for(shop_source())
    async with running(app):
        assert said(app) == ""
