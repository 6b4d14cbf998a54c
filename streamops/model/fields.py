"""Fields of an intent: how each is asked for, and what flags of the command line and forms of the console are made of."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache, reduce
from operator import or_
from types import NoneType, UnionType
from typing import Annotated, Any, Final, TypeVar, Union, get_args, get_origin
from unicodedata import category

from msgspec import NODEFAULT, Meta, Struct
from msgspec.structs import fields

from streamops.model.entries import EntryId

UNSEEN: Final = frozenset({"Cc", "Cf", "Zl", "Zp"})
"""Categories of characters that command a terminal or show nothing: controls, formats, line and paragraph ends."""

Value = TypeVar("Value")
Passing = Annotated[Value, "passing"]
"""A field of evidence that changes by itself while the plan stays the same: no part of its fingerprint."""

Instant = datetime | timedelta
"""An instant, or how long ago by the server's clock."""


def argument(text: str, completes: str = "", *, metavar: str = "") -> Meta:
    """A positional argument.

    ``completes`` names what a shell offers: ``streams``, ``groups``, ``consumers``, ``queues``, ``reasons``, ``actions``, ``jobs``.
    """
    return _meta(text, {"argument": True, "completes": completes, "metavar": metavar})


def option(
    text: str,
    flag: str = "",
    *,
    metavar: str = "",
    completes: str = "",
    exclusive: str = "",
    off: str = "",
    example: str = "",
) -> Meta:
    """An option.

    Args:
        text: Its help, a sentence.
        flag: Its name; the field's own with hyphens unless given.
        metavar: What stands for its value; chosen by its type unless given.
        completes: What a shell offers.
        exclusive: Options of one such name exclude each other.
        off: The flag that turns a boolean off, if there is one.
        example: A value as one would type it, where a form asks for it.
    """
    return _meta(
        text,
        {
            "flag": flag,
            "metavar": metavar,
            "completes": completes,
            "exclusive": exclusive,
            "off": off,
            "example": example,
        },
    )


def backup_file(what: str) -> Meta:
    """The file that is written before something is lost: one in the state directory unless another is named."""
    text = f"Back up {what} to this new file; default: a file in the state directory."
    return _meta(text, {"metavar": "FILE", "backup": True})


def inner(text: str) -> Meta:
    """A field that no face asks for: a job's own bounds."""
    return _meta(text, {"inner": True})


def is_readable(name: str) -> bool:
    """Whether a name shows something and commands no terminal; bytes that are no UTF-8 are shown escaped."""
    return bool(name.strip()) and not any(category(character) in UNSEEN for character in name)


def require_name(what: str, name: str) -> None:
    """Refuse a name that no one could read or type again.

    Raises:
        ValueError: It is blank, or holds control characters; ``what`` says how it was given.
    """
    if not is_readable(name):
        raise ValueError(f"{what}: a name is not blank and holds no control characters; write worker-1")


def _meta(text: str, marks: Mapping[str, Any]) -> Meta:
    return Meta(description=text, extra=dict(marks))


