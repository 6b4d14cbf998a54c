"""Replays that stopped midway go on, and nothing comes twice."""

import asyncio

import pytest

from streamops.errors import (
    ApplyError,
    Interrupted,
)
from streamops.model.acting import Confirmation, JobState, Outcome, Progress
from streamops.operations.console import Console
from streamops.operations.replay.intent import ReplayIntent
from tests.support.monitor.dead_letters import (
    QUEUE,
    STREAM,
    add_letter,
    add_letters,
    do,
    make_group,
    payloads,
)
from tests.support.servers import RunningServer
from tests.support.streams import entries_of


async def test_an_interrupted_replay_goes_on(server: RunningServer, console: Console) -> None:
    make_group(server)
    add_letters(server, range(1_200))
    stop, tokens = asyncio.Event(), list[str]()
    prepared = await console.prepare(
        ReplayIntent(queue=QUEUE, where="to_number(fields.n) > `-1`", count=1_100)
    )
    with pytest.raises(Interrupted) as interrupted:
        await console.apply(
            prepared,
            Confirmation(yes=True),
            progress=lambda _: stop.set(),
            started=tokens.append,
            stop=stop,
        )
    done = interrupted.value.outcome
    assert isinstance(done, Outcome)
    assert 0 < done.applied < 1_100
    late = add_letter(server, [("n", "late")])
    rest = await console.prepare_rest(tokens[0])
    assert rest.plan.count == 1_100 - done.applied
    assert (await console.apply(rest, Confirmation(yes=True))).applied == 1_100 - done.applied
    assert payloads(server, STREAM) == [[b"n", str(number).encode()] for number in range(1_100)]
    left = [one for one, _ in entries_of(server, QUEUE)]
    assert (len(left), left[-1]) == (101, late)
    assert (await console.read_job(tokens[0])).state is JobState.DONE


async def test_what_a_failover_threw_away_is_not_counted_twice(
    server: RunningServer, console: Console
) -> None:
    """Interrupted after it had told of all it did; then a server takes over that lacks the last batch."""
    make_group(server)
    add_letters(server, range(1_200))
    stop, tokens, kept = asyncio.Event(), list[str](), dict[str, bytes]()
    done = set[int]()

    def keep(at: Progress) -> None:
        """What the first batch left is all that the next primary will know."""
        if not done:
            kept.update({key: server.command("DUMP", key) for key in (QUEUE, STREAM)})
        done.add(at.done)
        if len(done) > 1:
            stop.set()

    prepared = await console.prepare(ReplayIntent(queue=QUEUE, where="to_number(fields.n) > `-1`"))
    with pytest.raises(Interrupted):
        await console.apply(prepared, Confirmation(yes=True), progress=keep, started=tokens.append, stop=stop)
    for key, content in kept.items():
        server.command("RESTORE", key, 0, content, "REPLACE")
    told, rest = await console.read_job(tokens[0]), await console.prepare_rest(tokens[0])
    assert told.applied + rest.plan.count > 1_200
    await console.apply(rest, Confirmation(yes=True))
    ended = await console.read_job(tokens[0])
    assert (ended.state, ended.requested, ended.applied) == (JobState.DONE, 1_200, 1_200)
    assert payloads(server, STREAM) == [[b"n", str(number).encode()] for number in range(1_200)]


async def test_a_job_of_which_nothing_is_left_is_done(server: RunningServer, console: Console) -> None:
    make_group(server)
    add_letters(server, range(1_200))
    stop, tokens = asyncio.Event(), list[str]()
    prepared = await console.prepare(ReplayIntent(queue=QUEUE))
    with pytest.raises(Interrupted):
        await console.apply(
            prepared, Confirmation(yes=True), progress=lambda _: stop.set(), started=tokens.append, stop=stop
        )
    server.command("XTRIM", QUEUE, "MAXLEN", 0)
    rest = await console.prepare_rest(tokens[0])
    assert (await console.apply(rest)).applied == 0
    assert (await console.read_job(tokens[0])).state is JobState.DONE


async def test_memory_that_runs_out_stops_a_replay_which_goes_on_later(
    server: RunningServer, console: Console
) -> None:
    make_group(server)
    add_letters(server, range(1_200))
    tokens: list[str] = []

    def run_out(progress: Progress) -> None:
        if progress.done < 1_000:
            server.command("CONFIG", "SET", "maxmemory", 1)

    try:
        with pytest.raises(ApplyError, match="out of memory"):
            await do(console, ReplayIntent(queue=QUEUE), progress=run_out, started=tokens.append)
    finally:
        server.command("CONFIG", "SET", "maxmemory", 0)
    assert server.command("XLEN", STREAM) + server.command("XLEN", QUEUE) == 1_200
    await console.apply(await console.prepare_rest(tokens[0]), Confirmation(yes=True))
    assert payloads(server, STREAM) == [[b"n", str(number).encode()] for number in range(1_200)]
