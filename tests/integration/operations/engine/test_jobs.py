"""Jobs: others see them, cancel them, and take them over when their owner is gone; nothing is done twice."""

import asyncio
from typing import Any

import pytest

from streamops.errors import ApplyError, Forbidden, Interrupted, NotFound, StalePlan, UnexpectedReply
from streamops.model.acting import AuditPhase, Confirmation, Job, JobPage, JobState, Limits, Outcome, Progress
from streamops.model.entries import EntryId
from streamops.operations.audit import read_action, read_actions, read_audit
from streamops.operations.engine import Engine
from streamops.operations.jobs import all_jobs, ask_to_stop, find_job
from streamops.wire.server import Server
from streamops.wire.writes.jobs import JOBS, KEPT, job_key
from tests.support.operations.engine.counting import NUMBERS, CountIntent, Gate, NoEvidence, counting, engine
from tests.support.servers import RunningServer

YES = Confirmation(yes=True)


def numbers(server: RunningServer) -> list[int]:
    return [int(number) for number in server.command("LRANGE", NUMBERS, 0, -1)]


def expire_lease(server: RunningServer, job: str) -> None:
    server.command("HSET", job_key(job), "lease_ms", 1)


async def start(
    operator: Engine, gate: Gate, upto: int = 50, **options: Any
) -> tuple[asyncio.Task[Outcome], str]:
    """Begin a job and wait until it is about to write its first batch."""
    prepared = await operator.prepare(counting(gate), CountIntent(upto=upto))
    started: list[str] = []
    task = asyncio.create_task(operator.apply(prepared, YES, started=started.append, **options))
    await gate.reached.wait()
    return task, started[0]


async def go_on(operator: Engine, server: Server, job: str) -> Outcome:
    prepared = await operator.resume(counting(), await find_job(server, job))
    return await operator.apply(prepared, YES)


async def test_a_job_is_seen_from_its_beginning_to_its_end(server: RunningServer, connected: Server) -> None:
    gate = Gate()
    task, job_id = await start(engine(connected), gate)
    (seen,) = (await all_jobs(connected, 10, tidy=True)).jobs
    assert (seen.id, seen.state, seen.owner) == (job_id, JobState.RUNNING, "ann@desk:1")
    assert (seen.requested, seen.applied, seen.lease_ends is not None) == (50, 0, True)
    gate.open.set()
    outcome = await task
    ended = await find_job(connected, job_id)
    assert (outcome.job, outcome.applied, outcome.complete) == (job_id, 50, True)
    assert (ended.state, ended.applied, ended.cursor, ended.audit_id) == (
        JobState.DONE,
        50,
        "50",
        outcome.audit_id,
    )
    assert numbers(server) == list(range(1, 51))


async def test_a_job_that_is_held_cannot_be_taken(server: RunningServer, connected: Server) -> None:
    gate = Gate()
    task, job_id = await start(engine(connected), gate)
    with pytest.raises(Forbidden, match=f"job {job_id} is held by ann@desk:1"):
        await go_on(engine(connected, "bob"), connected, job_id)
    (record,) = await read_audit(connected, count=10)
    assert (record.phase, record.actor.user) == (AuditPhase.BEGUN, "ann")
    gate.open.set()
    await task
    assert numbers(server) == list(range(1, 51))


async def test_a_job_that_is_held_is_not_even_surveyed(connected: Server) -> None:
    async def survey(*_: object) -> NoEvidence:
        raise AssertionError("it was surveyed")

    gate = Gate()
    task, job_id = await start(engine(connected), gate)
    job = await find_job(connected, job_id)
    with pytest.raises(Forbidden, match="is held by ann@desk:1") as told:
        await engine(connected, "bob").resume(counting(survey=survey), job)
    assert told.value.exit_code == 4
    assert f"streamops jobs cancel {job_id}" in told.value.hint
    gate.open.set()
    await task


async def test_a_job_that_is_taken_after_the_plan_was_made_is_left_alone(connected: Server) -> None:
    job_id = await interrupted_after(connected, 10)
    bob, eve = engine(connected, "bob"), engine(connected, "eve")
    late = await eve.resume(counting(), await find_job(connected, job_id))
    gate = Gate()
    prepared = await bob.resume(counting(gate), await find_job(connected, job_id))
    task = asyncio.create_task(bob.apply(prepared, YES))
    await gate.reached.wait()
    with pytest.raises(Forbidden, match="is held by bob@desk:1"):
        await eve.apply(late, YES)
    (record,) = await read_audit(connected, count=1, newest_first=True)
    assert (record.phase, record.actor.user) == (AuditPhase.FAILED, "eve")
    gate.open.set()
    await task


