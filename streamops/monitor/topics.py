"""Topics of HTTP callbacks: those kept in Redis, and how much waits for any of them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from streamops.model.dead_letters import DeadLetter
from streamops.model.delayed import DelayedMessage, DelayedQueue
from streamops.model.topics import Topic, check_topic
from streamops.monitor.context import ServerContext
from streamops.monitor.dead_letters import DeadLetterReader
from streamops.monitor.delayed import DelayedReader
from streamops.monitor.inspection import count_undone
from streamops.wire.delayed import read_queues
from streamops.wire.faults import Fault
from streamops.wire.keys import dead_letter_key
from streamops.wire.reads import read_clock
from streamops.wire.topics import TOPICS, KeptTopic, read_topics

LOOKED_AT: Final = 200
"""Messages that wait and are looked at for failed calls, the first due."""


class TopicView(Struct, frozen=True):
    """A topic that is kept in Redis.

    Attributes:
        name: Its name.
        topic: What it says; None if that cannot be read.
        problem: What is wrong with it, so that it is left out; empty for nothing.
    """

    name: str
    topic: Topic | None
    problem: str = ""


class TopicFailures(Struct, frozen=True):
    """What failed of a topic's calls, as far as Redis holds it.

    Attributes:
        letters: The last messages that were given up, the newest first.
        retries: Messages that were called and failed, and wait for another call, the first due first.
        more_waiting: Whether there may be other such messages: not all that wait were looked at.
    """

    letters: tuple[DeadLetter, ...]
    retries: tuple[DelayedMessage, ...]
    more_waiting: bool


class TopicReader:
    """Reads topics and their queues on one server."""

    def __init__(self, place: ServerContext) -> None:
        self._place = place

    async def kept(self) -> list[TopicView]:
        """The topics kept in Redis, by name; raises ``StreamopsError``."""
        return list(map(_view, await read_topics(self._place.server)))

    async def queues(self, topics: Sequence[Topic]) -> list[DelayedQueue | None]:
        """The delayed messages of each topic, counted; None if they cannot be read. Raises ``ServerError``."""
        streams = [topic.key for topic in topics]
        found = await read_queues(self._place.server, streams, self._place.delayed) if streams else []
        return [None if isinstance(queue, Fault) else queue for queue in found]

    async def undone(self, topics: Sequence[Topic]) -> list[int | None]:
        """Entries of each topic's stream that are not called back yet; None if not known. Raises ``ServerError``."""
        groups = [(topic.key, topic.group) for topic in topics]
        return await count_undone(self._place.server, groups) if groups else []

    async def failures(self, topic: Topic, limit: int = 20) -> TopicFailures:
        """What failed last; raises ``StreamopsError`` if that cannot be read."""
        queue = dead_letter_key(topic.key, self._place.dead_letters)
        letters = await DeadLetterReader(self._place).newest(queue, count=limit)
        page = await DelayedReader(self._place).page(topic.key, LOOKED_AT)
        retries = [one for one in page.messages if one.body is not None and one.body.group]
        more = len(retries) > limit or page.queue.messages > len(page.messages)
        return TopicFailures(letters.letters, tuple(retries[:limit]), more)

    async def clock(self) -> datetime | None:
        """The server's clock; None if it may not be asked."""
        return await read_clock(self._place.server, TOPICS)


def _view(kept: KeptTopic) -> TopicView:
    problems = check_topic(kept.topic) if kept.topic is not None else ()
    text = "; ".join(f"{problem.field}: {problem.text}" for problem in problems)
    return TopicView(kept.name, kept.topic, kept.problem or text)
