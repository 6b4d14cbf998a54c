"""Files to restore from, read as streams: once from end to end before anything is written, then to write.

A line is an entry as ``operations.backups`` writes it, or as ``streams search -o jsonl`` prints it. Empty lines do not count,
nor do entries that the file says were not deleted, nor a last line that was cut off.
"""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from typing import IO, Final

import msgspec
from msgspec import Struct

from streamops.errors import SettingsError, StalePlan
from streamops.model.entries import ZERO_ID, EntryId, StreamEntry
from streamops.operations.backups import Text, as_bytes, is_cut_off, parse_line, taken_back, takes_back
from streamops.operations.restore.plan import RestoreFile

LARGEST_LINE: Final = 512 << 20
WIDEST: Final = 3_900
"""Fields that one script can add as one entry: above about 4,000, Lua's stack on Redis 6.2 and 7.0 is too small."""

NAMED_PROBLEMS: Final = 5
NAMED_STREAMS: Final = 5
SAMPLE: Final = 10
GROUP_HINT: Final = (
    "Create it again at the position in its first line: `streamops groups create STREAM GROUP --at ID`."
)
HINT: Final = 'Each line is {"stream": ..., "id": ..., "fields": [[name, value], ...]}. Nothing was done.'


class _Shown(Struct, frozen=True):
    """An entry as it is printed: by name, and where a name repeats or is binary, also in pairs."""

    stream: Text
    id: str
    fields: dict[str, Text]
    pairs: tuple[tuple[Text, Text], ...] | None = None


_SHOWN: Final = msgspec.json.Decoder(_Shown)


def examine(path: str, stopped: Callable[[], bool] = lambda: False) -> RestoreFile:
    """Read a file from end to end, and say what it holds.

    Args:
        path: The file.
        stopped: Called at every line; whether to stop reading.

    Raises:
        SettingsError: It cannot be read, is empty, or some of its lines are none; the first are named.
    """
    with _opened(path) as file:
        look = _FileScan(_taken_back(path, file))
        for number, line in _lines(path, file):
            look.digest.update(line)
            if line.strip() and not takes_back(line):
                look.add(number, line)
            if stopped():
                break
        if look.is_group:
            raise SettingsError(f"{path} holds a group, and no entries", GROUP_HINT)
        if look.problems:
            raise _bad_lines(path, look)
        if look.is_empty:
            raise SettingsError(f"{path} is empty", "Name a file that was written by streamops.")
        return look.result(_stamp(file))


def read_entries(path: str, result: RestoreFile, skip: int) -> Iterator[StreamEntry]:
    """The entries of a file after the first ``skip``; raises ``StalePlan`` if it has changed."""
    for line in _records(path, result, skip):
        yield parse_entry(line)[1]


def parse_entry(line: bytes) -> tuple[str, StreamEntry]:
    """The stream and the entry of a line; raises ``ValueError`` if it tells none."""
    with suppress(msgspec.ValidationError):
        return parse_line(line)
    try:
        shown = _SHOWN.decode(line)
    except msgspec.ValidationError:
        # What is wrong with it is said in terms of the form that backups have.
        return parse_line(line)
    pairs = shown.pairs if shown.pairs is not None else tuple(shown.fields.items())
    fields = tuple((as_bytes(name), as_bytes(value)) for name, value in pairs)
    return as_bytes(shown.stream).decode("utf-8", "surrogateescape"), StreamEntry(
        EntryId.parse(shown.id), fields
    )