class FieldKind(StrEnum):
    """What is asked for."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    SWITCH = "switch"
    SPAN = "span"
    ENTRY_ID = "entry ID"
    INSTANT = "moment"
    CHOICE = "choice"
    PAIR = "pair"


class IntentField(Struct, frozen=True, kw_only=True):
    """One field of an intent, as a face asks for it.

    Attributes:
        name: The attribute's name.
        kind: What one value is.
        help: What it means, in a sentence.
        default: What it is if nothing is given; None if it is required, or if none is its default.
        required: Whether it required.
        optional: Whether it may be none.
        many: Whether it is a tuple of such values.
        argument: Whether it is a positional argument on a command line.
        flag: Its option's name with its hyphens; empty for an argument.
        off: The option that turns a switch off; empty if there is none.
        metavar: What stands for its value; empty if its kind says it.
        example: A value as one would type it; empty if its kind says it.
        completes: What can be offered: ``streams``, ``groups``, ``consumers``, ``queues``, ``reasons``, ``actions``, ``jobs``; empty
            for nothing.
        exclusive: Fields of one such name exclude each other; empty for none.
        choices: The values of a choice.
        choice: The enumeration of a choice; none for other kinds.
        backup: Whether it is the file that is written before something is lost, which is given a name of its own.
    """

    name: str
    kind: FieldKind
    help: str
    default: Any = None
    required: bool = False
    optional: bool = False
    many: bool = False
    argument: bool = False
    flag: str = ""
    off: str = ""
    metavar: str = ""
    example: str = ""
    completes: str = ""
    exclusive: str = ""
    choices: tuple[str, ...] = ()
    choice: type[StrEnum] | None = None
    backup: bool = False


_KINDS: Final[dict[object, FieldKind]] = {
    str: FieldKind.TEXT,
    int: FieldKind.INTEGER,
    float: FieldKind.NUMBER,
    bool: FieldKind.SWITCH,
    timedelta: FieldKind.SPAN,
    EntryId: FieldKind.ENTRY_ID,
    tuple[bytes, bytes]: FieldKind.PAIR,
}
_INSTANT_TYPES: Final = frozenset({datetime, timedelta})


@lru_cache(maxsize=128)
def intent_fields(intent: type[Struct]) -> tuple[IntentField, ...]:
    """The fields that a face asks for, in their order; inner ones, and those without help, are left out.

    Raises:
        TypeError: A field is of a type that no face knows.
    """
    found = []
    for one in fields(intent):
        default = one.default_factory() if one.default_factory is not NODEFAULT else one.default
        found.append(field_of(one.name, one.type, default))
    return tuple(field for field in found if field is not None)


def field_of(
    name: str, annotation: object, default: object = NODEFAULT, kind: FieldKind | None = None
) -> IntentField | None:
    """A field or parameter as a face asks for it; none for an inner one, and for one without help.

    Args:
        name: Its name.
        annotation: Its type, with what ``option`` or ``argument`` says of it.
        default: Its default, if it is not required.
        kind: What one value is; told by its type unless given.

    Raises:
        TypeError: It is of a type that no face knows.
    """
    meta = next((part for part in get_args(annotation)[1:] if isinstance(part, Meta)), None)
    marks = (meta.extra or {}) if meta is not None else {}
    if meta is None or marks.get("inner"):
        return None
    shape, optional = _without_none(get_args(annotation)[0])
    shape, many = _without_many(shape)
    choice = shape if isinstance(shape, type) and issubclass(shape, StrEnum) else None
    argument = bool(marks.get("argument"))
    return IntentField(
        name=name,
        kind=kind or _kind(name, shape),
        help=meta.description or "",
        default=None if default is NODEFAULT else default,
        required=default is NODEFAULT,
        optional=optional,
        many=many,
        argument=argument,
        flag="" if argument else _flag(marks.get("flag") or name.replace("_", "-")),
        off=_flag(marks.get("off", "")),
        metavar=marks.get("metavar", ""),
        example=marks.get("example", ""),
        completes=marks.get("completes", ""),
        exclusive=marks.get("exclusive", ""),
        choices=tuple(one.value for one in choice) if choice else (),
        choice=choice,
        backup=bool(marks.get("backup")),
    )


def _flag(name: str) -> str:
    return name if not name or name.startswith("-") else f"--{name}"


def _kind(name: str, shape: object) -> FieldKind:
    if isinstance(shape, type) and issubclass(shape, StrEnum):
        return FieldKind.CHOICE
    if get_origin(shape) in {Union, UnionType} and set(get_args(shape)) == _INSTANT_TYPES:
        return FieldKind.INSTANT
    if shape in _KINDS:
        return _KINDS[shape]
    raise TypeError(f"no face knows how to ask for {name}: {shape}")


def _without_none(shape: Any) -> tuple[Any, bool]:  # noqa: ANN401 - any annotation
    if get_origin(shape) not in {Union, UnionType} or NoneType not in get_args(shape):
        return shape, False
    rest = [part for part in get_args(shape) if part is not NoneType]
    return reduce(or_, rest), True


def _without_many(shape: Any) -> tuple[Any, bool]:  # noqa: ANN401 - as above
    args = get_args(shape)
    if get_origin(shape) is tuple and len(args) == 2 and args[1] is Ellipsis:  # noqa: PLR2004 - ``tuple[X, ...]``
        return args[0], True
    return shape, False
