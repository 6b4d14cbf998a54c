"""Streams with their groups, read without their payloads, as deep as the user's permissions go."""

import time
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from enum import IntEnum
from functools import partial
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.streams import ServerInfo, ServerNode, StreamReading
from streamops.wire.batches import Answers, Request
from streamops.wire.faults import Fault, FaultKind, fault
from streamops.wire.node import Argument, Command, Node, Reply
from streamops.wire.pending import PendingRange, read_pending
from streamops.wire.replies import decode_clock, decode_info, decode_reading, decode_server
from streamops.wire.script_calls import Call, run_script
from streamops.wire.server import Server


class Depth(IntEnum):
    """How a stream is read; the reader steps down until the server agrees."""

    READ_ONLY_SCRIPT = 0
    SCRIPT = 1
    TRANSACTION = 2
    INFO = 3
    GROUPS = 4


SCRIPTED = (Depth.READ_ONLY_SCRIPT, Depth.SCRIPT)

LOOK_AGAIN: Final = 5.0
"""Seconds after which better ways of reading that were denied are tried again: permissions change."""


class Readings(Struct, frozen=True):
    """One reading of many streams.

    Attributes:
        streams: One a name, in the order of the names; a fault if it could not be read.
        times: The clock of the server that answered for each name; None if it did not, or may not be asked.
        now: The first answering server's clock; None if none may be asked.
        server: The servers, as INFO gives them.
        failures: Why whole nodes did not answer, by address.
        info_fault: Why INFO was refused, if it was.
        clock_fault: Why ``now`` is none, if it is.
    """

    streams: list[StreamReading | Fault]
    times: list[datetime | None]
    now: datetime | None
    server: ServerInfo
    failures: dict[str, str]
    info_fault: Fault | None
    clock_fault: Fault | None


