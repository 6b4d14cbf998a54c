"""Secrets that others than their owner can read, told before they are used. Files are looked at, and not read."""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from streamops.errors import SettingsError
from streamops.model.secret import Secret
from streamops.settings.decoding import join_key
from streamops.settings.files import READABLE_BY_OTHERS, ConfigFile
from streamops.settings.places import resolve_path
from streamops.wire.urls import parse_url

FILES: Final = frozenset(
    {"password_file", "sentinel_password_file", "key", "secret_file", "token_file", "urls_file"}
)
"""Keys that name a file with a secret in it."""

FIX: Final = "others may read the file: chmod 600 it"

_TELLING: Final = ("auth", "cookie", "key", "password", "secret", "token")
"""What the names of headers and variables hold whose values are secrets."""


def readable_secrets(files: Iterable[ConfigFile], environ: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each secret that others may read: in a configuration file itself, or in a file that it names."""
    for file in files:
        for where, key, value in _walk(file.stated):
            place = f"{file.path}: {where}"
            if file.shared and (what := _secret_within(where, key, value)):
                yield f"{place} holds {what} and {FIX}"
            elif key in FILES and isinstance(value, str):
                path = resolve_path(value, file.path.parent, environ)
                if _is_readable(path):
                    yield f"{place}: {path} holds a secret and {FIX}"


def _walk(value: Any, where: str = "", key: str = "") -> Iterator[tuple[str, str, Any]]:  # noqa: ANN401 - any TOML
    """Every value with its place and its key; the values of ``header_files`` are files like any other."""
    match value:
        case dict():
            for name, inner in value.items():
                named = "secret_file" if key == "header_files" else name
                yield from _walk(inner, join_key(where, name) if where else name, named)
        case list() | tuple():
            for number, inner in enumerate(value):
                yield from _walk(inner, f"{where}[{number}]", key)
        case _:
            yield where, key, value


def _secret_within(where: str, key: str, value: object) -> str:
    """What kind of secret a value is; empty for none."""
    if key == "url" and isinstance(value, Secret):
        return "a password" if _has_password(value) else ""
    named = where.rpartition(".")[0].endswith((".headers", ".env"))
    return "what may be a secret" if named and any(word in key.lower() for word in _TELLING) else ""


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
