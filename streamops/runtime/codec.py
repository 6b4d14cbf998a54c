"""From what is published to an entry's fields, and from these to a handler's argument, by the type that it names."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, Final, get_origin

import msgspec
from msgspec import inspect

from streamops.errors import PublishError, SettingsError
from streamops.model.text import name_bytes
from streamops.runtime.retry import Undecodable

DATA: Final = b"data"
"""The field that holds a whole body as JSON."""

RESERVED: Final = b"_so_"
"""What names begin with that streamops keeps for itself."""

_PAIR: Final = 2
_VALUES: Final = (
    inspect.BoolType,
    inspect.IntType,
    inspect.FloatType,
    inspect.StrType,
    inspect.DecimalType,
    inspect.UUIDType,
    inspect.DateTimeType,
    inspect.DateType,
    inspect.TimeType,
    inspect.TimeDeltaType,
    inspect.EnumType,
    inspect.LiteralType,
    inspect.NoneType,
)

Decode = Callable[[list[bytes]], Any]
"""Makes a value of names and values in turn; raises ``Undecodable``."""

_SHAPES: Final = (
    "Give a msgspec Struct, a dataclass, a TypedDict or a list (one field `data` of JSON), a dict of plain values or "
    "(name, value) pairs (the fields themselves), or bytes (the field `data` as it stands)."
)
_json: Final[Callable[[Any], bytes]] = msgspec.json.Encoder().encode


def encode_body(body: object) -> list[bytes]:
    """Names and values in turn.

    A mapping of plain values (str, bytes, int, float, bool) becomes the fields themselves, in its order, and so does a
    sequence of pairs, in which names may repeat. Bytes become the field ``data`` as they stand; everything else its
    JSON.

    Raises:
        PublishError: It has no field, a reserved name, or nothing that could be encoded.
    """
    if isinstance(body, msgspec.Struct):
        return [DATA, encode_json(body)]
    if type(body) is dict:
        # The most frequent shape, ahead of what costs more to tell.
        return _flat(body.items()) or [DATA, encode_json(body)]
    if isinstance(body, (bytes, bytearray, memoryview)):
        return [DATA, bytes(body)]
    if isinstance(body, Mapping):
        parts = _flat(body.items())
    elif isinstance(body, Sequence) and not isinstance(body, str):
        parts = _flat(body) if all(type(item) is tuple and len(item) == _PAIR for item in body) else None
    else:
        parts = None
    return [DATA, encode_json(body)] if parts is None else parts


def encode_json(body: object) -> bytes:
    """A body as JSON; raises ``PublishError`` if it is none, or where it holds what JSON cannot."""
    if body is None:
        raise PublishError("there is nothing to publish: the body is None", _SHAPES)
    try:
        return _json(body)
    except (TypeError, ValueError, RecursionError) as error:
        raise PublishError(
            f"a body of type {type(body).__name__} cannot be encoded: {error}", _SHAPES
        ) from None


def encode_parts(body: object, parts: list[bytes]) -> tuple[bytes, bytes]:
    """A body of several fields in one value, and how: as JSON where that gives the fields back, else as MessagePack."""
    document = encode_json(body)
    if decode_parts(b"json", document) == parts:
        return b"json", document
    return b"msgpack", msgspec.msgpack.encode(parts)


def decode_parts(shape: bytes | None, value: bytes) -> list[bytes] | None:
    """Names and values in turn, by how they were put into one value; None if they were not, or it is no such value."""
    try:
        if shape == b"msgpack":
            return msgspec.msgpack.decode(value, type=list[bytes])
        if shape == b"json":
            body = msgspec.json.decode(value, type=dict[str, Any] | list[tuple[str, Any]])
            return _flat(body.items() if isinstance(body, dict) else body)
    except (msgspec.MsgspecError, RecursionError, PublishError):
        return None
    return None


def encode_fields(fields: Mapping[str, Any] | Sequence[tuple[str, Any]]) -> list[bytes]:
    """Further fields of an entry; raises ``PublishError`` if a name is reserved or a value not plain."""
    if not fields:
        return []
    parts = _flat(fields.items() if isinstance(fields, Mapping) else fields)
    if parts is None:
        raise PublishError("a further field is no plain value", "Values are str, bytes, int, float or bool.")
    return parts


def _flat(pairs: Collection[tuple[Any, Any]]) -> list[bytes] | None:
    """Names and values in turn; None if one of them is not plain."""
    if not pairs:
        raise PublishError(
            "there is nothing to publish: the body is empty", "An entry has at least one field."
        )
    parts: list[bytes] = []
    for name, value in pairs:
        if not isinstance(name, (str, bytes)):
            return None
        encode = _PLAIN.get(type(value)) or _inherited(value)
        if encode is None:
            return None
        key = _text(name) if isinstance(name, str) else name
        if key.startswith(RESERVED):
            raise PublishError(
                f"the name {key.decode(errors='replace')} is reserved",
                "Names that begin with `_so_` are streamops' own.",
            )
        parts += (key, encode(value))
    return parts


def _text(value: str) -> bytes:
    try:
        return name_bytes(value)
    except UnicodeEncodeError as error:
        raise PublishError(
            f"a text is no Unicode: {error.reason}", "Publish bytes where it is none."
        ) from None


_PLAIN: Final[dict[type, Callable[[Any], bytes]]] = {
    str: _text,
    bytes: lambda value: value,
    int: lambda value: b"%d" % value,
    float: lambda value: repr(value).encode(),
    bool: lambda value: b"true" if value else b"false",
}


def _inherited(value: object) -> Callable[[Any], bytes] | None:
    """The way of a type that is plain by inheritance, such as a ``StrEnum``."""
    return next((encode for plain, encode in _PLAIN.items() if isinstance(value, plain)), None)


def decoder(kind: Any, where: str) -> Decode:  # noqa: ANN401 - any type a handler may name
    """What makes values of a type.

    Bytes are the value of the field ``data``; mappings are the fields themselves. Any other type is read from the
    JSON in the field ``data`` if there is one, and from the fields otherwise: ``{total: "12"}`` is an order
    whose total is 12.

    Args:
        kind: The type.
        where: Whose argument it is, for errors.

    Raises:
        SettingsError: Nothing can be decoded into it.
    """
    if kind is bytes:
        return _data
    if kind in (dict, Mapping) or get_origin(kind) in (dict, Mapping):
        return _mapping(kind)
    if _is_pydantic(kind):
        decode_json, convert = kind.model_validate_json, kind.model_validate
    else:
        try:
            decode_json = msgspec.json.Decoder(kind).decode
        except (TypeError, ValueError) as error:
            raise SettingsError(
                f"{where}: {error}",
                "Take a msgspec Struct, a dataclass, a TypedDict, a dict, bytes or streamops' Entry.",
            ) from None
        convert = partial(msgspec.convert, type=kind, strict=False)

    def decode(raw: list[bytes]) -> Any:  # noqa: ANN401 - as the handler says
        try:
            if raw[0] == DATA:
                return decode_json(raw[1])
            for at in range(2, len(raw), 2):
                if raw[at] == DATA:
                    return decode_json(raw[at + 1])
            return convert(_texts(raw))
        except (msgspec.DecodeError, ValueError) as error:
            raise Undecodable(f"it is no {_name(kind)}: {error}") from None

    return decode


def check_maxlen(maxlen: int | None) -> None:
    """Require that a cap keeps something; raises ``PublishError``."""
    if maxlen is not None and maxlen < 1:
        raise PublishError(f"maxlen is {maxlen}", "Give about how many entries the stream is to keep.")


def arguments_decoder(fields: Mapping[str, tuple[Any, ...]]) -> Decode:
    """What makes a Struct of plain values that a function takes by their names.

    They are read as any Struct is; if one is called ``data`` itself, from the fields alone.

    Args:
        fields: Of each the type and, if it has one, the default.
    """
    kind = msgspec.defstruct(
        "set of arguments", [(name, *rest) for name, rest in fields.items()], kw_only=True
    )
    return _converted(kind) if DATA.decode() in fields else decoder(kind, "its arguments")


def is_plain(kind: Any) -> bool:  # noqa: ANN401 - any type a handler may name
    """Whether a type is that of one field's value: a text, a number, a time, an ID, one of several words."""
    try:
        info = inspect.type_info(kind)
    except (TypeError, ValueError):
        return False
    info = info.type if isinstance(info, inspect.Metadata) else info
    return all(isinstance(each, _VALUES) for each in getattr(info, "types", (info,)))


