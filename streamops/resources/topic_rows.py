"""Topics of the configuration and those kept in Redis, as one list of rows."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Protocol

from msgspec.structs import replace

from streamops.model.delayed import DelayedQueue
from streamops.model.topics import ConfiguredTopic, Topic
from streamops.monitor.topics import TopicFailures, TopicView
from streamops.resources.topics import TopicRow


class TopicSource(Protocol):
    """Reads topics; every method raises ``StreamopsError`` where that cannot be."""

    async def kept(self) -> list[TopicView]:
        """The topics kept in Redis."""

    async def queues(self, topics: Sequence[Topic]) -> list[DelayedQueue | None]:
        """The delayed messages of each topic."""

    async def undone(self, topics: Sequence[Topic]) -> list[int | None]:
        """Entries of each topic's stream that are not called back yet."""

    async def failures(self, topic: Topic, limit: int = 20) -> TopicFailures:
        """What failed last of its calls."""

    async def clock(self) -> datetime | None:
        """The server's clock."""


async def read_topic_rows(
    source: TopicSource, configured: Sequence[ConfiguredTopic], in_use: str | None
) -> list[TopicRow]:
    """Every topic by name, with how much waits for those of the context in use.

    Args:
        source: Reads what is kept in Redis.
        configured: The topics of the configuration.
        in_use: The context in use; none where it has no name.

    Raises:
        StreamopsError: They could not be read.
    """
    rows = sorted(_rows(configured, await source.kept(), in_use), key=lambda row: row.name)
    here = [row.topic for row in rows if row.topic is not None and not row.context]
    queues, undone = iter(await source.queues(here)), iter(await source.undone(here))
    now = await source.clock()
    return [
        replace(row, queue=next(queues), undone=next(undone), now=now)
        if row.topic is not None and not row.context
        else row
        for row in rows
    ]


def _rows(
    configured: Sequence[ConfiguredTopic], kept: Sequence[TopicView], in_use: str | None
) -> Iterator[TopicRow]:
    """One row a topic; of one that is in both the configuration's."""
    taken = set()
    for one in configured:
        context = "" if one.context == in_use else one.context
        taken |= set() if context else {one.topic.name}
        yield TopicRow(
            name=one.topic.name, topic=one.topic, file=one.file, context=context, signed=one.signed
        )
    for view in kept:
        if view.name not in taken:
            signed = view.topic is not None and view.topic.secret is not None
            yield TopicRow(name=view.name, topic=view.topic, signed=signed, problem=view.problem)
