"""Recordings of the shop, made in no time."""

import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from streamops.model.observation import Observation
from streamops.operate.recording.frames import RecordedContext, RecordedLoss
from streamops.operate.recording.recorder import Recorder
from tests.support.tui import sample

PROD: Final = RecordedContext("prod", "production", "redis://shop")
FRAMES: Final = 100
TWO_SECONDS: Final = timedelta(seconds=2)

Told = Observation | RecordedLoss


def afternoon(frames: int = FRAMES) -> list[Told]:
    shop = sample.shop()
    began = shop.snapshot.collected_at
    return [
        replace(shop, snapshot=replace(shop.snapshot, collected_at=began + number * TWO_SECONDS))
        for number in range(frames)
    ]


def record(path: Path, told: Sequence[Told]) -> Path:
    """Write a recording two seconds a frame."""
    now = 0.0
    recorder = Recorder(path, clock=lambda: now)
    for number, what in enumerate(told):
        recorder.take(PROD, what)
        while recorder.state.frames <= number:
            time.sleep(0.0005)
        now += 2
    recorder.close()
    return path
