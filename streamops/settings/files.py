"""Reading configuration files, and who says what they may set."""

import os
import stat
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from streamops.errors import SettingsError
from streamops.settings.decoding import Problem, decode_config
from streamops.settings.places import resolve_path, user_file
from streamops.settings.projects import in_short, split_allowed, stated_keys
from streamops.settings.trust import digest_of, name_of, read_trusted

PROJECT_FILE: Final = "streamops.toml"
MOST_BYTES: Final = 1 << 20
"""Of a file."""

MOST_CLONED_BYTES: Final = 64 << 10
"""Of a project's file that nobody trusted, which comes with whatever was cloned."""

MOST_DOTS: Final = 200
"""In a line of it. They may be those of a key, and the parser's time and memory grow with the square of its parts."""

FOREIGN_HINT: Final = "Copy it, or name it in STREAMOPS_CONFIG."
NO_CONFIGURATION: Final = "Check that it is a configuration file."

READABLE_BY_OTHERS: Final = stat.S_IRGRP | stat.S_IROTH


class Standing(StrEnum):
    """Who says what a file may set."""

    OWN = "own"
    """The user's own, or one that the environment names: everything."""

    TRUSTED = "trusted"
    """A project's that the user trusted, as it is now: everything."""

    UNTRUSTED = "not trusted"
    """A project's: what ``projects.ALLOWED`` lists."""

    CHANGED = "changed since it was trusted"
    """The same."""

    FOREIGN = "another user's"
    """A project's that belongs to somebody else: nothing, and it is not read."""


class ConfigFile(Struct, frozen=True):
    """One configuration file, read.

    Attributes:
        path: Where it is.
        standing: Who says what it may set.
        shared: Whether group or world may read it.
        stated: What it states and may set, in the types of ``ConfigTable``; unstated keys are absent.
        problems: What is wrong with it.
        left_out: Keys that it states and may not set.
        digest: What tells its content from any other; of a project's file alone.
    """

    path: Path
    standing: Standing = Standing.OWN
    shared: bool = False
    stated: dict[str, Any] = {}
    problems: tuple[Problem, ...] = ()
    left_out: tuple[str, ...] = ()
    digest: str = ""


def read_files(environ: Mapping[str, str], cwd: Path, *, whole: bool = False) -> tuple[ConfigFile, ...]:
    """Read the configuration files in use, the strongest first; problems are in them, not raised.

    ``STREAMOPS_CONFIG`` names the only file; without it these are the project's file and the user's, where
    they exist.

    Args:
        environ: The environment.
        cwd: The working directory.
        whole: Whether a project's file is read whole, whatever it may set, to be checked.

    Raises:
        SettingsError: The file that ``STREAMOPS_CONFIG`` names does not exist.
    """
    if named := environ.get("STREAMOPS_CONFIG"):
        path = resolve_path(named, cwd, environ)
        file = read_file(path)
        if file is None:
            raise SettingsError(
                f"STREAMOPS_CONFIG: no such file: {path}", "Correct the variable or unset it."
            )
        return (file,)
    user = user_file(environ)
    files = [
        read_project(cwd / PROJECT_FILE, environ, whole=whole),
        read_file(user) if user else None,
    ]
    return tuple(file for file in files if file)


def read_file(path: Path) -> ConfigFile | None:
    """Read one of the user's own files, if there is one; whatever is wrong with it is in its ``problems``."""
    try:
        with path.open("rb") as file:
            shared = bool(os.fstat(file.fileno()).st_mode & READABLE_BY_OTHERS)
            content = file.read(MOST_BYTES + 1)
        table = _parse(content, MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, RecursionError) as error:
        return ConfigFile(path, problems=(_explain(path, error),))
    stated, problems = decode_config(table, str(path))
    return ConfigFile(path, Standing.OWN, shared, stated, problems)


