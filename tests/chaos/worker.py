"""A worker process whose handlers do as entries say, and keep books of it.

Each is forked from a process that has imported everything already, and is at work within some hundredths of a second.
"""

import asyncio
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from enum import StrEnum, auto
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import ModuleType
from typing import Any

import uvloop
from msgspec import Struct

from streamops.errors import Unreachable
from streamops.runtime import (
    Delays,
    Entry,
    Reject,
    RetryLater,
    Skip,
    Streamops,
    WorkerOptions,
    acks,
    app,
    queue_pump,
    screening,
    settling,
    source,
    station,
)
from streamops.runtime.events import Completed, DeadLettered, Duplicate, Event, Reclaimed, Retried
from streamops.runtime.handlers import Call
from streamops.wire.options import ConnectionOptions
from tests.chaos.ledger import Ledger, Word

STREAM, GROUP = "s", "g"
EXITED, UNREACHABLE = 3, 4

SHORT = timedelta(seconds=0.3)
SMALL: Mapping[ModuleType, Mapping[str, object]] = {
    source: {"BLOCK": SHORT, "LONGEST_PAUSE": 0.3},
    station: {"BLOCK": SHORT},
    acks: {"PAUSE": 0.05},
    settling: {"PAUSE": 0.05},
    screening: {"PAUSE": 0.05},
    queue_pump: {"LONGEST_SLEEP": 0.2, "LONGEST_PAUSE": 0.3},
}
"""Waits so short that a history takes some seconds."""

WATCHED = 0.05
MISSED = 0.25
"""Seconds for which a process is seldom not run on a machine that is not busy."""

PAUSES: Mapping[str, float] = {"slow": 0.15, "long": 1.8}
"""Seconds that handlers take; the longest outlast every lease."""
HANGING = frozenset({"hang", "swallow"})
"""On their first attempt these go on until they are cut off."""

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["pytest", __name__])


class Moment(StrEnum):
    """When a process kills itself."""

    BEFORE_HANDLER = auto()
    IN_HANDLER = auto()
    AFTER_EFFECT = auto()
    AFTER_HANDLER = auto()
    COMPLETED = auto()
    RETRIED = auto()
    DEAD_LETTERED = auto()
    FAILURE_HOOK = auto()
    DUPLICATE = auto()
    RECLAIMED = auto()


EVENTS: Mapping[Moment, type[Event]] = {
    Moment.COMPLETED: Completed,
    Moment.RETRIED: Retried,
    Moment.DEAD_LETTERED: DeadLettered,
    Moment.DUPLICATE: Duplicate,
    Moment.RECLAIMED: Reclaimed,
}


class Doom(Struct, frozen=True):
    """A process's end: at the how-manieth time that it comes to a moment."""

    moment: Moment
    time: int = 1


class Post(Struct, frozen=True, kw_only=True):
    """What a worker process is to do, and where.

    Attributes:
        options: Its server.
        ledger: The book.
        doom: How it ends; none where it lives on.
    """

    options: ConnectionOptions = ConnectionOptions()
    ledger: Path = Path()
    doom: Doom | None = None
    kind: str = "async"
    concurrency: int = 4
    prefetch: int = 20
    lease: float = 1.0
    beat: float = 0.15
    timeout: float = 2.5
    most: int = 4
    passive: bool = False
    guarded: bool = True
    uvloop: bool = False


def start(post: Post) -> BaseProcess:
    """Start a worker process."""
    process: BaseProcess = _context.Process(target=_work, args=(post,))
    process.start()
    return process


def _work(post: Post) -> None:
    for module, sizes in SMALL.items():
        for name, size in sizes.items():
            assert hasattr(module, name)
            setattr(module, name, size)
    runner: Callable[[], Any] = (lambda: uvloop.run) if post.uvloop else (lambda: asyncio.run)
    vars(app)["runner"] = runner
    threading.Thread(target=_watch, args=(Ledger(post.ledger),), daemon=True).start()
    options = WorkerOptions(beat=timedelta(seconds=post.beat), grace=timedelta(seconds=10))
    try:
        application(post).run(options)
    except Unreachable:
        sys.exit(UNREACHABLE)


def _watch(ledger: Ledger) -> None:
    """Tell where this process was not run for a while."""
    last = time.monotonic()
    while True:
        time.sleep(WATCHED)
        now = time.monotonic()
        if now - last > MISSED:
            ledger.write(Word.GAP, last)
        last = now


