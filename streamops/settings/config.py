"""All configuration files in use as one: contexts by name, the other tables key by key, the strongest file first; every problem of theirs."""

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, ValidationError, convert

from streamops.errors import SettingsError, known_hint
from streamops.model.config_keys import Holds, config_keys
from streamops.model.secret import Secret
from streamops.settings.connections import Context, check_context
from streamops.settings.decoding import ConfigProblem, join_key, walk
from streamops.settings.files import (
    FOREIGN_HINT,
    READABLE_BY_OTHERS,
    ConfigFile,
    Trust,
    notices,
    read_file,
    read_files,
)
from streamops.settings.pools import ConfiguredPool, find_problems
from streamops.settings.state import StateFile, user_file
from streamops.settings.tables import ConfigTable, ContextTable, PoolTable
from streamops.wire.urls import parse_url

FIX: Final = "others may read the file: chmod 600 it"

_SECRET_NAMES: Final = ("auth", "cookie", "key", "password", "secret", "token")
"""What the names of headers and variables hold whose values are secrets."""


class Config(Struct, frozen=True):
    """What the files say together.

    Attributes:
        files: The files read, the strongest first.
        contexts: Every context; of two with one name the stronger file's, whole.
        tables: The tables: of two with one name the stronger file's, single ones merged key by key, arrays of them one
            after the other.
        origins: For each of their stated keys the file that it comes from.
        notices: What to tell of projects' files, a line each.
    """

    files: tuple[ConfigFile, ...]
    contexts: dict[str, Context]
    tables: ConfigTable = ConfigTable()
    origins: dict[str, str] = {}
    notices: tuple[str, ...] = ()

    def find_context(self, name: str, where: str, environ: Mapping[str, str]) -> Context:
        """The context of that name.

        Raises:
            SettingsError: There is none; ``where`` says who asked.
        """
        if name in self.contexts:
            return self.contexts[name]
        hint = known_hint(name, self.contexts, "contexts")
        if not self.files:
            hint = f"There is no configuration file; write one to {user_file(environ)}."
        place = join_key("contexts", name)
        for file in self.files:
            if any(key == place or key.startswith(f"{place}.") for key in file.left_out):
                hint = f"{file.path.name} has it, and is {file.trust}: `streamops config trust` trusts it."
        raise SettingsError(f"{where}: no context named {name!r}", hint)

    def find_default(self, environ: Mapping[str, str]) -> tuple[str, str] | None:
        """The name of the context used where nothing names one, and where that was said."""
        for rank, file in enumerate(self.files):
            chosen = chosen_contexts(environ).read().get(str(file.path)) if rank == 0 else None
            if chosen is not None:
                return chosen, "ctx use"
            if stated := file.stated.get("default_context"):
                return stated, f"{file.path}: default_context"
        return None


def chosen_contexts(environ: Mapping[str, str]) -> StateFile:
    """What ``ctx use`` chose, by the configuration file that ruled there: nobody's configuration is ever rewritten."""
    return StateFile("contexts.json", "what `ctx use` chose", "STREAMOPS_CONTEXT", environ)


def read_config(environ: Mapping[str, str], cwd: Path) -> Config:
    """Read every configuration file in use.

    Raises:
        SettingsError: One has a problem; the hint says how to see all.
    """
    files = read_files(environ, cwd)
    for file in files:
        for problem in file.problems:
            more = " `streamops config validate` lists every problem." if len(file.problems) > 1 else ""
            raise SettingsError(problem.message, (problem.hint + more).strip())
    return merge_files(files)


def merge_files(files: tuple[ConfigFile, ...]) -> Config:
    """Files without problems as one configuration.

    Raises:
        SettingsError: Values of two files do not go together.
    """
    lines = notices(files)
    files = tuple(file for file in files if file.trust is not Trust.FOREIGN)
    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for file in files:
        for name, stated in file.stated.items():
            key = config_keys(ConfigTable)[name]
            for inner, value in _parts(stated, len(merged.get(name, ()))):
                place = f"{name}[{inner}]" if key.rows else join_key(name, inner)
                if inner in merged.setdefault(name, {}):
                    continue
                merged[name][inner] = value
                stated_keys = [join_key(place, part) for part in value] if key.named or key.rows else [place]
                origins |= dict.fromkeys(stated_keys, str(file.path))
    tables: dict[str, Any] = {}
    for name, value in merged.items():
        key = config_keys(ConfigTable)[name]
        try:
            tables[name] = convert(list(value.values()) if key.rows else value, key.value_type)
        except ValidationError as error:
            raise SettingsError(
                f"{name}: {error}", "The tables of all files are merged key by key."
            ) from None
    contexts: dict[str, Context] = {}
    for file in files:
        for name, stated in file.stated.get("contexts", {}).items():
            found = Context(name, tables["contexts"][name], frozenset(stated), file.path)
            contexts.setdefault(name, found)
    return Config(files, contexts, ConfigTable(**tables), origins, lines)


