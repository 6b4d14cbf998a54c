"""The topics of all servers: those of the configuration, and those kept in Redis, read again every second.

A topic belongs to one server, or, by the configuration, to several: its messages are spread over them by their IDs.
If the configuration has a topic, one of that name in Redis is left out. A server that does not answer keeps the
topics that were known, so that requests for its messages fail, and no others.
"""

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from hashlib import blake2b
from secrets import token_hex
from typing import Final

from msgspec import Struct

from streamops.errors import NotFound, StreamopsError, Unreachable
from streamops.model.topics import Topic, check_topic
from streamops.runtime.context import Names
from streamops.webhooks.topic_queue import TopicQueue
from streamops.wire.options import ConnectionOptions
from streamops.wire.server import Server
from streamops.wire.topics import KeptTopic, read_topics
from streamops.wire.writes.entries import TrimMode, trim_safely

LOG: Final = logging.getLogger("streamops.webhooks")
LOOK_EVERY: Final = timedelta(seconds=1)
TRIM_EVERY: Final = timedelta(seconds=30)
KEPT: Final = 10_000
"""The newest entries of a topic's stream, which stay though every group has acknowledged them."""

SLICE: Final = TrimMode(most=1_000, exact=False)
MOST_SLICES: Final = 100


class Site(Struct, frozen=True):
    """A server and the topics that the configuration has for it.

    Attributes:
        name: The context's name; empty for the one in use.
        options: How it is reached.
        topics: The configured topics.
        names: The queues that the context names.
    """

    name: str
    options: ConnectionOptions
    topics: tuple[Topic, ...] = ()
    names: Names = Names()


class TopicServer:
    """One server with its topics.

    Attributes:
        site: Which it is.
        queue: Its messages.
        topics: Its topics by name, as far as they are known.
        problem: Why its topics cannot be read; empty while they can.
        away: Whether it does not answer.
        known: Whether the topics that it keeps were ever read.
        under_way: Requests to it that HTTP ingest has not answered yet.
        changed: Set when its topics may have changed; its dispatcher clears it.
    """

    def __init__(self, site: Site) -> None:
        self.site = site
        self.topics: dict[str, Topic] = {topic.name: topic for topic in site.topics}
        self.problem = ""
        self.away = self.known = False
        self.under_way = 0
        self.changed = asyncio.Event()
        self._server = Server(site.options)
        self.queue = TopicQueue(self._server, site.names.delayed)
        self._problems: dict[str, str] = {}

    @property
    def label(self) -> str:
        """The context's name, else the address in words."""
        return self.site.name or self.site.options.label

    @property
    def server(self) -> Server:
        """Its connections, for what takes no more than a moment."""
        return self._server

    async def look(self) -> None:
        """Read the topics that it keeps."""
        try:
            kept = await read_topics(self._server)
        except StreamopsError as error:
            self.away = isinstance(error, Unreachable)
            self._trouble(error.message)
            return
        self.away = False
        self._trouble("")
        self.known = True
        configured = {topic.name: topic for topic in self.site.topics}
        self.topics = {**dict(self._good(kept)), **configured}

    async def close(self) -> None:
        """Close all connections."""
        await self._server.close()

    def _good(self, kept: Sequence[KeptTopic]) -> Iterator[tuple[str, Topic]]:
        """Valid topics; logs once what is wrong with each of the others."""
        found: dict[str, str] = {}
        for one in kept:
            problems = check_topic(one.topic) if one.topic is not None else ()
            text = one.problem or "; ".join(f"{problem.field}: {problem.text}" for problem in problems)
            if one.topic is not None and not text:
                yield one.name, one.topic
                continue
            found[one.name] = text
            if self._problems.get(one.name) != text:
                LOG.warning("topic %r of %s is left out: %s", one.name, self.label, text)
        self._problems = found

    def _trouble(self, problem: str) -> None:
        if bool(problem) != bool(self.problem):
            LOG.warning("%s: %s", self.label, problem or "answers again")
        self.problem = problem


