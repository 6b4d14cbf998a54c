"""Streams with large entries that stand still, read by commands that copy no entry.

XINFO STREAM copies the first and the last entry, in a script or out of it. But a stream to which nothing was added and
from which nothing was taken is as it was, and both can be told without it: any group whose lag the server reports tells
how many entries were ever added, and XLEN how many there are.
"""

import math
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Final
from zlib import crc32

from msgspec import Struct

from streamops.model.readings import StreamReading
from streamops.model.server import ServerNode
from streamops.wire.batches import BundleRequest
from streamops.wire.faults import Fault, fault
from streamops.wire.heavy import HEAVY_BYTES
from streamops.wire.identities import Identities
from streamops.wire.node import Bundle, Node
from streamops.wire.server import Server
from streamops.wire.steady_replies import SteadyDecoder, Stood, steady_commands, tells_added
from streamops.wire.stream_reader import PRELUDE, Readings, preludes_of

MAX_CONSUMERS: Final = 250
"""Streams with more consumers are left to others, who read them where there is room."""

MAX_GROUPS: Final = 100
"""Those with more groups too: each costs two commands."""

KEPT_SECONDS: Final = 300.0
"""A stream that seems to stand still is read afresh after so long or half of it, so that no error of ours can last."""

TRY_AGAIN: Final = 60.0
"""Seconds after which what was refused is tried again."""


class Standing(Struct):
    """A stream that stands still, as far as is known.

    Attributes:
        reading: The reading that says how it stands.
        bundle: What is sent to see whether it still does.
        until: When that is not believed any longer, in seconds of this machine's monotonic clock.
        told: What came back the last time.
    """

    reading: StreamReading
    bundle: Bundle
    until: float
    told: Stood | None = None


class SteadyReader:
    """Reads the streams that it knows to stand still, with groups, consumers and oldest pending entries.

    It learns of them from readings of others: two that are the same, of a stream whose groups tell what was added.

    Args:
        server: Where they are.
        servers: Who answers there, as those others hear too.
    """

    def __init__(self, server: Server, servers: Identities) -> None:
        self._server = server
        self._seen: dict[str, StreamReading] = {}
        self._standing: dict[str, Standing] = {}
        self._servers = servers
        self._epoch = servers.epoch
        self._try_at = -math.inf

    def known(self, names: Iterable[str]) -> list[str]:
        """Those of the streams that it can read."""
        now, standing = time.monotonic(), self._standing
        if not standing or now < self._try_at:
            return []
        return [name for name in names if (one := standing.get(name)) is not None and now < one.until]

    def learn(self, readings: Readings) -> None:
        """Take note of what others read, of all streams that they were asked for."""
        self._heed(readings.server.nodes, readings.failures)
        before, self._seen = self._seen, {}
        for reading in readings.streams:
            if not isinstance(reading, StreamReading) or not _can_stand(reading):
                continue
            last = before.get(reading.name)
            if last is not None and _marks(last) == _marks(reading):
                until = time.monotonic() + _kept_seconds(reading.name)
                self._standing[reading.name] = Standing(reading, Bundle(steady_commands(reading)), until)
            else:
                self._seen[reading.name] = reading.alone

    async def read(self, names: Sequence[str]) -> tuple[Readings, set[str]]:
        """Read streams that it knows; raises ``ServerError`` where no node answers.

        Returns:
            The readings, without those of streams that moved; and the names of these.
        """
        node_of = self._server.node_of
        decoders: defaultdict[Node | None, SteadyDecoder] = defaultdict(SteadyDecoder)
        requests = [
            BundleRequest(name, one.bundle, partial(decoders[node_of(name)].decode, one.reading, one.told))
            for name, one in [(name, self._standing[name]) for name in names]
        ]
        answers = await self._server.batch(
            requests, PRELUDE, lambda node: (decoders[node].hear_time, decoders[node].hear_info)
        )
        preludes = preludes_of(self._server, answers)
        is_same = self._heed(preludes.server.nodes, preludes.failures)
        if preludes.info_fault or any(decoder.refused for decoder in decoders.values()):
            self._try_at = time.monotonic() + TRY_AGAIN
        moved, readings, times = set[str](), list[StreamReading | Fault](), list[datetime | None]()
        for name, reply, node in zip(names, answers.replies, answers.nodes, strict=True):
            if reply is None or not is_same:
                moved.add(name)
                self._standing.pop(name, None)
                continue
            if isinstance(reply, Stood):
                if name in self._standing:
                    self._standing[name].told = reply
                readings.append(reply.reading)
            else:
                readings.append(fault(reply))
            times.append(preludes.times.get(node) if node else None)
        self._forget_others(names)
        return preludes.readings(readings, times), moved

    def _heed(self, nodes: Sequence[ServerNode], silent: Collection[str]) -> bool:
        """Whether the servers are those of the last time; where they are not, nothing is known any more."""
        before, self._epoch = self._epoch, self._servers.note(nodes, silent)
        # Where INFO may not be asked, nobody can tell: nothing vouches for a stream here but that they are the same.
        is_same = bool(nodes) and self._epoch == before
        if not is_same:
            self._seen.clear()
            self._standing.clear()
        return is_same

    def _forget_others(self, names: Sequence[str]) -> None:
        """Streams come and go: of those that are not asked for, no more are kept than of the others."""
        if len(self._standing) > 2 * len(names):
            self._standing = {name: self._standing[name] for name in names if name in self._standing}


def _can_stand(reading: StreamReading) -> bool:
    """Whether it can be told of a stream without a look at its entries that it stands still."""
    groups = reading.groups
    return (
        reading.bounds_read
        and (reading.entry_bytes or 0) >= HEAVY_BYTES
        and len(groups) <= MAX_GROUPS
        and sum([group.consumers for group in groups]) <= MAX_CONSUMERS
        and all(group.next_read for group in groups)
        and tells_added(groups, reading.entries_added, reading.length)
    )


def _marks(reading: StreamReading) -> tuple[object, ...]:
    """What tells a stream that moved."""
    return reading.length, reading.entries_added, reading.first_id, reading.last_generated_id


def _kept_seconds(name: str) -> float:
    """How long a stream is believed to stand still; not the same for all, so that they are not all read at once."""
    return KEPT_SECONDS * (1 + crc32(name.encode(errors="replace")) / (1 << 32)) / 2
