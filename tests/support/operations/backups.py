"""Backups as whoever restores them reads them."""

from collections.abc import Iterator
from pathlib import Path

from streamops.errors import SettingsError
from streamops.model.entries import StreamEntry
from streamops.operations.backups import is_cut_off, parse_line, taken_back, takes_back


def read_backup(path: str | Path) -> Iterator[tuple[str, StreamEntry]]:
    """The entries of a file that were deleted, one by one, each with its stream.

    Raises:
        SettingsError: The file cannot be read, or a line is none; nothing after it is read.
    """
    try:
        with Path(path).open("rb") as file:
            spared = taken_back(file)
            file.seek(0)
            for number, line in enumerate(file, 1):
                if not line.strip() or takes_back(line) or (number > 1 and is_cut_off(line)):
                    continue
                try:
                    stream, entry = parse_line(line)
                    if str(entry.id) not in spared:
                        yield stream, entry
                except (ValueError, RecursionError) as error:
                    raise SettingsError(
                        f"{path}: line {number} is no entry: {error}",
                        'Each line is {"stream": ..., "id": ..., "fields": [[name, value], ...]}.',
                    ) from None
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}", "Check its name.") from None
