"""The application of a worker that crashes at a chosen step: it does with entries what they say, and keeps books of it."""

import asyncio
import time
from collections import defaultdict
from random import Random

from streamops.runtime import Delays, Entry, Reject, RetryLater, Streamops
from streamops.wire.options import ConnectionOptions
from tests.chaos.haunting import Ghost
from tests.chaos.ledger import Line, Word
from tests.support.runtime.steps import Step, watch_steps

GROUP = "g"
LEASE = 0.8
MOST = 3

STEPS: dict[str, set[Step]] = defaultdict(set)
"""The steps that entries of each stream took."""

Book = tuple[int, list[Line]]
"""The number of an instance, and what handlers wrote."""


def application(
    stream: str, options: ConnectionOptions, ghost: Ghost, random: Random, book: Book
) -> Streamops:
    """An application with one handler, which stands still once its instance is dead."""
    watch_steps(lambda entry, step: STEPS[entry.stream].add(step))
    streamops = Streamops(options, name="crash")
    streamops.handler(
        stream,
        group=GROUP,
        start="0",
        concurrency=random.choice((1, 4)),
        prefetch=random.choice((1, 10)),
        lease=LEASE,
        retry=Delays((0.02,)),
        max_attempts=MOST,
        key="order",
        in_place=random.random() < 0.4,
    )(_Work(ghost, book).handle)
    return streamops


def output_of(stream: str) -> str:
    """The stream that handlers publish to."""
    return f"{{{stream}}}:out"


def publishes(key: str) -> bool:
    """Whether the handler publishes a message for entries of a business key."""
    return int(key[1:]) % 2 == 0


class _Work:
    def __init__(self, ghost: Ghost, book: Book) -> None:
        self._ghost = ghost
        self._number, self._lines = book
        self._put_off: set[str] = set()

    async def handle(self, entry: Entry) -> None:
        """Do what an entry's field ``do`` says."""
        do, key = (entry.get("do") or b"").decode(), (entry.get("order") or b"").decode()
        await self._write(Word.START, entry)
        if publishes(key):
            # Before it is known whether it fails.
            entry.publish(output_of(entry.stream), {"order": key})
        await asyncio.sleep(0.005 * (len(key) % 3))
        try:
            self._fail(do, entry)
        except Exception:
            await self._write(Word.FAILED, entry)
            raise
        await self._write(Word.EFFECT, entry)
        await asyncio.sleep(0)
        await self._write(Word.DONE, entry)

    def _fail(self, do: str, entry: Entry) -> None:
        if do == "bad" or (do == "fail" and entry.attempt == 1):
            raise ValueError("not yet")
        if do == "reject":
            raise Reject("no such product")
        if do == "uncounted" and entry.origin_id not in self._put_off:
            self._put_off.add(entry.origin_id)
            raise RetryLater(0.02, counts=False)

    async def _write(self, word: Word, entry: Entry) -> None:
        """A line of the book; the dead write none, and do nothing more."""
        if self._ghost.dead:
            await asyncio.get_running_loop().create_future()
        key = (entry.get("order") or b"").decode()
        about = (entry.origin_id, entry.id, entry.attempt, key)
        self._lines.append(Line(time.monotonic(), word, self._number, *about))
