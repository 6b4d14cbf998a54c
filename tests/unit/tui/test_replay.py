"""A recording in place of a server: what it shows, and what its keys do."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Never

import pytest
from msgspec.structs import replace

from streamops.operate.recording.frames import RecordedLoss
from streamops.operate.recording.recorder import Recorder
from streamops.operate.recording.recording import Recording
from streamops.tui.app import StreamopsApp
from streamops.tui.keeper import RecordingKeeper
from streamops.tui.source import ContextInfo, TuiSettings
from tests.support.tui import sample
from tests.support.tui.driving import NARROW, WIDE, bar, press, running, screen_text, settle, shown, until
from tests.support.tui.replay import FRAMES, PROD, afternoon, record
from tests.support.tui.shop import REFUSED
from tests.support.tui.source import InventedSource, settings_for

LIST_WIDTH: Final = 86
ON, BACK = "right_square_bracket", "left_square_bracket"
MINUTE_ON, MINUTE_BACK = "right_curly_bracket", "left_curly_bracket"


@asynccontextmanager
async def playing(
    path: Path, size: tuple[int, int] = WIDE, *, paused: bool = True
) -> AsyncIterator[StreamopsApp]:
    context = ContextInfo(PROD.name, PROD.environment, PROD.address, read_only=True)

    async def no_server(_: str) -> Never:
        raise AssertionError("a recording needs no server")

    settings = TuiSettings(context, (context,), no_server, recording=Recording.open(path))
    app = StreamopsApp(settings)
    async with running(app, size):
        if paused:
            await press(app, "space")
            await until(app, lambda: app.moment.tape is not None and app.moment.tape.paused)
        yield app


async def at_frame(app: StreamopsApp, number: int) -> None:
    await until(app, lambda: f"frame {number} of" in bar(app, "status"))


@pytest.fixture
def night(tmp_path: Path) -> Path:
    return record(tmp_path / "night.rec", afternoon())


async def test_the_header_says_that_it_is_a_replay_and_of_when(night: Path) -> None:
    for size in (WIDE, NARROW):
        async with playing(night, size) as app:
            assert " REPLAY 2026-03-14 12:00:00Z " in screen_text(app).splitlines()[0]
            assert "fulfilment" in screen_text(app)


async def test_frames_are_stepped_and_minutes_jumped(night: Path) -> None:
    async with playing(night) as app:
        for key, frame in (
            (ON, 2), (ON, 3), (BACK, 2), (MINUTE_ON, 32), (MINUTE_ON, 62), (MINUTE_BACK, 32), (MINUTE_ON, 62),
            (MINUTE_ON, 92), (MINUTE_ON, 100), (ON, 100), (MINUTE_BACK, 70), (MINUTE_BACK, 40), (MINUTE_BACK, 10),
            (MINUTE_BACK, 1), (BACK, 1),
        ):  # fmt: skip
            await press(app, key)
            await at_frame(app, frame)
        assert "12:00:00Z" in bar(app, "header")


async def test_space_and_p_stop_it_and_go_on(night: Path) -> None:
    async with playing(night, paused=False) as app:
        assert "▶ x1" in bar(app, "status")
        for key, words in (("space", "‖ paused"), ("p", "▶ x1"), ("p", "‖ paused"), ("space", "▶ x1")):
            await press(app, key)
            await until(app, lambda words=words: words in bar(app, "status"))  # type: ignore[misc]


async def test_recording_is_played_faster_and_slower(night: Path) -> None:
    async with playing(night) as app:
        for key, speeds in (
            ("greater_than_sign", (2, 5, 10, 30, 60, 60)),
            ("less_than_sign", (30, 10, 5, 2, 1, 0.5, 0.25, 0.25)),
        ):
            for speed in speeds:
                await press(app, key)
                await until(app, lambda speed=speed: app.moment.tape.speed == speed)  # type: ignore[misc, union-attr]


async def test_recording_plays_to_its_end_and_from_its_beginning_again(night: Path) -> None:
    async with playing(night) as app:
        await press(app, *[MINUTE_ON] * 3, *["greater_than_sign"] * 5, "space")
        await until(app, lambda: "■ the end" in bar(app, "status"))
        await at_frame(app, FRAMES)
        await press(app, "space", "space")
        await until(app, lambda: "‖ paused" in bar(app, "status"))


@pytest.fixture
def cut(night: Path) -> Path:
    night.write_bytes(night.read_bytes()[:-4])
    return night


async def test_a_file_that_was_cut_says_so_at_its_end(cut: Path) -> None:
    async with playing(cut) as app:
        await press(app, *[MINUTE_ON] * 4)
        await at_frame(app, FRAMES - 1)
        assert "■ the end: cut off in the middle of a frame" in bar(app, "status")


async def test_a_loss_is_shown_as_it_was(tmp_path: Path) -> None:
    first, second = afternoon(2)
    lost = RecordedLoss("cannot connect: refused", "check that the server runs")
    async with playing(record(tmp_path / "lost", [first, lost, lost, second])) as app:
        await press(app, ON, ON)
        await at_frame(app, 3)
        assert bar(app, "banner").startswith("✗ data 4s old · cannot connect: refused")
        app._tick()
        await settle(app)
        assert bar(app, "banner").startswith("✗ data 4s old")
        await press(app, ON)
        await until(app, lambda: not app.frame.query_one("#banner").display)


async def test_nothing_can_be_done_to_it_and_that_is_said(night: Path) -> None:
    async with playing(night) as app:
        assert "read-only" in bar(app, "header")
        assert " plan" not in bar(app, "keys")
        await press(app, "C")
        await shown(app, "read-only: this is a recording, and nothing can be done to it")
        assert bar(app, "crumbs") == "prod"


async def test_place_that_was_not_recorded_says_so(night: Path) -> None:
    async with playing(night) as app:
        for keys, words in (
            (["3", "t"], "entries: not recorded"),
            (["3", *"jjjj", "enter", "l"], "pending: not recorded"),
            (["3", "at"], "actions: not recorded"),
        ):
            await press(app, *keys)
            await shown(app, words)


async def test_a_space_can_be_typed(night: Path) -> None:
    async with playing(night) as app:
        await press(app, "3", "slash")
        await until(app, lambda: app.focused is not None and app.focused.id != "main")
        await press(app, *"orders", "space", *"bill", "enter")
        await shown(app, "/orders bill")
        assert app.moment.tape is not None
        assert app.moment.tape.paused


async def test_keys_of_a_recording_are_none_elsewhere() -> None:
    app = StreamopsApp(settings_for(InventedSource(sample.shop())))
    async with running(app):
        before = rows_of(app)
        await press(app, "space", ON, BACK, MINUTE_ON, MINUTE_BACK)
        assert rows_of(app) == before
        assert bar(app, "crumbs") == "prod"
        assert not app.moment.frozen


async def test_screen_that_is_shown_is_recorded_and_played_again(tmp_path: Path) -> None:
    path = tmp_path / "shown"
    recorder = Recorder(path)
    source = InventedSource(sample.shop())
    settings = replace(settings_for(source), keeper=RecordingKeeper(recorder))
    app = StreamopsApp(settings)
    async with running(app):
        await until(app, lambda: recorder.state.frames == 1)
        source.observation = REFUSED
        await press(app, "r")
        await until(app, lambda: recorder.state.frames == 2)
        source.observation = sample.shop()
        await press(app, "r")
        await until(app, lambda: "● rec " in bar(app, "status"))
        await until(app, lambda: recorder.state.frames == 3 and "cannot connect" not in screen_text(app))
        rows = rows_of(app)
    recorder.close()
    async with playing(path, paused=False) as played:
        # So short a recording may have come to its end before anybody stops it.
        await press(played, *[BACK] * 3)
        await at_frame(played, 1)
        await press(played, ON)
        await until(played, lambda: "cannot connect" in screen_text(played))
        await press(played, ON)
        await at_frame(played, 3)
        await until(played, lambda: rows_of(played) == rows)


def rows_of(app: StreamopsApp) -> list[str]:
    """The list without its pane, where a scroll bar comes and goes, and without the bars, which say that it is played."""
    return [line[:LIST_WIDTH] for line in screen_text(app).splitlines()[1:-3]]


async def test_no_payload_is_recorded(tmp_path: Path) -> None:
    path = tmp_path / "shown"
    recorder = Recorder(path)
    planted = "planted-secret-payload"
    entries = [replace(entry, fields=((b"card", planted.encode()),)) for entry in sample.entries()]
    source = InventedSource(sample.shop(), entries, sample.pending_rows())
    app = StreamopsApp(replace(settings_for(source), keeper=RecordingKeeper(recorder)))
    async with running(app):
        await press(app, "3", "t")
        await shown(app, planted)
        await press(app, "r")
        await until(app, lambda: recorder.state.frames == 2)
    recorder.close()
    recording = Recording.open(path)
    told = [str(recording.read(number)) for number in range(len(recording))]
    recording.close()
    assert planted not in "".join(told)
    assert planted.encode() not in path.read_bytes()


async def test_a_recording_that_ends_is_told(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "full", limit=100)
    app = StreamopsApp(replace(settings_for(InventedSource(sample.shop())), keeper=RecordingKeeper(recorder)))
    async with running(app):
        await until(app, lambda: recorder.state.problem == "full")
        await press(app, "r")
        await until(app, lambda: "✗ recording ended: " in bar(app, "status"))
        assert "(--record-max)" in bar(app, "status")
    recorder.close()
