"""What is recorded is what is played, whatever happened to the file."""

import os
import stat
import zlib
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from hypothesis import given
from msgspec import msgpack
from msgspec.structs import replace

from streamops.analysis.thresholds import Thresholds
from streamops.errors import RecordingError, SettingsError
from streamops.model.observation import Observation
from streamops.model.snapshot import Gap, Snapshot
from streamops.operate.observe import Observer
from streamops.operate.recording.frames import (
    FIRST_LINE,
    HEAD,
    WHOLE_EVERY,
    Kind,
    RecordedContext,
    RecordedLoss,
    changed,
    changes,
    frame,
)
from streamops.operate.recording.recorder import WAITING, Recorder
from streamops.operate.recording.recording import Recording
from tests.support.eventually import wait_until
from tests.support.strategies import FEWER_EXAMPLES, polls
from tests.support.tui import sample

SHOP = RecordedContext("prod", "production", "redis://shop")
OTHER = RecordedContext("staging", "staging", "redis://staging")
GONE = RecordedLoss("cannot connect: refused", "check that the server runs")
TWO_SECONDS = timedelta(seconds=2)
PATIENCE = 10.0

Play = Callable[[Path], Recording]


class Clock:
    """Seconds that somebody else counts."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "night.rec"


@pytest.fixture
def play() -> Iterator[Play]:
    """Opens recordings, and closes them when the test is over."""
    opened: list[Recording] = []

    def open_one(path: Path) -> Recording:
        opened.append(Recording.open(path))
        return opened[-1]

    yield open_one
    for recording in opened:
        recording.close()


def afternoon(frames: int) -> list[Observation]:
    """The shop, again and again, two seconds apart, now and then with one stream more."""
    shop = sample.shop()
    found = []
    for number in range(frames):
        streams = shop.streams if number % 10 else shop.streams[1:]
        snapshot = replace(
            shop.snapshot,
            streams=tuple(view.stream for view in streams),
            collected_at=shop.snapshot.collected_at + number * TWO_SECONDS,
            commands=number,
        )
        found.append(replace(shop, snapshot=snapshot, streams=streams))
    return found


def record(path: Path, told: Sequence[Observation | RecordedLoss], context: RecordedContext = SHOP) -> None:
    clock = Clock()
    recorder = Recorder(path, clock=clock)
    for number, what in enumerate(told):
        tell(recorder, what, number + 1, context)
        clock.now += 2
    recorder.close()


def tell(
    recorder: Recorder, what: Observation | RecordedLoss, frames: int, context: RecordedContext = SHOP
) -> None:
    """Record something, and wait until it is written."""
    recorder.take(context, what)
    wait_until(lambda: recorder.state.frames == frames)


def observed(recording: Recording, number: int) -> Observation | None:
    return recording.read(number).observation


def test_what_was_observed_is_played_in_any_order(path: Path, play: Play) -> None:
    told = afternoon(2 * WHOLE_EVERY + 5)
    record(path, told)
    recording = play(path)
    assert len(recording) == len(told)
    assert recording.problem == ""
    for number in (0, 1, len(told) - 1, WHOLE_EVERY, WHOLE_EVERY - 1, WHOLE_EVERY + 1, 9, 10, 11, 10):
        assert observed(recording, number) == told[number], number
    for number, observation in enumerate(told):
        assert observed(recording, number) == observation
    recording.close()


def test_times_are_the_servers_and_the_pace_is_ours(path: Path, play: Play) -> None:
    told = afternoon(4)
    record(path, told)
    recording = play(path)
    assert [recording.time(number) for number in range(4)] == [
        observation.snapshot.collected_at for observation in told
    ]
    assert [recording.elapsed(number) for number in range(4)] == [number * TWO_SECONDS for number in range(4)]
    assert recording.at(timedelta(seconds=3.9)) == 1
    assert recording.at(timedelta(seconds=4)) == 2
    assert recording.at(timedelta(hours=1)) == 3
    assert recording.at(timedelta(seconds=-1)) == 0


def test_losses_are_played_over_the_last_observation_with_its_age(path: Path, play: Play) -> None:
    told = afternoon(2)
    record(path, [told[0], GONE, GONE, told[1]])
    recording = play(path)
    lost = recording.read(2)
    assert (lost.observation, lost.loss, lost.age) == (told[0], GONE, 2 * TWO_SECONDS)
    assert recording.read(3).loss is None
    assert recording.read(1).loss == GONE
    assert recording.time(2) - recording.time(0) == 2 * TWO_SECONDS


def test_another_context_begins_with_nothing_observed(path: Path, play: Play) -> None:
    shop = sample.shop()
    recorder = Recorder(path)
    tell(recorder, shop, 1)
    tell(recorder, GONE, 2, OTHER)
    tell(recorder, shop, 3, OTHER)
    tell(recorder, shop, 4)
    recorder.close()
    recording = play(path)
    contexts = [recording.read(number).context.name for number in range(4)]
    assert contexts == ["prod", "staging", "staging", "prod"]
    assert recording.read(1).observation is None
    assert recording.read(1).loss == GONE
    assert recording.read(3).observation == shop


@pytest.mark.parametrize("name", ["\udcff\udcfe", "a\x1b]52;c;eA==\x07", "é\udc80", "[@click=app.bell]x[/]"])
def test_names_survive_byte_for_byte(path: Path, play: Play, name: str) -> None:
    shop = sample.shop()
    first, *others = shop.streams
    odd = replace(
        first,
        stream=replace(first.stream, name=name, source=name),
        groups=tuple(replace(group, stream=name) for group in first.groups),
    )
    streams = (odd, *others)
    snapshot = replace(
        shop.snapshot,
        streams=tuple(view.stream for view in streams),
        gaps=(Gap("no", stream=name, group=name),),
    )
    told = replace(shop, snapshot=snapshot, streams=streams)
    record(path, [told, replace(told, observed_since=told.observed_since - TWO_SECONDS)])
    recording = play(path)
    assert observed(recording, 0) == told
    assert recording.read(1).observation is not None


@given(polls())
@FEWER_EXAMPLES
def test_any_observation_is_told_by_its_changes(snapshots: Sequence[Snapshot]) -> None:
    observer = Observer(Thresholds())
    before: Observation | None = None
    played: Observation | None = None
    for snapshot in snapshots:
        after = observer.observe(snapshot)
        told = msgpack.decode(msgpack.encode(changes(before, after)), type=type(changes(before, after)))
        played = changed(() if played is None else played.streams, told)
        assert played == after
        before = after


def test_what_did_not_change_is_not_told_again(path: Path) -> None:
    before = sample.many(1_000)
    record(path, [before, before, sample.changed(before, 1, 5)])
    sizes = [len(data) for data in frames_of(path)]
    assert sizes[1] < sizes[0] / 20
    assert sizes[2] < sizes[0] / 20


def test_nobody_elses_file_is_touched_and_nobody_else_may_read(path: Path) -> None:
    record(path, afternoon(1))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(SettingsError, match="is there already"):
        Recorder(path)
    with pytest.raises(SettingsError, match="cannot be written"):
        Recorder(path / "under")


def test_it_stops_at_its_limit_and_says_so(path: Path, play: Play) -> None:
    recorder = Recorder(path, limit=1_000)
    tell(recorder, sample.shop(), 1)
    assert recorder.state.problem == "full"
    recorder.take(SHOP, sample.shop())
    recorder.close()
    assert recorder.state.frames == 1
    assert len(play(path)) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_ends_the_recording_and_nothing_else(path: Path) -> None:
    recorder = Recorder(path)
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, recorder._file.fileno())
    os.close(full)
    recorder.take(SHOP, sample.shop())
    wait_until(lambda: "No space left" in recorder.state.problem)
    recorder.close()


def test_a_slow_disk_is_not_waited_for(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder(path)
    begun, slow = Event(), Event()
    write = recorder._write

    def wait_and_write(told: Any) -> None:  # noqa: ANN401 - whatever it is
        begun.set()
        slow.wait(PATIENCE)
        write(told)

    monkeypatch.setattr(recorder, "_write", wait_and_write)
    for _ in range(WAITING + 3):
        recorder.take(SHOP, sample.shop())
        assert begun.wait(PATIENCE)
    assert recorder.state.skipped == 2
    slow.set()
    recorder.close()
    assert recorder.state.frames == WAITING + 1


def frames_of(path: Path) -> list[bytes]:
    """The bodies of all observations of a file."""
    data, bodies = path.read_bytes()[len(FIRST_LINE) :], []
    while data:
        kind, _, _, length, _ = HEAD.unpack_from(data)
        if kind in (Kind.WHOLE, Kind.CHANGES):
            bodies.append(data[HEAD.size : HEAD.size + length])
        data = data[HEAD.size + length :]
    return bodies


def ends_of_interest(data: bytes) -> set[int]:
    """Places to cut: around the edges of every frame, and some in the middle."""
    edges, at = [len(FIRST_LINE)], len(FIRST_LINE)
    while at < len(data):
        at += HEAD.size + HEAD.unpack_from(data, at)[3]
        edges.append(at)
    near = {edge + step for edge in edges for step in (-1, 0, 1, HEAD.size)}
    return {end for end in near | set(range(0, len(data), 500)) if 0 < end < len(data)}


def test_a_file_cut_anywhere_plays_to_its_last_whole_frame(path: Path, play: Play, tmp_path: Path) -> None:
    told = afternoon(6)
    record(path, told)
    data = path.read_bytes()
    cut = tmp_path / "cut"
    played = set()
    for end in sorted(ends_of_interest(data), reverse=True):
        cut.write_bytes(data[:end])
        try:
            recording = play(cut)
        except RecordingError:
            continue  # not even its first frame is whole
        number = len(recording) - 1
        assert observed(recording, number) == told[number]
        played.add(len(recording))
        recording.close()
    assert played == {1, 2, 3, 4, 5}


def test_a_recording_that_is_cut_off_plays_up_to_there(path: Path, play: Play) -> None:
    record(path, afternoon(3))
    path.write_bytes(path.read_bytes()[:-5])
    recording = play(path)
    assert len(recording) == 2
    assert recording.problem == "cut off in the middle of a frame: it plays up to there"


def test_damage_is_told_and_nothing_after_it_is_played(path: Path, play: Play) -> None:
    told = afternoon(4)
    record(path, told)
    data = bytearray(path.read_bytes())
    data[-200] ^= 1
    path.write_bytes(data)
    recording = play(path)
    assert 0 < len(recording) < 4
    assert recording.problem == "damaged: it plays up to there"
    assert observed(recording, len(recording) - 1) == told[len(recording) - 1]


@pytest.mark.parametrize("content", [b"", b"# TOML", b"streamops recordin", b"\x1f\x8b\x08" + b"\0" * 100])
def test_what_is_no_recording_is_told(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(RecordingError, match="no recording"):
        Recording.open(path)


def test_a_file_that_cannot_be_read_is_told(path: Path) -> None:
    with pytest.raises(RecordingError, match="No such file"):
        Recording.open(path)
    with pytest.raises(RecordingError, match="Is a directory"):
        Recording.open(path.parent)


def test_another_format_is_refused_by_its_number(path: Path) -> None:
    path.write_bytes(b"streamops recording 2\n")
    with pytest.raises(RecordingError, match="recorded in format 2") as refused:
        Recording.open(path)
    assert "plays format 1" in refused.value.hint


def test_what_a_later_version_added_is_left_out(path: Path, play: Play) -> None:
    """Frames of kinds that are not known are stepped over, fields that are not known left out."""
    record(path, afternoon(1))
    with path.open("ab") as file:
        file.write(frame(99, 0, 0, b"who knows"))  # type: ignore[arg-type]
        file.write(frame(Kind.CONTEXT, 0, 0, msgpack.encode({**as_map(OTHER), "colour": "green"})))
        file.write(frame(Kind.LOSS, 0, 0, msgpack.encode({"message": "gone", "hint": "", "more": 1})))
    recording = play(path)
    assert recording.read(1).context == OTHER
    assert recording.read(1).loss == RecordedLoss("gone", "")


def as_map(context: RecordedContext) -> dict[str, str]:
    return {"name": context.name, "environment": context.environment, "address": context.address}


def test_what_cannot_be_understood_is_told_with_who_wrote_it(path: Path, play: Play) -> None:
    record(path, afternoon(1))
    body = zlib.compress(msgpack.encode({"rest": {}, "count": 0, "at": [], "streams": []}))
    with path.open("ab") as file:
        file.write(frame(Kind.WHOLE, 0, 0, body))
    recording = play(path)
    with pytest.raises(RecordingError, match="cannot be played") as refused:
        recording.read(1)
    assert "wrote it" in refused.value.hint
    assert observed(recording, 0) is not None


def test_changes_of_what_is_not_there_are_refused() -> None:
    shop = sample.shop()
    told = changes(
        shop, replace(shop, streams=(replace(shop.streams[0], added_per_second=7.0), *shop.streams[1:]))
    )
    assert len(told.at) == 1
    with pytest.raises(IndexError):
        changed((), told)
