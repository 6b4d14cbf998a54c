"""The engine: what it refuses, and that whatever it refuses is refused before the first write."""

from typing import Any

import pytest

from streamops.errors import (
    ApplyError,
    StreamopsError,
    Unreachable,
)
from streamops.model.acting import (
    Outcome,
    Progress,
)
from streamops.operations.console import Console
from streamops.operations.running import Run
from streamops.wire.server import Server
from streamops.wire.writes.audit import AUDIT
from tests.support.eventually import eventually
from tests.support.operations.engine.counting import NUMBERS, CountIntent, counting, engine
from tests.support.operations.engine.engine import ACK, ANN, YES, apply_elsewhere
from tests.support.programs import ServerProgram
from tests.support.servers import RunningServer, StartServer
from tests.support.streams import pending_count


async def test_a_server_that_goes_away_in_the_middle_leaves_a_partial_outcome(
    start_server: StartServer,
) -> None:
    server = start_server()
    connection = await Server.connect(server.options)

    def progress(at: Progress) -> None:
        if at.done == 20:
            server.kill()

    operator = engine(connection)
    prepared = await operator.prepare(counting(), CountIntent(upto=50))
    with pytest.raises(ApplyError) as told:
        await operator.apply(prepared, YES, progress)
    outcome = told.value.outcome
    await connection.close()
    assert isinstance(outcome, Outcome)
    assert (outcome.applied, outcome.complete, told.value.exit_code) == (20, False, 5)


@pytest.mark.parametrize(
    ("is_sent", "words"),
    [
        (True, "; whether the current batch was applied is unknown"),
        (False, "; the next batch was not sent"),
    ],
)
async def test_what_was_not_sent_is_known_not_to_be_done(
    start_server: StartServer, *, is_sent: bool, words: str
) -> None:
    server = start_server()
    connection = await Server.connect(server.options)

    async def apply(run: Run, *_: object) -> None:
        await run.report(1)
        server.kill()
        # Whoever asks first may find the connection as it was.
        with pytest.raises(Unreachable) as first:
            await run.server.single(NUMBERS, "PING")
        if is_sent:
            first.value.sent = True
            raise first.value
        await run.server.single(NUMBERS, "RPUSH", NUMBERS, 2)

    operator = engine(connection)
    prepared = await operator.prepare(counting(apply=apply), CountIntent(upto=2))
    try:
        with pytest.raises(ApplyError) as told:
            await operator.apply(prepared, YES)
    finally:
        await connection.close()
    outcome: Any = told.value.outcome
    assert told.value.message.endswith(words)
    assert (outcome.applied, outcome.stopped) == (1, told.value.message)


async def test_a_failover_keeps_the_plan(
    program: ServerProgram, own_server: RunningServer, start_server: StartServer
) -> None:
    replica = start_server(program=program)
    replica.command("REPLICAOF", "127.0.0.1", own_server.port)
    await eventually(lambda: bool(replica.command("EXISTS", "orders")))
    async with await Console.open(own_server.options, actor=ANN) as console:
        prepared = await console.prepare(ACK)
    replica.command("REPLICAOF", "NO", "ONE")
    assert (await apply_elsewhere(replica, prepared)).applied == 3
    assert pending_count(replica) == 0


async def test_a_replica_is_told_before_the_first_write(
    program: ServerProgram, own_server: RunningServer, start_server: StartServer
) -> None:
    replica = start_server(program=program)
    replica.command("REPLICAOF", "127.0.0.1", own_server.port)
    await eventually(lambda: bool(replica.command("EXISTS", "orders")))
    async with await Console.open(replica.options, actor=ANN) as console:
        prepared = await console.prepare(ACK)
        with pytest.raises(StreamopsError, match=r"replica"):
            await console.apply(prepared, YES)
    assert pending_count(own_server) == 3
    assert not own_server.command("EXISTS", AUDIT)
