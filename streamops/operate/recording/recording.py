"""Reads a recording: any frame of it, at the cost of a few, whatever its length."""

import os
import zlib
from array import array
from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from io import BufferedReader
from pathlib import Path
from typing import Any, Final, Self

from msgspec import MsgspecError, Struct, msgpack

from streamops import __version__
from streamops.errors import RecordingError
from streamops.model.observation import Observation
from streamops.operate.recording.frames import (
    FIRST_LINE,
    HEAD,
    LONGEST_BODY,
    NAME,
    SHOWN,
    VERSION,
    Changes,
    Head,
    Kind,
    Program,
    RecordedContext,
    RecordedLoss,
    changed,
    read_head,
)

LONGEST_LINE: Final = 64


class Scene(Struct, frozen=True):
    """What was to be seen at one frame.

    Attributes:
        context: Where it was observed.
        observation: The observation; none before the first of this context.
        loss: Why there was none newer; none where this is the newest.
        age: How long ago the observation had been made.
    """

    context: RecordedContext
    observation: Observation | None
    loss: RecordedLoss | None
    age: timedelta = timedelta(0)


class Recording:
    """A file that is open, and an index of its frames; of what they hold only one is kept.

    Not safe for use from several threads at the same time.

    Attributes:
        path: The file.
        program: The version of streamops that wrote it.
        problem: Why it ends before the file does, or in the middle of a frame; empty where it is whole.
    """

    def __init__(self, path: Path, file: BufferedReader) -> None:
        self.path = path
        self.program = ""
        self.problem = ""
        self._file = file
        # Plain arrays: an index of a day is a few megabytes, and no objects.
        self._offsets = array("Q")
        self._times = array("Q")
        self._ats = array("Q")
        self._wholes = array("Q")
        self._contexts: list[tuple[int, RecordedContext]] = []
        self._inflate = zlib.decompressobj()
        self._at = -1
        self._seen: Observation | None = None
        self._seen_at = 0

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a recording and index it; reads all of it once.

        Raises:
            RecordingError: It cannot be read, is no recording, or holds nothing that could be shown.
        """
        try:
            file = path.open("rb")
        except OSError as error:
            raise RecordingError(f"{path}: cannot be read: {error.strerror}", "Name a recording.") from None
        recording = cls(path, file)
        try:
            recording._check_format()
            recording._index()
        except BaseException:
            file.close()
            raise
        return recording

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __len__(self) -> int:
        return len(self._offsets)

    def elapsed(self, number: int) -> timedelta:
        """How long after the recording began a frame was observed."""
        return timedelta(milliseconds=self._ats[number])

    def time(self, number: int) -> datetime:
        """The server's clock at a frame."""
        return datetime.fromtimestamp(self._times[number] / 1000, tz=UTC)

    def at(self, elapsed: timedelta) -> int:
        """The last frame observed until then; the first where there is none."""
        return max(bisect_right(self._ats, round(elapsed / timedelta(milliseconds=1))) - 1, 0)

    def read(self, number: int) -> Scene:
        """What was to be seen at a frame.

        Raises:
            RecordingError: Another version wrote it in a way that this one cannot read, or the file changed.
        """
        found = bisect_right(self._contexts, number, key=lambda pair: pair[0]) - 1
        began, context = self._contexts[found]
        before = bisect_right(self._wholes, number) - 1
        loss: RecordedLoss | None = None
        if before < 0 or (whole := self._wholes[before]) < began:
            # Nothing of this context had been observed yet.
            return Scene(context, None, self._read_loss(number))
        if not whole <= self._at <= number:
            self._at, self._seen = whole - 1, None
            self._seen_at = whole
        while self._at < number:
            loss = self._step()
        if loss is None:
            loss = self._read_loss(number)
        return Scene(context, self._seen, loss, self.elapsed(number) - self.elapsed(self._seen_at))

    # -- inside --------------------------------------------------------------------------------------

    def _check_format(self) -> None:
        line = self._file.readline(LONGEST_LINE)
        if not line.startswith(NAME):
            raise RecordingError(f"{self.path}: no recording", "`streamops tui --record FILE` writes one.")
        if line != FIRST_LINE:
            raise RecordingError(
                f"{self.path}: recorded in format {line[len(NAME) :].decode('ascii', 'replace').strip()}",
                f"streamops {__version__} plays format {VERSION}; play it with the version that wrote it.",
            )

    def _index(self) -> None:
        size = os.fstat(self._file.fileno()).st_size
        while (offset := self._file.tell()) < size:
            head = read_head(self._file.read(HEAD.size))
            body = b"" if head is None else self._file.read(head.length)
            if head is None or len(body) < head.length:
                self.problem = "cut off in the middle of a frame: it plays up to there"
                break
            if not head.fits(body):
                self.problem = "damaged: it plays up to there"
                break
            self._note(head, body, offset)
        if not len(self):
            raise RecordingError(f"{self.path}: nothing was recorded", self.problem)

    def _note(self, head: Head, body: bytes, offset: int) -> None:
        if head.kind in SHOWN and self._contexts:
            if head.kind == Kind.WHOLE:
                self._wholes.append(len(self))
            self._offsets.append(offset)
            self._times.append(head.time)
            self._ats.append(head.at)
        elif head.kind == Kind.CONTEXT:
            self._contexts.append((len(self), self._decode(body, RecordedContext)))
        elif head.kind == Kind.PROGRAM:
            self.program = self._decode(body, Program).version

    def _step(self) -> RecordedLoss | None:
        """Go to the next frame; return the loss it tells of, if it does."""
        head, body = self._frame(self._at + 1)
        if head.kind == Kind.LOSS:
            self._at += 1
            loss: RecordedLoss = self._decode(body, RecordedLoss)
            return loss
        if head.kind == Kind.WHOLE:
            self._inflate, self._seen = zlib.decompressobj(), None
        streams = () if self._seen is None else self._seen.streams
        try:
            told = self._decode(self._inflate.decompress(body, LONGEST_BODY), Changes)
            self._seen = changed(streams, told)
        except (
            MsgspecError,
            zlib.error,
            ValueError,
            LookupError,
            TypeError,
            ArithmeticError,
            RecursionError,
        ) as error:
            self._at = -1
            raise self._unreadable(error) from None
        self._at += 1
        self._seen_at = self._at
        return None

    def _read_loss(self, number: int) -> RecordedLoss | None:
        head, body = self._frame(number)
        return self._decode(body, RecordedLoss) if head.kind == Kind.LOSS else None

    def _frame(self, number: int) -> tuple[Head, bytes]:
        try:
            self._file.seek(self._offsets[number])
            head = read_head(self._file.read(HEAD.size))
            body = b"" if head is None else self._file.read(head.length)
        except OSError as error:
            raise self._unreadable(error) from None
        if head is None or not head.fits(body):
            raise RecordingError(f"{self.path}: changed since it was opened", "Open it again.")
        return head, body

    def _decode(self, body: bytes, kind: type[Any]) -> Any:  # noqa: ANN401 - of the kind
        try:
            return msgpack.decode(body, type=kind)
        except (MsgspecError, ValueError, RecursionError) as error:
            raise self._unreadable(error) from None

    def _unreadable(self, error: Exception) -> RecordingError:
        return RecordingError(
            f"{self.path}: cannot be played: {error}",
            f"streamops {self.program or 'unknown'} wrote it, this is {__version__}: play it with that one.",
        )
