"""Saving a value to a file of the machine that the console runs on."""

import os
import re
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from streamops.errors import StreamopsError
from streamops.model.entries import EntryId
from streamops.resources.text import safe
from streamops.resources.units import size

PRIVATE: Final = 0o600
LONGEST_NAME: Final = 100
_UNUSUAL: Final = re.compile(r"[^A-Za-z0-9._-]+")


class CannotSave(StreamopsError):
    """Nothing was written."""


class FileThere(CannotSave):
    """A file of that name is there, and may be overwritten."""


def suggested_name(entry_id: EntryId, field: str) -> str:
    """A name for the file of a field, of characters that need no quotes in a shell."""
    return f"{entry_id}-{_UNUSUAL.sub('_', field)}"[:LONGEST_NAME]


def save(value: bytes, typed: str, *, overwrite: bool = False) -> Path:
    """Write a value to a file that only its owner may read, and return the file's absolute path.

    Args:
        value: The value, written as it is.
        typed: The path; relative to the working directory, ``~`` for the home directory.
        overwrite: Replace the file that is there. What had been in it is whole until the new one is.

    Raises:
        FileThere: The file is there, and is not to be overwritten.
        CannotSave: The file cannot be written, or is no regular file.
    """
    try:
        path = Path(typed).expanduser().absolute()
        if overwrite:
            _replace(value, path)
        else:
            _create(value, path)
    except FileExistsError:
        raise _refusal(path) from None
    except (OSError, RuntimeError, ValueError) as error:
        # A home directory that nobody has, and a zero byte in the path, are no errors of the system.
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise CannotSave(f"{safe(typed)}: {reason}") from None
    return path


def _create(value: bytes, path: Path) -> None:
    """Write a new file; raises ``FileExistsError`` if there is anything of that name, a dangling link too."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(value)
    except OSError:
        path.unlink(missing_ok=True)
        raise


def _replace(value: bytes, path: Path) -> None:
    """Write beside a file and put that in its place; a link is replaced, not what it leads to."""
    if not _is_file(path):
        raise FileExistsError
    # It begins with 0600.
    descriptor, name = tempfile.mkstemp(prefix=".streamops-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(value)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def _is_file(path: Path) -> bool:
    mode = path.lstat().st_mode
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)


def _refusal(path: Path) -> CannotSave:
    with suppress(OSError):
        if not _is_file(path):
            return CannotSave(f"{safe(str(path))} is no regular file")
        return FileThere(f"{safe(str(path))} exists, {size(path.lstat().st_size)}")
    return CannotSave(f"{safe(str(path))} has changed just now")