async def test_who_goes_on_for_one_that_was_killed_ends_its_trail_and_its_count(
    server: RunningServer, connected: Server
) -> None:
    """Killed after its second batch, of which it could tell nothing any more."""
    task, job_id = await start(engine(connected), Gate(), upto=50)
    server.command("HSET", job_key(job_id), "cursor", "20", "lease_ms", 1)
    server.command("RPUSH", NUMBERS, *range(1, 21))
    killed = await find_job(connected, job_id)
    assert (killed.applied, killed.abandoned) == (0, True)
    outcome = await go_on(engine(connected, "bob"), connected, job_id)
    ended = await find_job(connected, job_id)
    assert (ended.state, ended.applied, ended.requested) == (JobState.DONE, 50, 50)
    assert ended.audit_id == outcome.audit_id
    *_, last = await read_action(connected, EntryId.parse(killed.audit_id))
    assert (last.phase, last.actor.user) == (AuditPhase.FAILED, "bob")
    assert last.outcome is not None
    assert (last.outcome.applied, last.outcome.requested, last.outcome.complete) == (20, 50, False)
    assert last.outcome.stopped == f"interrupted; continued by {outcome.audit_id}"
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_second_one_that_is_killed_is_ended_by_the_third(
    server: RunningServer, connected: Server
) -> None:
    first, job_id = await start(engine(connected), Gate())
    expire_lease(server, job_id)
    gate = Gate()
    bob = engine(connected, "bob")
    prepared = await bob.resume(counting(gate), await find_job(connected, job_id))
    second = asyncio.create_task(bob.apply(prepared, YES))
    await gate.reached.wait()
    expire_lease(server, job_id)
    await go_on(engine(connected, "eve"), connected, job_id)
    page = await read_actions(connected, 10)
    assert [action.first.actor.user for action in page.actions] == ["eve", "bob", "ann"]
    assert [action.last.phase for action in page.actions if action.last] == [
        AuditPhase.DONE,
        AuditPhase.FAILED,
        AuditPhase.FAILED,
    ]
    for task in (first, second):
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_who_stopped_in_order_keeps_its_own_last_words(connected: Server) -> None:
    job_id = await interrupted_after(connected, 10)
    stopped = await find_job(connected, job_id)
    await go_on(engine(connected, "bob"), connected, job_id)
    records = await read_action(connected, EntryId.parse(stopped.audit_id))
    assert [record.phase for record in records] == [AuditPhase.BEGUN, AuditPhase.FAILED]
    assert records[-1].actor.user == "ann"


async def test_a_killed_job_of_which_nothing_is_left_is_done_in_full(
    server: RunningServer, connected: Server
) -> None:
    task, job_id = await start(engine(connected), Gate(), upto=50)
    server.command("HSET", job_key(job_id), "cursor", "50", "lease_ms", 1)
    killed = await find_job(connected, job_id)
    await go_on(engine(connected, "bob"), connected, job_id)
    ended = await find_job(connected, job_id)
    assert (ended.state, ended.applied) == (JobState.DONE, 50)
    last = (await read_action(connected, EntryId.parse(killed.audit_id)))[-1]
    assert last.outcome is not None
    assert last.outcome.stopped == "interrupted; nothing was left to do"
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.usefixtures("always_beating")
async def test_an_abandoned_job_is_taken_over_and_its_first_owner_stops(
    server: RunningServer, connected: Server
) -> None:
    gate = Gate()
    task, job_id = await start(engine(connected), gate, upto=50)
    gate.open.set()
    gate.reached.clear()
    gate.open.clear()
    await gate.reached.wait()
    # The first owner is stuck before its second batch for longer than its lease.
    expire_lease(server, job_id)
    outcome = await go_on(engine(connected, "bob"), connected, job_id)
    assert (outcome.applied, outcome.complete) == (40, True)
    gate.open.set()
    with pytest.raises(ApplyError, match="was taken over") as told:
        await task
    assert isinstance(told.value.outcome, Outcome)
    assert told.value.outcome.job == ""
    ended = await find_job(connected, job_id)
    assert (ended.state, ended.owner, ended.applied) == (JobState.DONE, "bob@desk:1", 50)


