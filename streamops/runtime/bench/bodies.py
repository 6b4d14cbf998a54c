"""What benchmarks publish."""

from collections.abc import Sequence

import msgspec
from msgspec import Struct


class Event(Struct, frozen=True):
    """A body: its number, and text that makes it as long as it is to be."""

    number: int
    text: str


def event(number: int, size: int) -> Event:
    """An event whose JSON has so many bytes; more where not even its number has room in them."""
    bare = len(msgspec.json.encode(Event(number, "")))
    return Event(number, "x" * max(0, size - bare))


def encoded(events: Sequence[Event]) -> list[bytes]:
    """The same as JSON, for those who publish by hand."""
    return [msgspec.json.encode(one) for one in events]
