"""What is remembered of streams with large entries, and for how long."""

import pytest

from streamops.model.streams import StreamReading
from streamops.wire import stream_reader
from streamops.wire.stream_reader import KEPT_SECONDS, LARGE_BYTES, LargeStreams


class Clock:
    """The machine's monotonic clock, in seconds, set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(stream_reader, "time", clock)
    return clock


def heavy_one(name: str, length: int = 1) -> StreamReading:
    return StreamReading(name, length, (), entry_bytes=LARGE_BYTES)


def test_an_unchanged_stream_is_read_afresh_after_a_while(clock: Clock) -> None:
    known = LargeStreams()
    known.keep(heavy_one("s"))
    clock.now += KEPT_SECONDS
    known.keep(heavy_one("s"))
    assert known.reading("s") == heavy_one("s")
    clock.now += 1
    assert known.reading("s") is None


def test_a_heavy_stream_that_moved_is_known_anew(clock: Clock) -> None:
    known = LargeStreams()
    known.keep(heavy_one("s"))
    clock.now += KEPT_SECONDS
    known.keep(heavy_one("s", length=2))
    clock.now += KEPT_SECONDS
    assert known.reading("s") == heavy_one("s", length=2)


def test_streams_that_nobody_reads_any_more_are_forgotten(clock: Clock) -> None:
    """Jobs may each have a stream of their own, which goes with them."""
    known = LargeStreams()
    for number in range(1000):
        known.keep(heavy_one("stays"))
        known.keep(heavy_one(f"job:{number}"))
        clock.now += 1
    assert len(known) <= KEPT_SECONDS + 2
    assert known.reading("job:999") is not None
