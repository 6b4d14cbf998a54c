"""Where configuration and what is remembered between calls are kept; files that several processes of one user change."""

import fcntl
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO, Final

import msgspec

from streamops.errors import SettingsError

PRIVATE: Final = 0o600
PRIVATE_DIRECTORY: Final = 0o700
LONGEST_NAME: Final = 60
"""Characters of a stream's name in a file's name."""


def user_file(environ: Mapping[str, str]) -> Path | None:
    """The user's configuration file, whether it exists or not; none for a user without a home."""
    return _xdg_path(environ, "XDG_CONFIG_HOME", ".config", "config.toml")


def state_directory(environ: Mapping[str, str]) -> Path | None:
    """Where what is remembered between calls is kept; none for a user without a home."""
    return _xdg_path(environ, "XDG_STATE_HOME", ".local/state", "")


def _xdg_path(environ: Mapping[str, str], variable: str, default: str, name: str) -> Path | None:
    stated = Path(environ.get(variable, ""))
    if stated.is_absolute():
        return stated / "streamops" / name
    home = environ.get("HOME")
    return Path(home) / default / "streamops" / name if home else None


def resolve_path(written: str, directory: Path, environ: Mapping[str, str]) -> Path:
    """The file that is meant: ``~/`` is the home directory, a relative name is relative to ``directory``."""
    home = environ.get("HOME")
    if written.startswith("~/") and home:
        return Path(home) / written[2:]
    return directory / written


def new_backup(operation: str, target: Sequence[str], environ: Mapping[str, str]) -> str:
    """The name of a new backup in the state directory, which is not created here; it says what it is of and when.

    Args:
        operation: The operation's name: ``groups.destroy``.
        target: What it acts on: a stream, and its group; what a file's name cannot hold becomes an underscore.
        environ: The environment: HOME, XDG_STATE_HOME.

    Raises:
        SettingsError: There is no such directory: a user without a home.
    """
    directory = state_directory(environ)
    if directory is None:
        raise SettingsError(
            "no place to keep a backup", "Set HOME or XDG_STATE_HOME, or name a file with --backup."
        )
    now = datetime.now(UTC)  # noqa: TID251 - for whoever looks for the file later
    name = re.sub(r"[^A-Za-z0-9._-]", "_", "-".join(target))[:LONGEST_NAME]
    file = f"{operation.replace('.', '-')}-{name}-{now:%Y%m%dT%H%M%SZ}-{token_hex(3)}.jsonl"
    return str(directory / "backups" / file)


class StateFile:
    """A file in the state directory that keeps a word for each name, readable by its owner only.

    Args:
        file: Its name.
        what: What it keeps, in a few words.
        instead: What to do where it cannot be kept.
        environ: The environment: HOME, XDG_STATE_HOME.
    """

    def __init__(self, file: str, what: str, instead: str, environ: Mapping[str, str]) -> None:
        directory = state_directory(environ)
        self._path = directory / file if directory else None
        self._what = what
        self._instead = instead

    def read(self) -> dict[str, str]:
        """All words by name; empty where there is no such file.

        Raises:
            SettingsError: It cannot be read.
        """
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, str]) if self._path else {}
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            problem = f"cannot be read: {error.strerror}"
        except (msgspec.DecodeError, UnicodeDecodeError):
            problem = "damaged"
        raise SettingsError(f"{self._path}: {problem}", f"Delete it; it only holds {self._what}.")

    def write(self, name: str, word: str | None, keep: Callable[[str], bool] = bool) -> bool:
        """Keep a word for a name, or none, and those of the other names that are kept; whether that is new.

        Raises:
            SettingsError: It cannot be written.
        """
        if self._path is None:
            raise SettingsError(
                f"no place to keep {self._what}", f"Set HOME or XDG_STATE_HOME, or use {self._instead}."
            )
        try:
            with exclusive(self._path):
                before = self.read()
                after = {other: kept for other, kept in before.items() if other != name and keep(other)}
                if word is not None:
                    after[name] = word
                if after != before:
                    replace_file(self._path, msgspec.json.format(msgspec.json.encode(after)))
        except OSError as error:
            raise SettingsError(
                f"cannot write {self._path}: {error.strerror}", f"Use {self._instead} instead."
            ) from None
        return after != before


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
