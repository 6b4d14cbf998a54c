"""The evidence that moving and cancelling delayed messages have in common."""

from collections import Counter
from typing import TypeVar

from msgspec.structs import replace

from streamops.errors import NotFound
from streamops.model.acts.delayed import DelayedEvidence, Selection
from streamops.model.delayed import DelayedMessage
from streamops.model.server import Mode
from streamops.operate.acting.place import Place
from streamops.operate.delayed import DelayedReader
from streamops.plans.evidence import SAMPLE
from streamops.wire.keys import bodies_key, delayed_key, is_own_key, same_slot
from streamops.wire.options import ConnectionOptions

Chosen = TypeVar("Chosen", bound=Selection)

LOOKED_AT = 1_000
"""Messages that are read for the plan; of more, only the IDs are."""

OWN = "its destination is a key that streamops keeps for itself"
ELSEWHERE = "its destination is in another hash slot of the cluster, so it cannot be moved in one step"


async def survey_delayed(place: Place, intent: Selection) -> DelayedEvidence:
    """Read which of the messages are there, and what the first of them are.

    Raises:
        NotFound: There are no messages, and no such stream either.
    """
    reader = DelayedReader(place)
    queue = reader.queue_of(intent.stream)
    ids = await reader.select(intent)
    looked_at = await reader.messages(intent.stream, ids[:LOOKED_AT])
    found = [one for one in looked_at if one.exists]
    queued = await reader.queued(intent.stream)
    if not found and not queued:
        lack = await reader.lacks_stream(intent.stream)
        if lack:
            raise NotFound(lack, "List the queues there are with `streamops delayed ls`.")
    problems = ((one.id, problem_of(one, queue, place.server.options)) for one in found)
    bodies = [one.body for one in found if one.body is not None]
    return DelayedEvidence(
        queue=queue,
        ids=(*(one.id for one in found), *ids[LOOKED_AT:]),
        missing=len(looked_at) - len(found),
        sample=tuple(found[:SAMPLE]),
        queued=queued,
        looked_at=len(found),
        destinations=tuple(Counter(body.destination for body in bodies).most_common()),
        broken=tuple((ident, problem) for ident, problem in problems if problem),
        retries=sum(1 for body in bodies if body.group),
        now=await reader.clock(intent.stream),
    )


def problem_of(message: DelayedMessage, queue: str, options: ConnectionOptions) -> str:
    """Why a message cannot become an entry; empty where it can."""
    if message.problem or message.body is None:
        return message.problem
    if is_own_key(message.body.destination):
        return OWN
    if options.mode is Mode.CLUSTER and not same_slot(queue, message.body.destination):
        return ELSEWHERE
    return ""


def settle_delayed(intent: Chosen, evidence: DelayedEvidence) -> Chosen:
    """The intent with the queue's key."""
    return replace(intent, queue=evidence.queue)


def keys_of(intent: Selection) -> tuple[str, str]:
    """The keys of the queue and of its bodies."""
    queue = intent.queue or delayed_key(intent.stream)
    return queue, bodies_key(queue)
