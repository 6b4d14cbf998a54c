"""Acknowledging entries: plainly while their lease is fresh, otherwise with a look at who has them."""

from collections.abc import Sequence
from typing import Final

from streamops.model.deliveries import Acknowledged, AckRow
from streamops.wire.consuming.asking import answered, is_own_payload, key_of, mark_prefix, run_for_group
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.node import Argument, Reply
from streamops.wire.script_calls import Call
from streamops.wire.server import Server

BATCH: Final = 500
"""Entries that one call acknowledges."""

_FIRST_PAYLOAD: Final = 5


async def acknowledge_plain(server: Server, sub: Subscription, ids: Sequence[bytes], handovers: int) -> int:
    """Acknowledge entries of the stream, whoever has them; how many were pending.

    For entries that cannot be anybody else's by now, were not marked and have no payload. Called again after a lost
    reply it does no harm as long as they cannot be anybody else's by then either.

    Args:
        server: Where to.
        sub: Whose entries.
        ids: The entries.
        handovers: How often another server had taken over when they came; on a later one they may be somebody else's.

    Raises:
        ServerError: The server did not answer, or refused, or is another one by now.
    """
    reply = await server.single(sub.stream, "XACK", sub.stream, sub.group, *ids, handovers=handovers)
    acknowledged: int = answered(reply, sub, sub.stream) or 0
    return acknowledged


async def acknowledge_checked(
    server: Server, sub: Subscription, *, retries: bool, rows: Sequence[AckRow]
) -> Acknowledged:
    """Acknowledge those entries that are still pending under our name.

    With them go their marks, their entries where they are in the retry stream, and their payloads where no other group
    is on the stream; a payload that is another stream's, or no payload by its key, is left to its TTL.

    Called again after a lost reply it does no harm: what the first call acknowledged is ``lost`` then. From ``lost`` a
    caller may conclude that there is nothing left to do for it, but not whether the entry counts as done or runs again
    elsewhere; unless all its calls for that entry were answered, when somebody else took or acknowledged it.

    Raises:
        ServerError: The server did not answer, or refused. Some of many may have been acknowledged.
    """
    parts = [
        await _acknowledge(server, sub, rows[at : at + BATCH], retries=retries)
        for at in range(0, len(rows), BATCH)
    ]
    return Acknowledged(
        sum(part.acknowledged for part in parts), tuple(one for part in parts for one in part.lost)
    )


async def _acknowledge(
    server: Server, sub: Subscription, rows: Sequence[AckRow], *, retries: bool
) -> Acknowledged:
    key, payloads = key_of(sub, retries=retries), list[str]()
    arguments: list[Argument] = [sub.group, sub.consumer, int(retries), mark_prefix(retries=retries)]
    for row in rows:
        number = 0
        if row.payload_key and is_own_payload(sub, row.payload_key):
            number = _FIRST_PAYLOAD + len(payloads)
            payloads.append(row.payload_key)
        arguments += [row.id, number, row.digest]
    call = Call(key, tuple(arguments), _acknowledged, (sub.attempts, sub.stream, sub.unhandled, *payloads))
    done: Acknowledged | None = await run_for_group(server, sub, "consume_ack", call)
    # Without a group nothing is pending.
    return Acknowledged(0, tuple(row.id for row in rows)) if done is None else done


def _acknowledged(reply: Reply) -> Acknowledged:
    return Acknowledged(reply[0], tuple(reply[1]))


__all__ = ["AckRow", "Acknowledged", "acknowledge_checked", "acknowledge_plain"]
