"""Entries in files, one JSON line an entry, byte for byte: what is about to be lost, or was exported."""

import os
from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

import msgspec
from msgspec import Struct

from streamops.errors import SettingsError, StalePlan
from streamops.model.acting import Skipped
from streamops.model.delayed import DelayedMessage
from streamops.model.entries import EntryId, StreamEntry
from streamops.model.text import safe_json
from streamops.operations.running import Run
from streamops.wire.writes.entries import Deleting, delete

PRIVATE: Final = 0o600
PRIVATE_DIRECTORY: Final = 0o700
KEPT_IN: Final = ("streamops", "backups")
"""The end of the name of the directory where backups are kept unless a file is named: it alone is created."""


class Binary(Struct, frozen=True, forbid_unknown_fields=True):
    """Bytes that are not UTF-8."""

    base64: str


Text = str | Binary


class _BackupLine(Struct, frozen=True):
    """One line of a file; further keys are left alone."""

    stream: Text
    id: str
    fields: tuple[tuple[Text, Text], ...]


class _NotDeleted(Struct, frozen=True):
    """The line that takes entries back; further keys are left alone."""

    not_deleted: tuple[str, ...]


_DECODER: Final = msgspec.json.Decoder(_BackupLine)
_TAKEN_BACK: Final = msgspec.json.Decoder(_NotDeleted)
_TAKING_BACK: Final = b'{"not_deleted":'


class BackupWriter:
    """A new file of entries, readable by its owner alone. If its block fails, it is removed again unless kept.

    Without a path nothing is written.

    Attributes:
        path: The file.
        written: Entries written so far.
        kept: Whether the file stays however its block ends: it may hold what is nowhere else any more.
    """

    def __init__(self, path: str | Path | None, *, anew: bool = False) -> None:
        self._anew = anew
        self.path = Path(path or "")
        self._file: IO[bytes] | None = None
        self._wanted = bool(path)
        self.written = 0
        self.kept = False

    def __enter__(self) -> Self:
        """Create the file; raises ``SettingsError`` if it exists already, unless it is written again, or cannot be."""
        if not self._wanted:
            return self
        try:
            if self._anew:
                self.path.unlink(missing_ok=True)
            if _is_default(self.path.parent):
                self.path.parent.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
            self._file = os.fdopen(descriptor, "wb", buffering=0)
            _sync_directory(self.path)
        except OSError as error:
            raise _not_written(self.path, error) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is None:
            return
        try:
            self._file.close()
        finally:
            if error is not None and not self.kept:
                self.path.unlink(missing_ok=True)

    def write(self, stream: str, entries: Iterable[StreamEntry]) -> None:
        """Add entries, and make sure that they are on the disk.

        Raises:
            SettingsError: They cannot be written.
        """
        self.write_lines(entry_line(stream, entry) for entry in entries)

    def write_lines(self, lines: Iterable[bytes]) -> None:
        """Add lines, and make sure that they are on the disk; raises ``SettingsError`` if they cannot be written."""
        if self._file is not None and (told := [*lines]):
            self._append(self._file, b"".join(told))
            self.written += len(told)

    def take_back(self, ids: Iterable[EntryId]) -> None:
        """Say which of the entries written were not deleted after all; raises ``SettingsError`` if it cannot."""
        if self._file is not None and (told := tuple(map(str, ids))):
            self._append(self._file, msgspec.json.encode(_NotDeleted(told)) + b"\n")

    def rename(self, path: str | Path) -> None:
        """Give the file its name, now that all is in it; raises ``SettingsError`` if there is one of that name."""
        draft = self.path
        try:
            # Unlike a rename, a link never replaces another file, whenever that came.
            Path(path).hardlink_to(draft)
            self.path, self.kept = Path(path), True
            draft.unlink()
            _sync_directory(self.path)
        except OSError as error:
            raise _not_written(Path(path), error) from None

    def _append(self, file: IO[bytes], content: bytes) -> None:
        """Add all of it to what is on the disk, or nothing."""
        good = file.tell()
        try:
            left = memoryview(content)
            while left:
                left = left[file.write(left) :]
            os.fsync(file.fileno())
        except OSError as error:
            # Half a line would break the reading of the others.
            with suppress(OSError):
                file.truncate(good)
                file.seek(good)
                os.fsync(file.fileno())
            raise _not_written(self.path, error) from None


def forbid_existing(path: str | Path | None) -> None:
    """Raises ``SettingsError`` if there is a file of that name already, or no directory for it.

    No backup overwrites another.
    """
    if not path:
        return
    if os.path.lexists(path):
        raise SettingsError(f"{path} exists already", "Name another file; a backup never overwrites one.")
    directory = Path(path).parent
    if not directory.exists() and not _is_default(directory):
        raise _no_directory(directory)


def part_of(path: str | Path) -> str:
    """The name of a file while not all is in it yet that has to be there before anything is deleted."""
    return f"{path}.part"


