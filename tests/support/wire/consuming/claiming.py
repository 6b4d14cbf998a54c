"""Taking pending entries over, call by call."""

from datetime import timedelta

from streamops.model.deliveries import RecoveredPage
from streamops.wire.consuming.claiming import START, take_idle
from streamops.wire.consuming.subscription import Subscription, answered, key_of
from streamops.wire.pending import PAGE
from streamops.wire.server import Server
from tests.support.wire.consuming.shop import Shop

HOUR_MS = 3_600_000


ZERO, HOUR = timedelta(), timedelta(hours=1)


async def take_all(
    shop: Shop, *, limit: int = 100, min_idle: timedelta = HOUR, most: int = 1 << 22
) -> list[RecoveredPage]:
    """Take what is idle, call by call; a cursor that does not move on fails the test."""
    calls, cursor = [], START
    while cursor:
        calls.append(
            await take_idle(
                shop.server,
                shop.bob,
                retries=False,
                min_idle=min_idle,
                limit=limit,
                after=cursor,
                most_bytes=most,
            )
        )
        assert calls[-1].next != cursor
        cursor = calls[-1].next
    return calls


async def take_from_ann(
    shop: Shop, by: Subscription, *, limit: int = 100, after: str = START
) -> RecoveredPage:
    return await take_idle(
        shop.server, by, retries=False, owner="ann", min_idle=ZERO, limit=limit, after=after
    )


def ids_of(*calls: RecoveredPage) -> list[bytes]:
    return [taken.id for call in calls for taken in call.entries]


async def own_pending(server: Server, sub: Subscription, *, retries: bool) -> list[bytes]:
    """IDs of all entries that are pending under our name, in order; none where there is no such group.

    Raises:
        ServerError: The server did not answer, or refused.
    """
    key, start = key_of(sub, retries=retries), START
    ids: list[bytes] = []
    while True:
        words = ("XPENDING", key, sub.group, start, "+", PAGE, sub.consumer)
        page = answered(await server.single(key, *words), sub, key) or []
        ids += [row[0] for row in page]
        if len(page) < PAGE:
            return ids
        start = f"({ids[-1].decode()}"
