"""Single delayed messages of many callers at once: each its own script call, all of them in one pipeline."""

from datetime import datetime, timedelta
from typing import Final

from streamops.wire.delayed import instant_of_score, milliseconds
from streamops.wire.delayed_bodies import encode_body
from streamops.wire.delaying import MessageToDelay, schedule_many
from streamops.wire.faults import Fault, FaultKind, fault
from streamops.wire.gathering import Gatherer
from streamops.wire.keys import bodies_key, delayed_key
from streamops.wire.node import Reply
from streamops.wire.script_calls import Call
from streamops.wire.scripts import load_script
from streamops.wire.server import Server

SCRIPT: Final = "delayed_schedule"


async def schedule_one(
    gatherer: Gatherer, server: Server, stream: str, message: MessageToDelay, queue: str = ""
) -> datetime | Fault | None:
    """Add a delayed message, and say when it is due; none where there is one of that ID already.

    Args:
        gatherer: Sends it, together with what others send.
        server: The same server, for when its scripts were flushed.
        stream: The stream in whose queue it waits.
        message: The message.
        queue: That queue, where it is not the one beside the stream.

    Raises:
        ServerError: The server did not answer; whether it was added is not known.
    """
    key, due = queue or delayed_key(stream), message.due
    when = f"+{due // timedelta(milliseconds=1)}" if isinstance(due, timedelta) else str(milliseconds(due))
    call = Call(key, (message.id, encode_body(message.body), when), _due, (bodies_key(key),))
    reply = await gatherer.send(call.request("EVALSHA", load_script(SCRIPT).sha))
    if not isinstance(reply, Exception):
        answer: datetime | None = reply
        return answer
    problem = fault(reply)
    if problem.kind is not FaultKind.NO_SCRIPT:
        return problem
    (again,) = await schedule_many(server, stream, [message], queue)
    return again


def _due(reply: Reply) -> datetime | None:
    (due,) = reply
    return instant_of_score(due) if due != b"0" else None
