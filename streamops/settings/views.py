"""Saving a view: it is added to the end of the user's configuration file, and nothing else there is touched."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streamops.errors import SettingsError
from streamops.resources.views import SavedView, check_view_name, view_toml
from streamops.settings.decoding import decode_config
from streamops.settings.state import exclusive, replace_file, resolve_path, user_file


def save_view(name: str, view: SavedView, environ: Mapping[str, str], cwd: Path) -> Path:
    """Add a view to the user's file, or to the one that ``STREAMOPS_CONFIG`` names; return the file.

    The table is added to the end, so that comments and order stay; the file is replaced in one step, and only
    where the outcome says what it said before and the view.

    Raises:
        SettingsError: There is a view of that name, or the file cannot be written or understood.
    """
    check_view_name(name)
    path = _file(environ, cwd)
    try:
        with exclusive(path):
            replace_file(path, _with_view(_read(path), name, view, path).encode())
    except OSError as error:
        raise SettingsError(
            f"{path}: cannot be written: {error.strerror}", "Check its permissions."
        ) from None
    return path


def _with_view(before: str, name: str, view: SavedView, path: Path) -> str:
    """A file's text and a view at its end; raises ``SettingsError`` where it cannot be added."""
    known = _parsed(before, path)
    if name in _views(known):
        raise SettingsError(
            f"{path} has a view {name} already", "Save it under another name, or change it there."
        )
    gap = "" if not before or before.endswith("\n\n") else "\n" if before.endswith("\n") else "\n\n"
    after = f"{before}{gap if before else ''}{view_toml(name, view)}"
    _check(known, _parsed(after, path), name, path)
    return after


def _file(environ: Mapping[str, str], cwd: Path) -> Path:
    if named := environ.get("STREAMOPS_CONFIG"):
        return resolve_path(named, cwd, environ).resolve()
    if (path := user_file(environ)) is None:
        raise SettingsError("there is no home directory to keep a view in", "Set HOME or XDG_CONFIG_HOME.")
    # A file that is a link stays one: what it points to is replaced.
    return path.resolve()


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError:
        raise SettingsError(f"{path}: not UTF-8", "Save it as UTF-8.") from None
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}", "Check its permissions.") from None


def _parsed(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        raise SettingsError(
            f"{path}: not TOML any more", "`streamops config validate` says what is wrong."
        ) from None


def _views(table: dict[str, Any]) -> dict[str, Any]:
    views = table.get("views", {})
    return views if isinstance(views, dict) else {}


def _check(before: dict[str, Any], after: dict[str, Any], name: str, path: Path) -> None:
    """Insist that nothing but the view is new, and that it is a good one."""
    views = dict(_views(after))
    added = views.pop(name, None)
    rest = {key: value for key, value in after.items() if key != "views"}
    if views:
        rest["views"] = views
    kept = {key: value for key, value in before.items() if key != "views" or value}
    _, problems = decode_config({"views": {name: added}}, str(path))
    if rest != kept or problems:
        reason = problems[0].message if problems else f"{path}: a view cannot be added at its end"
        raise SettingsError(reason, "Write the table into the file by hand.")