class StreamReader:
    """Reads streams with their groups in one round trip a node.

    It starts with a script that leaves payloads on the server, and steps down where server or ACL ask for
    it: to the same script without the read-only form (Redis 6.2), to XLEN, XINFO STREAM and XINFO GROUPS in
    one transaction (which ships the first and last payload), to the three one by one, to XLEN and XINFO
    GROUPS alone. What was denied is tried again now and then, on one stream.

    A stream with so many groups that a script would hold the server for long is read in a transaction too: to tell of
    a group costs the server a tenth of what a script pays for it.

    Attributes:
        depth: Where it stands.
        servers: Who answers.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self.servers: Final = Identities()
        self._heavy = LargeStreams(self.servers.epoch)
        self._read_only_denied = False
        self._denied_at: float | None = None
        self.depth = Depth.READ_ONLY_SCRIPT

    async def read(self, names: Sequence[str]) -> Readings:
        """Read the streams, the servers' clocks and INFO; raises ``ServerError`` if no node answers."""
        stood, told = self.depth, self._heavy
        depth = await self._permitted(names)
        answers, chunks = await self._ask(names, depth)
        while depth is not Depth.GROUPS and any(self._must_step_down(chunk, depth) for chunk in chunks):
            depth = Depth(depth + 1)
            answers, chunks = await self._ask(names, depth)
        if depth is not stood:
            # Else another task may have found a better way.
            self.depth = depth
        width = len(chunks[0]) if chunks else 1
        preludes = preludes_of(self._server, answers)
        epoch = self.servers.note(preludes.server.nodes, preludes.failures)
        if epoch != told.epoch:
            self._heavy = LargeStreams(epoch)
            if len(told):
                # The script was given another server's entries: what it found unchanged is a mixture of both.
                return await self.read(names)
        found = [self._reading(name, chunk, depth) for name, chunk in zip(names, chunks, strict=True)]
        crowded = [name for name, reading in zip(names, found, strict=True) if reading is None]
        apart = iter(await self._read_many_groups(crowded))
        return preludes.readings(
            [next(apart) if reading is None else reading for reading in found],
            [preludes.times.get(node) if node else None for node in answers.nodes[::width]],
        )

    async def _permitted(self, names: Sequence[str]) -> Depth:
        """How streams can be read now: as before, unless what was denied has been permitted since."""
        if not names or self._denied_at is None or time.monotonic() - self._denied_at < LOOK_AGAIN:
            return self.depth
        before, self._denied_at = self._denied_at, None
        try:
            for depth in Depth:
                if depth >= self.depth:
                    break
                _, chunks = await self._ask(names[:1], depth)
                if _is_silent(chunks[0]):
                    # A node that does not answer permits nothing.
                    self._denied_at = before
                    break
                if not self._must_step_down(chunks[0], depth):
                    return depth
        except BaseException:
            self._denied_at = before
            raise
        return self.depth

    def _must_step_down(self, chunk: list[Reply], depth: Depth) -> bool:
        """Whether the way of reading itself was refused, not just this key."""
        faults = [fault(reply) for reply in chunk if isinstance(reply, Exception)]
        denied = any(why.kind is FaultKind.DENIED for why in faults)
        refused = any(why.kind is FaultKind.UNSUPPORTED or why.denies_command for why in faults)
        if refused:
            self._read_only_denied |= denied and depth is Depth.READ_ONLY_SCRIPT
        # EVAL asks for permission to write to its key; where the server has EVAL_RO, readers may lack that.
        asks_too_much = denied and depth is Depth.SCRIPT and self._read_only_denied
        if denied and (refused or asks_too_much):
            self._denied_at = time.monotonic()
        return refused or asks_too_much

    async def _ask(self, names: Sequence[str], depth: Depth) -> tuple[Answers, list[list[Reply]]]:
        if depth in SCRIPTED:
            answers = await run_script(
                self._server,
                "read_stream",
                [self._call(name) for name in names],
                read_only=depth is Depth.READ_ONLY_SCRIPT,
                prelude=PRELUDE,
            )
            return answers, [[reply] for reply in answers.replies]
        return await self._ask_plainly(names, depth, PRELUDE)

    async def _ask_plainly(
        self, names: Sequence[str], depth: Depth, prelude: Sequence[Command] = ()
    ) -> tuple[Answers, list[list[Reply]]]:
        requests = [request for name in names for request in _plain_requests(depth, name)]
        answers = await self._server.batch(requests, prelude)
        width = len(_plain_requests(depth, ""))
        return answers, [answers.replies[at : at + width] for at in range(0, len(requests), width)]

    async def _read_many_groups(self, names: Sequence[str]) -> list[StreamReading | Fault]:
        """Streams with too many groups for a script."""
        if not names:
            return []
        depth = Depth.TRANSACTION
        _, chunks = await self._ask_plainly(names, depth)
        while depth is not Depth.GROUPS and any(self._must_step_down(chunk, depth) for chunk in chunks):
            depth = Depth(depth + 1)
            _, chunks = await self._ask_plainly(names, depth)
        found = [_plain_reading(name, chunk, depth) for name, chunk in zip(names, chunks, strict=True)]
        return [
            reading if isinstance(reading, Fault) else await self._completed(reading) for reading in found
        ]

    async def _completed(self, reading: StreamReading) -> StreamReading:
        """The reading with the oldest pending entries of its groups, which a script would have read."""
        wanting = [group for group in reading.groups if group.pending]
        pages = [PendingRange(reading.name, group.name, None, 1) for group in wanting]
        rows = await read_pending(self._server, pages)
        oldest = {
            group.name: page[0]
            for group, page in zip(wanting, rows, strict=True)
            if page and not isinstance(page, Fault)
        }
        groups = [replace(group, oldest_pending=oldest.get(group.name)) for group in reading.groups]
        return replace(reading, groups=tuple(groups))

    def _call(self, name: str) -> Call[StreamReading | Fault | None]:
        known = self._heavy.reading(name)
        arguments = script_arguments(known) if known else ()
        return Call(name, arguments, partial(_scripted_reading, name, known))

    def _reading(self, name: str, chunk: list[Reply], depth: Depth) -> StreamReading | Fault | None:
        """A reading, or why there is none; nothing if the script left the stream to others."""
        if depth not in SCRIPTED:
            return _plain_reading(name, chunk, depth)
        reading: StreamReading | Fault | Exception | None = chunk[0]
        if isinstance(reading, StreamReading):
            self._heavy.keep(reading)
            return reading
        self._heavy.forget(name)
        return fault(reading) if isinstance(reading, Exception) else reading


def _is_silent(chunk: list[Reply]) -> bool:
    """Whether the node did not answer at all."""
    return any(isinstance(reply, Exception) and fault(reply).kind is FaultKind.UNREACHABLE for reply in chunk)


