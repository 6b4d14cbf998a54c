"""Pools as Redis holds them, one hash each: read, and written on the condition that they are what the writer knew."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from streamops.model.entries import EPOCH
from streamops.model.pools import Lead, Order, Pool, PoolDecision, PoolOverrides
from streamops.model.text import name_bytes
from streamops.wire.batches import Request
from streamops.wire.faults import FaultKind, fault, required
from streamops.wire.keys import (
    POOLS,
    decisions_key,
    learned_key,
    pool_key,
    supervisors_key,
    worker_registry_key,
)
from streamops.wire.node import Reply
from streamops.wire.replies import decode_name, instant_of_ms, number
from streamops.wire.script_calls import Call, write_script
from streamops.wire.server import Server

COUNTED: Final = "n:"
"""What the fields begin with that count decisions: ``n:up:backlog``."""

_DECISIONS: Final = msgspec.json.Decoder(PoolDecision)


async def read_pool(server: Server, name: str) -> Pool:
    """A pool; with nothing but its name if nothing was ever set.

    Raises:
        StreamopsError: It could not be read.
    """
    reply = await server.single(pool_key(name), "HGETALL", pool_key(name))
    return _pool_of(name, reply)


async def read_pools(server: Server, names: Iterable[str] = ()) -> list[Pool]:
    """Pools that have a controller or supervisors, and those that are named; by name.

    One whose key holds something else is among them with its problem, and hides no other.

    Raises:
        StreamopsError: They could not be read.
    """
    known = sorted({*names, *await read_pool_names(server)})
    return [
        Pool(name=name, problem=f"{pool_key(name)} is no hash: something else wrote it")
        if isinstance(reply, Exception) and fault(reply).kind is FaultKind.WRONG_TYPE
        else _pool_of(name, reply)
        for name, reply in await _replies_of(server, known)
    ]


async def read_named(server: Server, names: Sequence[str]) -> list[Pool]:
    """These pools, in one round trip.

    Raises:
        StreamopsError: One of them could not be read; the controller must not take it for one without settings.
    """
    return [_pool_of(name, reply) for name, reply in await _replies_of(server, names)]


async def _replies_of(server: Server, names: Sequence[str]) -> list[tuple[str, Reply]]:
    answers = await server.batch([Request(pool_key(name), ("HGETALL", pool_key(name))) for name in names])
    return list(zip(names, answers.replies, strict=True))


def _pool_of(name: str, reply: Reply) -> Pool:
    if isinstance(reply, Exception):
        raise fault(reply).error(f"pool {name}")
    return decode_pool(name, reply)


async def read_pool_names(server: Server) -> list[str]:
    """Pools that have a controller or supervisors.

    Raises:
        StreamopsError: They could not be read.
    """
    # Not HKEYS: users with read permissions only have HGETALL, and the values are a word each.
    reply = required(await server.single(POOLS, "HGETALL", POOLS), "pools")
    return [decode_name(name) for name in reply[::2]]


async def list_pool(server: Server, name: str, what: str) -> None:
    """Add a pool to the list of pools, so that it is found without a scan of all keys.

    Raises:
        StreamopsError: It could not be written.
    """
    required(await server.single(POOLS, "HSET", POOLS, name, what), "pools")


def pool_keys(name: str) -> tuple[str, ...]:
    """The keys of a pool, existing or not; in addition it is a field of ``streamops:pools``."""
    return (
        pool_key(name),
        worker_registry_key(name),
        supervisors_key(name),
        decisions_key(name),
        learned_key(name),
    )


async def forget_pool(server: Server, name: str) -> None:
    """Remove all that is known of a pool.

    Raises:
        StreamopsError: The server does not answer, or denies it.
    """
    # A key that expires at once is deleted; operators may EXPIRE, and have no DEL.
    requests = [Request(key, ("EXPIRE", key, 0)) for key in pool_keys(name)]
    answers = await server.batch([*requests, Request(POOLS, ("HDEL", POOLS, name))])
    for reply in answers.replies:
        required(reply, f"pool {name}")


def decode_pool(name: str, reply: Sequence[bytes]) -> Pool:
    """A pool from HGETALL's reply; what makes no sense in it is left out."""
    fields = {
        decode_name(key): decode_name(value) for key, value in zip(reply[::2], reply[1::2], strict=True)
    }
    return Pool(
        name=name,
        mode=fields.get("mode", ""),
        updated_by=fields.get("updated_by", ""),
        updated_at=instant_of_ms(fields.get("updated_at")),
        reason=fields.get("reason", ""),
        order=_order(fields),
        steering=_overrides(fields),
        lead=_lead(fields),
        stream=fields.get("stream", ""),
        group=fields.get("group", ""),
        target=fields.get("target", ""),
        minimum=number(fields.get("min")),
        maximum=number(fields.get("max")),
        last=decode_decision(fields.get("decision", "")),
        decisions=_counts(fields),
        errors=number(fields.get("errors")) or 0,
    )


def decode_decision(text: str) -> PoolDecision | None:
    """A decision from JSON; None if it is none that this version knows."""
    try:
        return _DECISIONS.decode(name_bytes(text))
    except (msgspec.DecodeError, UnicodeError):
        return None


