"""What people and controllers tell a pool: guarded by what they knew of it."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from streamops.model.entries import EPOCH
from streamops.model.pools import Order, Pool, PoolOverrides
from streamops.wire.keys import pool_key
from streamops.wire.node import Reply
from streamops.wire.script_calls import Call, write_script
from streamops.wire.server import Server

NOW: Final = "@now"
"""The server's clock, as a value."""
LATER: Final = "@later"
"""Any moment after the server's clock, as a value that a field must have."""
NO_FIELD: Final = ""
"""That a field is not there, or is to be removed."""


async def set_mode(server: Server, known: Pool, mode: str, *, reason: str, actor: str) -> None:
    """Tell the workers of a pool something else than what they are known to have been told last.

    Raises:
        StalePlan: They were changed since they were read.
        StreamopsError: It could not be written.
    """
    told = {"mode": mode, "reason": reason, "updated_by": actor, "updated_at": NOW}
    await _write_fields(server, known.name, {"mode": known.mode}, told)


async def order_workers(
    server: Server, pool: str, known: Order | None, workers: int, why: Order, *, term: int | None = None
) -> None:
    """Tell a pool how many workers it is to have, unless it was told another number meanwhile.

    Args:
        server: Where.
        pool: The pool.
        known: What it is known to have been told last; none for nothing.
        workers: How many.
        why: Who says so, and the reason.
        term: Only while its leader in this term still leads; none if it had none.

    Raises:
        StalePlan: It was told another number meanwhile, or its lead has ended.
        StreamopsError: It could not be written.
    """
    told = {
        "desired": str(workers),
        "desired_by": why.by,
        "desired_at": NOW,
        "desired_reason": why.reason,
    }
    guards = {"desired": NO_FIELD if known is None else str(known.workers)}
    if term is not None:
        guards |= {"term": str(term), "leader_until": LATER}
    await _write_fields(server, pool, guards, told)


async def steer(server: Server, pool: str, known: PoolOverrides, steering: PoolOverrides) -> None:
    """Tell the controller of a pool something, unless the pool was changed since the plan was made.

    Raises:
        StalePlan: It was told something else meanwhile.
        StreamopsError: It could not be written.
    """
    before = overrides_fields(known)
    told = overrides_fields(steering) | {
        "steered_by": steering.by,
        "steered_at": NOW,
        "steered_reason": steering.reason,
    }
    await _write_fields(server, pool, before, told)


def overrides_fields(steering: PoolOverrides) -> dict[str, str]:
    """What is told, as fields."""
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
    """Remove all fields of a pool, unless it was told something meanwhile or has a controller by now.

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
    server: Server, pool: str, guards: Mapping[str, str], told: Mapping[str, str]
) -> None:
    pairs = [part for pair in (*guards.items(), *told.items()) for part in pair]
    call = Call(pool_key(pool), (len(guards), *pairs), _done)
    await write_script(server, "pool_tell", call, f"pool {pool}")


def _number(number: int | None) -> str:
    return NO_FIELD if number is None else str(number)


def _done(_: Reply) -> None:
    return None
