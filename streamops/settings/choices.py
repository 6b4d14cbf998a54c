"""What ``ctx use`` chose: a small file of its own, so that nobody's configuration is ever rewritten.

It maps the configuration file that rules where the choice was made to the context chosen there.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from streamops.errors import SettingsError
from streamops.settings.atomic_files import exclusive, replace_file
from streamops.settings.places import state_file


def read_choice(config: Path, environ: Mapping[str, str]) -> str | None:
    """The context chosen under this configuration file; none where there was no choice.

    Raises:
        SettingsError: The file of choices cannot be read.
    """
    return _read_choices(state_file(environ)).get(str(config))


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
            kept = {file: name for file, name in _read_choices(path).items() if Path(file).exists()}
            replace_file(path, msgspec.json.encode({**kept, str(config): context}))
    except OSError as error:
        raise SettingsError(
            f"cannot write {path}: {error.strerror}", "Use STREAMOPS_CONTEXT instead."
        ) from None
    return path


def _read_choices(path: Path | None) -> dict[str, str]:
    if path is None:
        return {}
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, str])
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
    except (msgspec.DecodeError, UnicodeDecodeError):
        problem = "damaged"
    raise SettingsError(f"{path}: {problem}", "Delete it; it only holds what `ctx use` chose.")
