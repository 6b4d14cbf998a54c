"""Keys of configuration files: a table is a Struct beside the code that obeys it, and ``setting`` says the rest of each field.

Decoding, ``config show``, the example file, the documentation and what a project's file may set are made of these.
"""

import json
from collections.abc import Iterator
from datetime import timedelta
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from msgspec import NODEFAULT, Meta, Struct
from msgspec.structs import FieldInfo, fields

from streamops.model.measures import typed_duration


class Holds(StrEnum):
    """What a value is, where that matters."""

    VALUE = "value"
    FILE = "file"
    """The name of a file, or such names by name; relative to the directory of the configuration file."""
    SECRET_FILE = "secret file"  # noqa: S105 - no password
    """The same of a file with a secret in it."""
    SECRETS = "secrets"
    """Values by name that may be secrets, and are never shown."""
    PROGRAM = "program"
    """A program and its arguments, which are never shown."""


def setting(
    text: str,
    example: object = None,
    *,
    holds: Holds = Holds.VALUE,
    project: bool = False,
    alternative: bool = False,
) -> Meta:
    """Describe a key.

    Args:
        text: What it says, in a few words.
        example: A value for the example file, or the name of a table there; the default unless given.
        holds: What its value is.
        project: Whether a project's file may set it though it is not trusted: it opens, sends, runs, authenticates,
            redirects and acts nothing.
        alternative: Whether it is commented out in the example file.
    """
    return Meta(
        description=text,
        extra={"example": example, "holds": holds, "project": project, "alternative": alternative},
    )


class ConfigKey(Struct, frozen=True, kw_only=True):
    """One key.

    Attributes:
        name: Its name.
        value_type: Its type, with its bounds.
        kinds: The types that a value may have, without bounds and none.
        table: The type of the table, or of each of the tables, that it holds; none for a value.
        named: Whether it holds tables by name.
        rows: Whether it holds an array of tables.
        default: What it is if it is not stated; ``NODEFAULT`` where it must be.
        text: What it says.
        example: A value for the example file, or the name of a table there.
        holds: What its value is.
        project: Whether a project's file may set it though it is not trusted.
        alternative: Whether it is commented out in the example file.
    """

    name: str
    value_type: Any
    kinds: tuple[Any, ...]
    table: type[Struct] | None
    named: bool
    rows: bool
    default: Any
    text: str = ""
    example: Any = None
    holds: Holds = Holds.VALUE
    project: bool = False
    alternative: bool = False


@cache
def config_keys(table: type[Struct]) -> dict[str, ConfigKey]:
    """The keys of a table, by name."""
    return {one.name: _key(one) for one in fields(table)}


def _key(one: FieldInfo) -> ConfigKey:
    meta = next((part for part in get_args(one.type)[1:] if isinstance(part, Meta) and part.extra), None)
    kinds = tuple(_kinds(one.type))
    origin, args = get_origin(kinds[0]), get_args(kinds[0])
    named = origin is dict and _is_table(args[1])
    rows = origin is tuple and _is_table(args[0])
    return ConfigKey(
        name=one.name,
        value_type=one.type,
        kinds=kinds,
        table=args[1] if named else args[0] if rows else kinds[0] if _is_table(kinds[0]) else None,
        named=named,
        rows=rows,
        default=one.default if one.default_factory is NODEFAULT else one.default_factory(),
        text=(meta and meta.description) or "",
        **(meta.extra or {} if meta else {}),
    )


def _kinds(kind: object) -> Iterator[Any]:
    if get_origin(kind) is Annotated:
        yield from _kinds(get_args(kind)[0])
    elif get_origin(kind) in {Union, UnionType}:
        for one in get_args(kind):
            yield from _kinds(one)
    elif kind is not NoneType:
        yield kind


def _is_table(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Struct)


def toml(value: Any) -> str:  # noqa: ANN401 - any value of a key
    """A value as TOML has it."""
    match value:
        case bool():
            return "true" if value else "false"
        case timedelta():
            return f'"{typed_duration(value)}"'
        case str():
            # A basic string of TOML is one of JSON, but for DEL, which JSON leaves as it is.
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case dict():
            return "{ " + ", ".join(f"{name} = {toml(inner)}" for name, inner in value.items()) + " }"
        case list() | tuple():
            return f"[{', '.join(map(toml, value))}]"
        case _:
            return str(value)
