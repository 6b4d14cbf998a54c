"""Workers and supervisors of a pool, by their heartbeats."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from streamops.errors import StreamopsError
from streamops.model.entries import EPOCH
from streamops.model.pools import PoolSupervisor, RegisteredWorker, worker_state
from streamops.model.text import name_bytes
from streamops.wire.batches import Request
from streamops.wire.faults import fault, required
from streamops.wire.keys import pool_key, supervisors_key, worker_registry_key
from streamops.wire.node import Reply
from streamops.wire.pools.records import decode_pool, pairs
from streamops.wire.replies import decode_name, instant_of_ms
from streamops.wire.script_calls import Call, run_between, write_script
from streamops.wire.server import Server

SILENT: Final = timedelta(seconds=15)
"""A supervisor without a heartbeat for this long counts as gone."""
FORGOTTEN: Final = timedelta(minutes=2)
"""A worker without a heartbeat for this long is dropped from the registry."""


class Shift(Struct, frozen=True):
    """The reply to a supervisor's heartbeat.

    Attributes:
        desired: How many workers the pool is to have; none if no number was set.
        supervisors: Those that run its workers, this one included, by ID.
    """

    desired: int | None
    supervisors: tuple[PoolSupervisor, ...]


class PoolRegistry(NamedTuple):
    """Who works in a pool, and who runs them.

    Attributes:
        workers: The workers on its roster, by ID.
        supervisors: Its supervisors that have beaten of late, by ID.
    """

    workers: tuple[RegisteredWorker, ...]
    supervisors: tuple[PoolSupervisor, ...]


async def read_registries(
    server: Server, pools: Sequence[str], now: datetime
) -> list[PoolRegistry | StreamopsError]:
    """The registries of pools, in one round trip; errors of single pools are among them.

    Args:
        server: Where.
        pools: Their names.
        now: The server's clock.

    Raises:
        ServerError: No node answers.
    """
    keys = [key for pool in pools for key in (worker_registry_key(pool), supervisors_key(pool))]
    replies = (await server.batch([Request(key, ("HGETALL", key)) for key in keys])).replies
    rows = zip(pools, replies[::2], replies[1::2], strict=True)
    return [_registry(pool, roster, supervisors, now) for pool, roster, supervisors in rows]


def _registry(pool: str, roster: Reply, supervisors: Reply, now: datetime) -> PoolRegistry | StreamopsError:
    for what, reply in (("roster", roster), ("supervisors", supervisors)):
        if isinstance(reply, Exception):
            return fault(reply).error(f"{what} of pool {pool}")
    living = (one for one in _supervisors(pairs(supervisors)) if one.at > now - SILENT)
    return PoolRegistry(_workers(roster), tuple(living))


async def clock_in(server: Server, pool: str, worker: RegisteredWorker) -> str:
    """Write a worker onto the roster of its pool; the mode of the pool, empty for none.

    A roster that may not be written is left alone: its readers then know less.

    Raises:
        ServerError: The server does not answer.
    """
    state = f"{worker.slots} {worker.busy} {worker.worked:.3f} {worker.state}"
    arguments = (worker.id, state, round(FORGOTTEN.total_seconds() * 1000))
    call = Call(worker_registry_key(pool), arguments, lambda reply: reply)
    mode_request = Request(pool_key(pool), ("HGET", pool_key(pool), "mode"))
    answers = await run_between(server, "roster_heartbeat", call, [mode_request])
    mode = answers.replies[0]
    if isinstance(mode, Exception):
        if answers.failures:
            raise server.error(mode)
        return ""
    return decode_name(mode or b"")


async def clock_out(server: Server, pool: str, worker_id: str) -> None:
    """Take a worker off the roster: it has left."""
    await server.single(worker_registry_key(pool), "HDEL", worker_registry_key(pool), worker_id)


async def read_registered(server: Server, pool: str) -> list[RegisteredWorker]:
    """The workers on the roster of a pool, by ID; raises ``StreamopsError`` if it cannot be read."""
    reply = required(
        await server.single(worker_registry_key(pool), "HGETALL", worker_registry_key(pool)),
        f"roster of pool {pool}",
    )
    return [*_workers(reply)]


def decode_worker(worker_id: str, text: str) -> RegisteredWorker | None:
    """A worker from its row in the registry; None if this version does not know the format."""
    try:
        # A later version may say more after these.
        beat_ms, slots, busy, worked, state, *_ = text.split(" ")
        at = instant_of_ms(beat_ms)
        if at is None:
            return None
        return RegisteredWorker(
            id=worker_id,
            at=at,
            slots=int(slots),
            busy=int(busy),
            worked=float(worked),
            state=worker_state(state),
        )
    except ValueError:
        return None


async def register_supervisor(server: Server, pool: str, supervisor: PoolSupervisor) -> Shift:
    """Write a supervisor's heartbeat; the desired count of its pool, and its supervisors.

    Raises:
        StreamopsError: The server does not answer, or does not let us.
    """
    key = supervisors_key(pool)
    call = Call(key, (supervisor.id, _encoded(supervisor), round(SILENT.total_seconds() * 1000)), pairs)
    others = await write_script(server, "supervisor_heartbeat", call, f"pool {pool}")
    reply = required(await server.single(pool_key(pool), "HGETALL", pool_key(pool)), f"pool {pool}")
    order = decode_pool(pool, reply).order
    return Shift(None if order is None else order.workers, _supervisors(others))


async def unregister_supervisor(server: Server, pool: str, supervisor_id: str) -> None:
    """Take a supervisor away: it has ended."""
    await server.single(supervisors_key(pool), "HDEL", supervisors_key(pool), supervisor_id)


async def read_supervisors(server: Server, pool: str) -> tuple[PoolSupervisor, ...]:
    """The supervisors of a pool that have beaten of late, by ID; raises ``StreamopsError`` if they cannot be read."""
    key = supervisors_key(pool)
    answers = await server.batch([Request(key, ("TIME",)), Request(key, ("HGETALL", key))])
    time, reply = answers.replies
    if isinstance(reply, Exception):
        raise fault(reply).error(f"supervisors of pool {pool}")
    every = _supervisors(pairs(reply))
    if isinstance(time, Exception):
        return every
    now = EPOCH + timedelta(seconds=int(time[0]), microseconds=int(time[1]))
    return tuple(one for one in every if one.at > now - SILENT)


def _workers(reply: Reply) -> tuple[RegisteredWorker, ...]:
    workers = (decode_worker(name, text) for name, text in pairs(reply))
    return tuple(sorted((one for one in workers if one is not None), key=lambda one: one.id))


def _encoded(supervisor: PoolSupervisor) -> bytes:
    return msgspec.json.encode(replace(supervisor, at=EPOCH))


def _supervisors(rows: Sequence[tuple[str, str]]) -> tuple[PoolSupervisor, ...]:
    found = []
    for _, text in rows:
        beat_ms, _, document = text.partition(" ")
        at = instant_of_ms(beat_ms)
        try:
            one = msgspec.json.decode(name_bytes(document), type=PoolSupervisor)
        except (msgspec.DecodeError, UnicodeError):
            continue
        if at is not None:
            found.append(replace(one, at=at))
    return tuple(sorted(found, key=lambda one: one.id))
