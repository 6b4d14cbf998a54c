"""People who act, read what they are told, and go on with what was interrupted: at a terminal, or through Python."""

import asyncio
import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, Protocol

from msgspec import Struct

from streamops.errors import ApplyError, StreamopsError
from streamops.model.acting import Confirmation, Limits, Outcome
from streamops.operations.console import Console
from streamops.wire.options import ConnectionOptions
from tests.chaos.topologies.place import LONGEST
from tests.support.operations.engine.examples import WORKSHOP
from tests.support.project import PROJECT

ROOT: Final = PROJECT
RESUME: Final = re.compile(r"^resume with: .*jobs resume (\S+)", re.MULTILINE)
PATIENT: Final = 0.15
"""Seconds between two tries."""

DONE, CANNOT_CONNECT, REFUSED, PARTIAL, DRIFTED = 0, 3, 4, 5, 6
HELD: Final = "is held by"
MOVING: Final = "on its way to another node"
AGAIN: Final = frozenset({CANNOT_CONNECT, PARTIAL, DRIFTED})
"""Exit codes after which the same, or its rest, is tried again."""


class RunningOperation(Struct, frozen=True):
    """Something to be done.

    Attributes:
        words: How it is said at a terminal.
        intent: How it is said in Python.
        rate: How many a second; as fast as can be without.
    """

    words: tuple[str, ...]
    intent: Struct
    rate: int | None = None


class Said(NamedTuple):
    """How an attempt ended.

    Attributes:
        code: Its exit code.
        out: Its data.
        err: Its narration.
    """

    code: int
    out: str
    err: str

    @property
    def job(self) -> str:
        """The job to go on with; empty where none is named."""
        found = RESUME.search(self.err)
        return found[1] if found else ""

    @property
    def document(self) -> Any:  # noqa: ANN401 - JSON
        """Its data, read."""
        return json.loads(self.out)


class Operator(Protocol):
    """Somebody who acts.

    Attributes:
        told: How attempts ended, by their words and exit codes.
        problems: What nobody may be told.
    """

    told: Counter[str]
    problems: list[str]

    async def act(self, deed: RunningOperation) -> Said:
        """Do it once."""

    async def resume(self, job: str) -> Said:
        """Go on with a job once."""


async def see_through(
    operator: Operator, deed: RunningOperation, let_go: Callable[[str], None] | None = None
) -> None:
    """Act, and go on until it is done; what cannot be gone on with is tried anew.

    Args:
        operator: Who acts.
        deed: What is done.
        let_go: Called with a job whose process is gone and could not say so; it is waited out unless given.
    """
    deadline = time.monotonic() + LONGEST
    name, job = deed.words[0], ""
    while True:
        said = await (operator.resume(job) if job else operator.act(deed))
        operator.told[f"{'jobs resume' if job else name}: {said.code}"] += 1
        if problem := ill_said(said):
            operator.problems.append(f"{name}: {problem}: {said.err}")
        if said.code == DONE:
            return
        if not _is_worth_another(said) or time.monotonic() > deadline:
            operator.problems.append(f"{name}: not done: exit {said.code}: {said.err}")
            return
        job = said.job or job
        if HELD in said.err and let_go is not None:
            let_go(job)
        await asyncio.sleep(PATIENT)


def _is_worth_another(said: Said) -> bool:
    return said.code in AGAIN or MOVING in said.err or (said.code == REFUSED and HELD in said.err)


class Typist:
    """Somebody at a terminal.

    Attributes:
        told, problems: See ``Operator``.
    """

    def __init__(self, url: str, *more: str) -> None:
        """Open a terminal.

        Args:
            url: The servers.
            more: Options of every command.
        """
        self.told: Counter[str] = Counter()
        self.problems: list[str] = []
        self._more = ("--url", url, *more)

    async def act(self, deed: RunningOperation) -> Said:
        """Type it."""
        rate = () if deed.rate is None else ("--rate", f"{deed.rate}/s")
        return await self.say(*deed.words, *rate, "--yes")

    async def resume(self, job: str) -> Said:
        """Type what was told to go on with."""
        return await self.say("jobs", "resume", job, "--yes")

    async def say(self, *words: str) -> Said:
        """Run a command line."""
        environment = os.environ | {"STREAMOPS_CONFIG": os.devnull, "PYTHONPATH": str(ROOT)}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "streamops", *words, *self._more),
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            out, err = await process.communicate()
        except asyncio.CancelledError:
            process.kill()
            await process.wait()
            raise
        assert process.returncode is not None
        return Said(process.returncode, out.decode(), err.decode())


class Programmer:
    """Somebody who acts through Python, with a console for each attempt: the same without a process.

    Attributes:
        told, problems: See ``Operator``.
    """

    def __init__(self, options: ConnectionOptions) -> None:
        self.told: Counter[str] = Counter()
        self.problems: list[str] = []
        self._options = options

    async def act(self, deed: RunningOperation) -> Said:
        """Do it."""
        return await self._try(deed, "")

    async def resume(self, job: str) -> Said:
        """Go on with it."""
        return await self._try(None, job)

    async def _try(self, deed: RunningOperation | None, job: str) -> Said:
        try:
            async with await Console.open(self._options, actor=WORKSHOP) as console:
                if deed is None:
                    prepared = await console.prepare_rest(job)
                else:
                    prepared = await console.prepare(deed.intent, Limits(rate=deed.rate))
                await console.apply(prepared, Confirmation(yes=True, typed=prepared.policy.word))
        except StreamopsError as error:
            return Said(error.exit_code, "", _narrated(error))
        return Said(DONE, "", "")


def _narrated(error: StreamopsError) -> str:
    """An error as the command line tells it."""
    lines = [f"error: {error.message}", f"hint: {error.hint}"]
    if isinstance(error, ApplyError) and isinstance(error.outcome, Outcome) and error.outcome.job:
        lines.append(f"resume with: streamops jobs resume {error.outcome.job}")
    return "\n".join(lines)


def ill_said(said: Said) -> str:
    """What is wrong with how an attempt ended; empty where it is one line of what, and one of what to do."""
    lines = said.err.splitlines()
    errors, hints = _beginning(lines, "error: "), _beginning(lines, "hint: ")
    if "Traceback" in said.err or "a bug in streamops" in said.err:
        return "a bug"
    if said.code == DONE:
        return "an error in spite of its exit code" if errors else ""
    if (len(errors), len(hints)) != (1, 1) or not all(map(str.strip, (*errors, *hints))):
        return f"{len(errors)} lines of what is wrong, {len(hints)} of what to do"
    return ""


def _beginning(lines: Sequence[str], word: str) -> list[str]:
    return [line.removeprefix(word) for line in lines if line.startswith(word)]