def _parts(stated: object, rows: int) -> Iterator[tuple[Any, Any]]:
    """What a key of a file holds: keys or tables by name, or rows by the numbers that follow those of other files."""
    match stated:
        case dict():
            yield from stated.items()
        case list():
            yield from enumerate(stated, rows)


def readable_secrets(files: Iterable[ConfigFile]) -> Iterator[str]:
    """A sentence for each secret that others may read: in a configuration file itself, or in a file that it names."""
    for file in files:
        for where, key, value in walk(ConfigTable, file.stated):
            named = (
                {join_key(where, name): inner for name, inner in value.items()}
                if isinstance(value, dict)
                else {}
            )
            for place, inner in (named or {where: value}).items():
                if key.holds is Holds.SECRET_FILE and _is_readable(Path(inner)):
                    yield f"{file.path}: {place}: {inner} holds a secret and {FIX}"
                elif file.shared and key.holds is Holds.SECRETS and _may_be_secret(place):
                    yield f"{file.path}: {place} holds what may be a secret and {FIX}"
                elif file.shared and isinstance(inner, Secret) and _has_password(inner):
                    yield f"{file.path}: {place} holds a password and {FIX}"


def _may_be_secret(place: str) -> bool:
    return any(word in place.rpartition(".")[2].lower() for word in _SECRET_NAMES)


def _has_password(url: Secret) -> bool:
    try:
        return parse_url(url.reveal()).password is not None
    except SettingsError:
        return False


def _is_readable(path: Path) -> bool:
    """Whether others may read a file of this user's own: who does not own it cannot change that."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return False
    own = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
    return own and bool(status.st_mode & READABLE_BY_OTHERS)


def validate_file(
    path: Path, environ: Mapping[str, str], elsewhere: Collection[str] = ()
) -> tuple[ConfigProblem, ...]:
    """Check one file; no password is read and no program run.

    Args:
        path: The file; it is read as the user's own.
        environ: The environment, for ``~``.
        elsewhere: Names of contexts that other files define.
    """
    file = read_file(path, environ)
    if file is None:
        return (ConfigProblem(str(path), "", "no such file"),)
    return _find_problems((file,), {*file.stated.get("contexts", {}), *elsewhere})


def validate_files(
    environ: Mapping[str, str], cwd: Path
) -> tuple[tuple[Path, ...], tuple[ConfigProblem, ...]]:
    """Check all files in use: which they are, and what is wrong with them.

    Raises:
        SettingsError: The file that ``STREAMOPS_CONFIG`` names does not exist.
    """
    files = read_files(environ, cwd, whole=True)
    names = {name for file in files for name in file.stated.get("contexts", {})}
    return tuple(file.path for file in files), _find_problems(files, names)


def _find_problems(files: Collection[ConfigFile], contexts: Collection[str]) -> tuple[ConfigProblem, ...]:
    found: list[ConfigProblem] = []
    for file in files:
        found += file.problems
        for name, table in file.stated.get("contexts", {}).items():
            found += _context_problems(file, name, table)
        default = file.stated.get("default_context")
        if default is not None and default not in contexts:
            hint = known_hint(default, contexts, "contexts")
            found.append(
                ConfigProblem(str(file.path), "default_context", f"no context named {default!r}", hint)
            )
    found += [
        ConfigProblem(str(file.path), "", "belongs to another user, and is not read", FOREIGN_HINT)
        for file in files
        if file.trust is Trust.FOREIGN
    ]
    pools: dict[str, ConfiguredPool] = {}
    budgets: dict[str, Any] = {}
    for file in files:
        for name, stated in file.stated.get("pools", {}).items():
            try:
                pools.setdefault(name, ConfiguredPool(name, convert(stated, PoolTable), file.path))
            except ValidationError:
                # The file's own problems say so already.
                continue
        for name, stated in file.stated.get("budgets", {}).items():
            budgets.setdefault(name, stated.get("workers"))
    known = {name: workers for name, workers in budgets.items() if workers is not None}
    return (*found, *find_problems(tuple(pools.values()), known, contexts))


def _context_problems(file: ConfigFile, name: str, table: dict[str, object]) -> Iterator[ConfigProblem]:
    try:
        context = Context(name, convert(table, ContextTable), frozenset(table), file.path)
        check_context(context)
    except ValidationError:
        # Its keys do not go together, which the file's own problems say already.
        return
    except SettingsError as error:
        yield ConfigProblem(str(file.path), join_key("contexts", name), error.message, error.hint)
