"""Leases: while a consumer renews them, its pending entries are not idle; released, any consumer may claim them immediately."""

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Final

from streamops.model.deliveries import Registered, Renewed
from streamops.model.entries import GIVEN_BACK
from streamops.wire.consuming.subscription import Subscription, key_of, run_for_group
from streamops.wire.node import Argument, Reply
from streamops.wire.script_calls import Call
from streamops.wire.server import Server

BATCH: Final = 1_000
"""Leases that one call renews at most: a few milliseconds of the server's time."""

AS_COUNTED: Final = -1
"""Keep the delivery count."""

LONG_IDLE_MS: Final = GIVEN_BACK // timedelta(milliseconds=1)


async def renew(server: Server, sub: Subscription, *, retries: bool, ids: Sequence[bytes]) -> Renewed:
    """Renew the leases of entries that are still pending under our name; delivery counts stay.

    Raises:
        ServerError: The server did not answer, or refused.
    """
    return await _set_idle(server, sub, ids, 0, retries=retries)


async def release(
    server: Server,
    sub: Subscription,
    *,
    retries: bool,
    ids: Sequence[bytes],
    unstarted: bool = False,
) -> Renewed:
    """Release entries that are still pending under our name: they stay so, with a long idle time.

    Those that were never started (``unstarted``) count as never delivered from then on.

    Raises:
        ServerError: The server did not answer, or refused.
    """
    count = 0 if unstarted else AS_COUNTED
    return await _set_idle(server, sub, ids, LONG_IDLE_MS, retries=retries, count=count)


async def register(
    server: Server, sub: Subscription, *, retries: bool, entries: Sequence[tuple[bytes, int]]
) -> Registered:
    """Make entries pending under our name that lost their pending rows when their group was destroyed.

    None is if there is no such group.

    Args:
        server: The server.
        sub: The subscription.
        retries: Whether they are in the retry stream.
        entries: The ID and delivery count of each.

    Raises:
        ServerError: The server did not answer, or refused. Some may have been made so.
    """
    became = Registered()
    for at in range(0, len(entries), BATCH):
        arguments: list[Argument] = [sub.group, sub.consumer]
        for row in entries[at : at + BATCH]:
            arguments += row
        call = Call(key_of(sub, retries=retries), tuple(arguments), _registered)
        part: Registered | None = await run_for_group(server, sub, "consume_register", call)
        if part is None:
            break
        became = Registered(became.ours + part.ours, became.lost + part.lost, became.gone + part.gone)
    return became


async def release_all(
    server: Server,
    sub: Subscription,
    *,
    retries: bool,
    keep: Collection[bytes] = (),
    came: Collection[bytes] = (),
    seen: bytes = b"",
) -> int:
    """Release all entries pending under our name, except some; how many were released.

    Args:
        server: The server.
        sub: The subscription.
        retries: Whether to release those of the retry stream.
        keep: IDs of entries that stay ours.
        came: IDs of other entries that reached us, so that their delivery counts.
        seen: The ID after which entries that were delivered once and did not reach us count as never delivered; empty
            if all of them reached us.

    Raises:
        ServerError: The server did not answer, or refused. Some may have been given back.
    """
    released, after = 0, "-"
    while after:
        bounds = (LONG_IDLE_MS, after, BATCH, seen)
        arguments: tuple[Argument, ...] = (sub.group, sub.consumer, *bounds, len(keep), *keep, *came)
        call = Call(key_of(sub, retries=retries), arguments, _released)
        page: tuple[int, str] | None = await run_for_group(server, sub, "consume_release", call)
        count, after = page or (0, "")
        released += count
    return released


async def leave(
    server: Server, sub: Subscription, *, consumer: str | None = None, retries: bool | None = None
) -> bool:
    """Remove a consumer that has nothing pending; whether it is gone now.

    Args:
        server: Where.
        sub: The subscription.
        consumer: The consumer; none for the subscription's own.
        retries: From the retry stream's group alone, or from the stream's; none for both, and then only if it has
            nothing pending in either.

    Raises:
        ServerError: The server did not answer, or refused.
    """
    key, *more = (sub.stream, sub.retries) if retries is None else (key_of(sub, retries=retries),)
    call = Call(key, (sub.group, sub.consumer if consumer is None else consumer), bool, tuple(more))
    # Without a group there is no consumer to remove.
    return await run_for_group(server, sub, "consume_leave", call) is not False


async def _set_idle(
    server: Server,
    sub: Subscription,
    ids: Sequence[bytes],
    idle_ms: int,
    *,
    retries: bool,
    count: int = AS_COUNTED,
) -> Renewed:
    lost: tuple[bytes, ...] = ()
    gone: tuple[bytes, ...] = ()
    group_lost = False
    for at in range(0, len(ids), BATCH):
        batch = ids[at : at + BATCH]
        arguments: tuple[Argument, ...] = (sub.group, sub.consumer, idle_ms, count, *batch)
        call = Call(key_of(sub, retries=retries), arguments, _renewed)
        part: Renewed | None = await run_for_group(server, sub, "consume_renew", call)
        # Without a group nothing is pending.
        lost += tuple(batch) if part is None else part.lost
        gone += () if part is None else part.gone
        group_lost = group_lost or part is None or part.group_lost
    return Renewed(lost, gone, group_lost)


def _renewed(reply: Reply) -> Renewed:
    return Renewed(tuple(reply[0]), tuple(reply[1]), bool(reply[2]))


def _registered(reply: Reply) -> Registered:
    ours, lost, gone = map(tuple, reply)
    return Registered(ours, lost, gone)


def _released(reply: Reply) -> tuple[int, str]:
    return reply[0], reply[1].decode()


__all__ = ["Registered", "Renewed", "leave", "register", "release", "release_all", "renew"]
