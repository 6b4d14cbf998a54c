"""The one side of a benchmark that runs in a contender's own process: its worker, or its producer.

Every driver hands its worker and its way of sending to ``main``, and calls ``act`` or ``act_now`` in its handler.
What is asked for stands in the environment:

    URL, STREAM, GROUP   where
    SECONDS              how long a handler sleeps; nothing for not at all
    SLOTS                how many handlers at once
    EXPECT, RESULT       latencies to take, and the file that they are written to
    UP                   a directory where each process that has handled something leaves a file of its name
    BATCH                entries that one call of a batch handler takes; nothing for single ones
    GUARD                whether each entry's business key is guarded
"""

import asyncio
import inspect
import json
import os
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

URL, STREAM, GROUP = os.environ["URL"], os.environ["STREAM"], os.environ["GROUP"]
SECONDS = float(os.environ.get("SECONDS") or 0)
SLOTS = int(os.environ.get("SLOTS") or 32)
EXPECT = int(os.environ.get("EXPECT") or 0)
BATCH = int(os.environ.get("BATCH") or 0)
GUARD = bool(os.environ.get("GUARD"))
SIZE = 64
WIDTH = 20
FIRST_MOMENT = 10**9
"""No system that has been up for a second knows an earlier one, in nanoseconds."""

Send = Callable[[str], Awaitable[object] | object]
"""Sends one body."""

_up = False
_taken: list[int] = []
_taking = threading.Lock()


def body_of(number: int) -> str:
    """A body of 64 bytes, JSON, that begins with a number."""
    head = f'{{"number":"{number:0{WIDTH}d}","pad":"'
    return f'{head}{"x" * (SIZE - len(head) - 2)}"}}'


def number_of(body: str | bytes) -> int:
    """The number that a body begins with."""
    return int(body[11 : 11 + WIDTH])


async def act(body: str | bytes) -> None:
    """What every async handler does: nothing, sleep, or take the time that its entry was under way."""
    if not _up:
        _rise()
    if SECONDS:
        await asyncio.sleep(SECONDS)
    elif EXPECT:
        take(number_of(body))


def act_now(body: str | bytes) -> None:
    """The same for handlers that are plain functions in threads."""
    if not _up:
        _rise()
    if SECONDS:
        time.sleep(SECONDS)
    elif EXPECT:
        take(number_of(body))


def take(sent: int) -> None:
    """Take the time since a moment of the system's monotonic clock; the first entries of all only count from zero."""
    now = time.monotonic_ns()
    if sent < FIRST_MOMENT:
        return
    with _taking:
        _taken.append(now - sent)
        if len(_taken) == EXPECT:
            Path(os.environ["RESULT"]).write_text(json.dumps(_taken))


def _rise() -> None:
    global _up  # noqa: PLW0603 - one process, one worker
    Path(os.environ["UP"], str(os.getpid())).touch()
    _up = True


def main(work: Callable[[], Any], sending: Callable[[], AbstractAsyncContextManager[Send]]) -> None:
    """Do what the command line says: ``work``, ``fill COUNT`` or ``pace COUNT RATE``."""
    role, *numbers = sys.argv[1:]
    if role == "work":
        if inspect.iscoroutine(working := work()):
            run(working)
        return
    run(_fill(sending, int(numbers[0])) if role == "fill" else _pace(sending, *map(int, numbers)))


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine on uvloop."""
    import uvloop  # noqa: PLC0415 - streaq's workers bring a loop of their own

    uvloop.run(work)


async def _fill(sending: Callable[[], AbstractAsyncContextManager[Send]], count: int) -> None:
    """Send bodies as fast as the library can; the first one, alone, is number 0."""
    async with sending() as send:
        for first in range(0, count, 50):
            sent = [send(body_of(number)) for number in range(first, min(first + 50, count))]
            await asyncio.gather(*(one for one in sent if inspect.isawaitable(one)))


async def _pace(sending: Callable[[], AbstractAsyncContextManager[Send]], count: int, rate: int) -> None:
    """Send bodies that say when they were sent, at a steady rate."""
    async with sending() as send:
        began = time.monotonic()
        for number in range(count):
            await asyncio.sleep(max(0.0, began + number / rate - time.monotonic()))
            sent = send(body_of(time.monotonic_ns()))
            if inspect.isawaitable(sent):
                await sent
