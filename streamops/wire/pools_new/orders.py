"""Pools of workers: what all workers of a pool are told, in one hash."""

from datetime import datetime, timedelta
from typing import NamedTuple

from streamops.model.ids import EPOCH
from streamops.wire.faults import Fault, fault
from streamops.wire.keys import pool_key
from streamops.wire.node import Reply
from streamops.wire.replies import decode_name
from streamops.wire.script_calls import Call, write_script
from streamops.wire.server import Server


class PoolMode(NamedTuple):
    """What a pool was told last.

    Attributes:
        mode: What; empty for nothing.
        updated_by: By whom; empty where that is not known.
        updated_at: When; none where that is not known.
    """

    mode: str
    updated_by: str
    updated_at: datetime | None


async def read_mode(server: Server, pool: str) -> PoolMode:
    """What a pool was told last; raises ``StreamopsError`` where that cannot be read."""
    key = pool_key(pool)
    reply = await server.single(key, "HMGET", key, "mode", "updated_by", "updated_at")
    if isinstance(reply, Exception):
        raise fault(reply).error(f"pool {pool}")
    mode, who, when = (decode_name(value or b"") for value in reply)
    return PoolMode(mode, who, _moment(when))


async def set_mode(server: Server, pool: str, known: str, mode: str, *, reason: str, actor: str) -> None:
    """Tell a pool something else than what it is known to have been told last.

    Raises:
        StalePlan: It was told something else meanwhile.
        StreamopsError: It could not be written.
    """
    call = Call(pool_key(pool), (known, mode, reason, actor), _done)
    problem = await write_script(server, "pool_mode", call)
    if isinstance(problem, Fault):
        raise problem.error(f"pool {pool}")


def _moment(text: str) -> datetime | None:
    """An instant from its milliseconds; none where they are no plausible ones."""
    try:
        return EPOCH + timedelta(milliseconds=int(text))
    except (ValueError, OverflowError):
        return None


def _done(_: Reply) -> None:
    return None