@pytest.mark.usefixtures("always_beating")
async def test_whoever_lost_its_job_says_nothing_more_about_it(
    server: RunningServer, connected: Server
) -> None:
    gate = Gate()
    task, job_id = await start(engine(connected), gate)
    expire_lease(server, job_id)
    other = Gate()
    prepared = await engine(connected, "bob").resume(counting(other), await find_job(connected, job_id))
    second = asyncio.create_task(engine(connected, "bob").apply(prepared, YES))
    await other.reached.wait()
    gate.open.set()
    with pytest.raises(ApplyError, match="was taken over"):
        await task
    held = await find_job(connected, job_id)
    assert (held.state, held.owner, held.applied) == (JobState.RUNNING, "bob@desk:1", 0)
    other.open.set()
    await second


async def test_a_plan_of_the_rest_is_stale_once_somebody_went_on(
    server: RunningServer, connected: Server
) -> None:
    job_id = await interrupted_after(connected, 10)
    bob, eve = engine(connected, "bob"), engine(connected, "eve")
    late = await eve.resume(counting(), await find_job(connected, job_id))
    gate = Gate()
    prepared = await bob.resume(counting(gate), await find_job(connected, job_id))
    stop = asyncio.Event()
    task = asyncio.create_task(bob.apply(prepared, YES, progress=lambda _: stop.set(), stop=stop))
    await gate.reached.wait()
    gate.open.set()
    with pytest.raises(Interrupted):
        await task
    with pytest.raises(StalePlan, match="another process has taken it over"):
        await eve.apply(late, YES)
    assert numbers(server) == list(range(1, 21))


async def interrupted_after(connected: Server, done: int, upto: int = 50) -> str:
    """A job that was asked to stop after so many units."""
    stop = asyncio.Event()

    def progress(at: Progress) -> None:
        if at.done >= done:
            stop.set()

    operator = engine(connected)
    prepared = await operator.prepare(counting(), CountIntent(upto=upto))
    with pytest.raises(Interrupted) as told:
        await operator.apply(prepared, YES, progress, stop=stop)
    outcome = told.value.outcome
    assert isinstance(outcome, Outcome)
    assert (outcome.applied, outcome.complete, outcome.stopped) == (done, False, "interrupted")
    return outcome.job


async def test_an_interrupted_job_goes_on_where_it_stopped(server: RunningServer, connected: Server) -> None:
    job_id = await interrupted_after(connected, 20)
    stopped = await find_job(connected, job_id)
    assert (stopped.state, stopped.cursor, stopped.applied) == (JobState.INTERRUPTED, "20", 20)
    outcome = await go_on(engine(connected, "bob"), connected, job_id)
    assert (outcome.requested, outcome.applied) == (30, 30)
    ended = await find_job(connected, job_id)
    assert (ended.state, ended.applied, ended.requested) == (JobState.DONE, 50, 50)
    assert numbers(server) == list(range(1, 51))


async def test_a_task_that_is_cancelled_leaves_a_job_that_can_go_on(
    server: RunningServer, connected: Server
) -> None:
    gate = Gate()
    task, job_id = await start(engine(connected), gate)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await find_job(connected, job_id)).state is JobState.INTERRUPTED
    await go_on(engine(connected), connected, job_id)
    assert numbers(server) == list(range(1, 51))


@pytest.mark.usefixtures("always_beating")
async def test_somebody_else_cancels_a_running_job(server: RunningServer, connected: Server) -> None:
    gate = Gate()
    task, job_id = await start(engine(connected), gate)
    other = await Server.connect(server.options)
    assert not await ask_to_stop(other, job_id)
    assert (await find_job(other, job_id)).cancelling
    await other.close()
    gate.open.set()
    with pytest.raises(ApplyError, match="was cancelled") as told:
        await task
    assert isinstance(told.value.outcome, Outcome)
    assert told.value.outcome.applied == 10
    assert told.value.outcome.job == ""
    assert numbers(server) == list(range(1, 11))
    with pytest.raises(Forbidden, match="is over"):
        await go_on(engine(connected), connected, job_id)


