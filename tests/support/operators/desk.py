"""Operators at their desks: each a process with a console of its own, that plans something, thinks, and applies it.

What came of each thing that one did is told as a ``Told``, with the exit code that a command line would have had.
"""

import asyncio
import multiprocessing
from collections.abc import Iterator
from datetime import timedelta
from multiprocessing.process import BaseProcess
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from msgspec import Struct

from streamops.errors import ApplyError, StreamopsError
from streamops.model.acting import Actor, Confirmation, JobState, Limits, Outcome
from streamops.model.entries import EntryId
from streamops.operations.claim.intent import ClaimIntent
from streamops.operations.console import Console
from streamops.operations.consumers_prune.intent import PruneConsumersIntent
from streamops.operations.dlq_purge.intent import PurgeIntent
from streamops.operations.groups_rewind.intent import RewindGroupIntent
from streamops.operations.nack.intent import NackIntent
from streamops.operations.registry import OPERATIONS
from streamops.operations.replay.intent import ReplayIntent, ReplayMode
from streamops.operations.trim.intent import TrimIntent
from streamops.operations.undo.intent import UndoIntent
from streamops.wire.options import ConnectionOptions

STREAM, GROUP, LETTERS = "orders", "billing", "{orders}:dlq"

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["pytest", __name__])


class Told(Struct, frozen=True):
    """What came of one thing that an operator did.

    Attributes:
        asked: What was asked for, in words.
        code: As a command line would have ended.
        message: What was wrong; empty where nothing was.
        hint: The fix.
        audit_id: Its record; empty where it left none, or where that is not told.
        applied: How many units were done; none where that is not told.
    """

    asked: str
    code: int
    message: str = ""
    hint: str = ""
    audit_id: str = ""
    applied: int | None = None


class Desk(Struct, frozen=True):
    """Where one operator sits.

    Attributes:
        name: Who it is.
        seed: What it does.
        acts: How many things.
        options: The server.
        files: Where it keeps backups.
        book: Where it writes what came of what it did.
    """

    name: str
    seed: int
    acts: int
    options: ConnectionOptions
    files: Path
    book: Path


def sit_down(desk: Desk) -> BaseProcess:
    """Start an operator's process."""
    process = _context.Process(target=_work, args=(desk,), daemon=True)
    process.start()
    return process


def read_book(path: Path) -> list[Told]:
    """What operators told."""
    return [msgspec.json.decode(line, type=Told) for line in path.read_bytes().splitlines()]


async def attempted(console: Console, intent: Struct, think: float = 0.0) -> Told:
    """Plan and apply, with a while between; what came of it."""
    asked = type(intent).__name__
    try:
        prepared = await console.prepare(intent, Limits(reason="a history"))
        await asyncio.sleep(think)
        outcome = await console.apply(prepared, Confirmation(yes=True, typed=prepared.policy.word))
    except StreamopsError as error:
        return told_of(asked, error)
    return Told(asked, 0, audit_id=outcome.audit_id, applied=outcome.applied)


def told_of(asked: str, error: StreamopsError) -> Told:
    """What came of what failed."""
    outcome = outcome_of(error)
    return Told(
        asked,
        int(error.exit_code),
        error.message,
        error.hint,
        outcome.audit_id if outcome else "",
        outcome.applied if outcome else None,
    )


def outcome_of(error: StreamopsError) -> Outcome | None:
    """What was done until it failed; none where nothing was."""
    outcome = error.outcome if isinstance(error, ApplyError) else None
    return outcome if isinstance(outcome, Outcome) else None


def _work(desk: Desk) -> None:
    asyncio.run(_operate(desk))


async def _operate(desk: Desk) -> None:
    rng = Random(desk.seed)
    actor = Actor(desk.name, "desk", desk.seed)
    async with await Console.open(desk.options, actor=actor) as console:
        with desk.book.open("ab", buffering=0) as book:
            for number in range(desk.acts):
                told = await _one(console, rng, desk, number)
                book.write(msgspec.json.encode(told) + b"\n")


async def _one(console: Console, rng: Random, desk: Desk, number: int) -> Told:
    if rng.random() < 0.25:
        return await _undo(console, rng)
    if rng.random() < 0.15:
        return await _go_on(console, rng)
    backup = str(desk.files / f"{desk.name}-{number}.jsonl")
    intent = rng.choice(list(_intents(rng, desk.name, backup)))
    return await attempted(console, intent, rng.choice([0.0, 0.0, 0.01, 0.05]))


def _intents(rng: Random, name: str, backup: str) -> Iterator[Struct]:
    now = timedelta(0)
    yield ClaimIntent(stream=STREAM, group=GROUP, to=name, min_idle=now)
    yield ClaimIntent(stream=STREAM, group=GROUP, to=name, min_idle=now, count=rng.randint(1, 9))
    yield NackIntent(stream=STREAM, group=GROUP, ids=_some(rng, 40))
    yield ReplayIntent(queue=LETTERS, mode=ReplayMode.RETRY)
    yield ReplayIntent(queue=LETTERS, mode=ReplayMode.RETRY, count=rng.randint(1, 9))
    yield PurgeIntent(queue=LETTERS, where=f"to_number(fields.n) < `{rng.randint(0, 40)}`", backup=backup)
    yield RewindGroupIntent(stream=STREAM, group=GROUP, back=rng.randint(1, 9))
    yield PruneConsumersIntent(stream=STREAM, group=GROUP, idle=timedelta(milliseconds=1))
    yield TrimIntent(stream=STREAM, maxlen=rng.randint(0, 20), exact=True)


def _some(rng: Random, count: int) -> tuple[EntryId, ...]:
    return tuple(EntryId(one, 0) for one in sorted(rng.sample(range(1, 120), count)))


async def _undo(console: Console, rng: Random) -> Told:
    page = await console.read_actions(30)
    actions = [one.first for one in page.actions if (row := OPERATIONS.get(one.first.operation)) and row.undo]
    if not actions:
        return Told("nothing to undo", 0)
    return await attempted(console, UndoIntent(audit_id=EntryId.parse(rng.choice(actions[:5]).id)), 0.01)


async def _go_on(console: Console, rng: Random) -> Told:
    """Go on with somebody's job, or end it."""
    jobs: list[Any] = [job for job in await console.read_jobs() if job.state is not JobState.DONE]
    if not jobs:
        return Told("no job", 0)
    job = rng.choice(jobs)
    try:
        if rng.random() < 0.5:
            await console.cancel_job(job.id)
            return Told("cancel", 0)
        prepared = await console.prepare_rest(job.id)
        outcome = await console.apply(prepared, Confirmation(yes=True, typed=prepared.policy.word))
    except StreamopsError as error:
        return told_of("jobs", error)
    return Told("resume", 0, audit_id=outcome.audit_id, applied=outcome.applied)
