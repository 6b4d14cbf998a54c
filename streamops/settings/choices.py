"""What ``ctx use`` chose: a small file of its own, so that nobody's configuration is ever rewritten.

It maps the configuration file that rules where the choice was made to the context chosen there.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from streamops.errors import SettingsError
from streamops.settings.atomic_files import exclusive, read_names, replace_file
from streamops.settings.places import state_file

HINT: Final = "Delete it; it only holds what `ctx use` chose."


def read_choice(config: Path, environ: Mapping[str, str]) -> str | None:
    """The context chosen under this configuration file; none where there was no choice.

    Raises:
        SettingsError: The file of choices cannot be read.
    """
    return read_names(state_file(environ), HINT).get(str(config))


def write_choice(config: Path, context: str, environ: Mapping[str, str]) -> Path:
    """Remember a context for this configuration file, readable by its owner only.

    Returns:
        The file of choices.

    Raises:
        SettingsError: It cannot be written.
    """
    path = state_file(environ)
    if path is None:
        raise SettingsError(
            "no place to keep the choice", "Set HOME or XDG_STATE_HOME, or use STREAMOPS_CONTEXT."
        )
    try:
        with exclusive(path):
            kept = {file: name for file, name in read_names(path, HINT).items() if Path(file).exists()}
            replace_file(path, msgspec.json.encode({**kept, str(config): context}))
    except OSError as error:
        raise SettingsError(
            f"cannot write {path}: {error.strerror}", "Use STREAMOPS_CONTEXT instead."
        ) from None
    return path