def application(post: Post) -> Streamops:
    """The application of a worker process."""
    ledger, doom = Ledger(post.ledger), _Doomed(post.doom)
    streamops = Streamops(post.options, name="chaos")
    work = _Work(ledger, doom)

    async def single(entry: Entry) -> None:
        with work.of(entry) as pause:
            await asyncio.sleep(pause)

    def plain(entry: Entry) -> None:
        with work.of(entry) as pause:
            time.sleep(pause)

    async def many(entries: list[Entry]) -> list[Exception | None]:
        results: list[Exception | None] = []
        for entry in entries:
            try:
                await single(entry)
            except Exception as error:  # noqa: BLE001 - as handlers raise it
                results.append(error)
            else:
                results.append(None)
        return results

    streamops.handler(
        STREAM,
        group=GROUP,
        start="0",
        concurrency=post.concurrency,
        prefetch=post.prefetch,
        batch=5 if post.kind == "batch" else 1,
        threads=post.kind == "threads",
        retry=Delays((0.02, 0.1)),
        max_deliveries=post.most,
        passive=post.passive,
        timeout=post.timeout,
        lease=post.lease,
        key="order" if post.guarded else None,
        failed=doom.hook,
    )({"async": single, "batch": many}.get(post.kind, plain))  # type: ignore[type-var] # each as its kind takes it
    streamops.middleware(doom.middleware)
    if post.doom and (kind := EVENTS.get(post.doom.moment)):
        streamops.events.on(kind, doom.heard)
    return streamops


class _Doomed:
    """Kills this process at its time."""

    def __init__(self, doom: Doom | None) -> None:
        self._doom = doom
        self._times = 0

    def meet(self, moment: Moment) -> None:
        """A moment has come."""
        if self._doom is None or self._doom.moment is not moment:
            return
        self._times += 1
        if self._times == self._doom.time:
            os.kill(os.getpid(), signal.SIGKILL)

    def heard(self, _: Event) -> None:
        """The event of its moment."""
        if self._doom is not None:
            self.meet(self._doom.moment)

    async def middleware(self, entry: Entry, call: Call) -> Any:  # noqa: ANN401 - as handlers return
        """Around every handler of single entries."""
        self.meet(Moment.BEFORE_HANDLER)
        result = await call(entry)
        self.meet(Moment.AFTER_HANDLER)
        return result

    async def hook(self, _: Entry, __: BaseException) -> None:
        """Told of an entry that was given up."""
        self.meet(Moment.FAILURE_HOOK)


class _Work:
    """Does what an entry's field ``do`` says, on most of its attempts or all, and writes it down."""

    def __init__(self, ledger: Ledger, doom: _Doomed) -> None:
        self._ledger = ledger
        self._doom = doom
        self._put_off: set[str] = set()

    @contextmanager
    def of(self, entry: Entry) -> Iterator[float]:
        """Around one run; how many seconds it takes."""
        do = (entry.get("do") or b"").decode()
        about = (entry.origin_id, entry.id, entry.attempt, (entry.get("order") or b"").decode())
        self._ledger.write(Word.START, *about)
        self._doom.meet(Moment.IN_HANDLER)
        try:
            self._begin(do, entry)
            yield 30.0 if do in HANGING and entry.attempt == 1 else PAUSES.get(do, 0.0)
            self._end(do, entry)
        except Skip:
            self._ledger.write(Word.DONE, *about)
            raise
        except asyncio.CancelledError:
            if do != "swallow":
                self._ledger.write(Word.FAILED, *about)
                raise
        except BaseException:
            self._ledger.write(Word.FAILED, *about)
            raise
        self._ledger.write(Word.EFFECT, *about)
        self._doom.meet(Moment.AFTER_EFFECT)
        self._ledger.write(Word.DONE, *about)

    def _begin(self, do: str, entry: Entry) -> None:
        if do == "poison" or (do == "die" and entry.attempt == 1):
            os.kill(os.getpid(), signal.SIGKILL)
        if do == "exit" and entry.attempt == 1:
            sys.exit(EXITED)
        if do == "block":
            time.sleep(0.2)

    def _end(self, do: str, entry: Entry) -> None:
        first = entry.attempt == 1
        match do:
            case "fail" if first:
                raise ValueError("not yet")
            case "bad":
                raise ValueError("never")
            case "later" if first:
                raise RetryLater(0.05)
            case "uncounted" if entry.origin_id not in self._put_off:
                self._put_off.add(entry.origin_id)
                raise RetryLater(0.02, counts=False)
            case "reject":
                raise Reject("no such product")
            case "skip":
                raise Skip
            case "cancelled" if first:
                raise asyncio.CancelledError
