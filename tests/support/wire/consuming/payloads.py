"""Payloads that are kept beside a stream."""

from collections.abc import Sequence
from datetime import timedelta

from streamops.wire.consuming.payloads import StoredPayload, with_payload
from streamops.wire.faults import Fault, fault
from streamops.wire.server import Server

HOUR = timedelta(hours=1)


PAYLOAD = StoredPayload("{orders}:payload:1", b"\x00\xff" * 50_000, HOUR)


async def publish_with_payload(
    server: Server, stream: str, parts: Sequence[bytes], payload: StoredPayload, *, entry_id: str = "*"
) -> str | Fault:
    """Add one entry and its payload; the entry's ID.

    Raises:
        ServerError: The server did not answer. Whether both were added is then not known.
    """
    request = with_payload(stream, parts, payload, entry_id=entry_id)
    reply = await server.single(stream, *request.command)
    return fault(reply) if isinstance(reply, Exception) else reply.decode()