def read_project(path: Path, environ: Mapping[str, str], *, whole: bool = False) -> ConfigFile | None:
    """Read a project's file, if there is one, as far as it is trusted; problems are in it, not raised.

    Args:
        path: The file.
        environ: The environment, which says where it is remembered what was trusted.
        whole: Whether it is read whole, to be checked.

    Raises:
        SettingsError: What was trusted cannot be read.
    """
    try:
        if _is_foreign(path.lstat()):
            return ConfigFile(path, Standing.FOREIGN)
        # What was cloned as a link to a device or a pipe might never end, or never begin.
        if not stat.S_ISREG(path.stat().st_mode):
            raise _NotAFileError
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            status = os.fstat(file.fileno())
            if _is_foreign(status):
                return ConfigFile(path, Standing.FOREIGN)
            content = file.read(MOST_BYTES + 1)
        digest = digest_of(content)
        standing = _standing(path, digest, environ)
        trusted = standing is Standing.TRUSTED
        table = _parse(content, MOST_BYTES if trusted else MOST_CLONED_BYTES, cloned=not trusted)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, RecursionError) as error:
        return ConfigFile(path, Standing.UNTRUSTED, problems=(_explain(path, error),))
    allowed, left_out = (table, ()) if trusted else split_allowed(table)
    stated, problems = decode_config(table if whole else allowed, str(path))
    shared = bool(status.st_mode & READABLE_BY_OTHERS)
    return ConfigFile(path, standing, shared, stated, problems, left_out, digest)


def notices(files: Iterable[ConfigFile]) -> tuple[str, ...]:
    """What to tell of projects' files: what of them is in force, what is not, and what to do; a line each."""
    return tuple(line for file in files for line in _notices(file))


def _notices(file: ConfigFile) -> Iterator[str]:
    name = file.path.name
    if file.standing is Standing.OWN:
        return
    if file.standing is Standing.FOREIGN:
        yield f"{name} belongs to another user and is not read: copy it, or name it in STREAMOPS_CONFIG"
        return
    if keys := stated_keys(file.stated):
        trusted = ", which you trusted" if file.standing is Standing.TRUSTED else ""
        yield f"in force from {name}{trusted}: {in_short(keys)}"
    changed = f"{name} has changed since it was trusted"
    if file.left_out:
        who = f"{changed}, and" if file.standing is Standing.CHANGED else name
        yield (
            f"{who} sets {in_short(file.left_out)}, which only your own file may: "
            "streamops config show, or streamops config trust"
        )
    elif file.standing is Standing.CHANGED:
        yield changed


class _NotAFileError(ValueError):
    pass


class _TooLongError(ValueError):
    pass


class _TooDottedError(ValueError):
    pass


def _is_foreign(status: os.stat_result) -> bool:
    """Whether something belongs to another user, and not to root."""
    return status.st_uid not in (0, os.geteuid())


def _standing(path: Path, digest: str, environ: Mapping[str, str]) -> Standing:
    known = read_trusted(environ).get(name_of(path))
    if known is None:
        return Standing.UNTRUSTED
    return Standing.TRUSTED if known == digest else Standing.CHANGED


def _parse(content: bytes, most: int, *, cloned: bool = False) -> dict[str, Any]:
    if len(content) > most:
        raise _TooLongError(f"longer than {most >> 10} KiB")
    text = content.decode()
    if cloned and (line := _dotted_line(text)):
        raise _TooDottedError(f"more than {MOST_DOTS} dots in line {line}")
    return tomllib.loads(text)


def _dotted_line(text: str) -> int:
    """The number of the first line of too many dots; zero where there is none."""
    dotted = (number for number, line in enumerate(text.split("\n"), 1) if line.count(".") > MOST_DOTS)
    return next(dotted, 0)


def _explain(path: Path, error: Exception) -> Problem:
    match error:
        case OSError():
            text, hint = f"cannot be read: {error.strerror}", "Check its permissions."
        case _NotAFileError():
            text, hint = "not a file", NO_CONFIGURATION
        case _TooLongError():
            text, hint = str(error), NO_CONFIGURATION
        case _TooDottedError():
            text, hint = str(error), "Break that line."
        case UnicodeDecodeError():
            text, hint = "not UTF-8", "Save it as UTF-8."
        case tomllib.TOMLDecodeError():
            # The parser names places, keys and single characters, never values.
            text, hint = f"not TOML: {error}", "See https://toml.io for the syntax."
        case _:
            text = "not TOML: a number or a nesting beyond reason"
            hint = "See https://toml.io for the syntax."
    return Problem(str(path), "", text, hint)
