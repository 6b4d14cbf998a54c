"""Small files that several processes of one user read, change and write back."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from streamops.errors import SettingsError

PRIVATE: Final = 0o600
PRIVATE_DIRECTORY: Final = 0o700


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Keep other processes from changing a file from its reading to its writing; creates its directory.

    Raises ``OSError``.
    """
    path.parent.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
    # The file itself is replaced, so another one is locked.
    lock = path.with_name(f".{path.name}.lock")
    while True:
        with lock.open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if _is_open_at(file, lock):
                try:
                    yield
                finally:
                    lock.unlink()
                return


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file as a whole: who reads it finds the old content or the new one. A new one is its owner's alone.

    Raises ``OSError``.
    """
    mode = path.stat().st_mode & 0o777 if path.exists() else PRIVATE
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    draft = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.chmod(mode)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _is_open_at(file: BinaryIO, path: Path) -> bool:
    """Whether an open file still has this name: who held its lock before has removed it."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def read_names(path: Path | None, hint: str) -> dict[str, str]:
    """A file that keeps a word for each name; empty where there is none.

    Args:
        path: The file; none where there is no place for it.
        hint: What to do where it is damaged.

    Raises:
        SettingsError: It cannot be read.
    """
    if path is None:
        return {}
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, str])
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
    except (msgspec.DecodeError, UnicodeDecodeError):
        problem = "damaged"
    raise SettingsError(f"{path}: {problem}", hint)
