"""Projects' files that the user trusted by name: each may set everything, as long as it stays as it is."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from streamops.errors import SettingsError
from streamops.settings.files import (
    FOREIGN_HINT,
    PROJECT_FILE,
    Trust,
    name_of,
    read_project,
    trusted_files,
)


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
        TrustedFile(name, _trust_of(Path(name), environ)) for name in sorted(trusted_files(environ).read())
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


def _trust_of(path: Path, environ: Mapping[str, str]) -> str:
    file = read_project(path, environ)
    return "" if file is None else str(file.trust)
