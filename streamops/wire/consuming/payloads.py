"""Payloads stored outside a stream, as strings with a time to live, while its entries carry their keys."""

from collections.abc import Sequence
from datetime import timedelta
from secrets import token_hex
from typing import Final, NamedTuple

from streamops.errors import NotFound
from streamops.model.deliveries import KeptPayload
from streamops.model.text import name_bytes
from streamops.wire.batches import Request
from streamops.wire.faults import FaultKind, fault, required
from streamops.wire.keys import payload_key
from streamops.wire.node import Reply
from streamops.wire.replies import span
from streamops.wire.script_calls import Call
from streamops.wire.scripts import load_script
from streamops.wire.server import Server

REFERENCE: Final = b"_so_payload"
"""The field that holds the key of an entry's payload."""

AT_ONCE: Final = 50
"""Payloads that are read in one batch: they are large."""


class StoredPayload(NamedTuple):
    """A payload to store outside its stream.

    Attributes:
        key: Its key.
        value: The payload.
        ttl: How long it is kept.
    """

    key: str
    value: bytes
    ttl: timedelta

    @property
    def reference(self) -> tuple[bytes, bytes]:
        """The field by which an entry refers to it."""
        return REFERENCE, name_bytes(self.key)

    @property
    def ttl_ms(self) -> int:
        """Milliseconds to live; at least one."""
        return max(1, self.ttl // timedelta(milliseconds=1))


def new_payload(stream: str, value: bytes, ttl: timedelta) -> StoredPayload:
    """A payload under a new key of a stream."""
    return StoredPayload(payload_key(stream, token_hex(12)), value, ttl)


def with_payload(
    stream: str,
    parts: Sequence[bytes],
    payload: StoredPayload,
    *,
    entry_id: str = "*",
    maxlen: int | None = None,
) -> Request:
    """The request that adds an entry and its payload in one step; if the entry is refused, no payload is left behind.

    It carries the script's source, which is small next to a payload, so that no server has to have it cached.

    Args:
        stream: The stream, in one slot with the payload's key.
        parts: Names and values in turn, the reference among them; at most ``MOST_PARTS``.
        payload: The payload.
        entry_id: The entry's ID; the server's choice unless given.
        maxlen: About how many entries stay.
    """
    cap = "" if maxlen is None else maxlen
    arguments = (payload.value, payload.ttl_ms, entry_id, cap, *parts)
    call = Call(stream, arguments, _as_it_is, (payload.key,))
    return call.request("EVAL", load_script("publish_payload").source)


async def keep_payload(server: Server, payload: StoredPayload) -> None:
    """Keep a payload whose entry does not exist yet; raises ``ServerError`` if it cannot be kept."""
    reply = await server.single(payload.key, "SET", payload.key, payload.value, "PX", payload.ttl_ms)
    required(reply, f"payload {payload.key}")


async def drop_payload(server: Server, key: str) -> None:
    """Remove a payload that nothing refers to; if that may not be done, its time to live does it."""
    await server.single(key, "UNLINK", key)


async def fetch_payloads(server: Server, keys: Sequence[str]) -> list[bytes | None]:
    """Payloads by their keys; none for one that is gone, or is no payload.

    Raises:
        ServerError: They could not be read.
    """
    payloads: list[bytes | None] = []
    for at in range(0, len(keys), AT_ONCE):
        page = keys[at : at + AT_ONCE]
        answers = await server.batch([Request(key, ("GET", key)) for key in page])
        for key, reply in zip(page, answers.replies, strict=True):
            if isinstance(reply, Exception) and any(reply is one for one in answers.failures.values()):
                raise server.error(reply)
            payloads.append(_found(key, reply))
    return payloads


def _found(key: str, reply: Reply) -> bytes | None:
    if not isinstance(reply, Exception):
        found: bytes | None = reply
        return found
    problem = fault(reply)
    if problem.kind is FaultKind.WRONG_TYPE:
        return None
    raise problem.error(f"payload {key}")


def _as_it_is(reply: Reply) -> Reply:
    return reply


GONE: Final = -2
FOR_EVER: Final = -1


async def read_kept_payload(server: Server, key: str, limit: int) -> KeptPayload | None:
    """A payload by its key, at most ``limit`` bytes of it; None if it is gone.

    Raises:
        NotFound: The key holds something else.
        ServerError: The server could not be asked.
    """
    # PTTL comes last: if the key still exists then, its beginning was read before it expired.
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
