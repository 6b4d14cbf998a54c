"""Which streams there are: pinned names, and a paced scan that never sits in the way of a poll."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from typing import Final

from streamops.errors import ServerError
from streamops.model.authority import DELAYED_SUFFIX, delayed_source
from streamops.model.name_patterns import is_literal, matches
from streamops.monitor.watch import Watch
from streamops.wire.faults import Fault, RedisError
from streamops.wire.node import Node
from streamops.wire.reads import ScanPage, scan_keys
from streamops.wire.server import Server

SHARE = 0.05
"""Share of the time that a background scan may keep a node busy; the rest is pause."""

REST = 30.0
"""Seconds between two background passes."""

FIRST_RETRY = 1.0
"""Seconds between a pass that failed and the next one; doubled with every further failure, up to ``REST``."""


class Discovery:
    """Knows the streams that a ``Watch`` asks for.

    Attributes:
        queues: Streams that are wanted and beside which delayed queues stand by their names, whether or not they exist;
            none before the queues were looked for.
        complete: Whether the keyspace has been scanned from end to end at least once, or needs no scan.
        scanned: SCAN calls of the pass under way or of the last one, times the keys each asks for.
        problem: Why the last pass failed, on one node or on all; empty if it did not.
    """

    def __init__(self, server: Server, watch: Watch) -> None:
        self._server = server
        self._watch = watch
        self._pinned = [name for name in watch.streams if is_literal(name)]
        self._patterns = [name for name in watch.streams if not is_literal(name)]
        self._names: set[str] = set()
        self.queues: frozenset[str] = frozenset()
        self._needs_scan = bool(self._patterns) or not watch.streams
        self.complete = not self._needs_scan
        self.scanned = 0
        self.problem = ""

    @property
    def pinned(self) -> list[str]:
        """The streams asked for by their whole names."""
        return [name for name in dict.fromkeys(self._pinned) if not self._excluded(name)]

    @property
    def names(self) -> list[str]:
        """The streams known, pinned ones first, then by name."""
        found = sorted(self._names.difference(self._pinned))
        return [*self.pinned, *(name for name in found if not self._excluded(name))]

    @property
    def is_open(self) -> bool:
        """Whether streams are looked for, beyond those that are pinned."""
        return self._needs_scan

    def wants(self, name: str) -> bool:
        """Whether a stream of that name would be one of them."""
        named = name in self._pinned or (self._needs_scan and bool(self._wanted([name])))
        return named and not self._excluded(name)

    async def scan(self, *, share: float = 1.0) -> None:
        """Scan every node once from end to end, keeping it busy for at most ``share`` of the time.

        A node of a cluster that cannot be scanned is noted as a problem; its streams stay as they were known.

        Raises:
            ServerError: No node answers, or all refuse to be scanned.
        """
        if not self._needs_scan:
            return
        found: set[str] = set()
        failures: list[ServerError] = []
        self.scanned = 0
        await self._server.ping()
        for node in self._server.nodes:
            try:
                await self._scan_node(node, found, share)
            except ServerError as error:
                failures.append(error)
        self.problem = failures[0].message if failures else ""
        if len(failures) == len(self._server.nodes):
            raise failures[0]
        if not failures:
            self._names = found
            self.complete = True

    async def find_queues(self, *, share: float = 1.0) -> None:
        """Look for delayed queues by their names once, keeping a node busy for at most ``share`` of the time.

        Raises:
            ServerError: A node cannot be scanned; what was known stays.
        """
        if not self._needs_scan:
            return
        found: set[str] = set()
        await self._server.ping()
        for node in self._server.nodes:
            async for names in scan_node(self._server, node, "zset", f"*{DELAYED_SUFFIX}", share=share):
                found.update(name for name in map(delayed_source, names) if name and self.wants(name))
        self.queues = frozenset(found)

    async def run(self, *, queues: bool = True) -> None:
        """Scan again and again, in the background, until cancelled; a failure is noted and tried again.

        Args:
            queues: Whether delayed queues are looked for, too, after each pass.
        """
        failures = 0
        while self._needs_scan:
            try:
                await self.scan(share=SHARE)
                if queues:
                    await self.find_queues(share=SHARE)
            except ServerError as error:
                self.problem = error.message
            failures = failures + 1 if self.problem else 0
            await asyncio.sleep(pause_after(failures))

    async def _scan_node(self, node: Node, found: set[str], share: float) -> None:
        # One pattern is matched by the server; several would each cost a pass of their own.
        pattern = self._patterns[0] if len(self._patterns) == 1 else None
        async for names in scan_node(self._server, node, "stream", pattern, share=share):
            fresh = self._wanted(names)
            found.update(fresh)
            # Shown at once, not at the end of a pass that may take minutes.
            self._names.update(fresh)
            self.scanned += KEYS_PER_STEP

    def _wanted(self, names: Sequence[str]) -> list[str]:
        if not self._patterns:
            return list(names)
        return [name for name in names if any(matches(pattern, name) for pattern in self._patterns)]

    def _excluded(self, name: str) -> bool:
        return any(matches(pattern, name) for pattern in self._watch.exclude)


def pause_after(failures: int) -> float:
    """Seconds until the next pass, after so many failures one after another."""
    pause = FIRST_RETRY if failures else REST
    for _ in range(1, failures):
        if pause >= REST:
            break
        pause *= 2
    return min(REST, pause)


KEYS_PER_STEP: Final = 1_000


async def scan_node(
    server: Server, node: Node, kind: str, pattern: str | None = None, *, share: float = 1.0
) -> AsyncIterator[Sequence[str]]:
    """Names of keys of a type, step by step; a name may come twice.

    Args:
        server: The server.
        node: Which of its processes.
        kind: The type: ``stream``, ``zset``, ``hash``.
        pattern: A glob pattern that the server matches.
        share: Share of the time that this may keep the node busy; the rest is pause.

    Raises:
        ServerError: It cannot be scanned.
    """
    cursor = 0
    while True:
        started = time.monotonic()
        page = await _step(server, node, kind, cursor, pattern)
        yield page.names
        cursor = page.cursor
        if cursor == 0:
            return
        await asyncio.sleep((time.monotonic() - started) * (1 / share - 1))


async def _step(server: Server, node: Node, kind: str, cursor: int, pattern: str | None) -> ScanPage:
    problem = None
    try:
        page = await scan_keys(node, kind, cursor, pattern, KEYS_PER_STEP)
    except (RedisError, OSError, TimeoutError) as error:
        problem = server.error(error)
    # Outside the handler, so that the error does not carry redis-py's along as its context.
    if problem is not None:
        raise problem
    if isinstance(page, Fault):
        raise page.error(f"the keyspace cannot be scanned for {NAMES[kind]}")
    return page


NAMES: Final = {"stream": "streams", "zset": "queues of delayed messages", "hash": "heartbeats"}