class TopicListing(Struct, frozen=True):
    """A topic and the servers that its messages are on."""

    topic: Topic
    places: tuple[TopicServer, ...]

    def place_of(self, ident: str) -> TopicServer:
        """The server of a message.

        By rendezvous hashing, so that a further server takes over its share of the messages and moves no others.
        """
        if len(self.places) == 1:
            return self.places[0]
        return max(self.places, key=lambda place: blake2b(f"{place.label} {ident}".encode()).digest())

    def new_id(self) -> str:
        """An ID for a message without one: of a server that answers, if any does."""
        while True:
            ident = token_hex(12)
            if not self.place_of(ident).away or all(place.away for place in self.places):
                return ident


class TopicRegistry:
    """The topics of several servers; ``run`` keeps it up to date.

    Attributes:
        places: The servers; of two that keep topics of one name, the first one counts.
    """

    def __init__(self, sites: Sequence[Site]) -> None:
        self.places = tuple(map(TopicServer, sites))
        self._listings: dict[str, TopicListing] = {}
        self._doubled: dict[tuple[str, str], str] = {}
        self._list()

    @property
    def listings(self) -> Mapping[str, TopicListing]:
        """The topics by name."""
        return self._listings

    @property
    def complete(self) -> bool:
        """Whether the topics of every server were read: until then an unknown name may be a topic."""
        return all(place.known for place in self.places)

    def topics_of(self, place: TopicServer) -> dict[str, Topic]:
        """The topics whose messages are on one server."""
        return {name: one.topic for name, one in self._listings.items() if place in one.places}

    async def look(self) -> None:
        """Look at every server once."""
        await asyncio.gather(*(place.look() for place in self.places))
        self._list()

    async def run(self) -> None:
        """Look again and again, until cancelled; a server that hangs holds up no other."""
        async with asyncio.TaskGroup() as tasks:
            for place in self.places:
                tasks.create_task(self._watch(place))

    async def close(self) -> None:
        """Close all connections."""
        for place in self.places:
            with suppress(StreamopsError):
                await place.close()

    async def _watch(self, place: TopicServer) -> None:
        while True:
            await place.look()
            self._list()
            await asyncio.sleep(LOOK_EVERY.total_seconds())

    def _list(self) -> None:
        found: dict[str, TopicListing] = {}
        read: dict[tuple[TopicServer, str, str], str] = {}
        doubled: dict[tuple[str, str], str] = {}
        for place in self.places:
            for name, topic in sorted(place.topics.items()):
                reader = read.setdefault((place, topic.key, topic.group), name)
                if name in found and found[name].topic in place.site.topics:
                    found[name] = TopicListing(topic, (*found[name].places, place))
                elif name in found:
                    doubled[place.label, name] = f"{found[name].places[0].label} has one too"
                elif reader != name:
                    # Messages of one group go to either at random.
                    doubled[place.label, name] = f"topic {reader} has the same stream and group"
                else:
                    found[name] = TopicListing(topic, (place,))
        self._warn_of_doubled(doubled)
        if found != self._listings:
            self._listings = found
            for place in self.places:
                place.changed.set()

    def _warn_of_doubled(self, doubled: dict[tuple[str, str], str]) -> None:
        for (label, name), why in doubled.items():
            if self._doubled.get((label, name)) != why:
                LOG.warning("topic %r of %s is left out: %s", name, label, why)
        self._doubled = doubled


async def keep_short(registry: TopicRegistry, every: timedelta = TRIM_EVERY, kept: int = KEPT) -> None:
    """Trim again and again, until cancelled; never what a group has yet to read or to acknowledge."""
    while True:
        await asyncio.sleep(every.total_seconds())
        for listing in [*registry.listings.values()]:
            for place in listing.places:
                try:
                    await _trim(place.server, listing.topic.key, kept)
                except StreamopsError as error:
                    # There is no stream before the first message, and the registry reports servers that are away.
                    silent = isinstance(error, (NotFound, Unreachable))
                    level = logging.DEBUG if silent else logging.WARNING
                    LOG.log(level, "%s is not trimmed: %s", listing.topic.key, error.message)


async def _trim(server: Server, stream: str, kept: int) -> None:
    for _ in range(MOST_SLICES):
        done = await trim_safely(server, stream, kept, SLICE)
        if done.removed < SLICE.most // 2:
            return
