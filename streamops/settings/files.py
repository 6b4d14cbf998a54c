"""Reading configuration files: who says what they may set, and projects' files that the user trusted by name."""

import hashlib
import os
import stat
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from streamops.errors import SettingsError
from streamops.model.config_keys import config_keys
from streamops.settings.decoding import ConfigProblem, decode_config, join_key
from streamops.settings.state import StateFile, resolve_path, user_file
from streamops.settings.tables import ConfigTable


class TrustedFile(Struct, frozen=True):
    """A file that was trusted.

    Attributes:
        path: The file.
        trust: Whether it is still as it was; empty where it is gone.
    """

    path: str
    trust: str


def find_project(stated: Path | None, cwd: Path) -> Path:
    """The file that is meant: that of the working directory, or of a directory, or itself."""
    path = cwd / (stated or "")
    return path / PROJECT_FILE if path.is_dir() else path


def trust_project(path: Path, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Trust a file as it is now.

    Returns:
        The keys that it sets and could not set before.

    Raises:
        SettingsError: There is no such file, it is another user's, it has problems, or trust cannot be remembered.
    """
    file = read_project(path, environ, whole=True)
    if file is None:
        raise SettingsError(f"no such file: {path}", "Name a project's streamops.toml, or its directory.")
    if file.trust is Trust.FOREIGN:
        raise SettingsError(f"{path} belongs to another user", FOREIGN_HINT)
    for problem in file.problems:
        raise SettingsError(problem.message, problem.hint)
    trusted_files(environ).write(name_of(path), file.digest)
    return file.left_out


def list_trusted(environ: Mapping[str, str]) -> tuple[TrustedFile, ...]:
    """All files that were trusted, by name.

    Raises:
        SettingsError: What was trusted cannot be read.
    """
    return tuple(
        TrustedFile(name, _kept_trust(Path(name), environ)) for name in sorted(trusted_files(environ).read())
    )


def revoke_trust(path: Path, environ: Mapping[str, str]) -> None:
    """Trust a file no more, whether it is still there or not.

    Raises:
        SettingsError: It was not trusted, or that cannot be remembered.
    """
    if not trusted_files(environ).write(name_of(path), None):
        raise SettingsError(
            f"{name_of(path)} is not trusted", "`streamops config trust --list` lists what is."
        )


def _kept_trust(path: Path, environ: Mapping[str, str]) -> str:
    file = read_project(path, environ)
    return "" if file is None else str(file.trust)


PROJECT_FILE: Final = "streamops.toml"
MOST_BYTES: Final = 1 << 20
"""Of a file."""

MOST_CLONED_BYTES: Final = 64 << 10
"""Of a project's file that nobody trusted, which comes with whatever was cloned."""

MOST_DOTS: Final = 200
"""In a line of it. They may be those of a key, and the parser's time and memory grow with the square of its parts."""

DEEPEST: Final = 3
"""Parts of a key that is left out and listed; what lies deeper is listed as one with its table."""

FOREIGN_HINT: Final = "Copy it, or name it in STREAMOPS_CONFIG."

READABLE_BY_OTHERS: Final = stat.S_IRGRP | stat.S_IROTH

_NOT_CONFIGURATION: Final = "Check that it is a configuration file."
_SYNTAX: Final = "See https://toml.io for the syntax."


class Trust(StrEnum):
    """Who says what a file may set."""

    OWN = "own"
    """The user's own, or one that the environment names: everything."""

    TRUSTED = "trusted"
    """A project's that the user trusted, as it is now: everything."""

    UNTRUSTED = "not trusted"
    """A project's: keys marked ``project``."""

    CHANGED = "changed since it was trusted"
    """The same."""

    FOREIGN = "another user's"
    """A project's that belongs to somebody else: nothing, and it is not read."""


class ConfigFile(Struct, frozen=True):
    """One configuration file, read.

    Attributes:
        path: Where it is.
        trust: Who says what it may set.
        shared: Whether group or world may read it.
        stated: What it states and may set, in the types of ``ConfigTable``; unstated keys are absent.
        problems: What is wrong with it.
        left_out: Keys that it states and may not set.
        digest: What tells its content from any other; of a project's file alone.
    """

    path: Path
    trust: Trust = Trust.OWN
    shared: bool = False
    stated: dict[str, Any] = {}
    problems: tuple[ConfigProblem, ...] = ()
    left_out: tuple[str, ...] = ()
    digest: str = ""


class _UnusableError(ValueError):
    """What is there cannot be read as a configuration file: why, and what to do."""


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
        file = read_file(path, environ)
        if file is None:
            raise SettingsError(
                f"STREAMOPS_CONFIG: no such file: {path}", "Correct the variable or unset it."
            )
        return (file,)
    user = user_file(environ)
    files = [
        read_project(cwd / PROJECT_FILE, environ, whole=whole),
        read_file(user, environ) if user else None,
    ]
    return tuple(file for file in files if file)


def read_file(path: Path, environ: Mapping[str, str]) -> ConfigFile | None:
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
    return ConfigFile(path, Trust.OWN, shared, *_decode(table, path, environ))


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
            return ConfigFile(path, Trust.FOREIGN)
        # What was cloned as a link to a device or a pipe might never end, or never begin.
        if not stat.S_ISREG(path.stat().st_mode):
            raise _UnusableError("not a file", _NOT_CONFIGURATION)
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            status = os.fstat(file.fileno())
            if _is_foreign(status):
                return ConfigFile(path, Trust.FOREIGN)
            content = file.read(MOST_BYTES + 1)
        digest = hashlib.sha256(content).hexdigest()
        trust = _trust_of(path, digest, environ)
        trusted = trust is Trust.TRUSTED
        table = _parse(content, MOST_BYTES if trusted else MOST_CLONED_BYTES, cloned=not trusted)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, RecursionError) as error:
        return ConfigFile(path, Trust.UNTRUSTED, problems=(_explain(path, error),))
    allowed, left_out = (table, ()) if trusted else split_allowed(table)
    stated, problems = _decode(table if whole else allowed, path, environ)
    shared = bool(status.st_mode & READABLE_BY_OTHERS)
    return ConfigFile(path, trust, shared, stated, problems, left_out, digest)


