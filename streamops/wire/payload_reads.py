"""Reading a payload that is kept beside a stream: how large it is, how long it stays, and its beginning."""

from typing import Final

from streamops.errors import NotFound
from streamops.model.deliveries import KeptPayload
from streamops.wire.batches import Request
from streamops.wire.faults import FaultKind, fault
from streamops.wire.numbers import span
from streamops.wire.server import Server

GONE: Final = -2
FOR_EVER: Final = -1


async def read_kept_payload(server: Server, key: str, limit: int) -> KeptPayload | None:
    """A payload by its key, at most ``limit`` bytes of it; none where it is gone.

    Raises:
        NotFound: The key holds something else.
        ServerError: The server could not be asked.
    """
    # Its time to live is asked for last: who finds it there has found its beginning before it went.
    commands = (("STRLEN", key), ("GETRANGE", key, 0, max(limit - 1, 0)), ("PTTL", key))
    answers = await server.batch([Request(key, command) for command in commands])
    for reply in answers.replies:
        if isinstance(reply, Exception):
            if any(reply is failure for failure in answers.failures.values()):
                raise server.error(reply)
            if fault(reply).kind is FaultKind.WRONG_TYPE:
                raise NotFound(
                    f"payload {key}: the key is no string", "It is no payload that streamops keeps."
                )
            raise fault(reply).error(f"payload {key}")
    size, head, left = answers.replies
    if left == GONE:
        return None
    ttl = None if left == FOR_EVER else span(left)
    return KeptPayload(key, size, ttl, head if limit else b"")
