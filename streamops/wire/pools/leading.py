"""Leader leases of pools: one controller at a time decides about each, and keeps renewing its lease."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

import msgspec

from streamops.errors import StalePlan, StreamopsError
from streamops.model.pools import FencingToken, Pool, PoolDecision
from streamops.model.streams import Mode
from streamops.wire.batches import Request
from streamops.wire.faults import FaultKind, fault, required
from streamops.wire.keys import POOLS, decisions_key, learned_key, pool_key, same_slot
from streamops.wire.node import Argument, Reply
from streamops.wire.pools.records import COUNTED, decode_decision, decode_pool
from streamops.wire.replies import decode_name, instant_of_ms
from streamops.wire.script_calls import Call, run_script
from streamops.wire.server import Server

MOST_DECISIONS: Final = 2_000
"""Decisions that are kept of a pool."""
REMEMBERED: Final = timedelta(hours=1)
"""How long what was learned about a pool is of use to who takes over."""


class LeaseRequest(NamedTuple):
    """A candidate's request for the lease of a pool.

    Attributes:
        pool: The pool.
        announced: Fields that who leads says of it.
    """

    pool: str
    announced: Mapping[str, str]


class LeaderCandidate(NamedTuple):
    """A controller that would lead.

    Attributes:
        holder: Who it is, to others.
        lease: How long a lead holds unless it is kept.
        advises: Whether it only says what it would do, and makes way for who does it.
    """

    holder: str
    lease: timedelta
    advises: bool = False


class LeaderLease(NamedTuple):
    """The lease of a pool, and how the pool stands.

    Attributes:
        leads: Whether the candidate that asked has it.
        now: The server's clock.
        pool: The pool.
    """

    leads: bool
    now: datetime
    pool: Pool


class DecisionRecord(NamedTuple):
    """A decision to write down.

    Attributes:
        pool: The pool, with the term of who decided.
        decision: What was decided.
        errors: How often its target has failed since the decision before.
        log: Whether it goes into the log.
    """

    pool: Pool
    decision: PoolDecision
    errors: int
    log: bool


class Written(NamedTuple):
    """What came of writing a decision down.

    Attributes:
        counted: Whether the pool has it, and the errors with it.
        problem: Why it is not there, or not in the log; None if all went well.
    """

    counted: bool
    problem: StreamopsError | None


async def take_leases(
    server: Server, candidate: LeaderCandidate, requests: Sequence[LeaseRequest]
) -> list[LeaderLease | StreamopsError]:
    """Take or keep the lease of each pool that no other controller has; in the order of the requests, errors among them.

    Raises:
        ServerError: No node answers. Which leases were taken is then not known.
    """
    lease = round(candidate.lease.total_seconds() * 1000)
    who: tuple[Argument, ...] = (candidate.holder, lease, int(candidate.advises))
    calls = []
    for request in requests:
        announced = [part for pair in request.announced.items() for part in pair]
        calls.append(Call(pool_key(request.pool), (*who, *announced), _raw))
    replies = (await run_script(server, "pool_lead", calls, read_only=False)).replies
    return [
        _failed(reply, request.pool) or _lease(request.pool, reply)
        for request, reply in zip(requests, replies, strict=True)
    ]


async def leave_leases(server: Server, holder: str, pools: Sequence[str]) -> None:
    """Give up the leases of these pools; raises ``ServerError`` if no node answers."""
    calls = [Call(pool_key(pool), (holder, 0, 0), _raw) for pool in pools]
    await run_script(server, "pool_lead", calls, read_only=False)


async def keep_lease(server: Server, pool: str, token: FencingToken) -> None:
    """Require that a token holds, and that it will until its lease is over.

    Raises:
        StalePlan: Another controller leads the pool now, or its settings were changed.
        StreamopsError: It could not be asked.
    """
    (lease,) = await take_leases(server, LeaderCandidate(token.holder, token.lease), [LeaseRequest(pool, {})])
    if isinstance(lease, StreamopsError):
        raise lease
    require_token(lease.pool, token, lease.now)


def require_token(pool: Pool, token: FencingToken, now: datetime | None) -> None:
    """Require that the deciding controller still leads the pool, and knew its present settings; raises ``StalePlan``."""
    lead = pool.lead
    if (
        lead is None
        or (lead.holder, lead.term) != (token.holder, token.term)
        or (now is not None and lead.until <= now)
    ):
        raise StalePlan(f"pool {pool.name}: another controller leads it now, or none", _NOTHING)
    if pool.steering.at != token.steered_at:
        raise StalePlan(
            f"pool {pool.name}: its overrides or limits were changed since they were read", _NOTHING
        )


_NOTHING: Final = "Nothing was changed; the leader decides again."


async def list_pools(server: Server, names: Sequence[str], what: str) -> None:
    """Note that there are such pools, so that they are found without going through all keys.

    Raises:
        StreamopsError: It could not be written.
    """
    fields = [part for name in names for part in (name, what)]
    required(await server.single(POOLS, "HSET", POOLS, *fields), "pools")


async def write_decisions(server: Server, holder: str, records: Sequence[DecisionRecord]) -> list[Written]:
    """Write decisions down: into their pools, and those that are news at the ends of their logs.

    Both in one step, lest who has lost the lead in between writes behind who has it now; but where a cluster keeps the
    log in another slot, it is written a moment later. The problem is a ``StalePlan`` if another controller leads the pool now.

    Raises:
        ServerError: No node answers.
    """
    documents = [msgspec.json.encode(one.decision) for one in records]
    logs = [_log_in_same_slot(server, one) for one in records]
    calls = [
        _written(one, document, holder, log)
        for one, document, log in zip(records, documents, logs, strict=True)
    ]
    replies = (await run_script(server, "pool_decide", calls, read_only=False)).replies
    written = [_came_of(reply, one.pool.name) for one, reply in zip(records, replies, strict=True)]
    # A user without permission for the log is refused the pool, too.
    refused = [at for at, reply in enumerate(replies) if logs[at] and _is_denied(reply)]
    if refused:
        alone = [_written(records[at], documents[at], holder, ()) for at in refused]
        again = (await run_script(server, "pool_decide", alone, read_only=False)).replies
        for at, reply in zip(refused, again, strict=True):
            problem = _failed(reply, records[at].pool.name)
            written[at] = Written(counted=problem is None, problem=problem or written[at].problem)
    logged = [at for at, one in enumerate(records) if one.log and not logs[at] and written[at].counted]
    entries = [_entry(records[at].pool.name, documents[at]) for at in logged]
    if entries:
        answers = await server.batch(entries)
        for at, reply in zip(logged, answers.replies, strict=True):
            written[at] = Written(counted=True, problem=_failed(reply, records[at].pool.name))
    return written


async def read_decisions(server: Server, pool: str, count: int) -> list[PoolDecision]:
    """The last decisions about a pool, newest first; raises ``StreamopsError`` if they cannot be read."""
    key = decisions_key(pool)
    reply = required(
        await server.single(key, "XREVRANGE", key, "+", "-", "COUNT", count), f"decisions about pool {pool}"
    )
    found = (decode_decision(decode_name(fields[1])) for _, fields in reply if fields and len(fields) > 1)
    return [decision for decision in found if decision is not None]


async def keep_learned(server: Server, learned: Mapping[str, bytes]) -> None:
    """Keep what was learned about pools, for the controller that takes over; what cannot be kept is lost with this process."""
    ttl = round(REMEMBERED.total_seconds() * 1000)
    await server.batch(
        [
            Request(learned_key(pool), ("SET", learned_key(pool), state, "PX", ttl))
            for pool, state in learned.items()
        ]
    )


async def read_learned(server: Server, pools: Sequence[str]) -> dict[str, bytes]:
    """What was learned about pools; those are missing of which nothing was kept, or may not be read."""
    keys = [learned_key(pool) for pool in pools]
    answers = await server.batch([Request(key, ("GET", key)) for key in keys])
    found = zip(pools, answers.replies, strict=True)
    return {pool: reply for pool, reply in found if isinstance(reply, bytes)}


def _lease(pool: str, reply: Reply) -> LeaderLease:
    leads, now, fields = reply
    clock = instant_of_ms(decode_name(now))
    assert clock is not None  # noqa: S101 - the script's own clock
    return LeaderLease(bool(leads), clock, decode_pool(pool, fields))


def _log_in_same_slot(server: Server, record: DecisionRecord) -> tuple[str, ...]:
    """The log that a decision goes into, where a script may write it together with the pool."""
    pool, log = pool_key(record.pool.name), decisions_key(record.pool.name)
    reachable = server.options.mode is not Mode.CLUSTER or same_slot(pool, log)
    return (log,) if record.log and reachable else ()


def _came_of(reply: Reply, pool: str) -> Written:
    problem = _failed(reply, pool)
    if problem is not None:
        return Written(counted=False, problem=problem)
    return Written(counted=True, problem=_failed(reply[1], pool) if len(reply) > 1 else None)


def _written(record: DecisionRecord, document: bytes, holder: str, log: tuple[str, ...]) -> Call[Any]:
    decision, lead = record.decision, record.pool.lead
    arguments: tuple[Argument, ...] = (
        *(holder, 0 if lead is None else lead.term),
        f"{COUNTED}{decision.direction}:{decision.code}",
        record.errors,
        MOST_DECISIONS,
        *(
            "decision",
            document,
            "ready",
            decision.ready if decision.ready_known else "",
            "ordered",
            decision.ordered,
        ),
    )
    return Call(pool_key(record.pool.name), arguments, _raw, log)


def _entry(pool: str, document: bytes) -> Request:
    key = decisions_key(pool)
    return Request(key, ("XADD", key, "MAXLEN", "~", MOST_DECISIONS, "*", "decision", document))


def _failed(reply: Reply, pool: str) -> StreamopsError | None:
    """Why a request about a pool failed; None if it did not."""
    if not isinstance(reply, Exception):
        return None
    return fault(reply).error(f"pool {pool}")


def _is_denied(reply: Reply) -> bool:
    return isinstance(reply, Exception) and fault(reply).kind is FaultKind.DENIED


def _raw(reply: Reply) -> Reply:
    return reply
