"""Which projects' files the user trusted: their paths and what they held, in a small file of its own."""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from streamops.errors import SettingsError
from streamops.settings.atomic_files import exclusive, read_names, replace_file
from streamops.settings.places import state_directory

FILE: Final = "trusted.json"
HINT: Final = "Delete it; it only holds what `config trust` trusted."


def digest_of(content: bytes) -> str:
    """What tells a file's content from any other."""
    return hashlib.sha256(content).hexdigest()


def name_of(path: Path) -> str:
    """The name under which a file is remembered: its directory without links, since names in the file are relative to it."""
    return str(Path(os.path.realpath(path.parent)) / path.name)


def read_trusted(environ: Mapping[str, str]) -> dict[str, str]:
    """Digests of the files that were trusted, by their names.

    Raises:
        SettingsError: They cannot be read.
    """
    return read_names(_path(environ), HINT)


def remember(path: Path, digest: str | None, environ: Mapping[str, str]) -> bool:
    """Trust a file as long as it has this digest, or no more where there is none; whether that is new.

    Raises:
        SettingsError: It cannot be written down.
    """
    kept = _path(environ)
    if kept is None:
        raise SettingsError(
            "no place to remember what is trusted", "Set HOME or XDG_STATE_HOME, or use STREAMOPS_CONFIG."
        )
    name = name_of(path)
    try:
        with exclusive(kept):
            before = read_names(kept, HINT)
            after = {other: known for other, known in before.items() if other != name}
            if digest is not None:
                after[name] = digest
            if after != before:
                replace_file(kept, msgspec.json.format(msgspec.json.encode(after)))
    except OSError as error:
        raise SettingsError(
            f"cannot write {kept}: {error.strerror}", "Use STREAMOPS_CONFIG instead."
        ) from None
    return after != before


def _path(environ: Mapping[str, str]) -> Path | None:
    directory = state_directory(environ)
    return directory / FILE if directory else None