def _scripted_reading(name: str, known: StreamReading | None, reply: Reply) -> StreamReading | Fault | None:
    """What the script says; None if the stream has too many groups for it."""
    return None if reply is None else decode_reading(name, reply, known=known)


def _plain_reading(name: str, chunk: list[Reply], depth: Depth) -> StreamReading | Fault:
    """What plain commands say of a stream."""
    if depth is Depth.GROUPS:
        length, groups = chunk
        return decode_info(name, length, None, groups)
    if depth is Depth.INFO:
        return decode_info(name, *chunk)
    # Where EXEC could do nothing, because the key was denied, each command has its own reply.
    return decode_info(name, *(chunk[1:4] if isinstance(chunk[4], Exception) else chunk[4]))


PRELUDE = (("TIME",), ("INFO",))
"""What is asked of every node before its streams."""


class Preludes(NamedTuple):
    """What the nodes said of themselves.

    Attributes:
        times: Their clocks; None if one may not be asked.
        server: What INFO says.
        failures: Why whole nodes did not answer, by address.
        info_fault: Why INFO was refused, if it was.
        clock_fault: Why TIME was refused, if no clock is known.
    """

    times: dict[Node, datetime | None]
    server: ServerInfo
    failures: dict[str, str]
    info_fault: Fault | None
    clock_fault: Fault | None

    def readings(self, streams: list[StreamReading | Fault], times: list[datetime | None]) -> Readings:
        """The streams with all this."""
        now = next(filter(None, self.times.values()), None)
        return Readings(streams, times, now, self.server, self.failures, self.info_fault, self.clock_fault)


def preludes_of(server: Server, answers: Answers) -> Preludes:
    """What the nodes answered to the prelude."""
    times = {node: decode_clock(*prelude) for node, prelude in answers.preludes.items()}
    times_refused, infos_refused = (
        [fault(reply) for reply in replies if isinstance(reply, Exception)]
        for replies in zip(*answers.preludes.values(), strict=True)
    )
    nodes = tuple(
        decode_server(node.label, info, server.options.database)
        for node, (_, info) in answers.preludes.items()
        if not isinstance(info, Exception)
    )
    return Preludes(
        times,
        ServerInfo(server.options.mode, server.options.database, nodes),
        {node.label: fault(error).reason for node, error in answers.failures.items()},
        next(iter(infos_refused), None),
        next(iter(times_refused), None) if not any(times.values()) else None,
    )


def _plain_requests(depth: Depth, name: str) -> list[Request]:
    length, groups = Request(name, ("XLEN", name)), Request(name, ("XINFO", "GROUPS", name))
    if depth is Depth.GROUPS:
        return [length, groups]
    whole = [length, Request(name, ("XINFO", "STREAM", name)), groups]
    if depth is Depth.INFO:
        return whole
    return [Request(name, ("MULTI",)), *whole, Request(name, ("EXEC",))]


class Identities:
    """Who answers at each address, by the replication IDs that INFO told the last time.

    A replica that takes over may lack an entry, or a deletion, and get others: all its counts can be the same then, and
    what waits is not. A cache of what servers replied keeps the epoch with it, and drops it in another one. A server
    that starts again or is promoted has other replication IDs; a replica that was not promoted has those of its primary,
    of which it is an earlier state: where that has the same counts, it has the same entries.

    In a cluster the replacement of any node begins a new epoch for all: it is rare, and a slot may have gone to another node
    meanwhile. If INFO may not be asked, that is not known, and the epoch stays.

    Attributes:
        epoch: A number that is another one once another server answers than before.
    """

    def __init__(self) -> None:
        self.epoch = 0
        self._known: dict[str, tuple[str, ...]] = {}

    def note(self, nodes: Iterable[ServerNode], silent: Collection[str] = ()) -> int:
        """Take note of who answered; the epoch that it is now.

        Args:
            nodes: Who answered, and said what it is.
            silent: Addresses that did not answer: who was there may be there still.
        """
        now = {node.address: node.replication_ids for node in nodes}
        if not now.items() <= self._known.items():
            self.epoch += 1
        # One that is asked no more is forgotten: where it comes back, others have answered for it meanwhile.
        self._known = {address: ids for address, ids in self._known.items() if address in silent} | now
        return self.epoch


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
