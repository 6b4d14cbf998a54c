"""What every script of a consumer is told, and what it answers where there is no group."""

from typing import Any

from streamops.model.authority import StreamPart, is_part_of
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.faults import Fault, FaultKind, fault
from streamops.wire.node import Reply
from streamops.wire.script_calls import Call, try_script
from streamops.wire.server import Server


async def run_for_group(server: Server, sub: Subscription, name: str, call: Call[Any]) -> Any:  # noqa: ANN401 - as the decoder says
    """Run a script; its decoded reply, or none where there is no such group or stream.

    Raises:
        ServerError: The server did not answer, or refused. In the first case the script may have run all the same.
    """
    return answered(await try_script(server, name, call), sub, call.key)


def answered(reply: Reply | Fault, sub: Subscription, key: str) -> Any:  # noqa: ANN401 - as the decoder says
    """A reply; none where there is no such group or stream. Raises ``ServerError`` where it is another fault."""
    problem = fault(reply) if isinstance(reply, Exception) else reply
    if not isinstance(problem, Fault):
        return reply
    if problem.kind is FaultKind.MISSING:
        return None
    raise problem.error(f"group {sub.group} of stream {key}")


def key_of(sub: Subscription, *, retries: bool) -> str:
    """The stream, or the retry stream."""
    return sub.retries if retries else sub.stream


def mark_prefix(*, retries: bool) -> str:
    """What the field of an entry's marks begins with, before its ID."""
    return "retry:" if retries else ""


def is_own_payload(sub: Subscription, payload: str | None) -> bool:
    """Whether a key is that of a payload beside this very stream."""
    return payload is not None and is_part_of(payload, sub.stream, StreamPart.PAYLOADS)