class _FileScan:
    """What was found in a file so far."""

    def __init__(self, spared: frozenset[str]) -> None:
        self.digest = sha256()
        self._spared = spared
        self._taken_back = 0
        self._cut_off = False
        self.problems: list[str] = []
        self.bad = 0
        self.is_group = False
        self.records = 0
        self._streams: dict[str, None] = {}
        self._first: EntryId | None = None
        self._last: EntryId | None = None
        self._disorder: int | None = None
        self._too_wide = 0
        self._sample: list[tuple[EntryId, int, int]] = []

    def add(self, number: int, line: bytes) -> None:
        """Take a line into account."""
        if is_cut_off(line) and (self.records or self._taken_back):
            self._cut_off = True
            return
        try:
            self._add_entry(number, line)
        except (ValueError, RecursionError) as error:
            self.bad += 1
            self.is_group |= number == 1 and b'"last_delivered_id"' in line
            if len(self.problems) < NAMED_PROBLEMS:
                self.problems.append(f"line {number} ({error})")

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found at all."""
        return not self.records and not self._taken_back

    def result(self, stamp: tuple[int, int, int]) -> RestoreFile:
        """All of it."""
        return RestoreFile(
            digest=self.digest.hexdigest(),
            stamp=stamp,
            records=self.records,
            streams=tuple(self._streams),
            first_id=self._first,
            last_id=self._last,
            disorder=self._disorder,
            too_wide=self._too_wide,
            sample=tuple(self._sample),
            taken_back=self._taken_back,
            cut_off=self._cut_off,
        )

    def _add_entry(self, number: int, line: bytes) -> None:
        stream, entry = parse_entry(line)
        if entry.id == ZERO_ID:
            raise ValueError("0-0 can be no entry's ID")
        if not entry.fields:
            raise ValueError("an entry has at least one field")
        self._note_stream(stream)
        if str(entry.id) in self._spared:
            self._taken_back += 1
            return
        self._note_id(number, entry.id)
        self._too_wide += len(entry.fields) > WIDEST
        if len(self._sample) < SAMPLE:
            self._sample.append((entry.id, len(entry.fields), entry.size))

    def _note_stream(self, stream: str) -> None:
        if len(self._streams) < NAMED_STREAMS:
            self._streams[stream] = None

    def _note_id(self, number: int, entry_id: EntryId) -> None:
        self.records += 1
        if self._last is not None and entry_id <= self._last and self._disorder is None:
            self._disorder = number
        self._first = self._first or entry_id
        self._last = entry_id


def _records(path: str, result: RestoreFile, skip: int) -> Iterator[bytes]:
    with _opened(path) as file:
        if _stamp(file) != result.stamp:
            raise StalePlan(
                f"{path} has changed since the plan was made", "Nothing was done. Make a new plan."
            )
        spared = _taken_back(path, file) if result.taken_back else frozenset()
        for _, line in _lines(path, file):
            if not line.strip() or takes_back(line) or (result.cut_off and is_cut_off(line)):
                continue
            if spared and str(parse_entry(line)[1].id) in spared:
                continue
            if skip:
                skip -= 1
            else:
                yield line


def _taken_back(path: str, file: IO[bytes]) -> frozenset[str]:
    """The IDs of entries that were not deleted; the file is read to its end, and begins again."""
    found = taken_back(line for _, line in _lines(path, file))
    file.seek(0)
    return found


def _opened(path: str) -> IO[bytes]:
    try:
        file = open(path, "rb")  # noqa: SIM115, PTH123 - the caller closes it; a path may hold any bytes
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise SettingsError(f"{path} is no plain file", "It is read twice: write it to a file first.")
    return file


def _lines(path: str, file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    number = 0
    try:
        while line := file.readline(LARGEST_LINE):
            number += 1
            if len(line) == LARGEST_LINE:
                raise SettingsError(f"{path}: line {number} is longer than {LARGEST_LINE >> 20} MiB", HINT)
            yield number, line
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: str, error: Exception) -> SettingsError:
    why = error.strerror if isinstance(error, OSError) else error
    return SettingsError(f"{path} cannot be read: {why}", "Check its name and its permissions.")


def _bad_lines(path: str, look: _FileScan) -> SettingsError:
    more = look.bad - len(look.problems)
    named = "; ".join(look.problems) + (f"; and {more:,} more" if more else "")
    return SettingsError(f"{path} cannot be restored: {named}", HINT)


def _stamp(file: IO[bytes]) -> tuple[int, int, int]:
    result = os.fstat(file.fileno())
    return result.st_ino, result.st_size, result.st_mtime_ns
