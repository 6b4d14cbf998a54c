"""Heartbeats of worker processes: written by themselves, read by each other and by the console."""

import json
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Final, NamedTuple

import msgspec

from streamops.errors import ServerError
from streamops.model.pools import WorkerHeartbeat, worker_state
from streamops.wire.batches import Request
from streamops.wire.faults import FaultKind, fault
from streamops.wire.keys import worker_key
from streamops.wire.node import Reply
from streamops.wire.replies import decode_name, instant_of_ms, number
from streamops.wire.script_calls import Call, write_script
from streamops.wire.server import Server

VERSION: Final = 1
_VERSION: Final = b"%d" % VERSION
WORKER_PREFIX: Final = "so-"
"""How the names of consumers begin that must have a heartbeat while they live."""


class Namesake(NamedTuple):
    """Which process beats by a name, and when it last did, by the server's clock."""

    host: str
    pid: int
    beat_ms: int


class Heartbeats(NamedTuple):
    """Heartbeats that were read, and the IDs of workers whose heartbeat is there and cannot be read."""

    hearts: list[WorkerHeartbeat]
    unreadable: list[str]


async def write_heartbeat(server: Server, heart: WorkerHeartbeat, ttl: timedelta) -> int:
    """Write a worker's heartbeat; the server's clock in milliseconds.

    Raises:
        ServerError: The server does not answer, or does not let us.
    """
    fields = (
        ("v", VERSION),
        ("host", heart.host),
        ("pid", heart.pid),
        ("app", heart.app),
        ("pool", heart.pool),
        # Not with msgspec: names may be no Unicode.
        ("consumers", json.dumps(heart.consumers, separators=(",", ":"))),
        ("slots", heart.slots),
        ("busy", heart.busy),
        ("state", heart.state.value),
    )
    arguments = (round(ttl.total_seconds() * 1000), *(part for pair in fields for part in pair))
    return await write_script(
        server, "worker_heartbeat", Call(worker_key(heart.id), arguments, int), "heartbeat"
    )


async def stop_beating(server: Server, worker_id: str) -> None:
    """Remove a worker's heartbeat: it has left."""
    await server.single(worker_key(worker_id), "DEL", worker_key(worker_id))


async def alive(server: Server, worker_ids: Sequence[str]) -> set[str]:
    """Which of some workers have a heartbeat.

    Raises:
        ServerError: That could not be asked.
    """
    answers = await server.batch(
        [Request(worker_key(name), ("EXISTS", worker_key(name))) for name in worker_ids]
    )
    for reply in answers.replies:
        if isinstance(reply, Exception):
            raise _error(reply)
    return {name for name, reply in zip(worker_ids, answers.replies, strict=True) if reply}


async def fetch_heartbeats(server: Server, worker_ids: Iterable[str]) -> Heartbeats:
    """The heartbeats of some workers, those that have none left out."""
    names = list(worker_ids)
    answers = await server.batch([Request(worker_key(name), ("HGETALL", worker_key(name))) for name in names])
    hearts: list[WorkerHeartbeat] = []
    unreadable: list[str] = []
    for name, reply in zip(names, answers.replies, strict=True):
        heart = None if isinstance(reply, Exception) else decode_heartbeat(name, reply)
        if heart is not None:
            hearts.append(heart)
        elif isinstance(reply, Exception) or reply:
            unreadable.append(name)
    return Heartbeats(hearts, unreadable)


async def read_namesake(server: Server, worker_id: str) -> Namesake | None:
    """The process whose heartbeat a name has; None if it has none, or if the server refuses to show it.

    Raises:
        ServerError: The server does not answer, or the node of the name does not.
    """
    key = worker_key(worker_id)
    names = ("host", "pid", "beat_ms")
    answers = await server.batch([Request(key, ("HGET", key, name)) for name in names])
    for reply in answers.replies:
        if isinstance(reply, Exception) and fault(reply).kind in (FaultKind.UNREACHABLE, FaultKind.MOVING):
            raise _error(reply)
    host, *numbers = (reply if isinstance(reply, bytes) else None for reply in answers.replies)
    pid, beat_ms = map(number, numbers)
    if host is None or pid is None or beat_ms is None:
        return None
    return Namesake(decode_name(host), pid, beat_ms)


def decode_heartbeat(worker_id: str, reply: Reply) -> WorkerHeartbeat | None:
    """A heartbeat from HGETALL's reply; None if it is none of ours, or in another version of the format."""
    fields = {decode_name(name): bytes(value) for name, value in zip(reply[::2], reply[1::2], strict=True)}
    if fields.get("v", _VERSION) != _VERSION:
        return None
    try:
        return WorkerHeartbeat(
            id=worker_id,
            host=decode_name(fields["host"]),
            pid=_number(fields["pid"]),
            app=decode_name(fields["app"]),
            pool=decode_name(fields["pool"]),
            consumers=msgspec.convert(json.loads(fields["consumers"]), tuple[tuple[str, str, str], ...]),
            slots=_number(fields["slots"]),
            busy=_number(fields["busy"]),
            state=worker_state(decode_name(fields["state"])),
            beat_ms=_instant(fields["beat_ms"]),
        )
    except (KeyError, ValueError, RecursionError, msgspec.ValidationError):
        return None


def _number(text: bytes) -> int:
    if (found := number(text)) is None:
        raise ValueError("no number")
    return found


def _instant(text: bytes) -> int:
    """An instant in milliseconds, on the calendar."""
    if instant_of_ms(text) is None:
        raise ValueError("no instant")
    return int(text)


def _error(reply: Exception) -> ServerError:
    error = fault(reply).error("heartbeats")
    return error if isinstance(error, ServerError) else ServerError(str(error))
