"""The format of a recording. Pure: bytes in, frames out.

A recording is one line that names the format, then frames, one after the other, written once and never changed::

    frame = kind (1 byte) · server's clock, ms (8) · since the recording began, ms (8) · length (4) · CRC-32 (4) · body

Numbers are unsigned and big-endian; the CRC is of everything else in the frame. A body is msgpack of structs as
maps by field names, so that fields may be added. Those of observations are deflated: from one whole observation to
the next they are one stream, flushed after every frame, so that a repeated name costs a few bytes, and a file that
was cut plays to its last whole frame. What did not change since the frame before is not told again.
"""

import zlib
from collections.abc import Sequence
from enum import IntEnum
from struct import Struct as Layout
from typing import Any, Final, NamedTuple

from msgspec import Raw, Struct, convert, msgpack, to_builtins
from msgspec.structs import replace

from streamops.model.observation import Observation, StreamView

NAME: Final = b"streamops recording "
VERSION: Final = 1
FIRST_LINE: Final = b"%s%d\n" % (NAME, VERSION)
HEAD: Final = Layout(">BQQII")
LONGEST_BODY: Final = 1 << 28
"""More is no body but a broken length: ten thousand groups take some megabytes."""
LATEST: Final = 253_402_300_799_999
"""Milliseconds since the epoch that a calendar ends at; later is no time but a broken one."""
WHOLE_EVERY: Final = 64
"""Frames from one whole observation to the next: so many are decoded at most to show any."""
SEALED: Final = Layout(">BQQI")


class Kind(IntEnum):
    """What a frame tells."""

    PROGRAM = 1
    CONTEXT = 2
    WHOLE = 3
    CHANGES = 4
    LOSS = 5


SHOWN: Final = frozenset({Kind.WHOLE, Kind.CHANGES, Kind.LOSS})
"""Kinds that something is to be seen of."""


class Head(NamedTuple):
    """What stands before a body.

    Attributes:
        kind: A ``Kind``, or a number that a later version gave a meaning.
        time: The server's clock, milliseconds since the epoch; carried on from the last known where it could not be asked.
        at: Milliseconds since the recording began.
        length: Bytes of the body.
        crc: CRC-32 of the rest of the head and of the body.
    """

    kind: int
    time: int
    at: int
    length: int
    crc: int

    def fits(self, body: bytes) -> bool:
        """Whether this is the body that was written with it."""
        return self.crc == _checksum(self, body)


class Program(Struct, frozen=True):
    """What wrote the recording.

    Attributes:
        version: The version of streamops.
    """

    version: str


class RecordedContext(Struct, frozen=True):
    """Where what follows was observed.

    Attributes:
        name: The context's name.
        environment: How much care it deserves.
        address: Its address in words, without secrets.
    """

    name: str
    environment: str
    address: str


class RecordedLoss(Struct, frozen=True):
    """Why there was nothing to observe.

    Attributes:
        message: What was wrong.
        hint: What to do about it.
    """

    message: str
    hint: str


class Changes(Struct, frozen=True):
    """An observation, as far as it differs from the one before.

    Attributes:
        rest: All of it but its streams.
        count: How many streams there are.
        at: The places of those that changed: all, where streams came or went.
        streams: They themselves.
        odd: Which of ``streams``, and ``-1`` for ``rest``, hold names that are not UTF-8, as ``pack`` says.
    """

    rest: Raw
    count: int
    at: Sequence[int]
    streams: Sequence[Raw]
    odd: Sequence[int] = ()


def frame(kind: Kind, time: int, at: int, body: bytes) -> bytes:
    """A frame to be appended."""
    head = Head(kind, time, at, len(body), 0)
    return HEAD.pack(*head[:4], _checksum(head, body)) + body


def read_head(data: bytes) -> Head | None:
    """The head that data begins with; none where it is too short, or cannot be one."""
    if len(data) < HEAD.size:
        return None
    head = Head(*HEAD.unpack_from(data))
    return head if head.length <= LONGEST_BODY and max(head.time, head.at) <= LATEST else None