def is_unknown(kind: Any) -> bool:  # noqa: ANN401 - any type a handler may name
    """Whether a type is a class that nothing can be decoded into."""
    try:
        is_custom = isinstance(inspect.type_info(kind), inspect.CustomType)
    except (TypeError, ValueError):
        return False
    return is_custom and kind is not object and not _is_pydantic(kind)


def _is_pydantic(kind: Any) -> bool:  # noqa: ANN401 - any type a handler may name
    return hasattr(kind, "model_validate_json")


def _data(raw: list[bytes]) -> bytes:
    for at in range(0, len(raw), 2):
        if raw[at] == DATA:
            return raw[at + 1]
    raise Undecodable("it has no field `data`")


def _mapping(kind: Any) -> Decode:  # noqa: ANN401 - dict or Mapping, with arguments or without
    arguments = getattr(kind, "__args__", (str, str))
    if arguments == (bytes, bytes):
        return _plain
    if all(part in (str, object, Any) for part in arguments):
        return _texts_or_undecodable
    return _converted(kind)


def _converted(kind: Any) -> Decode:  # noqa: ANN401 - what fields can be converted into
    def decode(raw: list[bytes]) -> Any:  # noqa: ANN401 - as the handler says
        try:
            return msgspec.convert(_texts(raw), kind, strict=False)
        except (msgspec.ValidationError, UnicodeDecodeError) as error:
            raise Undecodable(str(error)) from None

    return decode


def _plain(raw: list[bytes]) -> dict[bytes, bytes]:
    """The fields without the reserved ones; of a repeated name the last."""
    return {
        name: value for name, value in zip(raw[::2], raw[1::2], strict=True) if not name.startswith(b"_so_")
    }


def _texts(raw: list[bytes]) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in _plain(raw).items()}


def _texts_or_undecodable(raw: list[bytes]) -> dict[str, str]:
    try:
        return _texts(raw)
    except UnicodeDecodeError as error:
        raise Undecodable(f"it is no text: {error}") from None


def _name(kind: Any) -> str:  # noqa: ANN401 - any type
    return getattr(kind, "__name__", None) or str(kind)
