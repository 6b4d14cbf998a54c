"""Whether numbers that are shown as exact are right: a console beside a history, held against the server's own words.

It asks plainly, then has the console collect, then asks plainly again. Where nothing moved between, every number
is the truth of that instant; where something did, it has to be one that was true at some instant between.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Self

import redis

from streamops.errors import ServerError
from streamops.model.streams import ConsumerGroup
from streamops.operations.console import Console
from streamops.wire.options import ConnectionOptions
from tests.chaos.looking import Instant, instant
from tests.chaos.worker import GROUP, STREAM
from tests.support.servers import RunningServer


class Onlooker:
    """A console, and what it said that was not so.

    Attributes:
        readings: How often each basis was held against the truth.
        wrong: What was wrong.
    """

    def __init__(
        self, options: ConnectionOptions, server: Callable[[], RunningServer], stream: str = STREAM
    ) -> None:
        self.readings: Counter[str] = Counter()
        self.wrong: list[str] = []
        self._console = Console.patient(options)
        self._server = server
        self._stream = stream

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._console.close()

    async def look(self, disturbed: Callable[[], object] = lambda: None) -> None:
        """Compare once, unless the server is away, or something was taken away meanwhile.

        Args:
            disturbed: Tells what was taken away by hand so far; where that changes, nothing is judged.
        """
        before_all = disturbed()
        try:
            claims = claims_at(self._server())
            before = instant(self._server(), self._stream)
            snapshot = await self._console.collect([self._stream])
            after = instant(self._server(), self._stream)
            claims = claims_at(self._server()) - claims
        except (ServerError, redis.ConnectionError, redis.ResponseError):
            return
        if before is None or after is None or not _follows(before, after) or disturbed() != before_all:
            return
        if any(gap.stream == self._stream for gap in snapshot.gaps) or not snapshot.streams:
            return
        for group in snapshot.streams[0].groups:
            if group.name == GROUP:
                self._judge(group, before, after, claims)

    def _judge(self, group: ConsumerGroup, before: Instant, after: Instant, claims: int = 0) -> None:
        """Judge what was said of a group between two instants, between which XCLAIM was called so often."""
        fewest = len(before.after(after.position) & {*after.ids})
        most = len(after.after(before.position))
        lag = group.lag
        self.readings[lag.basis.value] += 1
        if lag.known and (lag.entries is None or not fewest <= lag.entries <= most):
            self._say(f"lag {lag} where {fewest} to {most} are so", before, after)
        if (lag.lower or 0) > most or (lag.upper is not None and lag.upper < fewest):
            self._say(f"bounds {lag} where {fewest} to {most} are so", before, after)
        delivered = len([one for one in after.ids if before.position < one <= after.position])
        fewest, most = min(before.pending, after.pending), max(before.pending, after.pending)
        # Where a group was made anew, workers have what is in hand pending again, and acknowledge it a moment later.
        if not fewest - delivered <= group.pending <= most + delivered + claims:
            self._say(f"pending {group.pending}", before, after)

    def _say(self, what: str, before: Instant, after: Instant) -> None:
        told = f"{before.position} {before.summary} to {after.position} {after.summary}"
        self.wrong.append(f"{self._server().label} says {what}: {told}")


def claims_at(server: RunningServer) -> int:
    """How often XCLAIM was called since the server began."""
    told = re.search(rb"^cmdstat_xclaim:calls=(\d+)", server.command("INFO", "commandstats"), re.MULTILINE)
    return int(told[1]) if told else 0


def _follows(before: Instant, after: Instant) -> bool:
    """Whether nothing was lost or set back between two instants."""
    return after.position >= before.position and {*before.ids} <= {*after.ids}


def known(readings: Mapping[str, int]) -> int:
    """How many readings were called exact or reported."""
    return readings.get("exact", 0) + readings.get("reported", 0)