def changes(before: Observation | None, after: Observation) -> Changes:
    """What has to be told of an observation after the one before; all of it where streams came or went."""
    streams = after.streams
    same = before is not None and [one.stream.name for one in before.streams] == [
        one.stream.name for one in streams
    ]
    past = before.streams if before is not None and same else (None,) * len(streams)
    at = [
        place
        for place, (old, new) in enumerate(zip(past, streams, strict=True))
        if old is not new and old != new
    ]
    packed = [pack(_lean(streams[place])) for place in at]
    rest, rest_odd = pack(replace(after, streams=(), snapshot=replace(after.snapshot, streams=())))
    odd = [-1] * rest_odd + [number for number, (_, is_odd) in enumerate(packed) if is_odd]
    return Changes(Raw(rest), len(streams), at, [Raw(body) for body, _ in packed], odd)


def changed(before: Sequence[StreamView], told: Changes) -> Observation:
    """The observation after the one whose streams these are; raises ``msgspec.ValidationError``.

    Raises:
        IndexError: It does not follow upon these.
    """
    if told.count > len(before) + len(told.at):
        raise IndexError("changes of what is not there")
    streams = [*before, *(None,) * told.count][: told.count]
    for number, (place, body) in enumerate(zip(told.at, told.streams, strict=True)):
        streams[place] = _full(unpack(body, StreamView, odd=number in told.odd))
    if None in streams:
        raise IndexError("changes of what is not there")
    rest: Observation = unpack(told.rest, Observation, odd=-1 in told.odd)
    views = tuple(view for view in streams if view is not None)
    snapshot = replace(rest.snapshot, streams=tuple(view.stream for view in views))
    return replace(rest, streams=views, snapshot=snapshot)


def pack(struct: Struct) -> tuple[bytes, bool]:
    """Pack a struct, and say whether it is odd: names may hold any bytes, strings of msgpack may not."""
    try:
        return msgpack.encode(struct), False
    except UnicodeEncodeError:
        return msgpack.encode(_as_bytes(to_builtins(struct))), True


def unpack(body: bytes | Raw, kind: type[Any], *, odd: bool) -> Any:  # noqa: ANN401 - of the kind
    """Unpack a struct; raises ``msgspec.ValidationError`` where it is none of this kind."""
    if not odd:
        return msgpack.decode(body, type=kind)
    return convert(_as_text(msgpack.decode(body)), kind)


def _checksum(head: Head, body: bytes) -> int:
    return zlib.crc32(body, zlib.crc32(SEALED.pack(*head[:4])))


def _lean(view: StreamView) -> StreamView:
    """A view without its groups as read, where the views of groups hold the same."""
    if view.stream.groups and view.stream.groups == tuple(group.group for group in view.groups):
        return replace(view, stream=replace(view.stream, groups=()))
    return view


def _full(view: StreamView) -> StreamView:
    if view.stream.groups or not view.groups:
        return view
    return replace(view, stream=replace(view.stream, groups=tuple(group.group for group in view.groups)))


def _as_bytes(value: Any) -> Any:  # noqa: ANN401 - any tree of plain values
    """Strings that are not UTF-8 as the bytes they stand for; there are no other bytes in an observation."""
    match value:
        case str():
            return value if _is_utf8(value) else value.encode("utf-8", "surrogateescape")
        case dict():
            return {_as_bytes(key): _as_bytes(item) for key, item in value.items()}
        case list() | tuple():
            return [_as_bytes(item) for item in value]
        case _:
            return value


def _as_text(value: Any) -> Any:  # noqa: ANN401 - as above
    match value:
        case bytes():
            return value.decode("utf-8", "surrogateescape")
        case dict():
            return {_as_text(key): _as_text(item) for key, item in value.items()}
        case list():
            return [_as_text(item) for item in value]
        case _:
            return value


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
