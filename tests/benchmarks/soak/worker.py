"""A worker process of the soak: ``python -m tests.benchmarks.soak.worker POST``, where POST is JSON."""

import asyncio
import signal
import sys
import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from types import ModuleType

import msgspec
from msgspec import Struct

from streamops.errors import Unreachable
from streamops.model.schedules import Backoff
from streamops.runtime import (
    Delays,
    Entry,
    Reject,
    RetryLater,
    Skip,
    Streamops,
    WorkerOptions,
    consumer,
    context,
    outcomes,
    promoter,
)
from streamops.runtime import entry as entries
from streamops.wire.options import ConnectionOptions
from tests.benchmarks.soak.books import Book, Word
from tests.benchmarks.soak.warm import fill_caches

STREAM, GROUP = "s", "g"
NUMBER, DO = "number", "do"
SLOW = 0.05
MOST = 3
UNREACHABLE = 4
SHORTEST = timedelta(seconds=0.2)
EVERY = 0.5
"""Seconds between two figures of tasks."""


class Post(Struct, frozen=True):
    """What a worker process is to do, and where.

    Attributes:
        socket: The unix socket of its server, or of a proxy before it.
        book: The book that it writes.
        notes: Where it writes how many tasks it has, and in the end its figures.
        pace: Simulated seconds in one second: waits are so much shorter.
    """

    socket: str
    book: str
    notes: str
    pace: float


class Note(Struct, frozen=True):
    """What a process tells of itself.

    Attributes:
        at: Seconds, of the clock that all processes of a machine share.
        tasks: How many asyncio tasks it has.
        did: What it did so far, by name: polls of a console.
        handled: How many calls of handlers ended, by the worker's own figures; none before its end.
        failures: How many of them raised.
    """

    at: float
    tasks: int
    did: dict[str, int] = {}
    handled: int | None = None
    failures: int | None = None


def write_note(path: str, note: Note) -> None:
    """Add a note to a file."""
    with Path(path).open("ab") as file:
        file.write(msgspec.json.encode(note) + b"\n")


def read_notes(path: Path) -> list[Note]:
    """The notes of a file; what was cut off by a kill is left out."""
    if not path.exists():
        return []
    lines = path.read_bytes().split(b"\n")[:-1]
    return [msgspec.json.decode(line, type=Note) for line in lines]


def waits(pace: float) -> Mapping[ModuleType, Mapping[str, object]]:
    """Waits of the runtime, in compressed time."""
    return {
        consumer: {"BACKOFF": Backoff(consumer.BACKOFF.first, SHORTEST.total_seconds())},
        entries: {"PAUSE": entries.PAUSE / pace},
        outcomes: {"PAUSE": outcomes.PAUSE / pace},
        context: {"PAUSE": context.PAUSE / pace},
        promoter: {"BACKOFF": Backoff(promoter.BACKOFF.first, SHORTEST.total_seconds())},
    }


def application(post: Post) -> Streamops:
    """The handler, which does as entries say."""
    book = Book(Path(post.book))
    options = ConnectionOptions(
        addresses=(),
        socket_path=post.socket,
        timeout=timedelta(seconds=max(0.5, 15 / post.pace)),
        label="soak",
    )
    streamops = Streamops(options, name="soak")

    @streamops.handler(
        STREAM,
        group=GROUP,
        start="0",
        concurrency=8,
        prefetch=50,
        retry=Delays((5 / post.pace, 20 / post.pace)),
        max_attempts=MOST,
        timeout=max(2.0, 60 / post.pace),
        lease=max(1.0, 60 / post.pace),
    )
    async def work(entry: Entry) -> None:
        number = int((entry.get(NUMBER) or b"-1").decode())
        book.write(Word.BEGUN, number)
        try:
            await _do((entry.get(DO) or b"").decode(), entry)
        except Skip:
            book.write(Word.DONE, number)
            raise
        except BaseException:
            book.write(Word.RAISED, number)
            raise
        book.write(Word.DONE, number)

    return streamops


async def _do(do: str, entry: Entry) -> None:
    match do:
        case "slow":
            await asyncio.sleep(SLOW)
        case "skip":
            raise Skip
        case "reject":
            raise Reject("no such product")
        case "bad":
            raise ValueError("never")
        case "fail" if entry.attempt == 1:
            raise ValueError("not yet")
        case "later" if entry.attempt == 1:
            raise RetryLater(0.1)


async def work(post: Post) -> None:
    """Work until SIGTERM, telling how it goes."""
    worker = application(post).worker(
        WorkerOptions(
            beat=timedelta(seconds=max(0.2, 10 / post.pace)),
            grace=timedelta(seconds=10),
            block=max(SHORTEST, timedelta(seconds=2 / post.pace)),
            app="soak",
        )
    )
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, worker.stop)
    telling = asyncio.create_task(_tell(post))
    try:
        await worker.run()
    finally:
        telling.cancel()
    (figures,) = worker.counts
    note = Note(time.monotonic(), 0, {}, figures.handled, figures.failures)
    write_note(post.notes, note)


async def _tell(post: Post) -> None:
    while True:
        write_note(post.notes, Note(time.monotonic(), len(asyncio.all_tasks())))
        await asyncio.sleep(EVERY)


def main() -> None:
    """Work as told on the command line."""
    post = msgspec.json.decode(sys.argv[1], type=Post)
    for module, sizes in waits(post.pace).items():
        for name, size in sizes.items():
            setattr(module, name, size)
    fill_caches()
    try:
        asyncio.run(work(post))
    except Unreachable:
        # Whoever comes while the server is away leaves; later on nothing of the kind ends a worker.
        sys.exit(UNREACHABLE)


if __name__ == "__main__":
    main()
