"""Entries in files, one JSON line an entry, byte for byte: what is about to be lost, or was exported.

A line is ``{"stream": ..., "id": ..., "fields": [[name, value], ...]}``, the fields in their order and repeated
names kept. A text that is not UTF-8 stands as ``{"base64": "..."}``.
"""

import os
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import msgspec
from msgspec import Struct

from streamops.errors import SettingsError
from streamops.model.entries import Entry
from streamops.model.ids import EntryId

PRIVATE: Final = 0o600
PRIVATE_DIRECTORY: Final = 0o700


class _Binary(Struct, frozen=True, forbid_unknown_fields=True):
    """Bytes that are not UTF-8."""

    base64: str


_Text = str | _Binary


class _Line(Struct, frozen=True):
    """One line of a file; further keys are left alone."""

    stream: _Text
    id: str
    fields: tuple[tuple[_Text, _Text], ...]


_DECODER: Final = msgspec.json.Decoder(_Line)


class BackupWriter:
    """A new file of entries, readable by its owner alone. Where its block fails, it is removed again unless kept.

    Attributes:
        path: The file.
        written: Entries written so far.
        kept: Whether the file stays however its block ends: it may hold what is nowhere else any more.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.written = 0
        self.kept = False

    def __enter__(self) -> Self:
        """Create the file; raises ``SettingsError`` where it exists already or cannot be created."""
        try:
            self.path.parent.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
        except OSError as error:
            raise _not_written(self.path, error) from None
        self._file = os.fdopen(descriptor, "wb")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._file.close()
        finally:
            if error is not None and not self.kept:
                self.path.unlink(missing_ok=True)

    def write(self, stream: str, entries: Iterable[Entry]) -> None:
        """Add entries, and make sure that they are on the disk.

        Raises:
            SettingsError: They cannot be written.
        """
        self.write_lines([entry_line(stream, entry) for entry in entries])

    def write_lines(self, lines: Sequence[bytes]) -> None:
        """Add lines, and make sure that they are on the disk; raises ``SettingsError`` where they cannot be written."""
        if not lines:
            return
        try:
            self._file.write(b"".join(lines))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise _not_written(self.path, error) from None
        self.written += len(lines)


def forbid_existing(path: str | Path) -> None:
    """Raises ``SettingsError`` where there is a file of that name already: no backup overwrites another."""
    if Path(path).exists():
        raise SettingsError(f"{path} exists already", "Name another file; a backup never overwrites one.")


def entry_line(stream: str, entry: Entry) -> bytes:
    """An entry as a line, its line end included."""
    line = _Line(
        _packed(stream.encode("utf-8", "surrogateescape")),
        str(entry.id),
        tuple((_packed(name), _packed(value)) for name, value in entry.fields),
    )
    return msgspec.json.encode(line) + b"\n"


def parse_line(line: bytes) -> tuple[str, Entry]:
    """The stream and the entry that a line tells; raises ``ValueError`` where it tells none."""
    told = _DECODER.decode(line)
    fields = tuple((_unpacked(name), _unpacked(value)) for name, value in told.fields)
    return _unpacked(told.stream).decode("utf-8", "surrogateescape"), Entry(EntryId.parse(told.id), fields)


def read_backup(path: str | Path) -> Iterator[tuple[str, Entry]]:
    """The entries of a file, one by one, each with its stream.

    Raises:
        SettingsError: The file cannot be read, or a line is none; nothing after it is read.
    """
    try:
        with Path(path).open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    yield parse_line(line)
                except ValueError as error:
                    raise SettingsError(
                        f"{path}: line {number} is no entry: {error}",
                        'Each line is {"stream": ..., "id": ..., "fields": [[name, value], ...]}.',
                    ) from None
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}", "Check its name.") from None


def _packed(value: bytes) -> _Text:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return _Binary(b64encode(value).decode())


def _unpacked(text: _Text) -> bytes:
    return text.encode() if isinstance(text, str) else b64decode(text.base64, validate=True)


def _not_written(path: Path, error: OSError) -> SettingsError:
    if isinstance(error, FileExistsError) and path.exists():
        return SettingsError(f"{path} exists already", "Name another file; a backup never overwrites one.")
    return SettingsError(f"{path} cannot be written: {error.strerror}", "Make room, or name another file.")
