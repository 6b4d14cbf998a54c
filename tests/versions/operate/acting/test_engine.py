"""The engine: what it refuses, and that whatever it refuses is refused before the first write."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from msgspec.structs import replace

from streamops.errors import (
    Forbidden,
    Refused,
    StreamopsError,
)
from streamops.model.acting import (
    Limits,
)
from streamops.model.ids import EntryId
from streamops.operate.console import Console
from streamops.wire.options import Secret
from streamops.wire.server import Server
from streamops.wire.writes.audit import AUDIT
from tests.support.eventually import eventually
from tests.support.operate.acting.counting import NUMBERS, CountIntent, counting, engine
from tests.support.operate.acting.engine import ACK, ANN, YES, fill, pending
from tests.support.programs import ServerProgram
from tests.support.servers import RunningServer, StartServer

pytestmark = pytest.mark.every_server("what a server counts, permits and answers differs by version")


async def open_as(server: RunningServer, *rules: str, **options: Any) -> Console:
    """A console of a user with all rights but for what the rules take away."""
    server.command("ACL", "SETUSER", "op", "reset", "on", ">pw", "~*", "&*", "+@all", *rules)
    login = replace(server.options, username="op", password=Secret("pw"))
    return await Console.open(login, actor=ANN, **options)


@pytest.fixture
async def console(server: RunningServer) -> AsyncIterator[Console]:
    fill(server)
    async with await Console.open(server.options, actor=ANN) as console:
        yield console


@pytest.fixture
def own_server(program: ServerProgram, start_server: StartServer) -> RunningServer:
    """A server of each version whose users and configuration may be changed."""
    # A replica that asks is served at once.
    server = start_server("--repl-diskless-sync-delay", "0", program=program)
    fill(server)
    return server


async def test_without_a_record_nothing_is_done(own_server: RunningServer) -> None:
    # All keys but the audit log's.
    async with await open_as(own_server, "resetkeys", "~orders*") as console:
        prepared = await console.prepare(ACK)
        with pytest.raises(Forbidden, match=f"the audit log {AUDIT} cannot be written") as told:
            await console.apply(prepared, YES)
        assert "--unaudited" in told.value.hint
        assert pending(own_server) == 3
        outcome = await console.apply(await console.prepare(ACK, Limits(unaudited=True)), YES)
    assert (outcome.applied, outcome.audit_id, pending(own_server)) == (3, "", 0)
    assert not own_server.command("EXISTS", AUDIT)


async def test_a_log_that_cannot_be_written_is_told_with_the_plan(own_server: RunningServer) -> None:
    async with await open_as(own_server, "resetkeys", "~orders*") as console:
        (warning,) = (await console.prepare(ACK)).plan.warnings
        assert warning.startswith("The audit log cannot be written: ")
        assert warning.endswith("; applying is refused unless --unaudited.")
        (warning,) = (await console.prepare(ACK, Limits(unaudited=True))).plan.warnings
        assert warning.endswith("; it would leave no record.")
        nothing = (await console.prepare(replace(ACK, ids=(EntryId(9, 9),)))).plan.warnings
        assert not [warning for warning in nothing if "audit" in warning]
    async with await Console.open(own_server.options, actor=ANN) as console:
        assert not (await console.prepare(ACK)).plan.warnings
    assert not own_server.command("EXISTS", AUDIT)


@pytest.mark.parametrize("rule", ["-xack", "-@write"])
async def test_a_missing_permission_is_told_before_the_first_write(
    rule: str, own_server: RunningServer
) -> None:
    async with await open_as(own_server, rule) as console:
        prepared = await console.prepare(ACK)
        with pytest.raises(Refused, match="XACK") as told:
            await console.apply(prepared, YES)
    assert told.value.exit_code == 4
    assert "Nothing was done" in told.value.hint
    assert "--acl operator" in told.value.hint
    assert pending(own_server) == 3
    assert not own_server.command("EXISTS", AUDIT)


async def test_a_key_that_may_not_be_written_is_told_before_the_first_write(
    own_server: RunningServer,
) -> None:
    if own_server.program.flavour == "redis" and own_server.program.version < (7,):
        pytest.skip("Redis 6.2 cannot tell reading a key from writing it")
    async with await open_as(own_server, "resetkeys", "%R~orders", "~streamops:*") as console:
        prepared = await console.prepare(ACK)
        with pytest.raises(Refused):
            await console.apply(prepared, YES)
    assert pending(own_server) == 3
    assert not own_server.command("EXISTS", AUDIT)


async def test_out_of_memory_is_told_before_the_first_write(own_server: RunningServer) -> None:
    async with await Console.open(own_server.options, actor=ANN) as console:
        prepared = await console.prepare(ACK)
        own_server.command("CONFIG", "SET", "maxmemory", "1")
        with pytest.raises(StreamopsError, match="out of memory") as told:
            await console.apply(prepared, YES)
        assert told.value.exit_code == 4
        assert pending(own_server) == 3
        # Acknowledging needs no memory: it is the log that does.
        outcome = await console.apply(await console.prepare(ACK, Limits(unaudited=True)), YES)
    assert (outcome.applied, pending(own_server)) == (3, 0)


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
    assert pending(own_server) == 3
    assert not own_server.command("EXISTS", AUDIT)


async def test_a_job_that_cannot_be_written_is_told_before_the_first_write(
    own_server: RunningServer,
) -> None:
    login = replace(own_server.options, username="op", password=Secret("pw"))
    own_server.command(
        "ACL", "SETUSER", "op", "reset", "on", ">pw", "~orders", f"~{NUMBERS}", f"~{AUDIT}", "+@all"
    )
    connection = await Server.connect(login)
    operator = engine(connection)
    prepared = await operator.prepare(counting(), CountIntent(upto=50))
    with pytest.raises(StreamopsError, match="job"):
        await operator.apply(prepared, YES)
    await connection.close()
    assert not own_server.command("EXISTS", AUDIT)
    assert not own_server.command("EXISTS", NUMBERS)
