"""Values for scripts: MessagePack as the ``cmsgpack`` of every server reads it.

Theirs knows nothing of MessagePack's later type for bytes, with which msgspec and others write them: bytes go as
what was then called raw, and has become the type of texts.
"""

from collections.abc import Iterator, Mapping, Sequence
from struct import pack
from typing import Final

from streamops.model.text import name_bytes

Value = None | bool | int | bytes | str | Sequence["Value"] | Mapping[str, "Value"] | Mapping[bytes, "Value"]

_SMALL: Final = 0x10000
_INT64: Final = 0xD3


def lua_value(value: Value) -> bytes:
    """A value as one argument of a script, which ``cmsgpack.unpack`` reads; texts as their bytes."""
    return b"".join(_parts(value))


def _parts(value: Value) -> Iterator[bytes]:
    match value:
        case None:
            yield b"\xc0"
        case bool():
            yield b"\xc3" if value else b"\xc2"
        case int():
            yield pack(">Bq", _INT64, value)
        case str():
            yield from _parts(name_bytes(value))
        case bytes():
            yield _head(0xDA, len(value)) + value
        case Mapping():
            yield _head(0xDE, len(value))
            for name, part in value.items():
                yield from _parts(name)
                yield from _parts(part)
        case _:
            yield _head(0xDC, len(value))
            for part in value:
                yield from _parts(part)


def _head(code: int, size: int) -> bytes:
    """What stands before a text, a list or a mapping: the code for 16 bits of size, or the next for 32."""
    return pack(">BH", code, size) if size < _SMALL else pack(">BI", code + 1, size)
