"""Writes a recording, in a thread of its own: the console never waits for a disk."""

import os
import zlib
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from queue import Full, Queue
from threading import Thread
from time import monotonic
from typing import Final

from msgspec import Struct, msgpack
from msgspec.structs import asdict, replace

from streamops import __version__
from streamops.errors import SettingsError
from streamops.model.observation import Observation
from streamops.operate.recording.frames import (
    FIRST_LINE,
    WHOLE_EVERY,
    Kind,
    Program,
    RecordedContext,
    RecordedLoss,
    changes,
    frame,
)

LIMIT: Final = 1 << 30
"""Bytes of a recording unless somebody says otherwise: at two seconds a poll, days of a hundred groups."""
WAITING: Final = 4
"""Observations that wait to be written; further ones are left out, and counted."""
PRIVATE: Final = 0o600
PATIENCE: Final = 5.0
"""Seconds that closing waits for a slow disk."""


class RecorderState(Struct, frozen=True):
    """How a recording goes.

    Attributes:
        path: Where it is written.
        size: Bytes written.
        frames: Observations and losses written.
        skipped: How many were left out because the disk was too slow.
        problem: Why nothing more is written; empty while all is well.
    """

    path: Path
    size: int = 0
    frames: int = 0
    skipped: int = 0
    problem: str = ""


class _Told(Struct, frozen=True):
    """Something to be written, and when it was told."""

    at: int
    context: RecordedContext
    what: Observation | RecordedLoss


class Recorder:
    """Appends what it is told to a new file, which only its owner may read.

    Args:
        path: The file; it must not be there yet.
        limit: Bytes after which it writes no more.
        clock: Seconds that never go back.

    Raises:
        SettingsError: The file is there already, or cannot be made.
    """

    def __init__(self, path: Path, limit: int = LIMIT, clock: Callable[[], float] = monotonic) -> None:
        self._file = _create(path)
        self._limit = limit
        self._clock = clock
        self._began = clock()
        self._queue: Queue[_Told | None] = Queue(WAITING)
        self._context: RecordedContext | None = None
        self._past: Observation | None = None
        self._since_whole = 0
        self._time = 0
        self._time_at = 0
        self._deflate = zlib.compressobj()
        self._state = RecorderState(path)
        self._skipped = 0
        self._append(FIRST_LINE + frame(Kind.PROGRAM, 0, 0, msgpack.encode(Program(__version__))))
        self._thread = Thread(target=self._write_all, name="recording", daemon=True)
        self._thread.start()

    @property
    def state(self) -> RecorderState:
        """How it goes."""
        return replace(self._state, skipped=self._skipped)

    def take(self, context: RecordedContext, what: Observation | RecordedLoss) -> None:
        """Write what was observed somewhere, or why nothing was; never waits."""
        try:
            self._queue.put_nowait(_Told(round((self._clock() - self._began) * 1000), context, what))
        except Full:
            self._skipped += 1

    def close(self) -> None:
        """Write what waits, and close the file."""
        try:
            self._queue.put(None, timeout=PATIENCE)
        except Full:
            return
        self._thread.join(PATIENCE)

    # -- in the thread -------------------------------------------------------------------------------

    def _write_all(self) -> None:
        with self._file:
            while (told := self._queue.get()) is not None:
                if not self._state.problem:
                    self._write(told)

    def _write(self, told: _Told) -> None:
        try:
            self._append(self._frames(told))
        except OSError as error:
            self._state = replace(self._state, problem=f"cannot be written: {error.strerror}")
        except Exception as error:  # noqa: BLE001 - a thread that died would say nothing at all
            self._state = replace(self._state, problem=f"internal error: {type(error).__name__}: {error}")
        else:
            self._state = replace(self._state, frames=self._state.frames + 1)
            if self._state.size >= self._limit:
                self._state = replace(self._state, problem="full")

    def _frames(self, told: _Told) -> bytes:
        if isinstance(told.what, RecordedLoss):
            # Nobody could be asked for the time: it went on as it does here.
            time = self._time + told.at - self._time_at if self._time else 0
            return self._context_frame(told) + frame(Kind.LOSS, time, told.at, _encode(told.what))
        self._time = max(round(told.what.snapshot.collected_at.timestamp() * 1000), 0)
        self._time_at = told.at
        return self._context_frame(told) + self._observation_frame(told.what, told.at)

    def _context_frame(self, told: _Told) -> bytes:
        if told.context == self._context:
            return b""
        self._context, self._past = told.context, None
        return frame(Kind.CONTEXT, self._time, told.at, _encode(told.context))

    def _observation_frame(self, observation: Observation, at: int) -> bytes:
        kind = Kind.CHANGES
        if self._past is None or self._since_whole >= WHOLE_EVERY:
            kind, self._past, self._since_whole, self._deflate = Kind.WHOLE, None, 0, zlib.compressobj()
        told = changes(self._past, observation)
        self._past = observation
        self._since_whole += 1
        body = self._deflate.compress(msgpack.encode(told)) + self._deflate.flush(zlib.Z_SYNC_FLUSH)
        return frame(kind, self._time, at, body)

    def _append(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[self._file.write(left) :]
        self._state = replace(self._state, size=self._state.size + len(data))


def _create(path: Path) -> FileIO:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
    try:
        return FileIO(os.open(path, flags, PRIVATE), "w")
    except FileExistsError:
        raise SettingsError(
            f"{path} is there already", "A recording overwrites nothing: name another file, or remove it."
        ) from None
    except OSError as error:
        raise SettingsError(f"{path}: cannot be written: {error.strerror}", "Name another file.") from None


def _encode(words: RecordedContext | RecordedLoss) -> bytes:
    """Words may quote a name, which may hold any bytes; what is not UTF-8 of it is replaced."""
    told = asdict(words)
    return msgpack.encode({key: text.encode("utf-8", "replace").decode() for key, text in told.items()})
