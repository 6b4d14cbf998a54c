"""Configuration tables to typed values, by the schema alone, with every problem and not only the first."""

import json
import re
from datetime import timedelta
from enum import StrEnum
from types import UnionType
from typing import Any, Final, get_args, get_origin

import msgspec
from msgspec import Struct

from streamops.errors import SettingsError, known_hint
from streamops.model.measures import parse_duration
from streamops.model.removed import removed_hint
from streamops.settings.schema import ConfigTable
from streamops.wire.options import Secret

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


class Problem(Struct, frozen=True):
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


def decode_config(table: dict[str, Any], file: str) -> tuple[dict[str, Any], tuple[Problem, ...]]:
    """Check and convert a file's content.

    Args:
        table: What the TOML parser returned.
        file: The file's name, for the problems.

    Returns:
        The keys that are stated and well, tables as dictionaries of the same kind, values in the types of
        ``ConfigTable``; and all problems, by their place in the file.
    """
    decoder = _Decoder(file)
    return decoder.decode_table(ConfigTable, table, ""), tuple(decoder.problems)


def join_key(parent: str, name: str) -> str:
    """The dotted key of ``name`` in the table ``parent``, quoted where TOML asks for it, safe to print."""
    written = name if _BARE_KEY.fullmatch(name) else json.dumps(name[:64])
    return f"{parent}.{written}" if parent else written


class _Decoder:
    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []

    def decode_table(self, kind: type[Struct], table: object, key: str) -> dict[str, Any]:
        before = len(self.problems)
        kinds = {field.name: field.type for field in msgspec.structs.fields(kind)}
        stated: dict[str, Any] = {}
        for name, value in self._items(table, key):
            if name not in kinds:
                place = join_key(key, name)
                self._report(place, "unknown key", removed_hint(place) or known_hint(name, kinds))
            elif (decoded := self._decode(kinds[name], value, join_key(key, name))) is not msgspec.UNSET:
                stated[name] = decoded
        if len(self.problems) == before:
            self._check_whole(kind, stated, key)
        return stated

    def _decode(self, kind: object, value: object, key: str) -> object:
        """The value in its type, or ``UNSET`` after reporting what is wrong with it."""
        if struct := _as_struct(kind):
            return self.decode_table(struct, value, key)
        if get_origin(kind) is dict and (struct := _as_struct(get_args(kind)[1])):
            return {
                name: self._decode_named(struct, name, table, key) for name, table in self._items(value, key)
            }
        if get_origin(kind) is tuple and (struct := _as_struct(get_args(kind)[0])):
            return self._decode_tables(struct, value, key)
        try:
            return _decode_value(kind, value)
        except SettingsError as error:
            self._report(key, error.message, removed_hint(f"{key} = {value}") or error.hint)
        except msgspec.ValidationError as error:
            place = _PLACE.search(str(error))
            self._report(key + (place[1] if place else ""), _in_words(_PLACE.sub("", str(error))))
        return msgspec.UNSET

    def _decode_named(self, kind: type[Struct], name: str, table: object, key: str) -> dict[str, Any]:
        if not name or not name.isprintable():
            self._report(join_key(key, name), "a name that is empty or does not print")
        return self.decode_table(kind, table, join_key(key, name))

    def _decode_tables(self, kind: type[Struct], value: object, key: str) -> object:
        if not isinstance(value, list):
            self._report(key, f"expected an array of tables, got {_type_name(value)}", f"Write [[{key}]].")
            return msgspec.UNSET
        return [self.decode_table(kind, table, f"{key}[{at}]") for at, table in enumerate(value)]

    def _items(self, table: object, key: str) -> list[tuple[str, object]]:
        if isinstance(table, dict):
            return list(table.items())
        self._report(key, f"expected a table, got {_type_name(table)}")
        return []

    def _check_whole(self, kind: type[Struct], stated: dict[str, Any], key: str) -> None:
        """Let the type itself object to keys that do not go together."""
        try:
            msgspec.convert(stated, kind)
        except msgspec.ValidationError as error:
            self._report(key, str(error))

    def _report(self, key: str, text: str, hint: str = "") -> None:
        self.problems.append(Problem(self.file, key, text, hint))


def _as_struct(kind: object) -> type[Struct] | None:
    """The type of a table, which may be none where it is not stated."""
    if get_origin(kind) is UnionType:
        kind = next((one for one in get_args(kind) if _as_struct(one)), None)
    return kind if isinstance(kind, type) and issubclass(kind, Struct) else None


def _decode_value(kind: Any, value: object) -> object:  # noqa: ANN401  a type, a union or Annotated: no common name
    kinds = get_args(kind) or (kind,)
    if timedelta in kinds:
        return _decode_duration(value)
    if Secret in kinds:
        return Secret(msgspec.convert(value, str))
    if isinstance(kind, type) and issubclass(kind, StrEnum) and value not in list(kind):
        raise SettingsError(f"not one of {', '.join(kind)}", known_hint(str(value), kind, "values"))
    decoded: object = msgspec.convert(value, kind)
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
