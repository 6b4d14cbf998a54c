"""Shared by the tests of snapshots."""

from collections.abc import Awaitable, Callable
from time import monotonic

from msgspec.structs import replace
from textual.pilot import Pilot

from streamops.tui.app import StreamopsApp
from tests.support.tui import sample
from tests.support.tui.driving import press, until
from tests.support.tui.source import InventedSource, app_for

Compare = Callable[..., bool]
Prepare = Callable[[Pilot[int]], Awaitable[None]]
SIZES = [(80, 24), (120, 40), (160, 50)]


def shop_app(theme: str = "dark") -> StreamopsApp:
    source = InventedSource(sample.shop(), sample.entries(), sample.pending_rows())
    return app_for(source, theme=theme)


def hold(app: StreamopsApp, **changes: object) -> None:
    """Show the moment as it would be."""
    app.live.moment = replace(app.moment, **changes)
    app.pass_down()


def keys(*pressed: str) -> Prepare:
    """Wait for the first observation, hold its age at zero, press keys, and let everything arrive."""

    async def prepare(pilot: Pilot[int]) -> None:
        app = pilot.app
        assert isinstance(app, StreamopsApp)
        await until(app, lambda: app.moment.observation is not None)
        hold(app, arrived=monotonic() + 3600)
        await press(app, *pressed)
        await pilot.pause(0.1)

    return prepare
