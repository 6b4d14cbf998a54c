"""From an entry's fields to a handler's argument, by the type that the handler names."""

from collections.abc import Callable, Mapping
from typing import Any, Final, get_origin

import msgspec

from streamops.errors import SettingsError
from streamops.runtime.retry import Undecodable

DATA: Final = b"data"
"""The field that holds a whole body as JSON."""

Decode = Callable[[list[bytes]], Any]
"""Makes a value of names and values in turn; raises ``Undecodable``."""


def decoder(kind: Any, where: str) -> Decode:  # noqa: ANN401 - any type a handler may name
    """What makes values of a type.

    Bytes are the value of the field ``data``; mappings are the fields themselves. Any other type is read from the
    JSON in the field ``data`` where there is one, and from the fields otherwise: ``{total: "12"}`` is an order
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
    try:
        from_json = msgspec.json.Decoder(kind)
    except (TypeError, ValueError) as error:
        raise SettingsError(
            f"{where}: {error}",
            "Take a msgspec Struct, a dataclass, a TypedDict, a dict, bytes or streamops' Entry.",
        ) from None

    decode_json = from_json.decode

    def decode(raw: list[bytes]) -> Any:  # noqa: ANN401 - as the handler says
        try:
            if raw[0] == DATA:
                return decode_json(raw[1])
            for at in range(2, len(raw), 2):
                if raw[at] == DATA:
                    return decode_json(raw[at + 1])
            return msgspec.convert(_texts(raw), kind, strict=False)
        except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
            raise Undecodable(f"it is no {_name(kind)}: {error}") from None

    return decode


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
