"""A worker of the consumer library, and somebody who publishes to it, while a fault strikes."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Final

from msgspec.structs import replace

from streamops.errors import ServerError
from streamops.runtime import Delays, Entry, Reject, Streamops, WorkerOptions
from tests.chaos.topologies.outcome import Account
from tests.chaos.topologies.place import Place, until
from tests.chaos.topologies.reading import read_stream
from tests.chaos.topologies.works import UNREPLICATED, Survived

LEASE: Final = 2.0
PAUSE: Final = 0.01
BEATS: Final = WorkerOptions(beat=timedelta(seconds=0.5), grace=timedelta(seconds=5))
IMPATIENT: Final = timedelta(seconds=1.5)
GROUP: Final = "workers"
FORGOTTEN: Final = "acknowledgement not replicated"


class Run:
    """Entries that are published, handled, tried again and given up.

    Its books go by the number that each entry carries, and that is sent once. IDs would not do: while a former primary
    goes on, two servers give them, and the same one to two entries.

    Attributes:
        name, keys: See ``Work``.
    """

    name = "run"

    def __init__(self, place: Place, stream: str) -> None:
        self._place, self._stream = place, stream
        self._retries = f"{{{stream}}}:retry:{GROUP}"
        self._letters = f"{{{stream}}}:dlq"
        self._delayed = f"{{{stream}}}:delayed"
        self._bodies = f"{{{stream}}}:delayed:jobs"
        self.keys = (stream, self._retries, self._bodies)
        self._confirmed: set[str] = set()
        self._done: Counter[str] = Counter()
        self._enough = asyncio.Event()

    def prepare(self) -> None:
        """Begin with nothing."""
        self._place.primary_of(self._stream).command("XGROUP", "CREATE", self._stream, GROUP, "0", "MKSTREAM")

    async def act(self) -> None:
        """Work on what is published, until ``finish``; then until there is nothing to do."""
        app = Streamops(replace(self._place.options, timeout=IMPATIENT), name="topologies")
        app.handler(
            self._stream,
            group=GROUP,
            start="0",
            lease=LEASE,
            concurrency=4,
            retry=Delays((0.05, 0.2)),
            max_attempts=4,
        )(self._handle)
        worker = app.worker(BEATS)
        working = asyncio.create_task(worker.run())
        try:
            async with app.publisher() as publisher:
                number = 0
                while not self._enough.is_set():
                    number += 1
                    do = {0: "bad", 1: "fail"}.get(number % 10, "ok")
                    with suppress(ServerError):
                        await publisher.publish(self._stream, {"n": number, "do": do})
                        self._confirmed.add(str(number))
                    await asyncio.sleep(PAUSE)
            await until("idle", lambda: working.done() or self._is_idle())
        finally:
            worker.stop()
            await working

    async def mend(self) -> None:
        """What was forgotten is delivered again: there is nothing to do."""

    def finish(self) -> None:
        """Publish no more."""
        self._enough.set()

    def has_begun(self) -> bool:
        """Whether some were handled, some of them at a second attempt."""
        return sum(self._done.values()) > 2 * 10

    async def _handle(self, entry: Entry) -> None:
        await asyncio.sleep(PAUSE)
        match (entry.get("do") or b"").decode():
            case "bad":
                raise Reject("never")
            case "fail" if entry.attempt == 1:
                raise ValueError("not yet")
        self._done[(entry.get("n") or b"").decode()] += 1

    def _is_idle(self) -> bool:
        server = self._place.primary_of(self._stream)
        return (
            not any(read_stream(server, self._stream).owed(GROUP))
            and server.command("XLEN", self._retries) == 0
            and server.command("ZCARD", self._delayed) == 0
        )

    def audit(self, survived: Survived) -> Account:
        """What is in the stream was handled, or given up: once, unless whoever took over did not know that it was.

        That is so of an entry that it still owed to the group when it took over: as one to be delivered, as one that is
        pending, or as one whose next try was to come. Nothing else excuses a second time, and certainly nothing that
        was published afterwards, however long the former primary goes on: what one server delivers is acknowledged there.
        """
        server = self._place.primary_of(self._stream)
        found = {one["n"]: one for one in read_stream(server, self._stream).entries.values()}
        letters = Counter(read_stream(server, self._letters).values("n"))
        gone = self._confirmed - found.keys()
        lost = gone & {*survived[self._stream].values("n")} if survived else gone
        owed = set(self._owed(survived))
        bad = {one for one, fields in found.items() if fields["do"] == "bad"}
        done = self._done | letters
        again = {one for counts in (self._done, letters) for one, times in counts.items() if times > 1}
        problems = [
            *_told("was confirmed and replicated, and is lost", lost),
            *_told("was neither handled nor given up", found.keys() - done.keys()),
            *_told("was given up for nothing", letters.keys() - bad - gone),
            *_told("was handled twice, though its acknowledgement was replicated", again - owed - gone),
        ]
        return Account(
            entries=len(self._confirmed),
            handled=len(self._confirmed & found.keys() & done.keys()),
            destroyed={UNREPLICATED: len(gone - lost)},
            repeated={FORGOTTEN: len(again)},
            problems=tuple(problems),
        )

    def _owed(self, survived: Survived) -> Iterator[str]:
        """What the group still had to do, as far as whoever took over knew."""
        if not survived:
            return
        stream = survived[self._stream]
        yield from (stream.entries[one]["n"] for one in stream.owed(GROUP))
        yield from survived[self._retries].values("n")
        yield from (
            stream.entries[one]["n"] for one in survived[self._bodies].entries if one in stream.entries
        )


def _told(what: str, those: set[str]) -> list[str]:
    named = sorted(those, key=int)
    return [f"{len(named)}: {what}: {', '.join(named[:5])}"] if named else []
