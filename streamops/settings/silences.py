"""Findings that a person silenced, in a small file of that person's own on this machine.

It maps contexts to what is silenced there. Names are percent-encoded: a stream's name can be any bytes. What a later
version wrote beside what is known here is kept.
"""

import os
import tempfile
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote_to_bytes

import msgspec

from streamops.errors import SettingsError
from streamops.model.silences import FindingKey, Silence
from streamops.settings.files import state_directory

_PRIVATE_DIRECTORY: Final = 0o700
_READABLE: Final = " /:{}@,+=~#"


class _Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """One silence as it is written."""

    code: str
    until: datetime
    stream: str | None = None
    group: str | None = None

    @property
    def subject(self) -> FindingKey:
        """What it is about, in the file's words."""
        return self.code, self.stream, self.group


_Raw = dict[str, Any]
"""The same, with the names of later versions."""


class SilenceFile:
    """The silences of one context.

    Args:
        context: The context's name, or the server's where it has none.
        environ: The environment: HOME, XDG_STATE_HOME.
    """

    def __init__(self, context: str, environ: Mapping[str, str]) -> None:
        directory = state_directory(environ)
        self._context = context
        self._path = directory / "silences.json" if directory else None

    @property
    def where(self) -> str:
        """The file's name; empty where a user without a home has none."""
        return "" if self._path is None else str(self._path)

    def read(self) -> tuple[Silence, ...]:
        """What is silenced.

        Raises:
            SettingsError: The file cannot be read.
        """
        lines = map(_line, self._read().get(self._context, ()))
        return tuple(
            Silence((line.code, _decoded(line.stream), _decoded(line.group)), line.until) for line in lines
        )

    def write(self, silences: Sequence[Silence]) -> None:
        """Keep these, and no others of this context.

        Raises:
            SettingsError: The file cannot be written.
        """
        if self._path is None:
            raise SettingsError("no place to keep silences", "Set HOME or XDG_STATE_HOME.")
        others = self._read()
        before = {_line(raw).subject: raw for raw in others.pop(self._context, ())}
        lines = [
            before.get(line.subject, {}) | msgspec.to_builtins(line)
            for silence in silences
            for code, stream, group in (silence.key,)
            for line in (_Line(code, silence.until, _encoded(stream), _encoded(group)),)
        ]
        document = {**others, self._context: lines} if lines else others
        try:
            _replace(self._path, msgspec.json.format(msgspec.json.encode(document)))
        except OSError as error:
            raise SettingsError(
                f"cannot write {self._path}: {error.strerror}", "Silences last until the console is closed."
            ) from None

    def _read(self) -> dict[str, list[_Raw]]:
        """What the file holds, of which every line is known to be one."""
        if self._path is None:
            return {}
        try:
            contexts = msgspec.json.decode(self._path.read_bytes(), type=dict[str, list[_Raw]])
            for lines in contexts.values():
                msgspec.convert(lines, list[_Line])
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            raise SettingsError(
                f"cannot read {self._path}: {error.strerror}", "Check its permissions."
            ) from None
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise SettingsError(
                f"{self._path} holds no silences that this version knows",
                "Use the version that wrote it, or delete it.",
            ) from None
        return contexts


def _line(raw: _Raw) -> _Line:
    return msgspec.convert(raw, _Line)


def _encoded(name: str | None) -> str | None:
    return None if name is None else quote(name.encode("utf-8", "surrogateescape"), safe=_READABLE)


def _decoded(name: str | None) -> str | None:
    return None if name is None else unquote_to_bytes(name).decode("utf-8", "surrogateescape")


def _replace(path: Path, content: bytes) -> None:
    """Write all or nothing, for nobody else to read."""
    path.parent.mkdir(mode=_PRIVATE_DIRECTORY, parents=True, exist_ok=True)
    number, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
