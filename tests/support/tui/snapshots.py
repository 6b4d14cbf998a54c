"""What a snapshot shows: a console brought to a screen by keys, with every age held at zero."""

from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Protocol

from msgspec.structs import replace
from textual.pilot import Pilot

from streamops.tui.app import StreamopsApp
from streamops.tui.screens.frame import READS
from tests.support.tui.cheap import undrawn
from tests.support.tui.driving import NARROW, WIDE, press, settle, shown, until

SEE = "see "
"""What a step begins with that waits for words on the screen instead of pressing a key."""
LATER = 3600.0
READ_AT = ("read_at", "_read_at", "_counted_at")

Compare = Callable[..., bool]
Change = Callable[[StreamopsApp], Awaitable[None]]


class Look(Protocol):
    """Compares what a console looks like after some steps, and a change by hand, with the stored picture."""

    def __call__(self, app: StreamopsApp, *steps: str, narrow: bool = False, change: Change | None = None) -> None: ...  # fmt: skip


def hold(app: StreamopsApp, **changes: object) -> None:
    """Show the moment as it would be."""
    app.live.app_state = replace(app.app_state, **changes)
    app.pass_down()


def looking(snap_compare: Compare) -> Look:
    """The comparison of one test."""

    def look(app: StreamopsApp, *steps: str, narrow: bool = False, change: Change | None = None) -> None:
        async def prepare(_: Pilot[int]) -> None:
            await until(app, lambda: app.app_state.observation is not None)
            hold(app, arrived=monotonic() + LATER)
            for step in steps:
                await (shown(app, step.removeprefix(SEE)) if step.startswith(SEE) else press(app, step))
                await _arrived(app)
            if change is not None:
                await change(app)
            for name in READ_AT:
                if hasattr(app.frame, name):
                    setattr(app.frame, name, monotonic() + LATER)
            app.frame.show_bars()
            await _arrived(app)

        with undrawn():
            assert snap_compare(app, terminal_size=NARROW if narrow else WIDE, run_before=prepare)

    return look


async def _arrived(app: StreamopsApp) -> None:
    """Wait until all that was asked for on demand is shown."""
    await until(app, lambda: all(worker.is_finished for worker in app.workers if worker.group == READS))
    await settle(app)
