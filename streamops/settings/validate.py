"""Every problem of configuration files, not only the first, for ``config validate``."""

from collections.abc import Collection, Mapping
from pathlib import Path

from msgspec import ValidationError, convert

from streamops.errors import SettingsError, known_hint
from streamops.settings.connections import Context, check_context
from streamops.settings.decoding import Problem, join_key
from streamops.settings.files import FOREIGN_HINT, ConfigFile, Standing, read_file, read_files
from streamops.settings.pools import pool_problems
from streamops.settings.schema import ContextTable


def validate_file(
    path: Path, environ: Mapping[str, str], elsewhere: Collection[str] = ()
) -> tuple[Problem, ...]:
    """Check one file; no password is read and no program run.

    Args:
        path: The file; it is read as the user's own.
        environ: The environment, for ``~``.
        elsewhere: Names of contexts that other files define.
    """
    file = read_file(path)
    if file is None:
        return (Problem(str(path), "", "no such file"),)
    contexts = {*file.stated.get("contexts", {}), *elsewhere}
    return (*_find_problems(file, environ, elsewhere), *pool_problems((file,), contexts))


def validate_files(environ: Mapping[str, str], cwd: Path) -> tuple[tuple[Path, ...], tuple[Problem, ...]]:
    """Check all files in use: which they are, and what is wrong with them.

    Raises:
        SettingsError: The file that ``STREAMOPS_CONFIG`` names does not exist.
    """
    files = read_files(environ, cwd, whole=True)
    names = {name for file in files for name in file.stated.get("contexts", {})}
    problems = [problem for file in files for problem in _find_problems(file, environ, names)]
    problems += [
        Problem(str(file.path), "", "belongs to another user, and is not read", FOREIGN_HINT)
        for file in files
        if file.standing is Standing.FOREIGN
    ]
    return tuple(file.path for file in files), (*problems, *pool_problems(files, names))


def _find_problems(
    file: ConfigFile, environ: Mapping[str, str], elsewhere: Collection[str]
) -> tuple[Problem, ...]:
    tables = file.stated.get("contexts", {})
    found = [_find_context_problem(file, name, table, environ) for name, table in tables.items()]
    default, names = file.stated.get("default_context"), {*tables, *elsewhere}
    if default is not None and default not in names:
        hint = known_hint(default, names, "contexts")
        found.append(Problem(str(file.path), "default_context", f"no context named {default!r}", hint))
    return (*file.problems, *(problem for problem in found if problem))


def _find_context_problem(
    file: ConfigFile, name: str, table: dict[str, object], environ: Mapping[str, str]
) -> Problem | None:
    try:
        context = Context(name, convert(table, ContextTable), frozenset(table), file.path)
        check_context(context, environ)
    except ValidationError:
        # Its keys do not go together, which the file's own problems say already.
        return None
    except SettingsError as error:
        return Problem(str(file.path), join_key("contexts", name), error.message, error.hint)
    return None
