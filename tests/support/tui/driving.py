"""Driving the console in tests: start it, press keys, wait for what should happen, read the screen."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sized
from contextlib import asynccontextmanager, nullcontext
from itertools import pairwise

from textual import events
from textual.geometry import Size
from textual.keys import _character_to_key
from textual.widgets import Input

from streamops.tui.app import StreamopsApp
from streamops.tui.routes import Route
from streamops.tui.widgets.bars import Bar
from streamops.tui.widgets.line_view import LineView
from tests.support.tui.cheap import undrawn

WIDE = (120, 40)
NARROW = (80, 24)
PATIENCE = 20.0
QUIET_ROUNDS = 5
TIMER = 0.001
"""Textual lays a screen out when its timer for frames comes round, which is late on a slow machine."""
NAMED_CHARACTERS = {"slash": "/", "colon": ":", "plus": "+", "minus": "-", "question_mark": "?", "space": " "}


@asynccontextmanager
async def running(
    app: StreamopsApp, size: tuple[int, int] = WIDE, *, drawn: bool = False
) -> AsyncIterator[StreamopsApp]:
    """Run the console from its first observation on; ``drawn``: with every update that a terminal would get."""
    with nullcontext() if drawn else undrawn():
        async with app.run_test(size=size, notifications=True):
            await until(app, lambda: app.app_state.observation is not None)
            yield app


async def until(app: StreamopsApp, condition: Callable[[], bool]) -> None:
    """Wait for a condition; fail where it does not come true."""
    end = asyncio.get_running_loop().time() + PATIENCE
    while asyncio.get_running_loop().time() < end:
        await settle(app)
        if condition():
            return
        await asyncio.sleep(TIMER)
    raise AssertionError("what was waited for did not happen")


async def eventually(condition: Callable[[], bool]) -> None:
    """Wait for a condition without a console; fail where it does not come true."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.001)


async def settle(app: StreamopsApp) -> None:
    """Wait until no widget has a message left, and all have their places. (Pilot's own waiting takes a hundred times as long.)"""
    waiting: Sized = vars(asyncio.get_running_loop())["_ready"]
    quiet = 0
    while quiet < QUIET_ROUNDS and not app._exit:
        await asyncio.sleep(TIMER if app.screen._layout_required else 0)
        quiet = 0 if waiting or app.screen._layout_required else quiet + 1
        if quiet == QUIET_ROUNDS and any(
            not node._message_queue.empty() for node in (app, *app.screen.walk_children(with_self=True))
        ):
            quiet = 0


async def press(app: StreamopsApp, *keys: str) -> None:
    """Press keys, each once the one before has been dealt with; a word is typed into a line in one go."""
    for key, next_key in pairwise((*keys, "")):
        assert app._driver is not None
        character = NAMED_CHARACTERS.get(key, key)
        named = len(character) != 1
        app._driver.send_message(
            events.Key(key if named else _character_to_key(character), None if named else character)
        )
        if named or len(next_key) != 1 or not isinstance(app.focused, Input):
            await settle(app)


async def shown(app: StreamopsApp, words: str) -> None:
    """Wait until words stand on the screen."""
    try:
        await until(app, lambda: words in screen_text(app))
    except AssertionError:
        raise AssertionError(f"{words!r} is not on the screen:\n{screen_text(app)}") from None


def screen_text(app: StreamopsApp) -> str:
    """Everything on the screen, line by line."""
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips())


def places() -> list[type[Route]]:
    """The places of the console, without those that a test made: these last for as long as anything holds them."""
    return [place for place in Route.__subclasses__() if place.__module__ == Route.__module__]


def bar(app: StreamopsApp, name: str) -> str:
    """What a bar says, both ends with a bar between: ``header``, ``crumbs``, ``banner``, ``status`` or ``keys``."""
    found = app.frame.query_one(f"#{name}", Bar)
    left, right = ("".join(cell.text for cell in end).strip() for end in (found._left, found._right))
    return f"{left} | {right}" if right else left


def crumbs(app: StreamopsApp) -> str:
    """Where one is: the left end of the crumbs."""
    return bar(app, "crumbs").partition(" | ")[0]


def typed_word(app: StreamopsApp) -> str:
    """What the plan asks to be typed, as it is shown."""
    said: str = app.frame.query_one("#says").text  # type: ignore[attr-defined]
    return said.removeprefix("Tab, then ").removeprefix("type ").removesuffix(", then Enter: ")


def list_of(app: StreamopsApp) -> LineView[object]:
    """The list of the place on top."""
    return app.frame.query_one("#main", LineView)


def names(app: StreamopsApp) -> list[str]:
    """The rows of the list on top as ``stream/group`` or by whatever identifies them."""
    view = list_of(app)
    return ["/".join(str(part or "-") for part in _parts(view._view._identify(row))) for row in view.rows]


def _parts(identity: object) -> tuple[object, ...]:
    return identity if type(identity) is tuple else (identity,)


async def resize(app: StreamopsApp, width: int, height: int) -> None:
    """Give the terminal another size."""
    size = Size(width, height)
    app.post_message(events.Resize(size, size))
    await until(app, lambda: app.screen.size == size)


async def click(app: StreamopsApp, at: tuple[int, int], times: int = 1) -> None:
    """Click into the list on top, at a place counted from its corner."""
    view = list_of(app)
    x, y = at
    kept = {"delta_x": 0, "delta_y": 0, "button": 1, "shift": False, "meta": False, "ctrl": False}
    for chain in range(1, times + 1):
        view._forward_event(events.Click(view, x, y, **kept, chain=chain))  # type: ignore[arg-type]
        await settle(app)
