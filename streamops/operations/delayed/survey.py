"""The evidence that moving and cancelling delayed messages have in common."""

from collections import Counter
from typing import TypeVar

from msgspec.structs import replace

from streamops.errors import NotFound
from streamops.model.authority import DESTINATIONS, is_part_of
from streamops.model.delayed import DelayedMessage
from streamops.model.selections import DelayedSelection
from streamops.monitor.context import ServerContext
from streamops.monitor.delayed import DelayedReader
from streamops.operations.delayed.plan import DelayedEvidence
from streamops.operations.planning import SAMPLE
from streamops.wire.delayed import read_messages
from streamops.wire.keys import bodies_key, delayed_key

Chosen = TypeVar("Chosen", bound=DelayedSelection)

ELSEWHERE = "it names another stream than its queue's own"


async def survey_delayed(place: ServerContext, intent: DelayedSelection) -> DelayedEvidence:
    """Read which of the messages are there, where they go, and which are other programs' members.

    Raises:
        NotFound: There are no messages, and no such stream either.
    """
    reader = DelayedReader(place)
    queue = reader.queue_of(intent.stream)
    ids = await reader.select(intent)
    found: list[str] = []
    sample: list[DelayedMessage] = []
    broken: list[tuple[str, str]] = []
    foreign: list[str] = []
    destinations: Counter[str] = Counter()
    missing = retries = 0
    async for page in read_messages(place.server, queue, ids):
        for one in page:
            if not one.exists:
                missing += 1
            elif one.foreign:
                foreign.append(one.id)
            else:
                found.append(one.id)
                if len(sample) < SAMPLE:
                    sample.append(one)
                if problem := problem_of(one, intent.stream):
                    broken.append((one.id, problem))
                elif one.body is not None:
                    destinations[one.body.destination] += 1
                    retries += bool(one.body.group)
    queued = await reader.queued(intent.stream)
    if not found and not foreign and not queued:
        lack = await reader.lacks_stream(intent.stream)
        if lack:
            raise NotFound(lack, "`streamops delayed ls` lists the queues.")
    return DelayedEvidence(
        queue=queue,
        ids=tuple(found),
        missing=missing,
        sample=tuple(sample),
        queued=queued,
        destinations=tuple(destinations.most_common()),
        broken=tuple(broken),
        foreign=tuple(foreign),
        retries=retries,
        now=await reader.clock(intent.stream),
    )


def problem_of(message: DelayedMessage, stream: str) -> str:
    """Why a message in a stream's queue cannot become an entry; empty if it can."""
    if message.problem or message.body is None:
        return message.problem
    return "" if is_part_of(message.body.destination, stream, *DESTINATIONS) else ELSEWHERE


def resolve_delayed(intent: Chosen, evidence: DelayedEvidence) -> Chosen:
    """The intent with the queue's key."""
    return replace(intent, queue=evidence.queue)


def keys_of(intent: DelayedSelection) -> tuple[str, str]:
    """The keys of the queue and of its bodies."""
    queue = intent.queue or delayed_key(intent.stream)
    return queue, bodies_key(queue)
