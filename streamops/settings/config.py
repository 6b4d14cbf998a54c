"""All configuration files in use as one: contexts by name, the other tables key by key, the strongest file first."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct, ValidationError, convert

from streamops.errors import SettingsError, known_hint
from streamops.settings.choices import read_choice
from streamops.settings.connections import Context
from streamops.settings.decoding import join_key
from streamops.settings.files import ConfigFile, Standing, notices, read_files
from streamops.settings.places import user_file
from streamops.settings.schema import ContextTable

Table = TypeVar("Table", bound=Struct)


class Config(Struct, frozen=True):
    """What the files say together.

    Attributes:
        files: The files read, the strongest first.
        contexts: Every context; of two with one name the stronger file's, whole.
        notices: What to tell of projects' files, a line each.
    """

    files: tuple[ConfigFile, ...]
    contexts: dict[str, Context]
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
                hint = f"{file.path.name} has it, and is {file.standing}: `streamops config trust` trusts it."
        raise SettingsError(f"{where}: no context named {name!r}", hint)

    def find_default(self, environ: Mapping[str, str]) -> tuple[str, str] | None:
        """The name of the context used where nothing names one, and where that was said."""
        for rank, file in enumerate(self.files):
            chosen = read_choice(file.path, environ) if rank == 0 else None
            if chosen is not None:
                return chosen, "ctx use"
            if stated := file.stated.get("default_context"):
                return stated, f"{file.path}: default_context"
        return None

    def join_rows(self, name: str, kind: type[Table]) -> tuple[tuple[Table, ...], dict[str, str]]:
        """An array of tables: those of the strongest file first; and for each the file that it comes from."""
        rows: list[Table] = []
        origins: dict[str, str] = {}
        for file in self.files:
            for row in file.stated.get(name, ()):
                origins |= {f"{name}[{len(rows)}].{key}": str(file.path) for key in row}
                rows.append(convert(row, kind))
        return tuple(rows), origins

    def named_tables(self, name: str, kind: type[Table]) -> tuple[dict[str, Table], dict[str, str]]:
        """Tables by name; of two with one name the stronger file's, whole; and for each key the file that it comes from."""
        tables: dict[str, Table] = {}
        origins: dict[str, str] = {}
        for file in self.files:
            for key, table in file.stated.get(name, {}).items():
                if key not in tables:
                    origins |= {f"{name}.{key}.{part}": str(file.path) for part in table}
                    tables[key] = convert(table, kind)
        return tables, origins

    def merge_table(self, name: str, kind: type[Table]) -> tuple[Table, dict[str, str]]:
        """One table of all files, and for each stated ``name.key`` the file that it comes from.

        Raises:
            SettingsError: Values of two files do not go together.
        """
        values: dict[str, Any] = {}
        origins: dict[str, str] = {}
        for file in reversed(self.files):
            for key, value in file.stated.get(name, {}).items():
                values[key] = value
                origins[f"{name}.{key}"] = str(file.path)
        try:
            return convert(values, kind), origins
        except ValidationError as error:
            raise SettingsError(
                f"{name}: {error}", "The tables of all files are merged key by key."
            ) from None


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
    """Files without problems as one configuration."""
    told = notices(files)
    files = tuple(file for file in files if file.standing is not Standing.FOREIGN)
    contexts = {
        name: Context(name, convert(table, ContextTable), frozenset(table), file.path)
        for file in reversed(files)
        for name, table in file.stated.get("contexts", {}).items()
    }
    return Config(files, contexts, told)
