"""Streams with their groups, read without their payloads, as deep as the user's permissions go."""

from collections.abc import Sequence
from datetime import datetime
from enum import IntEnum
from functools import partial
from typing import NamedTuple

from msgspec import Struct

from streamops.model.readings import StreamReading
from streamops.model.server import ServerInfo
from streamops.wire.faults import Fault, FaultKind, fault
from streamops.wire.heavy import HeavyStreams, script_arguments
from streamops.wire.node import Node, Reply
from streamops.wire.replies import decode_clock, decode_info, decode_reading, decode_server
from streamops.wire.script_calls import Call, run_script
from streamops.wire.server import Answers, Request, Server


class Depth(IntEnum):
    """How a stream is read; the reader steps down until the server agrees."""

    READ_ONLY_SCRIPT = 0
    SCRIPT = 1
    TRANSACTION = 2
    INFO = 3
    GROUPS = 4


SCRIPTED = (Depth.READ_ONLY_SCRIPT, Depth.SCRIPT)


class Readings(Struct, frozen=True):
    """One reading of many streams.

    Attributes:
        streams: One a name, in the order of the names; a fault where it could not be read.
        times: The clock of the server that answered for each name; none where it did not, or may not be asked.
        now: The first answering server's clock; none where none may be asked.
        server: The servers, as INFO tells them.
        failures: Why whole nodes did not answer, by address.
        info_fault: Why INFO was refused, if it was.
        clock_fault: Why ``now`` is none, where it is.
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
    GROUPS alone.

    Attributes:
        depth: Where it stands.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._heavy = HeavyStreams()
        self._read_only_denied = False
        self.depth = Depth.READ_ONLY_SCRIPT

    async def read(self, names: Sequence[str]) -> Readings:
        """Read the streams, the servers' clocks and INFO; raises ``ServerError`` where no node answers."""
        answers, chunks = await self._ask(names)
        while self.depth is not Depth.GROUPS and any(self._must_step_down(chunk) for chunk in chunks):
            self.depth = Depth(self.depth + 1)
            answers, chunks = await self._ask(names)
        width = len(chunks[0]) if chunks else 1
        preludes = preludes_of(self._server, answers)
        return preludes.readings(
            [self._reading(name, chunk) for name, chunk in zip(names, chunks, strict=True)],
            [preludes.times.get(node) if node else None for node in answers.nodes[::width]],
        )

    def _must_step_down(self, chunk: list[Reply]) -> bool:
        """Whether the way of reading itself was refused, not just this key."""
        faults = [fault(reply) for reply in chunk if isinstance(reply, Exception)]
        if any(why.kind is FaultKind.UNSUPPORTED or why.denies_command for why in faults):
            denied = any(why.kind is FaultKind.DENIED for why in faults)
            self._read_only_denied |= denied and self.depth is Depth.READ_ONLY_SCRIPT
            return True
        # EVAL asks for permission to write to its key; where the server has EVAL_RO, readers may lack that.
        asks_too_much = self.depth is Depth.SCRIPT and self._read_only_denied
        return asks_too_much and any(why.kind is FaultKind.DENIED for why in faults)

    async def _ask(self, names: Sequence[str]) -> tuple[Answers, list[list[Reply]]]:
        if self.depth in SCRIPTED:
            answers = await run_script(
                self._server,
                "read_stream",
                [self._call(name) for name in names],
                read_only=self.depth is Depth.READ_ONLY_SCRIPT,
                prelude=PRELUDE,
            )
            return answers, [[reply] for reply in answers.replies]
        requests = [request for name in names for request in _plain_requests(self.depth, name)]
        answers = await self._server.batch(requests, PRELUDE)
        width = len(_plain_requests(self.depth, ""))
        return answers, [answers.replies[at : at + width] for at in range(0, len(requests), width)]

    def _call(self, name: str) -> Call:
        known = self._heavy.reading(name)
        arguments = script_arguments(known) if known else ()
        return Call(name, arguments, partial(decode_reading, name, known=known))

    def _reading(self, name: str, chunk: list[Reply]) -> StreamReading | Fault:
        if self.depth is Depth.GROUPS:
            length, groups = chunk
            return decode_info(name, length, None, groups)
        if self.depth is Depth.INFO:
            return decode_info(name, *chunk)
        if self.depth is Depth.TRANSACTION:
            # Where EXEC could do nothing, because the key was denied, each command has its own reply.
            return decode_info(name, *(chunk[1:4] if isinstance(chunk[4], Exception) else chunk[4]))
        reading: StreamReading | Fault | Exception = chunk[0]
        if isinstance(reading, StreamReading):
            self._heavy.keep(reading)
            return reading
        self._heavy.forget(name)
        return fault(reading) if isinstance(reading, Exception) else reading


PRELUDE = (("TIME",), ("INFO",))
"""What is asked of every node before its streams."""


class Preludes(NamedTuple):
    """What the nodes said of themselves.

    Attributes:
        times: Their clocks; none where one may not be asked.
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
