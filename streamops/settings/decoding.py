"""Configuration tables to typed values, by the schema alone, with every problem and not only the first."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

import msgspec
from msgspec import Struct

from streamops.errors import SettingsError, known_hint
from streamops.model.config_keys import ConfigKey, Holds, config_keys
from streamops.model.measures import parse_duration
from streamops.model.removed import removed_hint
from streamops.model.secret import Secret
from streamops.settings.tables import ConfigTable

_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PLACE: Final = re.compile(r" - at `\$(.*)`\Z")
_TYPES: Final = {
    "str": "a string",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "array": "an array",
    "object": "a table",
}


class ConfigProblem(Struct, frozen=True):
    """One thing that is wrong with a configuration file.

    Attributes:
        file: The file.
        key: The dotted key; empty for the file as a whole.
        text: What is wrong.
        hint: What to do; may be empty.
    """

    file: str
    key: str
    text: str
    hint: str = ""

    @property
    def message(self) -> str:
        """File, key and problem on one line."""
        return ": ".join(filter(None, (self.file, self.key, self.text)))


def decode_config(
    table: dict[str, Any], file: str, resolve: Callable[[str], str] = str
) -> tuple[dict[str, Any], tuple[ConfigProblem, ...]]:
    """Check and convert a file's content.

    Args:
        table: What the TOML parser returned.
        file: The file's name, for the problems.
        resolve: Names of files as they are written to whole paths.

    Returns:
        The keys that are stated and well, tables as dictionaries of the same kind, values in the types of
        ``ConfigTable``; and all problems, by their place in the file.
    """
    decoder = _Decoder(file, resolve)
    return decoder.decode_table(ConfigTable, table, ""), tuple(decoder.problems)


def walk(
    table: type[Struct], stated: Mapping[str, Any], at: str = ""
) -> Iterator[tuple[str, ConfigKey, Any]]:
    """Every value of a decoded table, and of those within it: its place, its key and itself."""
    for name, value in stated.items():
        key, place = config_keys(table)[name], join_key(at, name)
        if key.table is None:
            yield place, key, value
        elif key.rows:
            for number, row in enumerate(value):
                yield from walk(key.table, row, f"{place}[{number}]")
        elif key.named:
            for inner, part in value.items():
                yield from walk(key.table, part, join_key(place, inner))
        else:
            yield from walk(key.table, value, place)


def join_key(parent: str, name: str) -> str:
    """The dotted key of ``name`` in the table ``parent``, quoted where TOML asks for it, safe to print."""
    written = name if _BARE_KEY.fullmatch(name) else json.dumps(name[:64])
    return f"{parent}.{written}" if parent else written


class _Decoder:
    def __init__(self, file: str, resolve: Callable[[str], str]) -> None:
        self.file = file
        self.resolve = resolve
        self.problems: list[ConfigProblem] = []

    def decode_table(self, kind: type[Struct], table: object, place: str) -> dict[str, Any]:
        before = len(self.problems)
        keys = config_keys(kind)
        stated: dict[str, Any] = {}
        for name, value in self._items(table, place):
            inner = join_key(place, name)
            if name not in keys:
                self._report(inner, "unknown key", removed_hint(inner) or known_hint(name, keys))
            elif (decoded := self._decode(keys[name], value, inner)) is not msgspec.UNSET:
                stated[name] = decoded
        if len(self.problems) == before:
            # The type itself objects to keys that do not go together.
            try:
                msgspec.convert(stated, kind)
            except msgspec.ValidationError as error:
                self._report(place, str(error))
        return stated

    def _decode(self, key: ConfigKey, value: object, place: str) -> object:
        """The value in its type, or ``UNSET`` after reporting what is wrong with it."""
        if key.table is None:
            return self._decode_value(key, value, place)
        if key.named:
            return {
                name: self._decode_named(key.table, name, table, place)
                for name, table in self._items(value, place)
            }
        if not key.rows:
            return self.decode_table(key.table, value, place)
        if isinstance(value, list):
            return [self.decode_table(key.table, row, f"{place}[{at}]") for at, row in enumerate(value)]
        return self._report(
            place, f"expected an array of tables, got {_type_name(value)}", f"Write [[{place}]]."
        )

    def _decode_named(self, kind: type[Struct], name: str, table: object, place: str) -> dict[str, Any]:
        if not name or not name.isprintable():
            self._report(join_key(place, name), "a name that is empty or does not print")
        return self.decode_table(kind, table, join_key(place, name))

    def _decode_value(self, key: ConfigKey, value: object, place: str) -> object:
        try:
            decoded = _convert(key, value)
        except SettingsError as error:
            return self._report(place, error.message, removed_hint(f"{place} = {value}") or error.hint)
        except msgspec.ValidationError as error:
            at = _PLACE.search(str(error))
            return self._report(place + (at[1] if at else ""), _in_words(_PLACE.sub("", str(error))))
        if key.holds not in {Holds.FILE, Holds.SECRET_FILE}:
            return decoded
        if isinstance(decoded, dict):
            return {name: self.resolve(path) for name, path in decoded.items()}
        return self.resolve(str(decoded))

    def _items(self, table: object, place: str) -> list[tuple[str, object]]:
        if isinstance(table, dict):
            return list(table.items())
        self._report(place, f"expected a table, got {_type_name(table)}")
        return []

    def _report(self, place: str, text: str, hint: str = "") -> object:
        self.problems.append(ConfigProblem(self.file, place, text, hint))
        return msgspec.UNSET


def _convert(key: ConfigKey, value: object) -> object:
    kind = key.kinds[0]
    if kind is timedelta:
        return _decode_duration(value)
    if kind is Secret:
        return Secret(msgspec.convert(value, str))
    if isinstance(kind, type) and issubclass(kind, StrEnum) and value not in list(kind):
        raise SettingsError(f"not one of {', '.join(kind)}", known_hint(str(value), kind, "values"))
    decoded: object = msgspec.convert(value, key.value_type)
    if isinstance(decoded, str) and not (decoded and decoded.isprintable()):
        raise SettingsError("empty, or holds a character that does not print")
    return decoded


def _decode_duration(value: object) -> timedelta:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise SettingsError(f"expected a duration, got {_type_name(value)}", 'Write "30s", "5m" or "1h30m".')
    span = parse_duration(value)
    if not span:
        raise SettingsError("a duration must be longer than zero")
    return span


def _type_name(value: object) -> str:
    name = {"dict": "object", "list": "array"}.get(type(value).__name__, type(value).__name__)
    return _TYPES.get(name, name)


def _in_words(text: str) -> str:
    """Say a sentence of msgspec in TOML's words: ``Expected `str | null``` becomes ``expected a string``."""

    def words(match: re.Match[str]) -> str:
        return " or ".join(_TYPES.get(name, name) for name in match[1].split(" | ") if name != "null")

    return re.sub(r"`([^`]*)`", words, text[:1].lower() + text[1:])
