"""Where configuration is kept, and reading it."""

import os
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from streamops.errors import SettingsError
from streamops.settings.decoding import Problem, decode_config

PROJECT_FILE: Final = "streamops.toml"
MOST_BYTES: Final = 1 << 20
"""Of a file."""

MOST_CLONED_BYTES: Final = 64 << 10
"""Of a project's file, which comes with whatever was cloned."""

MOST_DOTS: Final = 200
"""In a line of it. They may be those of a key, and the parser's time and memory grow with the square of its parts."""

NO_CONFIGURATION: Final = "Check that it is a configuration file."

READABLE_BY_OTHERS: Final = stat.S_IRGRP | stat.S_IROTH


class ConfigFile(Struct, frozen=True):
    """One configuration file, read.

    Attributes:
        path: Where it is.
        trusted: Whether it may run programs and read files anywhere. A project's file may not: it comes
            with whatever repository was cloned into the working directory.
        shared: Whether group or world may read it.
        stated: What it states, in the types of ``ConfigTable``; unstated keys are absent.
        problems: What is wrong with it.
    """

    path: Path
    trusted: bool
    shared: bool = False
    stated: dict[str, Any] = {}
    problems: tuple[Problem, ...] = ()


def read_files(environ: Mapping[str, str], cwd: Path) -> tuple[ConfigFile, ...]:
    """Read the configuration files in use, the strongest first; problems are in them, not raised.

    ``STREAMOPS_CONFIG`` names the only file; without it these are the project's file and the user's, where
    they exist.

    Raises:
        SettingsError: The file that ``STREAMOPS_CONFIG`` names does not exist.
    """
    if named := environ.get("STREAMOPS_CONFIG"):
        path = resolve_path(named, cwd, environ)
        file = read_file(path, trusted=True)
        if file is None:
            raise SettingsError(
                f"STREAMOPS_CONFIG: no such file: {path}", "Correct the variable or unset it."
            )
        return (file,)
    user = user_file(environ)
    files = [read_file(cwd / PROJECT_FILE, trusted=False), read_file(user, trusted=True) if user else None]
    return tuple(file for file in files if file)


def read_file(path: Path, *, trusted: bool) -> ConfigFile | None:
    """Read one file, if there is one; whatever is wrong with it is in its ``problems``."""
    try:
        if not trusted and not stat.S_ISREG(path.stat().st_mode):
            # A device or a pipe that was cloned as a link might never end, or never begin.
            return ConfigFile(
                path, trusted, problems=(Problem(str(path), "", "not a file", NO_CONFIGURATION),)
            )
        with path.open("rb") as file:
            shared = bool(os.fstat(file.fileno()).st_mode & READABLE_BY_OTHERS)
            most = MOST_BYTES if trusted else MOST_CLONED_BYTES
            content = file.read(most + 1)
        if len(content) > most:
            problem = Problem(str(path), "", f"longer than {most >> 10} KiB", NO_CONFIGURATION)
            return ConfigFile(path, trusted, problems=(problem,))
        text = content.decode()
        if not trusted and (line := _dotted_line(text)):
            problem = Problem(str(path), "", f"more than {MOST_DOTS} dots in line {line}", "Break that line.")
            return ConfigFile(path, trusted, problems=(problem,))
        table = tomllib.loads(text)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, RecursionError) as error:
        text, hint = _explain(error)
        return ConfigFile(path, trusted, problems=(Problem(str(path), "", text, hint),))
    stated, problems = decode_config(table, str(path))
    return ConfigFile(path, trusted, shared, stated, problems)


def _dotted_line(text: str) -> int:
    """The number of the first line of too many dots; zero where there is none."""
    dotted = (number for number, line in enumerate(text.split("\n"), 1) if line.count(".") > MOST_DOTS)
    return next(dotted, 0)


def _explain(error: Exception) -> tuple[str, str]:
    match error:
        case OSError():
            return f"cannot be read: {error.strerror}", "Check its permissions."
        case UnicodeDecodeError():
            return "not UTF-8", "Save it as UTF-8."
        case tomllib.TOMLDecodeError():
            # The parser names places, keys and single characters, never values.
            return f"not TOML: {error}", "See https://toml.io for the syntax."
        case _:
            return "not TOML: a number or a nesting beyond reason", "See https://toml.io for the syntax."


def user_file(environ: Mapping[str, str]) -> Path | None:
    """The user's configuration file, whether it exists or not; none for a user without a home."""
    return _xdg_path(environ, "XDG_CONFIG_HOME", ".config", "config.toml")


def state_file(environ: Mapping[str, str]) -> Path | None:
    """Where ``ctx use`` keeps its choices; none for a user without a home."""
    directory = state_directory(environ)
    return directory / "contexts.json" if directory else None


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