async def test_a_job_that_nobody_runs_is_over_at_once(server: RunningServer, connected: Server) -> None:
    interrupted = await interrupted_after(connected, 10)
    assert await ask_to_stop(connected, interrupted)
    task, abandoned = await start(engine(connected), Gate())
    expire_lease(server, abandoned)
    assert await ask_to_stop(connected, abandoned)
    for job_id in (interrupted, abandoned):
        assert (await find_job(connected, job_id)).state is JobState.CANCELLED
        with pytest.raises(Forbidden, match="is over"):
            await engine(connected).resume(counting(), await find_job(connected, job_id))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_what_is_over_stays_as_it_ended(connected: Server) -> None:
    operator = engine(connected)
    outcome = await operator.apply(await operator.prepare(counting(), CountIntent(upto=10)), YES)
    with pytest.raises(Forbidden, match="is over"):
        await ask_to_stop(connected, outcome.job)
    assert (await find_job(connected, outcome.job)).state is JobState.DONE


async def test_a_job_that_is_forgotten_is_off_the_list(server: RunningServer, connected: Server) -> None:
    job_id = await interrupted_after(connected, 10)
    left = server.command("TTL", job_key(job_id))
    assert KEPT.total_seconds() - 60 < left <= KEPT.total_seconds()
    server.command("PEXPIRE", job_key(job_id), 0)
    assert await all_jobs(connected, 10, tidy=False) == JobPage(())
    assert server.command("ZCARD", JOBS) == 1
    assert await all_jobs(connected, 10, tidy=True) == JobPage(())
    assert server.command("ZCARD", JOBS) == 0
    with pytest.raises(NotFound, match="there is no job"):
        await find_job(connected, job_id)
    with pytest.raises(NotFound):
        await ask_to_stop(connected, job_id)
    assert server.command("EXISTS", job_key(job_id)) == 0


async def test_a_job_keeps_its_rate(server: RunningServer, connected: Server) -> None:
    operator = engine(connected)
    prepared = await operator.prepare(counting(), CountIntent(upto=20), Limits(rate=2_000.0))
    outcome = await operator.apply(prepared, YES)
    job: Job = await find_job(connected, outcome.job)
    assert job.rate == 2_000.0
    assert numbers(server) == list(range(1, 21))


async def test_an_operation_that_waits_for_its_rate_can_be_stopped(connected: Server) -> None:
    operator, stop = engine(connected), asyncio.Event()
    prepared = await operator.prepare(counting(), CountIntent(upto=20), Limits(rate=0.001))

    def progress(_: Progress) -> None:
        asyncio.get_running_loop().call_later(0.01, stop.set)

    with pytest.raises(Interrupted) as told:
        await operator.apply(prepared, YES, progress, stop=stop)
    assert isinstance(told.value.outcome, Outcome)
    assert told.value.outcome.applied == 1


async def test_what_is_asked_to_stop_before_its_first_write_did_nothing(
    server: RunningServer, connected: Server
) -> None:
    operator, stop = engine(connected), asyncio.Event()
    stop.set()
    prepared = await operator.prepare(counting(), CountIntent(upto=20))
    with pytest.raises(Interrupted):
        await operator.apply(prepared, YES, stop=stop)
    assert numbers(server) == []


async def test_jobs_that_cannot_be_read_are_told_by_their_keys(
    server: RunningServer, connected: Server
) -> None:
    job_id = await interrupted_after(connected, 10)
    server.command("ZADD", JOBS, 1, "aa", 2, "bb", 3, "cc", 4, "dd")
    server.command("HSET", job_key("aa"), "state", "running", "v", 9)
    server.command("HSET", job_key("bb"), "state", "who knows")
    server.command("SET", job_key("cc"), "a string")
    page = await all_jobs(connected, 10, tidy=True)
    assert [job.id for job in page.jobs] == [job_id]
    assert [(gap.scope, gap.reason) for gap in page.gaps] == [
        ("streamops:job:cc", "its key holds no hash"),
        ("streamops:job:bb", "its hash holds what no job does"),
        ("streamops:job:aa", "written in version 9 of the format"),
    ]
    # What is forgotten is taken off the list, what cannot be read is not.
    assert server.command("ZCARD", JOBS) == 4
    with pytest.raises(UnexpectedReply, match="holds no hash"):
        await find_job(connected, "cc")
