"""Shared by the tests of beside snapshots."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic

from textual.pilot import Pilot

from streamops.tui.app import StreamopsApp
from tests.support.tui.driving import press, until
from tests.support.tui.snapshots import hold


def keys(*pressed: str) -> Callable[[Pilot[int]], Awaitable[None]]:
    """Wait for the first observation, press keys, and hold every age at zero."""

    async def prepare(pilot: Pilot[int]) -> None:
        app = pilot.app
        assert isinstance(app, StreamopsApp)
        await until(app, lambda: app.moment.observation is not None)
        hold(app, arrived=monotonic() + 3600)
        for key in pressed:
            await press(app, key)
            await asyncio.sleep(0.02)
        await pilot.pause(0.2)
        for name in ("read_at", "_read_at"):
            if hasattr(app.frame, name):
                setattr(app.frame, name, monotonic() + 3600)
        app.frame.show_bars()
        await pilot.pause()

    return prepare
