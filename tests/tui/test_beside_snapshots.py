"""What dead letters, delayed messages, topics, workers and stories look like."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import monotonic

import pytest
from textual.pilot import Pilot

from streamops.tui.app import StreamopsApp
from tests.tui.driving import press, until
from tests.tui.shop import shop_source
from tests.tui.source import app_for
from tests.tui.test_snapshots import SIZES, Compare, hold

TO_LETTERS = ["4", "enter"]
TO_DELAYED = ["colon", *"delayed", "enter"]
TO_TOPICS = ["colon", *"topics", "enter"]
LISTS = {
    "queues": ["4"],
    "letters": [*TO_LETTERS, "down", "space", "space"],
    "delayed queues": TO_DELAYED,
    "delayed": [*TO_DELAYED, "enter", "down"],
    "topics": TO_TOPICS,
    "workers": ["5", "down"],
    "worker": ["5", "end", "enter"],
    "pending": [*"jjjj", "enter", "l", "down"],
}
TEXTS = {
    "letter": [*TO_LETTERS, "enter"],
    "edit": [*TO_LETTERS, "E"],
    "message": [*TO_DELAYED, "enter", "down", "enter"],
    "topic": [*TO_TOPICS, "down", "enter"],
    "story": [*"jjjj", "enter", "l", "a"],
}
LOOKS = [(name, size) for name in LISTS for size in SIZES] + [
    (name, size) for name in TEXTS for size in SIZES[:2]
]


@pytest.fixture(autouse=True)
def _no_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


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


@pytest.mark.parametrize(
    ("name", "size"), LOOKS, ids=["{} {}x{}".format(name, *size) for name, size in LOOKS]
)
def test_screen(snap_compare: Compare, name: str, size: tuple[int, int]) -> None:
    pressed = LISTS.get(name) or TEXTS[name]
    assert snap_compare(app_for(shop_source()), terminal_size=size, run_before=keys(*pressed))