def _order(fields: Mapping[str, str]) -> Order | None:
    workers = number(fields.get("desired"))
    if workers is None:
        return None
    return Order(
        workers=workers,
        by=fields.get("desired_by", ""),
        at=instant_of_ms(fields.get("desired_at")),
        reason=fields.get("desired_reason", ""),
    )


def _overrides(fields: Mapping[str, str]) -> PoolOverrides:
    return PoolOverrides(
        paused=fields.get("scaling") == "paused",
        override=number(fields.get("override")),
        until=instant_of_ms(fields.get("steered_until")),
        minimum=number(fields.get("limit_min")),
        maximum=number(fields.get("limit_max")),
        by=fields.get("steered_by", ""),
        at=instant_of_ms(fields.get("steered_at")),
        reason=fields.get("steered_reason", ""),
    )


def _lead(fields: Mapping[str, str]) -> Lead | None:
    until = instant_of_ms(fields.get("leader_until"))
    holder = fields.get("leader", "")
    if not holder or until is None:
        return None
    return Lead(holder=holder, until=until, term=number(fields.get("term")) or 0)


def _counts(fields: Mapping[str, str]) -> dict[tuple[str, str], int]:
    counts = {}
    for field, text in fields.items():
        direction, _, code = field.removeprefix(COUNTED).partition(":")
        if field.startswith(COUNTED) and (count := number(text)):
            counts[direction, code] = count
    return counts


def pairs(reply: Reply) -> list[tuple[str, str]]:
    """Fields and values of a hash."""
    return [
        (decode_name(name), decode_name(value)) for name, value in zip(reply[::2], reply[1::2], strict=True)
    ]


NOW: Final = "@now"
"""The server's clock, as a value."""
LATER: Final = "@later"
"""Any moment after the server's clock, as a value that a field must have."""
NO_FIELD: Final = ""
"""That a field is not there, or is to be removed."""


async def set_mode(server: Server, known: Pool, mode: str, *, reason: str, actor: str) -> None:
    """Set the mode of a pool's workers, if it is still what the caller read.

    Raises:
        StalePlan: They were changed since they were read.
        StreamopsError: It could not be written.
    """
    fields = {"mode": mode, "reason": reason, "updated_by": actor, "updated_at": NOW}
    await _write_fields(server, known.name, {"mode": known.mode}, fields)


async def order_workers(
    server: Server, pool: str, known: Order | None, workers: int, why: Order, *, term: int | None = None
) -> None:
    """Set the desired worker count of a pool, if it is still what the caller read.

    Args:
        server: Where.
        pool: The pool.
        known: The desired count that the caller read; None for none.
        workers: The desired count.
        why: Who sets it, and the reason.
        term: Set it only while the leader of this term still leads; None for no such condition.

    Raises:
        StalePlan: The count was changed meanwhile, or the lease has ended.
        StreamopsError: It could not be written.
    """
    fields = {
        "desired": str(workers),
        "desired_by": why.by,
        "desired_at": NOW,
        "desired_reason": why.reason,
    }
    guards = {"desired": NO_FIELD if known is None else str(known.workers)}
    if term is not None:
        guards |= {"term": str(term), "leader_until": LATER}
    await _write_fields(server, pool, guards, fields)


async def steer(server: Server, pool: str, known: PoolOverrides, steering: PoolOverrides) -> None:
    """Set the pause, override and limits of a pool's controller, if they are still what the caller read.

    Raises:
        StalePlan: They were changed meanwhile.
        StreamopsError: It could not be written.
    """
    before = overrides_fields(known)
    fields = overrides_fields(steering) | {
        "steered_by": steering.by,
        "steered_at": NOW,
        "steered_reason": steering.reason,
    }
    await _write_fields(server, pool, before, fields)


def overrides_fields(steering: PoolOverrides) -> dict[str, str]:
    """Pause, override and limits as fields of the pool's hash."""
    return {
        "scaling": "paused" if steering.paused else NO_FIELD,
        "override": _number(steering.override),
        "steered_until": NO_FIELD if steering.until is None else str(milliseconds(steering.until)),
        "limit_min": _number(steering.minimum),
        "limit_max": _number(steering.maximum),
    }


def milliseconds(instant_of_ms: datetime) -> int:
    """An instant as Redis counts time."""
    return (instant_of_ms - EPOCH) // timedelta(milliseconds=1)


async def clear_pool(server: Server, pool: str, known: Mapping[str, str]) -> None:
    """Remove all fields of a pool, unless they were changed meanwhile or it has a controller by now.

    Args:
        server: Where.
        pool: The pool.
        known: Its fields and values, as they were read.

    Raises:
        StalePlan: It is not as it was read.
        StreamopsError: It could not be written.
    """
    guards = dict.fromkeys(("mode", "desired", "steered_at", "leader", "leader_until", "term"), NO_FIELD)
    await _write_fields(server, pool, {**guards, **known}, dict.fromkeys(known, NO_FIELD))


async def _write_fields(
    server: Server, pool: str, guards: Mapping[str, str], fields: Mapping[str, str]
) -> None:
    flat = [part for pair in (*guards.items(), *fields.items()) for part in pair]
    call = Call(pool_key(pool), (len(guards), *flat), _done)
    await write_script(server, "pool_tell", call, f"pool {pool}")


def _number(number: int | None) -> str:
    return NO_FIELD if number is None else str(number)


def _done(_: Reply) -> None:
    return None
