"""Streams with their groups, read without their payloads, as deep as the user's permissions go."""

from collections.abc import Sequence
from datetime import datetime
from enum import IntEnum
from functools import partial

from msgspec import Struct

from streamops.model.readings import StreamReading
from streamops.model.server import ServerInfo
from streamops.wire.faults import Fault, FaultKind, fault
from streamops.wire.heavy import HeavyStreams, script_arguments
from streamops.wire.node import Reply
from streamops.wire.replies import decode_info, decode_reading, decode_server, decode_time
from streamops.wire.script_calls import Call, run_script
from streamops.wire.server import Answers, Request, Server


class Depth(IntEnum):
    """How a stream is read; the reader steps down until the server agrees."""

    READ_ONLY_SCRIPT = 0
    SCRIPT = 1
    INFO = 2
    GROUPS = 3


SCRIPTED = (Depth.READ_ONLY_SCRIPT, Depth.SCRIPT)


class Readings(Struct, frozen=True):
    """One reading of many streams.

    Attributes:
        streams: One a name, in the order of the names; a fault where it could not be read.
        times: The clock of the server that answered for each name; none where it did not.
        now: The first answering server's clock.
        server: The servers, as INFO tells them.
        failures: Why whole nodes did not answer, by address.
        info_fault: Why INFO was refused, if it was.
    """

    streams: list[StreamReading | Fault]
    times: list[datetime | None]
    now: datetime
    server: ServerInfo
    failures: dict[str, str]
    info_fault: Fault | None


class StreamReader:
    """Reads streams with their groups in one round trip a node.

    It starts with a script that leaves payloads on the server, and steps down where server or ACL ask for
    it: to the same script without the read-only form (Redis 6.2), to XINFO STREAM and GROUPS in one
    transaction (which ships the first and last payload), to XLEN and XINFO GROUPS alone.

    Attributes:
        depth: Where it stands.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._heavy = HeavyStreams()
        self.depth = Depth.READ_ONLY_SCRIPT

    async def read(self, names: Sequence[str]) -> Readings:
        """Read the streams, the servers' clocks and INFO; raises ``ServerError`` where no node answers."""
        answers, chunks = await self._ask(names)
        while self.depth is not Depth.GROUPS and any(_must_step_down(self.depth, chunk) for chunk in chunks):
            self.depth = Depth(self.depth + 1)
            answers, chunks = await self._ask(names)
        width = len(chunks[0]) if chunks else 1
        times = {node: decode_time(prelude[0]) for node, prelude in answers.preludes.items()}
        nodes = answers.nodes[::width]
        return Readings(
            [self._reading(name, chunk) for name, chunk in zip(names, chunks, strict=True)],
            [times.get(node) if node else None for node in nodes],
            next(iter(times.values())),
            self._server_info(answers),
            {node.label: fault(error).reason for node, error in answers.failures.items()},
            next((fault(info) for _, info in answers.preludes.values() if isinstance(info, Exception)), None),
        )

    async def _ask(self, names: Sequence[str]) -> tuple[Answers, list[list[Reply]]]:
        if self.depth in SCRIPTED:
            answers = await run_script(
                self._server,
                "read_stream",
                [self._call(name) for name in names],
                read_only=self.depth is Depth.READ_ONLY_SCRIPT,
                prelude=_PRELUDE,
            )
            return answers, [[reply] for reply in answers.replies]
        requests = [request for name in names for request in _plain_requests(self.depth, name)]
        answers = await self._server.batch(requests, _PRELUDE)
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
            # Where MULTI is not permitted the commands have run one by one, and their own replies count.
            length, stream, groups = chunk[4] if isinstance(chunk[4], list) else chunk[1:4]
            return decode_info(name, length, stream, groups)
        reading: StreamReading | Fault | Exception = chunk[0]
        if isinstance(reading, Exception):
            return fault(reading)
        if isinstance(reading, StreamReading):
            self._heavy.keep(reading)
        return reading

    def _server_info(self, answers: Answers) -> ServerInfo:
        options = self._server.options
        nodes = tuple(
            decode_server(node.label, info)
            for node, (_, info) in answers.preludes.items()
            if not isinstance(info, Exception)
        )
        return ServerInfo(options.mode, options.database, nodes)


_PRELUDE = (("TIME",), ("INFO",))


def _plain_requests(depth: Depth, name: str) -> list[Request]:
    length, groups = Request(name, ("XLEN", name)), Request(name, ("XINFO", "GROUPS", name))
    if depth is Depth.GROUPS:
        return [length, groups]
    stream = Request(name, ("XINFO", "STREAM", name))
    return [Request(name, ("MULTI",)), length, stream, groups, Request(name, ("EXEC",))]


def _must_step_down(depth: Depth, chunk: list[Reply]) -> bool:
    """Whether the way of reading itself was refused, not just this key."""
    reply = chunk[0] if depth in SCRIPTED else chunk[2]
    if not isinstance(reply, Exception):
        return False
    why = fault(reply)
    names_command = "permission for" in why.reason and "key" not in why.reason
    return why.kind is FaultKind.UNSUPPORTED or (why.kind is FaultKind.DENIED and names_command)