def trusted_files(environ: Mapping[str, str]) -> StateFile:
    """Digests of the projects' files that the user trusted, by their names."""
    return StateFile("trusted.json", "what `config trust` trusted", "STREAMOPS_CONFIG", environ)


def name_of(path: Path) -> str:
    """The name under which a file is trusted: its directory without links, since names in the file are relative to it."""
    return str(Path(os.path.realpath(path.parent)) / path.name)


def notices(files: Iterable[ConfigFile]) -> tuple[str, ...]:
    """What to tell of projects' files: what of them is in force, what is not, and what to do; a line each."""
    return tuple(line for file in files for line in _notices(file))


def split_allowed(
    table: Mapping[str, Any], kind: type[Struct] = ConfigTable, place: str = "", depth: int = 1
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A file's content without what an untrusted one may not set; and the keys of that."""
    kept: dict[str, Any] = {}
    left_out: list[str] = []
    for name, value in table.items():
        key, written = config_keys(kind).get(name), join_key(place, name)
        if key is None or not key.project:
            left_out += _leaves(value, written, depth)
        elif key.table is None or not isinstance(value, dict):
            kept[name] = value
        else:
            tables = value if key.named else {"": value}
            parts: dict[str, Any] = {}
            for inner, part in tables.items():
                at = join_key(written, inner) if key.named else written
                if not isinstance(part, dict):
                    parts[inner] = part
                    continue
                allowed, out = split_allowed(part, key.table, at, depth + 1 + key.named)
                left_out += out
                if allowed:
                    parts[inner] = allowed
            if parts:
                kept[name] = parts if key.named else parts[""]
    return kept, tuple(left_out)


def in_short(keys: tuple[str, ...]) -> str:
    """Some keys in a few words."""
    more = len(keys) - 1
    return f"{keys[0]} and {more:,} more" if more else keys[0]


def _notices(file: ConfigFile) -> Iterator[str]:
    name = file.path.name
    if file.trust is Trust.OWN:
        return
    if file.trust is Trust.FOREIGN:
        yield f"{name} belongs to another user and is not read: copy it, or name it in STREAMOPS_CONFIG"
        return
    if keys := tuple(_leaves(file.stated, "", 0)) if file.stated else ():
        trusted = ", which you trusted" if file.trust is Trust.TRUSTED else ""
        yield f"in force from {name}{trusted}: {in_short(keys)}"
    changed = f"{name} has changed since it was trusted"
    if file.left_out:
        who = f"{changed}, and" if file.trust is Trust.CHANGED else name
        yield (
            f"{who} sets {in_short(file.left_out)}, which only your own file may: "
            "streamops config show, or streamops config trust"
        )
    elif file.trust is Trust.CHANGED:
        yield changed


def _leaves(value: object, place: str, depth: int) -> Iterator[str]:
    """The keys of a value, as deep as they are listed."""
    if isinstance(value, Mapping) and value and depth < DEEPEST:
        for name, inner in value.items():
            yield from _leaves(inner, join_key(place, name), depth + 1)
    else:
        yield place


def _is_foreign(status: os.stat_result) -> bool:
    """Whether something belongs to another user, and not to root."""
    return status.st_uid not in (0, os.geteuid())


def _trust_of(path: Path, digest: str, environ: Mapping[str, str]) -> Trust:
    known = trusted_files(environ).read().get(name_of(path))
    if known is None:
        return Trust.UNTRUSTED
    return Trust.TRUSTED if known == digest else Trust.CHANGED


def _decode(
    table: dict[str, Any], path: Path, environ: Mapping[str, str]
) -> tuple[dict[str, Any], tuple[ConfigProblem, ...]]:
    return decode_config(table, str(path), lambda name: str(resolve_path(name, path.parent, environ)))


def _parse(content: bytes, most: int, *, cloned: bool = False) -> dict[str, Any]:
    if len(content) > most:
        raise _UnusableError(f"longer than {most >> 10} KiB", _NOT_CONFIGURATION)
    text = content.decode()
    if cloned and (line := _dotted_line(text)):
        raise _UnusableError(f"more than {MOST_DOTS} dots in line {line}", "Break that line.")
    return tomllib.loads(text)


def _dotted_line(text: str) -> int:
    """The number of the first line of too many dots; zero where there is none."""
    dotted = (number for number, line in enumerate(text.split("\n"), 1) if line.count(".") > MOST_DOTS)
    return next(dotted, 0)


def _explain(path: Path, error: Exception) -> ConfigProblem:
    match error:
        case OSError():
            text, hint = f"cannot be read: {error.strerror}", "Check its permissions."
        case _UnusableError():
            text, hint = error.args
        case UnicodeDecodeError():
            text, hint = "not UTF-8", "Save it as UTF-8."
        case tomllib.TOMLDecodeError():
            # The parser names places, keys and single characters, never values.
            text, hint = f"not TOML: {error}", _SYNTAX
        case _:
            text, hint = "not TOML: a number or a nesting beyond reason", _SYNTAX
    return ConfigProblem(str(path), "", text, hint)
