"""Findings that a person silenced, in a small file of that person's own on this machine.

It maps contexts to what is silenced there. Names are percent-encoded: a stream's name can be any bytes. What a later
version wrote beside what is known here is kept.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote, unquote_to_bytes

import msgspec

from streamops.errors import SettingsError
from streamops.model.silences import FindingKey, Silence
from streamops.settings.atomic_files import exclusive, replace_file
from streamops.settings.places import state_directory

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
        return _silences(self._read().get(self._context, ()))

    def update(self, edit: Callable[[tuple[Silence, ...]], Iterable[Silence]]) -> None:
        """Replace this context's silences by what is made of them; other processes wait with theirs.

        Raises:
            SettingsError: The file cannot be read or written.
        """
        if self._path is None:
            raise SettingsError("no place to keep silences", "Set HOME or XDG_STATE_HOME.")
        try:
            with exclusive(self._path):
                contexts = self._read()
                before = contexts.pop(self._context, [])
                if after := _edited(before, edit(_silences(before))):
                    contexts[self._context] = after
                replace_file(self._path, msgspec.json.format(msgspec.json.encode(contexts)))
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


def _silences(lines: Iterable[_Raw]) -> tuple[Silence, ...]:
    return tuple(
        Silence((line.code, _decoded(line.stream), _decoded(line.group)), line.until)
        for line in map(_line, lines)
    )


def _edited(before: Iterable[_Raw], silences: Iterable[Silence]) -> list[_Raw]:
    """The lines of silences; what a later version wrote beside what is known here stays in them."""
    known = {_line(raw).subject: raw for raw in before}
    lines = (
        _Line(code, silence.until, _encoded(stream), _encoded(group))
        for silence in silences
        for code, stream, group in (silence.key,)
    )
    return [known.get(line.subject, {}) | msgspec.to_builtins(line) for line in lines]


def _line(raw: _Raw) -> _Line:
    return msgspec.convert(raw, _Line)


def _encoded(name: str | None) -> str | None:
    return None if name is None else quote(name.encode("utf-8", "surrogateescape"), safe=_READABLE)


def _decoded(name: str | None) -> str | None:
    return None if name is None else unquote_to_bytes(name).decode("utf-8", "surrogateescape")
