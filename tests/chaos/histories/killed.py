"""Operators that are processes of their own, and are killed: SIGKILL at any batch that they send, or at any time.

Each is forked from a process that has imported everything already, and is gone within some hundredths of a second.
"""

import asyncio
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from multiprocessing.process import BaseProcess
from random import Random
from types import ModuleType
from typing import Any, Self

from msgspec import Struct
from msgspec.structs import replace

from streamops.errors import StreamopsError
from streamops.model.acting import Actor, Confirmation
from streamops.operations import jobs, running
from streamops.operations.ack import run as ack
from streamops.operations.claim import run as claiming
from streamops.operations.console import Console
from streamops.operations.nack import run as nack
from streamops.operations.registry import OPERATIONS
from streamops.operations.trim import run as trim
from streamops.operations.undo import run as undo
from streamops.wire import script_calls
from streamops.wire.batches import Answers, Listen, Request
from streamops.wire.node import Command
from streamops.wire.options import ConnectionOptions
from streamops.wire.scripts import Script, load_script
from streamops.wire.writes.jobs import JOBS, job_key
from tests.support.servers import RunningServer

LONG_WORK = ("trim",)
SMALL: Mapping[ModuleType, Mapping[str, float]] = {
    claiming: {"FIRST": 3, "LARGEST": 3, "NAMED": 3},
    ack: {"BATCH": 2},
    nack: {"BATCH": 2},
    undo: {"ROWS": 2},
    trim: {"SMALLEST": 8, "FIRST": 12, "LARGEST": 24},
    running: {"ROWS_GATHERED": 7},
    jobs: {"HEARTBEAT_SECONDS": 0.005},
}
"""Batches so small that a few entries take many."""

DONE, REFUSED = 0, 3
LATEST = 45
"""Batches after which hardly any operator is still at work."""

SECONDS = 0.06
"""Nor after so long."""

LONGEST = 20
"""Seconds that none takes."""

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["pytest", __name__])


class Moment(Enum):
    """When a process ends, as it sees it."""

    NEVER = "never"
    BEFORE = "before it sends a batch"
    AMID = "while the server is at it"
    AFTER = "when it has the replies"
    ANY = "at any time"


class Fate(Struct, frozen=True):
    """How a process ends.

    Attributes:
        moment: When.
        batch: At which batch, of those that a process sends.
        seconds: Or after how long.
    """

    moment: Moment = Moment.NEVER
    batch: int = 0
    seconds: float = 0.0

    @classmethod
    def any(cls, random: Random) -> Self:
        """A random one; mostly an end."""
        moment = random.choice((*Moment, Moment.AMID, Moment.AFTER))
        return cls(moment, random.randint(1, LATEST), random.uniform(0, SECONDS))


class Change(Struct, frozen=True):
    """A script that is wrong in one place.

    Attributes:
        script: Its name.
        right: What it says.
        wrong: What it is to say instead.
    """

    script: str
    right: str
    wrong: str

    def load(self, name: str) -> Script:
        """A script by its name, as ``load_script`` does it."""
        script = load_script(name)
        if name != self.script:
            return script
        assert script.source.count(self.right) == 1
        return Script(script.source.replace(self.right, self.wrong), "0" * 40)


class Operator:
    """A process that acts once.

    Attributes:
        killed: Whether it was killed.
        refused: Whether it was told that it must not, or that something was not as planned.
    """

    def __init__(
        self,
        options: ConnectionOptions,
        what: Struct | str,
        fate: Fate,
        user: str = "ann",
        change: Change | None = None,
    ) -> None:
        """Start it.

        Args:
            options: Where it acts.
            what: An intent, or the job to go on with.
            fate: How it ends.
            user: Who it is.
            change: What is wrong with a script that it uses.
        """
        self.killed = self.refused = False
        self._fate = fate
        self._process: BaseProcess = _context.Process(target=_act, args=(options, what, fate, user, change))
        self._process.start()
        self._began = time.monotonic()

    def acts(self) -> bool:
        """Whether it is still at work; kills it where its time has come."""
        if self._fate.moment is Moment.ANY and time.monotonic() - self._began > self._fate.seconds:
            self._process.kill()
        assert time.monotonic() - self._began < LONGEST
        return self._process.is_alive()

    def end(self) -> Self:
        """Wait for its end."""
        while self.acts():
            self._process.join(0.002)
        code = self._process.exitcode
        assert code in {DONE, REFUSED, -signal.SIGKILL}, code
        self.killed, self.refused = code == -signal.SIGKILL, code == REFUSED
        self._process.close()
        return self


def play(operators: Sequence[Operator], meanwhile: Callable[[], None] = lambda: None) -> int:
    """Wait for the end of operators who act at the same time; how many of them were killed."""
    acting = operators
    while acting := [one for one in acting if one.acts()]:
        meanwhile()
        time.sleep(0.001)
    return sum(one.end().killed for one in operators)


def unfinished(server: RunningServer) -> list[str]:
    """Jobs that can be gone on with; nobody holds them any more."""
    found = []
    for job in server.command("ZRANGE", JOBS, 0, -1):
        key = job_key(job.decode())
        if server.command("HGET", key, "state") in {b"running", b"interrupted"}:
            server.command("HSET", key, "lease_ms", 1)
            found.append(job.decode())
    return found


def _act(
    options: ConnectionOptions, what: Struct | str, fate: Fate, user: str, change: Change | None
) -> None:
    if change is not None:
        vars(script_calls)["load_script"] = change.load
    for module, sizes in SMALL.items():
        for name, size in sizes.items():
            assert hasattr(module, name)
            setattr(module, name, size)
    for name in LONG_WORK:
        OPERATIONS.loaded[name] = replace(OPERATIONS[name], job_from=1)
    os._exit(asyncio.run(_operate(options, what, fate, user)))


async def _operate(options: ConnectionOptions, what: Struct | str, fate: Fate, user: str) -> int:
    console = await Console.open(options, actor=Actor(user, "here", os.getpid()))
    _doom(console, fate)
    try:
        prepared: Any = await (console.prepare_rest(what) if isinstance(what, str) else console.prepare(what))
        await console.apply(prepared, Confirmation(yes=True, typed=prepared.policy.word))
    except StreamopsError:
        return REFUSED
    finally:
        await console.close()
    return DONE


def _doom(console: Console, fate: Fate) -> None:
    """Let a console kill its process at one of its batches."""
    server = console._server
    send = server.batch
    sent = 0

    async def batch(
        requests: Sequence[Request],
        prelude: Sequence[Command] = (),
        listen: Listen | None = None,
    ) -> Answers:
        nonlocal sent
        sent += 1
        if sent != fate.batch or fate.moment in {Moment.NEVER, Moment.ANY}:
            return await send(requests, prelude, listen)
        if fate.moment is not Moment.BEFORE:
            sending = asyncio.create_task(send(requests, prelude, listen))
            await asyncio.wait([sending], timeout=fate.seconds / 100 if fate.moment is Moment.AMID else None)
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("still alive")

    server.batch = batch  # type: ignore[method-assign]
