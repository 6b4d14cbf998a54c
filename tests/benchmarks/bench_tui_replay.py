"""Whether the console stays as it is over a working day: ``python -m tests.benchmarks.bench_tui_replay`` (on Linux).

Eight hours at two seconds an observation are recorded: 200 groups, half of which change each time, streams that come and go,
a server that is away now and then. The console then plays them headless at 120 by 40 cells, every frame drawn, with a key
pressed after each; its memory is told for every hour of the recording.
"""

import asyncio
import gc
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import Final, Never

from msgspec.structs import replace

from streamops.model.observation import Observation
from streamops.operate.recording.frames import RecordedContext, RecordedLoss
from streamops.operate.recording.recorder import Recorder
from streamops.operate.recording.recording import Recording
from streamops.tui.app import StreamopsApp
from streamops.tui.source import ContextInfo, TuiSettings
from tests.benchmarks.fast_forward import blocks_in_use
from tests.support.tui.driving import press, running, settle
from tests.support.tui.sample import changed, many

GROUPS: Final = 200
CHANGING: Final = GROUPS // 4
"""Streams that change each time, of two groups each."""
HOURS: Final = 8
INTERVAL: Final = timedelta(seconds=2)
FRAMES: Final = HOURS * 3600 // INTERVAL.seconds
HOUR: Final = FRAMES // HOURS
GONE_EVERY: Final = 900
COMES_EVERY: Final = 150
MEGABYTE: Final = 1 << 20
GROWTH_LIMIT: Final = 0.03
"""Of memory, from the end of the second hour, when what charts remember is full, to that of the last."""
CONTEXT: Final = RecordedContext("prod", "production", "redis://shop")
KEYS: Final = ("j", "k", "f", "f", "o", "i")


def main() -> int:
    """Record, play, and say by the exit code whether memory stayed."""
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # it takes minutes
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "day.rec"
        record(path)
        sizes = asyncio.run(play(path))
    growth = sizes[-1] / sizes[1] - 1
    print(f"{'memory, last hour over second':44} {growth:8.1%}     limit {GROWTH_LIMIT:.0%}")
    return 0 if growth <= GROWTH_LIMIT else 1


def record(path: Path) -> None:
    """Write the day."""
    now, before, started = 0.0, many(GROUPS), time.perf_counter()
    recorder = Recorder(path, clock=lambda: now)
    for number in range(FRAMES):
        before = changed(before, number, CHANGING)
        recorder.take(CONTEXT, _told(before, number))
        while recorder.state.frames <= number:
            time.sleep(0.0002)
        now += INTERVAL.total_seconds()
    recorder.close()
    took = time.perf_counter() - started
    print(f"{HOURS} h recorded: {GROUPS} groups, {2 * CHANGING} changing every {INTERVAL.seconds} s")
    print(f"{'file':44} {path.stat().st_size / MEGABYTE:8.1f} MiB")
    print(f"{'recording, an observation, inventing included':44} {took / FRAMES * 1000:8.2f} ms")


def _told(observation: Observation, number: int) -> Observation | RecordedLoss:
    if number % GONE_EVERY == GONE_EVERY - 1:
        return RecordedLoss("cannot connect: refused", "check that the server runs")
    streams = observation.streams[number // COMES_EVERY % 2 :]
    snapshot = replace(
        observation.snapshot,
        streams=tuple(view.stream for view in streams),
        collected_at=observation.snapshot.collected_at + number * INTERVAL,
    )
    return replace(observation, snapshot=snapshot, streams=streams)


async def play(path: Path) -> list[float]:
    """Show every frame; resident memory at the end of each hour."""
    started = time.perf_counter()
    recording = Recording.open(path)
    print(f"{'opening it':44} {time.perf_counter() - started:8.3f} s")
    context = ContextInfo(CONTEXT.name, CONTEXT.environment, CONTEXT.address, read_only=True)
    app = StreamopsApp(TuiSettings(context, (context,), _no_server, recording=recording))
    sizes = []
    async with running(app):
        await press(app, "space", "3")
        started = time.process_time()
        for number in range(1, FRAMES):
            await _show(app, number)
            await press(app, KEYS[number % len(KEYS)])
            if number % HOUR == HOUR - 1:
                sizes.append(_resident())
                print(f"  {(number + 1) // HOUR:4} h  {sizes[-1]:7.1f} MiB  {blocks_in_use():9,} blocks")
        cost = (time.process_time() - started) / FRAMES
    print(f"{'processor time of a frame and a key':44} {cost * 1000:8.2f} ms")
    return sizes


async def _show(app: StreamopsApp, number: int) -> None:
    player = app.live.player
    assert player is not None
    player.step(1)
    while app.moment.tape is None or app.moment.tape.number != number:  # noqa: ASYNC110 - it has no event
        await asyncio.sleep(0)
    await settle(app)


async def _no_server(name: str) -> Never:
    raise AssertionError(name)


def _resident() -> float:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / MEGABYTE


if __name__ == "__main__":
    sys.exit(main())
