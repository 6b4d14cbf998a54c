"""What a recording and the other palettes look like. After a change that is meant: ``--snapshot-update``."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Never

import pytest
from textual.pilot import Pilot

from streamops.operate.recording.frames import RecordedContext, RecordedLoss
from streamops.operate.recording.recording import Recording
from streamops.tui.app import StreamopsApp
from streamops.tui.source import ContextInfo, TuiSettings
from tests.support.tui.driving import press, until
from tests.support.tui.replay import afternoon, record
from tests.support.tui.snapshots import SIZES, Compare, Prepare, keys, shop_app

GONE = RecordedLoss("cannot connect: connection refused", "check that the server runs")
FRAMES = 40


@pytest.fixture
def night(tmp_path: Path) -> Iterator[StreamopsApp]:
    """A recording of some minutes in the middle of which the server goes away."""
    told = afternoon(FRAMES)
    told[34] = told[35] = GONE
    context = ContextInfo(
        "prod", "production", RecordedContext("", "", "redis://shop").address, read_only=True
    )

    async def no_server(_: str) -> Never:
        raise AssertionError("a recording needs no server")

    recording = Recording.open(record(tmp_path / "night.rec", told))
    yield StreamopsApp(TuiSettings(context, (context,), no_server, timedelta(seconds=2), recording=recording))
    recording.close()


def at_frame(number: int, *pressed: str) -> Prepare:
    """Stop, go to a frame by keys, press others."""

    async def prepare(pilot: Pilot[int]) -> None:
        app = pilot.app
        assert isinstance(app, StreamopsApp)
        await until(app, lambda: app.moment.observation is not None)
        await press(app, "space")
        await until(app, lambda: app.moment.tape is not None and app.moment.tape.paused)
        player = app.live.player
        assert player is not None
        player.step(number - player._where.number)
        await until(app, lambda: app.moment.tape is not None and app.moment.tape.number == number)
        await press(app, *pressed)
        await pilot.pause(0.1)

    return prepare


@pytest.mark.parametrize("size", SIZES, ids=lambda size: "{}x{}".format(*size))
def test_replay(snap_compare: Compare, night: StreamopsApp, size: tuple[int, int]) -> None:
    assert snap_compare(night, terminal_size=size, run_before=at_frame(12, *"jjjj"))


@pytest.mark.parametrize("size", SIZES, ids=lambda size: "{}x{}".format(*size))
def test_replay_of_a_loss(snap_compare: Compare, night: StreamopsApp, size: tuple[int, int]) -> None:
    assert snap_compare(night, terminal_size=size, run_before=at_frame(35))


@pytest.mark.parametrize("size", SIZES[:2], ids=lambda size: "{}x{}".format(*size))
def test_replay_of_what_was_not_recorded(
    snap_compare: Compare, night: StreamopsApp, size: tuple[int, int]
) -> None:
    assert snap_compare(night, terminal_size=size, run_before=at_frame(12, "3", "t"))


@pytest.mark.parametrize("size", SIZES[:2], ids=lambda size: "{}x{}".format(*size))
@pytest.mark.parametrize("theme", ["colour-blind", "terminal"])
def test_other_palettes(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    assert snap_compare(shop_app(theme), terminal_size=size, run_before=keys(*"jjj"))
