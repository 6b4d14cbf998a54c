"""What goes back and forth between a tab, this server and the console. Pure.

The tab sends JSON, ``[type, data]``; the console reads and writes packets: a byte for the kind, four for the length, a body.
"""

from enum import StrEnum
from typing import Annotated, Final

from msgspec import Meta, MsgspecError, Struct, convert, json

from streamops.errors import StreamopsError

LONGEST: Final = 1 << 26
LARGEST: Final = 1 << 20
"""Bytes of a message of the tab: what somebody pastes."""
START: Final = b"__GANGLION__\n"
"""What Textual writes before its first packet."""


class Kind(StrEnum):
    """What a packet is."""

    DATA = "D"
    META = "M"
    PACKED = "P"


class Size(Struct, frozen=True):
    """The size of a tab's terminal, in cells."""

    width: Annotated[int, Meta(ge=1, le=2_000)] = 80
    height: Annotated[int, Meta(ge=1, le=1_000)] = 24


class BrokenPacket(StreamopsError):
    """Something that the other side would never send."""


def packet(kind: Kind, body: bytes) -> bytes:
    """A packet for the console."""
    return b"%s%s%s" % (kind.encode(), len(body).to_bytes(4, "big"), body)


def read_head(head: bytes) -> tuple[str, int]:
    """Kind and length of a packet of the console's, from its first five bytes; raises ``BrokenPacket``."""
    length = int.from_bytes(head[1:5], "big")
    if length > LONGEST:
        raise BrokenPacket("the console wrote something that is no packet")
    return head[:1].decode("ascii", "replace"), length


def read_token(text: str) -> str:
    """The token that a tab begins with; raises ``BrokenPacket``."""
    try:
        kind, token = json.decode(text, type=tuple[str, str])
    except MsgspecError:
        raise BrokenPacket("no token") from None
    if kind != "token":
        raise BrokenPacket("no token")
    return token


def read_message(text: str) -> bytes:
    """What a message of a tab is as a packet for the console; nothing where it is not for it.

    Raises:
        BrokenPacket: It is none that the page sends.
    """
    try:
        kind, *rest = json.decode(text, type=list)
        match kind:
            case "stdin":
                return packet(Kind.DATA, convert(rest[0], str).encode())
            case "resize":
                size = convert(rest[0], Size)
                return packet(
                    Kind.META, json.encode({"type": "resize", "width": size.width, "height": size.height})
                )
            case "focus" | "blur":
                return packet(Kind.META, json.encode({"type": kind}))
            case "ping":
                return b""
    except (MsgspecError, IndexError, ValueError):
        pass
    raise BrokenPacket("no message of the page")