def entry_line(stream: str, entry: StreamEntry) -> bytes:
    """An entry as a line, its line end included."""
    line = _BackupLine(
        _packed(stream.encode("utf-8", "surrogateescape")),
        str(entry.id),
        tuple((_packed(name), _packed(value)) for name, value in entry.fields),
    )
    return json_line(line)


def json_line(told: object) -> bytes:
    """Anything as a line of JSON that a terminal only shows: files are looked at before they are restored."""
    return safe_json(msgspec.json.encode(told).decode()).encode() + b"\n"


def name_json(name: str) -> str | dict[str, str]:
    """A name as lines have it: ``{"base64": ...}`` if it is not UTF-8."""
    raw = name.encode("utf-8", "surrogateescape")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return {"base64": b64encode(raw).decode()}


def parse_line(line: bytes) -> tuple[str, StreamEntry]:
    """The stream and the entry that a line tells; raises ``ValueError`` if it tells none."""
    told = _DECODER.decode(line)
    fields = tuple((as_bytes(name), as_bytes(value)) for name, value in told.fields)
    return as_bytes(told.stream).decode("utf-8", "surrogateescape"), StreamEntry(
        EntryId.parse(told.id), fields
    )


def takes_back(line: bytes) -> bool:
    """Whether a line says which entries were not deleted."""
    return line.startswith(_TAKING_BACK)


def taken_back(lines: Iterable[bytes]) -> frozenset[str]:
    """The IDs of entries that were written, but not deleted; lines that cannot be read say nothing."""
    found: set[str] = set()
    for line in filter(takes_back, lines):
        with suppress(ValueError, RecursionError):
            found.update(_TAKEN_BACK.decode(line).not_deleted)
    return frozenset(found)


def is_cut_off(line: bytes) -> bool:
    """Whether a line, the last one of its file, was not written to its end."""
    if line.endswith(b"\n"):
        return False
    try:
        msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return line.startswith(b"{")
    return False


def _packed(value: bytes) -> Text:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return Binary(b64encode(value).decode())


def as_bytes(text: Text) -> bytes:
    """The bytes that a text of a file stands for; raises ``ValueError`` if it is no Base64."""
    return text.encode() if isinstance(text, str) else b64decode(text.base64, validate=True)


def _sync_directory(path: Path) -> None:
    """Make sure that a file's name is on the disk as well."""
    descriptor = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_default(directory: Path) -> bool:
    return directory.parts[-2:] == KEPT_IN


def _no_directory(directory: Path) -> SettingsError:
    return SettingsError(f"no such directory: {directory}", "Create it, or name a file elsewhere.")


def _not_written(path: Path, error: OSError) -> SettingsError:
    if isinstance(error, FileNotFoundError):
        return _no_directory(path.parent)
    if isinstance(error, FileExistsError) and os.path.lexists(path):
        return SettingsError(f"{path} exists already", "Name another file; a backup never overwrites one.")
    return SettingsError(f"{path} cannot be written: {error.strerror}", "Make room, or name another file.")


UNREAD = b"_so_delayed_body"
"""The one field of a message whose body cannot be read."""


def message_line(stream: str, message: DelayedMessage, number: int) -> bytes:
    """A message of a stream's queue as a line, its line end included.

    Args:
        stream: The stream.
        message: The message.
        number: Which one of the file it is, from 1 on: what stands for an ID, which it never had.
    """
    body = message.body
    fields = body.entry_fields if body else ((UNREAD, message.raw),)
    line = msgspec.json.decode(
        entry_line(body.destination if body else stream, StreamEntry(EntryId(0, number), fields))
    )
    line["delayed"] = {
        "stream": name_json(stream),
        "id": name_json(message.id),
        "due_at": message.due_at,
        "group": name_json(body.group) if body else "",
        "attempt": body.attempt if body else 0,
        "origin_id": name_json(body.origin_id) if body else "",
    }
    return json_line(line)


async def delete_and_report(
    run: Run, how: Deleting, ids: Sequence[EntryId], entries: Sequence[StreamEntry], backup: BackupWriter
) -> None:
    """Delete a batch of entries.

    Args:
        run: Whom to tell.
        how: From where.
        ids: Those that were selected.
        entries: Those of them that are there.
        backup: The file that keeps them.
    """
    backup.write(how.stream, entries)
    backup.kept = True
    there = [entry.id for entry in entries]
    try:
        deleted = await delete(run.server, how, there)
    except StalePlan:
        with suppress(SettingsError):
            backup.take_back(there)
        raise
    try:
        backup.take_back(one for one in there if one not in deleted)
    finally:
        # What was deleted is told, whatever becomes of the file.
        skipped = [Skipped(str(one), "gone already") for one in ids if one not in deleted]
        await run.report(len(deleted), skipped=skipped)
