"""The lead of a pool: one controller decides about it at a time, and says so again and again."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from streamops.model.pools import Pool, PoolDecision
from streamops.wire.faults import Fault, fault
from streamops.wire.keys import decisions_key, learned_key, pool_key
from streamops.wire.node import Argument, Reply
from streamops.wire.pools.records import COUNTED, decode_decision, decode_pool, moment
from streamops.wire.replies import decode_name
from streamops.wire.script_calls import Call, write_script
from streamops.wire.server import Request, Server

MOST_DECISIONS: Final = 2_000
"""Decisions that are kept of a pool."""
REMEMBERED: Final = timedelta(hours=1)
"""How long what was learned about a pool is of use to who takes over."""


class Seat(NamedTuple):
    """Who leads a pool, and how it stands.

    Attributes:
        leads: Whether it is who asked.
        now: The server's clock.
        pool: The pool.
    """

    leads: bool
    now: datetime
    pool: Pool


async def take_lead(
    server: Server, pool: str, holder: str, lease: timedelta, announced: Mapping[str, str]
) -> Seat:
    """Take or keep the lead of a pool, unless somebody else has it.

    Args:
        server: Where.
        pool: The pool.
        holder: Who asks.
        lease: How long it holds unless it is kept.
        announced: Fields that who leads says of the pool.

    Raises:
        StreamopsError: It could not be written.
    """
    told = [part for pair in announced.items() for part in pair]
    return await _lead(server, pool, (holder, round(lease.total_seconds() * 1000), *told))


async def leave_lead(server: Server, pool: str, holder: str) -> None:
    """Give the lead of a pool up, where one has it; raises ``StreamopsError`` where that could not be written."""
    await _lead(server, pool, (holder, 0))


async def write_decision(
    server: Server, pool: Pool, holder: str, decision: PoolDecision, *, log: bool
) -> None:
    """Write a decision down: into the pool, and where that is wanted at the end of its log.

    Raises:
        StalePlan: Somebody else leads the pool now.
        StreamopsError: It could not be written.
    """
    told = msgspec.json.encode(decision)
    arguments = (
        *(holder, 0 if pool.lead is None else pool.lead.term),
        f"{COUNTED}{decision.direction}:{decision.code}",
        int(bool(decision.problem)),
        *("decision", told, "ready", decision.ready, "ordered", decision.ordered),
    )
    problem = await write_script(server, "pool_decide", Call(pool_key(pool.name), arguments, _done))
    if isinstance(problem, Fault):
        raise problem.error(f"pool {pool.name}")
    if not log:
        return
    key = decisions_key(pool.name)
    reply = await server.single(key, "XADD", key, "MAXLEN", "~", MOST_DECISIONS, "*", "decision", told)
    if isinstance(reply, Exception):
        raise fault(reply).error(f"decisions about pool {pool.name}")


async def read_decisions(server: Server, pool: str, count: int) -> list[PoolDecision]:
    """The last decisions about a pool, newest first; raises ``StreamopsError`` where they cannot be read."""
    key = decisions_key(pool)
    reply = await server.single(key, "XREVRANGE", key, "+", "-", "COUNT", count)
    if isinstance(reply, Exception):
        raise fault(reply).error(f"decisions about pool {pool}")
    found = (decode_decision(decode_name(fields[1])) for _, fields in reply if fields and len(fields) > 1)
    return [decision for decision in found if decision is not None]


async def keep_learned(server: Server, learned: Mapping[str, bytes]) -> None:
    """Keep what was learned about pools, for whoever takes over; what cannot be kept is lost with this process."""
    ttl = round(REMEMBERED.total_seconds() * 1000)
    await server.batch(
        [
            Request(learned_key(pool), ("SET", learned_key(pool), state, "PX", ttl))
            for pool, state in learned.items()
        ]
    )


async def read_learned(server: Server, pool: str) -> bytes | None:
    """What was learned about a pool; none where nothing was kept, or it may not be read."""
    reply = await server.single(learned_key(pool), "GET", learned_key(pool))
    return reply if isinstance(reply, bytes) else None


async def _lead(server: Server, pool: str, arguments: tuple[Argument, ...]) -> Seat:
    seat = await write_script(server, "pool_lead", Call(pool_key(pool), arguments, lambda reply: reply))
    if isinstance(seat, Fault):
        raise seat.error(f"pool {pool}")
    leads, now, fields = seat
    told = moment(decode_name(now))
    assert told is not None  # noqa: S101 - the script's own clock
    return Seat(bool(leads), told, decode_pool(pool, fields))


def _done(_: Reply) -> None:
    return None
