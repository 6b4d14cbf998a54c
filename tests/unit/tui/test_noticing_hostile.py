"""Hostile names and findings are only text on the pulse, in the charts and among the alerts."""

from msgspec.structs import replace

from streamops.errors import Refused
from streamops.model.delayed import DelayedQueue
from streamops.monitor.delayed import DelayedQueues
from streamops.tui.app import StreamopsApp
from tests.support.invented import NOW
from tests.support.tui import hostile
from tests.support.tui.driving import NARROW, WIDE, press, running, until
from tests.support.tui.hostile import EVERYTHING, check_screen, press_checked
from tests.support.tui.overview_source import PulseSource
from tests.support.tui.source import settings_for

WALK = [
    ["1", "question_mark", "question_mark", "escape", "r", "enter", "escape"],
    [
        "6",
        "question_mark",
        "question_mark",
        "pagedown",
        "escape",
        "m",
        "m",
        "j",
        "m",
        "c",
        "y",
        "enter",
        "escape",
    ],
    [
        "3",
        "g",
        "right",
        "right",
        "right",
        "question_mark",
        "question_mark",
        "pagedown",
        "escape",
        "c",
        "y",
        "escape",
        "enter",
    ],
]


def app_on(text: str, source: PulseSource) -> StreamopsApp:
    plain = settings_for(source)
    return StreamopsApp(replace(plain, context=hostile.settings(text).context))


async def test_hostile_text_is_only_text_on_pulse_alerts_and_charts() -> None:
    delayed = DelayedQueues((DelayedQueue(f"q{EVERYTHING}", 1, 1, NOW, 1),), (), NOW, complete=True)
    app = app_on(EVERYTHING, PulseSource(hostile.observation(EVERYTHING), delayed=delayed))
    async with running(app, NARROW):
        await until(app, lambda: app.app_state.past is not None)
        for keys in WALK:
            await press_checked(app, keys)
        assert not app._exit


async def test_hostile_reasons_are_only_text() -> None:
    refused = Refused(f"refused {EVERYTHING}", f"hint {EVERYTHING}")
    app = app_on("x", PulseSource(hostile.observation(EVERYTHING), refused, refused))
    async with running(app, WIDE):
        await press(app, "1")
        await until(
            app,
            lambda: (
                "not readable: refused [@click"
                in "\n".join(strip.text for strip in app.screen._compositor.render_strips())
            ),
        )
        check_screen(app)
