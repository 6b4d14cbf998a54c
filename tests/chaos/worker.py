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
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import ModuleType
from typing import Any

import uvloop
from msgspec import Struct

from streamops.errors import ServerError
from streamops.model.schedules import Backoff
from streamops.runtime import (
    Delays,
    Entry,
    Reject,
    RetryLater,
    Skip,
    Streamops,
    WorkerOptions,
    app,
    consumer,
    context,
    outcomes,
    promoter,
)
from streamops.runtime import entry as entries
from streamops.wire.options import ConnectionOptions
from tests.chaos.clocks import install_clock
from tests.chaos.dooms import EVENTS, Doom, Doomed, Moment
from tests.chaos.ledger import Ledger, Word
from tests.support.runtime.steps import Step, watch_steps

STREAM, GROUP = "s", "g"
EXITED, UNREACHABLE = 3, 4

SHORT = timedelta(seconds=0.3)
SMALL: Mapping[ModuleType, Mapping[str, object]] = {
    consumer: {"BACKOFF": Backoff(0.05, 0.3)},
    entries: {"PAUSE": 0.05},
    outcomes: {"PAUSE": 0.05},
    context: {"PAUSE": 0.05},
    promoter: {"LONGEST_SLEEP": 0.2, "BACKOFF": Backoff(0.1, 0.3)},
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


class Post(Struct, frozen=True, kw_only=True):
    """What a worker process is to do, and where.

    Attributes:
        options: Its server.
        ledger: The book.
        doom: How it ends; none where it lives on.
        clock: Seeds how its clock leaps; none where nobody sets it.
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
    in_place: bool = False
    guarded: bool = True
    uvloop: bool = False
    clock: int | None = None


def start(post: Post) -> BaseProcess:
    """Start a worker process."""
    process: BaseProcess = _context.Process(target=_work, args=(post,))
    process.start()
    return process


def warm_up() -> None:
    """Have everything imported that worker processes need: the first one would take seconds for it."""
    process = _context.Process(target=_nothing)
    process.start()
    process.join()


def _nothing() -> None:
    """What a process does that is only to be there."""


def _work(post: Post) -> None:
    if post.clock is not None:
        install_clock(post.clock)
    for module, sizes in SMALL.items():
        for name, size in sizes.items():
            assert hasattr(module, name)
            setattr(module, name, size)
    run: Callable[[], Any] = (lambda: uvloop.run) if post.uvloop else (lambda: asyncio.run)
    vars(app)["runner"] = run
    threading.Thread(target=_watch, args=(Ledger(post.ledger),), daemon=True).start()
    seen = set[Step]()
    ledger = Ledger(post.ledger)

    def write_new(_: Entry, step: Step) -> None:
        if step not in seen:
            seen.add(step)
            ledger.write(Word.STEP, *(state.name for state in step))

    watch_steps(write_new)
    options = WorkerOptions(beat=timedelta(seconds=post.beat), grace=timedelta(seconds=10), block=SHORT)
    try:
        application(post).run(options)
    except ServerError:
        # It is raised at the start alone: whoever started it would try again.
        sys.exit(UNREACHABLE)


def _watch(ledger: Ledger) -> None:
    """Tell where this process was not run for a while; end it where nobody is there any more who would."""
    last, parent = time.monotonic(), os.getppid()
    while True:
        time.sleep(WATCHED)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        now = time.monotonic()
        if now - last > MISSED:
            ledger.write(Word.GAP, last)
        last = now


def application(post: Post) -> Streamops:
    """The application of a worker process."""
    ledger, doom = Ledger(post.ledger), Doomed(post.doom)
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
        max_attempts=post.most,
        in_place=post.in_place,
        timeout=post.timeout,
        lease=post.lease,
        key="order" if post.guarded else None,
        failed=doom.hook,
    )({"async": single, "batch": many}.get(post.kind, plain))  # type: ignore[type-var] # each as its kind takes it
    streamops.middleware(doom.middleware)
    if post.doom and (kind := EVENTS.get(post.doom.moment)):
        streamops.events.on(kind, doom.heard)
    return streamops


class _Work:
    """Does what an entry's field ``do`` says, on most of its attempts or all, and writes it down."""

    def __init__(self, ledger: Ledger, doom: Doomed) -> None:
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
