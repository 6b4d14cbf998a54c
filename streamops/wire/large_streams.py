"""Streams with large entries, remembered so that an unchanged one is recognised without copying them."""

import time
from typing import Final

from msgspec import Struct

from streamops.model.streams import StreamReading
from streamops.wire.node import Argument

LARGE_BYTES = 4096
"""From this entry size on, copying entries into a script costs more than recognising that nothing changed."""

KEPT_SECONDS = 30.0
"""A stream that seems unchanged is read afresh after so long, so that no error of ours can last."""


class Known(Struct, frozen=True):
    """A reading, and when it was made, in seconds of this machine's monotonic clock."""

    reading: StreamReading
    since: float


class LargeStreams:
    """The last readings of streams with large entries, by name.

    Args:
        epoch: Whose they are, as ``Identities`` counts. There is one of these for each epoch, so that neither what is
            kept nor what the script is given was another server's.
    """

    def __init__(self, epoch: int = 0) -> None:
        self.epoch: Final = epoch
        self._known: dict[str, Known] = {}

    def __len__(self) -> int:
        """How many are remembered."""
        return len(self._known)

    def reading(self, name: str) -> StreamReading | None:
        """What is known of a stream; none for light ones and after a while."""
        known = self._known.get(name)
        if known is None or time.monotonic() - known.since > KEPT_SECONDS:
            return None
        return known.reading

    def forget(self, name: str) -> None:
        """Drop what is known of a stream that was not there: the next one of that name is another."""
        self._known.pop(name, None)

    def keep(self, reading: StreamReading) -> None:
        """Remember a reading if its stream is heavy, from the time that its entries were last read afresh."""
        known = self._known.pop(reading.name, None)
        now = time.monotonic()
        self._forget_old(now)
        if not reading.length or (reading.entry_bytes or 0) < LARGE_BYTES:
            return
        stands = (
            known is not None
            and now - known.since <= KEPT_SECONDS
            and _entries(known.reading) == _entries(reading)
        )
        self._known[reading.name] = Known(reading, known.since if known is not None and stands else now)

    def _forget_old(self, now: float) -> None:
        """Drop what is of no use any more, from streams that were not read for the longest time: they may be gone."""
        while self._known:
            name, known = next(iter(self._known.items()))
            if now - known.since <= KEPT_SECONDS:
                return
            del self._known[name]


def script_arguments(reading: StreamReading) -> tuple[Argument, ...]:
    """What ``read_stream.lua`` is given of an earlier reading."""
    positions = {str(group.last_delivered_id) for group in reading.groups if group.next_read}
    return reading.length, str(reading.first_id), str(reading.last_id), *sorted(positions)


def _entries(reading: StreamReading) -> tuple[object, ...]:
    return reading.length, reading.first_id, reading.last_id
