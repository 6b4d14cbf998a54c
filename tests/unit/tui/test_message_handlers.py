"""Textual runs the handlers of every class of a widget: each runs once, and a failure is told as what it is."""

import ast
from pathlib import Path
from unittest.mock import patch

import streamops.tui
from streamops.errors import Refused
from streamops.tui import routes
from streamops.tui.screens.frame import Frame
from streamops.tui.screens.jobs import JobScreen
from tests.support.tui import acts, sample
from tests.support.tui.driving import press, running, settle, shown, until
from tests.support.tui.shop import shop_source
from tests.support.tui.source import InventedSource, app_for


class Unstoppable(InventedSource):
    """A server on which jobs may be read, and not be stopped."""

    async def cancel_job(self, job_id: str) -> bool:
        raise Refused(f"NOPERM: this user may not stop {job_id}", "Ask for it.")


def test_no_handler_calls_the_one_of_its_base_class() -> None:
    (root,) = streamops.tui.__path__
    calls = [
        f"{file.name}:{node.lineno}"
        for file in Path(root).rglob("*.py")
        if file.parent.name != "web"  # its base classes are not Textual's
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Attribute) and node.attr.startswith("on_")
        if isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "super"
    ]
    assert calls == []


async def test_place_that_opens_is_shown_once() -> None:
    app = app_for(shop_source())
    async with running(app):
        # What was seen before is shown as soon as it is remembered, which is a moment of its own.
        await until(app, lambda: app.app_state.past is not None)
        await settle(app)
        with patch.object(Frame, "show", autospec=True, side_effect=Frame.show) as show:
            app.go(routes.ChartsRoute("orders", "fulfilment"))
            await until(app, lambda: app.frame.place == routes.ChartsRoute("orders", "fulfilment"))
            await settle(app)
        assert [call.args[0] for call in show.call_args_list] == [app.frame]


async def test_job_that_cannot_be_stopped_stays_readable() -> None:
    source = Unstoppable(sample.shop())
    source.jobs = (acts.JOB,)
    app = app_for(source)
    async with running(app):
        app.go(routes.JobRoute(acts.JOB.id))
        await shown(app, "412,000")
        await press(app, "X", "X")
        await shown(app, "NOPERM")
        assert isinstance(app.frame, JobScreen)
        assert app.frame.error == ""
