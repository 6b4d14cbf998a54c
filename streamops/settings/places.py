"""Where configuration and what is remembered between calls are kept."""

from collections.abc import Mapping
from pathlib import Path


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
