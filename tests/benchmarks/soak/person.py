"""A console of the soak, with a person before it: ``python -m tests.benchmarks.soak.person POST``, where POST is JSON.

It polls as an open console does, and in between replays, purges and trims as an operator may.
"""

import asyncio
import signal
import sys
import time
from collections import Counter
from contextlib import suppress
from datetime import timedelta
from itertools import cycle
from pathlib import Path

import msgspec
from msgspec import Struct

from streamops.errors import StreamopsError
from streamops.model.acting import Actor, Confirmation, Environment
from streamops.operations.console import Console
from streamops.operations.dlq_purge.intent import PurgeIntent
from streamops.operations.replay.intent import ReplayIntent
from streamops.operations.trim.intent import TrimIntent
from streamops.wire.options import ConnectionOptions
from tests.benchmarks.soak.warm import fill_caches
from tests.benchmarks.soak.worker import STREAM, Note, write_note

LETTERS = f"{{{STREAM}}}:dlq"
KEPT = 500
"""Entries that the person leaves in the stream."""
REPLAYED = 20
"""Letters of one replay."""
POLLED = 2.0
"""Simulated seconds between two polls."""
ACTED = 60.0
"""Simulated seconds between two operations."""


class PersonPost(Struct, frozen=True):
    """What the person is to do, and where.

    Attributes:
        socket: The server's unix socket.
        notes: Where to tell how many tasks there are and what was done.
        files: Where purges write what they delete.
        pace: Simulated seconds in one second.
    """

    socket: str
    notes: str
    files: str
    pace: float


class Person:
    """Polls and acts."""

    def __init__(self, post: PersonPost) -> None:
        self._post = post
        self._did: Counter[str] = Counter()
        options = ConnectionOptions(
            addresses=(), socket_path=post.socket, timeout=timedelta(seconds=5), label="soak"
        )
        self._console = Console.patient(options, actor=Actor(environment=Environment.DEVELOPMENT))

    async def run(self) -> None:
        """Go on until cancelled."""
        async with self._console as console:
            console.start_discovery()
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._poll())
                tasks.create_task(self._operate())
                tasks.create_task(self._tell())

    async def _poll(self) -> None:
        while True:
            began = time.monotonic()
            try:
                await self._console.observe()
            except StreamopsError:
                self._did["polls failed"] += 1
            else:
                self._did["polls"] += 1
            await asyncio.sleep(max(0.0, began + POLLED / self._post.pace - time.monotonic()))

    async def _operate(self) -> None:
        for number, kind in enumerate(cycle(("trim", "replay", "purge"))):
            await asyncio.sleep(ACTED / self._post.pace)
            try:
                prepared = await self._console.prepare(self._intent(kind, number))
                outcome = await self._console.apply(prepared, Confirmation(yes=True, typed=LETTERS))
            except StreamopsError:
                self._did[f"{kind} failed"] += 1
            else:
                self._did[kind] += 1
                self._did[f"{kind}: entries"] += outcome.applied

    def _intent(self, kind: str, number: int) -> Struct:
        if kind == "trim":
            return TrimIntent(stream=STREAM, maxlen=KEPT)
        if kind == "replay":
            return ReplayIntent(queue=LETTERS, count=REPLAYED)
        return PurgeIntent(queue=LETTERS, backup=str(Path(self._post.files) / f"purge-{number}.jsonl"))

    async def _tell(self) -> None:
        while True:
            write_note(self._post.notes, Note(time.monotonic(), len(asyncio.all_tasks()), dict(self._did)))
            await asyncio.sleep(0.5)


async def work(post: PersonPost) -> None:
    """Sit before the console until SIGTERM."""
    person = asyncio.create_task(Person(post).run())
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, person.cancel)
    with suppress(asyncio.CancelledError):
        await person


if __name__ == "__main__":
    fill_caches()
    asyncio.run(work(msgspec.json.decode(sys.argv[1], type=PersonPost)))
