"""Cancelling a job is an action like any other, and ends the trail of one that was killed."""

import asyncio

import pytest

from streamops.errors import Forbidden, NotFound
from streamops.model.acting import AuditPhase, Confirmation, JobState, Limits
from streamops.operations.audit import read_actions
from streamops.operations.engine import Engine
from streamops.operations.jobs import find_job
from streamops.operations.jobs_cancel.intent import CancelJobIntent
from streamops.operations.jobs_cancel.run import CANCEL_JOB
from streamops.wire.server import Server
from streamops.wire.writes.jobs import job_key
from tests.support.operations.engine.counting import NUMBERS, CountIntent, Gate, counting, engine
from tests.support.servers import RunningServer

YES = Confirmation(yes=True)


async def started(operator: Engine, gate: Gate) -> tuple[asyncio.Task[object], str]:
    """A job of fifty units that waits before its first batch."""
    prepared = await operator.prepare(counting(gate), CountIntent(upto=50))
    jobs: list[str] = []
    task: asyncio.Task[object] = asyncio.create_task(operator.apply(prepared, YES, started=jobs.append))
    await gate.reached.wait()
    return task, jobs[0]


async def ended(task: asyncio.Task[object]) -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_it_is_on_record_who_cancelled_a_job_and_why(connected: Server) -> None:
    task, job = await started(engine(connected), Gate())
    bob = engine(connected, "bob")
    prepared = await bob.prepare(CANCEL_JOB, CancelJobIntent(job=job), Limits(reason="wrong queue"))
    assert prepared.plan.effects[0] == "ann@desk:1 stops after its current batch."
    outcome = await bob.apply(prepared)
    action = (await read_actions(connected, 10)).actions[0]
    assert action.first.id == outcome.audit_id
    assert (action.first.operation, action.first.target) == ("jobs.cancel", NUMBERS)
    assert (action.first.actor.user, action.first.reason) == ("bob", "wrong queue")
    assert action.last is not None
    assert action.last.phase is AuditPhase.DONE
    assert (await find_job(connected, job)).cancelling
    await ended(task)


async def test_the_trail_of_one_that_was_killed_ends_with_what_is_known(
    server: RunningServer, connected: Server
) -> None:
    task, job = await started(engine(connected), Gate())
    server.command("HSET", job_key(job), "applied", 20, "skipped", 3, "lease_ms", 1)
    bob = engine(connected, "bob")
    prepared = await bob.prepare(CANCEL_JOB, CancelJobIntent(job=job))
    assert prepared.plan.effects[0] == "No process runs it: it ends at once."
    outcome = await bob.apply(prepared)
    assert (await find_job(connected, job)).state is JobState.CANCELLED
    cancelling, killed = (await read_actions(connected, 10)).actions
    assert cancelling.first.id == outcome.audit_id
    assert killed.last is not None
    assert killed.last.phase is AuditPhase.FAILED
    assert killed.last.actor.user == "bob"
    told = killed.last.outcome
    assert told is not None
    assert (told.requested, told.applied, told.skipped_count) == (50, 20, 3)
    assert told.stopped == (
        f"interrupted; cancelled by {outcome.audit_id}; its last batch may not be counted"
    )
    await ended(task)


async def test_one_that_ended_its_trail_itself_keeps_that_end(connected: Server) -> None:
    task, job = await started(engine(connected), Gate())
    await ended(task)
    bob = engine(connected, "bob")
    await bob.apply(await bob.prepare(CANCEL_JOB, CancelJobIntent(job=job)))
    interrupted = (await read_actions(connected, 10)).actions[1]
    assert interrupted.last is not None
    assert interrupted.last.actor.user == "ann"
    with pytest.raises(Forbidden, match=f"job {job} is over"):
        await bob.prepare(CANCEL_JOB, CancelJobIntent(job=job))


async def test_what_is_not_there_leaves_no_record(connected: Server) -> None:
    with pytest.raises(NotFound, match="there is no job none"):
        await engine(connected).prepare(CANCEL_JOB, CancelJobIntent(job="none"))
    assert (await read_actions(connected, 10)).actions == ()
